"""Sparse tensors with the same values at other places: order, shape, axes, parts of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import as_dtype, float32
from tapejax._src.core.row_partition import HostArray, known_array
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.engine.apply import multi_op
from tapejax._src.engine.convert import as_tensor, constant_tensor, static_ints
from tapejax._src.engine.registry import public
from tapejax._src.ops import joining, ragged_rows
from tapejax._src.ops.sparse_tensor import (
    SparseTensor,
    check_axis,
    moved,
    of_parts,
    sizes_of,
    sparse_argument,
)


def invalid(text: str) -> errors.InvalidArgumentError:
    """The error of an op."""
    return errors.InvalidArgumentError(None, None, text)


def vector_of(value: Any) -> tuple[int, ...]:
    """Integers that must be known, as a tuple."""
    found = static_ints(value)
    return (found,) if isinstance(found, int) else tuple(found)


def host_order(indices: HostArray) -> HostArray:
    """The rows of indices in row-major order."""
    return np.lexsort(indices.T[::-1]) if indices.shape[1] else np.arange(len(indices))


@public("sparse.reorder")
def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same sparse tensor with its places in row-major order.

    Args:
        sp_input: A `tf.SparseTensor`.
        name: Ignored.

    Returns:
        A `tf.SparseTensor`.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[1, 2], [0, 0]], [2.0, 1.0], [2, 3])
        >>> tf.sparse.reorder(x).values.numpy().tolist()
        [1.0, 2.0]
    """
    del name
    sparse = sparse_argument(sp_input)
    host = known_array(sparse.indices)
    if host is not None:
        order = host_order(host)
        if np.array_equal(order, np.arange(len(order))):
            return sparse
        values = ragged_rows.take(sparse.values, order)
        return of_parts(host[order], values, sparse.dense_shape)
    (rows,) = multi_op("_sparse_order", lambda places: [jnp.lexsort(places.T[::-1])], None)(
        [sparse.indices]
    )
    indices = ragged_rows.take_rows(sparse.indices, rows)
    return of_parts(indices, ragged_rows.take_rows(sparse.values, rows), sparse.dense_shape)


@public("sparse.reshape")
def reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same values in row-major order, in another dense shape.

    Args:
        sp_input: A `tf.SparseTensor`.
        shape: The new dense shape; one size may be -1.
        name: Ignored.

    Returns:
        A `tf.SparseTensor`.

    Raises:
        InvalidArgumentError: If the number of elements differs.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [2, 3])
        >>> tf.sparse.reshape(x, [3, -1]).indices.numpy().tolist()
        [[0, 0], [2, 1]]
    """
    del name
    sparse = sparse_argument(sp_input)
    old = sizes_of(sparse)
    new = _resolved(old, vector_of(shape))

    def places(indices: Any) -> Any:
        flat = indices @ jnp.asarray(_strides(old), indices.dtype)
        steps = _strides(new)
        columns = [flat // step % max(size, 1) for step, size in zip(steps, new, strict=True)]
        return jnp.stack(columns, 1) if columns else jnp.zeros((len(indices), 0), indices.dtype)

    return moved("_sparse_reshape", (old, new), places, sparse, new)


def _strides(shape: Sequence[int]) -> list[int]:
    steps = [1]
    for size in reversed(shape[1:]):
        steps.append(steps[-1] * max(size, 1))
    return steps[::-1][: len(shape)]


def _resolved(old: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    total = int(np.prod(old, dtype=object))
    open_places = [n for n, size in enumerate(shape) if size == -1]
    if len(open_places) > 1:
        raise invalid(
            "only one output dimension may be -1, not both "
            f"{open_places[0]} and {open_places[1]} [Op:SparseReshape]"
        )
    known = int(np.prod([size for size in shape if size != -1], dtype=object))
    if open_places:
        if not known or total % known:
            raise invalid(
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested "
                f"shape requires a multiple of {known}. input_shape={list(old)} "
                f"output_shape={list(shape)} [Op:SparseReshape]"
            )
        return tuple([total // known if size == -1 else size for size in shape])
    if known != total:
        raise invalid(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has "
            f"{known}. input_shape={list(old)} output_shape={list(shape)} [Op:SparseReshape]"
        )
    return shape


@public("sparse.transpose")
def transpose(sp_input: Any, perm: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor with its axes in another order, its places sorted.

    Args:
        sp_input: A `tf.SparseTensor`.
        perm: The old axis of each new one. Default: the reverse order.
        name: Ignored.

    Returns:
        A `tf.SparseTensor`.

    Raises:
        ValueError: If `perm` has another length.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 2])
        >>> tf.sparse.transpose(x).values.numpy().tolist()
        [2.0, 1.0]
    """
    del name
    sparse = sparse_argument(sp_input)
    shape = sizes_of(sparse)
    rank = len(shape)
    order = tuple(range(rank))[::-1] if perm is None else vector_of(perm)
    if len(order) != rank:
        raise ValueError(f"Dimensions {len(order)} and {rank} are not compatible: perm={order}")
    if sorted(axis % rank for axis in order) != list(range(rank)):
        raise invalid(f"{list(order)} is not a permutation of the {rank} axes")
    columns = np.array(order, int)
    turned = moved(
        "_sparse_transpose", order, lambda x: x[:, columns], sparse, [shape[a] for a in order]
    )
    return reorder(turned)


