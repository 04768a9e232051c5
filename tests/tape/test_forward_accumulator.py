"""Forward mode."""

from __future__ import annotations

import math

import numpy as np
import pytest


def test_pushes_a_tangent_forward(tf):
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 10.0])) as accumulator:
        y = x * x * x
    assert accumulator.jvp(y).numpy() == pytest.approx([3.0, 120.0])


def test_adds_the_contributions_of_a_list_of_primals(tf):
    a, b = tf.constant(2.0), tf.constant(3.0)
    tangents = [tf.constant(1.0), tf.constant(10.0)]
    with tf.autodiff.ForwardAccumulator([a, b], tangents) as accumulator:
        y = a * b
    assert accumulator.jvp(y).numpy() == pytest.approx(23.0)


def test_of_a_variable(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([3.0, 1.0])) as accumulator:
        y = tf.reduce_sum(v * v)
    assert accumulator.jvp(y).numpy() == pytest.approx(10.0)


def test_can_be_asked_inside_and_after_the_block_and_twice(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = x * x
        inside = accumulator.jvp(y)
    answers = [inside, accumulator.jvp(y), accumulator.jvp(y)]
    assert [float(a) for a in answers] == pytest.approx([4.0, 4.0, 4.0])


def test_answers_in_the_structure_asked_for(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y, z = x * x, x * 3.0
    found = accumulator.jvp({"y": y, "z": [z]})
    assert [float(found["y"]), float(found["z"][0])] == pytest.approx([4.0, 3.0])


def test_ops_after_the_block_are_not_followed(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = x * x
    z = y * y
    assert accumulator.jvp(y).numpy() == pytest.approx(4.0)
    assert accumulator.jvp(z) is None


def test_an_unconnected_value_gives_none_or_zeros(tf):
    x, other = tf.constant(2.0), tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = other * 2.0
    assert accumulator.jvp(y) is None
    zeros = accumulator.jvp(y, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    np.testing.assert_array_equal(zeros.numpy(), [0.0, 0.0])


def test_an_unknown_unconnected_gradients_raises(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = x * x
    with pytest.raises(ValueError, match="bogus"):
        accumulator.jvp(y, unconnected_gradients="bogus")


def test_a_primal_given_twice_raises(tf):
    x, one = tf.constant(2.0), tf.constant(1.0)
    with pytest.raises(ValueError, match="multiple times"):
        tf.autodiff.ForwardAccumulator([x, x], [one, one])


def test_primals_and_tangents_of_different_structure_raise(tf):
    a, b = tf.constant(2.0), tf.constant(3.0)
    with pytest.raises(ValueError, match="structure"):
        tf.autodiff.ForwardAccumulator([a, b], [tf.constant(1.0)])


def test_a_tangent_of_another_dtype_raises(tf):
    with pytest.raises(ValueError, match="float64"):
        tf.autodiff.ForwardAccumulator(tf.constant([2.0, 1.0]), tf.constant([1.0, 0.0], tf.float64))


def test_entering_twice_raises(tf):
    accumulator = tf.autodiff.ForwardAccumulator(tf.constant(2.0), tf.constant(1.0))
    with accumulator, pytest.raises(ValueError), accumulator:  # noqa: PT011
        pass


def test_second_order_by_nested_accumulators(tf):
    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = x**4
        first = inner.jvp(y)
    assert first.numpy() == pytest.approx(32.0)
    assert outer.jvp(first).numpy() == pytest.approx(48.0)


def test_an_inner_accumulator_does_not_see_products_of_an_outer_one(tf):
    x = tf.constant(2.0)
    with (
        tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer,
        tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner,
    ):
        y = x**3
    assert inner.jvp(outer.jvp(y)) is None


def test_forward_over_reverse_is_a_hessian_vector_product(tf):
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as accumulator:
        with tf.GradientTape() as tape:
            y = v[0] ** 2 * v[1] ** 3
        gradient = tape.gradient(y, v)
    assert gradient.numpy() == pytest.approx([16.0, 12.0], rel=1e-5)
    assert accumulator.jvp(gradient).numpy() == pytest.approx([16.0, 24.0], rel=1e-5)


def test_reverse_over_forward(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            y = x**3
        slope = accumulator.jvp(y)
    assert slope.numpy() == pytest.approx(12.0)
    assert tape.gradient(slope, x).numpy() == pytest.approx(12.0)


def test_through_a_matrix_product_and_softmax(tf):
    x, w = tf.constant([[1.0, 2.0]]), tf.constant([[1.0, 0.0], [0.0, 2.0]])
    tangent = tf.constant([[1.0, 0.0], [0.0, 3.0]])
    with tf.autodiff.ForwardAccumulator(w, tangent) as accumulator:
        y = tf.nn.softmax(tf.matmul(x, w))
    p = 1 / (1 + math.exp(3))  # softmax of [1, 4]; the logits move by [1, 6]
    slope = p * (1 - p) * (1 - 6)
    np.testing.assert_allclose(accumulator.jvp(y).numpy(), [[slope, -slope]], rtol=1e-5)


def test_the_rule_of_a_custom_gradient_is_ignored(tf):
    @tf.custom_gradient
    def square(x):
        return x * x, lambda dy: dy * 100.0

    x = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(3.0)) as accumulator:
        y = square(x)
    assert accumulator.jvp(y).numpy() == pytest.approx(12.0)
