"""`tf.TensorShape` against TensorFlow's: one expression, both libraries."""

from __future__ import annotations

import copy
import pickle
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

from tapejax._src.core.dimension import Dimension
from tapejax._src.core.shapes import TensorShape, as_shape, unknown_shape

OURS = SimpleNamespace(T=TensorShape, D=Dimension, np=np)
THEIRS = SimpleNamespace(T=tensorflow.TensorShape, D=tensorflow.compat.v1.Dimension, np=np)

EXPRESSIONS = """
T([2, None]); T(None); T(5); T(()); T((1, 2)); T(range(3)); T({3}); T({1: 2}); T(b'ab')
T(T([1])); T(T(None)); T(np.array([1, 2])); T(np.int64(3)); T([np.int32(3)]); T(np.array(3))
T([np.array(2)]); T(D(3)); T([D(3), D(None)]); T('ab'); T('a'); T(5.0); T(-1); T([-1, 2])
T([2.5]); T([2.0]); T([2, 'a']); T([[1, 2]]); T([[T([1])]])
str(T([2, None])); str(T(None)); str(T([])); str(T([3])); repr(T([3])); repr(T([None, 2]))
T(None).rank; T(None).ndims; T(None).dims; T([1]).rank; T([1, None]).dims; T([]).dims
len(T(None)); len(T([1])); bool(T(None)); bool(T([])); list(T(None)); list(T([1, None]))
T([1, None]).as_list(); T(None).as_list()
T(None)[0]; T(None)[1:]; T(None)[:]; T(None)[:2]; T(None)[1:3]; T(None)[-1:]; T(None)[:-1]
T(None)[1:-1]; T(None)[::2]; T(None)[3:1]
T([1, 2, 3])[1]; T([1, 2, 3])[-1]; T([1, 2, 3])[5]; T([1, 2, 3])[1:]; T([1, 2, 3])[::-1]
T([1, 2, 3])['a']; T([1, 2, 3])[np.int64(1)]; T([1, 2, 3])[None]
T([1]) + [2]; T([1]) + T(None); T([1]) + 2; 2 + T([1]); (3,) + T([1]); [3] + T([1])
T([1]) + (2, None); T([1]) + None; T([1]) + 'a'; T([1]) * 2; [1] + T(None)
T([1]).concatenate(2); T([1]).concatenate(None); T(None).concatenate([2])
T([1, None]).merge_with([None, 2]); T([1]).merge_with(None); T(None).merge_with([3])
T([1]).merge_with([1, 2]); T([2]).merge_with([3]); T([2]).merge_with('a')
T([1, None]).is_compatible_with([1, 2]); T([1]).is_compatible_with(None)
T([1]).is_compatible_with([2]); T([1]).is_compatible_with([1, 2])
T([1]).assert_is_compatible_with([2]); T([1]).assert_is_compatible_with(None)
T([1]).assert_same_rank([2]); T([1]).assert_same_rank([2, 3]); T([1]).assert_same_rank(None)
T(None).assert_has_rank(2); T([1]).assert_has_rank(2); T([1, 2]).assert_has_rank(2)
T([1]).assert_is_fully_defined(); T([None]).assert_is_fully_defined()
T(None).assert_is_fully_defined()
T([1]).with_rank(1); T([1]).with_rank(2); T(None).with_rank(2); T([1]).with_rank_at_least(2)
T([1, 2]).with_rank_at_most(1); T(None).with_rank_at_least(2); T(None).with_rank_at_most(2)
T([1, 2]).with_rank_at_least(2); T([1, 2]).with_rank_at_most(2)
T([1, 2]).most_specific_compatible_shape([1, 3])
T([1, 2]).most_specific_compatible_shape([1]); T([1]).most_specific_compatible_shape(None)
T([1, None]).most_specific_compatible_shape([1, None])
T(None).most_specific_compatible_shape([1])
T([1, 2]).is_subtype_of(T([1, None])); T([1, 2]).is_subtype_of(T(None))
T([1, None]).is_subtype_of(T([1, 2])); T([1]).is_subtype_of(T([1, 2]))
T([1]).is_subtype_of([1]); T(None).is_subtype_of(T([1])); T(None).is_subtype_of(T(None))
T([1, 2]).most_specific_common_supertype([T([1, 3])])
T([1, 2]).most_specific_common_supertype([T([1])])
T([1, 2]).most_specific_common_supertype([[1]])
T([1]).most_specific_common_supertype([T([1]), T([None])])
T([1, 2]).num_elements(); T([]).num_elements(); T([None, 0]).num_elements()
T(None).num_elements(); T([0, 3]).num_elements()
T([1]).is_fully_defined(); T([None]).is_fully_defined(); T(None).is_fully_defined()
T([1]) == T([1]); T([1]) == [1]; T([1]) == (1,); T([None]) == T([None]); T([None]) == [None]
T([1]) == [None]; T(None) == None; T(None) == T(None); T([1]) == 5; T([1]) == 1; T([1]) == 'a'
T([1]) != 'a'; T([1]) != [1]; T([None]) != [None]; T(None) == T([1]); T(None) != T([1])
T([1]) == None; T([1]) != None; T(None) != None; T([]) == []; T([1]) == np.array([1])
T([1, 2]) == [T([1])]; (1,) == T([1]); [1] == T([1]); T([1]) == object(); T([1]) == 1.5
hash(T([1, 2])) == hash((1, 2)); hash(T([None, 2])) == hash((None, 2)); {T([1]): 1}[(1,)]
{(1,): 1}[T([1])]; hash(T(None)) == hash(T(None))
tuple(T([1, None])); np.zeros(T([1, 2])).shape; np.prod(T([2, 3])); np.array(T([2, 3]))
np.asarray(T([2, None])); 2 in T([1, 2]); list(reversed(T([1, 2])))
np.reshape(np.arange(6), T([2, 3])).shape; T([1, 2]).missing
D(3) == 3; D(3) == D(3); D(3) != 4; D(3).value; int(D(3)); D(None); str(D(None)); str(D(3))
D(3) + 2; 2 + D(3); D(3) - 1; 5 - D(3); D(3) * 2; 2 * D(3); D(3) // 2; 7 // D(3); D(3) % 2
7 % D(3); D(3) * None; D(None) == None; D(None) == 3; D(3) < 4; D(3) <= 3; D(3) > 4; D(3) >= 3
D(None) < 3; range(D(3)); D(-1); D('a'); D(2.5); D(D(3)); D(3).merge_with(None)
D(3).merge_with(4); D(3).is_compatible_with(None); D(3).is_compatible_with(4)
""".replace("\n", ";").split(";")


