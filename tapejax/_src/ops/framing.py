"""Frames of a signal, and signals from frames that overlap."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, TensorLike, op
from tapejax._src.ops.shape_checks import zero_of


def _scalar(name: str, value: Any, least: int) -> int:
    if not isinstance(value, int):
        raise ValueError(f"`{name}` must have rank 0. Received: {value}")
    if value < least:
        msg = f"`{name}` must be at least {least}. Received: {value}"
        raise InvalidArgumentError(msg)
    return value


def resized(x: Array, size: int) -> Array:
    """`x` with zeros at the end of its last axis, or cut, so that it has `size` elements."""
    if x.shape[-1] >= size:
        return x[..., :size]
    edges = [(0, 0, 0)] * (x.ndim - 1) + [(0, size - x.shape[-1], 0)]
    return lax.pad(x, jnp.zeros((), x.dtype), edges)


def _frames(x: Array, count: int, length: int, step: int) -> Array:
    """`count` frames of the last axis, without a gather, whose transpose would be a scatter.

    A frame is `parts` blocks of `step` elements. All blocks are repeated `parts` times, and each
    repetition is shifted by one block against the one before by a row that is one block longer.
    """
    parts = -(-length // step)
    blocks = count + parts - 1
    outer = x.shape[:-1]
    block = resized(x, blocks * step).reshape((*outer, 1, blocks, step))
    repeated = jnp.broadcast_to(block, (*outer, parts, blocks, step))
    flat = repeated.reshape((*outer, parts * blocks * step))
    shifted = resized(flat, parts * (blocks + 1) * step)
    shifted = shifted.reshape((*outer, parts, blocks + 1, step))[..., :count, :]
    joined = jnp.swapaxes(shifted, -3, -2).reshape((*outer, count, parts * step))
    return joined[..., :length]


def _added(x: Array, step: int) -> Array:
    """Frames `[..., count, length]` added at distances of `step`: the transpose of `_frames`."""
    *outer, count, length = x.shape
    total = length + step * (count - 1)
    parts = -(-length // step)
    blocks = count + parts - 1
    split = resized(x, parts * step).reshape((*outer, count, parts, step))
    by_part = jnp.swapaxes(split, -3, -2).reshape((*outer, parts, count * step))
    flat = resized(by_part, (blocks + 1) * step).reshape((*outer, parts * (blocks + 1) * step))
    shifted = flat[..., : parts * blocks * step].reshape((*outer, parts, blocks * step))
    return jnp.sum(shifted, axis=-2, dtype=x.dtype)[..., :total]


@op(
    "signal.frame",
    node="Reshape",
    no_gradient=("pad_value",),
    cases=(
        "f32[9], 4, 2",
        "f64[2,9], 3, 2, True",
        "f64[9,2], 4, 3, pad_end=True, pad_value=7.0, axis=0",
        "f32[2,7,2], 2, 3, axis=1",
        "f64[5], 4, 4",
        "f32[5], 7, 2",
        "f32[5], 7, 2, pad_end=True",
        "i32[6], 4, 1, axis=-1",
        "c64[6], 3, 1",
        "f32[0], 3, 2, pad_end=True",
    ),
)
def frame(
    signal: Same,
    frame_length: StaticInts,
    frame_step: StaticInts,
    pad_end: bool = False,
    pad_value: Same = 0,
    axis: StaticInts = -1,
    name: str | None = None,
) -> Array:
    """Frames of a signal: windows of `frame_length` elements that start `frame_step` apart.

    Args:
        signal: Numbers `[..., samples, ...]`.
        frame_length: The length of a frame.
        frame_step: The distance between the starts of two frames.
        pad_end: Whether there are also frames that start inside the signal and end behind it.
        pad_value: What such frames hold behind the end, a scalar; no gradient reaches it.
        axis: The axis of the samples.
        name: Ignored.

    Returns:
        The frames `[..., frames, frame_length, ...]` in the dtype of `signal`. There are
        `1 + (samples - frame_length) // frame_step` of them (at least 0), or
        `ceil(samples / frame_step)` with `pad_end`.

    Raises:
        ValueError: `signal` or another argument has the wrong rank.
        IndexError: `axis` is out of range.
        tf.errors.InvalidArgumentError: A negative length, or a step below 1.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.frame([1, 2, 3, 4, 5], 3, 2).numpy())
        [[1 2 3]
         [3 4 5]]
    """
    length = _scalar("frame_length", frame_length, 0)
    step = _scalar("frame_step", frame_step, 1)
    if signal.ndim < 1:
        raise ValueError(f"Shape {signal.shape} must have rank at least 1")
    if pad_value.ndim:
        raise ValueError(f"Shape {pad_value.shape} must have rank 0: `pad_value` is a scalar")
    place = range(signal.ndim)[axis]
    samples = jnp.moveaxis(signal, place, -1)
    size = samples.shape[-1]
    count = -(-size // step) if pad_end else max(0, 1 + (size - length) // step)
    if pad_end:
        missing = max(0, length + step * (count - 1) - size)
        edges = [(0, 0, 0)] * (samples.ndim - 1) + [(0, missing, 0)]
        samples = lax.pad(samples, pad_value, edges)
    if count == 0 or length == 0 or samples.size == 0:
        shape = (*samples.shape[:-1], count, length)
        frames = jnp.broadcast_to(_nothing(samples), shape)
    else:
        frames = _frames(samples, count, length, step)
    return jnp.moveaxis(frames, (-2, -1), (place, place + 1))


def _nothing(x: Array) -> Array:
    return jnp.zeros((), bool) if x.dtype == bool else zero_of(x)


@op(
    "signal.overlap_and_add",
    node="Reshape",
    cases=(
        "f32[3,4], 2",
        "f64[2,3,5], 3",
        "f64[3,4], 4",
        "f32[3,2], 5",
        "f64[4,5], 1",
        "i32[2,3], 1",
        "c64[2,3], 2",
        "f32[0,2,3], 2",
    ),
)
def overlap_and_add(signal: TensorLike, frame_step: StaticInts, name: str | None = None) -> Array:
    """The signal that frames add up to when each starts `frame_step` after the one before.

    Args:
        signal: Numbers `[..., frames, frame_length]`.
        frame_step: The distance between the starts of two frames.
        name: Ignored.

    Returns:
        The sums `[..., frame_length + frame_step * (frames - 1)]` in the dtype of `signal`.

    Raises:
        ValueError: The rank of `signal` is below 2, or `frame_step` is not a scalar.
        TypeError: `frame_step` is no integer.
        tf.errors.InvalidArgumentError: `frame_step` is below 1.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.overlap_and_add([[1, 2, 3], [10, 20, 30]], 2).numpy())
        [ 1  2 13 20 30]
    """
    if signal.ndim < 2:
        raise ValueError(f"Shape {signal.shape} must have rank at least 2")
    step = _scalar("frame_step", frame_step, 1)
    *outer, count, length = signal.shape
    total = max(length + step * (count - 1), 0)
    if math.prod(signal.shape) == 0:
        return jnp.broadcast_to(zero_of(signal), (*outer, total))
    return _added(signal, step)
