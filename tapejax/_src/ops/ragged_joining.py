"""`tf.concat`, `tf.stack`, `tf.tile` and other rearrangements of ragged tensors.

Each function answers the public op of its name where one of the arguments is ragged.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import as_dtype, int32, int64
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.engine.convert import static_ints
from tapejax._src.ops import creation, joining, permuting, shaping
from tapejax._src.ops.ragged_broadcasting import same_rows, splits_dtype_of
from tapejax._src.ops.ragged_queries import ragged_axis
from tapejax._src.ops.ragged_rows import (
    apply,
    as_values,
    expanded_at,
    host_ints,
    lengths_of,
    of_lengths,
    rank_of,
    row_count,
    spans,
    splits_of,
    take,
    uniform_rows,
)
from tapejax._src.ops.ragged_shape import DynamicRaggedShape


# ---------------------------------------------------------------------- one ragged rank
def with_ragged_rank(value: Any, ragged_rank: int, dtype: Any) -> Any:
    """A tensor or ragged tensor with at least so many row partitions; new ones are uniform."""
    if ragged_rank <= 0:
        return value
    if isinstance(value, RaggedTensor):
        return apply(value, lambda values: with_ragged_rank(values, ragged_rank - 1, dtype))
    shape = value.aval.shape
    rows = uniform_rows(shape[0], shape[1], dtype)
    below = shaping.reshape(value, (shape[0] * shape[1], *shape[2:]))
    return RaggedTensor.of(with_ragged_rank(below, ragged_rank - 1, dtype), rows)


def _alike(values: Sequence[Any]) -> list[Any]:
    """Tensors of one rank with one number of row partitions."""
    found = [as_values(v) for v in values]
    ranks = {rank_of(v) for v in found}
    if len(ranks) > 1:
        raise ValueError(
            f"Inputs must have the same rank, got ranks {sorted(ranks)}: shapes "
            f"{[v.shape for v in found]}."
        )
    dtype = splits_dtype_of(found)
    depth = max(v.ragged_rank for v in found if isinstance(v, RaggedTensor))
    return [with_ragged_rank(v, depth, dtype) for v in found]


# ---------------------------------------------------------------------- concat, stack
def concat(values: Any, axis: Any, name: str | None = None) -> Any:
    """`tf.concat` with a ragged tensor among the values."""
    del name
    given = values if isinstance(values, (list, tuple)) else [values]
    if len(given) == 1:
        return given[0]
    found = _alike(given)
    return _concat(found, ragged_axis(static_ints(axis), rank_of(found[0])))


def _concat(values: Sequence[Any], axis: int) -> Any:
    if not isinstance(values[0], RaggedTensor):
        return joining.concat(list(values), axis)
    if axis == 0:
        return _rows_of_all(values)
    first = values[0]
    if axis == 1:
        counts = {v.partition.nrows for v in values}
        if len(counts) > 1:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Input tensors have incompatible shapes: {sorted(counts)} rows cannot be joined "
                "along axis 1.",
            )
        whole = _rows_of_all(values)
        order = np.arange(whole.partition.nrows).reshape(len(values), -1).T.reshape(-1)
        rows = take(whole, order, "tf.concat of ragged tensors")
        lengths = lengths_of(rows.partition, "tf.concat").reshape(-1, len(values)).sum(1)
        return RaggedTensor.of(rows.values, of_lengths(lengths, first.partition.dtype))
    for other in values[1:]:
        if not first.partition.is_same(other.partition):
            raise errors.InvalidArgumentError(
                None,
                None,
                "Inputs must have identical ragged splits in the dimensions before the axis of "
                "tf.concat.",
            )
    return RaggedTensor.of(_concat([v.values for v in values], axis - 1), first.partition)


def _rows_of_all(values: Sequence[Any]) -> Any:
    """The rows of all one after the other."""
    if not isinstance(values[0], RaggedTensor):
        return joining.concat(list(values), 0)
    inner = _rows_of_all([v.values for v in values])
    what = "tf.concat of ragged tensors"
    lengths = np.concatenate([lengths_of(v.partition, what) for v in values])
    uniform = {v.partition.uniform for v in values}
    size = uniform.pop() if len(uniform) == 1 else None
    return RaggedTensor.of(inner, of_lengths(lengths, values[0].partition.dtype, size))


def stack(values: Any, axis: Any = 0, name: str | None = None) -> Any:
    """`tf.stack` with a ragged tensor among the values; also of different row counts."""
    del name
    found = _alike(list(values))
    place = ragged_axis(static_ints(axis), rank_of(found[0]) + 1)
    return stacked(found, place)


def stacked(values: Sequence[Any], axis: int, dtype: Any = int64) -> Any:
    """Tensors of one ragged rank along a new axis."""
    if axis > 1 and len(values) > 1:
        dims = [v for v in values if not same_rows(values[0], v)]
        if dims:
            raise errors.InvalidArgumentError(
                None, None, "Inputs must have identical ragged splits to be stacked along axis > 1."
            )
    if axis == 0:
        whole = _rows_of_all(values)
        lengths = [row_count(v) for v in values]
        if isinstance(values[0], RaggedTensor):
            dtype = values[0].partition.dtype
        return RaggedTensor.of(whole, of_lengths(lengths, dtype))
    return _concat([expanded_at(v, axis) for v in values], axis)


# ---------------------------------------------------------------------- new and repeated dimensions
def expand_dims(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """`tf.expand_dims` of a ragged tensor."""
    del name
    return expanded_at(input, ragged_axis(static_ints(axis), rank_of(input) + 1))


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """`tf.tile` of a ragged tensor."""
    del name
    counts = static_ints(multiples)
    rank = rank_of(input)
    if len(counts) != rank:
        raise ValueError(f"multiples must have {rank} elements, one for each axis, got {counts}.")
    return _tiled(input, counts)


def _tiled(value: Any, counts: Sequence[int]) -> Any:
    if not isinstance(value, RaggedTensor):
        return shaping.tile(value, list(counts))
    what = "tf.tile of a ragged tensor"
    partition = value.partition
    inner = _tiled(value.values, [1, *counts[2:]])
    lengths = lengths_of(partition, what)
    starts = splits_of(partition, what)[:-1]
    often = np.repeat(lengths, counts[1])
    places = spans(np.repeat(starts, counts[1]), often)
    size = None if partition.uniform is None else partition.uniform * counts[1]
    rows = of_lengths(lengths * counts[1], partition.dtype, size)
    whole = RaggedTensor.of(take(inner, places, what), rows)
    return take(whole, np.tile(np.arange(partition.nrows), counts[0]), what)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """`tf.reverse` of a ragged tensor."""
    del name
    given = static_ints(axis)
    rank = rank_of(tensor)
    axes = {ragged_axis(a, rank) for a in ([given] if isinstance(given, int) else given)}
    return _reversed(tensor, axes)


def _reversed(value: Any, axes: set[int]) -> Any:
    if not isinstance(value, RaggedTensor):
        return permuting.reverse(value, sorted(axes)) if axes else value
    what = "tf.reverse of a ragged tensor"
    inner = _reversed(value.values, {a - 1 for a in axes if a > 1})
    if 1 in axes:
        splits = splits_of(value.partition, what)
        inner = take(inner, spans(splits[1:] - 1, np.diff(splits), -1), what)
    whole = RaggedTensor.of(inner, value.partition)
    if 0 in axes:
        whole = take(whole, np.arange(value.partition.nrows)[::-1], what)
    return whole


# ---------------------------------------------------------------------- parts
def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: Any = None
) -> Any:
    """`tf.split` of a ragged tensor along a dimension that is not ragged."""
    del num, name
    place = ragged_axis(static_ints(axis), rank_of(value))
    sizes = static_ints(num_or_size_splits)
    return _split(value, sizes, place)


def _split(value: Any, sizes: Any, axis: int) -> list[Any]:
    if not isinstance(value, RaggedTensor):
        return list(joining.split(value, sizes, axis))
    if axis > 1:
        parts = _split(value.values, sizes, axis - 1)
        return [RaggedTensor.of(part, value.partition) for part in parts]
    length = value.partition.nrows if axis == 0 else value.partition.uniform
    if length is None:
        raise ValueError(
            f"Cannot split a ragged dimension. Got `value` with shape {value.shape} and `axis` 1."
        )
    counts = _sizes(sizes, length)
    ends = np.cumsum([0, *counts])
    if axis == 0:
        return [take(value, np.arange(a, b)) for a, b in pairwise(ends.tolist())]
    found: list[Any] = []
    for a, b in pairwise(ends.tolist()):
        starts = splits_of(value.partition, "tf.split")[:-1] + a
        rows = uniform_rows(len(starts), int(b - a), value.partition.dtype)
        places = spans(starts, np.full(len(starts), b - a))
        found.append(RaggedTensor.of(take(value.values, places), rows))
    return found


def _sizes(sizes: Any, length: int) -> list[int]:
    if isinstance(sizes, int):
        if sizes < 1 or length % sizes:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"num_split {sizes} must evenly divide the dimension, which has size {length}",
            )
        return [length // sizes] * sizes
    counts = list(sizes)
    if -1 in counts:
        counts[counts.index(-1)] = length - sum(counts) - 1
    if sum(counts) != length or min(counts, default=0) < 0:
        raise errors.InvalidArgumentError(
            None, None, f"Sizes {list(sizes)} of tf.split do not add up to {length}."
        )
    return counts


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """`tf.squeeze` of a ragged tensor; the axes must be given."""
    del name
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    given = static_ints(axis)
    rank = rank_of(input)
    places = sorted({ragged_axis(a, rank) for a in ([given] if isinstance(given, int) else given)})
    found = input
    for place in reversed(places):
        found = _squeezed(found, place)
    return found


def _squeezed(value: Any, axis: int) -> Any:
    if not isinstance(value, RaggedTensor):
        return shaping.squeeze(value, [axis])
    if axis > 1:
        return apply(value, lambda values: _squeezed(values, axis - 1))
    if axis == 0:
        fits = value.partition.nrows == 1
    else:
        fits = bool((lengths_of(value.partition, "tf.squeeze") == 1).all())
    if not fits:
        raise errors.InvalidArgumentError(
            None, None, f"Can not squeeze dim[{axis}] of a ragged tensor of shape {value.shape}"
        )
    return value.values


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """`tf.reshape`: the flat values in a shape without ragged dimensions."""
    del name
    if isinstance(shape, DynamicRaggedShape):
        flat = shaping.reshape(getattr(tensor, "flat_values", tensor), shape.flat_shape)
        return shape.over(flat)
    return shaping.reshape(tensor.flat_values, shape)


# ---------------------------------------------------------------------- what is asked
def shape(input: Any, out_type: Any = None, name: str | None = None) -> DynamicRaggedShape:
    """`tf.shape` of a ragged tensor."""
    del name
    dtype = int32 if out_type is None else as_dtype(out_type)
    return DynamicRaggedShape(input.partitions, input.flat_values.aval.shape[1:], dtype)


def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """`tf.size`: how many values there are."""
    del name
    dtype = int32 if out_type is None else as_dtype(out_type)
    return host_ints(int(np.prod(input.flat_values.aval.shape)), dtype)


def rank(input: Any, name: str | None = None) -> Any:
    """`tf.rank` of a ragged tensor."""
    del name
    return host_ints(rank_of(input), int32)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.one_hot` of ragged indices; the new axis is the last."""
    del name
    if axis not in (None, -1, rank_of(indices)):
        raise ValueError("tf.one_hot of a ragged tensor: `axis` must be the last one.")
    flat = creation.one_hot(indices.flat_values, depth, on_value, off_value, -1, dtype)
    return indices.over(flat)
