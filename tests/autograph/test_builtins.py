"""Python's builtins and operators on tensors in traced functions.

Expected values come from the same function called with Python numbers and lists.
"""

from __future__ import annotations

import numpy as np
import pytest

import tapejax as tf


def values(structure):
    """A structure of tensors as nested lists."""
    return tf.nest.map_structure(lambda x: np.asarray(x).tolist(), structure)


ONE = {
    "abs": lambda x: abs(x[0]),
    "len": len,
    "min": min,
    "max": max,
    "min of two": lambda x: min(x[0], x[1]),
    "max of three": lambda x: max(x[0], x[1], x[2]),
    "max of a list": lambda x: max([x[0], x[1] * 10]),
    "sum": sum,
    "sum from a start": lambda x: sum([x[0], x[1]], 10),
    "sorted": sorted,
    "sorted reversed": lambda x: sorted(x, reverse=True),
    "int": lambda x: int(x[0]),
    "bool": lambda x: bool(x[0]),
    "any": lambda x: any([x[0] > 1, x[1] > 1]),
    "all": lambda x: all([x[0] > 1, x[1] > 1]),
    "in": lambda x: 2 in x,
    "not in": lambda x: 2 not in x,
    "in a list": lambda x: x[0] in [1, 3, 5],
    "chain": lambda x: 0 < x[0] < 2,
    "longer chain": lambda x: x[0] < x[1] <= x[2] != 7,
    "and": lambda x: x[0] > 0 and x[1] > 0,
    "or": lambda x: x[0] > 5 or x[1] > 5,
    "not": lambda x: not x[0] > 0,
    "conditional": lambda x: x[0] if x[0] > x[1] else x[1] * 100,
    "comprehension": lambda x: [x[i] * 2 for i in range(3)],
}


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("numbers", [[1, 2, 3], [3, -1, 2], [0, 7, 7]], ids=str)
def test_builtins_give_what_they_give_for_python_numbers(name, numbers):
    found = tf.function(lambda x: ONE[name](x))(tf.constant(numbers))
    assert values(found) == ONE[name](numbers)


@pytest.mark.parametrize("number", [2.5, -1.25, 0.75, 3.5])
def test_round_int_and_float_of_a_tensor(number):
    @tf.function
    def f(x, n):
        return round(x), int(x), float(n), abs(x)

    rounded, whole, real, positive = f(tf.constant(number), tf.constant(7))
    assert (float(rounded), int(whole)) == (round(number), int(number))
    assert (whole.dtype, real.dtype, float(real)) == (tf.int32, tf.float32, 7.0)
    assert float(positive) == abs(number)


def weighted(x, y):
    total = 0
    for i, (a, b) in enumerate(zip(x, y, strict=False)):
        total += (i + 1) * a * b
    return total


def counted_from(x, y):
    total = 0
    for i, a in enumerate(x, 10):
        total += i * a
    return total


def backwards(x, y):
    total = 0
    for a in reversed(x):
        total = 10 * total + a
    return total


def doubled(x, y):
    total = 0
    for a in map(lambda v: 2 * v, x):
        total = 10 * total + a
    return total


def paired(x, y):
    total = 0
    for a in map(lambda v, w: v * w, x, y):
        total = 10 * total + a
    return total


def with_range(x, y):
    total = 0
    for a, i in zip(x, range(5, 100), strict=False):
        total += a * i
    return total


ITERATIONS = [
    weighted,
    counted_from,
    backwards,
    doubled,
    paired,
    with_range,
]


@pytest.mark.parametrize("function", ITERATIONS)
def test_iterating_builtins_go_over_tensors_as_over_lists(function):
    x, y = [1, 2, 3], [4, 5, 6]
    assert int(tf.function(function)(tf.constant(x), tf.constant(y))) == function(x, y)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_zip_of_tensors_ends_with_the_shortest(count):
    @tf.function
    def f(x, y):
        total = 0
        for a, b in zip(x, y, strict=False):
            total = 10 * total + a * b
        return total

    x, y = [1, 2, 3], [1, 2, 3, 4, 5][:count]
    expected = 0
    for a, b in zip(x, y, strict=False):
        expected = 10 * expected + a * b
    assert int(f(tf.constant(x), tf.constant(y))) == expected


def test_filter_of_a_tensor_is_refused_as_by_tensorflow(tf):
    @tf.function
    def f(x):
        total = 0
        for a in filter(lambda v: v > 1, x):
            total += a
        return total

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        f(tf.constant([1, 2, 3]))


def test_filter_of_python_values_is_pythons_own():
    @tf.function
    def f(x):
        return [x * n for n in filter(lambda n: n % 2, range(6))]

    assert values(f(tf.constant(2))) == [2, 6, 10]


