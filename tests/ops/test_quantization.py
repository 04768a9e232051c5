"""Quantization against TensorFlow: integers, ranges, modes, axes, errors."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import tapejax

RANDOM = np.random.default_rng(0)
X = (RANDOM.normal(size=(3, 40)) * 2).astype(np.float32)


def _pair(function):
    return function(tapejax), function(tensorflow)


@pytest.mark.parametrize("kind", ["qint8", "quint8", "qint16", "quint16"])
@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
@pytest.mark.parametrize("axis", [None, 0])
def test_quantize_and_dequantize_are_those_of_tensorflow(kind, mode, axis):
    if mode == "MIN_FIRST" and axis is not None:
        axis = None  # TensorFlow has no such kernel
    low, high = (-1.5, 3.0) if axis is None else ([-1.5, -0.5, -2.0], [3.0, 1.0, 0.5])

    def quantized(tf):
        return tf.quantization.quantize(X, low, high, getattr(tf, kind), mode, axis=axis)

    ours, theirs = _pair(quantized)
    integers = theirs.output.numpy()
    assert ours.output.numpy().dtype == integers.dtype
    off = np.abs(ours.output.numpy().astype(int) - integers.astype(int))
    # One step where a product lies at a half: TensorFlow's vectorized kernels round it either way.
    assert off.max() <= (1 if mode == "MIN_FIRST" or "16" in kind else 0)
    assert np.mean(off) < 0.05
    np.testing.assert_allclose(ours.output_min.numpy(), theirs.output_min.numpy(), rtol=1e-6)
    np.testing.assert_allclose(ours.output_max.numpy(), theirs.output_max.numpy(), rtol=1e-6)
    back = tensorflow.quantization.dequantize(*theirs, mode, axis=axis)
    mine = tapejax.quantization.dequantize(
        integers, *[bound.numpy() for bound in theirs[1:]], mode, axis=axis
    )
    np.testing.assert_allclose(mine.numpy(), back.numpy(), rtol=1e-5, atol=1e-6)


def test_values_beyond_the_range_are_the_ends_of_the_integers():
    y = tapejax.quantization.quantize([-9.0, 0.0, 9.0], -1.0, 1.0, tapejax.qint32, "SCALED")
    assert y.output.numpy().tolist() == [-(2**31), 0, 2**31 - 1]


def test_half_to_even_is_symmetric_to_the_range_that_is_returned():
    y = tapejax.quantization.quantize(
        [-1.0, 0.5, 2.0], -2.0, 2.0, tapejax.qint8, "SCALED", "HALF_TO_EVEN", narrow_range=True
    )
    assert y.output.numpy().tolist() == [-64, 32, 127]
    assert (float(y.output_min), float(y.output_max)) == (-2.0, 2.0)


@pytest.mark.parametrize("axis", [1, 0])
def test_ranges_of_an_axis_are_measured(axis):
    ours, theirs = _pair(
        lambda tf: tf.quantization.quantize_and_dequantize(X, 0.0, 0.0, num_bits=5, axis=axis)
    )
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


def test_bounds_of_an_axis_pass_gradients_between_them():
    x = tapejax.constant([[-3.0, 0.5], [-3.0, 0.5]])
    with tapejax.GradientTape() as tape:
        tape.watch(x)
        y = tapejax.quantization.quantize_and_dequantize_v2(
            x, [-1.0, -4.0], [1.0, 0.0], range_given=True, axis=0
        )
    assert tape.gradient(y, x).numpy().tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("bits", [2, 8, 16])
@pytest.mark.parametrize("narrow", [False, True])
def test_fake_quantization_is_that_of_tensorflow_to_the_last_step(bits, narrow):
    ours, theirs = _pair(
        lambda tf: tf.quantization.fake_quant_with_min_max_vars(X, -1.3, 2.7, bits, narrow)
    )
    away = np.abs(ours.numpy() - theirs.numpy())
    # A value in the middle between two steps may be rounded to either.
    assert away.max() <= 1.01 * 4.0 / (2**bits - 2)
    assert np.count_nonzero(away > 1e-6) <= (1 if bits == 16 else 0)


def test_a_learned_range_gets_gradients(tf):
    low, high = tf.Variable(-1.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.quantization.fake_quant_with_min_max_vars([-7.0, -2.0, 0.5, 9.0], low, high)
    gradients = tape.gradient(y, [low, high])
    assert [float(gradient) for gradient in gradients] == [2.0, 1.0]


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda q, tf: q.fake_quant_with_min_max_args(X, 5, 1), "min has to be smaller than max"),
        (lambda q, tf: q.fake_quant_with_min_max_args(X, num_bits=1), "between 2 and 16"),
        (lambda q, tf: q.fake_quant_with_min_max_vars(X, 0.0, [0.0]), "`max` must be rank 0"),
        (
            lambda q, tf: q.fake_quant_with_min_max_vars_per_channel(X, [0.0], [0.0]),
            "incorrect size, expected",
        ),
        (lambda q, tf: q.quantize_and_dequantize_v2(X, 0.0, 1.0, num_bits=64), "out of range"),
        (
            lambda q, tf: q.quantize_and_dequantize_v2(X, 3.0, 1.0, range_given=True),
            "Invalid range: input_min 3",
        ),
        (
            lambda q, tf: q.quantize_and_dequantize_v2(X, 0.0, 1.0, round_mode="UP"),
            "not in the list of allowed values",
        ),
        (lambda q, tf: q.quantize(X, 0.0, 1.0, tf.float32), "not in the list of allowed values"),
        (lambda q, tf: q.quantize(X, 3.0, 1.0, tf.qint8), "must be larger than input_min_range"),
        (lambda q, tf: q.quantize(X, 0.0, 1.0, tf.qint8, "NONE"), "not in the list of allowed"),
    ],
)
def test_wrong_arguments_raise_as_in_tensorflow(tf, call, match):
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        call(tf.quantization, tf)


def test_integers_have_no_gradient(tf):
    low = tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch(low)
        q = tf.quantization.quantize([0.5], low, 1.0, tf.quint8)
        y = tf.quantization.dequantize(*q)
    with pytest.raises(LookupError, match="no entry for: Dequantize"):
        tape.gradient(y, low)
