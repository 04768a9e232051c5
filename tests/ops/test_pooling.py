"""Pooling: both formulations against each other, ties, forward mode, errors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

from tapejax._src.core.errors import InvalidArgumentError, UnimplementedError
from tapejax._src.engine.registry import OPS
from tapejax._src.ops import pooling, pooling_kernels

tf: Any = tensorflow

max_pool = OPS["nn.max_pool"].fn
avg_pool = OPS["nn.avg_pool"].fn


def _image(*shape, levels=3):
    """Small integers, so that windows have ties."""
    return np.random.default_rng(0).integers(0, levels, shape).astype(np.float32)


@pytest.mark.parametrize(
    ("ksize", "stride", "padding"), [(2, 2, "VALID"), (3, 2, "SAME"), (2, 1, "SAME")]
)
@pytest.mark.parametrize("name", ["max_pool", "avg_pool"])
def test_value_and_gradient_with_ties_are_those_of_tensorflow(name, ksize, stride, padding):
    x = _image(2, 6, 5, 3)
    source = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(source)
        y = getattr(tf.nn, name)(source, ksize, stride, padding)
    weights = np.random.default_rng(1).normal(size=y.shape).astype(np.float32)
    expected = tape.gradient(y, source, output_gradients=tf.constant(weights))

    fn = getattr(pooling, name).op.fn
    value, pullback = jax.vjp(lambda x: fn(x, ksize, stride, padding), jnp.asarray(x))
    np.testing.assert_allclose(value, y.numpy(), rtol=1e-6)
    np.testing.assert_allclose(
        pullback(jnp.asarray(weights))[0], expected.numpy(), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("fn", [max_pool, avg_pool])
def test_both_formulations_agree(fn, monkeypatch):
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 6, 5, 3)).astype(np.float32))

    def all_of_it():
        def pool(x):
            return fn(x, 3, 2, "SAME") ** 2

        total = jax.grad(lambda x: jnp.sum(pool(x)))
        return pool(x), total(x), jax.jvp(total, (x,), (jnp.cos(x),))[1]

    sliced = all_of_it()
    monkeypatch.setattr(pooling_kernels, "on_cpu", lambda: False)
    for have, want in zip(sliced, all_of_it(), strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-6)


def test_a_large_window_falls_back_to_reduce_window():
    x = _image(1, 9, 9, 1, levels=100)
    expected = tf.nn.max_pool2d(x, 5, 2, "SAME").numpy()
    np.testing.assert_array_equal(max_pool(jnp.asarray(x), 5, 2, "SAME"), expected)


def test_explicit_padding_never_wins():
    x = -1 - _image(1, 3, 3, 1)
    pads = ((0, 0), (1, 1), (0, 1), (0, 0))
    expected = tf.nn.max_pool2d(x, 2, 1, [list(pad) for pad in pads]).numpy()
    np.testing.assert_array_equal(max_pool(jnp.asarray(x), 2, 1, pads), expected)


def test_channels_first_equals_channels_last_transposed():
    x = _image(2, 5, 4, 3)
    last = avg_pool(jnp.asarray(x), 2, 1, "SAME")
    first = avg_pool(jnp.asarray(x.transpose(0, 3, 1, 2)), 2, 1, "SAME", "NCHW")
    np.testing.assert_array_equal(first, last.transpose(0, 3, 1, 2))


def test_nan_in_a_window_gives_nan():
    for values in ([np.nan, 1.0], [1.0, np.nan]):
        x = jnp.asarray(values, jnp.float32).reshape(1, 2, 1)
        assert np.isnan(max_pool(x, 2, 1, "VALID")).all()


@pytest.mark.parametrize("fn", [max_pool, avg_pool])
@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((2, 1, "FOO"), InvalidArgumentError, "not in the list of allowed values"),
        ((0, 1, "VALID"), InvalidArgumentError, "must be positive"),
        ((2, 0, "VALID"), InvalidArgumentError, "Stride must be > 0, but got 0"),
        (((1, 2, 3), 1, "SAME"), ValueError, "ksize should be of length 1, 2 or 4"),
        ((5, 1, "VALID"), InvalidArgumentError, "output size would be negative: -1"),
        (((2, 2, 2, 1), 1, "VALID"), UnimplementedError, "must be 1 for the batch"),
        ((2, 1, "VALID", "NCHX"), InvalidArgumentError, "data_format"),
    ],
)
def test_wrong_arguments_raise_as_in_tensorflow(fn, arguments, error, match):
    with pytest.raises(error, match=match):
        fn(jnp.ones((1, 3, 3, 1)), *arguments)


def test_a_matrix_cannot_be_pooled():
    with pytest.raises(ValueError, match="must be 3, 4 or 5"):
        max_pool(jnp.ones((3, 1)), 2, 1, "VALID")


def test_average_pooling_takes_no_list_of_pads():
    with pytest.raises(TypeError, match="Expected string for argument 'padding'"):
        avg_pool(jnp.ones((1, 3, 3, 1)), 2, 1, ((0, 0), (1, 1), (0, 0), (0, 0)))
