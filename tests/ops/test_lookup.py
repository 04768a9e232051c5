# ruff: noqa: E501  each expression is one string
"""`tf.lookup`: tables, as in TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
from ops.outcomes import assert_same, each

import tapejax


def static(tf, keys, values, default, **kwargs):
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, values, **kwargs), default
    )


def mutable(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a", "b"], tf.constant([1, 2], tf.int64))
    return table


def dense(tf):
    table = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, -1, empty_key=-1, deleted_key=-2
    )
    table.insert(tf.constant([1, 2], tf.int64), tf.constant([10, 20], tf.int64))
    return table


def ordered(exported):
    keys, values = (tensor.numpy() for tensor in exported)
    order = np.argsort(keys)
    return keys[order].tolist(), values[order].tolist()


NAMES = {"static": static, "mutable": mutable, "dense": dense, "ordered": ordered}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("tables")
    (path / "voc.txt").write_text("emerson 10\nlake 20\npalmer 30\n")
    (path / "v2.txt").write_text("a\nb\nc\n")
    (path / "v3.txt").write_text("a\t1\nb\tx\n")
    return str(path)


@each(
    "static(tf, ['a', 'b'], [1, 2], -1).lookup(tf.constant(['a', 'z']))",
    "static(tf, ['a', 'b'], [1, 2], -1).size()",
    "static(tf, ['a', 'b'], [1, 2], -1).name",
    "(static(tf, ['a', 'b'], [1, 2], -1).key_dtype, static(tf, ['a', 'b'], [1, 2], -1).value_dtype, static(tf, ['a', 'b'], [1, 2], -1).default_value)",
    "static(tf, ['a', 'b'], [1, 2], -1).lookup(tf.constant(1))",
    "static(tf, ['a', 'a'], [1, 2], -1)",
    "static(tf, ['a', 'a'], [1, 1], -1).size()",
    "static(tf, [1, 2], ['x', 'y'], '?').lookup(tf.constant([2, 5]))",
    "static(tf, tf.constant([1, 2], tf.int64), [1.5, 2.5], 0.0)[tf.constant([1, 9], tf.int64)]",
    "static(tf, [1, 2], [1, 2], -1, key_dtype=tf.int64, value_dtype=tf.int64).lookup(tf.constant([1], tf.int64))",
    "static(tf, [1.5], [1], -1).lookup(1.5)",
    "tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(folder + '/v2.txt', tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1).lookup(tf.constant(['c', 'a', 'z']))",
    "tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(folder + '/voc.txt', tf.string, 0, tf.int64, 1, delimiter=' '), -1).lookup(tf.constant(['palmer', 'q']))",
    "tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(folder + '/voc.txt', tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, tf.string, 0, delimiter=' '), '?').lookup(tf.constant([1, 9], tf.int64))",
    "tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(folder + '/v3.txt', tf.string, 0, tf.int64, 1), -1)",
    "tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(folder + '/nothing', tf.string, 0, tf.int64, 1), -1)",
    "tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(folder + '/v2.txt', tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, vocab_size=2), -1).size()",
    "tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(folder + '/v2.txt', tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER, vocab_size=5), -1).size()",
    "tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(folder + '/v3.txt', tf.string, 0, tf.int64, 5), -1)",
    "(tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER)",
    "tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.constant([0, 1], tf.int64)), 3).lookup(tf.constant(['a', 'b', 'zz', 'q', 'hello']))",
    "tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], tf.constant([0, 1], tf.int64)), 3).size()",
    "tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], [0, 1]), 3)",
    "tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), tf.constant([0, 1], tf.int64)), 2).lookup(tf.constant([5, 7, 100], tf.int64))",
    "tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), tf.constant([0, 1], tf.int64)), 2, lookup_key_dtype=tf.int32).lookup(tf.constant([5, 7], tf.int32))",
    "tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), tf.constant([0, 1], tf.int64)), 2).lookup(tf.constant([5, 7], tf.int32))",
    "mutable(tf).lookup(['a', 'q'])",
    "mutable(tf)['b']",
    "mutable(tf).size()",
    "mutable(tf).insert('a', 1)",
    "mutable(tf).lookup(['a', 'q'], dynamic_default_values=tf.constant([7, 8], tf.int64))",
    "(lambda m: (m.insert('a', [1.0, 2.0]), m.lookup(['a', 'b'])))(tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, [0.0, 0.0]))",
    "tf.lookup.experimental.MutableHashTable(tf.float32, tf.int64, -1)",
    "tf.lookup.experimental.MutableHashTable(tf.int64, tf.string, '?').lookup(tf.constant([1], tf.int64))",
    "tf.lookup.experimental.MutableHashTable(tf.int32, tf.int32, -1).lookup(3)",
    "dense(tf).lookup(tf.constant([1, 3], tf.int64))",
    "dense(tf).size()",
    "dense(tf).insert(tf.constant([-1], tf.int64), tf.constant([1], tf.int64))",
    "dense(tf).lookup(tf.constant([-1], tf.int64))",
    "dense(tf).lookup(tf.constant([-2], tf.int64))",
    "dense(tf)[tf.constant(2, tf.int64)]",
    "tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=0)",
    "ordered(mutable(tf).export())",
    "(lambda m: (m.remove(tf.constant('a')), m.size()))(mutable(tf))",
    "static(tf, ['a', 'b'], [1, 2], -1).lookup(tf.constant('b'))",
    "static(tf, ['a', 'b'], [1, 2], -1)[tf.constant(['b'])]",
    "(lambda m: (m.erase(tf.constant([1], tf.int64)), m.size()))(dense(tf))",
    "ordered(static(tf, ['a', 'b'], [1, 2], -1).export())",
)
def test_tables(expression: str, folder: str) -> None:
    assert_same(expression, {**NAMES, "folder": folder})


def test_python_values_are_keys_too() -> None:
    table = static(tapejax, ["a", "b"], [1, 2], -1)
    assert table["b"].numpy() == 2
    assert table.lookup(["a", "z"]).numpy().tolist() == [1, -1]


def test_an_exported_dense_table_has_no_empty_places() -> None:
    assert ordered(dense(tapejax).export()) == ([1, 2], [10, 20])


def test_a_line_does_not_count_as_a_number() -> None:
    with pytest.raises(ValueError, match="WHOLE_LINE"):
        tapejax.lookup.TextFileInitializer("file", tapejax.int32, -2, tapejax.int64, -1)
    with pytest.raises(ValueError, match="LINE_NUMBER"):
        tapejax.lookup.TextFileInitializer("file", tapejax.string, -2, tapejax.int32, -1)


def test_a_large_table_of_integers_is_searched() -> None:
    keys = np.random.default_rng(0).permutation(10_000)
    table = static(tapejax, keys, keys * 2, -1)
    found = table.lookup(tapejax.constant([0, 9_999, 10_000, -5, 123], tapejax.int64))
    assert found.numpy().tolist() == [0, 19_998, -1, -1, 246]


def test_an_empty_table_gives_the_default() -> None:
    table = static(tapejax, tapejax.constant([], tapejax.int32), tapejax.constant([], "int32"), 7)
    assert table.lookup(tapejax.constant([1, 2])).numpy().tolist() == [7, 7]
