"""`tf.debugging.enable_check_numerics`, and the other switches of `tf.debugging`."""

from __future__ import annotations

import numpy as np
import pytest

import tapejax

NOT_FINITE = (tapejax.errors.InvalidArgumentError,)


@pytest.fixture(autouse=True)
def _checks():
    tapejax.debugging.enable_check_numerics()
    yield
    tapejax.debugging.disable_check_numerics()


def _fails(call, *texts):
    with pytest.raises(NOT_FINITE) as caught:
        call()
    for text in texts:
        assert text in str(caught.value)


def test_an_op_outside_functions_is_named_with_its_line():
    _fails(lambda: tapejax.math.log(tapejax.constant(-1.0)).numpy(), '"Log"', "NaN", __file__)
    assert float(tapejax.math.log(1.0)) == 0.0


def test_the_first_op_that_fails_is_named():
    x = tapejax.constant([0.0, 1.0])
    _fails(lambda: tapejax.reduce_sum(tapejax.tanh(1.0 / x)).numpy(), '"RealDiv"', "Inf")


def test_ops_inside_a_function_are_checked_and_it_is_traced_anew():
    @tapejax.function
    def function(x):
        return tapejax.sqrt(x) * 2.0

    tapejax.debugging.disable_check_numerics()
    assert np.isnan(function(tapejax.constant(-1.0)).numpy())
    tapejax.debugging.enable_check_numerics()
    _fails(lambda: function(tapejax.constant(-1.0)).numpy(), '"Sqrt"', "NaN", __file__)
    assert float(function(tapejax.constant(4.0))) == 4.0
    tapejax.debugging.disable_check_numerics()
    assert np.isnan(function(tapejax.constant(-1.0)).numpy())


def test_ops_inside_branches_and_loops_are_checked():
    @tapejax.function
    def branch(x):
        y = x
        if x > 0.0:
            y = tapejax.math.log(x)
        if x < 0.0:
            y = x / 0.0
        return y

    @tapejax.function
    def loop(n):
        x = tapejax.constant(1.0)
        while n > 0:
            x = x / tapejax.cast(n - 2, tapejax.float32)
            n -= 1
        return x

    assert float(branch(tapejax.constant(1.0))) == 0.0
    _fails(lambda: branch(tapejax.constant(-1.0)).numpy(), '"RealDiv"', __file__)
    assert float(loop(tapejax.constant(1))) == -1.0
    _fails(lambda: loop(tapejax.constant(3)).numpy(), '"RealDiv"', __file__)


def test_gradients_are_checked():
    x = tapejax.constant([0.0, 1.0])
    with tapejax.GradientTape() as tape:
        tape.watch(x)
        y = tapejax.sqrt(x)
    gradient = tape.gradient(y, x)
    _fails(gradient.numpy, '"Sqrt"', "Inf")


def test_a_variable_keeps_its_value_when_the_update_is_not_finite():
    v = tapejax.Variable(3.0)

    def update():
        v.assign(v / 0.0)
        return v.numpy()

    _fails(update, '"RealDiv"')
    assert float(v) == 3.0


def test_training_goes_on_where_all_is_finite():
    v = tapejax.Variable([2.0, 1.0])
    optimizer = tapejax.keras.optimizers.SGD(0.1)
    for _ in range(3):
        with tapejax.GradientTape() as tape:
            loss = tapejax.reduce_sum(v * v)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    np.testing.assert_allclose(v.numpy(), np.array([2.0, 1.0]) * 0.8**3, rtol=1e-6)


def test_what_only_moves_elements_and_integers_are_left_out():
    x = tapejax.constant([np.inf, np.nan])
    assert np.isinf(tapejax.reshape(x, [2, 1])[0, 0].numpy())
    assert tapejax.is_tensor(tapejax.constant(7) // 2)


def test_checks_of_indices_still_say_what_is_wrong():
    _fails(lambda: tapejax.gather([1.0, 2.0], [5]).numpy(), "5 is not in [0, 2)")
    _fails(lambda: tapejax.linalg.inv(tapejax.zeros([2, 2])).numpy(), "not invertible")


def test_settings_without_effect_are_kept(tf):
    tf.debugging.disable_traceback_filtering()
    assert not tf.debugging.is_traceback_filtering_enabled()
    tf.debugging.enable_traceback_filtering()
    assert tf.debugging.is_traceback_filtering_enabled()
    tf.debugging.set_log_device_placement(False)
    assert not tf.debugging.get_log_device_placement()


def test_dumps_for_tensorboard_are_refused():
    tapejax.debugging.experimental.disable_dump_debug_info()
    with pytest.raises(NotImplementedError, match="enable_check_numerics"):
        tapejax.debugging.experimental.enable_dump_debug_info("somewhere")
