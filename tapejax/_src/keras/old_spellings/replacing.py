"""How old spellings are let in: arguments by tables of rows, attributes by tables of functions."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapejax._src.keras.old_spellings.uses import note, note_direct

_HOOKED = "_tapejax_old_spellings"


class Old(NamedTuple):
    """An argument that is spelled otherwise now.

    Attributes:
        name: Its old name.
        new: Its name now; None where it has no effect any more.
        change: Makes the new value of the old one.
        advice: What the report says to write, if not the new name.
    """

    name: str
    new: str | None = None
    change: Callable[[Any], Any] | None = None
    advice: str | None = None


def renamed(owner: str, rows: Sequence[Old], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments under their names of now; each old one is noted.

    Args:
        owner: What is called, for the report.
        rows: The old arguments it may get.
        kwargs: What it got.
    """
    for row in rows:
        if row.name not in kwargs:
            continue
        value = kwargs[row.name]
        changed = row.change(value) if row.change else value
        if row.name == row.new:  # a value that is written otherwise now
            if changed is value:
                continue
            kwargs = {**kwargs, row.name: changed}
            note(f"{owner}({row.name}={value!r})", row.advice or f"{row.new}={changed!r}")
            continue
        kwargs = {key: given for key, given in kwargs.items() if key != row.name}
        if row.new is not None:
            kwargs.setdefault(row.new, changed)
        note(f"{owner}({row.name}=...)", row.advice or _modern(row))
    return kwargs


def _modern(row: Old) -> str:
    return f"{row.new}=..." if row.new else "leave it out: it has no effect"


def plain_numbers(x: Any) -> Any:
    """NumPy's integers as Python's, also in tuples and lists."""
    if isinstance(x, np.integer):
        return int(x)
    if type(x) in (list, tuple) and any(isinstance(n, np.integer) for n in x):
        return type(x)([plain_numbers(n) for n in x])
    return x


def let_arguments_in(cls: type[Any], rows: Sequence[Old], owner: str | None = None) -> None:
    """Let the constructor of a class take old arguments.

    Args:
        cls: The class; it has a constructor of its own.
        rows: The old arguments.
        owner: Its name in the report. Default: that of the class that is made.
    """
    original = cls.__dict__.get("__init__")
    if original is None or hasattr(original, _HOOKED):
        return

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs = renamed(owner or type(self).__name__, rows, kwargs)
        kwargs = {key: plain_numbers(value) for key, value in kwargs.items()}
        original(self, *[plain_numbers(x) for x in args], **kwargs)

    cls.__init__ = as_constructor(__init__, original)


def as_constructor(made: Any, original: Any) -> Any:
    """A replaced constructor: Keras reads its signature to make the config of a layer."""
    made.__signature__ = inspect.signature(original)
    setattr(made, _HOOKED, True)
    return made


def let_function_arguments_in(cls: type[Any], name: str, rows: Sequence[Old]) -> None:
    """Let a method take old arguments."""
    original = getattr(cls, name)

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return original(self, *args, **renamed(f"{cls.__name__}.{name}", rows, kwargs))

    setattr(cls, name, method)


def add_attributes(cls: type[Any], table: Mapping[str, tuple[Any, str]]) -> None:
    """Add methods and properties that a class had.

    Args:
        cls: The class.
        table: Name -> (a function of the object, or a property; the modern spelling).
    """
    for name, (value, modern) in table.items():
        setattr(cls, name, _noted(cls.__name__, name, value, modern))


def _noted(owner: str, name: str, value: Any, modern: str) -> Any:
    if isinstance(value, property):
        parts = (value.fget, value.fset)
        fget, fset = [p and _noted(owner, name, p, modern) for p in parts]
        return property(fget, fset, doc=value.__doc__)

    @functools.wraps(value)
    def method(*args: Any, **kwargs: Any) -> Any:
        note_direct(f"{owner}.{name}", modern)
        return value(*args, **kwargs)

    return method


def replace_everywhere(original: Any, new: Any) -> None:
    """Put a function in the place of another wherever a module of Keras refers to it."""
    for module in list(sys.modules.values()):
        if not getattr(module, "__name__", "").startswith("keras"):
            continue
        for name, value in list(vars(module).items()):
            if value is original:
                setattr(module, name, new)
