"""What casts do with values that do not fit."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import tensorflow
from ops.pure import body, gradients, value

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError, UnimplementedError
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import OPS
from tapejax._src.ops import casting

NAN, INF = np.nan, np.inf
CAST = OPS["_cast"].fn
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
HARD = [NAN, INF, -INF, 1e20, -1e20, 300.7, -300.7, -1.5, 3e9, -3e9, 1e10, 1e19]


@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
def test_float_to_integer_gives_what_tensorflow_gives_for_a_scalar(source, dtype) -> None:
    """Its vectorized loops differ from its scalar ones, which are taken one by one here."""
    with np.errstate(over="ignore"):
        x = np.array(HARD).astype(source)
    expected = [tensorflow.cast(tensorflow.constant(v), dtype).numpy() for v in x]
    actual = value(lambda x: CAST(x, np.dtype(dtype)), x, dtype=source)
    assert actual.dtype == dtype
    np.testing.assert_array_equal(actual, np.array(expected))


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "complex64", "bool"])
def test_integers_wrap_around(source, dtype) -> None:
    """The ends of the range of each dtype."""
    info = np.iinfo(source)
    x = np.array([info.min, info.max, 0, 1], source)
    actual = value(lambda x: CAST(x, np.dtype(dtype)), x, dtype=source)
    np.testing.assert_array_equal(actual, tensorflow.cast(x, dtype).numpy())


@pytest.mark.parametrize("dtype", ["float32", "int32", "bool", "complex128"])
def test_complex_numbers_lose_their_imaginary_part(dtype) -> None:
    """Also on the way to truth values."""
    z = np.array([1 + 2j, 1j, -1.7 + 0j], np.complex64)
    actual = value(lambda z: CAST(z, np.dtype(dtype)), z, dtype=z.dtype)
    np.testing.assert_array_equal(actual, tensorflow.cast(z, dtype).numpy())


def test_gradient_of_a_cast_has_the_dtype_of_its_input() -> None:
    """Between floats, and from a complex number to its real part."""
    narrowed = gradients(lambda x: CAST(x, np.dtype("float16")), [1.0, 2.0])[0]
    assert (narrowed.dtype, narrowed.tolist()) == (np.float64, [1.0, 1.0])
    real = gradients(lambda z: CAST(z, np.dtype("float64")), [1 + 2j], dtype=np.complex128)[0]
    assert real.tolist() == [1 + 0j]


def test_cast_to_the_same_dtype_is_the_same_object() -> None:
    """Nothing is recorded."""
    x = as_tensor([1.0, 2.0])
    assert casting.cast(x, "float32") is x
    assert casting.cast([1.5, 2.5], np.int64).numpy().tolist() == [1, 2]


def test_cast_of_slices_casts_their_values() -> None:
    """They stay slices."""
    g = IndexedSlices(as_tensor([[1.5]]), as_tensor([2]), as_tensor([4, 1]))
    cast = casting.cast(g, dtypes.float64)
    assert isinstance(cast, IndexedSlices)
    assert (cast.dtype, cast.indices is g.indices) == (dtypes.float64, True)


def test_casts_of_strings_are_not_implemented() -> None:
    """Neither way."""
    with pytest.raises(UnimplementedError, match="Cast string to float32 is not supported"):
        casting.cast(["1"], dtypes.float32)
    with pytest.raises(UnimplementedError, match="Cast float32 to string is not supported"):
        casting.cast([1.0], dtypes.string)


@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        (np.array([1e10, -1e10, NAN, INF, 2.5], np.float32), "int32"),
        (np.array([300, -5, 7], np.int32), "uint8"),
        (np.array([1e6, INF, -INF, NAN], np.float32), "float16"),
        (np.array([300 + 5j, -1j], np.complex64), "uint8"),
        (np.array([1e300, -1e300], np.float64), "float32"),
        (np.array([1e300 - 1e300j], np.complex128), "complex64"),
        (np.array([70000.0, -1.0], np.float32), "uint16"),
        (np.array([1e30], ml_dtypes.bfloat16), "int32"),
        (np.array([-1e30, INF], np.float32), "float64"),
        (np.array([2**40, -(2**40)], np.int64), "int32"),
        (np.array([-3, 5], np.int8), "uint64"),
        (np.array([3.0], np.float32), "complex64"),
    ],
)
def test_saturate_cast_clips_to_numbers_that_both_dtypes_have(x, dtype) -> None:
    """As in TensorFlow."""
    actual = value(lambda x: body(casting.saturate_cast)(x, np.dtype(dtype)), x, dtype=x.dtype)
    expected = tensorflow.saturate_cast(tensorflow.constant(x), dtype).numpy()
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_saturate_cast_to_64_bits_gives_the_largest_float_that_fits(dtype) -> None:
    """TensorFlow wraps around to the lowest integer."""
    x = np.array([1e30], np.float32)
    actual = value(lambda x: body(casting.saturate_cast)(x, np.dtype(dtype)), x, dtype=x.dtype)
    limit = 2.0**63 if dtype == "int64" else 2.0**64
    assert int(actual[0]) == int(np.nextafter(np.float32(limit), np.float32(0)))


def test_saturate_cast_has_gradient_one_at_its_limits() -> None:
    """And zero beyond."""
    largest = float(np.finfo(np.float16).max)
    x = [largest, -largest, 1e6]
    slope = gradients(lambda x: body(casting.saturate_cast)(x, np.dtype("float16")), x)[0]
    assert slope.tolist() == [1.0, 1.0, 0.0]


def test_saturate_cast_of_booleans_is_a_type_error() -> None:
    """They have no range."""
    with pytest.raises(TypeError, match="booleans"):
        value(lambda x: body(casting.saturate_cast)(x, np.dtype("int8")), [True], dtype=bool)


@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        (np.array([1.0, -2.5], np.float32), "int32"),
        (np.array([1.0, -2.5], np.float32), "uint8"),
        (np.array([1.0], np.float64), "complex64"),
        (np.array([1 + 2j], np.complex64), "float32"),
        (np.array([1 + 2j], np.complex128), "int16"),
        (np.array([[1.0, 2.0]], np.float32), "complex64"),
        (np.array([[0, 0, 128, 63]], np.uint8), "float32"),
        (np.array([-1, 5], np.int8), "uint8"),
        (np.array([1.0], np.float16), "bfloat16"),
    ],
)
def test_bitcast_reads_the_same_bytes(x, dtype) -> None:
    """Same, narrower and wider dtypes, complex ones too."""
    actual = value(lambda x: body(casting.bitcast)(x, _numpy(dtype)), x, dtype=x.dtype)
    expected = tensorflow.bitcast(x, dtype).numpy()
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


def _numpy(dtype: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def test_bitcast_to_a_wider_dtype_needs_whole_elements() -> None:
    """The last axis must make up one."""
    with pytest.raises(InvalidArgumentError, match="Cannot bitcast uint8"):
        value(lambda x: body(casting.bitcast)(x, np.dtype("int32")), [1, 2, 3], dtype=np.uint8)
