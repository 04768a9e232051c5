"""Nested and persistent tapes; None and zeros in higher derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest


def derivatives(tf, function, at, order):
    """The first `order` derivatives of a scalar function, by nested tapes."""
    x = tf.constant(at)

    def nested(depth):
        if depth == 0:
            return [function(x)]
        with tf.GradientTape() as tape:
            tape.watch(x)
            values = nested(depth - 1)
        last = values[-1]
        return [*values, None if last is None else tape.gradient(last, x)]

    return nested(order)[1:]


def test_second_derivative_by_nested_tapes(tf):
    v = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.sin(v) * v
        first = inner.gradient(y, v)
    second = outer.gradient(first, v)
    assert first.numpy() == pytest.approx(math.sin(2) + 2 * math.cos(2), rel=1e-5)
    assert second.numpy() == pytest.approx(2 * math.cos(2) - 2 * math.sin(2), rel=1e-5)


def test_five_nested_tapes(tf):
    found = derivatives(tf, tf.sin, 0.5, 5)
    sine, cosine = math.sin(0.5), math.cos(0.5)
    expected = [cosine, -sine, -cosine, sine, cosine]
    assert [float(d) for d in found] == pytest.approx(expected, rel=1e-5)


# (function, at, expected): what counts is what was recorded, not the numbers
NONE_OR_ZERO = {
    "linear": (lambda tf, x: 5.0 * x + 1.0, 2.0, [5.0, None]),
    "product with itself": (lambda tf, x: x * x, 2.0, [4.0, 2.0, None]),
    "square": (lambda tf, x: tf.square(x), 2.0, [4.0, 2.0, None]),
    "power": (lambda tf, x: x**2, 2.0, [4.0, 2.0, 0.0]),
    "relu": (lambda tf, x: tf.nn.relu(x), 2.0, [1.0, 0.0]),
    "abs": (lambda tf, x: tf.abs(x), -2.0, [-1.0, 0.0]),
    "sign": (lambda tf, x: tf.sign(x), 2.0, [0.0, None]),
    "floor": (lambda tf, x: tf.floor(x), 2.5, [None]),
}


@pytest.mark.parametrize("name", NONE_OR_ZERO)
def test_none_and_zero_derivatives(tf, name):
    function, at, expected = NONE_OR_ZERO[name]
    found = derivatives(tf, lambda x: function(tf, x), at, len(expected))
    assert [None if d is None else float(d) for d in found] == expected


def test_the_mixed_derivative_of_a_product_does_not_depend_on_its_factor(tf):
    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch([x, y])
        with tf.GradientTape() as inner:
            inner.watch([x, y])
            z = x * y
        of_x = inner.gradient(z, x)
    assert outer.gradient(of_x, x) is None
    assert outer.gradient(of_x, y).numpy() == pytest.approx(1.0)


def test_an_inner_gradient_taken_after_the_outer_block_is_not_recorded(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
    first = inner.gradient(y, x)
    assert first.numpy() == pytest.approx(12.0)
    assert outer.gradient(first, x) is None


def test_only_what_happens_inside_the_outer_block_is_recorded(tf):
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as inner:
            inner.watch(x)
            y, z = x**3, x**4
        of_y, of_z = inner.gradient(y, x), inner.gradient(z, x)
    assert outer.gradient(of_y, x).numpy() == pytest.approx(12.0)
    assert outer.gradient(of_z, x).numpy() == pytest.approx(48.0)
    assert outer.gradient(of_y * of_z, x) is None


def test_a_tape_that_did_not_watch_gives_none_inside_and_a_gradient_outside(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            y = x**3
        first = inner.gradient(y, x)
    assert first is None
    assert outer.gradient(y, x).numpy() == pytest.approx(12.0)


def test_differentiating_through_a_step_of_gradient_descent(tf):
    w = tf.Variable(1.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = (w - 3.0) ** 2
        moved = w - 0.1 * inner.gradient(loss, w)
        after = (moved - 3.0) ** 2
    # moved - 3 = 0.8 (w - 3)
    assert after.numpy() == pytest.approx(2.56, rel=1e-5)
    assert outer.gradient(after, w).numpy() == pytest.approx(-2.56, rel=1e-5)


def test_second_gradient_through_a_matrix_product(tf):
    w, x = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0, 1.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.matmul(x, w) ** 3)
        first = inner.gradient(y, w)
    # y = sum_j s_j^3 with s = [4, 6]: the sum of the gradient over i is 2 * 3 s_j^2
    np.testing.assert_allclose(first.numpy(), [[48.0, 108.0], [48.0, 108.0]], rtol=1e-5)
    second = outer.gradient(first, w)
    np.testing.assert_allclose(second.numpy(), [[48.0, 72.0], [48.0, 72.0]], rtol=1e-5)


def test_hessian_vector_product_by_output_gradients(tf):
    x, direction = tf.Variable([1.0, 2.0]), tf.constant([1.0, -1.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x[0] ** 2 * x[1] ** 3
        first = inner.gradient(y, x)
    # H = [[2 b^3, 6 a b^2], [6 a b^2, 6 a^2 b]] = [[16, 24], [24, 12]]
    product = outer.gradient(first, x, output_gradients=direction)
    assert product.numpy() == pytest.approx([-8.0, 12.0], rel=1e-5)


def test_second_gradient_of_a_softmax_loss(tf):
    logits, labels = tf.constant([[0.5, -0.5, 0.0]]), tf.constant([0])
    with tf.GradientTape() as outer:
        outer.watch(logits)
        with tf.GradientTape() as inner:
            inner.watch(logits)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        first = inner.gradient(loss, logits)
    row = outer.gradient(first, logits, output_gradients=tf.constant([[1.0, 0.0, 0.0]]))
    p = np.exp([0.5, -0.5, 0.0])
    p = p / p.sum()
    np.testing.assert_allclose(row.numpy(), [p[0] * (np.array([1, 0, 0]) - p)], rtol=1e-5)


def test_a_later_tape_records_the_gradient_of_an_earlier_one(tf):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.cos(x)
    with tf.GradientTape() as later:
        weight = tf.constant(2.0)
        later.watch(weight)
        gradient = tape.gradient(y, x, output_gradients=weight)
    assert gradient.numpy() == pytest.approx(-2 * math.sin(1), rel=1e-5)
    assert later.gradient(gradient, weight).numpy() == pytest.approx(-math.sin(1), rel=1e-5)


def test_a_value_read_between_the_tapes_changes_nothing(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**3
            assert y.numpy() == pytest.approx(27.0)
        first = inner.gradient(y, x)
        assert first.numpy() == pytest.approx(27.0)
        z = first * x
    assert outer.gradient(z, x).numpy() == pytest.approx(81.0)


def test_gradient_penalty(tf):
    w = tf.Variable([1.0, -2.0])
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            score = tf.reduce_sum(tf.tanh(tf.linalg.matvec(x, w)))
        slope = inner.gradient(score, x)
        penalty = tf.reduce_sum(tf.square(slope))
    gradient = outer.gradient(penalty, w)
    u = np.array([[1.0, 2.0], [3.0, 4.0]]) @ [1.0, -2.0]
    s = 1 - np.tanh(u) ** 2  # penalty = |w|^2 sum s^2, ds/du = -2 tanh(u) s
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = 2 * np.array([1.0, -2.0]) * np.sum(s**2)
    expected = expected + 5 * np.sum((2 * s * -2 * np.tanh(u) * s)[:, None] * rows, axis=0)
    np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-3)  # s is near 0: cancellation


def test_gradients_of_gradients_share_one_persistent_tape(tf):
    with tf.GradientTape(persistent=True) as tape:
        x = tf.constant(1.0)
        tape.watch(x)
        values = [tf.cos(x)]
        for _ in range(3):
            values.append(tape.gradient(values[-1], x))
    expected = [math.cos(1), -math.sin(1), -math.cos(1), math.sin(1)]
    assert [float(v) for v in values] == pytest.approx(expected, rel=1e-5)
