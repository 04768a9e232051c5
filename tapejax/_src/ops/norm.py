"""Norms of vectors and matrices, and normalization by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, op, public
from tapejax._src.ops import derivatives, spectral
from tapejax._src.ops.reduction import largest, reduced_axes, total
from tapejax._src.ops.spread import euclidean_length

_MATRIX_ORDERS = ("euclidean", "fro", 1, 2, np.inf)
_SQRT = "bfloat16, half, float, double, complex64, complex128"


def _pair(axis: StaticInts | None) -> tuple[int, int] | None:
    """The two axes of a matrix norm, or None for a vector norm."""
    if axis is None or isinstance(axis, int | np.integer):
        return None
    axes = tuple(axis)
    if len(axes) != 2 or axes[0] == axes[1]:
        msg = f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
        raise ValueError(msg)
    return axes[0], axes[1]


def _check_order(order: Any, matrix: bool) -> None:
    if matrix and order not in _MATRIX_ORDERS:
        msg = (
            f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {order}"
        )
        raise ValueError(msg)
    if order is None:
        raise TypeError("'<=' not supported between instances of 'NoneType' and 'int': ord is None")
    number = isinstance(order, int | float | np.number)
    if not matrix and order != "euclidean" and (not number or order <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {order}")


def _magnitude(x: Array) -> Array:
    """Absolute values as real numbers; the derivative at 0 is 0."""
    if not jnp.iscomplexobj(x):
        return x * lax.stop_gradient(jnp.sign(x))
    squares = x.real * x.real + x.imag * x.imag
    zero = squares == 0
    root = jnp.sqrt(jnp.where(zero, jnp.ones_like(squares), squares))
    return jnp.where(zero, jnp.zeros_like(squares), root)


def _refuse_integers(x: Array) -> None:
    if jnp.issubdtype(x.dtype, jnp.integer):
        msg = f"Value for attr 'T' of {x.dtype.name} is not in the list of allowed values: {_SQRT}"
        raise InvalidArgumentError(msg)


def _power_sum(x: Array, order: float, axes: tuple[int, ...]) -> Array:
    """`sum(abs(x)**order) ** (1 / order)`."""
    powers = total(jnp.power(_magnitude(x), order), axes, keepdims=True)
    return jnp.power(powers, 1 / order)


def _matrix_norm(x: Array, order: Any, axes: tuple[int, int]) -> Array:
    """A matrix norm over two axes, which stay with length 1."""
    rows, columns = axes
    if order == 2:
        matrix = jnp.moveaxis(x, axes, (-2, -1))
        values = spectral.singular_values(matrix)
        peak = largest(values, (values.ndim - 1,), keepdims=False)
        return jnp.expand_dims(peak, axes)
    summed, compared = (rows, columns) if order == 1 else (columns, rows)
    return largest(total(_magnitude(x), (summed,), keepdims=True), (compared,), keepdims=True)


def kept_norm(x: Array, order: Any, axis: StaticInts | None) -> Array:
    """The norm of `x` over `axis`, whose axes stay with length 1."""
    pair = _pair(axis)
    _check_order(order, pair is not None)
    axes = reduced_axes(axis, x.ndim)
    if order in ("euclidean", "fro") or (order == 2 and pair is None):
        _refuse_integers(x)
        return euclidean_length(x, axes, keepdims=True)
    if pair is not None:
        return _matrix_norm(x, order, (pair[0] % x.ndim, pair[1] % x.ndim))
    if order == np.inf:
        return largest(_magnitude(x), axes, keepdims=True)
    if order == 1:
        return total(_magnitude(x), axes, keepdims=True)
    return _power_sum(x, float(order), axes)


@op(
    "norm",
    "linalg.norm",
    node="Sqrt",
    cases=(
        "f32[2,3]",
        "f64[2,3], axis=-1",
        "f32[2,3], ord=1, axis=1, keepdims=True",
        "f32[2,3], ord=3, axis=0",
        'f64[2,3], ord="fro", axis=[0, 1]',
        "f64[2,3], ord=2, axis=[-2, -1]",
        "f32[2,3,4], ord=1, axis=[0, 2]",
        "c64[3]",
    ),
)
def norm(
    tensor: Same,
    ord: Any = "euclidean",
    axis: StaticInts | None = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Array:
    """Norm of vectors or matrices.

    The derivative of the Euclidean norm at the origin is NaN, or 0 for a zero cotangent.

    Args:
        tensor: Floats or complex numbers `[...]`.
        ord: "euclidean", a positive number p or inf for vectors; "euclidean", "fro", 1, 2 or
            inf for matrices.
        axis: An integer: norms of the vectors along that axis; two integers: norms of the
            matrices on those axes; None: the norm of all elements as one vector.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        The norms, in the dtype of `tensor` (complex with imaginary part 0 for the Euclidean norm
        of complex numbers, real for the others).

    Raises:
        ValueError: `ord` or `axis` has no such form.
        tf.errors.InvalidArgumentError: An axis out of range, or integers where a root is taken.

    Example:
        >>> import tapejax as tf
        >>> print(tf.norm([[3.0, 4.0], [6.0, 8.0]], axis=1).numpy())
        [ 5. 10.]
    """
    result = kept_norm(tensor, ord, axis)
    return result if keepdims else jnp.squeeze(result, reduced_axes(axis, tensor.ndim))


@op(
    "linalg.normalize",
    node="Sqrt",
    cases=(
        "f32[2,3]",
        "f64[2,3], axis=-1",
        "f32[2,3], ord=1, axis=1",
        "c64[3]",
    ),
)
def normalize(
    tensor: Same,
    ord: Any = "euclidean",
    axis: StaticInts | None = None,
    name: str | None = None,
) -> tuple[Array, Array]:
    """`tensor` divided by its norm, and the norm; NaN where the norm is 0.

    Args:
        tensor: Floats or complex numbers `[...]`.
        ord: The order of the norm, as in `tf.norm`.
        axis: The axes of the norm, as in `tf.norm`.
        name: Ignored.

    Returns:
        A pair: the quotients, of the shape and dtype of `tensor`, and the norms with the reduced
        axes kept as axes of length 1.

    Raises:
        ValueError: `ord` or `axis` has no such form.

    Example:
        >>> import tapejax as tf
        >>> direction, length = tf.linalg.normalize([3.0, 4.0])
        >>> print(direction.numpy(), length.numpy())
        [0.6 0.8] [5.]
    """
    size = kept_norm(tensor, ord, axis).astype(tensor.dtype)
    return tensor / size, size


@op(
    "_l2_normalize",
    node="Rsqrt",
    cases=(
        "f32[2,3], f32[] in (0, 1e-3)",
        "f64[2,3], f64[] in (0, 1e-3), -1",
        "c64[3], c64[] in (0, 1e-3)",
    ),
)
def _l2_normalize(
    x: Same, epsilon: Same, axis: StaticInts | None = None, name: str | None = None
) -> Array:
    """`x` times the reciprocal root of its sum of squares, which is at least `epsilon`."""
    axes = reduced_axes(axis, x.ndim)
    squares = x.real * x.real + x.imag * x.imag if jnp.iscomplexobj(x) else x * x
    sums = total(squares, axes, keepdims=True)
    floor = epsilon.real
    floored = jnp.where(sums >= floor, sums, floor)
    return x * derivatives.rsqrt(floored).astype(x.dtype)


@public("math.l2_normalize", "linalg.l2_normalize", "nn.l2_normalize")
def l2_normalize(
    x: Any,
    axis: int | Sequence[int] | None = None,
    epsilon: Any = 1e-12,
    name: str | None = None,
    dim: int | Sequence[int] | None = None,
) -> Any:
    """`x / sqrt(max(sum(x**2), epsilon))`: finite, with a finite derivative, also at the origin.

    Args:
        x: Floats or complex numbers `[...]`.
        axis: The axis, or a list of axes, to normalize along; None for all.
        epsilon: Lower bound of the sum of squares.
        name: Ignored.
        dim: Old name of `axis`.

    Returns:
        The scaled elements, of the shape and dtype of `x`.

    Raises:
        ValueError: Both `axis` and `dim` are given.
        TypeError: `x` holds integers.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.l2_normalize([3.0, 4.0]).numpy())
        [0.6 0.8]
    """
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'dim' and 'axis'.")
        axis = dim
    return _l2_normalize(x, epsilon, axis, name)
