"""Columns of parsed examples: the values of one feature of every example, as one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapejax._src.core.conversion import to_numpy
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import RowPartition
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.ops.example_features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    RowLengths,
    RowLimits,
    RowSplits,
    RowStarts,
    SparseFeature,
    UniformRowLength,
    ValueRowIds,
)
from tapejax._src.ops.example_reading import Array, Values, empty, kind_of
from tapejax._src.ops.sparse_tensor import SparseTensor
from tapejax._src.ops.text_rows import limits


class Source:
    """The features of a batch of examples, read when a column asks for them.

    Args:
        rows: For each example its features.
        names: What messages call the examples.
        node: The op, named in errors.
        is_single: Whether there is one example and no batch.
    """

    def __init__(
        self,
        rows: Sequence[dict[str, Values | None]],
        names: Sequence[str],
        node: str,
        is_single: bool,
    ) -> None:
        self.rows = rows
        self.node = node
        self.is_single = is_single
        self._names = names

    def failed(self, place: int, key: str | None, text: str) -> InvalidArgumentError:
        """An error about one example."""
        subject = [] if self.is_single else [f"Name: {self._names[place]}"]
        if key is not None:
            subject.append(f"Key: {key}" if self.is_single else f"Key: {key}, Index: {place}")
        head = f"{', '.join(subject)}.  " if key is not None else "".join(f"{s}, " for s in subject)
        return InvalidArgumentError(f"{head}{text} [Op:{self.node}]")

    def values(self, key: str, kind: str, wording: str) -> list[Array | None]:
        """The values of a feature in each example; None where it is missing."""
        found: list[Array | None] = []
        for place, row in enumerate(self.rows):
            values = row.get(key)
            if values is None:
                found.append(None)
                continue
            if values.kind != kind:
                raise self.failed(
                    place,
                    key,
                    "Data types don't match. " + wording.format(actual=values.kind, expected=kind),
                )
            found.append(values.array)
        return found

    def present(self, key: str, kind: str) -> list[Array]:
        """The same with no values where it is missing."""
        wording = "Expected type: {expected}, Actual type: {actual}"
        return [empty(kind) if x is None else x for x in self.values(key, kind, wording)]


_DENSE = "Data type: {actual} but expected type: {expected}"


def _sizes(key: str, shape: Any, feature: Any) -> tuple[int, ...]:
    sizes = TensorShape(shape).as_list()
    if any(size is None for size in sizes):
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. Consider using "
            f"FixedLenSequenceFeature. Received feature={feature}."
        )
    return tuple([int(size) for size in sizes if size is not None])


def _count(sizes: Sequence[int]) -> int:
    return int(np.prod(sizes, dtype=np.int64))


def _default(value: Any, dtype: Any) -> Array:
    if isinstance(value, Tensor):
        return as_tensor(value, dtype).view()
    return to_numpy(value, dtype)


def fixed_column(source: Source, key: str, feature: FixedLenFeature) -> Tensor:
    """A dense tensor `[batch, *shape]`."""
    if feature.dtype is None:
        raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
    dtype, kind = kind_of(feature.dtype, "Tdense", source.node)
    sizes = _sizes(key, feature.shape, feature)
    count = _count(sizes)
    default = None
    if feature.default_value is not None:
        default = _default(feature.default_value, dtype)
        if default.size != count:
            raise InvalidArgumentError(
                f"Input to reshape is a tensor with {default.size} values, but the requested shape "
                f"has {count}: the default value of feature {key!r}"
            )
        default = default.reshape(sizes)
    rows: list[Array] = []
    for place, array in enumerate(source.values(key, kind, _DENSE)):
        if array is None:
            if default is None:
                raise source.failed(
                    place,
                    None,
                    f"Feature: {key} (data type: {kind}) is required but could not be found.",
                )
            rows.append(default)
        elif array.size != count:
            raise source.failed(
                place,
                key,
                f"Number of {kind} values != expected.  Values size: {array.size} but output "
                f"shape: {list(sizes)}",
            )
        else:
            rows.append(array.reshape(sizes))
    if source.is_single:
        return constant_tensor(rows[0].copy())
    result = np.empty((len(rows), *sizes), dtype.as_numpy_dtype)
    for place, row in enumerate(rows):
        result[place] = row if sizes else row[()]
    return constant_tensor(result)


def padded_column(
    source: Source, key: str, feature: FixedLenSequenceFeature
) -> tuple[Tensor, list[int]]:
    """A dense tensor `[batch, most rows, *shape]`, and the number of rows of each example."""
    dtype, kind = kind_of(feature.dtype, "Tdense", source.node)
    sizes = _sizes(key, feature.shape, feature)
    count = _count(sizes)
    rows: list[Array] = []
    for place, found in enumerate(source.values(key, kind, _DENSE)):
        array = empty(kind) if found is None else found
        if array.size % max(count, 1):
            shown = ",".join(["?", *map(str, sizes)])
            raise source.failed(
                place,
                key,
                f"Number of {kind} values is not a multiple of stride length. Saw {array.size} "
                f"values but output shape is: [{shown}]",
            )
        rows.append(array.reshape(-1, *sizes))
    lengths = [len(row) for row in rows]
    if source.is_single:
        return constant_tensor(rows[0].copy()), lengths
    default = b"" if kind == "string" else 0
    if feature.default_value is not None:
        default = _default(feature.default_value, dtype).reshape(())[()]
    result = np.full((len(rows), max(lengths, default=0), *sizes), default, dtype.as_numpy_dtype)
    for target, row in zip(result, rows, strict=True):
        target[: len(row)] = row
    return constant_tensor(result), lengths


def _sparse(indices: Array, values: Array, shape: Sequence[int]) -> SparseTensor:
    places = constant_tensor(np.ascontiguousarray(indices, np.int64))
    sizes = constant_tensor(np.array(shape, np.int64))
    return SparseTensor(places, constant_tensor(np.array(values)), sizes)


def variable_column(source: Source, key: str, dtype: Any) -> SparseTensor:
    """A sparse tensor `[batch, most values]`."""
    _, kind = kind_of(dtype, "sparse_types", source.node)
    rows = source.present(key, kind)
    values = np.concatenate([empty(kind), *rows])
    lengths = [len(row) for row in rows]
    columns = np.concatenate([np.zeros(0, np.int64), *[np.arange(n) for n in lengths]])
    if source.is_single:
        return _sparse(columns[:, None], values, lengths)
    indices = np.stack([np.repeat(np.arange(len(rows)), lengths), columns], 1)
    return _sparse(indices, values, [len(rows), max(lengths, default=0)])


def sparse_column(source: Source, key: str, feature: SparseFeature) -> SparseTensor:
    """A sparse tensor `[batch, *size]` of a feature of values and features of places."""
    _, kind = kind_of(feature.dtype, "sparse_types", source.node)
    many = isinstance(feature.index_key, (list, tuple))
    names: list[str] = list(feature.index_key) if many else [feature.index_key]
    sizes: list[int] = list(feature.size) if many else [feature.size]
    if len(names) != len(sizes):
        raise ValueError(
            f"Lengths of index_key and size of the feature {key!r} differ: {names} and {sizes}."
        )
    rows = source.present(feature.value_key, kind)
    places = [source.present(name, "int64") for name in names]
    for place, row in enumerate(rows):
        if any(len(column[place]) != len(row) for column in places):
            raise source.failed(
                place, feature.value_key, f"there are {len(row)} values, but not as many indices"
            )
    lengths = [len(row) for row in rows]
    numbers = [np.repeat(np.arange(len(rows)), lengths)] if not source.is_single else []
    none = np.zeros(0, np.int64)
    indices = np.stack([*numbers, *[np.concatenate([none, *column]) for column in places]], 1)
    values = np.concatenate([empty(kind), *rows])
    if not feature.already_sorted:
        order = np.lexsort(indices.T[::-1])
        indices, values = indices[order], values[order]
    shape = sizes if source.is_single else [len(rows), *sizes]
    return _sparse(indices, values, shape)


def ragged_column(source: Source, key: str, feature: RaggedFeature) -> Any:
    """A ragged tensor `[batch, (rows), ...]`; of one example without partitions a vector."""
    _, kind = kind_of(feature.dtype, "ragged_value_types", source.node)
    name = key if feature.value_key is None else feature.value_key
    rows = source.present(name, kind)
    flat: Any = constant_tensor(np.concatenate([empty(kind), *rows]))
    lengths = [len(row) for row in rows]
    scalar = feature.row_splits_dtype.as_numpy_dtype
    for partition in reversed(feature.partitions):
        flat, lengths = _partitioned(source, flat, partition, lengths, scalar)
    if source.is_single:
        return flat
    splits = limits(lengths, scalar)
    return RaggedTensor.of(flat, RowPartition(constant_tensor(splits), host=splits))


def _partitioned(
    source: Source, values: Any, partition: Any, lengths: Sequence[int], scalar: Any
) -> tuple[Any, list[int]]:
    """The values cut into rows, and how many rows each example has."""
    uniform: int | None = None
    if isinstance(partition, UniformRowLength):
        uniform = partition.length
        rows = [np.full(n // max(uniform, 1), uniform) for n in lengths]
    else:
        given = source.present(partition.key, "int64")
        rows = [_row_lengths(partition, row, n) for row, n in zip(given, lengths, strict=True)]
    for place, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        if int(row.sum()) != length or (row < 0).any():
            raise source.failed(
                place, None, f"{partition} does not fit the {length} values that it cuts into rows"
            )
    counts = [len(row) for row in rows]
    ends = limits(np.concatenate([np.zeros(0, np.int64), *rows]).tolist())
    splits = ends.astype(scalar)
    made = RaggedTensor.of(values, RowPartition(constant_tensor(splits), uniform, splits))
    return made, counts


def _row_lengths(partition: Any, row: Array, length: int) -> Array:
    """The lengths of the rows of one example; a negative one if they are no partition."""
    if isinstance(partition, RowLengths):
        return row
    if isinstance(partition, RowSplits):
        begins = not len(row) or row[0] == 0
        return np.diff(row) if begins else np.full(1, -1)
    if isinstance(partition, RowStarts):
        return np.diff(np.append(row, length))
    if isinstance(partition, RowLimits):
        return np.diff(np.concatenate([[0], row]))
    assert isinstance(partition, ValueRowIds)
    if (np.diff(row) < 0).any() or (row < 0).any():
        return np.full(1, -1)
    return np.bincount(row, minlength=0).astype(np.int64)
