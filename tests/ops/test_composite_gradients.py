"""Gradients through ragged and sparse tensors, and by them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow
from parity.expressions import assert_alike

import tapejax

RAGGED = {
    "square": lambda tf, x: x * x,
    "mixed": lambda tf, x: tf.exp(x) / (1.0 + x) - tf.constant([[2.0], [3.0], [4.0]]) * x,
    "row sums": lambda tf, x: tf.reduce_sum(x, 1) ** 2,
    "column sums": lambda tf, x: tf.reduce_sum(x, 0) ** 2,
    "means": lambda tf, x: tf.reduce_mean(x[:1], 1) ** 2,
    "greatest": lambda tf, x: tf.reduce_max(x, 1),
    "products": lambda tf, x: tf.reduce_prod(x, 1),
    "padded": lambda tf, x: x.to_tensor(1.0) ** 3,
    "cut": lambda tf, x: x.to_tensor(shape=[None, 1]) ** 3,
    "slices": lambda tf, x: x[:, 1:] ** 2,
    "a row": lambda tf, x: x[0] ** 2,
    "gathered": lambda tf, x: tf.gather(x, [0, 0, 2]) ** 2,
    "joined": lambda tf, x: tf.concat([x, x * 2.0], 1) ** 2,
    "stacked": lambda tf, x: tf.stack([x, x * 2.0]) ** 2,
    "repeated": lambda tf, x: tf.tile(x, [2, 2]) ** 2,
    "softmax": lambda tf, x: tf.nn.softmax(x[:1]) ** 2,
    "masked": lambda tf, x: tf.ragged.boolean_mask(x, x > 1.5) ** 2,
    "running sums": lambda tf, x: tf.cumsum(x, 1) ** 2,
    "values": lambda tf, x: x.values * 2.0,
    "nothing": lambda tf, x: tf.constant(1.0),
}


def _ragged_gradient(tf: ModuleType, fn: Any) -> Any:
    x = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = fn(tf, x)
    return tape.gradient(y, x)


@pytest.mark.parametrize("name", RAGGED)
def test_the_gradient_by_a_ragged_tensor_is_ragged(name: str) -> None:
    ours = _ragged_gradient(tapejax, RAGGED[name])
    assert_alike(ours, _ragged_gradient(tensorflow, RAGGED[name]))


def test_output_gradients_may_be_ragged(tf: ModuleType) -> None:
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    seed = tf.ragged.constant([[1.0, 10.0], [100.0]])
    assert tape.gradient(y, x, output_gradients=seed).to_list() == [[2.0, 40.0], [600.0]]


def test_second_derivatives_by_a_ragged_tensor(tf: ModuleType) -> None:
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x * x * x)
        first = inner.gradient(y, x)
    assert outer.gradient(first, x).to_list() == [[6.0, 12.0], [18.0]]


def test_structures_of_ragged_tensors_get_structures_of_gradients(tf: ModuleType) -> None:
    x = {"a": tf.ragged.constant([[1.0], [2.0, 3.0]]), "b": tf.constant(2.0)}
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x["a"] * x["b"]
    found = tape.gradient(y, x)
    assert found["a"].to_list() == [[2.0], [2.0, 2.0]]
    assert found["b"].numpy() == 6.0


def test_an_embedding_of_ragged_ids_has_gradients_for_its_rows(tf: ModuleType) -> None:
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        found = tf.nn.embedding_lookup(table, tf.ragged.constant([[0, 2], [2]]))
        loss = tf.reduce_sum(tf.reduce_mean(found, 1) ** 2)
    gradient = tf.convert_to_tensor(tape.gradient(loss, table)).numpy()
    assert gradient.tolist() == [[3.0, 4.0], [0.0, 0.0], [13.0, 16.0]]


def _sparse(tf: ModuleType, values: Any) -> Any:
    return tf.SparseTensor([[0, 0], [0, 2], [1, 2]], values, [2, 3])


SPARSE = {
    "to_dense": lambda tf, v: tf.sparse.to_dense(_sparse(tf, v), 3.0) ** 2,
    "default": lambda tf, v: tf.sparse.to_dense(_sparse(tf, [1.0, 2.0, 3.0]), v[0]) ** 2,
    "add": lambda tf, v: tf.sparse.add(_sparse(tf, v), _sparse(tf, v * v)).values,
    "add dense": lambda tf, v: tf.sparse.add(_sparse(tf, v), tf.ones([2, 3])) ** 2,
    "times": lambda tf, v: (_sparse(tf, v) * tf.range(3.0)).values ** 2,
    "divided": lambda tf, v: (_sparse(tf, v) / (1.0 + tf.range(3.0))).values ** 2,
    "matmul": lambda tf, v: tf.sparse.sparse_dense_matmul(_sparse(tf, v), tf.ones([3, 2])) ** 2,
    "adjoint": lambda tf, v: (
        tf.sparse.sparse_dense_matmul(_sparse(tf, v), tf.ones([4, 2]), True, True) ** 2
    ),
    "reduce_sum": lambda tf, v: tf.sparse.reduce_sum(_sparse(tf, v), 1) ** 2,
    "softmax": lambda tf, v: tf.sparse.softmax(_sparse(tf, v)).values ** 2,
    "transpose": lambda tf, v: tf.sparse.transpose(_sparse(tf, v)).values ** 2,
    "reshape": lambda tf, v: tf.sparse.reshape(_sparse(tf, v), [-1]).values ** 2,
    "slice": lambda tf, v: tf.sparse.slice(_sparse(tf, v), [0, 0], [1, 3]).values ** 2,
    "retain": lambda tf, v: tf.sparse.retain(_sparse(tf, v), [True, False, True]).values ** 2,
    "filled": lambda tf, v: tf.sparse.fill_empty_rows(_sparse(tf, v), v[0])[0].values ** 2,
    "from_dense": lambda tf, v: tf.sparse.from_dense(v * v).values ** 2,
    "segment_mean": lambda tf, v: tf.sparse.segment_mean(v, [0, 2, 0], [0, 0, 2]) ** 2,
    "map_values": lambda tf, v: tf.sparse.map_values(tf.exp, _sparse(tf, v)).values,
}


def _values_gradient(tf: ModuleType, fn: Any) -> Any:
    values = tf.constant([1.0, 2.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(values)
        y = fn(tf, values)
    return tf.convert_to_tensor(tape.gradient(y, values)).numpy()


@pytest.mark.parametrize("name", SPARSE)
def test_values_of_sparse_tensors_have_the_gradients_of_tensorflow(name: str) -> None:
    ours = _values_gradient(tapejax, SPARSE[name])
    np.testing.assert_allclose(
        ours, _values_gradient(tensorflow, SPARSE[name]), rtol=1e-5, atol=1e-7
    )


LACKING = {
    "reduce_max": (lambda tf, v: tf.sparse.reduce_max(_sparse(tf, v), 1), [0.0, 1.0, 1.0]),
    "concat": (lambda tf, v: tf.sparse.concat(0, [_sparse(tf, v)] * 2).values, [2.0, 2.0, 2.0]),
    "split": (lambda tf, v: tf.sparse.split(_sparse(tf, v), 3, 1)[2].values, [0.0, 1.0, 1.0]),
    "maximum": (
        lambda tf, v: tf.sparse.maximum(_sparse(tf, v), _sparse(tf, [5.0, 0.0, 0.0])).values,
        [0.0, 1.0, 1.0],
    ),
}


@pytest.mark.parametrize("name", LACKING)
def test_gradients_that_tensorflow_lacks_are_right_by_definition(name: str) -> None:
    fn, expected = LACKING[name]
    assert _values_gradient(tapejax, fn).tolist() == expected


def test_a_sparse_tensor_is_no_source(tf: ModuleType) -> None:
    x = _sparse(tf, [1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x.values * 2.0
    with pytest.raises(ValueError, match="SparseTensor is not supported as a gradient"):
        tape.gradient(y, x)


def test_the_product_has_the_gradient_of_the_dense_side(tf: ModuleType) -> None:
    dense = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(dense)
        y = tf.sparse.sparse_dense_matmul(_sparse(tf, [1.0, 2.0, 3.0]), dense)
    assert tape.gradient(y, dense).numpy().tolist() == [[1.0, 1.0], [0.0, 0.0], [5.0, 5.0]]
