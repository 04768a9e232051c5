"""Loops that depend on tensors: the body is recorded once, the program repeats it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.block import (
    FAILURE,
    Block,
    failure_kernel,
    renumbered,
    widest_float,
)
from tapejax._src.engine.definitions import ValueCheck
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record, record1
from tapejax._src.function.loops.differentiable_while import differentiable_while
from tapejax._src.function.staging.inputs import Inputs
from tapejax._src.function.staging.loop_state import LoopBody, updated
from tapejax._src.ops.assignment import assign_results
from tapejax._src.ops.philox import skipped


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

    The op's inputs are what is carried, then the limit if it is a tensor, what is scanned, the
    bounds, and what the blocks capture. Variables that the body assigns are carried: what it
    captured of them is their value in this iteration.
    """

    def __init__(self, body: LoopBody, repetition: Repetition) -> None:
        self.body = body.block
        self.entering = body.entering
        # A name of an inner loop may have its first value from a later iteration of the outer one.
        self.fresh = [] if LOCAL.recorder.is_block else body.fresh
        self.written = self.body.written
        self.condition = repetition.condition
        self.item = repetition.item
        length = repetition.length
        self.length = length if isinstance(length, int) else None
        self.body.draw(self.length)
        if self.condition is not None:
            self.condition.draw(None if self.length is None else self.length + 1)
        limit = [length] if isinstance(length, Tensor) else []
        initial = [c.initial for c in body.carried] + [w.before for w in self.written]
        self.updates = [(c.source, c.initial.aval) for c in body.carried]
        self.outputs = [w.output for w in self.written]
        self.state, self.carried = len(body.carried), len(initial)
        ends = np.cumsum(
            [self.carried, len(limit), len(repetition.scanned), len(repetition.bounds)]
        )
        self.limit, self.scanned, self.bounds = (
            slice(int(start), int(end)) for start, end in itertools.pairwise(ends)
        )
        self.inputs = Inputs([*initial, *limit, *repetition.scanned, *repetition.bounds])
        self.body_places = self._places(self.body)
        self.condition_places = [] if self.condition is None else self._places(self.condition)
        self.checks = [*(self.condition.checks if self.condition else ()), *self.body.checks]
        self.offset = len(self.checks) - len(self.body.checks)
        self.effect = self.body.effect or (self.condition is not None and self.condition.effect)

    def _places(self, block: Block) -> list[int]:
        """For each capture its place among the inputs; a variable's value is the carried one."""
        carried = {id(w.before): self.state + n for n, w in enumerate(self.written)}
        found = iter(self.inputs.add([t for t in block.captures if id(t) not in carried]))
        return [carried[id(t)] if id(t) in carried else next(found) for t in block.captures]

    def release(self) -> None:
        """Let go of tensors and variables: the program that holds the loop lives long."""
        self.inputs, self.written = Inputs(), []
        self.body.release()
        if self.condition is not None:
            self.condition.release()

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
        for n, step in block.drawn.items():
            moved = jnp.asarray(i).astype(jnp.uint64) * np.uint64(step)
            arrays[n] = skipped(arrays[n], moved)
        return arrays

    def step(
        self, i: Any, carry: Sequence[Any], items: Sequence[Any], inputs: Sequence[Any]
    ) -> Any:
        """One iteration: the new carry, the failure record, and all outputs of the body."""
        captured = self._captured(self.body, self.body_places, carry, inputs, i)
        outs, failure = self.body.run([*carry[: self.entering], *items], captured)
        new = [updated(source, aval, outs) for source, aval in self.updates]
        return new + [outs[n] for n in self.outputs], renumbered(failure, self.offset), outs

    def goes_on(self, i: Any, carry: Sequence[Any], inputs: Sequence[Any]) -> tuple[Any, Any]:
        """What the condition says, and its failure record."""
        if self.condition is None:
            return True, None
        captured = self._captured(self.condition, self.condition_places, carry, inputs, i)
        outs, failure = self.condition.run(carry[: self.state], captured)
        return outs[0].reshape(()).astype(bool), failure

    def items(self, i: Any, inputs: Sequence[Any]) -> list[Any]:
        """What the body gets in iteration i besides its state."""
        parts = [lax.dynamic_index_in_dim(x, i, 0, keepdims=False) for x in inputs[self.scanned]]
        return [*self.item(i, *inputs[self.bounds]), *parts]


def run_while(loop: Loop) -> list[Tensor]:
    """Record a loop whose number of iterations is known only when it runs."""

    def cond(state: Any) -> Any:
        i, carry, failure, inputs = state
        ok, _ = loop.goes_on(i, carry, inputs)
        for limit in inputs[loop.limit]:
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
            jnp.zeros(FAILURE if loop.checks else 0, widest_float()),
        )
        count, carry, failure = differentiable_while(
            cond_of, body_of, start, maximum_iterations=loop.length, name="while"
        )
        if loop.checks and loop.condition is not None:
            # The condition may fail where it says for the last time whether to go on.
            failure = jnp.where(
                failure[0] > 0, failure, renumbered(loop.goes_on(0, carry, inputs)[1], 0)
            )
        counted = [count] if loop.fresh else []
        return [*carry, *counted, failure] if loop.checks else [*carry, *counted]

    results = _record(loop, run, "While")
    if loop.fresh:
        record1(_iterated(loop.fresh), results.pop())
    return results


def _iterated(names: Sequence[str]) -> Kernel:
    """A kernel that fails when a loop that gives names their first value made no iteration."""
    text = (
        f"loop must iterate at least once to initialize {', '.join(map(repr, names))}: give a "
        "value before the loop"
    )
    check = ValueCheck(lambda count: (count == 0,), lambda: text)
    return Kernel("iterated", lambda count: count, node="While", gradient="none", check=check)


def run_scan(loop: Loop, length: int, collected: Sequence[int]) -> list[Tensor]:
    """Record a loop of known length; `collected` outputs of each iteration are stacked behind."""

    def run(*inputs: Any) -> list[Any]:
        bounds = inputs[loop.bounds]

        def step(state: Any, element: Any) -> Any:
            carry, failure = state
            i, *parts = element
            items = [*loop.item(i, *bounds), *parts]
            new, found, outs = loop.step(i, carry, items, inputs)
            if loop.checks:
                failure = jnp.where(failure[0] > 0, failure, found)
            return (new, failure), [outs[n] for n in collected]

        start = (
            list(inputs[: loop.carried]),
            jnp.zeros(FAILURE if loop.checks else 0, widest_float()),
        )
        numbers = jnp.arange(length, dtype=jnp.int32)
        (carry, failure), stacked = lax.scan(
            step, start, (numbers, *[x[:length] for x in inputs[loop.scanned]]), length=length
        )
        return [*carry, *stacked, failure] if loop.checks else [*carry, *stacked]

    return _record(loop, run, "For")


def _record(loop: Loop, run: Callable[..., list[Any]], node: str) -> list[Tensor]:
    kernel = Kernel(node.lower(), run, node=node, effect=loop.effect)
    results = record(kernel, loop.inputs.tensors)
    variables = [w.variable for w in loop.written]
    loop.release()
    if loop.checks:
        record1(failure_kernel(loop.checks, node), results.pop())
    assign_results(variables, results[loop.state : loop.carried])
    return [*results[: loop.state], *results[loop.carried :]]
