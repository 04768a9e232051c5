"""`tf.gradients` and `tf.hessians`, which are for the bodies of traced functions."""

from __future__ import annotations

import pytest


def test_gradients_of_a_sum_of_targets_by_several_sources(tf):
    @tf.function
    def slopes(x, y):
        return tf.gradients([x * x * y, 3.0 * x], [x, y])

    result = slopes(tf.constant(2.0), tf.constant(5.0))
    assert isinstance(result, list)
    assert [float(g) for g in result] == [2.0 * 2.0 * 5.0 + 3.0, 4.0]


def test_one_source_gives_a_list_of_one(tf):
    slope = tf.function(lambda x: tf.gradients(x**3, x))
    (result,) = slope(tf.constant([1.0, 2.0]))
    assert result.numpy().tolist() == [3.0, 12.0]


def test_the_source_may_be_computed_inside(tf):
    @tf.function
    def slope(x):
        middle = x * x
        return tf.gradients(middle * middle, middle)[0]

    assert float(slope(tf.constant(3.0))) == 18.0


def test_variables_are_sources(tf):
    v = tf.Variable([1.0, 2.0])
    slope = tf.function(lambda x: tf.gradients(tf.reduce_sum(v * v * x), [v])[0])
    assert slope(tf.constant(3.0)).numpy().tolist() == [6.0, 12.0]
    v.assign([5.0, 0.5])
    assert slope(tf.constant(1.0)).numpy().tolist() == [10.0, 1.0]


def test_an_unconnected_source_gets_none_or_zeros(tf):
    @tf.function
    def none(x, y):
        first, second = tf.gradients(x * x, [x, y])
        assert second is None
        return first

    @tf.function
    def zero(x, y):
        return tf.gradients(x * x, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)

    x, y = tf.constant(3.0), tf.constant([1.0, 2.0])
    assert float(none(x, y)) == 6.0
    assert [g.numpy().tolist() for g in zero(x, y)] == [6.0, [0.0, 0.0]]


def test_the_name_of_unconnected_gradients_may_be_text(tf):
    zero = tf.function(lambda x, y: tf.gradients(x, [y], unconnected_gradients="zero"))
    assert float(zero(tf.constant(1.0), tf.constant(2.0))[0]) == 0.0


def test_stop_gradients_are_taken_as_constants(tf):
    @tf.function
    def slopes(a):
        b = a * 2.0
        total = a + b
        partial = tf.gradients(total, [a, b], stop_gradients=[a, b])
        return partial, tf.gradients(total, [a, b]), tf.gradients(b * a, a, stop_gradients=b)

    partial, full, product = slopes(tf.constant(3.0))
    assert [float(g) for g in partial] == [1.0, 1.0]
    assert [float(g) for g in full] == [3.0, 1.0]
    assert [float(g) for g in product] == [6.0]


def test_grad_ys_weight_the_targets(tf):
    @tf.function
    def slope(x, weight):
        return tf.gradients([x * x, x], [x], grad_ys=[weight, tf.ones_like(x)])[0]

    result = slope(tf.constant([1.0, 2.0]), tf.constant([10.0, -1.0]))
    assert result.numpy().tolist() == [21.0, -3.0]


def test_a_missing_entry_of_grad_ys_means_ones(tf):
    slope = tf.function(lambda x: tf.gradients([x * x, x], x, grad_ys=[None, 5.0 * x])[0])
    assert float(slope(tf.constant(2.0))) == 4.0 + 10.0


def test_gradients_of_gradients_are_second_derivatives(tf):
    @tf.function
    def derivatives(x):
        y = x**4
        (first,) = tf.gradients(y, x)
        (second,) = tf.gradients(first, x)
        (third,) = tf.gradients(second, x)
        return first, second, third

    assert [float(d) for d in derivatives(tf.constant(2.0))] == [32.0, 48.0, 48.0]


def test_a_tape_outside_differentiates_gradients(tf):
    slope = tf.function(lambda x: tf.gradients(x * x * x, x)[0])
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        first = slope(x)
    assert float(first) == 12.0
    assert float(tape.gradient(first, x)) == 12.0


def test_gradients_through_a_called_function(tf):
    inner = tf.function(lambda x: x * x * x)
    slope = tf.function(lambda x: tf.gradients(inner(x) * 2.0, x)[0])
    assert float(slope(tf.constant(2.0))) == 24.0


def test_hessians_of_a_form_are_its_matrix(tf):
    @tf.function
    def curvature(x, y):
        a = tf.constant([[2.0, 1.0], [1.0, 3.0]])
        form = tf.reduce_sum(x * tf.linalg.matvec(a, x))
        return tf.hessians(form + tf.reduce_sum(y**3), [x, y])

    by_x, by_y = curvature(tf.constant([1.0, -1.0]), tf.constant([1.0, 2.0, 0.0]))
    assert by_x.numpy().tolist() == [[4.0, 2.0], [2.0, 6.0]]
    assert by_y.numpy().tolist() == [[6.0, 0.0, 0.0], [0.0, 12.0, 0.0], [0.0, 0.0, 0.0]]


def test_hessians_have_the_shape_of_the_source_twice(tf):
    curvature = tf.function(lambda x: tf.hessians(tf.reduce_sum(x) ** 2, x)[0])
    result = curvature(tf.ones([2, 3]))
    assert result.shape == (2, 3, 2, 3)
    assert (result.numpy() == 2.0).all()


@pytest.mark.parametrize("name", ["gradients", "hessians"])
def test_eager_programs_cannot_ask_for_graph_derivatives(tf, name):
    x = tf.constant(2.0)
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        getattr(tf, name)(x * x, x)
