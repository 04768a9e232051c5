"""Sampling of classes over Philox, one after another as TensorFlow samples them.

A sampler reads the words of its stream in order. Where classes must be distinct, one that was
sampled before is passed over, and how many tries that took decides what counts are expected.

References: Jean, Cho, Memisevic, Bengio, "On using very large target vocabulary for neural machine
translation", ACL 2015; Vose, "A linear algorithm for generating random numbers with a given
distribution", IEEE TSE 17 (1991).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.ops import philox

Array = jax.Array

_SMALLEST_CHUNK = 64

Draw = Callable[[Array, Array], tuple[Array, Array]]
"""From pairs of words: what is sampled, and whether the words were not rejected."""


class Alias(NamedTuple):
    """A table from which classes are drawn in constant time: keep a class or take its other."""

    keep: Any
    other: Any


def alias_table(weights: Sequence[np.float32]) -> Alias:
    """The table of a distribution, filled in TensorFlow's order.

    Args:
        weights: Not negative, and not all zero.
    """
    count = len(weights)
    total = float(sum(float(w) for w in weights))
    # The product is one of floats, as the class numbers depend on its rounding.
    share = [float(w * np.float32(count)) / total for w in weights]
    low = [n for n, p in enumerate(share) if p < 1.0]
    high = [n for n, p in enumerate(share) if not p < 1.0]
    other = [-1] * count
    while high and low:
        poor, rich = low.pop(), high.pop()
        other[poor] = rich
        share[rich] -= 1.0 - share[poor]
        (low if share[rich] < 1.0 else high).append(rich)
    for n in high + low:  # these are within rounding of 1
        share[n], other[n] = 1.0, n
    return Alias(np.array(share, np.float32), np.array(other, np.int64))


# ---------------------------------------------------------------------- one class from two words
def uniform64(count: int) -> Draw:
    """Every number below `count` is as likely as the others."""

    def draw(first: Array, second: Array) -> tuple[Array, Array]:
        word = (second.astype(jnp.uint64) << np.uint64(32)) | first.astype(jnp.uint64)
        value, fits = _below(word, jnp.uint64(count))
        return value.astype(jnp.int64), fits

    return draw


def _below(word: Array, count: Array) -> tuple[Array, Array]:
    """A number below `count` from a word, and whether the word is not one of the surplus ones."""
    largest = np.iinfo(word.dtype).max
    surplus = lax.rem(jnp.asarray(largest, word.dtype), count) + jnp.ones((), word.dtype)
    is_power = (count & (count - jnp.ones((), word.dtype))) == 0
    return lax.rem(word, jnp.broadcast_to(count, word.shape)), is_power | (word >= surplus)


def log_uniform(count: int) -> Draw:
    """Small numbers are more likely: that of `n` goes like `log((n + 2) / (n + 1))`."""

    def draw(first: Array, second: Array) -> tuple[Array, Array]:
        drawn = jnp.exp(philox.float64_bits(first, second) * np.log1p(float(count)))
        value = drawn.astype(jnp.int64) - 1
        return lax.rem(value, jnp.full_like(value, count)), jnp.ones(value.shape, bool)

    return draw


def by_alias(table: Alias) -> Draw:
    """Numbers with the probabilities of a table."""

    def draw(first: Array, second: Array) -> tuple[Array, Array]:
        place, fits = _below(second, jnp.uint32(table.keep.shape[0]))
        keeps = philox.uniform_parts(philox.Block(*[first] * 4), np.dtype(np.float32))[0]
        kept = keeps < table.keep[place]
        return jnp.where(kept, place.astype(jnp.int64), table.other[place]), fits

    return draw


def by_weight(weights: Array) -> Draw:
    """Numbers with probabilities proportional to integers; each needs one word only."""
    ends = jnp.cumsum(weights)

    def draw(first: Array, second: Array) -> tuple[Array, Array]:
        words = jnp.stack([first, second], axis=-1).reshape(-1)
        place, fits = _below(words, ends[-1].astype(jnp.uint32))
        found = jnp.searchsorted(ends, place.astype(ends.dtype), side="right")
        return found.astype(jnp.int64), fits

    return draw


# ---------------------------------------------------------------------- many classes
def _chunk(state: Array, draw: Draw, number: Array, pairs: int) -> tuple[Array, Array]:
    low = number.astype(jnp.uint32) * np.uint32(pairs // 2) + lax.iota(jnp.uint32, pairs // 2)
    block = philox.blocks(state, low)
    first = jnp.stack([block.a, block.c], axis=-1).reshape(-1)
    second = jnp.stack([block.b, block.d], axis=-1).reshape(-1)
    return draw(first, second)


def _unseen(batch: Array, value: Array) -> Array:
    """Where a value is neither in the batch nor among the values before it."""
    both = jnp.concatenate([batch, value])
    order = jnp.argsort(both, stable=True)
    ranked = both[order]
    first = jnp.concatenate([jnp.ones(1, bool), ranked[1:] != ranked[:-1]])
    return jnp.zeros(both.shape, bool).at[order].set(first)[batch.shape[0] :]


def sample(state: Array, draw: Draw, count: int, unique: bool) -> tuple[Array, Array]:
    """Sample classes until there are enough.

    Args:
        state: `uint32[6]`.
        draw: Makes classes of words.
        count: How many.
        unique: Whether they must be distinct.

    Returns:
        int64 `[count]`, and how many tries it took.
    """
    pairs = max(_SMALLEST_CHUNK, count + count % 2)

    def step(carry: Any) -> Any:
        number, taken, tries, batch = carry
        value, fits = _chunk(state, draw, number, pairs)
        new = fits & _unseen(batch, jnp.where(fits, value, -1)) if unique else fits
        place = taken + jnp.cumsum(new.astype(jnp.int32))
        kept = new & (place <= count)
        batch = batch.at[jnp.where(kept, place - 1, count)].set(value, mode="drop")
        tried = jnp.cumsum(fits.astype(jnp.int32))
        needed = jnp.max(jnp.where(kept, tried, 0))
        full = place[-1] >= count
        tries = tries + jnp.where(full, needed, tried[-1])
        return number + 1, jnp.minimum(place[-1], count), tries, batch

    zero = jnp.zeros((), jnp.int32)
    first = (zero, zero, zero, jnp.full(count, -2, jnp.int64))
    _, _, tries, batch = lax.while_loop(lambda carry: carry[1] < count, step, first)
    return batch, tries


def expected_count(chance: Array, count: int, tries: Array) -> Array:
    """How often classes of these probabilities are expected among `count` that took `tries`."""
    often = -jnp.expm1(tries.astype(jnp.float32) * jnp.log1p(-chance))
    return jnp.where(tries == count, chance * np.float32(count), often)
