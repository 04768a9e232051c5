"""What a `tf.function` is made of: the user's function, its options, and what it remembers."""

from __future__ import annotations

import inspect
import logging
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapejax._src.core.avals import Aval
from tapejax._src.core.shapes import TensorShape
from tapejax._src.engine.numerics import FORGET
from tapejax._src.function.host_run import RunOnHost
from tapejax._src.function.retracing import Log, detector_of
from tapejax._src.function.signature import Signature, signature_of
from tapejax._src.function.trace import Trace
from tapejax._src.function.trace_key import generic, refers_to, without_texts


class Convert:
    """Where the conversion of Python control flow is put in.

    Attributes:
        converter: Takes a function and returns one whose `if`, `while` and `for` may depend on
            tensors. None: functions run as they are.
    """

    def __init__(self) -> None:
        self.converter: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None


CONVERT = Convert()


_RUNS_AS_PYTHON = (
    "tf.function %r runs as Python, its ops compiled piece by piece, because it cannot be compiled "
    "as a whole: %s: %s"
)


class Options(NamedTuple):
    """How a function is to be traced.

    Attributes:
        input_signature: The specs of its arguments, or None.
        autograph: Whether to convert Python control flow.
        reduce_retracing: Whether traces of several shapes count as one.
    """

    input_signature: Any = None
    autograph: bool = True
    reduce_retracing: bool = False


class Definition:
    """The user's function with its options; methods of all objects share one.

    Attributes:
        python_function: The function as the user wrote it.
        name: What it is called.
        options: How it is traced.
        signature: Its signature; `method_signature` is the one without the first parameter.
        detector: Counts calls of the same code.
    """

    def __init__(self, python_function: Callable[..., Any], name: str, options: Options) -> None:
        self.python_function = python_function
        self.name = name
        self.options = options
        self.detector = detector_of(python_function)
        self._has_warned = False
        self._converted: Callable[..., Any] | None = None
        self._parameters = signature_of(python_function)
        known = () if self._parameters is None else tuple(self._parameters.parameters)
        specs = options.input_signature
        is_method = bool(known) and known[0] in ("self", "cls")
        self.method_signature = Signature(self._without_first(), specs) if is_method else None
        self.signature = Signature(self._parameters, None if is_method else specs)

    def _without_first(self) -> inspect.Signature | None:
        parameters = self._parameters
        if parameters is None:
            return None
        first, *rest = parameters.parameters.values()
        if first.kind is inspect.Parameter.VAR_POSITIONAL:
            return parameters
        return parameters.replace(parameters=rest)

    def signature_for(self, is_bound: bool) -> Signature:
        """The signature that a call binds to."""
        if not is_bound:
            return self.signature
        if self.method_signature is None:
            specs = self.options.input_signature
            self.method_signature = Signature(self._without_first(), specs)
        return self.method_signature

    def warn(self, need: RunOnHost) -> None:
        """Say once that the function runs as Python, if a program could not hold something."""
        if need.place is not None and not self._has_warned:
            self._has_warned = True
            logging.getLogger("tensorflow").warning(
                _RUNS_AS_PYTHON, self.name, need.place, need.reason
            )

    def runnable(self) -> Callable[..., Any]:
        """The function to trace: converted, if that is wanted and possible."""
        converter = CONVERT.converter
        if converter is None or not self.options.autograph:
            return self.python_function
        if self._converted is None:
            self._converted = converter(self.python_function)
        return self._converted


class General:
    """A signature with unknown dimensions: traces of all sizes it covers count as one.

    Args:
        key: The key of a call.
        shapes: The shapes of its tensors.
    """

    def __init__(self, key: Any, shapes: Sequence[TensorShape]) -> None:
        self._key = generic(key)
        self.shapes = list(shapes)

    def is_like(self, key: Any) -> bool:
        """Whether calls differ from this in shapes at most."""
        return generic(key) == self._key

    def covers(self, key: Any, avals: Sequence[Aval]) -> bool:
        """Whether a call is one of these."""
        return self.is_like(key) and all(
            shape.is_compatible_with(aval.tf_shape)
            for shape, aval in zip(self.shapes, avals, strict=True)
        )

    def relax(self, avals: Sequence[Aval]) -> None:
        """Cover a call of other shapes too."""
        self.shapes = [
            shape.most_specific_compatible_shape(aval.tf_shape)
            for shape, aval in zip(self.shapes, avals, strict=True)
        ]


MOST_TEXTS = 8
"""How many traces a signature has that differ in the strings they are given."""
_STATES: weakref.WeakSet[State] = weakref.WeakSet()


def forget_traces() -> None:
    """Have every function trace anew."""
    for state in list(_STATES):
        state.traces.clear()
        state.quick.clear()
        state.texts.clear()


FORGET.append(forget_traces)


class State:
    """What a function (or a method of one object) remembers.

    Attributes:
        traces: Its traces by key; `NoTrace` where calls run as Python.
        quick: The same for calls with nothing but tensors, by their avals.
        count: How many signatures were traced, as TensorFlow counts.
        called: Whether variables can no longer be created.
        generals: Signatures that cover several traces.
        concrete: The concrete functions, one for each signature counted.
        texts: How many traces there are of each signature with strings, whatever the strings.
        log: Why each trace was made.
        contexts: What it remembers for each replica that called it.
    """

    def __init__(self) -> None:
        self.traces: dict[Any, Any] = {}
        self.quick: dict[Any, Trace] = {}
        self.count = 0
        self.called = False
        self.generals: list[General] = []
        self.concrete: list[Any] = []
        self.texts: dict[Any, int] = {}
        self.log = Log()
        self.contexts: dict[Any, State] = {}
        _STATES.add(self)

    def within(self, context: Any) -> State:
        """What it remembers where more than the arguments decides about a trace.

        Args:
            context: That, hashable.
        """
        found = self.contexts.get(context)
        if found is None:
            found = self.contexts[context] = State()
        return found

    def forget(self, reference: weakref.ref[Any]) -> None:
        """Drop the traces of an object that is gone."""
        gone = [key for key in self.traces if refers_to(key, reference)]
        traces = [self.traces.pop(key, None) for key in gone]
        self.concrete = [known for known in self.concrete if not known.is_made_of(traces)]

    def count_texts(self, key: Any) -> None:
        """Count a trace to be made, if strings are part of its key.

        Raises:
            RunOnHost: If there are enough of other strings: each trace is compiled and kept.
        """
        form = without_texts(key)
        if form is key:
            return
        number = self.texts.get(form, 0)
        if number >= MOST_TEXTS:
            raise RunOnHost("it is given ever new strings, which are constants of a program")
        self.texts[form] = number + 1

    def is_counted(self, key: Any, avals: Sequence[Aval]) -> bool:
        """Whether a signature counted before covers this call."""
        return any(known.covers(key, avals) for known in self.generals)

    def relax(self, key: Any, avals: Sequence[Aval]) -> bool:
        """Widen a known signature to cover this call; False when none differs in shapes only."""
        for known in self.generals:
            if known.is_like(key):
                known.relax(avals)
                return True
        self.generals.append(General(key, [aval.tf_shape for aval in avals]))
        return False
