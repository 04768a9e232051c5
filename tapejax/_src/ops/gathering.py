"""Ops that read elements at given indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.composites import CompositeGivenError, answer
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import (
    Array,
    Index,
    Same,
    StaticInts,
    TensorLike,
    ValueCheck,
    op,
    public,
)
from tapejax._src.ops.index_checks import element_failure, element_text, row_failure, row_text
from tapejax._src.ops.joining import concat
from tapejax._src.ops.shape_checks import check_attr_dtype, zero_of

_INDEX_DTYPES = ("int16", "int32", "int64")


def _gather_axes(
    params: Array, indices: Array, axis: int | None, batch_dims: int
) -> tuple[int, int]:
    """`(axis, batch_dims)` without signs, after the shapes were compared."""
    check_attr_dtype(indices, "Tindices", _INDEX_DTYPES)
    if not params.ndim:
        raise InvalidArgumentError("params must be at least 1 dimensional")
    rank = indices.ndim
    if not -rank <= batch_dims <= rank:
        raise InvalidArgumentError(
            f"Expected batch_dims in the range [-{rank}, {rank}], but got {batch_dims}"
        )
    batch = batch_dims + rank if batch_dims < 0 else batch_dims
    place = batch if axis is None else axis
    if not -params.ndim <= place < params.ndim:
        needed = -place if place < 0 else place + 1
        raise InvalidArgumentError(
            f"Shape must be at least rank {needed} but is rank {params.ndim}: axis {place} of "
            f"params of rank {params.ndim}"
        )
    place %= params.ndim
    if axis == 0:
        batch = 0  # as TensorFlow does
    if batch > place:
        raise InvalidArgumentError(
            f"batch_dims ({batch}) must be less than or equal to axis ({place})"
        )
    for dim, (mine, theirs) in enumerate(zip(params.shape, indices.shape[:batch], strict=False)):
        if mine != theirs:
            raise InvalidArgumentError(
                f"params.shape[{dim}]: {mine} should be equal to indices.shape[{dim}]: {theirs}"
            )
    return place, batch


def _bad_gather(
    params: Array,
    indices: Array,
    validate_indices: Any = None,
    axis: int | None = None,
    batch_dims: int = 0,
) -> tuple[Any, ...]:
    place, _ = _gather_axes(params, indices, axis, batch_dims)
    return element_failure(indices, params.shape[place])


def _batched(fn: Callable[[Any, Any], Any], batch: int) -> Callable[[Any, Any], Any]:
    """The function mapped over the leading dimensions of both arguments."""
    for _ in range(batch):
        fn = jax.vmap(fn)
    return fn


@op(
    "gather",
    node="GatherV2",
    slices=("params", "indices"),
    check=ValueCheck(_bad_gather, element_text),
    cases=(
        "f32[5,2], i32[3] in (0, 5)",
        "f64[3,4], i64[2,2] in (0, 4), axis=1",
        "i32[4], i32[] in (0, 4)",
        "f32[2,3,2], i32[2,2] in (0, 3), batch_dims=1",
        "f64[2,3,4], i32[2,1] in (0, 4), axis=-1, batch_dims=1",
        "c64[3], i16[2] in (0, 3), axis=-1",
        "f32[3,0], i32[2] in (0, 3)",
        "f32[0,2], i32[0] in (0, 3)",
    ),
)
def gather(
    params: TensorLike,
    indices: Index,
    validate_indices: Any = None,
    axis: StaticInts = None,
    batch_dims: StaticInts = 0,
    name: str | None = None,
) -> Array:
    """The slices of a tensor at some indices along an axis.

    Args:
        params: A tensor of any dtype, rank >= 1.
        indices: int16, int32 or int64, any shape, in `[0, params.shape[axis])`.
        validate_indices: Ignored: indices are always checked.
        axis: The axis. Default: `batch_dims`.
        batch_dims: How many leading dimensions `params` and `indices` have in common.
        name: Ignored.

    Returns:
        `params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:]`. The gradient
        along axis 0 without batch dimensions is a `tf.IndexedSlices`.

    Raises:
        InvalidArgumentError: If an index is out of range (also if it is negative).

    Example:
        >>> import tapejax as tf
        >>> tf.gather([5, 6, 7], [2, 0]).numpy().tolist()
        [7, 5]
    """
    place, batch = _gather_axes(params, indices, axis, batch_dims)
    shape = (*params.shape[:place], *indices.shape[batch:], *params.shape[place + 1 :])
    if not params.shape[place]:
        # only an empty list of indices passes the check
        return jnp.broadcast_to(zero_of(params), shape)
    whole = indices.astype(jnp.int32) if indices.dtype == jnp.int16 else indices

    def take(rows: Array, at: Array) -> Array:
        return jnp.take(rows, at, place - batch, mode="clip")

    return _batched(take, batch)(params, whole)


def _depth(params: Array, indices: Array, batch_dims: int) -> int:
    """How many dimensions an index names, after a check."""
    if not indices.ndim:
        raise InvalidArgumentError("indices must be at least a vector")
    depth = indices.shape[-1]
    if depth + batch_dims > params.ndim:
        raise InvalidArgumentError(
            "index innermost dimension length must be <= params rank; saw: "
            f"{depth} vs. {params.ndim - batch_dims}"
        )
    if params.shape[:batch_dims] != indices.shape[:batch_dims]:
        raise InvalidArgumentError(
            f"the first {batch_dims} dimensions of params and indices must be equal, got "
            f"shapes {params.shape} and {indices.shape}"
        )
    return depth


def _take_elements(params: Array, indices: Array) -> Array:
    """Slices at index vectors; zeros for those out of range."""
    depth = indices.shape[-1]
    if not depth:
        return jnp.broadcast_to(params, (*indices.shape[:-1], *params.shape))
    if not params.size or not indices.size:
        return jnp.broadcast_to(zero_of(params), (*indices.shape[:-1], *params.shape[depth:]))
    at = tuple(indices[..., d] for d in range(depth))
    return params.at[at].get(mode="fill", fill_value=0, wrap_negative_indices=False)


def _bad_rows(
    params: Array, indices: Array, batch_dims: int = 0, ignore: bool = False
) -> tuple[Any, ...]:
    depth = _depth(params, indices, batch_dims)
    if ignore:
        return False, 0
    limits = params.shape[batch_dims : batch_dims + depth]
    return row_failure(indices, limits, params.shape)


def _rows_text(*details: float) -> str:
    return row_text("param shape", *details)


@op(
    "_gather_nd",
    node="GatherNd",
    check=ValueCheck(_bad_rows, _rows_text),
    cases=(
        "f32[3,4], i32[2,2] in (0, 3), 0",
        "f64[2,3,2], i64[2,2,1] in (0, 3), 1",
        "i32[3], i32[2,0], 0",
        "f32[2,2], i32[3,2] in (-1, 3), 0, True",
    ),
)
def _gather_nd(
    params: TensorLike, indices: Index, batch_dims: StaticInts, ignore: bool = False
) -> Array:
    """Slices at index vectors."""
    check_attr_dtype(indices, "Tindices", _INDEX_DTYPES)
    _depth(params, indices, batch_dims)
    return _batched(_take_elements, batch_dims)(params, indices)


@op(
    "_gather_nd_rows",
    node="GatherNd",
    slices=("params", "indices"),
    check=ValueCheck(_bad_rows, _rows_text),
    cases=("f32[3,4], i32[2,1] in (0, 3)", "f64[3], i64[2,2,1] in (0, 3)"),
)
def _gather_nd_rows(params: TensorLike, indices: Index) -> Array:
    """Rows at index vectors of length 1; the gradient is a `tf.IndexedSlices`."""
    check_attr_dtype(indices, "Tindices", _INDEX_DTYPES)
    _depth(params, indices, 0)
    return _take_elements(params, indices)


@public("gather_nd")
def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: Any = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Any:
    """The slices of a tensor at some index vectors.

    Args:
        params: A tensor of any dtype.
        indices: int16, int32 or int64, `[..., depth]`: each row names one slice of `params`.
        batch_dims: How many leading dimensions `params` and `indices` have in common.
        name: Ignored.
        bad_indices_policy: `''` or `'ERROR'`: raise for an index out of range; `'IGNORE'`: zeros.

    Returns:
        `indices.shape[:-1] + params.shape[batch_dims + depth:]`. The gradient for depth 1 without
        batch dimensions is a `tf.IndexedSlices`.

    Raises:
        InvalidArgumentError: If an index is out of range.
        ValueError: If `batch_dims` is not less than the rank of `indices`.

    Example:
        >>> import tapejax as tf
        >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy().tolist()
        [2, 3]
    """
    if bad_indices_policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise InvalidArgumentError(f"Unknown bad indices handling attribute: {bad_indices_policy}")
    try:
        at, batch = as_tensor(indices), int(batch_dims)
    except CompositeGivenError as error:
        return answer("gather_nd", gather_nd, (params, indices, batch_dims), {}, error)
    rank = len(at.shape)
    if batch and not -rank <= batch < rank:
        raise ValueError(
            f"Argument `batch_dims` = {batch} must be less than rank(`indices`) = {rank}"
        )
    batch = batch + rank if batch < 0 else batch
    ignore = bad_indices_policy == "IGNORE"
    if not batch and not ignore and rank and at.shape[-1] == 1:
        return _gather_nd_rows(params, at)
    return _gather_nd(params, at, batch, ignore)


@op(
    "_clip_rows",
    node="ClipByNorm",
    cases=("f32[2,3], f32[] in (0.5, 1), 1", "f64[2,2,3], f64[] in (0.5, 1), 2"),
)
def _clip_rows(rows: Same, max_norm: Same, first: StaticInts) -> Array:
    """Rows (the dimensions from `first` on) scaled down to an L2 norm of at most `max_norm`."""
    axes = tuple(range(first, rows.ndim))
    total = jnp.sum(rows * rows, axes, keepdims=True)
    positive = total > 0
    safe = jnp.sqrt(jnp.where(positive, total, jnp.ones_like(total)))
    norm = jnp.where(positive, safe, total)
    return jnp.where(norm > max_norm, rows * max_norm / jnp.where(positive, norm, 1), rows)


@public("nn.embedding_lookup")
def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """Rows of a table of embeddings.

    Args:
        params: The table `[vocabulary, ...]`, or a list of tables that are one, cut along axis 0.
        ids: Integers of any shape, in `[0, vocabulary)`.
        max_norm: If given, rows with a larger L2 norm are scaled down to it.
        name: Ignored.

    Returns:
        `ids.shape + params.shape[1:]`. The gradient of a single table is a `tf.IndexedSlices`.

    Raises:
        ValueError: If there is no table.
        InvalidArgumentError: If an id is out of range.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.embedding_lookup([[1.0, 2.0], [3.0, 4.0]], [1]).numpy().tolist()
        [[3.0, 4.0]]

    *Differs from TensorFlow*: the gradient of several tables is dense.
    """
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and len(params) == 0:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    table = params
    if isinstance(params, (list, tuple)) and _are_tables(params):
        table = params[0] if len(params) == 1 else concat(params, 0)
    rows = gather(table, ids)
    if max_norm is None:
        return rows
    return _clip_rows(rows, max_norm, len(as_tensor(ids).shape))


def _are_tables(params: Any) -> bool:
    """Whether a list holds tables, rather than being one table written as a nested list."""
    return any(isinstance(table, (Tensor, Variable)) or hasattr(table, "dtype") for table in params)
