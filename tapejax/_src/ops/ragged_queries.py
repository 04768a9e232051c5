"""What can be asked of a ragged tensor's rows, and the same rows with other parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import RowPartition
from tapejax._src.core.tensor import Tensor
from tapejax._src.ops import casting, shaping
from tapejax._src.ops.ragged_rows import (
    apply,
    as_values,
    host_ints,
    lengths_of,
    method,
    of_lengths,
    rank_of,
    row_count,
    row_ids,
    rowids_of,
    splits_dtype,
    splits_of,
)


def _typed(out_type: Any, ragged: RaggedTensor) -> DType:
    return ragged.partition.dtype if out_type is None else as_dtype(out_type)


def ragged_axis(axis: Any, rank: int) -> int:
    """An axis without its sign."""
    if not isinstance(axis, int | np.integer):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return int(axis) % rank


# ---------------------------------------------------------------------- partitions in other forms
def row_ids_of(partition: RowPartition, count: int) -> Tensor:
    """The row of each value, as a tensor."""
    if partition.host() is None:
        return row_ids(partition.splits, count)
    return host_ints(rowids_of(partition, "value_rowids"), partition.dtype)


@method
def value_rowids(self: RaggedTensor, name: str | None = None) -> Tensor:
    """The row of each value, `[nvals]`.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.constant([[3, 1], [], [4]]).value_rowids().numpy().tolist()
        [0, 0, 2]
    """
    del name
    return row_ids_of(self.partition, row_count(self.values))


@method
def nrows(self: RaggedTensor, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of rows, a scalar."""
    del name
    return host_ints(self.partition.nrows, _typed(out_type, self))


@method
def row_starts(self: RaggedTensor, name: str | None = None) -> Tensor:
    """Where each row begins in `values`, `[nrows]`."""
    del name
    host = self.partition.host()
    return self.row_splits[:-1] if host is None else host_ints(host[:-1], self.partition.dtype)


@method
def row_limits(self: RaggedTensor, name: str | None = None) -> Tensor:
    """Where each row ends in `values`, `[nrows]`."""
    del name
    host = self.partition.host()
    return self.row_splits[1:] if host is None else host_ints(host[1:], self.partition.dtype)


@method
def row_lengths(self: RaggedTensor, axis: int = 1, name: str | None = None) -> Any:
    """The lengths of the rows along an axis.

    Args:
        self: The ragged tensor.
        axis: The axis; 0 gives the number of rows.
        name: Ignored.

    Returns:
        `[nrows]` tensor for axis 1, a ragged tensor for an inner one.

    Raises:
        ValueError: If there is no such axis.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.constant([[3, 1], [], [4]]).row_lengths().numpy().tolist()
        [2, 0, 1]
    """
    del name
    place = ragged_axis(axis, rank_of(self))
    if place == 0:
        return nrows(self)
    if place > 1:
        inner = self.values
        if isinstance(inner, RaggedTensor):
            return self.with_values(row_lengths(inner, axis=place - 1))
        shape, dtype = inner.aval.shape, self.partition.dtype
        return self.with_values(host_ints(np.full(shape[: place - 1], shape[place - 1]), dtype))
    if self.partition.host() is None:
        return self.row_splits[1:] - self.row_splits[:-1]
    return host_ints(lengths_of(self.partition, "row_lengths"), self.partition.dtype)


@method
def nested_row_lengths(self: RaggedTensor, name: str | None = None) -> tuple[Tensor, ...]:
    """The `row_lengths` of every ragged dimension, outermost first."""
    del name
    found: list[Tensor] = []
    level: Any = self
    while isinstance(level, RaggedTensor):
        found.append(row_lengths(level))
        level = level.values
    return tuple(found)


@method
def nested_value_rowids(self: RaggedTensor, name: str | None = None) -> tuple[Tensor, ...]:
    """The `value_rowids` of every ragged dimension, outermost first."""
    del name
    found: list[Tensor] = []
    level: Any = self
    while isinstance(level, RaggedTensor):
        found.append(value_rowids(level))
        level = level.values
    return tuple(found)


def bounds(value: Any, what: str) -> list[int]:
    """The shape of the smallest box that holds a tensor or ragged tensor."""
    if not isinstance(value, RaggedTensor):
        return list(value.aval.shape)
    found = [value.partition.nrows]
    level: Any = value
    while isinstance(level, RaggedTensor):
        length = level.partition.uniform
        if length is None:
            lengths = lengths_of(level.partition, what)
            length = int(lengths.max()) if len(lengths) else 0
        found.append(length)
        level = level.values
    return found + list(level.aval.shape[1:])


