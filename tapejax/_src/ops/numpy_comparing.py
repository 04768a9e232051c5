"""`tf.experimental.numpy`: closeness, bounds, divisors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops import arithmetic, comparison, reduction, rounding
from tapejax._src.ops.numpy_compute import compute
from tapejax._src.ops.numpy_elementwise import floor_divide, maximum, minimum, mod, operands
from tapejax._src.ops.numpy_types import array_of, common, dtype_of, is_tensor, promoted


def _integers(name: str, apply: Callable[..., Any]) -> Callable[..., Any]:
    def checked(x1: Any, x2: Any) -> Any:
        found = dtype_of(next(x for x in (x1, x2) if isinstance(x, Tensor)))
        if found.kind not in "iu":
            raise ValueError(f"Arguments to {name} must be integers. Received: {found.name}.")
        return apply(array_of(x1, found), array_of(x2, found))

    return checked


def _jnp_gcd(x: Any, y: Any) -> Any:
    return compute("gcd", [x, y], gradient="none")


def _jnp_lcm(x: Any, y: Any) -> Any:
    return compute("lcm", [x, y], gradient="none")


@public("experimental.numpy.divmod")
def divmod(x1: Any, x2: Any) -> tuple[Any, Any]:
    """Quotient, rounded down, and remainder.

    Example:
        >>> import tapejax as tf
        >>> [int(x) for x in tf.experimental.numpy.divmod(-7, 2)]
        [-4, 1]
    """
    return floor_divide(x1, x2), mod(x1, x2)


@public("experimental.numpy.isclose")
def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Whether `|a - b| <= atol + rtol |b|`, for each pair of elements.

    Args:
        a: Numbers.
        b: Numbers.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
        equal_nan: Whether two NaN are close.

    Returns:
        Booleans of the broadcast shape.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.experimental.numpy.isclose(1.0, 1.0 + 1e-9))
        True
    """
    x, y = promoted(a, b)
    if dtype_of(x).kind not in "fcV":
        return comparison.equal(x, y)
    bound = arithmetic.abs(y) * rtol + atol
    near = comparison.less_equal(arithmetic.abs(x - y), bound)
    finite = comparison.logical_and(rounding.is_finite(x), rounding.is_finite(y))
    found = comparison.logical_or(comparison.logical_and(near, finite), comparison.equal(x, y))
    if equal_nan:
        both = comparison.logical_and(rounding.is_nan(x), rounding.is_nan(y))
        found = comparison.logical_or(found, both)
    return found


@public("experimental.numpy.allclose")
def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Whether all elements are close; see `isclose`.

    Args:
        a: Numbers.
        b: Numbers.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
        equal_nan: Whether two NaN are close.

    Returns:
        A boolean scalar.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.experimental.numpy.allclose([1, 2], [1, 2.1]))
        False
    """
    return reduction.reduce_all(isclose(a, b, rtol, atol, equal_nan))


@public("experimental.numpy.clip")
def clip(a: Any, a_min: Any, a_max: Any) -> Any:
    """Each element, moved into an interval.

    Args:
        a: Numbers.
        a_min: The least value, or None.
        a_max: The greatest value, or None.

    Returns:
        Numbers of the common dtype and the broadcast shape.

    Raises:
        ValueError: If both bounds are None.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.clip([1, 5, 9], 2, 6).numpy().tolist()
        [2, 5, 6]
    """
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    bounds = [bound for bound in (a_min, a_max) if bound is not None]
    x = array_of(a, common(a, *bounds))
    if a_min is not None:
        x = maximum(x, a_min)
    return x if a_max is None else minimum(x, a_max)


@public("experimental.numpy.isscalar")
def isscalar(num: Any) -> bool:
    """Whether a value is a number, a string, or a tensor of rank 0.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.isscalar(3), tf.experimental.numpy.isscalar([3])
        (True, False)
    """
    if is_tensor(num):
        return len(num.shape) == 0
    return bool(np.isscalar(num))


@public("experimental.numpy.gcd")
def gcd(x1: Any, x2: Any) -> Any:
    """The greatest common divisor of two integers.

    Raises:
        ValueError: If they are not integers.

    Example:
        >>> import tapejax as tf
        >>> int(tf.experimental.numpy.gcd(12, 18))
        6
    """
    return _integers("gcd", _jnp_gcd)(*operands(x1, x2))


@public("experimental.numpy.lcm")
def lcm(x1: Any, x2: Any) -> Any:
    """The least common multiple of two integers.

    Raises:
        ValueError: If they are not integers.

    Example:
        >>> import tapejax as tf
        >>> int(tf.experimental.numpy.lcm(4, 6))
        12
    """
    return _integers("lcm", _jnp_lcm)(*operands(x1, x2))


@public("experimental.numpy.array_equal")
def array_equal(a1: Any, a2: Any) -> Any:
    """Whether two arrays have the same shape and elements.

    Args:
        a1: Tensor, array or nested list.
        a2: Tensor, array or nested list.

    Returns:
        A boolean scalar.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.experimental.numpy.array_equal([1, 2], [1, 2]))
        True
    """
    x, y = promoted(a1, a2)
    if x.shape != y.shape:
        return array_of(False)
    return reduction.reduce_all(comparison.equal(x, y))
