"""What has a rule of its own keeps it in branches and loops: stopped gradients, rules of the user,
assignments. Expected numbers are worked out by hand in the comments, and are TensorFlow's.
"""

# ruff: noqa: SIM108
# An `if` statement is what these programs are about.

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tapejax as tf

X = [1.5, 2.5]


def slope(function, *values):
    """The gradient of a function by its first argument."""
    x, *others = [tf.constant(value) for value in values]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x, *others)
    return tape.gradient(y, x)


def test_a_stopped_gradient_stays_stopped_in_a_branch():
    @tf.function
    def f(x):
        if x > 0.0:
            y = tf.stop_gradient(x) * x
        else:
            y = x
        return y

    assert float(slope(f, 1.5)) == pytest.approx(1.5)  # not 3


def test_a_stopped_gradient_stays_stopped_in_a_loop():
    @tf.function
    def f(x, n):
        y = x
        for _ in tf.range(n):
            y = tf.stop_gradient(y) * x + y
        return y

    # y' = y_n + y'_n with y_n+1 = y_n (x + 1): 1 + 2 + 6 + 18 at x = 2
    assert float(slope(f, 2.0, 3)) == pytest.approx(27.0)


def test_a_stopped_gradient_stays_stopped_in_a_vectorized_map():
    found = slope(lambda x: tf.vectorized_map(lambda e: tf.stop_gradient(e) * e, x), X)
    np.testing.assert_allclose(found, X)


def clipped_tenfold():
    return tf.custom_gradient(
        lambda x: (tf.identity(x), lambda dy: tf.clip_by_value(dy, -1.0, 1.0) * 10.0)
    )


def test_a_rule_holds_in_a_loop_of_unknown_length():
    rule = clipped_tenfold()

    @tf.function
    def f(x, n):
        for _ in tf.range(n):
            x = rule(x) * 3.0
        return x

    # 1 -> 3 -> clipped to 1, times 10 -> 30 -> clipped to 1, times 10
    assert float(slope(f, 2.0, 2)) == pytest.approx(10.0)


def test_a_rule_holds_in_a_function_called_from_a_loop():
    rule = tf.custom_gradient(lambda x: (x * 2.0, lambda dy: dy * 100.0))
    inner = tf.function(lambda x: rule(x) * x)

    @tf.function
    def f(x):
        for _ in tf.range(1):
            x = inner(x)
        return x

    np.testing.assert_allclose(slope(f, X), [100 * x + 2 * x for x in X])


def test_a_rule_holds_for_a_tape_opened_in_the_loop():
    rule = tf.custom_gradient(lambda x: (x * 2.0, lambda dy: dy * 100.0))

    @tf.function
    def f(x):
        total = 0.0
        for _ in tf.range(1):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = rule(x) * x
            total += tape.gradient(y, x)
        return total

    assert float(f(tf.constant(1.5))) == pytest.approx(100 * 1.5 + 2 * 1.5)


def test_a_rule_holds_at_the_second_order():
    rule = tf.custom_gradient(lambda x: (tf.exp(x), lambda dy: dy * tf.exp(x) * 2.0))

    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0.0:
            y = rule(x)
        else:
            y = x
        return tf.reduce_sum(y)

    def first(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    # 2 exp(x) by the rule; inside the rule exp is an ordinary op, so its derivative is 2 exp(x)
    np.testing.assert_allclose(slope(first, X), 2 * np.exp(X), rtol=1e-5)


def test_a_rule_with_variables_holds_in_a_loop():
    w = tf.Variable(2.0)

    @tf.custom_gradient
    def rule(x):
        def gradient(dy, variables=None):
            assert variables is not None
            return dy * w * 100.0, [dy * x * 7.0]

        return x * w, gradient

    @tf.function
    def f(x, n):
        for _ in tf.range(n):
            x = rule(x)
        return x

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.constant(2))
    # by x: (2 * 100)^2; by w: 7 * 6 from the last step, 200 * 7 * 3 from the first
    by_x, by_w = tape.gradient(y, [x, w])
    assert (float(by_x), float(by_w)) == pytest.approx((40000.0, 4242.0))


