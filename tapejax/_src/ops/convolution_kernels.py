"""Convolutions of channels-last arrays, formulated for the backend that will run them.

XLA's own convolution is the right one on accelerators. On the CPU it is slow where the inner loop
is short (few input channels, channels that do not mix) and where no library kernel exists (every
dtype but float32). There the window is taken apart into strided slices: patches times a matrix, or
a sum of products. Windows of 3 by 3 over many channels go by `winograd.py`. All formulations
compute the same sums; only their order differs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax.numpy as jnp
from jax import lax

from tapejax._src.engine.registry import Array
from tapejax._src.ops import winograd
from tapejax._src.ops.derivatives import with_partials
from tapejax._src.ops.windows import Geometry, on_cpu, slices

# Measured on x86: above this many input channels XLA's float32 kernel wins.
_FEW_CHANNELS = 4
# For one input channel, measured in whole training steps: below the first number the sum of
# products is slow enough to be stored, from the second on XLA's kernel wins.
_SOME_OUTPUTS, _MANY_OUTPUTS = 16, 32
# Bounds the length of the sliced program.
_MOST_TAPS = 49
_MOST_MULTIPLIERS = 4
_SPATIAL = "DHW"


def _layout(rank: int) -> tuple[str, str, str]:
    axes = _SPATIAL[-rank:]
    return f"N{axes}C", f"{axes}IO", f"N{axes}C"


def _library(x: Array, filters: Array, geometry: Geometry, groups: int) -> Array:
    return lax.conv_general_dilated(
        x,
        filters,
        geometry.strides,
        geometry.pads,
        rhs_dilation=geometry.dilations,
        dimension_numbers=_layout(len(geometry.window)),
        feature_group_count=groups,
    )


def _patches(x: Array, filters: Array, geometry: Geometry) -> Array:
    patches = jnp.concatenate(slices(x, geometry), axis=-1)
    matrix = filters.reshape(-1, filters.shape[-1])
    out = patches.reshape(-1, patches.shape[-1]) @ matrix
    return out.reshape(*patches.shape[:-1], matrix.shape[-1])


def _products(x: Array, weights: Array, geometry: Geometry) -> Array:
    """The sum over taps of slice times weight; `weights` is `[taps, channels]`."""
    lead = (1,) * (x.ndim - 1)
    out = jnp.zeros((), x.dtype)
    for tap, weight in zip(slices(x, geometry), weights, strict=True):
        out = out + tap * weight.reshape(*lead, -1)
    return out


def _stored(function: Callable[[Array], Array], x: Array) -> Array:
    """A function of images, whose result XLA stores.

    It merges cheap ops into each reader of their result, here the activation, the pooling and the
    derivatives of both, which would all compute the convolution again; but not the ops of a loop.
    """
    parts = next((n for n in (4, 2, 3, 5) if len(x) % n == 0 and len(x) > n), 1)
    if parts == 1:
        return function(x)
    out = lax.map(function, x.reshape(parts, len(x) // parts, *x.shape[1:]))
    return out.reshape(len(x), *out.shape[2:])


def _sliceable(x: Array, geometry: Geometry) -> bool:
    fits = all(count > 0 for count in geometry.output(x.shape[1:-1]))
    return on_cpu() and fits and math.prod(geometry.window) <= _MOST_TAPS


def convolve(x: Array, filters: Array, geometry: Geometry) -> Array:
    """Cross-correlation of `[batch, *spatial, in]` with `[*window, in / groups, out]` filters."""
    groups = x.shape[-1] // filters.shape[-2]
    if groups != 1 or not _sliceable(x, geometry):
        return _library(x, filters, geometry, groups)
    if x.dtype != jnp.float32:
        return _patches(x, filters, geometry)
    if winograd.fits(x, filters, geometry):
        return winograd.convolve(x, filters, geometry)
    if x.shape[-1] > _FEW_CHANNELS:
        return _library(x, filters, geometry, groups)

    # The map is linear in each argument, so each derivative may use the formulation that is
    # fastest for it: the gradient of the filters is a short sum, where XLA's kernel is good.
    def by_input(tangent: Array, out: Array, x: Array, filters: Array) -> Array:
        return _patches(tangent, filters, geometry)

    def by_filters(tangent: Array, out: Array, x: Array, filters: Array) -> Array:
        return _library(x, tangent, geometry, 1)

    def few_channels(x: Array, filters: Array) -> Array:
        if x.shape[-1] > 1:
            return _patches(x, filters, geometry)
        outputs = filters.shape[-1]
        if outputs >= _MANY_OUTPUTS:
            return _library(x, filters, geometry, 1)
        weights = filters.reshape(-1, outputs)
        if outputs >= _SOME_OUTPUTS:
            return _products(x, weights, geometry)
        return _stored(lambda images: _products(images, weights, geometry), x)

    return with_partials(by_input, by_filters)(few_channels)(x, filters)


def convolve_depthwise(x: Array, filters: Array, geometry: Geometry) -> Array:
    """Each channel of `[batch, *spatial, in]` with its own `[*window, in, multiplier]` filters."""
    *window, channels, multiplier = filters.shape
    if not _sliceable(x, geometry) or multiplier > _MOST_MULTIPLIERS:
        grouped = filters.reshape(*window, 1, channels * multiplier)
        return _library(x, grouped, geometry, channels)
    weights = filters.reshape(-1, channels, multiplier)
    parts = [_products(x, weights[..., index], geometry) for index in range(multiplier)]
    out = jnp.stack(parts, axis=-1)
    return out.reshape(*out.shape[:-2], channels * multiplier)


def convolve_transposed(
    x: Array, filters: Array, sizes: tuple[int, ...], geometry: Geometry
) -> Array:
    """The transpose of `convolve` in its first argument.

    Args:
        x: `[batch, *output, out]`.
        filters: `[*window, in, out]`.
        sizes: The spatial sizes that `convolve` would have been given.
        geometry: The geometry of that convolution.

    Returns:
        `[batch, *sizes, in]`.
    """
    rank = len(sizes)
    pads: list[tuple[int, int]] = []
    for size, count, window, stride, dilation, (low, _) in zip(
        sizes, x.shape[1:-1], *geometry, strict=True
    ):
        reach = (window - 1) * dilation
        before = reach - low
        pads.append((before, size + reach - ((count - 1) * stride + 1) - before))
    mirrored = jnp.flip(filters, axis=tuple(range(rank)))
    return lax.conv_general_dilated(
        x,
        jnp.swapaxes(mirrored, -1, -2),
        (1,) * rank,
        pads,
        lhs_dilation=geometry.strides,
        rhs_dilation=geometry.dilations,
        dimension_numbers=_layout(rank),
    )
