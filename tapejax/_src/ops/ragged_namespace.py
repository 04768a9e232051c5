"""`tf.ragged`: ranges, masks, stacks, functions of flat values, segment ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import as_dtype, int32, int64
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import HostArray, known_array
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor, static_ints
from tapejax._src.engine.registry import public
from tapejax._src.ops import joining, ragged_gathering, ragged_joining
from tapejax._src.ops.ragged_broadcasting import same_rows
from tapejax._src.ops.ragged_construction import partition_tensor
from tapejax._src.ops.ragged_queries import ragged_axis
from tapejax._src.ops.ragged_rows import (
    as_values,
    host_ints,
    of_lengths,
    rank_of,
    row_count,
    splits_dtype,
    take,
)


@public("ragged.range")
def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> RaggedTensor:
    """Several ranges as the rows of a ragged tensor.

    Args:
        starts: The first number of each range, a vector or scalar; the limits if `limits` is None.
        limits: The limit of each, which is not part of it.
        deltas: The difference of neighbours in each.
        dtype: The dtype of the numbers. Default: that of the arguments.
        name: Ignored.
        row_splits_dtype: int32 or int64.

    Returns:
        The ragged tensor.

    Raises:
        InvalidArgumentError: If the vectors differ in length or a delta is 0.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.range([3, 0, 2])
        <tf.RaggedTensor [[0, 1, 2], [], [0, 1]]>
        >>> tf.ragged.range([0, 5], [4, 0], [2, -2])
        <tf.RaggedTensor [[0, 2], [5, 3, 1]]>
    """
    del name
    if limits is None:
        starts, limits = 0, starts
    parts = [_host(part, dtype) for part in (starts, limits, deltas)]
    kind = _kind(parts)
    parts = [part.astype(kind) for part in parts]
    for part, word in zip(parts, ("starts", "limits", "deltas"), strict=True):
        if part.ndim > 1:
            raise errors.InvalidArgumentError(
                None, None, f"{word} must be a scalar or vector [Op:RaggedRange]"
            )
    try:
        begin, end, step = np.broadcast_arrays(*[np.atleast_1d(part) for part in parts])
    except ValueError:
        raise errors.InvalidArgumentError(
            None,
            None,
            "starts, limits, and deltas must have the same shape, got shapes "
            f"{[part.shape for part in parts]} [Op:RaggedRange]",
        ) from None
    if (step == 0).any():
        raise errors.InvalidArgumentError(None, None, "Requires delta != 0 [Op:RaggedRange]")
    lengths = _lengths(begin, end, step)
    row = np.repeat(np.arange(len(lengths)), lengths)
    place = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    values = (begin[row] + place * step[row]).astype(kind)
    rows = of_lengths(lengths, splits_dtype(as_dtype(row_splits_dtype)))
    return RaggedTensor.of(constant_tensor(values), rows)


def _host(value: Any, dtype: Any) -> HostArray:
    tensor = as_tensor(value) if dtype is None else as_tensor(value, as_dtype(dtype))
    found = known_array(tensor)
    if found is None:
        raise NotCompilableError(
            "tf.ragged.range needs known bounds, because they decide how many numbers there are, "
            "but they are computed inside the function being traced. Make it outside."
        )
    return found


def _kind(parts: Sequence[HostArray]) -> Any:
    """The widest dtype; floating ones are wider than integers."""
    return max(
        [part.dtype for part in parts], key=lambda dtype: (dtype.kind == "f", dtype.itemsize)
    )


def _lengths(begin: HostArray, end: HostArray, step: HostArray) -> HostArray:
    if step.dtype.kind in "iu":
        wide = [part.astype(np.int64) for part in (begin, end, step)]
        found = -((wide[0] - wide[1]) // wide[2])
    else:
        found = np.ceil((end - begin) / step).astype(np.int64)
    return np.maximum(found, 0)


@public("ragged.boolean_mask")
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The values of `data` where `mask` is True; its rows become shorter.

    Args:
        data: Tensor or ragged tensor.
        mask: bool tensor or ragged tensor, of the shape of the first dimensions of `data`.
        name: Ignored.

    Returns:
        A ragged tensor of the rank of `data`; a tensor where the mask is a vector and `data` a
        tensor.

    Raises:
        ValueError: If `mask` is a scalar or not bool.
        InvalidArgumentError: If the shapes differ.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])
        <tf.RaggedTensor [[1], [3, 4]]>
    """
    return ragged_gathering.boolean_mask(data, mask, name)


