"""Convolutions with 3 by 3 windows by fewer multiplications, for the CPU.

Winograd's F(2x2, 3x3): four neighbouring results need 16 products instead of 36. Tiles of the
image and the filters are transformed by additions, sixteen matrix products follow, and their
results are transformed back. Whether that pays depends on the matrix products being large enough.

Both maps here, the convolution and its derivative by the filters, are bilinear, and the derivatives
of each are the other or itself, so that every derivative of any order runs by these two.

References: Lavin, Gray, "Fast algorithms for convolutional neural networks", arXiv:1509.09308.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from tapejax._src.engine.registry import Array
from tapejax._src.ops.windows import Geometry, Pads, on_cpu

# The transforms of Lavin and Gray, section 4.1.
_OF_IMAGE = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
_OF_FILTER = ((1.0, 0.0, 0.0), (0.5, 0.5, 0.5), (0.5, -0.5, 0.5), (0.0, 0.0, 1.0))
_OF_PRODUCT = ((1, 1, 1, 0), (0, 1, -1, -1))
# Measured on x86, in processor time: below these XLA's own kernels win.
_FEWEST_CHANNELS = 32
_MOST_TILES_OF_A_GRADIENT = 256
# Tiles of so many bytes at a time: more do not stay in the caches.
_BYTES_AT_ONCE = 1_500_000


def fits(x: Array, filters: Array, geometry: Geometry) -> bool:
    """Whether to take a float32 convolution of `[batch, height, width, in]` apart like this."""
    simple = geometry.window == (3, 3) and geometry.strides == geometry.dilations == (1, 1)
    if not simple or not on_cpu() or max(max(pad) for pad in geometry.pads) > 2:
        return False
    channels = min(filters.shape[-2:])
    counts = geometry.output(x.shape[1:-1])
    return channels >= _FEWEST_CHANNELS and min(counts) >= 4 and len(x) > 0


def convolve(x: Array, filters: Array, geometry: Geometry) -> Array:
    """Cross-correlation of `[batch, height, width, in]` with `[3, 3, in, out]` filters."""
    return cast("Array", _convolution_p.bind(x, filters, pads=geometry.pads))


# ---------------------------------------------------------------------- transforms
def _combined(weights: Sequence[float], parts: Sequence[Array]) -> Array:
    """A sum of arrays with weights most of which are 0 or 1."""
    out: Any = None
    for weight, part in zip(weights, parts, strict=True):
        if weight:
            term = part if weight == 1 else -part if weight == -1 else part * np.float32(weight)
            out = term if out is None else out + term
    return out


def _along(transform: Sequence[Sequence[float]], parts: Sequence[Array]) -> list[Array]:
    return [_combined(weights, parts) for weights in transform]


def _transposed(transform: Sequence[Sequence[float]]) -> list[tuple[float, ...]]:
    return list(zip(*transform, strict=True))


def _image_tiles(x: Array, pads: Pads, tiles: tuple[int, int]) -> Array:
    """`[16, tiles, in]`: the transforms of the 4 by 4 tiles at a distance of 2."""
    batch, height, width, channels = x.shape
    (top, _), (left, _) = pads
    rows, columns = tiles
    after = 2 * rows + 2 - height - top, 2 * columns + 2 - width - left
    config = ((0, 0, 0), (top, after[0], 0), (left, after[1], 0), (0, 0, 0))
    padded = lax.pad(x, np.float32(0), config)
    halves = padded.reshape(batch, rows + 1, 2, columns + 1, 2, channels)
    found: list[Array] = []
    for row in _along(_OF_IMAGE, [halves[:, n // 2 : n // 2 + rows, n % 2] for n in range(4)]):
        cells = [row[:, :, n // 2 : n // 2 + columns, n % 2] for n in range(4)]
        found += [cell.reshape(-1, channels) for cell in _along(_OF_IMAGE, cells)]
    return jnp.stack(found)


def _filter_tiles(filters: Array) -> Array:
    """`[16, in, out]`: the transform of the filters."""
    found: list[Array] = []
    for row in _along(_OF_FILTER, [filters[n] for n in range(3)]):
        found += _along(_OF_FILTER, [row[n] for n in range(3)])
    return jnp.stack(found)


def _result_tiles(g: Array, tiles: tuple[int, int]) -> Array:
    """`[16, tiles, out]`: what a gradient by results is as one by the products."""
    batch, height, width, channels = g.shape
    rows, columns = tiles
    config = ((0, 0, 0), (0, 2 * rows - height, 0), (0, 2 * columns - width, 0), (0, 0, 0))
    padded = lax.pad(g, np.float32(0), config).reshape(batch, rows, 2, columns, 2, channels)
    transform = _transposed(_OF_PRODUCT)
    found: list[Array] = []
    for row in _along(transform, [padded[:, :, n] for n in range(2)]):
        cells = _along(transform, [row[:, :, :, n] for n in range(2)])
        found += [cell.reshape(-1, channels) for cell in cells]
    return jnp.stack(found)


def _results(products: Array, batch: int, tiles: tuple[int, int]) -> Array:
    """`[batch, 2 * rows, 2 * columns, out]` of the products."""
    rows, columns = tiles
    parts = products.reshape(4, 4, batch, rows, columns, products.shape[-1])
    found: list[Array] = []
    for row in _along(_OF_PRODUCT, [parts[n] for n in range(4)]):
        found.append(jnp.stack(_along(_OF_PRODUCT, [row[n] for n in range(4)]), axis=3))
    out = jnp.stack(found, axis=2)
    return out.reshape(batch, 2 * rows, 2 * columns, products.shape[-1])


# ---------------------------------------------------------------------- the two maps
def _tiles(sizes: Sequence[int]) -> tuple[int, int]:
    return -(-sizes[0] // 2), -(-sizes[1] // 2)


def _chunks(batch: int, tiles: tuple[int, int], channels: int) -> int:
    """In how many parts to take a batch."""
    whole = 64 * batch * tiles[0] * tiles[1] * channels
    counts = [count for count in range(1, batch + 1) if batch % count == 0]
    return next((n for n in counts if whole <= n * _BYTES_AT_ONCE), batch)


def _split(x: Array, count: int) -> Array:
    return x.reshape(count, len(x) // count, *x.shape[1:])


def _sizes(x: Any, pads: Pads) -> tuple[int, int]:
    return x.shape[1] + sum(pads[0]) - 2, x.shape[2] + sum(pads[1]) - 2


def _convolution(x: Array, filters: Array, *, pads: Pads) -> Array:
    height, width = _sizes(x, pads)
    tiles = _tiles((height, width))
    matrices = _filter_tiles(filters)

    def of_images(images: Array) -> Array:
        products = jnp.matmul(_image_tiles(images, pads, tiles), matrices)
        return _results(products, len(images), tiles)[:, :height, :width]

    count = _chunks(len(x), tiles, sum(filters.shape[-2:]))
    if count == 1:
        return of_images(x)
    return lax.map(of_images, _split(x, count)).reshape(len(x), height, width, -1)


def _by_filters(x: Array, g: Array, *, pads: Pads) -> Array:
    channels, tiles = (x.shape[-1], g.shape[-1]), _tiles(g.shape[1:3])
    if tiles[0] * tiles[1] > _MOST_TILES_OF_A_GRADIENT:
        return _filters_by_library(x, g, pads)

    def total(before: Array, both: tuple[Array, Array]) -> tuple[Array, None]:
        left, right = _image_tiles(both[0], pads, tiles), _result_tiles(both[1], tiles)
        return before + lax.dot_general(left, right, (((1,), (1,)), ((0,), (0,)))), None

    count = _chunks(len(x), tiles, sum(channels))
    start = jnp.zeros((16, *channels), x.dtype)
    products, _ = lax.scan(total, start, (_split(x, count), _split(g, count)))
    parts = products.reshape(4, 4, *channels)
    transform = _transposed(_OF_FILTER)
    rows = _along(transform, [parts[n] for n in range(4)])
    return jnp.stack([jnp.stack(_along(transform, [row[n] for n in range(4)])) for row in rows])


def _by_library(x: Array, filters: Array, pads: Pads) -> Array:
    layout = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, filters, (1, 1), pads, dimension_numbers=layout)


def _filters_by_library(x: Array, g: Array, pads: Pads) -> Array:
    zeros = jnp.zeros((3, 3, x.shape[-1], g.shape[-1]), x.dtype)
    _, pullback = jax.vjp(lambda filters: _by_library(x, filters, pads), zeros)
    return pullback(g)[0]


def _mirrored(filters: Array) -> Array:
    return jnp.swapaxes(jnp.flip(filters, (0, 1)), -1, -2)


def _back(pads: Pads) -> Pads:
    """The pads of the convolution that leads from results to images."""
    return tuple((2 - low, 2 - high) for low, high in pads)


# ---------------------------------------------------------------------- as primitives
_convolution_p = Primitive("winograd_convolution")
_by_filters_p = Primitive("winograd_by_filters")


def _convolution_aval(x: Any, filters: Any, *, pads: Pads) -> Any:
    return x.update(shape=(x.shape[0], *_sizes(x, pads), filters.shape[-1]))


def _by_filters_aval(x: Any, g: Any, *, pads: Pads) -> Any:
    del pads
    return x.update(shape=(3, 3, x.shape[-1], g.shape[-1]))


def _pull_to_image(ct: Array, x: Any, filters: Array, *, pads: Pads) -> Array:
    del x
    return cast("Array", _convolution_p.bind(ct, _mirrored(filters), pads=_back(pads)))


def _pull_to_filters(ct: Array, x: Array, filters: Any, *, pads: Pads) -> Array:
    del filters
    return cast("Array", _by_filters_p.bind(x, ct, pads=pads))


def _pull_to_image_of_filters(ct: Array, x: Any, g: Array, *, pads: Pads) -> Array:
    del x
    return cast("Array", _convolution_p.bind(g, _mirrored(ct), pads=_back(pads)))


def _pull_to_results(ct: Array, x: Array, g: Any, *, pads: Pads) -> Array:
    del g
    return cast("Array", _convolution_p.bind(x, ct, pads=pads))


def _batched(by_library: Callable[..., Array]) -> Callable[..., tuple[Array, int]]:
    def rule(args: Sequence[Array], dims: Sequence[int | None], *, pads: Pads) -> tuple[Array, int]:
        of_both = jax.vmap(lambda x, y: by_library(x, y, pads), tuple(dims))
        return of_both(*args), 0

    return rule


def _batched_convolution(
    args: Sequence[Array], dims: Sequence[int | None], *, pads: Pads
) -> tuple[Array, int]:
    x, filters = args
    if dims[1] is not None or dims[0] is None:
        return _batched(_by_library)(args, dims, pads=pads)
    images = jnp.moveaxis(x, dims[0], 0)
    flat = images.reshape(-1, *images.shape[2:])
    out = cast("Array", _convolution_p.bind(flat, filters, pads=pads))
    return out.reshape(*images.shape[:2], *out.shape[1:]), 0


for _primitive, _formula, _aval, _pulls, _rule in (
    (
        _convolution_p,
        _convolution,
        _convolution_aval,
        (_pull_to_image, _pull_to_filters),
        _batched_convolution,
    ),
    (
        _by_filters_p,
        _by_filters,
        _by_filters_aval,
        (_pull_to_image_of_filters, _pull_to_results),
        _batched(_filters_by_library),
    ),
):
    _primitive.def_impl(jax.jit(_formula, static_argnames="pads"))
    _primitive.def_abstract_eval(_aval)
    ad.defbilinear(_primitive, *_pulls)
    batching.primitive_batchers[_primitive] = _rule
    mlir.register_lowering(_primitive, mlir.lower_fun(_formula, multiple_results=False))
