"""`tf.debugging` and `tf.Assert`: what passes, and TensorFlow's texts for what does not."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
import tensorflow

import tapejax
from tapejax._src.engine.registry import PUBLIC

# Run on both libraries: the same result, or an error of the same class and, up to what is left out
# below, the same text.
SAME_TEXT = """
assert_equal([1, 2], [1, 3]); assert_equal([1, 2], [1, 2]); assert_equal(1, 2)
assert_equal(r(20), r(20) + 1); assert_equal(r(20), r(20) + 1, summarize=5)
assert_equal(r(20), r(20) + 1, summarize=-1); assert_equal(tf.reshape(r(20), [4, 5]), 3)
assert_equal([[1, 2], [3, 4]], [[1, 2], [4, 4]]); assert_equal([True], [False])
assert_equal([1.5], [2.25], message=''); assert_equal(tf.Variable([1]), [2])
assert_equal(tf.zeros([0]), tf.zeros([0])); assert_equal([1, 2], [1, 3], 'text', 1)
assert_none_equal([1, 2], [1, 3]); assert_none_equal([1, 2], [1, 3], message='m')
assert_none_equal([1, 2], [2, 3]); assert_less([1, 2], [2, 2]); assert_less(3, 2)
assert_less([1.0, nan], [2.0, 2.0], 'msg', 1); assert_less_equal([1, 3], [2, 2])
assert_less_equal([1, 2], 2); assert_greater([1, 2], [2, 2]); assert_greater([3, 4], 2)
assert_greater_equal([1, 2], [2, 2]); assert_greater_equal(2, 2)
assert_negative([1.0, -2.0]); assert_negative(r(5)); assert_negative(r(5), summarize=10)
assert_negative([-1]); assert_positive([1.0, -2.0], message='foo'); assert_positive(-1.0)
assert_positive(tf.Variable(1.0)); assert_non_negative([1.0, -2.0]); assert_non_negative(0)
assert_non_positive([]); assert_non_positive(0)
assert_near([1.0], [1.0000001]); assert_near(1.0, 1.1, atol=1.0); assert_near(2.0, 1.0, rtol=1.1)
assert_integer(1); assert_integer(1.5); assert_integer(1.5, message='m')
assert_type(1, tf.int32); assert_type(1, tf.float32); assert_type(1, tf.float32, message='m')
assert_rank([1], 2); assert_rank([1], 2, 'm'); assert_rank([1], 1); assert_rank(3.0, tf.constant(0))
assert_rank_at_least([1], 2); assert_rank_at_least([1], 2, 'm'); assert_rank_at_least([1], 0)
assert_rank_in([1], [2, 3]); assert_rank_in([1], (2, 0), 'm'); assert_rank_in([1], (1, 0))
assert_scalar([1]); assert_scalar([1], 'm'); assert_scalar(1); assert_proper_iterable(1)
assert_proper_iterable([1]); assert_proper_iterable('s'); assert_proper_iterable({1: 2})
assert_proper_iterable(np.ones(2)); assert_proper_iterable(tf.Variable([1.0]))
assert_same_float_dtype([f, d]); assert_same_float_dtype([f]); assert_same_float_dtype([f], d.dtype)
assert_same_float_dtype([tf.constant(1)]); assert_same_float_dtype([], tf.int32)
assert_same_float_dtype(); assert_same_float_dtype([d, None])
is_numeric_tensor(f); is_numeric_tensor(1); is_numeric_tensor(tf.constant('s'))
is_numeric_tensor(tf.constant(True)); is_numeric_tensor(tf.Variable(1))
assert_shapes([(s(2, 3), ('N', 'Q')), (s(2, 4), ('N', 'D'))])
assert_shapes([(s(2, 3), ('N', 'Q')), (s(3, 4), ('N', 'D'))])
assert_shapes([(s(2, 3), ('N', 'Q')), (s(3, 4), ('N', 'D'))], message='mm')
assert_shapes([(s(2, 3), ('N', 2))]); assert_shapes([(s(2, 3), ('N',))])
assert_shapes([(s(2, 3), 'NQ'), (s(2), 'N')]); assert_shapes([(s(2, 3), ())])
assert_shapes([(s(), ())]); assert_shapes([(s(), (1,))]); assert_shapes([(s(1), ())])
assert_shapes([(s(2, 3), ('...', 'Q'))]); assert_shapes([(s(2, 3), (Ellipsis, 4))])
assert_shapes([(s(2, 3), ('N', '*', 'Q'))]); assert_shapes([(s(2, 3), ('*', 'Q'))])
assert_shapes([(s(2, 3), ('*', 'Q', 'Q', 'R'))]); assert_shapes([(s(2, 3), (None, 3))])
assert_shapes([(s(2, 3), ('.', 3))]); assert_shapes([(s(2, 3), 3)]); assert_shapes([])
assert_shapes([(s(2, 3), ('N', 'N'))]); assert_shapes([(s(2, 3), [2, 3])])
assert_shapes([(s(3), ('N', 'Q', 'Q'))]); assert_shapes([(s(2, 3), ('N', 'M', 'O'))])
assert_all_finite([1.0, 2.0], 'm'); assert_all_finite([1.0, inf], 'm')
assert_all_finite([nan, inf], 'm'); check_numerics([1.0, nan], 'm'); check_numerics([-inf, 1], 'm')
check_numerics(tf.Variable([1.0]), 'm'); check_numerics([1.0], None)
Assert(True, [1]); Assert(False, [1, tf.constant([1.0, 2.0]), 's', r(10)])
Assert(False, [1, [1.0, 2.0], 's', r(10)], summarize=2); Assert(False, [tf.ones([2, 3])], -1)
Assert(tf.constant(1), ['x']); Assert(False, 'xyz'); Assert(False, []); Assert(None, [1])
Assert(tf.constant(False), ['x']); Assert(False, (1, 'ab', [1, 2]))
Assert(False, [tf.constant('a'), tf.constant(['a', 'b'])]); Assert(False, [None])
Assert(tf.constant([False, True]), ['x'])
"""
CASES = [e.strip() for line in SAME_TEXT.strip().splitlines() for e in line.split("; ")]


def outcome(tf, expression):
    """The result of an expression as plain values, or (error class, text)."""
    names = {
        "np": np,
        "tf": tf,
        "nan": float("nan"),
        "inf": float("inf"),
        "r": tf.range,
        "s": lambda *shape: tf.ones(shape),
        "f": tf.constant(1.0),
        "d": tf.constant(1.0, tf.float64),
    }
    try:
        value = eval(f"tf.debugging.{expression}", names)
    except (TypeError, ValueError, tf.errors.OpError) as error:
        text = str(error)
        return type(error).__name__, text.partition("}} ")[2] if text[:2] == "{{" else text
    if isinstance(value, tf.Tensor):
        return value.numpy().tolist()
    return value.name if isinstance(value, tf.DType) else value


@pytest.mark.parametrize("expression", CASES)
def test_checks_pass_and_fail_as_in_tensorflow(expression):
    ours, theirs = outcome(tapejax, expression), outcome(tensorflow, expression)
    if isinstance(theirs, tuple):
        assert ours[0] == theirs[0]
        assert ours[1].startswith(theirs[1])
    else:
        assert ours == theirs


@pytest.mark.parametrize(
    "expression",
    [
        "assert_non_positive([1.0, -2.0])",
        "assert_near([1.0], [1.1])",
        "assert_near([1.0], [2.0], message='mm', summarize=1)",
        "assert_near([nan], [nan])",
        "assert_near(tf.constant(1 + 1j), tf.constant(1 + 2j))",
        "assert_near([1.0], d)",
        "assert_near([1], [2])",
        "assert_equal([1, 2], [1, 2, 3])",
        "assert_equal([1, 2], [1.0, 2.0])",
        "assert_rank([1], [1])",
        "assert_rank([1], 1.5)",
        "assert_all_finite([1, 2], 'm')",
        "Assert(False, tf.constant([1, 2]))",
    ],
)
def test_errors_of_the_same_class_with_a_text_of_our_own(expression):
    ours, theirs = outcome(tapejax, expression), outcome(tensorflow, expression)
    assert isinstance(theirs, tuple)
    assert ours[0] == theirs[0]


def test_a_check_inside_a_function_runs_with_it(tf):
    @tf.function
    def traced(x):
        tf.debugging.assert_less(x, 3.0, message="too large")
        return x + 1.0

    assert float(traced(tf.constant(1.0))) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        float(traced(tf.constant(5.0)))


def test_an_assertion_inside_a_function_runs_with_it(tf):
    @tf.function
    def traced(x):
        tf.Assert(x > 0.0, ["not positive"])
        return x + 1.0

    assert float(traced(tf.constant(1.0))) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="not positive"):
        float(traced(tf.constant(-5.0)))


def test_numerics_are_checked_inside_a_function(tf):
    @tf.function
    def traced(x):
        return tf.debugging.check_numerics(tf.math.log(x), "log")

    assert float(traced(tf.constant(1.0))) == 0.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="log : Tensor had NaN values"):
        float(traced(tf.constant(-1.0)))


def test_shapes_are_checked_while_a_function_is_traced(tf):
    @tf.function
    def traced(x):
        tf.debugging.assert_rank(x, 2)
        return x

    with pytest.raises(ValueError, match="must have rank 2"):
        traced(tf.constant([1.0]))


def test_gradients_pass_through_a_numeric_check(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.debugging.check_numerics(x * x, "y")
        tf.debugging.assert_greater(y, 1.0)
    assert float(tape.gradient(y, x)) == 6.0


def test_a_failed_check_leaves_the_tape_usable(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.debugging.assert_less(y, 1.0)
        z = y + x
    assert float(tape.gradient(z, x)) == 7.0


@pytest.mark.parametrize("path", [path for path in PUBLIC if path.startswith("debugging.")])
def test_examples_in_composed_docstrings_give_what_they_show(path):
    function = PUBLIC[path]
    test = doctest.DocTestParser().get_doctest(function.__doc__ or "", {}, path, None, 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert test.examples
    assert not report, "".join(report)
