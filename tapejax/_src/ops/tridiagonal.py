"""Matrices with few diagonals: products, systems of equations, eigenvalues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import Array, Same, SameList, ValueCheck, op, public
from tapejax._src.ops.diagonals import diagonal
from tapejax._src.ops.factorization import triangular_solution

_DTYPES = "double float complex64 complex128"
_FORMATS = ("compact", "sequence", "matrix")


def _check_format(diagonals_format: Any) -> None:
    if diagonals_format not in _FORMATS:
        msg = f"Unrecognized diagonals_format: {diagonals_format}. Use one of {_FORMATS}."
        raise ValueError(msg)


def _as_list(diagonals: Any, diagonals_format: str) -> list[Any]:
    """The tensors that the diagonals are given by: three for 'sequence', else one."""
    if diagonals_format != "sequence":
        return [as_tensor(diagonals)]
    if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:  # pyright: ignore[reportUnknownArgumentType]  a list of anything
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    return list(diagonals)  # pyright: ignore[reportUnknownArgumentType]


def _lengthened(x: Array, name: str, size: int, at_end: bool) -> Array:
    """A diagonal beside the main one with a zero in the place of its missing element."""
    if x.shape[-1] == size:
        return x
    if x.shape[-1] != size - 1:
        raise ValueError(
            f"Expected {name} to be have length {size} or {size - 1}, got {x.shape[-1]}."
        )
    edges = [(0, 0, 0)] * (x.ndim - 1) + [(0, 1, 0) if at_end else (1, 0, 0)]
    return lax.pad(x, jnp.zeros((), x.dtype), edges)


def _stacked(diagonals: Sequence[Array], diagonals_format: str) -> Array:
    """The diagonals above, on and below the main one `[..., 3, m]`; the unused corners are 0.

    Raises:
        ValueError: The shapes do not make a tridiagonal matrix.
    """
    if diagonals_format == "sequence":
        above, main, below = diagonals
        if not above.shape[:-1] == main.shape[:-1] == below.shape[:-1]:
            shapes = ", ".join(str(x.shape) for x in (below, main, above))
            msg = "Tensors representing the three diagonals must have the same shape, "
            raise ValueError(f"{msg}except for the last dimension, got {shapes}")
        size = main.shape[-1]
        above = _lengthened(above, "superdiagonal", size, True)
        below = _lengthened(below, "subdiagonal", size, False)
        bands = jnp.stack([above, main, below], axis=-2)
    else:
        bands = diagonals[0]
        if bands.ndim < 2:
            raise ValueError(f"Expected diagonals to have rank at least 2, got {bands.ndim}")
        rows, size = bands.shape[-2:]
        if diagonals_format == "matrix":
            if rows != size:
                msg = "Expected last two dimensions of diagonals to be same, got "
                raise ValueError(f"{msg}{size} and {rows}")
            above = _lengthened(diagonal(bands, 1), "superdiagonal", size, True)
            below = _lengthened(diagonal(bands, -1), "subdiagonal", size, False)
            bands = jnp.stack([above, diagonal(bands), below], axis=-2)
        elif rows != 3:
            raise ValueError(f"Expected 3 diagonals got {rows}")
    used = np.ones((3, size), bool)
    used[0, -1:] = used[2, :1] = False
    return jnp.where(jnp.asarray(used), bands, jnp.zeros_like(bands))


@op(
    "_tridiagonal_matmul",
    node="TridiagonalMatMul",
    dtypes=_DTYPES,
    cases=("[f64[3,4]], f64[4,2], 'compact'", "[c128[2,3,3]], c128[2,3,1], 'matrix'"),
)
def _product(diagonals: SameList, rhs: Same, diagonals_format: str) -> Array:
    """The product of tridiagonal matrices with matrices."""
    bands = _stacked(diagonals, diagonals_format)
    if rhs.ndim != bands.ndim:
        msg = f"All input tensors must have the same rank. Received: {bands.shape}, {rhs.shape}"
        raise InvalidArgumentError(msg)
    if bands.shape[:-2] != rhs.shape[:-2] or bands.shape[-1] != rhs.shape[-2]:
        msg = f"Invalid superdiagonal shape. Diagonals {bands.shape} do not fit rhs {rhs.shape}."
        raise InvalidArgumentError(msg)
    above, main, below = (bands[..., row, :, None] for row in range(3))
    size = rhs.shape[-2]
    shifted = _shifted(rhs, 1, size), _shifted(rhs, -1, size)
    return main * rhs + above * shifted[0] + below * shifted[1]


def _shifted(x: Array, by: int, size: int) -> Array:
    """The rows of `x` moved up by one (down for -1), a row of zeros moved in."""
    row = jnp.zeros((*x.shape[:-2], min(size, 1), x.shape[-1]), x.dtype)
    parts = [x[..., 1:, :], row] if by > 0 else [row, x[..., :-1, :]]
    return jnp.concatenate(parts, axis=-2)


@public("linalg.tridiagonal_matmul")
def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Any:
    """The product of tridiagonal matrices with matrices.

    Args:
        diagonals: `[..., 3, m]` for 'compact': the diagonals above, on and below the main one,
            where `[..., 0, m - 1]` and `[..., 2, 0]` are not read; a list of these three for
            'sequence', where the first and the last may have `m - 1` elements; `[..., m, m]` for
            'matrix', of which nothing else is read.
        rhs: Matrices `[..., m, n]`.
        diagonals_format: 'compact', 'sequence' or 'matrix'.
        name: Ignored.

    Returns:
        The products `[..., m, n]`.

    Raises:
        ValueError: An unknown format, or shapes that make no tridiagonal matrix.
        tf.errors.InvalidArgumentError: The shapes do not multiply.

    Example:
        >>> import tapejax as tf
        >>> diagonals = tf.constant([[1.0, 0.0], [2.0, 3.0], [0.0, 4.0]])
        >>> print(tf.linalg.tridiagonal_matmul(diagonals, tf.eye(2)).numpy())
        [[2. 1.]
         [4. 3.]]
    """
    _check_format(diagonals_format)
    return _product(_as_list(diagonals, diagonals_format), rhs, diagonals_format)


def _check_system(bands: Array, rhs: Array) -> None:
    rank = bands.ndim
    if rhs.ndim not in (rank, rank - 1):
        msg = f"Expected the rank of rhs to be {rank - 1} or {rank}, got {rhs.ndim}"
        raise ValueError(msg)
    if bands.shape[:-2] != rhs.shape[: rank - 2]:
        msg = f"Batch shapes {bands.shape[:-2]} and {rhs.shape[: rank - 2]} are incompatible"
        raise ValueError(msg)


@op(
    "_tridiagonal_solve",
    node="TridiagonalSolve",
    dtypes=_DTYPES,
    heavy=True,
    cases=(
        "[f64[3,4] in (1, 2)], f64[4,2], 'compact', False, False, False",
        "[c128[2,3,3] psd], c128[2,3], 'matrix', False, True, False",
    ),
)
def _solution(
    diagonals: SameList,
    rhs: Same,
    diagonals_format: str,
    transpose_rhs: bool,
    conjugate_rhs: bool,
    perturb_singular: bool,
) -> Array:
    """The solution of tridiagonal systems, with pivoting."""
    bands = _stacked(diagonals, diagonals_format)
    _check_system(bands, rhs)
    is_vector = rhs.ndim == bands.ndim - 1
    if is_vector:
        rhs = rhs[..., None]
    elif transpose_rhs:
        rhs = jnp.swapaxes(rhs, -1, -2)
    rhs = jnp.conj(rhs) if conjugate_rhs else rhs
    if bands.shape[-1] != rhs.shape[-2]:
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{bands.shape[-1]} and {rhs.shape[-2]}"
        )
    if rhs.size == 0:
        x = rhs
    else:
        above, main, below = (bands[..., row, :] for row in range(3))
        x = lax.linalg.tridiagonal_solve(below, main, above, rhs, perturb_singular=perturb_singular)
    return x[..., 0] if is_vector else x


@public("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Any:
    """The solution of systems of equations with tridiagonal matrices.

    Args:
        diagonals: As for `tf.linalg.tridiagonal_matmul`.
        rhs: The right-hand sides `[..., m]` or `[..., m, n]`.
        diagonals_format: 'compact', 'sequence' or 'matrix'.
        transpose_rhs: Whether to transpose the last two axes of `rhs` first.
        conjugate_rhs: Whether to conjugate `rhs` first.
        name: Ignored.
        partial_pivoting: Ignored: rows are exchanged where it helps.
        perturb_singular: Whether singular systems get a finite solution, of a matrix changed by
            about its rounding error.

    Returns:
        The solutions, of the shape of `rhs`; NaN or infinite where the matrix is singular.

    Raises:
        ValueError: An unknown format, shapes that do not fit, or `perturb_singular` without
            `partial_pivoting`.

    Example:
        >>> import tapejax as tf
        >>> diagonals = tf.constant([[1.0, 0.0], [2.0, 3.0], [0.0, 4.0]])
        >>> print(tf.linalg.tridiagonal_solve(diagonals, tf.constant([4.0, 10.0])).numpy())
        [1. 2.]
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is.")
    _check_format(diagonals_format)
    tensors = _as_list(diagonals, diagonals_format)
    flags = bool(transpose_rhs), bool(conjugate_rhs), bool(perturb_singular)
    return _solution(tensors, rhs, diagonals_format, *flags)


