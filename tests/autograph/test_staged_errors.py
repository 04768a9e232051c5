"""Errors of `if`, `while` and `for` that tensors decide: what they name and where they point.

Where TensorFlow refuses the same program, its class of error is compared too.
"""

from __future__ import annotations

import re
import sys

import pytest

import tapejax

# The `if`s and missing returns are what is tested.
# ruff: noqa: RET503, SIM108


def error_of(tf, function, *args):
    """The error that a traced function raises for tensors of these values."""
    with pytest.raises((TypeError, ValueError, NotImplementedError)) as caught:
        tf.function(function)(*map(tf.constant, args))
    return caught.value


def if_dtypes(x):
    """Gives `y` two dtypes."""
    if x > 0.0:
        y = tapejax.ones([2], "float32")
    else:
        y = tapejax.ones([2], "int32")
    return y


def if_structures(x):
    """Gives `y` two structures."""
    if x > 0.0:
        y = [x, x]
    else:
        y = [x]
    return y


def if_missing_else(x):
    """Gives `y` a value on one side only."""
    if x > 0.0:
        y = x
    return y


def if_missing_main(x):
    """Gives `y` a value in the else branch only."""
    if x > 0.0:
        pass
    else:
        y = x
    return y


def if_none(x):
    """Gives `y` a value and None."""
    if x > 0.0:
        y = x
    else:
        y = None
    return y


def if_return(x):
    """Returns on one side only."""
    if x > 0.0:
        return x
    x = x + 1.0


def if_objects(x):
    """Gives `y` two objects that are no tensors."""
    if x > 0.0:
        y = len
    else:
        y = sum
    return y


def while_dtypes(x):
    """Changes the dtype of `y`."""
    y = tapejax.ones([2], "int32")
    while x > 0.0:
        y = tapejax.cast(y, "float32")
        x -= 1.0
    return y


def while_shapes(x):
    """Changes the shape of `y`."""
    y = tapejax.ones([2])
    while x > 0.0:
        y = tapejax.concat([y, y], 0)
        x -= 1.0
    return y


def while_list(x):
    """Appends to the list `items`."""
    items = [x]
    while x > 0.0:
        items.append(x)
        x -= 1.0
    return items


def while_structures(x):
    """Makes a pair of `y`."""
    y = x
    while x > 0.0:
        y = (y, y)
        x -= 1.0
    return y


def for_shapes(x):
    """Changes the shape of `y` in a `for`."""
    y = tapejax.ones([2])
    for _ in tapejax.range(tapejax.cast(x, "int32")):
        y = y[None]
    return y


def for_dtypes(x):
    """Changes the dtype of `y` in a `for`."""
    y = tapejax.ones([2])
    for _ in tapejax.range(tapejax.cast(x, "int32")):
        y = y > 0.0
    return y


CASES = [
    (if_dtypes, TypeError, "y", ["dtype", "float32", "int32", "main", "else"]),
    (if_structures, TypeError, "y", ["structure", "main", "else"]),
    (if_missing_else, ValueError, "y", ["else branch", "initialized"]),
    (if_missing_main, ValueError, "y", ["main branch", "initialized"]),
    (if_none, ValueError, "y", ["None", "else branch"]),
    (if_objects, TypeError, "y", ["if", "must be a tensor in each, or the same object"]),
    (while_dtypes, TypeError, "y", ["before the loop", "int32", "float32", "tf.cast", "while"]),
    (while_shapes, ValueError, "y", ["before the loop", "(2,)", "(4,)", "while"]),
    (while_list, TypeError, "items", ["structure", "TensorArray", "while"]),
    (while_structures, TypeError, "y", ["structure", "while"]),
    (for_shapes, ValueError, "y", ["before the loop", "(2,)", "(1, 2)", "for"]),
    (for_dtypes, TypeError, "y", ["before the loop", "float32", "bool", "for"]),
]
NAMES = [function.__name__ for function, *_ in CASES]


@pytest.mark.parametrize(("function", "error", "name", "words"), CASES, ids=NAMES)
def test_the_message_names_the_variable_and_both_sides(function, error, name, words):
    found = error_of(tapejax, function, 1.0)
    assert isinstance(found, error)
    lines = str(found)
    assert f"'{name}'" in lines
    assert [word for word in words if word not in lines] == []


