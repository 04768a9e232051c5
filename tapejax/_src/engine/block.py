"""Blocks: pieces of a traced function that are programs of their own, as a branch or a loop's body.

What they read from around them is captured; what they assign to variables is given out.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core.avals import Aval, LeafKey
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.definitions import ValueCheck
from tapejax._src.engine.executable import Check, Plan
from tapejax._src.engine.hidden import Source, hidden_input
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.program import Builder
from tapejax._src.engine.recorder import LOCAL, Recorder, new_recorder
from tapejax._src.engine.recording import advance, number_of

FAILURE = 8
"""Numbers in a failure record: whether something failed, which check it was, its details."""


def widest_float() -> Any:
    """The widest float there is: float64, unless the user's own JAX code has it switched off."""
    return jax.dtypes.canonicalize_dtype(np.float64)


class Written(NamedTuple):
    """What a block assigns to a variable.

    Attributes:
        variable: The variable.
        before: Its value around the block.
        output: Where the value assigned last is among the outputs of the block's program.
    """

    variable: Variable
    before: Tensor
    output: int


class Block:
    """A recorded piece of a function.

    Attributes:
        avals: The avals of the outputs that `body` returned.
        captures: The tensors around it that it reads, in the order `run` takes their arrays.
        drawn: Places among the captures that hold the state of a random op.
        written: What it assigns to variables; those outputs follow the others.
        checks: Its ops that can fail.
        effect: Whether it has ops that must run though nothing needs their results.
    """

    __slots__ = (
        "_floats",
        "_ints",
        "_plan",
        "_sources",
        "avals",
        "captures",
        "checks",
        "drawn",
        "effect",
        "written",
    )

    def __init__(self, recorder: Recorder, outputs: Sequence[Tensor]) -> None:
        numbers = [number_of(tensor) for tensor in outputs]
        self.avals: list[Aval] = [tensor.aval for tensor in outputs]
        self.captures: list[Tensor] = list(recorder.kept or [])
        last: dict[int, tuple[Variable, Tensor, int]] = {}
        for variable, _, number, before in recorder.assigned:
            first = last.get(id(variable))
            value = before if first is None else first[1]
            assert value is not None
            last[id(variable)] = (variable, value, number)
        self.written = [
            Written(variable, value, len(numbers) + n)
            for n, (variable, value, _) in enumerate(last.values())
        ]
        numbers += [number for _, _, number in last.values()]
        self._plan = Plan(recorder.node, tuple(numbers), None, {})
        self._floats = np.array(recorder.floats, np.float64)
        self._ints = np.array(recorder.ints, np.int64)
        self.checks: list[Check] = self._plan.checks
        self.effect = any(kernel.effect for kernel, _, _ in self._plan.ops)
        sources = {id(tensor): source for tensor, source in recorder.hidden or ()}
        self._sources: dict[int, Source] = {
            n: sources[id(t)] for n, t in enumerate(self.captures) if id(t) in sources
        }
        self.drawn = {n: source.step for n, source in self._sources.items()}

    def draw(self, times: int | None) -> None:
        """Supply what it captured of hidden inputs.

        Args:
            times: How often the block will run, or None where that is not known.
        """
        for n, source in self._sources.items():
            self.captures[n] = hidden_input(source.repeated(times))

    def release(self) -> None:
        """Let go of the tensors and variables: programs that hold the block live long."""
        self.captures = []
        self.written = []

    def run(self, arguments: Sequence[Any], captured: Sequence[Any]) -> tuple[list[Any], Any]:
        """The outputs, and the failure record (None when nothing in it can fail)."""
        outs, failures = self._plan(self._floats, self._ints, *arguments, *captured)
        return outs, None if failures is None else _first_failure(failures)


