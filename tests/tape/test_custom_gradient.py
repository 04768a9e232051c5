"""`custom_gradient`, `recompute_grad`, `stop_gradient` and `grad_pass_through`."""

from __future__ import annotations

import numpy as np
import pytest


def gradient(tf, function, *values):
    """The value of a function and its gradients with respect to all arguments."""
    sources = [tf.constant(value) for value in values]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        y = function(*sources)
    return [y, *tape.gradient(y, sources)]


def test_the_rule_replaces_the_derivative_of_the_body(tf):
    @tf.custom_gradient
    def square(x):
        return x * x, lambda dy: dy * 100.0

    value, slope = gradient(tf, square, [2.0, 3.0])
    assert value.numpy() == pytest.approx([4.0, 9.0])
    assert slope.numpy() == pytest.approx([100.0, 100.0])


def test_straight_through_rounding(tf):
    @tf.custom_gradient
    def round_through(x):
        return tf.round(x), lambda dy: dy

    value, slope = gradient(tf, lambda x: round_through(x) * 3.0, [0.2, 1.7])
    assert value.numpy() == pytest.approx([0.0, 6.0])
    assert slope.numpy() == pytest.approx([3.0, 3.0])


def test_the_rule_may_use_values_of_the_forward_pass(tf):
    @tf.custom_gradient
    def stable_softplus(x):
        e = tf.exp(x)
        return tf.math.log(1.0 + e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))

    _, slope = gradient(tf, stable_softplus, 100.0)  # e overflows float32
    assert slope.numpy() == pytest.approx(1.0)


def test_several_outputs_give_several_cotangents(tf):
    @tf.custom_gradient
    def powers(x):
        return (x * x, x**3), lambda da, db: da * 100.0 + db

    _, slope = gradient(tf, lambda x: powers(x)[0] + 2.0 * powers(x)[1], 2.0)
    assert slope.numpy() == pytest.approx(102.0)


def test_the_cotangent_of_an_unused_output_is_zeros(tf):
    seen = []

    @tf.custom_gradient
    def powers(x):
        def pullback(da, db):
            seen.append(db.numpy())
            return da

        return (x * x, x**3), pullback

    _, slope = gradient(tf, lambda x: powers(x)[0] * 3.0, [2.0, 1.0])
    assert slope.numpy() == pytest.approx([3.0, 3.0])
    np.testing.assert_array_equal(seen, [[0.0, 0.0]])


def test_outputs_keep_their_structure(tf):
    @tf.custom_gradient
    def both(x):
        return {"a": x * 1.0, "b": [x * 2.0]}, lambda a, b: a * 10.0 + b

    outputs, slope = gradient(tf, lambda x: both(x)["a"] + both(x)["b"][0], 1.0)
    assert outputs.numpy() == pytest.approx(3.0)
    assert slope.numpy() == pytest.approx(11.0)
    found = both(tf.constant(1.0))
    assert type(found) is dict
    assert type(found["b"]) is list


def test_several_inputs(tf):
    @tf.custom_gradient
    def weighted(x, y):
        return x * y, lambda dy: (dy * 5.0, None)

    _, of_x, of_y = gradient(tf, weighted, 2.0, 3.0)
    assert of_x.numpy() == pytest.approx(5.0)
    assert of_y is None


def test_nested_inputs_are_flattened(tf):
    @tf.custom_gradient
    def product(pair):
        return pair["a"] * pair["b"], lambda dy: {"a": dy * 5.0, "b": dy * 6.0}

    _, of_a, of_b = gradient(tf, lambda a, b: product({"a": a, "b": b}), 2.0, 3.0)
    assert [float(of_a), float(of_b)] == pytest.approx([5.0, 6.0])


def test_a_wrong_number_of_gradients_raises(tf):
    @tf.custom_gradient
    def double(x):
        return x * 2.0, lambda dy: (dy, dy)

    with pytest.raises(ValueError, match="expected to return 1 gradients, but returned 2"):
        gradient(tf, double, 5.0)


def test_an_exception_in_the_rule_reaches_the_user(tf):
    @tf.custom_gradient
    def broken(x):
        def pullback(dy):
            raise KeyError("inside")

        return x * 2.0, pullback

    with pytest.raises(KeyError, match="inside"):
        gradient(tf, broken, 5.0)


def test_returning_the_input_is_allowed(tf):
    @tf.custom_gradient
    def same(x):
        return x, lambda dy: dy * 7.0

    _, slope = gradient(tf, lambda x: same(x) * 2.0, 3.0)
    assert slope.numpy() == pytest.approx(14.0)


def test_variables_read_in_the_body_need_the_variables_argument(tf):
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        return x * v, lambda dy: dy

    with pytest.raises(TypeError, match="variables"):
        scaled(tf.constant(2.0))


def test_variables_read_in_the_body_get_their_own_gradients(tf):
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def scaled(x):
        def pullback(dy, variables=None):
            assert len(variables) == 1
            return dy * 1.5, [dy * 2.5]

        return x * v, pullback

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x)
    assert [float(g) for g in tape.gradient(y, [x, v])] == pytest.approx([1.5, 2.5])


def test_variables_that_are_not_trainable_need_no_argument(tf):
    frozen = tf.Variable(3.0, trainable=False)

    @tf.custom_gradient
    def scaled(x):
        return x * frozen, lambda dy: dy * 9.0

    _, slope = gradient(tf, scaled, 2.0)
    assert slope.numpy() == pytest.approx(9.0)


