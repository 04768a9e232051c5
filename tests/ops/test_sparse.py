"""Sparse tensors, `tf.sparse` and `tf.sets`."""

from __future__ import annotations

import pickle
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from parity.expressions import assert_agrees, assert_same_text

import tapejax


def names(tf: ModuleType) -> dict[str, Any]:
    """What the expressions may use."""
    make = tf.SparseTensor
    return {
        "S": make,
        "sp": tf.sparse,
        "a": make([[0, 0], [1, 2]], [1.0, 2.0], [2, 3]),
        "b": make([[0, 0], [0, 1]], [3.0, 4.0], [2, 3]),
        "e": make(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [2, 3]),
        "un": make([[1, 2], [0, 0]], [2.0, 1.0], [2, 3]),
        "i3": make([[0, 0, 1], [1, 2, 0]], [1, 2], [2, 3, 2]),
        "d": tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    }


SPARSE_TENSORS = (
    "a",
    "str(a)",
    "a.shape",
    "a.get_shape()",
    "a.indices",
    "a.dense_shape",
    "a.with_values([5.,6.])",
    "a.with_values([5.])",
    "a.consumers()",
    "S([0,1],[1.],[2])",
    "S([[0,1]],[1.],[2])",
    "S([[0,1]],[1.,2.],[2,2])",
    "S([[0,5]],[1.],[2,2])",
    "a*d",
    "d*a",
    "a*2.",
    "a*[10.,20,30]",
    "a/d",
    "a/2.",
    "a+a",
    "a*a",
    "-a",
    "a==a",
    "a==None",
    "bool(a)",
    "len(a)",
    "a[0]",
    "np.array(a)",
    "tf.convert_to_tensor(a)",
    "tf.constant(a)",
    "tf.is_tensor(a)",
    "tf.Variable(a)",
    "tf.abs(a)",
    "tf.cast(a,tf.int32)",
    "tf.exp(a)",
    "tf.add(a,a)",
    "tf.shape(a)",
    "tf.size(a)",
    "tf.rank(a)",
    "tf.reduce_sum(a)",
    "tf.zeros_like(a)",
    "tf.square(a)",
    "tf.nn.relu(a)",
    "tf.math.negative(a)",
    "tf.identity(a)",
    "tf.stop_gradient(a)",
    "tf.multiply(a,d)",
    "tf.transpose(a)",
    "tf.matmul(a,d,transpose_b=True)",
    "tf.reshape(a,[-1])",
    "tf.concat([a,a],0)",
    "tf.expand_dims(a,0)",
    "tf.nest.flatten(a)",
    "tf.nest.flatten(a,expand_composites=True)",
    "tf.SparseTensorSpec([None,3],tf.float32)",
    "tf.SparseTensorSpec()",
    "tf.SparseTensorSpec.from_value(a)",
    "tf.SparseTensorSpec([None,3]).is_compatible_with(a)",
    "tf.function(lambda x: sp.to_dense(x)*2)(a)",
    "tf.function(lambda x: x)(a)",
    "tf.RaggedTensor.from_sparse(a)",
    "tf.RaggedTensor.from_sparse(b)",
    "tf.RaggedTensor.from_sparse(i3)",
    "tf.RaggedTensor.from_sparse(b).shape",
)

