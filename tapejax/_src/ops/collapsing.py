"""Rows of labels on the host: repeated ones merged, scattered ones pushed together."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.selecting import host_value

Matrix = np.ndarray[Any, Any]


def collapsed(indices: Matrix, values: Matrix, batch: int) -> tuple[Matrix, Matrix]:
    """The values of each row of a sparse matrix side by side, and how many they are.

    Raises:
        InvalidArgumentError: If a row is not one of the batch, or rows are not in order.
    """
    rows = indices[:, 0] if len(indices) else np.zeros(0, np.int64)
    if np.any(rows < 0) or np.any(rows >= batch) or np.any(np.diff(rows) < 0):
        raise InvalidArgumentError(
            f"labels must have rows below {batch}, the batch size of logits, in order. Received "
            f"rows {rows.tolist()}. Write tf.sparse.reorder(labels)."
        )
    lengths = np.bincount(rows, minlength=batch).astype(np.int32)
    dense = np.zeros((batch, int(lengths.max(initial=0))), values.dtype)
    places = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    dense[rows, places] = values
    return dense, lengths


@public("nn.collapse_repeated")
def collapse_repeated(labels: Any, seq_length: Any, name: str | None = None) -> tuple[Any, Any]:
    """Merge equal labels that follow each other in a row.

    Args:
        labels: `[batch, n]`, integers (their values are read).
        seq_length: `[batch]`, integers: how many labels of a row count.
        name: Ignored.

    Returns:
        `(labels, seq_length)`: `[batch, m]` for the longest collapsed row, filled up with zeros,
        the dtype of `labels`; and `[batch]`, the dtype of `seq_length`.

    Raises:
        InvalidArgumentError: If the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> short, lengths = tf.nn.collapse_repeated([[1, 1, 2], [3, 3, 3]], [3, 2])
        >>> short.numpy().tolist(), lengths.numpy().tolist()
        ([[1, 2], [3, 0]], [2, 1])
    """
    del name
    tensor, counts = as_tensor(labels), as_tensor(seq_length)
    values, lengths = host_value(tensor), host_value(counts)
    if values.ndim != 2 or lengths.shape != values.shape[:1]:
        raise InvalidArgumentError(
            "labels must be [batch, n] and seq_length [batch]. Received shapes "
            f"{values.shape} and {lengths.shape}"
        )
    kept = np.arange(values.shape[1]) < lengths[:, None]
    kept[:, 1:] &= values[:, 1:] != values[:, :-1]
    indices = np.argwhere(kept)
    dense, counted = collapsed(indices, values[kept], len(values))
    return constant_tensor(dense), constant_tensor(counted.astype(lengths.dtype))
