"""One optimizer step as one pure function of arrays, from a description that is plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp

from tapejax._src.keras import transformations

Array = jax.Array

AVERAGE = "average"
ACCUMULATOR = "gradient_accumulator"


class Rule(NamedTuple):
    """Which transformation, with its hyperparameters in order.

    Attributes:
        factory: The function that makes the transformation.
        hyperparameters: Its arguments, all hashable.
        whole: Whether it takes all variables at once, those without a gradient too.
    """

    factory: Callable[..., transformations.Transformation]
    hyperparameters: tuple[Any, ...]
    whole: bool = False

    def transformation(self) -> transformations.Transformation:
        """The optax transformation."""
        return self.factory(*self.hyperparameters)


class Plan(NamedTuple):
    """Everything about a step that is structure; plans that are equal share one compiled step.

    Attributes:
        rule: The transformation.
        slots: Each slot's name, and for each variable whether it has that slot.
        shared: Names of the state that belongs to no variable.
        present: For each variable, whether it has a gradient in this step.
        decay: For each variable, weight decay per unit of learning rate, or None.
        clip: `clipnorm`, `clipvalue`, `global_clipnorm`.
        loss_scale: What gradients are divided by, or None.
        ema: Momentum of the moving average of the parameters, or None.
        ema_every: After how many updates the average replaces the parameters, or None.
        accumulate: Over how many calls gradients are averaged, or None.
    """

    rule: Rule
    slots: tuple[tuple[str, tuple[bool, ...]], ...]
    shared: tuple[str, ...]
    present: tuple[bool, ...]
    decay: tuple[float | None, ...]
    clip: tuple[float | None, float | None, float | None]
    loss_scale: float | None
    ema: float | None
    ema_every: int | None
    accumulate: int | None


def step_function(plan: Plan) -> Callable[..., list[Array]]:
    """The step of a plan on a flat list of arrays.

    Args:
        plan: What the step does.

    Returns:
        Function of (learning rate, iterations, state..., gradients..., parameters...) returning
        [iterations, state..., parameters...]. The state is the slots, by name and then variable,
        and what is shared; gradients are those of the variables that have one.
    """

    def flat(*arrays: Array) -> list[Array]:
        inputs = iter(arrays)
        rate, iterations = next(inputs), next(inputs)
        slots: Slots = {
            name: [next(inputs) if held else None for held in holders]
            for name, holders in plan.slots
        }
        shared = {name: next(inputs) for name in plan.shared}
        grads = [next(inputs) if present else None for present in plan.present]
        count, state, params = update(plan, rate, iterations, slots | shared, grads, list(inputs))
        held = [array for name, _ in plan.slots for array in state[name] if array is not None]
        return [count, *held, *(state[name] for name in plan.shared), *params]

    return flat


Slots = dict[str, Any]
"""Slot name -> one array or None for each variable; name of shared state -> array."""


def update(
    plan: Plan,
    learning_rate: Array,
    iterations: Array,
    slots: Slots,
    grads: Sequence[Array | None],
    params: list[Array],
) -> tuple[Array, Slots, list[Array]]:
    """One step: unscale, accumulate, clip, decay, update, average.

    Args:
        plan: What the step does.
        learning_rate: Scalar.
        iterations: Scalar integer, how many calls came before.
        slots: Slot name -> one array for each variable.
        grads: One for each variable, None where there is none.
        params: The variables' values.

    Returns:
        The new iterations, slots and parameters.
    """
    if plan.loss_scale is not None:
        grads = [None if g is None else g / plan.loss_scale for g in grads]
    updates = iterations
    if plan.accumulate:
        updates = iterations // plan.accumulate
        slots, params = _accumulated(plan, learning_rate, iterations, slots, grads, params)
    else:
        slots, params = _applied(plan, learning_rate, updates, slots, grads, params)
    if plan.ema is not None:
        slots, params = _averaged(plan, updates, slots, params)
    return iterations + 1, slots, params


def _applied(
    plan: Plan,
    learning_rate: Array,
    updates: Array,
    slots: Slots,
    grads: Sequence[Array | None],
    params: list[Array],
) -> tuple[Slots, list[Array]]:
    """Clip, decay and update the variables that have gradients."""
    clip = transformations.clipping(*plan.clip)
    dense = tuple(g for g in grads if g is not None)
    given = iter(cast("tuple[Array, ...]", clip.update(dense, clip.init(dense))[0]))
    clipped = [None if g is None else next(given) for g in grads]
    params = [
        p if g is None else _decayed(p, decay, learning_rate)
        for g, p, decay in zip(grads, params, plan.decay, strict=True)
    ]
    chosen = [n for n, g in enumerate(grads) if g is not None or plan.rule.whole]
    own = [name for name, _ in plan.slots if name not in (AVERAGE, ACCUMULATOR)]
    before = {name: tuple(slots[name][n] for n in chosen) for name in own}
    gradients: list[Any] = [params[n] * 0 if clipped[n] is None else clipped[n] for n in chosen]
    stepped: tuple[Any, Any] = plan.rule.transformation().update(
        tuple(gradients),
        before | {name: slots[name] for name in plan.shared},
        tuple(params[n] for n in chosen),
        learning_rate=learning_rate,
        iterations=updates,
    )
    deltas, state = stepped
    after: Slots = slots | {name: list(slots[name]) for name in own}
    after |= {name: state[name] for name in plan.shared}
    for place, n in enumerate(chosen):
        if grads[n] is not None:
            params[n] = params[n] + deltas[place].astype(params[n].dtype)
        for name in own:
            after[name][n] = state[name][place]
    return after, params


def _decayed(param: Array, decay: float | None, learning_rate: Array) -> Array:
    if decay is None:
        return param
    return param - param * decay * learning_rate.astype(param.dtype)


def _accumulated(
    plan: Plan,
    learning_rate: Array,
    iterations: Array,
    slots: Slots,
    grads: Sequence[Array | None],
    params: list[Array],
) -> tuple[Slots, list[Array]]:
    """Add up gradients; every `accumulate` calls update by their mean and start again."""
    steps = plan.accumulate or 1
    due = (iterations + 1) % steps == 0
    sums = [
        held if g is None else g.astype(held.dtype) + held
        for g, held in zip(grads, slots[ACCUMULATOR], strict=True)
    ]
    means = [None if g is None else total / steps for g, total in zip(grads, sums, strict=True)]
    count = iterations // steps
    updated = _applied(plan, learning_rate, count, slots, means, params)

    def chosen(new: Array, old: Array) -> Array:
        return jnp.where(due, new, old)

    new_slots, new_params = jax.tree.map(chosen, updated, (slots, params))
    new_slots[ACCUMULATOR] = [jnp.where(due, jnp.zeros_like(total), total) for total in sums]
    return new_slots, new_params


def _averaged(
    plan: Plan, updates: Array, slots: Slots, params: list[Array]
) -> tuple[Slots, list[Array]]:
    """Move the averages towards the parameters; now and then put them in their place."""
    averages: list[Array] = []
    for average, param in zip(slots[AVERAGE], params, strict=True):
        momentum = (updates != 0).astype(param.dtype) * (plan.ema or 0.0)
        averages.append(momentum * average + (1 - momentum) * param)
    if plan.ema_every:
        due = (updates + 1) % plan.ema_every == 0
        pairs = zip(averages, params, strict=True)
        params = [jnp.where(due, average, param) for average, param in pairs]
    return {**slots, AVERAGE: averages}, params
