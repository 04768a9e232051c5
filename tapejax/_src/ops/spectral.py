"""Eigenvalues and singular values, with derivatives that stay finite where values repeat."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tapejax._src.engine.registry import Array, Same, op
from tapejax._src.ops.matrices import (
    FLOATING,
    adjoint,
    check_matrix,
    diagonal,
    from_lower,
    in_single,
)


def _inverse_gaps(values: Array, scale: Array) -> Array:
    """`1 / (values[j] - values[i])` at `[i, j]`, and 0 where they agree up to rounding.

    Vectors of equal values are not unique, so their derivative does not exist; 0 keeps what does
    exist (the derivatives of the values themselves) finite.
    """
    gaps = values[..., None, :] - values[..., :, None]
    width = values.shape[-1]
    tolerance = width * jnp.finfo(values.dtype).eps * scale[..., None, None]
    equal = jnp.abs(gaps) <= lax.stop_gradient(tolerance)
    return jnp.where(equal, jnp.zeros_like(gaps), 1 / jnp.where(equal, jnp.ones_like(gaps), gaps))


def _size(values: Array) -> Array:
    return jnp.max(jnp.abs(values), axis=-1, initial=0.0)


@jax.custom_jvp
def eigh_of(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of Hermitian matrices of 32 or 64 bits."""
    vectors, values = lax.linalg.eigh(matrix, symmetrize_input=False)
    return values, vectors


@eigh_of.defjvp
def _eigh_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Any, Any]:
    values, vectors = eigh_of(*primals)
    rotated = adjoint(vectors) @ tangents[0] @ vectors
    mixing = rotated * _inverse_gaps(values, _size(values)).astype(rotated.dtype)
    return (values, vectors), (diagonal(rotated).real, vectors @ mixing)


def _eigh_of_lower(tensor: Array) -> tuple[Array, Array]:
    check_matrix(tensor)

    def factors(matrix: Array) -> tuple[Array, Array]:
        values, vectors = eigh_of(from_lower(matrix))
        return values.astype(matrix.dtype), vectors

    return in_single(factors, tensor)


