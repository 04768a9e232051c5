"""Operators: how the other operand is converted, and what an unfit one leads to."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow

import tapejax

# Each is run on both libraries: the same value and dtype, or an error of the same class whose text
# starts alike.
EXPRESSIONS = """
i + 1.5; i - 1.5; i * 1.5; i / 1.5; i // 1.5; i % 1.5; i ** 1.5; i < 1.5; i == 1.5; i != 1.5
1.5 + i; 1.5 - i; 1.5 * i; 1.5 / i; 1.5 // i; 1.5 % i; 1.5 ** i; 1.5 > i
i + [1.5]; i / [1.5]; i + 'a'; 'a' + i; f < 'a'; f == 'a'; f + 1j; f * 1j; f / 1j; i - 1j
i + np.array(1.5); i * np.array(1.5); i / np.array(1.5); i + np.float64(1.5); np.float64(1.5) * i
b * 1; b * 1.5; b * 0.0; b * False; b * b; 1 * b; True * b; b * None; b * t([1, 0]); f * b
b + 1; b + True; b - True; b & True; b & 1; b | b; i & True; i & 1.5; i + True; f * True
u + 300; u * 300; u - (-1); u / 2.5; u / 2; w + 1.5; w / 1.5; w + 1; i / 2.0; i / 2; i / True
f + i; f - i; f * i; f / i; f // i; f == i; f < i; f ** i; i + w; i / w; v + 1.5; v / 1.5; 1.5 / v
i + None; i * None; None + i; f + object; f == None; f != None; f + {}
m @ [[1.5]]; m @ m; f + [1.0, 2.0]; f * (1, 2); [1] + i; (1, 2) * f
t([1.0, 2.0]) + [1, 2, 3]; t([1.0, 2.0]) / [1, 2, 3]; t([1.0, 2.0]) * [1, 2, 3]; [1, 2] == t([1, 3])
t([1, 2]) == [1, [2]]; t([1, 2]) == np.array([1.0, 2.5]); f == np.float64(2.0); -b; ~f; abs(b); ~b
"""
CASES = [e.strip() for line in EXPRESSIONS.strip().splitlines() for e in line.split(";")]


def outcome(tf, expression):
    """(dtype, value) of an expression, or (error class, the start of its text)."""
    names = {
        "np": np,
        "t": tf.constant,
        "i": tf.constant(3),
        "w": tf.constant(3, tf.int64),
        "u": tf.constant(1, tf.uint8),
        "f": tf.constant(2.0),
        "b": tf.constant(True),
        "m": tf.constant([[2]]),
        "v": tf.Variable(3),
    }
    try:
        value = eval(expression, names)
    except (TypeError, ValueError, tf.errors.OpError) as error:
        return type(error).__name__, _essence(str(error))
    if isinstance(value, bool):
        return "bool", value
    return value.dtype.name, value.numpy().tolist()


def _essence(text):
    """The start of an error's text, without TensorFlow's device prefix."""
    text = text.removeprefix("{{function_node ").partition("}} ")[2] or text
    return text[:36].rstrip(". ")


@pytest.mark.parametrize("expression", CASES)
def test_operators_convert_the_other_operand_as_tensorflow(expression):
    assert outcome(tapejax, expression) == outcome(tensorflow, expression)


def test_bools_are_not_divided(tf):
    with pytest.raises(TypeError, match=r"Invalid dtype tf\.bool"):
        _ = tf.constant(True) / True


def test_plus_of_two_dtypes_names_both_and_the_op():
    with pytest.raises(
        tapejax.errors.InvalidArgumentError,
        match=r"cannot compute AddV2 as input #1.*expected to be a int32 tensor but is a float",
    ):
        _ = tapejax.constant(1) + 1.5


def test_division_of_two_dtypes_says_how_to_convert():
    with pytest.raises(TypeError, match=r"got tf\.int32 != tf\.float32.*tf\.cast"):
        _ = tapejax.constant(1) / 1.5


def test_functions_are_as_strict_with_numbers_as_operators(tf):
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot compute AddV2"):
        tf.add(tf.constant(1), 1.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot compute AddV2"):
        tf.add(1.5, tf.constant(1))
    with pytest.raises(TypeError, match="must have the same dtype"):
        tf.divide(tf.constant(1), 1.5)
    with pytest.raises(TypeError, match="Cannot convert"):
        tf.multiply(tf.constant(1), 1.5)


def test_a_failed_operator_leaves_the_tape_as_it_was(tf):
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with pytest.raises(TypeError):
            _ = y / tf.constant(1)
        z = y * 3.0
    assert math.isclose(tape.gradient(z, x), 12.0)


def test_an_object_that_no_tensor_can_hold_is_not_equal():
    x = tapejax.constant(1.0)
    assert (x == object()) is False
    assert (x != object()) is True
