"""The determinant, differentiable at singular matrices too."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from tapejax._src.engine.registry import Array
from tapejax._src.ops.matrices import diagonal

_CLOSED_FORM = 3
"""Largest size for which `jnp.linalg.det` is a polynomial, exact to every order."""


def determinant(matrix: Array) -> Array:
    """The determinants of square matrices of 32 or 64 bits."""
    if matrix.shape[-1] <= _CLOSED_FORM:
        return jnp.linalg.det(matrix)
    return _determinant(matrix)


@jax.custom_jvp
def _determinant(matrix: Array) -> Array:
    return jnp.linalg.det(matrix)


@_determinant.defjvp
def _determinant_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    adjugate = _adjugate(primals[0])
    slope = jnp.sum(adjugate * jnp.swapaxes(tangents[0], -1, -2), axis=(-2, -1))
    return _determinant(primals[0]), slope


def _adjugate(matrix: Array) -> Array:
    """`det(matrix) * inv(matrix)`, by a polynomial where some matrix has no inverse."""
    pivots = jnp.abs(diagonal(lax.linalg.lu(lax.stop_gradient(matrix))[0]))
    tiny = matrix.shape[-1] * jnp.finfo(matrix.dtype).eps * jnp.max(pivots, axis=-1)
    singular = jnp.min(pivots, axis=-1) <= tiny
    eye = jnp.broadcast_to(jnp.eye(matrix.shape[-1], dtype=matrix.dtype), matrix.shape)
    regular = jnp.where(singular[..., None, None], eye, matrix)
    inverse = jnp.linalg.inv(regular) * _determinant(regular)[..., None, None]

    def mixed(at: Array) -> Array:
        return jnp.where(singular[..., None, None], _polynomial_adjugate(at), inverse)

    return lax.cond(jnp.any(singular), mixed, lambda at: inverse, matrix)


def _polynomial_adjugate(matrix: Array) -> Array:
    """The adjugate by the recursion of Faddeev and LeVerrier: products, sums and traces only."""
    size = matrix.shape[-1]
    eye = jnp.eye(size, dtype=matrix.dtype)

    def step(power: Array, order: Array) -> tuple[Array, None]:
        product = matrix @ power
        trace = jnp.sum(diagonal(product), axis=-1)[..., None, None]
        return product - trace / order * eye, None

    start = jnp.broadcast_to(eye, matrix.shape)
    orders = jnp.arange(1, size).astype(matrix.dtype)
    last, _ = lax.scan(step, start, orders)
    return last if size % 2 else -last
