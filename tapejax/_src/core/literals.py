"""Python numbers, strings and nested sequences of them as NumPy arrays.

TensorFlow infers the dtype from the *first* leaf of a nested sequence, widens integers, and
refuses leaves of another kind. Every leaf has one of these kinds:

`b` Python bool, `B` NumPy bool, `i` integer, `f` real, `c` complex, `s` text; `None` is no value.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence, Set
from itertools import chain
from typing import Any, cast

import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.core.dimension import Dimension
from tapejax._src.core.dtypes import DType

Array = np.ndarray[Any, np.dtype[Any]]

_MIXED = "Can't convert Python sequence with mixed types to Tensor."
_RAGGED = "Can't convert non-rectangular Python sequence to Tensor."
_TOO_BIG = "Can't convert Python sequence with out-of-range integer to Tensor."
_FLOAT_TOO_BIG = (
    "Can't convert Python sequence with a value out of range for a double-precision float. "
    "The value is finite but too large for float32; pass dtype=tf.float64."
)

# Which kinds of leaves a first leaf of a kind tolerates after it.
_TOLERATED = {
    "b": frozenset("bB"),
    "B": frozenset("bB"),
    "i": frozenset("ifb"),
    "f": frozenset("fib"),
    "c": frozenset("cfib"),
    "s": frozenset("s"),
}

# Dtypes whose elements TensorFlow reads directly from these kinds of leaves ...
_DIRECT: dict[DType, frozenset[str]] = {
    dtypes.float16: frozenset("fib"),
    dtypes.float32: frozenset("fib"),
    dtypes.float64: frozenset("fib"),
    dtypes.int32: frozenset("ib"),
    dtypes.int64: frozenset("ib"),
    dtypes.uint64: frozenset("ib"),
    dtypes.bool_: frozenset("bB"),
    dtypes.complex128: frozenset("cfib"),
    dtypes.string: frozenset("s"),
}


def unsupported(value: Any) -> ValueError:
    """Return the error of a value that no tensor can hold."""
    return ValueError(
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) "
        "to a Tensor."
    )


def cannot_convert(value: Any, dtype: DType) -> TypeError:
    """Return the error of a value that the requested dtype cannot hold."""
    return TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {dtypes.OP_NAMES[dtype]}")


@functools.lru_cache(maxsize=1024)
def kind_of(cls: type) -> str | None:
    """Return the kind of leaves of a type, `None` when they are no values."""
    kinds: tuple[tuple[Any, str], ...] = (
        (bool, "b"),
        (np.bool_, "B"),
        ((int, np.integer, Dimension), "i"),
        ((float, np.floating), "f"),
        ((complex, np.complexfloating), "c"),
        ((str, bytes), "s"),
    )
    for types, kind in kinds:
        if issubclass(cls, types):
            return kind
    if issubclass(cls, np.generic):  # the small floats and integers that NumPy does not know
        known = dtypes.FROM_NUMPY.get(np.dtype(cls))
        if known is not None:
            return "f" if known.is_floating else "i"
    return None


@functools.lru_cache(maxsize=1024)
def scalar_fits(cls: type, dtype: DType) -> bool:
    """Say whether Python numbers (or texts) of a type may stand for tensors of a dtype."""
    kind = kind_of(cls)
    return kind is not None and (kind in _DIRECT.get(dtype, "") or _may_cast(kind, dtype))


def _may_cast(kind: str, dtype: DType) -> bool:
    """Say whether leaves of one kind are cast to a dtype that does not read them directly."""
    if kind == "i":
        return dtype.is_numeric or dtype.is_integer or dtype.is_floating
    if kind == "f":
        return dtype.is_floating or dtype.is_complex
    return (kind == "c" and dtype.is_complex) or (kind in "bB" and dtype.is_bool)


@functools.lru_cache(maxsize=1024)
def _is_sequence_type(cls: type) -> bool | None:
    """Say whether values of a type are read element by element, `None` when that varies."""
    if issubclass(cls, (list, tuple)):
        return True
    if issubclass(cls, (str, bytes, Mapping, Set, type, np.generic)):
        return False
    if issubclass(cls, Sequence):
        return True
    return None if hasattr(cls, "__len__") and hasattr(cls, "__getitem__") else False


def is_sequence(value: Any) -> bool:
    """Say whether a value is read element by element (arrays of rank 0 are not)."""
    known = _is_sequence_type(type(value))
    if known is not None:
        return known
    try:
        len(value)
    except TypeError:
        return False
    return True


def _sequences(level: list[Any]) -> set[bool]:
    """Return whether the items are sequences: `{True}`, `{False}`, or both where they differ."""
    known = set(map(_is_sequence_type, set(map(type, level))))
    return set(map(is_sequence, level)) if None in known else cast("set[bool]", known)


def _same_arrays(level: list[Any]) -> bool:
    """Say whether all items are NumPy arrays of one dtype and shape."""
    if any(type(item) is not np.ndarray or item.ndim == 0 for item in level):
        return False
    return len({(item.dtype, item.shape) for item in level}) == 1


def _unpack(value: Any) -> tuple[tuple[int, ...], list[Any] | Array]:
    """Return the shape of a nested sequence and its leaves (a stack where they are arrays)."""
    shape: list[int] = []
    level: list[Any] = [value]
    while level and is_sequence(level[0]):
        if shape and _same_arrays(level):
            stacked: Array = np.stack(level)
            return (*shape, *stacked.shape[1:]), stacked
        sizes = set(map(len, level)) if _sequences(level) == {True} else set[int]()
        if len(sizes) != 1:
            raise ValueError(_RAGGED)
        shape.append(sizes.pop())
        level = list(chain.from_iterable(level))
    if True in _sequences(level):
        raise ValueError(_MIXED)
    return tuple(shape), [_leaf(item) for item in level] if _has_arrays(level) else level


def _has_arrays(level: list[Any]) -> bool:
    return any(kind_of(cls) is None for cls in set(map(type, level)))


def _leaf(item: Any) -> Any:
    """Turn an array of rank 0 into a scalar."""
    if kind_of(type(item)) is None and hasattr(item, "__array__"):
        return np.asarray(item)[()]
    return item


def _kinds(leaves: list[Any]) -> frozenset[str | None]:
    return frozenset(map(kind_of, set(map(type, leaves))))


def _plain(leaves: list[Any], cls: type[Any]) -> list[Any]:
    """Return the leaves as Python numbers: themselves where they are, the common case."""
    return leaves if set(map(type, leaves)) <= {cls, int, bool} else [cls(leaf) for leaf in leaves]


def _as_integers(leaves: list[Any]) -> Array:
    """Return int32 or, where that is too narrow, int64."""
    try:
        wide: Array = np.array(_plain(leaves, int), np.int64)
    except OverflowError:
        raise ValueError(_TOO_BIG) from None
    return _narrow(wide)


def _narrow(wide: Array) -> Array:
    """Return integers as int32 where it holds them, else as int64."""
    if wide.size and (wide.min() < -(2**31) or wide.max() >= 2**31):
        if wide.dtype.kind == "u" and wide.max() >= 2**63:
            raise ValueError(_TOO_BIG)
        return wide.astype(np.int64)
    return wide.astype(np.int32)


def _as_floats(leaves: list[Any], dtype: np.dtype[Any], strict: bool) -> Array:
    """Return reals; `strict` refuses finite values that overflow float32."""
    try:
        wide: Array = np.array(_plain(leaves, float), np.float64)
    except OverflowError:
        raise ValueError(_TOO_BIG) from None
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        result = wide.astype(dtype)
    if strict and dtype == np.float32 and bool(np.any(np.isinf(result) & np.isfinite(wide))):
        raise ValueError(_FLOAT_TOO_BIG)
    return result


def _as_texts(leaves: list[Any]) -> Array:
    """Return an object array of bytes."""
    result = np.empty(len(leaves), object)
    result[:] = [leaf.encode() if isinstance(leaf, str) else bytes(leaf) for leaf in leaves]
    return result


def _common_kind(leaves: list[Any]) -> str:
    """Return the kind of the array that the leaves make: that of the first, `f` for `i` with `f`.

    Raises:
        ValueError: the first leaf is no value, or does not tolerate another one.
    """
    kind = kind_of(type(leaves[0]))
    if kind is None:
        raise unsupported(leaves[0])
    kinds = _kinds(leaves)
    if not kinds <= _TOLERATED[kind]:
        raise ValueError(_MIXED)
    return "f" if kind == "i" and "f" in kinds else kind


def _infer(leaves: list[Any]) -> Array:
    """Convert with the dtype that the first leaf asks for."""
    kind = _common_kind(leaves)
    if kind == "i":
        return _as_integers(leaves)
    if kind == "s":
        return _as_texts(leaves)
    if kind == "f":
        first = leaves[0]
        keep = isinstance(first, np.generic) and kind_of(type(first)) == "f"
        return _as_floats(leaves, first.dtype if keep else np.dtype(np.float32), strict=True)
    return np.array(leaves, np.complex128 if kind == "c" else np.bool_)


def _read(leaves: list[Any], dtype: DType) -> Array:
    """Convert leaves whose kinds the dtype reads directly."""
    target = dtype.numpy_dtype
    if dtype is dtypes.string:
        return _as_texts(leaves)
    if dtype.is_floating:
        return _as_floats(leaves, target, strict=False)
    if not dtype.is_integer:
        return np.array(leaves, target)
    whole = _plain(leaves, int)
    try:
        return np.array(whole, np.int64).astype(target)
    except OverflowError:
        if dtype is dtypes.uint64 and all(-(2**63) <= leaf < 2**64 for leaf in whole):
            return np.array([leaf % 2**64 for leaf in whole], target)
        raise ValueError(_TOO_BIG) from None


def _convert(leaves: list[Any], dtype: DType | None, value: Any) -> Array:
    """Convert flat leaves; `value` is named in errors."""
    if dtype is None:
        return _infer(leaves)
    if _kinds(leaves) <= _DIRECT.get(dtype, frozenset()):
        return _read(leaves, dtype)
    kind = _common_kind(leaves)
    if not _may_cast(kind, dtype):
        raise cannot_convert(value, dtype)
    if kind == "f":
        return _as_floats(leaves, dtype.numpy_dtype, strict=False)
    with np.errstate(over="ignore", invalid="ignore"):
        return _infer(leaves).astype(dtype.numpy_dtype)


def _convert_stack(stack: Array, dtype: DType | None, value: Any) -> Array:
    """Convert arrays that stood in a list, by the rules for their elements."""
    kind = kind_of(stack.dtype.type)
    if kind is None or kind == "s":
        leaves = list(cast("Sequence[Any]", stack.reshape(-1)))
        return _convert(leaves, dtype, value).reshape(stack.shape)
    if dtype is None:
        if kind == "i":
            return _narrow(stack)
        return stack.astype(np.complex128) if kind == "c" else stack
    direct = kind in _DIRECT.get(dtype, frozenset())
    if not direct and not _may_cast(kind, dtype):
        raise cannot_convert(value, dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        return stack.astype(dtype.numpy_dtype)


def from_literal(value: Any, dtype: DType | None = None) -> Array:
    """Convert a Python number, a text, or a nested sequence of them.

    Args:
        value: the literal; NumPy arrays may stand inside a sequence.
        dtype: the dtype wanted; by default the one that the first leaf asks for.

    Returns:
        A fresh array of the sequence's shape.

    Raises:
        TypeError: `dtype` cannot hold such values.
        ValueError: ragged, mixed, out of range, or not a value at all.
    """
    shape, leaves = _unpack(value)
    if not isinstance(leaves, list):
        return _convert_stack(leaves.reshape(shape), dtype, value)
    if not leaves and math.prod(shape) == 0:
        return np.zeros(shape, np.float32 if dtype is None else dtype.numpy_dtype)
    return _convert(leaves, dtype, value).reshape(shape)
