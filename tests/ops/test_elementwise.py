"""Edge points and derivative conventions of the elementwise functions."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow
from ops.pure import assert_same_gradients, body, gradients, tensorflow_gradients, value

from tapejax._src.ops import complex_parts, elementwise, rounding

NAN, INF = np.nan, np.inf
MATH = tensorflow.math


def _pair(name: str) -> tuple:
    return body(getattr(elementwise, name)), getattr(MATH, name)


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("log", [0.0, 2.0, -1.0, INF]),
        ("log1p", [-1.0, 1.0, 1e-12]),
        ("exp", [1000.0, -1000.0, 1.0]),
        ("expm1", [1e-12, -50.0]),
        ("asin", [1.0, -1.0, 0.0, 0.5]),
        ("acos", [1.0, -1.0, 0.0, 0.5]),
        ("acosh", [1.0, 2.0, 0.5, -3.0]),
        ("atanh", [1.0, 0.0, -0.5]),
        ("asinh", [0.0, -3.0]),
        ("tan", [0.0, 1.0]),
        ("tanh", [-100.0, 0.0, 1.0]),
        ("sigmoid", [-1000.0, 0.0, 1000.0]),
        ("softplus", [-1000.0, 0.0, 1000.0]),
        ("log_sigmoid", [-1000.0, 0.0, 1000.0]),
        ("softsign", [-1.0, 0.0, 1.0]),
        ("erf", [0.0, 1.0, -6.0]),
        ("erfc", [0.0, 10.0]),
    ],
)
def test_gradient_at_special_points_is_that_of_tensorflow(name, points) -> None:
    """Poles, ends of the domain, saturation."""
    ours, theirs = _pair(name)
    expected = theirs(np.array(points)).numpy()
    np.testing.assert_allclose(value(ours, points), expected, rtol=1e-12)
    mine, other = gradients(ours, points), tensorflow_gradients(theirs, points)
    np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("name", ["sigmoid", "softplus", "log_sigmoid", "tanh", "acosh", "atan"])
def test_third_derivatives_are_those_of_tensorflow(name) -> None:
    """The rules can be differentiated again."""
    assert_same_gradients(*_pair(name), [1.5, 2.5], orders=(1, 2, 3))


@pytest.mark.parametrize("name", ["erfinv", "ndtri", "erfcinv"])
def test_inverse_error_functions_at_the_ends_of_their_domain(name) -> None:
    """Infinite at the ends, NaN outside; three derivatives inside."""
    ours, theirs = _pair(name)
    ends = [0.0, 1.0, 2.0, -1.0, 3.0]
    np.testing.assert_array_equal(value(ours, ends), theirs(np.array(ends)).numpy())
    inner = [0.3, 0.7]
    for order in (1, 2, 3):
        np.testing.assert_allclose(
            gradients(ours, inner, order=order),
            tensorflow_gradients(theirs, inner, order=order),
            rtol=1e-9,
        )


def test_ndtri_serves_half_precision() -> None:
    """TensorFlow has no such kernel; the float32 value is the oracle."""
    expected = MATH.ndtri(np.array([0.25], np.float32)).numpy().astype(np.float16)
    np.testing.assert_array_equal(
        value(body(elementwise.ndtri), [0.25], dtype=np.float16), expected
    )


def test_atan2_knows_the_quadrants_and_signed_zeros() -> None:
    """The eight directions of the axes and the origin."""
    y = np.array([0.0, -0.0, 0.0, -0.0, 0.0, -0.0, 1.0, -1.0, 3.0])
    x = np.array([1.0, 1.0, -1.0, -1.0, 0.0, -0.0, 0.0, 0.0, -4.0])
    actual = value(body(elementwise.atan2), y, x)
    np.testing.assert_array_equal(actual, MATH.atan2(y, x).numpy())
    np.testing.assert_array_equal(np.signbit(actual), np.signbit(MATH.atan2(y, x).numpy()))


def test_atan2_has_the_gradient_of_tensorflow() -> None:
    """NaN at the origin."""
    assert_same_gradients(
        body(elementwise.atan2), MATH.atan2, [0.0, 1.0, -2.0], [0.0, 2.0, 0.0], orders=(1,)
    )
    assert_same_gradients(body(elementwise.atan2), MATH.atan2, [1.0, -2.0], [2.0, 0.5])


def test_nextafter_moves_by_one_unit_in_the_last_place_and_has_slope_one() -> None:
    """Zero for the direction."""
    x, y = [0.0, 1.0, 1.0, 1.0], [1.0, 2.0, 0.0, 1.0]
    assert_same_gradients(body(elementwise.nextafter), MATH.nextafter, x, y)


def test_rounding_of_halves_goes_to_even() -> None:
    """`round` and `rint`, and `round` of integers is the identity."""
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, NAN, INF])
    for fn in (body(rounding.round), body(rounding.rint)):
        np.testing.assert_array_equal(value(fn, x), tensorflow.round(x).numpy())
    integers = value(body(rounding.round), [3, -4], dtype=np.int32)
    assert (integers.dtype, integers.tolist()) == (np.int32, [3, -4])


def test_tests_for_nan_and_infinity() -> None:
    """Every kind of float."""
    x = [1.0, INF, -INF, NAN]
    assert value(body(rounding.is_nan), x).tolist() == [False, False, False, True]
    assert value(body(rounding.is_inf), x).tolist() == [False, True, True, False]
    assert value(body(rounding.is_finite), x).tolist() == [True, False, False, False]


@pytest.mark.parametrize("name", ["conj", "real", "imag", "angle"])
def test_parts_of_complex_numbers(name) -> None:
    """Values and gradients, and what the part of a real number is."""
    ours, theirs = body(getattr(complex_parts, name)), getattr(MATH, name)
    z = np.array([1 + 2j, -3j, -1 + 0j])
    np.testing.assert_allclose(value(ours, z, dtype=z.dtype), theirs(z).numpy(), rtol=1e-15)
    np.testing.assert_allclose(
        gradients(ours, z, dtype=z.dtype),
        tensorflow_gradients(theirs, z, dtype=z.dtype),
        rtol=1e-14,
    )
    x = np.array([-1.0, 0.0, 2.0])
    np.testing.assert_array_equal(value(ours, x), theirs(x).numpy())


def test_complex_takes_floats_of_32_or_64_bits_only() -> None:
    """A TypeError, as in TensorFlow."""
    build = body(complex_parts.complex)
    assert value(build, [1.0], [2.0], dtype=np.float32).dtype == np.complex64
    assert value(build, [1.0, 2.0], 3.0).tolist() == [1 + 3j, 2 + 3j]
    with pytest.raises(TypeError, match="int32"):
        value(build, [1], [2], dtype=np.int32)


@pytest.mark.parametrize(
    "name",
    ["exp", "log", "log1p", "expm1", "sin", "tan", "asin", "acos", "atan", "acosh", "atanh"],
)
def test_complex_functions_have_the_values_and_gradients_of_tensorflow(name) -> None:
    """In each quadrant."""
    ours, theirs = _pair(name)
    z = np.array([0.3 + 0.4j, -0.5 + 1.2j, -0.7 - 0.2j, 1.1 - 0.6j])
    np.testing.assert_allclose(value(ours, z, dtype=z.dtype), theirs(z).numpy(), rtol=1e-12)
    for order in (1, 2):
        np.testing.assert_allclose(
            gradients(ours, z, dtype=z.dtype, order=order),
            tensorflow_gradients(theirs, z, dtype=z.dtype, order=order),
            rtol=1e-11,
        )
