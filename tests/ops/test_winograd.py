"""Winograd's convolution against XLA's: values and derivatives of any order, batches, odd sizes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tapejax._src.ops import convolution_kernels, winograd
from tapejax._src.ops.windows import Geometry

GEOMETRIES = [
    pytest.param((4, 8, 8, 32), 32, ((1, 1), (1, 1)), id="same"),
    pytest.param((3, 9, 7, 32), 40, ((0, 0), (0, 2)), id="odd sizes, uneven pads"),
    pytest.param((12, 20, 20, 64), 64, ((1, 1), (1, 1)), id="in several parts"),
    pytest.param((1, 36, 36, 32), 32, ((2, 1), (0, 1)), id="many tiles"),
]


def _normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), jnp.float32)


def _both(shape, outputs, pads):
    geometry = Geometry((3, 3), (1, 1), (1, 1), pads)
    x, filters = _normal(0, *shape), _normal(1, 3, 3, shape[-1], outputs) / 17
    assert winograd.fits(x, filters, geometry)

    def ours(x, filters):
        return convolution_kernels.convolve(x, filters, geometry)

    def library(x, filters):
        layout = ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(x, filters, (1, 1), pads, dimension_numbers=layout)

    return ours, library, x, filters


def _assert_close(ours, expected):
    for have, want in zip(jax.tree.leaves(ours), jax.tree.leaves(expected), strict=True):
        scale = float(jnp.max(jnp.abs(want)))
        np.testing.assert_allclose(have, want, rtol=0, atol=5e-6 * scale)


@pytest.mark.parametrize(("shape", "outputs", "pads"), GEOMETRIES)
def test_values_and_derivatives_are_those_of_the_direct_sum(shape, outputs, pads):
    ours, library, x, filters = _both(shape, outputs, pads)
    tangents = _normal(2, *x.shape), _normal(3, *filters.shape) / 17

    def everything(f):
        out, pullback = jax.vjp(f, x, filters)
        return out, pullback(jnp.cos(out)), jax.jvp(f, (x, filters), tangents)

    _assert_close(*[jax.jit(lambda f=f: everything(f))() for f in (ours, library)])


def test_second_derivatives_are_those_of_the_direct_sum():
    ours, library, x, filters = _both((2, 6, 6, 32), 32, ((1, 1), (1, 1)))
    tangents = _normal(2, *x.shape), _normal(3, *filters.shape) / 17

    def second(f):
        first = jax.grad(lambda x, filters: jnp.sum(jnp.sin(f(x, filters))), (0, 1))

        def along(x, filters):
            pairs = zip(first(x, filters), tangents, strict=True)
            return sum(jnp.vdot(a, b) for a, b in pairs)

        return jax.jvp(first, (x, filters), tangents), jax.grad(along, (0, 1))(x, filters)

    _assert_close(*[jax.jit(lambda f=f: second(f))() for f in (ours, library)])


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
def test_vmap_is_the_same_for_each_element(axes):
    ours, library, x, filters = _both((2, 6, 6, 32), 32, ((1, 1), (1, 1)))
    pairs = zip((x, filters), axes, strict=True)
    args = [v if axis is None else jnp.stack([v, 2 * v]) for v, axis in pairs]

    def everything(f):
        def of_one(x, filters):
            out, pullback = jax.vjp(f, x, filters)
            return out, pullback(out)

        return jax.vmap(of_one, axes)(*args)

    _assert_close(everything(ours), everything(library))


def test_few_channels_and_other_windows_are_left_to_others():
    def fits(shape, filters, window=(3, 3), strides=(1, 1), dilations=(1, 1), pads=((1, 1),) * 2):
        geometry = Geometry(window, strides, dilations, pads)
        return winograd.fits(jnp.zeros(shape), jnp.zeros(filters), geometry)

    assert fits((1, 8, 8, 32), (3, 3, 32, 32))
    assert not fits((1, 8, 8, 16), (3, 3, 16, 32))
    assert not fits((1, 8, 8, 32), (5, 5, 32, 32), (5, 5))
    assert not fits((1, 8, 8, 32), (3, 3, 32, 32), strides=(2, 2))
    assert not fits((1, 8, 8, 32), (3, 3, 32, 32), dilations=(2, 2), pads=((2, 2),) * 2)
    assert not fits((1, 8, 8, 32), (3, 3, 32, 32), pads=((3, 1), (1, 1)))
    assert not fits((1, 2, 2, 32), (3, 3, 32, 32))
    assert not fits((0, 8, 8, 32), (3, 3, 32, 32))
