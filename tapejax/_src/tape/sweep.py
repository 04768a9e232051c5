"""The reverse sweep, written once: from cotangents of the targets to cotangents of the sources.

It emits ordinary ops into the program, so a gradient can itself be differentiated, to any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from tapejax._src.core.avals import Aval, make_aval
from tapejax._src.engine.kernel import Backward, Kernel
from tapejax._src.engine.program import Builder
from tapejax._src.tape.recorded import RecordedOp

ADD = Kernel("add", jnp.add, groups=(0, 0), node="AddV2")
CONJ = Kernel("conj", jnp.conj, node="Conj")


class Slices(NamedTuple):
    """A cotangent given by rows: numbers of values and indices, and the whole value's aval."""

    values: int
    indices: int
    aval: Aval


Cotangent = int | Slices


class Suspension(NamedTuple):
    """The sweep met an op whose rule is a Python function: it must be called, then `resume`d.

    Attributes:
        sweep: The sweep, stopped before the op.
        first: First output of the op: what the user's function is registered under.
        cotangents: Numbers of the cotangents to call it with.
    """

    sweep: Sweep
    first: int
    cotangents: tuple[int, ...]


class Sweep:
    """A reverse sweep over recorded ops.

    Args:
        ops: What the tape recorded.
        sources: For each source the numbers of its values (a variable may have had several).
        table: The avals of all values.
        may_split: Whether ops may be split; on the user's own tracers they are recomputed.
        active: What depends on something watched: nothing else has a gradient.
    """

    def __init__(
        self,
        ops: list[RecordedOp],
        sources: Sequence[tuple[int, ...]],
        table: Sequence[Aval],
        active: set[int],
        may_split: bool = True,
    ) -> None:
        self.ops = ops
        self.sources = sources
        self.may_split = may_split
        self.position = len(ops)
        self.cotangents: dict[int, Cotangent] = {}
        self.reach: dict[int, int] = {}
        for bit, numbers in enumerate(sources):
            for number in active.intersection(numbers):
                self.reach[number] = self.reach.get(number, 0) | 1 << bit
        self.seeds = dict(self.reach)
        self.reads = [op.kernel.reads(tuple([table[i] for i in op.ins])) for op in ops]
        for op, reads in zip(ops, self.reads, strict=True):
            self._propagate(op, reads)

    def _propagate(self, op: RecordedOp, reads: tuple[int, ...]) -> None:
        bits = [self.reach.get(i, 0) for i in op.ins]
        if not any(bits):
            return
        for out, mask in zip(op.outs, reads, strict=True):
            union = 0
            for position, bit in enumerate(bits):
                if mask >> position & 1:
                    union |= bit
            if union:
                self.reach[out] = self.reach.get(out, 0) | union

    def copy(self) -> Sweep:
        """A twin that can go on independently."""
        twin = object.__new__(Sweep)
        twin.__dict__.update(self.__dict__)
        twin.cotangents = dict(self.cotangents)
        return twin

    def connected(self, targets: Sequence[int]) -> int:
        """Which sources some target was computed from, as a bit mask."""
        union = 0
        for target in targets:
            union |= self.reach.get(target, 0)
        return union

    # ------------------------------------------------------------------ the sweep
    def run(self, builder: Builder) -> Suspension | None:
        """Go on until the end, or until a Python function has to be called."""
        while self.position:
            self.position -= 1
            op = self.ops[self.position]
            given = tuple(n for n, out in enumerate(op.outs) if out in self.cotangents)
            wanted = self._wanted(builder, op, given)
            if not wanted:
                continue
            if op.kernel.gradient == "lookup":
                raise LookupError(
                    f"gradient registry has no entry for: {op.kernel.node}. TensorFlow defines no "
                    f"gradient for this op; cut it out with tf.stop_gradient, or give it a rule "
                    "with tf.custom_gradient."
                )
            if op.kernel.custom is not None:
                return Suspension(self, op.outs[0], self._all_cotangents(builder, op))
            if op.kernel.node in _IDENTITIES:
                self._add(builder, op.ins[0], self.cotangents[op.outs[0]])
            elif op.kernel.sparse is not None and wanted == (op.kernel.sparse[0],):
                self._sparse(builder, op)
            else:
                self._dense(builder, op, wanted, given)
        return None

    def resume(self, builder: Builder, results: Sequence[int | None]) -> Suspension | None:
        """Go on with the cotangents that the user's function gave for the op's inputs."""
        op = self.ops[self.position]
        refused = 0
        for place, (number, result) in enumerate(zip(op.ins, results, strict=False)):
            if result is None:
                refused |= 1 << place
            elif builder.table[number].inexact:
                self._add(builder, number, self._conjugate(builder, result))
        if refused:
            self._disconnect(self.position, refused)
        return self.run(builder)

    def _disconnect(self, position: int, inputs: int) -> None:
        """A rule returned None for some inputs: nothing is connected through them."""
        self.reads = list(self.reads)
        self.reads[position] = tuple(mask & ~inputs for mask in self.reads[position])
        self.reach = dict(self.seeds)
        for op, reads in zip(self.ops, self.reads, strict=True):
            self._propagate(op, reads)

    def _wanted(self, builder: Builder, op: RecordedOp, given: tuple[int, ...]) -> tuple[int, ...]:
        mask = 0
        for n in given:
            mask |= self.reads[self.position][n]
        return tuple(
            position
            for position, number in enumerate(op.ins)
            if mask >> position & 1 and self.reach.get(number) and builder.table[number].inexact
        )

    def _dense(
        self, builder: Builder, op: RecordedOp, wanted: tuple[int, ...], given: tuple[int, ...]
    ) -> None:
        cotangents = [self.dense(builder, op.outs[n]) for n in given]
        backward, inputs = self._backward(builder, op, wanted, given)
        if backward.kernel is None:
            return
        results = builder.emit(backward.kernel, (*inputs, *cotangents))
        for position, result in zip(backward.positions, results, strict=True):
            if position in wanted:
                self._add(builder, op.ins[position], result)

    def _backward(
        self, builder: Builder, op: RecordedOp, wanted: tuple[int, ...], given: tuple[int, ...]
    ) -> tuple[Backward, tuple[int, ...]]:
        """The backward kernel of an op and its inputs, splitting the op at first sight."""
        split = op.split
        avals = tuple([builder.table[i] for i in op.ins])
        usable = (
            split is not None
            and set(wanted) <= set(split.wanted)
            and all(n < split.count for n in given)
        )
        residuals = op.residuals
        first = op.outs[0]
        if not usable and self.may_split and op.present and first not in builder.node.splits:
            split = op.kernel.split(wanted, avals)
            residuals = builder.split(first, split)
            usable = True
        if split is not None and usable:
            values = op.ins + op.outs
            saved = tuple([values[j] for j in split.saved])
            return split.backward(given), saved + residuals
        return op.kernel.pull(wanted, given, avals).backward, op.ins

    # ------------------------------------------------------------------ cotangents
    def _add(self, builder: Builder, number: int, more: Cotangent) -> None:
        before = self.cotangents.get(number)
        if before is None:
            self.cotangents[number] = more
        elif isinstance(before, Slices) and isinstance(more, Slices):
            self.cotangents[number] = Slices(
                builder.emit(CONCAT, (before.values, more.values))[0],
                builder.emit(CONCAT, (before.indices, more.indices))[0],
                before.aval,
            )
        else:
            terms = (self._densified(builder, before), self._densified(builder, more))
            self.cotangents[number] = builder.emit(ADD, terms)[0]

    def add_seed(self, builder: Builder, number: int, seed: int) -> None:
        """Start from a cotangent of a target, in TensorFlow's convention."""
        self._add(builder, number, self._conjugate(builder, seed))

    def dense(self, builder: Builder, number: int) -> int:
        """The cotangent of a value as an array."""
        dense = self._densified(builder, self.cotangents[number])
        self.cotangents[number] = dense
        return dense

    def result(self, builder: Builder, source: tuple[int, ...]) -> Cotangent | None:
        """The gradient of a source (its values' cotangents added), in TensorFlow's convention."""
        total: Sweep = self.copy()
        total.cotangents = {}
        for number in source:
            if number in self.cotangents:
                total._add(builder, -1, self.cotangents[number])
        gradient = total.cotangents.get(-1)
        return (
            gradient if isinstance(gradient, Slices | None) else self._conjugate(builder, gradient)
        )

    def _conjugate(self, builder: Builder, number: int) -> int:
        """JAX and TensorFlow disagree by a conjugate; values in the sweep are JAX's."""
        return builder.emit(CONJ, (number,))[0] if builder.table[number].is_complex else number

    def _all_cotangents(self, builder: Builder, op: RecordedOp) -> tuple[int, ...]:
        found: list[int] = []
        for out in op.outs:
            if out in self.cotangents:
                found.append(self._conjugate(builder, self.dense(builder, out)))
            else:
                found.append(builder.fill(builder.table[out], 0))
        return tuple(found)

    # ------------------------------------------------------------------ slices
    def _sparse(self, builder: Builder, op: RecordedOp) -> None:
        """The gradient of a gather along the leading axis: its rows and where they belong."""
        assert op.kernel.sparse is not None
        parameter, indices = op.kernel.sparse
        whole = builder.table[op.ins[parameter]]
        cotangent = self.dense(builder, op.outs[0])
        rows = builder.emit(_rows_kernel(whole.shape[1:]), (cotangent,))[0]
        flat = builder.emit(FLATTEN, (op.ins[indices],))[0]
        self._add(builder, op.ins[parameter], Slices(rows, flat, whole))

    def _densified(self, builder: Builder, cotangent: Cotangent) -> int:
        if isinstance(cotangent, int):
            return cotangent
        kernel = dense_kernel(cotangent.aval.shape, cotangent.aval.dtype)
        return builder.emit(kernel, (cotangent.values, cotangent.indices))[0]


