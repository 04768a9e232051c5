"""Tracing: a Python function run once on placeholder tensors becomes one kernel."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.avals import Aval
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.executable import Check, Plan
from tapejax._src.engine.hidden import hidden_input
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.program import Builder
from tapejax._src.engine.recorder import LOCAL, Recorder, new_recorder
from tapejax._src.engine.recording import advance, boundary, number_of, record
from tapejax._src.engine.registry import ValueCheck
from tapejax._src.function.expansion import Expansion
from tapejax._src.ops.assignment import rebind_all
from tapejax._src.tape.translated_rule import translated

_NO_VALUE = (
    "Using a symbolic `tf.Tensor` as a Python value is not allowed: the function {name!r} is being "
    "traced, so its tensors have shapes and dtypes but no values. Use tf ops instead of Python "
    "control flow, float(), bool() or numpy(), or call the function eagerly "
    "(tf.config.run_functions_eagerly(True))."
)


class Hidden(NamedTuple):
    """An input of a traced function that is drawn anew at each call."""

    make: Callable[[], Any]


def _outside(tensor: Tensor, drawn: Sequence[tuple[Tensor, Callable[[], Any]]]) -> Any:
    """What a call supplies for a tensor from outside: its variable, itself, something drawn."""
    for hidden, make in drawn:
        if hidden is tensor:
            return Hidden(make)
    cell = getattr(tensor, "cell", None)
    variable = None if cell is None else cell()
    return tensor if variable is None else variable


class Trace:
    """A function traced for one signature.

    Attributes:
        kernel: The program as a kernel of (arguments, what it reads from outside).
        expanded: The same, recorded op by op where a tape or another function records it.
        outside: What it reads from outside: variables, tensors, and `Hidden` inputs.
        written: The variables it assigns, in the order of the kernel's last outputs.
        template: The structure it returns, with 0 for each tensor.
        count: How many tensors it returns.
    """

    def __init__(self, name: str, fn: Callable[..., Any], avals: Sequence[Aval]) -> None:
        outer, active = LOCAL.recorder, LOCAL.active
        recorder = new_recorder(_NO_VALUE.format(name=name))
        recorder.limit = 1 << 60
        LOCAL.active = []
        try:
            arguments = [_placeholder(recorder, n, aval) for n, aval in enumerate(avals)]
            returned = fn(*arguments)
            self._finish(name, recorder, returned)
        finally:
            _restore(recorder)
            LOCAL.recorder, LOCAL.active = outer, active

    def _finish(self, name: str, recorder: Recorder, returned: Any) -> None:
        flat = nest.flatten(returned, expand_composites=True)
        outs = [as_tensor(x) for x in flat if x is not None]
        self.template = nest.pack_sequence_as(
            returned, [None if x is None else 0 for x in flat], expand_composites=True
        )
        numbers = [number_of(t) for t in outs]
        writes = {id(variable): (variable, n) for variable, _, n, _ in recorder.assigned}
        numbers += [number for _, number in writes.values()]
        self.written = [variable for variable, _ in writes.values()]
        drawn = recorder.hidden or []
        self.outside = [_outside(t, drawn) for t in recorder.kept or []]
        self.kernel, self.expanded = _program_kernels(name, recorder, numbers)
        self._callbacks = recorder.callbacks
        self._recorder = recorder
        self.count = len(outs)

    def call(self, arguments: Sequence[Any]) -> Any:
        """Record a call; variables it assigns get their new values."""
        outside = [hidden_input(x.make) if type(x) is Hidden else x for x in self.outside]
        results = self._record([*arguments, *outside])
        rebind_all(self.written, results[self.count :])
        values = iter(results)
        flat = nest.flatten(self.template, expand_composites=True)
        return nest.pack_sequence_as(
            self.template,
            [None if x is None else next(values) for x in flat],
            expand_composites=True,
        )

    def _record(self, inputs: list[Any]) -> list[Tensor]:
        recorder = LOCAL.recorder
        if not LOCAL.active and recorder.symbolic is None:
            return record(self.kernel, inputs)
        limit = recorder.limit
        recorder.limit = 1 << 60  # rules must be known before the program may be cut
        try:
            results = record(self.expanded, inputs)
            if self._callbacks:
                self._register_rules(recorder)
        finally:
            recorder.limit = limit
        if recorder.node.depth > limit:
            boundary(recorder)
        return results

    def _register_rules(self, recorder: Recorder) -> None:
        """Let the custom gradients inside see the values of this call."""
        assert recorder.node.memo is not None
        mapping = recorder.node.memo["expansion"]
        for first, rule in self._callbacks.items():
            if first in mapping:
                recorder.callbacks[mapping[first]] = translated(rule, mapping, self._recorder)


def _placeholder(recorder: Recorder, place: int, aval: Aval) -> Tensor:
    edge = ("argument", place, aval)
    node = recorder.node.edges.get(edge)
    if node is None:
        builder = Builder(recorder.node, list(recorder.avals()))
        builder.node.result = builder.leaf(aval)
        node = builder.attach(edge)
    advance(recorder, node)
    tensor = Tensor(aval, recorder, node.result)
    recorder.leaves.append(weakref.ref(tensor))
    recorder.values.append(None)
    recorder.owned.append(False)
    return tensor


def _restore(recorder: Recorder) -> None:
    """Give the variables back the values they had before the trace."""
    for variable, _, _, before in reversed(recorder.assigned):
        if before is not None:
            variable.hold(before)
    recorder.assigned = []
    recorder.kept = None
    recorder.done = True


def _program_kernels(
    name: str, recorder: Recorder, numbers: Sequence[int]
) -> tuple[Kernel, Kernel]:
    """The program as one opaque op, and as one that is expanded where it is recorded."""
    plan = Plan(recorder.node, tuple(numbers), None, {})
    checks, checking = plan.checks, Plan(recorder.node, (), None, {})
    expansion = Expansion(recorder.node, plan, recorder.floats, recorder.ints)
    plan.checks = []
    floats = np.array(recorder.floats, np.float64)
    ints = np.array(recorder.ints, np.int64)

    def run(*leaves: Any) -> list[Any]:
        return plan(floats, ints, *leaves)[0]

    def fails(*leaves: Any) -> tuple[Any, ...]:
        failures = checking(floats, ints, *leaves)[1]
        failed = failures[:, 0] > 0
        first = jnp.argmax(failed)
        return (jnp.any(failed), first, *[failures[first, n] for n in range(1, 7)])

    check = ValueCheck(fails, lambda first, *rest: _message(checks, first, rest))
    opaque = Kernel(name, run, node=f"__inference_{name}", check=check if checks else None)
    return opaque, Kernel(name, run, node=f"__inference_{name}", expansion=expansion)


def _message(checks: Sequence[Check], first: float, details: Sequence[float]) -> str:
    check = checks[int(first)]
    line = "" if check.line is None else f", recorded at {check.line[0]}:{check.line[1]}"
    message = check.bound.message(*details[: check.bound.details])
    return f"{message} [Op:{check.kernel.node}{line}]"