@pytest.mark.parametrize("training", [True, False])
def test_an_assignment_in_a_branch_has_no_gradient(training):
    v = tf.Variable(0.0 if training else 0.2)

    @tf.function
    def f(x, training):
        if training:
            v.assign(0.9 * v + 0.1 * tf.reduce_mean(x))
        return tf.reduce_sum((x - v) ** 2)

    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.constant(training))
    by_x, by_v = tape.gradient(y, [x, v])
    np.testing.assert_allclose(by_x, [2.6, 4.6], rtol=1e-6)  # 2 (x - 0.2)
    assert float(by_v) == pytest.approx(-7.2)


def test_every_read_of_a_variable_assigned_in_a_loop_counts():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        total = 0.0
        for _ in tf.range(2):
            v.assign(v * x)
            total += v * x
        return total

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    # v is 2, then 4; the assignments are not differentiated
    by_x, by_v = tape.gradient(y, [x, v])
    assert (float(by_x), float(by_v)) == pytest.approx((6.0, 4.0))


def test_second_derivatives_do_not_pass_an_assignment_in_a_loop():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        for _ in tf.range(2):
            v.assign(v * 1.5)
            x = x * v * v
        return x

    x = tf.constant(4.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f(x)
        first = inner.gradient(y, v)
    # y = x a^2 b^2 at a = 1.5, b = 2.25: every read of v has the derivative 1
    a, b = 1.5, 2.25
    assert float(first) == pytest.approx(4 * (2 * a * b * b + 2 * a * a * b))
    second = outer.gradient(first, v)
    assert float(second) == pytest.approx(4 * (2 * b * b + 8 * a * b + 2 * a * a))


def test_reads_between_two_assignments_in_a_function_count():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(2.0)
        a = x * v
        v.assign(3.0)
        return a * v

    x = tf.constant(X)
    with tf.GradientTape() as tape:
        y = f(x)
    assert float(tape.gradient(y, v)) == pytest.approx(sum(X) * (3.0 + 2.0))


def test_a_tape_opened_outside_is_asked_in_a_branch():
    v = tf.Variable(2.0)

    @tf.function
    def step(x, number):
        with tf.GradientTape() as tape:
            loss = (v * x - 1.0) ** 2
        if number % 2 == 0:
            v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    assert float(step(tf.constant(1.0), tf.constant(0))) == pytest.approx(1.0)
    assert float(v) == pytest.approx(1.8)  # 2 - 0.1 * 2 (2 - 1)
    step(tf.constant(1.0), tf.constant(1))
    assert float(v) == pytest.approx(1.8)


def test_a_tape_opened_outside_cannot_be_asked_about_values_from_inside():
    @tf.function
    def f(x):
        total = 0.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            for _ in tf.range(2):
                total += tape.gradient(x * x, x)
        return total

    with pytest.raises(NotImplementedError, match="open the tape inside"):
        f(tf.constant(2.0))


def test_a_name_of_an_inner_loop_may_get_its_value_later():
    @tf.function
    def f(n):
        for i in tf.range(n):
            for j in tf.range(i):
                y = j * 2
        return i, j, y

    assert [int(x) for x in f(tf.constant(4))] == [3, 2, 4]


def test_a_loop_without_iterations_leaves_no_made_up_value():
    @tf.function
    def f(n):
        for i in tf.range(n):
            y = i * 2
        return y

    assert int(f(tf.constant(3))) == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least once to initialize 'y'"):
        f(tf.constant(0))


def test_functions_with_staged_loops_and_what_they_hold_are_freed():
    def make():
        class Model:
            def __init__(self):
                self.v = tf.Variable(np.ones(10, np.float32))

        model = Model()

        @tf.function
        def f(x, n):
            for _ in tf.range(n):
                if tf.reduce_sum(x) > 3.0:
                    x = x * model.v
                else:
                    model.v.assign_add(x)
            while tf.reduce_sum(x) < 5.0:
                x = x + model.v
            return x

        x = tf.constant(np.ones(10, np.float32))
        with tf.GradientTape() as tape:
            y = f(x, tf.constant(3))
        tape.gradient(y, model.v)
        return [weakref.ref(f), weakref.ref(f.python_function), weakref.ref(model)]

    made = [ref for _ in range(10) for ref in make()]
    gc.collect()
    assert sum(ref() is None for ref in made) == 30
