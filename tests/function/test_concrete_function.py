"""Concrete functions: one signature, Python values filled in, what they are made of."""

from __future__ import annotations

import numpy as np
import pytest

import tapejax


def _scaled(tf):
    @tf.function
    def scaled(x, k=3.0, *, flag=True):
        return {"y": x * k, "n": None, "p": [x]}

    return scaled


def test_python_values_are_filled_in(tf):
    scaled = _scaled(tf)
    concrete = scaled.get_concrete_function(tf.TensorSpec([], tf.float32), 2.0)
    assert float(concrete(tf.constant(4.0))["y"]) == 8.0
    assert float(concrete(x=tf.constant(4.0))["y"]) == 8.0


def test_a_signature_with_unknown_sizes_takes_any(tf):
    concrete = _scaled(tf).get_concrete_function(tf.TensorSpec([None, 2], tf.float32))
    for n in (1, 3):
        assert concrete(tf.ones([n, 2]))["y"].numpy().tolist() == [[3.0, 3.0]] * n


def test_it_counts_as_one_signature_that_calls_share(tf):
    scaled = _scaled(tf)
    scaled.get_concrete_function(tf.TensorSpec([None, 2], tf.float32))
    assert scaled.experimental_get_tracing_count() == 1
    scaled(tf.ones([5, 2]))
    assert scaled.experimental_get_tracing_count() == 1


def test_structured_inputs_have_named_specs(tf):
    concrete = _scaled(tf).get_concrete_function(tf.ones([2]), 2.0)
    args, kwargs = concrete.structured_input_signature
    assert args == (tf.TensorSpec([2], tf.float32, name="x"), 2.0)
    assert kwargs == {"flag": True}


def test_structured_outputs_know_shapes_and_dtypes(tf):
    concrete = _scaled(tf).get_concrete_function(tf.TensorSpec([None, 2], tf.float32))
    outputs = concrete.structured_outputs
    assert (outputs["y"].shape.as_list(), outputs["y"].dtype) == ([None, 2], tf.float32)
    assert outputs["n"] is None
    assert [o.shape.as_list() for o in concrete.outputs] == [[None, 2], [None, 2]]
    assert [i.shape.as_list() for i in concrete.inputs] == [[None, 2]]
    assert concrete.output_shapes["p"][0].as_list() == [None, 2]
    assert concrete.output_dtypes["y"] == tf.float32


def test_it_lists_its_variables(tf):
    v, w = tf.Variable(1.0), tf.Variable(2.0, trainable=False)

    @tf.function
    def both(x):
        v.assign_add(x)
        return w * x

    concrete = both.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert [x is y for x, y in zip(concrete.variables, (v, w), strict=True)] == [True, True]
    assert len(concrete.trainable_variables) == 1
    assert len(concrete.captured_inputs) == 2
    assert float(v) == 1.0


def test_other_arguments_than_its_own_are_refused(tf):
    concrete = _scaled(tf).get_concrete_function(tf.TensorSpec([], tf.float32), 2.0)
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        concrete()
    with pytest.raises(TypeError, match="too many positional arguments"):
        concrete(tf.constant(1.0), 2.0, 5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="was expected to be a float"):
        concrete(tf.constant(1))


def test_a_value_that_was_filled_in_cannot_change():
    concrete = _scaled(tapejax).get_concrete_function(tapejax.TensorSpec([]), 2.0)
    assert float(concrete(tapejax.constant(3.0), 2.0)["y"]) == 6.0
    with pytest.raises(TypeError, match=r"Can not cast 4.0 to Literal\[2.0\]"):
        concrete(tapejax.constant(3.0), 4.0)


def test_with_an_input_signature_nothing_need_be_said(tf):
    spec = tf.TensorSpec([None], tf.float32)
    total = tf.function(lambda x: tf.reduce_sum(x), input_signature=[spec])
    assert float(total.get_concrete_function()(tf.ones([3]))) == 3.0
    with pytest.raises(TypeError, match="Can not cast"):
        total.get_concrete_function(tf.TensorSpec([2, 2]))


def test_signatures_are_printed_as_tensorflow_does(tf):
    scaled = _scaled(tf)
    scaled.get_concrete_function(tf.TensorSpec([None, 2], tf.float32), 2.0)
    spec = "TensorSpec(shape=(None, 2), dtype=tf.float32, name=None)"
    assert scaled.pretty_printed_concrete_signatures() == (
        "Input Parameters:\n"
        f"  x (POSITIONAL_OR_KEYWORD): {spec}\n"
        "  k (POSITIONAL_OR_KEYWORD): Literal[2.0]\n"
        "  flag (KEYWORD_ONLY): Literal[True]\n"
        "Output Type:\n"
        f"  Dict[['y', {spec}], ['n', Literal[None]], ['p', List[{spec}]]]\n"
        "Captures:\n"
        "  None"
    )


def test_gradients_flow_through_it(tf):
    square = tf.function(lambda x: x * x).get_concrete_function(tf.TensorSpec([], tf.float32))
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = square(x.read_value())
    assert float(tape.gradient(y, x)) == 6.0


def test_arrays_are_taken_as_tensors():
    double = tapejax.function(lambda x: x * 2.0)
    concrete = double.get_concrete_function(tapejax.TensorSpec([2], tapejax.float32))
    assert concrete(np.array([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]