@public("ragged.stack")
def stack(values: Sequence[Any], axis: Any = 0, name: str | None = None) -> Any:
    """Tensors of one rank along a new axis; their shapes may differ.

    Args:
        values: A list of tensors and ragged tensors.
        axis: The new axis.
        name: Ignored.

    Returns:
        A ragged tensor; a tensor of scalars, and of vectors along axis 1.

    Raises:
        ValueError: If the list is empty or the ranks differ.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.stack([[1, 2], [3]])
        <tf.RaggedTensor [[1, 2], [3]]>
    """
    del name
    found = [as_values(v) for v in values]
    if not found:
        raise ValueError("tf.ragged.stack needs at least one value.")
    ranks = {rank_of(v) for v in found}
    if len(ranks) > 1:
        raise ValueError(f"tf.ragged.stack: values have different ranks {sorted(ranks)}.")
    rank = ranks.pop()
    if not rank:
        return joining.stack(found, 0)
    depth = max([v.ragged_rank for v in found if isinstance(v, RaggedTensor)], default=0)
    dtype = next((v.partition.dtype for v in found if isinstance(v, RaggedTensor)), int64)
    depth = max(depth, min(rank - 1, 1))
    alike = [ragged_joining.with_ragged_rank(v, depth, dtype) for v in found]
    place = ragged_axis(static_ints(axis), rank + 1)
    if rank == 1:
        return joining.stack(alike, 1) if place else _vectors(alike)
    return ragged_joining.stacked(alike, place)


def _vectors(values: Sequence[Any]) -> RaggedTensor:
    """Vectors as rows."""
    lengths = [row_count(v) for v in values]
    return RaggedTensor.of(joining.concat(list(values), 0), of_lengths(lengths, int32))


