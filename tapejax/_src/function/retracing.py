"""Why a function was traced again, and TensorFlow's warning when that happens too often."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast

from tapejax._src.core.avals import Aval

THRESHOLD = 5
HISTORY = 10
WARNINGS = 2
"""As in TensorFlow: 5 traces within 10 calls are worth a warning, of which there are two."""


class Retrace(NamedTuple):
    """One trace of a function.

    Attributes:
        number: 1 for the first trace.
        seconds: How long tracing took, compiling not counted.
        cause: Which argument changed from what to what.
        cure: What to write instead.
    """

    number: int
    seconds: float
    cause: str
    cure: str

    def __str__(self) -> str:
        text = f"trace {self.number} ({self.seconds:.3f} s): {self.cause}"
        return f"{text} {self.cure}" if self.cure else text


class Detector:
    """Counts the calls of one piece of code, for the warning.

    Attributes:
        quiet: Calls without a trace since the last one with.
        has_traced: Whether there was one with.
    """

    def __init__(self) -> None:
        self.quiet = 0
        self.has_traced = False
        self._calls: list[int] = []
        self._warned = 0

    def traced(self, what: str, cause: str) -> None:
        """Note a call that traced; warns if there were many of late."""
        self.has_traced = True
        if self._calls:
            self._calls[-1] += self.quiet
        elif self.quiet:
            self._calls.append(self.quiet)
        self.quiet = 0
        self._calls.append(1)
        while sum(self._calls) - self._calls[0] > HISTORY:
            self._calls.pop(0)
        if len(self._calls) < THRESHOLD or self._warned >= WARNINGS:
            return
        self._warned += 1
        logging.getLogger("tensorflow").warning(
            "%d out of the last %d calls to %s triggered tf.function retracing. Tracing is "
            "expensive and the excessive number of tracings could be due to (1) creating "
            "@tf.function repeatedly in a loop, (2) passing tensors with different shapes, (3) "
            "passing Python objects instead of tensors. For (1), please define your @tf.function "
            "outside of the loop. For (2), @tf.function has reduce_retracing=True option that can "
            "avoid unnecessary retracing. For (3), please refer to "
            "https://www.tensorflow.org/guide/function#controlling_retracing and "
            "https://www.tensorflow.org/api_docs/python/tf/function for  more details. "
            "The cause here: %s",
            len(self._calls),
            sum(self._calls),
            what,
            cause,
        )


_DETECTORS: weakref.WeakKeyDictionary[Any, Detector] = weakref.WeakKeyDictionary()


def detector_of(fn: Callable[..., Any]) -> Detector:
    """The detector of a function's code: one made again in a loop shares it."""
    code = getattr(fn, "__code__", None)
    if code is None:
        return Detector()
    found = _DETECTORS.get(code)
    if found is None:
        found = _DETECTORS[code] = Detector()
    return found


class Log:
    """The traces of one function, with their reasons."""

    def __init__(self) -> None:
        self.records: list[Retrace] = []
        self._keys: list[dict[str, Any]] = []

    def add(self, arguments: Mapping[str, Any], seconds: float, anew: bool) -> Retrace:
        """Note a trace.

        Args:
            arguments: The part of the key of each argument.
            seconds: How long it took.
            anew: Whether the same code has been traced before as another `tf.function`.
        """
        cause, cure = self._reason(arguments, anew)
        record = Retrace(len(self.records) + 1, seconds, cause, cure)
        self.records.append(record)
        self._keys.append(dict(arguments))
        return record

    def _reason(self, arguments: Mapping[str, Any], anew: bool) -> tuple[str, str]:
        if not self._keys:
            if anew:
                return (
                    "the tf.function was made anew from the same code.",
                    "Make it once, outside the loop or function that makes it again.",
                )
            return "the first call.", ""
        closest = min(reversed(self._keys), key=lambda known: len(_changed(known, arguments)))
        changed = _changed(closest, arguments)
        if not changed:
            return "an object passed before is gone, or something the trace used is.", _KEEP
        texts = [
            f"argument {name!r} changed from {_text(closest.get(name))} to "
            f"{_text(arguments.get(name))}"
            for name in changed
        ]
        name = changed[0]
        return "; ".join(texts) + ".", _cure(name, closest.get(name), arguments.get(name))


def _changed(known: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    names = dict.fromkeys((*known, *arguments))
    return [name for name in names if known.get(name) != arguments.get(name)]


_KEEP = "Keep the object alive and pass the same one."


def _cure(name: str, before: Any, now: Any) -> str:
    if isinstance(before, Aval) and isinstance(now, Aval):
        if before.dtype != now.dtype:
            return f"Pass {name!r} in one dtype (tf.cast), or mean both."
        return (
            f"Each shape is compiled by itself: pad {name!r} to one size, or drop the last "
            "incomplete batch (drop_remainder=True)."
        )
    if isinstance(now, (int, float)) and isinstance(before, (int, float, Aval)):
        return f"Each Python value is a constant of its own trace: pass tf.constant({name})."
    if isinstance(now, weakref.ref):
        return f"Objects are told apart by `==`: make {name!r} once and pass the same one."
    return f"Pass {name!r} in one form; values that change should be tensors."


def _text(part: Any) -> str:
    """A part of a key in words."""
    if isinstance(part, Aval):
        return repr(part)
    if isinstance(part, weakref.ref):
        referent = part()
        return "an object that is gone" if referent is None else repr(referent)
    if isinstance(part, tuple) and part:
        return _container_text(cast("tuple[Any, ...]", part))
    return repr(part)


def _container_text(part: tuple[Any, ...]) -> str:
    kind, *items = part
    if kind == "variable":
        return f"Variable({items[1]!r})" if len(items) > 1 else "a variable passed twice"
    if not isinstance(kind, type):
        return str(kind)
    if items and isinstance(items[0], tuple) and issubclass(kind, Mapping):
        pairs = zip(items[0], items[1:], strict=True)
        return f"{kind.__name__}({', '.join(f'{k}={_text(v)}' for k, v in pairs)})"
    return f"{kind.__name__}({', '.join(map(_text, items))})"
