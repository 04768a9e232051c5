"""Sorting: sort, argsort, the k largest elements, and whether a target is among them."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import (
    Array,
    DTypeLike,
    Index,
    Same,
    StaticInts,
    TensorLike,
    op,
)
from tapejax._src.ops.derivatives import unconnected
from tapejax._src.ops.selection import as_numpy, check_index_dtype

_ORDERED = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
_FORMS = (
    "f32[5] distinct",
    "f64[2,3] distinct, axis=0",
    'f32[2,3] distinct, direction="DESCENDING"',
    'i32[6], direction="DESCENDING"',
    "u8[6]",
    "f32[2,0], axis=0",
)


def losing_nan(x: Array) -> Array:
    """`x` with -inf for NaN, so that NaN comes last in a descending order."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return jnp.where(jnp.isnan(x), jnp.full_like(x, -jnp.inf), x)


def _order(x: Array, axis: StaticInts, direction: str) -> tuple[Array, int]:
    """The stable sorting permutation along `axis`, and that axis; NaN comes last."""
    if direction not in ("ASCENDING", "DESCENDING"):
        msg = (
            "Argument `direction` should be one of ASCENDING, DESCENDING. "
            f"Received: direction={direction}"
        )
        raise ValueError(msg)
    if not isinstance(axis, int | np.integer) or not -x.ndim <= axis < x.ndim:
        msg = f"slice index {axis} of dimension 0 out of bounds. The input has rank {x.ndim}."
        raise InvalidArgumentError(msg)
    if direction == "ASCENDING":
        return jnp.argsort(x, axis=int(axis), stable=True), int(axis)
    key = losing_nan(x)
    return jnp.argsort(key, axis=int(axis), stable=True, descending=True), int(axis)


@op("sort", node="TopKV2", dtypes=_ORDERED, cases=_FORMS)
def sort(
    values: Same,
    axis: StaticInts = -1,
    direction: str = "ASCENDING",
    name: str | None = None,
) -> Array:
    """The elements in order along one axis; the derivative goes to where they came from.

    Args:
        values: Real numbers `[...]` of rank at least 1.
        axis: The axis to sort along.
        direction: "ASCENDING" or "DESCENDING".
        name: Ignored.

    Returns:
        The sorted elements, of the shape and dtype of `values`; equal elements keep their order
        and NaN comes last.

    Raises:
        ValueError: Another `direction`.
        tf.errors.InvalidArgumentError: Complex numbers or booleans, an axis out of range.

    Example:
        >>> import tapejax as tf
        >>> print(tf.sort([3.0, 1.0, 2.0], direction="DESCENDING").numpy())
        [3. 2. 1.]
    """
    order, axis = _order(values, axis, direction)
    return jnp.take_along_axis(values, unconnected(order), axis=axis)


