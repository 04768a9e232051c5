"""`tf.Variable`: creation, shapes, copies, names; the same programs on both libraries."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest


def test_a_variable_made_from_another_has_a_value_of_its_own(tf):
    first = tf.Variable([1.0, 2.0])
    second = tf.Variable(first)
    first.assign([5.0, 6.0])
    assert second.numpy().tolist() == [1.0, 2.0]


def test_a_variable_can_be_made_from_a_callable(tf):
    v = tf.Variable(lambda: [1, 2], dtype=tf.float64)
    assert v.dtype == tf.float64
    assert v.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("kind", ["tensor", "variable", "callable"])
def test_a_tensor_of_another_dtype_is_not_converted(tf, kind):
    x = tf.constant(1.0)
    initial = {"tensor": x, "variable": tf.Variable(x), "callable": lambda: x}[kind]
    with pytest.raises(ValueError, match=r"conversion requested .*float64"):
        tf.Variable(initial, dtype=tf.float64)


def test_a_number_that_does_not_fit_the_dtype_raises(tf):
    with pytest.raises(TypeError, match=r"Cannot convert 1\.5"):
        tf.Variable(1.5, dtype=tf.int32)


def test_an_array_is_cast_to_the_dtype(tf):
    assert tf.Variable(np.array([1.5]), dtype=tf.int32).numpy().tolist() == [1]


def test_a_constraint_must_be_callable(tf):
    with pytest.raises(ValueError, match="Argument `constraint` must be None or a callable"):
        tf.Variable(1.0, constraint=3)


def test_a_variable_synchronised_on_read_is_not_trainable_by_default(tf):
    on_read = tf.VariableSynchronization.ON_READ
    assert not tf.Variable(1.0, synchronization=on_read).trainable
    assert tf.Variable(1.0, synchronization=on_read, trainable=True).trainable


def test_a_declared_shape_admits_values_of_other_sizes(tf):
    v = tf.Variable([[1.0, 2.0]], shape=[None, 2])
    v.assign([[1.0, 2.0], [3.0, 4.0]])
    assert v.shape == [None, 2]
    assert v.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert (v + 1.0).shape == (2, 2)
    assert repr(v).startswith("<tf.Variable 'Variable:0' shape=(None, 2) dtype=float32, numpy=")


def test_a_variable_of_unknown_rank_takes_anything(tf):
    v = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))
    v.assign(3.0)
    assert v.shape.rank is None
    assert v.read_value().shape == ()


def test_a_value_that_does_not_fit_the_declared_shape_raises(tf):
    v = tf.Variable([[1.0, 2.0]], shape=[None, 2])
    with pytest.raises(ValueError, match=r"shape \(None, 2\), and the assigned value shape"):
        v.assign([[1.0], [2.0]])


def test_an_update_must_have_the_shape_of_the_value_not_the_declared_one(tf):
    v = tf.Variable([[1.0, 2.0]], shape=[None, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes must be equal"):
        v.assign_add([[1.0, 2.0], [3.0, 4.0]])


def test_the_gradient_has_the_shape_assigned_last(tf):
    v = tf.Variable([[1.0, 2.0]], shape=[None, 2])
    with tf.GradientTape() as tape:
        v.assign([[1.0, 2.0], [3.0, 4.0]])
        y = tf.reduce_sum(v * v)
    assert tape.gradient(y, v).numpy().tolist() == [[2.0, 4.0], [6.0, 8.0]]


def test_set_shape_narrows_the_declared_shape(tf):
    v = tf.Variable([[1.0, 2.0]])
    v.set_shape([None, 2])
    assert v.shape == (1, 2)
    with pytest.raises(ValueError, match=r"not compatible|must be equal|[Ii]ncompatible"):
        v.set_shape([3, 2])


@pytest.mark.parametrize("through", ["pickle", "deepcopy"])
def test_a_copy_keeps_value_name_and_trainability(tf, through):
    v = tf.Variable([1.0, 2.0], name="q", trainable=False)
    twin = copy.deepcopy(v) if through == "deepcopy" else pickle.loads(pickle.dumps(v))
    twin.assign([3.0, 4.0])
    assert v.numpy().tolist() == [1.0, 2.0]
    assert (twin.name, twin.trainable, twin.numpy().tolist()) == ("q:0", False, [3.0, 4.0])


def test_a_structure_is_copied_with_one_twin_for_each_variable(tf):
    v = tf.Variable(1.0)
    first, second = copy.deepcopy([v, v])
    assert first is second
    assert first is not v


def test_names_of_the_graph_era_say_that_there_is_no_graph(tf):
    v, x = tf.Variable(1.0), tf.constant(1.0)
    for owner in (v, x):
        for name in ("op", "graph"):
            with pytest.raises(AttributeError, match=f"Tensor.{name} is undefined when eager"):
                getattr(owner, name)
    assert v.initializer is None


def test_any_attribute_can_be_set_on_a_variable(tf):
    v = tf.Variable(1.0)
    v.comment = "mine"
    assert v.comment == "mine"


# ---------------------------------------------------------------------- rows and elements
SLICES = {
    "scatter_add": [1.0, 7.0, 4.0],
    "scatter_sub": [1.0, -3.0, 4.0],
    "scatter_mul": [1.0, 12.0, 4.0],
    "scatter_div": [1.0, 2.0 / 6.0, 4.0],
    "scatter_max": [1.0, 3.0, 4.0],
    "scatter_min": [1.0, 2.0, 4.0],
}


@pytest.mark.parametrize("method", SLICES)
def test_repeated_rows_are_combined_in_turn(tf, method):
    v = tf.Variable([1.0, 2.0, 4.0])
    rows = tf.IndexedSlices(tf.constant([2.0, 3.0]), tf.constant([1, 1]))
    result = getattr(v, method)(rows)
    assert result.numpy() == pytest.approx(SLICES[method])
    assert v.numpy() == pytest.approx(SLICES[method])


def test_scatter_update_replaces_rows(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    v.scatter_update(tf.IndexedSlices(tf.constant([[9.0, 8.0]]), tf.constant([1])))
    assert v.numpy().tolist() == [[1.0, 2.0], [9.0, 8.0]]


def test_batch_scatter_update_counts_rows_within_each_batch_element(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    delta = tf.IndexedSlices(tf.constant([[9.0], [8.0]]), tf.constant([[0], [1]]))
    v.batch_scatter_update(delta)
    assert v.numpy().tolist() == [[9.0, 2.0], [3.0, 8.0]]


def test_scattering_needs_indexed_slices(tf):
    with pytest.raises(TypeError, match=r"must be a `tf\.IndexedSlices`"):
        tf.Variable([1.0]).scatter_add(3)


@pytest.mark.parametrize("method", SLICES)
def test_a_row_that_is_not_there_raises(tf, method):
    v = tf.Variable([1.0, 2.0])
    rows = tf.IndexedSlices(tf.constant([2.0]), tf.constant([5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\]"):
        getattr(v, method)(rows).numpy()
