"""The operators of converted code with Python's own meaning.

`CALLS` counts the calls of the constructs, so that a test can see that code was converted.
"""

from __future__ import annotations

import inspect
import operator
from collections import Counter
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType
from typing import Any

from tapejax._src.function.autograph import conversion
from tapejax._src.function.autograph.source import CannotConvert

CALLS: Counter[str] = Counter()
RAISED: list[Any] = []

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}


class Undefined:
    """The value of a name that has none."""

    def __init__(self, name: str) -> None:
        self.name = name


class _Operators:
    """What converted code finds under `ag__`.

    Every construct also reads its state and writes it back, as a staged one would.
    """

    Undefined = Undefined

    @staticmethod
    def if_stmt(cond, body, orelse, get_state, set_state, names, dead):
        CALLS["if"] += 1
        assert set(dead) <= set(names)
        _round_trip(get_state, set_state, names)
        if cond:
            body()
        else:
            orelse()
        _round_trip(get_state, set_state, names)

    @staticmethod
    def while_stmt(test, body, get_state, set_state, names):
        CALLS["while"] += 1
        _round_trip(get_state, set_state, names)
        while test():
            body()
            _round_trip(get_state, set_state, names)

    @staticmethod
    def for_stmt(iterable, keep_going, body, get_state, set_state, names):
        CALLS["for"] += 1
        _round_trip(get_state, set_state, names)
        for item in iterable:
            body(item)
            _round_trip(get_state, set_state, names)
            if keep_going is not None and not keep_going():
                break

    @staticmethod
    def if_exp(cond, body, orelse):
        CALLS["if_exp"] += 1
        return body() if cond else orelse()

    @staticmethod
    def and_(value, other):
        CALLS["and"] += 1
        return value and other()

    @staticmethod
    def or_(value, other):
        CALLS["or"] += 1
        return value or other()

    @staticmethod
    def not_(value):
        return not value

    @staticmethod
    def compare(left, *pairs):
        CALLS["compare"] += 1
        result = True
        for name, right in zip(pairs[::2], pairs[1::2], strict=True):
            value = right()
            result = _COMPARISONS[name](left, value)
            if not result:
                break
            left = value
        return result

    @staticmethod
    def contains(item, container):
        CALLS["contains"] += 1
        return item in container

    @staticmethod
    def assert_stmt(test, message, source_text):
        CALLS["assert"] += 1
        assert isinstance(source_text, str)
        if not test:
            text = message()
            raise AssertionError() if text is None else AssertionError(text)

    @staticmethod
    def raising(exception):
        RAISED.append(exception)
        return exception

    @staticmethod
    def load(read, name):
        try:
            return read()
        except (NameError, AttributeError, KeyError, IndexError):
            return Undefined(name)

    @staticmethod
    def restore(container, contents):
        assert container is contents

    @staticmethod
    def returned(value):
        return None if isinstance(value, Undefined) else value

    @staticmethod
    def callee(function):
        CALLS["callee"] += 1
        if isinstance(function, MethodType):
            return MethodType(_Operators.callee(function.__func__), function.__self__)
        call = inspect.getattr_static(type(function), "__call__", None)
        if isinstance(call, FunctionType) and conversion.convertible(call):
            return MethodType(_Operators.callee(call), function)
        if not conversion.convertible(function):
            return function
        try:
            return conversion.convert(function, OPERATORS)
        except CannotConvert:
            return function


OPERATORS = _Operators()


def _round_trip(get_state: Callable[[], Iterable[Any]], set_state: Any, names: Any) -> None:
    values = tuple(get_state())
    assert len(values) == len(names)
    set_state(values)


def converted(function: Any) -> Any:
    """The converted twin of a function or of a callable object."""
    return OPERATORS.callee(function)
