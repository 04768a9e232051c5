"""The short way to an op's kernel: calls of a form seen before are not read again."""

from __future__ import annotations

from typing import Any

from tapejax._src.core.dtypes import DType
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.definitions import LIST_ROLES, TENSOR_ROLES, OpDef
from tapejax._src.engine.kernel import Kernel

_PLAIN = frozenset([int, float, bool, str, type(None), DType])
_SIMPLE = _PLAIN - {float}
"""Values that a key may hold as they are; 0.0 equals -0.0."""
_LIMIT = 4096
"""How many forms of calls of one op are remembered."""

Key = tuple[Any, ...]


def quick_key(
    definition: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Key, list[Any]] | None:
    """The form of a call, and its tensors in order.

    Calls of one form have tensors, Python numbers and static values in the same places, and equal
    static values. None when some argument needs a closer look (a list of numbers, an array).
    """
    form: list[Any] = []
    inputs: list[Any] = []
    roles = definition.roles
    if len(args) > len(roles):
        return None
    for role, value in zip(roles, args, strict=False):
        if not _take(role, value, form, inputs):
            return None
    for name, value in kwargs.items():
        form.append(name)
        if not _take(definition.role_of.get(name, "**"), value, form, inputs):
            return None
    return (tuple(form), inputs) if _numbers_fit(inputs) else None


def _take(role: str, value: Any, form: list[Any], inputs: list[Any]) -> bool:
    """Add one argument to the form; False when it needs a closer look."""
    kind = type(value)
    if kind is Tensor or kind is Variable:
        form.append(Tensor)
        inputs.append(value)
        return (
            role in ("Same", "TensorLike")
            or (role == "Index" and value.dtype.is_integer)
            or (role == "Bool" and value.dtype.is_bool)
        )
    if role in LIST_ROLES:
        if kind is not list and kind is not tuple:
            return False
        form.append(len(value))
        inputs += value
        return all(type(v) is Tensor or type(v) is Variable for v in value)
    if role in TENSOR_ROLES:
        form.append(kind)
        if value is None:
            return True
        inputs.append(value)
        return role == "Same" and (kind is float or kind is int)
    if kind is tuple or kind is list:
        if not all(type(v) is int for v in value):
            return False
        form += (kind, *value, kind)
        return True
    form += (kind, value.hex() if kind is float else value)
    return kind in _PLAIN


def _numbers_fit(inputs: list[Any]) -> bool:
    """Whether the Python numbers stand beside a tensor whose dtype they can take."""
    first = None
    for value in inputs:
        if type(value) is not float and type(value) is not int:
            first = value.tensor.aval if type(value) is Variable else value.aval
            break
    if first is None:
        return False
    return first.inexact or not any(
        type(v) is float or (type(v) is int and first.dtype.kind == "b") for v in inputs
    )


def keyword_key(kwargs: dict[str, Any]) -> Key | None:
    """The key of `OpDef.by_keywords`: 1, 1.0 and True are equal, so types belong to it."""
    key = (*kwargs.items(), *map(type, kwargs.values()))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def remember_keywords(definition: OpDef, kwargs: dict[str, Any], kernel: Kernel) -> None:
    """Keep the kernel for calls with these keywords and no static argument before them."""
    if all(type(value) in _SIMPLE for value in kwargs.values()):
        if len(definition.by_keywords) >= _LIMIT:
            definition.by_keywords.clear()
        definition.by_keywords[keyword_key(kwargs)] = kernel


def remember(definition: OpDef, key: Key, kernel: Kernel) -> None:
    """Keep the kernel for calls of this form."""
    if len(definition.memo) >= _LIMIT:
        definition.memo.clear()
    definition.memo[key] = kernel
