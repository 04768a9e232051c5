"""`tf.experimental.numpy`: sums, extremes, averages, orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops import (
    arithmetic,
    powers,
    reduction,
    rounding,
    selecting,
)
from tapejax._src.ops.numpy_shape import reshape
from tapejax._src.ops.numpy_types import (
    array_of,
    common,
    dtype_of,
    floating,
    known,
    to,
)


def wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of a sum: small integers and booleans have 64 bits."""
    if dtype.kind == "b":
        return np.dtype(np.int64)
    if dtype.kind in "iu" and dtype.itemsize < 8:
        return np.dtype(np.int64 if dtype.kind == "i" else np.uint64)
    return dtype


def _axes(axis: Any) -> Any:
    return axis.numpy().tolist() if isinstance(axis, Tensor) else axis


def summand(a: Any, dtype: Any) -> Any:
    """What sums and products are taken of: in the dtype given, or in one that is wide enough."""
    x = array_of(a)
    return to(x, wide(dtype_of(x)) if dtype is None else known(dtype))


def _averaged(a: Any, dtype: Any) -> Any:
    """What means are taken of: in the dtype given, or in floats."""
    return floating(a) if dtype is None else to(array_of(a), known(dtype))


def _total(reduce: Callable[..., Any], a: Any, axis: Any, dtype: Any, keepdims: Any) -> Any:
    return reduce(summand(a, dtype), axis=_axes(axis), keepdims=bool(keepdims))


