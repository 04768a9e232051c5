"""Sums and means of embeddings whose numbers are given by sparse and ragged matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import constant_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.arithmetic import divide_no_nan, multiply
from tapejax._src.ops.casting import cast
from tapejax._src.ops.gathering import embedding_lookup
from tapejax._src.ops.joining import concat
from tapejax._src.ops.powers import sqrt, square
from tapejax._src.ops.segment import unsorted_segment_sum
from tapejax._src.ops.selecting import host_value
from tapejax._src.ops.shaping import reshape
from tapejax._src.ops.sparse_tensor import SparseTensor

Array = np.ndarray[Any, Any]
_COMBINERS = ("mean", "sqrtn", "sum")


def _combiner(combiner: str | None) -> str:
    name = "mean" if combiner is None else combiner
    if name not in _COMBINERS:
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    return name


def _table(params: Any) -> Any:
    """One table of the tables that hold consecutive ids."""
    if params is None or (isinstance(params, (list, tuple)) and not params):
        raise ValueError("params must be specified: an embedding table, or a list of them.")
    tables: list[Any] = list(params) if isinstance(params, (list, tuple)) else []
    if tables and np.ndim(tables[0]) > 1:
        return concat(tables, 0) if len(tables) > 1 else tables[0]
    return params


def _rows(ids: Any) -> tuple[Array, Any]:
    """The row of each id, and the ids."""
    if isinstance(ids, RaggedTensor):
        return host_value(ids.value_rowids()), ids.values
    return host_value(ids.indices)[:, 0], ids.values


def _weights(weights: Any, ids: Any) -> Any:
    """The values of the weights, whose places must be those of the ids."""
    if weights is None:
        return None
    if not isinstance(weights, (SparseTensor, RaggedTensor)):
        raise TypeError(f"sp_weights must be either None or SparseTensor, got {type(weights)}")
    if isinstance(weights, RaggedTensor) != isinstance(ids, RaggedTensor):
        raise TypeError("sp_ids and sp_weights must both be SparseTensor, or both RaggedTensor")
    if weights.values.aval.shape != ids.values.aval.shape:
        raise ValueError(
            f"Shapes {tuple(ids.values.aval.shape)} and {tuple(weights.values.aval.shape)} are "
            "incompatible: sp_weights needs a weight for each id of sp_ids"
        )
    if not np.array_equal(_rows(ids)[0], _rows(weights)[0]):
        raise ValueError("sp_ids and sp_weights must have the same indices")
    return weights.values


def _combined(table: Any, rows: Array, ids: Any, weights: Any, how: tuple[str, Any, int]) -> Any:
    combiner, max_norm, count = how
    found = embedding_lookup(table, ids, max_norm)
    dtype = found.dtype
    rank = len(found.aval.shape)
    scale = constant_tensor(np.ones(len(rows), np.dtype(dtype.as_numpy_dtype)))
    if weights is not None:
        scale = cast(weights, dtype)
        found = multiply(found, reshape(scale, [-1] + [1] * (rank - 1)))
    where = constant_tensor(rows.astype(np.int32))
    total = unsorted_segment_sum(found, where, count)
    if combiner == "sum":
        return total
    whole = unsorted_segment_sum(scale if combiner == "mean" else square(scale), where, count)
    whole = whole if combiner == "mean" else sqrt(whole)
    return divide_no_nan(total, reshape(whole, [-1] + [1] * (rank - 1)))


@public("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """For each row of ids the weighted sum or mean of their embeddings.

    Args:
        params: An embedding table `[n, ...]`, or a list of tables that follow each other.
        sp_ids: `[rows, m]` integers, a `tf.SparseTensor` in row-major order (where its values lie
            is read) or a `tf.RaggedTensor`.
        sp_weights: The weights of the ids, of the same kind and with the same places, or None.
        combiner: "sum", "mean" (the sum divided by that of the weights) or "sqrtn" (divided by the
            root of the sum of their squares). None means "mean".
        max_norm: Embeddings longer than this are shortened to it.
        name: Ignored.
        allow_fast_lookup: Ignored.

    Returns:
        `[rows, ...]`, up to the last row with an id; zeros for rows without.

    Raises:
        TypeError: If the ids or weights are of another kind.
        ValueError: If the combiner is unknown, or ids and weights have different places.
        InvalidArgumentError: If an id is out of range.

    Example:
        >>> import tapejax as tf
        >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 2, 1], [2, 2])
        >>> table = tf.constant([[1.0], [2.0], [5.0]])
        >>> tf.nn.embedding_lookup_sparse(table, ids, None).numpy().tolist()
        [[3.0], [2.0]]
    """
    del name, allow_fast_lookup
    how = _combiner(combiner)
    if not isinstance(sp_ids, (SparseTensor, RaggedTensor)):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    weights = _weights(sp_weights, sp_ids)
    rows, ids = _rows(sp_ids)
    count = int(rows[-1]) + 1 if len(rows) else 0
    return _combined(_table(params), rows, ids, weights, (how, max_norm, count))


def _filled(
    rows: Array, ids: Array, weights: Any, default: tuple[int, int]
) -> tuple[Array, Array, Any]:
    """The ids with a default one, of weight 1, for each row without any."""
    default_id, count = default
    empty = np.setdiff1d(np.arange(count), rows)
    if weights is not None:
        ones = constant_tensor(np.ones(len(empty), np.dtype(weights.dtype.as_numpy_dtype)))
        weights = concat([weights, ones], 0)
    added = np.full(len(empty), default_id, ids.dtype)
    return np.concatenate([rows, empty]), np.concatenate([ids, added]), weights


@public("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """`tf.nn.embedding_lookup_sparse` that leaves invalid ids out and fills empty rows.

    Args:
        embedding_weights: An embedding table `[n, ...]`, or a list of consecutive ones.
        sparse_ids: `[..., m]` integers, a `tf.SparseTensor`; its values are read. Negative ids are
            left out.
        sparse_weights: Their weights, with the same places; None for ones. Ids of weight 0 or less
            are left out, unless for a sum.
        combiner: "sum", "mean" or "sqrtn".
        default_id: The id that stands in an empty row, with weight 1; by default its result is 0.
        max_norm: Embeddings longer than this are shortened to it.
        name: Ignored.
        allow_fast_lookup: Ignored.

    Returns:
        `[..., ...]`: an embedding for each row of ids.

    Raises:
        TypeError: If the ids or weights are of another kind.
        ValueError: If the combiner is unknown, or ids and weights do not fit.
        InvalidArgumentError: If an id is out of range.

    Example:
        >>> import tapejax as tf
        >>> ids = tf.SparseTensor([[0, 0], [0, 1]], [0, -1], [2, 2])
        >>> table = tf.constant([[1.0], [2.0], [5.0]])
        >>> tf.nn.safe_embedding_lookup_sparse(table, ids).numpy().tolist()
        [[1.0], [0.0]]
    """
    how = _combiner(combiner)
    if not isinstance(sparse_ids, SparseTensor):
        raise TypeError(f"sparse_ids must be SparseTensor, got {type(sparse_ids)}")
    weights = _weights(sparse_weights, sparse_ids)
    outer = tuple(host_value(sparse_ids.dense_shape)[:-1].tolist())
    count = int(np.prod(outer, dtype=np.int64))
    indices, ids = host_value(sparse_ids.indices), host_value(sparse_ids.values)
    rows: Array = indices[:, 0]
    if len(indices):
        rows = np.asarray(np.ravel_multi_index(tuple(indices[:, :-1].T), outer))
    valid = ids >= 0
    if weights is not None and how != "sum":
        valid &= host_value(weights) > 0
    rows, ids = rows[valid], ids[valid]
    if weights is not None:
        weights = embedding_lookup(weights, constant_tensor(np.flatnonzero(valid)))
    if default_id is not None:
        rows, ids, weights = _filled(rows, ids, weights, (default_id, count))
    table = _table(embedding_weights)
    found = _combined(table, rows, constant_tensor(ids), weights, (how, max_norm, count))
    return reshape(found, [*outer, *found.aval.shape[1:]])
