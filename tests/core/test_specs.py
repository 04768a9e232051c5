"""`tf.TensorSpec` and `tf.IndexedSlicesSpec` against TensorFlow's."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow

from tapejax._src.core import dtypes, specs
from tapejax._src.core.shapes import TensorShape


class Tensor:
    """Stands for the class of tensors."""

    def __init__(self, shape: Any, dtype: Any) -> None:
        self.shape, self.dtype = TensorShape(shape), dtype


OURS = SimpleNamespace(
    S=specs.TensorSpec,
    I=specs.IndexedSlicesSpec,
    T=TensorShape,
    f32=dtypes.float32,
    i32=dtypes.int32,
    np=np,
    tensor=lambda shape, name: Tensor(shape, dtypes.as_dtype(name)),
)
THEIRS = SimpleNamespace(
    S=tensorflow.TensorSpec,
    I=tensorflow.IndexedSlicesSpec,
    T=tensorflow.TensorShape,
    f32=tensorflow.float32,
    i32=tensorflow.int32,
    np=np,
    tensor=tensorflow.zeros,
)

EXPRESSIONS = """
S([1]); S([1, None], i32, 'a'); S(None); S([]); S(3); S([1], 'int32'); S([1], int); S(shape=[1])
S('a'); str(S([1])); S([1]).name; S([1]).dtype; S([1]).shape; S([1], None); S([1], np.float64)
S([1]) == S([1]); S([1], name='a') == S([1]); S([1]) == S([1], i32); S([1]) == 1; S([1]) != S([1])
S([1]) == S([None]); S([1]) == I([1]); hash(S([1], name='a')) == hash(S([1])); S([1]).missing
S([1, None]).is_compatible_with(S([1, 2])); S([1]).is_compatible_with(S([None]))
S([1]).is_compatible_with(tensor([1], 'float32')); S([1]).is_compatible_with(tensor([1], 'int32'))
S([1]).is_compatible_with(tensor([2], 'float32')); S([1]).is_compatible_with(np.zeros(1, 'f4'))
S([1]).is_compatible_with([1.0]); S([1]).is_compatible_with(None)
S(None).is_compatible_with(S([3]))
S([1, 2]).is_subtype_of(S([1, None])); S([1, None]).is_subtype_of(S([1, 2]))
S([1]).is_subtype_of(S([1], i32)); S([1]).is_subtype_of(1); S([1], name='a').is_subtype_of(S([1]))
S([1]).is_subtype_of(S([1], name='a')); S([1], name='a').is_subtype_of(S([1], name='b'))
S([1], name='a').is_subtype_of(S([None], name='a'))
S([1, 2]).most_specific_compatible_type(S([1, 3]))
S([1]).most_specific_compatible_type(S([1], i32)); S([1]).most_specific_compatible_type(1)
S([1], name='a').most_specific_compatible_type(S([2], name='a'))
S([1], name='a').most_specific_compatible_type(S([1], name='b'))
S([1, 2]).most_specific_common_supertype([S([1, 3]), S([2, 2])])
S([1]).most_specific_common_supertype([S([1], i32)]); S([1]).most_specific_common_supertype([1])
S([1], name='a').most_specific_common_supertype([S([1], name='b')])
S([1], name='a').most_specific_common_supertype([S([1])])
S([1]).most_specific_common_supertype([S([1], name='a')]); S([1]).most_specific_common_supertype([])
S.from_tensor(tensor([1], 'float32')); S.from_tensor(tensor([], 'int32'), 'n')
S.from_tensor(1.0); S.from_tensor(np.array([1.0]))
S.from_spec(S([1], name='a')); S.from_spec(S([1], name='a'), name='b'); S.from_spec(1)
I(); I([None, 2], f32, i32); I([2], f32, i32, i32, [1]); I([2]) == I([2]); I([2]) == I([3])
hash(I([2])) == hash(I([2])); I([2]) == S([2]); I([2]).is_compatible_with(I([2]))
""".replace("\n", ";").split(";")


@pytest.fixture(autouse=True)
def _stand_in_for_tensors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(specs.TypeSpec, "_value_types", {})
    specs.TensorSpec.register_value_type(Tensor)
    logger = logging.getLogger("tensorflow")
    before = logger.level
    logger.setLevel(logging.ERROR)  # one method of TensorFlow's is deprecated
    yield
    logger.setLevel(before)


@pytest.mark.parametrize("expression", [text.strip() for text in EXPRESSIONS if text.strip()])
def test_an_expression_gives_what_tensorflow_gives(expression: str, outcome: Any) -> None:
    ours = outcome(lambda: eval(expression, vars(OURS)))
    assert ours == outcome(lambda: eval(expression, vars(THEIRS)))


def test_the_shape_is_required() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'shape'"):
        specs.TensorSpec()  # pyright: ignore[reportCallIssue]


def test_attributes_are_read_only() -> None:
    with pytest.raises(AttributeError):
        specs.TensorSpec([1]).shape = 3  # pyright: ignore[reportAttributeAccessIssue]


def test_the_base_class_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        specs.TypeSpec()


def test_the_class_of_values_is_the_registered_one() -> None:
    assert specs.TensorSpec([1]).value_type is Tensor
    assert specs.IndexedSlicesSpec().value_type is object


@pytest.mark.parametrize(
    "spec",
    [specs.TensorSpec([1, None], dtypes.int32, "a"), specs.IndexedSlicesSpec([2, 3])],
    ids=repr,
)
def test_specs_survive_pickling(spec: specs.TypeSpec) -> None:
    twin = pickle.loads(pickle.dumps(spec))
    assert twin == spec
    assert hash(twin) == hash(spec)
