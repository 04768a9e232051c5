"""Gamma, Poisson and binomial numbers over Philox, drawn by rejection as TensorFlow draws them.

Every element reads its own run of blocks, so that it does not matter how many the others reject.
Of the two doubles that a block yields the second one is used first.

References: Marsaglia, Tsang, "A simple method for generating gamma variables", TOMS 26 (2000);
Knuth, "The art of computer programming", volume 2, 3.4.1; Hormann, "The transformed rejection
method for generating Poisson random variables", Insurance 12 (1993), and "The generation of
binomial random variates", J. Stat. Comput. Simul. 46 (1993).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.ops import philox

Array = jax.Array

_BLOCKS_PER_ELEMENT = 256
_BLOCKS_PER_INVERSION = 42  # for binomials that are found by counting
_SQUEEZE = 0.0331  # below this polynomial the logarithms need not be compared
_SHARE_LEFT = 16
_FEW = 1 << 8
_LARGE_RATE = 10.0
_LARGE_MEAN = 10.0


def _block(state: Array, start: Array, at: Array) -> philox.Block:
    """The block `at` of each element's run."""
    place = start + at.astype(jnp.uint64)
    return philox.blocks(
        state, place.astype(jnp.uint32), (place >> np.uint64(32)).astype(jnp.uint32)
    )


def _uniforms(state: Array, start: Array, at: Array) -> tuple[Array, Array]:
    """The two uniform doubles of a block, in the order they are used."""
    block = _block(state, start, at)
    return philox.float64_bits(block.c, block.d), philox.float64_bits(block.a, block.b)


def _runs(count: int, blocks: int = _BLOCKS_PER_ELEMENT) -> Array:
    """Where each element's run of blocks starts."""
    return lax.iota(jnp.uint64, count) * np.uint64(blocks)


def _until_done(step: Callable[[Any, Any], Any], given: Any, first: Any) -> Any:
    """Repeat a step until no element is left to be drawn.

    When few are left they go on by themselves, for most of the work would be for those that are
    done.

    Args:
        step: Function of `given` and what is carried, to what is carried next.
        given: Arrays `[n]`.
        first: Arrays `[n]`; the first one says which elements are left.
    """
    count = first[0].shape[0]
    few = count // _SHARE_LEFT
    if few < _FEW:
        few = 0

    def many_left(carry: Any) -> Array:
        return jnp.sum(carry[0], dtype=jnp.int32) > few

    carry = lax.while_loop(many_left, lambda carry: step(given, carry), first)
    if not few:
        return carry
    (left,) = jnp.nonzero(carry[0], size=few, fill_value=count)
    fewer = jax.tree.map(lambda x: x.at[left].get(mode="clip"), (given, carry))
    open_ = fewer[1][0] & (left < count)
    drawn = _until_done(step, fewer[0], (open_, *fewer[1][1:]))
    return jax.tree.map(lambda x, y: x.at[left].set(y, mode="drop"), carry, drawn)


# ---------------------------------------------------------------------- gamma
class _Cursor(NamedTuple):
    """How far each element has read: normals and uniforms take turns in one run of blocks."""

    at: Array
    has_normal: Array
    normal: Array
    has_uniform: Array
    uniform: Array


def _normal(state: Array, start: Array, cursor: _Cursor) -> tuple[Array, _Cursor]:
    sine, cosine = philox.box_muller64(_block(state, start, cursor.at))
    kept = cursor.has_normal
    return jnp.where(kept, cursor.normal, cosine), cursor._replace(
        at=cursor.at + (~kept).astype(jnp.uint32),
        has_normal=~kept,
        normal=jnp.where(kept, cursor.normal, sine),
    )


def _uniform(state: Array, start: Array, cursor: _Cursor) -> tuple[Array, _Cursor]:
    first, second = _uniforms(state, start, cursor.at)
    kept = cursor.has_uniform
    return jnp.where(kept, cursor.uniform, first), cursor._replace(
        at=cursor.at + (~kept).astype(jnp.uint32),
        has_uniform=~kept,
        uniform=jnp.where(kept, cursor.uniform, second),
    )


