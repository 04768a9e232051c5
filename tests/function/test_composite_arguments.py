"""Ragged and sparse tensors as arguments and results of functions, and in control flow."""

from __future__ import annotations

from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tapejax


def test_a_function_takes_and_returns_ragged_tensors(tf: ModuleType) -> None:
    @tf.function
    def double(x):
        return x * 2, {"sums": tf.reduce_sum(x, 1)}

    doubled, rest = double(tf.ragged.constant([[1, 2], [], [3]]))
    assert doubled.to_list() == [[2, 4], [], [6]]
    assert rest["sums"].numpy().tolist() == [3, 0, 3]


def test_row_lengths_are_known_inside_a_function(tf: ModuleType) -> None:
    padded = tf.function(lambda x: tf.concat([x, x[:, :1]], 1).to_tensor())
    assert padded(tf.ragged.constant([[1, 2], [3]])).numpy().tolist() == [[1, 2, 1], [3, 3, 0]]
    assert padded(tf.ragged.constant([[1], [2, 3]])).numpy().tolist() == [[1, 1, 0], [2, 3, 2]]


def test_a_ragged_result_is_used_by_another_function(tf: ModuleType) -> None:
    inner = tf.function(lambda x: x + 1)
    outer = tf.function(lambda x: inner(x).to_tensor())
    assert outer(tf.ragged.constant([[1, 2], [3]])).numpy().tolist() == [[2, 3], [4, 0]]


def test_equal_partitions_are_traced_once() -> None:
    traces: list[int] = []

    @tapejax.function
    def sums(x):
        traces.append(1)
        return tapejax.reduce_sum(x, 1)

    make = tapejax.ragged.constant
    assert sums(make([[1, 2], [3]])).numpy().tolist() == [3, 3]
    assert sums(make([[5, 5], [1]])).numpy().tolist() == [10, 1]
    assert len(traces) == 1
    assert sums(make([[5], [5, 1]])).numpy().tolist() == [5, 6]
    assert len(traces) == 2


def test_an_input_signature_may_be_ragged(tf: ModuleType) -> None:
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    padded = tf.function(lambda x: x.to_tensor(), input_signature=[spec])
    assert padded(tf.ragged.constant([[1, 2], [3]])).numpy().tolist() == [[1, 2], [3, 0]]
    with pytest.raises(TypeError, match="RaggedTensorSpec"):
        padded(tf.ragged.constant([[1.5]]))


def test_a_spec_alone_does_not_say_the_lengths() -> None:
    padded = tapejax.function(lambda x: x.to_tensor())
    with pytest.raises(NotImplementedError, match="Call the function"):
        padded.get_concrete_function(tapejax.RaggedTensorSpec([None, None], tapejax.int32))


def test_loops_and_branches_carry_ragged_tensors(tf: ModuleType) -> None:
    @tf.function
    def run(x, flag):
        for _ in tf.range(3):
            x = x * 2.0
        if flag:  # noqa: SIM108  a branch that AutoGraph converts
            y = x + 1.0
        else:
            y = x - 1.0
        return y.to_tensor()

    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    assert run(x, tf.constant(True)).numpy().tolist() == [[9.0, 17.0], [25.0, 0.0]]
    assert run(x, tf.constant(False)).numpy().tolist() == [[7.0, 15.0], [23.0, 0.0]]


def test_branches_may_cut_the_same_values_differently(tf: ModuleType) -> None:
    @tf.function
    def run(x, flag):
        return tf.cond(
            flag,
            lambda: tf.RaggedTensor.from_row_lengths(x, [1, 2]),
            lambda: tf.RaggedTensor.from_row_lengths(x, [2, 1]),
        )

    assert run(tf.constant([1, 2, 3]), tf.constant(True)).to_list() == [[1], [2, 3]]
    assert run(tf.constant([1, 2, 3]), tf.constant(False)).to_list() == [[1, 2], [3]]


def test_sums_of_rows_need_no_known_lengths(tf: ModuleType) -> None:
    @tf.function
    def run(values, lengths):
        rows = tf.RaggedTensor.from_row_lengths(values, lengths)
        return tf.reduce_sum(rows * 2.0, 1), rows

    sums, rows = run(tf.constant([1.0, 2.0, 3.0]), tf.constant([1, 2]))
    assert sums.numpy().tolist() == [2.0, 10.0]
    assert rows.to_list() == [[1.0], [2.0, 3.0]]


