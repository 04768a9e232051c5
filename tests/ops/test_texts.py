"""Tensors of strings: what ops that move elements do with them, as in TensorFlow."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from ops.outcomes import assert_same, each

import tapejax

V = 'tf.constant(["a", "b", "a", "cc"])'
M = 'tf.constant([["x", "y"], ["z", "w"]])'


@each(
    f"{V}[1]",
    f"{V}[1:3]",
    f"{V}[::-2]",
    f"{V}[tf.constant(2)]",
    f"{V}[10]",
    f"{M}[:, 0]",
    f"{M}[..., tf.newaxis]",
    f"list({V})",
    f"[row for row in {M}]",
    f"len({V})",
    f"{V} == b'a'",
    f"{V} != 'a'",
    f"'a' == {V}",
    f"{V} == None",
    f"{V} + '!'",
    f"'?' + {V}",
    f"{V} + {V}",
    f"{M} + tf.constant(['1', '2'])",
    f"{V} + {V}[:3]",
    f"{V} + 1.0",
    f"{V} + 1",
    "tf.constant(1.0) + 'a'",
    f"{V} * 2",
    f"-{V}",
    f"{V} < {V}",
    f"{V} - {V}",
)
def test_operators_and_indexing(expression: str) -> None:
    assert_same(expression)


@each(
    f"tf.reshape({V}, [2, -1])",
    f"tf.reshape({V}, [3])",
    f"tf.size({V})",
    f"tf.shape({M})",
    f"tf.rank({M})",
    f"tf.expand_dims({V}, 1)",
    'tf.squeeze([["a"]])',
    f"tf.squeeze({V}, 0)",
    f"tf.transpose({M})",
    f"tf.concat([{V}, ['q']], 0)",
    f"tf.concat([{M}, {M}], 1)",
    f"tf.stack([{V}, {V}], 1)",
    f"tf.stack([{V}, tf.constant([1, 2, 3, 4])])",
    f"tf.unstack({M})",
    f"tf.split({V}, [1, 3])",
    f"tf.gather({V}, [3, 0])",
    f"tf.gather({V}, [9])",
    f"tf.gather({M}, [1], axis=1)",
    f"tf.gather_nd({M}, [[0, 1], [1, 0]])",
    f"tf.boolean_mask({V}, [True, False, True, True])",
    f"tf.where({V} == 'a', 'yes', 'no')",
    f"tf.where({V} == 'a', {V}, 'no')",
    f"tf.tile({V}, [2])",
    f"tf.repeat({V}, [1, 0, 2, 1])",
    f"tf.reverse({V}, [0])",
    f"tf.reverse_sequence({M}, [1, 2], 1)",
    f"tf.roll({V}, 1, 0)",
    f"tf.identity({V})",
    f"tf.stop_gradient({V})",
    "tf.zeros([2], tf.string)",
    f"tf.zeros_like({V})",
    "tf.fill([2], 'k')",
    "tf.ones([2], tf.string)",
    f"tf.pad({V}, [[1, 2]])",
    f"tf.pad({V}, [[1, 0]], constant_values='-')",
    f"tf.unique({V})",
    f"tf.unique_with_counts({V})",
    f"tf.equal({V}, 'cc')",
    f"tf.equal({V}, 1)",
    "tf.broadcast_to('a', [2, 2])",
    f"tf.slice({V}, [1], [2])",
    f"tf.strided_slice({V}, [0], [4], [2])",
    f"tf.tensor_scatter_nd_update({V}, [[0]], ['N'])",
    f"tf.dynamic_partition({V}, [0, 1, 0, 1], 2)",
    'tf.dynamic_stitch([[0], [1]], [["a"], ["b"]])',
    f"tf.ensure_shape({V}, [None])",
    f"tf.convert_to_tensor(['a', {V}[1]])",
    "tf.constant(['a', 'b'], shape=[2, 1])",
    "tf.convert_to_tensor(np.array(['a', 'é']))",
    f"tf.sqrt({V})",
    f"tf.reduce_sum({V})",
    f"tf.reduce_max({V})",
    f"tf.matmul({M}, {M})",
    f"tf.cast({V}, tf.float32)",
    "tf.cast(1.0, tf.string)",
    f"tf.math.is_nan({V})",
    f"tf.one_hot({V}, 2)",
    f"tf.nest.map_structure(lambda x: x + '1', {{'k': {V}}})",
    f"tf.map_fn(lambda s: s + 'x', {V})",
    f"tf.reduce_all({V} == 'a')",
    'tf.math.count_nonzero(tf.constant([["a", ""], ["b", "c"]]), 0)',
)
def test_functions(expression: str) -> None:
    assert_same(expression)


def test_a_variable_of_strings_is_read_and_assigned(tf) -> None:
    v = tf.Variable(["q", "r"], name="v")
    assert v.assign(["s", "t"])[0].numpy() == b"s"
    v[1].assign("new")
    assert v.numpy().tolist() == [b"s", b"new"]
    assert (v + "!").numpy().tolist() == [b"s!", b"new!"]
    assert v.dtype == tf.string
    assert v.shape == [2]


def test_formatting_shows_the_value(tf) -> None:
    x = tf.constant("a") + "b"
    assert f"{x}" == "b'ab'"
    assert str(x) == "tf.Tensor(b'ab', shape=(), dtype=string)"
    assert repr(x) == "<tf.Tensor: shape=(), dtype=string, numpy=b'ab'>"


def test_strings_are_printed_in_quotes(tf, capfd) -> None:
    tf.print(tf.constant(["a", "b"]), tf.constant("c"), "d", output_stream="file:///dev/stdout")
    assert capfd.readouterr().out == '["a" "b"] "c" d\n'


def test_a_target_of_strings_has_no_gradient(tf) -> None:
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.strings.as_string(x)
        z = x * x
    assert tape.gradient(y, x) is None
    assert tape.gradient([y, z], x).numpy() == 4.0


def test_numpy_arrays_are_copies() -> None:
    x = tapejax.constant(["a", "b"])
    array = x.numpy()
    array[0] = b"changed"
    assert x.numpy().tolist() == [b"a", b"b"]
    assert np.asarray(x + "").dtype == object


def test_strings_are_pickled_and_copied() -> None:
    x = tapejax.constant(["a", "b"]) + "!"
    assert pickle.loads(pickle.dumps(x)).numpy().tolist() == [b"a!", b"b!"]
    assert copy.deepcopy(x).numpy().tolist() == [b"a!", b"b!"]


def test_a_chain_of_moves_is_one_program() -> None:
    x = tapejax.constant(["a", "b", "c", "d"])
    y = tapejax.reverse(tapejax.reshape(tapejax.tile(x, [2]), [2, 4]), [1])[0]
    assert y.numpy().tolist() == [b"d", b"c", b"b", b"a"]


def test_what_does_not_take_strings_says_so_and_what_to_write() -> None:
    with pytest.raises(tapejax.errors.InvalidArgumentError, match=r"tf\.strings\.to_number"):
        tapejax.sqrt("1.5")
    with pytest.raises(tapejax.errors.InvalidArgumentError, match="does not take strings"):
        tapejax.matmul([["a"]], [["b"]])
