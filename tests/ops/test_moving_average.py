"""`tf.train.ExponentialMovingAverage` beside TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest


def test_averages_start_at_the_values_and_follow_them(tf):
    averages = tf.train.ExponentialMovingAverage(0.9)
    v, w = tf.Variable([1.0, 2.0], name="followed"), tf.Variable(3.0)
    assert averages.average(v) is None
    averages.apply([v])
    assert averages.average(v).numpy().tolist() == [1.0, 2.0]
    v.assign([5.0, 6.0])
    averages.apply([v, w])
    assert np.allclose(averages.average(v).numpy(), [1.4, 2.4])
    assert float(averages.average(w)) == 3.0
    assert averages.average_name(v) == "followed/ExponentialMovingAverage"
    assert list(averages.variables_to_restore([v])) == ["followed/ExponentialMovingAverage"]
    assert averages.name == "ExponentialMovingAverage"


@pytest.mark.parametrize("zero_debias", [False, True])
def test_the_number_of_updates_limits_the_decay(tf, zero_debias):
    averages = tf.train.ExponentialMovingAverage(0.99, num_updates=3, zero_debias=zero_debias)
    v = tf.Variable(1.0)
    averages.apply([v])
    v.assign(2.0)
    averages.apply([v])
    assert np.isclose(float(averages.average(v)), 1 + 9 / 13)


def test_averages_move_in_functions(tf):
    averages = tf.train.ExponentialMovingAverage(0.5)
    v = tf.Variable(2.0)
    averages.apply([v])

    @tf.function
    def step(value):
        v.assign(value)
        averages.apply([v])
        return averages.average(v) + 0.0

    assert [float(step(value)) for value in (4.0, 4.0)] == [3.0, 3.5]


def test_only_floating_variables_have_averages(tf):
    averages = tf.train.ExponentialMovingAverage(0.5)
    with pytest.raises(TypeError, match="non-Variable"):
        averages.apply([tf.constant(1.0)])
    with pytest.raises(TypeError, match="must be half, float, or double"):
        averages.apply([tf.Variable(1)])
