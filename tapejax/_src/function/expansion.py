"""The ops of a traced function, recorded into the caller's program.

Under a tape, and inside another function, a call is not one opaque op: its ops are recorded as if
the body had run. Derivatives of any order, custom gradients, slices and checks then need nothing
special.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapejax._src.engine.executable import Plan
from tapejax._src.engine.kernel import FLAT_LIST
from tapejax._src.engine.program import Builder, Program


class Expansion:
    """A traced program to be repeated in other programs.

    Attributes:
        tree: The container its outputs are handed out in (a list).
    """

    def __init__(
        self, node: Program, plan: Plan, floats: Sequence[float], ints: Sequence[int]
    ) -> None:
        self._plan = plan
        self._ops = node.split_ops()  # all: checks and gradient rules may need any of them
        self._scalars = _scalar_values(plan, floats, ints)
        self.tree = FLAT_LIST

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
        builder.node.memo = {"expansion": mapping}
        return tuple([mapping[n] for n in plan.live])


def _scalar_values(
    plan: Plan, floats: Sequence[float], ints: Sequence[int]
) -> dict[int, np.ndarray[Any, Any]]:
    values: dict[int, np.ndarray[Any, Any]] = {}
    taken = {True: iter(floats), False: iter(ints)}
    for number, is_float in plan.scalars:
        values[number] = np.asarray(next(taken[is_float])).astype(plan.avals[number].dtype)
    return values
