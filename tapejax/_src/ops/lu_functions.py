"""What is done with LU factors: solving, multiplying, inverting; and the rank of a matrix."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Index, Same, TensorLike, ValueCheck, op
from tapejax._src.ops.factorization import triangular_solution
from tapejax._src.ops.matrices import FLOATING, in_single
from tapejax._src.ops.spectral import singular_values


def _check_factors(lower_upper: Array, perm: Array) -> None:
    if lower_upper.ndim < 2:
        raise ValueError("Input `lower_upper` must have at least 2 dimensions.")
    if lower_upper.shape[-1] != lower_upper.shape[-2]:
        raise ValueError(f"`lower_upper` must be square, got shape {lower_upper.shape}.")
    if perm.ndim < 1 or perm.shape[-1] != lower_upper.shape[-1]:
        raise InvalidArgumentError(
            f"`perm` of shape {list(perm.shape)} does not number the rows of `lower_upper` of "
            f"shape {list(lower_upper.shape)}"
        )


def _is_no_permutation(lower_upper: Array, perm: Array, *args: Any, **kwargs: Any) -> tuple[Array]:
    expected = jnp.arange(perm.shape[-1] if perm.ndim else 0, dtype=perm.dtype)
    return (jnp.any(jnp.sort(perm, axis=-1) != expected),)


_CHECK = ValueCheck(_is_no_permutation, lambda: "`perm` is not a permutation of the rows")


def _broadcast(x: Array, batch: tuple[int, ...], kept: int) -> Array:
    return jnp.broadcast_to(x, (*batch, *x.shape[x.ndim - kept :]))


def _solved(lower_upper: Array, perm: Array, rhs: Array) -> Array:
    batch = np.broadcast_shapes(lower_upper.shape[:-2], perm.shape[:-1], rhs.shape[:-2])
    rows = _broadcast(perm, batch, 1)[..., None]
    permuted = jnp.take_along_axis(_broadcast(rhs, batch, 2), rows, axis=-2)
    eye = jnp.eye(lower_upper.shape[-1], dtype=lower_upper.dtype)
    lower = jnp.tril(lower_upper, -1) + eye
    return triangular_solution(lower_upper, triangular_solution(lower, permuted), lower=False)


@op(
    "linalg.lu_solve",
    node="MatrixTriangularSolve",
    dtypes=FLOATING,
    heavy=True,
    check=_CHECK,
    cases=(
        "f64[3,3] psd, i32[3] in (0, 3) distinct, f64[3,2]",
        "f32[2,2] psd, i32[2] in (0, 2) distinct, f32[3,2,1]",
        "c128[1,2,2] psd, i32[1,2] in (0, 2) distinct, c128[1,2,1]",
    ),
)
def lu_solve(
    lower_upper: Same,
    perm: Index,
    rhs: Same,
    validate_args: bool = False,
    name: str | None = None,
) -> Array:
    """Solve systems of equations whose matrices were factorized by `tf.linalg.lu`.

    Args:
        lower_upper: The factors in one matrix `[..., n, n]`, as `tf.linalg.lu` returns them.
        perm: The rows in the order they are used `[..., n]`.
        rhs: The right-hand sides `[..., n, k]`.
        validate_args: Ignored: the checks are always made.
        name: Ignored.

    Returns:
        The solutions `[..., n, k]`.

    Raises:
        ValueError: The ranks or sizes do not fit.
        tf.errors.InvalidArgumentError: `perm` is no permutation.

    Example:
        >>> import tapejax as tf
        >>> factors = tf.linalg.lu([[0.0, 2.0], [1.0, 3.0]])
        >>> print(tf.linalg.lu_solve(*factors, [[4.0], [7.0]]).numpy())
        [[1.]
         [2.]]

    *Differs from TensorFlow*: `perm` is always checked.
    """
    _check_factors(lower_upper, perm)
    if rhs.ndim < 2:
        raise ValueError("Input `rhs` must have at least 2 dimensions.")
    if rhs.shape[-2] != lower_upper.shape[-1]:
        raise ValueError(
            "`lower_upper.shape[-1]` must equal `rhs.shape[-2]`, got shapes "
            f"{lower_upper.shape} and {rhs.shape}."
        )
    return in_single(lambda a, b: _solved(a, perm, b), lower_upper, rhs)


@op(
    "linalg.lu_matrix_inverse",
    node="MatrixTriangularSolve",
    dtypes=FLOATING,
    heavy=True,
    check=_CHECK,
    cases=("f64[3,3] psd, i32[3] in (0, 3) distinct", "f32[2,2] psd, i64[2] in (0, 2) distinct"),
)
def lu_matrix_inverse(
    lower_upper: Same, perm: Index, validate_args: bool = False, name: str | None = None
) -> Array:
    """Inverses of matrices that were factorized by `tf.linalg.lu`.

    Args:
        lower_upper: The factors in one matrix `[..., n, n]`, as `tf.linalg.lu` returns them.
        perm: The rows in the order they are used `[..., n]`.
        validate_args: Ignored: the checks are always made.
        name: Ignored.

    Returns:
        The inverses `[..., n, n]`.

    Raises:
        ValueError: The ranks or sizes do not fit.
        tf.errors.InvalidArgumentError: `perm` is no permutation.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[0.0, 2.0], [1.0, 0.0]])).numpy())
        [[0.  1. ]
         [0.5 0. ]]
    """
    _check_factors(lower_upper, perm)

    def inverse(factors: Array) -> Array:
        return _solved(factors, perm, jnp.eye(factors.shape[-1], dtype=factors.dtype))

    return in_single(inverse, lower_upper)


@op(
    "linalg.lu_reconstruct",
    node="MatMul",
    dtypes=FLOATING,
    check=_CHECK,
    cases=(
        "f64[3,3], i32[3] in (0, 3) distinct",
        "f32[2,2], i64[2] in (0, 2) distinct",
        "c64[1,2,2], i32[1,2] in (0, 2) distinct",
    ),
)
def lu_reconstruct(
    lower_upper: Same, perm: Index, validate_args: bool = False, name: str | None = None
) -> Array:
    """The matrices that `tf.linalg.lu` factorized.

    Args:
        lower_upper: The factors in one matrix `[..., n, n]`, as `tf.linalg.lu` returns them.
        perm: The rows in the order they are used `[..., n]`.
        validate_args: Ignored: the checks are always made.
        name: Ignored.

    Returns:
        The matrices `[..., n, n]`.

    Raises:
        ValueError: The ranks or sizes do not fit.
        tf.errors.InvalidArgumentError: `perm` is no permutation.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.lu_reconstruct(*tf.linalg.lu([[0.0, 2.0], [1.0, 3.0]])).numpy())
        [[0. 2.]
         [1. 3.]]
    """
    _check_factors(lower_upper, perm)
    eye = jnp.eye(lower_upper.shape[-1], dtype=lower_upper.dtype)
    product = (jnp.tril(lower_upper, -1) + eye) @ jnp.triu(lower_upper)
    batch = np.broadcast_shapes(product.shape[:-2], perm.shape[:-1])
    back = jnp.argsort(_broadcast(perm, batch, 1), axis=-1)[..., None]
    return jnp.take_along_axis(_broadcast(product, batch, 2), back, axis=-2)


@op(
    "linalg.matrix_rank",
    node="Sum",
    gradient="none",
    cases=(
        "f32[2,3]",
        "f64[2,3,2]",
        "f32[2,2], 1.0",
        "f64[2,3,2], f64[2,1] in (0.5, 1)",
        "f32[0,2]",
    ),
)
def matrix_rank(
    a: TensorLike,
    tol: TensorLike | None = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Array:
    """How many singular values of each matrix are not zero.

    Args:
        a: Floats `[..., m, n]`.
        tol: Singular values up to `tol` count as zero: a scalar, or what broadcasts with them
            (`[..., 1]` for one per matrix). None takes the largest one times `max(m, n)` times the
            rounding unit.
        validate_args: Ignored: the checks are always made.
        name: Ignored.

    Returns:
        The ranks `[...]`, int32.

    Raises:
        TypeError: `a` holds no floats.
        ValueError: The rank of `a` is below 2.

    Example:
        >>> import tapejax as tf
        >>> int(tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]))
        1
    """
    if not jnp.issubdtype(a.dtype, jnp.floating):
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.ndim < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {a.ndim}).")
    values = singular_values(a)
    if tol is None:
        unit = jnp.finfo(a.dtype).eps * max(a.shape[-2:])
        limit = unit * jnp.max(values, axis=-1, keepdims=True, initial=0)
    else:
        limit = tol.astype(values.dtype)
    return jnp.sum(values > limit, axis=-1, dtype=jnp.int32)
