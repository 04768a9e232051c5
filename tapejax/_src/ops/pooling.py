"""Maximum and average over sliding windows."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, op
from tapejax._src.ops.pooling_kernels import maximum, mean
from tapejax._src.ops.windows import Geometry, channels_first, padded, spatial

_MAX_DTYPES = "half bfloat16 float double int32 int64 uint8 int16 int8 uint16"
_AVG_DTYPES = "half bfloat16 float double"
_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}
_RANKS = {1: "1D", 2: "", 3: "3D"}


def _check_positive(geometry: Geometry, node: str) -> None:
    if any(size <= 0 for size in geometry.window):
        raise InvalidArgumentError(
            "Sliding window ksize must be positive. The specified or inferred ksize is: "
            f"{list(geometry.window)} [Op:{node}]"
        )
    for stride in geometry.strides:
        if stride <= 0:
            raise InvalidArgumentError(f"Stride must be > 0, but got {stride} [Op:{node}]")
    if any(dilation <= 0 for dilation in geometry.dilations):
        raise InvalidArgumentError(f"Dilated rates should be larger than 0. [Op:{node}]")


def _check_fits(geometry: Geometry, sizes: tuple[int, ...], node: str) -> None:
    for size, window, stride, dilation, pad, count in zip(
        sizes, *geometry, geometry.output(sizes), strict=True
    ):
        if count < 0 or (count == 0 and size + sum(pad) > 0):
            span = (window - 1) * dilation + 1
            raise InvalidArgumentError(
                f"Computed output size would be negative: {count} [input_size: {size}, "
                f"effective_filter_size: {span}, stride: {stride}] [Op:{node}]"
            )
        if any(side >= (window - 1) * dilation + 1 for side in pad):
            raise InvalidArgumentError(
                f"Pads {pad} must be smaller than the window, {window}: a window would hold "
                f"padding only [Op:{node}]"
            )


def fitted(
    geometry: Geometry, sizes: tuple[int, ...], padding: Any, first: bool, node: str, explicit: bool
) -> Geometry:
    """`geometry` with its pads, if its window fits into an image of these sizes; else the error."""
    _check_positive(geometry, node)
    geometry = padded(sizes, geometry, padding, first, node, explicit=explicit)
    _check_fits(geometry, sizes, node)
    return geometry


def pooled(
    x: Array,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    kind: str,
    rank: int | None = None,
    dilations: Any = None,
) -> Array:
    """Pooling as every op here does it: `kind` is "Max" or "Avg", `rank` the spatial axes."""
    if rank is None:
        rank = x.ndim - 2
        if rank not in _FORMATS:
            raise ValueError(
                "`input.shape.rank` must be 3, 4 or 5. "
                f"Received: input.shape={x.shape} of rank {x.ndim}."
            )
    node = f"{kind}Pool{_RANKS[rank]}" if rank == 3 else f"{kind}Pool"
    first = channels_first(data_format or _FORMATS[rank][0], _FORMATS[rank], node)
    if x.ndim != rank + 2:
        raise InvalidArgumentError(
            f"input must have {rank + 2} axes: batch, {rank} spatial, channels. "
            f"Received: input.shape={x.shape} [Op:{node}]"
        )
    if first:
        x = jnp.moveaxis(x, 1, -1)
    sizes = x.shape[1:-1]
    geometry = Geometry(
        spatial(ksize, rank, first, "ksize", node),
        spatial(strides, rank, first, "strides", node),
        spatial(dilations, rank, first, "dilations", node),
        (),
    )
    explicit = kind == "Max" and rank == 2
    geometry = fitted(geometry, sizes, padding, first, node, explicit)
    out = maximum(x, geometry) if kind == "Max" else mean(x, geometry)
    return jnp.moveaxis(out, -1, 1) if first else out


@op(
    "nn.max_pool",
    node="MaxPool",
    dtypes=_MAX_DTYPES,
    cases=(
        'f32[2,4,4,2] distinct, 2, 2, "VALID"',
        'f64[1,5,5,2] distinct, [3, 3], [2, 2], "SAME"',
        'f32[2,6,3] distinct, 2, 1, "VALID"',
        'f32[1,3,3,3,2] distinct, 2, 1, "SAME", "NDHWC"',
        'i32[1,4,4,1], 2, 2, "VALID"',
    ),
)
def max_pool(
    input: Same,
    ksize: StaticInts,
    strides: StaticInts,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Array:
    """The largest element of each window, for 1, 2 or 3 spatial axes.

    Args:
        input: `[batch, *spatial, channels]`, or `[batch, channels, *spatial]` if `data_format`
            starts with "NC".
        ksize: Size of the window: one number for all spatial axes, one each, or one for each axis
            of `input`.
        strides: Distance between windows, in the same forms.
        padding: "SAME", "VALID", or, for two spatial axes, a (before, after) pair for each axis
            of `input`. Padding never wins.
        data_format: "NWC", "NHWC", "NDHWC" or their "NC..." forms; None means channels last.
        name: Ignored.

    Returns:
        The rank and the dtype of `input`. The gradient goes to the first of equal elements.

    Raises:
        ValueError: The rank of `input` or the length of an argument is wrong.
        InvalidArgumentError: No window fits, or `padding` or `data_format` is unknown.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.max_pool([[[1.0], [3.0], [2.0], [0.0]]], 2, 2, "VALID").numpy().tolist()
        [[[3.0], [2.0]]]

    *Differs from TensorFlow*: channels may come first on the CPU too; NaN in a window gives NaN.
    """
    return pooled(input, ksize, strides, padding, data_format, "Max")


@op(
    "nn.max_pool1d",
    node="MaxPool",
    dtypes=_MAX_DTYPES,
    cases=('f32[2,6,3] distinct, 2, 2, "VALID"', 'f64[2,5,2] distinct, 3, 2, "SAME"'),
)
def max_pool1d(
    input: Same,
    ksize: StaticInts,
    strides: StaticInts,
    padding: str,
    data_format: str = "NWC",
    name: str | None = None,
) -> Array:
    """`tf.nn.max_pool` for one spatial axis.

    Args:
        input: `[batch, width, channels]`, or `[batch, channels, width]` if `data_format` is "NCW".
        ksize: Size of the window.
        strides: Distance between windows.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        name: Ignored.

    Returns:
        `[batch, windows, channels]` (or channels first), the dtype of `input`.

    Raises:
        ValueError: The length of an argument is wrong.
        InvalidArgumentError: No window fits, or `padding` or `data_format` is unknown.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.max_pool1d([[[1.0], [3.0], [2.0]]], 2, 1, "VALID").numpy().tolist()
        [[[3.0], [3.0]]]
    """
    return pooled(input, ksize, strides, padding, data_format, "Max", 1)


@op(
    "nn.max_pool2d",
    node="MaxPool",
    dtypes=_MAX_DTYPES,
    cases=('f32[2,4,4,2] distinct, 2, 2, "VALID"', 'f64[1,5,4,2] distinct, [3, 2], [2, 1], "SAME"'),
)
def max_pool2d(
    input: Same,
    ksize: StaticInts,
    strides: StaticInts,
    padding: Any,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Array:
    """`tf.nn.max_pool` for two spatial axes.

    Args:
        input: `[batch, height, width, channels]`, or `[batch, channels, height, width]` if
            `data_format` is "NCHW".
        ksize: Size of the window: 1, 2 or 4 numbers.
        strides: Distance between windows: 1, 2 or 4 numbers.
        padding: "SAME", "VALID", or a (before, after) pair for each axis of `input`.
        data_format: "NHWC" or "NCHW".
        name: Ignored.

    Returns:
        `[batch, rows, columns, channels]` (or channels first), the dtype of `input`.

    Raises:
        ValueError: The length of an argument is wrong.
        InvalidArgumentError: No window fits, or `padding` or `data_format` is unknown.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.max_pool2d([[[[1.0], [3.0]], [[4.0], [2.0]]]], 2, 2, "VALID").numpy().tolist()
        [[[[4.0]]]]
    """
    return pooled(input, ksize, strides, padding, data_format, "Max", 2)


@op(
    "nn.max_pool3d",
    node="MaxPool3D",
    dtypes="half bfloat16 float",
    cases=('f32[1,4,4,2,2] distinct, 2, 2, "VALID"', 'f32[1,3,3,3,1] distinct, 2, 1, "SAME"'),
)
def max_pool3d(
    input: Same,
    ksize: StaticInts,
    strides: StaticInts,
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Array:
    """`tf.nn.max_pool` for three spatial axes.

    Args:
        input: `[batch, depth, height, width, channels]`, or `[batch, channels, depth, height,
            width]` if `data_format` is "NCDHW".
        ksize: Size of the window: 1, 3 or 5 numbers.
        strides: Distance between windows: 1, 3 or 5 numbers.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        name: Ignored.

    Returns:
        The rank and the dtype of `input`.

    Raises:
        ValueError: The length of an argument is wrong.
        InvalidArgumentError: No window fits, or `padding` or `data_format` is unknown.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.max_pool3d(tf.ones([1, 2, 4, 4, 3]), 2, 2, "VALID").shape
        TensorShape([1, 1, 2, 2, 3])
    """
    return pooled(input, ksize, strides, padding, data_format, "Max", 3)


@op(
    "nn.avg_pool",
    node="AvgPool",
    dtypes=_AVG_DTYPES,
    cases=(
        'f32[2,4,4,2], 2, 2, "VALID"',
        'f64[1,5,5,2], [3, 3], [2, 2], "SAME"',
        'f32[2,6,3], 2, 1, "VALID"',
        'f32[1,3,3,3,2], 2, 1, "SAME", "NDHWC"',
        'f16[1,4,4,1], 2, 1, "SAME"',
    ),
)
def avg_pool(
    input: Same,
    ksize: StaticInts,
    strides: StaticInts,
    padding: str,
    data_format: str | None = None,
    name: str | None = None,
) -> Array:
    """The mean of each window, for 1, 2 or 3 spatial axes; padding does not count.

    Args:
        input: `[batch, *spatial, channels]`, or `[batch, channels, *spatial]` if `data_format`
            starts with "NC"; floating point.
        ksize: Size of the window: one number for all spatial axes, one each, or one for each axis
            of `input`.
        strides: Distance between windows, in the same forms.
        padding: "SAME" or "VALID".
        data_format: "NWC", "NHWC", "NDHWC" or their "NC..." forms; None means channels last.
        name: Ignored.

    Returns:
        The rank and the dtype of `input`.

    Raises:
        ValueError: The rank of `input` or the length of an argument is wrong.
        TypeError: `padding` is a list.
        InvalidArgumentError: No window fits, or `padding` or `data_format` is unknown.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.avg_pool([[[1.0], [3.0], [2.0]]], 2, 2, "SAME").numpy().tolist()
        [[[2.0], [2.0]]]

    *Differs from TensorFlow*: channels may come first on the CPU too.
    """
    return pooled(input, ksize, strides, padding, data_format, "Avg")


@op(
    "nn.avg_pool1d",
    node="AvgPool",
    dtypes=_AVG_DTYPES,
    cases=('f32[2,6,3], 2, 2, "VALID"', 'f64[2,5,2], 3, 2, "SAME"'),
)
def avg_pool1d(
    input: Same,
    ksize: StaticInts,
    strides: StaticInts,
    padding: str,
    data_format: str = "NWC",
    name: str | None = None,
) -> Array:
    """`tf.nn.avg_pool` for one spatial axis.

    Args:
        input: `[batch, width, channels]`, or `[batch, channels, width]` if `data_format` is "NCW".
        ksize: Size of the window.
        strides: Distance between windows.
        padding: "SAME" or "VALID".
        data_format: "NWC" or "NCW".
        name: Ignored.

    Returns:
        `[batch, windows, channels]` (or channels first), the dtype of `input`.

    Raises:
        ValueError: The length of an argument is wrong.
        InvalidArgumentError: No window fits, or `padding` or `data_format` is unknown.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.avg_pool1d([[[1.0], [3.0], [2.0]]], 2, 1, "VALID").numpy().tolist()
        [[[2.0], [2.5]]]
    """
    return pooled(input, ksize, strides, padding, data_format, "Avg", 1)


@op(
    "nn.avg_pool2d",
    node="AvgPool",
    dtypes=_AVG_DTYPES,
    cases=('f32[2,4,4,2], 2, 2, "VALID"', 'f64[1,5,4,2], [3, 2], [2, 1], "SAME"'),
)
def avg_pool2d(
    input: Same,
    ksize: StaticInts,
    strides: StaticInts,
    padding: str,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Array:
    """`tf.nn.avg_pool` for two spatial axes.

    Args:
        input: `[batch, height, width, channels]`, or `[batch, channels, height, width]` if
            `data_format` is "NCHW".
        ksize: Size of the window: 1, 2 or 4 numbers.
        strides: Distance between windows: 1, 2 or 4 numbers.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        name: Ignored.

    Returns:
        `[batch, rows, columns, channels]` (or channels first), the dtype of `input`.

    Raises:
        ValueError: The length of an argument is wrong.
        InvalidArgumentError: No window fits, or `padding` or `data_format` is unknown.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.avg_pool2d([[[[1.0], [3.0]], [[4.0], [2.0]]]], 2, 2, "VALID").numpy().tolist()
        [[[[2.5]]]]
    """
    return pooled(input, ksize, strides, padding, data_format, "Avg", 2)


@op(
    "nn.avg_pool3d",
    node="AvgPool3D",
    dtypes=_AVG_DTYPES,
    cases=('f32[1,4,4,2,2], 2, 2, "VALID"', 'f32[1,3,3,3,1], 2, 1, "SAME"'),
)
def avg_pool3d(
    input: Same,
    ksize: StaticInts,
    strides: StaticInts,
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Array:
    """`tf.nn.avg_pool` for three spatial axes.

    Args:
        input: `[batch, depth, height, width, channels]`, or `[batch, channels, depth, height,
            width]` if `data_format` is "NCDHW".
        ksize: Size of the window: 1, 3 or 5 numbers.
        strides: Distance between windows: 1, 3 or 5 numbers.
        padding: "SAME" or "VALID".
        data_format: "NDHWC" or "NCDHW".
        name: Ignored.

    Returns:
        The rank and the dtype of `input`.

    Raises:
        ValueError: The length of an argument is wrong.
        InvalidArgumentError: No window fits, or `padding` or `data_format` is unknown.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.avg_pool3d(tf.ones([1, 2, 4, 4, 3]), 2, 2, "VALID").shape
        TensorShape([1, 1, 2, 2, 3])
    """
    return pooled(input, ksize, strides, padding, data_format, "Avg", 3)