_IDENTITIES = ("Identity", "ReadVariableOp")
"""Ops that hand a cotangent on as it is, rows included."""
CONCAT = Kernel("concat", lambda x, y: jnp.concatenate([x, y]), groups=(0, 0), node="ConcatV2")
FLATTEN = Kernel("reshape", lambda x: jnp.reshape(x, (-1,)), node="Reshape")
_rows: dict[tuple[int, ...], Kernel] = {}
_scatters: dict[Aval, Kernel] = {}


def _rows_kernel(row: tuple[int, ...]) -> Kernel:
    found = _rows.get(row)
    if found is None:
        found = _rows[row] = Kernel("reshape", lambda x: _as_rows(x, row), node="Reshape")
    return found


def _as_rows(x: Any, row: tuple[int, ...]) -> Any:
    count = 1
    for size in x.shape[: x.ndim - len(row)]:
        count *= size
    return jnp.reshape(x, (count, *row))


def dense_kernel(shape: tuple[int, ...], dtype: Any) -> Kernel:
    """The kernel that adds rows up into a whole tensor: (values, indices) -> dense."""
    whole = make_aval(shape, dtype)
    found = _scatters.get(whole)
    if found is None:
        found = _scatters[whole] = Kernel(
            "scatter_add", _scatter_into(whole), node="UnsortedSegmentSum"
        )
    return found


def _scatter_into(whole: Aval) -> Callable[[Any, Any], Any]:
    return lambda values, indices: (
        jnp.zeros(whole.shape, whole.dtype).at[indices].add(values, mode="drop")
    )
