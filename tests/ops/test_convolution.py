"""Convolutions: every formulation against the library's, what TensorFlow's CPU lacks, errors."""

from __future__ import annotations

import importlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

from tapejax._src.core.errors import InvalidArgumentError, UnimplementedError
from tapejax._src.engine.registry import OPS
from tapejax._src.ops import convolution_kernels

tf: Any = tensorflow
# Importing a module registers its ops.
importlib.import_module("tapejax._src.ops.convolution")
importlib.import_module("tapejax._src.ops.transposed_convolution")

conv2d = OPS["nn.conv2d"].fn
depthwise = OPS["nn.depthwise_conv2d"].fn
conv2d_transpose = OPS["nn.conv2d_transpose"].fn


def _normal(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def _all_orders(fn, x, filters):
    def total(x, filters):
        return jnp.sum(jnp.sin(fn(x, filters)))

    gradient = jax.grad(total, (0, 1))
    second = jax.grad(lambda x, f: sum(jnp.sum(g**2) for g in gradient(x, f)), (0, 1))
    tangents = (jnp.cos(x), jnp.cos(filters))
    mixed = jax.jvp(gradient, (x, filters), tangents)[1]
    return fn(x, filters), *gradient(x, filters), *second(x, filters), *mixed


@pytest.mark.parametrize("channels", [1, 3, 6])
@pytest.mark.parametrize(
    ("stride", "padding", "dilation"), [(1, "SAME", 1), (2, "VALID", 1), (1, "VALID", 2)]
)
def test_every_formulation_agrees_with_the_library(
    channels, stride, padding, dilation, monkeypatch
):
    x, filters = _normal(2, 6, 5, channels), _normal(3, 2, channels, 4, seed=1)

    def fn(x, filters):
        return conv2d(x, filters, stride, padding, "NHWC", dilation)

    actual = _all_orders(fn, x, filters)
    monkeypatch.setattr(convolution_kernels, "on_cpu", lambda: False)
    for have, want in zip(actual, _all_orders(fn, x, filters), strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("multiplier", [1, 2])
def test_depthwise_formulations_agree(multiplier, monkeypatch):
    x, filters = _normal(2, 6, 5, 3), _normal(3, 2, 3, multiplier, seed=1)

    def fn(x, filters):
        return depthwise(x, filters, (1, 1, 1, 1), "SAME")

    actual = _all_orders(fn, x, filters)
    monkeypatch.setattr(convolution_kernels, "on_cpu", lambda: False)
    for have, want in zip(actual, _all_orders(fn, x, filters), strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-4)


def test_channels_first_equals_channels_last_transposed():
    x, filters = _normal(2, 5, 4, 3), _normal(2, 2, 3, 2)
    last = conv2d(x, filters, 2, "SAME")
    first = conv2d(x.transpose(0, 3, 1, 2), filters, (1, 1, 2, 2), "SAME", "NCHW")
    np.testing.assert_allclose(first, last.transpose(0, 3, 1, 2), rtol=1e-6)


@pytest.mark.parametrize("filters", [(2, 2, 2, 4), (2, 2, 1, 8)])
def test_grouped_convolution_is_that_of_tensorflow(filters):
    x, filters = _normal(1, 4, 4, 4), _normal(*filters)
    expected = tf.nn.conv2d(np.asarray(x), np.asarray(filters), 1, "VALID").numpy()
    np.testing.assert_allclose(conv2d(x, filters, 1, "VALID"), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_dtypes_without_a_library_kernel_are_exact(dtype):
    with jax.enable_x64(True):
        x = np.arange(18, dtype=dtype).reshape(1, 3, 3, 2)
        filters = np.arange(8, dtype=dtype).reshape(2, 2, 2, 1)
        actual = conv2d(jnp.asarray(x), jnp.asarray(filters), 1, "SAME")
        assert actual.dtype == dtype
        np.testing.assert_array_equal(actual, tf.nn.conv2d(x, filters, 1, "SAME").numpy())


@pytest.mark.parametrize(
    ("stride", "padding", "size"), [(1, "VALID", 4), (2, "SAME", 6), (2, "SAME", 5)]
)
def test_transposed_convolution_is_the_transpose(stride, padding, size):
    filters = _normal(2, 2, 3, 2)
    x = _normal(1, size, size, 3)
    y, transpose = jax.vjp(lambda x: conv2d(x, filters, stride, padding), x)
    cotangent = _normal(*y.shape, seed=2)
    actual = conv2d_transpose(cotangent, filters, (1, size, size, 3), stride, padding)
    np.testing.assert_allclose(actual, transpose(cotangent)[0], rtol=1e-5, atol=1e-5)


def test_transposed_convolution_of_an_impossible_size_raises():
    with pytest.raises(InvalidArgumentError, match="gives 5"):
        conv2d_transpose(jnp.ones((1, 2, 2, 1)), jnp.ones((2, 2, 1, 1)), (1, 9, 9, 1), 2)


X, FILTERS = (1, 3, 3, 1), (2, 2, 1, 1)


@pytest.mark.parametrize(
    ("x", "filters", "arguments", "error", "match"),
    [
        (X, (2, 2, 2, 1), (1, "VALID"), InvalidArgumentError, "filter depth: 1 vs 2"),
        ((3, 3, 1), FILTERS, (1, "VALID"), InvalidArgumentError, "input must be 4-dimensional"),
        (X, (2, 2, 1), (1, "VALID"), InvalidArgumentError, "filter must be 4-dimensional"),
        (X, FILTERS, ((1, 2, 2), "VALID"), ValueError, "strides should be of length 1, 2 or 4"),
        (X, FILTERS, ((2, 1, 1, 1), "VALID"), UnimplementedError, "batch"),
        (X, FILTERS, (0, "VALID"), InvalidArgumentError, "strides should be larger than 0"),
        (X, FILTERS, (1, "valid"), InvalidArgumentError, "attr 'padding' of \"valid\""),
        (X, FILTERS, (1, ((1, 0), (0, 0), (0, 0), (0, 0))), InvalidArgumentError, "batch or depth"),
        (X, FILTERS, (1, ((0, 0), (-1, 0), (0, 0), (0, 0))), InvalidArgumentError, "nonnegative"),
        (X, FILTERS, (1, (1, 1)), ValueError, "list/tuple of size 2"),
        (X, FILTERS, (1, "VALID", "NHCW"), InvalidArgumentError, "attr 'data_format'"),
        (X, FILTERS, (1, "VALID", "NHWC", 0), InvalidArgumentError, "larger than 0"),
        (
            (1, 3, 3, 4),
            (2, 2, 2, 3),
            (1, "VALID"),
            InvalidArgumentError,
            "number of groups: 3 vs 2",
        ),
    ],
)
def test_wrong_arguments_raise_as_in_tensorflow(x, filters, arguments, error, match):
    with pytest.raises(error, match=match):
        conv2d(jnp.ones(x), jnp.ones(filters), *arguments)


def test_a_window_larger_than_the_input_gives_an_empty_result():
    assert conv2d(jnp.ones(X), jnp.ones((4, 4, 1, 1)), 1, "VALID").shape == (1, 0, 0, 1)


def test_no_examples_give_no_outputs_and_a_zero_gradient_of_the_filters():
    # TensorFlow's result has the input's shape then, whatever the filters and strides.
    x, filters = jnp.ones((0, 5, 5, 1)), _normal(2, 2, 1, 3)
    out, pull = jax.vjp(lambda x, f: conv2d(x, f, 2, "VALID"), x, filters)
    assert out.shape == (0, 2, 2, 3)
    of_x, of_filters = pull(out)
    assert of_x.shape == x.shape
    np.testing.assert_array_equal(of_filters, np.zeros(filters.shape))
