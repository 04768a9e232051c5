"""Edge points and derivative conventions of the special functions."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow
from ops.pure import assert_same_gradients, body, gradients, tensorflow_gradients, value

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.ops import special, special_integrals

NAN, INF = np.nan, np.inf
MATH = tensorflow.math


@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "xdivy"])
def test_products_and_quotients_of_zero_are_zero(name) -> None:
    """So are both derivatives, to second order, whatever y is."""
    ours, theirs = body(getattr(special, name)), getattr(MATH, name)
    x, y = [0.0, 0.0, 0.0, 2.0], [0.0, 3.0, INF, 1.5]
    assert_same_gradients(ours, theirs, x, y)


@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "xdivy"])
def test_products_of_complex_numbers_have_the_gradient_of_their_formula(name) -> None:
    """TensorFlow leaves out the conjugates; the formula in elementary ops is the oracle."""
    formula = {
        "xlogy": lambda x, y: x * MATH.log(y),
        "xlog1py": lambda x, y: x * MATH.log1p(y),
        "xdivy": lambda x, y: x / y,
    }[name]
    x, y = np.array([1 + 2j, -0.5j]), np.array([0.3 - 1j, 2 + 1j])
    np.testing.assert_allclose(
        gradients(body(getattr(special, name)), x, y, dtype=x.dtype),
        tensorflow_gradients(formula, x, y, dtype=x.dtype),
        rtol=1e-13,
    )


def test_gamma_functions_at_their_poles() -> None:
    """lgamma is infinite, digamma is NaN."""
    x = np.array([0.0, -0.0, -1.0, -2.0, INF, NAN, -0.5])
    for ours, theirs in (
        (body(special.lgamma), MATH.lgamma),
        (body(special.digamma), MATH.digamma),
    ):
        np.testing.assert_allclose(value(ours, x), theirs(x).numpy(), rtol=1e-13)


def test_derivatives_of_lgamma_are_polygamma_functions() -> None:
    """To the third order, also for negative arguments."""
    x = [0.5, 1.0, 3.0, -0.7]
    for order in (1, 2):
        np.testing.assert_allclose(
            gradients(body(special.lgamma), x[:3], order=order),
            tensorflow_gradients(MATH.lgamma, x[:3], order=order),
            rtol=1e-12,
        )
    reflected = tensorflow_gradients(MATH.lgamma, x)
    np.testing.assert_allclose(gradients(body(special.lgamma), x), reflected, rtol=1e-12)


@pytest.mark.parametrize("order", [0.0, 1.0, 2.0, 5.0, 0.5, -1.0])
def test_polygamma_is_defined_for_whole_orders(order) -> None:
    """NaN for others; no gradient flows to the order."""
    a, x = np.full(3, order), np.array([0.5, 1.0, 4.0])
    ours, theirs = body(special.polygamma), MATH.polygamma
    np.testing.assert_allclose(value(ours, a, x), theirs(a, x).numpy(), rtol=1e-12)
    np.testing.assert_allclose(
        gradients(ours, a, x)[1], tensorflow_gradients(theirs, a, x)[1], rtol=1e-12
    )


def test_zeta_has_a_gradient_for_its_second_argument() -> None:
    """And none for the first."""
    x, q = np.array([1.5, 2.0, 4.0]), np.array([1.0, 0.5, 3.0])
    mine, theirs = gradients(body(special.zeta), x, q), tensorflow_gradients(MATH.zeta, x, q)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma_functions_at_the_ends_of_their_domain(name) -> None:
    """NaN outside."""
    a, x = np.array([1.0, -1.0, 1.0, 1.0, 2.0]), np.array([0.0, 1.0, -1.0, INF, 3.0])
    ours, theirs = body(getattr(special, name)), getattr(MATH, name)
    np.testing.assert_allclose(value(ours, a, x), theirs(a, x).numpy(), rtol=1e-13)


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma_functions_have_second_derivatives(name) -> None:
    """TensorFlow has none; finite differences of its first ones are the oracle."""
    ours, theirs = body(getattr(special, name)), getattr(MATH, name)
    a, x, step = np.array([0.7, 2.0, 5.0]), np.array([0.5, 3.0, 4.0]), 1e-4
    np.testing.assert_allclose(gradients(ours, a, x), tensorflow_gradients(theirs, a, x), rtol=1e-9)

    def total(da: float, dx: float) -> np.ndarray:
        return np.sum(tensorflow_gradients(theirs, a + da, x + dx), axis=0)

    expected = [
        (total(step, 0) - total(-step, 0)) / (2 * step),
        (total(0, step) - total(0, -step)) / (2 * step),
    ]
    np.testing.assert_allclose(gradients(ours, a, x, order=2), expected, rtol=1e-5, atol=1e-7)


def test_betainc_has_a_gradient_for_its_last_argument() -> None:
    """To second order; the parameters have none."""
    a, b, x = [1.0, 2.0, 0.5], [1.0, 3.0, 0.5], [0.25, 0.5, 0.9]
    ours, theirs = body(special.betainc), MATH.betainc
    np.testing.assert_allclose(
        value(ours, a, b, x), theirs(*np.array([a, b, x])).numpy(), rtol=1e-13
    )
    for order in (1, 2):
        np.testing.assert_allclose(
            gradients(lambda x: ours(np.array(a), np.array(b), x), x, order=order),
            tensorflow_gradients(lambda x: theirs(np.array(a), np.array(b), x), x, order=order),
            rtol=1e-11,
        )


def test_betainc_does_not_broadcast_arrays() -> None:
    """Only scalars."""
    with pytest.raises(InvalidArgumentError, match="inconsistent"):
        value(body(special.betainc), [1.0, 1.0], [[1.0]], [0.5])


def test_lbeta_of_no_parameters_is_minus_infinity() -> None:
    """And of a scalar an error."""
    assert value(body(special.lbeta), np.zeros((2, 0))).tolist() == [-INF, -INF]
    with pytest.raises(InvalidArgumentError, match="scalar"):
        value(body(special.lbeta), 1.0)


@pytest.mark.parametrize("name", ["bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e"])
def test_bessel_functions_have_two_derivatives(name) -> None:
    """Away from 0, where TensorFlow's derivative of I1 is wrong."""
    ours, theirs = body(getattr(special, name)), getattr(MATH, name)
    x = [-3.0, 0.5, 2.0, 20.0]
    for order in (1, 2):
        np.testing.assert_allclose(
            gradients(ours, x, order=order), tensorflow_gradients(theirs, x, order=order), rtol=1e-9
        )


def test_bessel_i1_has_slope_one_half_at_zero() -> None:
    """The first term of its power series; TensorFlow says 1."""
    assert gradients(body(special.bessel_i1), [0.0])[0] == [0.5]
    assert gradients(body(special.bessel_i1e), [0.0])[0] == [0.5]


@pytest.mark.parametrize("name", ["dawsn", "expint", "fresnel_cos", "fresnel_sin", "spence"])
def test_integrals_have_two_derivatives(name) -> None:
    """Values and derivatives of TensorFlow."""
    ours, theirs = body(getattr(special_integrals, name)), getattr(MATH.special, name)
    x = np.array([0.2, 0.9, 1.0, 3.0])
    np.testing.assert_allclose(value(ours, x), theirs(x).numpy(), rtol=1e-12)
    np.testing.assert_allclose(gradients(ours, x), tensorflow_gradients(theirs, x), rtol=1e-11)
    x = x[[0, 1, 3]]
    np.testing.assert_allclose(
        gradients(ours, x, order=2), tensorflow_gradients(theirs, x, order=2), rtol=1e-9
    )
