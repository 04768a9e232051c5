"""Programs: recorded ops, kept in a trie so that what was recorded once is found again.

A `Program` is a node of the trie: the ops of all nodes from the root to it. Every run of the same
code walks the same nodes, one dictionary look-up per op, so nothing is traced or hashed twice and
the compiled executable hangs on the node where the walk ends.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core.avals import Aval, LeafKey, StaticKey
from tapejax._src.engine.kernel import Kernel, Split
from tapejax._src.engine.numerics import checked
from tapejax._src.engine.statistics import COUNTERS

if TYPE_CHECKING:
    from tapejax._src.engine.executable import Executable

Op = tuple[Kernel, tuple[int, ...], tuple[int, ...]]
"""A recorded op: kernel, numbers of its inputs, numbers of its outputs."""


class Step:
    """What recording looks at: a class of its own because slots of a base class lie together.

    Attributes:
        kernel: The op recorded last, None for marks.
        first: Its input, the first of its two inputs, or the tuple of all.
        second: The second of two inputs.
        likely: The node that came next last time.
        edges: What can come next: edge key -> node.
        depth: Number of nodes before.
        result: Numbers of the values handed to the user, as the recording function expects them.
        payload: What else the recording function keeps here.
    """

    __slots__ = (
        "depth",
        "edges",
        "first",
        "kernel",
        "likely",
        "payload",
        "result",
        "second",
    )

    depth: int
    edges: dict[Any, Program]
    first: Any
    kernel: Kernel | None
    likely: Program
    payload: Any
    result: Any
    second: Any


class Program(Step):
    """A prefix of recorded ops: one node of the trie, shared by every run that records the same.

    Values are numbered in order of appearance: leaves, Python scalars, results.

    Attributes:
        parent: The node before.
        size: Number of values so far; this node added those from `parent.size` on.
        avals: Avals of the values added here.
        checked: Whether some op can fail by the values it gets.
        effects: Whether some op has an effect.
        ops: Ops added here.
        event: A mark made by a tape, or None.
        leaves: Values added here that a run must supply as arrays: (number, key).
        scalars: Values added here that a run supplies as Python numbers: (number, is_float).
        constants: Values added here that are known whatever the run.
        splits: Ops (by first output) that a gradient needs split: op -> (split, residual numbers).
        line: The user's (file, line, function) that recorded it first.
        memo: Facts about the program that tapes worked out once.
        varied: Whether different static indices have followed here: further ones are dynamic.
        scalar_targets: Scalar values differentiated here, which a run always returns.
    """

    __slots__ = (
        "avals",
        "checked",
        "constants",
        "effects",
        "event",
        "executables",
        "leaves",
        "line",
        "memo",
        "ops",
        "parent",
        "rented",
        "scalar_cache",
        "scalar_targets",
        "scalars",
        "size",
        "splits",
        "varied",
    )

    def __init__(self, parent: Program | None, event: Any = None) -> None:
        self.kernel = None
        self.first = self.second = None
        self.likely = NOWHERE
        self.edges = {}
        self.parent = parent
        self.depth = 0 if parent is None else parent.depth + 1
        self.size: int = 0 if parent is None else parent.size
        self.avals: list[Aval] = []
        self.checked: bool = parent is not None and parent.checked
        self.effects: bool = parent is not None and parent.effects
        self.ops: tuple[Op, ...] = ()
        self.event = event
        self.leaves: tuple[tuple[int, LeafKey], ...] = ()
        self.scalars: tuple[tuple[int, bool], ...] = ()
        self.constants: dict[int, np.ndarray[Any, Any]] = {}
        self.splits: dict[int, tuple[Split, tuple[int, ...]]] = {}
        self.result = None
        self.payload = None
        self.executables: dict[Any, Executable] | None = None
        self.rented: dict[Any, float] | None = None
        self.memo: dict[Any, Any] | None = None
        self.scalar_cache: Any = None
        self.line: tuple[str, int, str] | None = None
        self.scalar_targets: tuple[int, ...] = ()
        self.varied = False
        COUNTERS.programs += 1

    def path(self) -> list[Program]:
        """The nodes from the root to this one."""
        nodes: list[Program] = []
        node: Program | None = self
        while node is not None:
            nodes.append(node)
            node = node.parent
        nodes.reverse()
        return nodes

    def table(self) -> list[Aval]:
        """The aval of every value, by number."""
        table: list[Aval] = []
        for node in self.path():
            table += node.avals
        return table

    def line_of(self, first: int) -> tuple[str, int, str] | None:
        """The user's line of an op added here: that inside the function, for a traced one's."""
        lines = {} if self.memo is None else self.memo.get("lines", {})
        return lines.get(first, self.line)

    def split_ops(self) -> list[Op]:
        """All ops, those a gradient needs split replaced by their forward halves."""
        ops: list[Op] = []
        place: dict[int, int] = {}
        for node in self.path():
            for op in node.ops:
                place[op[2][0] if op[2] else -1] = len(ops)
                ops.append(op)
            for first, (split, residuals) in node.splits.items():
                at = place[first]
                _, ins, outs = ops[at]
                ops[at] = (split.forward, ins, outs + residuals)
        return ops

    def known(
        self, number: int, numbers: tuple[Sequence[float], Sequence[int]] | None = None
    ) -> np.ndarray[Any, Any] | None:
        """The value of a structural constant or an op on such; None when a run decides it.

        Args:
            number: Which value.
            numbers: The Python floats and ints of the run that is being recorded. With them, an op
                on a structural constant and a number is known too, for this run.
        """
        ops: dict[int, tuple[Program, Op]] = {}
        waiting = [number]
        values: dict[int, np.ndarray[Any, Any]] = {}
        given: dict[int, np.ndarray[Any, Any]] = {}
        while waiting:
            wanted = waiting.pop()
            if wanted in values or wanted in ops:
                continue
            node = self._adding(wanted)
            if wanted in node.constants:
                values[wanted] = node.constants[wanted]
                continue
            op = next((op for op in node.ops if wanted in op[2]), None)
            if op is None and numbers is not None and node.scalars:
                given = given or self._numbers(*numbers)
                if wanted in given:
                    values[wanted] = given[wanted]
                    continue
            if op is None or not op[1]:
                return None
            ops[wanted] = (node, op)
            waiting += op[1]
        for wanted in sorted(ops):
            node, (kernel, ins, outs) = ops[wanted]
            with jax.ensure_compile_time_eval(), jax.enable_x64(True):
                results = [np.asarray(x) for x in kernel.run([values[i] for i in ins])]
            values.update(zip(outs, results, strict=True))
            if not given:
                node.constants = {**node.constants, **dict(zip(outs, results, strict=True))}
        return values[number]

    def _numbers(
        self, floats: Sequence[float], ints: Sequence[int]
    ) -> dict[int, np.ndarray[Any, Any]]:
        """The Python numbers of a run, by the numbers of their values."""
        remaining = iter(floats), iter(ints)
        found: dict[int, np.ndarray[Any, Any]] = {}
        for node in self.path():
            before = 0 if node.parent is None else node.parent.size
            for number, is_float in node.scalars:
                value = next(remaining[0 if is_float else 1])
                found[number] = np.asarray(value, node.avals[number - before].dtype)
        return found

    def _adding(self, number: int) -> Program:
        """The node that added a value."""
        node = self
        while node.parent is not None and number < node.parent.size:
            node = node.parent
        return node


class Builder:
    """Adds one node to the trie: leaves, scalars and ops, then `attach` makes it findable."""

    def __init__(self, parent: Program, table: list[Aval], event: Any = None) -> None:
        self.node = Program(parent, event)
        self.table = table

    def _new(self, aval: Aval) -> int:
        number = self.node.size
        self.node.size = number + 1
        self.node.avals.append(aval)
        self.table.append(aval)
        return number

    def leaf(self, key: LeafKey) -> int:
        """Add an array the run supplies; a structural constant is stored instead."""
        number = self._new(key.aval)
        if isinstance(key, StaticKey):
            self.node.constants = {**self.node.constants, number: key.value}
        else:
            self.node.leaves += ((number, key),)
        return number

    def scalar(self, aval: Aval, is_float: bool) -> int:
        """Add a Python number the run supplies, converted to `aval` inside the program."""
        number = self._new(aval)
        self.node.scalars += ((number, is_float),)
        return number

    def absent(self, aval: Aval) -> int:
        """Add the number of a value that no longer exists: only derivatives pass through it."""
        return self._new(aval)

    def emit(self, kernel: Kernel, ins: Sequence[int]) -> tuple[int, ...]:
        """Add an op."""
        ins = tuple(ins)
        given = tuple([self.table[i] for i in ins])
        kernel, avals = checked(kernel, given), kernel.outs(given)
        outs = tuple([self._new(aval) for aval in avals])
        self.node.ops += ((kernel, ins, outs),)
        if kernel.check is not None:
            self.node.checked = True
        if kernel.effect:
            self.node.effects = True
        return outs

    def constant(self, value: np.ndarray[Any, Any], aval: Aval) -> int:
        """Add a value known whatever the run."""
        number = self._new(aval)
        self.node.constants = {**self.node.constants, number: value}
        return number

    def split(self, first: int, split: Split) -> tuple[int, ...]:
        """Have the op whose first output is `first` return its residuals too."""
        numbers = tuple([self._new(aval) for aval in split.residual_avals()])
        self.node.splits[first] = (split, numbers)
        return numbers

    def fill(self, aval: Aval, value: int) -> int:
        """Add a constant array of zeros or ones."""
        return self.emit(fill_kernel(aval, value), ())[0]

    def attach(self, key: Any, line: tuple[str, int, str] | None = None) -> Program:
        """Make the node the continuation of its parent under `key`."""
        self.node.line = line
        if isinstance(key, tuple) and isinstance(key[0], Kernel):
            _, *parts = key
            self.node.first, self.node.second = tuple(parts), None
            if 1 <= len(parts) <= 2:
                self.node.first, self.node.second = parts[0], parts[-1]
            self.node.kernel = key[0]
        assert self.node.parent is not None
        return self.node.parent.edges.setdefault(key, self.node)


_fills: dict[tuple[Aval, int], Kernel] = {}


def fill_kernel(aval: Aval, value: int) -> Kernel:
    """The kernel of a constant array of zeros or ones."""
    found = _fills.get((aval, value))
    if found is None:
        name = "zeros" if value == 0 else "ones"
        found = _fills[(aval, value)] = Kernel(
            name, lambda: jnp.full(aval.shape, value, aval.dtype)
        )
    return found


NOWHERE = Program.__new__(Program)
NOWHERE.kernel = None
"""What a node that nothing has followed yet takes as likely."""

ROOT = Program(None)


def needed(
    ops: Sequence[Op], live: Sequence[int], computable: Container[int] = ()
) -> tuple[list[Op], set[int]]:
    """The ops that the values `live` need, and the numbers of all values they read.

    Ops with an effect are needed too, if all their inputs are `computable`.
    """
    wanted = set(live)
    kept: list[Op] = []
    for op in reversed(ops):
        if any(out in wanted for out in op[2]) or (
            computable and op[0].effect and all(i in computable for i in op[1])
        ):
            kept.append(op)
            wanted.update(op[1])
    kept.reverse()
    return kept, wanted


def run_ops(ops: Sequence[Op], env: dict[int, Any]) -> None:
    """Run ops in order on the arrays in `env`, adding their results to it."""
    for kernel, ins, outs in ops:
        env.update(zip(outs, kernel.run([env[i] for i in ins]), strict=True))
