"""`tf.keras.backend`: losses of each sample."""

from __future__ import annotations

from typing import Any

from tapejax._src.core.tensor import Tensor
from tapejax._src.keras.backend import mathematics
from tapejax._src.keras.backend.settings import epsilon
from tapejax._src.keras.backend.values import dtype, int_shape, ndim
from tapejax._src.ops import (
    clipping,
    comparison,
    cross_entropy,
    elementwise,
    permuting,
    reduction,
    selecting,
    shaping,
)
from tapejax._src.ops import (
    softmax as softmaxes,
)
from tapejax._src.ops.casting import cast


# --------------------------------------------------------------------------------------- losses
def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Tensor:
    """Cross-entropy of truth values, for each element."""
    if from_logits:
        return cross_entropy.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    target = cast(target, dtype(output))
    output = clipping.clip_by_value(output, epsilon(), 1.0 - epsilon())
    hit = target * elementwise.log(output + epsilon())
    return -(hit + (1 - target) * elementwise.log(1 - output + epsilon()))


def binary_focal_crossentropy(
    target: Any,
    output: Any,
    apply_class_balancing: bool = False,
    alpha: float = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
) -> Tensor:
    """Cross-entropy of truth values in which those that are easy to tell weigh less."""
    target = cast(target, dtype(output))
    likely = elementwise.sigmoid(output) if from_logits else output
    right = target * likely + (1 - target) * (1 - likely)
    focal = mathematics.pow(1.0 - right, gamma) * binary_crossentropy(target, output, from_logits)
    if not apply_class_balancing:
        return focal
    return (target * alpha + (1 - target) * (1 - alpha)) * focal


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Cross-entropy of classes given as probabilities."""
    _check_fits(target, output)
    if from_logits:
        return softmaxes.softmax_cross_entropy_with_logits(target, output, axis=axis)
    output = _probabilities(output, axis)
    return -reduction.reduce_sum(cast(target, dtype(output)) * elementwise.log(output), axis)


def categorical_focal_crossentropy(
    target: Any,
    output: Any,
    alpha: Any = 0.25,
    gamma: float = 2.0,
    from_logits: bool = False,
    axis: int = -1,
) -> Tensor:
    """Cross-entropy of classes in which those that are easy to tell weigh less."""
    _check_fits(target, output)
    output = _probabilities(softmaxes.softmax(output, axis=axis) if from_logits else output, axis)
    entropy = -cast(target, dtype(output)) * elementwise.log(output)
    return reduction.reduce_sum(mathematics.pow(1.0 - output, gamma) * alpha * entropy, axis)


def _check_fits(target: Any, output: Any) -> None:
    sizes = list(zip(int_shape(target) or (), int_shape(output) or (), strict=False))
    if ndim(target) != ndim(output) or [p for p in sizes if None not in p and p[0] != p[1]]:
        raise ValueError(
            f"Shapes {int_shape(target)} and {int_shape(output)} are incompatible: `target` and "
            "`output` hold one number for each class."
        )


def _probabilities(output: Any, axis: int) -> Any:
    whole = output / reduction.reduce_sum(output, axis, True)
    return clipping.clip_by_value(whole, epsilon(), 1.0 - epsilon())


def sparse_categorical_crossentropy(
    target: Any,
    output: Any,
    from_logits: bool = False,
    axis: int = -1,
    ignore_class: int | None = None,
) -> Tensor:
    """Cross-entropy of classes given as numbers.

    Args:
        target: The classes, as integers.
        output: Probabilities.
        from_logits: Whether `output` holds logits instead.
        axis: The axis of the classes.
        ignore_class: A class that costs nothing.

    Returns:
        The cross-entropy of each sample.
    """
    target = cast(target, "int64")
    if not from_logits:
        output = elementwise.log(clipping.clip_by_value(output, epsilon(), 1.0 - epsilon()))
    rank = ndim(output)
    if axis % rank != rank - 1:
        others = [n for n in range(rank) if n != axis % rank]
        output = permuting.transpose(output, [*others, axis % rank])
    sizes = [-1 if size is None else size for size in int_shape(output) or ()][:-1]
    reshaped = ndim(target) != rank - 1
    if reshaped:
        target = shaping.reshape(target, [-1])
        output = shaping.reshape(output, [-1, output.shape[-1]])
    ignored = None if ignore_class is None else comparison.equal(target, ignore_class)
    labels = target if ignored is None else selecting.where(ignored, target * 0, target)
    found = softmaxes.sparse_softmax_cross_entropy_with_logits(labels, output)
    if ignored is not None:
        found = selecting.where(ignored, found * 0, found)
    return shaping.reshape(found, sizes) if reshaped and rank >= 3 else found
