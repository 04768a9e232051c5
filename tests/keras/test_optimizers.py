"""The optimizers against numbers recorded from Keras 3 (tests/golden/regenerate_optimizers.py)."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from golden.optimizer_runs import DTYPES, PATH, RECORDED, RUNS, SHAPES, gradients, make, start

import tapejax as tf

GOLDEN = json.loads(PATH.read_text())["runs"]
each_run = pytest.mark.parametrize("run", RUNS)
TOLERANCE = {"float32": 1e-5, "float64": 1e-6}


def _flat(values):
    return [np.asarray(v.numpy(), np.float64).reshape(-1) for v in values]


def _train(run, dtype="float32"):
    optimizer = make(tf.keras.optimizers, run)
    variables = [tf.Variable(value, name=name) for name, value in start(dtype).items()]
    trajectory = []
    for number, grads in enumerate(gradients(dtype)):
        pairs = zip([tf.constant(g) for g in grads], variables, strict=True)
        optimizer.apply_gradients(pairs)
        if number in RECORDED:
            trajectory.append(_flat(variables))
    return optimizer, trajectory


def _assert_close(actual, expected, scales, tolerance):
    for mine, theirs, scale in zip(actual, expected, scales, strict=True):
        assert np.max(np.abs(mine - np.asarray(theirs))) <= tolerance * scale


def _largest(arrays):
    """The largest magnitude in each array: what rounding errors are relative to."""
    return [np.max(np.abs(array)) for array in arrays]


@pytest.mark.parametrize(("run", "dtype"), [(r, d) for r in RUNS for d in DTYPES[r]])
def test_fifty_steps_are_those_of_keras(run, dtype):
    optimizer, trajectory = _train(run, dtype)
    golden = GOLDEN[run][dtype]
    scales = np.max([_largest(step) for step in golden["trajectory"]], axis=0)
    for mine, theirs in zip(trajectory, golden["trajectory"], strict=True):
        _assert_close(mine, theirs, scales, TOLERANCE[dtype])
    state = golden["state"]
    _assert_close(_flat(optimizer.variables), state, _largest(state), TOLERANCE[dtype])


@each_run
def test_variables_are_named_as_in_keras(run):
    optimizer = make(tf.keras.optimizers, run)
    optimizer.build([tf.Variable(value, name=name) for name, value in start().items()])
    names = [v.name.removesuffix(":0") for v in optimizer.variables]
    # Model variables have no path here: their names end in `:0`.
    assert [name.replace("_0_", "_") for name in names] == GOLDEN[run]["names"]


@each_run
def test_configuration_is_that_of_keras_and_makes_an_equal_optimizer(run):
    optimizer = make(tf.keras.optimizers, run)
    config = optimizer.get_config()
    assert config == GOLDEN[run]["config"]
    assert type(optimizer).from_config(config).get_config() == config


def test_learning_rate_can_be_assigned_a_number_a_tensor_and_a_schedule():
    v = tf.Variable(1.0)
    optimizer = tf.keras.optimizers.SGD(0.5)
    for rate in (0.25, tf.constant(0.125), 1):
        optimizer.learning_rate = rate
        assert float(optimizer.learning_rate) == float(rate)
    optimizer.learning_rate = tf.keras.optimizers.schedules.ExponentialDecay(1.0, 1, 0.5)
    for expected in (1.0, 0.5, 0.25):
        assert float(optimizer.learning_rate) == expected
        optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert float(v) == 1.0 - 1.75
    with pytest.raises(TypeError, match="not settable"):
        optimizer.learning_rate = 0.1


def test_repeated_rows_of_indexed_slices_are_added_up():
    v = tf.Variable(np.zeros((4, 2), np.float32))
    slices = tf.IndexedSlices(tf.ones([3, 2]), tf.constant([1, 1, 2]), tf.constant([4, 2]))
    tf.keras.optimizers.SGD(1.0).apply_gradients([(slices, v)])
    assert v.numpy().tolist() == [[0, 0], [-2, -2], [-1, -1], [0, 0]]


def test_missing_gradients_are_skipped_with_a_warning_that_names_the_variables():
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    optimizer = tf.keras.optimizers.SGD(0.5)
    with pytest.warns(UserWarning, match=r"\['w:0'\]"):
        optimizer.apply_gradients([(tf.constant(1.0), v), (None, w)])
    assert (float(v), float(w), int(optimizer.iterations)) == (0.5, 2.0, 1)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply_gradients([(None, v), (None, w)])


def test_a_variable_the_optimizer_was_not_built_with_raises():
    v = tf.Variable(1.0)
    optimizer = tf.keras.optimizers.Adam()
    optimizer.apply_gradients([(tf.constant(1.0), v)])
    with pytest.raises(ValueError, match="Unknown variable"):
        optimizer.apply_gradients([(tf.constant(1.0), tf.Variable(1.0))])


def test_a_gradient_of_another_shape_raises_and_changes_nothing():
    v = tf.Variable([1.0, 2.0])
    optimizer = tf.keras.optimizers.SGD(0.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes must be equal"):
        optimizer.apply_gradients([(tf.ones([3]), v)])
    assert (v.numpy().tolist(), int(optimizer.iterations)) == ([1.0, 2.0], 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learning_rate": 1}, "should be float"),
        ({"clipnorm": 1.0, "clipvalue": 1.0}, "Only one of"),
        ({"use_ema": True, "ema_momentum": 2.0}, "ema_momentum"),
        ({"gradient_accumulation_steps": 1}, ">= 2"),
        ({"lr": 0.1}, "not recognized"),
    ],
)
def test_arguments_out_of_range_raise(arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.keras.optimizers.Adam(**arguments)


def test_minimize_takes_a_callable_or_a_loss_with_its_tape():
    v = tf.Variable(2.0)
    optimizer = tf.keras.optimizers.SGD(0.25)
    optimizer.minimize(lambda: v * v, [v])
    assert float(v) == 1.0
    with tf.GradientTape() as tape:
        loss = v * v
    optimizer.minimize(loss, [v], tape=tape)
    assert float(v) == 0.5
    with pytest.raises(ValueError, match="tape"):
        optimizer.minimize(loss, [v])


def test_weights_can_be_saved_and_restored():
    optimizer, _ = _train("adam")
    twin = tf.keras.optimizers.Adam(0.5)
    twin.build([tf.Variable(value, name=name) for name, value in start().items()])
    twin.set_weights(optimizer.get_weights())
    pairs = zip(twin.get_weights(), optimizer.get_weights(), strict=True)
    assert all(np.array_equal(a, b) for a, b in pairs)


def test_excluded_variables_do_not_decay():
    kernel, bias = tf.Variable(1.0, name="kernel"), tf.Variable(1.0, name="bias")
    optimizer = tf.keras.optimizers.SGD(0.5, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    optimizer.apply_gradients([(tf.constant(0.0), kernel), (tf.constant(0.0), bias)])
    assert (float(kernel), float(bias)) == (0.75, 1.0)


def test_a_constraint_is_applied_after_the_update():
    v = tf.Variable(1.0, constraint=lambda x: tf.maximum(x, 0.0))
    tf.keras.optimizers.SGD(1.0).apply_gradients([(tf.constant(5.0), v)])
    assert float(v) == 0.0


def test_no_warning_when_every_gradient_is_there():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _train("sgd")
    assert set(SHAPES) == {"kernel", "bias", "scale", "filters"}
