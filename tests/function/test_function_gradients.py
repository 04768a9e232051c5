"""Derivatives through calls of `tf.function`s, by tapes outside and inside."""

from __future__ import annotations

import numpy as np
import pytest


def test_a_tape_outside_differentiates_by_inputs_and_variables(tf):
    w = tf.Variable([2.0, 3.0])

    @tf.function
    def loss(x):
        return tf.reduce_sum(w * w * x)

    for values in ([1.0, 4.0], [0.5, -1.0]):
        x = tf.constant(values)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loss(x)
        by_x, by_w = tape.gradient(y, [x, w])
        assert by_x.numpy().tolist() == [4.0, 9.0]
        assert by_w.numpy().tolist() == [4.0 * values[0], 6.0 * values[1]]
    assert loss.experimental_get_tracing_count() == 1


def test_an_unread_input_of_a_function_is_unconnected(tf):
    first = tf.function(lambda x, y: x * 2.0)
    x, y = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        z = first(x.read_value(), y.read_value())
    by_x, by_y = tape.gradient(z, [x, y])
    assert (float(by_x), by_y) == (2.0, None)


def test_each_of_several_outputs_has_its_own_derivative(tf):
    both = tf.function(lambda x: {"square": x * x, "cube": [x * x * x]})
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = both(x)
    assert float(tape.gradient(y["square"], x)) == 4.0
    assert float(tape.gradient(y["cube"][0], x)) == 12.0
    assert float(tape.gradient(y, x)) == 16.0


def test_derivatives_use_the_value_a_variable_had_in_the_call(tf):
    v = tf.Variable(3.0)

    @tf.function
    def step(x):
        y = v * v * x
        v.assign_add(1.0)
        return y

    with tf.GradientTape() as tape:
        total = step(tf.constant(1.0)) + step(tf.constant(10.0))
    assert (float(total), float(v)) == (9.0 + 160.0, 5.0)
    assert float(tape.gradient(total, v)) == 2 * 3.0 + 2 * 4.0 * 10.0


def test_second_derivatives_through_a_call(tf):
    quartic = tf.function(lambda x: x * x * x * x)
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = quartic(x.read_value())
        slope = inner.gradient(y, x)
    assert float(slope) == 32.0
    assert float(outer.gradient(slope, x)) == 48.0


