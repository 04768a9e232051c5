"""One optimizer step as one pure function of arrays, from a description that is plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tapejax._src.keras import transformations

Array = jax.Array

AVERAGE = "average"
ACCUMULATOR = "gradient_accumulator"


class Rule(NamedTuple):
    """Which transformation, with its hyperparameters in order."""

    kind: str
    hyperparameters: tuple[Any, ...]

    def transformation(self) -> transformations.Transformation:
        """The optax transformation."""
        return getattr(transformations, self.kind)(*self.hyperparameters)


class Plan(NamedTuple):
    """Everything about a step that is structure; plans that are equal share one compiled step.

    Attributes:
        rule: The transformation.
        slots: Names of its slots.
        present: For each variable, whether it has a gradient in this step.
        decayed: For each variable, whether weight decay applies to it.
        weight_decay: Decay per unit of learning rate, or None.
        clip: `clipnorm`, `clipvalue`, `global_clipnorm`.
        loss_scale: What gradients are divided by, or None.
        ema: Momentum of the moving average of the parameters, or None.
        ema_every: After how many updates the average replaces the parameters, or None.
        accumulate: Over how many calls gradients are averaged, or None.
    """

    rule: Rule
    slots: tuple[str, ...]
    present: tuple[bool, ...]
    decayed: tuple[bool, ...]
    weight_decay: float | None
    clip: tuple[float | None, float | None, float | None]
    loss_scale: float | None
    ema: float | None
    ema_every: int | None
    accumulate: int | None

    @property
    def all_slots(self) -> tuple[str, ...]:
        """Names of all slots of a variable, in the order `step` takes and returns them."""
        extra = (AVERAGE,) * (self.ema is not None) + (ACCUMULATOR,) * bool(self.accumulate)
        return self.slots + extra


def step_function(plan: Plan) -> Callable[..., list[Array]]:
    """The step of a plan on a flat list of arrays.

    Args:
        plan: What the step does.

    Returns:
        Function of (learning rate, iterations, slots..., gradients..., parameters...) returning
        [iterations, slots..., parameters...]. Slots are ordered by name, then variable; gradients
        are those of the variables that have one.
    """
    variables, gradients = len(plan.present), sum(plan.present)
    names = plan.all_slots

    def flat(*arrays: Array) -> list[Array]:
        rate, iterations, *rest = arrays
        slots = {
            name: list(rest[n * variables : (n + 1) * variables]) for n, name in enumerate(names)
        }
        at = len(names) * variables
        given = iter(rest[at : at + gradients])
        grads = [next(given) if present else None for present in plan.present]
        params = list(rest[at + gradients :])
        count, slots, params = update(plan, rate, iterations, slots, grads, params)
        return [count, *(array for name in names for array in slots[name]), *params]

    return flat


Lists = dict[str, list[Array]]


def update(
    plan: Plan,
    learning_rate: Array,
    iterations: Array,
    slots: Lists,
    grads: Sequence[Array | None],
    params: list[Array],
) -> tuple[Array, Lists, list[Array]]:
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
    slots: Lists,
    grads: Sequence[Array | None],
    params: list[Array],
) -> tuple[Lists, list[Array]]:
    """Clip, decay and update the variables that have gradients."""
    chosen = [n for n, g in enumerate(grads) if g is not None]
    clip = transformations.clipping(*plan.clip)
    dense = tuple(g for g in grads if g is not None)
    clipped: Any = clip.update(dense, clip.init(dense))[0]
    params = list(params)
    if plan.weight_decay is not None:
        for n in chosen:
            if plan.decayed[n]:
                rate = learning_rate.astype(params[n].dtype)
                params[n] = params[n] - params[n] * plan.weight_decay * rate
    before = {name: tuple(slots[name][n] for n in chosen) for name in plan.slots}
    stepped: tuple[Any, Any] = plan.rule.transformation().update(
        clipped,
        before,
        tuple(params[n] for n in chosen),
        learning_rate=learning_rate,
        iterations=updates,
    )
    deltas, state = stepped
    slots = {name: list(values) for name, values in slots.items()}
    for place, n in enumerate(chosen):
        params[n] = params[n] + deltas[place]
        for name in plan.slots:
            slots[name][n] = state[name][place]
    return slots, params


def _accumulated(
    plan: Plan,
    learning_rate: Array,
    iterations: Array,
    slots: Lists,
    grads: Sequence[Array | None],
    params: list[Array],
) -> tuple[Lists, list[Array]]:
    """Add up gradients; every `accumulate` calls update by their mean and start again."""
    steps = plan.accumulate or 1
    due = (iterations + 1) % steps == 0
    sums = [
        held if g is None else g.astype(held.dtype) + held
        for g, held in zip(grads, slots[ACCUMULATOR], strict=True)
    ]
    means = [None if g is None else total / steps for g, total in zip(grads, sums, strict=True)]
    count = iterations // steps
    new_slots, new_params = _applied(plan, learning_rate, count, slots, means, params)
    for name in plan.slots:
        pairs = zip(new_slots[name], slots[name], strict=True)
        new_slots[name] = [jnp.where(due, new, old) for new, old in pairs]
    new_slots[ACCUMULATOR] = [jnp.where(due, jnp.zeros_like(total), total) for total in sums]
    pairs = zip(new_params, params, strict=True)
    return new_slots, [jnp.where(due, new, old) for new, old in pairs]


def _averaged(
    plan: Plan, updates: Array, slots: Lists, params: list[Array]
) -> tuple[Lists, list[Array]]:
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
