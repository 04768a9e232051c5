"""`tf.ragged.constant`: nested Python lists of different lengths as a ragged tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.dtypes import as_dtype, int64
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops import constants
from tapejax._src.ops.ragged_rows import of_lengths, splits_dtype


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _depth(value: Any) -> tuple[int, int | None]:
    """How deep lists are nested, and at which depth the scalars are (None: there are none)."""
    if not _is_list(value):
        return 0, 0
    if isinstance(value, np.ndarray):
        return value.ndim, value.ndim if value.size else None
    deepest, scalars = 1, None
    for item in value:
        inner, found = _depth(item)
        deepest = max(deepest, inner + 1)
        if found is None:
            continue
        if scalars is not None and scalars != found + 1:
            raise ValueError("all scalar values must have the same nesting depth")
        scalars = found + 1
    return deepest, scalars


@public("ragged.constant")
def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> Any:
    """A ragged tensor of nested lists.

    Args:
        pylist: Nested lists, tuples or arrays; all scalars at one depth.
        dtype: The dtype of the values. Default: as `tf.constant` of them; float32 without any.
        ragged_rank: How many dimensions may differ in length. Default: all but the first.
        inner_shape: The shape of one value, of the dimensions that do not differ.
        name: Ignored.
        row_splits_dtype: int32 or int64.

    Returns:
        A `tf.RaggedTensor`, or a tensor where `ragged_rank` is 0.

    Raises:
        ValueError: If scalars are at different depths, or the lists do not fit the shape.

    Example:
        >>> import tapejax as tf
        >>> tf.ragged.constant([[1, 2], [3]])
        <tf.RaggedTensor [[1, 2], [3]]>
        >>> tf.ragged.constant([[[1, 2], [3, 4]], []], ragged_rank=1).shape
        TensorShape([2, None, 2])
    """
    del name
    splits = splits_dtype(as_dtype(row_splits_dtype))
    wanted = None if dtype is None else as_dtype(dtype)
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank {ragged_rank}: must be nonnegative")
    if not _is_list(pylist):
        if ragged_rank or inner_shape:
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
                f"inner_shape={inner_shape!r}"
            )
        return constants.constant(pylist, wanted)
    ragged_rank, inner = _form(pylist, ragged_rank, inner_shape)
    level = list(pylist)
    lengths: list[list[int]] = []
    for _ in range(ragged_rank):
        lengths.append([len(item) for item in level])
        level = [entry for item in level for entry in item]
    values: Any = _flat(level, wanted, inner)
    for row_lengths in reversed(lengths):
        values = RaggedTensor.of(values, of_lengths(row_lengths, splits))
    return values


def _form(pylist: Any, ragged_rank: int | None, inner_shape: Any) -> tuple[int, tuple[int, ...]]:
    """The number of ragged dimensions and the shape of one value."""
    deepest, scalars = _depth(pylist)
    if scalars is not None and deepest > scalars:
        raise ValueError(
            f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting"
        )
    if ragged_rank is None:
        inner = () if inner_shape is None else tuple(inner_shape)
        ragged_rank = max(0, deepest - 1 - len(inner))
    elif inner_shape is None:
        inner = _inner_shape(pylist, ragged_rank)
    else:
        inner = tuple(inner_shape)
    if scalars is not None and scalars != ragged_rank + len(inner) + 1:
        raise ValueError(
            f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
            f"inner_shape={inner}: scalars are at depth {scalars}"
        )
    return ragged_rank, inner


def _flat(level: list[Any], dtype: Any, inner: tuple[int, ...]) -> Tensor:
    """The innermost values as a tensor."""
    shape = (len(level), *inner)
    array: Any = [item.tolist() if isinstance(item, np.ndarray) else item for item in level]
    if level and all(isinstance(item, (np.ndarray, np.generic)) for item in level):
        stacked = np.asarray(level)
        # integers count as Python's
        array = stacked.tolist() if stacked.dtype.kind in "iu" else stacked
    if not level:
        return constants.constant(np.zeros(shape, object if _is_text(dtype) else np.float32), dtype)
    tensor = constants.constant(array, dtype)
    if tuple(tensor.shape) != shape:
        raise ValueError(
            f"Invalid pylist: the values have shape {tuple(tensor.shape)}, not {shape}; the inner "
            "dimensions must be uniform."
        )
    return tensor


def _is_text(dtype: Any) -> bool:
    return dtype is not None and dtype.name == "string"


def _inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """The shape of the values below the ragged dimensions, by the first of them."""
    level: Any = list(pylist)
    for _ in range(ragged_rank):
        if not all(_is_list(item) for item in level):
            raise ValueError(
                f"pylist has scalar values at a depth that ragged_rank={ragged_rank} does not "
                "leave room for: it requires deeper lists."
            )
        level = [entry for item in level for entry in item]
    shape: list[int] = []
    while level and all(_is_list(item) for item in level):
        sizes = {len(item) for item in level}
        if len(sizes) > 1:
            raise ValueError("inner values have inconsistent shape")
        shape.append(sizes.pop())
        level = [entry for item in level for entry in item]
    return tuple(shape)
