"""Gradients and effects of `if`, `while` and `for` that tensors decide.

Expected values are derivatives known from mathematics, or the same program run without a function.
"""

from __future__ import annotations

import numpy as np
import pytest

import tapejax as tf

# The `if`s are what is tested.
# ruff: noqa: SIM108

ZERO = tf.UnconnectedGradients.ZERO


def power(x, n):
    """x ** n by a `while`."""
    y = tf.ones_like(x)
    i = 0
    while i < n:
        y = y * x
        i += 1
    return y


def looped_power(x, n):
    """x ** n by a `for` over a range."""
    y = tf.ones_like(x)
    for _ in tf.range(n):
        y = y * x
    return y


def product(x, n):
    """x ** len by a `for` over a tensor: n only says how many."""
    y = tf.ones_like(x)
    for factor in tf.ones([5])[:, None] * x:
        if n > 0:
            y = y * factor[0]
            n -= 1
    return y


POWERS = [power, looped_power, product]


@pytest.mark.parametrize("function", POWERS)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_loops_have_first_second_and_third_derivatives(function, n):
    @tf.function
    def derivatives(x, n):
        with tf.GradientTape() as third:
            third.watch(x)
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch(x)
                    y = function(x, n)
                dx = first.gradient(y, x, unconnected_gradients=ZERO)
            dxx = second.gradient(dx, x, unconnected_gradients=ZERO)
        return y, dx, dxx, third.gradient(dxx, x, unconnected_gradients=ZERO)

    x = 2.0
    factors = np.cumprod([1.0, n, n - 1, n - 2])
    expected = [f * x ** (n - k) for k, f in enumerate(factors)]
    np.testing.assert_allclose(derivatives(tf.constant(x), tf.constant(n)), expected, rtol=1e-6)


@pytest.mark.parametrize("function", POWERS)
def test_a_tape_around_a_function_with_a_loop_sees_through_it(function):
    f = tf.function(function)
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x, tf.constant(4))
        first = inner.gradient(y, x)
    assert (float(y), float(first), float(outer.gradient(first, x))) == (81.0, 108.0, 108.0)


@pytest.mark.parametrize("function", POWERS)
def test_loops_have_directional_derivatives(function):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(10.0)) as accumulator:
        y = tf.function(function)(x, tf.constant(3))
    assert float(accumulator.jvp(y)) == 120.0


@pytest.mark.parametrize("function", [power, looped_power])
def test_loops_have_jacobians(function):
    @tf.function
    def f(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, n)
        return tape.jacobian(y, x)

    found = f(tf.constant([1.0, 2.0, 3.0]), tf.constant(3))
    np.testing.assert_allclose(found, np.diag([3.0, 12.0, 27.0]), rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "value", "slopes"), [(2.0, 12.0, (12.0, 4.0)), (-2.0, 4.0, (-2.0, 0.0))]
)
def test_a_branch_has_gradients_by_inputs_and_captured_variables(x, value, slopes):
    w = tf.Variable(3.0)

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            if x > 0.0:
                y = w * x * x
            else:
                y = -2.0 * x
        return y, tape.gradient(y, [x, w], unconnected_gradients=ZERO)

    y, found = f(tf.constant(x))
    assert (float(y), *map(float, found)) == (value, *slopes)


def test_a_loop_has_gradients_by_captured_variables_and_constants():
    w = tf.Variable(2.0)
    c = tf.constant([1.0, 3.0])

    @tf.function
    def f(n):
        with tf.GradientTape() as tape:
            tape.watch(c)
            y = tf.constant(0.0)
            while n > 0:
                y = w * y + tf.reduce_sum(c)
                n -= 1
        return tape.gradient(y, [w, c])

    # y = s (1 + w + w^2), s = sum of c
    dw, dc = f(tf.constant(3))
    assert float(dw) == 4.0 * (1.0 + 2.0 * 2.0)
    assert dc.numpy().tolist() == [7.0, 7.0]


