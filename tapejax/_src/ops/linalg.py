"""Inverses, determinants and linear systems; matrix exponential and square root."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, TensorLike, ValueCheck, op
from tapejax._src.ops.determinant import determinant
from tapejax._src.ops.factorization import cholesky_factor, triangular_solution
from tapejax._src.ops.matrices import (
    FLOATING,
    adjoint,
    check_matrix,
    diagonal,
    has_zero_pivot,
    in_single,
)

_DET = "half float double complex64 complex128"


def _inverse_is_singular(
    input: Array, adjoint: bool = False, name: str | None = None
) -> tuple[Array]:
    return (has_zero_pivot(input),)


def _system_is_singular(
    matrix: Array, rhs: Array, adjoint: bool = False, name: str | None = None
) -> tuple[Array]:
    return (has_zero_pivot(matrix),)


_flip = adjoint
"""`adjoint` as a function; two public signatures have a parameter of that name."""


@op(
    "linalg.inv",
    node="MatrixInverse",
    dtypes=FLOATING,
    heavy=True,
    check=ValueCheck(_inverse_is_singular, lambda: "Input is not invertible."),
    cases=("f32[3,3] psd", "f64[2,2,2] psd", "c64[2,2], adjoint=True", "f32[0,2,2]"),
    tol={"f32": 1e-4, "c64": 1e-4},
)
def inv(input: Same, adjoint: bool = False, name: str | None = None) -> Array:
    """Inverse of square matrices.

    Args:
        input: Floats or complex numbers `[..., n, n]`.
        adjoint: Whether to invert the conjugate transpose instead.
        name: Ignored.

    Returns:
        The inverses `[..., n, n]`, in the dtype of `input`.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square, or not invertible.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy())
        [[0.5  0.  ]
         [0.   0.25]]
    """
    check_matrix(input)
    return in_single(jnp.linalg.inv, _flip(input) if adjoint else input)


@op(
    "linalg.pinv",
    node="Svd",
    cases=("f32[3,2]", "f64[2,2,3]"),
    heavy=True,
    tol={"f32": 1e-4},
)
def pinv(
    a: Same,
    rcond: TensorLike | None = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Array:
    """Moore-Penrose inverse of matrices of any shape and rank.

    Args:
        a: Floats `[..., m, n]`.
        rcond: Singular values up to `rcond` times the largest one count as 0; `[...]` or a
            scalar, `10 * max(m, n)` times the rounding unit if None.
        validate_args: Ignored: the checks are always made.
        name: Ignored.

    Returns:
        The inverses `[..., n, m]`, in the dtype of `a`.

    Raises:
        TypeError: `a` holds no floats.
        ValueError: The rank is below 2.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.pinv([[2.0], [0.0]]).numpy())
        [[0.5 0. ]]
    """
    if not jnp.issubdtype(a.dtype, jnp.floating):
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.ndim < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {a.ndim}).")

    def inverse(x: Array) -> Array:
        return jnp.linalg.pinv(x, rtol=None if rcond is None else rcond.astype(x.dtype))

    return in_single(inverse, a)


@op(
    "linalg.det",
    node="MatrixDeterminant",
    dtypes=_DET,
    heavy=True,
    cases=("f32[3,3]", "f64[2,2,2]", "f64[4,4]", "f32[0,0]"),
    tol={"f32": 1e-4, "c64": 1e-4},
)
def det(input: Same, name: str | None = None) -> Array:
    """Determinant of square matrices.

    Args:
        input: Floats or complex numbers `[..., n, n]`.
        name: Ignored.

    Returns:
        The determinants `[...]`, in the dtype of `input`.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.det([[2.0, 0.0], [0.0, 4.0]]).numpy())
        8.0

    *Differs from TensorFlow*: the gradient at a singular matrix is the matrix of cofactors, where
    TensorFlow raises.
    """
    check_matrix(input)
    if input.size == 0:
        return jnp.prod(input, axis=(-2, -1))
    return in_single(determinant, input)


class LogMatrixDeterminant(NamedTuple):
    """What `tf.linalg.slogdet` returns: the `sign` and `log_abs_determinant`."""

    sign: Any
    log_abs_determinant: Any


@op(
    "linalg.slogdet",
    node="LogMatrixDeterminant",
    dtypes=_DET,
    heavy=True,
    cases=("f32[3,3]", "f64[2,2,2]", "f64[4,4]", "f32[0,0]"),
    tol={"f32": 1e-4, "c64": 1e-4},
)
def slogdet(input: Same, name: str | None = None) -> LogMatrixDeterminant:
    """Sign and logarithm of the magnitude of the determinant of square matrices.

    Args:
        input: Floats or complex numbers `[..., n, n]`.
        name: Ignored.

    Returns:
        A named tuple `(sign, log_abs_determinant)` of tensors `[...]` in the dtype of `input`; 0
        and -inf for a singular matrix.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square.

    Example:
        >>> import tapejax as tf
        >>> sign, log_size = tf.linalg.slogdet([[0.0, 1.0], [1.0, 0.0]])
        >>> print(sign.numpy(), log_size.numpy())
        -1.0 0.0

    *Differs from TensorFlow*: the sign of a complex determinant (its phase) is differentiable.
    """
    check_matrix(input)

    def parts(matrix: Array) -> tuple[Array, Array]:
        sign, size = jnp.linalg.slogdet(matrix)
        return sign, size.astype(matrix.dtype)

    return LogMatrixDeterminant(*in_single(parts, input))


@op(
    "linalg.logdet",
    node="Cholesky",
    dtypes=FLOATING,
    heavy=True,
    cases=("f32[3,3] psd", "f64[2,3,3] psd"),
    tol={"f32": 1e-4},
)
def logdet(matrix: Same, name: str | None = None) -> Array:
    """Logarithm of the determinant of Hermitian positive definite matrices.

    Args:
        matrix: Floats or complex numbers `[..., n, n]`; the upper triangle is not read.
        name: Ignored.

    Returns:
        The real logarithms `[...]`; NaN for a matrix that is not positive definite.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.logdet([[1.0, 0.0], [0.0, 1.0]]).numpy())
        0.0
    """
    check_matrix(matrix)

    def logarithm(x: Array) -> Array:
        return 2 * jnp.sum(jnp.log(diagonal(cholesky_factor(x)).real), axis=-1)

    return in_single(logarithm, matrix)


def _check_system(matrix: Array, rhs: Array) -> None:
    if matrix.ndim != rhs.ndim:
        msg = (
            "All input tensors must have the same rank. Received: "
            f"matrix {list(matrix.shape)}, rhs {list(rhs.shape)}."
        )
        raise InvalidArgumentError(msg)
    check_matrix(matrix, text="First input (lhs) must be a square matrix.")
    if matrix.shape[:-1] != rhs.shape[:-1]:
        msg = (
            "Input matrix and rhs are incompatible. Received: "
            f"matrix {list(matrix.shape)}, rhs {list(rhs.shape)}."
        )
        raise InvalidArgumentError(msg)


@op(
    "linalg.solve",
    node="MatrixSolve",
    dtypes=FLOATING,
    heavy=True,
    check=ValueCheck(_system_is_singular, lambda: "Input matrix is not invertible."),
    cases=("f32[3,3] psd, f32[3,2]", "f64[2,2,2] psd, f64[2,2,1]", "c64[2,2], c64[2,1], True"),
    tol={"f32": 1e-4, "c64": 1e-4},
)
def solve(matrix: Same, rhs: Same, adjoint: bool = False, name: str | None = None) -> Array:
    """Solve `matrix @ x = rhs` for square matrices.

    Args:
        matrix: Floats or complex numbers `[..., n, n]`.
        rhs: Right-hand sides `[..., n, k]`, of the dtype and the leading axes of `matrix`.
        adjoint: Whether to solve with the conjugate transpose of `matrix` instead.
        name: Ignored.

    Returns:
        The solutions `[..., n, k]`.

    Raises:
        tf.errors.InvalidArgumentError: The shapes do not match, or a matrix is not invertible.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [2.0]]).numpy())
        [[1. ]
         [0.5]]
    """
    _check_system(matrix, rhs)
    return in_single(jnp.linalg.solve, _flip(matrix) if adjoint else matrix, rhs)


@op(
    "linalg.triangular_solve",
    node="MatrixTriangularSolve",
    dtypes="bfloat16 double float half complex64 complex128",
    heavy=True,
    cases=(
        "f32[3,3] psd, f32[3,2]",
        "f64[2,2,2] psd, f64[2,1], lower=False",
        "f64[2,2] psd, f64[3,2,1], adjoint=True",
    ),
    tol={"f32": 1e-4},
)
def triangular_solve(
    matrix: Same,
    rhs: Same,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Array:
    """Solve `matrix @ x = rhs` for triangular matrices; the other triangle is not read.

    Args:
        matrix: Floats or complex numbers `[..., n, n]`.
        rhs: Right-hand sides `[..., n, k]` of the dtype of `matrix`; leading axes broadcast.
        lower: Whether the lower triangle is the one to use.
        adjoint: Whether to solve with the conjugate transpose of `matrix` instead.
        name: Ignored.

    Returns:
        The solutions `[..., n, k]`; infinite or NaN for a zero on the diagonal.

    Raises:
        tf.errors.InvalidArgumentError: The shapes do not match.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.triangular_solve([[2.0, 9.0], [1.0, 4.0]], [[2.0], [5.0]]).numpy())
        [[1.]
         [1.]]
    """
    for place, x in enumerate((matrix, rhs)):
        if x.ndim < 2:
            raise InvalidArgumentError(f"In[{place}] ndims must be >= 2: {x.ndim}")
    rows, columns = matrix.shape[-2:]
    if rows != columns:
        msg = f"In[0] matrices in the last dimensions must be square ({columns} =/= {rows})"
        raise InvalidArgumentError(msg)
    if rows != rhs.shape[-2]:
        msg = (
            f"In[0] mismatch In[1] shape: {rows} vs. {rhs.shape[-2]}: "
            f"{list(matrix.shape)} {list(rhs.shape)}"
        )
        raise InvalidArgumentError(msg)
    _check_batches(matrix, rhs)

    def solution(triangle: Array, right: Array) -> Array:
        return triangular_solution(triangle, right, lower=lower, adjoint_first=adjoint)

    return in_single(solution, matrix, rhs)


def _check_batches(a: Array, b: Array) -> None:
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError as error:
        msg = (
            "In[0] and In[1] must have compatible batch dimensions: "
            f"{list(a.shape)} vs. {list(b.shape)}"
        )
        raise InvalidArgumentError(msg) from error


@op(
    "linalg.cholesky_solve",
    node="MatrixTriangularSolve",
    dtypes="bfloat16 double float half complex64 complex128",
    heavy=True,
    cases=("f32[3,3] psd, f32[3,2]", "f64[2,2,2] psd, f64[2,2,1]"),
    tol={"f32": 1e-4},
)
def cholesky_solve(chol: Same, rhs: Same, name: str | None = None) -> Array:
    """Solve `a @ x = rhs`, given the lower Cholesky factor of `a`.

    Args:
        chol: Lower triangular floats or complex numbers `[..., n, n]`, from `tf.linalg.cholesky`.
        rhs: Right-hand sides `[..., n, k]` of the dtype of `chol`; leading axes broadcast.
        name: Ignored.

    Returns:
        The solutions `[..., n, k]`.

    Raises:
        tf.errors.InvalidArgumentError: The shapes do not match.

    Example:
        >>> import tapejax as tf
        >>> factor = tf.linalg.cholesky([[4.0, 0.0], [0.0, 1.0]])
        >>> print(tf.linalg.cholesky_solve(factor, [[4.0], [3.0]]).numpy())
        [[1.]
         [3.]]
    """
    check_matrix(chol)
    check_matrix(rhs, square=False)
    if chol.shape[-1] != rhs.shape[-2]:
        msg = f"In[0] mismatch In[1] shape: {list(chol.shape)} {list(rhs.shape)}"
        raise InvalidArgumentError(msg)
    _check_batches(chol, rhs)

    def solution(factor: Array, right: Array) -> Array:
        return triangular_solution(factor, triangular_solution(factor, right), adjoint_first=True)

    return in_single(solution, chol, rhs)


def _regularized(gram: Array, weight: Array) -> Array:
    return gram + weight * jnp.eye(gram.shape[-1], dtype=gram.dtype)


def _least_norm_solution(matrix: Array, rhs: Array) -> Array:
    return jnp.linalg.pinv(matrix) @ rhs


def _normal_solution(matrix: Array, rhs: Array, weight: Array) -> Array:
    """Least squares by the normal equations of the smaller side, as TensorFlow does it."""
    flip = adjoint(matrix)
    tall = matrix.shape[-2] >= matrix.shape[-1]
    gram = flip @ matrix if tall else matrix @ flip
    factor = cholesky_factor(_regularized(gram, weight))
    right = flip @ rhs if tall else rhs
    solved = triangular_solution(factor, triangular_solution(factor, right), adjoint_first=True)
    return solved if tall else flip @ solved


@op(
    "linalg.lstsq",
    node="Cholesky",
    dtypes=FLOATING,
    heavy=True,
    cases=(
        "f64[3,2], f64[3,1]",
        "f64[2,3], f64[2,1], f64[] in (0.1, 1)",
        "f64[3,2], f64[3,1], 0.5",
    ),
)
def lstsq(
    matrix: Same,
    rhs: Same,
    l2_regularizer: Same = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Array:
    """Least-squares solution of `matrix @ x = rhs`; that of least norm if there are several.

    Args:
        matrix: Floats or complex numbers `[..., m, n]`.
        rhs: Right-hand sides `[..., m, k]` of the dtype and the leading axes of `matrix`.
        l2_regularizer: Weight of the squared norm of the solution.
        fast: Whether to solve the normal equations, which lose half of the digits and need full
            rank; otherwise the pseudoinverse is used and `l2_regularizer` is ignored.
        name: Ignored.

    Returns:
        The solutions `[..., n, k]`; NaN for a `fast` system of deficient rank.

    Raises:
        tf.errors.InvalidArgumentError: The shapes do not match.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.lstsq([[1.0], [1.0]], [[1.0], [3.0]]).numpy().round(4))
        [[2.]]

    *Differs from TensorFlow*: `fast=False` is differentiable.
    """
    check_matrix(matrix, square=False)
    check_matrix(rhs, square=False)
    if matrix.shape[-2] != rhs.shape[-2] or matrix.shape[:-2] != rhs.shape[:-2]:
        msg = f"Matrix size-incompatible: In[0]: {list(matrix.shape)}, In[1]: {list(rhs.shape)}"
        raise InvalidArgumentError(msg)
    if not fast:
        return in_single(_least_norm_solution, matrix, rhs)
    weight = jnp.asarray(l2_regularizer, matrix.dtype)
    return in_single(_normal_solution, matrix, rhs, weight)
