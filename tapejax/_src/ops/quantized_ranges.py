"""Ranges of numbers that are quantized: options, bounds along an axis, scales, roundings."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array


def one_of(value: str, allowed: tuple[str, ...], name: str, node: str) -> None:
    """Check an option."""
    if value not in allowed:
        names = ", ".join(f'"{option}"' for option in allowed)
        raise InvalidArgumentError(
            f"Value for attr '{name}' of \"{value}\" is not in the list of allowed values: {names} "
            f"[Op:{node}]"
        )


def along(bound: Array, x: Array, axis: int | None, name: str, node: str) -> Array:
    """A bound as it broadcasts with `x`: a scalar, or one number for each place of an axis."""
    if axis is None or axis == -1:
        if bound.ndim:
            raise InvalidArgumentError(
                f"{name} must be a scalar. Received shape {bound.shape} [Op:{node}]"
            )
        return bound
    if not 0 <= axis < x.ndim:
        raise InvalidArgumentError(
            f"Axis should be at most {x.ndim - 1}, the last of input. Received: {axis} [Op:{node}]"
        )
    if bound.shape not in ((), (x.shape[axis],)):
        raise InvalidArgumentError(
            f"{name} must be a scalar or have one number for each of the {x.shape[axis]} places of "
            f"axis {axis}. Received shape {bound.shape} [Op:{node}]"
        )
    return bound.reshape(*bound.shape, *(1,) * (x.ndim - axis - 1)) if bound.ndim else bound


def scaled(low: Array, high: Array, limits: tuple[float, float]) -> tuple[Array, ...]:
    """The symmetric range that covers both bounds: its ends, steps for one, and the step."""
    dtype = low.dtype
    least, most = (jnp.asarray(limit, dtype) for limit in limits)
    largest = jnp.asarray(jnp.finfo(dtype).max, dtype)
    from_low = jnp.where(least * low > 0, least / low, largest)
    from_high = jnp.where(most * high > 0, most / high, largest)
    by_low = from_low < from_high
    step = jnp.where(by_low, low / least, high / most)
    scale = jnp.minimum(from_low, from_high)
    return jnp.where(by_low, low, least * step), jnp.where(by_low, most * step, high), scale, step


def _half_up(x: Array) -> Array:
    return jnp.floor(x + jnp.asarray(0.5, x.dtype))


def half_away(x: Array) -> Array:
    """The nearest whole number; of two, the one farther from zero."""
    return jnp.copysign(jnp.floor(jnp.abs(x) + jnp.asarray(0.5, x.dtype)), x)


ROUNDING: dict[str, Callable[[Array], Array]] = {
    "HALF_TO_EVEN": jnp.round,
    "HALF_UP": _half_up,
    "HALF_AWAY_FROM_ZERO": half_away,
}