def gamma(state: Array, alpha: Array) -> Array:
    """Gamma numbers of scale 1, one for each element of `alpha`.

    Args:
        state: `uint32[6]`.
        alpha: `[n]`, the shapes of the distributions.

    Returns:
        `[n]` of the dtype of `alpha`; NaN where `alpha` is negative or NaN.
    """
    shape = alpha.astype(jnp.float64)
    start = _runs(shape.shape[0])
    small = shape < 1
    d = shape + jnp.where(small, 2.0 / 3, -1.0 / 3)
    c = 1.0 / 3 / jnp.sqrt(d)
    no, zero = jnp.zeros_like(small), jnp.zeros_like(shape)
    cursor = _Cursor(jnp.zeros(shape.shape, jnp.uint32), no, zero, no, zero)

    def attempt(given: Any, carry: Any) -> Any:
        start, c, d = given
        open_, cursor, drawn = carry
        x, after_normal = _normal(state, start, cursor)
        v = 1 + c * x
        positive = v > 0
        v = v * v * v
        u, after_uniform = _uniform(state, start, after_normal)
        squared = x * x
        accepted = u < 1 - _SQUEEZE * squared * squared
        accepted |= jnp.log(u) < 0.5 * squared + d * (1 - v + jnp.log(v))
        moved = jax.tree.map(
            lambda with_u, without: jnp.where(positive, with_u, without),
            after_uniform,
            after_normal,
        )
        cursor = jax.tree.map(lambda new, old: jnp.where(open_, new, old), moved, cursor)
        taken = open_ & positive & accepted
        return open_ & ~taken, cursor, jnp.where(taken, d * v, drawn)

    possible = shape >= 0
    one = shape == 1
    drawn = jnp.where(possible, zero, jnp.nan)
    _, cursor, drawn = _until_done(attempt, (start, c, d), (possible & ~one, cursor, drawn))
    # After the loop: the exponential's uniform is the first of its run.
    u, _ = _uniform(state, start, cursor)
    drawn = jnp.where(small, drawn * u ** (1 / shape), drawn)
    return jnp.where(one, -jnp.log(1 - u), drawn).astype(alpha.dtype)


# ---------------------------------------------------------------------- Poisson
def poisson(state: Array, rate: Array, dtype: np.dtype[Any]) -> Array:
    """Poisson numbers, one for each element of `rate`.

    Args:
        state: `uint32[6]`.
        rate: `[n]`.
        dtype: of the result.

    Returns:
        `[n]` of `dtype`; NaN, or 0 in integers, where the rate is negative or NaN; infinity, or the
        largest integer, where it is beyond `dtype`.
    """
    mean = rate.astype(jnp.float64)
    start = _runs(mean.shape[0])
    large = mean >= _LARGE_RATE
    floating = dtype.kind == "f"
    highest = float(jnp.finfo(dtype).max if floating else jnp.iinfo(dtype).max)
    stop = jnp.exp(-mean)
    log_mean = jnp.log(mean)
    b = 0.931 + 2.53 * jnp.sqrt(mean)
    a = -0.059 + 0.02483 * b

    def attempt(given: Any, carry: Any) -> Any:
        start, large, mean, stop, log_mean, a, b = given
        open_, at, product, count = carry
        first, second = _uniforms(state, start, at)
        # Small rates: multiply uniforms until they fall below the probability of no event.
        counting = open_ & ~large
        for u in (first, second):
            product = jnp.where(counting, product * u, product)
            counting &= ~((product <= stop) & (count <= highest))
            count = jnp.where(counting, count + 1, count)
        # Large rates: one pair, transformed and accepted or not.
        u = first - 0.5
        u_shifted = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / u_shifted + b) * u + mean + 0.43)
        inside = (u_shifted >= 0.07) & (second <= 0.9277 - 3.6224 / (b - 2))
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        s = jnp.log(second * inverse_alpha / (a / (u_shifted * u_shifted) + b))
        t = -mean + k * log_mean - lax.lgamma(k + 1)
        outside = (k < 0) | ((u_shifted < 0.013) & (second > u_shifted))
        taken = open_ & large & (k <= highest) & (inside | (~outside & (s <= t)))
        count = jnp.where(taken, k, count)
        return jnp.where(large, open_ & ~taken, counting), at + np.uint32(1), product, count

    zero = jnp.zeros_like(mean)
    possible = (mean <= highest) & (mean >= 0)
    at = jnp.zeros(mean.shape, jnp.uint32)
    given = (start, large, mean, stop, log_mean, a, b)
    _, _, _, count = _until_done(attempt, given, (possible, at, jnp.ones_like(mean), zero))
    too_large = jnp.inf if floating else highest
    count = jnp.where(mean > highest, too_large, count)
    return jnp.where(mean >= 0, count, jnp.nan if floating else 0).astype(dtype)


