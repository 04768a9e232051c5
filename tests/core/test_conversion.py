"""Conversion of Python and NumPy values against `tf.constant`, value by value."""

from __future__ import annotations

import collections
import decimal
import enum
import fractions
import warnings
from collections.abc import Iterable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

from tapejax._src.core import dtypes
from tapejax._src.core.conversion import convert_for_partner, scalar_fits, to_numpy
from tapejax._src.core.shapes import TensorShape


class Level(enum.IntEnum):
    """Integers with names."""

    LOW = 3


class Arrayed:
    """Gives an array when NumPy asks."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array([1.0, 2.0], dtype)


NAMES: dict[str, Any] = {
    "np": np,
    "collections": collections,
    "Fraction": fractions.Fraction,
    "Decimal": decimal.Decimal,
    "Level": Level,
    "Arrayed": Arrayed,
    "jnp": jnp,
    "F": type("F", (float,), {}),
    "N": type("N", (int,), {}),
    "S": type("S", (str,), {}),
    "nan": float("nan"),
    "inf": float("inf"),
}

SINGLE = """
1.5; 1; True; 1j; 'a'; b'a'; None; 2**31; -2**31; -2**31-1; 2**40; 2**63-1; 2**63; 2**64; -2**63
-2**63-1; nan; inf; -inf; 1e39; -1e39; 1e-50; 3.4028235e38; []; [[]]; [[], []]; [1, 2]; [1, 2.5]
[2.5, 1]; [1, True]; [True, 1]; [True, 2.5]; [2.5, True]; [1, 1j]; [1j, 1.5]; [1.5, 1j]; ['a', b'b']
['a', 1]; [1, 'a']; [None]; [1, None]; [None, 1]; [[1, 2], [3]]; [[1], 2]; [1, [2]]; [[1], []]
[[1, 2], [3, 4.5]]; [[1, 2], [3, True]]; [1, 2**40]; [1, 2**64]; [2**40, 1.5]; [1.5, 1e39]
[np.int64(2**40)]; [np.uint64(2**63)]; [np.str_('a')]; [np.bytes_(b'a')]; [np.array([1, 2])]
[np.array([1., 2.]), np.array([3., 4.])]; [np.array([1, 2]), [3, 4]]; [[3, 4], np.array([1, 2])]
[[3., 4.], np.array([1, 2])]; [np.array([1., 2.], 'f4')]; [np.array(1.)]; [np.array(1)]
[np.array(1), 2]; [np.array([1]), 2]; [np.array([1, 2]), np.array([3])]
[np.array(1), np.array(1.5)]
[np.array([1], 'i1')]; [np.array([1], 'u8')]; [np.array([2**40])]; [np.array([2**63], 'u8')]
[np.array([True])]; [np.array(['a'])]; [np.array([1j], 'c8')]
[np.array([1, 2]), np.array([1.5, 2.])]
[[np.array([1., 2.]), np.array([3., 4.])], [np.array([5., 6.]), np.array([7., 8.])]]
(1, 2); ((1, 2), (3, 4)); [(1, 2), [3, 4]]; (); range(3); {1: 2}; {1, 2}; 'é'; S('a'); F(1.5); N(3)
Level.LOW; Fraction(1, 2); Decimal('1.5'); object; Arrayed(); len; (x for x in [1]); Ellipsis
collections.deque([1, 2]); {1: 2}.values(); bytearray(b'a'); memoryview(b'ab'); [[[1]]]; slice(1, 2)
[{1: 2}]; [object]; np.float64(1); np.float32(1); np.float16(1); np.int64(1); np.int8(1)
np.uint64(1)
np.bool_(True); np.complex64(1); np.str_('a'); np.bytes_(b'a'); np.longlong(1); np.array(1)
np.array(1.); np.array([1, 2], 'i4'); np.array([True]); np.array(['a', 'bc']); np.array([b'a'])
np.array('a'); np.array(['a', b'b'], object); np.array([1, 2], object); np.array([None], object)
np.array(['a', 1], object); np.array([1j]); np.array([], 'f8'); np.zeros((2, 0, 3), 'i1')
np.array([1., 2.], '>f8'); np.array([1, 2], '>i4'); np.array([1, 2, 3])[::-1]
np.asfortranarray(np.arange(6).reshape(2, 3)); np.ma.array([1, 2], mask=[0, 1])
np.array([[1, 2], [3]], object); jnp.array([1., 2.]); jnp.array(1); jnp.array([1.], jnp.bfloat16)
jnp.array([1.], jnp.float8_e4m3fn); jnp.array([1], jnp.int4)
""".replace("\n", ";").split(";")

LEAVES = (
    *("1", "2**40", "1.5", "True", "1j", "'a'", "None", "np.float64(.5)", "np.float32(.5)"),
    *("np.float16(.5)", "np.int64(1)", "np.uint8(1)", "np.bool_(True)", "np.complex64(1)"),
    *("np.array(1.5)",),
)

WANTED = (
    *("float32", "float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8", "uint16"),
    *("uint32", "uint64", "bool", "complex64", "complex128", "string", "int4"),
)

TYPED = """
1; 1.5; 2.0; -1; 300; 2**40; True; 1j; 'a'; b'a'; None; 1e39; 1e300; nan; []; [1]; [1.5]; [True]
[1, 2.5]; [True, 1]; ['a']; [None]; [[1], [2, 3]]; {1}; object; [2**40]; [True, 1.5]; [1.5, True]
[np.bool_(True)]; [1j, 2]; [np.float64(1.5)]; [np.float32(1.5)]; [np.int64(3)]; [np.array([1.5])]
[np.array([1])]; [np.array([True])]; [np.array([1.5]), np.array([2.5])]; np.float64(1.5)
np.int64(300)
np.bool_(True); np.complex64(1); np.array([1.5, 2.]); np.array([1, 300]); np.array([True])
np.array([1j]); np.array([1.5], 'f4'); np.array([-1]); np.array([], 'f8'); np.array([1, 2], object)
np.array(1.5); np.array([1e300]); np.array([nan]); jnp.array([1.5]); jnp.array([1]); ['a', 'b']
np.array(['1']); np.array(['a']); np.str_('1')
""".replace("\n", ";").split(";")


def _texts(text: Iterable[str]) -> list[str]:
    return [item.strip() for item in text if item.strip()]


def summary(value: Any) -> tuple[str, tuple[int, ...], str]:
    """Return dtype, shape and values of an array of either library."""
    if isinstance(value, np.ndarray):
        return dtypes.FROM_NUMPY[value.dtype].name, value.shape, repr(value.tolist())
    array = np.asarray(value.numpy(), object if value.dtype == tensorflow.string else None)
    return value.dtype.name, tuple(value.shape), repr(array.tolist())


def assert_same(outcome: Any, ours: Any, theirs: Any) -> None:
    """Compare values exactly, errors by their class and the start of their text."""
    kind, text = outcome(lambda: summary(ours()))
    expected_kind, expected = outcome(lambda: summary(theirs()))
    assert kind == expected_kind
    if kind == "value" or "numpy type" not in text:
        assert text.startswith(expected)


@pytest.mark.parametrize("source", _texts(SINGLE))
def test_a_value_becomes_the_constant_tensorflow_makes(source: str, outcome: Any) -> None:
    value = eval(source, NAMES)
    assert_same(outcome, lambda: to_numpy(value), lambda: tensorflow.constant(value))


@pytest.mark.parametrize("second", LEAVES)
@pytest.mark.parametrize("first", LEAVES)
def test_two_leaves_are_joined_as_tensorflow_joins_them(
    first: str, second: str, outcome: Any
) -> None:
    value = [eval(first, NAMES), eval(second, NAMES)]
    assert_same(outcome, lambda: to_numpy(value), lambda: tensorflow.constant(value))


@pytest.mark.parametrize("dtype", WANTED)
@pytest.mark.parametrize("source", _texts(TYPED))
def test_a_requested_dtype_is_met_or_refused_as_in_tensorflow(
    source: str, dtype: str, outcome: Any
) -> None:
    value = eval(source, NAMES)
    wanted = dtypes.as_dtype(dtype)
    # TensorFlow returns a tensor with an error still pending where uint64 holds -1.
    make = tensorflow.constant if (source, dtype) != ("-1", "uint64") else _wrapped
    assert_same(outcome, lambda: to_numpy(value, wanted), lambda: make(value, dtype))


def _wrapped(value: Any, dtype: str) -> Any:
    return tensorflow.cast(tensorflow.constant(value), dtype)


@pytest.mark.parametrize(
    "value",
    [
        np.longdouble(1),
        np.array(["2020"], "M8[D]"),
        np.timedelta64(1, "s"),
        np.array([(1, 2)], "i4,i4"),
    ],
    ids=repr,
)
def test_numpy_dtypes_that_no_tensor_has_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="Failed to convert a NumPy array to a Tensor"):
        tensorflow.constant(value)
    with pytest.raises(ValueError, match=r"Failed to convert a NumPy array .* Convert it with"):
        to_numpy(value)


def test_a_ragged_list_is_refused_also_where_its_first_row_is_empty() -> None:
    """TensorFlow drops the 1 silently and returns shape (2, 0)."""
    with pytest.raises(ValueError, match="non-rectangular"):
        to_numpy([[], [1]])


def test_integers_beyond_64_bits_are_refused_in_every_integer_dtype() -> None:
    for dtype in (None, *dtypes.INTEGER):
        for value in (2**64, -(2**63) - 1, [2**64]):
            with pytest.raises(ValueError, match="out-of-range integer"):
                to_numpy(value, dtype)
    assert to_numpy(2**64, dtypes.float64) == 2.0**64
    assert to_numpy(2**64 - 1, dtypes.uint64) == 2**64 - 1


def test_an_empty_range_holds_integers() -> None:
    assert summary(to_numpy(range(0))) == summary(tensorflow.convert_to_tensor(range(0)))


def test_jax_arrays_inside_lists_are_read() -> None:
    assert to_numpy([jnp.array(1.0), 2.0]).tolist() == [1.0, 2.0]
    assert to_numpy([jnp.array([1.0]), [2.0]]).shape == (2, 1)
    assert to_numpy([jnp.bfloat16(1), jnp.bfloat16(2)]).dtype == jnp.bfloat16


@pytest.mark.parametrize("dims", [[], [1, 2], [2**40]], ids=repr)
def test_shapes_become_integer_vectors(dims: list[int]) -> None:
    shape: Any = tensorflow.TensorShape(dims)
    expected = tensorflow.convert_to_tensor(shape)
    assert summary(to_numpy(TensorShape(dims))) == summary(expected)
    assert to_numpy(TensorShape(dims), dtypes.int64).dtype == np.int64


@pytest.mark.parametrize("dims", [[None, 2], None], ids=repr)
def test_unknown_shapes_are_refused(dims: Any) -> None:
    with pytest.raises(ValueError, match="Cannot convert a partially known TensorShape"):
        to_numpy(TensorShape(dims))


@pytest.mark.parametrize("dtype", [None, dtypes.float64, dtypes.float32])
def test_a_change_of_the_callers_array_does_not_show(dtype: Any) -> None:
    source = np.array([1.0, 2.0])
    in_a_list = np.array([3.0])
    alone, listed = to_numpy(source, dtype), to_numpy([in_a_list], dtype)
    source[0] = in_a_list[0] = 9
    assert (alone[0], listed[0, 0]) == (1, 3)


def test_arrays_are_in_c_order_and_native() -> None:
    array = to_numpy(np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3)))
    assert array.flags.c_contiguous
    assert array.dtype.isnative


def test_conversion_is_silent() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        to_numpy(np.array([1e300, np.nan]), dtypes.int32)
        to_numpy(np.array([1e300]), dtypes.float16)
        to_numpy(np.array([1j]), dtypes.float32)
        to_numpy([1e39, 2**40], dtypes.bfloat16)


# An operand next to a tensor: `value + tensor` in TensorFlow.

PARTNERS = ("float32", "float64", "int32", "int8", "complex64", "bfloat16")
OPERANDS = _texts(
    """1; 1.5; True; 1j; np.float64(1.5); np.array([1.5]); np.int64(3); [1.5]; None; 'a'; [1, 2.5]
    2**64; np.array([1]); 2**40; [True]""".replace("\n", ";").split(";")
)


@pytest.mark.parametrize("partner", PARTNERS)
@pytest.mark.parametrize("source", OPERANDS)
def test_an_operand_takes_the_dtype_of_the_tensor(source: str, partner: str, outcome: Any) -> None:
    value = eval(source, NAMES)
    zero = tensorflow.zeros([], partner)
    assert_same(
        outcome, lambda: convert_for_partner(value, dtypes.as_dtype(partner)), lambda: value + zero
    )


@pytest.mark.parametrize(
    ("source", "own"),
    [("1.5", "float"), ("1j", "complex128"), ("'a'", "string"), ("[1, 2.5]", "float")],
)
def test_a_soft_conversion_leaves_the_error_to_the_op(source: str, own: str) -> None:
    value = eval(source, NAMES)
    with pytest.raises(tensorflow.errors.InvalidArgumentError, match=f"but is a {own} tensor"):
        _ = tensorflow.constant(1) + value
    array = convert_for_partner(value, dtypes.int32, soft=True)
    assert dtypes.OP_NAMES[dtypes.FROM_NUMPY[array.dtype]] == own


@pytest.mark.parametrize("dtype", WANTED)
@pytest.mark.parametrize("value", [1, 1.5, True, 1j, "a", b"a", np.float32(1)], ids=repr)
def test_scalar_fits_says_whether_conversion_succeeds(value: Any, dtype: str) -> None:
    wanted = dtypes.as_dtype(dtype)
    fits = scalar_fits(type(value), wanted)
    if fits:
        assert to_numpy([value], wanted).shape == (1,)
    else:
        with pytest.raises((TypeError, ValueError)):
            to_numpy([value], wanted)
