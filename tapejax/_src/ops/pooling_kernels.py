"""Maxima and means over sliding windows, formulated for the backend that will run them.

XLA's reduce-window is written for accelerators. On the CPU its gradient for the maximum searches
each window again, so a small window is taken apart into one strided slice per tap instead: a chain
of comparisons, whose derivative goes to the first of equal elements, as in TensorFlow.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.engine.registry import Array
from tapejax._src.ops.derivatives import with_partials
from tapejax._src.ops.windows import Geometry, on_cpu, slices

# Above this many taps the sliced program is long and no longer faster.
_MOST_TAPS = 16
# Measured on x86 in whole training steps: from here on strided slices are faster.
_MANY_CHANNELS = 32


def _lowest(dtype: Any) -> Any:
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min


def _reduce(x: Array, geometry: Geometry, start: Any, combine: Any) -> Array:
    return lax.reduce_window(
        x,
        np.asarray(start, x.dtype),
        combine,
        (1, *geometry.window, 1),
        (1, *geometry.strides, 1),
        ((0, 0), *geometry.pads, (0, 0)),
        window_dilation=(1, *geometry.dilations, 1),
    )


def _tiles(x: Array, geometry: Geometry) -> Array | None:
    """`x` as `[batch, (windows, taps) of each axis, channels]`, if the windows just touch."""
    plain = not any(map(any, geometry.pads)) and set(geometry.dilations) == {1}
    counts = geometry.output(x.shape[1:-1])
    if geometry.strides != geometry.window or not plain or min(counts) < 1:
        return None
    pairs = list(zip(counts, geometry.window, strict=True))
    limits = (len(x), *(count * taps for count, taps in pairs), x.shape[-1])
    cropped = lax.slice(x, (0,) * x.ndim, limits)
    return cropped.reshape(len(x), *(size for pair in pairs for size in pair), x.shape[-1])


def _taps(tiles: Array) -> list[Array]:
    """The elements of each tap, in row-major order. The transpose of a split is a concatenation."""
    parts = [tiles]
    axes = tuple(range(2, tiles.ndim - 1, 2))
    for axis in axes:
        sizes = (1,) * tiles.shape[axis]
        parts = [piece for part in parts for piece in lax.split(part, sizes, axis)]
    return [lax.squeeze(part, axes) for part in parts]


def _first_of_largest(taps: list[Array]) -> tuple[Array, Array]:
    """The largest of equally shaped arrays, and the number of the first that has it."""
    best, place = taps[0], jnp.zeros(taps[0].shape, jnp.int32)
    for number, tap in enumerate(taps[1:], 1):
        # Strictly greater: the first of equal elements stays. NaN replaces a number and stays.
        better = (tap > best) | (tap != tap)
        best, place = jnp.where(better, tap, best), jnp.where(better, number, place)
    return best, place


def _selected(tangent: Array, out: Array, tiles: Array) -> Array:
    place = _first_of_largest(_taps(tiles))[1]
    parts = enumerate(_taps(tangent))
    return sum((jnp.where(place == n, part, 0) for n, part in parts), jnp.zeros((), out.dtype))


@with_partials(_selected)
def _tiled_maximum(tiles: Array) -> Array:
    """The maximum over the tap axes; its derivative is a selection, not a sum of paddings."""
    return _first_of_largest(_taps(tiles))[0]


def maximum(x: Array, geometry: Geometry) -> Array:
    """The largest element of each window of `[batch, *spatial, channels]`."""
    if not on_cpu() or math.prod(geometry.window) > _MOST_TAPS:
        return _reduce(x, geometry, _lowest(x.dtype), lax.max)
    tiles = _tiles(x, geometry) if x.shape[-1] < _MANY_CHANNELS else None
    if tiles is not None:
        return _tiled_maximum(tiles)
    first, *others = slices(x, geometry, _lowest(x.dtype))
    best = first
    for tap in others:
        # Strictly greater: the first of equal elements stays. NaN replaces a number and stays.
        best = jnp.where((tap > best) | (tap != tap), tap, best)
    return best


def _total(x: Array, geometry: Geometry) -> Array:
    if not on_cpu() or math.prod(geometry.window) > _MOST_TAPS:
        return _reduce(x, geometry, 0, lax.add)

    # Slices are faster forward, reduce-window backward: the sum is linear, so both are exact.
    def by_input(tangent: Array, out: Array, x: Array) -> Array:
        return _reduce(tangent, geometry, 0, lax.add)

    def sliced(x: Array) -> Array:
        return sum(slices(x, geometry), jnp.zeros((), x.dtype))

    return with_partials(by_input)(sliced)(x)


def mean(x: Array, geometry: Geometry) -> Array:
    """The mean of each window; padding does not count."""
    counts = np.ones((), np.float64)
    for size, window, stride, dilation, (low, high) in zip(x.shape[1:-1], *geometry, strict=True):
        (count,) = Geometry((window,), (stride,), (dilation,), ((low, high),)).output((size,))
        taps = np.arange(count)[:, None] * stride + np.arange(window) * dilation - low
        counts = np.multiply.outer(counts, np.sum((taps >= 0) & (taps < size), axis=1))
    wide = x.astype(jnp.float32) if x.dtype.itemsize == 2 else x
    # Padding does not count.
    weights = np.asarray(1 / counts[None, ..., None], wide.dtype)
    return (_total(wide, geometry) * weights).astype(x.dtype)
