"""Threads record and run independently and get the results of a single thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tapejax as tf

THREADS = 8
STEPS = 200


def train(seed: int, steps: int = STEPS) -> list[float]:
    """The losses of a small regression by gradient descent."""
    rng = np.random.default_rng(seed)
    x = tf.constant(rng.normal(size=(8, 3)).astype(np.float32))
    y = tf.constant(rng.normal(size=(8, 1)).astype(np.float32))
    weights = tf.Variable(rng.normal(size=(3, 1)).astype(np.float32))
    losses = []
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, weights)) - y))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        losses.append(float(loss))
    return losses


def in_threads(function: Callable[[int], object]) -> list:
    """The results of `function(0)`, ... from threads that start together."""
    barrier = threading.Barrier(THREADS)

    def start(place: int) -> object:
        barrier.wait()
        return function(place)

    with ThreadPoolExecutor(THREADS) as pool:
        return [*pool.map(start, range(THREADS))]


def test_training_in_threads_gives_the_results_of_one_thread():
    together = in_threads(train)
    alone = [train(seed) for seed in range(THREADS)]
    # one program may be run compiled or op by op, which rounds differently
    np.testing.assert_allclose(together, alone, rtol=1e-4)


def test_a_tensor_recorded_in_one_thread_can_be_read_in_all():
    x = tf.constant([1.0, 2.0, 3.0])
    pending = x * x + 1.0  # not read by the thread that recorded it
    results = in_threads(lambda place: (pending * float(place)).numpy())
    expected = [np.array([2.0, 5.0, 10.0]) * place for place in range(THREADS)]
    np.testing.assert_allclose(results, expected)


def test_a_variable_shared_by_threads_is_read_consistently():
    v = tf.Variable([2.0, 3.0])

    def gradient(place: int) -> np.ndarray:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * v) * float(place)
        return tape.gradient(y, v).numpy()

    expected = [np.array([4.0, 6.0]) * place for place in range(THREADS)]
    np.testing.assert_allclose(in_threads(gradient), expected)


def test_a_tape_records_the_ops_of_its_own_thread_only():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        own = x * x
        others = in_threads(lambda _: x * x * x)
    assert [float(other) for other in others] == pytest.approx([8.0] * THREADS)
    assert tape.gradient([own, *others], x).numpy() == pytest.approx(4.0)


def test_a_constant_that_others_use_meanwhile_stays_one_value():
    """Other programs take the mark on `x` over, which says where it entered this one."""
    x = tf.constant(3.0)

    @tf.function
    def traced(y: tf.Tensor) -> tf.Tensor:
        return x * y

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        in_threads(lambda _: x * 2.0)
        z = y * x
        w = traced(tf.constant(0.0)) + z * x
    # w = x^4, so dw/dx = 4 x^3
    assert float(tape.gradient(w, x)) == pytest.approx(108.0)


def test_tapes_of_different_threads_do_not_meet():
    x = tf.constant(2.0)

    def gradient(place: int) -> float:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x ** (place + 1)
        return float(tape.gradient(y, x))

    expected = [(place + 1) * 2.0**place for place in range(THREADS)]
    assert in_threads(gradient) == pytest.approx(expected)


def test_an_error_in_one_thread_does_not_disturb_the_others():
    def run(place: int) -> object:
        if place == 0:
            with pytest.raises(tf.errors.InvalidArgumentError):
                tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
        return train(place, steps=20)[-1]

    expected = [train(place, steps=20)[-1] for place in range(THREADS)]
    np.testing.assert_allclose(in_threads(run), expected, rtol=1e-4)
