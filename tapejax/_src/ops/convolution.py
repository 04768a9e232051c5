"""Convolutions of `tf.nn`: 1, 2 and 3 spatial axes, depthwise and separable."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, op
from tapejax._src.ops.convolution_kernels import convolve, convolve_depthwise
from tapejax._src.ops.windows import Geometry, channels_first, padded, spatial

_DTYPES = "half bfloat16 float double int32"
_FLOATS = "half bfloat16 float double"
_NODES = {1: "Conv2D", 2: "Conv2D", 3: "Conv3D"}
FORMATS = {1: ("NWC", "NCW", "NHWC", "NCHW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def window_of(filters: Array, strides: Any, dilations: Any, first: bool, node: str) -> Geometry:
    """The window of a filter, with checked strides and dilations, and no pads yet."""
    rank = filters.ndim - 2
    steps = spatial(strides, rank, first, "strides", node)
    rates = spatial(dilations, rank, first, "dilations", node)
    if any(step <= 0 for step in steps):
        raise InvalidArgumentError(
            f"Row and column strides should be larger than 0. Received: {steps} [Op:{node}]"
        )
    if any(rate <= 0 for rate in rates):
        raise InvalidArgumentError(
            f"Dilated rates should be larger than 0. Received: {rates} [Op:{node}]"
        )
    return Geometry(filters.shape[:rank], steps, rates, ())


def _check_ranks(x: Array, filters: Array, rank: int, node: str) -> None:
    if filters.ndim != rank + 2:
        raise InvalidArgumentError(
            f"convolution filter must be {rank + 2}-dimensional: {list(filters.shape)} [Op:{node}]"
        )
    if x.ndim < rank + 2:
        raise InvalidArgumentError(
            f"convolution input must be {rank + 2}-dimensional: {list(x.shape)} [Op:{node}]"
        )


def _check_channels(x: Array, filters: Array, node: str) -> None:
    depth, (width, outputs) = x.shape[-1], filters.shape[-2:]
    if width == 0:
        raise InvalidArgumentError(f"filter depth must be strictly positive, got 0 [Op:{node}]")
    if depth % width:
        raise InvalidArgumentError(
            f"input depth must be evenly divisible by filter depth: {depth} vs {width} [Op:{node}]"
        )
    if outputs % max(depth // width, 1):
        raise InvalidArgumentError(
            "output depth must be evenly divisible by number of groups: "
            f"{outputs} vs {depth // width} [Op:{node}]"
        )


def convolution_of(
    x: Array,
    filters: Array,
    rank: int,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
) -> Array:
    """Convolution as every op here does it; `rank` is the number of spatial axes."""
    node = _NODES[rank]
    first = channels_first(data_format or FORMATS[rank][0], FORMATS[rank], node)
    _check_ranks(x, filters, rank, node)
    geometry = window_of(filters, strides, dilations, first, node)
    batch = x.shape[: -rank - 1]
    x = x.reshape(math.prod(batch), *x.shape[-rank - 1 :])
    if first:
        x = jnp.moveaxis(x, 1, -1)
    _check_channels(x, filters, node)
    geometry = padded(x.shape[1:-1], geometry, padding, first, node, explicit=rank == 2)
    out = convolve(x, filters, geometry)
    out = jnp.moveaxis(out, -1, 1) if first else out
    return out.reshape(*batch, *out.shape[1:])


@op(
    "nn.conv1d",
    node="Conv2D",
    dtypes=_DTYPES,
    heavy=True,
    cases=(
        'f32[2,5,3], f32[2,3,4], 1, "VALID"',
        'f64[2,5,3], f64[3,3,2], 2, "SAME"',
    ),
)
def conv1d(
    input: Same,
    filters: Same,
    stride: StaticInts,
    padding: str,
    data_format: str = "NWC",
    dilations: StaticInts | None = None,
    name: str | None = None,
) -> Array:
    """Convolution (cross-correlation) over one spatial axis.

    Args:
        input: `[..., width, in]`, or `[..., in, width]` if `data_format` is "NCW".
        filters: `[window, in, out]`, the dtype of `input`.
        stride: Distance between windows.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        dilations: Distance between the elements that a window meets.
        name: Ignored.

    Returns:
        `[..., windows, out]` (or channels first), the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes do not fit, or `padding` or `data_format` is unknown.
        ValueError: The length of `stride` or `dilations` is wrong.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant([[[1.0], [2.0], [4.0]]])
        >>> tf.nn.conv1d(x, tf.constant([[[-1.0]], [[1.0]]]), 1, "VALID").numpy().tolist()
        [[[1.0], [2.0]]]

    *Differs from TensorFlow*: channels may come first on the CPU too.
    """
    return convolution_of(input, filters, 1, stride, padding, data_format, dilations)


@op(
    "nn.conv2d",
    node="Conv2D",
    dtypes=_DTYPES,
    heavy=True,
    cases=(
        'f32[2,5,5,1], f32[3,3,1,2], 1, "SAME"',
        'f32[2,5,5,6], f32[3,2,6,4], [2, 1], "VALID"',
        'f64[1,5,4,3], f64[2,2,3,2], 2, "SAME"',
        "f32[1,4,4,2], f32[2,2,2,2], 1, [[0, 0], [1, 0], [0, 2], [0, 0]]",
        'i32[1,4,4,1], i32[2,2,1,1], 1, "VALID"',
        'f16[1,4,4,1], f16[2,2,1,2], 1, "SAME"',
        'f32[2,1,4,4,1], f32[2,2,1,2], 1, "SAME"',
    ),
)
def conv2d(
    input: Same,
    filters: Same,
    strides: StaticInts,
    padding: Any,
    data_format: str = "NHWC",
    dilations: StaticInts | None = None,
    name: str | None = None,
) -> Array:
    """Convolution (cross-correlation) over two spatial axes.

    Args:
        input: `[..., height, width, in]`, or `[..., in, height, width]` if `data_format` is "NCHW".
        filters: `[rows, columns, in / groups, out]`, the dtype of `input`. Fewer channels than
            `input` has mean a grouped convolution.
        strides: Distance between windows: 1, 2 or 4 numbers.
        padding: "SAME" (the output has `ceil(size / stride)` elements), "VALID" (no padding), or a
            (before, after) pair for each of the four axes, in the order of `data_format`.
        data_format: "NHWC" or "NCHW".
        dilations: Distance between the elements that a window meets: 1, 2 or 4 numbers.
        name: Ignored.

    Returns:
        `[..., rows, columns, out]` (or channels first), the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes do not fit, or `padding` or `data_format` is unknown.
        ValueError: The length of `strides`, `dilations` or `padding` is wrong.
        UnimplementedError: A stride or dilation along the batch or the channels is not 1.

    Example:
        >>> import tapejax as tf
        >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> tf.nn.conv2d(x, tf.ones([2, 2, 1, 1]), 1, "VALID")[0, :, :, 0].numpy().tolist()
        [[8.0, 12.0], [20.0, 24.0]]

    *Differs from TensorFlow*: channels may come first on the CPU too.
    """
    return convolution_of(input, filters, 2, strides, padding, data_format, dilations)


@op(
    "nn.conv3d",
    node="Conv3D",
    dtypes=_FLOATS,
    heavy=True,
    cases=(
        'f32[1,3,4,4,2], f32[2,2,2,2,3], [1, 1, 1, 1, 1], "VALID"',
        'f64[1,3,3,4,1], f64[2,3,2,1,2], [1, 1, 2, 2, 1], "SAME"',
    ),
)
def conv3d(
    input: Same,
    filters: Same,
    strides: StaticInts,
    padding: str,
    data_format: str = "NDHWC",
    dilations: StaticInts | None = None,
    name: str | None = None,
) -> Array:
    """Convolution (cross-correlation) over three spatial axes.

    Args:
        input: `[..., depth, height, width, in]`, or channels first if `data_format` is "NCDHW".
        filters: `[planes, rows, columns, in / groups, out]`, the dtype of `input`.
        strides: Distance between windows: 1, 3 or 5 numbers.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        dilations: Distance between the elements that a window meets: 1, 3 or 5 numbers.
        name: Ignored.

    Returns:
        `[..., planes, rows, columns, out]` (or channels first), the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes do not fit, or `padding` or `data_format` is unknown.
        ValueError: The length of `strides` or `dilations` is wrong.

    Example:
        >>> import tapejax as tf
        >>> y = tf.nn.conv3d(tf.ones([1, 2, 2, 2, 1]), tf.ones([2, 2, 2, 1, 1]), [1] * 5, "VALID")
        >>> y.numpy().tolist()
        [[[[[8.0]]]]]
    """
    return convolution_of(input, filters, 3, strides, padding, data_format, dilations)


@op(
    "nn.convolution",
    node="Conv2D",
    dtypes=_DTYPES,
    heavy=True,
    cases=(
        'f32[2,5,5,2], f32[3,3,2,2], data_format="NHWC"',
        'f64[2,5,3], f64[2,3,2], 2, "SAME"',
        'f32[1,3,3,3,1], f32[2,2,2,1,2], data_format="NDHWC"',
        'f32[1,6,6,1], f32[2,2,1,1], padding="VALID", dilations=2',
    ),
)
def convolution(
    input: Same,
    filters: Same,
    strides: StaticInts | None = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: StaticInts | None = None,
    name: str | None = None,
) -> Array:
    """`tf.nn.conv1d`, `conv2d` or `conv3d`, by the rank of `filters`.

    Args:
        input: `[..., *spatial, in]`, or `[..., in, *spatial]` if `data_format` starts with "NC".
        filters: `[*window, in / groups, out]`, the dtype of `input`; rank 3, 4 or 5.
        strides: Distance between windows; None means 1.
        padding: "SAME", "VALID", or, for two spatial axes, a (before, after) pair for each axis.
        data_format: "NWC", "NHWC", "NDHWC" or their "NC..." forms; None means channels last.
        dilations: Distance between the elements that a window meets; None means 1.
        name: Ignored.

    Returns:
        `[..., *windows, out]` (or channels first), the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes do not fit, or `padding` or `data_format` is unknown.
        ValueError: The length of `strides`, `dilations` or `padding` is wrong.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.convolution(tf.ones([1, 4, 1]), tf.ones([2, 1, 1])).numpy().tolist()
        [[[2.0], [2.0], [2.0]]]
    """
    rank = filters.ndim - 2
    if rank not in _NODES:
        raise ValueError(
            "`filters` must have 1, 2 or 3 spatial axes (rank 3, 4 or 5). "
            f"Received: filters.shape={filters.shape}"
        )
    return convolution_of(input, filters, rank, strides, padding, data_format, dilations)


@op(
    "nn.atrous_conv2d",
    node="Conv2D",
    dtypes=_DTYPES,
    heavy=True,
    cases=('f32[1,6,6,2], f32[2,2,2,3], 2, "VALID"', 'f64[1,5,5,1], f64[3,3,1,1], 2, "SAME"'),
)
def atrous_conv2d(
    value: Same, filters: Same, rate: StaticInts, padding: str, name: str | None = None
) -> Array:
    """`tf.nn.conv2d` with `dilations=rate` and stride 1.

    Args:
        value: `[batch, height, width, in]`.
        filters: `[rows, columns, in, out]`, the dtype of `value`.
        rate: Distance between the elements that a window meets.
        padding: "SAME" or "VALID".
        name: Ignored.

    Returns:
        `[batch, rows, columns, out]`, the dtype of `value`.

    Raises:
        InvalidArgumentError: The shapes do not fit, or `padding` is unknown.

    Example:
        >>> import tapejax as tf
        >>> x = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> tf.nn.atrous_conv2d(x, tf.ones([2, 2, 1, 1]), 2, "VALID").numpy().tolist()
        [[[[16.0]]]]
    """
    return convolution_of(value, filters, 2, 1, padding, "NHWC", rate)


def depthwise_of(
    x: Array, filters: Array, strides: Any, padding: Any, data_format: str | None, dilations: Any
) -> Array:
    """Depthwise convolution as every op here does it."""
    node = "DepthwiseConv2dNative"
    first = channels_first(data_format or "NHWC", FORMATS[2], node)
    if isinstance(strides, int):
        raise TypeError(
            f"Expected list for 'strides' argument to depthwise_conv2d, not {strides}. "
            f"Write strides=[1, {strides}, {strides}, 1]."
        )
    if x.ndim != 4 or filters.ndim != 4:
        raise InvalidArgumentError(
            "input and filter must be 4-dimensional: "
            f"{list(x.shape)} and {list(filters.shape)} [Op:{node}]"
        )
    geometry = window_of(filters, strides, dilations, first, node)
    x = jnp.moveaxis(x, 1, -1) if first else x
    if x.shape[-1] != filters.shape[2]:
        raise InvalidArgumentError(
            "input and filter must have the same depth: "
            f"{x.shape[-1]} vs {filters.shape[2]} [Op:{node}]"
        )
    geometry = padded(x.shape[1:-1], geometry, padding, first, node)
    out = convolve_depthwise(x, filters, geometry)
    return jnp.moveaxis(out, -1, 1) if first else out


@op(
    "nn.depthwise_conv2d",
    node="DepthwiseConv2dNative",
    dtypes=_FLOATS,
    heavy=True,
    cases=(
        'f32[2,5,5,3], f32[3,3,3,1], [1, 1, 1, 1], "SAME"',
        'f64[1,5,5,2], f64[2,2,2,2], [1, 2, 2, 1], "VALID"',
        'f32[1,6,6,2], f32[2,2,2,1], [1, 1, 1, 1], "VALID", dilations=[2, 2]',
    ),
)
def depthwise_conv2d(
    input: Same,
    filter: Same,
    strides: StaticInts,
    padding: Any,
    data_format: str | None = None,
    dilations: StaticInts | None = None,
    name: str | None = None,
) -> Array:
    """Convolution where every channel has filters of its own.

    Args:
        input: `[batch, height, width, in]`, or channels first if `data_format` is "NCHW".
        filter: `[rows, columns, in, multiplier]`, the dtype of `input`.
        strides: Distance between windows: 2 or 4 numbers.
        padding: "SAME", "VALID", or a (before, after) pair for each axis of `input`.
        data_format: "NHWC" (also None) or "NCHW".
        dilations: Distance between the elements that a window meets: 1, 2 or 4 numbers.
        name: Ignored.

    Returns:
        `[batch, rows, columns, in * multiplier]` (or channels first), the dtype of `input`; the
        outputs of one channel are neighbours.

    Raises:
        InvalidArgumentError: The shapes do not fit, or `padding` or `data_format` is unknown.
        ValueError: The length of `strides`, `dilations` or `padding` is wrong.
        TypeError: `strides` is one number.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant([[[[1.0, 10.0]]]])
        >>> filter = tf.constant([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> tf.nn.depthwise_conv2d(x, filter, [1, 1, 1, 1], "VALID").numpy().tolist()
        [[[[1.0, 2.0, 30.0, 40.0]]]]

    *Differs from TensorFlow*: the two spatial strides may differ, and channels may come first on
    the CPU too.
    """
    return depthwise_of(input, filter, strides, padding, data_format, dilations)


@op(
    "nn.separable_conv2d",
    node="Conv2D",
    dtypes=_FLOATS,
    heavy=True,
    cases=(
        'f32[1,5,5,3], f32[3,3,3,1], f32[1,1,3,2], [1, 1, 1, 1], "SAME"',
        'f64[1,5,5,2], f64[2,2,2,2], f64[1,1,4,3], [1, 2, 2, 1], "VALID"',
    ),
)
def separable_conv2d(
    input: Same,
    depthwise_filter: Same,
    pointwise_filter: Same,
    strides: StaticInts,
    padding: Any,
    data_format: str | None = None,
    dilations: StaticInts | None = None,
    name: str | None = None,
) -> Array:
    """`tf.nn.depthwise_conv2d`, then a 1 by 1 convolution that mixes the channels.

    Args:
        input: `[batch, height, width, in]`, or channels first if `data_format` is "NCHW".
        depthwise_filter: `[rows, columns, in, multiplier]`, the dtype of `input`.
        pointwise_filter: `[1, 1, in * multiplier, out]`, the dtype of `input`.
        strides: Distance between windows: 2 or 4 numbers.
        padding: "SAME", "VALID", or a (before, after) pair for each axis of `input`.
        data_format: "NHWC" (also None) or "NCHW".
        dilations: Distance between the elements that a window meets: 1, 2 or 4 numbers.
        name: Ignored.

    Returns:
        `[batch, rows, columns, out]` (or channels first), the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes do not fit, or `padding` or `data_format` is unknown.
        ValueError: `pointwise_filter` is not 1 by 1, or the length of an argument is wrong.

    Example:
        >>> import tapejax as tf
        >>> x, deep = tf.constant([[[[1.0, 10.0]]]]), tf.constant([[[[1.0], [2.0]]]])
        >>> y = tf.nn.separable_conv2d(x, deep, tf.ones([1, 1, 2, 1]), [1] * 4, "VALID")
        >>> y.numpy().tolist()
        [[[[21.0]]]]
    """
    if pointwise_filter.shape[:2] != (1, 1):
        raise ValueError(
            "`pointwise_filter` must be [1, 1, channels, outputs]. "
            f"Received: pointwise_filter.shape={pointwise_filter.shape}"
        )
    deep = depthwise_of(input, depthwise_filter, strides, padding, data_format, dilations)
    return convolution_of(deep, pointwise_filter, 2, 1, "VALID", data_format, None)
