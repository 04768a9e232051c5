"""Functions of whole matrices: exponential, square root, transposes, diagonals of tensors."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import jax.scipy.linalg

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, op
from tapejax._src.ops import matrices
from tapejax._src.ops.diagonals import diagonal
from tapejax._src.ops.matrices import FLOATING, check_matrix, in_single

_DIAGONALS = "bfloat16 half float double int32 int64 complex64 complex128"


@op(
    "linalg.expm",
    node="MatrixExponential",
    heavy=True,
    cases=("f32[2,2]", "f64[2,3,3]", "c64[2,2]", "f32[0,2,2]"),
    tol={"f32": 1e-4, "c64": 1e-4},
)
def expm(input: Same, name: str | None = None) -> Array:
    """Matrix exponential `I + a + a @ a / 2 + ...` of square matrices.

    Args:
        input: Floats or complex numbers `[..., n, n]`.
        name: Ignored.

    Returns:
        The exponentials `[..., n, n]`, in the dtype of `input`.

    Raises:
        ValueError: Integers.
        tf.errors.InvalidArgumentError: The matrices are not square.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.expm([[0.0, 1.0], [0.0, 0.0]]).numpy())
        [[1. 1.]
         [0. 1.]]
    """
    if not jnp.issubdtype(input.dtype, jnp.inexact) or input.dtype == jnp.bfloat16:
        msg = f"tf.linalg.expm does not support matrices of type <dtype: '{input.dtype.name}'>"
        raise ValueError(msg)
    shapes = f"Matrix size-incompatible: In[0]: {list(input.shape)}, In[1]: {list(input.shape)}"
    check_matrix(input, text=shapes)
    if input.size == 0:
        return input
    return in_single(jax.scipy.linalg.expm, input)


@jax.custom_jvp
def _root(matrix: Array) -> Array:
    """The principal square root of each matrix; NaN where a real matrix has no real one."""
    size = matrix.shape[-1]
    flat = matrix.reshape((-1, size, size))
    roots = jnp.stack([jax.scipy.linalg.sqrtm(x) for x in flat]).reshape(matrix.shape)
    if jnp.iscomplexobj(matrix):
        return roots.astype(matrix.dtype)
    tolerance = size * jnp.finfo(matrix.dtype).eps * jnp.max(jnp.abs(roots), axis=(-2, -1))
    real = jnp.max(jnp.abs(roots.imag), axis=(-2, -1)) <= tolerance
    return jnp.where(real[..., None, None], roots.real, jnp.nan).astype(matrix.dtype)


@_root.defjvp
def _root_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    # The tangent t solves root @ t + t @ root = tangent: a linear system of the n*n elements.
    root = _root(primals[0])
    size = root.shape[-1]
    eye = jnp.eye(size, dtype=root.dtype)
    left = jnp.einsum("...ik,jl->...ijkl", root, eye)
    right = jnp.einsum("ik,...lj->...ijkl", eye, root)
    system = (left + right).reshape((*root.shape[:-2], size * size, size * size))
    column = tangents[0].reshape((*root.shape[:-2], size * size, 1))
    return root, jnp.linalg.solve(system, column).reshape(root.shape)


@op(
    "linalg.sqrtm",
    "matrix_square_root",
    node="MatrixSquareRoot",
    dtypes=FLOATING,
    heavy=True,
    cases=("f64[3,3] psd", "f32[2,2,2] psd"),
    tol={"f32": 1e-4},
)
def sqrtm(input: Same, name: str | None = None) -> Array:
    """Principal square root of square matrices: `root @ root` is the input.

    Args:
        input: Floats or complex numbers `[..., n, n]`.
        name: Ignored.

    Returns:
        The roots `[..., n, n]`, in the dtype of `input`; NaN where a real matrix has no real one.

    Raises:
        tf.errors.InvalidArgumentError: The matrices are not square.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]).numpy())
        [[2. 0.]
         [0. 3.]]
    """
    check_matrix(input)
    return input if input.size == 0 else in_single(_root, input)


def _check_rank(a: Array) -> None:
    if a.ndim < 2:
        msg = (
            "Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` with shape: "
            f"{a.shape}"
        )
        raise ValueError(msg)


@op("linalg.adjoint", node="Transpose", cases=("f32[2,3]", "c64[2,2,3]", "i32[2,3]"))
def adjoint(matrix: Same, name: str | None = None) -> Array:
    """Conjugate transpose of each matrix.

    Args:
        matrix: Numbers `[..., m, n]`.
        name: Ignored.

    Returns:
        The adjoints `[..., n, m]`, in the dtype of `matrix`.

    Raises:
        ValueError: The rank is below 2.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.adjoint([[1.0, 2.0]]).numpy())
        [[1.]
         [2.]]
    """
    _check_rank(matrix)
    return matrices.adjoint(matrix)


@op(
    "linalg.matrix_transpose",
    node="Transpose",
    cases=("f32[2,3]", "c64[2,2,3], conjugate=True", "i32[2,3]", "bool[2,2]"),
)
def matrix_transpose(
    a: Same, name: str | None = "matrix_transpose", conjugate: bool = False
) -> Array:
    """Exchange the last two axes.

    Args:
        a: Values `[..., m, n]`.
        name: Ignored.
        conjugate: Whether to take complex conjugates too.

    Returns:
        The transposes `[..., n, m]`, in the dtype of `a`.

    Raises:
        ValueError: The rank is below 2.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.matrix_transpose([[1.0, 2.0]]).numpy())
        [[1.]
         [2.]]
    """
    _check_rank(a)
    return matrices.adjoint(a) if conjugate else jnp.swapaxes(a, -1, -2)


@op("linalg.tensor_diag", node="Diag", dtypes=_DIAGONALS, cases=("f32[3]", "i32[2,3]", "c64[2]"))
def tensor_diag(diagonal: Same, name: str | None = None) -> Array:
    """The tensor `[s..., s...]` that has `diagonal` where both halves of the index agree.

    Args:
        diagonal: Numbers of shape `s`, of rank at least 1.
        name: Ignored.

    Returns:
        The tensor, zero elsewhere, in the dtype of `diagonal`.

    Raises:
        tf.errors.InvalidArgumentError: A scalar.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.tensor_diag([1, 2]).numpy())
        [[1 0]
         [0 2]]
    """
    if diagonal.ndim == 0:
        raise InvalidArgumentError("Input must be at least rank 1, got 0")
    return jnp.diag(diagonal.reshape(-1)).reshape(diagonal.shape * 2)


@op(
    "linalg.tensor_diag_part",
    node="DiagPart",
    dtypes=_DIAGONALS,
    cases=("f32[3,3]", "i32[2,3,2,3]"),
)
def tensor_diag_part(input: Same, name: str | None = None) -> Array:
    """The elements of a tensor `[s..., s...]` where both halves of the index agree.

    Args:
        input: Numbers whose first half of axes has the sizes of the second half.
        name: Ignored.

    Returns:
        The elements, of shape `s`, in the dtype of `input`.

    Raises:
        tf.errors.InvalidArgumentError: An odd rank, or halves of different sizes.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy())
        [1 4]
    """
    shape = list(input.shape)
    if input.ndim % 2:
        msg = f"The rank of the tensor should be even and positive, got shape {shape}"
        raise InvalidArgumentError(msg)
    half = input.ndim // 2
    for axis in range(half):
        if shape[axis] != shape[axis + half]:
            msg = f"Invalid shape {shape}: dimensions {axis} and {axis + half} do not match."
            raise InvalidArgumentError(msg)
    size = math.prod(shape[:half])
    return diagonal(input.reshape((size, size))).reshape(input.shape[:half])
