"""`tf.experimental.numpy`: new arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import constant_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops import powers
from tapejax._src.ops.numpy_compute import compute
from tapejax._src.ops.numpy_types import (
    PREFERENCE,
    array_of,
    common,
    default_float,
    dtype_of,
    known,
    to,
)


def _sizes(shape: Any) -> tuple[int, ...]:
    found = np.asarray(shape.numpy() if isinstance(shape, Tensor) else shape, np.int64)
    return tuple(found.reshape(-1).tolist())


def _constant(array: np.ndarray[Any, Any], dtype: Any) -> Tensor:
    return constant_tensor(array.astype(known(dtype)))


def _like(a: Any, value: int, dtype: Any) -> Tensor:
    """One number in the shape of another array."""
    x = array_of(a)
    return _constant(np.full(x.aval.shape, value), dtype_of(x) if dtype is None else dtype)


@public("experimental.numpy.zeros")
def zeros(shape: Any, dtype: Any = float) -> Any:
    """Zeros.

    Args:
        shape: An integer or a list of them.
        dtype: The dtype.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.zeros(2).numpy().tolist()
        [0.0, 0.0]
    """
    return _constant(np.full(_sizes(shape), 0), dtype)


@public("experimental.numpy.ones")
def ones(shape: Any, dtype: Any = float) -> Any:
    """Ones.

    Args:
        shape: An integer or a list of them.
        dtype: The dtype.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.ones(2).numpy().tolist()
        [1.0, 1.0]
    """
    return _constant(np.full(_sizes(shape), 1), dtype)


@public("experimental.numpy.empty")
def empty(shape: Any, dtype: Any = float) -> Any:
    """Zeros, for there is no memory without values.

    Args:
        shape: An integer or a list of them.
        dtype: The dtype.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.empty(2).numpy().tolist()
        [0.0, 0.0]
    """
    return _constant(np.full(_sizes(shape), 0), dtype)


@public("experimental.numpy.zeros_like")
def zeros_like(a: Any, dtype: Any = None) -> Any:
    """Zeros of the shape of another array.

    Args:
        a: Tensor, array or nested list.
        dtype: The dtype. Default: that of `a`.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.zeros_like([3, 4]).numpy().tolist()
        [0, 0]
    """
    return _like(a, 0, dtype)


@public("experimental.numpy.ones_like")
def ones_like(a: Any, dtype: Any = None) -> Any:
    """Ones of the shape of another array.

    Args:
        a: Tensor, array or nested list.
        dtype: The dtype. Default: that of `a`.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.ones_like([3, 4]).numpy().tolist()
        [1, 1]
    """
    return _like(a, 1, dtype)


@public("experimental.numpy.empty_like")
def empty_like(a: Any, dtype: Any = None) -> Any:
    """Zeros of the shape of another array.

    Args:
        a: Tensor, array or nested list.
        dtype: The dtype. Default: that of `a`.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.empty_like([3, 4]).numpy().tolist()
        [0, 0]
    """
    return _like(a, 0, dtype)


@public("experimental.numpy.full")
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """One value everywhere.

    Args:
        shape: An integer or a list of them.
        fill_value: The value, broadcast to the shape.
        dtype: The dtype. Default: that of the value.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.full(2, 7).numpy().tolist()
        [7, 7]
    """
    value = array_of(fill_value, None if dtype is None else known(dtype))
    return compute("broadcast_to", [value], shape=_sizes(shape))


@public("experimental.numpy.full_like")
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Any:
    """One value in the shape of another array.

    Args:
        a: Tensor, array or nested list.
        fill_value: The value.
        dtype: The dtype. Default: that of `a`.
        order: Must be `'K'`.
        subok: Must be True.
        shape: Another shape.

    Returns:
        A tensor.

    Raises:
        ValueError: If `order` or `subok` is another one.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.full_like([1, 2], 7).numpy().tolist()
        [7, 7]
    """
    if order != "K" or not subok:
        raise ValueError(
            f"Only order='K' and subok=True are supported. Received: {order!r}, {subok}."
        )
    x = array_of(a)
    kind = dtype_of(x) if dtype is None else known(dtype)
    value = to(array_of(fill_value), kind)
    return compute("broadcast_to", [value], shape=x.aval.shape if shape is None else _sizes(shape))


@public("experimental.numpy.eye")
def eye(N: int, M: Any = None, k: int = 0, dtype: Any = float) -> Any:
    """Ones on a diagonal, zeros elsewhere.

    Args:
        N: The number of rows.
        M: The number of columns. Default: as many.
        k: Which diagonal: 0 is the main one, greater ones lie above it.
        dtype: The dtype.

    Returns:
        A tensor `[N, M]`.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.eye(2).numpy().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return _constant(np.eye(int(N), None if M is None else int(M), int(k)), dtype)


