"""The ops of a traced function, recorded into the caller's program.

Under a tape, and inside another function, a call is not one opaque op: its ops are recorded as if
the body had run. Derivatives of any order, custom gradients, slices and checks then need nothing
special. The results leave by one more op, so that a call is what it is in TensorFlow: values inside
are no sources outside, and an input is connected to all results or to none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapejax._src.core.avals import Aval
from tapejax._src.engine.executable import Plan
from tapejax._src.engine.kernel import FLAT_LIST, Avals, Kernel, Split
from tapejax._src.engine.program import Builder, Program


class Results(Kernel):
    """The op that hands the results of a call out: each as it is, all connected to all."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}.results", _unchanged, node="PartitionedCall")

    def reads(self, avals: Avals) -> tuple[int, ...]:
        """Every floating result reads every floating input."""
        inputs = sum(1 << n for n, aval in enumerate(avals) if aval.inexact)
        return tuple([inputs if aval.inexact else 0 for aval in avals])

    def split(self, wanted: tuple[int, ...], avals: Avals) -> Split:
        """There is nothing to keep for the backward half: the forward half is the op itself."""
        found = super().split(wanted, avals)
        found.forward = self
        return found


def _unchanged(*values: Any) -> list[Any]:
    return list(values)


class Expansion:
    """A traced program to be repeated in other programs.

    Args:
        node: The program.
        plan: What it computes.
        floats, ints: The Python numbers in it.

    Attributes:
        tree: The container its outputs are handed out in (a list).
    """

    def __init__(
        self, node: Program, plan: Plan, floats: Sequence[float], ints: Sequence[int]
    ) -> None:
        self._plan = plan
        self._ops = node.split_ops()  # all: checks and gradient rules may need any of them
        self._scalars = _scalar_values(plan, floats, ints)
        self._lines = {
            outs[0]: line
            for n in node.path()
            for _, _, outs in n.ops
            if outs and (line := n.line_of(outs[0])) is not None
        }
        self._count = 0
        self._results: Results | None = None
        self.tree = FLAT_LIST

    def hand_out(self, name: str, count: int) -> None:
        """Let the first `count` outputs leave as the results of a call.

        Args:
            name: The function's name.
            count: How many outputs are results; the others are assigned to variables.
        """
        self._count = count
        if _needs_results(self._plan, self._ops, count):
            self._results = Results(name)

    def emit(self, builder: Builder, ins: Sequence[int]) -> tuple[int, ...]:
        """Record the ops with the given inputs; returns the numbers of the outputs."""
        plan = self._plan
        mapping = dict(zip(plan.leaf_numbers, ins, strict=True))
        for number, value in {**plan.constants, **self._scalars}.items():
            mapping[number] = builder.constant(value, plan.avals[number])
        for kernel, op_ins, op_outs in self._ops:
            if all(i in mapping for i in op_ins):  # not the body of a jacobian
                outs = builder.emit(kernel, [mapping[i] for i in op_ins])
                mapping.update(zip(op_outs, outs, strict=True))
        lines = {mapping[n]: line for n, line in self._lines.items() if n in mapping}
        builder.node.memo = {"expansion": mapping, "lines": lines}
        numbers = tuple([mapping[n] for n in plan.live])
        if self._results is None:
            return numbers
        results = builder.emit(self._results, numbers[: self._count])
        return results + numbers[self._count :]


def _needs_results(plan: Plan, ops: Sequence[Any], count: int) -> bool:
    """Whether something outside could tell a result from the value inside it is."""
    results = plan.live[:count]
    avals: list[Aval] = [plan.avals[n] for n in results]
    if not any(aval.inexact for aval in avals):
        return False
    if sum(aval.inexact for aval in avals) > 1:
        return True
    made = {out for _, _, outs in ops for out in outs}
    read = {i for _, ins, _ in ops for i in ins}
    assigned = set(plan.live[count:])
    return any(n in read or n in assigned or n not in made for n in results)


def _scalar_values(
    plan: Plan, floats: Sequence[float], ints: Sequence[int]
) -> dict[int, np.ndarray[Any, Any]]:
    values: dict[int, np.ndarray[Any, Any]] = {}
    taken = {True: iter(floats), False: iter(ints)}
    for number, is_float in plan.scalars:
        values[number] = np.asarray(next(taken[is_float])).astype(plan.avals[number].dtype)
    return values
