"""Functions of `tf.math.special` that are integrals: Dawson, exponential, Fresnel and Spence."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax.scipy import special as jsp

from tapejax._src.engine.registry import Array, Same, op
from tapejax._src.ops.derivatives import with_partials
from tapejax._src.ops.elementwise import in_float32

_REAL = "bfloat16 half float double"


@with_partials(lambda t, out, x: t * (1 - 2 * x * out))
def _dawsn(x: Array) -> Array:
    return jsp.dawsn(x)


@op("math.special.dawsn", node="Dawsn", dtypes=_REAL, cases=("f32[2,3]", "f64[3]"))
def dawsn(x: Same, name: str | None = None) -> Array:
    """Dawson's integral `exp(-x**2)` times the integral of `exp(t**2)` from 0 to `x`."""
    return in_float32(_dawsn, x)


@with_partials(lambda t, out, x: t * jnp.exp(x) / x)
def _expint(x: Array) -> Array:
    return jsp.expi(x)


@op(
    "math.special.expint",
    node="Expint",
    dtypes=_REAL,
    cases=("f32[2,3] in (0.2, 3)", "f64[3] in (0.2, 3)"),
)
def expint(x: Same, name: str | None = None) -> Array:
    """Exponential integral `Ei(x)`."""
    return in_float32(_expint, x)


@with_partials(lambda t, out, x: t * jnp.cos((math.pi / 2) * (x * x)))
def _fresnel_cos(x: Array) -> Array:
    return jsp.fresnel(x)[1]


@op("math.special.fresnel_cos", node="FresnelCos", dtypes=_REAL, cases=("f32[2,3]", "f64[3]"))
def fresnel_cos(x: Same, name: str | None = None) -> Array:
    """Integral of `cos(pi * t**2 / 2)` from 0 to `x`."""
    return in_float32(_fresnel_cos, x)


@with_partials(lambda t, out, x: t * jnp.sin((math.pi / 2) * (x * x)))
def _fresnel_sin(x: Array) -> Array:
    return jsp.fresnel(x)[0]


@op("math.special.fresnel_sin", node="FresnelSin", dtypes=_REAL, cases=("f32[2,3]", "f64[3]"))
def fresnel_sin(x: Same, name: str | None = None) -> Array:
    """Integral of `sin(pi * t**2 / 2)` from 0 to `x`."""
    return in_float32(_fresnel_sin, x)


def _spence_slope(t: Array, out: Array, x: Array) -> Array:
    one = x == 1
    off_one = jnp.where(one, jnp.full_like(x, 2), x)
    return t * jnp.where(one, -jnp.ones_like(x), jnp.log(off_one) / (1 - off_one))


@with_partials(_spence_slope)
def _spence(x: Array) -> Array:
    return jsp.spence(x)


@op(
    "math.special.spence",
    node="Spence",
    dtypes=_REAL,
    cases=("f32[2,3] in (0.1, 4)", "f64[3] in (0.1, 4)"),
)
def spence(x: Same, name: str | None = None) -> Array:
    """Spence's integral of `log(t) / (1 - t)` from 1 to `x`."""
    return in_float32(_spence, x)
