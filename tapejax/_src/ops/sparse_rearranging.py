"""Sparse tensors with the same values at other places: order, shape, axes, parts of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import as_dtype
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.row_partition import HostArray, known_array
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.apply import multi_op
from tapejax._src.engine.convert import as_partner, as_tensor, constant_tensor, static_ints
from tapejax._src.engine.registry import public
from tapejax._src.ops import joining, ragged_rows
from tapejax._src.ops.sparse_tensor import (
    SparseTensor,
    check_axis,
    host_indices,
    moved,
    of_parts,
    sizes_of,
    sparse_argument,
)


def invalid(text: str) -> errors.InvalidArgumentError:
    """The error of an op."""
    return errors.InvalidArgumentError(None, None, text)


def _vector(value: Any) -> tuple[int, ...]:
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
    new = _resolved(old, _vector(shape))

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
    order = tuple(range(rank))[::-1] if perm is None else _vector(perm)
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


# ---------------------------------------------------------------------- parts
def kept(sparse: SparseTensor, rows: HostArray, indices: HostArray, shape: Any) -> SparseTensor:
    """Some of the values, at given places."""
    return of_parts(indices, ragged_rows.take(sparse.values, np.asarray(rows)), shape)


@public("sparse.retain")
def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The values chosen by a mask, at their places.

    Args:
        sp_input: A `tf.SparseTensor` with n values.
        to_retain: bool `[n]`, of known values.

    Returns:
        A `tf.SparseTensor`.

    Raises:
        ValueError: If the mask has another length.
        NotImplementedError: In a function being traced, where the mask is not known.

    Example:
        >>> import tapejax as tf
        >>> tf.sparse.retain(tf.sparse.eye(3), [True, False, True]).indices.numpy().tolist()
        [[0, 0], [2, 2]]
    """
    sparse = sparse_argument(sp_input)
    mask = known_array(as_tensor(to_retain))
    if mask is None:
        raise NotImplementedError(
            "tf.sparse.retain: the mask is not known inside the tf.function or transformation "
            "being traced, so that the number of values is not known either. Multiply the values "
            "by the mask instead: x.with_values(x.values * tf.cast(mask, x.dtype))."
        )
    count = sparse.values.aval.shape[0]
    if mask.shape != (count,):
        raise ValueError(f"Dimensions {count} and {len(mask)} are not compatible")
    rows = np.flatnonzero(mask)
    host = host_indices(sparse, "tf.sparse.retain")
    return kept(sparse, rows, host[rows], sparse.dense_shape)


@public("sparse.slice")
def slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """A box of a sparse tensor.

    Args:
        sp_input: A `tf.SparseTensor`.
        start: Where the box begins in each dimension.
        size: Its size; cut to what there is.
        name: Ignored.

    Returns:
        A `tf.SparseTensor`.

    Raises:
        InvalidArgumentError: If the lengths of `start` and `size` are not the rank.

    Example:
        >>> import tapejax as tf
        >>> tf.sparse.slice(tf.sparse.eye(3), [1, 0], [2, 2]).indices.numpy().tolist()
        [[0, 1]]
    """
    del name
    sparse = sparse_argument(sp_input)
    shape = np.array(sizes_of(sparse), np.int64)
    begin, extent = np.array(_vector(start), np.int64), np.array(_vector(size), np.int64)
    for word, part in (("start", begin), ("size", extent)):
        if len(part) != len(shape):
            raise invalid(
                f"Expected {word} to be a vector of length {len(shape)} but got length {len(part)} "
                "[Op:SparseSlice]"
            )
    end = np.minimum(begin + extent, shape)
    return _box(sparse, begin, np.maximum(end, begin), "tf.sparse.slice")


def _box(sparse: SparseTensor, begin: HostArray, end: HostArray, what: str) -> SparseTensor:
    host = host_indices(sparse, what)
    rows = np.flatnonzero(((host >= begin) & (host < end)).all(1))
    return kept(sparse, rows, host[rows] - begin, (end - begin).tolist())


@public("sparse.split")
def split(
    sp_input: Any = None, num_split: Any = None, axis: Any = None, name: str | None = None
) -> list[SparseTensor]:
    """A sparse tensor cut along an axis; the first parts are one larger where it is not even.

    Args:
        sp_input: A `tf.SparseTensor`.
        num_split: How many parts.
        axis: The axis to cut.
        name: Ignored.

    Returns:
        A list of `tf.SparseTensor`s.

    Raises:
        ValueError: If an argument is missing.
        InvalidArgumentError: If axis or number are out of range.

    Example:
        >>> import tapejax as tf
        >>> [part.shape.as_list() for part in tf.sparse.split(tf.sparse.eye(3), 2, 1)]
        [[3, 2], [3, 1]]
    """
    del name
    for word, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{word} is required")
    sparse = sparse_argument(sp_input)
    shape = sizes_of(sparse)
    rank, count = len(shape), int(static_ints(num_split))
    place = check_axis(
        axis, rank, f"Input axis should be in range [-{rank}, {rank}), got {axis} [Op:SparseSplit]"
    )
    if not 1 <= count <= shape[place]:
        raise invalid(
            "Input num_split should be between 1 and the splitting dimension size "
            f"({shape[place]}), got {count} [Op:SparseSplit]"
        )
    each, larger = divmod(shape[place], count)
    found: list[SparseTensor] = []
    begin, end = np.zeros(rank, np.int64), np.array(shape, np.int64)
    at = 0
    for number in range(count):
        begin[place], at = at, at + each + (number < larger)
        end[place] = at
        found.append(_box(sparse, begin.copy(), end.copy(), "tf.sparse.split"))
    return found


