"""Reductions along axes: sums, means, products, extrema, any and all."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Bool, Same, StaticInts, op
from tapejax._src.ops.derivatives import unconnected

NUMBERS = (
    "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 qint16 "
    "quint16 uint16 complex128 half uint32 uint64"
)
ORDERED = (
    "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64 qint8 quint8 "
    "qint32 qint16 quint16"
)
_FORMS = (
    "f32[2,3]",
    "f32[2,3], axis=1",
    "f64[2,3,2], axis=[0, -1]",
    "f32[2,3], axis=-1, keepdims=True",
    "f32[2,3], axis=[]",
    "f32[]",
    "i32[4]",
)
_EMPTY = "f32[0,3], axis=0"  # not for mean, max and min, whose values are NaN and infinite then


def reduced_axes(axis: StaticInts | None, rank: int) -> tuple[int, ...]:
    """The axes a reduction removes, from 0 to `rank - 1`.

    Args:
        axis: One axis, a sequence of axes (negative ones count from the end), or None for all.
        rank: Rank of the tensor that is reduced.

    Returns:
        The axes in increasing order.

    Raises:
        InvalidArgumentError: An axis is out of range or given twice.
    """
    if axis is None:
        return tuple(range(rank))
    axes: list[int] = []
    for item in np.asarray(axis, dtype=np.int64).ravel().tolist():
        if not -rank <= item < rank:
            msg = f"Invalid reduction dimension ({item} for input with {rank} dimension(s)"
            raise InvalidArgumentError(msg)
        if item % rank in axes:
            msg = f"Invalid reduction arguments: Axes contains duplicate dimension: {item % rank}"
            raise InvalidArgumentError(msg)
        axes.append(item % rank)
    return tuple(sorted(axes))


def restored(reduced: Array, axes: tuple[int, ...], keepdims: bool | None) -> Array:
    """`reduced` with the removed axes put back as axes of length 1 if `keepdims` asks for it."""
    return jnp.expand_dims(reduced, axes) if keepdims else reduced


def total(x: Array, axes: tuple[int, ...], keepdims: bool | None) -> Array:
    """The sum over `axes` in the dtype of `x` (narrow integers wrap around)."""
    return jnp.sum(x, axis=axes, dtype=x.dtype, keepdims=bool(keepdims))


def average(x: Array, axes: tuple[int, ...], keepdims: bool | None) -> Array:
    """The mean over `axes` in the dtype of `x`; integers are summed in 64 bits and truncated."""
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return jnp.mean(x, axis=axes, keepdims=bool(keepdims))
    wide = jnp.uint64 if jnp.issubdtype(x.dtype, jnp.unsignedinteger) else jnp.int64
    count = max(1, math.prod(x.shape[axis] for axis in axes))
    sums = jnp.sum(x, axis=axes, dtype=wide, keepdims=bool(keepdims))
    return lax.div(sums, jnp.full_like(sums, count)).astype(x.dtype)


@op("reduce_sum", "math.reduce_sum", node="Sum", dtypes=NUMBERS, cases=(*_FORMS, _EMPTY, "c64[3]"))
def reduce_sum(
    input_tensor: Same,
    axis: StaticInts | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Array:
    """Sum of the elements along `axis`.

    Args:
        input_tensor: Numbers `[...]`.
        axis: The axis, or a list of axes, to sum over; None for all, `[]` for none.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        The sums, in the dtype of `input_tensor` (narrow integers wrap around).

    Raises:
        tf.errors.InvalidArgumentError: Booleans, an axis out of range or given twice.

    Example:
        >>> import tapejax as tf
        >>> print(tf.reduce_sum([[1.0, 2.0], [3.0, 4.0]], axis=1).numpy())
        [3. 7.]
    """
    return total(input_tensor, reduced_axes(axis, input_tensor.ndim), keepdims)


@op("reduce_mean", "math.reduce_mean", node="Mean", dtypes=NUMBERS, cases=(*_FORMS, "c64[3]"))
def reduce_mean(
    input_tensor: Same,
    axis: StaticInts | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Array:
    """Mean of the elements along `axis`.

    Args:
        input_tensor: Numbers `[...]`.
        axis: The axis, or a list of axes, to average over; None for all, `[]` for none.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        The means, in the dtype of `input_tensor`; means of integers are truncated toward zero.
        The mean of no elements is NaN, and 0 for integers.

    Raises:
        tf.errors.InvalidArgumentError: Booleans, an axis out of range or given twice.

    Example:
        >>> import tapejax as tf
        >>> print(tf.reduce_mean([1.0, 2.0, 6.0]).numpy(), tf.reduce_mean([-1, -2]).numpy())
        3.0 -1

    *Differs from TensorFlow*: half precision is accumulated in float32 and does not overflow.
    """
    return average(input_tensor, reduced_axes(axis, input_tensor.ndim), keepdims)


@jax.custom_jvp
def _product_of_one(x: Array) -> Array:
    """The product over no axes."""
    return x


@_product_of_one.defjvp
def _product_of_one_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    """The factor 1 depends on `x` as the product of the other elements does: connected, by zero."""
    (x,), (tangent,) = primals, tangents
    one = jnp.ones_like(x)
    return _product_of_one(x), tangent * jnp.where(x == x, one, one)


@op("reduce_prod", "math.reduce_prod", node="Prod", dtypes=NUMBERS, cases=(*_FORMS, _EMPTY))
def reduce_prod(
    input_tensor: Same,
    axis: StaticInts | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Array:
    """Product of the elements along `axis`; derivatives are exact where elements are zero.

    Args:
        input_tensor: Numbers `[...]`.
        axis: The axis, or a list of axes, to multiply over; None for all, `[]` for none.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        The products, in the dtype of `input_tensor`; 1 for no elements.

    Raises:
        tf.errors.InvalidArgumentError: Booleans, an axis out of range or given twice.

    Example:
        >>> import tapejax as tf
        >>> print(tf.reduce_prod([2.0, 3.0, 4.0]).numpy())
        24.0
    """
    axes = reduced_axes(axis, input_tensor.ndim)
    if not axes:
        return _product_of_one(input_tensor)
    return jnp.prod(input_tensor, axis=axes, dtype=input_tensor.dtype, keepdims=keepdims)


@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _extreme(x: Array, axes: tuple[int, ...], reduce: Callable[..., Array]) -> Array:
    return reduce(x, axes)


@_extreme.defjvp
def _extreme_jvp(
    axes: tuple[int, ...],
    reduce: Callable[..., Array],
    primals: tuple[Array],
    tangents: tuple[Array],
) -> tuple[Array, Array]:
    """The elements equal to the extreme one share; they are found by a comparison only."""
    (x,), (tangent,) = primals, tangents
    out = _extreme(x, axes, reduce)
    hit = unconnected(x == lax.expand_dims(out, axes))
    shares = hit.astype(x.dtype)
    shares = shares / jnp.sum(shares, axis=axes, keepdims=True)  # NaN if the extreme is NaN
    return out, jnp.sum(tangent * shares, axis=axes)


def largest(x: Array, axes: tuple[int, ...], keepdims: bool | None) -> Array:
    """The maximum over `axes`; equal maxima share the derivative equally."""
    return restored(_extreme(x, axes, lax.reduce_max), axes, keepdims)


@op("reduce_max", "math.reduce_max", node="Max", dtypes=ORDERED, cases=_FORMS)
def reduce_max(
    input_tensor: Same,
    axis: StaticInts | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Array:
    """Largest element along `axis`; equal maxima share the derivative equally.

    Args:
        input_tensor: Real numbers `[...]`.
        axis: The axis, or a list of axes, to reduce; None for all, `[]` for none.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        The maxima, in the dtype of `input_tensor`; -inf (or the smallest integer) for no elements.

    Raises:
        tf.errors.InvalidArgumentError: Complex numbers or booleans, an axis out of range.

    Example:
        >>> import tapejax as tf
        >>> print(tf.reduce_max([[1.0, 5.0], [3.0, 4.0]], axis=0).numpy())
        [3. 5.]
    """
    return largest(input_tensor, reduced_axes(axis, input_tensor.ndim), keepdims)


@op("reduce_min", "math.reduce_min", node="Min", dtypes=ORDERED, cases=_FORMS)
def reduce_min(
    input_tensor: Same,
    axis: StaticInts | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Array:
    """Smallest element along `axis`; equal minima share the derivative equally.

    Args:
        input_tensor: Real numbers `[...]`.
        axis: The axis, or a list of axes, to reduce; None for all, `[]` for none.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        The minima, in the dtype of `input_tensor`; inf (or the largest integer) for no elements.

    Raises:
        tf.errors.InvalidArgumentError: Complex numbers or booleans, an axis out of range.

    Example:
        >>> import tapejax as tf
        >>> print(tf.reduce_min([[1.0, 5.0], [3.0, 4.0]], axis=0).numpy())
        [1. 4.]
    """
    axes = reduced_axes(axis, input_tensor.ndim)
    return restored(_extreme(input_tensor, axes, lax.reduce_min), axes, keepdims)


_BOOL_FORMS = (
    "bool[2,3]",
    "bool[2,3], axis=1",
    "bool[2,3], axis=[0, -1], keepdims=True",
    "bool[0,3], axis=0",
    "bool[]",
)


@op("reduce_any", "math.reduce_any", node="Any", gradient="none", cases=_BOOL_FORMS)
def reduce_any(
    input_tensor: Bool,
    axis: StaticInts | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Array:
    """Whether any element along `axis` is true.

    Args:
        input_tensor: Booleans `[...]`.
        axis: The axis, or a list of axes, to reduce; None for all, `[]` for none.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        Booleans; False for no elements.

    Raises:
        tf.errors.InvalidArgumentError: A tensor that is not boolean, an axis out of range.

    Example:
        >>> import tapejax as tf
        >>> print(tf.reduce_any([[False, True], [False, False]], axis=1).numpy())
        [ True False]
    """
    axes = reduced_axes(axis, input_tensor.ndim)
    return jnp.any(input_tensor, axis=axes, keepdims=bool(keepdims))


@op("reduce_all", "math.reduce_all", node="All", gradient="none", cases=_BOOL_FORMS)
def reduce_all(
    input_tensor: Bool,
    axis: StaticInts | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Array:
    """Whether all elements along `axis` are true.

    Args:
        input_tensor: Booleans `[...]`.
        axis: The axis, or a list of axes, to reduce; None for all, `[]` for none.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        Booleans; True for no elements.

    Raises:
        tf.errors.InvalidArgumentError: A tensor that is not boolean, an axis out of range.

    Example:
        >>> import tapejax as tf
        >>> print(tf.reduce_all([[True, True], [False, True]], axis=1).numpy())
        [ True False]
    """
    axes = reduced_axes(axis, input_tensor.ndim)
    return jnp.all(input_tensor, axis=axes, keepdims=bool(keepdims))
