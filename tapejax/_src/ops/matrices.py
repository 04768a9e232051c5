"""What the matrix ops share: shape checks, triangles, half precision computed in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array
from tapejax._src.ops.diagonals import diagonal

FLOATING = "double float half complex64 complex128"


def check_matrix(x: Array, square: bool = True, text: str = "Input matrix must be square.") -> None:
    """Raise TensorFlow's error unless `x` has matrices on its last two axes.

    Args:
        x: The operand.
        square: Whether they must be square.
        text: TensorFlow's words if they are not.

    Raises:
        InvalidArgumentError: The rank is below 2, or the matrices are not square.
    """
    if x.ndim < 2:
        msg = f"Input tensor 0 must have rank >= 2, got {x.ndim}"
        raise InvalidArgumentError(msg)
    if square and x.shape[-1] != x.shape[-2]:
        raise InvalidArgumentError(f"{text} Received matrices of shape {list(x.shape[-2:])}.")


def adjoint(x: Array) -> Array:
    """The conjugate transpose of each matrix."""
    x = jnp.swapaxes(x, -1, -2)
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


def from_lower(x: Array) -> Array:
    """The Hermitian matrix with the lower triangle of `x` and the real part of its diagonal."""
    below = jnp.tril(x, -1)
    return below + adjoint(below) + jnp.eye(x.shape[-1], dtype=x.dtype) * x.real


def in_single(fn: Callable[..., Any], *operands: Array) -> Any:
    """`fn(*operands)`, computed in float32 and rounded back if the operands are float16.

    The factorizations exist in 32 and 64 bits only.
    """
    dtype = operands[0].dtype
    if dtype not in (jnp.float16, jnp.bfloat16):
        return fn(*operands)
    results = fn(*(lax.convert_element_type(x, jnp.float32) for x in operands))
    if isinstance(results, tuple):
        return tuple(lax.convert_element_type(x, dtype) for x in results)
    return lax.convert_element_type(results, dtype)


def has_zero_pivot(x: Array) -> Array:
    """Whether some matrix has an LU factorization with a zero or NaN on the diagonal."""
    if x.size == 0:
        return jnp.zeros((), bool)
    wide = lax.convert_element_type(x, jnp.float32) if x.dtype == jnp.float16 else x
    pivots = diagonal(lax.linalg.lu(lax.stop_gradient(wide))[0])
    return jnp.any((pivots == 0) | jnp.isnan(pivots))
