"""`jacobian` and `batch_jacobian`."""

from __future__ import annotations

import numpy as np
import pytest


def test_shape_is_the_targets_then_the_sources(tf):
    x = tf.reshape(tf.range(6, dtype=tf.float32), [2, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x, axis=1)
    jacobian = tape.jacobian(y, x)
    assert jacobian.shape == (2, 2, 3)
    expected = np.zeros((2, 2, 3))
    expected[0, 0], expected[1, 1] = [0, 2, 4], [6, 8, 10]
    np.testing.assert_allclose(jacobian.numpy(), expected, rtol=1e-6)


def test_of_a_scalar_target_is_the_gradient(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(x**2)
    np.testing.assert_allclose(tape.jacobian(y, x).numpy(), [[2.0, 4.0], [6.0, 8.0]])
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [[2.0, 4.0], [6.0, 8.0]])


def test_of_scalars_is_a_scalar(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.jacobian(y, x).numpy() == pytest.approx(4.0)


def test_of_a_variable(tf):
    v = tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v, axis=1)
    np.testing.assert_allclose(tape.jacobian(y, v).numpy(), [[[2.0, 4.0]]])


@pytest.mark.parametrize("option", ["none", "zero"])
def test_sources_keep_their_structure_and_unconnected_ones_follow_the_option(tf, option):
    a, b = tf.constant([1.0, 2.0]), tf.constant([3.0])
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a * a
    found = tape.jacobian(y, {"b": b, "a": (a,)}, unconnected_gradients=option)
    np.testing.assert_allclose(found["a"][0].numpy(), [[2.0, 0.0], [0.0, 4.0]])
    if option == "none":
        assert found["b"] is None
    else:
        np.testing.assert_array_equal(found["b"].numpy(), [[0.0], [0.0]])


def test_a_list_of_targets_raises(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(AttributeError):
        tape.jacobian([y, y], x)


@pytest.mark.parametrize("then", ["jacobian", "gradient"])
def test_consumes_a_non_persistent_tape(tf, then):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.jacobian(y, x)
    with pytest.raises(RuntimeError, match="non-persistent"):
        getattr(tape, then)(y, x)


@pytest.mark.parametrize("options", [{"experimental_use_pfor": False}, {"parallel_iterations": 2}])
def test_the_options_of_vectorisation_do_not_change_the_result(tf, options):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
    jacobian = tape.jacobian(y, x, **options)
    np.testing.assert_allclose(jacobian.numpy(), [[3.0, 0.0], [0.0, 12.0]])


def test_inside_the_block(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        jacobian = tape.jacobian(y, x)
    np.testing.assert_allclose(jacobian.numpy(), [[2.0, 0.0], [0.0, 4.0]])


def test_through_gather_is_dense(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.gather(x, [2, 0])
    expected = np.zeros((2, 2, 3, 2))
    for row, source in enumerate([2, 0]):
        for column in range(2):
            expected[row, column, source, column] = 1
    np.testing.assert_array_equal(tape.jacobian(y, x).numpy(), expected)


def test_hessian_is_the_jacobian_of_a_gradient(tf):
    w, x = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.nn.relu(tf.matmul(x, w)) ** 2)
        gradient = inner.gradient(y, w)
    hessian = outer.jacobian(gradient, w)
    expected = 2 * np.einsum("i,k,jl->ijkl", [1, 2], [1, 2], np.eye(2))
    np.testing.assert_allclose(hessian.numpy(), expected, rtol=1e-6)


def test_an_outer_tape_differentiates_a_jacobian(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        jacobian = inner.jacobian(y, x)
        size = tf.reduce_sum(jacobian**2)
    # sum of 9 x^4: gradient 36 x^3
    assert outer.gradient(size, x).numpy() == pytest.approx([36.0, 288.0])


def test_jacobian_of_a_jacobian(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        jacobian = inner.jacobian(y, x)
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0], expected[1, 1, 1] = 6, 12
    np.testing.assert_allclose(outer.jacobian(jacobian, x).numpy(), expected)


def test_batch_jacobian_differentiates_each_example(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * tf.reverse(x, [1])
    jacobian = tape.batch_jacobian(y, x)
    expected = [[[2 * a * b, a * a], [b * b, 2 * a * b]] for a, b in [(1, 2), (3, 4)]]
    np.testing.assert_allclose(jacobian.numpy(), expected, rtol=1e-6)


def test_batch_jacobian_of_a_higher_rank(tf):
    x = tf.reshape(tf.range(12, dtype=tf.float32), [2, 3, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x, axis=2)
    expected = np.zeros((2, 3, 3, 2))
    values = np.arange(12).reshape(2, 3, 2)
    for row in range(3):
        expected[:, row, row] = 2 * values[:, row]
    np.testing.assert_allclose(tape.batch_jacobian(y, x).numpy(), expected)


def test_batch_jacobian_of_a_variable(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = v * v
    expected = [np.diag([2.0, 4.0]), np.diag([6.0, 8.0])]
    np.testing.assert_allclose(tape.batch_jacobian(y, v).numpy(), expected)


def test_batch_jacobian_of_an_unconnected_source_is_zeros(tf):
    x, z = tf.constant([[1.0, 2.0]]), tf.constant([[1.0, 2.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch([x, z])
        y = x * x
    np.testing.assert_array_equal(tape.batch_jacobian(y, z).numpy(), np.zeros((1, 2, 3)))


def test_batch_jacobian_of_a_vector_raises(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises((ValueError, IndexError)):
        tape.batch_jacobian(y, x)


def test_batch_jacobian_of_different_batches_raises(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reshape(x, [4, 1])
    with pytest.raises(ValueError, match="first dimension"):
        tape.batch_jacobian(y, x)


def test_a_tensor_kept_by_a_rule_during_a_jacobian_does_no_harm(tf):
    kept = []

    @tf.custom_gradient
    def doubled(x):
        def rule(dy):
            kept.append(dy)
            return 2.0 * dy

        return tf.identity(x), rule

    x = tf.constant([1.0, 2.0])
    for _ in range(2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = doubled(x) * x
        jacobian = tape.jacobian(y, x)
        np.testing.assert_allclose(jacobian.numpy(), [[3.0, 0.0], [0.0, 6.0]])