@public("ragged.map_flat_values")
def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function of the flat values of ragged tensors with equal rows.

    Args:
        op: Takes tensors of the flat values in the place of the ragged tensors, and returns a
            tensor with as many rows.
        *args: Its arguments; ragged tensors may also be in lists and tuples.
        **kwargs: Its keyword arguments.

    Returns:
        A ragged tensor of what `op` returned; what it returned where no argument is ragged.

    Raises:
        ValueError: If the number of rows changes, or the ragged tensors have different rows.

    Example:
        >>> import tapejax as tf
        >>> x = tf.ragged.constant([[1, 2], [3]])
        >>> tf.ragged.map_flat_values(lambda v: v * 10, x)
        <tf.RaggedTensor [[10, 20], [30]]>
    """
    found: list[RaggedTensor] = []

    def flat(value: Any) -> Any:
        if isinstance(value, RaggedTensor):
            found.append(value)
            return value.flat_values
        if type(value) in (list, tuple):
            return type(value)([flat(item) for item in value])
        return value

    given = [flat(value) for value in args]
    named = {name: flat(value) for name, value in kwargs.items()}
    if not found:
        return op(*given, **named)
    first = found[0]
    for other in found[1:]:
        if not same_rows(first, other):
            raise ValueError(
                f"tf.ragged.map_flat_values: arguments of shapes {first.shape} and {other.shape} "
                "have different row splits."
            )
    result = as_values(op(*given, **named))
    count = row_count(first.flat_values)
    if not rank_of(result) or row_count(result) != count:
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-"
            f"dimension size as flat_values of any ragged inputs. (output shape: {result.shape}; "
            f"expected outer dimension size: {count})"
        )
    return first.over(result)


# ---------------------------------------------------------------------- segment ids
@public("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """The row of each value, from row splits.

    Args:
        splits: int32 or int64 `[nrows + 1]`.
        name: Ignored.
        out_type: The dtype of the ids. Default: that of `splits`.

    Returns:
        `[nvals]` integer tensor.

    Raises:
        ValueError: If `splits` is empty or not such a vector.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]).numpy().tolist()
        [0, 0, 0, 2, 2]
    """
    del name
    vector = partition_tensor(splits, "splits")
    if not vector.aval.shape[0]:
        raise ValueError("Invalid row_splits: []")
    dtype = vector.dtype if out_type is None else as_dtype(out_type)
    host = known_array(vector)
    if host is None:
        raise NotCompilableError(
            "tf.ragged.row_splits_to_segment_ids: the splits are not known inside the function "
            "being traced, and decide how many ids there are. Pass them as constants."
        )
    return host_ints(np.repeat(np.arange(len(host) - 1), np.diff(host)), dtype)


@public("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Row splits, from the row of each value.

    Args:
        segment_ids: int32 or int64 `[nvals]`, not descending.
        num_segments: How many rows there are. Default: the last id and one.
        out_type: The dtype of the splits. Default: that of `segment_ids`.
        name: Ignored.

    Returns:
        `[nrows + 1]` integer tensor.

    Raises:
        NotImplementedError: In a function being traced, where the ids are not known.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2]).numpy().tolist()
        [0, 3, 3, 5]
    """
    del name
    vector = partition_tensor(segment_ids, "segment_ids")
    dtype = vector.dtype if out_type is None else as_dtype(out_type)
    host = known_array(vector)
    if host is None:
        raise NotCompilableError(
            "tf.ragged.segment_ids_to_row_splits: the ids are not known inside the function being "
            "traced. Use tf.math.unsorted_segment_sum with the ids, or pass constants."
        )
    count = 0 if num_segments is None else int(static_ints(num_segments))
    lengths = np.bincount(host, minlength=count)
    if num_segments is not None:
        lengths = lengths[:count]
    return host_ints(np.concatenate([[0], np.cumsum(lengths)]), dtype)


@public("ragged.stack_dynamic_partitions")
def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> RaggedTensor:
    """Values put into rows by numbers, in the order they come.

    Args:
        data: Tensor or ragged tensor.
        partitions: Integers in `[0, num_partitions)`, of the shape of the first dimensions of
            `data`: the row of each value.
        num_partitions: How many rows there are.
        name: Ignored.

    Returns:
        A ragged tensor.

    Raises:
        InvalidArgumentError: If a number is out of range.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 2)
        <tf.RaggedTensor [[b'b'], [b'a', b'c']]>
    """
    del name
    data, partitions = as_values(data), as_values(partitions)
    if not rank_of(partitions):
        partitions = ragged_joining.expand_dims(partitions, 0)
        data = ragged_joining.expand_dims(data, 0)
    while rank_of(partitions) > 1:
        dtype = next(
            (v.partition.dtype for v in (data, partitions) if isinstance(v, RaggedTensor)), int64
        )
        data = ragged_joining.with_ragged_rank(data, 1, dtype)
        partitions = ragged_joining.with_ragged_rank(partitions, 1, dtype)
        if not data.partition.is_same(partitions.partition):
            raise errors.InvalidArgumentError(
                None,
                None,
                "data and partitions of tf.ragged.stack_dynamic_partitions differ in shape.",
            )
        data, partitions = data.values, partitions.values
    numbers = ragged_gathering.host_values(partitions, "tf.ragged.stack_dynamic_partitions")
    splits = int32 if partitions.dtype == int32 else int64
    if isinstance(data, RaggedTensor):
        splits = data.partition.dtype
    count = int(static_ints(num_partitions))
    ragged_gathering.check_range(numbers, count, "partitions")
    order = np.argsort(numbers, kind="stable")
    rows = of_lengths(np.bincount(numbers, minlength=count), splits)
    return RaggedTensor.of(take(data, order), rows)