@pytest.mark.parametrize("expression", [text.strip() for text in EXPRESSIONS if text.strip()])
def test_an_expression_gives_what_tensorflow_gives(expression: str, outcome: Any) -> None:
    ours = outcome(lambda: eval(expression, vars(OURS)))
    assert ours == outcome(lambda: eval(expression, vars(THEIRS)))


def test_items_cannot_be_assigned() -> None:
    with pytest.raises(TypeError, match="'TensorShape' object does not support item assignment"):
        TensorShape([1])[0] = 2  # pyright: ignore[reportIndexIssue]


def test_dimensions_cannot_be_hashed() -> None:
    with pytest.raises(TypeError, match="unhashable type: 'Dimension'"):
        hash(Dimension(3))


def test_known_shapes_are_shared() -> None:
    assert TensorShape.of((2, 3)) is TensorShape.of((2, 3))
    assert TensorShape.of((2, 3)) == [2, 3]
    assert TensorShape.of(()).rank == 0


def test_shapes_that_never_repeat_do_not_pile_up() -> None:
    first = TensorShape.of((7, 1))
    for size in range(9000):
        TensorShape.of((size, 8))
    assert TensorShape.of((7, 1)) == first


def test_jax_takes_a_shape() -> None:
    assert jnp.zeros(TensorShape([2, 3])).shape == (2, 3)
    assert jnp.reshape(jnp.arange(6), TensorShape([3, 2])).shape == (3, 2)


@pytest.mark.parametrize("dims", [None, [], [2, None], [2, 3]], ids=repr)
def test_copies_are_equal(dims: Any) -> None:
    shape = TensorShape(dims)
    assert copy.copy(shape) is copy.deepcopy(shape) is shape
    assert pickle.loads(pickle.dumps(shape)) == shape


def test_as_shape_keeps_shapes() -> None:
    shape = TensorShape([1])
    assert as_shape(shape) is shape
    assert as_shape([1]) == shape
    assert unknown_shape().rank is None
    assert unknown_shape(2).as_list() == [None, None]