@public("sparse.mask")
def mask(a: Any, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """`tf.IndexedSlices` without the rows at some positions.

    Args:
        a: A `tf.IndexedSlices`.
        mask_indices: Integer vector of the positions to leave out.
        name: Ignored.

    Returns:
        A `tf.IndexedSlices`.

    Example:
        >>> import tapejax as tf
        >>> x = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 5]))
        >>> tf.sparse.mask(x, [0]).indices.numpy().tolist()
        [5]
    """
    del name
    if not isinstance(a, IndexedSlices):
        raise TypeError(f"tf.sparse.mask takes tf.IndexedSlices, got {type(a).__name__}.")
    places, left_out = known_array(a.indices), known_array(as_tensor(mask_indices))
    if places is None or left_out is None:
        raise NotImplementedError(
            "tf.sparse.mask needs known indices, but they are computed inside the function being "
            "traced. Call it outside, or multiply the rows by a mask."
        )
    rows = np.flatnonzero(~np.isin(places, left_out))
    kept_places = constant_tensor(places[rows])
    return IndexedSlices(ragged_rows.take(a.values, rows), kept_places, a.dense_shape)


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
    given = [sp_inputs] if isinstance(sp_inputs, SparseTensor) else list(sp_inputs)
    inputs = [sparse_argument(x) for x in given]
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


@public("sparse.fill_empty_rows")
def fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """A sparse tensor with a value in the first column of each row that had none.

    Args:
        sp_input: A `tf.SparseTensor`.
        default_value: Scalar to put there.
        name: Ignored.

    Returns:
        The `tf.SparseTensor`, and a bool vector of the rows that were empty.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[1, 1]], [5.0], [3, 2])
        >>> filled, empty = tf.sparse.fill_empty_rows(x, 9.0)
        >>> filled.values.numpy().tolist(), empty.numpy().tolist()
        ([9.0, 5.0, 9.0], [True, False, True])
    """
    del name
    sparse = sparse_argument(sp_input)
    shape = sizes_of(sparse)
    host = host_indices(sparse, "tf.sparse.fill_empty_rows")
    default = as_partner(default_value, sparse.dtype)
    if len(host) and (host[:, 0].max() >= shape[0] or host[:, 0].min() < 0):
        raise invalid(f"indices(., 0) is invalid: there are {shape[0]} rows")
    missing = np.setdiff1d(np.arange(shape[0]), host[:, 0])
    empty = np.zeros(shape[0], bool)
    empty[missing] = True
    added = np.zeros((len(missing), len(shape)), np.int64)
    added[:, 0] = missing
    places = np.concatenate([host, added])
    order = np.argsort(places[:, 0], kind="stable")
    sources = np.concatenate([np.arange(len(host)), np.full(len(missing), len(host))])[order]
    values = joining.concat([sparse.values, _as_vector(default)], 0)
    filled = of_parts(places[order], ragged_rows.take(values, sources), shape)
    return filled, constant_tensor(empty)


def _as_vector(scalar: Tensor) -> Tensor:
    return joining.stack([scalar], 0)


@public("sparse.reset_shape")
def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same values and places in another dense shape that holds them.

    Args:
        sp_input: A `tf.SparseTensor`.
        new_shape: The dense shape, no smaller in any dimension. Default: as small as possible.

    Returns:
        A `tf.SparseTensor`.

    Raises:
        ValueError: If the new shape is smaller or of another rank.

    Example:
        >>> import tapejax as tf
        >>> tf.sparse.reset_shape(tf.SparseTensor([[0, 1]], [1.0], [4, 5])).shape
        TensorShape([1, 2])
    """
    sparse = sparse_argument(sp_input)
    shape = sizes_of(sparse)
    if new_shape is None:
        host = host_indices(sparse, "tf.sparse.reset_shape")
        found = (host.max(0) + 1).tolist() if len(host) else [0] * len(shape)
        return of_parts(sparse.indices, sparse.values, found)
    wanted = _vector(new_shape)
    if len(wanted) != len(shape):
        raise ValueError(f"Dimensions {len(wanted)} and {len(shape)} are not compatible")
    if any(new < old for new, old in zip(wanted, shape, strict=True)):
        raise ValueError(
            "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
            f"({list(wanted)}), sp_input.shape ({list(shape)})."
        )
    return of_parts(sparse.indices, sparse.values, wanted)


@public("sparse.eye")
def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = "float32", name: str | None = None
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
        raise NotImplementedError(
            "tf.sparse.map_values compares the places of its arguments, but they are not known "
            "inside the function being traced. Make the second one with x.with_values(...)."
        )
    if not np.array_equal(mine, theirs):
        raise invalid("Mismatched indices! The sparse tensors have values at different places.")
