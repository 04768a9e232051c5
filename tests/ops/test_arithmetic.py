"""Edge points and derivative conventions of the arithmetic ops."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow
from ops.pure import (
    assert_same_gradients,
    body,
    gradients,
    pushforward,
    tensorflow_gradients,
    value,
)

from tapejax._src.ops import arithmetic

NAN, INF = np.nan, np.inf
MAXIMUM, MINIMUM = body(arithmetic.maximum), body(arithmetic.minimum)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(MAXIMUM, tensorflow.maximum), (MINIMUM, tensorflow.minimum)],
    ids=["maximum", "minimum"],
)
@pytest.mark.parametrize(
    ("x", "y"),
    [([1.0, 2.0, 3.0], [2.0, 2.0, 2.0]), ([NAN, 1.0], [1.0, NAN]), ([0.0, -0.0], [-0.0, 0.0])],
    ids=["tie", "nan", "signed zero"],
)
def test_extrema_have_the_gradient_of_tensorflow(ours, theirs, x, y) -> None:
    """The first argument takes a tie, the second one a NaN."""
    assert_same_gradients(ours, theirs, x, y)


def test_maximum_of_a_tie_sends_the_tangent_of_its_first_argument() -> None:
    """Forward mode follows the same rule."""
    assert pushforward(MAXIMUM, [[2.0], [2.0]], [[3.0], [5.0]]) == [3.0]


def test_gradients_of_a_broadcast_scalar_are_summed() -> None:
    """A scalar operand gets a scalar gradient."""
    assert_same_gradients(body(arithmetic.divide), tensorflow.divide, [1.0, 2.0], 4.0)


def test_abs_has_derivative_zero_at_zero() -> None:
    """Real and complex."""
    assert_same_gradients(body(arithmetic.abs), tensorflow.abs, [-1.0, 0.0, 2.0])
    z = [0j, 3 + 4j]
    np.testing.assert_allclose(
        gradients(body(arithmetic.abs), z, dtype=np.complex128),
        tensorflow_gradients(tensorflow.abs, z, dtype=np.complex128),
        rtol=1e-14,
    )


def test_sign_of_a_complex_number_is_its_direction() -> None:
    """Zero has none."""
    z = np.array([3 + 4j, 0j])
    actual = value(body(arithmetic.sign), z, dtype=np.complex128)
    np.testing.assert_allclose(actual, tensorflow.sign(z).numpy(), rtol=1e-15)


@pytest.mark.parametrize("x", [[0.0, 3.0, INF, NAN]])
def test_divide_no_nan_and_its_derivatives_are_zero_at_a_zero_divisor(x) -> None:
    """Also where the dividend is infinite or NaN."""
    assert_same_gradients(
        body(arithmetic.divide_no_nan), tensorflow.math.divide_no_nan, x, [0.0, 0.0, 0.0, 0.0]
    )


def test_reciprocal_no_nan_is_flat_at_zero() -> None:
    """Value and derivatives are 0."""
    assert_same_gradients(
        body(arithmetic.reciprocal_no_nan), tensorflow.math.reciprocal_no_nan, [0.0, 2.0]
    )


def test_multiply_no_nan_lets_a_zero_second_factor_win() -> None:
    """The gradient of each factor is the product with the same rule."""
    assert_same_gradients(
        body(arithmetic.multiply_no_nan),
        tensorflow.math.multiply_no_nan,
        [INF, NAN, 1.0, INF],
        [0.0, 0.0, 2.0, 0.0],
        orders=(1,),
    )


def test_multiply_no_nan_of_complex_factors_has_the_gradient_of_the_product() -> None:
    """TensorFlow leaves out the conjugates here; `tf.multiply` is the oracle."""
    x, y = [1 + 2j, -1j], [3 - 1j, 2 + 0j]
    np.testing.assert_allclose(
        gradients(body(arithmetic.multiply_no_nan), x, y, dtype=np.complex128),
        tensorflow_gradients(tensorflow.multiply, x, y, dtype=np.complex128),
        rtol=1e-14,
    )


@pytest.mark.parametrize("seed", [0.0, 1.0])
def test_reciprocal_keeps_a_zero_cotangent_zero(seed) -> None:
    """Its slope at 0 is infinite."""
    actual = gradients(body(arithmetic.reciprocal), [0.0, 2.0], seed=seed)
    expected = tensorflow_gradients(tensorflow.math.reciprocal, [0.0, 2.0], seed=seed)
    np.testing.assert_array_equal(actual, expected)


def test_a_quotient_of_tiny_numbers_has_a_finite_gradient() -> None:
    """The square of the divisor would underflow to 0."""
    x = [1e-200], [1e-200]
    np.testing.assert_allclose(
        gradients(body(arithmetic.divide), *x), tensorflow_gradients(tensorflow.divide, *x)
    )


def test_quotient_by_zero_leaks_infinity_only_to_perturbed_arguments() -> None:
    """A tangent of the dividend alone must not meet 0 * inf of the divisor."""
    y = np.array([0.0])
    slope = pushforward(lambda x: body(arithmetic.divide)(x, y), [[1.0]], [[1.0]])
    assert slope == [INF]
    assert_same_gradients(
        body(arithmetic.divide), tensorflow.divide, [0.0, 1.0], [0.0, 0.0], orders=(1,)
    )


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
)
def test_true_division_of_integers_gives_the_float_of_tensorflow(dtype) -> None:
    """8 and 16 bits give float32, more give float64."""
    x, y = np.array([7, 1, 5], dtype), np.array([2, 3, 0], dtype)
    actual, expected = value(body(arithmetic.divide), x, y, dtype=dtype), tensorflow.divide(x, y)
    assert actual.dtype == expected.numpy().dtype
    np.testing.assert_array_equal(actual, expected.numpy())


def test_true_division_of_booleans_is_a_type_error() -> None:
    """As in TensorFlow."""
    with pytest.raises(TypeError, match=r"tf\.bool"):
        value(body(arithmetic.divide), [True], [True], dtype=bool)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (arithmetic.floordiv, tensorflow.math.floordiv),
        (arithmetic.floormod, tensorflow.math.floormod),
        (arithmetic.truncatediv, tensorflow.truncatediv),
        (arithmetic.truncatemod, tensorflow.truncatemod),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_integral_division_rounds_as_in_tensorflow(ours, theirs, dtype) -> None:
    """All combinations of signs, and infinite or NaN results of floats."""
    x, y = np.array([7, -7, 7, -7, 6], dtype), np.array([3, 3, -3, -3, 3], dtype)
    if np.dtype(dtype).kind == "f":
        x, y = np.append(x, [1, -1, 0, 7.5]).astype(dtype), np.append(y, [0, 0, 0, 2]).astype(dtype)
    np.testing.assert_array_equal(value(body(ours), x, y, dtype=dtype), theirs(x, y).numpy())


def test_floormod_has_the_gradient_of_its_formula() -> None:
    """1 for x and -floor(x / y) for y."""
    assert_same_gradients(
        body(arithmetic.floormod),
        tensorflow.math.floormod,
        [7.5, -7.5, 7.5, 6.0],
        [2.0, 2.0, -2.0, 3.0],
    )


def test_squared_difference_of_complex_numbers_is_real_and_not_negative() -> None:
    """|x - y|**2."""
    z = value(body(arithmetic.squared_difference), [1 + 2j], [3 - 1j], dtype=np.complex128)
    assert z == [13 + 0j]
