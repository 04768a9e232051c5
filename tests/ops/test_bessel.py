"""Bessel functions: SciPy's values in both precisions, edge points, derivatives at zero."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
from ops.pure import body

from tapejax._src.ops import bessel

ORACLES = {
    "j0": scipy.special.j0,
    "j1": scipy.special.j1,
    "y0": scipy.special.y0,
    "y1": scipy.special.y1,
    "k0": scipy.special.k0,
    "k0e": scipy.special.k0e,
    "k1": scipy.special.k1,
    "k1e": scipy.special.k1e,
}
each = pytest.mark.parametrize("name", ORACLES)


def function(name: str) -> Any:
    return body(getattr(bessel, f"bessel_{name}"))


@each
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_are_right_to_a_few_units_in_the_last_place(name: str, dtype: Any) -> None:
    x = np.concatenate([np.linspace(1e-3, 40, 4001), np.geomspace(1e-6, 80, 500)]).astype(dtype)
    with jax.enable_x64(True):
        actual = np.asarray(function(name)(jnp.asarray(x)), np.float64)
    expected = ORACLES[name](x.astype(np.float64))
    size = np.abs(expected)
    if name[0] in "jy":  # they oscillate: relative to the wave, not to its zeros
        size = np.maximum(size, np.sqrt(2 / np.pi / np.maximum(x, 1)))
    error = np.abs(actual - expected) / size
    # the oracle rounds the phase, which grows with x
    assert np.max(error / (16 + x)) < np.finfo(dtype).eps


@pytest.mark.parametrize("name", ["j0", "j1", "y0", "y1"])
def test_large_arguments_keep_their_phase(name: str) -> None:
    # float32 has 24 bits: x - pi / 4 would lose a third of them at 1e4
    x = np.array([1e4, 123456.0, 3e6], np.float32)
    actual = np.asarray(function(name)(jnp.asarray(x)), np.float64)
    expected = ORACLES[name](x.astype(np.float64))
    assert np.max(np.abs(actual - expected) * np.sqrt(x)) < 1e-6


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("j0", [0.0, 0.0, 1.0, np.nan]),
        ("j1", [0.0, -0.0, 0.0, np.nan]),
        ("y0", [0.0, -np.inf, -np.inf, np.nan]),
        ("y1", [0.0, -np.inf, -np.inf, np.nan]),
        ("k0", [0.0, np.inf, np.inf, np.nan]),
        ("k0e", [0.0, np.inf, np.inf, np.nan]),
        ("k1", [0.0, np.inf, np.inf, np.nan]),
        ("k1e", [0.0, np.inf, np.inf, np.nan]),
    ],
)
def test_infinities_zero_and_nan(name: str, expected: list[float]) -> None:
    x = jnp.array([np.inf, -np.inf, 0.0, np.nan])
    np.testing.assert_array_equal(function(name)(x), expected)


def test_derivatives_at_zero_are_those_of_the_power_series() -> None:
    derivative = function("j1")
    found = [float(derivative(jnp.float32(0.0)))]
    with jax.enable_x64(True):
        for _ in range(4):
            derivative = jax.grad(derivative)
            found.append(float(derivative(jnp.float64(0.0))))
    np.testing.assert_allclose(found, [0, 1 / 2, 0, -3 / 8, 0], rtol=0, atol=1e-15)


def test_second_derivatives_near_zero_do_not_cancel() -> None:
    x = np.array([1e-10, 1e-5, 1e-2])
    with jax.enable_x64(True):
        second = jax.vmap(jax.grad(jax.grad(function("j1"))))(jnp.asarray(x))
    np.testing.assert_allclose(second, scipy.special.jvp(1, x, 2), rtol=1e-6, atol=0)
    np.testing.assert_allclose(second[:2], -3 / 8 * x[:2], rtol=1e-8)
