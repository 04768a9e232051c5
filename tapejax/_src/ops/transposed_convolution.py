"""Transposed convolutions of `tf.nn`: the gradient of a convolution by its input, as an op."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, op
from tapejax._src.ops.convolution import FORMATS, window_of
from tapejax._src.ops.convolution_kernels import convolve_transposed
from tapejax._src.ops.windows import Geometry, channels_first, padded

_DTYPES = "half bfloat16 float double int32"
_NODES = {1: "Conv2DBackpropInput", 2: "Conv2DBackpropInput", 3: "Conv3DBackpropInputV2"}


def _spatial_sizes(
    output_shape: Any, x: Array, filters: Array, first: bool, node: str
) -> tuple[int, ...]:
    """The spatial part of `output_shape`; the rest of it must agree with the other arguments."""
    rank = x.ndim - 2
    shape = (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)
    if len(shape) == 1:
        shape = shape * rank
    if len(shape) == rank:
        return shape
    if len(shape) != rank + 2:
        raise ValueError(
            f"output_shape should be of length 1, {rank} or {rank + 2}. "
            f"Received: output_shape={list(shape)} of length {len(shape)}"
        )
    channels = shape[1] if first else shape[-1]
    if (shape[0], channels) != (x.shape[0], filters.shape[-2]):
        raise InvalidArgumentError(
            f"output_shape={list(shape)} must have the batch size of the input, {x.shape[0]}, and "
            f"the channels of the filter's axis {filters.ndim - 2}, {filters.shape[-2]} [Op:{node}]"
        )
    return shape[2:] if first else shape[1:-1]


def _check_counts(x: Array, sizes: tuple[int, ...], geometry: Geometry, node: str) -> None:
    for axis, (actual, computed) in enumerate(
        zip(x.shape[1:-1], geometry.output(sizes), strict=True)
    ):
        if actual != computed:
            raise InvalidArgumentError(
                f"The input has {actual} elements along spatial axis {axis}, but a convolution of "
                f"{sizes[axis]} elements with window {geometry.window[axis]}, stride "
                f"{geometry.strides[axis]} and dilation {geometry.dilations[axis]} gives "
                f"{computed}. Write another output_shape, strides or padding [Op:{node}]"
            )


def _transposed(
    x: Array,
    filters: Array,
    output_shape: Any,
    rank: int,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
) -> Array:
    node = _NODES[rank]
    first = channels_first(data_format or FORMATS[rank][0], FORMATS[rank], node)
    if x.ndim != rank + 2 or filters.ndim != rank + 2:
        raise InvalidArgumentError(
            f"input and filters must be {rank + 2}-dimensional: {list(x.shape)} and "
            f"{list(filters.shape)} [Op:{node}]"
        )
    geometry = window_of(filters, strides, dilations, first, node)
    sizes = _spatial_sizes(output_shape, x, filters, first, node)
    x = jnp.moveaxis(x, 1, -1) if first else x
    if x.shape[-1] != filters.shape[-1]:
        raise InvalidArgumentError(
            f"filter and input must have the same out_depth: {filters.shape[-1]} vs "
            f"{x.shape[-1]} [Op:{node}]"
        )
    geometry = padded(sizes, geometry, padding, first, node, explicit=rank == 2)
    _check_counts(x, sizes, geometry, node)
    out = convolve_transposed(x, filters, sizes, geometry)
    return jnp.moveaxis(out, -1, 1) if first else out


@op(
    "nn.conv1d_transpose",
    node="Conv2DBackpropInput",
    dtypes=_DTYPES,
    heavy=True,
    cases=("f32[2,3,2], f32[2,3,2], [2, 6, 3], 2", 'f64[1,4,2], f64[3,1,2], [1, 6, 1], 1, "VALID"'),
)
def conv1d_transpose(
    input: Same,
    filters: Same,
    output_shape: StaticInts,
    strides: StaticInts,
    padding: str = "SAME",
    data_format: str = "NWC",
    dilations: StaticInts | None = None,
    name: str | None = None,
) -> Array:
    """The transpose of `tf.nn.conv1d`: from outputs to inputs.

    Args:
        input: `[batch, windows, in]`, or channels first if `data_format` is "NCW".
        filters: `[window, out, in]`, the dtype of `input`: the filters of the convolution that
            would lead back.
        output_shape: The shape of the result, `[batch, width, out]`, or its width.
        strides: Distance between windows in the result.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        dilations: Distance between the elements that a window meets.
        name: Ignored.

    Returns:
        `output_shape`, the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes do not fit.
        ValueError: The length of an argument is wrong.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant([[[1.0], [2.0]]])
        >>> tf.nn.conv1d_transpose(x, tf.ones([2, 1, 1]), [1, 4, 1], 2).numpy().tolist()
        [[[1.0], [1.0], [2.0], [2.0]]]
    """
    return _transposed(input, filters, output_shape, 1, strides, padding, data_format, dilations)


@op(
    "nn.conv2d_transpose",
    node="Conv2DBackpropInput",
    dtypes=_DTYPES,
    heavy=True,
    cases=(
        "f32[1,2,2,3], f32[2,2,2,3], [1, 4, 4, 2], 2",
        'f64[1,3,3,1], f64[2,2,2,1], [1, 4, 4, 2], 1, "VALID"',
        "f32[1,2,3,2], f32[3,3,1,2], [1, 3, 6, 1], 2",
        "f32[1,2,2,1], f32[2,2,1,1], [4, 4], 2",
    ),
)
def conv2d_transpose(
    input: Same,
    filters: Same,
    output_shape: StaticInts,
    strides: StaticInts,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    dilations: StaticInts | None = None,
    name: str | None = None,
) -> Array:
    """The transpose of `tf.nn.conv2d`: from outputs to inputs.

    Args:
        input: `[batch, rows, columns, in]`, or channels first if `data_format` is "NCHW".
        filters: `[rows, columns, out, in]`, the dtype of `input`: the filters of the convolution
            that would lead back.
        output_shape: The shape of the result, `[batch, height, width, out]`, or its two spatial
            sizes.
        strides: Distance between windows in the result: 1, 2 or 4 numbers.
        padding: "SAME", "VALID", or a (before, after) pair for each axis of the result.
        data_format: "NHWC" or "NCHW".
        dilations: Distance between the elements that a window meets: 1, 2 or 4 numbers.
        name: Ignored.

    Returns:
        `output_shape`, the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes do not fit.
        ValueError: The length of an argument is wrong.

    Example:
        >>> import tapejax as tf
        >>> x, filters = tf.ones([1, 1, 1, 1]), tf.ones([2, 2, 1, 1])
        >>> y = tf.nn.conv2d_transpose(x, filters, [1, 2, 2, 1], 2)
        >>> y[0, :, :, 0].numpy().tolist()
        [[1.0, 1.0], [1.0, 1.0]]

    *Differs from TensorFlow*: dilations above 1 and channels first work on the CPU too.
    """
    return _transposed(input, filters, output_shape, 2, strides, padding, data_format, dilations)


@op(
    "nn.conv3d_transpose",
    node="Conv3DBackpropInputV2",
    dtypes="half bfloat16 float double",
    heavy=True,
    cases=(
        "f32[1,2,2,2,2], f32[2,2,2,1,2], [1, 4, 4, 4, 1], 2",
        'f64[1,2,2,2,1], f64[2,2,2,1,1], [1, 3, 3, 3, 1], 1, "VALID"',
    ),
)
def conv3d_transpose(
    input: Same,
    filters: Same,
    output_shape: StaticInts,
    strides: StaticInts,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    dilations: StaticInts | None = None,
    name: str | None = None,
) -> Array:
    """The transpose of `tf.nn.conv3d`: from outputs to inputs.

    Args:
        input: `[batch, planes, rows, columns, in]`, or channels first if `data_format` is "NCDHW".
        filters: `[planes, rows, columns, out, in]`, the dtype of `input`.
        output_shape: The shape of the result, or its three spatial sizes.
        strides: Distance between windows in the result: 1, 3 or 5 numbers.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        dilations: Distance between the elements that a window meets: 1, 3 or 5 numbers.
        name: Ignored.

    Returns:
        `output_shape`, the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes do not fit.
        ValueError: The length of an argument is wrong.

    Example:
        >>> import tapejax as tf
        >>> filters = tf.ones([2, 2, 2, 1, 1])
        >>> tf.nn.conv3d_transpose(tf.ones([1, 1, 1, 1, 1]), filters, [1, 2, 2, 2, 1], 2).shape
        TensorShape([1, 2, 2, 2, 1])
    """
    return _transposed(input, filters, output_shape, 3, strides, padding, data_format, dilations)


@op(
    "nn.conv_transpose",
    node="Conv2DBackpropInput",
    dtypes=_DTYPES,
    heavy=True,
    cases=(
        "f32[1,2,2,3], f32[2,2,2,3], [1, 4, 4, 2], 2",
        "f64[2,3,2], f64[2,3,2], [2, 6, 3], 2",
    ),
)
def conv_transpose(
    input: Same,
    filters: Same,
    output_shape: StaticInts,
    strides: StaticInts,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: StaticInts | None = None,
    name: str | None = None,
) -> Array:
    """`tf.nn.conv1d_transpose`, `conv2d_transpose` or `conv3d_transpose`, by the rank of `filters`.

    Args:
        input: `[batch, *windows, in]`, or channels first if `data_format` starts with "NC".
        filters: `[*window, out, in]`, the dtype of `input`; rank 3, 4 or 5.
        output_shape: The shape of the result, or its spatial sizes.
        strides: Distance between windows in the result.
        padding: "SAME" or "VALID".
        data_format: "NWC", "NHWC", "NDHWC" or their "NC..." forms; None means channels last.
        dilations: Distance between the elements that a window meets.
        name: Ignored.

    Returns:
        `output_shape`, the dtype of `input`.

    Raises:
        InvalidArgumentError: The shapes do not fit.
        ValueError: The rank of `filters` or the length of an argument is wrong.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.conv_transpose(tf.ones([1, 2, 1]), tf.ones([2, 1, 1]), [1, 4, 1], 2).shape
        TensorShape([1, 4, 1])
    """
    rank = filters.ndim - 2
    if rank not in _NODES:
        raise ValueError(
            "`filters` must have 1, 2 or 3 spatial axes (rank 3, 4 or 5). "
            f"Received: filters.shape={filters.shape}"
        )
    return _transposed(input, filters, output_shape, rank, strides, padding, data_format, dilations)


@op(
    "nn.atrous_conv2d_transpose",
    node="Conv2DBackpropInput",
    dtypes=_DTYPES,
    heavy=True,
    cases=(
        'f32[1,4,4,3], f32[2,2,2,3], [1, 6, 6, 2], 2, "VALID"',
        'f64[1,5,5,1], f64[3,3,2,1], [1, 5, 5, 2], 2, "SAME"',
        'f32[1,3,3,2], f32[2,2,1,2], [1, 3, 3, 1], 1, "SAME"',
    ),
)
def atrous_conv2d_transpose(
    value: Same,
    filters: Same,
    output_shape: StaticInts,
    rate: StaticInts,
    padding: str,
    name: str | None = None,
) -> Array:
    """The transpose of `tf.nn.atrous_conv2d`: from outputs to inputs.

    Args:
        value: `[batch, height, width, in]`.
        filters: `[rows, columns, out, in]`, the dtype of `value`.
        output_shape: The shape of the result, `[batch, height, width, out]`.
        rate: Distance between the elements that a window meets.
        padding: "SAME" or "VALID".
        name: Ignored.

    Returns:
        `output_shape`, the dtype of `value`.

    Raises:
        InvalidArgumentError: The shapes do not fit, or `padding` is unknown.
        ValueError: `padding` or the length of an argument is wrong.

    Example:
        >>> import tapejax as tf
        >>> x, filters = tf.ones([1, 1, 1, 1]), tf.ones([2, 2, 1, 1])
        >>> y = tf.nn.atrous_conv2d_transpose(x, filters, [1, 3, 3, 1], 2, "VALID")
        >>> y[0, :, :, 0].numpy().tolist()
        [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 1.0]]
    """
    return _transposed(value, filters, output_shape, 2, 1, padding, "NHWC", rate)
