"""`tf.experimental.numpy`: running sums, and the order of elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.engine.registry import public
from tapejax._src.ops import cumulative, selection, sorting
from tapejax._src.ops.numpy_compute import compute
from tapejax._src.ops.numpy_reductions import summand
from tapejax._src.ops.numpy_shape import reshape
from tapejax._src.ops.numpy_types import array_of, to


def _along(x: Any, axis: Any) -> tuple[Any, int]:
    """An array and its axis; None is that of its elements in one row."""
    return (reshape(x, -1), 0) if axis is None else (x, int(axis))


def _ordered(a: Any) -> Any:
    """An array that has an axis, and whose elements can be compared."""
    x = compute("atleast_1d", [array_of(a)])
    return to(x, np.int8) if x.dtype.is_bool else x


@public("experimental.numpy.cumsum")
def cumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Running sums along an axis.

    Args:
        a: Tensor, array or nested list.
        axis: The axis. Default: of the elements in one row.
        dtype: The dtype to compute in. Default: that of `a`; of small integers and
            booleans int64.

    Returns:
        The sums.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.cumsum([1, 2, 3]).numpy().tolist()
        [1, 3, 6]
    """
    return cumulative.cumsum(*_along(summand(a, dtype), axis))


@public("experimental.numpy.cumprod")
def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """Running products along an axis.

    Args:
        a: Tensor, array or nested list.
        axis: The axis. Default: of the elements in one row.
        dtype: The dtype to compute in. Default: that of `a`; of small integers and
            booleans int64.

    Returns:
        The products.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.cumprod([1, 2, 3]).numpy().tolist()
        [1, 2, 6]
    """
    return cumulative.cumprod(*_along(summand(a, dtype), axis))


@public("experimental.numpy.argmax")
def argmax(a: Any, axis: Any = None) -> Any:
    """The index of the greatest element along an axis; of equal ones the first.

    Args:
        a: Tensor, array or nested list.
        axis: The axis. Default: of the elements in one row.

    Returns:
        int64.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.argmax([3, 1, 2]).numpy().item()
        0
    """
    return selection.argmax(*_along(_ordered(a), axis))


@public("experimental.numpy.argmin")
def argmin(a: Any, axis: Any = None) -> Any:
    """The index of the least element along an axis; of equal ones the first.

    Args:
        a: Tensor, array or nested list.
        axis: The axis. Default: of the elements in one row.

    Returns:
        int64.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.argmin([3, 1, 2]).numpy().item()
        1
    """
    return selection.argmin(*_along(_ordered(a), axis))


def _check_sort(name: str, kind: str, order: Any) -> None:
    if kind not in ("quicksort", "stable"):
        raise ValueError(
            f"Invalid value for argument `kind`. Only 'quicksort' and 'stable' are supported by "
            f"{name}. Received: kind={kind}"
        )
    if order is not None:
        raise ValueError(f"The 'order' argument to {name} is not supported.")


@public("experimental.numpy.sort")
def sort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
    """The elements in rising order along an axis.

    Args:
        a: Tensor, array or nested list.
        axis: The axis; None: of the elements in one row.
        kind: `'quicksort'` or `'stable'`, which are the same here.
        order: Must be None.

    Returns:
        A tensor.

    Raises:
        ValueError: If `kind` or `order` is another one.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.sort([3, 1, 2]).numpy().tolist()
        [1, 2, 3]
    """
    _check_sort("sort", kind, order)
    return sorting.sort(*_along(array_of(a), axis))


@public("experimental.numpy.argsort")
def argsort(a: Any, axis: Any = -1, kind: str = "quicksort", order: Any = None) -> Any:
    """The indices that would sort the elements along an axis.

    Args:
        a: Tensor, array or nested list.
        axis: The axis; None: of the elements in one row.
        kind: `'quicksort'` or `'stable'`, which are the same here.
        order: Must be None.

    Returns:
        int64.

    Raises:
        ValueError: If `kind` or `order` is another one.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.argsort([3, 1, 2]).numpy().tolist()
        [1, 2, 0]
    """
    _check_sort("argsort", kind, order)
    return to(sorting.argsort(*_along(array_of(a), axis), stable=True), np.int64)
