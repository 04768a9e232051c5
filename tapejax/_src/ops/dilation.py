"""Greyscale dilation and erosion: the largest sum, and smallest difference, under a window."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, op
from tapejax._src.ops.windows import Geometry, channels_first, padded, slices, spatial

_DTYPES = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"


def _numbers(value: Any, name: str, node: str) -> tuple[int, ...]:
    """The two spatial entries of a list of four."""
    if isinstance(value, int) or value is None:
        raise TypeError(
            f"Expected list for '{name}' argument to '{node.lower()}' Op, not {value}. "
            f"Write {name}=[1, {value or 1}, {value or 1}, 1]."
        )
    if len(value) != 4:
        raise InvalidArgumentError(
            f"{name} must have 4 entries, one for each axis. Received: {name}={list(value)} "
            f"[Op:{node}]"
        )
    found = spatial(value, 2, False, name, node)
    if any(number <= 0 for number in found):
        raise InvalidArgumentError(f"{name} must be positive: {list(value)} [Op:{node}]")
    return found


def _dilated(
    x: Array,
    filters: Array,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
    node: str = "Dilation2D",
) -> Array:
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other than 'NHWC' are not supported. Received: {data_format=}"
        )
    channels_first(data_format, ("NHWC",), node)
    steps, rates = _numbers(strides, "strides", node), _numbers(dilations, "rates", node)
    if x.ndim != 4 or filters.ndim != 3:
        raise InvalidArgumentError(
            "input must be 4-dimensional and filters 3-dimensional: "
            f"{list(x.shape)} and {list(filters.shape)} [Op:{node}]"
        )
    if x.shape[-1] != filters.shape[-1]:
        raise InvalidArgumentError(
            f"input and filter must have the same depth: {x.shape[-1]} vs {filters.shape[-1]} "
            f"[Op:{node}]"
        )
    geometry = Geometry(filters.shape[:2], steps, rates, ())
    geometry = padded(x.shape[1:3], geometry, padding, False, node, explicit=False)
    for size, window, step, rate, pad in zip(x.shape[1:3], *geometry, strict=True):
        room = size + sum(pad) - ((window - 1) * rate + 1) + step
        if room <= -step:
            raise InvalidArgumentError(
                f"Computed output size would be negative: {-(-room // step)} [input_size: {size}, "
                f"effective_filter_size: {(window - 1) * rate + 1}, stride: {step}] [Op:{node}]"
            )
    counts = tuple(max(count, 0) for count in geometry.output(x.shape[1:3]))
    if 0 in counts or 0 in filters.shape:
        return jnp.zeros((x.shape[0], *counts, x.shape[-1]), x.dtype) + 0 * jnp.sum(x)
    inside = slices(jnp.ones((1, *x.shape[1:3], 1), bool), geometry, False)
    weights = filters.reshape(-1, filters.shape[-1])
    best, seen = jnp.zeros((), x.dtype), jnp.zeros((), bool)
    for tap, weight, within in zip(slices(x, geometry), weights, inside, strict=True):
        total = tap + weight
        # Strictly greater: the first of equal sums stays. Outside of the image nothing wins.
        best = jnp.where(within & (~seen | (total > best)), total, best)
        seen = seen | within
    return best


@op(
    "nn.dilation2d",
    node="Dilation2D",
    dtypes=_DTYPES,
    heavy=True,
    cases=(
        'f32[1,4,4,2], f32[2,2,2], [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]',
        'f64[2,5,5,1], f64[3,2,1], [1, 2, 1, 1], "VALID", "NHWC", [1, 1, 2, 1]',
        'f32[1,5,4,1], f32[3,3,1], [1, 2, 2, 1], "SAME", "NHWC", [1, 2, 1, 1]',
        'i32[1,4,4,1], i32[2,2,1], [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]',
    ),
)
def dilation2d(
    input: Same,
    filters: Same,
    strides: StaticInts,
    padding: str,
    data_format: str,
    dilations: StaticInts,
    name: str | None = None,
) -> Array:
    """Greyscale dilation: the largest sum of input and filter under each window.

    Args:
        input: `[batch, height, width, channels]`, any real dtype.
        filters: `[rows, columns, channels]`, the dtype of `input`.
        strides: `[1, vertical, horizontal, 1]`, the distance between windows.
        padding: "SAME" or "VALID". Padding never wins.
        data_format: "NHWC".
        dilations: `[1, vertical, horizontal, 1]`, the distance between the elements that a window
            meets.
        name: Ignored.

    Returns:
        `[batch, rows, columns, channels]`, the dtype of `input`. Gradients go to the first of
        equal sums.

    Raises:
        InvalidArgumentError: The shapes do not fit, or `padding` is unknown.
        ValueError: `data_format` is not "NHWC".
        TypeError: `strides` or `dilations` is one number.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant([[[[1.0], [5.0], [2.0]]]])
        >>> y = tf.nn.dilation2d(x, tf.zeros([1, 2, 1]), [1] * 4, "VALID", "NHWC", [1] * 4)
        >>> y.numpy().ravel().tolist()
        [5.0, 5.0]
    """
    return _dilated(input, filters, strides, padding, data_format, dilations)


@op(
    "nn.erosion2d",
    node="Dilation2D",
    dtypes=_DTYPES,
    heavy=True,
    cases=(
        'f32[1,4,4,2], f32[2,2,2], [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]',
        'f64[2,5,5,1], f64[3,2,1], [1, 2, 1, 1], "VALID", "NHWC", [1, 1, 2, 1]',
        'i32[1,4,4,1], i32[2,2,1], [1, 1, 1, 1], "VALID", "NHWC", [1, 1, 1, 1]',
    ),
)
def erosion2d(
    value: Same,
    filters: Same,
    strides: StaticInts,
    padding: str,
    data_format: str,
    dilations: StaticInts,
    name: str | None = None,
) -> Array:
    """Greyscale erosion: the smallest difference of input and filter under each window.

    Args:
        value: `[batch, height, width, channels]`, any real dtype.
        filters: `[rows, columns, channels]`, the dtype of `value`.
        strides: `[1, vertical, horizontal, 1]`, the distance between windows.
        padding: "SAME" or "VALID". Padding never wins.
        data_format: "NHWC".
        dilations: `[1, vertical, horizontal, 1]`, the distance between the elements that a window
            meets.
        name: Ignored.

    Returns:
        `[batch, rows, columns, channels]`, the dtype of `value`.

    Raises:
        InvalidArgumentError: The shapes do not fit, or `padding` is unknown.
        ValueError: `data_format` is not "NHWC".
        TypeError: `strides` or `dilations` is one number.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant([[[[1.0], [5.0], [2.0]]]])
        >>> y = tf.nn.erosion2d(x, tf.zeros([1, 2, 1]), [1] * 4, "VALID", "NHWC", [1] * 4)
        >>> y.numpy().ravel().tolist()
        [1.0, 2.0]
    """
    mirrored = jnp.flip(filters, (0, 1)) if filters.ndim == 3 else filters
    return -_dilated(-value, mirrored, strides, padding, data_format, dilations)
