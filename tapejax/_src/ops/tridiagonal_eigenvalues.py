"""`tf.linalg.eigh_tridiagonal`: eigenvalues of Hermitian matrices with three diagonals."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, static_ints
from tapejax._src.engine.registry import Array, Same, op, public
from tapejax._src.ops.matrices import in_single
from tapejax._src.ops.selecting import host_value
from tapejax._src.ops.spectral import eigh_of


@op(
    "_eigh_tridiagonal",
    node="SelfAdjointEigV2",
    heavy=True,
    cases=("f64[3], f64[2]", "f64[2,4], f64[2,3]"),
    differs="eigenvectors are unique up to a sign (a phase), so only their products compare",
)
def _eigenpairs(alpha: Same, beta: Same) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of matrices with `alpha` on and `beta` below the diagonal."""
    size = alpha.shape[-1]
    if beta.shape[-1] != max(size - 1, 0) or beta.shape[:-1] != alpha.shape[:-1]:
        raise InvalidArgumentError(
            f"Incompatible shapes: alpha {list(alpha.shape)} needs a beta of one element less, "
            f"got {list(beta.shape)}"
        )
    place = np.arange(size)
    below = place[:-1]
    matrix = jnp.zeros((*alpha.shape, size), alpha.dtype)
    matrix = matrix.at[..., place, place].set(alpha.real.astype(alpha.dtype))
    matrix = matrix.at[..., below + 1, below].set(beta)
    matrix = matrix.at[..., below, below + 1].set(jnp.conj(beta))
    return in_single(eigh_of, matrix)


def _wanted(values: Tensor, select: str, select_range: Any) -> slice:
    """Which of the increasing eigenvalues are selected.

    Raises:
        ValueError: `select_range` is missing.
        InvalidArgumentError: An empty interval, or indices that do not exist.
    """
    if select_range is None:
        raise ValueError(f"select='{select}' needs a `select_range` of two numbers")
    low, high = select_range
    if select == "i":
        first, last, size = static_ints(low), static_ints(high), values.aval.shape[-1]
        if not 0 <= first <= last < size:
            msg = f"select_range ({first}, {last}) does not lie in the {size} eigenvalues"
            raise InvalidArgumentError(msg)
        return slice(first, last + 1)
    known = host_value(values)
    low, high = float(host_value(low)), float(host_value(high))
    if not low < high:
        raise InvalidArgumentError(f"Got empty interval in select_range: ({low}, {high}]")
    first, last = np.searchsorted(known, [low, high], side="right").tolist()
    return slice(first, last)


@public("linalg.eigh_tridiagonal")
def eigh_tridiagonal(
    alpha: Any,
    beta: Any,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    name: str | None = None,
) -> Any:
    """Eigenvalues, and eigenvectors on request, of a Hermitian tridiagonal matrix.

    Args:
        alpha: The main diagonal `[n]`; an imaginary part is not read.
        beta: The diagonal below it `[n - 1]`; the one above is its conjugate.
        eigvals_only: Whether to leave out the eigenvectors.
        select: 'a' for all eigenvalues, 'i' for those with indices from the first to the second
            number of `select_range`, 'v' for those above the first and up to the second.
        select_range: Two numbers.
        tol: Ignored: the values are as precise as the dtype allows.
        name: Ignored.

    Returns:
        The real eigenvalues `[k]`, increasing; without `eigvals_only` also a matrix `[n, k]` whose
        columns are the eigenvectors.

    Raises:
        ValueError: Dtypes that differ or are not floating, or an unknown `select`.
        tf.errors.InvalidArgumentError: Lengths that do not fit, or a wrong `select_range`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.eigh_tridiagonal([2.0, 2.0], [1.0]).numpy().round(3))
        [1. 3.]

    *Differs from TensorFlow*: the gradient is that of the eigenvalues (TensorFlow's is that of its
    bisection, a wrong one), and indices that do not exist are an error.
    """
    alpha, beta = as_tensor(alpha), as_tensor(beta)
    if alpha.dtype != beta.dtype:
        raise ValueError("'alpha' and 'beta' must have the same type.")
    if not (alpha.dtype.is_floating or alpha.dtype.is_complex):
        raise ValueError(f"data type {alpha.dtype.name} not inexact: `alpha` must be floating")
    if select not in ("a", "i", "v"):
        raise ValueError(f"'select must have a value in {{'a', 'i', 'v'}}. Received: {select!r}")
    if select == "v" and len(alpha.shape) != 1:
        raise ValueError(f"select='v' takes one matrix, not a batch of shape {alpha.shape}")
    values, vectors = _eigenpairs(alpha, beta)
    if select != "a":
        wanted = _wanted(values, select, select_range)
        values, vectors = values[..., wanted], vectors[..., wanted]
    return values if eigvals_only else (values, vectors)
