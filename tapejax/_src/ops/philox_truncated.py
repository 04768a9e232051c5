"""Truncated normals with bounds of their own, over Philox, as TensorFlow draws them.

The distributions take turns at one stream: each goes on at the first block that the one before it
left untouched, and keeps the candidates that pass, in the order drawn. Depending on its bounds a
distribution proposes normals, uniforms or exponentials.

References: Robert, "Simulation of truncated normal variables", Statistics and Computing 5 (1995).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.ops import philox

Array = jax.Array

_WIDE = 1.7  # so many deviations inside the bounds, plain normals are accepted often enough
_LARGEST_CHUNK = 1 << 16
_MOST_ROUNDS = 1 << 14  # bounds so far out that squares overflow accept nothing


class Bounds(NamedTuple):
    """A distribution's moments and bounds, `[batches]` each."""

    mean: Array
    stddev: Array
    minval: Array
    maxval: Array


class _Plan(NamedTuple):
    """How one distribution is drawn: what is proposed, in units of its deviation."""

    kind: Array
    low: Array
    high: Array
    rate: Array


_NORMAL, _UNIFORM, _EXPONENTIAL = 0, 1, 2


def invalid(bounds: Bounds) -> Array:
    """Where parameters make no distribution."""
    ordered = (bounds.stddev > 0) & (bounds.minval < bounds.maxval)
    bounded = jnp.isfinite(bounds.minval) | jnp.isfinite(bounds.maxval)
    return ~(ordered & bounded & jnp.isfinite(bounds.mean) & jnp.isfinite(bounds.stddev))


def _plan(bounds: Bounds) -> tuple[_Plan, Array]:
    """The plan of each distribution, and its deviation: negative where it is drawn mirrored."""
    mean, stddev, minval, maxval = bounds
    mirrored = (jnp.isinf(minval) & (minval < 0)) | (maxval < mean)
    stddev = jnp.where(mirrored, -stddev, stddev)
    low = (jnp.where(mirrored, maxval, minval) - mean) / stddev
    high = (jnp.where(mirrored, minval, maxval) - mean) / stddev
    root = jnp.sqrt(low * low + 4)
    cutoff = 2 * jnp.exp(0.5 + low * (low - root) / 4) / (low + root)
    wide = (low < -_WIDE) & (high >= 0)
    wide |= (high > _WIDE) & (low <= 0)
    kind = jnp.where(wide, _NORMAL, jnp.where(high - low < cutoff, _UNIFORM, _EXPONENTIAL))
    return _Plan(kind, low, high, (low + root) / 2), stddev


def _normals(plan: _Plan, block: tuple[Any, ...], dtype: np.dtype[Any]) -> tuple[Array, Array]:
    z = jnp.stack(philox.normal_parts(philox.Block(*block), dtype), axis=-1).astype(dtype)
    return z, (z >= plan.low) & (z <= plan.high)


def _uniforms(
    plan: _Plan, uniform: Array, following: Array, dtype: np.dtype[Any]
) -> tuple[Array, Array]:
    """A block of proposals, accepted by the block after it."""
    z = philox.multiply_add(uniform, plan.high - plan.low, plan.low)
    top = jnp.where(plan.low < 0, jnp.zeros((), dtype), plan.low * plan.low)
    return z, following <= jnp.exp((top - z * z) / 2)


def _exponentials(plan: _Plan, uniform: Array) -> tuple[Array, Array]:
    """Pairs: a proposal and what accepts it."""
    z = -jnp.log(uniform[:, ::2]) / plan.rate + plan.low
    x = jnp.where(plan.low < plan.rate, plan.rate - z, plan.low - plan.rate)
    return z, (uniform[:, 1::2] <= jnp.exp(-x * x / 2)) & (z < plan.high)


def _padded(*parts: Array) -> tuple[Array, ...]:
    """Flat, and as long again: each number that is proposed costs two that are drawn."""
    return tuple(jnp.concatenate([x.reshape(-1), jnp.zeros_like(x).reshape(-1)]) for x in parts)


