"""The `cases` of an op as data: parse a case string and draw arguments that satisfy it.

A case is written like a call: arguments separated by commas, positional ones first, then `name=`.
An argument is an aval (`f32[2,3]`, with an optional domain and modifiers: `f32[4] in (0, 1)
sorted`), a list or tuple of arguments (`[f32[2], f32[3]]`), a dtype (`tf.int32`) or a Python
literal (`1`, `"VALID"`, `None`, `(1, 2)`).
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

DTYPES: Mapping[str, np.dtype[Any]] = {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "u8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "bool": np.dtype(np.bool_),
}
MODIFIERS = ("sorted", "distinct", "psd", "simplex")

_AVAL = re.compile(r"^([a-z]+\d*)\[([^\]]*)\]\s*(.*)$", re.DOTALL)
_DOMAIN = re.compile(r"^in\s*\(([^,()]+),([^,()]+)\)\s*(.*)$", re.DOTALL)
_KEYWORD = re.compile(r"^([A-Za-z_]\w*)\s*=(?!=)\s*(.*)$", re.DOTALL)
_DTYPE = re.compile(r"^tf\.([a-z]+\d*)$")
_OPENING = {"(": ")", "[": "]", "{": "}"}
_CLEARANCE = 0.03  # distance of drawn floats from zero, where many functions have a kink or a pole


class CaseError(ValueError):
    """A case string does not follow the grammar."""


@dataclass(frozen=True)
class Aval:
    """One tensor argument: dtype, shape, and the set its values are drawn from."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    domain: tuple[float, float] | None = None
    modifiers: tuple[str, ...] = ()

    @property
    def differentiable(self) -> bool:
        """Whether the dtype is floating or complex."""
        return is_inexact(self.dtype)

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval the values lie in: the domain as written, else the default of the dtype."""
        if self.domain is not None:
            return self.domain
        if self.differentiable:
            return (-2.0, 2.0)
        return (0, 6) if self.dtype.kind == "u" else (-5, 6)


@dataclass(frozen=True)
class DTypeName:
    """A dtype argument: `tf.int32` in the case, looked up by name in the library under test."""

    name: str


@dataclass(frozen=True)
class Case:
    """A parsed case; `args` and `kwargs` hold `Aval`s, `DTypeName`s, literals, lists of them."""

    source: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def avals(self) -> tuple[Aval, ...]:
        """Every tensor argument, in the order written."""
        return tuple(_avals((*self.args, *self.kwargs.values())))

    def draw(self, rng: np.random.Generator) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Draw the arguments of one call.

        Args:
            rng: source of randomness; equal generators draw equal arguments.

        Returns:
            Positional and keyword arguments, with an `ndarray` in the place of each `Aval`.
        """
        pools = _pools(self.avals, rng)
        args = tuple(_draw(arg, rng, pools) for arg in self.args)
        return args, {name: _draw(arg, rng, pools) for name, arg in self.kwargs.items()}

    def __str__(self) -> str:
        return self.source


def is_inexact(dtype: np.dtype[Any]) -> bool:
    """Whether a NumPy dtype is floating or complex (bfloat16 included)."""
    return dtype.kind in "fc" or dtype == DTYPES["bf16"]


