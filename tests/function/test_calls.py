"""Ways of making and calling functions, and calls that run at once."""

from __future__ import annotations

import copy
import functools

import numpy as np
import pytest

import tapejax


def test_callables_of_all_kinds_can_be_traced(tf):
    class Double:
        def __call__(self, x):
            return x * 2.0

    def scaled(a, b, c=1.0):
        return a * b * c

    x = tf.constant(3.0)
    assert float(tf.function(Double())(x)) == 6.0
    assert float(tf.function(functools.partial(scaled, 2.0, c=5.0))(x)) == 30.0
    assert float(tf.function(lambda y: y + 1.0)(x)) == 4.0
    assert float(tf.function(Double().__call__)(x)) == 6.0


def test_static_and_class_methods(tf):
    class Holder:
        factor = 2.0

        @classmethod
        @tf.function
        def of_class(cls, x):
            return x * cls.factor

        @staticmethod
        @tf.function
        def static(x):
            return x * 3.0

    x = tf.constant(1.0)
    results = [Holder.of_class(x), Holder().of_class(x), Holder.static(x), Holder().static(x)]
    assert [float(r) for r in results] == [2.0, 2.0, 3.0, 3.0]


def test_a_method_of_an_object_that_nobody_keeps(tf):
    class Model:
        @tf.function
        def double(self, x):
            return x * 2.0

    assert float(Model().double(tf.constant(2.0))) == 4.0


def test_only_callables_can_be_traced(tf):
    with pytest.raises(TypeError, match="3 is not a callable object"):
        tf.function(3)


def test_a_function_keeps_its_name_and_text(tf):
    @tf.function
    def documented(x):
        """What it does."""
        return x

    assert (documented.__name__, documented.__doc__) == ("documented", "What it does.")
    assert documented.name == "documented"
    assert documented.python_function(5) == 5


def test_a_bound_method_gives_the_python_function(tf):
    class Model:
        @tf.function
        def double(self, x):
            return x * 2

    assert Model().double.__name__ == "double"
    assert tapejax.function(Model().double.python_function)(tapejax.constant(2)).numpy() == 4


def test_all_options_are_accepted(tf):
    @tf.function(
        autograph=False,
        jit_compile=True,
        reduce_retracing=True,
        experimental_implements=None,
        experimental_autograph_options=None,
        experimental_attributes=None,
    )
    def double(x):
        return x * 2.0

    assert float(double(tf.constant(2.0))) == 4.0


def test_a_copy_is_traced_for_itself():
    class Model:
        def __init__(self):
            self.factor = tapejax.Variable(2.0)
            self.call = tapejax.function(self._call)

        def _call(self, x):
            return x * self.factor

    one = Model()
    assert float(one.call(tapejax.constant(1.0))) == 2.0
    other = copy.deepcopy(one)
    other.factor.assign(5.0)
    assert [float(m.call(tapejax.constant(1.0))) for m in (one, other)] == [2.0, 5.0]


# calls that run at once


def test_repeated_calls_update_variables(tf):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x):
        v.assign_add(x)
        return v * 2.0

    x = tf.constant([1.0, 1.0])
    for n in range(1, 6):
        assert step(x).numpy().tolist() == [2.0 * (1.0 + n), 2.0 * (2.0 + n)]
    assert v.numpy().tolist() == [6.0, 7.0]


def test_a_value_read_before_a_call_is_not_overwritten_by_it(tf):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x):
        v.assign_add(x)

    x = tf.constant([1.0, 1.0])
    kept = []
    for _ in range(4):
        kept.append((v.read_value(), v.numpy(), tf.convert_to_tensor(v)))
        step(x)
    for n, values in enumerate(kept):
        assert [np.asarray(value).tolist() for value in values] == [[1.0 + n, 2.0 + n]] * 3


def test_pending_arguments_join_the_call(tf):
    v = tf.Variable(1.0)

    @tf.function
    def step(x):
        return v.assign_add(x * 2.0) * 1.0

    results = []
    for n in range(5):
        pending = tf.constant(float(n)) + 1.0
        results.append(float(step(pending) + 0.5))
    assert results == [3.5, 7.5, 13.5, 21.5, 31.5]


def test_results_feed_the_next_call(tf):
    double = tf.function(lambda x: x * 2.0)
    x = tf.constant(1.0)
    for _ in range(10):
        x = double(x)
    assert float(x) == 1024.0


def test_an_assigned_variable_that_is_not_read(tf):
    v = tf.Variable(0.0)

    @tf.function
    def store(x):
        v.assign(x)
        return x

    for n in range(4):
        kept = store(tf.constant(float(n)))
        assert (float(v), float(kept)) == (float(n), float(n))


def test_two_variables_swap_their_values(tf):
    a, b = tf.Variable([1.0]), tf.Variable([2.0])

    @tf.function
    def swap():
        old = a.read_value()
        a.assign(b)
        b.assign(old)

    for _ in range(3):
        swap()
    assert (a.numpy().tolist(), b.numpy().tolist()) == ([2.0], [1.0])


def test_random_numbers_differ_between_calls(tf):
    draw = tf.function(lambda: tf.random.uniform([4]))
    drawn = [tuple(draw().numpy().tolist()) for _ in range(5)]
    assert len(set(drawn)) == 5
