"""`tf.raw_ops`: operations by TensorFlow's own names and parameters, through the public functions.

`raw_ops.json` says which function computes which operation; `tests/golden/regenerate_raw_ops.py`
makes it, and keeps what TensorFlow itself computes equally.
"""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tapejax._src.report.missing import missing_attribute

_FILE = Path(__file__).with_name("raw_ops.json")


class _Row(NamedTuple):
    """One operation.

    Attributes:
        function: The path of the public function that computes it.
        parameters: Raw parameter -> the one of that function.
        defaults: Raw parameter -> its default; a dtype is `'tf.int32'`.
        required: Raw parameters without a default.
    """

    function: str
    parameters: dict[str, str]
    defaults: dict[str, Any]
    required: list[str]


@functools.cache
def _table() -> dict[str, _Row]:
    rows = json.loads(_FILE.read_text(encoding="utf-8"))
    return {name: _Row(**row) for name, row in rows.items()}


def raw_attribute(module_name: str) -> Callable[[str], Any]:
    """Make the module-level `__getattr__` of `tf.raw_ops`.

    Args:
        module_name: The module's `__name__`.

    Returns:
        A function of a name that gives the operation, or raises as `missing_attribute` does.
    """
    refuse = missing_attribute(module_name)

    def find(name: str) -> Any:
        if name == "__all__":
            return sorted(_table())
        return refuse(name) if name not in _table() else _operation(name)

    return find


@functools.cache
def _operation(name: str) -> Callable[..., Any]:
    row = _table()[name]
    library = importlib.import_module("tapejax")
    function: Any = functools.reduce(getattr, row.function.split("."), library)
    defaults = {key: _value(library, value) for key, value in row.defaults.items()}

    def operation(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(
                f"{name}() takes 0 positional arguments but {len(args)} were given: write the "
                f"names, tf.raw_ops.{name}({', '.join(f'{n}=...' for n in row.required)})."
            )
        kwargs.pop("name", None)
        _check_names(name, row, kwargs)
        taken = {**defaults, **kwargs}
        return function(**{row.parameters[n]: v for n, v in taken.items() if n in row.parameters})

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = (
        f"TensorFlow's operation {name}; `tf.{row.function}` computes it.\n\n"
        f"Parameters, by name only: {', '.join([*row.required, *row.defaults])}."
    )
    return operation


def _value(library: Any, default: Any) -> Any:
    is_dtype = isinstance(default, str) and default.startswith("tf.")
    return getattr(library, default.removeprefix("tf.")) if is_dtype else default


def _check_names(name: str, row: _Row, given: dict[str, Any]) -> None:
    for key in given:
        if key not in row.defaults and key not in row.required:
            known = ", ".join([*row.required, *row.defaults])
            raise TypeError(
                f"{name}() got an unexpected keyword argument {key!r}. It takes {known}."
            )
    missing = [key for key in row.required if key not in given]
    if missing:
        raise TypeError(
            f"{name}() missing {len(missing)} required keyword-only arguments: "
            f"{', '.join(map(repr, missing))}"
        )
    for key, value in given.items():
        ignored = key not in row.parameters and not key.startswith(("T", "out_type"))
        if ignored and value != row.defaults.get(key):
            raise NotImplementedError(
                f"tf.raw_ops.{name}: {key}={value!r} is not supported, only its default "
                f"{row.defaults.get(key)!r}. `tf.{row.function}` computes this operation."
            )
