"""Philox 4x32-10 and TensorFlow's distributions over it: pure functions of a six-word state.

A *state* is `uint32[6]`: the key in words 0-1 and the 128-bit counter in words 2-5, least
significant word first. One *block* is the four 32-bit words of one counter value. A tensor is cut
into groups of the elements one block yields (four of 32 bits or fewer, two of 64 bits), and group
`g` reads the block at `counter + g`: every element is computed from its own position.

References: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Array = jax.Array
AnyDType = np.dtype[Any]

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_SCRAMBLING_KEY = (0x3EC8F720, 0x02461E29)  # for the seeds of stateless ops
_ROUNDS = 10
_ROUNDS_PER_STEP = 2
_SMALLEST_UNIFORM = 1e-7  # keeps log(u) finite
_TRUNCATE_AT = 2.0
# Each group of truncated normals owns this many words per element, however many it rejects.
_TRUNCATED_WORDS_PER_ELEMENT = 256


class Block(NamedTuple):
    """The four output words of Philox, each `uint32[n]`."""

    a: Array
    b: Array
    c: Array
    d: Array


def _multiply(x: Array, by: int) -> tuple[Array, Array]:
    """High and low words of the 64-bit product of `x` and a constant."""
    product = x.astype(jnp.uint64) * np.uint64(by)
    return (product >> np.uint64(32)).astype(jnp.uint32), product.astype(jnp.uint32)


def _advance(counter: Array, low: Array, high: Array | None) -> list[Array]:
    """The words of the 128-bit sum `counter + low + 2**32 * high`."""
    words = [counter[0] + low]
    carry = (words[0] < low).astype(jnp.uint32)
    if high is not None:
        carry = carry + high  # high < 2**32 - 1: no overflow
    for i in range(1, 4):
        words.append(counter[i] + carry)
        carry = (words[i] < carry).astype(jnp.uint32)
    return words


def blocks(state: Array, low: Array, high: Array | None = None) -> Block:
    """Philox blocks at counter offsets `low + 2**32 * high`.

    Args:
        state: `uint32[6]`, key and counter.
        low: `uint32[n]`, low words of the offsets.
        high: `uint32[n]` or None for zero, high words of the offsets.

    Returns:
        Four arrays `uint32[n]`.

    Example:
        >>> import jax, jax.numpy as jnp
        >>> with jax.enable_x64(True):
        ...     block = blocks(jnp.zeros(6, jnp.uint32), jnp.zeros(1, jnp.uint32))
        >>> [hex(int(word[0])) for word in block]
        ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    # A loop, so that the words are computed once and stored: in straight-line code XLA fuses the
    # rounds into each of their readers and repeats them (measured: 10 times slower).
    first = (*_advance(state[2:6], low, high), state[0], state[1])
    words = lax.fori_loop(0, _ROUNDS // _ROUNDS_PER_STEP, _rounds, first)
    return Block(*words[:4])


def _rounds(number: Any, words: tuple[Array, ...]) -> tuple[Array, ...]:
    """A few rounds on four words and the two of the key."""
    del number
    a, b, c, d, key0, key1 = words
    for _ in range(_ROUNDS_PER_STEP):
        high0, low0 = _multiply(a, _MULTIPLIERS[0])
        high1, low1 = _multiply(c, _MULTIPLIERS[1])
        a, b, c, d = high1 ^ b ^ key0, low1, high0 ^ d ^ key1, low0
        key0 = key0 + np.uint32(_KEY_STEPS[0])
        key1 = key1 + np.uint32(_KEY_STEPS[1])
    return a, b, c, d, key0, key1


def forked(state: Array, number: Array) -> Array:
    """Another state for each number: the generator a loop's iteration draws from.

    Args:
        state: `uint32[6]`, key and counter.
        number: Integer scalar.

    Returns:
        `uint32[6]`: the same counter under a key made from both.
    """
    block = blocks(state, number.astype(jnp.uint32).reshape(1), jnp.full(1, 0xFFFFFFFE, jnp.uint32))
    return jnp.concatenate([block.a ^ block.c, block.b ^ block.d, state[2:]])


def _first_blocks(state: Array, count: int) -> Block:
    return blocks(state, lax.iota(jnp.uint32, count))


def _fill(parts: tuple[Array, ...], shape: tuple[int, ...]) -> Array:
    """Interleave the elements of each group and cut to `shape`."""
    size = math.prod(shape)
    return lax.slice(jnp.stack(parts, axis=-1).reshape(-1), (0,), (size,)).reshape(shape)


def _groups(shape: tuple[int, ...], per_group: int) -> int:
    return -(-math.prod(shape) // per_group)


def _per_group(dtype: AnyDType) -> int:
    return 2 if dtype.itemsize == 8 else 4


def _float32_bits(word: Array) -> Array:
    """The low 23 bits as the mantissa of a number in [1, 2), less 1."""
    bits = (word & np.uint32(0x7FFFFF)) | np.uint32(0x3F800000)
    return lax.bitcast_convert_type(bits, jnp.float32) - np.float32(1)


def _float16_bits(word: Array, mantissa: int, one: int, dtype: AnyDType) -> Array:
    bits = (word.astype(jnp.uint16) & np.uint16((1 << mantissa) - 1)) | np.uint16(one)
    return lax.bitcast_convert_type(bits, dtype) - jnp.asarray(1, dtype)


def _pair64(first: Array, second: Array) -> Array:
    """`uint64` from two words, `first` the more significant."""
    return (first.astype(jnp.uint64) << np.uint64(32)) | second.astype(jnp.uint64)


def float64_bits(first: Array, second: Array) -> Array:
    """20 bits of `first` and all of `second` as the mantissa of a number in [1, 2), less 1."""
    bits = _pair64(first & np.uint32(0xFFFFF), second) | np.uint64(0x3FF0000000000000)
    return lax.bitcast_convert_type(bits, jnp.float64) - np.float64(1)


def uniform_parts(block: Block, dtype: AnyDType) -> tuple[Array, ...]:
    """The uniform floats of each block, in order."""
    if dtype == np.float64:
        return float64_bits(block.a, block.b), float64_bits(block.c, block.d)
    if dtype == np.float32:
        return tuple(_float32_bits(word) for word in block)
    mantissa, one = (10, 0x3C00) if dtype == np.float16 else (7, 0x3F80)
    return tuple(_float16_bits(word, mantissa, one, dtype) for word in block)


def uniform(state: Array, shape: tuple[int, ...], dtype: AnyDType) -> Array:
    """Uniform floats in [0, 1).

    Args:
        state: `uint32[6]`.
        shape: of the result.
        dtype: float16, bfloat16, float32 or float64.

    Returns:
        Array of `shape` and `dtype`, equal to TensorFlow's bit for bit.
    """
    block = _first_blocks(state, _groups(shape, _per_group(dtype)))
    return _fill(uniform_parts(block, dtype), shape)


def uniform_int(state: Array, shape: tuple[int, ...], low: Array, high: Array) -> Array:
    """Uniform integers in [low, high), by remainder: slightly uneven for very wide ranges.

    Args:
        state: `uint32[6]`.
        shape: of the result.
        low: scalar int32 or int64, inclusive.
        high: scalar of the same dtype, exclusive.

    Returns:
        Array of `shape` and the dtype of `low`.
    """
    dtype = np.dtype(low.dtype)
    word = jnp.uint64 if dtype.itemsize == 8 else jnp.uint32
    first = lax.bitcast_convert_type(low, word)
    span = lax.bitcast_convert_type(high, word) - first
    drawn = _fill(_integer_parts(state, shape, dtype), shape)
    return lax.bitcast_convert_type(first + lax.rem(drawn, jnp.broadcast_to(span, shape)), dtype)


def uniform_full_int(state: Array, shape: tuple[int, ...], dtype: AnyDType) -> Array:
    """Uniform integers over the whole range of `dtype` (32 or 64 bits, signed or not)."""
    return lax.bitcast_convert_type(_fill(_integer_parts(state, shape, dtype), shape), dtype)


def _integer_parts(state: Array, shape: tuple[int, ...], dtype: AnyDType) -> tuple[Array, ...]:
    block = _first_blocks(state, _groups(shape, _per_group(dtype)))
    if dtype.itemsize == 8:
        return _pair64(block.b, block.a), _pair64(block.d, block.c)
    return tuple(block)


def _box_muller32(first: Array, second: Array) -> tuple[Array, Array]:
    """Two float32 standard normals from two words."""
    radius = jnp.sqrt(
        np.float32(-2) * jnp.log(jnp.maximum(_float32_bits(first), np.float32(_SMALLEST_UNIFORM)))
    )
    # The product with 2 pi is a double's, rounded once.
    turn = _float32_bits(second).astype(jnp.float64) * (2 * math.pi)
    angle = turn.astype(jnp.float32)
    return jnp.sin(angle) * radius, jnp.cos(angle) * radius


def box_muller64(block: Block) -> tuple[Array, Array]:
    """Two float64 standard normals from four words."""
    first = jnp.maximum(float64_bits(block.a, block.b), np.float64(_SMALLEST_UNIFORM))
    radius = jnp.sqrt(-2 * jnp.log(first))
    angle = 2 * math.pi * float64_bits(block.c, block.d)
    return jnp.sin(angle) * radius, jnp.cos(angle) * radius


def normal_parts(block: Block, dtype: AnyDType) -> tuple[Array, ...]:
    """Standard normals of one block: float64 for float64, else float32."""
    if dtype == np.float64:
        return box_muller64(block)
    return _box_muller32(block.a, block.b) + _box_muller32(block.c, block.d)


def normal(state: Array, shape: tuple[int, ...], dtype: AnyDType) -> Array:
    """Standard normals by Box-Muller: sine first, then cosine, of each pair of uniforms.

    Args:
        state: `uint32[6]`.
        shape: of the result.
        dtype: float16, bfloat16, float32 or float64.

    Returns:
        Array of `shape` and `dtype`; 16-bit floats are rounded from float32.
    """
    block = _first_blocks(state, _groups(shape, _per_group(dtype)))
    return _fill(normal_parts(block, dtype), shape).astype(dtype)


@jax.custom_jvp
def multiply_add(x: Array, scale: Array, shift: Array) -> Array:
    """`x * scale + shift` with the product rounded on its own, as by two ops.

    Compilers contract the two into one instruction that rounds once, and then the last bit differs
    from TensorFlow's. They cannot look through an exclusive or with a word that is zero unless
    `shift` is NaN.
    """
    word = np.dtype(f"uint{8 * x.dtype.itemsize}")
    product = lax.bitcast_convert_type(x * scale, word)
    rounded = lax.bitcast_convert_type(product ^ jnp.isnan(shift).astype(word), x.dtype)
    return rounded + shift


@multiply_add.defjvp
def _multiply_add_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    x, scale, shift = primals
    dx, dscale, dshift = tangents
    return multiply_add(x, scale, shift), dx * scale + x * dscale + dshift


def truncated_normal(state: Array, shape: tuple[int, ...], dtype: AnyDType) -> Array:
    """Standard normals conditioned on magnitude < 2, by rejection.

    Each group reads its own run of blocks (256 words for each of its elements) and keeps the first
    candidates that pass, in the order drawn.

    Args:
        state: `uint32[6]`.
        shape: of the result.
        dtype: float16, bfloat16, float32 or float64.

    Returns:
        Array of `shape` and `dtype`.
    """
    per_group = _per_group(dtype)
    count = _groups(shape, per_group)
    # Block index where each group starts, in 64 bits: group * words / 4 may pass 2**32.
    start = lax.iota(jnp.uint64, count) * np.uint64(per_group * _TRUNCATED_WORDS_PER_ELEMENT // 4)
    work = np.dtype(np.float64 if dtype == np.float64 else np.float32)
    kept = tuple(jnp.zeros(count, work) for _ in range(per_group))
    taken = jnp.zeros(count, jnp.int32)

    def unfinished(carry: tuple[Array, Array, tuple[Array, ...]]) -> Array:
        return jnp.any(carry[1] < per_group)

    def draw(
        carry: tuple[Array, Array, tuple[Array, ...]],
    ) -> tuple[Array, Array, tuple[Array, ...]]:
        step, taken, kept = carry
        at = start + step
        low, high = at.astype(jnp.uint32), (at >> np.uint64(32)).astype(jnp.uint32)
        for candidate in normal_parts(blocks(state, low, high), dtype):
            passes = jnp.abs(candidate) < _TRUNCATE_AT
            kept = tuple(
                jnp.where(passes & (taken == i), candidate, old) for i, old in enumerate(kept)
            )
            taken = taken + passes.astype(jnp.int32)
        return step + np.uint64(1), taken, kept

    first = (jnp.zeros((), jnp.uint64), taken, kept)
    _, _, kept = lax.while_loop(unfinished, draw, first)
    return _fill(kept, shape).astype(dtype)


def permutation(state: Array, count: int) -> Array:
    """The order in which TensorFlow's shuffle puts `count` rows.

    Each position `i` in turn is exchanged with `i + word[i] mod (count - i)`.

    Args:
        state: `uint32[6]`.
        count: number of rows.

    Returns:
        int32 `[count]`: row `i` of the shuffled tensor is row `result[i]` of the original.
    """
    order = lax.iota(jnp.int32, count)
    if count < 2:
        return order
    words = _fill(tuple(_first_blocks(state, -(-(count - 1) // 4))), (count - 1,))
    left = np.uint32(count) - lax.iota(jnp.uint32, count - 1)
    partner = lax.iota(jnp.int32, count - 1) + lax.rem(words, left).astype(jnp.int32)

    def exchange(i: Array, order: Array) -> Array:
        pair = jnp.stack([i.astype(jnp.int32), partner[i]])
        return order.at[pair].set(order[pair[::-1]], mode="promise_in_bounds")

    return lax.fori_loop(0, count - 1, exchange, order)


def categorical(state: Array, logits: Array, num_samples: int, dtype: AnyDType) -> Array:
    """Classes drawn by inverting the cumulative distribution, in double precision.

    Args:
        state: `uint32[6]`.
        logits: `[batch, classes]`; entries that are not finite have probability zero.
        num_samples: draws for each row.
        dtype: int32 or int64.

    Returns:
        `[batch, num_samples]` of `dtype`.
    """
    batch = logits.shape[0]
    wide = logits.astype(jnp.float64)
    finite = jnp.isfinite(wide)
    lowest = float(jnp.finfo(logits.dtype).min)
    largest = jnp.max(jnp.where(finite, wide, lowest), axis=1, keepdims=True)
    weights = jnp.where(finite, jnp.exp(jnp.where(finite, wide - largest, 0.0)), 0.0)
    cumulative = jnp.cumsum(weights, axis=1)
    drawn = uniform(state, (batch, num_samples), np.dtype(np.float64))
    target = drawn * cumulative[:, -1:]
    return jax.vmap(_after)(cumulative, target).astype(dtype)


def _after(row: Array, values: Array) -> Array:
    return jnp.searchsorted(row, values, side="right")


def scrambled(seed: Array) -> Array:
    """The state that a stateless op makes of its seed.

    Args:
        seed: `[2]`, int32 or int64; the first integer is the low half of a counter.

    Returns:
        `uint32[6]`: the block at that counter as the key and the high half of the new counter.
    """
    counter = lax.bitcast_convert_type(seed.astype(jnp.int64), jnp.uint32).reshape(4)
    key = jnp.array(_SCRAMBLING_KEY, jnp.uint32)
    block = _first_blocks(jnp.concatenate([key, counter]), 1)
    return jnp.concatenate([block.a, block.b, jnp.zeros(2, jnp.uint32), block.c, block.d])


def skipped(state: Array, count: Array) -> Array:
    """The state that many blocks further on.

    As in TensorFlow the sum of the low word's carry and the count's high word wraps around, so that
    a count of `2**64 - n` goes back by `n`.

    Args:
        state: `uint32[6]`, key and counter.
        count: uint64 scalar.

    Returns:
        `uint32[6]`: the same key and a later counter.
    """
    low, high = count.astype(jnp.uint32), (count >> np.uint64(32)).astype(jnp.uint32)
    words = _advance(state[2:], low, high)
    return jnp.concatenate([state[:2], jnp.stack(words)])
