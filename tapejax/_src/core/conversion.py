"""Whatever a user writes as a tensor, as a NumPy array with the dtype TensorFlow gives it."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.core.dtypes import DType
from tapejax._src.core.literals import (
    Array,
    from_literal,
    is_sequence,
    kind_of,
    scalar_fits,
    unsupported,
)
from tapejax._src.core.shapes import TensorShape

__all__ = [
    "convert_for_partner",
    "from_array",
    "is_sequence",
    "kind_of",
    "scalar_fits",
    "to_numpy",
]

_FLOAT32 = np.dtype(np.float32)
_INT32 = np.dtype(np.int32)


def _texts(array: Array) -> Array:
    """Return an array of strings as an object array of bytes."""
    if array.dtype.kind == "U":
        array = np.char.encode(array, "utf-8")
    result = np.array(array, object)
    for index, item in np.ndenumerate(result):
        if isinstance(item, str):
            result[index] = item.encode()
        elif not isinstance(item, bytes):
            raise ValueError(
                "Failed to convert a NumPy array to a Tensor (Unsupported object type "
                f"{type(item).__name__})."
            )
    return result


def _astype(array: Array, dtype: DType) -> Array:
    """Cast as TensorFlow's constructor does: silently, dropping imaginary parts."""
    if array.dtype.kind == "c" and not (dtype.is_complex or dtype.is_bool):
        array = np.real(array)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return np.array(array.astype(dtype.numpy_dtype), order="C")


def from_array(array: Any, dtype: DType | None = None) -> Array:
    """Convert a NumPy array or scalar, or whatever has `__array__`.

    Args:
        array: keeps its dtype unless `dtype` is given; strings of any form become bytes.
        dtype: the dtype wanted. Values are cast without a check: `1.5` becomes `1` in integers.

    Returns:
        A fresh array in C order.

    Raises:
        ValueError: tensors have no such dtype, or `dtype` is string and the array holds numbers.
    """
    plain: Array = np.asarray(array)
    if dtype is dtypes.string or (dtype is None and plain.dtype.kind in "USO"):
        return _texts(plain if plain.dtype.kind in "USO" else plain.astype(object))
    if dtype is not None:
        return _astype(plain, dtype)
    if plain.dtype not in dtypes.FROM_NUMPY:
        native = plain.dtype.newbyteorder("=")
        if native not in dtypes.FROM_NUMPY or native.fields:
            raise ValueError(
                "Failed to convert a NumPy array to a Tensor (Unsupported numpy type: "
                f"{plain.dtype}). Convert it with `.astype(...)` first."
            )
        return np.array(plain.astype(native), order="C")
    return np.array(plain, order="C", copy=True)


def _from_shape(shape: TensorShape, dtype: DType | None) -> Array:
    if not shape.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {shape} to a Tensor.")
    return from_literal(shape.as_list(), dtype or (None if shape.rank else dtypes.int32))


def to_numpy(value: Any, dtype: DType | None = None) -> Array:
    """Convert any value that is not a tensor, with TensorFlow's choice of dtype.

    Python floats become float32 and integers int32 (int64 where needed); NumPy and JAX arrays and
    scalars keep their dtype; inside a list NumPy integers count as Python integers.

    Args:
        value: a number, text, nested sequence, NumPy or JAX array, `TensorShape`, or an object
            with `__array__`.
        dtype: the dtype wanted.

    Returns:
        An array that shares no memory with `value`; strings are an object array of bytes.

    Raises:
        TypeError: a Python value does not fit `dtype` (`1.5` in int32, `1` in bool).
        ValueError: `None`, ragged or mixed sequences, integers beyond 64 bits, unknown objects.

    Example:
        >>> from tapejax._src.core.conversion import to_numpy
        >>> to_numpy([1, 2.5]).dtype.name, to_numpy([1, 2]).dtype.name, to_numpy(1j).dtype.name
        ('float32', 'int32', 'complex128')
    """
    cls = type(value)
    if cls is float and (dtype is None or dtype is dtypes.float32) and -3e38 < value < 3e38:
        return np.array(value, _FLOAT32)
    if cls is int and (dtype is None or dtype is dtypes.int32) and -(2**31) <= value < 2**31:
        return np.array(value, _INT32)
    if isinstance(value, (np.ndarray, np.generic, jax.Array)):
        return from_array(value, dtype)
    if isinstance(value, TensorShape):
        return _from_shape(value, dtype)
    if isinstance(value, range):
        return from_literal(list(value), dtype or (None if value else dtypes.int32))
    if kind_of(cls) is not None or isinstance(value, (list, tuple)):
        return from_literal(value, dtype)
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return from_array(value, dtype)
    if is_sequence(value):
        return from_literal(value, dtype)
    raise unsupported(value)


def convert_for_partner(value: Any, dtype: DType, soft: bool = False) -> Array:
    """Convert the operand that stands next to a tensor of a dtype.

    Args:
        value: the other operand, not a tensor. NumPy arrays are cast silently.
        dtype: the dtype of the tensor.
        soft: return the value in its own dtype where it does not fit. TensorFlow does so for `+`,
            so that the op itself reports the two dtypes; other operators raise here.

    Returns:
        An array of `dtype` (or of the value's own dtype where `soft`).

    Raises:
        TypeError: the value does not fit `dtype`.
        ValueError: the value is not one that a tensor can hold.
    """
    try:
        return to_numpy(value, dtype)
    except (TypeError, ValueError):
        if not soft:
            raise
        return to_numpy(value)
