"""Running one compiled kernel at once: what a call of a traced function is when nothing is pending.

The program is the one that recording the call and flushing it would run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import jax
from jax.core import Tracer

from tapejax._src.core.avals import Aval, VariableKey
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.executable import Executable
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.program import ROOT, Program
from tapejax._src.engine.statistics import COUNTERS

_ARRAYS: set[type] = set()
"""JAX's own classes of concrete arrays."""
_UNSHARED = 3
"""References to a variable's tensor that nobody else holds: the variable's, ours, the count's."""
_new = Tensor.__new__


class _Prepared:
    """A program that is one call, for inputs of given keys.

    Attributes:
        node: The program.
        by_donation: What runs it, by the inputs whose buffers it may take.
    """

    __slots__ = ("by_donation", "node")

    def __init__(self, node: Program) -> None:
        self.node = node
        self.by_donation: dict[tuple[int, ...], Executable] = {}

    def executable(self, donated: tuple[int, ...]) -> Executable | None:
        """What runs it, if that has been compiled."""
        executables = self.node.executables
        if executables is None:
            return None
        found = executables.get((self.node.result, donated, None))  # type: ignore[call-overload]
        if found is None or not found.compiled:
            return None
        self.by_donation[donated] = found
        return found


class Direct:
    """Runs the calls of one kernel that can be run at once.

    Args:
        kernel: The kernel; its results are a list.
        places: For each variable it assigns the place of its value among the inputs, or -1. The
            values assigned are the last results.
    """

    def __init__(self, kernel: Kernel, places: Sequence[int]) -> None:
        self._kernel = kernel
        self._places = tuple(places)
        self._prepared: dict[tuple[Any, ...], _Prepared] = {}

    def run(self, inputs: Sequence[Any], written: Sequence[Variable]) -> list[Tensor] | None:
        """The results not assigned to variables, or None if the call has to be recorded."""
        arrays: list[Any] = []
        keys: list[Any] = []
        for x in inputs:
            tensor = x.tensor if type(x) is Variable else x
            array = tensor.array
            if type(array) not in _ARRAYS and not _is_array(array):
                return None
            arrays.append(array)
            keys.append(tensor.key)
        key = tuple(keys)
        prepared = self._prepared.get(key) or self._prepare(key)
        if prepared is None:
            return None
        tensor = None
        donated: list[int] = []
        for place, variable in zip(self._places, written, strict=True):
            tensor = variable.tensor
            if place >= 0 and tensor.owned and sys.getrefcount(tensor) == _UNSHARED:
                donated.append(place)
        taken = tuple(sorted(donated))
        executable = prepared.by_donation.get(taken) or prepared.executable(taken)
        if executable is None:
            return None
        COUNTERS.flushes += 1
        outs, _ = executable.call(None, None, *arrays)
        if not executable.in_order:
            outs = [outs[n] for n in executable.order]
        return _deliver(prepared.node, outs, written, executable.owns_outputs)

    def _prepare(self, key: tuple[Any, ...]) -> _Prepared | None:
        node = ROOT.edges.get((self._kernel, *key))
        if node is None or node.checked or node.effects or not all(map(_is_plain, key)):
            return None
        found = self._prepared[key] = _Prepared(node)
        return found


def _is_array(array: Any) -> bool:
    if not isinstance(array, jax.Array) or isinstance(array, Tracer):
        return False
    _ARRAYS.add(type(array))
    return True


def _is_plain(key: Any) -> bool:
    """Whether the array is simply on the default device: then the results are, too."""
    return type(key) is Aval or (type(key) is VariableKey and type(key.placed) is Aval)


def _deliver(
    node: Program, outs: Sequence[Any], written: Sequence[Variable], owned: bool
) -> list[Tensor]:
    avals, _ = node.payload
    count = len(outs) - len(written)
    results: list[Tensor] = []
    for aval, array in zip(avals[:count], outs[:count], strict=True):
        results.append(Tensor.concrete(array, aval, aval, owned))
    for variable, aval, array in zip(written, avals[count:], outs[count:], strict=True):
        tensor = _new(Tensor)
        tensor.aval = aval
        tensor.array = array
        tensor.recorder = None
        tensor.index = -1
        tensor.owned = owned
        before = variable.tensor
        if aval is before.aval:
            tensor.cell = variable.reference
            tensor.key = before.key
            variable.tensor = tensor
        else:
            variable.hold(tensor)
    return results