def _from_bands(bands: Array, lower: bool) -> Array:
    """Triangular matrices whose element `[i, i - k]` (`[i, i + k]`) is stored at column `i`."""
    count, size = bands.shape[-2:]
    matrix = jnp.zeros((*bands.shape[:-2], size, size), bands.dtype)
    for k in range(min(count, size)):
        rows = np.arange(k, size) if lower else np.arange(size - k)
        columns = rows - k if lower else rows + k
        band = bands[..., k if lower else count - 1 - k, :]
        matrix = matrix.at[..., rows, columns].set(band[..., rows])
    return matrix


def _has_zero(bands: Array, rhs: Array, lower: bool = True, *args: Any, **kw: Any) -> tuple[Array]:
    if bands.ndim < 2 or bands.size == 0:
        return (jnp.zeros((), bool),)
    return (jnp.any(bands[..., 0 if lower else -1, :] == 0),)


@op(
    "linalg.banded_triangular_solve",
    node="BandedTriangularSolve",
    dtypes="double float half complex64 complex128",
    heavy=True,
    check=ValueCheck(_has_zero, lambda: "Input matrix is not invertible."),
    cases=(
        "f32[2,3] in (1, 2), f32[3,2]",
        "f64[3,4] in (1, 2), f64[4,1], lower=False",
        "c128[2,3] in (1, 2), c128[2,3,1], True, True",
        "f64[2,2,3] in (1, 2), f64[3,1], False, True",
    ),
)
def banded_triangular_solve(
    bands: Same, rhs: Same, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Array:
    """The solution of systems of equations with triangular matrices that have few diagonals.

    Args:
        bands: The diagonals `[..., k, m]`. Lower ones start with the main one, and row `i` of the
            matrix takes its elements from column `i`; upper ones end with the main one.
        rhs: The right-hand sides `[..., m, n]`.
        lower: Whether the matrices are lower triangular.
        adjoint: Whether to solve with the conjugate transposes.
        name: Ignored.

    Returns:
        The solutions `[..., m, n]`.

    Raises:
        tf.errors.InvalidArgumentError: The shapes do not fit, or there is a zero on a main
            diagonal.

    Example:
        >>> import tapejax as tf
        >>> bands = [[2.0, 4.0], [0.0, 1.0]]
        >>> print(tf.linalg.banded_triangular_solve(bands, [[2.0], [9.0]]).numpy())
        [[1.]
         [2.]]
    """
    for place, x in enumerate((bands, rhs)):
        if x.ndim < 2:
            raise InvalidArgumentError(f"In[{place}] ndims must be >= 2: {x.ndim}")
    if bands.shape[-2] == 0:
        raise InvalidArgumentError(f"In[0] must not be an empty tensor: shape {bands.shape}")
    size = bands.shape[-1]
    if size != rhs.shape[-2]:
        shapes = f"{size} vs. {rhs.shape[-2]}: {list(bands.shape)} {list(rhs.shape)}"
        raise InvalidArgumentError(f"In[0] mismatch In[1] shape: {shapes}")
    return triangular_solution(_from_bands(bands, lower), rhs, lower, adjoint)
