"""`tf.experimental.numpy.random`: random numbers by the generator that `seed` sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.engine.registry import public
from tapejax._src.ops import random_seed, random_stateful
from tapejax._src.ops.numpy_types import array_of, default_float, known, to
from tapejax._src.ops.random_counts import poisson as poisson_numbers


def _sizes(size: Any) -> tuple[int, ...]:
    return () if size is None else tuple(np.asarray(size, np.int64).reshape(-1).tolist())


@public("experimental.numpy.random.seed")
def seed(s: int) -> None:
    """Set the seed: `tf.random.set_seed`.

    Args:
        s: The seed.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.random.seed(3)
    """
    random_seed.set_seed(int(s))


@public("experimental.numpy.random.uniform")
def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """Uniform random numbers.

    Args:
        low: The least.
        high: The end, which is left out.
        size: The shape. Default: that of the bounds.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.random.uniform(1.0, 2.0, [3]).shape
        TensorShape([3])
    """
    first, last = (to(array_of(v), default_float()) for v in (low, high))
    shape = np.broadcast_shapes(first.aval.shape, last.aval.shape) if size is None else _sizes(size)
    unit = random_stateful.uniform(shape, dtype=first.dtype)
    return unit * (last - first) + first


@public("experimental.numpy.random.random")
def random(size: Any = None) -> Any:
    """Uniform random numbers between 0 and 1.

    Args:
        size: The shape. Default: one number.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.random.random([3]).shape
        TensorShape([3])
    """
    return uniform(0.0, 1.0, _sizes(size))


@public("experimental.numpy.random.rand")
def rand(*size: int) -> Any:
    """Uniform random numbers between 0 and 1.

    Args:
        *size: The shape.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.random.rand(2, 3).shape
        TensorShape([2, 3])
    """
    return uniform(0.0, 1.0, size)


@public("experimental.numpy.random.standard_normal")
def standard_normal(size: Any = None) -> Any:
    """Normally distributed random numbers.

    Args:
        size: The shape. Default: one number.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.random.standard_normal([3]).shape
        TensorShape([3])
    """
    kind = to(0, default_float()).dtype
    return random_stateful.normal(_sizes(size), dtype=kind)


@public("experimental.numpy.random.randn")
def randn(*args: int) -> Any:
    """Normally distributed random numbers.

    Args:
        *args: The shape.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.random.randn(2, 3).shape
        TensorShape([2, 3])
    """
    return standard_normal(args)


@public("experimental.numpy.random.poisson")
def poisson(lam: Any = 1.0, size: Any = None) -> Any:
    """Poisson distributed random numbers, int64.

    Args:
        lam: The mean, of any shape.
        size: The shape. Default: that of `lam`.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.random.poisson(2.0, [3]).shape
        TensorShape([3])
    """
    rate = to(array_of(lam), default_float())
    shape = _sizes(size) if size is not None else ()
    if size is not None and len(rate.shape):
        lead = shape[: len(shape) - len(rate.shape)]
        if np.broadcast_shapes(shape, rate.aval.shape) != shape:
            raise ValueError(f"size {list(shape)} does not fit the shape {rate.shape} of lam.")
        rate = rate + np.zeros(shape[len(lead) :])
        shape = lead
    return to(poisson_numbers(shape, rate, dtype=rate.dtype), np.int64)


@public("experimental.numpy.random.randint")
def randint(low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64) -> Any:
    """Random integers.

    Args:
        low: The least; if `high` is not given, the end, and the least is 0.
        high: The end, which is left out.
        size: The shape. Default: one number.
        dtype: int32 or int64.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.random.randint(2, 5, [3]).shape
        TensorShape([3])
    """
    first, last = (0, low) if high is None else (low, high)
    kind = known(dtype)
    if kind.name not in ("int32", "int64"):
        raise ValueError(f"Only np.int32 and np.int64 are supported by randint. Received: {kind}.")
    bounds = [to(array_of(v), kind) for v in (first, last)]
    return random_stateful.uniform(_sizes(size), *bounds, dtype=bounds[0].dtype)
