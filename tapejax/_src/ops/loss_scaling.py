"""Losses of batches, averaged as training on several replicas needs; sums for moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import float32
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.arithmetic import divide, multiply, subtract
from tapejax._src.ops.assertions import assert_positive
from tapejax._src.ops.casting import cast
from tapejax._src.ops.powers import square
from tapejax._src.ops.reduction import reduce_sum
from tapejax._src.ops.shaping import expand_dims, squeeze
from tapejax._src.ops.static_assertions import assert_integer, assert_scalar


class Replicas:
    """How many replicas a step runs on; set by what distributes steps."""

    count: Callable[[], int] = staticmethod(lambda: 1)


REPLICAS = Replicas()


def _weighted(losses: Tensor, weights: Any) -> Tensor:
    """Losses times weights, which may lack a last axis of size 1, or have one too many."""
    losses, weights = cast(losses, float32), cast(as_tensor(weights), float32)
    shape, other = losses.aval.shape, weights.aval.shape
    if other and len(other) == len(shape) + 1 and other[-1] == 1:
        weights = squeeze(weights, [-1])
    elif other and len(shape) == len(other) + 1 and shape[-1] == 1:
        losses = squeeze(losses, [-1])
    elif other and len(shape) == len(other) + 1:
        weights = expand_dims(weights, -1)
    return multiply(losses, weights)


@public("nn.compute_average_loss")
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Any:
    """The sum of losses divided by the size of the batch over all replicas.

    Args:
        per_example_loss: `[batch, ...]`, one loss for each example.
        sample_weight: Weights that broadcast with the losses.
        global_batch_size: The number of examples over all replicas, an integer; by default that of
            this replica times the number of replicas.

    Returns:
        A scalar of the dtype of the losses; 0 for no examples.

    Raises:
        ValueError: If the losses are a scalar, or the size is none.
        TypeError: If the size is no integer.

    Example:
        >>> import tapejax as tf
        >>> float(tf.nn.compute_average_loss([1.0, 2.0], global_batch_size=4))
        0.75

    *Differs from TensorFlow*: a batch size of 0 or less is an error.
    """
    losses = as_tensor(per_example_loss)
    dtype = losses.dtype
    if not losses.aval.shape:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. "
            f"Received per_example_loss={losses} with rank 0"
        )
    if global_batch_size is None:
        global_batch_size = losses.aval.shape[0] * REPLICAS.count()
        if not global_batch_size:
            return reduce_sum(losses)
    else:
        assert_scalar(global_batch_size, "global_batch_size must be scalar.")
        assert_integer(global_batch_size, "global_batch_size must be an integer.")
        assert_positive(global_batch_size, "global_batch_size must be positive.")
    if sample_weight is not None:
        losses = cast(_weighted(losses, sample_weight), dtype)
    return divide(reduce_sum(losses), cast(global_batch_size, dtype))


@public("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: Any) -> Any:
    """The sum of regularization losses divided by the number of replicas.

    Args:
        regularization_loss: Losses of any shape.

    Returns:
        A scalar of their dtype.

    Example:
        >>> import tapejax as tf
        >>> float(tf.nn.scale_regularization_loss([1.0, 2.0]))
        3.0
    """
    total = reduce_sum(as_tensor(regularization_loss))
    return divide(total, cast(REPLICAS.count(), total.dtype))


@public("nn.sufficient_statistics")
def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Any, Any, Any, Any]:
    """What `tf.nn.normalize_moments` makes a mean and a variance of.

    Args:
        x: A tensor.
        axes: The axes to sum over.
        shift: Something near the mean, subtracted first for the sake of precision; or None.
        keepdims: Keep the summed axes with length 1.
        name: Ignored.

    Returns:
        `(count, mean_ss, variance_ss, shift)`: how many elements each sum has (a scalar), the sum
        and the sum of squares of `x - shift`, and the shift as a tensor or None.

    Example:
        >>> import tapejax as tf
        >>> count, total, squares, _ = tf.nn.sufficient_statistics([1.0, 3.0], [0])
        >>> float(count), float(total), float(squares)
        (2.0, 4.0, 10.0)
    """
    del name
    tensor = as_tensor(x)
    listed = sorted(set(int(axis) for axis in np.atleast_1d(np.asarray(axes))))
    shape = tensor.aval.shape
    count = int(np.prod([shape[axis] for axis in listed], dtype=np.int64))
    counts = constant_tensor(np.asarray(count, np.dtype(tensor.dtype.as_numpy_dtype)))
    moved = tensor
    if shift is not None:
        shift = as_tensor(shift, tensor.dtype)
        moved = subtract(tensor, shift)
    sums = [reduce_sum(part, listed, keepdims=keepdims) for part in (moved, square(moved))]
    return counts, sums[0], sums[1], shift