@pytest.mark.parametrize(
    "bounds", [(0,), (5,), (2, 7), (7, 2), (1, 10, 3), (10, 1, -4), (-5, 5, 2)], ids=str
)
def test_range_of_tensors_is_the_range_of_the_numbers(bounds):
    @tf.function
    def f(*bounds):
        total, count = 0, 0
        for i in range(*bounds):
            total = 3 * total + i
            count += 1
        return total, count, len(range(*bounds))

    expected = 0
    for i in range(*bounds):
        expected = 3 * expected + i
    length = len(range(*bounds))
    assert values(f(*map(tf.constant, bounds))) == (expected, length, length)


def test_enumerate_and_zip_over_a_range_of_tensors():
    @tf.function
    def f(n):
        total = 0
        for i, (a, b) in enumerate(zip(range(n), range(10, 20), strict=False)):
            total += i * a * b
        return total

    assert [int(f(tf.constant(n))) for n in (0, 4, 30)] == [
        sum(i * i * (10 + i) for i in range(min(n, 10))) for n in (0, 4, 30)
    ]


@pytest.mark.parametrize(("x", "expected"), [(5.0, True), (0.5, False), (-1.0, False)])
def test_the_second_operand_of_and_is_not_checked_where_the_first_is_false(x, expected):
    @tf.function
    def f(x):
        def second():
            tf.debugging.assert_positive(x)
            return x > 1.0

        return x > 0.0 and second()

    assert bool(f(tf.constant(x))) is expected


@pytest.mark.parametrize(("x", "expected"), [(5.0, True), (0.5, False), (-1.0, True)])
def test_the_second_operand_of_or_is_not_checked_where_the_first_is_true(x, expected):
    @tf.function
    def f(x):
        def second():
            tf.debugging.assert_positive(x)
            return x > 1.0

        return x < 0.0 or second()

    assert bool(f(tf.constant(x))) is expected


def test_python_operands_are_decided_by_python():
    called = []

    @tf.function
    def f(x):
        nothing = None
        return nothing is None or called.append(x), nothing is not None and called.append(x)

    assert values(f(tf.constant(1.0))) == (True, False)
    assert called == []


def test_builtins_on_python_values_are_pythons_own():
    @tf.function
    def f(x):
        own = (len([1, 2]), max(3, 4), sorted([2, 1]), sum([1, 2]), abs(-3), round(2.567, 1))
        assert own == (2, 4, [1, 2], 3, 3, 2.6)
        assert list(zip([1], [2], strict=True)) == [(1, 2)]
        assert list(enumerate("a")) == [(0, "a")]
        assert min([], default=7) == 7
        assert int("12", 3) == 5
        return x * len(own)

    assert int(f(tf.constant(2))) == 12


@pytest.mark.parametrize(
    ("function", "slope"), [(max, [0.0, 1.0]), (min, [1.0, 0.0]), (sum, [1.0, 1.0])]
)
def test_extremes_and_sums_have_gradients(function, slope):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function([x[0], x[1]])
        return tape.gradient(y, x)

    assert values(f(tf.constant([1.0, 2.0]))) == slope


# tf.autograph


def sign(x):
    """-1, 0 or 1."""
    if x > 0.0:
        return 1
    if x < 0.0:
        return -1
    return 0


@pytest.mark.parametrize("x", [-2.0, 0.0, 3.0])
def test_to_graph_gives_a_function_whose_branches_may_depend_on_tensors(x):
    converted = tf.autograph.to_graph(sign)
    assert int(tf.function(converted, autograph=False)(tf.constant(x))) == sign(x)
    assert converted(x) == sign(x)


def test_to_code_gives_source_that_compiles():
    code = tf.autograph.to_code(sign)
    assert "if_stmt" in code
    assert compile(code, "<converted>", "exec").co_names[-1].endswith("sign")


def test_do_not_convert_leaves_a_function_as_it_is():
    f = tf.function(tf.autograph.experimental.do_not_convert(sign))
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        f(tf.constant(1.0))


@pytest.mark.parametrize(("limit", "expected"), [(0, 0), (3, 3), (50, 10)])
def test_set_loop_options_ends_a_loop_after_maximum_iterations(limit, expected):
    @tf.function
    def f(n):
        i = tf.constant(0)
        while i < n:
            tf.autograph.experimental.set_loop_options(maximum_iterations=limit)
            i += 1
        return i

    assert int(f(tf.constant(10))) == expected


def test_trace_prints_when_the_function_is_traced(capsys):
    @tf.function
    def f(x):
        tf.autograph.trace("tracing", 3)
        return x

    tf.autograph.set_verbosity(0)
    f(tf.constant(1.0))
    f(tf.constant(2.0))
    assert capsys.readouterr().out == "tracing 3\n"
