"""Between ragged and sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import as_dtype, int64
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.ops import shaping
from tapejax._src.ops.ragged_padding import positions
from tapejax._src.ops.ragged_queries import bounds
from tapejax._src.ops.ragged_rows import factory, method, of_lengths, splits_dtype
from tapejax._src.ops.sparse_tensor import (
    SparseTensor,
    host_indices,
    of_parts,
    sizes_of,
)


@method
def to_sparse(self: RaggedTensor, name: str | None = None) -> SparseTensor:
    """The values and their places as a `tf.SparseTensor`.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.constant([[5], [], [7, 8]]).to_sparse().indices.numpy().tolist()
        [[0, 0], [2, 0], [2, 1]]
    """
    del name
    what = "RaggedTensor.to_sparse"
    flat = self.flat_values
    shape = flat.aval.shape
    size = int(np.prod(shape[1:]))
    inner = np.indices(shape[1:]).reshape(len(shape) - 1, size)
    outer = [np.repeat(place, size) for place in positions(self, what)]
    columns = [*outer, *[np.tile(place, shape[0]) for place in inner]]
    values = shaping.reshape(flat, (-1,)) if len(shape) > 1 else flat
    return of_parts(np.stack(columns, 1), values, bounds(self, what))


@factory
def from_sparse(
    st_input: Any, name: str | None = None, row_splits_dtype: Any = int64
) -> RaggedTensor:
    """The rows of a sparse matrix whose values stand at the beginning of each row.

    Args:
        st_input: A `tf.SparseTensor` of rank 2.
        name: Ignored.
        row_splits_dtype: int32 or int64.

    Returns:
        The ragged tensor.

    Raises:
        TypeError: If `st_input` is not sparse.
        ValueError: If its rank is not 2.
        InvalidArgumentError: If the values of a row have gaps between them.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [5, 7, 8], [3, 2])
        >>> tf.RaggedTensor.from_sparse(x)
        <tf.RaggedTensor [[5], [], [7, 8]]>
    """
    del name
    dtype = splits_dtype(as_dtype(row_splits_dtype))
    if not isinstance(st_input, SparseTensor):
        raise TypeError(
            f"Argument `st_input` must be of type SparseTensor, but is of type "
            f"{type(st_input).__name__}."
        )
    shape = sizes_of(st_input)
    if len(shape) != 2:
        raise ValueError(f"rank(st_input) must be 2, not {len(shape)}.")
    places = host_indices(st_input, "RaggedTensor.from_sparse")
    lengths = np.bincount(places[:, 0], minlength=shape[0])
    begins = np.cumsum(lengths) - lengths
    expected = np.arange(len(places)) - begins[places[:, 0]]
    if (np.diff(places[:, 0]) < 0).any() or (expected != places[:, 1]).any():
        raise errors.InvalidArgumentError(
            None,
            None,
            "SparseTensor is not right-ragged: the values of each row must stand side by side from "
            "column 0 on, and the places in order.",
        )
    return RaggedTensor.of(st_input.values, of_lengths(lengths, dtype))