@op(
    "linalg.eigh",
    node="SelfAdjointEigV2",
    dtypes=FLOATING,
    heavy=True,
    cases=("f32[3,3] psd", "f64[2,3,3] psd"),
    differs="eigenvectors are unique up to a sign (a phase), so only their products compare",
)
def eigh(tensor: Same, name: str | None = None) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of Hermitian matrices, given by their lower triangles.

    The derivative is lower triangular too. Where eigenvalues repeat, the derivatives of the
    vectors do not exist and count as 0.

    Args:
        tensor: Floats or complex numbers `[..., n, n]`; the upper triangle is not read.
        name: Ignored.

    Returns:
        A pair of the dtype of `tensor`: the eigenvalues `[..., n]`, increasing, and the matrices
        `[..., n, n]` whose columns are the eigenvectors.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square.

    Example:
        >>> import tapejax as tf
        >>> values, vectors = tf.linalg.eigh([[2.0, 0.0], [0.0, 1.0]])
        >>> print(values.numpy())
        [1. 2.]
    """
    return _eigh_of_lower(tensor)


@op(
    "linalg.eigvalsh",
    node="SelfAdjointEigV2",
    dtypes=FLOATING,
    heavy=True,
    cases=("f32[3,3] psd", "f64[2,3,3] psd", "c64[2,2]"),
)
def eigvalsh(tensor: Same, name: str | None = None) -> Array:
    """Eigenvalues of Hermitian matrices, given by their lower triangles.

    Args:
        tensor: Floats or complex numbers `[..., n, n]`; the upper triangle is not read.
        name: Ignored.

    Returns:
        The eigenvalues `[..., n]`, increasing, in the dtype of `tensor`.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).numpy())
        [1. 2.]
    """
    return _eigh_of_lower(tensor)[0]


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _svd(matrix: Array, full: bool) -> tuple[Array, Array, Array]:
    left, values, right = lax.linalg.svd(matrix, full_matrices=full)
    return values, left, adjoint(right)


@_svd.defjvp
def _svd_jvp(full: bool, primals: tuple[Array], tangents: tuple[Array]) -> tuple[Any, Any]:
    (matrix,), (tangent,) = primals, tangents
    values, left, right = _svd(matrix, full)
    size = values.shape[-1]
    thin_left, thin_right = left[..., :size], right[..., :size]
    rotated = adjoint(thin_left) @ tangent @ thin_right
    row = values[..., None, :].astype(matrix.dtype)
    column = jnp.swapaxes(row, -1, -2)
    gaps = _inverse_gaps(values * values, _size(values) ** 2).astype(matrix.dtype)
    zero = row == 0
    inverse = jnp.where(zero, jnp.zeros_like(row), 1 / jnp.where(zero, jnp.ones_like(row), row))
    for_left, for_right = rotated * row, column * rotated
    # The phase of a pair of complex vectors is free: all of its change is given to the left one.
    phase = jnp.eye(size, dtype=matrix.dtype) * (rotated - adjoint(rotated)) / 2 * inverse
    turn_left = thin_left @ (gaps * (for_left + adjoint(for_left)) + phase)
    turn_right = thin_right @ (gaps * (for_right + adjoint(for_right)))
    outside_left = tangent @ thin_right
    outside_left = (outside_left - thin_left @ (adjoint(thin_left) @ outside_left)) * inverse
    outside_right = adjoint(tangent) @ thin_left
    outside_right = (outside_right - thin_right @ (adjoint(thin_right) @ outside_right)) * inverse
    tangent_out = (
        diagonal(rotated).real,
        _completed(left, thin_left, turn_left + outside_left),
        _completed(right, thin_right, turn_right + outside_right),
    )
    return (values, left, right), tangent_out


def _completed(vectors: Array, thin: Array, tangent: Array) -> Array:
    """`tangent` of the first columns, with that of the remaining ones, which stay orthogonal."""
    rest = vectors[..., thin.shape[-1] :]
    if rest.shape[-1] == 0:
        return tangent
    return jnp.concatenate([tangent, -thin @ (adjoint(tangent) @ rest)], axis=-1)


def singular_values(matrix: Array) -> Array:
    """The singular values of each matrix, decreasing, as real numbers."""

    def values(x: Array) -> Array:
        return _svd(x, False)[0]

    return in_single(values, matrix)


@op(
    "linalg.svd",
    node="Svd",
    dtypes=FLOATING,
    heavy=True,
    cases=(
        "f64[3,2]",
        "f64[2,2,3]",
        "f64[2,3], full_matrices=True",
    ),
    differs="singular vectors are unique up to a sign (a phase), so only their products compare",
)
def svd(
    tensor: Same,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Array | tuple[Array, Array, Array]:
    """Singular value decomposition `tensor = u @ diag(s) @ adjoint(v)`.

    Where singular values repeat, the derivatives of the vectors do not exist and count as 0.

    Args:
        tensor: Floats or complex numbers `[..., m, n]`; below `p = min(m, n)`.
        full_matrices: Whether `u` and `v` are square, completed by any orthonormal columns.
        compute_uv: Whether to return the vectors too.
        name: Ignored.

    Returns:
        The triple `(s, u, v)`: the real singular values `[..., p]`, decreasing, and matrices
        `[..., m, p]` and `[..., n, p]` (square for `full_matrices`) whose columns are the left
        and right singular vectors; `s` alone without `compute_uv`.

    Raises:
        tf.errors.InvalidArgumentError: The rank is below 2.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False).numpy())
        [4. 3.]

    *Differs from TensorFlow*: `full_matrices` is differentiable for every shape; the completing
    columns turn no more than they must to stay orthogonal.
    """
    check_matrix(tensor, square=False)
    if not compute_uv:
        return singular_values(tensor)

    def factors(matrix: Array) -> tuple[Array, Array, Array]:
        return _svd(matrix, bool(full_matrices))

    return in_single(factors, tensor)


def _complex(x: Array) -> Array:
    dtypes = {"float32": jnp.complex64, "float64": jnp.complex128}
    return x.astype(dtypes.get(x.dtype.name, x.dtype))


def _eig(matrix: Array) -> tuple[Array, Array]:
    values, vectors = lax.linalg.eig(
        _complex(matrix), compute_left_eigenvectors=False, enable_eigvec_derivs=True
    )
    return values, vectors


_EIG = "float double complex64 complex128"


@op(
    "linalg.eig",
    "eig",
    node="Eig",
    dtypes=_EIG,
    heavy=True,
    cases=("f64[2,2]",),
)
def eig(tensor: Same, name: str | None = None) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of square matrices, which need not be Hermitian.

    Args:
        tensor: Floats or complex numbers `[..., n, n]`.
        name: Ignored.

    Returns:
        A pair of complex tensors: the eigenvalues `[..., n]` in no particular order, and the
        matrices `[..., n, n]` whose columns are the eigenvectors, of length 1.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square.

    Example:
        >>> import tapejax as tf
        >>> values, vectors = tf.linalg.eig(tf.constant([[0.0, 1.0], [-1.0, 0.0]]))
        >>> print(abs(values.numpy()))
        [1. 1.]
    """
    check_matrix(tensor)
    return _eig(tensor)


@op(
    "linalg.eigvals",
    "eigvals",
    node="Eig",
    dtypes=_EIG,
    heavy=True,
    cases=("f64[2,2]",),
)
def eigvals(tensor: Same, name: str | None = None) -> Array:
    """Eigenvalues of square matrices, which need not be Hermitian.

    Args:
        tensor: Floats or complex numbers `[..., n, n]`.
        name: Ignored.

    Returns:
        The complex eigenvalues `[..., n]` in no particular order.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square.

    Example:
        >>> import tapejax as tf
        >>> print(abs(tf.linalg.eigvals(tf.constant([[0.0, 1.0], [-1.0, 0.0]])).numpy()))
        [1. 1.]
    """
    check_matrix(tensor)
    return _eig(tensor)[0]