def test_a_tape_inside_a_function(tf):
    w = tf.Variable(3.0)

    @tf.function
    def slopes(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = w * x * x
        return tape.gradient(y, {"x": x, "w": w})

    for x in (2.0, 5.0):
        result = slopes(tf.constant(x))
        assert (float(result["x"]), float(result["w"])) == (6.0 * x, x * x)
    assert slopes.experimental_get_tracing_count() == 1


def test_a_tape_outside_differentiates_a_tape_inside(tf):
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        return tape.gradient(y, x)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        first = slope(x)
    assert (float(first), float(tape.gradient(first, x))) == (12.0, 12.0)


def test_a_training_step_inside_a_function_descends(tf):
    w = tf.Variable(1.0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = (w * x - y) ** 2
        w.assign_sub(0.5 * tape.gradient(loss, w))
        return loss

    # w -> w - 0.5 * 2 * (w - 4) * 1 reaches the solution at once
    losses = [float(step(tf.constant(1.0), tf.constant(4.0))) for _ in range(3)]
    assert (losses, float(w)) == ([9.0, 0.0, 0.0], 4.0)


def test_a_custom_gradient_inside_sees_the_tensors_around_it(tf):
    @tf.function
    def scaled(x, scale):
        @tf.custom_gradient
        def strange(z):
            root = z * scale

            def rule(upstream):
                return upstream * root * 100.0

            return root, rule

        return strange(x) * 2.0

    for x, scale in ((3.0, 5.0), (1.0, 7.0)):
        a, b = tf.constant(x), tf.constant(scale)
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = scaled(a, b)
        slope = tape.gradient(y, a)
        assert (float(y), float(slope)) == (2.0 * x * scale, 2.0 * x * scale * 100.0)


def test_a_custom_gradient_from_outside_keeps_its_rule_in_a_call(tf):
    @tf.custom_gradient
    def reversed_identity(x):
        return tf.identity(x), lambda upstream: -upstream

    call = tf.function(lambda x: reversed_identity(x * 3.0) * 2.0)
    x = tf.Variable(4.0)
    with tf.GradientTape() as tape:
        y = call(x.read_value())
    assert (float(y), float(tape.gradient(y, x))) == (24.0, -6.0)


def test_stop_gradient_inside_a_function(tf):
    call = tf.function(lambda x: tf.stop_gradient(x) * x)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(x)
    assert float(tape.gradient(y, x)) == 3.0


def test_a_gathered_variable_has_indexed_slices_through_a_call(tf):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

    @tf.function
    def look_up(ids, weight):
        return tf.reduce_sum(tf.gather(table, ids) * weight)

    with tf.GradientTape() as tape:
        y = look_up(tf.constant([2, 0, 2]), tf.constant([[1.0], [10.0], [100.0]]))
    assert float(y) == 11.0 * 101 + 3.0 * 10
    slices = tape.gradient(y, table)
    assert isinstance(slices, tf.IndexedSlices)
    dense = tf.convert_to_tensor(slices).numpy()
    assert dense.tolist() == [[10.0, 10.0], [0.0, 0.0], [101.0, 101.0]]


def test_indexed_slices_are_arguments_and_results(tf):
    @tf.function
    def slopes(table, ids):
        with tf.GradientTape() as tape:
            tape.watch(table)
            y = tf.reduce_sum(tf.gather(table, ids))
        return tape.gradient(y, table)

    slices = slopes(tf.ones([3, 2]), tf.constant([1, 1]))
    assert isinstance(slices, tf.IndexedSlices)
    assert slices.indices.numpy().tolist() == [1, 1]
    assert slices.values.numpy().tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("pfor", [True, False])
def test_the_jacobian_through_a_call(tf, pfor):
    call = tf.function(lambda x: tf.stack([x[0] * x[1], x[1] ** 2, x[2]]))
    x = tf.constant([2.0, 3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = call(x)
    jacobian = tape.jacobian(y, x, experimental_use_pfor=pfor)
    assert jacobian.numpy().tolist() == [[3.0, 2.0, 0.0], [0.0, 6.0, 0.0], [0.0, 0.0, 1.0]]


def test_the_jacobian_inside_a_function(tf):
    @tf.function
    def jacobian(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.jacobian(y, x)

    assert jacobian(tf.constant([1.0, 2.0])).numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_the_batch_jacobian_through_a_call(tf):
    call = tf.function(lambda x: x * x[:, ::-1])
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = call(x)
    expected = [[[2.0, 1.0], [2.0, 1.0]], [[4.0, 3.0], [4.0, 3.0]]]
    assert tape.batch_jacobian(y, x).numpy().tolist() == expected


def test_a_forward_accumulator_through_a_call(tf):
    call = tf.function(lambda x, y: (x * x * y, tf.sin(y)))
    x, y = tf.constant(3.0), tf.constant(0.5)
    with tf.autodiff.ForwardAccumulator([x, y], [tf.constant(1.0), tf.constant(10.0)]) as forward:
        first, second = call(x, y)
    assert float(forward.jvp(first)) == 2 * 3.0 * 0.5 + 9.0 * 10.0
    np.testing.assert_allclose(forward.jvp(second), 10.0 * np.cos(0.5), rtol=1e-6)


def test_a_forward_accumulator_inside_a_function(tf):
    @tf.function
    def derivative(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
            y = x * x * x
        return forward.jvp(y)

    assert float(derivative(tf.constant(2.0))) == 12.0


def test_a_tape_that_stopped_recording_does_not_see_a_call(tf):
    call = tf.function(lambda x: x * x)
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            constant = call(x.read_value())
        y = constant * x
    assert float(tape.gradient(y, x)) == 9.0


def test_gradients_of_a_call_within_a_call_within_a_tape_in_a_function(tf):
    w = tf.Variable(2.0)
    inner = tf.function(lambda x: w * x * x)
    middle = tf.function(lambda x: inner(x) + inner(2.0 * x))

    @tf.function
    def slopes(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = middle(x)
        return tape.gradient(y, [x, w])

    by_x, by_w = slopes(tf.constant(3.0))
    assert (float(by_x), float(by_w)) == (2 * 2.0 * 3.0 * 5, 9.0 * 5)


def _with_a_rule(tf):
    @tf.function
    def function(z, s):
        @tf.custom_gradient
        def inner(z):
            root, spare = z * s, s + 1.0
            return root, lambda up: up * root * spare

        return inner(z) * 2.0

    return function


@pytest.mark.parametrize("read", [False, True])
def test_a_rule_inside_a_function_sees_the_values_of_its_call(tf, read):
    function = _with_a_rule(tf)
    a, b = tf.constant(3.0), tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = function(a, b)
    if read:
        assert float(y) == pytest.approx(30.0)
    assert float(tape.gradient(y, a)) == pytest.approx(2.0 * 15.0 * 6.0)


@pytest.mark.parametrize("read", [False, True])
def test_a_rule_two_functions_deep_sees_the_values_of_its_call(tf, read):
    function = _with_a_rule(tf)
    outer = tf.function(lambda z: function(z * 1.0 + 1.0, z) * 2.0)
    a = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = outer(a)
    if read:
        assert float(y) == pytest.approx(24.0)
    assert float(tape.gradient(y, a)) == pytest.approx(2.0 * 2.0 * 6.0 * 3.0)


@pytest.mark.parametrize("how", ["nested", "taped"])
def test_an_assertion_whose_result_is_unused_is_checked(tf, how):
    @tf.function
    def root(x):
        tf.debugging.assert_positive(x)
        return tf.sqrt(x)

    x = tf.constant(-4.0)

    def call():
        with tf.GradientTape() as tape:
            tape.watch(x)
            return (tf.function(lambda x: root(x) + 1.0) if how == "nested" else root)(x).numpy()

    with pytest.raises(tf.errors.InvalidArgumentError):
        call()
