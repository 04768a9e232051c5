"""Loops that depend on tensors: the body is recorded once, the program repeats it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.block import (
    FAILURE,
    Block,
    failure_kernel,
    renumbered,
)
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record, record1
from tapejax._src.function.loops.differentiable_while import differentiable_while
from tapejax._src.function.staging.inputs import Inputs
from tapejax._src.function.staging.loop_state import Carry, LoopBody
from tapejax._src.ops.assignment import rebind_all
from tapejax._src.ops.philox import forked


class Repetition(NamedTuple):
    """How often a body runs and what it gets.

    Attributes:
        condition: A block of the carried state whose only output says whether to go on, or None.
        scanned: Tensors of which the body gets one element, `x[i]`, in iteration i.
        length: How many iterations there are at most: an int, a scalar tensor, or None.
        item: Function of (i, *bounds) to the arrays the body gets besides, as in `tf.range(n)`.
        bounds: Tensors that `item` needs.
    """

    condition: Block | None
    scanned: Sequence[Tensor]
    length: int | Tensor | None
    item: Callable[..., list[Any]]
    bounds: Sequence[Tensor]


class Loop:
    """A loop to be recorded as one op: its blocks, and where their captures come from.

    Variables that the body assigns are carried: what it captured of them is their value in this
    iteration.
    """

    def __init__(self, body: LoopBody, repetition: Repetition) -> None:
        self.body = body.block
        self.entering = body.entering
        self.state: list[Carry] = body.carried
        self.repetition = repetition
        self.written = self.body.written
        length = repetition.length
        self.limit = [length] if isinstance(length, Tensor) else []
        self.fixed = [*self.limit, *repetition.scanned, *repetition.bounds]
        initial = [c.initial for c in self.state] + [w.before for w in self.written]
        self.carried = len(initial)
        self.inputs = Inputs([*initial, *self.fixed])
        self.body_places = self._places(self.body)
        condition = repetition.condition
        self.condition_places = [] if condition is None else self._places(condition)
        self.checks = [*(condition.checks if condition else ()), *self.body.checks]
        self.effect = self.body.effect or (condition is not None and condition.effect)

    def _places(self, block: Block) -> list[int]:
        """For each capture its place among the inputs; a variable's value is the carried one."""
        carried = {id(w.before): len(self.state) + n for n, w in enumerate(self.written)}
        found = self.inputs.add([t for t in block.captures if id(t) not in carried])
        others = iter(found)
        return [carried[id(t)] if id(t) in carried else next(others) for t in block.captures]

    # ------------------------------------------------------------------ on arrays
    def _captured(
        self,
        block: Block,
        places: Sequence[int],
        carry: Sequence[Any],
        inputs: Sequence[Any],
        i: Any,
    ) -> list[Any]:
        arrays = [carry[p] if p < self.carried else inputs[p] for p in places]
        for n in block.drawn:
            arrays[n] = forked(arrays[n], i)
        return arrays

    def step(
        self, i: Any, carry: Sequence[Any], items: Sequence[Any], inputs: Sequence[Any]
    ) -> Any:
        """One iteration: the new carry, the failure record, and the outputs that are collected."""
        captured = self._captured(self.body, self.body_places, carry, inputs, i)
        outs, failure = self.body.run([*carry[: self.entering], *items], captured)
        new = [c.updated(outs) for c in self.state] + [outs[w.output] for w in self.written]
        offset = len(self.checks) - len(self.body.checks)
        return new, renumbered(failure, offset), outs

    def goes_on(self, i: Any, carry: Sequence[Any], inputs: Sequence[Any]) -> tuple[Any, Any]:
        """What the condition says, and its failure record."""
        condition = self.repetition.condition
        if condition is None:
            return True, None
        captured = self._captured(condition, self.condition_places, carry, inputs, i)
        outs, failure = condition.run(carry[: len(self.state)], captured)
        return outs[0].reshape(()).astype(bool), failure

    def items(self, i: Any, inputs: Sequence[Any]) -> list[Any]:
        """What the body gets in iteration i besides its state."""
        at = self.carried + len(self.limit)
        scanned = inputs[at : at + len(self.repetition.scanned)]
        bounds = inputs[at + len(scanned) : at + len(scanned) + len(self.repetition.bounds)]
        parts = [lax.dynamic_index_in_dim(x, i, 0, keepdims=False) for x in scanned]
        return [*self.repetition.item(i, *bounds), *parts]