# ---------------------------------------------------------------------- binomial
_STIRLING_TAIL = (
    0.0810614667953272,
    0.0413406959554092,
    0.0276779256849983,
    0.02079067210376509,
    0.0166446911898211,
    0.0138761288230707,
    0.0118967099458917,
    0.0104112652619720,
    0.00925546218271273,
    0.00833056343336287,
)


def _stirling_tail(k: Array) -> Array:
    """What Stirling's formula for `log(k!)` leaves out."""
    table = jnp.array(_STIRLING_TAIL, jnp.float64)
    square = (k + 1) * (k + 1)
    series = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    return jnp.where(k <= 9, table[jnp.clip(k, 0, 9).astype(jnp.int32)], series)


def _transformed_ratio(count: Array, p: Array, k: Array) -> Array:
    """The logarithm of the probability of `k` relative to that of the mode."""
    m = jnp.floor((count + 1) * p)
    r = p / (1 - p)
    return (
        (m + 0.5) * jnp.log((m + 1) / (r * (count - m + 1)))
        + (count + 1) * jnp.log((count - m + 1) / (count - k + 1))
        + (k + 0.5) * jnp.log(r * (count - k + 1) / (k + 1))
        + _stirling_tail(m)
        + _stirling_tail(count - m)
        - _stirling_tail(k)
        - _stirling_tail(count - k)
    )


def binomial(state: Array, counts: Array, probs: Array, dtype: np.dtype[Any]) -> Array:
    """Binomial numbers, one for each element of `counts` and `probs`.

    Args:
        state: `uint32[6]`.
        counts: `[n]`, floating point.
        probs: `[n]`, of the same dtype.
        dtype: of the result.

    Returns:
        `[n]` of `dtype`.
    """
    flipped = probs > 0.5
    less = jnp.where(flipped, 1 - probs, probs)
    large = counts * less >= _LARGE_MEAN
    count, p = counts.astype(jnp.float64), less.astype(jnp.float64)
    size = count.shape[0]
    start = jnp.where(large, _runs(size), _runs(size, _BLOCKS_PER_INVERSION))
    deviation = jnp.sqrt(count * p * (1 - p))

    def attempt(given: Any, carry: Any) -> Any:
        start, large, count, p, deviation = given
        open_, at, passed, found = carry
        first, second = _uniforms(state, start, at)
        # Small means: add up the trials from one success to the next.
        counting = open_ & ~large
        for u in (first, second):
            trials = jnp.ceil(jnp.log(u) / jnp.log1p(-p))
            passed = jnp.where(counting, passed + trials, passed)
            counting &= passed <= count
            found = jnp.where(counting, found + 1, found)
        # Large means: one pair, transformed and accepted or not.
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * p
        alpha = (2.83 + 5.1 / b) * deviation
        u = first - 0.5
        us = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / us + b) * u + count * p + 0.5)
        inside = (us >= 0.07) & (second <= 0.92 - 4.2 / b)
        v = jnp.log(second * alpha / (a / (us * us) + b))
        possible = (k >= 0) & (k <= count)
        taken = open_ & large & (inside | (possible & (v <= _transformed_ratio(count, p, k))))
        found = jnp.where(taken, k, found)
        return jnp.where(large, open_ & ~taken, counting), at + np.uint32(1), passed, found

    zero = jnp.zeros_like(count)
    never, always = (counts <= 0) | (probs <= 0), probs >= 1
    unknown = jnp.isnan(probs) | ~jnp.isfinite(counts)
    known = never | always | unknown
    at = jnp.zeros(count.shape, jnp.uint32)
    given = (start, large, count, p, deviation)
    _, _, _, found = _until_done(attempt, given, (~known, at, zero, zero))
    found = jnp.where(flipped, count - found, found)
    found = jnp.where(always, count, found)
    found = jnp.where(never, 0.0, found)
    found = jnp.where(unknown & ~never & ~always, jnp.nan, found)
    return found.astype(dtype)
