"""Fractional pooling: TensorFlow's windows for the same seeds."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import tapejax

RATIOS = [(1.0, 1.44, 1.73, 1.0), (1.0, 2.3, 3.7, 1.0), (1.0, 1.0, 5.0, 1.0)]


@pytest.mark.parametrize("name", ["fractional_max_pool", "fractional_avg_pool"])
@pytest.mark.parametrize("pseudo_random", [False, True])
@pytest.mark.parametrize("overlapping", [False, True])
def test_windows_values_and_gradients_are_those_of_tensorflow(name, pseudo_random, overlapping):
    x = np.random.default_rng(0).integers(0, 99, (2, 20, 13, 2)).astype(np.float32)
    for ratios, seed in zip(RATIOS, (1, 7, 123), strict=True):
        found = []
        for tf in (tapejax, tensorflow):
            source = tf.constant(x)
            with tf.GradientTape() as tape:
                tape.watch(source)
                pooled = getattr(tf.nn, name)(source, ratios, pseudo_random, overlapping, seed)
                total = tf.reduce_sum(pooled.output**2)
            found.append([*pooled, tape.gradient(total, source)])
        for ours, theirs in zip(*found, strict=True):
            assert ours.dtype.name == theirs.dtype.name
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5)


def test_a_seed_gives_the_same_windows_at_each_call_and_none_gives_others(tf):
    x = np.zeros((1, 60, 60, 1), np.float32)

    def rows(seed):
        return tf.nn.fractional_max_pool(x, 1.5, seed=seed).row_pooling_sequence.numpy().tolist()

    assert rows(3) == rows(3) != rows(4)
    assert rows(0) != rows(0)
    tf.random.set_seed(1)
    with_global = rows(3)
    tf.random.set_seed(1)
    assert rows(3) == rows(3) == with_global


def test_a_function_draws_new_windows_at_each_call():
    pooled = tapejax.function(lambda x: tapejax.nn.fractional_max_pool(x, 1.5)[1])
    x = tapejax.zeros([1, 60, 60, 1])
    assert pooled(x).numpy().tolist() != pooled(x).numpy().tolist()


def test_wrong_ratios_are_refused(tf):
    x = np.zeros((1, 6, 6, 1), np.float32)
    with pytest.raises(ValueError, match=r">= 1\.0"):
        tf.nn.fractional_max_pool(x, 0.9, seed=1)
    with pytest.raises(ValueError, match=r"first and last elements with value 1\.0"):
        tf.nn.fractional_max_pool(x, (1.0, 1.1, 1.1, 1.2), seed=1)
    with pytest.raises(TypeError, match="Expected list for 'pooling_ratio'"):
        tf.nn.fractional_avg_pool(x, 1.2, seed=1)