def run_while(loop: Loop) -> list[Tensor]:
    """Record a loop whose number of iterations is known only when it runs."""
    static = loop.repetition.length if isinstance(loop.repetition.length, int) else None

    def cond(state: Any) -> Any:
        i, carry, failure, inputs = state
        limit = static if static is not None else (inputs[loop.carried] if loop.limit else None)
        ok, _ = loop.goes_on(i, carry, inputs)
        if limit is not None:
            ok = ok & (i < limit)
        return ok & (failure[0] == 0) if loop.checks else ok

    def body(state: Any) -> Any:
        i, carry, failure, inputs = state
        new, found, _ = loop.step(i, carry, loop.items(i, inputs), inputs)
        if loop.checks:
            _, earlier = loop.goes_on(i, carry, inputs)
            first = renumbered(earlier, 0)
            failure = jnp.where(first[0] > 0, first, found)
        return i + 1, new, failure, inputs

    def run(*inputs: Any) -> list[Any]:
        def cond_of(state: Any) -> Any:
            return cond((*state, inputs))

        def body_of(state: Any) -> Any:
            return body((*state, inputs))[:3]

        start = (
            jnp.zeros((), jnp.int32),
            list(inputs[: loop.carried]),
            jnp.zeros(FAILURE if loop.checks else 0, jnp.float64),
        )
        _, carry, failure = differentiable_while(
            cond_of, body_of, start, maximum_iterations=static, name="while"
        )
        if loop.checks and loop.repetition.condition is not None:
            # The condition may fail where it says for the last time whether to go on.
            failure = jnp.where(
                failure[0] > 0, failure, renumbered(loop.goes_on(0, carry, inputs)[1], 0)
            )
        return [*carry, failure] if loop.checks else list(carry)

    return _record(loop, run, "While")


def run_scan(loop: Loop, length: int, collected: Sequence[int]) -> list[Tensor]:
    """Record a loop of known length; `collected` outputs of each iteration are stacked behind."""

    def run(*inputs: Any) -> list[Any]:
        at = loop.carried + len(loop.limit)
        scanned = inputs[at : at + len(loop.repetition.scanned)]
        bounds = inputs[at + len(scanned) : at + len(scanned) + len(loop.repetition.bounds)]

        def step(state: Any, element: Any) -> Any:
            carry, failure = state
            i, *parts = element
            items = [*loop.repetition.item(i, *bounds), *parts]
            new, found, outs = loop.step(i, carry, items, inputs)
            if loop.checks:
                failure = jnp.where(failure[0] > 0, failure, found)
            return (new, failure), [outs[n] for n in collected]

        start = (
            list(inputs[: loop.carried]),
            jnp.zeros(FAILURE if loop.checks else 0, jnp.float64),
        )
        numbers = jnp.arange(length, dtype=jnp.int32)
        (carry, failure), stacked = lax.scan(step, start, (numbers, *scanned), length=length)
        return [*carry, *stacked, failure] if loop.checks else [*carry, *stacked]

    return _record(loop, run, "For")


def _record(loop: Loop, run: Callable[..., list[Any]], node: str) -> list[Tensor]:
    kernel = Kernel(node.lower(), run, node=node, effect=loop.effect)
    results = record(kernel, loop.inputs.tensors)
    if loop.checks:
        record1(failure_kernel(loop.checks, node), results.pop())
    state = len(loop.state)
    rebind_all([w.variable for w in loop.written], results[state : loop.carried])
    return [*results[:state], *results[loop.carried :]]
