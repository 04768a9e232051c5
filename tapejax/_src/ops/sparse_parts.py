"""Parts of sparse tensors, and rows or room added to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.row_partition import HostArray, known_array
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_partner, as_tensor, constant_tensor, static_ints
from tapejax._src.engine.registry import public
from tapejax._src.ops import joining, ragged_rows
from tapejax._src.ops.sparse_rearranging import invalid, vector_of
from tapejax._src.ops.sparse_tensor import (
    SparseTensor,
    check_axis,
    host_indices,
    of_parts,
    sizes_of,
    sparse_argument,
)


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
        raise NotCompilableError(
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
    begin, extent = np.array(vector_of(start), np.int64), np.array(vector_of(size), np.int64)
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
        raise NotCompilableError(
            "tf.sparse.mask needs known indices, but they are computed inside the function being "
            "traced. Call it outside, or multiply the rows by a mask."
        )
    rows = np.flatnonzero(~np.isin(places, left_out))
    kept_places = constant_tensor(places[rows])
    return IndexedSlices(ragged_rows.take(a.values, rows), kept_places, a.dense_shape)


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
    wanted = vector_of(new_shape)
    if len(wanted) != len(shape):
        raise ValueError(f"Dimensions {len(wanted)} and {len(shape)} are not compatible")
    if any(new < old for new, old in zip(wanted, shape, strict=True)):
        raise ValueError(
            "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
            f"({list(wanted)}), sp_input.shape ({list(shape)})."
        )
    return of_parts(sparse.indices, sparse.values, wanted)
