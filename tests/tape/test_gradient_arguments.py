"""The arguments of `gradient`: structures, output gradients, unconnected gradients, dtypes."""

from __future__ import annotations

import collections

import numpy as np
import pytest


@pytest.fixture
def product(tf):
    """A tape, y = a * a * b, and its sources a = 2 and b = 3: dy/da = 12, dy/db = 4."""
    a, b = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        y = a * a * b
    return tape, y, a, b


def test_gradients_come_in_the_structure_of_the_sources(product):
    tape, y, a, b = product
    pair = collections.namedtuple("pair", ["left", "right"])
    assert type(tape.gradient(y, [a, b])) is list
    assert type(tape.gradient(y, (a, b))) is tuple
    assert type(tape.gradient(y, pair(a, b))) is pair
    assert tape.gradient(y, {"w": a, "b": [b]})["b"][0].numpy() == pytest.approx(4.0)
    ordered = tape.gradient(y, collections.OrderedDict([("z", a), ("a", b)]))
    assert type(ordered) is collections.OrderedDict
    assert [(k, float(g)) for k, g in ordered.items()] == [("z", 12.0), ("a", 4.0)]


def test_dict_keys_keep_their_order(product):
    tape, y, a, b = product
    assert list(tape.gradient(y, {"w": a, "b": b})) == ["w", "b"]


def test_empty_structures_give_empty_structures(product):
    tape, y, _, _ = product
    assert tape.gradient(y, []) == []
    assert tape.gradient(y, {}) == {}


def test_each_repeated_source_gets_the_whole_gradient(product):
    tape, y, a, _ = product
    first, second, (third,) = tape.gradient(y, [a, a, [a]])
    assert [float(g) for g in (first, second, third)] == pytest.approx([12.0, 12.0, 12.0])


@pytest.mark.parametrize("wrong", [None, 1.5, "x"], ids=["None", "float", "str"])
def test_sources_that_are_not_tensors_raise(product, wrong):
    tape, y, _, _ = product
    with pytest.raises((TypeError, AttributeError)):
        tape.gradient(y, wrong)


def test_targets_are_summed_over_their_structure_and_elements(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, z = x * x, x**3
    gradient = tape.gradient({"a": y, "b": (z, [y])}, x)
    assert gradient.numpy() == pytest.approx([7.0, 20.0])


def test_a_target_may_depend_on_another_target(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert [float(g) for g in tape.gradient([y, z], [x, y])] == pytest.approx([36.0, 9.0])


def test_a_target_of_none_raises_type_error(product):
    tape, y, a, _ = product
    with pytest.raises(TypeError):
        tape.gradient(None, a)
    with pytest.raises(TypeError):
        tape.gradient([y, None], a)


def test_targets_that_are_not_floating_contribute_nothing(tf):
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        integer = tf.cast(x, tf.int32)
        boolean = x > 1.0
    assert tape.gradient(integer, x) is None
    assert tape.gradient(boolean, x) is None
    assert tape.gradient([y, integer], x).numpy() == pytest.approx(4.0)


def test_the_arguments_can_be_given_by_name(tf, product):
    tape, y, a, _ = product
    gradient = tape.gradient(
        target=y,
        sources=a,
        output_gradients=None,
        unconnected_gradients=tf.UnconnectedGradients.NONE,
    )
    assert gradient.numpy() == pytest.approx(12.0)


GIVEN = {
    "tensor": lambda tf: tf.constant([3.0, 0.5]),
    "ndarray": lambda tf: np.array([3.0, 0.5], np.float32),
    "variable": lambda tf: tf.Variable([3.0, 0.5]),
    "list of one tensor": lambda tf: [tf.constant([3.0, 0.5])],
}


@pytest.mark.parametrize("kind", GIVEN)
def test_output_gradients_weigh_the_outputs(tf, kind):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    gradient = tape.gradient(y, x, output_gradients=GIVEN[kind](tf))
    assert gradient.numpy() == pytest.approx([6.0, 2.0])


def test_output_gradients_of_several_targets(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, z = x * x, x**3
    weights = [tf.constant(10.0), tf.constant(1.0)]
    assert tape.gradient([y, z], x, output_gradients=weights).numpy() == pytest.approx(52.0)


def test_output_gradients_broadcast(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    gradient = tape.gradient(y, x, output_gradients=tf.constant(10.0))
    assert gradient.numpy() == pytest.approx([20.0, 40.0])


def test_output_gradients_of_an_incompatible_shape_raise(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(tf.errors.InvalidArgumentError):
        tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0, 3.0]))


def test_output_gradients_of_another_dtype_raise(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(tf.errors.InvalidArgumentError):
        tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0], tf.float64))


