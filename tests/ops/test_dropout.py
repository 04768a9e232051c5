"""Dropout: the decisions are TensorFlow's for the same seeds; errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow

import tapejax
from tapejax._src.engine.convert import as_tensor
from tapejax._src.ops.dropout import dropout

tf: Any = tensorflow


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("noise_shape", [None, [3, 1], [None, 1]])
def test_the_same_seed_drops_the_same_elements_as_tensorflow(dtype, noise_shape):
    tf.random.set_seed(1)
    tapejax.random.set_seed(1)
    x = np.ones((3, 2), dtype)
    expected = tf.nn.dropout(tf.constant(x), 0.5, noise_shape, seed=3).numpy()
    np.testing.assert_array_equal(dropout(as_tensor(x), 0.5, noise_shape, seed=3).numpy(), expected)


def _gradients(library, rate):
    """First and second gradients, for the input and the rate, of a dropout with a fixed seed."""
    library.random.set_seed(1)
    sources = [library.constant(np.arange(1.0, 7.0)), library.constant(np.float64(rate))]
    with library.GradientTape() as outer:
        outer.watch(sources)
        with library.GradientTape() as inner:
            inner.watch(sources)
            y = library.nn.dropout(*sources, seed=3)
        first = inner.gradient(y, sources)
    second = outer.gradient(first[0], sources)
    return [None if g is None else g.numpy() for g in (*first, *second)]


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_gradients_are_those_of_tensorflow_also_for_the_rate(rate):
    for actual, expected in zip(_gradients(tapejax, rate), _gradients(tf, rate), strict=True):
        if actual is None or expected is None:
            assert actual is expected
        else:
            np.testing.assert_allclose(actual, expected, rtol=1e-14)


@pytest.mark.parametrize("rate", [1.5, 1.0, 1, -0.5, "a"])
def test_a_rate_out_of_range_raises_value_error(rate):
    with pytest.raises(ValueError, match="`rate` must be a scalar"):
        dropout([1.0, 2.0], rate)


def test_a_rate_tensor_of_another_dtype_raises_value_error():
    with pytest.raises(ValueError, match="must be compatible"):
        dropout([1.0], as_tensor(np.float64(0.5)))


def test_integers_raise_value_error():
    with pytest.raises(ValueError, match="must be a floating point tensor"):
        dropout([1, 2], 0.5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_dropout_from_a_seed_or_a_source_drops_what_tensorflow_drops(dtype, rate):
    def program(library):
        x = library.constant(np.linspace(-3, 3, 60).reshape(6, 10), dtype)
        dropouts = library.nn.experimental
        generator = library.random.Generator.from_seed(5)
        return [
            dropouts.stateless_dropout(x, rate, [1, 2]),
            dropouts.stateless_dropout(x, rate, [1, 2], "philox", [6, 1]),
            dropouts.general_dropout(x, rate, generator.uniform),
            dropouts.general_dropout(x, rate, generator.uniform, [None, 1]),
        ]

    for ours, theirs in zip(program(tapejax), program(tf), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_a_rate_of_zero_takes_a_seed_and_no_numbers():
    def program(library):
        library.random.set_seed(1)
        for seed in (None, 4):
            library.nn.dropout(library.ones([3]), 0.0, seed=seed)
        return [library.random.uniform([2]), library.random.uniform([2], seed=4)]

    for ours, theirs in zip(program(tapejax), program(tf), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_dropout_from_a_source_refuses_what_dropout_refuses():
    for rate in (1.5, "a"):
        with pytest.raises(ValueError, match="`rate` must be a scalar"):
            tapejax.nn.experimental.stateless_dropout([1.0], rate, [1, 2])
    with pytest.raises(ValueError, match="floating point"):
        tapejax.nn.experimental.general_dropout([1], 0.5, tapejax.random.uniform)
