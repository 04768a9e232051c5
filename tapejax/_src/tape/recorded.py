"""What a tape saw of a program: the ops between its marks that read something it watches."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tapejax._src.core.avals import Aval, VariableKey
from tapejax._src.core.variable import Variable
from tapejax._src.engine.kernel import Kernel, Split
from tapejax._src.engine.program import Program

Access = tuple[Program, int, Mapping[int, weakref.ref[Variable]]]
"""A program, the number of a tape in it, and the variables whose values it holds."""

IDENTITY = Kernel("identity", lambda x: x, node="Identity")
STOP_GRADIENT = Kernel("stop_gradient", lambda x: x, node="StopGradient", gradient="none")


class Mark(NamedTuple):
    """A tape's mark in a program: 'enter', 'exit', 'watch', 'stop', 'resume', 'access'.

    Programs hold it as a plain tuple, which is cheaper to make.
    """

    what: str
    tape: int
    value: Any = None


class WholeProgram(NamedTuple):
    """Instead of a tape's number: everything is seen, the values `stops` are constants."""

    stops: tuple[int, ...]


class Import(NamedTuple):
    """A mark: the tape goes on from a program that has been run; see `tape/carry.py`."""

    tape: int
    segment: Any
    present: tuple[tuple[int, int], ...]


class RecordedOp:
    """An op as a tape sees it.

    Attributes:
        kernel: The kernel (the forward half, once split).
        ins, outs: Numbers of its inputs and of all its outputs.
        split: How it is split already, or None.
        residuals: Numbers of the residuals it was split for.
        present: Whether it belongs to this program, so that it can still be split.
    """

    __slots__ = ("ins", "kernel", "outs", "present", "residuals", "split")

    def __init__(
        self,
        kernel: Kernel,
        ins: tuple[int, ...],
        outs: tuple[int, ...],
        split: Split | None = None,
        residuals: tuple[int, ...] = (),
        present: bool = True,
    ) -> None:
        self.kernel = kernel
        self.ins = ins
        self.outs = outs
        self.split = split
        self.residuals = residuals
        self.present = present

    def renamed(self, mapping: dict[int, int]) -> RecordedOp:
        """The op under the numbers of another program."""
        return RecordedOp(
            self.kernel,
            tuple([mapping[i] for i in self.ins]),
            tuple([mapping[i] for i in self.outs]),
            self.split,
            tuple([mapping[i] for i in self.residuals]),
            present=False,
        )


class View:
    """A tape's view of a program.

    Attributes:
        ops: The recorded ops, in order, those of earlier programs first.
        active: Numbers of the values that depend on something watched.
        accessed: Numbers of the variable values read while the tape was recording.
    """

    def __init__(
        self,
        node: Program,
        tape: int | WholeProgram,
        table: Sequence[Aval],
        known: Sequence[int] = (),
        imports: bool = True,
    ) -> None:
        self.ops: list[RecordedOp] = []
        self.active: set[int] = set(known)
        self.accessed: dict[int, None] = {}
        self._tape = tape
        self._table = table
        self._whole = tape if isinstance(tape, WholeProgram) else None
        self._on = self._whole is not None
        self._auto = True
        self._variables: set[int] = set()
        self._trainable: set[int] = set()
        path = node.path()
        if imports:
            for other in path:
                if isinstance(other.event, Import) and other.event.tape == tape:
                    self._take(other)
        place: dict[int, int] = {}
        for other in path:
            self._step(other, place)

    def _take(self, node: Program) -> None:
        segment = node.event.segment
        mapping = node.payload
        self.ops += [op.renamed(mapping) for op in segment.ops]
        self.active.update(mapping[i] for i in segment.active)
        for number, leaf in node.event.present:
            if mapping[number] != leaf:  # a second handle of the same value
                self.ops.append(RecordedOp(IDENTITY, (mapping[number],), (leaf,), present=False))
                self.active.add(leaf)

    def _step(self, node: Program, place: dict[int, int]) -> None:
        if self._whole is not None:
            self.active.update(number for number, _ in node.leaves)
        for number, key in node.leaves:
            if isinstance(key, VariableKey):
                self._variable(number, key.trainable)
        event = node.event
        if type(event) is tuple and event[1] == self._tape:
            self._mark(Mark(*event))
        for first, (split, residuals) in node.splits.items():
            if first in place:
                self._split(self.ops[place[first]], split, residuals)
        for kernel, ins, outs in node.ops:
            self._op(kernel, ins, outs, place)

    def _split(self, op: RecordedOp, split: Split, residuals: tuple[int, ...]) -> None:
        op.kernel, op.split, op.residuals = split.forward, split, residuals
        op.outs += residuals
        reads = split.forward.reads(tuple([self._table[i] for i in op.ins]))
        seen = sum(1 << n for n, number in enumerate(op.ins) if number in self.active)
        self.active.update(out for out, mask in zip(op.outs, reads, strict=True) if mask & seen)

    def _variable(self, number: int, trainable: bool) -> None:
        """A value of a variable."""
        self._variables.add(number)
        if trainable:
            self._trainable.add(number)
            if self._auto:
                self.active.add(number)

    def _mark(self, mark: Mark) -> None:
        if mark.what == "enter":
            self._on = True
            self._auto = mark.value
            if not self._auto:
                self.active -= self._trainable
        elif mark.what in ("exit", "stop"):
            self._on = False
        elif mark.what == "resume":
            self._on = True
        elif mark.what == "watch":
            self.active.add(mark.value)
            if mark.value in self._variables:
                self.accessed[mark.value] = None
        elif mark.what == "access" and self._on:
            self._access(mark.value)

    def _access(self, number: int) -> None:
        if number in self.active and number in self._variables:
            self.accessed[number] = None

    def _op(
        self, kernel: Kernel, ins: tuple[int, ...], outs: tuple[int, ...], place: dict[int, int]
    ) -> None:
        if kernel.assigns is not None:
            self._variable(outs[0], kernel.assigns)
        if not self._on or (self._whole is not None and outs[0] in self._whole.stops):
            return
        active = self.active
        seen = 0
        for position, number in enumerate(ins):
            if number in active:
                seen |= 1 << position
                if number in self._variables and kernel is not STOP_GRADIENT:
                    self.accessed[number] = None
        if not seen:
            return
        reads = kernel.reads(tuple([self._table[i] for i in ins]))
        reached = [out for out, mask in zip(outs, reads, strict=True) if mask & seen]
        if reached:
            active.update(reached)
            place[outs[0]] = len(self.ops)
            self.ops.append(RecordedOp(kernel, ins, outs))


def accessed_numbers(node: Program, tape: int) -> tuple[int, ...]:
    """Numbers of the variable values a tape saw read, worked out once for each program."""
    if node.memo is None:
        node.memo = {}
    key = ("accessed", tape)
    found = node.memo.get(key)
    if found is None:
        view = View(node, tape, node.table(), imports=False)
        found = node.memo[key] = tuple(view.accessed)
    return found


def accessed_variables(views: Sequence[Access]) -> tuple[Variable, ...]:
    """The variables a tape saw read in several programs, in order of their creation."""
    found: dict[int, Variable] = {}
    for node, tape, cells in views:
        for number in accessed_numbers(node, tape):
            reference = cells.get(number)
            variable = None if reference is None else reference()
            if variable is not None:
                found[variable.serial] = variable
    return tuple(found[serial] for serial in sorted(found))
