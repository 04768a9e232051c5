"""What stands for Python's builtins in converted code, where an argument is a tensor."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.function.staging.iteration import Counted, Zipped, can_be_staged
from tapejax._src.function.staging.values import is_staged
from tapejax._src.ops.arithmetic import maximum, minimum
from tapejax._src.ops.casting import cast
from tapejax._src.ops.comparison import logical_and, logical_or
from tapejax._src.ops.creation import range as tensor_range
from tapejax._src.ops.lazy_range import LazyRange
from tapejax._src.ops.permuting import reverse
from tapejax._src.ops.reduction import (
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_min,
    reduce_sum,
)
from tapejax._src.ops.rounding import round as tensor_round
from tapejax._src.ops.sorting import sort


def _staged_tensor(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable)) and is_staged(value)


def _range(*bounds: Any) -> Any:
    return tensor_range(*bounds) if any(is_staged(b) for b in bounds) else range(*bounds)


def _int(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and is_staged(args[0]):
        return cast(args[0], "int32")
    return int(*args, **kwargs)


def _float(value: Any = 0.0, /) -> Any:
    return cast(value, "float32") if is_staged(value) else float(value)


def _bool(value: Any = False, /) -> Any:
    return cast(value, "bool") if is_staged(value) else bool(value)


def _len(value: Any) -> Any:
    return value.count if isinstance(value, LazyRange) else len(value)


def _enumerate(iterable: Any, start: int = 0) -> Any:
    return Counted(iterable, start) if can_be_staged(iterable) else enumerate(iterable, start)


def _zip(*iterables: Any, **kwargs: Any) -> Any:
    if any(can_be_staged(iterable) for iterable in iterables):
        return Zipped(iterables)
    return zip(*iterables, **kwargs)  # noqa: B905  `strict` is the user's


def _extreme(python: Any, pairwise: Any, reduced: Any) -> Callable[..., Any]:
    def extreme(first: Any, *others: Any, **kwargs: Any) -> Any:
        if not others and _staged_tensor(first):
            return reduced(first)
        values: Any = (first, *others) if others else first
        plain = not kwargs and isinstance(values, (list, tuple))
        if plain and any(is_staged(value) for value in values):
            return functools.reduce(pairwise, values)
        return python(first, *others, **kwargs)

    return extreme


def _quantifier(python: Any, pairwise: Any, reduced: Any) -> Callable[[Any], Any]:
    def quantifier(values: Any) -> Any:
        if _staged_tensor(values):
            return reduced(values)
        if not isinstance(values, (list, tuple)) or not any(is_staged(value) for value in values):
            return python(values)
        return functools.reduce(pairwise, values)

    return quantifier


def _sum(values: Any, *start: Any) -> Any:
    if _staged_tensor(values) and not start:
        return reduce_sum(values, 0)
    return sum(values, *start)


def _reversed(values: Any) -> Any:
    return reverse(values, [0]) if _staged_tensor(values) else reversed(values)


def _round(value: Any, *digits: Any) -> Any:
    return tensor_round(value) if _staged_tensor(value) and not digits else round(value, *digits)


def _sorted(values: Any, **kwargs: Any) -> Any:
    if _staged_tensor(values) and kwargs.get("key") is None:
        return sort(values, direction="DESCENDING" if kwargs.get("reverse") else "ASCENDING")
    return sorted(values, **kwargs)


OVERLOADS: dict[Any, Callable[..., Any]] = {
    builtins.range: _range,
    builtins.int: _int,
    builtins.float: _float,
    builtins.bool: _bool,
    builtins.len: _len,
    builtins.enumerate: _enumerate,
    builtins.zip: _zip,
    builtins.min: _extreme(min, minimum, reduce_min),
    builtins.max: _extreme(max, maximum, reduce_max),
    builtins.any: _quantifier(any, logical_or, reduce_any),
    builtins.all: _quantifier(all, logical_and, reduce_all),
    builtins.sum: _sum,
    builtins.sorted: _sorted,
    builtins.reversed: _reversed,
    builtins.round: _round,
}
"""Builtin -> what converted code calls instead."""
