"""`tf.sparse.segment_*`: sums and means of chosen rows of a dense tensor by segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import float16, float32, float64
from tapejax._src.core.row_partition import HostArray, known_array
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor, static_ints
from tapejax._src.engine.registry import public
from tapejax._src.ops import gathering, ragged_rows, segment
from tapejax._src.ops.sparse_rearranging import invalid


def _vector(value: Any) -> Tensor:
    if isinstance(value, (list, tuple)) and not value:
        return constant_tensor(np.zeros(0, np.int32))
    return as_tensor(value)


def _checked_ids(ids: HostArray, segments: int | None, node: str) -> int:
    """The number of segments, after the ids were checked."""
    if (np.diff(ids) < 0).any():
        raise invalid(f"segment ids are not increasing [Op:{node}]")
    if len(ids) and ids[0] < 0:
        raise invalid(f"segment ids must be >= 0 [Op:{node}]")
    needed = int(ids[-1]) + 1 if len(ids) else 0
    if segments is not None and needed > segments:
        raise invalid(f"segment ids must be < num_segments [Op:{node}WithNumSegments]")
    return needed if segments is None else segments


def _check_rows(rows: HostArray, count: int, node: str) -> None:
    outside = np.flatnonzero((rows < 0) | (rows >= count))
    if len(outside):
        place = int(outside[0])
        raise invalid(
            f"Bad: indices[{place}] == {rows[place]} out of range [0, {count}) [Op:{node}]"
        )


def _reduced(
    reduce: Callable[..., Any],
    node: str,
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any,
    sparse_gradient: bool,
) -> Tensor:
    values, rows, ids = as_tensor(data), _vector(indices), _vector(segment_ids)
    if rows.ndim != 1 or ids.ndim != 1:
        raise invalid(f"indices and segment_ids should be vectors. [Op:{node}]")
    if rows.aval.shape != ids.aval.shape:
        raise invalid(f"segment_ids and indices should have same size. [Op:{node}]")
    if not values.ndim:
        raise invalid(f"data must be at least rank 1 [Op:{node}]")
    floats = (float16, float32, float64, "bfloat16")
    if node != "SparseSegmentSum" and values.dtype not in floats:
        raise invalid(
            f"Value for attr 'T' of {values.dtype.name} is not in the list of allowed values: "
            f"bfloat16, half, float, double [Op:{node}]"
        )
    segments = None if num_segments is None else int(static_ints(num_segments))
    host = known_array(ids)
    if host is not None:
        segments = _checked_ids(host, segments, node)
    elif segments is None:
        raise NotCompilableError(
            "The number of segments follows from segment_ids, which are not known inside the "
            "function being traced. Pass num_segments."
        )
    places = known_array(rows)
    if places is not None:
        _check_rows(places, values.aval.shape[0], node)
    if sparse_gradient:
        taken = gathering.gather(values, rows)
    else:
        taken = ragged_rows.take_rows(values, rows)
    return reduce(taken, ids, segments)


@public("sparse.segment_sum")
def segment_sum(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """Sums of chosen rows, by segment.

    Args:
        data: `[n, ...]` tensor.
        indices: Integer `[k]`, the rows of `data` to add.
        segment_ids: Integer `[k]`, not descending: the segment of each.
        num_segments: How many segments there are. Default: the last id and one.
        name: Ignored.
        sparse_gradient: Whether the gradient is a `tf.IndexedSlices`.

    Returns:
        `[segments, ...]` tensor; 0 for segments without rows.

    Raises:
        InvalidArgumentError: If ids descend or indices are out of range.

    Example:
        >>> import tapejax as tf
        >>> x = [[1, 2], [3, 4], [5, 6]]
        >>> tf.sparse.segment_sum(x, [0, 2, 1], [0, 0, 1]).numpy().tolist()
        [[6, 8], [3, 4]]
    """
    del name
    reduce = segment.unsorted_segment_sum
    return _reduced(
        reduce, "SparseSegmentSum", data, indices, segment_ids, num_segments, sparse_gradient
    )


@public("sparse.segment_mean")
def segment_mean(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """Means of chosen rows, by segment.

    Args:
        data: Floating `[n, ...]` tensor.
        indices: Integer `[k]`, the rows of `data` to average.
        segment_ids: Integer `[k]`, not descending: the segment of each.
        num_segments: How many segments there are. Default: the last id and one.
        name: Ignored.
        sparse_gradient: Whether the gradient is a `tf.IndexedSlices`.

    Returns:
        `[segments, ...]` tensor; 0 for segments without rows.

    Raises:
        InvalidArgumentError: If ids descend or indices are out of range.

    Example:
        >>> import tapejax as tf
        >>> tf.sparse.segment_mean([[1.0], [3.0]], [0, 1], [0, 0]).numpy().tolist()
        [[2.0]]
    """
    del name
    reduce = segment.unsorted_segment_mean
    return _reduced(
        reduce, "SparseSegmentMean", data, indices, segment_ids, num_segments, sparse_gradient
    )


@public("sparse.segment_sqrt_n")
def segment_sqrt_n(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """Sums of chosen rows by segment, each divided by the square root of their number.

    Args:
        data: Floating `[n, ...]` tensor.
        indices: Integer `[k]`, the rows of `data` to add.
        segment_ids: Integer `[k]`, not descending: the segment of each.
        num_segments: How many segments there are. Default: the last id and one.
        name: Ignored.
        sparse_gradient: Whether the gradient is a `tf.IndexedSlices`.

    Returns:
        `[segments, ...]` tensor; 0 for segments without rows.

    Raises:
        InvalidArgumentError: If ids descend or indices are out of range.

    Example:
        >>> import tapejax as tf
        >>> tf.sparse.segment_sqrt_n([[1.0], [3.0]], [0, 1], [0, 0]).numpy().round(3).tolist()
        [[2.828000068664551]]
    """
    del name
    reduce = segment.unsorted_segment_sqrt_n
    return _reduced(
        reduce, "SparseSegmentSqrtN", data, indices, segment_ids, num_segments, sparse_gradient
    )
