"""Checks of a traced function that are made before it runs.

A program with a check must be able to give every variable back the value it had: it holds old and
new values at once. When looking at labels or indices is all that a check does, that costs next to
nothing beforehand, and the program itself then needs no check.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax.core import Tracer

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.program import Program, needed

_FEW = 8
"""Ops that may be run for the check, and again in the program."""


class Ahead:
    """The check of a traced function, run by itself.

    Args:
        kernel: The function's kernel.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._check = kernel.check

    def passes(self, inputs: Sequence[Any]) -> bool:
        """Whether the call is known to succeed: False also where that cannot be found out."""
        check = self._check
        tensors: list[Tensor] = [x.tensor if type(x) is Variable else x for x in inputs]
        avals = tuple([t.aval for t in tensors])
        positions = check.reads(avals)
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


def reads_integers_only(node: Program) -> bool:
    """Whether the checks of a program look at integers only, computed by a few ops at most."""
    table = node.table()
    read: list[int] = []
    for part in node.path():
        for kernel, ins, _ in part.ops:
            if kernel.check is not None:
                places = kernel.check.reads(tuple([table[i] for i in ins]))
                read += [ins[place] for place in places]
    ops, numbers = needed(node.split_ops(), read)
    return len(ops) <= _FEW and all(table[n].dtype.kind in "biu" for n in numbers)
