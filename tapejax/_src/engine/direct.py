"""Running one compiled kernel at once: what a call of a traced function is when nothing is pending.

The program is the one that recording the call and flushing it would run.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from typing import Any
from weakref import getweakrefcount

import jax
from jax.core import Tracer

from tapejax._src.core.avals import Aval, VariableKey
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.executable import Executable
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.program import ROOT, Program
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.statistics import COUNTERS

_ARRAYS: set[type] = set()
"""JAX's own classes of concrete arrays."""
_UNSHARED = 4
"""References to a variable's tensor that nobody else holds: the variable's, two lists', and that
of `map`, which hands it to the count."""
_new = Tensor.__new__
_array_of, _key_of, _owned_of = map(operator.attrgetter, ("array", "key", "owned"))


class _Prepared:
    """A program that is one call, for inputs of given keys.

    Attributes:
        node: The program.
        key: The keys of the inputs.
        avals: The avals of its results.
        by_donation: What runs it, by the inputs whose buffers it may take.
        keeps_avals: Whether each variable is read, and assigned a value of the aval it has.
    """

    __slots__ = ("avals", "by_donation", "keeps_avals", "key", "node")

    def __init__(self, node: Program, key: tuple[Any, ...], places: Sequence[int]) -> None:
        self.node = node
        self.key = key
        self.avals: tuple[Aval, ...]
        self.by_donation: dict[tuple[int, ...], Executable] = {}
        self.avals, _ = node.payload
        assigned = self.avals[len(self.avals) - len(places) :]
        self.keeps_avals = all(
            place >= 0 and key[place].aval is aval
            for place, aval in zip(places, assigned, strict=True)
        )

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

    Attributes:
        kernel: The kernel.
    """

    def __init__(self, kernel: Kernel, places: Sequence[int]) -> None:
        self.kernel = kernel
        self._places = tuple(places)
        self._read = tuple(sorted(place for place in places if place >= 0))
        self._prepared: dict[tuple[Any, ...], _Prepared] = {}
        self._latest: _Prepared | None = None

    def run(self, inputs: Sequence[Any], written: Sequence[Variable]) -> list[Tensor] | None:
        """The results not assigned to variables, or None if the call has to be recorded."""
        tensors = [x.tensor if type(x) is Variable else x for x in inputs]
        arrays = list(map(_array_of, tensors))
        if not _ARRAYS.issuperset(map(type, arrays)) and not all(map(_is_array, arrays)):
            return None
        key = tuple(map(_key_of, tensors))
        prepared = self._latest
        if prepared is None or prepared.key != key:
            prepared = self._prepared.get(key) or self._prepare(key)
            if prepared is None:
                return None
            self._latest = prepared
        held: Sequence[Tensor] = ()
        taken, alone = (), False
        if LOCAL.writes is not None:
            LOCAL.note_writes(written)
        elif self._places:
            held = [tensors[place] for place in self._places if place >= 0]
            counts = list(map(sys.getrefcount, held))
            alone = counts.count(_UNSHARED) == len(held) and all(map(_owned_of, held))
            taken = self._read if alone else self._donated(held, counts)
        executable = prepared.by_donation.get(taken) or prepared.executable(taken)
        if executable is None:
            return None
        COUNTERS.flushes += 1
        outs, _ = executable.call(None, None, *arrays)
        if not executable.in_order:
            outs = list(map(outs.__getitem__, executable.order))
        owned = executable.owns_outputs
        avals = prepared.avals
        count = len(outs) - len(written)
        if alone and owned and prepared.keeps_avals and not any(map(getweakrefcount, held)):
            _refill(held, outs[count:])
        elif written:
            _assign(written, avals[count:], outs[count:], owned)
        concrete = Tensor.concrete
        return [concrete(outs[n], avals[n], avals[n], owned) for n in range(count)]

    def _donated(self, held: Sequence[Tensor], counts: Sequence[int]) -> tuple[int, ...]:
        """The places of the variables whose buffers nobody else can see."""
        places = [place for place in self._places if place >= 0]
        found = zip(places, held, counts, strict=True)
        return tuple(sorted(n for n, tensor, c in found if tensor.owned and c == _UNSHARED))

    def _prepare(self, key: tuple[Any, ...]) -> _Prepared | None:
        node = ROOT.edges.get((self.kernel, *key))
        if node is None or node.checked or node.effects or not all(map(_is_plain, key)):
            return None
        found = self._prepared[key] = _Prepared(node, key, self._places)
        return found


def _is_array(array: Any) -> bool:
    if not isinstance(array, jax.Array) or isinstance(array, Tracer):
        return False
    _ARRAYS.add(type(array))
    return True


def _is_plain(key: Any) -> bool:
    """Whether the array is simply on the default device: then the results are, too."""
    return type(key) is Aval or (type(key) is VariableKey and type(key.placed) is Aval)


def _refill(held: Sequence[Tensor], arrays: Sequence[Any]) -> None:
    """Give tensors that only their variables hold the values that replace theirs."""
    for tensor, array in zip(held, arrays, strict=True):
        tensor.array = array
        tensor.recorder = None


def _assign(
    written: Sequence[Variable], avals: Sequence[Aval], arrays: Sequence[Any], owned: bool
) -> None:
    """Give variables tensors of their new values."""
    for variable, aval, array in zip(written, avals, arrays, strict=True):
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