def parse(case: str) -> Case:
    """Parse a case string.

    Args:
        case: for example `"f32[2,3] in (0, 4), axis=1, keepdims=True"`.

    Returns:
        The parsed `Case`.

    Raises:
        CaseError: the string does not follow the grammar; the message names the argument.

    Example:
        >>> from tapejax._src.engine.cases import parse
        >>> parse("f32[2,3], axis=1").avals[0].shape
        (2, 3)
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for text in _split(case, case):
        keyword = _KEYWORD.match(text)
        if keyword is None:
            if kwargs:
                _fail(case, f"the positional argument {text!r} follows a keyword argument")
            args.append(_argument(text, case))
            continue
        name, value = keyword.groups()
        if name in kwargs:
            _fail(case, f"the keyword {name!r} is given twice")
        kwargs[name] = _argument(value, case)
    return Case(case, tuple(args), kwargs)


def _fail(case: str, reason: str) -> NoReturn:
    raise CaseError(
        f"Malformed case {case!r}: {reason}. Write arguments like 'f32[2,3] in (0, 4) sorted', "
        "'[f32[2], f32[3]]', 'tf.int32', '\"VALID\"' or 'axis=1', separated by commas."
    )


def _split(text: str, case: str) -> list[str]:
    """Split at the commas that are outside brackets and quotes."""
    parts: list[str] = []
    closers: list[str] = []
    quote = ""
    start = 0
    for place, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in _OPENING:
            closers.append(_OPENING[char])
        elif char in ")]}":
            if not closers or closers.pop() != char:
                _fail(case, f"unexpected {char!r} in {text!r}")
        elif char == "," and not closers:
            parts.append(text[start:place].strip())
            start = place + 1
    if quote or closers:
        _fail(case, f"missing {quote or closers[-1]!r} in {text!r}")
    last = text[start:].strip()
    if last:
        parts.append(last)
    if "" in parts:
        _fail(case, "an argument is empty")
    return parts


def _argument(text: str, case: str) -> Any:
    aval = _AVAL.match(text)
    if aval is not None:
        return _aval(aval[1], aval[2], aval[3], case)
    dtype = _DTYPE.match(text)
    if dtype is not None:
        return DTypeName(dtype[1])
    if text[:1] in ("[", "(") and _OPENING[text[0]] == text[-1] and "[" in text[1:]:
        items = [_argument(item, case) for item in _split(text[1:-1], case)]
        return items if text[0] == "[" else tuple(items)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        _fail(case, f"{text!r} is neither an aval nor a Python literal")


def _aval(dtype: str, shape: str, rest: str, case: str) -> Aval:
    if dtype not in DTYPES:
        _fail(case, f"unknown dtype {dtype!r}; the dtypes are {', '.join(DTYPES)}")
    sizes = [size.strip() for size in shape.split(",")] if shape.strip() else []
    if not all(size.isdecimal() for size in sizes):
        _fail(case, f"the shape [{shape}] must be a list of sizes")
    domain, rest = _domain(rest, case)
    modifiers = tuple(rest.split())
    for modifier in modifiers:
        if modifier not in MODIFIERS:
            _fail(case, f"unknown modifier {modifier!r}; the modifiers are {', '.join(MODIFIERS)}")
    found = Aval(DTYPES[dtype], tuple(int(size) for size in sizes), domain, modifiers)
    _check_aval(found, f"{dtype}[{shape}]", case)
    return found


def _domain(rest: str, case: str) -> tuple[tuple[float, float] | None, str]:
    if not re.match(r"in\b", rest):
        return None, rest
    match = _DOMAIN.match(rest)
    if match is None:
        _fail(case, f"a domain is written 'in (lo, hi)', not {rest!r}")
    try:
        low, high = float(match[1]), float(match[2])
    except ValueError:
        _fail(case, f"the bounds of a domain are numbers, not {match[1]!r} and {match[2]!r}")
    if not (low < high and math.isfinite(high - low)):
        _fail(case, f"({match[1]}, {match[2]}) is not a bounded, non-empty domain")
    return (low, high), match[3]


def _check_aval(aval: Aval, text: str, case: str) -> None:
    shape, modifiers = aval.shape, aval.modifiers
    if ("psd" in modifiers or "simplex" in modifiers) and not aval.differentiable:
        _fail(case, f"{text} must be floating to be {' '.join(modifiers)}")
    if "psd" in modifiers and (len(shape) < 2 or shape[-1] != shape[-2]):
        _fail(case, f"{text} is not a stack of square matrices, so it cannot be psd")
    if ("sorted" in modifiers or "simplex" in modifiers) and not shape:
        _fail(case, f"{text} is a scalar: {' '.join(modifiers)} needs an axis")
    if aval.dtype.kind == "b" and (aval.domain or modifiers):
        _fail(case, f"{text} takes neither a domain nor modifiers")
    low, high = aval.bounds
    if aval.dtype.kind in "iu":
        info = np.iinfo(aval.dtype)
        if low < info.min or high - 1 > info.max:
            _fail(case, f"the domain of {text} does not fit its dtype")
        if "distinct" in modifiers and high - low < np.prod(shape):
            _fail(case, f"{text} needs more distinct values than the domain has")


def _avals(value: Any) -> Iterator[Aval]:
    if isinstance(value, Aval):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in cast("Sequence[Any]", value):
            yield from _avals(item)


def _parts(aval: Aval) -> int:
    """Real numbers to draw for an aval: two for each complex element."""
    return int(np.prod(aval.shape)) * (2 if aval.dtype.kind == "c" else 1)


def _pools(
    avals: tuple[Aval, ...], rng: np.random.Generator
) -> dict[tuple[float, float], Iterator[float]]:
    """Well separated floats for each interval, shared by all arguments so that they never tie."""
    counts: dict[tuple[float, float], int] = {}
    for aval in avals:
        if aval.differentiable:
            counts[aval.bounds] = counts.get(aval.bounds, 0) + _parts(aval)
    return {bounds: iter(_spread(bounds, n, rng).tolist()) for bounds, n in counts.items()}


def _spread(bounds: tuple[float, float], count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Draw one number from the middle half of each of `count` slots of an open interval."""
    low, high = bounds
    clearance = min(_CLEARANCE, 0.05 * (high - low))
    position = (np.arange(count) + rng.uniform(0.25, 0.75, count)) / max(count, 1)
    below = max(min(high, -clearance) - low, 0.0)
    above = max(high - max(low, clearance), 0.0)
    distance = position * (below + above)
    values = np.where(distance < below, low + distance, max(low, clearance) + distance - below)
    return rng.permutation(values)


