"""A step taken only if all gradients are finite, and the loss scale that follows from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp

from tapejax._src.core.variable import Variable
from tapejax._src.keras.update import Array, Plan


class GuardPlan(NamedTuple):
    """What is structure in a guarded step.

    Attributes:
        growth: After how many finite steps the scale doubles, or None for a fixed scale, with which
            every step is taken.
        scaled: Whether gradients still have to be divided by the scale.
    """

    growth: int | None
    scaled: bool


class Guard(NamedTuple):
    """A guard and its state.

    Attributes:
        plan: What it does.
        state: The number of finite steps since the scale changed, and the scale.
    """

    plan: GuardPlan
    state: tuple[Variable, Variable]


def next_scale(plan: GuardPlan, finite: Array, counter: Array, scale: Array) -> tuple[Array, Array]:
    """Counter and scale after a step: doubled in time, halved where something was not finite."""
    if plan.growth is None:
        return counter, scale
    due = counter + 1 >= plan.growth
    counter = jnp.where(finite & ~due, counter + 1, jnp.zeros_like(counter))
    factor = jnp.where(finite, jnp.where(due, 2, 1), 0.5).astype(scale.dtype)
    # An infinite scale would make every gradient zero or NaN for ever.
    return counter, jnp.where(jnp.isfinite(scale * factor), scale * factor, scale)


def all_finite(grads: list[Array]) -> Array:
    """Whether every element of every gradient is finite."""
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(g)) for g in grads]))


def guarded(
    step: Callable[..., list[Array]], plan: Plan, guard: GuardPlan
) -> Callable[..., list[Array]]:
    """A step of (counter, scale, learning rate, state..., gradients..., parameters...).

    Args:
        step: What `step_function` made of the plan.
        plan: The plan.
        guard: The guard's plan.

    Returns:
        Function returning [counter, scale, state..., parameters...], where the step is undone if a
        gradient is not finite.
    """
    params, present = len(plan.present), sum(plan.present)

    def flat(counter: Array, scale: Array, rate: Array, *rest: Array) -> list[Array]:
        first = len(rest) - params - present
        state, grads, old = rest[:first], list(rest[first : first + present]), rest[-params:]
        finite = all_finite(grads)
        if guard.scaled:
            grads = [g / scale.astype(g.dtype) for g in grads]
        new = step(rate, *state, *grads, *old)
        if guard.growth is None:
            return [counter, scale, *new]
        before = (*state, *old)
        kept = [jnp.where(finite, a, b) for a, b in zip(new, before, strict=True)]
        return [*next_scale(guard, finite, counter, scale), *kept]

    return flat
