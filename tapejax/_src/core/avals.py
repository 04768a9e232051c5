"""Abstract values: the shape and dtype of an array, and the key under which it enters a program.

Everything here is interned, so equality is identity and hashing costs nothing on the hot path.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.shapes import TensorShape


class Aval:
    """The shape and dtype of a value (interned; also the leaf key of an ordinary tensor)."""

    __slots__ = ("_shape", "dtype", "inexact", "shape", "struct", "tf_dtype")

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    inexact: bool

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        self.tf_dtype: DType = as_dtype(dtype)
        self.inexact = self.tf_dtype.is_floating or self.tf_dtype.is_complex
        self.struct = None if dtype.kind == "O" else jax.ShapeDtypeStruct(shape, dtype)
        self._shape: TensorShape | None = None

    @property
    def aval(self) -> Aval:
        """Itself: every leaf key has an `aval`."""
        return self

    @property
    def tf_shape(self) -> TensorShape:
        """The shape as a `tf.TensorShape`."""
        if self._shape is None:
            self._shape = TensorShape(self.shape)
        return self._shape

    @property
    def is_complex(self) -> bool:
        """Whether values are complex."""
        return self.dtype.kind == "c"

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"


class VariableKey:
    """The leaf key of a variable's value: a tape can see that it is a variable, and trainable."""

    __slots__ = ("aval", "placed", "trainable")

    def __init__(self, placed: Aval | PlacedKey, trainable: bool) -> None:
        self.placed = placed
        self.aval: Aval = placed.aval
        self.trainable = trainable

    def __repr__(self) -> str:
        return f"Variable({self.placed!r})"


class PlacedKey:
    """The leaf key of an array that is not simply on the default device."""

    __slots__ = ("aval", "sharding")

    def __init__(self, aval: Aval, sharding: jax.sharding.Sharding) -> None:
        self.aval = aval
        self.sharding = sharding

    def __repr__(self) -> str:
        return f"{self.aval!r}@{self.sharding}"


class StaticKey:
    """The leaf key of a structural constant (`tf.shape(x)`): its value is part of the program."""

    __slots__ = ("aval", "value")

    def __init__(self, aval: Aval, value: np.ndarray[Any, Any]) -> None:
        self.aval = aval
        self.value = value

    def __repr__(self) -> str:
        return f"static({self.value.tolist()})"


LeafKey = Aval | VariableKey | PlacedKey | StaticKey

_avals: dict[tuple[tuple[int, ...], np.dtype[Any]], Aval] = {}
_variable_keys: dict[tuple[Aval | PlacedKey, bool], VariableKey] = {}
_placed_keys: dict[tuple[Aval, jax.sharding.Sharding], PlacedKey] = {}
_static_keys: dict[tuple[Aval, bytes], StaticKey] = {}


def make_aval(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Aval:
    """The interned `Aval` of a shape and a NumPy dtype."""
    key = (shape, dtype)
    found = _avals.get(key)
    if found is None:
        found = _avals.setdefault(key, Aval(tuple(map(int, shape)), np.dtype(dtype)))
    return found


def aval_of(array: Any) -> Aval:
    """The `Aval` of anything with `shape` and `dtype`."""
    key = (array.shape, array.dtype)
    found = _avals.get(key)
    return make_aval(*key) if found is None else found


def variable_key(placed: Aval | PlacedKey, trainable: bool) -> VariableKey:
    """The interned leaf key of a variable's value."""
    key = (placed, trainable)
    found = _variable_keys.get(key)
    return (
        _variable_keys.setdefault(key, VariableKey(placed, trainable)) if found is None else found
    )


def placed_key(aval: Aval, array: Any) -> Aval | PlacedKey:
    """The leaf key of a concrete array: its aval, and its sharding when it is spread out."""
    sharding = getattr(array, "sharding", None)
    if sharding is None or isinstance(array, Tracer):
        return aval
    if isinstance(sharding, jax.sharding.SingleDeviceSharding) and len(jax.devices()) == 1:
        return aval
    if isinstance(sharding, jax.sharding.SingleDeviceSharding) and not array.committed:
        return aval
    key = (aval, sharding)
    found = _placed_keys.get(key)
    return _placed_keys.setdefault(key, PlacedKey(aval, sharding)) if found is None else found


def static_key(value: np.ndarray[Any, Any]) -> StaticKey:
    """The interned leaf key of a structural constant."""
    aval = aval_of(value)
    key = (aval, value.tobytes())
    found = _static_keys.get(key)
    return _static_keys.setdefault(key, StaticKey(aval, value)) if found is None else found
