"""Powers and roots: `tf.square`, `tf.pow`, `tf.sqrt`, `tf.math.rsqrt`."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, ValueCheck, op, public
from tapejax._src.ops import derivatives
from tapejax._src.ops.derivatives import same_shape, with_partials

_FLOATING = "bfloat16 half float double complex64 complex128"
_POWERS = "bfloat16 float half double int8 int16 int32 int64 complex64 complex128"
_NEGATIVE_POWER = "Integers to negative integer powers are not allowed"
_LARGEST_STATIC = 16
"""Largest exponent compiled into the program; larger ones stay numbers that may change freely."""


@op(
    "math.square",
    "square",
    node="Square",
    dtypes="bfloat16 half float double int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "complex64 complex128",
    cases=("f32[2,3]", "f64[3]", "i32[4]", "u8[4]", "c64[3]"),
)
def square(x: Same, name: str | None = None) -> Array:
    """`x * x` of each element."""
    return x * x


@op(
    "math.sqrt",
    "sqrt",
    node="Sqrt",
    dtypes=_FLOATING,
    cases=("f32[2,3] in (0, 4)", "f64[3] in (0, 4)", "c64[3]", "f16[3] in (0, 4)"),
)
def sqrt(x: Same, name: str | None = None) -> Array:
    """Square root of each element; a zero cotangent stays zero even where `x` is 0."""
    return derivatives.sqrt(x)


@op(
    "math.rsqrt",
    node="Rsqrt",
    dtypes=_FLOATING,
    cases=("f32[2,3] in (0, 4)", "f64[3] in (0, 4)", "c64[3]", "f16[3] in (0.5, 4)"),
)
def rsqrt(x: Same, name: str | None = None) -> Array:
    """`1 / sqrt(x)` of each element; a zero cotangent stays zero even where `x` is 0."""
    return derivatives.rsqrt(x)


def _log_of_base(x: Array) -> Array:
    """`log(x)` where d(x**y)/dy has a value, else 0 (a negative base, and 0)."""
    mask = x != 0 if jnp.iscomplexobj(x) else x > 0
    return jnp.where(mask, jnp.log(jnp.where(mask, x, jnp.ones_like(x))), jnp.zeros_like(x))


def _power_by_base(t: Array, out: Array, x: Array, y: Array) -> Array:
    return t * y * _power(x, y - 1)


def _power_by_exponent(t: Array, out: Array, x: Array, y: Array) -> Array:
    return t * out * _log_of_base(x)


@with_partials(_power_by_base, _power_by_exponent)
def _power(x: Array, y: Array) -> Array:
    return jnp.power(x, y)


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _integer_power(x: Array, n: int) -> Array:
    # lax.pow(x, 0) rather than a constant: whoever asks whether the result depends on x must see
    # it read here, since TensorFlow's derivatives of x**n end in zeros and not in None.
    if n == 0:
        return lax.pow(x, jnp.zeros_like(x))
    wide = jnp.float32 if x.dtype in (jnp.float16, jnp.bfloat16) else x.dtype
    return lax.integer_pow(x.astype(wide), n).astype(x.dtype)


@_integer_power.defjvp
def _integer_power_jvp(
    n: int, primals: tuple[Array], tangents: tuple[Array]
) -> tuple[Array, Array]:
    (x,), (t,) = primals, tangents
    return _integer_power(x, n), t * (n * _integer_power(x, n - 1 if n else 0))


@op(
    "_math.pow:integer",
    node="Pow",
    dtypes=_POWERS,
    cases=(
        "f32[2,3], 2",
        "f32[2,3], 3",
        "f64[3], -1",
        "f64[3], 1",
        "f16[3], 3",
        "c64[3], 2",
        "i32[4], 3",
        "f32[3], 0",
    ),
)
def _pow_static(x: Same, y: int, name: str | None = None) -> Array:
    """`x ** y` for an integer `y` known when the program is recorded."""
    if jnp.issubdtype(x.dtype, jnp.integer):
        if y < 0:
            msg = f"{_NEGATIVE_POWER}: {x.dtype} ** {y}. Cast the base to a float first."
            raise InvalidArgumentError(msg)
        return lax.integer_pow(x, y)
    # TensorFlow's derivative of x**0 is 0 * x**-1, which is NaN at 0.
    return _integer_power(x, y) if y else _power(x, jnp.zeros_like(x))


def _power_is_negative(x: Array, y: Array, name: str | None = None) -> tuple[Any]:
    integers = jnp.issubdtype(y.dtype, jnp.integer)
    return (jnp.any(y < 0) if integers else False,)


@op(
    "_math.pow",
    node="Pow",
    dtypes=_POWERS,
    broadcast=True,
    check=ValueCheck(_power_is_negative, lambda: _NEGATIVE_POWER),
    cases=(
        "f32[2,3] in (0, 3), f32[3]",
        "f64[3] in (0, 3), f64[]",
        "f32[] in (0, 3), f32[4]",
        "c64[3], c64[3]",
        "i32[4], i32[4] in (0, 4)",
    ),
)
def _pow(x: Same, y: Same, name: str | None = None) -> Array:
    """`x ** y` of each pair of elements."""
    x, y = same_shape(x, y)
    return jnp.power(x, y) if jnp.issubdtype(x.dtype, jnp.integer) else _power(x, y)


@public("math.pow", "pow")
def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """`x ** y` of each pair of elements, with broadcasting.

    The derivative with respect to `y` is 0 where `x <= 0`. A small integral `y` given as a Python
    number is part of the program, and derivatives of any order are exact at `x == 0`.

    Args:
        x: The bases `[...]`.
        y: The exponents `[...]`, of the dtype of `x`.
        name: Ignored.

    Returns:
        The powers, of the broadcast shape and the dtype of `x`.

    Raises:
        tf.errors.InvalidArgumentError: A negative power of an integer.

    Example:
        >>> import tapejax as tf
        >>> print(tf.pow(tf.constant([1.0, 2.0, 3.0]), 2).numpy())
        [1. 4. 9.]

    *Differs from TensorFlow*: for an integral Python exponent n the (n+1)-th derivative at
    `x == 0` is 0, not NaN.
    """
    n = _static_exponent(x, y)
    return _pow(x, y, name) if n is None else _pow_static(x, n, name)


def _static_exponent(x: Any, y: Any) -> int | None:
    """`y` as an integer to compile in, or None if it must stay a number of the program."""
    if type(y) is float and not (y.is_integer() and _takes_float(x)):
        return None
    if type(y) not in (int, float) or not -_LARGEST_STATIC <= y <= _LARGEST_STATIC:
        return None
    return int(y)


def _takes_float(x: Any) -> bool:
    """Whether a Python float can be converted to the dtype of `x`."""
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        return isinstance(x, float | complex)
    return jnp.issubdtype(getattr(dtype, "as_numpy_dtype", dtype), jnp.inexact)