def _candidates(
    state: Array, at: Array, chunk: int, plan: _Plan, dtype: np.dtype[Any]
) -> tuple[Array, ...]:
    """What `chunk` units of two blocks propose from a block on, whether it passes, and its cost.

    Returns:
        Candidates, whether each is accepted, and how many blocks are used up by taking it.
    """
    place = at + lax.iota(jnp.uint64, 2 * chunk)
    low, high = place.astype(jnp.uint32), (place >> np.uint64(32)).astype(jnp.uint32)
    block = philox.blocks(state, low, high)
    uniform = jnp.stack(philox.uniform_parts(block, dtype), axis=-1)
    width = uniform.shape[1]
    number = lax.broadcasted_iota(jnp.int32, (2 * chunk, width), 0)

    def normal() -> tuple[Array, ...]:
        z, passes = _normals(plan, block, dtype)
        return z.reshape(-1), passes.reshape(-1), number.reshape(-1) + 1

    def flat() -> tuple[Array, ...]:
        z, passes = _uniforms(plan, uniform[::2], uniform[1::2], dtype)
        return _padded(z, passes, 2 * number[:chunk] + 2)

    def tail() -> tuple[Array, ...]:
        z, passes = _exponentials(plan, uniform)
        return _padded(z, passes, number[:, : width // 2] + 1)

    return lax.switch(plan.kind, [normal, flat, tail])


def _fill_one(
    state: Array, at: Array, count: int, plan: _Plan, dtype: np.dtype[Any]
) -> tuple[Array, Array]:
    """The numbers of one distribution, and the block where the next one starts."""
    per_block = 2 if dtype.itemsize == 8 else 4
    chunk = max(1, min(_LARGEST_CHUNK, -(-count // (2 * per_block))))

    def draw(carry: Any) -> Any:
        rounds, at, taken, out, _ = carry
        z, passes, used = _candidates(state, at, chunk, plan, dtype)
        place = taken + jnp.cumsum(passes.astype(jnp.int32)) - 1
        kept = passes & (place < count)
        out = out.at[jnp.where(kept, place, count)].set(z, mode="drop")
        last = jnp.max(jnp.where(kept, used, 0)).astype(jnp.uint64)
        taken = jnp.minimum(taken + jnp.sum(passes, dtype=jnp.int32), count)
        return rounds + 1, at + np.uint64(2 * chunk), taken, out, at + last

    def unfinished(carry: Any) -> Any:
        return (carry[2] < count) & (carry[0] < _MOST_ROUNDS)

    none = jnp.zeros((), jnp.int32)
    first = (none, at, none, jnp.full(count, jnp.nan, dtype), at)
    _, _, _, out, end = lax.while_loop(unfinished, draw, first)
    return out, end


def truncated(state: Array, bounds: Bounds, count: int) -> Array:
    """`count` numbers of each distribution.

    Args:
        state: `uint32[6]`.
        bounds: Their moments and bounds, `[batches]` each; see `invalid`.
        count: How many.

    Returns:
        `[batches, count]` of the dtype of the bounds; NaN for what is no distribution.
    """
    dtype = np.dtype(bounds.mean.dtype)
    wrong = invalid(bounds)
    # What is no distribution must not be drawn for ever: it takes plain normals instead.
    safe = Bounds(
        *(
            jnp.where(wrong, jnp.asarray(value, dtype), given)
            for value, given in zip((0, 1, -9, 9), bounds, strict=True)
        )
    )
    plan, stddev = _plan(safe)

    def one(at: Array, row: Any) -> tuple[Array, Array]:
        plan, mean, stddev = row
        z, end = _fill_one(state, at, count, plan, dtype)
        return end, philox.multiply_add(z, stddev, mean)

    _, drawn = lax.scan(one, jnp.zeros((), jnp.uint64), (plan, safe.mean, stddev))
    return jnp.where(wrong[:, None], jnp.asarray(jnp.nan, dtype), drawn)
