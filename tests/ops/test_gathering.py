"""Reading and writing elements at indices: errors, duplicates, ties, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow

import tapejax as tf

V = np.array([1.0, 2.0, 3.0], np.float32)
M = np.arange(12.0, dtype=np.float32).reshape(3, 4)

OUT_OF_RANGE = [
    ("gather", (V, [0, 7, 9]), {}),
    ("gather", (V, -1), {}),
    ("gather", (M, [[0], [1], [9]]), {"batch_dims": 1}),
    ("gather", (M, [0, 7]), {"axis": 1}),
    ("gather_nd", (M, [[0, 0], [0, 5]]), {}),
    ("gather_nd", (M, [[[5]]]), {}),
    ("tensor_scatter_nd_add", (V, [[0], [-1]], V[:2]), {}),
    ("tensor_scatter_nd_update", (V, [[5]], V[:1]), {}),
    ("scatter_nd", ([[0, 5]], V[:1], [4, 4]), {}),
]


def _text(error: BaseException) -> str:
    """TensorFlow's text without the place where it happened."""
    return str(error).split("}} ")[-1].split(", node name")[0].split(" [Op:")[0]


@pytest.mark.parametrize(("path", "args", "kwargs"), OUT_OF_RANGE, ids=str)
@pytest.mark.parametrize("pending", [False, True])
def test_an_index_out_of_range_raises_tensorflows_text(
    path: str, args: tuple[Any, ...], kwargs: dict[str, Any], pending: bool
) -> None:
    with pytest.raises(tensorflow.errors.InvalidArgumentError) as theirs:
        getattr(tensorflow, path)(*args, **kwargs)
    values = [tf.constant(arg) for arg in args]
    if pending:
        values = [value + tf.zeros_like(value) for value in values]
    with pytest.raises(tf.errors.InvalidArgumentError) as ours:
        getattr(tf, path)(*values, **kwargs).numpy()
    assert _text(theirs.value) in str(ours.value)


def test_bad_indices_can_be_ignored() -> None:
    ignore = {"bad_indices_policy": "IGNORE"}
    assert tf.gather_nd(M, [[0, 5], [0, 1]], **ignore).numpy().tolist() == [0.0, 1.0]
    added = tf.tensor_scatter_nd_add(V, [[5], [-1], [0]], [1.0, 1.0, 1.0], **ignore)
    assert added.numpy().tolist() == [2.0, 2.0, 3.0]


def test_of_several_updates_for_one_place_the_last_stays() -> None:
    actual = tf.tensor_scatter_nd_update(V, [[1], [1]], [7.0, 8.0]).numpy()
    expected = tensorflow.tensor_scatter_nd_update(V, [[1], [1]], [7.0, 8.0]).numpy()
    assert actual.tolist() == expected.tolist()


def test_an_update_that_was_replaced_gets_the_gradient_zero() -> None:
    x, updates = tf.constant(V), tf.constant([7.0, 8.0])
    with tf.GradientTape() as tape:
        tape.watch([x, updates])
        y = tf.tensor_scatter_nd_update(x, [[1], [1]], updates)
    of_x, of_updates = tape.gradient(y, [x, updates])
    assert of_x.numpy().tolist() == [1.0, 0.0, 1.0]
    assert of_updates.numpy().tolist() == [0.0, 1.0]


TIES = [([[0], [0]], [5.0, 5.0]), ([[0], [0]], [1.0, 1.0]), ([[0], [1]], [1.0, 5.0])]


@pytest.mark.parametrize(("indices", "updates"), TIES, ids=str)
@pytest.mark.parametrize("path", ["tensor_scatter_nd_min", "tensor_scatter_nd_max"])
def test_equal_extremes_share_the_gradient_as_in_tensorflow(
    path: str, indices: Any, updates: Any
) -> None:
    found: list[list[Any]] = []
    for library in (tf, tensorflow):
        x, u = library.constant(V), library.constant(updates)
        with library.GradientTape() as tape:
            tape.watch([x, u])
            y = getattr(library, path)(x, indices, u)
        found.append([g.numpy().tolist() for g in tape.gradient(y, [x, u])])
    assert found[0] == found[1]


SPARSE = [
    ("gather", (M, [0, 0, 2]), {}, True),
    ("gather", (V, 1), {}, True),
    ("gather", (M, [0, 0]), {"axis": 1}, False),
    ("gather", (M, [1]), {"axis": -2}, False),
    ("gather_nd", (M, [[0], [2]]), {}, True),
    ("gather_nd", (M, [[0, 1]]), {}, False),
]


@pytest.mark.parametrize(("path", "args", "kwargs", "sparse"), SPARSE, ids=str)
def test_only_rows_of_the_first_axis_give_indexed_slices(
    path: str, args: tuple[Any, ...], kwargs: dict[str, Any], sparse: bool
) -> None:
    for library in (tf, tensorflow):
        x = library.constant(args[0])
        with library.GradientTape() as tape:
            tape.watch(x)
            y = getattr(library, path)(x, *args[1:], **kwargs)
        assert isinstance(tape.gradient(y, x), library.IndexedSlices) is sparse


def test_embedding_lookup_with_a_norm_equals_tensorflow() -> None:
    found = []
    for library in (tf, tensorflow):
        table = library.constant(M)
        with library.GradientTape() as tape:
            tape.watch(table)
            rows = library.nn.embedding_lookup(table, [0, 2], max_norm=1.0)
        slope = library.convert_to_tensor(tape.gradient(rows, table))
        found.append((rows.numpy(), slope.numpy()))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-6)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-5, atol=1e-7)


def test_embedding_lookup_in_several_tables_counts_through_them() -> None:
    tables = [np.ones([2, 2], np.float32), np.full([1, 2], 2.0, np.float32)]
    assert tf.nn.embedding_lookup(tables, [2]).numpy().tolist() == [[2.0, 2.0]]
    with pytest.raises(ValueError, match="Length of params is currently 0"):
        tf.nn.embedding_lookup([], [0])