@op(
    "argsort",
    node="TopKV2",
    dtypes=_ORDERED,
    gradient="none",
    cases=(*_FORMS, "i32[6], stable=True"),
)
def argsort(
    values: Same,
    axis: StaticInts = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Array:
    """The int32 indices that sort the elements along one axis; always stable.

    Args:
        values: Real numbers `[...]` of rank at least 1.
        axis: The axis to sort along.
        direction: "ASCENDING" or "DESCENDING".
        stable: Ignored: equal elements keep their order anyway.
        name: Ignored.

    Returns:
        The int32 indices, of the shape of `values`; those of NaN come last.

    Raises:
        ValueError: Another `direction`.
        tf.errors.InvalidArgumentError: Complex numbers or booleans, an axis out of range.

    Example:
        >>> import tapejax as tf
        >>> print(tf.argsort([2, 1, 2]).numpy())
        [1 0 2]
    """
    return _order(values, axis, direction)[0].astype(jnp.int32)


class TopKV2(NamedTuple):
    """What `tf.math.top_k` returns: the largest `values` and their `indices`."""

    values: Any
    indices: Any


@op(
    "math.top_k",
    "nn.top_k",
    node="TopKV2",
    dtypes=_ORDERED,
    cases=(
        "f32[5] distinct, k=2",
        "f64[2,3] distinct, k=3",
        "i32[2,6], k=2, index_type=tf.int64",
        "u8[6], k=1",
        "f32[3], k=0",
    ),
)
def top_k(
    input: Same,
    k: StaticInts = 1,
    sorted: bool = True,
    index_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> TopKV2:
    """The `k` largest elements of each row, in descending order, and their indices.

    Args:
        input: Real numbers `[..., n]`.
        k: How many to find, at most `n`.
        sorted: Ignored: the result is sorted anyway.
        index_type: DType of the indices: int16, int32 or int64.
        name: Ignored.

    Returns:
        A named tuple `(values, indices)`, both `[..., k]`. Of equal elements the first ones are
        taken, in their order; NaN comes last.

    Raises:
        tf.errors.InvalidArgumentError: `k` is negative or larger than `n`, or `input` a scalar.

    Example:
        >>> import tapejax as tf
        >>> values, indices = tf.math.top_k([1.0, 3.0, 3.0, 2.0], k=2)
        >>> print(values.numpy(), indices.numpy())
        [3. 3.] [1 2]
    """
    if not isinstance(k, int | np.integer):
        raise InvalidArgumentError(f"k must be scalar, got shape [{len(k)}]")
    if input.ndim == 0:
        raise InvalidArgumentError("input must be >= 1-D, got shape []")
    if k < 0:
        raise InvalidArgumentError(f"Need k >= 0, got {k}")
    if input.shape[-1] < k:
        msg = f"input must have at least k columns. Had {input.shape[-1]}, needed {k}"
        raise InvalidArgumentError(msg)
    dtype = as_numpy(index_type)
    check_index_dtype("index_type", dtype, "int16, int32, int64")
    indices = unconnected(lax.top_k(losing_nan(input), int(k))[1])
    return TopKV2(jnp.take_along_axis(input, indices, axis=-1), indices.astype(dtype))


@op(
    "math.in_top_k",
    "nn.in_top_k",
    node="InTopKV2",
    dtypes="float",
    gradient="none",
    cases=("i32[3] in (0, 4), f32[3,4], 2", "i64[3] in (0, 4), f32[3,4], k=1"),
)
def in_top_k(targets: Index, predictions: TensorLike, k: Index, name: str | None = None) -> Array:
    """Whether each target class is among the `k` with the largest predictions.

    Args:
        targets: Class numbers `[batch]`.
        predictions: Float32 `[batch, classes]`.
        k: How many classes count as top; those equal to the last one count too.
        name: Ignored.

    Returns:
        Booleans `[batch]`; False for a class out of range and for a row that is not finite.

    Raises:
        ValueError: `predictions` is not float32.
        tf.errors.InvalidArgumentError: The shapes do not match.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.in_top_k([1, 0], [[0.1, 0.9], [0.2, 0.3]], k=1).numpy())
        [ True False]
    """
    if predictions.dtype != jnp.float32:
        msg = (
            "Tensor conversion requested dtype float32 for Tensor with dtype "
            f"{predictions.dtype.name}. Use tf.cast(predictions, tf.float32)."
        )
        raise ValueError(msg)
    if predictions.ndim != 2:
        raise InvalidArgumentError("predictions must be 2-dimensional")
    if targets.ndim != 1:
        raise InvalidArgumentError("targets must be 1-dimensional")
    if predictions.shape[0] != targets.shape[0]:
        msg = (
            f"First dimension of predictions {predictions.shape[0]} must match length of targets "
            f"{targets.shape[0]}"
        )
        raise InvalidArgumentError(msg)
    classes = predictions.shape[1]
    known = (targets >= 0) & (targets < classes) & jnp.all(jnp.isfinite(predictions), axis=1)
    own = jnp.take_along_axis(
        predictions, jnp.clip(targets, 0, max(classes - 1, 0))[:, None], axis=1
    )
    return known & (jnp.sum(predictions > own, axis=1, dtype=jnp.int64) < k)
