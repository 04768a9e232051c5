"""The largest or smallest elements along an axis, where TensorFlow allows inexact results."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, op, public
from tapejax._src.ops.derivatives import unconnected

_FLOATS = "half bfloat16 float"
_FORMS = ("f32[2,6], 2", "f16[5], 3, -1, 0.8", "bf16[5], 1", "f32[3], k=0")


class ApproxTopK(NamedTuple):
    """What the searches return: the `values` found and their `indices` along the axis."""

    values: Any
    indices: Any


def _found(x: Array, k: Any, axis: Any, largest: bool) -> ApproxTopK:
    if x.ndim == 0:
        raise InvalidArgumentError("input must be >= 1-D, got shape []")
    if not -x.ndim <= axis < x.ndim:
        msg = f"reduction_dimension must be in [{-x.ndim}, {x.ndim}), got {axis}"
        raise InvalidArgumentError(msg)
    if k < 0:
        raise InvalidArgumentError(f"Need k >= 0, got {k}")
    if x.shape[axis] < k:
        msg = f"input must have at least k columns. Had {x.shape[axis]}, needed {k}"
        raise InvalidArgumentError(msg)
    rows = jnp.moveaxis(x, axis, -1)
    indices = unconnected(lax.top_k(rows if largest else -rows, int(k))[1])
    values = jnp.take_along_axis(rows, indices, axis=-1)
    return ApproxTopK(jnp.moveaxis(values, -1, axis), jnp.moveaxis(indices, -1, axis))


@op("math.approx_max_k", "nn.approx_max_k", node="ApproxTopK", dtypes=_FLOATS, cases=_FORMS)
def approx_max_k(
    operand: Same,
    k: StaticInts,
    reduction_dimension: StaticInts = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The `k` largest elements along an axis, in descending order, and their indices.

    The search is exact, as TensorFlow's on CPU, so the arguments about recall change nothing. NaN
    comes first.

    Args:
        operand: Float16, bfloat16 or float32 numbers `[..., n, ...]`.
        k: How many to find, at most `n`.
        reduction_dimension: The axis of length `n`.
        recall_target: Ignored: all are found.
        reduction_input_size_override: Ignored.
        aggregate_to_topk: Ignored: there are always `k` results.
        name: Ignored.

    Returns:
        A named tuple `(values, indices)`, both `[..., k, ...]`; the indices are int32.

    Raises:
        tf.errors.InvalidArgumentError: `k` or the axis is out of range, or another dtype.

    Example:
        >>> import tapejax as tf
        >>> values, indices = tf.math.approx_max_k([1.0, 3.0, 2.0], 2)
        >>> print(values.numpy(), indices.numpy())
        [3. 2.] [1 2]

    *Differs from TensorFlow*: searches along every axis (TensorFlow on CPU along the last one).
    """
    return _found(operand, k, reduction_dimension, True)


@op("approx_top_k", node="ApproxTopK", dtypes=_FLOATS, cases=_FORMS)
def approx_top_k(
    input: Same,
    k: StaticInts,
    reduction_dimension: StaticInts = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The `k` largest or smallest elements along an axis: see `tf.math.approx_max_k`.

    Args:
        input: Float16, bfloat16 or float32 numbers `[..., n, ...]`.
        k: How many to find, at most `n`.
        reduction_dimension: The axis of length `n`.
        recall_target: Ignored: all are found.
        is_max_k: Whether to find the largest ones.
        reduction_input_size_override: Ignored.
        aggregate_to_topk: Ignored: there are always `k` results.
        name: Ignored.

    Returns:
        A named tuple `(values, indices)`, both `[..., k, ...]`; the indices are int32.

    Raises:
        tf.errors.InvalidArgumentError: `k` or the axis is out of range, or another dtype.

    Example:
        >>> import tapejax as tf
        >>> print(tf.approx_top_k([1.0, 3.0, 2.0], 1, is_max_k=False).values.numpy())
        [1.]
    """
    return _found(input, k, reduction_dimension, is_max_k)


@public("math.approx_min_k")
def approx_min_k(
    operand: Any,
    k: Any,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:
    """The `k` smallest elements along an axis, in ascending order, and their indices.

    Args:
        operand: Float16, bfloat16 or float32 numbers `[..., n, ...]`.
        k: How many to find, at most `n`.
        reduction_dimension: The axis of length `n`.
        recall_target: Ignored: all are found.
        reduction_input_size_override: Ignored.
        aggregate_to_topk: Ignored: there are always `k` results.
        name: Ignored.

    Returns:
        A named tuple `(values, indices)`, both `[..., k, ...]`; the indices are int32.

    Raises:
        tf.errors.InvalidArgumentError: `k` or the axis is out of range, or another dtype.

    Example:
        >>> import tapejax as tf
        >>> values, indices = tf.math.approx_min_k([1.0, 3.0, 2.0], 2)
        >>> print(values.numpy(), indices.numpy())
        [1. 2.] [0 2]

    *Differs from TensorFlow*: works on CPU too.
    """
    return approx_top_k(operand, k, reduction_dimension, is_max_k=False)
