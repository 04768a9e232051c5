"""Messages that hold tensors, against TensorFlow's own."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import tapejax
from tapejax._src.core.tensor_proto import TensorProto

VALUES = [
    np.float32([[1.5, 2.0]]),
    np.int64(3),
    np.zeros((0, 2), np.uint8),
    np.array([True, False]),
    np.complex64([1 + 2j]),
    np.float16([0.5]),
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_each_library_reads_what_the_other_wrote(value):
    ours, theirs = tapejax.make_tensor_proto(value), tensorflow.make_tensor_proto(value)
    np.testing.assert_array_equal(tapejax.make_ndarray(theirs), value)
    read = type(theirs).FromString(ours.SerializeToString())
    np.testing.assert_array_equal(tensorflow.make_ndarray(read), value)
    again = TensorProto.FromString(ours.SerializeToString())
    np.testing.assert_array_equal(tapejax.make_ndarray(again), value)
    assert tapejax.make_ndarray(theirs).dtype == np.asarray(value).dtype


def test_strings_tensors_and_shapes(tf):
    proto = tf.make_tensor_proto(["a", "bc"])
    assert tf.make_ndarray(proto).tolist() == [b"a", b"bc"]
    assert tf.make_ndarray(tf.make_tensor_proto(tf.constant([1, 2]))).tolist() == [1, 2]
    filled = tf.make_tensor_proto([1.0, 2.0], shape=[2, 2])
    assert tf.make_ndarray(filled).tolist() == [[1.0, 2.0], [2.0, 2.0]]
    assert [dim.size for dim in filled.tensor_shape.dim] == [2, 2]


def test_values_that_do_not_fit_are_refused(tf):
    with pytest.raises(ValueError, match="Too many elements"):
        tf.make_tensor_proto([1.0, 2.0, 3.0], shape=[2])
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        tf.make_tensor_proto([1.0, 2.0], shape=[4], verify_shape=True)
    with pytest.raises(ValueError, match="are not both allowed"):
        tf.make_tensor_proto(1.0, verify_shape=True, allow_broadcast=True)


def test_bytes_that_are_no_message_are_refused():
    with pytest.raises(ValueError, match="no TensorProto"):
        TensorProto.FromString(b"\xff")
