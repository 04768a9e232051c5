"""Factorizations of matrices: Cholesky, QR and LU."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core import dtypes
from tapejax._src.engine.registry import Array, DTypeLike, Same, ValueCheck, op
from tapejax._src.ops.matrices import (
    FLOATING,
    adjoint,
    check_matrix,
    from_lower,
    has_zero_pivot,
    in_single,
)
from tapejax._src.ops.selection import as_numpy, check_index_dtype


def triangular_solution(
    triangle: Array, rhs: Array, lower: bool = True, adjoint_first: bool = False
) -> Array:
    """Solve with triangular matrices, broadcasting leading axes; the other triangle is not read."""
    batch = np.broadcast_shapes(triangle.shape[:-2], rhs.shape[:-2])
    return lax.linalg.triangular_solve(
        jnp.broadcast_to(triangle, (*batch, *triangle.shape[-2:])),
        jnp.broadcast_to(rhs, (*batch, *rhs.shape[-2:])),
        left_side=True,
        lower=lower,
        transpose_a=adjoint_first,
        conjugate_a=adjoint_first and jnp.iscomplexobj(triangle),
    )


@jax.custom_jvp
def cholesky_factor(matrix: Array) -> Array:
    """The lower factor of Hermitian matrices; only their lower triangle is read.

    The derivative is TensorFlow's: that of the factor of `(matrix + adjoint(matrix)) / 2`, so
    gradients are symmetric.
    """
    return jnp.tril(lax.linalg.cholesky(from_lower(matrix), symmetrize_input=False))


@cholesky_factor.defjvp
def _cholesky_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    factor = cholesky_factor(primals[0])
    tangent = (tangents[0] + adjoint(tangents[0])) / 2
    half_solved = triangular_solution(factor, tangent)
    solved = adjoint(triangular_solution(factor, adjoint(half_solved)))
    halved = jnp.tril(solved) - jnp.eye(solved.shape[-1], dtype=solved.dtype) * solved / 2
    return factor, factor @ halved


@op(
    "linalg.cholesky",
    node="Cholesky",
    dtypes=FLOATING,
    heavy=True,
    cases=("f32[3,3] psd", "f64[2,3,3] psd", "f32[0,0]"),
)
def cholesky(input: Same, name: str | None = None) -> Array:
    """Lower triangular `l` with `l @ adjoint(l)` equal to a positive definite matrix.

    Gradients are symmetric although the upper triangle is not read.

    Args:
        input: Floats or complex numbers `[..., n, n]`, Hermitian; the upper triangle is not read.
        name: Ignored.

    Returns:
        The factors `[..., n, n]`, in the dtype of `input`; NaN in the lower triangle of a matrix
        that is not positive definite.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy())
        [[2. 0.]
         [1. 2.]]
    """
    check_matrix(input)
    return in_single(cholesky_factor, input)


class Qr(NamedTuple):
    """What `tf.linalg.qr` returns: orthonormal columns `q` and upper triangular `r`."""

    q: Any
    r: Any


@op(
    "linalg.qr",
    node="Qr",
    dtypes=FLOATING,
    heavy=True,
    cases=("f32[3,2]", "f64[2,3,3]", "f64[2,3]", "f64[2,3], full_matrices=True"),
)
def qr(input: Same, full_matrices: bool = False, name: str | None = None) -> Qr:
    """`q @ r` with orthonormal columns of `q` and upper triangular `r`.

    Args:
        input: Floats or complex numbers `[..., m, n]`; below `p = min(m, n)`.
        full_matrices: Whether `q` is square.
        name: Ignored.

    Returns:
        A named tuple `(q, r)` of shapes `[..., m, p]` and `[..., p, n]`, or `[..., m, m]` and
        `[..., m, n]` for `full_matrices`.

    Raises:
        tf.errors.InvalidArgumentError: The rank is below 2.

    Example:
        >>> import tapejax as tf
        >>> q, r = tf.linalg.qr([[1.0, 2.0], [0.0, 3.0]])
        >>> print(abs((q @ r).numpy()))
        [[1. 2.]
         [0. 3.]]
    """
    check_matrix(input, square=False)

    def factors(matrix: Array) -> tuple[Array, Array]:
        q, r = lax.linalg.qr(matrix, full_matrices=bool(full_matrices))
        return q, r

    return Qr(*in_single(factors, input))


class Lu(NamedTuple):
    """What `tf.linalg.lu` returns: both triangles in `lu`, and the row permutation `p`."""

    lu: Any
    p: Any


def _is_singular(input: Array, *args: Any, **kwargs: Any) -> tuple[Array]:
    return (has_zero_pivot(input),)


@op(
    "linalg.lu",
    node="Lu",
    dtypes=FLOATING,
    gradient="lookup",
    check=ValueCheck(_is_singular, lambda: "Input is not invertible."),
    cases=("f32[3,3]", "f64[2,3,3]", "f32[2,2], output_idx_type=tf.int64"),
)
def lu(input: Same, output_idx_type: DTypeLike = dtypes.int32, name: str | None = None) -> Lu:
    """Triangular factors of square matrices whose rows are permuted.

    Args:
        input: Floats or complex numbers `[..., n, n]`.
        output_idx_type: DType of the permutation: int32 or int64.
        name: Ignored.

    Returns:
        A named tuple `(lu, p)`: the lower factor (its unit diagonal left out) and the upper one
        in one matrix `[..., n, n]`, and the rows of `input` in the order they are used `[..., n]`.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square, or not invertible.

    Example:
        >>> import tapejax as tf
        >>> factors, rows = tf.linalg.lu([[0.0, 2.0], [1.0, 3.0]])
        >>> print(factors.numpy(), rows.numpy())
        [[1. 3.]
         [0. 2.]] [1 0]
    """
    check_matrix(input)
    dtype = as_numpy(output_idx_type)
    check_index_dtype("output_idx_type", dtype, "int32, int64")
    wide = input.astype(jnp.float32) if input.dtype == jnp.float16 else input
    factors, _, rows = lax.linalg.lu(wide)
    return Lu(factors.astype(input.dtype), rows.astype(dtype))