@public("experimental.numpy.identity")
def identity(n: int, dtype: Any = float) -> Any:
    """The identity matrix.

    Args:
        n: The number of rows.
        dtype: The dtype.

    Returns:
        A tensor `[n, n]`.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.identity(2).numpy().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    return eye(n, dtype=dtype)


@public("experimental.numpy.tri")
def tri(N: int, M: Any = None, k: int = 0, dtype: Any = None) -> Any:
    """Ones on and below a diagonal.

    Args:
        N: The number of rows.
        M: The number of columns. Default: as many.
        k: Which diagonal: 0 is the main one, greater ones lie above it.
        dtype: The dtype. Default: that of Python floats.

    Returns:
        A tensor `[N, M]`.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.tri(2).numpy().tolist()
        [[1.0, 0.0], [1.0, 1.0]]
    """
    kind = default_float() if dtype is None else dtype
    return _constant(np.tri(int(N), None if M is None else max(int(M), 0), int(k)), kind)


@public("experimental.numpy.arange")
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Numbers at equal distances.

    Args:
        start: The first number; if it is the only argument, the end, and the first
            number is 0.
        stop: The end, which is left out.
        step: The distance.
        dtype: The dtype. Default: that of the arguments.

    Returns:
        A tensor of rank 1.

    Raises:
        ValueError: If `step` is 0.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.arange(1, 7, 2).numpy().tolist()
        [1, 3, 5]
    """
    values = [v.numpy() if isinstance(v, Tensor) else v for v in (start, stop, step)]
    first, last, by = values
    if by == 0:
        raise ValueError("step must be non-zero")
    given = [v for v in values if v is not None]
    kind = common(*given) if dtype is None else known(dtype)
    if last is None:
        first, last = 0, first
    return _constant(np.arange(first, last, by), kind)


@public("experimental.numpy.linspace")
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = float,
    axis: int = 0,
) -> Any:
    """A number of numbers at equal distances.

    Args:
        start: The first, of any shape.
        stop: The end, of any shape.
        num: How many.
        endpoint: Whether the end is the last of them.
        retstep: Whether the distance is returned too.
        dtype: The dtype.
        axis: Where the new axis is.

    Returns:
        The numbers, and the distance if asked for.

    Raises:
        ValueError: If `num` is negative.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.linspace(0, 1, 3).numpy().tolist()
        [0.0, 0.5, 1.0]
    """
    kind = known(dtype) if dtype is not None else default_float()
    if dtype is float and PREFERENCE.float32:
        kind = np.dtype(np.float32)
    real = kind if kind.kind in "fc" else default_float()
    if int(num) < 0:
        raise ValueError(f"Number of samples {num} must be non-negative.")
    first, last = (to(array_of(v), real) for v in (start, stop))
    static: dict[str, Any] = {"num": int(num), "endpoint": bool(endpoint), "axis": int(axis)}
    made = to(compute("linspace", [first, last], **static), kind)
    steps = max(int(num) - 1 if endpoint else int(num), 0)
    return (made, (last - first) / steps if steps else last * np.nan) if retstep else made


@public("experimental.numpy.logspace")
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Powers of a base whose exponents are at equal distances.

    Args:
        start: The first exponent.
        stop: The end of the exponents.
        num: How many.
        endpoint: Whether the end is the last of them.
        base: The base.
        dtype: The dtype.
        axis: Where the new axis is.

    Returns:
        The powers.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.logspace(0, 2, 3).numpy().tolist()
        [1.0, 10.0, 100.0]
    """
    kind = default_float() if dtype is None else known(dtype)
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    return to(powers.pow(to(array_of(base), dtype_of(exponents)), exponents), kind)


@public("experimental.numpy.geomspace")
def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    """Numbers of equal ratios.

    Args:
        start: The first; not zero.
        stop: The end; of the sign of `start`.
        num: How many.
        endpoint: Whether the end is the last of them.
        dtype: The dtype.
        axis: Where the new axis is.

    Returns:
        The numbers.

    Example:
        >>> import tapejax as tf
        >>> [round(x, 6) for x in tf.experimental.numpy.geomspace(1, 8, 4).numpy().tolist()]
        [1.0, 2.0, 4.0, 8.0]
    """
    kind = default_float() if dtype is None else known(dtype)
    first, last = (to(array_of(v), default_float()) for v in (start, stop))
    static: dict[str, Any] = {"num": int(num), "endpoint": bool(endpoint), "axis": int(axis)}
    return to(compute("geomspace", [first, last], **static), kind)
