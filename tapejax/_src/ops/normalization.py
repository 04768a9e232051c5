"""Statistics of features and the normalisations built on them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, TensorLike, op

_INEXACT = "half bfloat16 float double complex64 complex128"


def _widened(x: Array) -> Array:
    return x.astype(jnp.float32) if x.dtype.itemsize == 2 else x


def _axes(x: Array, axes: Any, node: str) -> tuple[int, ...]:
    if axes is None:
        return tuple(range(x.ndim))
    listed = (axes,) if isinstance(axes, int) else tuple(axes)
    for axis in listed:
        if not -x.ndim <= axis < x.ndim:
            raise InvalidArgumentError(
                f"Invalid reduction dimension ({axis} for input with {x.ndim} dimension(s)) "
                f"[Op:{node}]"
            )
    found = tuple(axis % max(x.ndim, 1) for axis in listed)
    for axis in found:
        if found.count(axis) > 1:
            raise InvalidArgumentError(
                "Invalid reduction arguments: Axes contains duplicate dimension: "
                f"{axis} [Op:{node}]"
            )
    return found


def _squared_modulus(x: Array) -> Array:
    return (jnp.conj(x) * x) if jnp.iscomplexobj(x) else x * x


@op(
    "nn.moments",
    node="Mean",
    dtypes=_INEXACT,
    cases=(
        "f32[4,3], axes=[0]",
        "f64[2,3,4], axes=[0, 2], keepdims=True",
        "f32[4], axes=[-1]",
        "f32[2,3], axes=[]",
        "f16[4,2], axes=[0]",
    ),
    tol={"f32": 1e-5},
    differs="the second derivative: TensorFlow holds the mean in the variance constant",
)
def moments(
    x: Same,
    axes: StaticInts,
    shift: Any = None,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Array, Array]:
    """Mean and variance over `axes`; the variance is divided by the count, not by one less.

    Args:
        x: `[...]`, floating point or complex. Half-width types are summed in float32.
        axes: The axes to reduce; None reduces all.
        shift: Ignored, as in TensorFlow.
        keepdims: Keep the reduced axes with length 1.
        name: Ignored.

    Returns:
        `(mean, variance)`, both with the shape of `x` without `axes`, and its dtype.

    Raises:
        InvalidArgumentError: An axis is out of range or given twice.

    Example:
        >>> import tapejax as tf
        >>> mean, variance = tf.nn.moments(tf.constant([1.0, 3.0]), axes=[0])
        >>> float(mean), float(variance)
        (2.0, 1.0)

    *Differs from TensorFlow*: the second derivative of the variance is the mathematical one.
    TensorFlow holds the mean inside it constant, which only the first derivative allows.
    """
    found = _axes(x, axes, "Mean")
    wide = _widened(x)
    mean = jnp.mean(wide, axis=found, keepdims=True)
    variance = jnp.mean(_squared_modulus(wide - mean), axis=found, keepdims=True)
    if not keepdims:
        mean, variance = jnp.squeeze(mean, found), jnp.squeeze(variance, found)
    return mean.astype(x.dtype), variance.astype(x.dtype)


@op(
    "nn.weighted_moments",
    node="Mul",
    dtypes=_INEXACT,
    cases=(
        "f32[4], [0], f32[4] in (1, 3)",
        "f64[2,3], [1], f64[2,3] in (1, 3), keepdims=True",
        "f32[2,3], axes=[0, 1], frequency_weights=f32[3] in (1, 3)",
        "f64[1,3], [1], f64[2,1] in (1, 3)",
    ),
    tol={"f32": 1e-5},
)
def weighted_moments(
    x: Same,
    axes: StaticInts,
    frequency_weights: TensorLike,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Array, Array]:
    """Mean and variance over `axes`, each element counted `frequency_weights` times.

    Args:
        x: `[...]`, floating point. Half-width types are summed in float32.
        axes: The axes to reduce.
        frequency_weights: Any shape that broadcasts with `x`; converted to its dtype.
        keepdims: Keep the reduced axes with length 1.
        name: Ignored.

    Returns:
        `(mean, variance)`, both with the common shape of `x` and the weights without `axes`, and
        the dtype of `x`.

    Raises:
        InvalidArgumentError: An axis is out of range or given twice, or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> mean, variance = tf.nn.weighted_moments([1.0, 2.0, 4.0], [0], [1.0, 0.0, 1.0])
        >>> float(mean), float(variance)
        (2.5, 2.25)
    """
    wide, weights = jnp.broadcast_arrays(_widened(x), frequency_weights.astype(_widened(x).dtype))
    found = _axes(wide, axes, "Sum")
    total = jnp.sum(weights, axis=found, keepdims=True)
    mean = jnp.sum(weights * wide, axis=found, keepdims=True) / total
    spread = jnp.sum(weights * _squared_modulus(wide - mean), axis=found, keepdims=True) / total
    if not keepdims:
        mean, spread = jnp.squeeze(mean, found), jnp.squeeze(spread, found)
    return mean.astype(x.dtype), spread.astype(x.dtype)


@op(
    "nn.normalize_moments",
    node="Mul",
    dtypes=_INEXACT,
    broadcast=True,
    cases=(
        "f32[] in (2, 5), f32[3], f32[3] in (4, 8), None",
        "f64[] in (2, 5), f64[3], f64[3] in (4, 8), f64[]",
    ),
)
def normalize_moments(
    counts: Same,
    mean_ss: Same,
    variance_ss: Same,
    shift: Same | None,
    name: str | None = None,
) -> tuple[Array, Array]:
    """Mean and variance from sums of (shifted) values and of their squares.

    Args:
        counts: `[]`, floating point, the number of values in each sum.
        mean_ss: `[...]`, the sums of the values minus `shift`.
        variance_ss: `[...]`, the sums of the squares of the values minus `shift`.
        shift: What was subtracted from each value, or None.
        name: Ignored.

    Returns:
        `(mean, variance)`, both with the shape of `mean_ss`.

    Example:
        >>> import tapejax as tf
        >>> mean, variance = tf.nn.normalize_moments(2.0, [3.0], [10.0], None)
        >>> mean.numpy().tolist(), variance.numpy().tolist()
        ([1.5], [2.75])
    """
    counts, mean_ss, variance_ss = jnp.broadcast_arrays(counts, mean_ss, variance_ss)
    shifted = mean_ss / counts
    variance = variance_ss / counts - shifted * shifted
    if shift is None:
        return shifted, variance
    return jnp.add(*jnp.broadcast_arrays(shifted, shift)), variance


def _scale_and_shift(
    x: Array, mean: Array, variance: Array, offset: Any, scale: Any, epsilon: Array
) -> Array:
    factor = lax.rsqrt(jnp.add(*jnp.broadcast_arrays(variance, epsilon)))
    if scale is not None:
        factor = jnp.multiply(*jnp.broadcast_arrays(factor, scale))
    start = -jnp.multiply(*jnp.broadcast_arrays(mean, factor))
    if offset is not None:
        start = jnp.add(*jnp.broadcast_arrays(offset, start))
    # The statistics are combined in their own dtype, which may be wider than that of x.
    x, factor, start = jnp.broadcast_arrays(x, factor.astype(x.dtype), start.astype(x.dtype))
    return x * factor + start


@op(
    "nn.batch_normalization",
    node="Rsqrt",
    dtypes="bfloat16 half float double complex64 complex128",
    cases=(
        "f32[4,3], f32[3], f32[3] in (1, 3), f32[3], f32[3], 0.001",
        "f64[2,4,3], f64[3], f64[3] in (1, 3), None, f64[3], 0.01",
        "f32[4,3], f32[3], f32[3] in (1, 3), f32[3], None, 0.001",
        "f32[4,3], f32[1,3], f32[1,3] in (1, 3), None, None, 0.001",
    ),
)
def batch_normalization(
    x: TensorLike,
    mean: Same,
    variance: Same,
    offset: Same | None,
    scale: Same | None,
    variance_epsilon: Same,
    name: str | None = None,
) -> Array:
    """`(x - mean) / sqrt(variance + variance_epsilon) * scale + offset`.

    Args:
        x: `[...]`, floating point.
        mean: Broadcasts to `x`, often `[channels]`; its dtype may be wider than that of `x`.
        variance: Broadcasts to `x`, the dtype of `mean`.
        offset: What is added, the dtype of `mean`; None adds nothing.
        scale: What multiplies, the dtype of `mean`; None is 1.
        variance_epsilon: A small number that keeps the square root away from 0; it may change from
            call to call without a new compilation.
        name: Ignored.

    Returns:
        The shape and the dtype of `x`.

    Raises:
        InvalidArgumentError: The shapes or the dtypes do not fit.

    Example:
        >>> import tapejax as tf
        >>> one, four = tf.constant([1.0]), tf.constant([4.0])
        >>> y = tf.nn.batch_normalization(tf.constant([[7.0]]), one, four, one, None, 0.0)
        >>> y.numpy().tolist()
        [[4.0]]
    """
    return _scale_and_shift(x, mean, variance, offset, scale, variance_epsilon)


@op(
    "nn.batch_norm_with_global_normalization",
    node="Rsqrt",
    dtypes="bfloat16 half float double complex64 complex128",
    cases=(
        "f32[2,2,2,3], f32[3], f32[3] in (1, 3), f32[3], f32[3], 0.001, True",
        "f64[2,2,2,3], f64[3], f64[3] in (1, 3), f64[3], f64[3], 0.01, False",
    ),
)
def batch_norm_with_global_normalization(
    input: TensorLike,
    mean: Same,
    variance: Same,
    beta: Same,
    gamma: Same,
    variance_epsilon: Same,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Array:
    """`tf.nn.batch_normalization` under its old name.

    Args:
        input: `[..., channels]`, floating point.
        mean: `[channels]`.
        variance: `[channels]`, the dtype of `mean`.
        beta: `[channels]`, the offset.
        gamma: `[channels]`, the scale.
        variance_epsilon: A small number that keeps the square root away from 0.
        scale_after_normalization: Whether `gamma` is used.
        name: Ignored.

    Returns:
        The shape and the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes or the dtypes do not fit.

    Example:
        >>> import tapejax as tf
        >>> one, four = tf.constant([1.0]), tf.constant([4.0])
        >>> y = tf.nn.batch_norm_with_global_normalization(
        ...     tf.constant([[[[7.0]]]]), one, four, one, four, 0.0, True)
        >>> y.numpy().tolist()
        [[[[13.0]]]]
    """
    scale = gamma if scale_after_normalization else None
    return _scale_and_shift(input, mean, variance, beta, scale, variance_epsilon)


@op(
    "nn.local_response_normalization",
    "nn.lrn",
    node="LRN",
    dtypes="half bfloat16 float",
    cases=(
        "f32[2,2,2,6]",
        "f32[1,2,2,6], depth_radius=2, bias=2.0, alpha=0.5, beta=0.75",
        "f32[1,1,1,3], depth_radius=0",
    ),
    tol={"f32": 2e-5},
    differs="TensorFlow has no second derivative",
)
def local_response_normalization(
    input: Same,
    depth_radius: StaticInts = 5,
    bias: TensorLike = 1,
    alpha: TensorLike = 1,
    beta: TensorLike = 0.5,
    name: str | None = None,
) -> Array:
    """`x / (bias + alpha * s) ** beta`, where `s` sums the squares of neighbouring channels.

    Args:
        input: `[batch, height, width, channels]`, half, bfloat16 or float32.
        depth_radius: How many channels to each side count.
        bias: A positive number, which keeps the denominator away from 0.
        alpha: Weight of the sum of squares.
        beta: Exponent. `bias`, `alpha` and `beta` may change from call to call without a new
            compilation.
        name: Ignored.

    Returns:
        The shape and the dtype of `input`.

    Raises:
        InvalidArgumentError: `input` does not have rank 4, or `depth_radius` is negative.

    Example:
        >>> import tapejax as tf
        >>> y = tf.nn.lrn(tf.constant([[[[1.0, 1.0]]]]), depth_radius=1, beta=1.0, bias=2.0)
        >>> y.numpy().tolist()
        [[[[0.25, 0.25]]]]
    """
    if input.ndim != 4:
        raise InvalidArgumentError(f"in must be 4-dimensional, got {list(input.shape)} [Op:LRN]")
    if depth_radius < 0:
        raise InvalidArgumentError(f"depth_radius = {depth_radius} must not be negative [Op:LRN]")
    wide = _widened(input)
    squares = lax.reduce_window(
        wide * wide,
        np.zeros((), wide.dtype),
        lax.add,
        (1, 1, 1, 2 * depth_radius + 1),
        (1, 1, 1, 1),
        ((0, 0), (0, 0), (0, 0), (depth_radius, depth_radius)),
    )
    bias, alpha, beta = (value.astype(wide.dtype) for value in (bias, alpha, beta))
    return (wide * (bias + alpha * squares) ** -beta).astype(input.dtype)


def _channel_axis(data_format: str | None, rank: int) -> int:
    if data_format is None or (
        data_format.startswith("N") and data_format.endswith("C") and data_format != "NC"
    ):
        return rank - 1
    if data_format.startswith("NC"):
        return 1
    raise ValueError(
        f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}"
    )


@op(
    "nn.bias_add",
    node="BiasAdd",
    dtypes="float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 half "
    "uint32 uint64",
    cases=(
        "f32[2,3], f32[3]",
        "f64[2,2,2,3], f64[3]",
        'f32[2,3,2], f32[3], data_format="NCHW"',
        "i32[2,3], i32[3]",
        "c64[2,3], c64[3]",
        "f32[0,3], f32[3]",
    ),
)
def bias_add(
    value: Same, bias: Same, data_format: str | None = None, name: str | None = None
) -> Array:
    """Add one number per channel.

    Args:
        value: `[batch, ..., channels]`, or `[batch, channels, ...]` if `data_format` starts with
            "NC"; rank 2 or more.
        bias: `[channels]`, the dtype of `value`.
        data_format: "N...C", "NC...", or None for channels last.
        name: Ignored.

    Returns:
        The shape and the dtype of `value`.

    Raises:
        InvalidArgumentError: The shapes do not fit.
        ValueError: `data_format` has another form.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]).numpy().tolist()
        [[11.0, 22.0]]
    """
    axis = _channel_axis(data_format, value.ndim)
    if value.ndim < 2:
        raise InvalidArgumentError(
            f"Input tensor must be at least 2D: {list(value.shape)} [Op:BiasAdd]"
        )
    if bias.ndim != 1:
        raise InvalidArgumentError(f"Biases must be 1D: {list(bias.shape)} [Op:BiasAdd]")
    if bias.shape[0] != value.shape[axis]:
        raise InvalidArgumentError(
            f"Must provide as many biases as the channel dimension (axis {axis}) of the input "
            f"tensor: {list(bias.shape)} vs. {list(value.shape)} [Op:BiasAdd]"
        )
    shape = [1] * value.ndim
    shape[axis] = bias.shape[0]
    return value + bias.reshape(shape)
