"""Rules that scale each element by its own history, as optax transformations; see transformations.

Optax has most of these too. Where the numbers differ: Nadam has a momentum schedule of its own,
Adamax and Adagrad put epsilon elsewhere, and Ftrl and the schedule-free AdamW are not there.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.keras.transformations import (
    Array,
    Slots,
    Start,
    Transformation,
    elementwise,
    power,
)


def _filled(value: float) -> Start:
    return lambda param, place: np.full(param.shape, value, param.dtype)


def adamax(beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7) -> Transformation:
    """Adam with the infinity norm: `u <- max(beta_2 * u, |g|)` in the place of the mean square.

    Args:
        beta_1: Decay of the first moment.
        beta_2: Decay of the norm.
        epsilon: Added to the norm.

    Returns:
        The transformation, with slots `momentum` and `norm`.

    References:
        Kingma and Ba, "Adam: a method for stochastic optimization", 2014, section 7.
    """

    def step(
        g: Array, p: Array, rate: Array, count: Array, m: Array, u: Array
    ) -> tuple[Array, ...]:
        del p
        m = m + (g - m) * (1 - beta_1)
        u = jnp.maximum(beta_2 * u, jnp.abs(g))
        left = np.asarray(1, g.dtype) - power(beta_1, count + 1, g.dtype)
        return -(rate * m / (left * (u + epsilon))), m, u

    return elementwise(("momentum", "norm"), step)


def nadam(beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7) -> Transformation:
    """Adam with Nesterov momentum, whose factor at update t is `beta_1 * (1 - 0.96^t / 2)`.

    Args:
        beta_1: Decay of the first moment, and limit of the momentum.
        beta_2: Decay of the second moment.
        epsilon: Added to the root of the second moment.

    Returns:
        The transformation, with slots `momentum` and `velocity`, and the shared state `variable`,
        the product of all momentum factors so far, in the dtype of the first parameter.

    References:
        Dozat, "Incorporating Nesterov momentum into Adam", ICLR workshop 2016.
    """

    def factor(update: Any, dtype: Any) -> Array:
        return jnp.asarray(1 - 0.5 * power(0.96, update, dtype)) * np.asarray(beta_1, dtype)

    def shared(state: Slots, count: Any, params: Any) -> tuple[Slots, Slots]:
        if params is not None:
            leaves = jax.tree.leaves(params)
            return {"variable": np.ones((), leaves[0].dtype if leaves else np.float32)}, {}
        before = state["variable"]
        product = before * factor(count + 1, before.dtype)
        return {"variable": product}, {"product": product}

    def step(
        g: Array, p: Array, rate: Array, count: Array, m: Array, v: Array, product: Array
    ) -> tuple[Array, ...]:
        del p
        now, after = factor(count + 1, g.dtype), factor(count + 2, g.dtype)
        product = product.astype(g.dtype)
        m = m + (g - m) * (1 - np.asarray(beta_1, g.dtype))
        v = v + (jnp.square(g) - v) * (1 - np.asarray(beta_2, g.dtype))
        ahead = after * m / (1 - product * after) + (1 - now) * g / (1 - product)
        mean_square = v / (1 - power(beta_2, count + 1, g.dtype))
        return -(ahead * rate / (jnp.sqrt(mean_square) + epsilon)), m, v

    return elementwise(("momentum", "velocity"), step, shared=shared)


def adagrad(initial_accumulator_value: float = 0.1, epsilon: float = 1e-7) -> Transformation:
    """Gradients over the root of the sum of their squares so far.

    Args:
        initial_accumulator_value: Where the sum starts.
        epsilon: Added under the root.

    Returns:
        The transformation, with slot `accumulator`.

    References:
        Duchi, Hazan, Singer, "Adaptive subgradient methods", JMLR 2011.
    """

    def step(g: Array, p: Array, rate: Array, count: Array, total: Array) -> tuple[Array, ...]:
        del p, count
        total = total + jnp.square(g)
        return -(rate * g / jnp.sqrt(total + epsilon)), total

    return elementwise(
        ("accumulator",), step, starts={"accumulator": _filled(initial_accumulator_value)}
    )


def adadelta(rho: float = 0.95, epsilon: float = 1e-7) -> Transformation:
    """Gradients times the ratio of the root mean squares of updates and of gradients.

    Args:
        rho: Decay of both means.
        epsilon: Added under the roots.

    Returns:
        The transformation, with slots `accumulated_grad` and `accumulated_delta_var`.

    References:
        Zeiler, "Adadelta: an adaptive learning rate method", 2012.
    """

    def step(
        g: Array, p: Array, rate: Array, count: Array, squares: Array, moves: Array
    ) -> tuple[Array, ...]:
        del p, count
        squares = rho * squares + (1 - rho) * jnp.square(g)
        move = -(jnp.sqrt(moves + epsilon) * g / jnp.sqrt(squares + epsilon))
        moves = rho * moves + (1 - rho) * jnp.square(move)
        return rate * move, squares, moves

    return elementwise(("accumulated_grad", "accumulated_delta_var"), step)


def ftrl(
    learning_rate_power: float = -0.5,
    initial_accumulator_value: float = 0.1,
    l1: float = 0.0,
    l2: float = 0.0,
    l2_shrinkage: float = 0.0,
    beta: float = 0.0,
) -> Transformation:
    """Follow the regularized leader: the parameter is a function of sums over all gradients.

    Args:
        learning_rate_power: Minus the power of the accumulator that divides the learning rate.
        initial_accumulator_value: Where the sum of squares starts.
        l1: Strength of the L1 penalty, which sets small weights to zero.
        l2: Strength of the L2 penalty.
        l2_shrinkage: Strength of an L2 penalty on the gradient only.
        beta: Adds `beta / (2 * learning_rate)` to `l2`.

    Returns:
        The transformation, with slots `accumulator` and `linear`. It needs the parameters.

    References:
        McMahan et al., "Ad click prediction: a view from the trenches", KDD 2013.
    """

    def step(
        g: Array, p: Array, rate: Array, count: Array, squares: Array, linear: Array
    ) -> tuple[Array, ...]:
        del count
        grown = squares + jnp.square(g)
        new, old = grown**-learning_rate_power, squares**-learning_rate_power
        linear = linear + (g + 2 * l2_shrinkage * p - (new - old) / rate * p)
        curvature = new / rate + 2 * (l2 + beta / (2.0 * rate))
        return (jnp.clip(linear, -l1, l1) - linear) / curvature - p, grown, linear

    return elementwise(
        ("accumulator", "linear"), step, starts={"accumulator": _filled(initial_accumulator_value)}
    )


def lion(beta_1: float = 0.9, beta_2: float = 0.99) -> Transformation:
    """The sign of a mix of momentum and gradient.

    Args:
        beta_1: Share of the momentum in that mix.
        beta_2: Decay of the momentum.

    Returns:
        The transformation, with slot `momentum`.

    References:
        Chen et al., "Symbolic discovery of optimization algorithms", 2023.
    """

    def step(g: Array, p: Array, rate: Array, count: Array, m: Array) -> tuple[Array, ...]:
        del p, count
        share, decay = np.asarray(beta_1, g.dtype), np.asarray(beta_2, g.dtype)
        return -(rate * jnp.sign(m * share + g * (1 - share))), m * decay + g * (1 - decay)

    return elementwise(("momentum",), step)


def schedule_free_adamw(
    beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-8, warmup_steps: int = 0
) -> Transformation:
    """Adam without first moment at a point between its own sequence and the average of that.

    Args:
        beta_1: Weight of the average in the parameter.
        beta_2: Decay of the second moment.
        epsilon: Added to the root of the corrected second moment.
        warmup_steps: Updates in which the learning rate grows from zero.

    Returns:
        The transformation, with slots `momentum` (the sequence the gradients are applied to, which
        starts at the parameter) and `velocity`. It needs the parameters.

    References:
        Defazio et al., "The road less scheduled", 2024.
    """

    def step(
        g: Array, p: Array, rate: Array, count: Array, m: Array, v: Array
    ) -> tuple[Array, ...]:
        update = (count + 1).astype(g.dtype)
        mix, decay = np.asarray(beta_1, g.dtype), np.asarray(beta_2, g.dtype)
        if warmup_steps > 0:
            rate = rate * jnp.minimum(update / np.asarray(warmup_steps, g.dtype), 1)
        v = v + (jnp.square(g) - v) * (1 - decay)
        left = np.asarray(1, g.dtype) - power(beta_2, count + 1, g.dtype)
        average = (p - (1 - mix) * m) / mix
        m = m - rate * g / (jnp.sqrt(v / left) + np.asarray(epsilon, g.dtype))
        average = (1 - 1 / update) * average + m / update
        return jnp.asarray(1 - mix) * m + average * mix - p, m, v

    return elementwise(
        ("momentum", "velocity"), step, starts={"momentum": lambda param, place: param}
    )