def test_a_tape_in_each_iteration_gives_newtons_method():
    @tf.function
    def root(x):
        for _ in tf.range(tf.constant(20)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x - 2.0
            x -= y / tape.gradient(y, x)
        return x

    np.testing.assert_allclose(root(tf.constant(1.0)), np.sqrt(2.0), rtol=1e-6)


@pytest.mark.parametrize(("x", "expected"), [(3.0, 27.0), (-3.0, -1.0)])
def test_a_tape_inside_a_branch_gives_the_gradient_of_that_branch(x, expected):
    @tf.function
    def f(x):
        if x > 0.0:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x**3
            slope = tape.gradient(y, x)
        else:
            slope = -tf.ones_like(x)
        return slope

    assert float(f(tf.constant(x))) == expected


@pytest.mark.parametrize("x", [3.0, -3.0])
def test_a_branch_and_a_loop_may_ask_a_tape_around_them(x):
    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x**3
        slope = tf.zeros_like(x)
        if x > 0.0:
            slope = tape.gradient(y, x)
        total = tf.zeros_like(x)
        for _ in tf.range(tf.constant(2)):
            total += tape.gradient(y, x)
        return slope, total

    expected = (27.0, 54.0) if x > 0.0 else (0.0, 54.0)
    assert tuple(map(float, f(tf.constant(x)))) == expected


# variables


def test_a_training_loop_in_one_function_is_the_eager_loop():
    rng = np.random.default_rng(0)
    data = tf.constant(rng.normal(size=(20, 3)).astype(np.float32))
    target = tf.linalg.matvec(data, tf.constant([1.0, -2.0, 0.5]))

    def train(w, steps):
        optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
        optimizer.build([w])

        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((tf.linalg.matvec(data, w) - target) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])
            return loss

        return step

    eager, staged = tf.Variable([0.0, 0.0, 0.0]), tf.Variable([0.0, 0.0, 0.0])
    step, inner = train(eager, 30), train(staged, 30)

    @tf.function
    def whole(n):
        loss = tf.constant(0.0)
        for _ in tf.range(n):
            loss = inner()
        return loss

    losses = [float(step()) for _ in range(30)]
    np.testing.assert_allclose(whole(tf.constant(30)), losses[-1], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(staged, eager, rtol=1e-4)
    assert losses[-1] < losses[0] / 10


@pytest.mark.parametrize(("flag", "expected"), [(True, (11.0, 2.0)), (False, (1.0, 7.0))])
def test_a_variable_assigned_in_one_branch_keeps_its_value_in_the_other(flag, expected):
    v, w = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function
    def f(flag):
        if flag:
            v.assign_add(10.0)
        else:
            w.assign_add(5.0)
        return v + w

    assert float(f(tf.constant(flag))) == sum(expected)
    assert (float(v), float(w)) == expected


def test_a_variable_read_after_its_assignment_in_a_loop_has_the_new_value():
    v = tf.Variable(1)

    @tf.function
    def f(n):
        total = tf.constant(0)
        while n > 0:
            v.assign(v * 2)
            total += v
            n -= 1
        return total

    assert (int(f(tf.constant(3))), int(v)) == (14, 8)
    assert (int(f(tf.constant(0))), int(v)) == (0, 8)


# break, continue, return, names, lists


def leaves(tensor_or_number):
    return np.asarray(tensor_or_number).tolist()


def first_above(x, limit):
    for value in x:
        if value > limit:
            return value
    return -tf.ones_like(limit)


def sum_of_even(x, limit):
    total = tf.zeros_like(limit)
    for value in x:
        if value % 2 == 1:
            continue
        if value > limit:
            break
        total += value
    return total


def steps_until(x, limit):
    count = tf.zeros_like(limit)
    total = tf.zeros_like(limit)
    while True:
        total += x[0]
        count += 1
        if total > limit:
            break
    return count


def last_seen(x, limit):
    seen = tf.zeros_like(limit)
    for value in x:
        doubled = value * 2
        if doubled > limit:
            seen = doubled
    return seen


@pytest.mark.parametrize("function", [first_above, sum_of_even, steps_until, last_seen])
@pytest.mark.parametrize("limit", [-1, 3, 5, 100])
def test_break_continue_and_return_end_what_they_end_in_python(function, limit):
    x = tf.constant([1, 2, 3, 4, 6, 8, 5])
    expected = leaves(function(x, tf.constant(limit)))
    assert leaves(tf.function(function)(x, tf.constant(limit))) == expected


def test_the_gradient_of_a_return_in_a_loop_is_that_of_the_returned_value():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = first_above(x, tf.constant(2.0)) ** 2
        return tape.gradient(y, x)

    assert leaves(f(tf.constant([1.0, 2.0, 3.0, 4.0]))) == [0.0, 0.0, 6.0, 0.0]


def test_a_static_loop_appends_to_a_list():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            items = []
            for row in x:
                items.append(row * row)
            y = tf.stack(items)
        return y, tape.gradient(y, x), len(items)

    y, slope, count = f(tf.constant([1.0, 2.0, 3.0]))
    assert (leaves(y), leaves(slope), int(count)) == ([1.0, 4.0, 9.0], [2.0, 4.0, 6.0], 3)


def test_a_static_loop_fills_a_tensor_array():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            array = tf.TensorArray(tf.float32, size=3)
            for i in tf.range(3):
                array = array.write(i, x * tf.cast(i, tf.float32))
            y = array.stack()
        return y, tape.gradient(y, x)

    y, slope = f(tf.constant(2.0))
    assert (leaves(y), leaves(slope)) == ([0.0, 2.0, 4.0], 3.0)


# random numbers, failures


def draws(n):
    array = tf.TensorArray(tf.float32, size=4)
    for i in tf.range(4):
        array = array.write(i, tf.random.uniform([]))
    return array.stack() + 0.0 * tf.cast(n, tf.float32)


def test_random_ops_draw_anew_in_each_iteration_and_call_and_again_after_set_seed():
    runs = []
    for _ in range(2):
        tf.random.set_seed(7)
        f = tf.function(draws)
        runs.append(np.concatenate([f(tf.constant(1)), f(tf.constant(1))]))
    assert len(np.unique(runs[0])) == 8
    assert runs[0].tolist() == runs[1].tolist()
    assert ((runs[0] >= 0) & (runs[0] < 1)).all()


@pytest.mark.parametrize("limit", [3, 100])
def test_a_check_in_a_loop_raises_when_its_iteration_runs(limit):
    @tf.function
    def f(n):
        i = tf.constant(0)
        while i < n:
            tf.debugging.assert_less(i, limit, message="went too far")
            i += 1
        return i

    assert int(f(tf.constant(3))) == 3
    if limit == 3:
        with pytest.raises(tf.errors.InvalidArgumentError, match="went too far"):
            f(tf.constant(5))
    else:
        assert int(f(tf.constant(5))) == 5


def test_a_check_in_a_branch_raises_when_the_branch_runs():
    @tf.function
    def f(x, flag):
        if flag:
            x = tf.debugging.check_numerics(x, "in the branch")
        return x

    bad = tf.constant([1.0, np.nan])
    assert np.isnan(f(bad, tf.constant(False)).numpy()[1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="in the branch"):
        f(bad, tf.constant(True))


def test_raise_in_a_branch_raises_only_when_it_is_taken():
    @tf.function
    def f(x):
        if x < 0.0:
            raise ValueError("negative")
        return tf.sqrt(x)

    assert float(f(tf.constant(4.0))) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: negative"):
        f(tf.constant(-4.0))


def test_assert_on_a_tensor_raises_when_the_function_runs():
    @tf.function
    def f(x):
        assert x > 0.0, "must be positive"
        return x

    assert float(f(tf.constant(4.0))) == 4.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        f(tf.constant(-4.0))