@method
def bounding_shape(
    self: RaggedTensor, axis: Any = None, name: str | None = None, out_type: Any = None
) -> Tensor:
    """The shape of the smallest tensor that holds all rows.

    Args:
        self: The ragged tensor.
        axis: An axis or several, to get the size of these alone.
        name: Ignored.
        out_type: int32 or int64. Default: the dtype of the row splits.

    Returns:
        `[rank]` integer tensor, or a scalar for one axis.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.constant([[3, 1], [], [4]]).bounding_shape().numpy().tolist()
        [3, 2]
    """
    del name
    box = np.asarray(bounds(self, "bounding_shape"))
    if axis is not None:
        rank = len(box)
        single = isinstance(axis, int | np.integer)
        places = [ragged_axis(a, rank) for a in ([axis] if single else axis)]
        box = box[places[0]] if single else box[places]
    return host_ints(box, _typed(out_type, self))


# ---------------------------------------------------------------------- other parts
@method
def with_values(self: RaggedTensor, new_values: Any) -> RaggedTensor:
    """The same rows of other values.

    Args:
        self: The ragged tensor.
        new_values: Tensor or ragged tensor with as many rows as `values`.

    Returns:
        The ragged tensor.

    Raises:
        ValueError: If the number of rows differs.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.constant([[3, 1], [4]]).with_values(["a", "b", "c"])
        <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    values = as_values(new_values)
    inner, dtype = values, self.partition.dtype
    if isinstance(inner, RaggedTensor) and inner.partition.dtype != dtype:
        raise ValueError(
            f"self and new_values have mismatched row_splits dtypes; use "
            f"RaggedTensor.with_row_splits_dtype(): {dtype!r} vs. {inner.partition.dtype!r}."
        )
    _check_count(row_count(self.values), values)
    return RaggedTensor.of(values, self.partition)


def _check_count(count: int, values: Any) -> None:
    if isinstance(values, Tensor) and not values.ndim:
        raise ValueError("Shape () must have rank at least 1")
    if row_count(values) != count:
        raise ValueError(
            f"Shapes ({count},) and ({row_count(values)},) are incompatible: the new values must "
            f"have as many rows as the old ones."
        )


@method
def with_flat_values(self: RaggedTensor, new_values: Any) -> RaggedTensor:
    """The same rows, at every level, of other innermost values.

    Args:
        self: The ragged tensor.
        new_values: Tensor with as many rows as `flat_values`.

    Returns:
        The ragged tensor.

    Raises:
        ValueError: If the number of rows differs.
    """
    values = as_values(new_values)
    _check_count(self.flat_values.aval.shape[0], values)
    return self.over(values)


@method
def with_row_splits_dtype(self: RaggedTensor, dtype: Any) -> RaggedTensor:
    """The same ragged tensor with row splits of another dtype, int32 or int64.

    Raises:
        ValueError: If `dtype` is something else.
    """
    wanted = splits_dtype(as_dtype(dtype))
    if self.partition.dtype == wanted:
        return self
    inner = self.values
    if isinstance(inner, RaggedTensor):
        inner = with_row_splits_dtype(inner, wanted)
    host = self.partition.host()
    splits = casting.cast(self.row_splits, wanted) if host is None else host_ints(host, wanted)
    return RaggedTensor.of(inner, RowPartition(splits, self.partition.uniform))


@method
def merge_dims(self: RaggedTensor, outer_axis: int, inner_axis: int) -> Any:
    """Several neighbouring dimensions as one.

    Args:
        self: The ragged tensor.
        outer_axis: The first of them.
        inner_axis: The last of them.

    Returns:
        A ragged tensor, or a tensor where no ragged dimension is left.

    Raises:
        ValueError: If the axes do not exist or are in the wrong order.

    Example:
        >>> import tapejax as tf
        >>> x = tf.ragged.constant([[[1, 2], [3]], [[4]]])
        >>> x.merge_dims(1, 2)
        <tf.RaggedTensor [[1, 2, 3], [4]]>
    """
    rank = rank_of(self)
    outer, inner = ragged_axis(outer_axis, rank), ragged_axis(inner_axis, rank)
    if outer > inner:
        raise ValueError(
            f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis "
            f"({inner_axis})."
        )
    return merged(self, outer, inner)


def merged(value: Any, outer: int, inner: int) -> Any:
    """`merge_dims` of a tensor or ragged tensor, axes without signs."""
    if outer == inner:
        return value
    if not isinstance(value, RaggedTensor):
        shape = value.aval.shape
        total = int(np.prod(shape[outer : inner + 1]))
        return shaping.reshape(value, (*shape[:outer], total, *shape[inner + 1 :]))
    if outer > 1:
        return apply(value, lambda values: merged(values, outer - 1, inner - 1))
    if outer == 0:
        return merged(value.values, 0, inner - 1)
    # Rows of rows: the limits of the outer rows count inner rows, and shall count their values.
    below = value.values
    what = "merge_dims"
    splits = splits_of(value.partition, what)
    for _ in range(inner - 1):
        if isinstance(below, RaggedTensor):
            splits = splits_of(below.partition, what)[splits]
            below = below.values
        else:
            splits = splits * below.aval.shape[1]
            below = merged(below, 0, 1)
    return RaggedTensor.of(below, of_lengths(np.diff(splits), value.partition.dtype))
