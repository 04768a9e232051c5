"""`tf.math.confusion_matrix`: how often each class was taken for each other one."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tapejax._src.core.dtypes import as_dtype, int32, int64
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, static_ints
from tapejax._src.engine.registry import Array, Index, StaticInts, TensorLike, op, public
from tapejax._src.ops.assertions import assert_less, assert_non_negative
from tapejax._src.ops.casting import cast
from tapejax._src.ops.selecting import host_value
from tapejax._src.ops.shaping import squeeze


@op(
    "_confusion_matrix",
    node="ScatterNd",
    cases=(
        "i64[4] in (0, 3), i64[4] in (0, 3), f64[4], 3",
        "i64[3] in (0, 2), i64[3] in (0, 2), i32[3], 4",
    ),
)
def _counted(labels: Index, predictions: Index, weights: TensorLike, size: StaticInts) -> Array:
    """The sums of `weights` by label and prediction."""
    addends = weights.astype(jnp.int32) if weights.dtype == bool else weights
    sums = jnp.zeros((size, size), addends.dtype).at[labels, predictions].add(addends)
    return sums > 0 if weights.dtype == bool else sums


def _squeezed(x: Tensor, other: Tensor) -> Tensor:
    """`x` without a last axis of size 1 that `other` does not have."""
    rank = len(x.shape)
    if rank - len(other.shape) == 1 and x.aval.shape[-1] == 1:
        return squeeze(x, [-1])
    return x


def _size(labels: Tensor, predictions: Tensor) -> int:
    """One more than the largest class."""
    found = [host_value(x) for x in (labels, predictions)]
    return max(int(x.max(initial=-1)) for x in found) + 1


@public("math.confusion_matrix")
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = int32,
    name: str | None = None,
) -> Any:
    """How often each class was predicted for each label.

    Args:
        labels: Class numbers `[n]`.
        predictions: Class numbers `[n]`.
        num_classes: The number of classes; None takes one more than the largest number (whose
            value is read).
        weights: What each pair counts `[n]`; None counts 1.
        dtype: The dtype of the result.
        name: Ignored.

    Returns:
        A matrix `[num_classes, num_classes]`: rows are labels, columns are predictions.

    Raises:
        tf.errors.InvalidArgumentError: A class out of range, or vectors of different lengths.
        ValueError: `weights` has another shape, or the classes are not vectors.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.confusion_matrix([0, 1, 1], [0, 1, 0]).numpy())
        [[1 0]
         [1 1]]
    """
    kind, given = as_dtype(dtype), (as_tensor(labels), as_tensor(predictions))
    truth = cast(_squeezed(*given), int64)
    guess = cast(_squeezed(*reversed(given)), int64)
    if len(truth.shape) != 1 or len(guess.shape) != 1:
        raise ValueError(
            f"`labels` and `predictions` must be vectors (rank 1), got shapes {truth.shape} and "
            f"{guess.shape}. Flatten them with tf.reshape(x, [-1])."
        )
    if truth.shape != guess.shape:
        shapes = f"values[0].shape = {truth.shape} != values[1].shape = {guess.shape}"
        raise InvalidArgumentError(f"Shapes of all inputs must match: {shapes}")
    assert_non_negative(truth, "`labels` contains negative values.  ")
    assert_non_negative(guess, "`predictions` contains negative values.  ")
    if num_classes is None:
        size = _size(truth, guess)
    else:
        size = static_ints(num_classes)
        limit = cast(size, int64)
        assert_less(truth, limit, "`labels` out of bound")
        assert_less(guess, limit, "`predictions` out of bound")
    counts = cast(1 if weights is None else weights, kind)
    if weights is None:
        counts = _repeated(counts, truth)
    elif counts.shape != guess.shape:
        raise ValueError(f"Shapes {guess.shape} and {counts.shape} are incompatible: `weights`")
    return _counted(truth, guess, counts, size)


@op("_repeated", node="Fill", cases=("f64[], i32[3]",))
def _repeated(value: TensorLike, like: Index) -> Array:
    """A scalar as often as another tensor has elements."""
    return jnp.broadcast_to(value, like.shape)
