"""Philox and its distributions as pure functions, against TensorFlow's kernels."""

from __future__ import annotations

from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest
import tensorflow

from tapejax._src.ops import philox

FLOATS = [np.dtype(d) for d in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)]
each_float = pytest.mark.parametrize("dtype", FLOATS, ids=str)
each_pair = pytest.mark.parametrize("seeds", [(42, 7), (87654321, 1), (2**31 - 2, 2**31 - 2)])
RAW = tensorflow.raw_ops


def _state(seeds, skipped=0) -> Any:
    first, second = seeds
    counter = (second << 64) + skipped
    words = [first, first >> 32, *(counter >> (32 * i) for i in range(4))]
    return np.array([word & 0xFFFFFFFF for word in words], np.uint32)


def _words(*values) -> Any:
    return np.array(values, np.uint32)


def _ours(function, *args):
    with jax.enable_x64(True):
        return np.asarray(jax.jit(function, static_argnums=range(1, len(args)))(*args))


def _theirs(name, seeds, **arguments):
    tensorflow.random.set_seed(0)  # forget the counters of kernels that ran before
    return getattr(RAW, name)(seed=seeds[0], seed2=seeds[1], **arguments).numpy()


def test_a_block_of_ones_is_the_published_one():
    """Known answer of the reference implementation for an all-ones counter and key."""
    with jax.enable_x64(True):
        block = philox.blocks(_words(*[0xFFFFFFFF] * 6), _words(0))
    words = [hex(int(word[0])) for word in block]
    assert words == ["0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]


def test_the_counter_carries_over_all_its_words():
    state = _words(1, 2, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 5)
    carried = _words(1, 2, 1, 0, 0, 6)
    with jax.enable_x64(True):
        moved = philox.blocks(state, _words(2))
        direct = philox.blocks(carried, _words(0))
    assert all(np.array_equal(a, b) for a, b in zip(moved, direct, strict=True))


@each_pair
@each_float
@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (0,), (100_003,)])
def test_uniform_is_tensorflows_bit_for_bit(dtype, seeds, shape):
    expected = _theirs("RandomUniform", seeds, shape=np.asarray(shape, np.int32), dtype=dtype)
    actual = _ours(philox.uniform, _state(seeds), shape, dtype)
    assert actual.dtype == dtype
    assert np.array_equal(actual, expected)


@each_pair
@each_float
@pytest.mark.parametrize(
    ("name", "function"),
    [("RandomStandardNormal", philox.normal), ("TruncatedNormal", philox.truncated_normal)],
)
def test_normals_are_tensorflows_to_two_units_in_the_last_place(name, function, dtype, seeds):
    expected = _theirs(name, seeds, shape=[100_003], dtype=dtype).astype(np.float64)
    actual = _ours(function, _state(seeds), (100_003,), dtype).astype(np.float64)
    error = np.abs(actual - expected)
    unit = float(ml_dtypes.finfo(dtype).eps) * np.maximum(np.abs(expected), 1e-3)
    assert np.all(error <= 2 * unit)
    if dtype.itemsize >= 4:
        assert np.max(error) < 2e-6


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("bounds", [(0, 10), (-5, 7), (-(2**31), 2**31 - 1)])
def test_integers_are_tensorflows(dtype, bounds):
    low, high = map(dtype, bounds)
    expected = _theirs("RandomUniformInt", (42, 7), shape=[1001], minval=low, maxval=high)
    with jax.enable_x64(True):
        actual = np.asarray(
            philox.uniform_int(_state((42, 7)), (1001,), *map(jax.numpy.asarray, (low, high)))
        )
    assert actual.dtype == dtype
    assert np.array_equal(actual, expected)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
def test_permutations_are_tensorflows(count):
    expected = _theirs("RandomShuffle", (42, 7), value=np.arange(count))
    assert np.array_equal(_ours(philox.permutation, _state((42, 7)), count), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("batch", "classes", "samples"), [(1, 3, 7), (4, 10, 5), (64, 6, 1)])
def test_categories_are_tensorflows(dtype, batch, classes, samples):
    logits = np.random.default_rng(0).normal(size=(batch, classes)).astype(dtype)
    logits[0, 0] = -np.inf
    expected = _theirs("Multinomial", (42, 7), logits=logits, num_samples=samples)
    with jax.enable_x64(True):
        actual = philox.categorical(
            _state((42, 7)), jax.numpy.asarray(logits), samples, np.dtype(np.int64)
        )
    assert np.array_equal(actual, expected)


def test_truncated_normals_have_the_moments_of_the_distribution():
    """Variance of a standard normal cut at 2: 1 - 4 phi(2) / (2 Phi(2) - 1) = 0.7737."""
    drawn = _ours(philox.truncated_normal, _state((3, 5)), (200_000,), np.dtype(np.float64))
    assert np.max(np.abs(drawn)) < 2
    assert abs(np.mean(drawn)) < 4 * np.sqrt(0.7737 / 200_000)
    assert abs(np.var(drawn) - 0.7737) < 0.01
