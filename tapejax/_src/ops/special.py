"""Special functions of `tf.math`: gamma and beta functions, `xlogy` and its kin."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax
from jax.scipy import special as jsp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, op
from tapejax._src.ops.derivatives import same_shape, with_partials
from tapejax._src.ops.elementwise import in_float32

_REAL = "bfloat16 half float double"
_PRODUCTS = "half bfloat16 float double complex64 complex128"


def _lgamma_slope(t: Array, out: Array, x: Array) -> Array:
    return t * _digamma(x)


@with_partials(_lgamma_slope)
def _lgamma(x: Array) -> Array:
    return lax.lgamma(x)


def _digamma_slope(t: Array, out: Array, x: Array) -> Array:
    return t * _polygamma(jnp.ones_like(x), x)


@with_partials(_digamma_slope)
def _digamma(x: Array) -> Array:
    # lax.digamma answers at the poles with NaN or a huge number, depending on rounding.
    pole = (x <= 0) & (x == jnp.floor(x))
    return jnp.where(
        pole, jnp.full_like(x, jnp.nan), lax.digamma(jnp.where(pole, jnp.ones_like(x), x))
    )


def _polygamma_slope(t: Array, out: Array, a: Array, x: Array) -> Array:
    return t * _polygamma(a + 1, x)


@with_partials(None, _polygamma_slope)
def _polygamma(a: Array, x: Array) -> Array:
    whole = (a >= 0) & (a == jnp.floor(a))
    order = jnp.where(whole & (a > 0), a, jnp.ones_like(a))
    odd = jnp.remainder(order, 2) == 1
    size = jnp.exp(lax.lgamma(order + 1)) * lax.zeta(order + 1, x)
    value = jnp.where(a == 0, lax.digamma(x), jnp.where(odd, size, -size))
    return jnp.where(whole, value, jnp.full_like(x, jnp.nan))


def _zeta_slope(t: Array, out: Array, x: Array, q: Array) -> Array:
    return t * -x * _zeta(x + 1, q)


@with_partials(None, _zeta_slope)
def _zeta(x: Array, q: Array) -> Array:
    return lax.zeta(x, q)


@op(
    "math.lgamma", node="Lgamma", dtypes=_REAL, cases=("f32[2,3] in (2.5, 5)", "f64[3] in (0.1, 5)")
)
def lgamma(x: Same, name: str | None = None) -> Array:
    """Logarithm of the absolute value of the gamma function."""
    return _lgamma(x)


@op(
    "math.digamma",
    node="Digamma",
    dtypes=_REAL,
    cases=("f32[2,3] in (0.1, 5)", "f64[3] in (0.1, 5)"),
)
def digamma(x: Same, name: str | None = None) -> Array:
    """Derivative of `lgamma`; NaN at the poles 0, -1, -2, ..."""
    return in_float32(_digamma, x)


@op(
    "math.polygamma",
    node="Polygamma",
    dtypes="float double",
    no_gradient=("a",),
    broadcast=True,
    cases=(
        "0.0, f32[2,3] in (0.5, 5)",
        "1.0, f32[2,3] in (0.5, 5)",
        "2.0, f64[3] in (0.5, 5)",
        "[0.0, 1.0, 3.0], f32[2,3] in (0.5, 5)",
    ),
)
def polygamma(a: Same, x: Same, name: str | None = None) -> Array:
    """The `a`-th derivative of `digamma` for a whole number `a`; there is no gradient for `a`."""
    return _polygamma(*same_shape(a, x))


@op(
    "math.zeta",
    node="Zeta",
    dtypes="float double",
    no_gradient=("x",),
    broadcast=True,
    cases=("f32[2,3] in (1.5, 4), f32[3] in (0.5, 4)", "f64[3] in (1.5, 4), f64[] in (0.5, 4)"),
)
def zeta(x: Same, q: Same, name: str | None = None) -> Array:
    """Hurwitz zeta function, the sum of `(q + n) ** -x`; there is no gradient for `x`."""
    return _zeta(*same_shape(x, q))


def _betainc_slope(t: Array, out: Array, a: Array, b: Array, x: Array) -> Array:
    log_beta = _lgamma(a) + _lgamma(b) - _lgamma(a + b)
    return t * jnp.exp(_xlog1py(b - 1, -x) + _xlogy(a - 1, x) - log_beta)


@with_partials(None, None, _betainc_slope)
def _betainc(a: Array, b: Array, x: Array) -> Array:
    return lax.betainc(a, b, x)


@op(
    "math.betainc",
    node="Betainc",
    dtypes="float double",
    no_gradient=("a", "b"),
    cases=(
        "f32[3] in (0.5, 3), f32[3] in (0.5, 3), f32[3] in (0.1, 0.9)",
        "f64[] in (0.5, 3), f64[] in (0.5, 3), f64[2,3] in (0.1, 0.9)",
    ),
)
def betainc(a: Same, b: Same, x: Same, name: str | None = None) -> Array:
    """Regularized incomplete beta function; there is no gradient for `a` and `b`."""
    shapes = {y.shape for y in (a, b, x) if y.ndim}
    if len(shapes) > 1:
        listed = " vs. ".join(str(list(y.shape)) for y in (a, b, x))
        msg = f"Shapes of a, b and x are inconsistent: {listed}. Make them equal or scalar."
        raise InvalidArgumentError(msg)
    return _betainc(*same_shape(a, b, x))


def _igamma_slope(t: Array, out: Array, a: Array, x: Array) -> Array:
    return t * jnp.exp(-x + _xlogy(a - 1, x) - _lgamma(a))


def _igamma_cross_slope(t: Array, out: Array, a: Array, x: Array) -> Array:
    return _igamma_slope(t, out, a, x) * (jnp.log(x) - _digamma(a))


def _igamma_bend(t: Array, out: Array, a: Array, x: Array) -> Array:
    # There is no formula: a central difference of fourth order, in steps that balance its error
    # with rounding.
    step = a * (2e-3 if a.dtype == jnp.float64 else 5e-2)
    near = _igamma_grad_a(a + step, x) - _igamma_grad_a(a - step, x)
    far = _igamma_grad_a(a + 2 * step, x) - _igamma_grad_a(a - 2 * step, x)
    return t * (8 * near - far) / (12 * step)


@with_partials(_igamma_bend, _igamma_cross_slope)
def _igamma_grad_a(a: Array, x: Array) -> Array:
    return lax.igamma_grad_a(a, x)


@with_partials(lambda t, out, a, x: t * _igamma_grad_a(a, x), _igamma_slope)
def _igamma(a: Array, x: Array) -> Array:
    return lax.igamma(a, x)


@with_partials(
    lambda t, out, a, x: -t * _igamma_grad_a(a, x),
    lambda t, out, a, x: -_igamma_slope(t, out, a, x),
)
def _igammac(a: Array, x: Array) -> Array:
    return lax.igammac(a, x)


@op(
    "math.igamma",
    node="Igamma",
    dtypes=_REAL,
    broadcast=True,
    cases=("f32[2,3] in (0.5, 4), f32[3] in (0.1, 5)", "f64[3] in (0.5, 4), f64[] in (0.1, 5)"),
)
def igamma(a: Same, x: Same, name: str | None = None) -> Array:
    """Lower regularized incomplete gamma function `P(a, x)`."""
    return in_float32(_igamma, *same_shape(a, x))


@op(
    "math.igammac",
    node="Igammac",
    dtypes=_REAL,
    broadcast=True,
    cases=("f32[2,3] in (0.5, 4), f32[3] in (0.1, 5)", "f64[3] in (0.5, 4), f64[] in (0.1, 5)"),
)
def igammac(a: Same, x: Same, name: str | None = None) -> Array:
    """Upper regularized incomplete gamma function `1 - P(a, x)`."""
    return in_float32(_igammac, *same_shape(a, x))


@op("math.lbeta", node="Lgamma", dtypes=_REAL, cases=("f32[2,3] in (0.1, 5)", "f64[3] in (0.1, 5)"))
def lbeta(x: Same, name: str | None = None) -> Array:
    """Logarithm of the absolute value of the multivariate beta function.

    Args:
        x: The parameters `[..., k]`.
        name: Ignored.

    Returns:
        `sum(lgamma(x)) - lgamma(sum(x))` over the last axis `[...]`; -inf where `k` is 0.

    Raises:
        tf.errors.InvalidArgumentError: `x` is a scalar.

    Example:
        >>> import tapejax as tf
        >>> print(f"{tf.math.lbeta(tf.constant([2.0, 3.0])).numpy():.4f}")
        -2.4849
    """
    if not x.ndim:
        msg = "Invalid reduction dimension -1 for a scalar: lbeta sums over the last axis."
        raise InvalidArgumentError(msg)
    return jnp.sum(_lgamma(x), axis=-1) - _lgamma(jnp.sum(x, axis=-1))


def _is_nonzero(x: Array) -> Array:
    return (x != 0).astype(x.dtype)


def _xlogy_by_x(t: Array, out: Array, x: Array, y: Array) -> Array:
    return t * _xlogy(_is_nonzero(x), y)


def _xlogy_by_y(t: Array, out: Array, x: Array, y: Array) -> Array:
    return t * _xdivy(x, y)


@with_partials(_xlogy_by_x, _xlogy_by_y)
def _xlogy(x: Array, y: Array) -> Array:
    return jnp.where(x == 0, jnp.zeros_like(x), x * jnp.log(jnp.where(x == 0, jnp.ones_like(y), y)))


def _xlog1py_by_x(t: Array, out: Array, x: Array, y: Array) -> Array:
    return t * _xlog1py(_is_nonzero(x), y)


def _xlog1py_by_y(t: Array, out: Array, x: Array, y: Array) -> Array:
    return t * _xdivy(x, y + 1)


@with_partials(_xlog1py_by_x, _xlog1py_by_y)
def _xlog1py(x: Array, y: Array) -> Array:
    return jnp.where(
        x == 0, jnp.zeros_like(x), x * jnp.log1p(jnp.where(x == 0, jnp.ones_like(y), y))
    )


def _xdivy_by_x(t: Array, out: Array, x: Array, y: Array) -> Array:
    return t * _xdivy(_is_nonzero(x), y)


def _xdivy_by_y(t: Array, out: Array, x: Array, y: Array) -> Array:
    return t * _xdivy(-x, y * y)


@with_partials(_xdivy_by_x, _xdivy_by_y)
def _xdivy(x: Array, y: Array) -> Array:
    return jnp.where(x == 0, jnp.zeros_like(x), x / jnp.where(x == 0, jnp.ones_like(y), y))


@op(
    "math.xlogy",
    node="Xlogy",
    dtypes=_PRODUCTS,
    broadcast=True,
    cases=("f32[2,3], f32[3] in (0, 4)", "f64[3], f64[] in (0, 4)"),
)
def xlogy(x: Same, y: Same, name: str | None = None) -> Array:
    """`x * log(y)`, and 0 with zero derivatives wherever `x` is 0."""
    return _xlogy(*same_shape(x, y))


@op(
    "math.xlog1py",
    node="Xlog1py",
    dtypes=_PRODUCTS,
    broadcast=True,
    cases=("f32[2,3], f32[3] in (0, 4)", "f64[3], f64[] in (0, 4)"),
)
def xlog1py(x: Same, y: Same, name: str | None = None) -> Array:
    """`x * log1p(y)`, and 0 with zero derivatives wherever `x` is 0."""
    return _xlog1py(*same_shape(x, y))


@op(
    "math.xdivy",
    node="Xdivy",
    dtypes=_PRODUCTS,
    broadcast=True,
    cases=("f32[2,3], f32[3]", "f64[3], f64[]"),
)
def xdivy(x: Same, y: Same, name: str | None = None) -> Array:
    """`x / y`, and 0 with zero derivatives wherever `x` is 0."""
    return _xdivy(*same_shape(x, y))


def _i0_slope(t: Array, out: Array, x: Array) -> Array:
    return t * _i1(x)


@with_partials(_i0_slope)
def _i0(x: Array) -> Array:
    return jsp.i0(x)


def _i0e_slope(t: Array, out: Array, x: Array) -> Array:
    return t * (_i1e(x) - jnp.sign(x) * out)


@with_partials(_i0e_slope)
def i0e(x: Array) -> Array:
    """`exp(-|x|)` times the modified Bessel function of order 0."""
    return jsp.i0e(x)


# At 0 the quotients by x are taken at 1 instead and replaced by the limit, so that derivatives of
# the unused branch stay finite.
def _i1_slope(t: Array, out: Array, x: Array) -> Array:
    slope = _i0(x) - out / _one_at_zero(x)
    return t * jnp.where(x == 0, jnp.full_like(x, 0.5), slope)


@with_partials(_i1_slope)
def _i1(x: Array) -> Array:
    return jsp.i1(x)


def _i1e_slope(t: Array, out: Array, x: Array) -> Array:
    slope = i0e(x) - out * (jnp.sign(x) + 1 / _one_at_zero(x))
    return t * jnp.where(x == 0, jnp.full_like(x, 0.5), slope)


@with_partials(_i1e_slope)
def _i1e(x: Array) -> Array:
    return jsp.i1e(x)


def _one_at_zero(x: Array) -> Array:
    return jnp.where(x == 0, jnp.ones_like(x), x)


@op(
    "math.bessel_i0",
    "math.special.bessel_i0",
    node="BesselI0",
    dtypes=_REAL,
    cases=("f32[2,3]", "f64[3]"),
)
def bessel_i0(x: Same, name: str | None = None) -> Array:
    """Modified Bessel function of the first kind, order 0."""
    return in_float32(_i0, x)


@op(
    "math.bessel_i0e",
    "math.special.bessel_i0e",
    node="BesselI0e",
    dtypes=_REAL,
    cases=("f32[2,3]", "f64[3]"),
)
def bessel_i0e(x: Same, name: str | None = None) -> Array:
    """`exp(-|x|) * bessel_i0(x)`."""
    return in_float32(i0e, x)


@op(
    "math.bessel_i1",
    "math.special.bessel_i1",
    node="BesselI1",
    dtypes=_REAL,
    cases=("f32[2,3]", "f64[3]"),
)
def bessel_i1(x: Same, name: str | None = None) -> Array:
    """Modified Bessel function of the first kind, order 1.

    *Differs from TensorFlow*: the derivative at 0 is 1/2, where TensorFlow has 1.
    """
    return in_float32(_i1, x)


@op(
    "math.bessel_i1e",
    "math.special.bessel_i1e",
    node="BesselI1e",
    dtypes=_REAL,
    cases=("f32[2,3]", "f64[3]"),
)
def bessel_i1e(x: Same, name: str | None = None) -> Array:
    """`exp(-|x|) * bessel_i1(x)`."""
    return in_float32(_i1e, x)
