"""Tapes that outlive a run of their program.

When values are read while a tape may still be asked for gradients, the run also returns what the
pullbacks need (residuals), and the tape goes on in the next program from there: nothing is computed
twice and nothing is lost.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapejax._src.core.avals import Aval
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.executable import Extra
from tapejax._src.engine.flush import HOOKS, Carried
from tapejax._src.engine.program import Program
from tapejax._src.engine.recorder import Recorder
from tapejax._src.tape.recorded import RecordedOp, View
from tapejax._src.tape.translated_rule import TranslatedRule

Tag = tuple[int, tuple[int, ...], bool, bool, frozenset[int]]
"""(tape, leaves it knows, whether to keep inputs, whether inline, values that rules ask for)."""


class Segment:
    """What a tape keeps of a program that has been run (shared by all runs of that structure).

    Attributes:
        ops: The recorded ops, split.
        active: Numbers of the values that depend on something watched.
        avals: The aval of every number mentioned.
        save: Numbers of the values whose arrays must be kept.
    """

    __slots__ = ("active", "avals", "ops", "save")

    def __init__(
        self,
        ops: list[RecordedOp],
        active: set[int],
        table: Sequence[Aval],
        rules: frozenset[int],
    ) -> None:
        self.ops = ops
        self.active = active
        mentioned = {i for op in ops for i in (*op.ins, *op.outs, *op.residuals)} | active | rules
        self.avals: dict[int, Aval] = {i: table[i] for i in sorted(mentioned)}
        self.save: set[int] = set(rules)


class Entry(NamedTuple):
    """A segment with the values of one run.

    Attributes:
        segment: The segment.
        kept: Number -> tensor, for the values the pullbacks need.
        others: (number, weak reference) of values that may be asked for as sources or targets.
        cells: Number -> the variable whose value it was.
        callbacks: First output of a custom op -> the user's gradient function.
    """

    segment: Segment
    kept: dict[int, Tensor]
    others: list[tuple[int, weakref.ref[Tensor]]]
    cells: dict[int, weakref.ref[Variable]]
    callbacks: dict[int, Callable[..., Any]]

    def present(self) -> tuple[list[int], list[Tensor]]:
        """The tensors that still exist, with their numbers (several may have the same)."""
        pairs = list(self.kept.items())
        pairs += [(n, t) for n, ref in self.others if (t := ref()) is not None]
        return [n for n, _ in pairs], [t for _, t in pairs]


class Plan(NamedTuple):
    """The static part of a carry: per tape a segment, and the ops to split for them."""

    segments: tuple[Segment, ...]
    extra: Extra
    save: Sequence[int]
    extra_avals: dict[int, Aval]


class Carry:
    """A carry in one run; see `engine.flush.Carried`."""

    def __init__(self, recorder: Recorder, tapes: Sequence[Any]) -> None:
        node = recorder.node
        numbers = [number for n in node.path() for number, _ in n.leaves]
        alive = [
            (n, t) for n, r in zip(numbers, recorder.leaves, strict=True) if (t := r()) is not None
        ]
        asked = [r.numbers() for r in recorder.callbacks.values() if isinstance(r, TranslatedRule)]
        rules = frozenset[int]().union(*asked)
        self.tags: Any = tuple(
            (
                tape.number,
                tuple([n for n, t in alive if tape.past.knows(t)]),
                recorder.inline or tape.keeps_inputs or len(tapes) > 1,
                recorder.inline,
                rules,
            )
            for tape in tapes
        )
        if node.memo is None:
            node.memo = {}
        plan = node.memo.get(self.tags)
        if plan is None:
            plan = node.memo[self.tags] = _plan(node, self.tags)
        self._plan = plan
        self._tapes = tapes
        self._recorder = recorder
        self.extra: Extra = plan.extra
        self.save: Sequence[int] = plan.save
        self.extra_avals = plan.extra_avals

    def finish(self, handles: list[tuple[int, Tensor]]) -> None:
        """Give each tape the handles of its segment."""
        recorder = self._recorder
        by_number = dict(handles)
        for tape, segment in zip(self._tapes, self._plan.segments, strict=True):
            kept = {n: by_number[n] for n in segment.save}
            held = {id(t) for t in kept.values()}
            others = [
                (n, weakref.ref(t)) for n, t in handles if n in segment.avals and id(t) not in held
            ]
            tape.take(Entry(segment, kept, others, recorder.cells, recorder.callbacks), recorder)
            for number, tensor in handles:
                if number in segment.active:
                    tape.past.know(tensor)


def _plan(node: Program, tags: Sequence[Tag]) -> Plan:
    table = node.table()
    extra: Extra = {}
    segments: list[Segment] = []
    save: dict[int, None] = {}
    made = _made(node)
    for tape, known, keep_inputs, inline, rules in tags:
        view = View(node, tape, table, known, imports=False)
        for op in view.ops if not inline else ():
            _split_for(op, view.active, extra, table)
        segment = Segment(view.ops, view.active, table, rules & made)
        links = set(known)
        for op in view.ops:
            segment.save.update(_values_needed(op, keep_inputs))
            segment.save.update(links.intersection(op.ins))
        segments.append(segment)
        save.update(dict.fromkeys(sorted(segment.save)))
    avals = {n: table[n] for n in save}
    return Plan(tuple(segments), extra, tuple(save), avals)


def _made(node: Program) -> frozenset[int]:
    """The numbers of the values a program has or computes."""
    found: set[int] = set()
    for other in node.path():
        found.update(other.constants)
        found.update([number for number, _ in (*other.leaves, *other.scalars)])
        found.update([out for op in other.ops for out in op[2]])
    return frozenset(found)


def _split_for(op: RecordedOp, active: set[int], extra: Extra, table: list[Aval]) -> None:
    """Split an op by every input a gradient may be wanted for."""
    kernel = op.kernel
    if kernel.custom is not None or kernel.gradient == "lookup":
        return
    first = op.outs[0]
    avals = tuple([table[i] for i in op.ins])
    if first not in extra:
        reads = 0
        for mask in kernel.reads(avals):
            reads |= mask
        wanted = tuple(
            n for n, i in enumerate(op.ins) if reads >> n & 1 and i in active and avals[n].inexact
        )
        if not wanted:
            return
        if kernel.sparse is not None and wanted == (kernel.sparse[0],):
            return
        split = kernel.split(wanted, avals)
        residuals: list[int] = []
        for aval in split.residual_avals():
            residuals.append(len(table))
            table.append(aval)
        extra[first] = (split, tuple(residuals))
    op.split, op.residuals = extra[first]
    op.kernel = op.split.forward
    op.outs += op.residuals
    seen = sum(1 << n for n, number in enumerate(op.ins) if number in active)
    reads = op.kernel.reads(avals)
    active.update(out for out, mask in zip(op.outs, reads, strict=True) if mask & seen)


def _values_needed(op: RecordedOp, keep_inputs: bool) -> list[int]:
    numbers: list[int] = list(op.residuals)
    if op.split is not None:
        values = op.ins + op.outs
        numbers += [values[j] for j in op.split.saved]
    if op.kernel.sparse is not None:
        numbers.append(op.ins[op.kernel.sparse[1]])
    if keep_inputs and op.kernel.custom is None:
        numbers += op.ins
    return numbers


def _carry(recorder: Recorder, tapes: list[Any]) -> Carried | None:
    joined = [tape for tape in tapes if tape.recorder is recorder]
    return Carry(recorder, joined) if joined else None


HOOKS.carry = _carry
