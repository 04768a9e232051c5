"""`tape.explain`: for each source whether a gradient flows to it, or where the way ends and why."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from tapejax._src.core.variable import Variable
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.program import Program
from tapejax._src.engine.recorder import LOCAL, Recorder
from tapejax._src.tape.arguments import flat_sources, flat_targets, value_of
from tapejax._src.tape.past import NO_PAST, Past
from tapejax._src.tape.recorded import View
from tapejax._src.tape.sweep import Sweep

_CURES = {
    "connected": "",
    "custom gradient": "Its rule decides: the gradient is None where the rule returns None.",
    "not watched": "Call tape.watch(source) in the block before it is used.",
    "not trainable": "Make it with trainable=True, or call tape.watch(variable) in the block.",
    "watched too late": "Call tape.watch(source) before this line.",
    "integer": "Gradients are of floats: cast it with tf.cast(source, tf.float32) first.",
    "cast to integer": "No gradient flows through integers or booleans: keep it a float.",
    "stop_gradient": "Take tf.stop_gradient away, or differentiate with respect to its result.",
    "no gradient": "TensorFlow defines no gradient here: use a smooth function, or give it one "
    "with tf.custom_gradient.",
    "assigned": "A variable's value has no history: use the tensor itself, not the variable.",
    "before the tape": "Compute it inside the `with tf.GradientTape()` block.",
    "after the tape": "Compute it inside the `with tf.GradientTape()` block.",
    "stop_recording": "Compute it outside of tape.stop_recording().",
    "not used": "If its value went through NumPy, .numpy(), float() or a Python number, keep it a "
    "tensor; if a variable was replaced by a tensor (w = w - g), use w.assign_sub(g).",
    "constant target": "Compute the target from the sources inside the block, with tf functions.",
    "another program": "Ask before values of the block are read, and in the thread and function "
    "that recorded them.",
}


class Connection(NamedTuple):
    """What lies between a target and one source.

    Attributes:
        source: The source's name, or its shape and dtype.
        connected: Whether a gradient flows; with a custom gradient its rule decides in the end.
        reason: `'connected'`, or why it is not: a few words, the same in every release.
        op: The op where the way ends, by TensorFlow's name, if it is one.
        place: The user's `file:line` of that op, if it is known; of code in several places that
            records the same ops, the place that did so first.
        cure: What to write instead.
    """

    source: str
    connected: bool
    reason: str
    op: str | None
    place: str | None
    cure: str

    def __str__(self) -> str:
        if self.reason == "connected":
            return f"{self.source}: connected"
        at = "" if self.op is None else f" at {self.op}"
        where = "" if self.place is None else f" ({self.place})"
        state = "connected" if self.connected else "no gradient"
        return f"{self.source}: {state}, {self.reason}{at}{where}. {self.cure}"


class Explanation(tuple[Connection, ...]):
    """The connection of each source, in order; as a text a line for each."""

    def __str__(self) -> str:
        return "\n".join([str(connection) for connection in self])


class _Step(NamedTuple):
    """An op of the program.

    Attributes:
        kernel, ins, outs: The op.
        state: What the tape did then: `'on'`, or the reason why it saw nothing.
        place: The user's `file:line`.
        position: Its place in the program's path.
    """

    kernel: Kernel
    ins: tuple[int, ...]
    outs: tuple[int, ...]
    state: str
    place: str | None
    position: int


_STATES = {"enter": "on", "resume": "on", "stop": "stop_recording", "exit": "after the tape"}


class Explains:
    """The question of `GradientTape` why a gradient is None."""

    is_open_to_questions = False
    number = -1
    recorder: Recorder | None = None
    past: Past = NO_PAST

    def _import(self) -> None:
        """See `GradientTape`."""
        raise NotImplementedError

    def explain(self, target: Any, sources: Any) -> Explanation:
        """Say for each source whether a gradient flows to it, or where the way ends.

        It may be asked before `gradient` and after it, and uses the tape up in no case.

        Args:
            target: Tensor or nested structure of tensors, as of `gradient`.
            sources: Tensors or variables, in any nested structure.

        Returns:
            A tuple with a `Connection` for each source: `connected`, `reason`, `op`, `place` (the
            user's file and line) and `cure`. Printed, it has a line for each.

        Raises:
            TypeError: If a target or source is not a tensor or variable.

        Example:
            >>> import tapejax as tf
            >>> w = tf.Variable(2.0, name="w")
            >>> with tf.GradientTape() as tape:
            ...     y = tf.round(w) * 3.0
            >>> why = tape.explain(y, w)[0]
            >>> why.connected, why.reason, why.op
            (False, 'no gradient', 'Round')
        """
        targets, flat = flat_targets(target), flat_sources(sources)
        if self.is_open_to_questions and self.past.entries:
            self._import()
        return Explanation(_noted(self, targets, flat).connections())


class _Asked(Protocol):
    number: int
    recorder: Recorder | None
    past: Past


class Noted(NamedTuple):
    """A question, with what is needed to explain it after the program was run.

    Attributes:
        node: The program; None if the tape was recorded in another one.
        tape: The number of the tape.
        targets: The numbers of the targets.
        sources: For each source: whether it is a variable that is not trainable; its name; whether
            it is of floats; its numbers.
        is_whole: Whether nothing the tape saw was run before.
    """

    node: Program | None
    tape: int
    targets: tuple[int, ...]
    sources: tuple[tuple[bool, str, bool, tuple[int, ...]], ...]
    is_whole: bool

    def connections(self) -> list[Connection]:
        """The connection of each source."""
        flow = None if self.node is None else _Flow(self.node, self.tape)
        return [self._connection(flow, *source) for source in self.sources]

    def _connection(
        self, flow: _Flow | None, is_frozen: bool, name: str, fits: bool, numbers: tuple[int, ...]
    ) -> Connection:
        if not fits:
            return _made(name, "integer")
        if flow is None:
            return _made(name, "another program")
        if not self.targets:
            return _made(name, "constant target" if self.is_whole else "another program")
        if not numbers:
            return _made(name, "not used" if self.is_whole else "another program")
        found = flow.connection(name, is_frozen, numbers, self.targets)
        if found.reason == "not used" and not self.is_whole:
            return _made(name, "another program")
        return found


def _noted(tape: _Asked, targets: Sequence[Any], sources: Sequence[Any]) -> Noted:
    recorder = tape.recorder
    if recorder is None or recorder is not LOCAL.recorder or recorder.done:
        recorder = None
    held = [
        (
            isinstance(source, Variable) and not source.trainable,
            _name(source),
            value_of(source).aval.inexact,
            _numbers(recorder, tape.past, source),
        )
        for source in sources
    ]
    numbers = tuple([n for t in targets for n in _numbers(recorder, tape.past, t)])
    node = None if recorder is None else recorder.node
    return Noted(node, tape.number, numbers, tuple(held), not tape.past.entries)


def _numbers(recorder: Recorder | None, past: Past, value: Any) -> tuple[int, ...]:
    """The numbers of a tensor, or of all values of a variable, in a program."""
    if recorder is None:
        return ()
    found = [n for n, cell in recorder.cells.items() if cell() is value]
    if isinstance(value, Variable):
        found += past.numbers_of(value.reference)
    number = recorder.number(value_of(value))
    return tuple(dict.fromkeys(found if number is None else [*found, number]))


class _Unconnected(threading.local):
    """The last question of this thread whose gradients were all None."""

    last: Noted | None = None


_UNCONNECTED = _Unconnected()


def note_unconnected(
    tape: _Asked, targets: Sequence[Any], sources: Sequence[Any], gradients: Sequence[Any]
) -> None:
    """Remember a question all of whose gradients are None, for `reasons_of_none`."""
    if all(gradient is None for gradient in gradients):
        _UNCONNECTED.last = _noted(tape, targets, sources)


def check_connected(
    tape: _Asked, targets: Sequence[Any], sources: Sequence[Any], gradients: Sequence[Any]
) -> None:
    """Raise if a gradient is None.

    Raises:
        ValueError: With a line for each source without a gradient.
    """
    if any(gradient is None for gradient in gradients):
        found = _noted(tape, targets, sources).connections()
        without = [c for c, g in zip(found, gradients, strict=True) if g is None]
        raise ValueError(
            f"GradientTape(strict=True): {len(without)} of {len(gradients)} sources have no "
            f"gradient.\n{Explanation(without)}"
        )


def reasons_of_none(names: Sequence[str]) -> str:
    """Why the last question of this thread found no gradient at all; empty if it was another.

    Args:
        names: Those of the variables without a gradient.
    """
    last = _UNCONNECTED.last
    asked = () if last is None else [name for _, name, _, _ in last.sources]
    if last is None or sorted(asked) != sorted([name.removesuffix(":0") for name in names]):
        return ""
    return str(Explanation(last.connections()))


def _name(source: Any) -> str:
    if isinstance(source, Variable):
        return source.name.removesuffix(":0")
    return f"tensor of shape {source.shape}, {source.dtype.name}"


def _made(name: str, reason: str, step: _Step | None = None) -> Connection:
    op = None if step is None else step.kernel.node
    place = None if step is None else step.place
    connected = reason in ("connected", "custom gradient")
    return Connection(name, connected, reason, op, place, _CURES[reason])


class _Flow:
    """All ops of a program, and what a tape saw of them.

    Args:
        node: The program.
        tape: The number of the tape.
    """

    def __init__(self, node: Program, tape: int) -> None:
        self._table = node.table()
        path = node.path()
        self._steps = list(_steps(path, tape))
        self._watches = _watches(path, tape)
        self._view = View(node, tape, self._table)

    def connection(
        self, name: str, is_frozen: bool, numbers: tuple[int, ...], targets: Sequence[int]
    ) -> Connection:
        """How the targets depend on one source."""
        reach = Sweep(self._view.ops, (numbers,), self._table, self._view.active).reach
        wanted = set(targets)
        if any(target in reach for target in targets):
            return self._through_rules(name, reach, wanted)
        forward = set(numbers)
        for step in self._steps:
            if forward.intersection(step.ins):
                forward.update(step.outs)
        if not forward & wanted:
            return _made(name, "not used")
        cut = self._cut(set(reach) | set(numbers), set(reach), forward & self._before(wanted))
        if cut is None:  # the target is the source itself
            return _made(name, _unwatched(is_frozen))
        return _made(name, self._reason(is_frozen, numbers, cut), cut)

    def _before(self, wanted: set[int]) -> set[int]:
        """Everything the targets were computed from, and they themselves."""
        found = set(wanted)
        for step in reversed(self._steps):
            if found.intersection(step.outs):
                found.update(step.ins)
        return found

    def _cut(self, start: set[int], reach: set[int], between: set[int]) -> _Step | None:
        """The first op on a way to the target that takes the derivative in but not on."""
        for step in self._steps:
            taken = start.intersection(step.ins)
            if taken and between.intersection(step.outs) and not reach.intersection(step.outs):
                return step
        return None

    def _through_rules(self, name: str, reach: dict[int, int], wanted: set[int]) -> Connection:
        before = self._before(wanted)
        for step in self._steps:
            on_way = any(i in reach for i in step.ins) and before.intersection(step.outs)
            if step.kernel.custom is not None and on_way:
                return _made(name, "custom gradient", step)
        return _made(name, "connected")

    def _reason(self, is_frozen: bool, numbers: Sequence[int], cut: _Step) -> str:
        if cut.state != "on":
            return cut.state
        taken = [i for i in cut.ins if i in numbers]
        if taken and not any(i in self._view.active for i in taken):
            return _unwatched(is_frozen)
        if cut.kernel.node == "StopGradient":
            return "stop_gradient"
        if cut.kernel.assigns is not None:
            return "assigned"
        late = [self._watches.get(i, -1) > cut.position for i in taken]
        if any(late):
            return "watched too late"
        if not any(self._table[out].inexact for out in cut.outs):
            return "cast to integer"
        return "no gradient"


def _unwatched(is_frozen: bool) -> str:
    return "not trainable" if is_frozen else "not watched"


def _steps(path: Sequence[Program], tape: int) -> Iterator[_Step]:
    state = "before the tape"
    residuals = {first: more for node in path for first, (_, more) in node.splits.items()}
    for position, node in enumerate(path):
        event = node.event
        if type(event) is tuple and event[1] == tape:
            state = _STATES.get(event[0], state)
        for kernel, ins, outs in node.ops:
            line = node.line_of(outs[0]) if outs else node.line
            place = None if line is None else f"{line[0]}:{line[1]}"
            outs += residuals.get(outs[0], ()) if outs else ()
            yield _Step(kernel, ins, outs, state, place, position)


def _watches(path: Sequence[Program], tape: int) -> dict[int, int]:
    """Where in the path each value was watched."""
    found: dict[int, int] = {}
    for position, node in enumerate(path):
        event = node.event
        if type(event) is tuple and event[1] == tape and event[0] == "watch":
            found.setdefault(event[2], position)
    return found