def test_a_gradient_is_differentiable_in_its_output_gradients(tf):
    x, weight = tf.constant(2.0), tf.constant(5.0)
    with tf.GradientTape() as outer:
        outer.watch(weight)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        gradient = inner.gradient(y, x, output_gradients=weight)
    assert gradient.numpy() == pytest.approx(60.0)
    assert outer.gradient(gradient, weight).numpy() == pytest.approx(12.0)


def test_an_unconnected_source_has_gradient_none_by_default(tf):
    a, b = tf.Variable(1.0), tf.Variable([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        y = a * 2.0
    of_a, of_b = tape.gradient(y, [a, b])
    assert of_a.numpy() == pytest.approx(2.0)
    assert of_b is None


def test_unconnected_gradients_zero_gives_zeros_of_the_source(tf):
    a, b = tf.Variable(1.0), tf.Variable([[1.0, 2.0]], dtype=tf.float64)
    never_watched = tf.constant([1, 2, 3])
    with tf.GradientTape(persistent=True) as tape:
        y = a * 2.0
    for option in ("zero", tf.UnconnectedGradients.ZERO):
        _, of_b, of_ints = tape.gradient(y, [a, b, never_watched], unconnected_gradients=option)
        assert (of_b.dtype, of_ints.dtype) == (tf.float64, tf.int32)
        np.testing.assert_array_equal(of_b.numpy(), [[0.0, 0.0]])
        np.testing.assert_array_equal(of_ints.numpy(), [0, 0, 0])


def test_a_zero_factor_is_connected(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = 0.0 * x
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [0.0, 0.0])


@pytest.mark.parametrize("wrong", [None, "nonsense", True])
def test_an_unknown_value_of_unconnected_gradients_raises(product, wrong):
    tape, y, a, _ = product
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients"):
        tape.gradient(y, a, unconnected_gradients=wrong)


def test_gradients_of_broadcast_operands_are_summed_back(tf):
    row, column, x = tf.constant([1.0, 2.0]), tf.constant([[1.0], [2.0], [3.0]]), tf.ones([3, 2])
    with tf.GradientTape() as tape:
        tape.watch([row, column])
        y = x * row + x * column
    of_row, of_column = tape.gradient(y, [row, column])
    assert of_row.numpy() == pytest.approx([3.0, 3.0])
    np.testing.assert_allclose(of_column.numpy(), [[2.0], [2.0], [2.0]])


def test_the_gradient_of_a_real_loss_points_up_in_the_complex_plane(tf):
    z = tf.constant(3.0 + 4.0j, tf.complex64)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.math.real(z * tf.math.conj(z))
    gradient = tape.gradient(y, z)
    assert gradient.dtype == tf.complex64
    assert complex(gradient.numpy()) == pytest.approx(6.0 + 8.0j)


def test_the_gradient_of_a_complex_target_is_the_conjugate_derivative(tf):
    z = tf.constant(3.0 + 4.0j, tf.complex64)
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = z * z
    assert complex(tape.gradient(y, z).numpy()) == pytest.approx(6.0 - 8.0j)
