"""`x[...]` of ragged tensors: integers, slices, `...` and new axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import HostArray
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import static_ints
from tapejax._src.ops.ragged_rows import (
    lengths_of,
    method,
    of_lengths,
    rank_of,
    row_count,
    spans,
    splits_of,
    take,
    uniform_rows,
)

_WHAT = "Indexing a ragged tensor"


@method
def __getitem__(self: RaggedTensor, key: Any) -> Any:
    """The part of a ragged tensor that a Python index names.

    Args:
        self: The ragged tensor.
        key: Integers (for the outermost and for uniform dimensions), slices, `...` and None.

    Returns:
        A tensor, or a ragged tensor.

    Raises:
        ValueError: For an integer in an inner ragged dimension.
        IndexError: If there is no such row.
        TypeError: For other keys.

    Example:
        >>> import tapejax as tf
        >>> x = tf.ragged.constant([[3, 1, 4], [], [5, 9]])
        >>> x[0].numpy().tolist(), x[2, 1].numpy()
        ([3, 1, 4], np.int32(9))
        >>> x[:, -1:]
        <tf.RaggedTensor [[4], [], [9]]>
    """
    keys = list(key) if isinstance(key, (tuple, list)) else [key]
    return indexed(self, [_known(part) for part in keys])


def _known(key: Any) -> Any:
    """One key with its tensors replaced by numbers."""
    if isinstance(key, (bool, np.bool_)):
        raise ValueError("mask cannot be scalar.")
    if isinstance(key, slice):
        return slice(*[_bound(part) for part in (key.start, key.stop, key.step)])
    if key is None or key is Ellipsis:
        return key
    return _integer(key)


def _bound(part: Any) -> int | None:
    return None if part is None else _integer(part)


def _integer(key: Any) -> int:
    if isinstance(key, int | np.integer):
        return int(key)
    if isinstance(key, Variable):
        key = key.tensor
    if isinstance(key, (Tensor, np.ndarray)) and not key.ndim and _is_integer(key):
        return int(static_ints(key))
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {key!r}"
    )


def _is_integer(key: Any) -> bool:
    return key.dtype.is_integer if hasattr(key.dtype, "is_integer") else key.dtype.kind in "iu"


def indexed(value: Any, keys: list[Any]) -> Any:
    """`value[keys]` of a tensor or ragged tensor."""
    if not keys:
        return value
    if not isinstance(value, RaggedTensor):
        return value[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if first is Ellipsis:
        return indexed(value, _expanded(rest, rank_of(value)))
    if first is None:
        inner = indexed(value, rest)
        return RaggedTensor.of(inner, uniform_rows(1, row_count(inner), value.partition.dtype))
    if isinstance(first, slice):
        rows = _positions(first, row_count(value))
        return _inside(take(value, rows, _WHAT), rest)
    count = row_count(value)
    if first >= count:
        raise IndexError(f"Row key {first} out of bounds")
    if first < -count:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"slice index {first + count} of dimension 0 out of bounds. [Op:StridedSlice]",
        )
    splits: list[int] = splits_of(value.partition, _WHAT).tolist()
    place = first % count
    row = take(value.values, np.arange(splits[place], splits[place + 1]), _WHAT)
    return indexed(row, rest)


def _expanded(rest: list[Any], rank: int) -> list[Any]:
    """The keys after an ellipsis, with the slices that it stands for."""
    if any(key is Ellipsis for key in rest):
        raise ValueError("Only one ellipsis (`...`) is allowed in an index.")
    used = sum(key is not None for key in rest)
    return [slice(None)] * (rank - used) + rest


def _positions(part: slice, size: int) -> HostArray:
    if part.step == 0:
        raise errors.InvalidArgumentError(
            None, None, "strides[0] must be non-zero [Op:StridedSlice]"
        )
    return np.arange(size)[part]


def _inside(value: Any, keys: list[Any]) -> Any:
    """Apply keys to every row."""
    if not keys:
        return value
    if not isinstance(value, RaggedTensor):
        return value[(slice(None), *keys)]
    first, rest = keys[0], keys[1:]
    partition = value.partition
    if first is Ellipsis:
        return _inside(value, _expanded(rest, rank_of(value) - 1))
    if first is None:
        inner = _inside(value, rest)
        return RaggedTensor.of(inner, uniform_rows(row_count(inner), 1, partition.dtype))
    if isinstance(first, slice):
        return _sliced(value, first, rest)
    length = partition.uniform
    if length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not -length <= first < length:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Index out of bounds when indexing into a ragged tensor: index "
            f"{first} of a dimension of size {length}.",
        )
    splits = splits_of(partition, _WHAT)
    return _inside(take(value.values, splits[:-1] + first % length, _WHAT), rest)


def _sliced(value: RaggedTensor, part: slice, rest: list[Any]) -> RaggedTensor:
    """Slice every row, then apply the other keys to what is left."""
    partition = value.partition
    if part == slice(None):
        return RaggedTensor.of(_inside(value.values, rest), partition)
    lengths = lengths_of(partition, _WHAT)
    starts, counts, step = _slices(part, lengths)
    begins = splits_of(partition, _WHAT)[:-1]
    values = take(value.values, spans(begins + starts, counts, step), _WHAT)
    uniform = partition.uniform
    if uniform is not None:
        uniform = len(range(*part.indices(uniform)))
    made = of_lengths(counts, partition.dtype, uniform)
    return RaggedTensor.of(_inside(values, rest), made)


def _slices(part: slice, lengths: HostArray) -> tuple[HostArray, HostArray, int]:
    """The start and the number of elements of a slice in rows of these lengths, and its step."""
    step = 1 if part.step is None else part.step
    if step == 0:
        raise errors.InvalidArgumentError(
            None, None, "strides[0] must be non-zero [Op:StridedSlice]"
        )
    kinds, where = np.unique(lengths, return_inverse=True)
    ranges = [range(*part.indices(int(length))) for length in kinds]
    starts = np.array([each.start for each in ranges], lengths.dtype)
    counts = np.array([len(each) for each in ranges], lengths.dtype)
    return starts[where], counts[where], step
