"""What the table of ops cannot ask: functions that give Python values, and errors."""

from __future__ import annotations

import numpy as np
import pytest


def test_tensors_variables_and_slices_are_tensors_and_values_are_not(tf):
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    assert all(tf.is_tensor(x) for x in (tf.constant(1), tf.Variable(1.0), slices))
    assert not any(tf.is_tensor(x) for x in (1, [1.0], np.ones(2), None, "a"))


def test_the_static_value_of_a_tensor_is_its_array(tf):
    value = tf.get_static_value(tf.constant([[1, 2]]))
    assert isinstance(value, np.ndarray)
    assert value.dtype == np.int32
    assert value.tolist() == [[1, 2]]


def test_a_constant_of_several_numbers_and_another_size_raises(tf):
    with pytest.raises(TypeError, match="unsupported shape"):
        tf.constant([1, 2, 3], shape=[2, 2])


def test_converting_a_tensor_to_another_dtype_raises(tf):
    with pytest.raises(ValueError, match="float32"):
        tf.convert_to_tensor(tf.constant(1.0), tf.int32)
