"""Ways to make a `tf.RaggedTensor`: values, and one of the forms of a row partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import DType, int32, int64
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import HostArray, RowPartition, known_array
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, static_ints
from tapejax._src.ops import cumulative, joining
from tapejax._src.ops.ragged_rows import (
    as_values,
    factory,
    host_ints,
    of_lengths,
    row_count,
    uniform_rows,
)


def _fail(function: str, what: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(
        None, None, f"Arguments to {function} do not form a valid RaggedTensor: {what}"
    )


def partition_tensor(value: Any, name: str) -> Tensor:
    """A vector of row splits, lengths, ids, starts or limits: int64 unless it has a dtype."""
    narrow = isinstance(value, np.ndarray) and value.dtype not in (np.int32, np.int64)
    plain = narrow or not hasattr(value, "dtype")
    if isinstance(value, (list, tuple)) and not value:
        return host_ints([], int64)
    tensor = as_tensor(value)
    if plain and tensor.dtype.is_integer:
        tensor = host_ints(tensor.view(), int64)
    if tensor.dtype not in (int32, int64):
        raise ValueError(f"{name} must have dtype int32 or int64, got {tensor.dtype!r}.")
    if tensor.ndim != 1:
        raise ValueError(f"Shape {tensor.shape} must have rank 1: {name} is one vector.")
    return tensor


def _checked(values: Any, function: str) -> Any:
    values = as_values(values)
    if not isinstance(values, RaggedTensor) and not values.ndim:
        raise errors.InvalidArgumentError(
            None, None, f"{function}: `values` must have at least one dimension, got a scalar."
        )
    return values


def _check_total(function: str, total: Any, values: Any) -> None:
    count = row_count(values)
    if total != count:
        raise _fail(
            function,
            f"the rows hold {total} values together, but `values` has {count} along its first "
            f"dimension (x == y did not hold: [{total}] vs. [{count}]).",
        )


def _matched(values: Any, partition: RowPartition) -> RaggedTensor:
    """The ragged tensor; inner partitions must have the dtype of the outer one."""
    if isinstance(values, RaggedTensor) and values.partition.dtype != partition.dtype:
        raise ValueError(
            f"Cannot combine row partitions of dtype {partition.dtype!r} and "
            f"{values.partition.dtype!r}. Use values.with_row_splits_dtype(...)."
        )
    return RaggedTensor.of(values, partition)


def _adopted(vector: Tensor, values: Any) -> Tensor:
    """Row splits made of a plain list, in the dtype of the inner ones."""
    if not isinstance(values, RaggedTensor) or values.partition.dtype == vector.dtype:
        return vector
    host = known_array(vector)
    return vector if host is None else host_ints(host, values.partition.dtype)


def _vector(value: Any, values: Any, name: str) -> tuple[Tensor, HostArray | None]:
    plain = isinstance(value, (list, tuple))
    vector = partition_tensor(value, name)
    if plain:
        vector = _adopted(vector, values)
    return vector, known_array(vector)


@factory
def from_row_splits(
    values: Any, row_splits: Any, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """Rows given by their limits.

    Args:
        values: `[nvals, ...]` tensor or ragged tensor of the rows one after the other.
        row_splits: int32 or int64 `[nrows + 1]`, not descending, from 0 to nvals.
        name: Ignored.
        validate: Whether to check the splits.

    Returns:
        The ragged tensor with rows `values[row_splits[i]:row_splits[i + 1]]`.

    Raises:
        InvalidArgumentError: If the splits are not such a vector.

    Example:
        >>> import tapejax as tf
        >>> tf.RaggedTensor.from_row_splits([3, 1, 4, 1, 5], [0, 4, 4, 5])
        <tf.RaggedTensor [[3, 1, 4, 1], [], [5]]>
    """
    del name
    values = _checked(values, "from_row_splits")
    splits, host = _vector(row_splits, values, "row_splits")
    if not splits.aval.shape[0]:
        raise ValueError("row_splits tensor may not be empty.")
    if validate and host is not None:
        if host[0] != 0:
            raise _fail("from_row_splits", f"zero: the first split must be 0, not {host[0]}.")
        if (np.diff(host) < 0).any():
            raise _fail("from_row_splits", f"monotonic: the splits {host.tolist()} descend.")
        _check_total("from_row_splits", host[-1], values)
    return _matched(values, RowPartition(splits, None, host))


@factory
def from_row_lengths(
    values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """Rows given by their lengths.

    Args:
        values: `[nvals, ...]` tensor or ragged tensor of the rows one after the other.
        row_lengths: int32 or int64 `[nrows]`, not negative, with the sum nvals.
        name: Ignored.
        validate: Whether to check the lengths.

    Returns:
        The ragged tensor.

    Raises:
        InvalidArgumentError: If the lengths do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.RaggedTensor.from_row_lengths([3, 1, 4], [1, 0, 2])
        <tf.RaggedTensor [[3], [], [1, 4]]>
    """
    del name
    values = _checked(values, "from_row_lengths")
    lengths, host = _vector(row_lengths, values, "row_lengths")
    if host is None:
        zero = host_ints([0], lengths.dtype)
        splits = joining.concat([zero, cumulative.cumsum(lengths)], 0)
        return _matched(values, RowPartition(splits))
    if validate:
        if (host < 0).any():
            raise _fail("from_row_lengths", f"the lengths {host.tolist()} must not be negative.")
        _check_total("from_row_lengths", host.sum(), values)
    return _matched(values, of_lengths(host, lengths.dtype))


@factory
def from_row_starts(
    values: Any, row_starts: Any, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """Rows given by where each begins.

    Args:
        values: `[nvals, ...]` tensor or ragged tensor of the rows one after the other.
        row_starts: int32 or int64 `[nrows]`, not descending, from 0 on.
        name: Ignored.
        validate: Whether to check the starts.

    Returns:
        The ragged tensor.

    Raises:
        InvalidArgumentError: If the starts do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.RaggedTensor.from_row_starts([3, 1, 4], [0, 1, 1])
        <tf.RaggedTensor [[3], [], [1, 4]]>
    """
    del name
    values = _checked(values, "from_row_starts")
    starts, host = _vector(row_starts, values, "row_starts")
    total = host_ints([row_count(values)], starts.dtype)
    if host is None:
        return _matched(values, RowPartition(joining.concat([starts, total], 0)))
    if validate and len(host) and host[0] != 0:
        raise _fail("from_row_starts", f"the first row must start at 0, not at {host[0]}.")
    splits = np.append(host, row_count(values)).astype(host.dtype)
    _check_order(splits, "from_row_starts", validate)
    return _matched(values, RowPartition(host_ints(splits, starts.dtype)))


@factory
def from_row_limits(
    values: Any, row_limits: Any, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """Rows given by where each ends.

    Args:
        values: `[nvals, ...]` tensor or ragged tensor of the rows one after the other.
        row_limits: int32 or int64 `[nrows]`, not descending, the last one nvals.
        name: Ignored.
        validate: Whether to check the limits.

    Returns:
        The ragged tensor.

    Raises:
        InvalidArgumentError: If the limits do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.RaggedTensor.from_row_limits([3, 1, 4], [1, 1, 3])
        <tf.RaggedTensor [[3], [], [1, 4]]>
    """
    del name
    values = _checked(values, "from_row_limits")
    limits, host = _vector(row_limits, values, "row_limits")
    if host is None:
        return _matched(
            values, RowPartition(joining.concat([host_ints([0], limits.dtype), limits], 0))
        )
    splits = np.append(0, host).astype(host.dtype)
    if validate:
        _check_order(splits, "from_row_limits", validate)
        _check_total("from_row_limits", splits[-1], values)
    return _matched(values, RowPartition(host_ints(splits, limits.dtype)))


def _check_order(splits: HostArray, function: str, validate: bool) -> None:
    if validate and (np.diff(splits) < 0).any():
        raise _fail(function, f"the limits of rows {splits.tolist()} descend.")


@factory
def from_value_rowids(
    values: Any,
    value_rowids: Any,
    nrows: Any = None,
    name: str | None = None,
    validate: bool = True,
) -> RaggedTensor:
    """Rows given by the row of each value.

    Args:
        values: `[nvals, ...]` tensor or ragged tensor of the rows one after the other.
        value_rowids: int32 or int64 `[nvals]`, not descending.
        nrows: How many rows there are. Default: the last id and one.
        name: Ignored.
        validate: Whether to check the ids.

    Returns:
        The ragged tensor.

    Raises:
        InvalidArgumentError: If the ids descend.
        ValueError: If their number, or `nrows`, does not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.RaggedTensor.from_value_rowids([3, 1, 4], [0, 2, 2], nrows=4)
        <tf.RaggedTensor [[3], [], [1, 4], []]>
    """
    del name
    values = _checked(values, "from_value_rowids")
    ids, host = _vector(value_rowids, values, "value_rowids")
    if ids.aval.shape[0] != row_count(values):
        raise ValueError(
            f"Shapes ({ids.aval.shape[0]},) and ({row_count(values)},) are incompatible: "
            "value_rowids has one id for each value."
        )
    if host is None:
        raise NotCompilableError(
            "RaggedTensor.from_value_rowids needs the ids to know the rows, but they are computed "
            "inside the function being traced. Make the ragged tensor outside, or use "
            "tf.math.unsorted_segment_sum and its relatives with the ids."
        )
    least = int(host[-1]) + 1 if len(host) else 0
    count = least if nrows is None else int(static_ints(nrows))
    if count < 0:
        raise ValueError(f"Expected nrows >= 0; got {count}")
    if len(host) and (np.diff(host) < 0).any():
        raise _fail("from_value_rowids", f"the row ids {host.tolist()} descend.")
    if len(host) and host[0] < 0:
        raise _fail("from_value_rowids", f"the row ids {host.tolist()} must not be negative.")
    if count < least:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, "
            f"value_rowids[-1]={host[-1]}"
        )
    lengths = np.bincount(host, minlength=count) if len(host) else np.zeros(count, int)
    return _matched(values, of_lengths(lengths, ids.dtype))


@factory
def from_uniform_row_length(
    values: Any,
    uniform_row_length: Any,
    nrows: Any = None,
    validate: bool = True,
    name: str | None = None,
) -> RaggedTensor:
    """Rows of one length; the dimension counts as uniform.

    Args:
        values: `[nvals, ...]` tensor or ragged tensor of the rows one after the other.
        uniform_row_length: The length of every row.
        nrows: How many rows there are; needed where the length is 0.
        validate: Whether to check that the rows hold the values.
        name: Ignored.

    Returns:
        The ragged tensor.

    Raises:
        ValueError: If the values do not make whole rows.

    Example:
        >>> import tapejax as tf
        >>> tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2).shape
        TensorShape([2, 2])
    """
    del name
    values = _checked(values, "from_uniform_row_length")
    given: Any = getattr(uniform_row_length, "dtype", None)
    dtype = values.partition.dtype if isinstance(values, RaggedTensor) else int64
    if isinstance(given, DType):
        dtype = given
    length, count = int(static_ints(uniform_row_length)), row_count(values)
    if length < 0:
        raise ValueError(f"uniform_row_length must not be negative, got {length}.")
    rows = int(static_ints(nrows)) if nrows is not None else (count // length if length else 0)
    if validate and rows * length != count:
        raise ValueError(f"uniform_row_length={length} times nrows={rows} must equal nvals={count}")
    return _matched(values, uniform_rows(rows, length, dtype))


# ---------------------------------------------------------------------- nested
def _nested(flat_values: Any, parts: Any, name: str, one: Any, validate: bool) -> Any:
    if isinstance(parts, (Tensor, Variable, np.ndarray)):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {parts}.")
    values = as_values(flat_values)
    for part in reversed(parts):
        values = one(values, part, validate=validate)
    return values


@factory
def from_nested_row_splits(
    flat_values: Any,
    nested_row_splits: Sequence[Any],
    name: str | None = None,
    validate: bool = True,
) -> Any:
    """Rows of rows, given by the row splits of each ragged dimension, outermost first.

    Args:
        flat_values: The innermost values.
        nested_row_splits: A list of `row_splits`.
        name: Ignored.
        validate: Whether to check them.

    Returns:
        The ragged tensor, or `flat_values` where the list is empty.

    Example:
        >>> import tapejax as tf
        >>> tf.RaggedTensor.from_nested_row_splits([3, 1, 4], [[0, 2, 3], [0, 1, 2, 3]]).to_list()
        [[[3], [1]], [[4]]]
    """
    del name
    return _nested(flat_values, nested_row_splits, "nested_row_splits", from_row_splits, validate)


@factory
def from_nested_row_lengths(
    flat_values: Any,
    nested_row_lengths: Sequence[Any],
    name: str | None = None,
    validate: bool = True,
) -> Any:
    """Rows of rows, given by the lengths of each ragged dimension, outermost first.

    Args:
        flat_values: The innermost values.
        nested_row_lengths: A list of `row_lengths`.
        name: Ignored.
        validate: Whether to check them.

    Returns:
        The ragged tensor, or `flat_values` where the list is empty.
    """
    del name
    lengths = nested_row_lengths
    return _nested(flat_values, lengths, "nested_row_lengths", from_row_lengths, validate)


@factory
def from_nested_value_rowids(
    flat_values: Any,
    nested_value_rowids: Sequence[Any],
    nested_nrows: Sequence[Any] | None = None,
    name: str | None = None,
    validate: bool = True,
) -> Any:
    """Rows of rows, given by the row of each value in each ragged dimension, outermost first.

    Args:
        flat_values: The innermost values.
        nested_value_rowids: A list of `value_rowids`.
        nested_nrows: A list of as many `nrows`, or None.
        name: Ignored.
        validate: Whether to check them.

    Returns:
        The ragged tensor, or `flat_values` where the list is empty.

    Raises:
        ValueError: If the lists differ in length.
    """
    del name
    if isinstance(nested_value_rowids, (Tensor, Variable)):
        raise TypeError(
            f"Argument `nested_value_rowids` must be a list of Tensors. "
            f"Received {nested_value_rowids}."
        )
    counts = [None] * len(nested_value_rowids) if nested_nrows is None else list(nested_nrows)
    if len(counts) != len(nested_value_rowids):
        raise ValueError(
            "Argument `nested_nrows` must have the same length as argument "
            f"`nested_value_rowids`. len(nested_nrows) = {len(counts)} vs. "
            f"len(nested_values_rowids) = {len(nested_value_rowids)}."
        )
    values = as_values(flat_values)
    for ids, count in zip(reversed(nested_value_rowids), reversed(counts), strict=True):
        values = from_value_rowids(values, ids, count, validate=validate)
    return values
