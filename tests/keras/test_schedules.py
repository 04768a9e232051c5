"""The schedules against numbers recorded from Keras 3 (tests/golden/regenerate_optimizers.py)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from golden.optimizer_runs import PATH, SCHEDULE_STEPS, SCHEDULES, make_schedule

import tapejax as tf

GOLDEN = json.loads(PATH.read_text())["schedules"]
schedules = tf.keras.optimizers.schedules
each_schedule = pytest.mark.parametrize("name", SCHEDULES)


@each_schedule
def test_a_hundred_steps_are_those_of_keras(name):
    schedule = make_schedule(schedules, name)
    actual = [float(schedule(step)) for step in SCHEDULE_STEPS]
    assert np.allclose(actual, GOLDEN[name], rtol=3e-6, atol=1e-8)


@each_schedule
def test_a_schedule_is_a_float32_scalar_of_an_int64_step(name):
    rate = make_schedule(schedules, name)(tf.constant(3, tf.int64))
    assert (rate.dtype, rate.shape) == (tf.float32, [])


@each_schedule
def test_a_configuration_makes_an_equal_schedule(name):
    schedule = make_schedule(schedules, name)
    data = schedules.serialize(schedule)
    assert data["module"] == "keras.optimizers.schedules"
    assert schedules.deserialize(data).get_config() == schedule.get_config()


def test_a_schedule_of_ones_own_needs_only_a_call():
    class Constant(schedules.LearningRateSchedule):
        def __call__(self, step):
            return tf.constant(0.5)

    v = tf.Variable(1.0)
    tf.keras.optimizers.SGD(Constant()).apply_gradients([(tf.constant(1.0), v)])
    assert float(v) == 0.5
    with pytest.raises(NotImplementedError, match="get_config"):
        Constant().get_config()
    with pytest.raises(NotImplementedError, match="__call__"):
        schedules.LearningRateSchedule()(0)


def test_arguments_that_make_no_sense_raise():
    with pytest.raises(ValueError, match="decay_steps"):
        schedules.ExponentialDecay(0.1, 0, 0.9)
    with pytest.raises(ValueError, match="length of boundaries"):
        schedules.PiecewiseConstantDecay([1, 2], [0.1])
    with pytest.raises(ValueError, match="Unknown decay"):
        schedules.deserialize({"class_name": "Nothing", "config": {}})
