"""Moments, batch normalization, local response normalization, bias: edges and errors."""

from __future__ import annotations

import importlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import OPS

tf: Any = tensorflow
# Importing a module registers its ops.
importlib.import_module("tapejax._src.ops.normalization")


def test_hessian_of_the_variance_is_the_mathematical_one():
    x = jnp.array([1.0, 3.0, 5.0])
    hessian = jax.hessian(lambda x: OPS["nn.moments"].fn(x, 0)[1])(x)
    np.testing.assert_allclose(hessian, 2 / 3 * (np.eye(3) - 1 / 3), rtol=1e-5)


def test_moments_of_half_width_numbers_do_not_overflow():
    x = np.full(1000, 300, np.float16)
    mean, variance = OPS["nn.moments"].fn(jnp.asarray(x), 0)
    assert (float(mean), float(variance), mean.dtype) == (300.0, 0.0, jnp.float16)


@pytest.mark.parametrize(("axes", "match"), [((5,), "dimension"), ((0, -2), "duplicate")])
def test_moments_over_wrong_axes_raise(axes, match):
    with pytest.raises(InvalidArgumentError, match=match):
        OPS["nn.moments"].fn(jnp.ones((2, 3)), axes)


def test_batch_normalization_takes_statistics_wider_than_its_input():
    x = np.ones((1, 2), np.float16)
    mean, variance = np.zeros(2, np.float32), np.ones(2, np.float32)
    tensors = [tf.constant(value) for value in (x, mean, variance)]
    expected = tf.nn.batch_normalization(*tensors, None, None, 1e-3)
    actual = OPS["nn.batch_normalization"].fn(
        *map(jnp.asarray, (x, mean, variance)), None, None, jnp.float32(1e-3)
    )
    assert actual.dtype == jnp.float16
    np.testing.assert_array_equal(actual, expected.numpy())


@pytest.mark.parametrize("data_format", ["NCHW", "NCW", "NC", "N..C", None])
def test_bias_add_reads_the_channel_axis_from_the_format(data_format):
    value, bias = np.arange(4.0, dtype=np.float32).reshape(1, 2, 2), np.array([1, 2], np.float32)
    expected = tf.nn.bias_add(value, bias, data_format).numpy()
    actual = OPS["nn.bias_add"].fn(jnp.asarray(value), jnp.asarray(bias), data_format)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("value", "bias", "match"),
    [((1, 2), (3,), "as many biases"), ((2,), (2,), "at least 2D"), ((1, 2), (1, 2), "must be 1D")],
)
def test_bias_add_of_wrong_shapes_raises(value, bias, match):
    with pytest.raises(InvalidArgumentError, match=match):
        OPS["nn.bias_add"].fn(jnp.ones(value), jnp.ones(bias))


def test_bias_add_of_an_unknown_format_raises_value_error():
    with pytest.raises(ValueError, match="data_format=XX"):
        OPS["nn.bias_add"].fn(jnp.ones((1, 2)), jnp.ones(2), "XX")


def test_local_response_normalization_of_a_matrix_raises():
    one = jnp.float32(1)
    with pytest.raises(InvalidArgumentError, match="must be 4-dimensional"):
        OPS["nn.local_response_normalization"].fn(jnp.ones((2, 2)), 5, one, one, one)
