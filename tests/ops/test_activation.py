"""Activation functions at their kinks, against TensorFlow, and their errors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import OPS
from tapejax._src.ops import activation

tf: Any = tensorflow

KINKS = np.array([-3.0, -1.0, -0.0, 0.0, 0.5, 6.0, 7.0], np.float32)


def _tensorflow(fn, x):
    """Value, first and second derivative of the sum, from TensorFlow."""
    x = tf.constant(x)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = fn(x)
        first = inner.gradient(y, x)
    second = outer.gradient(first, x, unconnected_gradients="zero")
    return y.numpy(), first.numpy(), second.numpy()


def _pure(fn, x):
    def total(x):
        return jnp.sum(fn(x))

    first = jax.grad(total)
    second = jax.grad(lambda x: jnp.sum(first(x)))
    x = jnp.asarray(x)
    return fn(x), first(x), second(x)


@pytest.mark.parametrize("name", ["relu", "relu6", "elu", "selu"])
def test_derivatives_at_the_kinks_are_those_of_tensorflow(name):
    expected = _tensorflow(getattr(tf.nn, name), KINKS)
    actual = _pure(getattr(activation, name).op.fn, KINKS)
    for want, have in zip(expected, actual, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-6, atol=1e-6)


def test_leaky_relu_has_slope_alpha_at_zero():
    alpha = jnp.float32(0.25)
    expected = _tensorflow(lambda x: tf.nn.leaky_relu(x, 0.25), KINKS)
    actual = _pure(lambda x: OPS["nn.leaky_relu"].fn(x, alpha), KINKS)
    for want, have in zip(expected, actual, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-6)


def test_leaky_relu_of_integers_is_float32():
    y = OPS["nn.leaky_relu"].fn(jnp.array([1, -2], jnp.int32), jnp.float32(0.5))
    assert y.dtype == jnp.float32
    assert y.tolist() == [1.0, -1.0]


def test_leaky_relu_of_complex_numbers_raises():
    with pytest.raises(InvalidArgumentError, match="half, bfloat16, float, double"):
        OPS["nn.leaky_relu"].fn(jnp.ones(2, jnp.complex64), jnp.float32(0.5))


@pytest.mark.parametrize("name", ["relu", "relu6", "elu", "selu"])
def test_nan_stays_nan(name):
    assert np.isnan(getattr(activation, name).op.fn(jnp.array([jnp.nan]))).all()


def test_elu_and_selu_do_not_overflow_in_the_branch_not_taken():
    for fn in (OPS["nn.elu"].fn, OPS["nn.selu"].fn):
        assert np.isfinite(jax.grad(lambda x, fn=fn: fn(x))(jnp.float32(1000.0)))


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu_and_its_derivatives_are_those_of_tensorflow(approximate):
    expected = _tensorflow(lambda x: tf.nn.gelu(x, approximate), KINKS)
    actual = _pure(lambda x: OPS["nn.gelu"].fn(x, approximate), KINKS)
    for want, have in zip(expected, actual, strict=True):
        np.testing.assert_allclose(have, want, rtol=2e-5, atol=2e-6)


def test_gelu_of_integers_raises_value_error():
    with pytest.raises(ValueError, match="must be a floating point tensor"):
        OPS["nn.gelu"].fn(jnp.arange(3))


def test_silu_has_a_gradient_for_beta():
    x, beta = KINKS, 1.5
    variable = tf.constant(beta)
    with tf.GradientTape() as tape:
        tape.watch(variable)
        y = tf.nn.silu(x, variable)
    expected = tape.gradient(y, variable).numpy()
    actual = jax.grad(lambda beta: jnp.sum(OPS["nn.silu"].fn(jnp.asarray(x), beta)))(
        jnp.float32(beta)
    )
    np.testing.assert_allclose(actual, expected, rtol=1e-5)


def test_crelu_along_an_axis_out_of_range_raises():
    with pytest.raises(InvalidArgumentError, match=r"range \[-2, 2\), but got 5"):
        OPS["nn.crelu"].fn(jnp.ones((2, 2)), 5)
