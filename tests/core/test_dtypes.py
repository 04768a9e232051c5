"""`tf.DType` and `tf.as_dtype` against TensorFlow's, dtype by dtype."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

from tapejax._src.core import dtypes

NAMES = [dtype.name for dtype in dtypes.ALL]

ATTRIBUTES = (
    "name",
    "as_datatype_enum",
    "is_floating",
    "is_integer",
    "is_complex",
    "is_bool",
    "is_unsigned",
    "is_numeric",
    "is_quantized",
    "is_numpy_compatible",
    "size",
    "as_numpy_dtype",
    "min",
    "max",
    "limits",
    "base_dtype",
    "real_dtype",
)

# Everything that might be meant as a dtype.
MEANINGS: list[Any] = [
    *NAMES,
    *range(-1, 36),
    *(dtype.numpy_dtype for dtype in dtypes.ALL),
    *(dtype.numpy_dtype.type for dtype in dtypes.ALL),
    *("float", "double", "half", "int", "complex", "str", "bool_", "f4", "<f4", "Float32", ""),
    *(float, int, bool, complex, str, bytes, object, list, type(None)),
    *(np.str_, np.bytes_, np.void, np.longdouble, np.longlong, np.intc, np.datetime64),
    *(np.dtype("U3"), np.dtype("S2"), np.dtype(">f4"), np.dtype(">i8"), np.dtype("M8[s]")),
    *(jnp.float32, jnp.bfloat16, jnp.int8, jnp.bool_),
    *(None, 2.0, 2.5, True, [1], (), {}, np.float32(1), np.zeros(2, np.int16)),
    np.dtype([("resource", np.uint8)]),
]


def theirs(name: str) -> Any:
    return tensorflow.as_dtype(name)


@pytest.mark.parametrize("attribute", ATTRIBUTES)
@pytest.mark.parametrize("name", NAMES)
def test_every_attribute_is_tensorflows(name: str, attribute: str, outcome: Any) -> None:
    ours, expected = getattr(dtypes, name if name != "bool" else "bool_"), theirs(name)
    if attribute == "limits" and not ours.is_numpy_compatible:
        with pytest.raises(ValueError, match="does not have defined limits"):  # not a KeyError
            _ = ours.limits
        return
    assert outcome(lambda: getattr(ours, attribute)) == outcome(
        lambda: getattr(expected, attribute)
    )


@pytest.mark.parametrize("name", NAMES)
def test_limits_have_tensorflows_types(name: str) -> None:
    ours, expected = dtypes.as_dtype(name), theirs(name)
    if ours.is_integer or ours.is_floating:
        assert type(ours.max) is type(expected.max)
        assert ours.max == expected.max
        assert ours.min == expected.min


@pytest.mark.parametrize("name", NAMES)
def test_texts_and_hash_are_tensorflows(name: str) -> None:
    ours, expected = dtypes.as_dtype(name), theirs(name)
    assert (repr(ours), str(ours), f"{ours}") == (repr(expected), str(expected), f"{expected}")
    assert (hash(ours), int(ours)) == (hash(expected), int(expected))


@pytest.mark.parametrize("meaning", MEANINGS, ids=repr)
def test_as_dtype_reads_what_tensorflow_reads(meaning: Any, outcome: Any) -> None:
    assert outcome(lambda: dtypes.as_dtype(meaning)) == outcome(
        lambda: tensorflow.as_dtype(meaning)
    )


@pytest.mark.parametrize("name", NAMES)
def test_equality_agrees_with_tensorflow_for_everything(name: str) -> None:
    ours, expected = dtypes.as_dtype(name), theirs(name)
    for meaning in MEANINGS:
        assert (ours == meaning) is bool(expected == meaning), meaning
        assert (ours != meaning) is bool(expected != meaning), meaning


def test_equality_works_from_the_left_side_of_numpy() -> None:
    assert np.dtype("f4") == dtypes.float32
    assert np.float32 == dtypes.float32
    assert "float32" == dtypes.float32  # noqa: SIM300 - the order is the point


@pytest.mark.parametrize("number", [*range(-1, 36), "float32", None])
def test_the_constructor_takes_the_number(number: Any, outcome: Any) -> None:
    assert outcome(lambda: dtypes.DType(number)) == outcome(lambda: tensorflow.DType(number))


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
def test_there_is_one_object_per_dtype(dtype: dtypes.DType) -> None:
    twins = (
        dtypes.DType(dtype.as_datatype_enum),
        dtypes.DType(dtype),
        dtypes.as_dtype(dtype.name),
        copy.copy(dtype),
        copy.deepcopy(dtype),
        pickle.loads(pickle.dumps(dtype)),
        dtype.base_dtype,
    )
    assert all(twin is dtype for twin in twins)


def test_aliases_are_the_same_objects() -> None:
    assert dtypes.half is dtypes.float16
    assert dtypes.double is dtypes.float64
    assert dtypes.as_dtype("float") is dtypes.float32


def test_compatibility_is_equality_and_refuses_what_is_no_dtype(outcome: Any) -> None:
    for other in (*NAMES, None, "abc"):
        ours = outcome(lambda other=other: dtypes.float32.is_compatible_with(other))
        assert ours == outcome(lambda other=other: tensorflow.float32.is_compatible_with(other))


def test_no_dtype_is_part_of_another() -> None:
    assert dtypes.float32.is_subtype_of(dtypes.float32)
    assert not dtypes.float32.is_subtype_of(dtypes.float64)
    assert dtypes.float32.most_specific_common_supertype([dtypes.float32]) is dtypes.float32
    assert dtypes.float32.most_specific_common_supertype([dtypes.float64]) is None


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
def test_numpy_dtypes_lead_back_to_the_dtype(dtype: dtypes.DType) -> None:
    if dtype.is_numpy_compatible:
        assert dtypes.FROM_NUMPY[dtype.numpy_dtype] is dtype


def test_sets_hold_what_their_names_say() -> None:
    assert dtypes.float8_e5m2 in dtypes.FLOATING
    assert dtypes.float8_e5m2 not in dtypes.NUMERIC
    assert {d.name for d in dtypes.COMPLEX} == {"complex64", "complex128"}
    assert {d.name for d in dtypes.DIFFERENTIABLE} == {
        *("bfloat16", "float16", "float32", "float64", "complex64", "complex128"),
    }
    assert len(dtypes.INTEGER) == 12
    assert len(dtypes.QUANTIZED) == 5


def test_kernel_spelling_of_the_three_plain_floats() -> None:
    spelled = [dtypes.OP_NAMES[d] for d in (dtypes.float16, dtypes.float32, dtypes.float64)]
    assert spelled == ["half", "float", "double"]
    assert dtypes.OP_NAMES[dtypes.bfloat16] == "bfloat16"
