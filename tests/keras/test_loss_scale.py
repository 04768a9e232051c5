"""`LossScaleOptimizer`: the scale's own rules, against arithmetic on powers of two."""

from __future__ import annotations

import numpy as np
import pytest

import tapejax as tf

K = tf.keras.optimizers
LossScale = tf.keras.mixed_precision.LossScaleOptimizer


class Descent(K.Optimizer):
    """Gradient descent by an `update_step` of its own."""

    def update_step(self, gradient, variable, learning_rate):
        self.assign_sub(variable, gradient * tf.cast(learning_rate, variable.dtype))


INNER = {
    "one op": lambda: K.SGD(0.5),
    "own step": lambda: Descent(0.5),
    "several": lambda: K.MultiOptimizer(K.OptimizerMap(K.SGD(0.5))),
}
each_inner = pytest.mark.parametrize("inner", INNER)


def _modes():
    return [lambda step: step, tf.function]


@each_inner
@pytest.mark.parametrize("compiled", [False, True])
def test_an_infinite_gradient_skips_the_step_and_halves_the_scale(inner, compiled):
    v = tf.Variable([1.0, 2.0])
    optimizer = LossScale(INNER[inner](), initial_scale=8.0, dynamic_growth_steps=3)

    def step(g):
        optimizer.apply_gradients([(g, v)])

    step = tf.function(step) if compiled else step
    scales, values = [], []
    for bad in (0, 0, 0, 1, 0, 1, 0, 0, 0):
        gradient = [np.inf if bad else float(optimizer.dynamic_scale), 0.0]
        step(tf.constant(gradient, tf.float32))
        scales.append(float(optimizer.loss_scale))
        values.append(float(v[0]))
    assert scales == [8, 8, 16, 8, 8, 4, 4, 4, 8]
    assert values == [0.5, 0.0, -0.5, -0.5, -1.0, -1.0, -1.5, -2.0, -2.5]
    assert float(v[1]) == 2.0
    assert int(optimizer.iterations) == 7


def test_the_scale_starts_at_two_to_the_fifteenth_and_grows_after_two_thousand_steps():
    optimizer = LossScale(K.SGD(0.0))
    v = tf.Variable(1.0)
    optimizer.build([v])
    assert float(optimizer.loss_scale) == 2.0**15
    optimizer.step_counter.assign(1998)
    for expected in (2.0**15, 2.0**16, 2.0**16):
        optimizer.apply([tf.constant(1.0)], [v])
        assert float(optimizer.loss_scale) == expected
    assert int(optimizer.dynamic_counter) == 1


def test_the_scale_stays_finite():
    optimizer = LossScale(K.SGD(0.0), initial_scale=2.0**127, dynamic_growth_steps=1)
    optimizer.apply_gradients([(tf.constant(1.0), tf.Variable(1.0))])
    assert float(optimizer.loss_scale) == 2.0**127


@each_inner
def test_a_fixed_scale_neither_changes_nor_skips(inner):
    v = tf.Variable(1.0)
    optimizer = LossScale(INNER[inner](), dynamic=False, initial_scale=4.0)
    optimizer.apply_gradients([(tf.constant(4.0), v)])
    assert (float(v), float(optimizer.loss_scale)) == (0.5, 4.0)
    optimizer.apply_gradients([(tf.constant(np.inf), v)])
    assert (float(v), float(optimizer.loss_scale)) == (-np.inf, 4.0)


def test_the_second_argument_may_be_dynamic_as_before_keras_3():
    assert float(LossScale(K.SGD(), False, 4.0).loss_scale) == 4.0
    with pytest.raises(ValueError, match="initial_scale"):
        LossScale(K.SGD(), False)


@pytest.mark.parametrize("compiled", [False, True])
def test_both_ways_to_write_a_step_give_the_unscaled_step(compiled):
    def keras_3(optimizer, v):
        with tf.GradientTape() as tape:
            loss = optimizer.scale_loss(v * v)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])

    def before_it(optimizer, v):
        with tf.GradientTape() as tape:
            loss = optimizer.get_scaled_loss(v * v)
        grads = optimizer.get_unscaled_gradients([tape.gradient(loss, v), None])
        grads, _ = tf.clip_by_global_norm(grads[:1], 1.0)
        optimizer.apply_gradients([(grads[0], v)])

    def minimized(optimizer, v):
        optimizer.minimize(lambda: v * v, [v])

    for step, expected in ((keras_3, 1.0), (before_it, 1.5), (minimized, 1.0)):
        v = tf.Variable(2.0)
        optimizer = LossScale(K.SGD(0.25) if step is not before_it else K.SGD(0.5))
        run = tf.function(step) if compiled else step
        run(optimizer, v)
        assert float(v) == expected


def test_float16_gradients_survive_that_would_underflow():
    v = tf.Variable(tf.constant(1.0, tf.float16))
    optimizer = LossScale(K.SGD(1.0), initial_scale=2.0**10)
    with tf.GradientTape() as tape:
        loss = optimizer.scale_loss(tf.cast(v, tf.float32) * 2.0**-23)
    gradient = tape.gradient(loss, v)
    assert gradient.dtype == tf.float16
    assert float(gradient) == 2.0**-13
    unscaled = optimizer.get_unscaled_gradients([tf.cast(gradient, tf.float32)])
    assert float(unscaled[0]) == 2.0**-23


def test_rows_of_a_table_are_unscaled_too():
    v = tf.Variable(tf.ones([3, 2]))
    slices = tf.IndexedSlices(tf.ones([2, 2]) * 4.0, tf.constant([1, 1]), tf.constant([3, 2]))
    optimizer = LossScale(K.SGD(0.5), initial_scale=4.0)
    [unscaled] = optimizer.get_unscaled_gradients([slices])
    assert tf.convert_to_tensor(unscaled).numpy().tolist() == [[0, 0], [2, 2], [0, 0]]
    optimizer.scale_loss(1.0)
    optimizer.apply_gradients([(slices, v)])
    assert v.numpy().tolist() == [[1, 1], [0, 0], [1, 1]]


def test_its_configuration_makes_an_equal_optimizer():
    for arguments in ({}, {"initial_scale": 4.0, "dynamic": False}, {"dynamic_growth_steps": 7}):
        optimizer = LossScale(K.Adam(0.5), name="outer", **arguments)
        twin = K.deserialize(K.serialize(optimizer))
        assert type(twin) is LossScale
        assert twin.get_config() == optimizer.get_config()
        assert float(twin.learning_rate) == 0.5


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"weight_decay": 0.1}, ValueError, "does not support `weight_decay`"),
        ({"nothing": 1}, ValueError, "does not support arguments: `nothing`"),
        ({"initial_scale": 0.0}, ValueError, "positive"),
        ({"dynamic_growth_steps": -1}, ValueError, "positive"),
    ],
)
def test_arguments_that_make_no_sense_raise(arguments, error, message):
    with pytest.raises(error, match=message):
        LossScale(K.SGD(), **arguments)
    with pytest.raises(TypeError, match="inner_optimizer"):
        LossScale(LossScale(K.SGD()))
