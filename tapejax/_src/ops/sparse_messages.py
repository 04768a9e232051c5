"""`tf.io`: sparse tensors as strings of bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.dtypes import FROM_NUMPY, OP_NAMES, DType, as_dtype, string
from tapejax._src.core.errors import InvalidArgumentError, UnimplementedError
from tapejax._src.engine.convert import constant_tensor
from tapejax._src.engine.registry import DTypeLike, public
from tapejax._src.engine.texts import as_texts, known_texts, text_tensor
from tapejax._src.ops.shape_checks import brackets
from tapejax._src.ops.sparse_tensor import SparseTensor
from tapejax._src.ops.tensor_messages import array_of_message, tensor_message
from tapejax._src.ops.wire_format import BrokenMessageError

Array = np.ndarray[Any, Any]


def _parts(sparse: SparseTensor) -> tuple[Array, Array, Array]:
    values = sparse.values
    array = known_texts(values) if values.dtype is string else values.view()
    return sparse.indices.view(), array, sparse.dense_shape.view()


def _check_out_type(out_type: Any) -> None:
    if as_dtype(out_type) is not string:
        raise UnimplementedError(
            None, None, "sparse tensors are serialized as strings only: leave out `out_type`"
        )


def _sparse(value: Any) -> SparseTensor:
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, got {type(value).__name__}.")
    return value


@public("io.serialize_sparse")
def serialize_sparse(sp_input: Any, out_type: DTypeLike = string, name: str | None = None) -> Any:
    """A sparse tensor as three strings.

    Args:
        sp_input: A `tf.SparseTensor`.
        out_type: `tf.string`.
        name: Ignored.

    Returns:
        Strings `[3]`: indices, values and dense shape, each a serialized `TensorProto`.

    Raises:
        TypeError: If it is no sparse tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.io.serialize_sparse(tf.SparseTensor([[0]], [1.0], [2])).shape
        TensorShape([3])
    """
    _check_out_type(out_type)
    made = np.empty(3, object)
    made[:] = [tensor_message(part, packed=True) for part in _parts(_sparse(sp_input))]
    return text_tensor(made)


@public("io.serialize_many_sparse")
def serialize_many_sparse(
    sp_input: Any, out_type: DTypeLike = string, name: str | None = None
) -> Any:
    """Each row of a sparse tensor as three strings.

    Args:
        sp_input: A `tf.SparseTensor` of rank 2 or more; its first dimension is a batch.
        out_type: `tf.string`.
        name: Ignored.

    Returns:
        Strings `[batch, 3]`: for each row indices, values and dense shape.

    Raises:
        TypeError: If it is no sparse tensor.
        InvalidArgumentError: If its rank is less than 2.

    Example:
        >>> import tapejax as tf
        >>> rows = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
        >>> tf.io.serialize_many_sparse(rows).shape
        TensorShape([3, 3])
    """
    _check_out_type(out_type)
    indices, values, shape = _parts(_sparse(sp_input))
    if len(shape) < 2:
        raise InvalidArgumentError(
            f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}"
        )
    made = np.empty((int(shape[0]), 3), object)
    for row in range(int(shape[0])):
        chosen = indices[:, 0] == row
        parts = (indices[chosen, 1:], values[chosen], shape[1:])
        made[row] = [tensor_message(np.ascontiguousarray(part), packed=True) for part in parts]
    return text_tensor(made)


@public("io.deserialize_many_sparse")
def deserialize_many_sparse(
    serialized_sparse: Any, dtype: DTypeLike, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """The sparse tensor whose rows `tf.io.serialize_many_sparse` or `serialize_sparse` made.

    Args:
        serialized_sparse: Strings `[batch, 3]`.
        dtype: The dtype of the values.
        rank: The rank of a row, if it is to be checked.
        name: Ignored.

    Returns:
        A `tf.SparseTensor` with one dimension more than a row, the batch; each dimension is as
        large as that of the largest row.

    Raises:
        InvalidArgumentError: If the strings are no sparse tensors of one rank and this dtype.

    Example:
        >>> import tapejax as tf
        >>> rows = tf.SparseTensor([[0, 1], [2, 0]], [1.0, 2.0], [3, 2])
        >>> again = tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(rows), tf.float32)
        >>> again.indices.numpy().tolist(), again.dense_shape.numpy().tolist()
        ([[0, 1], [2, 0]], [3, 2])
    """
    texts, wanted = known_texts(as_texts(serialized_sparse)), as_dtype(dtype)
    if texts.ndim != 2 or texts.shape[1] != 3 or not texts.size:
        raise InvalidArgumentError(
            "Serialized sparse should have elements and 3 as the last dimension, got shape "
            f"{brackets(texts.shape)}"
        )
    rows = [_row(row, wanted) for row in texts]
    ranks = {len(shape) for _, _, shape in rows}
    if len(ranks) > 1 or (rank is not None and ranks != {rank}):
        raise InvalidArgumentError(f"rows of the ranks {sorted(ranks)} do not fit (rank {rank})")
    numbered = [np.insert(indices, 0, n, axis=1) for n, (indices, _, _) in enumerate(rows)]
    shape = np.stack([shape for _, _, shape in rows]).max(0)
    return SparseTensor(
        constant_tensor(np.concatenate(numbered)),
        constant_tensor(np.concatenate([values for _, values, _ in rows])),
        constant_tensor(np.concatenate([[len(rows)], shape]).astype(np.int64)),
    )


def _row(texts: Array, wanted: DType) -> tuple[Array, Array, Array]:
    try:
        indices, values, shape = [np.array(array_of_message(text)) for text in texts]
    except BrokenMessageError as error:
        raise InvalidArgumentError(f"Could not parse serialized_sparse: {error}") from None
    found = FROM_NUMPY[values.dtype]
    if found is not wanted:
        raise InvalidArgumentError(
            f"Requested SparseTensor of type {OP_NAMES[wanted]} but SparseTensor[0].values is of "
            f"type {OP_NAMES[found]}"
        )
    return indices.reshape(-1, len(shape)).astype(np.int64), values, shape
