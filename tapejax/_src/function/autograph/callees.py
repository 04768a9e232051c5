"""Callees: which functions that converted code calls are converted too."""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from tapejax._src.function.autograph import conversion
from tapejax._src.function.autograph.overloads import OVERLOADS
from tapejax._src.function.autograph.source import CannotConvert

_TAKING_FUNCTIONS: tuple[Any, ...] = (map, filter, sorted, functools.reduce)
"""Functions that call those they are given."""


class _Reasons:
    """Why functions were left as they are: code object -> reason."""

    def __init__(self) -> None:
        self.of: weakref.WeakKeyDictionary[types.CodeType, str] = weakref.WeakKeyDictionary()


_REASONS = _Reasons()


def why_not_converted(code: types.CodeType) -> str | None:
    """Why a function runs unconverted, if converting it was tried.

    Args:
        code: Its code.
    """
    return _REASONS.of.get(code)


def takes_functions(function: Any) -> bool:
    """Whether a library's function calls functions it is given."""
    return any(function is other for other in _TAKING_FUNCTIONS)


def callee(function: Any) -> Any:
    """The converted twin of a callee, or the callee itself.

    Args:
        function: Anything that can be called.
    """
    kind = type(function)
    if kind is types.FunctionType:
        return _converted(function)
    if kind is types.MethodType:
        twin = callee(function.__func__)
        return function if twin is function.__func__ else types.MethodType(twin, function.__self__)
    if kind is types.BuiltinFunctionType or kind is type:
        if takes_functions(function):
            return _with_converted_arguments(function)
        return OVERLOADS.get(function, function)
    if kind is functools.partial:
        return functools.partial(callee(function.func), *function.args, **function.keywords)
    if isinstance(function, type):
        return function
    method = getattr(kind, "__call__", None)  # noqa: B004  the class's own method is meant
    if type(method) is types.FunctionType:
        twin = callee(method)
        return function if twin is method else types.MethodType(twin, function)
    return function


def _converted(function: types.FunctionType) -> Any:
    if not conversion.convertible(function):
        return function
    try:
        return conversion.convert(function, OPERATORS.module)
    except CannotConvert as error:
        _REASONS.of[function.__code__] = str(error)
        return function


class _Operators:
    """What converted code calls: the module `operators`, which imports this one."""

    module: Any


OPERATORS = _Operators()


def _with_converted_arguments(function: Any) -> Callable[..., Any]:
    function = OVERLOADS.get(function, function)

    def call(*args: Any, **kwargs: Any) -> Any:
        converted = [callee(x) if _is_function(x) else x for x in args]
        named = {k: callee(x) if _is_function(x) else x for k, x in kwargs.items()}
        return function(*converted, **named)

    return call


def _is_function(value: Any) -> bool:
    return isinstance(value, (types.FunctionType, types.MethodType))
