"""`tf.cond`, `tf.case`, `tf.switch_case`, `tf.while_loop`: in eager code and in functions.

Programs run on both libraries; what they give is known from mathematics.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import tapejax


class Pair(NamedTuple):
    """A named structure of two tensors."""

    first: Any
    second: Any


@pytest.fixture(params=["eager", "function"])
def run(request, tf):
    """Calls a function as it is, or as a `tf.function`."""

    def call(function, *args):
        return (tf.function(function) if request.param == "function" else function)(*args)

    return call


def numbers(structure):
    """A structure of tensors as nested lists."""
    return tapejax.nest.map_structure(lambda x: np.asarray(x).tolist(), structure)


# cond


@pytest.mark.parametrize(("x", "expected"), [(3.0, 9.0), (-3.0, 3.0), (0.0, 0.0)])
def test_cond_gives_the_result_of_the_branch_that_is_chosen(tf, run, x, expected):
    def f(x):
        return tf.cond(x > 0.0, lambda: x * x, lambda: -x)

    assert float(run(f, tf.constant(x))) == expected


@pytest.mark.parametrize(("x", "slope", "curvature"), [(2.0, 12.0, 12.0), (-2.0, -1.0, 0.0)])
def test_cond_has_first_and_second_derivatives(tf, run, x, slope, curvature):
    def f(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.cond(x > 0.0, lambda: x**3, lambda: -x)
            first = inner.gradient(y, x)
        second = outer.gradient(first, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return first, second

    assert numbers(run(f, tf.constant(x))) == (slope, curvature)


@pytest.mark.parametrize(
    "make",
    [
        lambda a, b: (a, b),
        lambda a, b: [a, (b, a)],
        lambda a, b: {"one": a, "two": [b]},
        Pair,
    ],
    ids=["tuple", "nested list", "dict", "named tuple"],
)
def test_cond_returns_structures(tf, run, make):
    def f(pred, x):
        return tf.cond(pred, lambda: make(x, x + 1.0), lambda: make(x * 2.0, x * 3.0))

    found = run(f, tf.constant(False), tf.constant([1.0, 2.0]))
    expected = make([2.0, 4.0], [3.0, 6.0])
    assert numbers(found) == expected
    assert type(found) is type(expected)


def test_cond_in_eager_code_calls_one_branch_only(tf):
    called = []
    x = tf.constant(2.0)
    found = tf.cond(True, lambda: called.append(1) or x, lambda: called.append(2) or -x)
    assert (float(found), called) == (2.0, [1])


def test_cond_traces_both_branches_and_runs_one(tf):
    traced = []
    v = tf.Variable(0.0)

    @tf.function
    def f(pred):
        def then():
            traced.append("then")
            v.assign_add(1.0)
            return v.read_value()

        def otherwise():
            traced.append("otherwise")
            v.assign_sub(10.0)
            return v.read_value()

        return tf.cond(pred, then, otherwise)

    assert [float(f(tf.constant(p))) for p in (True, True, False)] == [1.0, 2.0, -8.0]
    assert float(v) == -8.0
    assert {"then", "otherwise"} == set(traced)


def test_cond_in_cond_chooses_by_both_predicates(tf, run):
    def f(x, y):
        return tf.cond(
            x > 0,
            lambda: tf.cond(y > 0, lambda: tf.constant(1), lambda: tf.constant(2)),
            lambda: tf.cond(y > 0, lambda: tf.constant(3), lambda: tf.constant(4)),
        )

    pairs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    assert [int(run(f, tf.constant(x), tf.constant(y))) for x, y in pairs] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("true_fn", "false_fn", "text"),
    [
        (1, lambda: 1, "'true_fn' must be callable."),
        (lambda: 1, 1, "'false_fn' must be callable."),
        (None, lambda: 1, "'true_fn'"),
        (lambda: 1, None, "'false_fn'"),
    ],
)
def test_cond_takes_functions_only(tf, run, true_fn, false_fn, text):
    with pytest.raises(TypeError, match=text):
        run(lambda p: tf.cond(p, true_fn, false_fn), tf.constant(True))


@pytest.mark.parametrize(
    "other",
    [lambda x: [x], lambda x: {"a": x}],
    ids=["list", "dict"],
)
def test_cond_in_a_function_refuses_results_of_different_structure(tf, other):
    @tf.function
    def f(x):
        return tf.cond(x > 0.0, lambda: [x, (x,)], lambda: [x, other(x)])

    with pytest.raises(TypeError, match="must have the same number, type, and overall structure"):
        f(tf.constant(1.0))


def test_cond_in_a_function_refuses_results_of_different_dtype(tf):
    @tf.function
    def f(x):
        return tf.cond(x > 0.0, lambda: x, lambda: tf.cast(x, tf.int32))

    with pytest.raises(TypeError, match="true_fn and false_fn"):
        f(tf.constant(1.0))


# case and switch_case


@pytest.mark.parametrize(("x", "expected"), [(1, 10), (5, 20), (50, 30)])
def test_case_takes_the_first_predicate_that_is_true(tf, run, x, expected):
    def f(x):
        return tf.case(
            [(x < 3, lambda: tf.constant(10)), (x < 10, lambda: tf.constant(20))],
            default=lambda: tf.constant(30),
        )

    assert int(run(f, tf.constant(x))) == expected


def test_case_without_default_and_without_a_true_predicate_fails(tf, run):
    def f(x):
        return tf.case([(x < 3, lambda: x), (x < 10, lambda: 2 * x)])

    assert int(run(f, tf.constant(5))) == 10
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated as"):
        run(f, tf.constant(50))


def test_case_with_exclusive_fails_when_two_predicates_are_true(tf, run):
    def f(x):
        pairs = [(x < 3, lambda: x), (x < 10, lambda: 2 * x)]
        return tf.case(pairs, default=lambda: 3 * x, exclusive=True)

    assert int(run(f, tf.constant(5))) == 10
    with pytest.raises(tf.errors.InvalidArgumentError, match="exclusive=True"):
        run(f, tf.constant(1))


@pytest.mark.parametrize(
    ("pairs", "text"),
    [
        (lambda p: 3, "pred_fn_pairs'? must be a list, tuple, or dict"),
        (lambda p: [(p, lambda: 1, 2)], "Each entry in '?pred_fn_pairs'? must be a 2-tuple"),
    ],
    ids=["number", "triple"],
)
def test_case_takes_pairs_of_predicate_and_function_only(tf, run, pairs, text):
    with pytest.raises(TypeError, match=text):
        run(lambda p: tf.case(pairs(p)), tf.constant(True))


@pytest.mark.parametrize(("x", "expected"), [(1.0, 2.0), (2.0, 12.0), (4.0, 1.0)])
def test_case_has_gradients(tf, run, x, expected):
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.case([(x < 2.0, lambda: x**2), (x < 3.0, lambda: x**3)], default=lambda: x)
        return tape.gradient(y, x)

    assert float(run(f, tf.constant(x))) == expected


@pytest.mark.parametrize("index", [-3, 1, 2, 100])
@pytest.mark.parametrize("with_default", [False, True])
def test_switch_case_takes_the_branch_of_the_index(tf, run, index, with_default):
    def f(n, x):
        functions = [lambda: x, lambda: x * 2.0, lambda: x * 3.0]
        return tf.switch_case(n, functions, default=(lambda: -x) if with_default else None)

    found = float(run(f, tf.constant(index), tf.constant(10.0)))
    assert found == {0: 10.0, 1: 20.0, 2: 30.0}.get(index, -10.0 if with_default else 30.0)


@pytest.mark.parametrize("form", [dict, list], ids=["dict", "pairs"])
@pytest.mark.parametrize("index", [0, 2])
def test_switch_case_takes_numbered_branches_in_any_order(tf, run, form, index):
    def f(n, x):
        return tf.switch_case(n, form({1: lambda: x + 1.0, 0: lambda: x}.items()))

    assert float(run(f, tf.constant(index), tf.constant(0.0))) == (0.0 if index == 0 else 1.0)


def test_switch_case_refuses_indices_with_gaps():
    with pytest.raises(ValueError, match=r"contiguous range of \[0 to 2\)"):
        tapejax.switch_case(tapejax.constant(2), {2: lambda: 1, 5: lambda: 2})


def test_switch_case_without_branches_is_a_value_error():
    with pytest.raises(ValueError, match="Must provide at least one item in 'branch_fns'"):
        tapejax.switch_case(tapejax.constant(0), [])


@pytest.mark.parametrize(("index", "expected"), [(0, [2.0, 4.0]), (1, [1.0, 1.0]), (7, [3.0, 3.0])])
def test_switch_case_has_gradients(tf, run, index, expected):
    def f(n, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.switch_case(n, [lambda: x * x, lambda: x, lambda: 3.0 * x])
        return tape.gradient(y, x)

    assert run(f, tf.constant(index), tf.constant([1.0, 2.0])).numpy().tolist() == expected


@pytest.mark.parametrize("functions", [3, [1, 2], {0: 1}], ids=["number", "numbers", "dict"])
def test_switch_case_takes_functions_only(tf, run, functions):
    with pytest.raises(TypeError):
        run(lambda n: tf.switch_case(n, functions), tf.constant(0))


# while_loop


@pytest.mark.parametrize("n", [0, 1, 5])
def test_while_loop_repeats_the_body_while_the_condition_holds(tf, run, n):
    def f(n):
        start = (tf.constant(0), tf.constant(1.0))
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 2.0), start)

    assert numbers(run(f, tf.constant(n))) == (n, 2.0**n)


@pytest.mark.parametrize(("limit", "expected"), [(0, 0), (3, 3), (100, 7)])
def test_while_loop_stops_after_maximum_iterations(tf, run, limit, expected):
    def f(n):
        loop = tf.while_loop
        return loop(
            lambda i: i < n, lambda i: (i + 1,), (tf.constant(0),), maximum_iterations=limit
        )

    (found,) = run(f, tf.constant(7))
    assert int(found) == expected


def test_while_loop_takes_a_tensor_as_maximum_iterations(tf, run):
    def f(n):
        loop = tf.while_loop
        return loop(lambda i: i < 9, lambda i: (i + 1,), (tf.constant(0),), maximum_iterations=n)

    assert [int(run(f, tf.constant(n))[0]) for n in (0, 4, 20)] == [0, 4, 9]


@pytest.mark.parametrize("n", [0, 3])
def test_while_loop_has_first_and_second_derivatives(tf, run, n):
    def f(n, x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                _, y = tf.while_loop(
                    lambda i, y: i < n, lambda i, y: (i + 1, y * x), (tf.constant(0), x)
                )
            first = inner.gradient(y, x)
        zero = tf.UnconnectedGradients.ZERO
        return y, first, outer.gradient(first, x, unconnected_gradients=zero)

    found = numbers(run(f, tf.constant(n), tf.constant(2.0)))
    assert found == (2.0 ** (n + 1), (n + 1) * 2.0**n, (n + 1) * n * 2.0 ** (n - 1))


def test_while_loop_carries_structures(tf, run):
    def f(n):
        start = [
            tf.constant(0),
            {"a": tf.constant([1.0, 1.0])},
            Pair(tf.constant(0), (tf.ones([]),)),
        ]

        def body(i, d, pair):
            return [i + 1, {"a": d["a"] * 2.0}, Pair(pair.first + i, (pair.second[0] / 2.0,))]

        return tf.while_loop(lambda i, d, pair: i < n, body, start)

    found = run(f, tf.constant(3))
    assert numbers(found) == [3, {"a": [8.0, 8.0]}, Pair(3, (0.125,))]
    assert isinstance(found[2], Pair)


def test_while_loop_carries_python_numbers_as_tensors(tf, run):
    def f(n):
        return tf.while_loop(lambda i, y: i < n, lambda i, y: [i + 2, y + 0.5], [0, 1.0])

    i, y = run(f, tf.constant(5))
    assert (int(i), float(y), i.dtype, y.dtype) == (6, 2.5, tf.int32, tf.float32)


def test_while_loop_in_while_loop_multiplies_the_iterations(tf, run):
    def f(n, m):
        def outer(i, total):
            _, total = tf.while_loop(
                lambda j, t: j < m, lambda j, t: (j + 1, t + i * j), (tf.constant(0), total)
            )
            return i + 1, total

        return tf.while_loop(lambda i, t: i < n, outer, (tf.constant(0), tf.constant(0)))[1]

    expected = sum(i * j for i in range(4) for j in range(5))
    assert int(run(f, tf.constant(4), tf.constant(5))) == expected


def test_while_loop_assigns_variables_in_each_iteration(tf, run):
    v = tf.Variable([1.0, 2.0])

    def f(n):
        def body(i):
            v.assign(v * 2.0)
            return (i + 1,)

        tf.while_loop(lambda i: i < n, body, (tf.constant(0),))
        return v.read_value()

    assert run(f, tf.constant(3)).numpy().tolist() == [8.0, 16.0]
    assert v.numpy().tolist() == [8.0, 16.0]


@pytest.mark.parametrize(
    ("cond", "body", "text"),
    [
        (1, lambda i: i, "'?cond'? must be callable"),
        (lambda i: i < 3, 1, "'?body'? must be callable"),
    ],
    ids=["cond", "body"],
)
def test_while_loop_takes_functions_only(tf, run, cond, body, text):
    with pytest.raises(TypeError, match=text):
        run(lambda x: tf.while_loop(cond, body, [x]), tf.constant(0))


def test_while_loop_needs_loop_variables(tf):
    with pytest.raises(ValueError, match="loop_vars"):
        tf.while_loop(lambda: False, lambda: (), [])


def test_while_loop_refuses_a_body_that_changes_the_structure(tf, run):
    def f(n):
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1,), (tf.constant(0), n))

    with pytest.raises((TypeError, ValueError)):
        run(f, tf.constant(3))


def test_while_loop_in_a_function_refuses_a_new_dtype(tf):
    @tf.function
    def f(n):
        return tf.while_loop(
            lambda i, y: i < n, lambda i, y: (i + 1, tf.cast(y, tf.float64)), (0, tf.constant(1.0))
        )

    with pytest.raises(TypeError):
        f(tf.constant(3))


def test_while_loop_in_a_function_refuses_a_new_shape(tf):
    @tf.function
    def f(n):
        start = (tf.constant(0), tf.constant([1.0]))
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, tf.concat([y, y], 0)), start)

    with pytest.raises(ValueError, match=r"\(1,\).*\(2,\)"):
        f(tf.constant(3))


def test_a_check_in_the_branch_not_taken_raises_nothing(tf, run):
    def f(x):
        def risky():
            tf.debugging.assert_less(x, 10.0, message="too large")
            return x

        return tf.cond(x > 0.0, risky, lambda: -x)

    assert [float(run(f, tf.constant(x))) for x in (5.0, -50.0)] == [5.0, 50.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        run(f, tf.constant(11.0))


def test_the_gradient_of_a_branch_not_taken_does_not_spoil_the_other(tf, run):
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 0.0, lambda: tf.sqrt(x), lambda: tf.zeros_like(x) * x)
        return tape.gradient(y, x)

    assert [float(run(f, tf.constant(x))) for x in (4.0, 0.0)] == [0.25, 0.0]


def test_inside_function_is_true_in_functions_and_their_branches(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append(tf.inside_function())
        return tf.cond(x > 0.0, lambda: seen.append(tf.inside_function()) or x, lambda: -x)

    assert float(f(tf.constant(1.0))) == 1.0
    assert set(seen) == {True}
    assert not tf.inside_function()
