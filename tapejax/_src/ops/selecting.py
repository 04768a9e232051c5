"""Ops that choose elements by a condition, a mask or a partition."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import int32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.shapes import TensorShape
from tapejax._src.engine.composites import CompositeGivenError, answer, takes_composites
from tapejax._src.engine.convert import as_tensor, constant_tensor, known_value
from tapejax._src.engine.registry import (
    Array,
    Bool,
    Index,
    Same,
    SameList,
    StaticInts,
    TensorLike,
    op,
    public,
)
from tapejax._src.ops.shape_checks import brackets, zero_of


def host_value(value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """The value of an argument that decides about shapes; a pending tensor is computed."""
    return known_value(as_tensor(value, dtype))


@op(
    "_select",
    node="SelectV2",
    no_gradient=("condition",),
    cases=(
        "bool[2,3], f32[2,3], f32[2,3]",
        "bool[2,1], i32[3], i32[]",
        "bool[], c64[2], c64[2]",
        "bool[0,3], f64[3], f64[]",
    ),
)
def _select(condition: Bool, x: Same, y: Same) -> Array:
    """`x` where the condition holds, else `y`."""
    try:
        jnp.broadcast_shapes(condition.shape, x.shape, y.shape)
    except ValueError:
        raise InvalidArgumentError(
            f"condition {brackets(condition.shape)}, then {brackets(x.shape)}, and else "
            f"{brackets(y.shape)} must be broadcastable"
        ) from None
    chosen = jnp.where(condition, x, y)
    if chosen.size or x.dtype == bool:
        return chosen
    return jnp.broadcast_to(zero_of(x) + zero_of(y), chosen.shape)


@public("where")
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Elements of `x` or `y` by a condition, or the places where the condition holds.

    Args:
        condition: A Boolean tensor; without `x` and `y` any numeric tensor (non-zero: True).
        x: A tensor; broadcast with the others.
        y: A tensor of the dtype of `x`.
        name: Ignored.

    Returns:
        With `x` and `y`: a tensor of the broadcast shape. Without: `[n, rank]` int64, the indices
        of the `n` True elements in row-major order; the condition's value is read.

    Raises:
        ValueError: If only one of `x` and `y` is given.
        InvalidArgumentError: If the shapes do not broadcast.

    Example:
        >>> import tapejax as tf
        >>> tf.where([True, False], [1, 2], [3, 4]).numpy().tolist()
        [1, 4]
        >>> tf.where([0.0, 3.0, -1.0]).numpy().tolist()
        [[1], [2]]
    """
    if x is not None and y is not None:
        return _select(condition, x, y)
    if x is not None or y is not None:
        raise ValueError("x and y must both be non-None or both be None.")
    try:
        mask = host_value(condition)
    except CompositeGivenError as error:
        return answer("where", where, (condition,), {}, error)
    if mask.dtype.kind == "O":
        raise InvalidArgumentError(
            "Value for attr 'T' of string is not in the list of allowed values: numbers and bool"
        )
    if not mask.ndim:
        raise InvalidArgumentError(
            "WhereOp : Unhandled input dimensions: 0: the condition must have rank >= 1"
        )
    return constant_tensor(np.argwhere(mask != 0).astype(np.int64))


@op(
    "_take_merged",
    node="GatherV2",
    cases=("f32[2,3,2], i32[4] in (0, 6), 0, 2", "i64[2,3], i32[2] in (0, 3), 1, 1"),
)
def _take_merged(data: TensorLike, indices: Index, axis: StaticInts, count: StaticInts) -> Array:
    """Elements along `count` dimensions from `axis` on, merged into one; indices in range."""
    before, after = data.shape[:axis], data.shape[axis + count :]
    size = int(np.prod(data.shape[axis : axis + count], dtype=np.int64))
    merged = jnp.reshape(data, (*before, size, *after))
    if not size:
        return jnp.zeros((*before, 0, *after), data.dtype)
    return jnp.take(merged, indices, axis, mode="clip")


@public("boolean_mask")
def boolean_mask(
    tensor: Any, mask: Any, axis: int | None = None, name: str = "boolean_mask"
) -> Any:
    """The elements where a mask is True, in row-major order.

    Args:
        tensor: A tensor of any dtype.
        mask: A Boolean tensor (its value is read) whose shape equals the dimensions of `tensor`
            from `axis` on.
        axis: The first masked dimension. Default: 0.
        name: Ignored.

    Returns:
        A tensor in which the masked dimensions are replaced by one, of the number of True elements.
        Its gradient is dense.

    Raises:
        ValueError: If the mask is a scalar or does not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.boolean_mask([1, 2, 3], [True, False, True]).numpy().tolist()
        [1, 3]

    *Differs from TensorFlow*: a negative `axis` counts from the end; there it is an error.
    """
    data, chosen = as_tensor(tensor), host_value(mask)
    if not chosen.ndim:
        raise ValueError("mask cannot be scalar.")
    rank = len(data.shape)
    first = 0 if axis is None else int(axis)
    place = first + rank if first < 0 else first
    masked = tuple(data.shape)[place : place + chosen.ndim]
    if masked != chosen.shape:
        raise ValueError(
            f"Shapes {TensorShape(masked)} and {TensorShape(chosen.shape)} are incompatible: the "
            f"mask must have the shape of dimensions {place} to {place + chosen.ndim - 1} of "
            f"the tensor, which has shape {data.shape}"
        )
    indices = np.flatnonzero(chosen)
    return _take_merged(data, constant_tensor(indices), place, chosen.ndim)


