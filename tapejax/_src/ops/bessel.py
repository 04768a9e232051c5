"""Bessel functions of `tf.math.special`: J, Y and K of orders 0 and 1.

Each is a Chebyshev series on both sides of a point. With `chi = x - (2 * n + 1) * pi / 4`, beyond 8

    J_n = sqrt(2 / (pi * x)) * (P_n * cos(chi) - Q_n * sin(chi) * 8 / x)
    Y_n = sqrt(2 / (pi * x)) * (P_n * sin(chi) + Q_n * cos(chi) * 8 / x)

and below it Y and K have a logarithm times J and I, which leaves a smooth rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax.numpy as jnp
from jax.scipy import special as jsp

from tapejax._src.engine.registry import Array, Same, op
from tapejax._src.ops import bessel_series as series
from tapejax._src.ops.derivatives import with_partials
from tapejax._src.ops.elementwise import in_float32

_REAL = "bfloat16 half float double"
_TURN = 8.0
_TURN_K = 2.0


def _chebyshev(coefficients: Sequence[float], t: Array) -> Array:
    """The sum of `coefficients[k] * T_k(t)` by Clenshaw's recursion, as long as it matters."""
    least = jnp.finfo(t.dtype).eps / 64 * max(map(abs, coefficients))
    count = max(n for n, c in enumerate(coefficients) if abs(c) > least) + 1
    after, later = jnp.zeros_like(t), jnp.zeros_like(t)
    for c in reversed(coefficients[1:count]):
        after, later = 2 * t * after - later + c, after
    return t * after - later + coefficients[0]


def _near(coefficients: Sequence[float], x: Array) -> Array:
    return _chebyshev(coefficients, jnp.minimum(x * x / 32 - 1, jnp.ones_like(x)))


def _far(p: Sequence[float], q: Sequence[float], x: Array, order: int) -> tuple[Array, Array]:
    """`(J, Y)` of a positive order 0 or 1 beyond 8.

    The phase goes into sums of sin(x) and cos(x), for x - pi/4 would round a large x.
    """
    x = jnp.maximum(x, jnp.full_like(x, _TURN))
    infinite = jnp.isinf(x)
    inverse = _TURN / x
    t = 2 * inverse * inverse - 1
    finite = jnp.where(infinite, jnp.ones_like(x), x)
    sine, cosine = jnp.sin(finite), jnp.cos(finite)
    both, gap = (sine + cosine), (sine - cosine)
    cos_phase, sin_phase = (both, gap) if order == 0 else (gap, -both)
    size = jnp.where(infinite, jnp.zeros_like(x), 1 / jnp.sqrt(math.pi * finite))
    main, side = _chebyshev(p, t), _chebyshev(q, t) * inverse
    j = size * (main * cos_phase - side * sin_phase)
    return j, size * (main * sin_phase + side * cos_phase)


def _j_and_y(x: Array, order: int) -> tuple[Array, Array]:
    """J and Y at `|x|`."""
    x = jnp.abs(x)
    factor = jnp.ones_like(x) if order == 0 else x
    if order == 0:
        near_j, rest = _near(series.J0_NEAR, x), _near(series.Y0_NEAR, x)
        far_j, far_y = _far(series.P0_FAR, series.Q0_FAR, x, 0)
    else:
        near_j, rest = x * _near(series.J1_NEAR, x), _near(series.Y1_NEAR, x)
        far_j, far_y = _far(series.P1_FAR, series.Q1_FAR, x, 1)
    pole = jnp.zeros_like(x) if order == 0 else 1 / x
    zero = x == 0
    logarithm = jnp.log(jnp.where(zero, jnp.ones_like(x), x)) * near_j
    near_y = factor * rest + (2 / math.pi) * (logarithm - pole)
    near_y = jnp.where(zero, jnp.full_like(x, -jnp.inf), near_y)
    far = x > _TURN
    return jnp.where(far, far_j, near_j), jnp.where(far, far_y, near_y)


def _y_of(x: Array, order: int) -> Array:
    return jnp.where(x < 0, jnp.full_like(x, -jnp.inf), _j_and_y(x, order)[1])


def _j0_slope(t: Array, out: Array, x: Array) -> Array:
    return -t * _j1(x)


@with_partials(_j0_slope)
def _j0(x: Array) -> Array:
    return _j_and_y(x, 0)[0]


_ORDER = 14
_SLOPE_OF_J1 = [
    (-0.25) ** k * (2 * k + 1) / (2 * math.factorial(k) * math.factorial(k + 1))
    for k in range(_ORDER)
]
"""The Taylor series of the derivative of J1 in `x * x`."""


def _j1_slope(t: Array, out: Array, x: Array) -> Array:
    # J0 - J1 / x loses all digits of its own derivatives near 0; below 2 there is the series.
    near = jnp.abs(x) < 2
    inner, outer = jnp.where(near, x, jnp.zeros_like(x)), jnp.where(near, jnp.ones_like(x), x)
    slope = jnp.zeros_like(x)
    for coefficient in reversed(_SLOPE_OF_J1):
        slope = slope * inner * inner + coefficient
    return t * jnp.where(near, slope, _j0(x) - out / outer)


@with_partials(_j1_slope)
def _j1(x: Array) -> Array:
    value = _j_and_y(x, 1)[0]
    return jnp.where(jnp.signbit(x), -value, value)


