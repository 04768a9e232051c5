"""Pooling over windows of one of two neighbouring sizes, drawn at random."""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.hidden import Asked, hidden_input
from tapejax._src.engine.registry import Array, StaticInts, TensorLike, op, public
from tapejax._src.ops import philox
from tapejax._src.ops.random_seed import seed_tensor

_DTYPES = "float double int32 int64"


class FractionalMaxPool(NamedTuple):
    """What `tf.nn.fractional_max_pool` returns."""

    output: Any
    row_pooling_sequence: Any
    col_pooling_sequence: Any


class FractionalAvgPool(NamedTuple):
    """What `tf.nn.fractional_avg_pool` returns."""

    output: Any
    row_pooling_sequence: Any
    col_pooling_sequence: Any


def _words(state: Array, count: int) -> Array:
    """The first 32-bit words of a generator, `uint32[count]`."""
    block = philox.blocks(state, lax.iota(jnp.uint32, -(-count // 4)))
    return jnp.stack(block, axis=1).reshape(-1)[:count]


def _borders(state: Array, size: int, count: int, pseudo_random: bool) -> Array:
    """Where the windows begin, and at last `size`: `int64[count + 1]`."""
    if pseudo_random:
        return _regular_borders(state, size, count)
    longer = np.arange(count) < size % count
    widths = jnp.asarray(size // count + longer, jnp.int64)
    widths = _shuffled(widths, _words(state, count))
    return jnp.concatenate([jnp.zeros(1, jnp.int64), jnp.cumsum(widths)])


def _shuffled(values: Array, words: Array) -> Array:
    count = len(values)

    def exchange(place: Array, values: Array) -> Array:
        left = (count - place).astype(jnp.uint32)
        other = place + (words[place] % left).astype(place.dtype)
        return values.at[place].set(values[other]).at[other].set(values[place])

    return lax.fori_loop(0, count - 1, exchange, values)


def _regular_borders(state: Array, size: int, count: int) -> Array:
    """Ceilings of multiples of the ratio, moved by one random number: nearly even windows."""
    ratio, shortest = size / count, size // count
    # The first window must not be wider, the last not narrower, than the others may be.
    most = min((shortest + 2) / ratio - 1, (size + 1 - shortest) / ratio - (count - 1))
    words = _words(state, 2)
    shift = philox.float64_bits(words[0], words[1]) * most
    inner = jnp.ceil(ratio * (jnp.arange(1, count) + shift)).astype(jnp.int64) - 1
    ends = jnp.zeros(1, jnp.int64), jnp.full(1, size, jnp.int64)
    return jnp.concatenate([ends[0], inner, ends[1]])


def _windows(borders: Array, size: int, overlapping: bool) -> tuple[Array, int]:
    """For each window the places of its elements, with -1 beyond its end; and the widest."""
    count = borders.shape[0] - 1
    widest = size // count + 2 + overlapping
    places = borders[:-1, None] + jnp.arange(widest)
    last = borders[1:, None] + (1 if overlapping else 0)
    return jnp.where(places < jnp.minimum(last, size), places, -1), widest


def _along(x: Array, places: Array, axis: int, kind: str) -> Array:
    """Maxima or sums of the elements of `x` at the places, along one axis."""
    taken = jnp.take(x, jnp.maximum(places, 0).reshape(-1), axis)
    shape = (*x.shape[:axis], *places.shape, *x.shape[axis + 1 :])
    taken = taken.reshape(shape)
    inside = (places >= 0).reshape(*places.shape, *(1,) * (x.ndim - axis - 1))
    if kind == "sum":
        return jnp.sum(jnp.where(inside, taken, 0), axis + 1, dtype=x.dtype)
    lowest = -jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min
    best = jnp.take(taken, 0, axis + 1)
    for place in range(1, places.shape[1]):
        tap = jnp.where(jnp.take(inside, place, 1), jnp.take(taken, place, axis + 1), lowest)
        best = jnp.where(tap > best, tap, best)
    return best


def _pooled(
    value: Array, state: Array, sizes: tuple[int, int], flags: tuple[bool, bool], kind: str
) -> tuple[Array, Array, Array]:
    pseudo_random, overlapping = flags
    borders: list[Array] = []
    windows: list[Array] = []
    # Rows draw first. Each draw takes whole blocks.
    for axis, count in enumerate(sizes):
        size = value.shape[axis + 1]
        found = _borders(state, size, count, pseudo_random)
        words = 2 if pseudo_random else count
        state = philox.skipped(state, jnp.asarray(-(-words // 4), jnp.uint64))
        borders.append(found)
        windows.append(_windows(found, size, overlapping)[0])
    # Columns first: of equal elements the first in row-major order then stays.
    out = _along(_along(value, windows[1], 2, kind), windows[0], 1, kind)
    if kind == "sum":
        rows, columns = (jnp.sum(places >= 0, axis=1) for places in windows)
        counts = (rows[:, None] * columns)[None, :, :, None].astype(value.dtype)
        floating = jnp.issubdtype(value.dtype, jnp.floating)
        out = out / counts if floating else lax.div(out, jnp.broadcast_to(counts, out.shape))
    return out, borders[0], borders[1]


@op(
    "_fractional_max_pool",
    node="FractionalMaxPool",
    dtypes=_DTYPES,
    no_gradient=("state",),
    cases=(
        "f32[2,7,6,2] distinct, u32[6] in (0, 99), (5, 4), (False, False)",
        "f64[1,7,6,1] distinct, u32[6] in (0, 99), (5, 4), (True, True)",
        "i32[1,5,5,1], u32[6] in (0, 99), (3, 3), (True, False)",
    ),
)
def _fractional_max_pool(
    value: TensorLike, state: TensorLike, sizes: StaticInts, flags: Any
) -> FractionalMaxPool:
    return FractionalMaxPool(*_pooled(value, state, sizes, flags, "max"))


@op(
    "_fractional_avg_pool",
    node="FractionalAvgPool",
    dtypes=_DTYPES,
    no_gradient=("state",),
    cases=(
        "f32[2,7,6,2], u32[6] in (0, 99), (5, 4), (False, False)",
        "f64[1,7,6,1], u32[6] in (0, 99), (5, 4), (True, True)",
    ),
)
def _fractional_avg_pool(
    value: TensorLike, state: TensorLike, sizes: StaticInts, flags: Any
) -> FractionalAvgPool:
    return FractionalAvgPool(*_pooled(value, state, sizes, flags, "sum"))


def _sizes(shape: Sequence[int], ratios: Sequence[float], node: str) -> tuple[int, int]:
    if len(shape) != 4:
        raise InvalidArgumentError(f"tensor_in must be 4-dimensional: {list(shape)} [Op:{node}]")
    if len(ratios) != 4 or ratios[0] != 1 or ratios[3] != 1:
        raise ValueError(
            "`pooling_ratio` should have first and last elements with value 1.0. "
            f"Received: pooling_ratio={ratios}"
        )
    if any(ratio < 1 for ratio in ratios):
        raise ValueError(f"`pooling_ratio` should be >= 1.0. Received: pooling_ratio={ratios}")
    counts = [math.floor(size / ratio) for size, ratio in zip(shape[1:3], ratios[1:3], strict=True)]
    if min(counts) < 1:
        raise InvalidArgumentError(
            f"pooling_ratio={list(ratios)} leaves nothing of an image of {list(shape[1:3])}: "
            f"choose ratios up to its sizes [Op:{node}]"
        )
    return counts[0], counts[1]


def _entropy() -> np.ndarray[Any, np.dtype[np.uint32]]:
    return np.frombuffer(secrets.token_bytes(24), np.uint32)


def _drawn(
    value: Any, ratios: Sequence[float], flags: tuple[bool, bool], seed: int, node: str
) -> tuple[Any, Any, tuple[int, int], tuple[bool, bool]]:
    tensor = as_tensor(value)
    sizes = _sizes(tuple(tensor.aval.shape), ratios, node)
    # No block is reserved: a seed gives the same windows at each call. Without one the global
    # seed does not count either, as in TensorFlow.
    state = seed_tensor(seed, node, tensor.dtype.name, 0) if seed else hidden_input(Asked(_entropy))
    return tensor, state, sizes, (bool(flags[0]), bool(flags[1]))


@public("nn.fractional_max_pool")
def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalMaxPool:
    """Maximum pooling that shrinks an image by a ratio between whole numbers.

    The windows of an axis have one of two neighbouring widths, in an order drawn at random.

    Args:
        value: `[batch, height, width, channels]`; float32, float64, int32 or int64.
        pooling_ratio: How much smaller the result is: one number, two, or four of which the first
            and the last are 1. Each is at least 1.
        pseudo_random: Whether to draw one number for each axis, which gives nearly even windows,
            instead of a random order of widths.
        overlapping: Whether each window also meets the first element of the next.
        seed: With a seed other than 0 every call draws the same windows.
        name: Ignored.

    Returns:
        `(output, row_pooling_sequence, col_pooling_sequence)`: the maxima
        `[batch, rows, columns, channels]`, and where the windows of each axis begin, as int64
        vectors that end with the size. TensorFlow's own windows for the same seeds.

    Raises:
        ValueError: A ratio is below 1, or that of the batch or the channels is not 1.
        InvalidArgumentError: `value` has not four axes.

    Example:
        >>> import tapejax as tf
        >>> image = tf.reshape(tf.range(36.0), [1, 6, 6, 1])
        >>> y, rows, columns = tf.nn.fractional_max_pool(image, 1.5, seed=1)
        >>> y.shape, len(rows)
        (TensorShape([1, 4, 4, 1]), 5)

    References: Graham, "Fractional Max-Pooling", arXiv:1412.6071.
    """
    given = [pooling_ratio] if isinstance(pooling_ratio, (int, float)) else list(pooling_ratio)
    ratios = [1.0, *given * (2 // len(given)), 1.0] if len(given) in (1, 2) else given
    drawn = _drawn(value, ratios, (pseudo_random, overlapping), seed, "FractionalMaxPool")
    return _fractional_max_pool(*drawn)


@public("nn.fractional_avg_pool")
def fractional_avg_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalAvgPool:
    """Mean pooling that shrinks an image by a ratio between whole numbers.

    Args:
        value: `[batch, height, width, channels]`; float32, float64, int32 or int64.
        pooling_ratio: How much smaller the result is: four numbers of at least 1, of which the
            first and the last are 1.
        pseudo_random: Whether to draw one number for each axis, which gives nearly even windows,
            instead of a random order of widths.
        overlapping: Whether each window also meets the first element of the next.
        seed: With a seed other than 0 every call draws the same windows.
        name: Ignored.

    Returns:
        `(output, row_pooling_sequence, col_pooling_sequence)`, as of `tf.nn.fractional_max_pool`.

    Raises:
        TypeError: `pooling_ratio` is one number.
        ValueError: A ratio is below 1, or that of the batch or the channels is not 1.
        InvalidArgumentError: `value` has not four axes.

    Example:
        >>> import tapejax as tf
        >>> image = tf.reshape(tf.range(36.0), [1, 6, 6, 1])
        >>> tf.nn.fractional_avg_pool(image, [1.0, 1.5, 1.5, 1.0], seed=1).output.shape
        TensorShape([1, 4, 4, 1])
    """
    if isinstance(pooling_ratio, (int, float)):
        raise TypeError(
            "Expected list for 'pooling_ratio' argument to 'fractional_avg_pool' Op, not "
            f"{pooling_ratio}. Write [1.0, {pooling_ratio}, {pooling_ratio}, 1.0]."
        )
    flags = pseudo_random, overlapping
    drawn = _drawn(value, list(pooling_ratio), flags, seed, "FractionalAvgPool")
    return _fractional_avg_pool(*drawn)
