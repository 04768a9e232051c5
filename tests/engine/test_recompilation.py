"""A loop compiles in its first steps and never again."""

from __future__ import annotations

import numpy as np
import pytest

import tapejax as tf
from tapejax._src.engine.statistics import COUNTERS

# the first steps may run op by op, and a first and a later step may differ in what is alive
WARM_UP = 10


class Regression:
    """A model with a step to repeat."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.x = tf.constant(rng.normal(size=(8, 3)).astype(np.float32))
        self.y = tf.constant(rng.normal(size=(8, 1)).astype(np.float32))
        self.weights = tf.Variable(np.zeros((3, 1), np.float32))
        self.bias = tf.Variable(np.zeros((1,), np.float32))

    def step(self, rate, read=True):
        with tf.GradientTape() as tape:
            error = tf.matmul(self.x, self.weights) + self.bias - self.y
            loss = tf.reduce_mean(tf.square(error))
        variables = [self.weights, self.bias]
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(rate * gradient)
        return float(loss) if read else loss


def compiles_of(steps):
    """How many programs are compiled, and met for the first time, while a function runs."""
    before = (COUNTERS.compiles, COUNTERS.programs)
    steps()
    return (COUNTERS.compiles - before[0], COUNTERS.programs - before[1])


@pytest.fixture
def model():
    model = Regression()
    for _ in range(WARM_UP):
        model.step(0.1)
    return model


def test_a_repeated_step_compiles_nothing(model):
    assert compiles_of(lambda: [model.step(0.1) for _ in range(20)]) == (0, 0)


def test_a_learning_rate_that_changes_each_step_compiles_nothing(model):
    rates = [0.1 / (1 + n) for n in range(20)]
    assert compiles_of(lambda: [model.step(rate) for rate in rates]) == (0, 0)


def test_a_learning_rate_in_a_variable_compiles_nothing(model):
    rate = tf.Variable(0.1)
    for _ in range(WARM_UP):
        model.step(rate)

    def steps():
        for n in range(20):
            rate.assign(0.1 / (1 + n))
            model.step(rate)

    for n in range(WARM_UP):
        rate.assign(0.1 / (1 + n))
        model.step(rate)
    assert compiles_of(steps) == (0, 0)


def test_the_changing_rate_is_the_one_applied(model):
    v = tf.Variable(10.0)
    for rate in (0.5, 0.25, 0.125):
        with tf.GradientTape() as tape:
            y = v * 2.0
        v.assign_sub(rate * tape.gradient(y, v))
    assert v.numpy() == pytest.approx(10.0 - 2.0 * 0.875)


def test_fresh_batches_of_the_same_shape_compile_nothing(model):
    rng = np.random.default_rng(1)

    def steps():
        for _ in range(20):
            model.x = tf.constant(rng.normal(size=(8, 3)).astype(np.float32))
            model.step(0.1)

    steps()
    assert compiles_of(steps) == (0, 0)


def test_reading_the_loss_only_now_and_then_settles(model):
    def steps():
        for n in range(28):
            loss = model.step(0.1, read=False)
            if n % 7 == 0:
                float(loss)
        float(loss)

    steps()
    steps()
    assert compiles_of(steps) == (0, 0)


def test_a_new_model_of_the_same_shape_reuses_the_programs(model):
    def steps():
        other = Regression()
        for _ in range(5):
            other.step(0.1)

    steps()
    assert compiles_of(steps)[0] == 0


def test_one_step_is_one_flush(model):
    before = COUNTERS.flushes
    for _ in range(10):
        model.step(0.1)
    assert COUNTERS.flushes - before <= 2 * 10


def test_python_numbers_of_a_loop_are_inputs():
    x = tf.constant([1.0, 2.0])

    def steps(offset):
        for n in range(20):
            found = (x * (0.5 + n + offset) + float(n)).numpy()
            np.testing.assert_allclose(found, np.array([1, 2]) * (0.5 + n + offset) + n, rtol=1e-6)

    steps(0)
    assert compiles_of(lambda: steps(100)) == (0, 0)
