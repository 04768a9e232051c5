"""`tf.function(input_signature=...)`: what is converted, counted and refused."""

from __future__ import annotations

import numpy as np
import pytest


def _vector(tf):
    return tf.TensorSpec([None], tf.float32)


def test_any_size_fits_an_unknown_dimension_and_counts_once(tf):
    total = tf.function(lambda x: tf.reduce_sum(x), input_signature=[_vector(tf)])
    assert [float(total(tf.ones([n]))) for n in (1, 4, 2)] == [1.0, 4.0, 2.0]
    assert total.experimental_get_tracing_count() == 1


def test_numbers_lists_arrays_and_variables_become_tensors_of_the_spec(tf):
    double = tf.function(lambda x: x * 2.0, input_signature=[_vector(tf)])
    for value in ([1, 2], np.array([1.0, 2.0]), tf.Variable([1.0, 2.0])):
        result = double(value)
        assert (result.dtype, result.numpy().tolist()) == (tf.float32, [2.0, 4.0])


def test_nested_specs_take_nested_arguments(tf):
    spec = {"a": tf.TensorSpec([], tf.float32), "b": [_vector(tf)]}
    add = tf.function(lambda s: s["a"] + tf.reduce_sum(s["b"][0]), input_signature=[spec])
    assert float(add({"b": [[2.0, 3.0]], "a": 1})) == 6.0
    with pytest.raises(TypeError, match="has different keys with the TraceType"):
        add({"a": 1.0})
    with pytest.raises(TypeError, match="to list type"):
        add({"a": 1.0, "b": (tf.constant([1.0]),)})


def test_a_parameter_without_a_spec_keeps_its_default(tf):
    scale = tf.function(lambda x, k=2: x * k, input_signature=[tf.TensorSpec([])])
    assert (float(scale(3.0)), float(scale(3.0, 2))) == (6.0, 6.0)
    with pytest.raises(TypeError, match=r"Can not cast 3 to Literal\[2\]"):
        scale(3.0, 3)


@pytest.mark.parametrize("size", [2, 3])
def test_what_does_not_fit_the_spec_is_refused(tf, size):
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([size], tf.float32)])
    for wrong in (tf.constant([1] * size), tf.ones([4]), tf.ones([])):
        with pytest.raises(TypeError, match=r"Binding inputs to tf.function failed.*Can not cast"):
            f(wrong)


def test_methods_and_variable_arguments_take_signatures(tf):
    class Model:
        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def double(self, x):
            return x * 2.0

    add = tf.function(lambda *a: a[0] + a[1], input_signature=[tf.TensorSpec([])] * 2)
    assert float(Model().double(3)) == 6.0
    assert float(add(1.0, 2.5)) == 3.5


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        (1, "must be either a tuple or a list, got <class 'int'>"),
        ([1], "possibly nested sequence of TensorSpec objects, got invalid args"),
        ("two", "contains 1 extra type constraints"),
        ("none", "missing type constraint for x"),
    ],
)
def test_a_bad_signature_is_refused_at_the_decorator(tf, signature, message):
    specs = {"two": [tf.TensorSpec([])] * 2, "none": []}
    chosen = specs.get(signature, signature) if isinstance(signature, str) else signature
    with pytest.raises(TypeError, match=message):
        tf.function(lambda x: x, input_signature=chosen)


def test_a_keyword_parameter_needs_a_default(tf):
    with pytest.raises(TypeError, match="keyword-only parameter `y` must have a default"):
        tf.function(lambda x, *, y: x, input_signature=[tf.TensorSpec([])])


def test_the_message_shows_the_signature(tf):
    f = tf.function(lambda x, y=2: x)
    with pytest.raises(TypeError, match=r"signature: \(x, y=<captured_default_value>\)"):
        f(1, 2, 3)
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'z'"):
        f(1, z=3)


def test_the_signature_can_be_asked_for(tf):
    spec = _vector(tf)
    assert tf.function(lambda x: x, input_signature=[spec]).input_signature == (spec,)
    assert tf.function(lambda x: x).input_signature is None