SPARSE_FUNCTIONS = (
    "sp.to_dense(S([[0,5]],[1.],[2,2]))",
    "sp.to_dense(a)",
    "sp.to_dense(un)",
    "sp.to_dense(un,validate_indices=False)",
    "sp.to_dense(a,-1.)",
    "sp.to_dense(S([[0],[0]],[1,2],[3]))",
    "sp.to_dense(S([[0],[0]],[1,2],[3]),validate_indices=False)",
    "sp.to_dense(e)",
    'sp.to_dense(S([[0]],["a"],[2]))',
    "sp.from_dense(d)",
    "sp.from_dense([[1,0],[0,2]])",
    'sp.from_dense([["a",""],["","b"]])',
    "sp.from_dense(3.)",
    "sp.from_dense([0.,1.])",
    "sp.add(a,b)",
    "sp.add(a,d)",
    "sp.add(d,a)",
    "sp.add(d,d)",
    "sp.add(a,a.with_values([-1.,2.]),0.5)",
    "sp.add(a,S([[0,0]],[1.],[3,3]))",
    "sp.add(a,a.with_values([-1.,2.]))",
    "sp.add(a,i3)",
    "sp.add(a, [[1.,1,1]])",
    "sp.concat(0,[a,b])",
    "sp.concat(1,[a,b])",
    "sp.concat(-1,[a,b])",
    "sp.concat(0,[a,S([[0,0]],[1.],[1,4])])",
    "sp.concat(0,[a,S([[0,0]],[1.],[1,4])],expand_nonconcat_dims=True)",
    "sp.concat(0,[un,b])",
    "sp.concat(0,[a])",
    "sp.concat(1,[])",
    "sp.sparse_dense_matmul(a,tf.transpose(d))",
    "sp.sparse_dense_matmul(a,d)",
    "sp.sparse_dense_matmul(a,d,adjoint_a=True)",
    "sp.sparse_dense_matmul(a,d,adjoint_b=True)",
    "sp.sparse_dense_matmul(d,S([[0,0],[2,1]],[1.,2.],[3,2]))",
    "sp.sparse_dense_matmul(a,[1.,2,3])",
    "sp.sparse_dense_matmul(un,tf.transpose(d))",
    "sp.reduce_sum(a)",
    "sp.reduce_sum(a,0)",
    "sp.reduce_sum(a,1,keepdims=True)",
    "sp.reduce_sum(a,[0,1])",
    "sp.reduce_sum(a,-1)",
    "sp.reduce_sum(a,0,output_is_sparse=True)",
    "sp.reduce_sum(a,1,keepdims=True,output_is_sparse=True)",
    "sp.reduce_sum(a,5)",
    "sp.reduce_max(a)",
    "sp.reduce_max(a,0)",
    "sp.reduce_max(a,1)",
    "sp.reduce_max(S([[0,0]],[-1.],[2,2]),1)",
    "sp.reduce_max(a,0,output_is_sparse=True)",
    "sp.reduce_max(e,0)",
    "sp.reduce_sum(e)",
    "sp.reduce_max(e)",
    "sp.reorder(un)",
    "sp.reorder(a)",
    "sp.reshape(a,[3,2])",
    "sp.reshape(a,[-1])",
    "sp.reshape(a,[6,-1])",
    "sp.reshape(a,[4])",
    "sp.reshape(a,[-1,-1])",
    "sp.slice(a,[0,0],[1,2])",
    "sp.slice(a,[1,1],[5,5])",
    "sp.slice(a,[0],[1])",
    "sp.split(sp_input=a,num_split=2,axis=1)",
    "sp.split(a,2,0)",
    "sp.split(a,3,1)",
    "sp.split(a,2,5)",
    "sp.split(a,4,1)",
    "sp.softmax(a)",
    "sp.softmax(b)",
    "sp.softmax(S([[0]],[1.],[2]))",
    "sp.softmax(i3)",
    "sp.transpose(a)",
    "sp.transpose(i3,[2,0,1])",
    "sp.transpose(a,[0])",
    "sp.transpose(un)",
    "sp.retain(a,[True,False])",
    "sp.retain(a,[True])",
    "sp.mask(S([[0],[5]],[[1.],[2.]],[9]),[0])",
    "sp.mask(tf.IndexedSlices(tf.constant([[1.],[2.]]),tf.constant([0,5])),[0])",
    "sp.maximum(a,b)",
    "sp.minimum(a,b)",
    "sp.maximum(a,S([[0,0]],[1.],[3,3]))",
    "sp.maximum(a,S([[0,0]],[1],[2,3]))",
    "sp.fill_empty_rows(S([[0,1],[3,0]],[1.,2.],[5,3]),9.)",
    "sp.fill_empty_rows(un,0.)",
    "sp.fill_empty_rows(e,0.)",
    "sp.fill_empty_rows(a,0)",
    "sp.expand_dims(a)",
    "sp.expand_dims(a,0)",
    "sp.expand_dims(a,1)",
    "sp.expand_dims(a,-2)",
    "sp.expand_dims(a,5)",
    "sp.eye(3)",
    "sp.eye(2,4)",
    "sp.eye(4,2,tf.int32)",
    "sp.map_values(tf.add,a,5.)",
    "sp.map_values(tf.add,a,a)",
    "sp.map_values(tf.add,a,b)",
    "sp.map_values(tf.reduce_sum,a)",
    "sp.map_values(tf.add,1,2)",
    "sp.map_values(tf.ones_like,a)",
    "sp.segment_sum(d,[0,1,0],[0,0,1])",
    "sp.segment_mean(d,[0,1,0],[0,0,1])",
    "sp.segment_sqrt_n(d,[0,1,0],[0,0,1])",
    "sp.segment_sum(d,[0,1],[0,2],num_segments=4)",
    "sp.segment_sum(d,[0,1],[1,0])",
    "sp.segment_sum(d,[0,5],[0,1])",
    "sp.segment_mean(d,[0,1],[0,2])",
    "sp.segment_sum(d,[0],[0,1])",
    "sp.segment_sum(tf.cast(d,tf.int32),[0,1],[0,0])",
    "sp.segment_mean(tf.cast(d,tf.int32),[0,1],[0,0])",
    "sp.segment_sum(d,[0,1],[0,2],num_segments=2)",
    "sp.segment_sum(d,[],[])",
    "sp.to_indicator(S([[0,0],[0,1],[1,0]],[0,2,1],[2,3]),4)",
    "sp.to_indicator(a,4)",
    "sp.bincount([1,1,2])",
    "sp.bincount([[1,1],[2,0]],axis=-1)",
    "sp.bincount([[1,1],[2,0]],axis=0)",
    "sp.bincount([[1,1],[2,0]],axis=-1,binary_output=True)",
    "sp.bincount([[1,1],[2,0]],weights=[[.5,.5],[1.,2.]],axis=-1)",
    "sp.bincount([1,5],minlength=3,maxlength=4)",
    "sp.bincount(S([[0,0],[1,1]],[3,4],[2,2]),axis=-1)",
    "sp.bincount(tf.ragged.constant([[1,1],[2]]),axis=-1)",
    "sp.bincount([1,5],minlength=10)",
    'sp.cross([[["a"],["b"]],[["c"],["d"]]])',
    'sp.cross([sp.from_dense([["a","b"]]),sp.from_dense([["c"]])])',
    'sp.cross([sp.from_dense([["a","b"]]),sp.from_dense([["c"]])],separator="-")',
    'sp.cross_hashed([sp.from_dense([["a","b"]]),sp.from_dense([["c"]])],num_buckets=100)',
    'sp.cross_hashed([sp.from_dense([["a","b"]]),sp.from_dense([["c"]])])',
    'sp.cross_hashed([sp.from_dense([["a"]]),sp.from_dense([[7]])],num_buckets=1000,hash_key=5)',
    'sp.cross([sp.from_dense([[1,2]]),sp.from_dense([["c"]])])',
    "sp.reset_shape(S([[0,1]],[1.],[4,5]))",
    "sp.reset_shape(a,[5,5])",
    "sp.reset_shape(a,[1,1])",
    "sp.reset_shape(a,[5])",
    "sp.SparseTensor is tf.SparseTensor",
)

