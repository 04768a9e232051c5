"""Checks of converted functions that several files of tests make."""

from __future__ import annotations

import linecache
import types
from collections.abc import Callable
from typing import Any

from autograph.python_operators import CALLS, OPERATORS, converted
from tapejax._src.function.autograph import conversion


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What a call returns or raises, comparable."""
    try:
        return repr(function(*args))
    except Exception as error:  # noqa: BLE001  any error must be the same in converted code
        return type(error), str(error)


def assert_same(function: Any, *argument_lists: tuple[Any, ...], uses: str | None = None) -> None:
    """The converted function does what the function does, through the operator `uses`."""
    CALLS.clear()
    twin = converted(function)
    for args in argument_lists:
        assert outcome(twin, *args) == outcome(function, *args), args
    if uses is not None:
        assert CALLS[uses]


def names_of(function: Callable[..., Any], kind: str) -> list[tuple[Any, ...]]:
    """The arguments `names` (and `dead`) of each construct of a kind that a call runs into."""
    seen: list[tuple[Any, ...]] = []

    class Recording:
        def __getattr__(self, name: str) -> Any:
            operator = getattr(OPERATORS, name)
            if name != kind:
                return operator

            def record(*args: Any) -> Any:
                seen.append(args[5:] if name == "if_stmt" else args[-1:])
                return operator(*args)

            return record

    conversion.convert(function, Recording())(5)
    return seen


def defined(source: str, name: str, filename: str = "<cell 1>") -> types.FunctionType:
    """A function of a notebook cell, say: its source is known to `linecache` only."""
    linecache.cache[filename] = len(source), None, source.splitlines(True), filename
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]