def _y0_slope(t: Array, out: Array, x: Array) -> Array:
    return -t * _y1(x)


@with_partials(_y0_slope)
def _y0(x: Array) -> Array:
    return _y_of(x, 0)


def _y1_slope(t: Array, out: Array, x: Array) -> Array:
    return t * (_y0(x) - out / x)


@with_partials(_y1_slope)
def _y1(x: Array) -> Array:
    return _y_of(x, 1)


def _scaled_k(x: Array, order: int) -> tuple[Array, Array]:
    """`K(x)` and `exp(x) * K(x)`; infinite from 0 down."""
    positive = jnp.where(x > 0, x, jnp.ones_like(x))
    near = jnp.minimum(positive, jnp.full_like(x, _TURN_K))
    t = near * near / 2 - 1
    logarithm = jnp.log(near / 2)
    if order == 0:
        value = _chebyshev(series.K0_NEAR, t) - logarithm * jsp.i0(near)
    else:
        value = _chebyshev(series.K1_NEAR, t) / near + logarithm * jsp.i1(near)
    beyond = jnp.maximum(positive, jnp.full_like(x, _TURN_K))
    coefficients = series.K0_FAR if order == 0 else series.K1_FAR
    scaled = _chebyshev(coefficients, 4 / beyond - 1) / jnp.sqrt(beyond)
    far = x > _TURN_K
    plain = jnp.where(far, scaled * jnp.exp(-beyond), value)
    scaled = jnp.where(far, scaled, value * jnp.exp(near))
    # a NaN is neither above 0 nor at most 0
    outside = jnp.where(x <= 0, jnp.full_like(x, jnp.inf), x)
    return jnp.where(x > 0, plain, outside), jnp.where(x > 0, scaled, outside)


def _k0_slope(t: Array, out: Array, x: Array) -> Array:
    return -t * _k1(x)


@with_partials(_k0_slope)
def _k0(x: Array) -> Array:
    return _scaled_k(x, 0)[0]


def _k1_slope(t: Array, out: Array, x: Array) -> Array:
    return -t * (_k0(x) + out / x)


@with_partials(_k1_slope)
def _k1(x: Array) -> Array:
    return _scaled_k(x, 1)[0]


def _k0e_slope(t: Array, out: Array, x: Array) -> Array:
    return t * (out - _k1e(x))


@with_partials(_k0e_slope)
def _k0e(x: Array) -> Array:
    return _scaled_k(x, 0)[1]


def _k1e_slope(t: Array, out: Array, x: Array) -> Array:
    return t * (out - out / x - _k0e(x))


@with_partials(_k1e_slope)
def _k1e(x: Array) -> Array:
    return _scaled_k(x, 1)[1]


_SIGNED = ("f32[2,3] in (-12, 12)", "f64[7] in (-20, 20)", "f16[3] in (1, 2)", "f64[0]")
_POSITIVE = ("f32[2,3] in (0.5, 12)", "f64[7] in (0.1, 20)", "f16[3] in (1, 2)", "f64[0]")


@op("math.special.bessel_j0", node="BesselJ0", dtypes=_REAL, cases=_SIGNED)
def bessel_j0(x: Same, name: str | None = None) -> Array:
    """Bessel function of the first kind, order 0; 0 at infinity, where TensorFlow has NaN."""
    return in_float32(_j0, x)


@op("math.special.bessel_j1", node="BesselJ1", dtypes=_REAL, cases=_SIGNED)
def bessel_j1(x: Same, name: str | None = None) -> Array:
    """Bessel function of the first kind, order 1; 0 at infinity, where TensorFlow has NaN."""
    return in_float32(_j1, x)


@op("math.special.bessel_y0", node="BesselY0", dtypes=_REAL, cases=_POSITIVE)
def bessel_y0(x: Same, name: str | None = None) -> Array:
    """Bessel function of the second kind, order 0; -inf where `x` is not positive."""
    return in_float32(_y0, x)


@op("math.special.bessel_y1", node="BesselY1", dtypes=_REAL, cases=_POSITIVE)
def bessel_y1(x: Same, name: str | None = None) -> Array:
    """Bessel function of the second kind, order 1; -inf where `x` is not positive."""
    return in_float32(_y1, x)


@op("math.special.bessel_k0", node="BesselK0", dtypes=_REAL, cases=_POSITIVE)
def bessel_k0(x: Same, name: str | None = None) -> Array:
    """Modified Bessel function of the second kind, order 0; inf where `x` is not positive."""
    return in_float32(_k0, x)


@op("math.special.bessel_k0e", node="BesselK0e", dtypes=_REAL, cases=_POSITIVE)
def bessel_k0e(x: Same, name: str | None = None) -> Array:
    """`exp(x) * bessel_k0(x)`, which does not underflow."""
    return in_float32(_k0e, x)


@op("math.special.bessel_k1", node="BesselK1", dtypes=_REAL, cases=_POSITIVE)
def bessel_k1(x: Same, name: str | None = None) -> Array:
    """Modified Bessel function of the second kind, order 1; inf where `x` is not positive."""
    return in_float32(_k1, x)


@op("math.special.bessel_k1e", node="BesselK1e", dtypes=_REAL, cases=_POSITIVE)
def bessel_k1e(x: Same, name: str | None = None) -> Array:
    """`exp(x) * bessel_k1(x)`, which does not underflow."""
    return in_float32(_k1e, x)