def test_rows_of_computed_lengths_are_padded(tf: ModuleType) -> None:
    run = tf.function(lambda v, n: tf.RaggedTensor.from_row_lengths(v, n).to_tensor())
    found = run(tf.constant([1.0, 2.0, 3.0]), tf.constant([1, 2]))
    assert found.numpy().tolist() == [[1.0, 0.0], [2.0, 3.0]]


def test_gradients_flow_through_a_function_of_a_ragged_tensor(tf: ModuleType) -> None:
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])
    loss = tf.function(lambda v: tf.reduce_sum(v.to_tensor() ** 2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loss(x)
    assert tape.gradient(y, x).to_list() == [[2.0, 4.0], [6.0]]


def test_rows_of_strings_pass_through_functions(tf: ModuleType) -> None:
    words = tf.ragged.constant([["a", "b"], ["c"]])
    assert tf.function(lambda s: s[:, :1])(words).to_list() == [[b"a"], [b"c"]]
    padded = tf.function(lambda s: s.to_tensor("-"))(words)
    assert padded.numpy().tolist() == [[b"a", b"b"], [b"c", b"-"]]


def test_map_fn_goes_over_rows(tf: ModuleType) -> None:
    x = tf.ragged.constant([[1, 2], [3]])
    assert tf.map_fn(lambda row: row + 1, x).to_list() == [[2, 3], [4]]
    sums = tf.map_fn(tf.reduce_sum, x, fn_output_signature=tf.int32)
    assert sums.numpy().tolist() == [3, 3]


def test_a_function_takes_and_returns_sparse_tensors(tf: ModuleType) -> None:
    @tf.function
    def run(x):
        return tf.sparse.transpose(x), tf.sparse.to_dense(x), tf.sparse.reduce_sum(x, 1)

    x = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    turned, dense, sums = run(x)
    assert turned.indices.numpy().tolist() == [[0, 1], [1, 0]]
    assert turned.values.numpy().tolist() == [2.0, 1.0]
    assert dense.numpy().tolist() == [[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]]
    assert sums.numpy().tolist() == [1.0, 2.0]


def test_other_places_of_values_are_not_traced_again() -> None:
    traces: list[int] = []

    @tapejax.function
    def dense(x):
        traces.append(1)
        return tapejax.sparse.to_dense(x)

    for place in (0, 2, 1):
        x = tapejax.SparseTensor([[0, place]], [1.0], [1, 3])
        assert np.argmax(dense(x).numpy()) == place
    assert len(traces) == 1


def test_places_out_of_order_are_found_when_a_function_runs(tf: ModuleType) -> None:
    x = tf.SparseTensor([[1, 2], [0, 0]], [2.0, 1.0], [2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        tf.function(tf.sparse.to_dense)(x).numpy()


@pytest.mark.parametrize(
    ("fn", "expected"),
    [
        (lambda tf, x: tf.sparse.add(x, x), [2.0]),
        (lambda tf, x: tf.sparse.slice(x, [0, 0], [1, 1]), []),
        (lambda tf, x: tf.sparse.fill_empty_rows(x, 0.0)[0], [1.0]),
    ],
)
def test_results_of_unknown_size_are_computed(tf: ModuleType, fn, expected) -> None:
    x = tf.SparseTensor([[0, 1]], [1.0], [1, 3])
    assert tf.function(lambda x: fn(tf, x))(x).values.numpy().tolist() == expected


def test_results_of_unknown_size_are_refused_under_jit() -> None:
    def run(values):
        x = tapejax.SparseTensor([[0, 1]], values, [1, 3])
        return tapejax.RaggedTensor.from_row_lengths(
            x.values, tapejax.cast(x.values, "int32")
        ).to_tensor()

    with pytest.raises((NotImplementedError, tapejax.errors.OperatorNotAllowedInGraphError)):
        jax.jit(run)(jnp.array([1.0]))


def test_ragged_and_sparse_tensors_work_under_jit() -> None:
    tf = tapejax

    def run(values):
        rows = tf.RaggedTensor.from_row_splits(values, [0, 1, 3])
        sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 2]], values, [2, 3])
        return tf.reduce_sum(rows, 1).array, tf.sparse.to_dense(sparse).array

    sums, dense = jax.jit(run)(jnp.array([1.0, 2.0, 3.0]))
    assert sums.tolist() == [1.0, 5.0]
    assert dense.tolist() == [[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]
