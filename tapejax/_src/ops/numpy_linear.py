"""`tf.experimental.numpy`: products of arrays."""

from __future__ import annotations

from typing import Any

from tapejax._src.engine.registry import public
from tapejax._src.ops import matmul as matrix_products
from tapejax._src.ops.einsum import einsum as tensor_einsum
from tapejax._src.ops.numpy_compute import compute
from tapejax._src.ops.numpy_indexing import diagonal
from tapejax._src.ops.numpy_reductions import sum as total
from tapejax._src.ops.numpy_types import array_of, known, promoted, to


@public("experimental.numpy.dot")
def dot(a: Any, b: Any) -> Any:
    """The product of arrays: sums over the last axis of `a` and the last but one of `b`.

    Args:
        a: Tensor, array or nested list.
        b: Tensor, array or nested list.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.dot([1, 2], [3, 4]).numpy().item()
        11
    """
    return compute("dot", promoted(a, b))


@public("experimental.numpy.inner")
def inner(a: Any, b: Any) -> Any:
    """Sums of products over the last axes of both.

    Args:
        a: Tensor, array or nested list.
        b: Tensor, array or nested list.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.inner([1, 2], [3, 4]).numpy().item()
        11
    """
    return compute("inner", promoted(a, b))


@public("experimental.numpy.outer")
def outer(a: Any, b: Any) -> Any:
    """Products of all pairs of elements.

    Args:
        a: Tensor, array or nested list.
        b: Tensor, array or nested list.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.outer([1, 2], [3, 4]).numpy().tolist()
        [[3, 4], [6, 8]]
    """
    return compute("outer", promoted(a, b))


@public("experimental.numpy.kron")
def kron(a: Any, b: Any) -> Any:
    """The Kronecker product.

    Args:
        a: Tensor, array or nested list.
        b: Tensor, array or nested list.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.kron([1, 2], [3, 4]).numpy().tolist()
        [3, 4, 6, 8]
    """
    return compute("kron", promoted(a, b))


@public("experimental.numpy.vdot")
def vdot(a: Any, b: Any) -> Any:
    """The sum of the products of all elements, those of `a` conjugated.

    Args:
        a: Tensor, array or nested list.
        b: Tensor, array or nested list.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.vdot([1, 2], [3, 4]).numpy().item()
        11
    """
    return compute("vdot", promoted(a, b))


@public("experimental.numpy.matmul")
def matmul(x1: Any, x2: Any) -> Any:
    """Matrix products; rows are put in front, or taken as columns, where one has rank 1.

    Args:
        x1: `[..., n, k]` or `[k]`.
        x2: `[..., k, m]` or `[k]`.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.matmul([[1, 2]], [3, 4]).numpy().tolist()
        [11]
    """
    a, b = promoted(x1, x2)
    if len(a.shape) < 2 or len(b.shape) < 2:
        return compute("matmul", [a, b])
    return matrix_products.matmul(a, b)


@public("experimental.numpy.tensordot")
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Sums of products over given axes.

    Args:
        a: Tensor, array or nested list.
        b: Tensor, array or nested list.
        axes: How many of the last of `a` and first of `b`, or a list for each.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.tensordot([[1, 2]], [[3, 4]], 2).numpy().item()
        11
    """
    return compute("tensordot", promoted(a, b), axes=axes)


@public("experimental.numpy.cross")
def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Any:
    """Cross products of vectors of 2 or 3 elements.

    Args:
        a: Tensor, array or nested list.
        b: Tensor, array or nested list.
        axisa: The axis of the vectors of `a`.
        axisb: The axis of the vectors of `b`.
        axisc: The axis of the products.
        axis: All three.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.cross([1, 0, 0], [0, 1, 0]).numpy().tolist()
        [0, 0, 1]
    """
    if axis is not None:
        axisa = axisb = axisc = int(axis)
    return compute("cross", promoted(a, b), axisa=axisa, axisb=axisb, axisc=axisc)


@public("experimental.numpy.einsum")
def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Any:
    """Einstein's sums; see `tf.einsum`.

    Args:
        subscripts: Such as `'ij,jk->ik'`.
        *operands: The arrays.
        **kwargs: `optimize` and `casting`, accepted with their defaults.

    Returns:
        A tensor of the common dtype.

    Raises:
        ValueError: If another argument is given.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.einsum('i,i', [1, 2], [3, 4]).numpy().item()
        11
    """
    casting = kwargs.pop("casting", "safe")
    kwargs.pop("optimize", None)
    if casting != "safe" or kwargs:
        raise ValueError(
            f"einsum supports only casting='safe' and optimize. Received: casting={casting!r}, "
            f"{sorted(kwargs)}."
        )
    return tensor_einsum(subscripts, *promoted(*operands))


@public("experimental.numpy.trace")
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """Sums of diagonals.

    Args:
        a: An array of at least two axes.
        offset: Which diagonal.
        axis1: The rows.
        axis2: The columns.
        dtype: The dtype of the sums.

    Returns:
        The sums.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.trace([[1, 2], [3, 4]]).numpy().item()
        5
    """
    x = array_of(a)
    x = x if dtype is None else to(x, known(dtype))
    return total(diagonal(x, offset, axis1, axis2), -1)


@public("experimental.numpy.vander")
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """Powers of numbers: a Vandermonde matrix.

    Args:
        x: Numbers of rank 1.
        N: How many powers. Default: as many as numbers.
        increasing: Whether the powers rise from left to right.

    Returns:
        `[len(x), N]`.

    Raises:
        ValueError: If the rank is not 1 or N negative.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.vander([2, 3], 3).numpy().tolist()
        [[4, 2, 1], [9, 3, 1]]
    """
    values = array_of(x)
    if len(values.shape) != 1:
        raise ValueError(f"x must be a one-dimensional array, got shape {values.shape}.")
    count = values.aval.shape[0] if N is None else int(N)
    if count < 0:
        raise ValueError(f"N must be nonnegative, got {count}.")
    return compute("vander", [values], N=count, increasing=bool(increasing))


@public("experimental.numpy.polyval")
def polyval(p: Any, x: Any) -> Any:
    """The value of a polynomial.

    Args:
        p: Its coefficients, that of the highest power first.
        x: Where.

    Returns:
        Numbers of the shape of `x`.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.polyval([1, 2, 3], 2).numpy().item()
        11
    """
    coefficients, values = promoted(p, x)
    if not coefficients.aval.shape[0]:
        return values * 0
    found = values * 0 + coefficients[0]
    for place in range(1, coefficients.aval.shape[0]):
        found = found * values + coefficients[place]
    return found
