"""`tf.random` with seeds, call by call beside TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import tapejax as tf
from tapejax._src.ops.random_seed import next_seed

each_seed = pytest.mark.parametrize("seed", [0, 42, 2**40 + 3, -7, np.int64(5)])


def _both(name, *args, **kwargs):
    theirs = getattr(tensorflow.random, name)(*args, **kwargs).numpy()
    ours = getattr(tf.random, name)(*args, **kwargs).numpy()
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    return ours.astype(np.float64), theirs.astype(np.float64)


def _assert_equal(name, *args, **kwargs):
    assert np.array_equal(*_both(name, *args, **kwargs))


def _assert_close(name, *args, **kwargs):
    ours, theirs = _both(name, *args, **kwargs)
    assert np.max(np.abs(ours - theirs), initial=0.0) < 2e-6


def _set_seed(seed):
    tensorflow.random.set_seed(seed)
    tf.random.set_seed(seed)


@each_seed
def test_calls_after_a_global_seed_follow_tensorflows_sequence(seed):
    _set_seed(seed)
    _assert_equal("uniform", [5])
    _assert_close("normal", [3, 4])
    _assert_equal("shuffle", np.arange(50))
    _assert_equal("uniform", [7], maxval=10, dtype="int64")
    _assert_close("truncated_normal", [9])
    _assert_equal("categorical", np.array([[0.0, 1.0, 0.3]], np.float32), 7)
    _assert_equal("uniform", [5])


@each_seed
@pytest.mark.parametrize("name", ["uniform", "normal", "truncated_normal"])
def test_an_op_seed_is_a_sequence_that_moves_on_with_the_number_of_elements(seed, name):
    _set_seed(seed)
    for size in (3, 10, 2, 0, 7):
        for op_seed in (1, 2, 1):
            _assert_close(name, [size], seed=op_seed)


def test_integer_sequences_are_separate_for_each_dtype():
    _set_seed(3)
    for size in (3, 10, 2):
        for dtype in ("int32", "int64", "int32"):
            _assert_equal("uniform", [size], -5, 50, dtype=dtype, seed=1)


def test_shuffles_and_categories_with_an_op_seed_follow_tensorflows_sequence():
    _set_seed(3)
    for size in (3, 10, 2, 1, 5):
        _assert_equal("shuffle", np.arange(size), seed=1)
        _assert_equal("categorical", np.ones([2, 4], np.float32), size, seed=1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("bounds", [(0, 2), (-0.3, 1.1), (5.0, 5.7)])
def test_bounds_are_applied_bit_for_bit(dtype, bounds):
    _set_seed(1)
    _assert_equal("uniform", [1000], *bounds, dtype=dtype)


def test_set_seed_restarts_the_sequences_of_op_seeds():
    drawn = []
    for _ in range(2):
        tf.random.set_seed(9)
        drawn.append([tf.random.uniform([3], seed=4).numpy() for _ in range(2)])
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0][0], drawn[0][1])


def test_gradients_flow_to_bounds_mean_and_stddev():
    low, high = tf.Variable(1.0), tf.Variable(3.0)
    tf.random.set_seed(1)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.random.uniform([5], low, high)
        z = tf.random.normal([5], mean=low, stddev=high)
    unit = (y.numpy() - 1.0) / 2.0
    assert np.allclose(tape.gradient(y, high), unit.sum(), rtol=1e-5)
    assert np.allclose(tape.gradient(y, low), (1 - unit).sum(), rtol=1e-5)
    assert float(tape.gradient(z, low)) == 5.0
    assert np.allclose(tape.gradient(z, high), ((z.numpy() - 1.0) / 3.0).sum(), rtol=1e-4)


def test_shuffle_and_categorical_have_no_gradient():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.random.shuffle(x)
        z = tf.cast(tf.random.categorical(x, 3), tf.float32)
    assert tape.gradient(y, x) is None
    assert tape.gradient(z, x) is None


def test_unseeded_numbers_differ_and_a_seedless_stream_moves_on():
    first = next_seed(None, "RandomUniform", "entropy", 256)
    second = next_seed(None, "RandomUniform", "entropy", 256)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tf.random.normal(3), tf.errors.InvalidArgumentError, "must be a vector"),
        (lambda: tf.random.normal([-1]), tf.errors.InvalidArgumentError, ">= 0"),
        (lambda: tf.random.normal([1], dtype=tf.int32), TypeError, "int32"),
        (lambda: tf.random.uniform([1], dtype=tf.int32), ValueError, "maxval"),
        (lambda: tf.random.uniform([1], dtype=tf.bool), ValueError, "Accepted dtypes"),
        (
            lambda: tf.random.uniform([1], 3, 3, dtype=tf.int32),
            tf.errors.InvalidArgumentError,
            "Need minval < maxval, got 3 >= 3",
        ),
        (lambda: tf.random.categorical([1.0], 1), tf.errors.InvalidArgumentError, "matrix"),
        (lambda: tf.random.categorical([[1.0]], -1), tf.errors.InvalidArgumentError, "negative"),
        (lambda: tf.random.categorical([[1.0]], 1, tf.float32), ValueError, "int32 and int64"),
    ],
)
def test_arguments_that_make_no_sense_raise(call, error, message):
    with pytest.raises(error, match=message):
        call()


def _drawn_by_every_op():
    logits = tf.zeros([1, 9])
    return tf.concat(
        [
            tf.random.uniform([4]),
            tf.random.normal([4], seed=3),
            tf.random.truncated_normal([4]),
            tf.cast(tf.random.uniform([9], maxval=99, dtype=tf.int32), tf.float32),
            tf.random.shuffle(tf.range(9.0)),
            tf.cast(tf.random.categorical(logits, 9)[0], tf.float32),
            tf.nn.dropout(tf.ones([9]), 0.5),
        ],
        axis=0,
    )


def _parts(drawn):
    return np.split(drawn.numpy(), [4, 8, 12, 21, 30, 39])


def test_a_traced_function_draws_anew_at_each_call():
    tf.random.set_seed(1)
    drawn = tf.function(_drawn_by_every_op)
    first, second = _parts(drawn()), _parts(drawn())
    assert not any(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_set_seed_repeats_a_traced_function_from_its_first_call_on():
    drawn = tf.function(_drawn_by_every_op)
    tf.random.set_seed(1)
    first = [drawn().numpy() for _ in range(3)]
    tf.random.set_seed(1)
    again = [drawn().numpy() for _ in range(3)]
    assert np.array_equal(first, again)


def test_a_traced_function_draws_the_numbers_of_tensorflow():
    found = []
    for library in (tf, tensorflow):
        library.random.set_seed(2)

        @library.function
        def drawn(library=library):
            return library.concat(
                [
                    library.random.uniform([4]),
                    library.random.normal([4], seed=3),
                    library.random.truncated_normal([4]),
                    library.nn.dropout(library.ones([9]), 0.5),
                ],
                axis=0,
            )

        found.append([drawn().numpy() for _ in range(3)])
    assert np.allclose(*found, rtol=1e-5, atol=2e-6)


def test_a_function_that_calls_a_function_draws_the_numbers_of_tensorflow():
    found = []
    for library in (tf, tensorflow):
        inner = library.function(lambda library=library: library.random.uniform([4]))
        outer = library.function(lambda inner=inner, of=library: of.stack([inner(), inner()]))
        library.random.set_seed(1)
        found.append([outer().numpy(), outer().numpy()])
    assert np.array_equal(*found)
    assert (found[0][0] != found[0][1]).all()  # each call of the outer function draws anew


def test_the_gradient_through_a_traced_dropout_uses_the_elements_it_dropped():
    dropped = tf.function(lambda x: tf.nn.dropout(x, 0.5))
    x = tf.ones([64])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = dropped(x)
        assert np.array_equal(tape.gradient(y, x).numpy(), y.numpy())