SETS = (
    "tf.sets.size(tf.constant([[1,2,2],[3,3,3]]))",
    "tf.sets.size(sp.from_dense([[1,2,2],[3,3,0]]))",
    "tf.sets.intersection([[1,2,3]],[[2,3,4]])",
    "tf.sets.union([[1,2,3],[1,1,1]],[[2,3,4],[1,1,1]])",
    "tf.sets.difference([[1,2,3]],[[2,3,4]])",
    "tf.sets.difference([[1,2,3]],[[2,3,4]],aminusb=False)",
    "tf.sets.difference(sp.from_dense([[1,2,3]]),[[2,3,4]])",
    "tf.sets.difference([[1,2,3]],sp.from_dense([[2,3,4]]))",
    "tf.sets.union([1],[2])",
    "tf.sets.union([[1]],[[2.]])",
    "tf.sets.union([[1],[2]],[[2]])",
    'tf.sets.union([["a"]],[["b"]])',
    "tf.sets.union([[1.]],[[2.]])",
    "tf.sets.intersection(sp.from_dense([[1,2],[3,4]]),sp.from_dense([[2,2],[4,9]]))",
    "tf.sets.union([[[1,2],[3,4]]],[[[2,2],[5,6]]])",
    "tf.sets.size([1])",
    "tf.sets.size([[1.5]])",
)


@pytest.mark.parametrize("expression", SPARSE_TENSORS)
def test_sparse_tensors_agree_with_tensorflow(expression: str) -> None:
    assert_agrees(expression, names)


@pytest.mark.parametrize("expression", SPARSE_FUNCTIONS)
def test_sparse_functions_agree_with_tensorflow(expression: str) -> None:
    assert_agrees(expression, names)


@pytest.mark.parametrize("expression", SETS)
def test_sets_agree_with_tensorflow(expression: str) -> None:
    assert_agrees(expression, names)


@pytest.mark.parametrize("expression", ["a", "e", "i3", "a * 2.0", "sp.from_dense([['a', '']])"])
def test_sparse_tensors_are_printed_as_by_tensorflow(expression: str) -> None:
    assert_same_text(expression, names)


HASHED = (
    "sp.cross_hashed([sp.from_dense([['a', 'b']]), sp.from_dense([['c']])])",
    "sp.cross_hashed([sp.from_dense([['a']]), sp.from_dense([[7]])], 1000, hash_key=5)",
    "tf.ragged.cross_hashed([tf.ragged.constant([['a'], []]), tf.constant([[1], [2]])], 10)",
)


@pytest.mark.parametrize("expression", HASHED)
def test_crossed_features_have_the_hashes_of_tensorflow(expression: str) -> None:
    assert_agrees(expression, names)


def test_a_pickled_composite_tensor_is_the_same() -> None:
    x = tapejax.SparseTensor([[0, 1]], [2.0], [1, 3])
    assert repr(pickle.loads(pickle.dumps(x))) == repr(x)
    ragged = tapejax.ragged.constant([["a"], []])
    assert pickle.loads(pickle.dumps(ragged)).to_list() == [[b"a"], []]
