"""Edge points and derivative conventions of powers and roots."""

from __future__ import annotations

import functools

import jax
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

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import OPS
from tapejax._src.ops import powers

POW = OPS["_math.pow"].fn
INTEGER_POW = OPS["_math.pow:integer"].fn


@pytest.mark.parametrize("seed", [0.0, 1.0])
@pytest.mark.parametrize("name", ["sqrt", "rsqrt"])
def test_roots_keep_a_zero_cotangent_zero(name, seed) -> None:
    """Their slope at 0 is infinite."""
    ours, theirs = body(getattr(powers, name)), getattr(tensorflow.math, name)
    np.testing.assert_array_equal(
        gradients(ours, [0.0, 4.0, -1.0], seed=seed),
        tensorflow_gradients(theirs, [0.0, 4.0, -1.0], seed=seed),
    )


@pytest.mark.parametrize("name", ["sqrt", "rsqrt"])
def test_roots_have_every_derivative(name) -> None:
    """To the third order, at ordinary points."""
    ours, theirs = body(getattr(powers, name)), getattr(tensorflow.math, name)
    assert_same_gradients(ours, theirs, [0.5, 4.0], orders=(1, 2, 3))


def test_sqrt_in_an_unselected_branch_leaks_no_nan() -> None:
    """`where(x > 0, sqrt(x), 0)` is differentiable at 0, in both modes."""

    def safe(x: jax.Array) -> jax.Array:
        return jax.numpy.where(x > 0, body(powers.sqrt)(x), 0.0)

    assert gradients(safe, [0.0, 4.0])[0].tolist() == [0.0, 0.25]
    assert pushforward(safe, [[0.0, 4.0]], [[1.0, 1.0]]).tolist() == [0.0, 0.25]
    assert pushforward(body(powers.sqrt), [[0.0, 4.0]], [[0.0, 1.0]]).tolist() == [0.0, 0.25]


def test_rules_of_roots_can_be_vectorized() -> None:
    """Jacobians map the pullback over a batch of cotangents."""
    with jax.enable_x64(True):
        hessian = jax.jacrev(jax.jacrev(body(powers.sqrt)))(np.array([4.0, 1.0]))
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0], expected[1, 1, 1] = -0.25 * 4.0**-1.5, -0.25
    np.testing.assert_allclose(hessian, expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0.0], [0.0]),
        ([0.0], [2.0]),
        ([0.0], [0.5]),
        ([0.0], [-1.0]),
        ([-2.0, -2.0], [3.0, 0.5]),
        ([2.0, 3.0], [0.0, 1.0]),
        ([0.0, 1.0, 2.0], [1.5, 0.0, 3.0]),
    ],
)
def test_power_of_tensors_has_the_gradient_of_tensorflow(x, y) -> None:
    """Zero and negative bases."""
    assert_same_gradients(POW, tensorflow.pow, x, y, orders=(1,))


def test_power_of_tensors_has_second_derivatives() -> None:
    """At ordinary points."""
    assert_same_gradients(POW, tensorflow.pow, [0.5, 2.0], [1.5, -2.0])


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 16, -1, -3, -16])
def test_integer_power_has_the_derivatives_of_tensorflow(n) -> None:
    """To the third order, away from 0 for the orders TensorFlow gets wrong there."""
    ours = functools.partial(INTEGER_POW, y=n)
    assert_same_gradients(ours, lambda x: x ** float(n), [-1.5, 0.5, 2.0], orders=(1, 2, 3))
    assert_same_gradients(ours, lambda x: x ** float(n), [0.0], orders=(1,))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_high_derivatives_of_an_integer_power_are_zero_at_zero(n) -> None:
    """Where TensorFlow has 0 * 0**-1, which is NaN."""
    cube = functools.partial(INTEGER_POW, y=n)
    assert gradients(cube, [0.0, 2.0], order=n + 1)[0].tolist() == [0.0, 0.0]
    assert gradients(cube, [0.0, 2.0], order=n + 2)[0].tolist() == [0.0, 0.0]


def test_derivatives_of_an_integer_power_keep_reading_the_base() -> None:
    """What makes the third derivative of x**2 a zero and not None."""

    def second(x: jax.Array) -> jax.Array:
        return jax.grad(jax.grad(lambda x: INTEGER_POW(x, 2)))(x)

    jaxpr = jax.make_jaxpr(second)(1.0).jaxpr
    assert any(v is jaxpr.invars[0] for equation in jaxpr.eqns for v in equation.invars)


def test_integer_powers_of_half_precision_are_rounded_once() -> None:
    """As TensorFlow, which computes them in single precision."""
    x = np.linspace(-3, 3, 41).astype(np.float16)
    actual = value(functools.partial(INTEGER_POW, y=3), x, dtype=np.float16)
    np.testing.assert_array_equal(actual, (x.astype(np.float32) ** 3).astype(np.float16))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_powers_of_integers_are_integers(dtype) -> None:
    """Static and tensor exponents, wrapping around as in TensorFlow."""
    x, y = np.array([2, -3, 0, 5], dtype), np.array([3, 3, 0, 9], dtype)
    np.testing.assert_array_equal(value(POW, x, y, dtype=dtype), tensorflow.pow(x, y).numpy())
    actual = value(functools.partial(INTEGER_POW, y=3), x, dtype=dtype)
    np.testing.assert_array_equal(actual, tensorflow.pow(x, np.array(3, dtype)).numpy())
    assert actual.dtype == dtype


def test_a_negative_power_of_integers_is_an_error() -> None:
    """At once for a static exponent."""
    with pytest.raises(InvalidArgumentError, match="Integers to negative integer powers"):
        value(functools.partial(INTEGER_POW, y=-1), [2], dtype=np.int32)


@pytest.mark.parametrize(
    ("x", "y", "n"),
    [
        (np.array([1.0], np.float32), 2, 2),
        (np.array([1.0], np.float32), 2.0, 2),
        (np.array([1], np.int32), 2, 2),
        (np.array([1], np.int32), 2.0, None),
        (2.0, 3.0, 3),
        (2, 3.0, None),
        (np.array([1.0], np.float32), 0.5, None),
        (np.array([1.0], np.float32), 17, None),
        (np.array([1.0], np.float32), True, None),
        (np.array([1.0], np.float32), np.float32(2.0), None),
    ],
)
def test_which_exponents_are_part_of_the_program(x, y, n) -> None:
    """Small integral Python numbers that the base's dtype can hold."""
    assert powers._static_exponent(x, y) == n
