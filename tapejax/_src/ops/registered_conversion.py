"""Conversions to tensors that users register, and scopes in which users make the variables."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from tapejax._src.core.conversion import to_numpy
from tapejax._src.core.dtypes import DType
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import CREATION
from tapejax._src.engine.convert import CONVERTERS, constant_tensor
from tapejax._src.engine.registry import public

_Function = Callable[..., Any]


class _Registered:
    """The functions by priority, and then by the order in which they were registered."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, tuple[type, ...], _Function]] = []

    def add(self, priority: int, types: tuple[type, ...], function: _Function) -> None:
        self.entries.append((priority, types, function))
        self.entries.sort(key=lambda entry: entry[0])

    def convert(self, value: Any, dtype: DType | None) -> Tensor | None:
        """The tensor of the first function that takes the value."""
        for _, types, function in self.entries:
            if not isinstance(value, types):
                continue
            found = function(value, dtype=dtype, name=None, as_ref=False)
            if found is NotImplemented:
                continue
            if not isinstance(found, Tensor):
                raise RuntimeError(
                    f"Conversion function {function!r} for type {types} returned non-Tensor: "
                    f"{found!r}"
                )
            if dtype is not None and found.dtype != dtype:
                raise RuntimeError(
                    f"Conversion function {function!r} for type {types} returned incompatible "
                    f"dtype: requested = {dtype.name}, actual = {found.dtype.name}"
                )
            return found
        return None


_REGISTERED = _Registered()


class _Conversion:
    """What the engine calls for the classes that have functions."""

    def __call__(self, value: Any, dtype: DType | None) -> Tensor:
        found = _REGISTERED.convert(value, dtype)
        return constant_tensor(to_numpy(value, dtype)) if found is None else found

    def hinted(self, value: Any, wish: DType) -> Tensor:
        """Beside a tensor of the dtype `wish`: that one if possible, else the function's own."""
        try:
            found = _REGISTERED.convert(value, wish)
        except (TypeError, ValueError, RuntimeError):
            found = None
        return self(value, None) if found is None else found


_CONVERSION = _Conversion()


@public("register_tensor_conversion_function")
def register_tensor_conversion_function(
    base_type: Any, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Say how objects of a class become tensors wherever a tensor is expected.

    Args:
        base_type: A class or a tuple of classes.
        conversion_func: Called as `conversion_func(value, dtype=None, name=None, as_ref=False)`; it
            returns a tensor (of `dtype`, if that is not None) or `NotImplemented`.
        priority: Functions of lower numbers are asked first.

    Raises:
        TypeError: If `base_type` is no class, or one of Python's numbers or NumPy's arrays; or if
            the function cannot be called.

    Example:
        >>> import tapejax as tf
        >>> class Metres:
        ...     def __init__(self, value):
        ...         self.value = value
        >>> def convert(metres, dtype=None, name=None, as_ref=False):
        ...     return tf.constant(metres.value, dtype)
        >>> tf.register_tensor_conversion_function(Metres, convert)
        >>> float(tf.constant(1.0) + Metres(2.0))
        3.0
    """
    types: tuple[Any, ...] = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(kind, type) for kind in types):
        raise TypeError(
            f"Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}"
        )
    if any(issubclass(kind, (bool, int, float, complex, np.generic, np.ndarray)) for kind in types):
        raise TypeError(
            "Cannot register conversions for Python numeric types and NumPy scalars and arrays."
        )
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received {conversion_func}.")
    known = {cls for cls, converter in CONVERTERS if converter is _CONVERSION}
    for kind in types:
        if kind not in known:
            CONVERTERS.insert(0, (kind, _CONVERSION))
    _REGISTERED.add(priority, types, conversion_func)


@public("variable_creator_scope")
@contextlib.contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Generator[None]:
    """A block in which a function of the user makes the variables.

    Args:
        variable_creator: Called as `variable_creator(next_creator, **kwargs)` with the arguments of
            `tf.Variable`; it returns a variable, which `next_creator(**kwargs)` makes. Inner blocks
            are asked first.

    Yields:
        Nothing.

    Example:
        >>> import tapejax as tf
        >>> def frozen(next_creator, **kwargs):
        ...     return next_creator(**{**kwargs, "trainable": False})
        >>> with tf.variable_creator_scope(frozen):
        ...     v = tf.Variable(1.0)
        >>> v.trainable
        False
    """
    CREATION.creators.append(variable_creator)
    try:
        yield
    finally:
        CREATION.creators.pop()
