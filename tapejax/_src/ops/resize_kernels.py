"""Resampling along one axis: which elements each new one is made of, and with what weights.

A `Band` is a matrix with few elements in each row, all of them known while a program is recorded.
Applying one is linear, and its transpose is another `Band`: derivatives of every order cost what
the resampling itself costs, without scattering.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

Array = jax.Array
Floats = np.ndarray[Any, np.dtype[np.float32]]
Integers = np.ndarray[Any, np.dtype[np.int32]]
Kernel = Callable[[Floats], Floats]

_F = np.float32
# Rows of more elements than this are applied as a matrix product.
_MOST_TAPS = 16
_TINY = _F(1000 * np.finfo(np.float32).tiny)
_CUBIC_STEPS = 1024  # TensorFlow takes the weights of bicubic resizing from a table of so many


class Band:
    """A matrix `[rows, size]` with `taps` elements in each row.

    Attributes:
        size: How many elements the axis has that it is applied to.
        indices: `[rows, taps]`, the columns of the elements; a column may come more than once.
        weights: `[rows, taps]`, the elements.
        blend: Whether there are two taps whose weights add up to 1.
    """

    def __init__(self, size: int, indices: Any, weights: Any, blend: bool = False) -> None:
        self.size = size
        self.indices: Integers = np.asarray(indices, np.int32)
        self.weights: Floats = np.asarray(weights, np.float32)
        self.blend = blend

    @property
    def rows(self) -> int:
        """How many elements it makes."""
        return self.indices.shape[0]

    @functools.cached_property
    def transposed(self) -> Band:
        """The matrix with rows and columns exchanged."""
        rows, taps = np.nonzero(self.weights)
        columns = self.indices[rows, taps]
        order = np.argsort(columns, kind="stable")
        columns, rows, taps = columns[order], rows[order], taps[order]
        counts = np.bincount(columns, minlength=self.size)
        place = np.arange(columns.size) - np.repeat(np.cumsum(counts) - counts, counts)
        most = max(1, int(counts.max(initial=0)))
        # Unused places repeat an index of their row, so that they touch nothing else.
        indices = np.zeros((self.size, most), np.int32)
        first = np.minimum(np.cumsum(counts) - counts, max(columns.size - 1, 0))
        indices[:] = (rows[first] if columns.size else np.zeros(self.size, int))[:, None]
        weights = np.zeros((self.size, most), np.float32)
        indices[columns, place] = rows
        weights[columns, place] = self.weights[rows, taps]
        return Band(self.rows, indices, weights)

    @functools.cached_property
    def dense(self) -> Floats:
        """All elements of the matrix."""
        matrix = np.zeros((self.rows, self.size), np.float32)
        np.add.at(matrix, (np.arange(self.rows)[:, None], self.indices), self.weights)
        return matrix


# ---------------------------------------------------------------------- applying
_band_p = Primitive("apply_band")


def apply_band(x: Array, band: Band, axis: int) -> Array:
    """The product of a band and `x` along one axis."""
    return cast("Array", _band_p.bind(x, band=band, axis=axis % x.ndim))


def _applied(x: Array, *, band: Band, axis: int) -> Array:
    if band.indices.shape[1] > _MOST_TAPS:
        moved = jnp.tensordot(
            jnp.asarray(band.dense, x.dtype), x, ((1,), (axis,)), precision=lax.Precision.HIGHEST
        )
        return jnp.moveaxis(moved, 0, axis)
    taps = [jnp.take(x, column, axis, mode="clip") for column in band.indices.T]
    shape = [1] * x.ndim
    shape[axis] = -1
    weights = [np.reshape(column, shape) for column in band.weights.T]
    if band.blend:
        return taps[0] + (taps[1] - taps[0]) * jnp.asarray(weights[1], x.dtype)
    if len(taps) == 1 and np.all(weights[0] == 1):
        return taps[0]
    parts = [tap * jnp.asarray(w, x.dtype) for tap, w in zip(taps, weights, strict=True)]
    total = functools.reduce(jnp.add, parts)
    used = np.any(band.weights != 0, axis=1)
    if used.all():
        return total
    return jnp.where(np.reshape(used, shape), total, jnp.zeros_like(total))


def _aval(x: Any, *, band: Band, axis: int) -> Any:
    return x.update(shape=(*x.shape[:axis], band.rows, *x.shape[axis + 1 :]))


def _transposed(ct: Array, x: Any, *, band: Band, axis: int) -> list[Array]:
    del x
    return [apply_band(ct, band.transposed, axis)]


def _batched(
    args: Sequence[Array], dims: Sequence[int], *, band: Band, axis: int
) -> tuple[Array, int]:
    return apply_band(jnp.moveaxis(args[0], dims[0], 0), band, axis + 1), 0


_band_p.def_impl(functools.partial(jax.jit, static_argnames=("band", "axis"))(_applied))
_band_p.def_abstract_eval(_aval)
ad.deflinear2(_band_p, _transposed)
batching.primitive_batchers[_band_p] = _batched
mlir.register_lowering(_band_p, mlir.lower_fun(_applied, multiple_results=False))


# ---------------------------------------------------------------------- weights
def _centres(size: int, new: int) -> Floats:
    """Where the middle of each new pixel lies, in units of old pixels from the edge."""
    return (np.arange(new, dtype=_F) + _F(0.5)) * (_F(size) / _F(new))


def _linear(size: int, new: int) -> Band:
    place = _centres(size, new) - _F(0.5)
    low = np.floor(place)
    indices = np.stack([np.maximum(low, 0), np.minimum(np.ceil(place), size - 1)], axis=1)
    fraction = place - low
    return Band(size, indices, np.stack([1 - fraction, fraction], axis=1), blend=True)


def _nearest(size: int, new: int) -> Band:
    place = np.clip(np.floor(_centres(size, new)), 0, size - 1)
    return Band(size, place[:, None], np.ones((new, 1)))


def _tabulated_cubic() -> Floats:
    """The weights at distances `[0, 1]` and `[1, 2]`, at the steps of the table."""
    x = np.arange(_CUBIC_STEPS + 1, dtype=_F) / _F(_CUBIC_STEPS)
    near = ((_F(1.5) * x - _F(2.5)) * x) * x + 1
    y = x + 1
    far = ((_F(-0.5) * y + _F(2.5)) * y - 4) * y + 2
    return np.stack([near, far]).astype(_F)


def _cubic(size: int, new: int) -> Band:
    place = _centres(size, new) - _F(0.5)
    low = np.floor(place)
    step = np.rint((place - low) * _F(_CUBIC_STEPS)).astype(np.int32)
    near, far = _tabulated_cubic()
    weights = np.stack(
        [far[step], near[step], near[_CUBIC_STEPS - step], far[_CUBIC_STEPS - step]], axis=1
    )
    indices = low.astype(np.int32)[:, None] + np.arange(-1, 3)
    weights = np.where((indices >= 0) & (indices < size), weights, _F(0))
    return Band(size, np.clip(indices, 0, size - 1), _normalized(weights))


def _area(size: int, new: int) -> Band:
    scale = _F(size) / _F(new)
    start = np.arange(new, dtype=_F) * scale
    end = (np.arange(new, dtype=_F) + 1) * scale
    first, last = np.floor(start).astype(np.int32), np.ceil(end).astype(np.int32)
    most = int(np.max(last - first))
    cells = first[:, None] + np.arange(most, dtype=np.int32)
    covered = np.minimum(cells + _F(1), end[:, None]) - np.maximum(cells, start[:, None])
    # A cell that holds all of the new one counts as `scale`.
    inside = (cells < start[:, None]) & (cells + 1 > end[:, None])
    weights = np.where(inside, scale, covered.astype(_F))
    weights = np.where(cells < last[:, None], weights, _F(0)) / scale
    return Band(size, np.clip(cells, 0, size - 1), weights)


def _normalized(weights: Floats) -> Floats:
    total = np.sum(weights, axis=1, keepdims=True, dtype=_F)
    usable = np.abs(total) >= _TINY
    return np.where(usable, weights / np.where(usable, total, _F(1)), weights).astype(_F)


# ---------------------------------------------------------------------- sampled kernels
def _lanczos(radius: int) -> Kernel:
    def weight(x: Floats) -> Floats:
        safe = np.where(x <= _F(1e-3), _F(1), x)
        pi = _F(np.pi)
        wave = _F(radius) * np.sin(pi * safe) * np.sin(pi * safe / _F(radius))
        value = wave / (pi * pi * safe * safe)
        return np.where(x > radius, _F(0), np.where(x <= _F(1e-3), _F(1), value)).astype(_F)

    return weight


def _gaussian(x: Floats) -> Floats:
    sigma = _F(0.5)
    return np.where(x >= _F(1.5), _F(0), np.exp(-x * x / (_F(2) * sigma * sigma))).astype(_F)


def _triangle(x: Floats) -> Floats:
    return np.where(x < 1, _F(1) - x, _F(0)).astype(_F)


def _keys(x: Floats) -> Floats:
    near = ((_F(1.5) * x - _F(2.5)) * x) * x + 1
    far = ((_F(-0.5) * x + _F(2.5)) * x - 4) * x + 2
    return np.where(x >= 2, _F(0), np.where(x >= 1, far, near)).astype(_F)


def _mitchell(x: Floats) -> Floats:
    near = ((_F(7 / 6) * x - 2) * x) * x + _F(8 / 9)
    far = ((_F(-7 / 18) * x + 2) * x - _F(10 / 3)) * x + _F(16 / 9)
    return np.where(x >= 2, _F(0), np.where(x >= 1, far, near)).astype(_F)


_SAMPLED: dict[str, tuple[float, Kernel]] = {
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, _gaussian),
    "mitchellcubic": (2, _mitchell),
    "bilinear": (1, _triangle),
    "bicubic": (2, _keys),
}
_DIRECT: dict[str, Callable[[int, int], Band]] = {
    "bilinear": _linear,
    "nearest": _nearest,
    "bicubic": _cubic,
    "area": _area,
}
METHODS = (*_DIRECT, "lanczos3", "lanczos5", "gaussian", "mitchellcubic")


def _sampled(method: str, size: int, new: int, antialias: bool) -> Band:
    radius, kernel = _SAMPLED[method]
    inverse = _F(1) / (_F(new) / _F(size))
    width = max(inverse, _F(1)) if antialias else _F(1)
    place = (np.arange(new, dtype=_F) + _F(0.5)) * inverse
    reach = _F(radius) * width
    first = np.clip(np.ceil(place - reach - _F(0.5)), 0, size - 1).astype(np.int32)
    last = np.clip(np.floor(place + reach - _F(0.5)), 0, size - 1).astype(np.int32)
    cells = first[:, None] + np.arange(int(np.max(last - first)) + 1, dtype=np.int32)
    distance = np.abs((cells + _F(0.5) - place[:, None]) * (_F(1) / width))
    weights = np.where(cells <= last[:, None], kernel(distance.astype(_F)), _F(0))
    weights = np.where((place < 0) | (place > size), _F(0), weights.T).T
    return Band(size, np.minimum(cells, last[:, None]), _normalized(weights))


@functools.lru_cache(maxsize=256)
def band(method: str, size: int, new: int, antialias: bool) -> Band:
    """How `size` pixels become `new` ones.

    Args:
        method: One of `METHODS`.
        size: Pixels of the image.
        new: Pixels wanted, at least 1.
        antialias: Whether a smaller image is averaged over all the pixels it stands for; the
            methods nearest and area take no notice.

    Returns:
        The band; its weights are computed in single precision, as in TensorFlow.
    """
    sampled = antialias and method in _SAMPLED
    if method in _DIRECT and not sampled:
        return _DIRECT[method](size, new)
    return _sampled(method, size, new, antialias)
