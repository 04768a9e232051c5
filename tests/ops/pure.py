"""Derivatives of the pure body of an op, in TensorFlow's convention for complex numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tensorflow

Function = Callable[..., Any]


def body(public_function: Any) -> Function:
    """The pure function of arrays behind an op."""
    return public_function.op.fn


def arrays(values: Sequence[Any], dtype: Any = np.float64) -> list[jax.Array]:
    """Each value as a jax array of one dtype."""
    with jax.enable_x64(True):
        return [jnp.asarray(value, dtype) for value in values]


def value(fn: Function, *values: Any, dtype: Any = np.float64) -> np.ndarray:
    """The function of arrays made of the values."""
    with jax.enable_x64(True):
        return np.asarray(fn(*arrays(values, dtype)))


def gradients(
    fn: Function, *values: Any, order: int = 1, dtype: Any = np.float64, seed: float = 1.0
) -> list[np.ndarray]:
    """Gradient of the sum of all outputs for each argument; `order` 2 sums and repeats."""
    with jax.enable_x64(True):
        derivative = fn
        for _ in range(order):
            derivative = _gradient(derivative, seed)
        return [np.asarray(g) for g in derivative(*arrays(values, dtype))]


def _gradient(fn: Function, seed: float) -> Function:
    def of(*primals: jax.Array) -> Any:
        out, pull = jax.vjp(fn, *primals)
        cotangents = jax.tree.map(lambda y: jnp.full_like(y, seed), out)
        return jax.tree.map(jnp.conj, pull(cotangents))

    return of


def pushforward(fn: Function, values: Sequence[Any], tangents: Sequence[Any]) -> np.ndarray:
    """Forward mode along the tangents."""
    with jax.enable_x64(True):
        return np.asarray(jax.jvp(fn, tuple(arrays(values)), tuple(arrays(tangents)))[1])


def tensorflow_gradients(
    fn: Function, *values: Any, order: int = 1, dtype: Any = np.float64, seed: float = 1.0
) -> list[np.ndarray]:
    """What `gradients` computes, by TensorFlow's tapes; None counts as zeros."""
    primals = [tensorflow.constant(value, dtype) for value in values]
    zero = tensorflow.UnconnectedGradients.ZERO

    def derivative(level: int) -> Any:
        if level == 0:
            return fn(*primals)
        with tensorflow.GradientTape() as tape:
            tape.watch(primals)
            target = derivative(level - 1)
        seeds = tensorflow.nest.map_structure(lambda y: seed * tensorflow.ones_like(y), target)
        return tape.gradient(target, primals, output_gradients=seeds, unconnected_gradients=zero)

    return [gradient.numpy() for gradient in derivative(order)]


def assert_same_gradients(
    ours: Function, theirs: Function, *values: Any, orders: Sequence[int] = (1, 2)
) -> None:
    """Both functions have equal values and equal derivatives of the given orders."""
    expected = theirs(*[tensorflow.constant(v, tensorflow.float64) for v in values]).numpy()
    np.testing.assert_allclose(value(ours, *values), expected, rtol=1e-12, atol=1e-300)
    for order in orders:
        mine = gradients(ours, *values, order=order)
        for place, theirs_at in enumerate(tensorflow_gradients(theirs, *values, order=order)):
            what = f"order {order}, argument {place}"
            np.testing.assert_allclose(
                mine[place], theirs_at, rtol=1e-10, atol=1e-300, err_msg=what
            )