def record_block(
    body: Callable[..., Sequence[Tensor]],
    keys: Sequence[LeafKey],
    branch: bool = False,
    loop: bool = False,
) -> Block:
    """Record a function of tensors as a block.

    Variables it assigns have their old values again afterwards, and tapes around it do not look
    inside.

    Args:
        body: Function of one tensor for each key, returning tensors.
        keys: How the arguments enter: an aval, or a variable's key.
        branch: Whether it may turn out not to run at all.
        loop: Whether it will be repeated. Then `draw` is called when it is known how often.
    """
    outer, active = LOCAL.recorder, LOCAL.active
    recorder = new_recorder(outer.symbolic or _NO_VALUE)
    recorder.limit = 1 << 60
    recorder.is_block = True
    recorder.in_branch = branch or outer.in_branch
    recorder.around = (outer, active)
    LOCAL.active = []
    try:
        arguments = [_placeholder(recorder, place, key) for place, key in enumerate(keys)]
        block = Block(recorder, body(*arguments))
    finally:
        for variable, _, _, before in reversed(recorder.assigned):
            if before is not None:
                variable.hold(before)
        recorder.done = True
        LOCAL.recorder, LOCAL.active = outer, active
    if not loop:
        block.draw(1)
    recorder.kept = None
    return block


def is_around(outer: Recorder | None, recorder: Recorder) -> bool:
    """Whether a block is recorded inside what another recorder records."""
    while recorder.around is not None:
        recorder = recorder.around[0]
        if recorder is outer:
            return True
    return False


@contextmanager
def recording_around(outer: Recorder | None, values: Sequence[Any]) -> Generator[None]:
    """Record around the blocks being recorded: what is asked of a tape there is computed there.

    Args:
        outer: The recorder to go out to.
        values: Tensors and variables that are needed, which must exist there.

    Raises:
        NotImplementedError: If one was made inside.
    """
    inner, active = LOCAL.recorder, LOCAL.active
    recorder, outside = inner, active
    while recorder is not outer and recorder.around is not None:
        for value in values:
            tensor = value.tensor if isinstance(value, Variable) else value
            if isinstance(tensor, Tensor) and tensor.recorder is recorder and tensor.array is None:
                raise NotImplementedError(
                    "A tape opened outside of a loop or branch was asked, inside it, about a value "
                    f"of shape {list(tensor.aval.shape)} and dtype {tensor.dtype.name} that was "
                    "made inside. Compiled control flow is one op for such a tape: open the tape "
                    "inside, or ask it outside."
                )
        recorder, outside = recorder.around
    LOCAL.recorder, LOCAL.active = recorder, outside
    try:
        yield
    finally:
        LOCAL.recorder, LOCAL.active = inner, active


_NO_VALUE = (
    "Using a symbolic `tf.Tensor` as a Python value is not allowed: this branch or loop depends on "
    "a tensor, so it is recorded, and its tensors have shapes and dtypes but no values."
)


def _placeholder(recorder: Recorder, place: int, key: LeafKey) -> Tensor:
    builder = Builder(recorder.node, list(recorder.avals()))
    builder.node.result = builder.leaf(key)
    advance(recorder, builder.attach(("argument", place, key)))
    tensor = Tensor(key.aval, recorder, builder.node.result)
    recorder.leaves.append(weakref.ref(tensor))
    recorder.values.append(None)
    recorder.owned.append(False)
    return tensor


# ---------------------------------------------------------------------- failures inside
def _first_failure(failures: Any) -> Any:
    """The record of the first check that failed, from one row for each."""
    failed = failures[:, 0] > 0
    first = jnp.argmax(failed)
    which = first.astype(failures.dtype)
    return jnp.concatenate([jnp.stack([jnp.any(failed), which]), failures[first, 1:-1]])


def no_failure() -> Any:
    """The record when nothing failed."""
    return jnp.zeros(FAILURE, widest_float())


def renumbered(record: Any, offset: int) -> Any:
    """A record whose check is counted from another place, or that of a block without checks."""
    return no_failure() if record is None else record.at[1].add(offset)


def failure_kernel(checks: Sequence[Check], node: str) -> Kernel:
    """A kernel that fails when the failure record it is given says so."""

    def fails(record: Any) -> tuple[Any, ...]:
        return (record[0] > 0, *[record[n] for n in range(1, FAILURE)])

    def message(which: float, *details: float) -> str:
        check = checks[int(which)]
        line = "" if check.line is None else f", recorded at {check.line[0]}:{check.line[1]}"
        text = check.bound.message(*details[: check.bound.details])
        return f"{text} [Op:{check.kernel.node}{line}]"

    return Kernel(
        "failures",
        lambda record: record,
        node=node,
        gradient="none",
        check=ValueCheck(fails, message),
    )