@pytest.mark.parametrize(("function", "error", "name", "words"), CASES, ids=NAMES)
def test_the_message_shows_the_line_of_the_statement(function, error, name, words):
    text = str(error_of(tapejax, function, 1.0))
    first = function.__code__.co_firstlineno
    place = re.search(rf'File "{re.escape(__file__)}", line (\d+), in {function.__name__}', text)
    assert place is not None
    assert first < int(place[1]) < first + 8
    shown = text.split(place[0])[1].split("\n")[1].strip()
    assert shown.startswith(("if ", "while ", "for "))


@pytest.mark.parametrize(("function", "error", "name", "words"), CASES, ids=NAMES)
def test_the_class_does_not_depend_on_the_values(function, error, name, words):
    assert type(error_of(tapejax, function, -1.0)) is type(error_of(tapejax, function, 1.0))


def test_a_missing_return_is_told_by_the_branch():
    found = error_of(tapejax, if_return, 1.0)
    assert isinstance(found, ValueError)
    assert "else branch must also have a return statement" in str(found)


def test_tensorflow_raises_the_same_classes(tf):
    if tf is not tapejax and sys.version_info >= (3, 13):
        pytest.skip("TensorFlow's AutoGraph does not convert these on Python 3.13")

    def dtypes(x):
        if x > 0.0:
            y = tf.constant(1.0)
        else:
            y = tf.constant(1)
        return y

    def missing(x):
        if x > 0.0:
            y = x
        return y

    def none(x):
        y = None
        if x > 0.0:
            y = x
        return y

    def one_return(x):
        if x > 0.0:
            return x

    def loop_dtypes(x):
        y = tf.constant(1)
        while x > 0.0:
            y = tf.cast(y, tf.float32)
            x -= 1.0
        return y

    def loop_shapes(x):
        y = tf.ones([2])
        while x > 0.0:
            y = tf.concat([y, y], 0)
            x -= 1.0
        return y

    programs = [dtypes, missing, none, one_return, loop_dtypes, loop_shapes]
    expected = [TypeError, ValueError, ValueError, ValueError, TypeError, ValueError]
    assert [type(error_of(tf, program, 1.0)) for program in programs] == expected


@pytest.mark.parametrize("shape", [[2], [2, 3]])
def test_a_condition_of_several_elements_is_refused_with_its_shape(shape):
    @tapejax.function
    def f(x):
        if x > 0.0:
            return x
        return -x

    with pytest.raises(ValueError, match=re.escape(f"shape {shape} and dtype bool")) as caught:
        f(tapejax.ones(shape))
    assert "tf.reduce_all" in str(caught.value)


def test_a_variable_keeps_its_value_when_a_branch_fails_to_trace():
    v = tapejax.Variable(1.0)

    @tapejax.function
    def f(x):
        if x > 0.0:
            v.assign(5.0)
            y = x
        else:
            y = None
        return y

    with pytest.raises(ValueError, match="None"):
        f(tapejax.constant(1.0))
    assert float(v) == 1.0


def test_names_have_their_old_values_after_a_failure_that_the_user_catches():
    @tapejax.function
    def f(x):
        y = tapejax.constant(1.0)
        try:
            if x > 0.0:
                y = tapejax.constant(1)
            x = tapejax.reduce_sum(y)
        except TypeError:
            return y + x
        return x

    assert float(f(tapejax.constant(5.0))) == 6.0


def test_a_function_without_source_says_that_it_cannot_be_converted():
    namespace = {}
    exec("def f(x):\n    if x > 0.0:\n        return x\n    return -x\n", namespace)
    with pytest.raises(TypeError, match="source") as caught:
        tapejax.function(namespace["f"])(tapejax.constant(1.0))
    assert type(caught.value).__name__ == "OperatorNotAllowedInGraphError"
    assert "tf.cond" in str(caught.value)


def test_without_autograph_a_tensor_is_no_condition(tf):
    @tf.function(autograph=False)
    def f(x):
        if x > 0.0:
            return x
        return -x

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="Python `bool`"):
        f(tf.constant(1.0))


def test_a_scalar_cannot_be_gone_over():
    @tapejax.function
    def f(x):
        for item in x:
            x = item
        return x

    with pytest.raises(
        (TypeError, ValueError, tapejax.errors.InvalidArgumentError), match="scalar"
    ):
        f(tapejax.constant(1.0))
