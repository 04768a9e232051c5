"""Embeddings of sparse and ragged ids."""

from __future__ import annotations

import numpy as np
import pytest

TABLE = np.arange(1.0, 13.0, dtype=np.float32).reshape(6, 2)
PLACES = [[0, 0], [0, 1], [2, 0], [3, 0]]
WEIGHTS = [2.0, 0.5, 1.0, 3.0]


def _ids(tf, values=(1, 3, 0, 5)):
    return tf.SparseTensor(PLACES, tf.constant(values, tf.int64), [5, 2])


def _expected(weights, combiner, rows):
    out = np.zeros((rows, 2), np.float32)
    for row in range(rows):
        own = [n for n, place in enumerate(PLACES) if place[0] == row]
        if not own:
            continue
        w = np.array([weights[n] for n in own])
        total = (TABLE[[(1, 3, 0, 5)[n] for n in own]] * w[:, None]).sum(0)
        scale = {"sum": 1.0, "mean": w.sum(), "sqrtn": np.sqrt((w**2).sum())}[combiner]
        out[row] = total / scale
    return out


@pytest.mark.parametrize("combiner", ["mean", "sqrtn", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_are_combined(tf, combiner, weighted):
    weights = tf.SparseTensor(PLACES, WEIGHTS, [5, 2]) if weighted else None
    expected = WEIGHTS if weighted else [1.0] * 4
    found = tf.nn.embedding_lookup_sparse(TABLE, _ids(tf), weights, combiner)
    np.testing.assert_allclose(found.numpy(), _expected(expected, combiner, 4), rtol=1e-6)
    safe = tf.nn.safe_embedding_lookup_sparse(TABLE, _ids(tf), weights, combiner)
    np.testing.assert_allclose(safe.numpy(), _expected(expected, combiner, 5), rtol=1e-6)


def test_empty_rows_have_the_default_and_invalid_ids_are_left_out(tf):
    found = tf.nn.safe_embedding_lookup_sparse(
        TABLE, _ids(tf, (1, -3, 0, 5)), combiner="sum", default_id=2
    )
    np.testing.assert_array_equal(found, TABLE[[1, 2, 0, 5, 2]])
    weights = tf.SparseTensor(PLACES, [2.0, 0.5, -1.0, 0.0], [5, 2])
    found = tf.nn.safe_embedding_lookup_sparse(TABLE, _ids(tf), weights)
    assert found.numpy()[2:].tolist() == [[0.0, 0.0]] * 3


def test_the_table_gets_slices_as_gradient(tf):
    table = tf.Variable(TABLE)
    weights = tf.SparseTensor(PLACES, WEIGHTS, [5, 2])
    with tf.GradientTape() as tape:
        found = tf.nn.embedding_lookup_sparse(table, _ids(tf), weights, "mean")
    gradient = tape.gradient(found, table)
    assert isinstance(gradient, tf.IndexedSlices)
    assert gradient.indices.numpy().tolist() == [1, 3, 0, 5]
    np.testing.assert_allclose(gradient.values.numpy()[:, 0], [0.8, 0.2, 1.0, 1.0], rtol=1e-6)


def test_ragged_ids_deeper_ids_and_long_embeddings(tf):
    ragged = tf.ragged.constant([[1, 2], [3]])
    found = tf.nn.embedding_lookup_sparse(TABLE, ragged, None, "sum")
    np.testing.assert_array_equal(found, [TABLE[1] + TABLE[2], TABLE[3]])
    places = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]]
    deep = tf.SparseTensor(places, tf.constant([1, 3, 0, 5], tf.int64), [2, 2, 2])
    found = tf.nn.safe_embedding_lookup_sparse(TABLE, deep, combiner="sum")
    np.testing.assert_array_equal(found, [TABLE[[1, 3]], [TABLE[0] + TABLE[5], [0, 0]]])
    short = tf.nn.embedding_lookup_sparse(TABLE, _ids(tf), None, "sum", max_norm=1.0).numpy()
    np.testing.assert_allclose(short[3], TABLE[5] / np.linalg.norm(TABLE[5]), rtol=1e-6)


def test_what_does_not_fit_is_refused(tf):
    with pytest.raises(ValueError, match="combiner must be one of"):
        tf.nn.embedding_lookup_sparse(TABLE, _ids(tf), None, "max")
    with pytest.raises(TypeError, match="sp_ids must be SparseTensor"):
        tf.nn.embedding_lookup_sparse(TABLE, [1, 2], None)
    weights = tf.SparseTensor(PLACES[:3], WEIGHTS[:3], [5, 2])
    with pytest.raises(ValueError, match=r"\(4,\) and \(3,\) are incompatible"):
        tf.nn.embedding_lookup_sparse(TABLE, _ids(tf), weights, "sum")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] ==? -3"):
        tf.nn.embedding_lookup_sparse(TABLE, _ids(tf, (1, -3, 0, 5)), None, "sum").numpy()
