"""`tf.linalg.logm`: the principal logarithm of complex matrices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.engine.registry import Array, Same, op
from tapejax._src.ops.diagonals import diagonal
from tapejax._src.ops.matrices import adjoint, check_matrix

_NEAR = 0.25
_NODES, _WEIGHTS = (array.tolist() for array in np.polynomial.legendre.leggauss(8))
_MOST_ROOTS = 64


def _triangular_root(t: Array) -> Array:
    """The principal square root of an upper triangular matrix, one column after the other."""
    size = t.shape[-1]
    roots = jnp.sqrt(diagonal(t))
    eye, places = jnp.eye(size, dtype=t.dtype), jnp.arange(size)

    def with_column(j: Array, root: Array) -> Array:
        # (root of the columns before + its own root) @ column = the column of t
        system = jnp.where(places[None, :] < j, root, 0) + roots[j] * eye
        known = jnp.where(places < j, t[:, j], 0)
        column = lax.linalg.triangular_solve(system, known[:, None], left_side=True)[:, 0]
        column = jnp.where(places < j, column, jnp.where(places == j, roots[j], 0))
        return root.at[:, j].set(column)

    return lax.fori_loop(0, size, with_column, jnp.zeros_like(t))


def _logarithm_of_triangle(t: Array) -> Array:
    """Square roots until the matrix is near the identity, then a quadrature of the logarithm.

    `log(I + x)` is the integral of `x @ inv(I + s * x)` over s from 0 to 1, and eight points of
    Gauss and Legendre are its Pade approximant of order 8.
    """
    eye = jnp.eye(t.shape[-1], dtype=t.dtype)

    def far(state: tuple[Array, Array]) -> Array:
        distance = jnp.max(jnp.sum(jnp.abs(state[0] - eye), axis=-2))
        return (distance > _NEAR) & (state[1] < _MOST_ROOTS)

    def rooted(state: tuple[Array, Array]) -> tuple[Array, Array]:
        return _triangular_root(state[0]), state[1] + 1

    near, count = lax.while_loop(far, rooted, (t, jnp.zeros((), jnp.int32)))
    x = near - eye
    total = jnp.zeros_like(x)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        system = eye + (node + 1) / 2 * x
        total += weight / 2 * lax.linalg.triangular_solve(system, x, left_side=True)
    return total * jnp.exp2(count.astype(t.real.dtype))


@jax.custom_jvp
def _logarithm(matrix: Array) -> Array:
    triangle, vectors = jax.scipy.linalg.schur(matrix, output="complex")
    return vectors @ _logarithm_of_triangle(triangle) @ adjoint(vectors)


@_logarithm.defjvp
def _logarithm_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    # The tangent t solves the derivative of the exponential, which is the tangent of the matrix:
    # matrix @ phi(ad)(t), a linear system of the n*n elements, with phi(z) = (exp(z) - 1) / z.
    matrix = primals[0]
    logarithm = _logarithm(matrix)
    size = matrix.shape[-1]
    eye, wide = jnp.eye(size, dtype=matrix.dtype), size * size
    right = jnp.einsum("ik,lj->ijkl", eye, logarithm).reshape((wide, wide))
    left = jnp.einsum("ik,jl->ijkl", logarithm, eye).reshape((wide, wide))
    unit = jnp.eye(wide, dtype=matrix.dtype)
    above = jnp.concatenate([right - left, unit], axis=-1)
    both = jnp.concatenate([above, jnp.zeros((wide, 2 * wide), matrix.dtype)], axis=-2)
    phi = jax.scipy.linalg.expm(both)[:wide, wide:]
    system = jnp.einsum("ik,jl->ijkl", matrix, eye).reshape((wide, wide)) @ phi
    column = tangents[0].reshape((wide, 1))
    return logarithm, jnp.linalg.solve(system, column).reshape(matrix.shape)


@op(
    "linalg.logm",
    node="MatrixLogarithm",
    dtypes="complex64 complex128",
    heavy=True,
    cases=("c128[2,2]", "c64[2,2] psd", "c128[2,3,3] psd", "c64[0,2,2]"),
    tol={"c64": 1e-4},
    differs="differentiable; TensorFlow has no gradient",
)
def logm(input: Same, name: str | None = None) -> Array:
    """Principal logarithm of square matrices, the inverse of `tf.linalg.expm`.

    Args:
        input: Complex numbers `[..., n, n]`.
        name: Ignored.

    Returns:
        The logarithms `[..., n, n]`, whose eigenvalues have imaginary parts in (-pi, pi]; not
        finite where a matrix is singular.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square, or real: cast them first.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.logm([[1 + 0j, 2], [0, 1]]).numpy().real)
        [[0. 2.]
         [0. 0.]]

    *Differs from TensorFlow*: differentiable, where TensorFlow has no gradient.

    References:
        Al-Mohy and Higham, Improved inverse scaling and squaring algorithms for the matrix
        logarithm, 2012.
    """
    check_matrix(input, text="Input matrix must be square.")
    if input.size == 0:
        return input
    flat = input.reshape((-1, *input.shape[-2:]))
    return jnp.stack([_logarithm(matrix) for matrix in flat]).reshape(input.shape)
