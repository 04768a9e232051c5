"""What decides whether a call of a `tf.function` traces: values, shapes, identities, structure."""

from __future__ import annotations

import collections
import gc
import weakref

import numpy as np
import pytest


def _counting(tf, **options):
    traced = []

    @tf.function(**options)
    def count(*args, **kwargs):
        traced.append(1)
        return tf.constant(len(args) + len(kwargs))

    return count, traced


def test_python_values_that_are_equal_share_a_trace(tf):
    count, traced = _counting(tf)
    for value in (1, 1.0, True, 2, "a", "a", None, None, -1):
        count(value)
    assert len(traced) == 5


def test_arrays_and_numpy_numbers_count_by_dtype_and_shape(tf):
    count, traced = _counting(tf)
    for value in (np.float32(1.0), np.float32(2.0), np.ones(2), np.zeros(2), tf.constant(5.0)):
        count(value)
    assert len(traced) == 2


def test_containers_count_by_their_structure(tf):
    count, traced = _counting(tf)
    a = tf.constant(1.0)
    for value in ([a, a], (a, a), {"a": a}, {"b": a}, [a, a], [a], [[a], a]):
        count(value)
    assert len(traced) == 6


def test_the_order_of_a_dict_does_not_matter(tf):
    seen = []

    @tf.function
    def difference(d):
        seen.append(list(d))
        return d["a"] - d["b"]

    one, two = tf.constant(1.0), tf.constant(2.0)
    assert float(difference({"a": two, "b": one})) == 1.0
    assert float(difference({"b": two, "a": one})) == -1.0
    assert len(seen) == 1


def test_keywords_and_defaults_count_as_what_they_bind_to(tf):
    traced = []

    @tf.function
    def scale(x, factor=2, **more):
        traced.append(1)
        return x * factor + more.get("shift", 0)

    x = tf.constant(3)
    assert [int(v) for v in (scale(x), scale(x=x), scale(x, 2), scale(factor=2, x=x))] == [6] * 4
    assert int(scale(x, shift=5)) == 11
    assert len(traced) == 2


def test_objects_are_told_apart_and_their_attributes_are_constants(tf):
    class Config:
        factor = 2.0

    traced = []

    @tf.function
    def scale(config, x):
        traced.append(1)
        return x * config.factor

    x, config, other = tf.constant(1.0), Config(), Config()
    first = float(scale(config, x))
    config.factor = 5.0
    assert [first, float(scale(config, x)), float(scale(other, x))] == [2.0, 2.0, 2.0]
    assert len(traced) == 2


def test_an_argument_object_is_not_kept_alive(tf):
    class Config:
        pass

    keep = tf.function(lambda config, x: x * 2.0)
    config = Config()
    keep(config, tf.constant(1.0))
    watch = weakref.ref(config)
    del config
    gc.collect()
    assert watch() is None


@pytest.mark.parametrize("value", [{1, 2}, collections.deque([1])])
def test_what_cannot_be_hashed_is_refused(tf, value):
    count, _ = _counting(tf)
    with pytest.raises(TypeError, match="Could not generate a generic TraceType"):
        count(value)


def test_functions_as_arguments_count_by_identity(tf):
    traced = []

    @tf.function
    def apply(fn, x):
        traced.append(1)
        return fn(x)

    def square(x):
        return x * x

    x = tf.constant(3.0)
    results = [apply(square, x), apply(square, x + 1.0), apply(tf.identity, x)]
    assert [float(r) for r in results] == [9.0, 16.0, 3.0]
    assert len(traced) == 2


# variables


def test_variables_of_one_shape_share_a_trace_and_keep_their_own_values(tf):
    traced = []

    @tf.function
    def add(variable, x):
        traced.append(1)
        variable.assign_add(x)
        return variable * 10.0

    one, two = tf.Variable(1.0), tf.Variable(2.0)
    results = [float(add(v, tf.constant(1.0))) for v in (one, two, one)]
    assert (results, float(one), float(two)) == ([20.0, 30.0, 30.0], 3.0, 3.0)
    add(tf.Variable([1.0]), tf.constant([1.0]))
    assert len(traced) == 2


def test_the_same_variable_twice_has_a_trace_of_its_own(tf):
    @tf.function
    def move(a, b):
        a.assign_add(1.0)
        return a + b

    a, b = tf.Variable(1.0), tf.Variable(5.0)
    results = [float(move(*pair)) for pair in ((a, b), (a, a), (b, a), (b, b))]
    assert results == [7.0, 6.0, 9.0, 14.0]
    assert move.experimental_get_tracing_count() == 2


def test_trainable_variables_and_tensors_are_told_apart(tf):
    count, traced = _counting(tf)
    for value in (tf.Variable(1.0), tf.Variable(1.0, trainable=False), tf.constant(1.0)):
        count(value)
    assert len(traced) == 3


def test_a_variable_argument_is_differentiated_inside_and_outside(tf):
    @tf.function
    def slope(w, x):
        with tf.GradientTape() as tape:
            y = w * w * x
        return tape.gradient(y, w)

    for start in (2.0, 5.0):
        w = tf.Variable(start)
        with tf.GradientTape() as tape:
            y = slope(w, tf.constant(3.0))
        assert (float(y), float(tape.gradient(y, w))) == (2.0 * start * 3.0, 6.0)
    assert slope.experimental_get_tracing_count() == 1


def test_a_variable_may_be_created_from_an_argument(tf):
    kept = []

    @tf.function
    def accumulate(x):
        if not kept:
            kept.append(tf.Variable(x * 2.0))
        return kept[0].assign_add(x)

    assert [float(accumulate(tf.constant(x))) for x in (3.0, 5.0)] == [9.0, 14.0]
    assert accumulate.experimental_get_tracing_count() == 2


# counting


def test_reduce_retracing_counts_two_signatures_for_many_sizes(tf):
    total = tf.function(tf.reduce_sum, reduce_retracing=True)
    assert [float(total(tf.ones([n]))) for n in (1, 2, 3, 4)] == [1.0, 2.0, 3.0, 4.0]
    assert total.experimental_get_tracing_count() == 2


def test_each_shape_counts_without_it(tf):
    total = tf.function(lambda x: tf.reduce_sum(x))
    for n in (1, 2, 3, 2):
        total(tf.ones([n]))
    assert total.experimental_get_tracing_count() == 3
