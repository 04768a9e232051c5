"""`tf.sets`: sets along the last axis, worked out on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.core.row_partition import HostArray, known_array
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.sparse_rearranging import invalid
from tapejax._src.ops.sparse_tensor import SparseTensor, host_indices, of_parts, sizes_of

_ALLOWED = frozenset(
    [
        dtypes.int8,
        dtypes.int16,
        dtypes.int32,
        dtypes.int64,
        dtypes.uint8,
        dtypes.uint16,
        dtypes.string,
    ]
)
_Sets = dict[tuple[int, ...], set[Any]]


def _argument(value: Any, name: str) -> Any:
    found = value if isinstance(value, SparseTensor) else as_tensor(value)
    if found.dtype not in _ALLOWED:
        raise TypeError(
            f"{name!r} has invalid dtype `{found.dtype}` not in supported dtypes: `{_ALLOWED}`."
        )
    return found


def _values(tensor: Tensor) -> HostArray:
    found = known_array(tensor)
    if found is None:
        raise NotCompilableError(
            "tf.sets functions look at values to know the sizes of the sets, but they are not "
            "known inside the tf.function or transformation being traced. Call them outside."
        )
    return found


def _read(value: Any, check_order: bool) -> tuple[tuple[int, ...], _Sets]:
    """The shape of the batch of sets, and the sets that are not empty."""
    sets: _Sets = {}
    if isinstance(value, SparseTensor):
        shape = sizes_of(value)
        places = host_indices(value, "A tf.sets function")
        if check_order and len(places) > 1 and (places[np.lexsort(places.T[::-1])] != places).any():
            raise invalid("indices are out of order. Use tf.sparse.reorder first.")
        for place, item in zip(places.tolist(), _values(value.values).tolist(), strict=True):
            sets.setdefault(tuple(place[:-1]), set()).add(item)
    else:
        array = _values(value)
        shape = array.shape
        if array.ndim >= 2:
            for place in np.ndindex(shape[:-1]):
                sets[place] = set(array[place].tolist())
    if len(shape) < 2:
        raise invalid(f"Shape {list(shape)} has rank {len(shape)} < 2")
    return tuple(shape[:-1]), sets


def _combined(a: Any, b: Any, fn: Callable[[set[Any], set[Any]], set[Any]], validate: bool) -> Any:
    a, b = _argument(a, "a"), _argument(b, "b")
    if a.dtype != b.dtype:
        raise TypeError(f"Types don't match, {a.dtype} vs {b.dtype}.")
    if isinstance(b, SparseTensor) and not isinstance(a, SparseTensor):
        fn_of_b = fn
        return _answer(b, a, lambda x, y: fn_of_b(y, x), validate)
    return _answer(a, b, fn, validate)


def _answer(a: Any, b: Any, fn: Callable[[set[Any], set[Any]], set[Any]], validate: bool) -> Any:
    shape, mine = _read(a, validate)
    other, theirs = _read(b, validate)
    if shape != other:
        raise invalid(f"Mismatched shapes {list(shape)} vs {list(other)}")
    places: list[tuple[int, ...]] = []
    items: list[Any] = []
    largest = 0
    for place in sorted(set(mine) | set(theirs)):
        found = sorted(fn(mine.get(place, set()), theirs.get(place, set())))
        places += [(*place, n) for n in range(len(found))]
        items += found
        largest = max(largest, len(found))
    values = constant_tensor(np.array(items, a.dtype.as_numpy_dtype))
    indices = np.array(places, np.int64).reshape(len(places), len(shape) + 1)
    return of_parts(indices, values, (*shape, largest))


@public("sets.intersection")
def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The intersections of pairs of sets.

    Args:
        a: Tensor or `tf.SparseTensor` of integers or strings; its last axis holds the sets.
        b: Another of the same dtype; all axes but the last agree.
        validate_indices: Whether to check the order of sparse places.

    Returns:
        A `tf.SparseTensor`, each set in ascending order.

    Raises:
        TypeError: If the dtypes differ or are not supported.
        InvalidArgumentError: If the shapes differ.

    Example:
        >>> import tapejax as tf
        >>> tf.sets.intersection([[1, 2, 3]], [[2, 3, 4]]).values.numpy().tolist()
        [2, 3]
    """
    return _combined(a, b, set.__and__, validate_indices)


@public("sets.union")
def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """The unions of pairs of sets.

    Args:
        a: Tensor or `tf.SparseTensor` of integers or strings; its last axis holds the sets.
        b: Another of the same dtype; all axes but the last agree.
        validate_indices: Whether to check the order of sparse places.

    Returns:
        A `tf.SparseTensor`, each set in ascending order.

    Raises:
        TypeError: If the dtypes differ or are not supported.
        InvalidArgumentError: If the shapes differ.

    Example:
        >>> import tapejax as tf
        >>> tf.sets.union([[1, 2]], [[2, 5]]).values.numpy().tolist()
        [1, 2, 5]
    """
    return _combined(a, b, set.__or__, validate_indices)


@public("sets.difference")
def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """The differences of pairs of sets.

    Args:
        a: Tensor or `tf.SparseTensor` of integers or strings; its last axis holds the sets.
        b: Another of the same dtype; all axes but the last agree.
        aminusb: Whether to take what `a` has and `b` has not; else the reverse.
        validate_indices: Whether to check the order of sparse places.

    Returns:
        A `tf.SparseTensor`, each set in ascending order.

    Raises:
        TypeError: If the dtypes differ or are not supported.
        InvalidArgumentError: If the shapes differ.

    Example:
        >>> import tapejax as tf
        >>> tf.sets.difference([[1, 2, 3]], [[2, 3, 4]]).values.numpy().tolist()
        [1]
    """
    fn: Any = set.__sub__ if aminusb else lambda x, y: y - x
    return _combined(a, b, fn, validate_indices)


@public("sets.size")
def size(a: Any, validate_indices: bool = True) -> Tensor:
    """How many different elements each set has.

    Args:
        a: A `tf.SparseTensor` of integers or strings; its last axis holds the sets.
        validate_indices: Whether to check the order of the places.

    Returns:
        int32 tensor of all axes but the last.

    Raises:
        TypeError: If `a` is not sparse.

    Example:
        >>> import tapejax as tf
        >>> tf.sets.size(tf.sparse.from_dense([[1, 2, 2], [3, 0, 0]])).numpy().tolist()
        [2, 1]
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {as_tensor(a)}.")
    shape, sets = _read(_argument(a, "a"), validate_indices)
    counts = np.zeros(shape, np.int32)
    for place, items in sets.items():
        counts[place] = len(items)
    return constant_tensor(counts)
