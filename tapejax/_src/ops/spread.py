"""Reductions of floats: log-sum-exp, variance, standard deviation and Euclidean norm."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from tapejax._src.engine.registry import Array, Same, StaticInts, op
from tapejax._src.ops import derivatives
from tapejax._src.ops.reduction import NUMBERS, average, reduced_axes, restored, total


@op(
    "reduce_logsumexp",
    "math.reduce_logsumexp",
    node="IsFinite",
    dtypes="bfloat16 half float double",
    cases=("f32[2,3]", "f64[2,3], axis=-1", "f32[2,3], axis=[0, 1], keepdims=True", "f32[]"),
)
def reduce_logsumexp(
    input_tensor: Same,
    axis: StaticInts | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Array:
    """`log(sum(exp(x)))` along `axis`, without overflow.

    Args:
        input_tensor: Floats `[...]`.
        axis: The axis, or a list of axes, to reduce; None for all, `[]` for none.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        The reduced floats, in the dtype of `input_tensor`; -inf for no elements. Where every
        element is -inf the derivative is NaN.

    Raises:
        tf.errors.InvalidArgumentError: Numbers that are not floats, an axis out of range.

    Example:
        >>> import tapejax as tf
        >>> print(f"{float(tf.reduce_logsumexp([1000.0, 1000.0])):.3f}")
        1000.693
    """
    axes = reduced_axes(axis, input_tensor.ndim)
    peak = lax.reduce_max(lax.stop_gradient(input_tensor), axes)
    shift = jnp.expand_dims(jnp.where(jnp.isfinite(peak), peak, jnp.zeros_like(peak)), axes)
    sums = total(jnp.exp(input_tensor - shift), axes, keepdims=True)
    return (jnp.log(sums) + shift).reshape(restored(peak, axes, keepdims).shape)


def _variance(x: Array, axis: StaticInts | None, keepdims: bool | None) -> Array:
    if jnp.issubdtype(x.dtype, jnp.integer):
        msg = (
            "Input must be either real or complex. Received integer type "
            f"<dtype: '{x.dtype.name}'>. Convert it first, for instance with "
            "tf.cast(x, tf.float32)."
        )
        raise TypeError(msg)
    axes = reduced_axes(axis, x.ndim)
    deviation = x - average(x, axes, keepdims=True)
    if jnp.iscomplexobj(x):
        square = deviation.real * deviation.real + deviation.imag * deviation.imag
    else:
        square = deviation * deviation
    return average(square, axes, keepdims)


_SPREADS = (
    "f32[2,3]",
    "f64[2,3], axis=-1",
    "f32[2,3], axis=[0, 1], keepdims=True",
    "c64[3]",
)


@op("math.reduce_variance", node="Mean", cases=_SPREADS)
def reduce_variance(
    input_tensor: Same,
    axis: StaticInts | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Array:
    """Mean squared distance from the mean along `axis` (divided by n, not n - 1).

    Args:
        input_tensor: Floats or complex numbers `[...]`.
        axis: The axis, or a list of axes, to reduce; None for all.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        The variances: floats of the dtype of `input_tensor`, or of its parts if it is complex.

    Raises:
        TypeError: Integers.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.reduce_variance([1.0, 3.0]).numpy())
        1.0
    """
    return _variance(input_tensor, axis, keepdims)


@op("math.reduce_std", node="Mean", cases=_SPREADS)
def reduce_std(
    input_tensor: Same,
    axis: StaticInts | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Array:
    """Square root of the variance along `axis`; the derivative at equal elements is NaN.

    Args:
        input_tensor: Floats or complex numbers `[...]`.
        axis: The axis, or a list of axes, to reduce; None for all.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        The deviations: floats of the dtype of `input_tensor`, or of its parts if it is complex.

    Raises:
        TypeError: Integers.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.reduce_std([1.0, 3.0]).numpy())
        1.0
    """
    return derivatives.sqrt(_variance(input_tensor, axis, keepdims))


def euclidean_length(x: Array, axes: tuple[int, ...], keepdims: bool | None) -> Array:
    """`sqrt(sum(abs(x)**2))` over `axes`, in the dtype of `x` (also if that is complex)."""
    squares = x.real * x.real + x.imag * x.imag if jnp.iscomplexobj(x) else x * x
    return derivatives.sqrt(total(squares, axes, keepdims)).astype(x.dtype)


@op(
    "math.reduce_euclidean_norm",
    node="EuclideanNorm",
    dtypes=NUMBERS,
    cases=("f32[2,3]", "f64[2,3], axis=-1", "f32[2,3], axis=[0, 1], keepdims=True"),
)
def reduce_euclidean_norm(
    input_tensor: Same,
    axis: StaticInts | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Array:
    """Square root of the sum of squared magnitudes along `axis`.

    Args:
        input_tensor: Numbers `[...]`.
        axis: The axis, or a list of axes, to reduce; None for all.
        keepdims: Whether the axes stay, with length 1.
        name: Ignored.

    Returns:
        The norms, in the dtype of `input_tensor`; truncated for integers. At the origin the
        derivative is NaN, and 0 for a zero cotangent.

    Raises:
        tf.errors.InvalidArgumentError: Booleans, an axis out of range.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.reduce_euclidean_norm([3.0, 4.0]).numpy())
        5.0
    """
    axes = reduced_axes(axis, input_tensor.ndim)
    if jnp.issubdtype(input_tensor.dtype, jnp.integer):
        length = euclidean_length(input_tensor.astype(jnp.float64), axes, keepdims)
        return length.astype(input_tensor.dtype)
    return euclidean_length(input_tensor, axes, keepdims)