@public("sparse.expand_dims")
def expand_dims(sp_input: Any, axis: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor with one more axis of size 1.

    Args:
        sp_input: A `tf.SparseTensor`.
        axis: The place of the new axis. Default: -1.
        name: Ignored.

    Returns:
        A `tf.SparseTensor`.

    Raises:
        InvalidArgumentError: If there is no such place.

    Example:
        >>> import tapejax as tf
        >>> tf.sparse.expand_dims(tf.sparse.eye(2), 0).shape
        TensorShape([1, 2, 2])
    """
    del name
    sparse = sparse_argument(sp_input)
    shape = list(sizes_of(sparse))
    rank = len(shape)
    place = -1 if axis is None else int(static_ints(axis))
    if not -rank - 1 <= place <= rank:
        raise invalid(f"Expected axis in [{-rank - 1}, {rank}], but got {place}")
    place = place + rank + 1 if place < 0 else place
    shape.insert(place, 1)
    return moved("_sparse_expand", place, lambda x: jnp.insert(x, place, 0, axis=1), sparse, shape)


# ---------------------------------------------------------------------- larger ones
@public("sparse.concat")
def concat(
    axis: Any, sp_inputs: Any, expand_nonconcat_dims: bool = False, name: str | None = None
) -> SparseTensor:
    """Sparse tensors one after the other along an axis.

    Args:
        axis: The axis.
        sp_inputs: A list of `tf.SparseTensor`s.
        expand_nonconcat_dims: Whether the other dimensions may differ; the largest counts.
        name: Ignored.

    Returns:
        A `tf.SparseTensor`, its places in order.

    Raises:
        InvalidArgumentError: If the shapes do not fit, or there is no input.

    Example:
        >>> import tapejax as tf
        >>> x = tf.sparse.eye(2)
        >>> tf.sparse.concat(1, [x, x]).indices.numpy().tolist()
        [[0, 0], [0, 2], [1, 1], [1, 3]]

    Differs from TensorFlow:
        The values have a gradient, which TensorFlow does not define.
    """
    del name
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError(f"Inputs must be a list or tuple of SparseTensors, got {sp_inputs!r}.")
    inputs = [sparse_argument(x) for x in sp_inputs]
    if not inputs:
        raise invalid("tf.sparse.concat needs at least one SparseTensor [Op:SparseConcat]")
    shapes = [sizes_of(x) for x in inputs]
    rank = len(shapes[0])
    place = check_axis(axis, rank, f"Concat dimension must be in [-{rank}, {rank}), got {axis}")
    for number, shape in enumerate(shapes):
        if len(shape) != rank:
            raise invalid(
                f"Ranks of all input tensors must match: expected {rank} but got {len(shape)} at "
                f"position {number} [Op:SparseConcat]"
            )
        for dim in range(rank):
            if dim != place and shape[dim] != shapes[0][dim] and not expand_nonconcat_dims:
                raise invalid(
                    f"Input shapes must match: expected {shapes[0][dim]} for dimension {dim} but "
                    f"got {shape[dim]} at position {number} [Op:SparseConcat]"
                )
    result = [max(sizes) for sizes in zip(*shapes, strict=True)]
    result[place] = sum(shape[place] for shape in shapes)
    if len(inputs) == 1:
        return reorder(inputs[0])
    offsets = np.zeros((len(inputs), rank), np.int64)
    offsets[1:, place] = np.cumsum([shape[place] for shape in shapes])[:-1]
    places = [
        x.indices + constant_tensor(offset) for x, offset in zip(inputs, offsets, strict=True)
    ]
    values = joining.concat([x.values for x in inputs], 0)
    return reorder(of_parts(joining.concat(places, 0), values, result))


@public("sparse.eye")
def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = float32, name: str | None = None
) -> SparseTensor:
    """A sparse matrix with ones on its diagonal.

    Args:
        num_rows: How many rows.
        num_columns: How many columns. Default: as many as rows.
        dtype: The dtype of the ones.
        name: Ignored.

    Returns:
        A `tf.SparseTensor`.

    Example:
        >>> import tapejax as tf
        >>> tf.sparse.to_dense(tf.sparse.eye(2, 3)).numpy().tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    del name
    rows = int(static_ints(num_rows))
    columns = rows if num_columns is None else int(static_ints(num_columns))
    count = min(rows, columns)
    places = np.repeat(np.arange(count)[:, None], 2, 1)
    ones = constant_tensor(np.ones(count, as_dtype(dtype).as_numpy_dtype))
    return of_parts(places, ones, (rows, columns))


@public("sparse.map_values")
def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """A function of the values of sparse tensors with the same places.

    Args:
        op: Takes tensors of the values in the place of the sparse tensors.
        *args: Its arguments, at least one of them a `tf.SparseTensor`.
        **kwargs: Its keyword arguments.

    Returns:
        A `tf.SparseTensor` of what `op` returned.

    Raises:
        ValueError: If no argument is sparse, or `op` changes the number of values.
        InvalidArgumentError: If places or shapes differ.

    Example:
        >>> import tapejax as tf
        >>> tf.sparse.map_values(tf.square, tf.sparse.eye(2) * 3.0).values.numpy().tolist()
        [9.0, 9.0]
    """
    found: list[SparseTensor] = []

    def values(argument: Any) -> Any:
        if not isinstance(argument, SparseTensor):
            return argument
        found.append(argument)
        return argument.values

    given = [values(argument) for argument in args]
    named = {name: values(argument) for name, argument in kwargs.items()}
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = found[0]
    for other in found[1:]:
        _check_same(first, other)
    result = as_tensor(op(*given, **named))
    if not result.ndim:
        raise ValueError(
            f"Shape () must have rank 1: `op` returned a scalar, not {first.values.shape}"
        )
    return first.with_values(result)


def _check_same(first: SparseTensor, other: SparseTensor) -> None:
    if sizes_of(first) != sizes_of(other):
        raise invalid(f"Mismatched shapes! {first.shape} and {other.shape}")
    if first.indices is other.indices:
        return
    mine, theirs = known_array(first.indices), known_array(other.indices)
    if mine is None or theirs is None:
        raise NotCompilableError(
            "tf.sparse.map_values compares the places of its arguments, but they are not known "
            "inside the function being traced. Make the second one with x.with_values(...)."
        )
    if not np.array_equal(mine, theirs):
        raise invalid("Mismatched indices! The sparse tensors have values at different places.")
