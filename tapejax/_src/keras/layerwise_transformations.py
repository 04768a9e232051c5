"""Rules that look at a whole parameter at once, as optax transformations; see transformations.

Optax' own differ: its Adafactor factors the two largest axes and not the last two, its LAMB adds
the weight decay before the trust ratio, its Muon corrects the bias of the momentum.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.keras.transformations import (
    Array,
    Start,
    Transformation,
    adam_size,
    elementwise,
    power,
)


def _root_mean_square(x: Array) -> Array:
    return jnp.sqrt(jnp.mean(jnp.square(x)))


def _without(axis: int) -> Start:
    """Start of a factor: zeros without that axis; a placeholder where nothing is factored."""

    def start(param: Any, place: int) -> Any:
        del place
        shape = list(param.shape)
        if len(shape) < 2:
            return np.zeros((), np.int32)
        del shape[axis]
        return np.zeros(shape, param.dtype)

    return start


def adafactor(
    beta_2_decay: float = -0.8,
    epsilon_1: float = 1e-30,
    epsilon_2: float = 1e-3,
    clip_threshold: float = 1.0,
) -> Transformation:
    """Adam-like steps whose second moment is kept as a row factor and a column factor.

    Args:
        beta_2_decay: Exponent of the update number in the decay of the second moment.
        epsilon_1: Added to squared gradients.
        epsilon_2: The least root mean square of a parameter that scales its steps.
        clip_threshold: Largest root mean square of a step before scaling.

    Returns:
        The transformation, with slots `r`, `c` (of parameters with two axes or more) and
        `velocity`. It needs the parameters. The learning rate is at most `1 / sqrt(t)`.

    References:
        Shazeer and Stern, "Adafactor: adaptive learning rates with sublinear memory cost", 2018.
    """

    def step(
        g: Array, p: Array, rate: Array, count: Array, rows: Array, columns: Array, v: Array
    ) -> tuple[Array, ...]:
        t = (count + 1).astype(p.dtype)
        size = jnp.maximum(np.asarray(epsilon_2, p.dtype), _root_mean_square(p))
        size = size * jnp.minimum(rate, 1 / jnp.sqrt(t))
        squares = jnp.square(g) + epsilon_1
        decay = 1 - t**beta_2_decay
        if p.ndim >= 2:
            rows = decay * rows + (1 - decay) * jnp.mean(squares, axis=-1)
            columns = decay * columns + (1 - decay) * jnp.mean(squares, axis=-2)
            shares = rows / jnp.mean(rows, axis=-1, keepdims=True)
            v = shares[..., None] * columns[..., None, :]
        else:
            v = decay * v + (1 - decay) * squares
        move = g / jnp.sqrt(v)
        move = move / jnp.maximum(1, _root_mean_square(move) / clip_threshold)
        return -(size * move), rows, columns, v

    starts = {"r": _without(-1), "c": _without(-2)}
    return elementwise(("r", "c", "velocity"), step, starts=starts)


def lamb(beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7) -> Transformation:
    """Adam's step of each parameter scaled to the parameter's own norm.

    Args:
        beta_1: Decay of the first moment.
        beta_2: Decay of the second moment.
        epsilon: Added to the root of the corrected second moment.

    Returns:
        The transformation, with slots `momentum` and `velocity`. It needs the parameters.

    References:
        You et al., "Large batch optimization for deep learning: training BERT in 76 minutes", 2019.
    """

    def step(
        g: Array, p: Array, rate: Array, count: Array, m: Array, v: Array
    ) -> tuple[Array, ...]:
        one = np.asarray(1, g.dtype)
        m = m + (g - m) * (1 - beta_1)
        v = v + (jnp.square(g) - v) * (1 - beta_2)
        mean = m / (one - power(beta_1, count + 1, g.dtype))
        root = jnp.sqrt(v / (one - power(beta_2, count + 1, g.dtype))) + epsilon
        move = mean / root
        norm, length = jnp.sqrt(jnp.sum(p**2)), jnp.sqrt(jnp.sum(move**2))
        trust = jnp.where((norm > 0) & (length > 0), norm / length, one)
        return -(trust * rate * move), m, v

    return elementwise(("momentum", "velocity"), step)


def _orthogonalized(x: Array, steps: int, coefficients: tuple[float, float, float]) -> Array:
    """About the nearest matrix with orthonormal rows or columns, by Newton-Schulz iteration."""
    a, b, c = coefficients
    tall = x.shape[-2] > x.shape[-1]
    x = jnp.swapaxes(x, -1, -2) if tall else x
    x = x / (jnp.sqrt(jnp.sum(jnp.square(x), axis=(-2, -1), keepdims=True)) + 1e-7)
    for _ in range(steps):
        gram = x @ jnp.swapaxes(x, -1, -2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    return jnp.swapaxes(x, -1, -2) if tall else x


def muon(
    momentum: float = 0.95,
    nesterov: bool = True,
    ns_steps: int = 5,
    coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
    rms_rate: float | None = 0.2,
    betas: tuple[float, float] = (0.9, 0.999),
    epsilon: float = 1e-7,
    adam_lr_ratio: float = 1.0,
    matrices: tuple[bool, ...] | None = None,
) -> Transformation:
    """The orthogonal factor of the momentum, for matrices; Adam for every other parameter.

    Args:
        momentum: Decay of the momentum.
        nesterov: Look ahead along the momentum.
        ns_steps: Number of Newton-Schulz iterations.
        coefficients: Their polynomial.
        rms_rate: Root mean square of the steps per unit of learning rate, or None not to scale.
        betas: Adam's decays.
        epsilon: Adam's epsilon.
        adam_lr_ratio: Learning rate of Adam over that of Muon.
        matrices: For each leaf of the parameters, whether Muon is to treat it. Default: those with
            two axes.

    Returns:
        The transformation, with slots `momentum` and, where Adam is used, `velocity`.

    References:
        Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024.
        Liu et al., "Muon is scalable for LLM training", 2025.
    """

    def start(param: Any, place: int) -> Any:
        chosen = len(param.shape) == 2 if matrices is None else matrices[place]
        return None if chosen else np.zeros(param.shape, param.dtype)

    def adam(g: Array, rate: Array, count: Array, m: Array, v: Array) -> tuple[Any, ...]:
        m = m + (g - m) * (1 - betas[0])
        v = v + (jnp.square(g) - v) * (1 - betas[1])
        size = adam_size(rate * adam_lr_ratio, *betas, count)
        return -(m * size / (jnp.sqrt(v) + epsilon)), m, v

    def step(
        g: Array, p: Array, rate: Array, count: Array, m: Array, v: Array | None
    ) -> tuple[Any, ...]:
        if v is not None:
            return adam(g, rate, count, m, v)
        m = m + (g + m * (momentum - 1))
        move = _orthogonalized(g + momentum * m if nesterov else m, ns_steps, coefficients)
        if rms_rate is not None:
            move = move * np.sqrt(np.asarray(max(p.shape), p.dtype)) * rms_rate
        return -(rate * move), m, None

    return elementwise(("momentum", "velocity"), step, starts={"velocity": start})
