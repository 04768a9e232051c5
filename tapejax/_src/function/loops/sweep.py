"""The states of a finished loop from the last to the first, out of a buffer of a few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tapejax._src.function.loops.checkpoints import Slots, is_multiple, read, write

MANY_SLOTS = 256
"""With so many, two buffers last for more trips (65,536) than most loops make."""

State = list[jax.Array]
Advance = Callable[[State], State]
"""State i -> state i + 1."""
Visit = Callable[[State, Any], Any]
"""(State i, what the visits of the later states gave) -> what to hand on."""


def visit_all(buffers: Sequence[jax.Array], trips: jax.Array, visit: Visit, carry: Any) -> Any:
    """Visit states `trips - 1, ..., 0`, each of which is in the row of its number."""
    return _downwards(trips, lambda index, carry: visit(read(buffers, index), carry), carry)


def visit_by_segments(
    slots: Slots,
    buffers: Sequence[jax.Array],
    trips: jax.Array,
    advance: Advance,
    visit: Visit,
    carry: Any,
) -> Any:
    """Visit states `trips - 1, ..., 0`, of which every `2^m`-th is kept.

    Segments of `2^m` states are computed again from the state at their start, into a second buffer
    that all segments share. Up to `K^2` trips it holds a whole segment. Beyond, it holds an even
    selection; where `K` is small, so that this happens in practice, the states between go into a
    third buffer, which lasts up to `K^3` trips. What is still missing is computed from the last
    kept state at each visit: this is right for any number of trips, and slow only beyond these.

    Args:
        slots: The layout of all buffers.
        buffers: States kept while the loop ran.
        trips: How many states to visit.
        advance: One step of the loop.
        visit: See `Visit`; called with each state.
        carry: What the first visit is given.

    Returns:
        What the last visit gave.
    """
    sweep = _SegmentSweep(slots, advance, visit)
    shift = slots.shift(jnp.maximum(trips - 1, 0))
    length = jnp.int32(1) << shift
    segments = (trips + length - 1) >> shift

    def segment(number: jax.Array, state: tuple[list[State], Any]) -> tuple[list[State], Any]:
        start = number << shift
        values = read(buffers, slots.fold(start))
        return sweep.visit_segment(values, jnp.minimum(length, trips - start), *state)

    levels = 2 if slots.count < MANY_SLOTS else 1
    local = [slots.allocate(read(buffers, jnp.int32(0))) for _ in range(levels)]
    return _downwards(segments, segment, (local, carry))[1]


@dataclass(frozen=True)
class _SegmentSweep:
    """How the states of one segment are recovered; rows of earlier segments stay, and are not read.

    Attributes:
        slots: The layout of the buffers.
        advance: One step of the loop.
        visit: What to do with each state.
    """

    slots: Slots
    advance: Advance
    visit: Visit

    def visit_segment(
        self, start: State, length: jax.Array, local: list[State], carry: Any
    ) -> tuple[list[State], Any]:
        """Visit the states of a segment from the last to the first.

        Args:
            start: Its first state.
            length: How many states it has.
            local: Buffers to use.
            carry: What the first visit is given.

        Returns:
            The buffers, and what the last visit gave.
        """
        shift = self.slots.shift(jnp.maximum(length - 1, 0))
        states = self._fill(local[0], start, length - 1, shift)

        def back(index: jax.Array, state: tuple[list[State], Any]) -> tuple[list[State], Any]:
            rest, carry = state
            kept = (index >> shift) << shift
            values = read(states, self.slots.fold(kept))
            if rest:
                # The first visit among the states that follow a kept one recovers them for all.
                is_first = (index == length - 1) | is_multiple(index + 1, shift)
                between = self.slots.shift((jnp.int32(1) << shift) - 1)
                missing = jnp.where(is_first, index - kept, -1)
                rest = [self._fill(rest[0], values, missing, between)]
                start, kept = kept, kept + (((index - kept) >> between) << between)
                values = read(rest[0], self.slots.fold(kept - start))
            _, values = lax.while_loop(
                lambda state: state[0] < index,
                lambda state: (state[0] + 1, self.advance(state[1])),
                (kept, values),
            )
            return rest, self.visit(values, carry)

        rest, carry = _downwards(length, back, (local[1:], carry))
        return [states, *rest], carry

    def _fill(self, buffers: State, start: State, last: jax.Array, shift: jax.Array) -> State:
        """Keep states 0 to `last` at a stride of `2^shift`; nothing where `last` is negative."""

        def step(state: tuple[jax.Array, State, State]) -> tuple[jax.Array, State, State]:
            index, values, buffers = state
            index, values = index + 1, self.advance(values)
            return index, values, write(buffers, self.slots.row(index, shift), values)

        buffers = write(buffers, jnp.where(last < 0, self.slots.count, 0), start)
        state = (jnp.int32(0), start, buffers)
        return lax.while_loop(lambda state: state[0] < last, step, state)[2]


def _downwards(count: jax.Array, step: Callable[[jax.Array, Any], Any], carry: Any) -> Any:
    """`step(index, carry)` for `index = count - 1, ..., 0`."""

    def body(state: tuple[jax.Array, Any]) -> tuple[jax.Array, Any]:
        index, carry = state
        return index - 1, step(index, carry)

    return lax.while_loop(lambda state: state[0] >= 0, body, (count - 1, carry))[1]
