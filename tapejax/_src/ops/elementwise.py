"""Exponentials, logarithms, trigonometric, hyperbolic and error functions of `tf.math`."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import lax
from jax.scipy import special as jsp

from tapejax._src.engine.registry import Array, Same, op
from tapejax._src.ops.derivatives import same_shape, with_partials

_FLOATING = "bfloat16 half float double complex64 complex128"
_REAL = "bfloat16 half float double"
_REAL_NN = "half bfloat16 float double"


@op(
    "math.exp",
    "exp",
    node="Exp",
    dtypes=_FLOATING,
    cases=("f32[2,3]", "f64[3]", "c64[3]", "bf16[3]"),
)
def exp(x: Same, name: str | None = None) -> Array:
    """`e ** x` of each element."""
    return jnp.exp(x)


@with_partials(lambda t, out, x: t * jnp.exp(x))
def _expm1(x: Array) -> Array:
    return jnp.expm1(x)


@op("math.expm1", node="Expm1", dtypes=_FLOATING, cases=("f32[2,3]", "f64[3]", "c64[3]"))
def expm1(x: Same, name: str | None = None) -> Array:
    """`exp(x) - 1` of each element, accurate near zero."""
    return _expm1(x)


@op(
    "math.log",
    node="Log",
    dtypes=_FLOATING,
    cases=("f32[2,3] in (0, 4)", "f64[3] in (0, 4)", "c64[3]"),
)
def log(x: Same, name: str | None = None) -> Array:
    """Natural logarithm of each element."""
    return jnp.log(x)


@op(
    "math.log1p",
    node="Log1p",
    dtypes=_FLOATING,
    cases=("f32[2,3] in (0, 4)", "f64[3] in (-0.9, 4)", "c64[3]"),
)
def log1p(x: Same, name: str | None = None) -> Array:
    """`log(1 + x)` of each element, accurate near zero."""
    return jnp.log1p(x)


@op("math.sin", "sin", node="Sin", dtypes=_FLOATING, cases=("f32[2,3]", "f64[3]", "c64[3]"))
def sin(x: Same, name: str | None = None) -> Array:
    """Sine of each element, in radians."""
    return jnp.sin(x)


@op("math.cos", "cos", node="Cos", dtypes=_FLOATING, cases=("f32[2,3]", "f64[3]", "c64[3]"))
def cos(x: Same, name: str | None = None) -> Array:
    """Cosine of each element, in radians."""
    return jnp.cos(x)


@op(
    "math.tan",
    "tan",
    node="Tan",
    dtypes=_FLOATING,
    cases=("f32[2,3] in (-1, 1)", "f64[3]", "c64[3]"),
)
def tan(x: Same, name: str | None = None) -> Array:
    """Tangent of each element, in radians."""
    return jnp.tan(x)


@op(
    "math.asin",
    "asin",
    node="Asin",
    dtypes=_FLOATING,
    cases=("f32[2,3] in (-1, 1)", "f64[3] in (-1, 1)", "c64[3]"),
)
def asin(x: Same, name: str | None = None) -> Array:
    """Angle in radians, between -pi/2 and pi/2, whose sine is `x`."""
    return jnp.arcsin(x)


@op(
    "math.acos",
    "acos",
    node="Acos",
    dtypes=_FLOATING,
    cases=("f32[2,3] in (-1, 1)", "f64[3] in (-1, 1)", "c64[3]"),
)
def acos(x: Same, name: str | None = None) -> Array:
    """Angle in radians, between 0 and pi, whose cosine is `x`."""
    return jnp.arccos(x)


@op("math.atan", "atan", node="Atan", dtypes=_FLOATING, cases=("f32[2,3]", "f64[3]", "c64[3]"))
def atan(x: Same, name: str | None = None) -> Array:
    """Angle in radians, between -pi/2 and pi/2, whose tangent is `x`."""
    return jnp.arctan(x)


def _inverse_square(t: Array, y: Array, x: Array) -> Array:
    return t / (x * x + y * y)


@with_partials(
    lambda t, out, y, x: _inverse_square(t, y, x) * x,
    lambda t, out, y, x: _inverse_square(t, y, x) * -y,
)
def _atan2(y: Array, x: Array) -> Array:
    return jnp.arctan2(y, x)


@op(
    "math.atan2",
    "atan2",
    node="Atan2",
    dtypes=_REAL,
    broadcast=True,
    cases=("f32[2,3], f32[3]", "f64[3], f64[]"),
)
def atan2(y: Same, x: Same, name: str | None = None) -> Array:
    """Angle in radians, between -pi and pi, of the point `(x, y)`."""
    return _atan2(*same_shape(y, x))


@op("math.sinh", "sinh", node="Sinh", dtypes=_FLOATING, cases=("f32[2,3]", "f64[3]", "c64[3]"))
def sinh(x: Same, name: str | None = None) -> Array:
    """Hyperbolic sine of each element."""
    return jnp.sinh(x)


@op("math.cosh", "cosh", node="Cosh", dtypes=_FLOATING, cases=("f32[2,3]", "f64[3]", "c64[3]"))
def cosh(x: Same, name: str | None = None) -> Array:
    """Hyperbolic cosine of each element."""
    return jnp.cosh(x)


@op(
    "math.tanh",
    "tanh",
    "nn.tanh",
    node="Tanh",
    dtypes=_FLOATING,
    cases=("f32[2,3]", "f64[3]", "c64[3]", "bf16[3]"),
)
def tanh(x: Same, name: str | None = None) -> Array:
    """Hyperbolic tangent of each element."""
    return jnp.tanh(x)


@op("math.asinh", "asinh", node="Asinh", dtypes=_FLOATING, cases=("f32[2,3]", "f64[3]", "c64[3]"))
def asinh(x: Same, name: str | None = None) -> Array:
    """Inverse hyperbolic sine of each element."""
    return jnp.arcsinh(x)


@with_partials(lambda t, out, x: t / jnp.sinh(out))
def _acosh(x: Array) -> Array:
    return jnp.arccosh(x)


@op(
    "math.acosh",
    "acosh",
    node="Acosh",
    dtypes=_FLOATING,
    cases=("f32[2,3] in (1.1, 4)", "f64[3] in (1.1, 4)", "c64[3]"),
)
def acosh(x: Same, name: str | None = None) -> Array:
    """Inverse hyperbolic cosine of each element, NaN below 1."""
    return _acosh(x)


@op(
    "math.atanh",
    "atanh",
    node="Atanh",
    dtypes=_FLOATING,
    cases=("f32[2,3] in (-0.9, 0.9)", "f64[3] in (-0.9, 0.9)", "c64[3]"),
)
def atanh(x: Same, name: str | None = None) -> Array:
    """Inverse hyperbolic tangent of each element."""
    return jnp.arctanh(x)


@with_partials(lambda t, out, x: t * (out * (1 - out)))
def _sigmoid(x: Array) -> Array:
    return lax.logistic(x)


@op(
    "math.sigmoid",
    "sigmoid",
    "nn.sigmoid",
    node="Sigmoid",
    dtypes=_FLOATING,
    cases=("f32[2,3]", "f64[3]", "c64[3]", "bf16[3]"),
)
def sigmoid(x: Same, name: str | None = None) -> Array:
    """`1 / (1 + exp(-x))` of each element."""
    return _sigmoid(x)


@with_partials(lambda t, out, x: t * _sigmoid(x))
def _softplus(x: Array) -> Array:
    return jnp.logaddexp(x, jnp.zeros_like(x))


@op("math.softplus", "nn.softplus", node="Softplus", dtypes=_REAL_NN, cases=("f32[2,3]", "f64[3]"))
def softplus(features: Same, name: str | None = None) -> Array:
    """`log(1 + exp(features))` of each element, without overflow."""
    return _softplus(features)


@op("math.log_sigmoid", node="Softplus", dtypes=_REAL_NN, cases=("f32[2,3]", "f64[3]"))
def log_sigmoid(x: Same, name: str | None = None) -> Array:
    """`log(sigmoid(x))` of each element, without underflow."""
    return -_softplus(-x)


@with_partials(lambda t, out, x: t / jnp.square(1 + jnp.abs(x)))
def _softsign(x: Array) -> Array:
    return x / (1 + jnp.abs(x))


@op("math.softsign", "nn.softsign", node="Softsign", dtypes=_REAL_NN, cases=("f32[2,3]", "f64[3]"))
def softsign(features: Same, name: str | None = None) -> Array:
    """`features / (1 + |features|)` of each element."""
    return _softsign(features)


@op("math.erf", node="Erf", dtypes=_REAL, cases=("f32[2,3]", "f64[3]", "bf16[3]"))
def erf(x: Same, name: str | None = None) -> Array:
    """Gauss error function of each element."""
    return lax.erf(x)


@op("math.erfc", node="Erfc", dtypes=_REAL, cases=("f32[2,3]", "f64[3]"))
def erfc(x: Same, name: str | None = None) -> Array:
    """`1 - erf(x)` of each element, accurate for large `x`."""
    return lax.erfc(x)


@with_partials(lambda t, out, x: t * (math.sqrt(math.pi) / 2) * jnp.exp(out * out))
def _erfinv(x: Array) -> Array:
    return lax.erf_inv(x)


@op(
    "math.erfinv",
    node="Erfinv",
    dtypes=_REAL,
    cases=("f32[2,3] in (-0.9, 0.9)", "f64[3] in (-0.9, 0.9)"),
)
def erfinv(x: Same, name: str | None = None) -> Array:
    """The number whose `erf` is `x`."""
    return _erfinv(x)


@with_partials(lambda t, out, x: t * math.sqrt(2 * math.pi) * jnp.exp(out * out / 2))
def _ndtri(x: Array) -> Array:
    return in_float32(jsp.ndtri, x)


@op(
    "math.ndtri",
    node="Ndtri",
    dtypes=_REAL,
    cases=("f32[2,3] in (0.1, 0.9)", "f64[3] in (0.1, 0.9)"),
)
def ndtri(x: Same, name: str | None = None) -> Array:
    """The quantile of the standard normal distribution at probability `x`."""
    return _ndtri(x)


@op(
    "math.erfcinv",
    node="Ndtri",
    dtypes=_REAL,
    cases=("f32[2,3] in (0.1, 1.9)", "f64[3] in (0.1, 1.9)"),
)
def erfcinv(x: Same, name: str | None = None) -> Array:
    """The number whose `erfc` is `x`."""
    return -_ndtri(0.5 * x) * math.sqrt(0.5)


def in_float32(fn: Any, *arrays: Array) -> Array:
    """`fn` of real arrays of one dtype, computed in float32 where they are narrower."""
    dtype = arrays[0].dtype
    if dtype.itemsize >= jnp.dtype(jnp.float32).itemsize:
        return fn(*arrays)
    return fn(*(x.astype(jnp.float32) for x in arrays)).astype(dtype)


@with_partials(lambda t, out, x, y: t, lambda t, out, x, y: jnp.zeros_like(t))
def _nextafter(x: Array, y: Array) -> Array:
    return jnp.nextafter(x, y)


@op(
    "math.nextafter",
    node="NextAfter",
    dtypes="double float",
    broadcast=True,
    cases=("f32[2,3], f32[3]", "f64[3], f64[]"),
)
def nextafter(x1: Same, x2: Same, name: str | None = None) -> Array:
    """The floating point neighbour of `x1` on the side of `x2`."""
    return _nextafter(*same_shape(x1, x2))
