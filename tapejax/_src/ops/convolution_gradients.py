"""Gradients of depthwise convolutions as ops of their own, and `tf.conv`, of any rank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, op
from tapejax._src.ops.convolution import convolution_of, depthwise_of
from tapejax._src.ops.windows import channels_first

_FLOATS = "half bfloat16 float double"
_DTYPES = "half bfloat16 float double int32"


def _transpose(
    function: Callable[[Array], Array], shape: Any, out_backprop: Array, node: str
) -> Array:
    """The transpose of a linear function of an array of a shape, applied to `out_backprop`."""
    zeros = jnp.zeros(tuple(shape), out_backprop.dtype)
    out, pullback = jax.vjp(function, zeros)
    if out.shape != out_backprop.shape:
        raise InvalidArgumentError(
            f"out_backprop must have the shape of the convolution's result, {out.shape}. "
            f"Received: {out_backprop.shape} [Op:{node}]"
        )
    return pullback(out_backprop)[0]


def _sizes(value: Any, name: str, node: str) -> tuple[int, ...]:
    if isinstance(value, int) or value is None or len(value) != 4:
        raise InvalidArgumentError(f"{name} must have 4 sizes. Received: {value} [Op:{node}]")
    return tuple(value)


@op(
    "nn.depthwise_conv2d_backprop_input",
    node="DepthwiseConv2dNativeBackpropInput",
    dtypes=_FLOATS,
    heavy=True,
    cases=(
        '[2, 5, 5, 3], f32[3,3,3,1], f32[2,5,5,3], [1, 1, 1, 1], "SAME"',
        '[1, 5, 5, 2], f64[2,2,2,2], f64[1,2,2,4], [1, 2, 2, 1], "VALID"',
    ),
)
def depthwise_conv2d_backprop_input(
    input_sizes: StaticInts,
    filter: Same,
    out_backprop: Same,
    strides: StaticInts,
    padding: Any,
    data_format: str = "NHWC",
    dilations: StaticInts = [1, 1, 1, 1],  # noqa: B006  TensorFlow's default; it is only read
    name: str | None = None,
) -> Array:
    """The gradient of `tf.nn.depthwise_conv2d` by its input.

    Args:
        input_sizes: The shape of the input, `[batch, height, width, in]`.
        filter: `[rows, columns, in, multiplier]`.
        out_backprop: The gradient by the result, `[batch, rows, columns, in * multiplier]`, the
            dtype of `filter`.
        strides: Distance between windows: 4 numbers.
        padding: "SAME", "VALID", or a (before, after) pair for each axis.
        data_format: "NHWC" or "NCHW".
        dilations: Distance between the elements that a window meets: 4 numbers.
        name: Ignored.

    Returns:
        `input_sizes`, the dtype of `filter`.

    Raises:
        InvalidArgumentError: The shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> f = tf.nn.depthwise_conv2d_backprop_input
        >>> y = f([1, 2, 2, 1], tf.ones([1, 1, 1, 1]), tf.ones([1, 2, 2, 1]), [1] * 4, "SAME")
        >>> y.numpy().ravel().tolist()
        [1.0, 1.0, 1.0, 1.0]
    """
    node = "DepthwiseConv2dNativeBackpropInput"

    def forward(x: Array) -> Array:
        return depthwise_of(x, filter, strides, padding, data_format, dilations)

    return _transpose(forward, _sizes(input_sizes, "input_sizes", node), out_backprop, node)


@op(
    "nn.depthwise_conv2d_backprop_filter",
    node="DepthwiseConv2dNativeBackpropFilter",
    dtypes=_FLOATS,
    heavy=True,
    cases=(
        'f32[2,5,5,3], [3, 3, 3, 1], f32[2,5,5,3], [1, 1, 1, 1], "SAME"',
        'f64[1,5,5,2], [2, 2, 2, 2], f64[1,2,2,4], [1, 2, 2, 1], "VALID"',
    ),
)
def depthwise_conv2d_backprop_filter(
    input: Same,
    filter_sizes: StaticInts,
    out_backprop: Same,
    strides: StaticInts,
    padding: Any,
    data_format: str = "NHWC",
    dilations: StaticInts = [1, 1, 1, 1],  # noqa: B006  TensorFlow's default; it is only read
    name: str | None = None,
) -> Array:
    """The gradient of `tf.nn.depthwise_conv2d` by its filters.

    Args:
        input: `[batch, height, width, in]`.
        filter_sizes: The shape of the filters, `[rows, columns, in, multiplier]`.
        out_backprop: The gradient by the result, `[batch, rows, columns, in * multiplier]`, the
            dtype of `input`.
        strides: Distance between windows: 4 numbers.
        padding: "SAME", "VALID", or a (before, after) pair for each axis.
        data_format: "NHWC" or "NCHW".
        dilations: Distance between the elements that a window meets: 4 numbers.
        name: Ignored.

    Returns:
        `filter_sizes`, the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> f = tf.nn.depthwise_conv2d_backprop_filter
        >>> y = f(tf.ones([1, 2, 2, 1]), [1, 1, 1, 1], tf.ones([1, 2, 2, 1]), [1] * 4, "SAME")
        >>> y.numpy().ravel().tolist()
        [4.0]
    """
    node = "DepthwiseConv2dNativeBackpropFilter"

    def forward(filters: Array) -> Array:
        return depthwise_of(input, filters, strides, padding, data_format, dilations)

    return _transpose(forward, _sizes(filter_sizes, "filter_sizes", node), out_backprop, node)


def _pads(padding: str, explicit: Any, node: str) -> Any:
    """`padding` and `explicit_paddings` as the one argument of the other functions."""
    if padding != "EXPLICIT":
        if explicit:
            raise InvalidArgumentError(
                "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT"
                f". Received: padding={padding}, explicit_paddings={list(explicit)} [Op:{node}]"
            )
        return padding
    flat = tuple(explicit)
    return tuple(zip(flat[::2], flat[1::2], strict=True))


_ORDER = {2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


@op(
    "conv",
    node="Conv",
    dtypes=_DTYPES,
    heavy=True,
    cases=(
        'f32[1,4,4,2], f32[2,2,2,3], [1, 1, 1, 1], "VALID"',
        'f64[1,5,4,1], f64[3,2,1,2], [1, 2, 2, 1], "SAME"',
        'f32[2,3,4,4,2], f32[2,2,2,1], [1, 1, 1, 1], "VALID", batch_dims=2',
        'f32[1,3,4,4,2], f32[2,2,2,2,1], [1, 1, 1, 1, 1], "VALID"',
    ),
    differs="TensorFlow registers no gradient",
)
def conv(
    input: Same,
    filter: Same,
    strides: StaticInts,
    padding: str,
    explicit_paddings: StaticInts = [],  # noqa: B006  TensorFlow's default; it is only read
    data_format: str = "CHANNELS_LAST",
    dilations: StaticInts = [],  # noqa: B006  TensorFlow's default; it is only read
    batch_dims: int = 1,
    groups: int = 1,
    name: str | None = None,
) -> Array:
    """Convolution over two or three spatial axes, by the rank of `filter`.

    Args:
        input: `[*batch, *spatial, in]`, or channels first.
        filter: `[*window, in / groups, out]`, rank 4 or 5.
        strides: Distance between windows: one number for each axis of `filter`.
        padding: "SAME", "VALID" or "EXPLICIT".
        explicit_paddings: For "EXPLICIT": how much to pad before and after each axis.
        data_format: "CHANNELS_LAST" or "CHANNELS_FIRST".
        dilations: Distance between the elements that a window meets; empty means 1.
        batch_dims: The number of batch axes.
        groups: In how many groups the channels are, which do not mix.
        name: Ignored.

    Returns:
        `[*batch, *windows, out]` (or channels first), the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes do not fit, or an option is unknown.

    Example:
        >>> import tapejax as tf
        >>> tf.conv(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), [1] * 4, "VALID").shape
        TensorShape([1, 2, 2, 1])

    *Differs from TensorFlow*: it has gradients, and takes channels first and groups everywhere.
    """
    rank = filter.ndim - 2
    if rank not in _ORDER or input.ndim != rank + 1 + batch_dims:
        raise InvalidArgumentError(
            "filter must have rank 4 or 5, and input batch_dims more axes than the spatial ones "
            f"and the channels. Received: filter.shape={filter.shape}, input.shape={input.shape}, "
            f"batch_dims={batch_dims} [Op:Conv]"
        )
    first = channels_first(data_format, ("CHANNELS_LAST", "CHANNELS_FIRST"), "Conv")
    channels = input.shape[batch_dims if first else -1]
    if channels != filter.shape[-2] * groups:
        raise InvalidArgumentError(
            f"input has {channels} channels, but filter is for {filter.shape[-2]} in each of "
            f"{groups} groups [Op:Conv]"
        )
    pads = _pads(padding, explicit_paddings, "Conv")
    rates = tuple(dilations) or None
    return convolution_of(input, filter, rank, strides, pads, _ORDER[rank][first], rates)