def _extreme(of_bools: Any, reduce: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    x = array_of(a)
    chosen = of_bools if x.dtype.is_bool else reduce
    return chosen(x, axis=_axes(axis), keepdims=bool(keepdims))


def _no_out(name: str, out: Any) -> None:
    if out is not None:
        raise ValueError(f"Setting out is not supported in tf.experimental.numpy.{name}.")


@public("experimental.numpy.sum")
def sum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Any:
    """Sums along axes.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        dtype: The dtype to compute in. Default: that of `a`; of small integers and
            booleans int64.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The sums.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.sum([[1, 2], [3, 4]], 0).numpy().tolist()
        [4, 6]
    """
    return _total(reduction.reduce_sum, a, axis, dtype, keepdims)


@public("experimental.numpy.prod")
def prod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Any:
    """Products along axes.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        dtype: The dtype to compute in. Default: that of `a`; of small integers and
            booleans int64.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The products.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.prod([[1, 2], [3, 4]], 0).numpy().tolist()
        [3, 8]
    """
    return _total(reduction.reduce_prod, a, axis, dtype, keepdims)


@public("experimental.numpy.max")
def max(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """The greatest elements along axes.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The elements.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.max([[1, 2], [3, 4]], 0).numpy().tolist()
        [3, 4]
    """
    return _extreme(reduction.reduce_any, reduction.reduce_max, a, axis, keepdims)


@public("experimental.numpy.amax")
def amax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Any:
    """The greatest elements along axes.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        out: Must be None.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The elements.

    Example:
        >>> import tapejax as tf
        >>> int(amax([1, 2]))
        2
    """
    _no_out("amax", out)
    return max(a, axis, keepdims)


@public("experimental.numpy.min")
def min(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """The least elements along axes.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The elements.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.min([[1, 2], [3, 4]], 0).numpy().tolist()
        [1, 2]
    """
    return _extreme(reduction.reduce_all, reduction.reduce_min, a, axis, keepdims)


@public("experimental.numpy.amin")
def amin(a: Any, axis: Any = None, out: Any = None, keepdims: Any = None) -> Any:
    """The least elements along axes.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        out: Must be None.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The elements.

    Example:
        >>> import tapejax as tf
        >>> int(amin([1, 2]))
        1
    """
    _no_out("amin", out)
    return min(a, axis, keepdims)


@public("experimental.numpy.all")
def all(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """Whether all elements are true along axes; what is not zero is true.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        Booleans.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.all([[0, 2], [3, 4]], 0).numpy().tolist()
        [False, True]
    """
    return reduction.reduce_all(to(array_of(a), bool), axis=_axes(axis), keepdims=bool(keepdims))


@public("experimental.numpy.any")
def any(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """Whether any element is true along axes; what is not zero is true.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        Booleans.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.any([[0, 2], [3, 4]], 0).numpy().tolist()
        [True, True]
    """
    return reduction.reduce_any(to(array_of(a), bool), axis=_axes(axis), keepdims=bool(keepdims))


@public("experimental.numpy.mean")
def mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None) -> Any:
    """Means along axes.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        dtype: The dtype to compute in. Default: that of `a`; of integers and booleans
            float64.
        out: Must be None.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The means.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.mean([[1, 2], [3, 4]], 0).numpy().tolist()
        [2.0, 3.0]
    """
    _no_out("mean", out)
    x = _averaged(a, dtype)
    return reduction.reduce_mean(x, axis=_axes(axis), keepdims=bool(keepdims))


@public("experimental.numpy.var")
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: Any = None,
) -> Any:
    """Variances along axes.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        dtype: The dtype of the result. Default: that of `a`; of integers and booleans
            float64.
        out: Must be None.
        ddof: What is taken from the number of elements that is divided by.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The variances, real.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.var([1, 2, 3, 4]).numpy().item()
        1.25
    """
    _no_out("var", out)
    x = _averaged(a, dtype)
    gap = x - reduction.reduce_mean(x, axis=_axes(axis), keepdims=True)
    if x.dtype.is_complex:
        gap = arithmetic.abs(gap)
    total = reduction.reduce_sum(powers.square(gap), axis=_axes(axis), keepdims=bool(keepdims))
    kept = int(np.prod(total.aval.shape, dtype=np.int64))
    size = int(np.prod(x.aval.shape, dtype=np.int64))
    count = size / kept - ddof if kept else 0.0
    return total / count


@public("experimental.numpy.std")
def std(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """Standard deviations along axes.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The standard deviations, real.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.std([1, 3]).numpy().item()
        1.0
    """
    return powers.sqrt(var(a, axis, keepdims=keepdims))


@public("experimental.numpy.ptp")
def ptp(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """The greatest element less the least along axes.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The ranges.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.ptp([4, 9]).numpy().item()
        5
    """
    return max(a, axis, keepdims) - min(a, axis, keepdims)


@public("experimental.numpy.count_nonzero")
def count_nonzero(a: Any, axis: Any = None) -> Any:
    """How many elements are not zero.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.

    Returns:
        int64.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.count_nonzero([0, 3, 4]).numpy().item()
        2
    """
    return reduction.reduce_sum(to(to(array_of(a), bool), np.int64), axis=_axes(axis))


def _no_nan(a: Any, other: float) -> Any:
    x = array_of(a)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return x
    return selecting.where(rounding.is_nan(x), to(other, dtype_of(x)), x)


@public("experimental.numpy.nansum")
def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    """Sums along axes, NaN counted as 0.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        dtype: The dtype to compute in. Default: that of `a`; of small integers and
            booleans int64.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The sums.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.nansum([1.0, float('nan')]).numpy().item()
        1.0
    """
    return sum(_no_nan(a, 0), axis, dtype, keepdims)


@public("experimental.numpy.nanprod")
def nanprod(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
    """Products along axes, NaN counted as 1.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        dtype: The dtype to compute in. Default: that of `a`; of small integers and
            booleans int64.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The products.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.nanprod([2.0, float('nan')]).numpy().item()
        2.0
    """
    return prod(_no_nan(a, 1), axis, dtype, keepdims)


@public("experimental.numpy.nanmean")
def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = None) -> Any:
    """Means along axes of what is not NaN.

    Args:
        a: Tensor, array or nested list.
        axis: The axes. Default: all.
        dtype: The dtype to compute in.
        keepdims: Whether reduced axes stay, of size 1.

    Returns:
        The means.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.nanmean([1.0, float('nan')]).numpy().item()
        1.0
    """
    x = _averaged(a, dtype)
    counted = to(~rounding.is_nan(x), dtype_of(x))
    return nansum(x, axis, None, keepdims) / sum(counted, axis, None, keepdims)


@public("experimental.numpy.average")
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False) -> Any:
    """Weighted means along an axis.

    Args:
        a: Tensor, array or nested list.
        axis: The axis. Default: all elements.
        weights: Of the shape of `a`, or of the size of the axis. Default: equal ones.
        returned: Whether the sums of the weights are returned too.

    Returns:
        The means, and the sums of the weights if asked for.

    Raises:
        ValueError: If `axis` is not one integer.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.average([1, 2], weights=[3, 1]).numpy().item()
        1.25
    """
    if axis is not None and not isinstance(axis, int):
        raise ValueError("Only integer axis is supported.")
    dtype = common(a) if weights is None else common(a, weights)
    x = floating(to(array_of(a), dtype))
    if weights is None:
        means = mean(x, axis)
        count = np.prod(x.aval.shape) / np.prod(means.aval.shape)
        sums = to(count, dtype_of(x)) + 0 * means
    else:
        w = to(array_of(weights), dtype_of(x))
        if w.shape != x.shape and axis is not None:
            shape = [1] * len(x.shape)
            shape[axis] = -1
            w = reshape(w, shape)
        w = w + 0 * x
        sums = sum(w, axis)
        means = sum(x * w, axis) / sums
    return (means, sums) if returned else means
