"""Quantization: floats as integers of few bits and back.

TensorFlow has dtypes of their own for quantized integers (`tf.quint8`); here they are held by the
plain integers of the same width, which is also what `.numpy()` gives in TensorFlow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import as_dtype, float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import (
    Array,
    DTypeLike,
    StaticInts,
    TensorLike,
    ValueCheck,
    op,
    public,
)
from tapejax._src.ops.quantized_ranges import ROUNDING, along, half_away, one_of, scaled

_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
_QUANTIZED = {
    "qint8": np.int8,
    "quint8": np.uint8,
    "qint32": np.int32,
    "qint16": np.int16,
    "quint16": np.uint16,
}


class QuantizeV2(NamedTuple):
    """What `tf.quantization.quantize` returns: integers and the range that they stand for."""

    output: Any
    output_min: Any
    output_max: Any


def _integers(dtype: Any, node: str) -> np.dtype[Any]:
    name = as_dtype(dtype).name
    plain = {np.dtype(held).name: held for held in _QUANTIZED.values()}
    held = _QUANTIZED.get(name, plain.get(name))
    if held is None:
        raise InvalidArgumentError(
            f"Value for attr 'T' of {name} is not in the list of allowed values: "
            f"{', '.join(_QUANTIZED)} [Op:{node}]"
        )
    return np.dtype(held)


class _Range(NamedTuple):
    """The integers of a dtype: the least, the greatest, how many, and their bits."""

    least: float
    most: float
    number: float


def _range(dtype: np.dtype[Any]) -> _Range:
    info = np.iinfo(dtype)
    return _Range(float(info.min), float(info.max), 2.0**info.bits)


def _held(x: Array, dtype: np.dtype[Any]) -> Array:
    """Whole numbers as integers, cut to what the dtype holds."""
    info = np.iinfo(dtype)
    return jnp.clip(x.astype(jnp.float64), info.min, info.max).astype(dtype)


def _not_a_range(input: Array, min_range: Array, max_range: Array, **_: Any) -> tuple[Any, ...]:
    return jnp.any(min_range > max_range), 0


@op(
    "_quantize",
    node="QuantizeV2",
    gradient="lookup",
    check=ValueCheck(
        _not_a_range, lambda *_: "input_max_range must be larger than input_min_range."
    ),
    cases=(
        'f32[9], f32[] in (-2, -1), f32[] in (1, 2), tf.uint8, "SCALED", "HALF_TO_EVEN", False',
    ),
)
def _quantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    T: DTypeLike,
    mode: str,
    round_mode: str,
    narrow_range: bool,
    axis: StaticInts | None = None,
    ensure_minimum_range: float = 0.01,
) -> QuantizeV2:
    node = "QuantizeV2"
    dtype = np.dtype(T)
    x = input.astype(jnp.float32)
    shapes = min_range.shape, max_range.shape
    low = jnp.minimum(along(min_range.astype(jnp.float32), x, axis, "min_range", node), 0)
    high = along(max_range.astype(jnp.float32), x, axis, "max_range", node)
    size = jnp.maximum(jnp.maximum(jnp.abs(low), jnp.abs(high)), 1)
    high = jnp.maximum(jnp.maximum(high, low + size * jnp.float32(ensure_minimum_range)), 0)
    least, most, count = _range(dtype)
    if mode == "SCALED":
        low, high, scale, _ = scaled(low, high, (least + narrow_range, most))
        out = ROUNDING[round_mode](jnp.clip(x, low, high) * scale)
    elif mode == "MIN_COMBINED":
        scale = jnp.float32(most - least) / (high - low)
        out = (jnp.clip(x, low, high) - low) * scale
        out = half_away(out - (count / 2 if least else 0))
    else:
        scale = jnp.float64(count) / (_double(high - low) * (count / (count - 1)))
        out = half_away(_double(x) * scale) - half_away(_double(low) * scale) + least
    bounds = (
        jnp.broadcast_to(bound.reshape(-1) if bound.ndim else bound, max(shapes, key=len))
        for bound in (low, high)
    )
    return QuantizeV2(_held(out, dtype), *bounds)


def _double(x: Array) -> Array:
    return x.astype(jnp.float64)


@public("quantization.quantize")
def quantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
    narrow_range: bool = False,
    axis: int | None = None,
    ensure_minimum_range: float = 0.01,
) -> QuantizeV2:
    """Floats as integers of few bits.

    Args:
        input: Any shape, float32.
        min_range: The least number to be held, a scalar (a vector with `axis`).
        max_range: The greatest; the range is widened to contain 0 and to be not too small.
        T: `tf.quint8`, `tf.qint8`, `tf.qint32`, `tf.qint16` or `tf.quint16`.
        mode: "MIN_COMBINED" (the ends of the range on the ends of the integers), "MIN_FIRST" (the
            same with 0 held exactly) or "SCALED" (0 on 0).
        round_mode: "HALF_AWAY_FROM_ZERO", or in mode "SCALED" also "HALF_TO_EVEN".
        name: Ignored.
        narrow_range: In mode "SCALED" leave out the lowest integer.
        axis: The axis whose places have ranges of their own; None or -1 for one range.
        ensure_minimum_range: The smallest range, relative to its ends.

    Returns:
        `(output, output_min, output_max)`: the integers, and the range that they stand for.

    Raises:
        InvalidArgumentError: If an option is unknown, a shape does not fit, or `min_range` exceeds
            `max_range`.
        LookupError: On asking for a gradient.

    Example:
        >>> import tapejax as tf
        >>> y = tf.quantization.quantize([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8)
        >>> y.output.numpy().tolist()
        [0, 128, 255]

    *Differs from TensorFlow*: the output has the plain dtype of the same width (`tf.uint8` for
    `tf.quint8`), as has TensorFlow's `output.numpy()`.
    """
    dtype = _integers(T, "QuantizeV2")
    one_of(mode, _MODES, "mode", "QuantizeV2")
    rounding = ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN")
    one_of(round_mode, rounding, "round_mode", "QuantizeV2")
    if mode != "SCALED" and round_mode != rounding[0]:
        raise InvalidArgumentError(
            f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', b mode is '{mode}'. "
            "[Op:QuantizeV2]"
        )
    options = mode, round_mode, bool(narrow_range)
    return _quantize(
        input, min_range, max_range, dtype, *options, axis, float(ensure_minimum_range)
    )


@op(
    "_dequantize",
    node="Dequantize",
    gradient="lookup",
    cases=('i8[9], f32[] in (-2, -1), f32[] in (1, 2), "SCALED"',),
)
def _dequantize(
    input: TensorLike,
    min_range: TensorLike,
    max_range: TensorLike,
    mode: str,
    axis: StaticInts | None = None,
    narrow_range: bool = False,
    dtype: DTypeLike = np.float32,
) -> Array:
    node = "Dequantize"
    low = along(min_range.astype(jnp.float32), input, axis, "min_range", node)
    high = along(max_range.astype(jnp.float32), input, axis, "max_range", node)
    least, most, count = _range(np.dtype(input.dtype))
    x = input.astype(jnp.float32)
    if mode == "MIN_COMBINED":
        step = (high - low) / jnp.float32(most - least)
        out = (x + (count / 2 if least else 0)) * step + low
    elif mode == "MIN_FIRST":
        step = _double(high - low) * (count / (count - 1)) / count
        begin = jnp.where(low == high, _double(low), half_away(_double(low) / step) * step)
        out = jnp.where(low == high, begin, (_double(x) - least) * step + begin)
    else:
        least = least + narrow_range if least else 0.0
        of_high = high / jnp.float32(most)
        out = x * (jnp.maximum(low / jnp.float32(least), of_high) if least else of_high)
    return out.astype(np.dtype(dtype))


@public("quantization.dequantize")
def dequantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    axis: int | None = None,
    narrow_range: bool = False,
    dtype: Any = float32,
) -> Any:
    """Integers that `tf.quantization.quantize` made, as floats.

    Args:
        input: Any shape; int8, uint8, int16, uint16 or int32.
        min_range: The least number that the integers stand for, a scalar (a vector with `axis`).
        max_range: The greatest.
        mode: "MIN_COMBINED", "MIN_FIRST" or "SCALED", as they were quantized.
        name: Ignored.
        axis: The axis whose places have ranges of their own; None or -1 for one range.
        narrow_range: Whether the lowest integer was left out.
        dtype: `tf.float32` or `tf.bfloat16`.

    Returns:
        The shape of `input`, `dtype`.

    Raises:
        InvalidArgumentError: If an option or a dtype is not allowed, or a shape does not fit.
        LookupError: On asking for a gradient.

    Example:
        >>> import tapejax as tf
        >>> y = tf.quantization.quantize([0.0, 0.5, 1.0], 0.0, 1.0, tf.qint8, "SCALED")
        >>> tf.quantization.dequantize(*y, "SCALED").numpy().round(2).tolist()
        [0.0, 0.5, 1.0]
    """
    one_of(mode, _MODES, "mode", "Dequantize")
    wanted = as_dtype(dtype)
    if wanted.name not in ("float32", "bfloat16"):
        raise InvalidArgumentError(
            f"Output type must be bfloat16 or float, is {wanted.name} [Op:Dequantize]"
        )
    found = getattr(input, "dtype", None)
    if found is not None:
        _integers(found, "Dequantize")
    kind = np.dtype(wanted.as_numpy_dtype)
    return _dequantize(input, min_range, max_range, mode, axis, bool(narrow_range), kind)
