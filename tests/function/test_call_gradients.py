"""What a tape outside sees of a call: inputs, results and captured variables, nothing between."""

from __future__ import annotations

import pytest


def _watched(tf, *values):
    return [tf.constant(v) for v in values]


def test_a_value_inside_is_no_source_outside(tf):
    @tf.function
    def f(x):
        h = x * x
        return h, h * h

    (x,) = _watched(tf, 2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        h, y = f(x)
    assert (float(tape.gradient(y, x)), float(tape.gradient(h, x))) == (32.0, 4.0)
    assert tape.gradient(y, h) is None


def test_a_returned_input_is_another_tensor(tf):
    f = tf.function(lambda x: (x, x * 3.0))
    (x,) = _watched(tf, 2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        same, y = f(x)
    assert tape.gradient(y, same) is None
    assert (float(tape.gradient(same, x)), float(tape.gradient(y, x))) == (1.0, 3.0)


def test_an_unconnected_pair_of_a_call_is_zero(tf):
    f = tf.function(lambda x, y: (x * 2.0, y * 3.0))
    x, y = _watched(tf, 1.0, 2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        a, b = f(x, y)
    gradients = [tape.gradient(a, x), tape.gradient(a, y), tape.gradient(b, x)]
    assert [float(g) for g in gradients] == [2.0, 0.0, 0.0]


def test_an_input_that_no_result_needs_has_none(tf):
    f = tf.function(lambda x, y: (x * 2.0, x * 3.0))
    x, y = _watched(tf, 1.0, 2.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        a, _ = f(x, y)
    by_x, by_y = tape.gradient(a, [x, y])
    assert (float(by_x), by_y) == (2.0, None)


def test_an_integer_input_and_result_have_none(tf):
    f = tf.function(lambda x, i: (x[i] * 2.0, i + 1))
    x, i = tf.constant([1.0, 2.0]), tf.constant(1)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, _ = f(x, i)
    by_x, by_i = tape.gradient(y, [x, i])
    assert (by_x.numpy().tolist(), by_i) == ([0.0, 2.0], None)


def test_every_variable_a_call_uses_is_listed(tf):
    read, assigned, unused = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)

    @tf.function
    def f(x):
        assigned.assign(x)
        return read * x

    with tf.GradientTape() as tape:
        f(tf.constant(5.0))
    found = tape.watched_variables()
    assert [v is w for v, w in zip(found, (read, assigned), strict=True)] == [True, True]
    assert unused is not None


@pytest.mark.parametrize("persistent", [False, True])
def test_second_derivatives_of_one_of_several_results(tf, persistent):
    f = tf.function(lambda x, y: (x * x * x, x * y))
    x, y = _watched(tf, 2.0, 5.0)
    with tf.GradientTape(persistent=persistent) as outer:
        outer.watch([x, y])
        with tf.GradientTape() as inner:
            inner.watch(x)
            cube, _ = f(x, y)
        slope = inner.gradient(cube, x)
    assert (float(slope), float(outer.gradient(slope, x))) == (12.0, 12.0)


def test_results_read_before_the_gradient_is_asked(tf):
    f = tf.function(lambda x, y: (x * y, x + y))
    x, y = _watched(tf, 2.0, 5.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        product, total = f(x, y)
    assert (float(product), float(total)) == (10.0, 7.0)
    assert [float(g) for g in tape.gradient(product, [x, y])] == [5.0, 2.0]
    assert [float(g) for g in tape.gradient(total, [x, y])] == [1.0, 1.0]


def test_a_function_inside_a_function_is_a_call_too(tf):
    inner = tf.function(lambda x: (x * x, x * x * x))

    @tf.function
    def outer(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            square, cube = inner(x)
        return tape.gradient(cube, [x, square])[0]

    assert float(outer(tf.constant(2.0))) == 12.0
