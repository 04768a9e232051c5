"""Errors that leave a `tf.function`: their classes, their texts, their tracebacks."""

from __future__ import annotations

import traceback

import pytest

import tapejax


def _raised(call):
    with pytest.raises(Exception) as caught:  # noqa: PT011  each test looks closer
        call()
    return caught.value


def test_an_error_of_the_body_keeps_its_class_and_shows_the_line(tf):
    def helper():
        raise ValueError("my message")

    @tf.function
    def fails(x):
        return helper()

    error = _raised(lambda: fails(tf.constant(1.0)))
    assert isinstance(error, ValueError)
    text = str(error)
    assert text.startswith("in user code:\n\n    File ")
    assert "in fails  *\n        return helper()\n" in text
    assert 'in helper  *\n        raise ValueError("my message")\n' in text
    assert text.endswith("\n\n    ValueError: my message\n")


def test_without_autograph_the_text_is_left_alone(tf):
    @tf.function(autograph=False)
    def fails(x):
        raise ValueError("my message")

    assert str(_raised(lambda: fails(tf.constant(1.0)))) == "my message"


@pytest.mark.parametrize("kind", [KeyError, AttributeError, NotImplementedError])
def test_classes_of_python_survive(tf, kind):
    @tf.function
    def fails(x):
        raise kind("why")

    error = _raised(lambda: fails(tf.constant(1.0)))
    assert isinstance(error, kind)
    assert "in user code:" in str(error)


def test_a_class_of_the_user_survives_whatever_its_constructor_takes():
    class Mine(Exception):
        def __init__(self, code, reason):
            super().__init__(code, reason)
            self.code = code

    @tapejax.function
    def fails(x):
        raise Mine(7, "why")

    with pytest.raises(Mine) as caught:
        fails(tapejax.constant(1.0))
    assert caught.value.code == 7
    assert "in user code:" in caught.value.__notes__[0]


def test_errors_of_ops_raised_by_the_user_survive(tf):
    @tf.function
    def fails(x):
        raise tf.errors.NotFoundError(None, None, "no such thing")

    error = _raised(lambda: fails(tf.constant(1.0)))
    assert type(error) is tf.errors.NotFoundError
    assert "NotFoundError: no such thing" in error.message


def test_dtypes_that_do_not_fit_are_a_type_error(tf):
    add = tf.function(lambda a, b: a + b)
    error = _raised(lambda: add(tf.constant(1.0), tf.constant(1)))
    assert isinstance(error, TypeError)
    expected = "Input 'y' of 'AddV2' Op has type int32 that does not match type float32 of argument"
    assert expected in str(error)


def test_a_dtype_that_an_op_does_not_take_is_a_type_error(tf):
    error = _raised(lambda: tf.function(lambda x: tf.sin(x))(tf.constant(1)))
    assert isinstance(error, TypeError)
    assert "Value passed to parameter 'x' has DataType int32 not in list" in str(error)


def test_shapes_that_do_not_fit_are_a_value_error(tf):
    calls = [
        lambda a: a + tf.ones([7]),
        lambda a: tf.matmul(a, a),
        lambda a: tf.reshape(a, [7]),
        lambda a: tf.concat([a, tf.ones([2, 4])], 0),
        lambda a: a[7],
    ]
    for body in calls:
        error = _raised(lambda body=body: tf.function(body, autograph=False)(tf.ones([2, 3])))
        assert isinstance(error, ValueError)


def test_shape_errors_are_those_of_eager_code_too():
    with pytest.raises(tapejax.errors.InvalidArgumentError):
        tapejax.function(lambda a: a + tapejax.ones([7]))(tapejax.ones([2, 3]))


def test_nested_functions_are_explained_once(tf):
    @tf.function
    def inner(x):
        raise ValueError("deep")

    @tf.function
    def outer(x):
        return inner(x)

    text = str(_raised(lambda: outer(tf.constant(1.0))))
    assert text.count("in user code:") == 1
    assert text.index("in outer") < text.index("in inner")


def test_the_traceback_has_the_frames_of_the_user_only():
    @tapejax.function
    def divide(x):
        return 1 // x

    @tapejax.function
    def add(a, b):
        return a + b

    a, b, zero = tapejax.constant(1.0), tapejax.constant(1), tapejax.constant(0)
    for call in (lambda: add(a, b), lambda: divide(zero), lambda: add(a), lambda: divide(zero)):
        error = _raised(call)
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        assert not [file for file in files if "/tapejax/_src/" in file or "/jax/" in file]


# failures of values


@pytest.mark.parametrize("calls", [1, 3])
def test_a_failure_raises_at_the_call_and_names_the_line(tf, calls):
    @tf.function
    def divide(x):
        return 1 // x

    for _ in range(calls - 1):
        divide(tf.constant(1))
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        divide(tf.constant(0))
    text = caught.value.message
    assert text.startswith("Graph execution error:\n\nDetected at node ")
    assert "Integer division by zero" in text
    assert "in divide" in text
    assert int(divide(tf.constant(1))) == 1


def test_a_failed_assertion_raises_though_nothing_is_returned(tf):
    @tf.function
    def check(x):
        tf.debugging.assert_positive(x, message="boo")

    check(tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="boo"):
        check(tf.constant(-1.0))


def test_only_tensors_can_be_returned(tf):
    message = "found return value of type object, which is not a Tensor"
    with pytest.raises(TypeError, match=message):
        tf.function(lambda x: [object()])(tf.constant(1.0))


def test_texts_numbers_arrays_and_variables_come_out_as_tensors(tf):
    v = tf.Variable(3.0)
    text, number, shape, value, many = tf.function(
        lambda x: ("txt", 2**40, x.shape, v, range(2)), autograph=False
    )(tf.ones([2]))
    assert (text.dtype, text.numpy()) == (tf.string, b"txt")
    assert (number.dtype, int(number)) == (tf.int64, 2**40)
    assert (shape.dtype, shape.numpy().tolist()) == (tf.int32, [2])
    assert not isinstance(value, tf.Variable)
    assert float(value) == 3.0
    assert [int(n) for n in many] == [0, 1]
