"""The rows of ragged tensors: partitions worked out with NumPy, values moved by one gather."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import DType, int32, int64
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import HostArray, RowPartition
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine import composites, convert
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.registry import Array, Index, TensorLike, op
from tapejax._src.ops import shaping


def _refusal(value: RaggedTensor) -> str:
    return (
        f"TypeError: object of type 'RaggedTensor' has no len(): a ragged tensor of shape "
        f"{value.shape} cannot be converted to a tensor, because its rows may differ in length. "
        "Pad it with x.to_tensor(), or take the values alone with x.flat_values."
    )


convert.CONVERTERS.append((RaggedTensor, composites.refuse(_refusal)))


def method(function: Any) -> Any:
    """Make a function of a ragged tensor a method of it."""
    setattr(RaggedTensor, function.__name__, function)
    return function


def factory(function: Any) -> Any:
    """Make a function a way to construct ragged tensors."""
    setattr(RaggedTensor, function.__name__, staticmethod(function))
    return function


def as_values(value: Any) -> Any:
    """What may be the values of a ragged tensor: a tensor or a ragged tensor."""
    return value if isinstance(value, RaggedTensor) else as_tensor(value)


def row_count(value: Any) -> int:
    """The number of rows of a tensor or ragged tensor."""
    return value.partition.nrows if isinstance(value, RaggedTensor) else value.aval.shape[0]


def rank_of(value: Any) -> int:
    """The rank of a tensor or ragged tensor."""
    if isinstance(value, RaggedTensor):
        return value.ragged_rank + value.flat_values.ndim
    return value.ndim


def splits_of(partition: RowPartition, what: str) -> HostArray:
    """The row splits as NumPy integers.

    Raises:
        NotImplementedError: If they have no value, in a function that is being traced.
    """
    splits = partition.host()
    if splits is None:
        raise NotCompilableError(
            f"{what} needs the lengths of the rows to know the shape of its result, but the row "
            "partition is computed inside the tf.function or transformation being traced, and "
            "compiled code has static shapes. Make the ragged tensor outside and pass it as an "
            "argument, use constant row splits, or call x.to_tensor(shape=...) outside."
        )
    return splits


def host_ints(array: Any, dtype: DType) -> Tensor:
    """A tensor of integers worked out on the host."""
    return constant_tensor(np.array(array, dtype.as_numpy_dtype))


def splits_dtype(dtype: Any) -> DType:
    """A dtype of row splits, checked."""
    if dtype not in (int32, int64):
        raise ValueError(f"row_splits must have dtype int32 or int64, got {dtype!r}.")
    return dtype


def of_lengths(lengths: Any, dtype: DType, uniform: int | None = None) -> RowPartition:
    """The partition into rows of these lengths (host integers)."""
    splits = np.zeros(len(lengths) + 1, dtype.as_numpy_dtype)
    np.cumsum(lengths, out=splits[1:])
    return RowPartition(constant_tensor(splits), uniform, splits)


def uniform_rows(count: int, length: int, dtype: DType) -> RowPartition:
    """The partition into `count` rows of one length."""
    splits = np.arange(count + 1, dtype=dtype.as_numpy_dtype) * length
    return RowPartition(constant_tensor(splits), length, splits)


def lengths_of(partition: RowPartition, what: str) -> HostArray:
    """The lengths of the rows, on the host."""
    return np.diff(splits_of(partition, what))


def rowids_of(partition: RowPartition, what: str) -> HostArray:
    """The row of each value, on the host."""
    splits = splits_of(partition, what)
    return np.repeat(np.arange(len(splits) - 1, dtype=splits.dtype), np.diff(splits))


def spans(starts: HostArray, lengths: HostArray, step: Any = 1) -> HostArray:
    """The integers of several ranges, one after the other."""
    total = int(lengths.sum())
    begins = np.cumsum(lengths) - lengths
    inside = np.arange(total) - np.repeat(begins, lengths)
    return np.repeat(starts, lengths) + inside * step


def take(values: Any, rows: HostArray, what: str = "Indexing") -> Any:
    """Rows of a tensor or ragged tensor, by host integers."""
    count = row_count(values)
    if len(rows) == count and np.array_equal(rows, np.arange(count)):
        return values
    if isinstance(values, RaggedTensor):
        partition = values.partition
        splits = splits_of(partition, what)
        lengths = np.diff(splits)[rows]
        inner = take(values.values, spans(splits[:-1][rows], lengths), what)
        return RaggedTensor.of(inner, of_lengths(lengths, partition.dtype, partition.uniform))
    return take_rows(values, host_rows(rows))


def host_rows(rows: Any) -> Tensor:
    """A tensor of numbers of rows: int32 where it holds them, for programs without 64 bits."""
    array = np.asarray(rows)
    wide = array.size and array.max() >= 2**31
    return constant_tensor(array.astype(np.int64 if wide else np.int32))


@op("_take_rows", node="GatherV2", cases=("f32[4,2], i64[3] in (0, 4)", "i32[3], i64[0]"))
def take_rows(values: TensorLike, rows: Index) -> Array:
    """Rows at indices that are known to be right; the gradient is a plain tensor."""
    return values.at[rows].get(mode="promise_in_bounds")


@op("_ragged_row_ids", node="RaggedRowIds", gradient="none", cases=("i64[4] in (0, 3), 5",))
def row_ids(splits: TensorLike, count: int) -> Array:
    """The row of each of `count` values, of splits that are known when the program runs."""
    places = jnp.arange(count, dtype=splits.dtype)
    return (jnp.searchsorted(splits, places, side="right") - 1).astype(splits.dtype)


def expanded_at(value: Any, axis: int) -> Any:
    """A tensor or ragged tensor with one more dimension of size 1, `axis` without sign."""
    if not isinstance(value, RaggedTensor):
        return shaping.expand_dims(value, axis)
    partition = value.partition
    if axis == 0:
        return RaggedTensor.of(value, uniform_rows(1, partition.nrows, partition.dtype))
    if axis == 1:
        return RaggedTensor.of(value, uniform_rows(partition.nrows, 1, partition.dtype))
    return apply(value, lambda values: expanded_at(values, axis - 1))


def apply(value: RaggedTensor, fn: Callable[[Any], Any]) -> Any:
    """The same rows of other values: `fn` of the values of one level."""
    return RaggedTensor.of(fn(value.values), value.partition)
