"""Stateless random functions beside TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import tapejax as tf

FLOATS = ["float16", "bfloat16", "float32", "float64"]
each_seed = pytest.mark.parametrize("seed", [[0, 0], (-3, 7), [2**40 + 3, -(2**50)]])
each_size = pytest.mark.parametrize("shape", [[], [0, 3], [3, 5, 2], [1001]])


def _both(name, *args, **kwargs):
    theirs = getattr(tensorflow.random, name)(*args, **kwargs).numpy()
    ours = getattr(tf.random, name)(*args, **kwargs).numpy()
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    return ours, theirs


def _assert_equal(name, *args, **kwargs):
    assert np.array_equal(*_both(name, *args, **kwargs))


def _assert_close(name, *args, **kwargs):
    ours, theirs = _both(name, *args, **kwargs)
    spacing = np.abs(np.spacing(theirs)).astype(np.float64)
    difference = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    assert np.all(difference <= 2 * spacing)


@each_seed
@each_size
def test_uniform_numbers_are_tensorflows_bit_for_bit(seed, shape):
    for dtype in FLOATS:
        _assert_equal("stateless_uniform", shape, seed, dtype=dtype)
        _assert_equal("stateless_uniform", shape, seed, -0.3, 1.1, dtype)


@each_seed
@each_size
def test_integers_are_tensorflows(seed, shape):
    for dtype in ("int32", "int64"):
        _assert_equal("stateless_uniform", shape, seed, -5, 1000, dtype)
    for dtype in ("int32", "int64", "uint32", "uint64"):
        _assert_equal("stateless_uniform", shape, seed, None, None, dtype)


@each_seed
@each_size
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_normal_numbers_are_within_two_units_in_the_last_place(seed, shape, dtype):
    _assert_close("stateless_normal", shape, seed, dtype=dtype)
    _assert_close("stateless_truncated_normal", shape, seed, dtype=dtype)


@each_seed
def test_categories_are_tensorflows(seed):
    logits = np.array([[0.0, 1.0, -1.0], [3.0, 0.0, 0.0]], np.float32)
    for count in (0, 1, 9):
        _assert_equal("stateless_categorical", logits, count, seed)
        _assert_equal("stateless_categorical", logits, count, seed, "int32")


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_seeds_are_split_and_folded_as_in_tensorflow(dtype):
    seed = np.array([5, -6], dtype)
    _assert_equal("split", seed)
    _assert_equal("split", seed, num=5)
    _assert_equal("fold_in", seed, 8)
    _assert_equal("fold_in", [1, 2], np.array(8, dtype))


@pytest.mark.parametrize("alg", ["philox", "Auto-Select", 1, 3, None, "PHILOX"])
def test_every_name_of_the_algorithm_gives_the_same_numbers(alg):
    _assert_equal("stateless_uniform", [5], [1, 2], alg=alg)
    assert np.array_equal(
        tf.random.stateless_uniform([5], [1, 2], alg=tf.random.Algorithm.PHILOX),
        tensorflow.random.stateless_uniform([5], [1, 2]),
    )


def test_the_algorithms_have_tensorflows_numbers():
    ours = {item.name: item.value for item in tf.random.Algorithm}
    assert ours == {item.name: item.value for item in tensorflow.random.Algorithm}


def test_a_function_takes_seeds_as_tensors():
    def drawn(tf, seed):
        def body(i, total):
            return i + 1, total + tf.random.stateless_uniform([3], tf.random.fold_in(seed, i))

        return tf.while_loop(lambda i, total: i < 4, body, (0, tf.zeros([3])))[1]

    traced = tf.function(lambda seed: drawn(tf, seed))
    for seed in ([1, 2], [3, 4]):
        theirs = drawn(tensorflow, tensorflow.constant(seed)).numpy()
        assert np.allclose(traced(tf.constant(seed)).numpy(), theirs, rtol=1e-6)
        assert np.allclose(drawn(tf, tf.constant(seed)).numpy(), theirs, rtol=1e-6)


def test_gradients_flow_to_bounds_mean_and_stddev_as_in_tensorflow():
    def gradients(tf):
        low, high = tf.Variable(1.0), tf.Variable(3.0)
        with tf.GradientTape(persistent=True) as tape:
            y = tf.random.stateless_uniform([5], [1, 2], low, high)
            z = tf.random.stateless_normal([5], [1, 2], low, high)
        return [float(tape.gradient(t, v)) for t in (y, z) for v in (low, high)]

    assert np.allclose(gradients(tf), gradients(tensorflow), rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (([2], [1, 2, 3]), {}),
        (([2], 1), {}),
        (([2], [1.0, 2.0]), {}),
        ((3, [1, 2]), {}),
        (([-1], [1, 2]), {}),
        (([2], [1, 2], 3, 3), {"dtype": "int32"}),
        (([2], [1, 2], [3, 3], 9), {"dtype": "int32"}),
        (([2], [1, 2], 0), {"dtype": "int32"}),
        (([2], [1, 2], 0, 9), {"dtype": "uint32"}),
        (([2], [1, 2], None), {}),
        (([2], [1, 2]), {"dtype": "bool"}),
        (([2], [1, 2]), {"alg": "threefry"}),
        (([2], [1, 2]), {"alg": "other"}),
        (([2], [1, 2]), {"alg": 7}),
        (([2], [1, 2]), {"alg": 1.5}),
    ],
)
def test_arguments_that_make_no_sense_raise_what_tensorflow_raises(arguments, options):
    with pytest.raises(Exception) as theirs:  # noqa: PT011  (its type is compared)
        tensorflow.random.stateless_uniform(*arguments, **options)
    with pytest.raises(Exception) as ours:  # noqa: PT011
        tf.random.stateless_uniform(*arguments, **options).numpy()
    assert ours.type.__name__ == theirs.type.__name__


@pytest.mark.parametrize(
    "arguments",
    [([1.0], 2, [1, 2]), ([[1.0]], -1, [1, 2]), ([[1.0]], 2, [1]), ([[1.0]], [2], [1, 2])],
)
def test_categories_of_no_distribution_raise(arguments):
    with pytest.raises(tensorflow.errors.InvalidArgumentError):
        tensorflow.random.stateless_categorical(*arguments)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.random.stateless_categorical(*arguments)


def test_categories_are_integers():
    for library in (tf, tensorflow):
        with pytest.raises(ValueError, match="Accepted dtypes"):
            library.random.stateless_categorical([[1.0]], 1, [1, 2], "float32")
