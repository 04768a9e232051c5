"""Rows of strings of different lengths, as ops on strings take and make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import HostArray, RowPartition
from tapejax._src.engine.convert import constant_tensor


def over_flat_values(value: Any, fn: Callable[[Any], Any]) -> Any:
    """Apply a function of a tensor to the elements of a tensor or ragged tensor."""
    return value.over(fn(value.flat_values)) if isinstance(value, RaggedTensor) else fn(value)


def limits(lengths: Sequence[int], dtype: Any = np.int64) -> HostArray:
    """Where rows of these lengths begin and end."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))]).astype(dtype)


def ragged_of_rows(values: Any, *nested: HostArray) -> RaggedTensor:
    """The ragged tensor of flat values (a tensor) and the limits of its rows, outermost first."""
    made = values
    for splits in reversed(nested):
        made = RaggedTensor.of(made, RowPartition(constant_tensor(splits), host=splits))
    return made


def rows_of_elements(rows: Sequence[Any], shape: Sequence[int], values: Any) -> Any:
    """A row for each element of a tensor.

    Args:
        rows: The rows, in row-major order; only their lengths count.
        shape: The shape of the tensor.
        values: What is in all rows together, a tensor.

    Returns:
        For a scalar its row, a tensor; else a ragged tensor of one more dimension.
    """
    if not shape:
        return values
    made: Any = ragged_of_rows(values, limits([len(row) for row in rows]))
    for axis in reversed(range(1, len(shape))):
        count = int(np.prod(shape[:axis], dtype=np.int64))
        splits = np.arange(count + 1, dtype=np.int64) * shape[axis]
        partition = RowPartition(constant_tensor(splits), shape[axis], splits)
        made = RaggedTensor.of(made, partition)
    return made
