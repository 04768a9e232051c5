"""Tensors of a function being traced: their texts, what cannot be read, leaving their scope."""

from __future__ import annotations

import numpy as np
import pytest


def _in_function(tf, body, value=(1.0, 2.0)):
    found = []

    @tf.function(autograph=False)
    def traced(x):
        found.append(body(x))
        return x

    traced(tf.constant(value))
    return found[0]


def test_arguments_are_shown_by_their_names(tf):
    assert _in_function(tf, str) == 'Tensor("x:0", shape=(2,), dtype=float32)'
    assert _in_function(tf, repr) == "<tf.Tensor 'x:0' shape=(2,) dtype=float32>"
    assert _in_function(tf, lambda x: f"{x}") == 'Tensor("x:0", shape=(2,), dtype=float32)'


def test_results_are_shown_by_their_ops(tf):
    names = _in_function(
        tf, lambda x: [t.name for t in (x, x * 2.0, x * 3.0, tf.sin(x), x + 1.0, x / 2.0, x[0])]
    )
    assert names == [
        "x:0",
        "mul:0",
        "mul_1:0",
        "Sin:0",
        "add:0",
        "truediv:0",
        "strided_slice:0",
    ]


def test_the_tensors_of_a_container_are_numbered(tf):
    names = []

    @tf.function
    def traced(pair, other):
        names.extend(t.name for t in (*pair, other["a"]))
        return other["a"]

    one = tf.constant(1.0)
    traced([one, one], {"a": one})
    assert names == ["pair:0", "pair_1:0", "other:0"]


@pytest.mark.parametrize(
    ("read", "kind", "message"),
    [
        (float, TypeError, r"float\(\) argument must be a string or a real number"),
        (int, TypeError, r"int\(\) argument must be a string"),
        (complex, TypeError, r"complex\(\) first argument must be"),
        (lambda x: [0, 1][x], TypeError, "integer"),
        (lambda x: x.numpy(), AttributeError, "object has no attribute 'numpy'"),
        (np.array, NotImplementedError, "Cannot convert a symbolic tf.Tensor"),
        (np.sum, NotImplementedError, "Cannot convert a symbolic tf.Tensor"),
        (lambda x: f"{x:.2f}", TypeError, "unsupported format string"),
    ],
)
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_what_needs_a_value_is_refused(tf, read, kind, message):
    with pytest.raises(kind, match=message):
        _in_function(tf, read, 1.0)


@pytest.mark.parametrize("read", [bool, lambda x: 1 if x > 0.0 else 2, lambda x: not x])
def test_a_condition_needs_a_value(tf, read):
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="Using a symbolic"):
        _in_function(tf, read, 1.0)


def test_an_assigned_variable_is_shown_without_a_value(tf):
    v = tf.Variable(1.0)

    @tf.function
    def traced(x):
        v.assign(x)
        texts.append(repr(v))
        return x

    texts = []
    traced(tf.constant(5.0))
    assert texts == ["<tf.Variable 'Variable:0' shape=() dtype=float32>"]


# leaving their scope


def _leaked(tf):
    leak = []

    @tf.function
    def traced(x):
        leak.append(x * 2.0)
        return x

    traced(tf.constant(1.0))
    return leak[0]


def test_a_leaked_tensor_is_still_shown(tf):
    leaked = _leaked(tf)
    assert isinstance(leaked, tf.Tensor)
    assert repr(leaked) == "<tf.Tensor 'mul:0' shape=() dtype=float32>"


def test_using_a_leaked_tensor_is_a_type_error(tf):
    leaked, v = _leaked(tf), tf.Variable(1.0)
    uses = [
        lambda: leaked + 1.0,
        lambda: 2.0 * leaked,
        lambda: tf.sin(leaked),
        lambda: v.assign(leaked),
        lambda: tf.function(lambda y: y + leaked)(tf.constant(1.0)),
        lambda: tf.function(lambda y: leaked)(tf.constant(1.0)),
        lambda: tf.function(lambda y: y)(leaked),
    ]
    for use in uses:
        with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
            use()
    assert float(v) == 1.0


def test_reading_a_leaked_tensor_fails_as_while_tracing(tf):
    leaked = _leaked(tf)
    with pytest.raises(AttributeError, match="numpy"):
        leaked.numpy()
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        bool(leaked)


def test_a_tensor_of_the_function_around_may_be_used_inside(tf):
    @tf.function
    def outer(x):
        y = x * 3.0

        @tf.function
        def inner(z):
            return y + z

        return inner(x)

    assert float(outer(tf.constant(2.0))) == 8.0


def test_inside_function_says_where_one_is(tf):
    assert _in_function(tf, lambda _: tf.inside_function()) is True
    assert tf.inside_function() is False


def test_sizes_computed_from_a_shape_and_python_numbers_are_static(tf):
    @tf.function
    def padded(x):
        rows = tf.shape(x)[0] * 2 + 1
        return tf.zeros((rows, tf.shape(x)[1] // 2)), tf.reshape(x, tf.shape(x)[::-1] * 1)

    zeros, turned = padded(tf.ones((3, 4)))
    assert zeros.shape == (7, 2)
    assert turned.shape == (4, 3)
    assert padded(tf.ones((5, 4)))[0].shape == (11, 2)