@public("dynamic_partition")
@takes_composites("dynamic_partition")
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    """Distribute the elements of a tensor over lists.

    Args:
        data: A tensor of any dtype whose shape begins with that of `partitions`.
        partitions: int32 (its value is read): the list each element goes to, in
            `[0, num_partitions)`.
        num_partitions: The number of lists.
        name: Ignored.

    Returns:
        A list of `num_partitions` tensors of shape `[n_i] + data.shape[partitions.rank:]`.

    Raises:
        InvalidArgumentError: If a number is out of range or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> [t.numpy().tolist() for t in tf.dynamic_partition([5, 6, 7], [0, 1, 0], 2)]
        [[5, 7], [6]]
    """
    values, lists = as_tensor(data), host_value(partitions, int32)
    if num_partitions < 1:
        raise InvalidArgumentError(
            f"Value for attr 'num_partitions' of {num_partitions} must be at least minimum 1"
        )
    shape = tuple(values.shape)
    if shape[: lists.ndim] != lists.shape:
        raise InvalidArgumentError(
            "data.shape must start with partitions.shape, got data.shape = "
            f"{brackets(shape)}, partitions.shape = {brackets(lists.shape)}"
        )
    bad = np.argwhere((lists < 0) | (lists >= num_partitions))
    if bad.size or (not lists.ndim and len(bad)):
        place = tuple(bad[0])
        where_ = ",".join(map(str, place))
        raise InvalidArgumentError(
            f"partitions[{where_}] = {lists[place]} is not in [0, {num_partitions})"
        )
    flat = lists.reshape(-1)
    return [
        _take_merged(values, constant_tensor(np.flatnonzero(flat == number)), 0, lists.ndim)
        for number in range(num_partitions)
    ]


@op(
    "_stitch",
    node="DynamicStitch",
    cases=("[f32[2,3], f32[1,3]], i32[4] in (-1, 3)", "[i32[2], i32[2]], i64[3] in (-1, 4)"),
)
def _stitch(rows: SameList, source: Index) -> Array:
    """Row `source[i]` of the joined rows, or zeros where that is -1."""
    joined = jnp.concatenate(rows)
    if not joined.shape[0]:
        return jnp.zeros((source.shape[0], *joined.shape[1:]), joined.dtype)
    taken = jnp.take(joined, source, 0, mode="clip")
    known = jnp.reshape(source >= 0, (-1,) + (1,) * (joined.ndim - 1))
    return jnp.where(known, taken, jnp.zeros((), joined.dtype))


def _check_stitch(places: list[np.ndarray[Any, Any]], values: list[Any]) -> tuple[int, ...]:
    """The shape of a row, after all shapes were compared."""
    rest = tuple(values[0].shape)[places[0].ndim :]
    for number, (place, value) in enumerate(zip(places, values, strict=True)):
        shape = tuple(value.shape)
        if shape[: place.ndim] != place.shape:
            raise InvalidArgumentError(
                f"data[{number}].shape = {brackets(shape)} does not start with "
                f"indices[{number}].shape = {brackets(place.shape)}"
            )
        if shape[place.ndim :] != rest:
            raise InvalidArgumentError(
                f"Need data[0].shape[{places[0].ndim}:] = data[{number}].shape[{place.ndim}:], got "
                f"data[0].shape = {brackets(values[0].shape)}, data[{number}].shape = "
                f"{brackets(shape)}, indices[0].shape = {brackets(places[0].shape)}, "
                f"indices[{number}].shape = {brackets(place.shape)}"
            )
        if (place < 0).any():
            raise InvalidArgumentError(f"indices[{number}] is out of range")
    return rest


@public("dynamic_stitch")
def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Any:
    """Put rows from several tensors in their places: the inverse of `dynamic_partition`.

    Args:
        indices: A list of int32 tensors (their values are read): the place of each row. A place
            named several times gets its last row, a place never named zeros.
        data: A list of tensors of one dtype; `data[i].shape` begins with `indices[i].shape`.
        name: Ignored.

    Returns:
        A tensor with as many rows as the largest index plus one.

    Raises:
        InvalidArgumentError: If an index is negative or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.dynamic_stitch([[0, 2], [1]], [[1, 2], [3]]).numpy().tolist()
        [1, 3, 2]

    *Differs from TensorFlow*: a row that another one replaced gets the gradient zero.
    """
    places = [host_value(value, int32) for value in indices]
    if not places or len(places) != len(data):
        raise InvalidArgumentError(
            f"dynamic_stitch needs as many indices as data, and at least one: got {len(places)} "
            f"and {len(data)}"
        )
    values = [as_tensor(value) for value in data]
    rest = _check_stitch(places, values)
    flat = np.concatenate([place.reshape(-1) for place in places])
    source = np.full(int(flat.max()) + 1 if flat.size else 0, -1, np.int64)
    source[flat] = np.arange(flat.size)
    rows = [_merge_rows(value, len(rest)) for value in values]
    return _stitch(rows, constant_tensor(source))


@op("_merge_rows", node="Reshape", cases=("f32[2,3,2], 1", "i32[2], 1", "f64[], 0"))
def _merge_rows(value: TensorLike, row_rank: StaticInts) -> Array:
    """All dimensions before those of a row merged into one."""
    rest = value.shape[value.ndim - row_rank :]
    count = int(np.prod(value.shape[: value.ndim - row_rank], dtype=np.int64))
    return jnp.reshape(value, (count, *rest))
