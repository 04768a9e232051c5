"""`tf.function`: how often it traces, what it takes and gives, variables, failures."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
import pytest


@pytest.fixture
def eager_functions(tf):
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


class Pair(NamedTuple):
    """A named structure of two tensors."""

    first: Any
    second: Any


# traces


def test_one_trace_serves_all_values_of_one_shape_and_dtype(tf):
    ran = []

    @tf.function
    def double(x):
        ran.append(x.shape)
        return x + x

    counts = []
    for x in ([1.0, 2.0], [3.0, 4.0], [1.0], [5.0]):
        assert double(tf.constant(x)).numpy().tolist() == [2.0 * v for v in x]
        counts.append(double.experimental_get_tracing_count())
    double(tf.constant([1.0], tf.float64))
    assert [*counts, double.experimental_get_tracing_count()] == [1, 1, 2, 2, 3]
    assert len(ran) == 3


def test_each_python_value_has_a_trace_of_its_own(tf):
    @tf.function
    def power(x, n):
        return x**n

    x = tf.constant(3.0)
    assert [float(power(x, n)) for n in (1, 2, 1, 3, 2)] == [3.0, 9.0, 3.0, 27.0, 9.0]
    assert power.experimental_get_tracing_count() == 3


def test_arguments_share_a_trace_however_they_are_passed(tf):
    @tf.function
    def scaled(x, factor=2, *, offset=1):
        return x * float(factor) + float(offset)

    x = tf.constant(3.0)
    values = [
        scaled(x),
        scaled(x, 2),
        scaled(x=x),
        scaled(x, factor=2),
        scaled(offset=1, factor=2, x=x),
    ]
    assert [float(v) for v in values] == [7.0] * 5
    assert scaled.experimental_get_tracing_count() == 1


def test_wrong_arguments_raise_a_type_error(tf):
    @tf.function
    def identity(x):
        return x

    with pytest.raises(TypeError, match="too many positional arguments"):
        identity(tf.constant(1.0), tf.constant(2.0))
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        identity()


def test_arrays_are_arguments_of_the_trace_of_their_dtype(tf):
    @tf.function
    def double(x):
        return x + x

    for x in (np.float32([1.0, 2.0]), np.float32([3.0, 4.0])):
        assert double(x).numpy().tolist() == (2 * x).tolist()
    assert double.experimental_get_tracing_count() == 1
    result = double(np.float64([0.5]))
    assert (result.dtype, result.numpy().tolist()) == (tf.float64, [1.0])


def test_python_effects_happen_only_while_tracing(tf):
    seen = []

    @tf.function
    def remember(x):
        seen.append("traced")
        return x * 1.0

    for _ in range(3):
        remember(tf.constant(1.0))
    assert seen == ["traced"]


def test_each_object_has_traces_of_its_own(tf):
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        @tf.function
        def apply(self, x):
            return x * self.factor

    two, three = Scale(2.0), Scale(3.0)
    x = tf.constant(5.0)
    assert [float(s.apply(x)) for s in (two, three, two)] == [10.0, 15.0, 10.0]


def test_lambdas_and_options_of_the_decorator_work(tf):
    square = tf.function(lambda x: x * x)

    @tf.function(jit_compile=True, autograph=False)
    def cube(x):
        return x * x * x

    assert float(square(tf.constant(3.0))) == 9.0
    assert float(cube(tf.constant(3.0))) == 27.0
    assert square.python_function(4) == 16


# structures


def test_nested_structures_go_in_and_come_out(tf):
    @tf.function
    def swap(inputs, pair):
        total = inputs["a"] + inputs["more"][0]
        return {"sum": total, "pair": Pair(pair.second, pair.first)}, [inputs["more"][1], ()]

    def call(a):
        one, two = tf.constant(1.0), tf.constant(2.0)
        return swap({"a": tf.constant(a), "more": [one, two]}, Pair(one, two))

    outputs, rest = call(3.0)
    assert float(outputs["sum"]) == 4.0
    assert isinstance(outputs["pair"], Pair)
    assert [float(x) for x in outputs["pair"]] == [2.0, 1.0]
    assert (float(rest[0]), rest[1]) == (2.0, ())
    assert float(call(7.0)[0]["sum"]) == 8.0
    assert swap.experimental_get_tracing_count() == 1


def test_none_comes_out_as_none(tf):
    @tf.function
    def some(x):
        return None, x, {"nothing": None}

    assert tf.function(lambda x: None)(tf.constant(1.0)) is None
    first, second, third = some(tf.constant(2.0))
    assert (first, float(second), third) == (None, 2.0, {"nothing": None})


def test_python_numbers_come_out_as_tensors(tf):
    three, half = tf.function(lambda: (3, 0.5))()
    assert (three.dtype, int(three)) == (tf.int32, 3)
    assert (half.dtype, float(half)) == (tf.float32, 0.5)


def test_nested_functions_call_each_other(tf):
    @tf.function
    def inner(x):
        return x * x

    @tf.function
    def outer(x):
        return inner(x) + inner(x + 1.0)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)
    assert (float(y), float(tape.gradient(y, x))) == (25.0, 14.0)
    assert inner.experimental_get_tracing_count() == 1


# variables


def test_a_variable_is_read_and_assigned_at_each_call(tf):
    count = tf.Variable(0)

    @tf.function
    def step(by):
        count.assign_add(by)
        return count * 10

    assert [int(step(tf.constant(n))) for n in (1, 2, 3)] == [10, 30, 60]
    assert int(count) == 6
    count.assign(100)
    assert int(step(tf.constant(1))) == 1010


def test_tracing_leaves_variables_as_they_were(tf):
    count = tf.Variable(0)
    step = tf.function(lambda: count.assign_add(1))
    assert int(step()) == 1
    assert int(count) == 1


def test_a_variable_may_be_an_argument(tf):
    @tf.function
    def add(variable, x):
        variable.assign_add(x)
        return variable.read_value()

    a, b = tf.Variable(1.0), tf.Variable(10.0)
    x = tf.constant(2.0)
    assert [float(add(v, x)) for v in (a, b, a)] == [3.0, 12.0, 5.0]
    assert (float(a), float(b)) == (5.0, 12.0)


def test_variables_may_be_created_on_the_first_call(tf):
    class Lazy:
        w = None

        @tf.function
        def call(self, x):
            if self.w is None:
                self.w = tf.Variable(2.0)
            self.w.assign_add(1.0)
            return self.w * x

    lazy = Lazy()
    assert [float(lazy.call(tf.constant(10.0))) for _ in range(2)] == [30.0, 40.0]
    assert float(lazy.w) == 4.0


def test_variables_created_on_every_call_are_refused(tf):
    kept = []

    @tf.function
    def create():
        kept.append(tf.Variable(1.0))
        return kept[-1] * 2.0

    with pytest.raises(ValueError, match=r"only supports singleton tf.Variables"):
        create()


def test_variables_created_on_a_later_call_are_refused(tf):
    kept = []

    @tf.function
    def create(x, late):
        if late:
            kept.append(tf.Variable(1.0))
        return x * 2.0

    create(tf.constant(1.0), False)
    with pytest.raises(ValueError, match=r"only supports singleton tf.Variables|non-first call"):
        create(tf.constant(1.0), True)


def test_a_tensor_from_outside_keeps_the_value_of_the_trace(tf):
    scale = tf.constant(3.0)
    triple = tf.function(lambda x: x * scale)
    assert [float(triple(tf.constant(x))) for x in (1.0, 2.0)] == [3.0, 6.0]


# failures


def test_a_failed_assertion_inside_raises_when_the_result_is_read(tf):
    @tf.function
    def root(x):
        tf.debugging.assert_positive(x, message="must be above zero")
        return tf.sqrt(x)

    assert float(root(tf.constant(4.0))) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be above zero"):
        root(tf.constant(-4.0)).numpy()
    assert float(root(tf.constant(9.0))) == 3.0


def test_a_singular_matrix_inside_raises_when_the_result_is_read(tf):
    inverse = tf.function(lambda a: tf.linalg.inv(a) * 2.0)
    good = tf.constant([[2.0, 0.0], [0.0, 4.0]])
    assert inverse(good).numpy().tolist() == [[1.0, 0.0], [0.0, 0.5]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        inverse(tf.zeros([2, 2])).numpy()


def test_python_exceptions_of_the_body_leave_the_function_usable(tf):
    v = tf.Variable(1.0)

    @tf.function(autograph=False)
    def check(x, fail):
        v.assign_add(x)
        if fail:
            raise KeyError("wrong")
        return v.read_value()

    with pytest.raises(KeyError):
        check(tf.constant(1.0), True)
    assert float(v) == 1.0
    assert float(check(tf.constant(1.0), False)) == 2.0


# eager functions


@pytest.mark.usefixtures("eager_functions")
def test_functions_run_eagerly_when_told_to(tf):
    seen = []

    @tf.function(autograph=False)
    def body(x):
        seen.append(float(x))
        return x * 2.0 if x > 0.0 else -x

    assert tf.config.functions_run_eagerly() is True
    assert [float(body(tf.constant(x))) for x in (1.0, -3.0)] == [2.0, 3.0]
    assert seen == [1.0, -3.0]


def test_functions_are_traced_unless_told_otherwise(tf):
    assert tf.config.functions_run_eagerly() is False


def test_a_copied_object_uses_its_own_attributes(tf):
    class Scale:
        factor = 1.0

        @tf.function
        def __call__(self, x):
            return x * self.factor

        @tf.function
        def method(self, x):
            return x * self.factor

    one = Scale()
    assert float(one.method(tf.constant(2.0))) == 2.0
    other = copy.copy(one)
    other.factor = 5.0
    assert float(other.method(tf.constant(2.0))) == 10.0
    assert float(other(tf.constant(3.0))) == 15.0


def test_a_method_is_traced_once_for_each_object(tf):
    class Counting:
        def __init__(self):
            self.traces = 0

        @tf.function
        def __call__(self, x):
            self.traces += 1
            return x * 2.0

    one, other = Counting(), Counting()
    for _ in range(3):
        one(tf.constant(1.0))
    other(tf.constant(1.0))
    assert (one.traces, other.traces) == (1, 1)