def _draw(
    value: Any, rng: np.random.Generator, pools: Mapping[tuple[float, float], Iterator[float]]
) -> Any:
    if isinstance(value, Aval):
        return _draw_aval(value, rng, pools)
    if isinstance(value, (list, tuple)):
        items = [_draw(item, rng, pools) for item in cast("Sequence[Any]", value)]
        return items if isinstance(value, list) else tuple(items)
    return value


def _draw_aval(
    aval: Aval, rng: np.random.Generator, pools: Mapping[tuple[float, float], Iterator[float]]
) -> NDArray[Any]:
    if aval.dtype.kind == "b":
        values = rng.permutation(np.arange(int(np.prod(aval.shape))) % 2 == rng.integers(2))
    elif aval.differentiable:
        values = np.array([next(pools[aval.bounds]) for _ in range(_parts(aval))], np.float64)
        values = values.view(np.complex128) if aval.dtype.kind == "c" else values
    else:
        values = _integers(aval, rng)
    values = values.reshape(aval.shape)
    for modifier in aval.modifiers:
        values = _SHAPING.get(modifier, _unchanged)(values)
    return np.asarray(values).astype(aval.dtype)


def _integers(aval: Aval, rng: np.random.Generator) -> NDArray[Any]:
    low, high = (int(bound) for bound in aval.bounds)
    size = int(np.prod(aval.shape))
    if "distinct" in aval.modifiers:
        return low + rng.permutation(high - low)[:size]
    dtype = np.uint64 if aval.dtype == np.uint64 else np.int64
    return rng.integers(low, high, size, dtype)


def _unchanged(values: NDArray[Any]) -> NDArray[Any]:
    return values


def _sort(values: NDArray[Any]) -> NDArray[Any]:
    return np.sort(values, axis=-1)


def _positive_definite(values: NDArray[Any]) -> NDArray[Any]:
    transposed = np.conj(np.swapaxes(values, -1, -2))
    product = values @ transposed / max(values.shape[-1], 1) + np.eye(values.shape[-1])
    return (product + np.conj(np.swapaxes(product, -1, -2))) / 2  # Hermitian to the last bit


def _on_simplex(values: NDArray[Any]) -> NDArray[Any]:
    weights = np.abs(values)
    return weights / np.sum(weights, axis=-1, keepdims=True)


_SHAPING: Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "sorted": _sort,
    "psd": _positive_definite,
    "simplex": _on_simplex,
}
