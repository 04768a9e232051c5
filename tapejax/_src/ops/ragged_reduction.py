"""Reductions of ragged tensors over ragged and uniform axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import int32
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import HostArray
from tapejax._src.core.tensor import Tensor
from tapejax._src.ops import (
    arithmetic,
    casting,
    comparison,
    creation,
    powers,
    reduction,
    segment,
    shaping,
)
from tapejax._src.ops.ragged_queries import ragged_axis, row_ids_of
from tapejax._src.ops.ragged_rows import (
    expanded_at,
    host_rows,
    of_lengths,
    rank_of,
    rowids_of,
    splits_of,
)
from tapejax._src.tape.custom_gradient import stop_gradient

_SEGMENTS: Mapping[str, Callable[..., Any]] = {
    "sum": segment.unsorted_segment_sum,
    "prod": segment.unsorted_segment_prod,
    "max": segment.unsorted_segment_max,
    "min": segment.unsorted_segment_min,
}
_DENSE: Mapping[str, Callable[..., Any]] = {
    "sum": reduction.reduce_sum,
    "prod": reduction.reduce_prod,
    "max": reduction.reduce_max,
    "min": reduction.reduce_min,
}


def _axes(axis: Any, rank: int) -> list[int]:
    """The axes without signs, each once, the last one first."""
    if isinstance(axis, Tensor):
        raise TypeError(f"axis must be an int; got {axis.dtype.name}: pass Python integers.")
    given: Sequence[Any] = list(axis) if isinstance(axis, (list, tuple, np.ndarray)) else [axis]
    return sorted({ragged_axis(place, rank) for place in given}, reverse=True)


def reduced(value: RaggedTensor, kind: str, axis: Any, keepdims: Any) -> Any:
    """A reduction by sum, product, maximum or minimum."""
    rank = rank_of(value)
    if axis is None:
        result = _DENSE[kind](value.flat_values)
        return shaping.reshape(result, [1] * rank) if keepdims else result
    found: Any = value
    for place in _axes(axis, rank):
        found = _along(found, kind, place, keepdims)
    return found


def _along(value: Any, kind: str, axis: int, keepdims: Any) -> Any:
    if not isinstance(value, RaggedTensor):
        return _DENSE[kind](value, axis, bool(keepdims))
    result = _one(value, kind, axis)
    return expanded_at(result, axis) if keepdims else result


def _one(value: RaggedTensor, kind: str, axis: int) -> Any:
    """A reduction over one axis."""
    inner, partition = value.values, value.partition
    if axis > 1:
        below = _one(inner, kind, axis - 1) if isinstance(inner, RaggedTensor) else None
        if below is None:
            below = _DENSE[kind](inner, axis - 1)
        return RaggedTensor.of(below, partition)
    if axis == 1 and not isinstance(inner, RaggedTensor):
        host = partition.host()
        if host is None:
            ids = row_ids_of(partition, inner.aval.shape[0])
        else:
            ids = host_rows(rowids_of(partition, kind))
        return _SEGMENTS[kind](inner, ids, partition.nrows)
    what = f"tf.reduce_{kind} over a ragged axis"
    if axis == 1:
        return grouped(inner, _SEGMENTS[kind], rowids_of(partition, what), partition.nrows, what)
    rows = np.zeros(partition.nrows, np.int64)
    return grouped(value, _SEGMENTS[kind], rows, 1, what).values


def grouped(
    value: RaggedTensor, fn: Callable[..., Any], groups: HostArray, count: int, what: str
) -> Any:
    """Rows of each group combined element by element, as long as the longest of them.

    Args:
        value: The rows.
        fn: The segment reduction.
        groups: The group of each row.
        count: How many groups there are.
        what: Who asks, for errors.
    """
    splits = splits_of(value.partition, what)
    lengths = np.diff(splits)
    longest = np.zeros(count, np.int64)
    np.maximum.at(longest, groups, lengths)
    starts = np.cumsum(longest) - longest
    rows = np.repeat(np.arange(len(lengths)), lengths)
    targets = starts[groups][rows] + np.arange(len(rows)) - splits[:-1][rows]
    total, inner = int(longest.sum()), value.values
    if isinstance(inner, RaggedTensor):
        combined = grouped(inner, fn, targets, total, what)
    else:
        combined = fn(inner, host_rows(targets), total)
    return RaggedTensor.of(combined, of_lengths(longest, value.partition.dtype))


# ---------------------------------------------------------------------- the public reductions
def _simple(kind: str) -> Callable[..., Any]:
    def reduce(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None) -> Any:
        del name
        return reduced(input_tensor, kind, axis, keepdims)

    return reduce


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None
) -> Any:
    """Means: sums divided by how many values there are; NaN for empty rows."""
    del name
    if axis is None:
        result = reduction.reduce_mean(input_tensor.flat_values)
        return shaping.reshape(result, [1] * rank_of(input_tensor)) if keepdims else result
    total = reduced(input_tensor, "sum", axis, keepdims)
    ones = input_tensor.over(creation.ones_like(input_tensor.flat_values))
    return arithmetic.divide(total, reduced(ones, "sum", axis, keepdims))


def _logical(kind: str) -> Callable[..., Any]:
    def reduce(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None) -> Any:
        del name
        truth = casting.cast(casting.cast(input_tensor, "bool"), int32)
        found = reduced(truth, kind, axis, keepdims)
        return comparison.greater(found, 0)

    return reduce


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None
) -> Any:
    """Mean squares of the differences from the mean."""
    del name
    # Rows of rows have no mean that could be subtracted from them: take the mean square less the
    # square of the mean, after the mean of all values was subtracted, which keeps digits.
    centre = stop_gradient(reduction.reduce_mean(input_tensor.flat_values))
    moved = input_tensor.over(arithmetic.subtract(input_tensor.flat_values, centre))
    mean = reduce_mean(moved, axis, keepdims)
    square = reduce_mean(arithmetic.multiply(moved, moved), axis, keepdims)
    return arithmetic.subtract(square, arithmetic.multiply(mean, mean))


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None) -> Any:
    """Square roots of the variances."""
    del name
    return powers.sqrt(reduce_variance(input_tensor, axis, keepdims))


REDUCTIONS: Mapping[str, Callable[..., Any]] = {
    "reduce_sum": _simple("sum"),
    "reduce_prod": _simple("prod"),
    "reduce_max": _simple("max"),
    "reduce_min": _simple("min"),
    "reduce_mean": reduce_mean,
    "reduce_any": _logical("max"),
    "reduce_all": _logical("min"),
    "math.reduce_variance": reduce_variance,
    "math.reduce_std": reduce_std,
}
"""By the first public path of the op."""

__all__ = ["REDUCTIONS", "reduced"]