def test_a_variable_passed_as_an_argument_is_an_ordinary_input(tf):
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def product(x, w):
        return x * w, lambda dy: (dy * 1.0, dy * 2.0)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = product(x, v)
    assert [float(g) for g in tape.gradient(y, [x, v])] == pytest.approx([1.0, 2.0])


def test_keyword_arguments_are_constants(tf):
    @tf.custom_gradient
    def scaled(x, factor=1.0):
        return x * factor, lambda dy: dy * factor * 100.0

    value, slope = gradient(tf, lambda x: scaled(x, factor=4.0), 2.0)
    assert [float(value), float(slope)] == pytest.approx([8.0, 400.0])


def test_a_tensor_captured_by_closure_gets_none(tf):
    w = tf.constant(3.0)

    @tf.custom_gradient
    def scaled(x):
        return x * w, lambda dy: dy * 100.0

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = scaled(x)
    of_x, of_w = tape.gradient(y, [x, w])
    assert of_x.numpy() == pytest.approx(100.0)
    assert of_w is None


def test_second_order_differentiates_the_rule(tf):
    @tf.custom_gradient
    def cube(x):
        return x**3, lambda dy: dy * 5.0 * x**2

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        first = inner.gradient(y, x)
    assert [float(first), float(outer.gradient(first, x))] == pytest.approx([20.0, 20.0])


def test_a_tape_inside_the_body(tf):
    @tf.custom_gradient
    def sine(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x)
        slope = tape.gradient(y, x)
        return tf.identity(y), lambda dy: dy * slope * 2.0

    assert gradient(tf, sine, 0.0)[1].numpy() == pytest.approx(2.0)


def test_the_body_is_called_once_per_call_and_the_rule_once_per_gradient(tf):
    calls = []

    @tf.custom_gradient
    def counted(x):
        calls.append("body")

        def pullback(dy):
            calls.append("rule")
            return dy

        return x * 2.0, pullback

    for _ in range(3):
        gradient(tf, counted, 1.0)
    assert calls == ["body", "rule"] * 3


def test_the_rule_sees_the_closure_of_its_own_call(tf):
    def scaled_by(factor):
        @tf.custom_gradient
        def scaled(x):
            return x * 1.0, lambda dy: dy * factor

        return scaled

    slopes = [float(gradient(tf, scaled_by(f), 1.0)[1]) for f in (1.0, 2.0, 5.0)]
    assert slopes == pytest.approx([1.0, 2.0, 5.0])


def test_name_and_docstring_are_kept(tf):
    @tf.custom_gradient
    def well_named(x):
        """Well documented."""
        return x, lambda dy: dy

    assert (well_named.__name__, well_named.__doc__) == ("well_named", "Well documented.")


def test_methods_can_be_decorated(tf):
    class Scale:
        factor = 3.0

        @tf.custom_gradient
        def call(self, x):
            return x * 1.0, lambda dy: dy * self.factor

        @staticmethod
        @tf.custom_gradient
        def static(x):
            return x * 1.0, lambda dy: dy * 4.0

    assert gradient(tf, Scale().call, 1.0)[1].numpy() == pytest.approx(3.0)
    assert gradient(tf, Scale.static, 1.0)[1].numpy() == pytest.approx(4.0)


def test_called_without_a_function_it_returns_a_decorator(tf):
    function = tf.custom_gradient()(lambda x: (x * 2.0, lambda dy: dy * 3.0))
    assert gradient(tf, function, 1.0)[1].numpy() == pytest.approx(3.0)


def test_stop_gradient_cuts_one_path(tf):
    _, slope = gradient(tf, lambda x: tf.stop_gradient(x) * x, 3.0)
    assert slope.numpy() == pytest.approx(3.0)
    assert gradient(tf, lambda x: tf.stop_gradient(x) * 2.0, 3.0)[1] is None


def test_stop_gradient_converts_python_values(tf):
    assert tf.stop_gradient([1.0, 2.0]).numpy() == pytest.approx([1.0, 2.0])


def test_grad_pass_through(tf):
    _, slope = gradient(tf, tf.grad_pass_through(tf.round), [0.3, 1.7])
    assert slope.numpy() == pytest.approx([1.0, 1.0])


def test_recompute_grad_runs_the_body_again_for_the_gradient(tf):
    calls = []

    def body(x):
        calls.append(1)
        return x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.recompute_grad(body)(x)
    assert len(calls) == 1
    assert tape.gradient(y, x).numpy() == pytest.approx(4.0)
    assert len(calls) == 2


def test_recompute_grad_of_several_inputs_and_outputs(tf):
    function = tf.recompute_grad(lambda x, y: (x * y, x + y))
    _, of_x, of_y = gradient(tf, lambda x, y: tf.add_n(list(function(x, y))), 2.0, 5.0)
    assert [float(of_x), float(of_y)] == pytest.approx([6.0, 3.0])


def test_recompute_grad_twice_differentiated(tf):
    function = tf.recompute_grad(lambda x: x**3)
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        first = inner.gradient(y, x)
    assert [float(first), float(outer.gradient(first, x))] == pytest.approx([12.0, 12.0])


def test_recompute_grad_names_the_body(tf):
    def body(x):
        return x

    assert tf.recompute_grad(body).__wrapped__ is body
