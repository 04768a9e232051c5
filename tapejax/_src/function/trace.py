"""Tracing: a Python function run once on placeholder tensors becomes one kernel."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from tapejax._src.core.avals import Aval
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.checks import BoundCheck
from tapejax._src.engine.direct import Direct
from tapejax._src.engine.executable import Check, Plan
from tapejax._src.engine.hidden import Source, hidden_input, within_function
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.names import ARGUMENT
from tapejax._src.engine.program import ROOT, Builder, Program, needed
from tapejax._src.engine.recorder import LOCAL, Recorder, flush, new_recorder
from tapejax._src.engine.recording import advance, boundary, number_of, record
from tapejax._src.engine.registry import ValueCheck
from tapejax._src.function.boundary import Trimmed
from tapejax._src.function.expansion import Expansion
from tapejax._src.function.host_run import RunOnHost, taken_back
from tapejax._src.function.returned import Returned
from tapejax._src.ops.assignment import note_access, rebind_all
from tapejax._src.tape.translated_rule import translated

_NO_VALUE = (
    "Using a symbolic `tf.Tensor` as a Python value is not allowed: the function {name!r} is being "
    "traced, so its tensors have shapes and dtypes but no values. Use tf ops instead of Python "
    "control flow, float(), bool() or numpy(), or call the function eagerly "
    "(tf.config.run_functions_eagerly(True))."
)


_FEW = 8
"""Ops that may be run for a check, and again in the program."""


class Hidden(NamedTuple):
    """An input of a traced function that is drawn anew at each call."""

    source: Source


class Argument(NamedTuple):
    """A variable that was passed as an argument: at each call another may be in its place."""

    place: int


class Request(NamedTuple):
    """What is to be traced.

    Attributes:
        name: The function's name.
        user: The user's function.
        fn: The same as a function of the placeholders.
        inputs: The tensors of the call, in whose place there are placeholders.
        names: The names of the placeholders.
        variables: The variables among the arguments.
        has_values: Whether the inputs are those of a call, and not only described.
    """

    name: str
    user: Callable[..., Any]
    fn: Callable[..., Any]
    inputs: Sequence[Tensor]
    names: Sequence[str]
    variables: Sequence[Variable]
    has_values: bool


class _Ahead:
    """The check of a traced function, made before the function runs.

    A program with a check must be able to give each variable back the value it had: it holds old
    and new values at once. Looking at labels or indices beforehand costs next to nothing, and the
    program itself then needs no check.

    Args:
        check: The check of the function's kernel.
    """

    def __init__(self, check: BoundCheck) -> None:
        self._check = check

    def passes(self, inputs: Sequence[Any]) -> bool:
        """Whether the call is known to succeed: False also where that cannot be found out."""
        check = self._check
        tensors: list[Tensor] = [x.tensor if type(x) is Variable else x for x in inputs]
        avals = tuple([t.aval for t in tensors])
        positions = check.reads(avals) or ()
        if not positions:
            return True
        first = tensors[positions[0]]
        single = len(positions) == 1
        if single and check.has_passed(avals, first):
            return True
        read = [tensors[n].array for n in positions]
        if any(array is None or isinstance(array, Tracer) for array in read):
            return False
        if check.failure(tensors, positions) is not None:
            return False
        if single:
            check.note_passed(avals, first)
        return True


class Placement(Protocol):
    """Where the arrays of a function are put that uses variables on several devices."""

    def arguments(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """The arguments of a call, on the devices."""
        ...

    def written(self, arrays: Sequence[Any]) -> list[Any]:
        """The values assigned to variables, within the program."""
        ...


class Placing:
    """Which functions have a placement; set by the layer that knows of devices."""

    of: Callable[[Sequence[Variable], Sequence[Variable]], Placement | None]
    """The placement of a function that uses some variables, and assigns some of them."""


def _nowhere(variables: Sequence[Variable], written: Sequence[Variable]) -> None:
    del variables, written


PLACING = Placing()
PLACING.of = _nowhere


class Trace:
    """A function traced for one signature.

    Attributes:
        kernel: The program as a kernel of (arguments, what it reads from outside).
        expanded: The same, recorded op by op where a tape or another function records it.
        outside: What it reads from outside: variables, tensors, and `Hidden` inputs; `Argument` for
            a variable that was passed.
        written: The variables it assigns, in the order of the kernel's last outputs.
        returned: What it returns.
        can_fail: Whether a call may raise because of the values it gets.
    """

    def __init__(self, request: Request) -> None:
        outer, active = LOCAL.recorder, LOCAL.active
        recorder = new_recorder(_NO_VALUE.format(name=request.name))
        recorder.effects = []
        recorder.limit = 1 << 60
        if request.has_values:
            recorder.initial = lambda tensor: _initial_value(recorder, request.inputs, tensor)
        LOCAL.active = []
        try:
            arguments = [
                _placeholder(recorder, n, tensor.aval, name)
                for n, (tensor, name) in enumerate(zip(request.inputs, request.names, strict=True))
            ]
            returned = request.fn(*arguments)
            self._finish(request, recorder, returned)
        finally:
            _restore(recorder)
            LOCAL.recorder, LOCAL.active = outer, active

    def _finish(self, request: Request, recorder: Recorder, returned: Any) -> None:
        self.returned = Returned(returned, request.user)
        numbers = [number_of(t) for t in self.returned.tensors]
        self.returned.tensors = []
        writes = {id(variable): (variable, n) for variable, _, n, _ in recorder.assigned}
        numbers += [number for _, number in writes.values()]
        given = {id(v): Argument(n) for n, v in enumerate(request.variables)}
        drawn = recorder.hidden or []
        found = [_outside(t, drawn) for t in recorder.kept or []]
        self.outside: list[Any] = [given.get(id(x), x) for x in found]
        self.written: list[Any] = [given.get(id(v), v) for v, _ in writes.values()]
        read = {id(x) for x in self.outside}
        self._unread = [x for x in self.written if id(x) not in read]
        self._fixed = not any(type(x) in (Hidden, Argument) for x in self.outside + self.written)
        self._placement = PLACING.of(self.variables, self._assigned(request.variables))
        self.kernel, self.expanded = _program_kernels(
            request.name, recorder, numbers, len(writes), self._placement
        )
        self.expanded.expansion.hand_out(request.name, len(self.returned.avals))
        self._checked = self.kernel.check is not None
        first = len(request.inputs)
        place = {id(x): first + n for n, x in enumerate(self.outside)}
        places = [place.get(id(x), -1) for x in self.written]
        self._direct = Direct(self.kernel, places)
        self._ahead: _Ahead | None = None
        check = self.kernel.check
        if check is not None and _reads_integers_only(recorder.node):
            self._ahead = _Ahead(check)
            self._direct = Direct(self.kernel.unchecked(), places)
        self._callbacks = recorder.callbacks
        last = {number for _, number in writes.values()}
        self._between = [
            (given.get(id(v), v), n) for v, _, n, _ in recorder.assigned if n not in last
        ]
        self._recorder = recorder
        self._effects = recorder.effects or []
        self._opaque = bool(numbers) and not self.kernel.effect
        self._at_call = self.kernel.effect or _asserts(recorder.node)
        self._at_call = self._at_call or (self._checked and not numbers)
        self.can_fail = self._checked or self._at_call

    @property
    def variables(self) -> list[Variable]:
        """The variables it reads or assigns, by order of creation."""
        found = [x for x in self.outside + self.written if isinstance(x, Variable)]
        return sorted({v.serial: v for v in found}.values(), key=lambda v: v.serial)

    def _assigned(self, given: Sequence[Variable]) -> list[Variable]:
        """The variables it assigns; of the arguments, those of the call it is traced for."""
        return [given[x.place] if type(x) is Argument else x for x in self.written]

    def call(self, arguments: Sequence[Any], variables: Sequence[Variable] = ()) -> Any:
        """Record a call; variables it assigns get their new values."""
        outside, written = self.outside, self.written
        if self._placement is not None and LOCAL.recorder.symbolic is None:
            arguments = self._placement.arguments(arguments)
        if not self._fixed:
            outside = _all_supplied(outside, variables)
            written = [_supplied(x, variables) for x in written]
        inputs = [*arguments, *outside]
        recorder = LOCAL.recorder
        if not LOCAL.active and recorder.symbolic is None and self._opaque:
            return self.returned.pack(self._run(recorder, inputs, written))
        results = self._record_expanded(recorder, inputs)
        if self._between:
            mapping = (recorder.node.memo or {})["expansion"]
            for variable, number in self._between:
                recorder.cells[mapping[number]] = _supplied(variable, variables).reference
        for variable in self._unread:
            note_access(_supplied(variable, variables))
        if written:
            rebind_all(written, results[self.returned.count :])
        if self._at_call:
            self._happen()
        return self.returned.pack(results)

    def _happen(self) -> None:
        """Have what the call does happen now, or whenever the function around is called."""
        recorder = LOCAL.recorder
        if recorder.effects is not None:
            recorder.effects += self._effects
        elif not recorder.inline and not recorder.rules:
            with Trimmed():
                flush()

    def _run(self, recorder: Recorder, inputs: list[Any], written: list[Any]) -> list[Tensor]:
        """Run at once when nothing is pending; else it joins what is."""
        if recorder.assigned:
            flush()  # a step ends here
            recorder = LOCAL.recorder
        alone = recorder.node is ROOT
        kernel = self.kernel
        if alone and (self._ahead is None or self._ahead.passes(inputs)):
            found = self._direct.run(inputs, written)
            if found is not None:
                return found
            kernel = self._direct.kernel
        results = record(kernel, inputs)
        if written:
            rebind_all(written, results[self.returned.count :])
        if (alone or self._checked) and not recorder.inline:
            with Trimmed():
                flush()  # what fails raises at the call
        return results

    def _record_expanded(self, recorder: Recorder, inputs: list[Any]) -> list[Tensor]:
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


def _asserts(node: Program) -> bool:
    """Whether there is a check that the user wrote: the call raises, not the use of its result."""
    ops = [kernel for n in node.path() for kernel, _, _ in n.ops]
    return any(k.check is not None and k.node in ("Assert", "CheckNumerics") for k in ops)


def _reads_integers_only(node: Program) -> bool:
    """Whether the checks of a program look at integers only, computed by a few ops at most."""
    table = node.table()
    read: list[int] = []
    for part in node.path():
        for kernel, ins, _ in part.ops:
            if kernel.check is not None:
                places = kernel.check.reads(tuple([table[i] for i in ins])) or ()
                read += [ins[place] for place in places]
    ops, numbers = needed(node.split_ops(), read)
    return len(ops) <= _FEW and all(table[n].dtype.kind in "biu" for n in numbers)


def _outside(tensor: Tensor, drawn: Sequence[tuple[Tensor, Source]]) -> Any:
    """What a call supplies for a tensor from outside: its variable, itself, something drawn."""
    for hidden, source in drawn:
        if hidden is tensor:
            return Hidden(source)
    cell = getattr(tensor, "cell", None)
    variable = None if cell is None else cell()
    return tensor if variable is None else variable


def _supplied(item: Any, variables: Sequence[Variable]) -> Any:
    """What this call supplies for something from outside."""
    if type(item) is Hidden:
        # Each place where another function calls this one has a source of its own.
        return hidden_input(item.source.apart() if within_function() else item.source)
    return variables[item.place] if type(item) is Argument else item


def _all_supplied(items: Sequence[Any], variables: Sequence[Variable]) -> list[Any]:
    """What this call supplies for everything from outside; nothing is drawn if that fails."""
    found: list[Any] = []
    try:
        for item in items:
            found.append(_supplied(item, variables))
    except RunOnHost:
        done = items[: len(found)]
        taken_back([item.source for item in done if type(item) is Hidden])
        raise
    return found


def _initial_value(recorder: Recorder, inputs: Sequence[Tensor], tensor: Tensor) -> Any:
    """The value that a variable is created with, computed from what the call was given."""
    plan = Plan(recorder.node, (tensor.index,), None, {}, effects=False)
    plan.checks = []
    kept = [*inputs, *(recorder.kept or [])]
    arrays = [
        t.value_array("initial value") if array is None else array
        for t, array in zip(kept, recorder.values, strict=True)
    ]
    floats, ints = np.array(recorder.floats), np.array(recorder.ints, np.int64)
    with jax.enable_x64(True):
        return plan(floats, ints, *arrays)[0][0]


def _placeholder(recorder: Recorder, place: int, aval: Aval, name: str) -> Tensor:
    edge = ("argument", place, aval)
    node = recorder.node.edges.get(edge)
    if node is None:
        builder = Builder(recorder.node, list(recorder.avals()))
        builder.node.result = builder.leaf(aval)
        builder.node.memo = {ARGUMENT: name}
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
    recorder.kept = recorder.initial = None
    recorder.done = True


def _program_kernels(
    name: str,
    recorder: Recorder,
    numbers: Sequence[int],
    written: int,
    placement: Placement | None,
) -> tuple[Kernel, Kernel]:
    """The program as one opaque op, and as one that is expanded where it is recorded."""
    returned = len(numbers) - written
    plan = Plan(recorder.node, tuple(numbers), None, {})
    checks, checking = plan.checks, Plan(recorder.node, (), None, {})
    expansion = Expansion(recorder.node, plan, recorder.floats, recorder.ints)
    plan.checks = []
    floats = np.array(recorder.floats, np.float64)
    ints = np.array(recorder.ints, np.int64)

    def run(*leaves: Any) -> list[Any]:
        found = plan(floats, ints, *leaves)[0]
        if placement is None:
            return found
        return found[:returned] + placement.written(found[returned:])

    def fails(*leaves: Any) -> tuple[Any, ...]:
        failures = checking(floats, ints, *leaves)[1]
        failed = failures[:, 0] > 0
        first = jnp.argmax(failed)
        return (jnp.any(failed), first, *[failures[first, n] for n in range(1, 7)])

    check = ValueCheck(fails, lambda first, *rest: _message(checks, first, rest))
    opaque = Kernel(
        name,
        run,
        node=f"__inference_{name}",
        check=check if checks else None,
        effect=plan.effects,
    )
    return opaque, Kernel(name, run, node=f"__inference_{name}", expansion=expansion)


def _message(checks: Sequence[Check], first: float, details: Sequence[float]) -> str:
    check = checks[int(first)]
    line = ""
    if check.line is not None:
        file, number, function = check.line
        line = f'  File "{file}", line {number}, in {function}\n\n'
    message = check.bound.message(*details[: check.bound.details])
    return (
        f"Graph execution error:\n\nDetected at node {check.kernel.node} defined at (most recent "
        f"call last):\n{line}{message}\n\t [[{{{{node {check.kernel.node}}}}}]]"
    )
