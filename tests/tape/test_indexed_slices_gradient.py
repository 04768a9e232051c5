"""Gradients of gathers: IndexedSlices where TensorFlow gives them, dense elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

TABLE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def gradient(tf, function, value, variable=False):
    """The gradient of the sum of a function of a watched tensor or a variable."""
    x = tf.Variable(value) if variable else tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize("variable", [False, True], ids=["tensor", "variable"])
def test_gather_of_rows_gives_slices_with_duplicates_kept(tf, variable):
    found = gradient(tf, lambda x: tf.gather(x, [0, 0, 2]) * 2.0, TABLE, variable)
    assert isinstance(found, tf.IndexedSlices)
    np.testing.assert_array_equal(found.indices.numpy(), [0, 0, 2])
    np.testing.assert_allclose(found.values.numpy(), np.full((3, 2), 2.0))
    np.testing.assert_array_equal(found.dense_shape.numpy(), [3, 2])
    assert found.dense_shape.dtype == tf.int32


SPARSE = {
    "a scalar index": lambda tf, x: tf.gather(x, 1),
    "a matrix of indices": lambda tf, x: tf.gather(x, [[0, 1], [1, 1]]),
    "embedding_lookup": lambda tf, x: tf.nn.embedding_lookup(x, [2, 0]),
    "gather_nd of rows": lambda tf, x: tf.gather_nd(x, [[1], [2]]),
    "identity before": lambda tf, x: tf.gather(tf.identity(x), [1]),
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_paths(tf, name):
    found = gradient(tf, lambda x: SPARSE[name](tf, x), TABLE)
    assert isinstance(found, tf.IndexedSlices)
    counts = {
        "a scalar index": [0, 1, 0],
        "a matrix of indices": [1, 3, 0],
        "embedding_lookup": [1, 0, 1],
        "gather_nd of rows": [0, 1, 1],
        "identity before": [0, 1, 0],
    }[name]
    dense = tf.convert_to_tensor(found).numpy()
    np.testing.assert_allclose(dense, np.repeat(counts, 2).reshape(3, 2))


DENSE = {
    "an index": (lambda tf, x: x[1], [[0, 0], [1, 1], [0, 0]]),
    "a slice": (lambda tf, x: x[::-2], [[1, 1], [0, 0], [1, 1]]),
    "boolean_mask": (
        lambda tf, x: tf.boolean_mask(x, [True, False, True]),
        [[1, 1], [0, 0], [1, 1]],
    ),
    "a mask as index": (lambda tf, x: x[x > 2.5], [[0, 0], [1, 1], [1, 1]]),
    "another axis": (lambda tf, x: tf.gather(x, [0, 0], axis=1), [[2, 0], [2, 0], [2, 0]]),
    "gather_nd of elements": (
        lambda tf, x: tf.gather_nd(x, [[1, 0], [1, 0], [0, 1]]),
        [[0, 1], [2, 0], [0, 0]],
    ),
    "an op before": (lambda tf, x: tf.gather(x * 1.0, [2]), [[0, 0], [0, 0], [1, 1]]),
    "a dense path": (
        lambda tf, x: tf.reduce_sum(tf.gather(x, [2])) + tf.reduce_sum(x),
        [[1, 1], [1, 1], [2, 2]],
    ),
}


@pytest.mark.parametrize("name", DENSE)
def test_dense_paths(tf, name):
    function, expected = DENSE[name]
    found = gradient(tf, lambda x: function(tf, x), TABLE)
    assert isinstance(found, tf.Tensor)
    np.testing.assert_allclose(found.numpy(), expected)


def test_two_sparse_paths_are_concatenated(tf):
    def function(x):
        left, right = tf.gather(x, [0, 1]), tf.gather(x, [1, 2])
        return tf.reduce_sum(left) + 10.0 * tf.reduce_sum(right)

    found = gradient(tf, function, [1.0, 2.0, 3.0], variable=True)
    assert isinstance(found, tf.IndexedSlices)
    assert found.indices.shape == (4,)
    assert tf.convert_to_tensor(found).numpy() == pytest.approx([1.0, 11.0, 10.0])


@pytest.fixture
def slices(tf):
    """Slices with a duplicate: dense value [2, 0, 0]."""
    return gradient(tf, lambda x: tf.gather(x, [0, 0]), [1.0, 2.0, 3.0], variable=True)


def test_slices_are_no_tensor_but_a_tensor_like(tf, slices):
    assert not isinstance(slices, tf.Tensor)
    assert tf.is_tensor(slices)
    assert not hasattr(slices, "numpy")
    assert slices.dtype == tf.float32


def test_slices_have_no_product_but_a_negative(tf, slices):
    with pytest.raises(TypeError):
        slices * 2.0
    assert tf.convert_to_tensor(-slices).numpy() == pytest.approx([-2.0, 0.0, 0.0])


def test_ops_make_slices_dense(tf, slices):
    assert tf.reduce_sum(slices).numpy() == pytest.approx(2.0)
    assert tf.square(slices).numpy() == pytest.approx([4.0, 0.0, 0.0])


def test_variables_are_updated_by_slices(tf, slices):
    for update in ("assign_sub", "scatter_sub"):
        v = tf.Variable([1.0, 2.0, 3.0])
        getattr(v, update)(slices)
        assert v.numpy() == pytest.approx([-1.0, 2.0, 3.0])


def test_clipping_keeps_the_type(tf):
    found = gradient(tf, lambda x: tf.gather(x, [1]) * 10.0, [3.0, 4.0], variable=True)
    for clipped in (tf.clip_by_value(found, -1.0, 1.0), tf.clip_by_norm(found, 1.0)):
        assert isinstance(clipped, tf.IndexedSlices)
        assert tf.convert_to_tensor(clipped).numpy() == pytest.approx([0.0, 1.0])


def test_clipping_by_global_norm_mixes_slices_and_tensors(tf):
    v, w = tf.Variable([3.0, 4.0]), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [1]) * 3.0) + 4.0 * w
    (of_v, of_w), norm = tf.clip_by_global_norm(tape.gradient(y, [v, w]), 1.0)
    assert isinstance(of_v, tf.IndexedSlices)
    assert of_v.values.numpy() == pytest.approx([0.6])
    assert [float(of_w), float(norm)] == pytest.approx([0.8, 5.0])


def test_slices_without_a_dense_shape_cannot_be_made_dense(tf):
    bare = tf.IndexedSlices(values=tf.constant([[1.0, 2.0]]), indices=tf.constant([1]))
    with pytest.raises(ValueError, match="dense_shape"):
        tf.convert_to_tensor(bare)


def test_unconnected_zeros_are_dense(tf):
    v, w = tf.Variable([[1.0], [2.0]]), tf.Variable([[1.0], [2.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(v, [0])
    of_v, of_w = tape.gradient(y, [v, w], unconnected_gradients="zero")
    assert isinstance(of_v, tf.IndexedSlices)
    np.testing.assert_array_equal(of_w.numpy(), [[0.0], [0.0]])


def test_second_order_is_sparse_again(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.gather(x, [0, 0, 2]) ** 3)
        first = inner.gradient(y, x)
        weighted = tf.reduce_sum(tf.convert_to_tensor(first) * [1.0, 10.0, 100.0])
    second = outer.gradient(weighted, x)
    assert isinstance(second, tf.IndexedSlices)
    np.testing.assert_array_equal(second.indices.numpy(), [0, 0, 2])
    assert second.values.numpy() == pytest.approx([6.0, 6.0, 1800.0])
