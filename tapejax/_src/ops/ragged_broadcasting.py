"""Ragged and plain tensors brought to one shape, so that an op can be applied to flat values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import DType
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import HostArray, RowPartition
from tapejax._src.core.tensor import Tensor
from tapejax._src.ops import shaping
from tapejax._src.ops.ragged_rows import (
    of_lengths,
    rank_of,
    spans,
    splits_of,
    take,
    uniform_rows,
)

_WHAT = "Broadcasting ragged tensors of different row partitions"

Wrap = Callable[[Any], Any]


class _Level(NamedTuple):
    """One dimension of an operand: its rows, and the partition where it has one."""

    splits: HostArray
    uniform: int | None
    partition: RowPartition | None = None


class _Operand(NamedTuple):
    """An operand as levels over flat values."""

    rows: int
    levels: list[_Level]
    flat: Tensor


def splits_dtype_of(values: Sequence[Any]) -> DType:
    """The common dtype of the row splits.

    Raises:
        ValueError: If they differ.
    """
    found = {v.partition.dtype for v in values if isinstance(v, RaggedTensor)}
    if len(found) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use "
            "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
        )
    return found.pop()


def same_rows(first: RaggedTensor, other: RaggedTensor) -> bool:
    """Whether two ragged tensors are known to have the same rows at every level."""
    mine, theirs = first.partitions, other.partitions
    if len(mine) != len(theirs):
        return False
    return all(a.is_same(b) for a, b in zip(mine, theirs, strict=True))


def together(values: Sequence[Any]) -> tuple[list[Any], Wrap]:
    """Flat values of one shape, and the function that gives a result of them its rows.

    Args:
        values: Ragged tensors, at least one, and tensors of any rank.

    Raises:
        InvalidArgumentError: If the shapes do not broadcast.
    """
    ragged = [v for v in values if isinstance(v, RaggedTensor)]
    splits_dtype_of(ragged)
    first = max(ragged, key=lambda v: v.ragged_rank)
    inner = first.flat_values.ndim - 1
    plain = [v for v in values if not isinstance(v, RaggedTensor)]
    same = all(v is first or same_rows(first, v) for v in ragged)
    if same and all(v.ndim <= inner for v in plain):
        flats = [v.flat_values if isinstance(v, RaggedTensor) else v for v in values]
        return flats, first.over
    return _broadcast(values)


def _broadcast(values: Sequence[Any]) -> tuple[list[Any], Wrap]:
    rank = max(rank_of(v) for v in values)
    depth = max(v.ragged_rank + rank - rank_of(v) for v in values if isinstance(v, RaggedTensor))
    scalars = [not isinstance(v, RaggedTensor) and not v.ndim for v in values]
    operands = [
        _operand(v, rank, depth) for v, scalar in zip(values, scalars, strict=True) if not scalar
    ]
    dtype = splits_dtype_of(values)
    count = _common({x.rows for x in operands}, 0)
    index = [np.arange(count) if x.rows == count else np.zeros(count, np.int64) for x in operands]
    partitions: list[RowPartition] = []
    for level in range(depth):
        parts = [x.levels[level] for x in operands]
        partition, index = _next(parts, index, level + 1, dtype)
        partitions.append(partition)
    flats = iter([take(x.flat, rows, _WHAT) for x, rows in zip(operands, index, strict=True)])
    result = [v if scalar else next(flats) for v, scalar in zip(values, scalars, strict=True)]
    return result, lambda flat: with_partitions(flat, partitions)


def with_partitions(flat: Any, partitions: Sequence[RowPartition]) -> Any:
    """A ragged tensor of partitions, outermost first."""
    for partition in reversed(partitions):
        flat = RaggedTensor.of(flat, partition)
    return flat


def _common(sizes: set[int], axis: int) -> int:
    wanted = sizes - {1}
    if len(wanted) > 1:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Unable to broadcast: dimension size mismatch in dimension {axis}: sizes "
            f"{sorted(sizes)}. Each must be equal or 1.",
        )
    return wanted.pop() if wanted else 1


def _operand(value: Any, rank: int, depth: int) -> _Operand:
    """An operand with `depth` levels, after leading dimensions of size 1 were added."""
    flat = value.flat_values if isinstance(value, RaggedTensor) else value
    partitions = list(value.partitions) if isinstance(value, RaggedTensor) else []
    rows = partitions[0].nrows if partitions else flat.aval.shape[0]
    levels: list[_Level] = []
    for _ in range(rank - rank_of(value)):
        levels.insert(0, _uniform(1, rows if not levels else 1))
        rows = 1
    levels += [_Level(splits_of(p, _WHAT), p.uniform, p) for p in partitions]
    shape = flat.aval.shape
    used = 1
    while len(levels) < depth:
        size = shape[used]
        levels.append(_uniform(int(np.prod(shape[:used])), size))
        used += 1
    if used > 1:
        flat = shaping.reshape(flat, (int(np.prod(shape[:used])), *shape[used:]))
    return _Operand(rows, levels, flat)


def _uniform(count: int, size: int) -> _Level:
    return _Level(np.arange(count + 1) * size, size)


def _next(
    parts: Sequence[_Level], index: Sequence[HostArray], axis: int, dtype: DType
) -> tuple[RowPartition, list[HostArray]]:
    """The rows of one dimension of the result, and which value of each operand is in each place."""
    lengths = [np.diff(part.splits)[rows] for part, rows in zip(parts, index, strict=True)]
    whole = [n for n, part in enumerate(parts) if part.uniform != 1]
    first = whole[0] if whole else 0
    result = lengths[first]
    for n in whole[1:]:
        if not np.array_equal(lengths[n], result):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Unable to broadcast: dimension size mismatch in dimension {axis}: the rows have "
                f"lengths {_shown(result)} and {_shown(lengths[n])} (x == y did not hold). Rows "
                "must be of equal length, or the dimension of one operand uniform of size 1.",
            )
    found: list[HostArray] = []
    for n, (part, rows) in enumerate(zip(parts, index, strict=True)):
        starts = part.splits[:-1][rows]
        found.append(spans(starts, result) if n in whole else np.repeat(starts, result))
    uniform = [parts[n].uniform for n in whole]
    size = 1 if not whole else next((u for u in uniform if u is not None), None)
    return _partition(parts, whole, index, result, size, dtype), found


def _partition(
    parts: Sequence[_Level],
    whole: Sequence[int],
    index: Sequence[HostArray],
    lengths: HostArray,
    size: int | None,
    dtype: DType,
) -> RowPartition:
    """The partition of an operand that is left as it is, else a new one."""
    for n in whole:
        old = parts[n].partition
        if old is not None and np.array_equal(index[n], np.arange(old.nrows)):
            return old
    if size is not None:
        return uniform_rows(len(lengths), size, dtype)
    return of_lengths(lengths, dtype)


def _shown(lengths: HostArray) -> str:
    shown = lengths[:6].tolist()
    return str(shown) if len(lengths) <= 6 else f"{str(shown)[:-1]}, ...]"
