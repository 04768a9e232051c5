"""Quantization: floats as integers of few bits and back.

TensorFlow has dtypes of their own for quantized integers (`tf.quint8`); here they are held by the
plain integers of the same width, which is also what `.numpy()` gives in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import as_dtype, float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import (
    Array,
    DTypeLike,
    Same,
    StaticInts,
    TensorLike,
    ValueCheck,
    op,
    public,
)
from tapejax._src.ops.derivatives import unconnected, with_partials

_FLOATS = "bfloat16 half float double"
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


def _one_of(value: str, allowed: tuple[str, ...], name: str, node: str) -> None:
    if value not in allowed:
        names = ", ".join(f'"{option}"' for option in allowed)
        raise InvalidArgumentError(
            f"Value for attr '{name}' of \"{value}\" is not in the list of allowed values: {names} "
            f"[Op:{node}]"
        )


def _along(bound: Array, x: Array, axis: int | None, name: str, node: str) -> Array:
    """A bound as it broadcasts with `x`: a scalar, or one number for each place of an axis."""
    if axis is None or axis == -1:
        if bound.ndim:
            raise InvalidArgumentError(
                f"{name} must be a scalar. Received shape {bound.shape} [Op:{node}]"
            )
        return bound
    if not 0 <= axis < x.ndim:
        raise InvalidArgumentError(
            f"Axis should be at most {x.ndim - 1}, the last of input. Received: {axis} [Op:{node}]"
        )
    if bound.shape not in ((), (x.shape[axis],)):
        raise InvalidArgumentError(
            f"{name} must be a scalar or have one number for each of the {x.shape[axis]} places of "
            f"axis {axis}. Received shape {bound.shape} [Op:{node}]"
        )
    return bound.reshape(*bound.shape, *(1,) * (x.ndim - axis - 1)) if bound.ndim else bound


# ---------------------------------------------------------------------- floats that were rounded
def _limits(num_bits: int, signed: bool, narrow: bool, node: str) -> tuple[float, float]:
    if not signed <= num_bits <= 62 + (not signed) or num_bits < 1:
        raise InvalidArgumentError(
            f"num_bits is out of range: {num_bits} with signed_input_ {int(signed)} [Op:{node}]"
        )
    if not signed:
        return 0.0, 2.0**num_bits - 1
    return narrow - 2.0 ** (num_bits - 1), 2.0 ** (num_bits - 1) - 1


def _scaled(low: Array, high: Array, limits: tuple[float, float]) -> tuple[Array, ...]:
    """The symmetric range that covers both bounds: its ends, steps for one, and the step."""
    dtype = low.dtype
    least, most = (jnp.asarray(limit, dtype) for limit in limits)
    largest = jnp.asarray(jnp.finfo(dtype).max, dtype)
    from_low = jnp.where(least * low > 0, least / low, largest)
    from_high = jnp.where(most * high > 0, most / high, largest)
    by_low = from_low < from_high
    step = jnp.where(by_low, low / least, high / most)
    scale = jnp.minimum(from_low, from_high)
    return jnp.where(by_low, low, least * step), jnp.where(by_low, most * step, high), scale, step


def _half_up(x: Array) -> Array:
    return jnp.floor(x + jnp.asarray(0.5, x.dtype))


def _half_away(x: Array) -> Array:
    return jnp.copysign(jnp.floor(jnp.abs(x) + jnp.asarray(0.5, x.dtype)), x)


_ROUNDING: dict[str, Callable[[Array], Array]] = {
    "HALF_TO_EVEN": jnp.round,
    "HALF_UP": _half_up,
    "HALF_AWAY_FROM_ZERO": _half_away,
}


def _quantized_and_back(
    x: Array,
    low: Array,
    high: Array,
    limits: tuple[float, float],
    range_given: bool,
    round_mode: str,
    axis: int | None,
) -> Array:
    if not range_given:
        whole = axis is None or axis == -1
        others = None if whole else tuple(n for n in range(x.ndim) if n != axis)
        if not x.size:
            return x
        low = jnp.min(x, others, keepdims=not whole)
        high = jnp.max(x, others, keepdims=not whole)
    low, high, scale, step = _scaled(low, high, limits)
    rounded = _ROUNDING[round_mode]
    # A range that was measured needs no bounds: cutting at them would only add rounding.
    return rounded((jnp.clip(x, low, high) if range_given else x) * scale) * step


def _disordered(
    input: Array, input_min: Array, input_max: Array, range_given: bool = False, **_: Any
) -> tuple[Any, ...]:
    if not range_given:
        return False, 0, 0
    wrong = jnp.any(input_min > input_max)
    return wrong, jnp.max(input_min, initial=-jnp.inf), jnp.min(input_max, initial=jnp.inf)


_ORDERED = ValueCheck(
    _disordered, lambda low, high, *_: f"Invalid range: input_min {low} > input_max {high}"
)
_CASES = (
    "f32[9] in (-4, 4), -1.0, 3.0, range_given=True",
    "f64[9] in (-4, 4), -3.0, 1.0, num_bits=3, range_given=True, round_mode='HALF_UP'",
    "f32[2,5] in (-4, 4), 0.0, 0.0",
    "f32[9] in (-1, 4), 0.0, 3.0, signed_input=False, num_bits=4, range_given=True",
    "f64[3,4] in (-4, 4), 0.0, 0.0, axis=1, narrow_range=True",
)


def _bounds(input: Array, low: Array, high: Array, axis: int | None, node: str) -> tuple[Any, Any]:
    return (
        _along(low, input, axis, "input_min", node),
        _along(high, input, axis, "input_max", node),
    )


@op(
    "quantization.quantize_and_dequantize",
    node="QuantizeAndDequantizeV2",
    dtypes=_FLOATS,
    no_gradient=("input_min", "input_max"),
    check=_ORDERED,
    cases=_CASES,
    surrogate="the rounding counts as the identity",
)
def quantize_and_dequantize(
    input: Same,
    input_min: Same,
    input_max: Same,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: StaticInts | None = None,
) -> Array:
    """Round to what an integer of `num_bits` can hold, as if no rounding took place for gradients.

    Args:
        input: Any shape, floating.
        input_min: The least number to be held, a scalar (with `axis` also a vector); used if
            `range_given`.
        input_max: The greatest number to be held.
        signed_input: Whether the integers have a sign.
        num_bits: Their bits, that of the sign included.
        range_given: Whether to use the bounds instead of the least and greatest input.
        round_mode: "HALF_TO_EVEN" or "HALF_UP".
        name: Ignored.
        narrow_range: Whether to leave out the lowest integer.
        axis: The axis whose places have ranges of their own; None or -1 for one range.

    Returns:
        The shape and dtype of `input`. The gradient is that of the identity.

    Raises:
        InvalidArgumentError: If `num_bits`, `axis` or a shape does not fit, or `input_min` exceeds
            `input_max`.

    Example:
        >>> import tapejax as tf
        >>> f = tf.quantization.quantize_and_dequantize
        >>> f([0.2, 0.6, 5.0], -2.0, 1.0, num_bits=2, range_given=True).numpy().tolist()
        [0.0, 1.0, 1.0]

    *Differs from TensorFlow*: with `axis` the bounds may be vectors.
    """
    node = "QuantizeAndDequantizeV2"
    _one_of(round_mode, ("HALF_TO_EVEN", "HALF_UP"), "round_mode", node)
    low, high = _bounds(input, input_min, input_max, axis, node)
    limits = _limits(num_bits, signed_input, narrow_range, node)

    @with_partials(lambda t, out, x: t)
    def rounded(x: Array) -> Array:
        return _quantized_and_back(x, low, high, limits, range_given, round_mode, axis)

    return rounded(input)


@op(
    "quantization.quantize_and_dequantize_v2",
    node="QuantizeAndDequantizeV4",
    dtypes=_FLOATS,
    check=_ORDERED,
    cases=_CASES,
    surrogate="the rounding counts as the identity",
    differs={
        _CASES[4]: "TensorFlow's gradient with an axis ends the process",
    },
)
def quantize_and_dequantize_v2(
    input: Same,
    input_min: Same,
    input_max: Same,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: StaticInts | None = None,
) -> Array:
    """Round to what an integer of `num_bits` can hold; gradients pass between the bounds only.

    Args:
        input: Any shape, floating.
        input_min: The least number to be held, a scalar (with `axis` also a vector); used for the
            values if `range_given`, and for the gradient always.
        input_max: The greatest number to be held.
        signed_input: Whether the integers have a sign.
        num_bits: Their bits, that of the sign included.
        range_given: Whether to use the bounds instead of the least and greatest input.
        round_mode: "HALF_TO_EVEN" or "HALF_UP".
        name: Ignored.
        narrow_range: Whether to leave out the lowest integer.
        axis: The axis whose places have ranges of their own; None or -1 for one range.

    Returns:
        The shape and dtype of `input`. The gradient is 1 where `input` lies between the bounds,
        else 0; that by the bounds is 0.

    Raises:
        InvalidArgumentError: If `num_bits`, `axis` or a shape does not fit, or `input_min` exceeds
            `input_max`.

    Example:
        >>> import tapejax as tf
        >>> f = tf.quantization.quantize_and_dequantize_v2
        >>> f([0.2, 0.6, 5.0], -2.0, 1.0, num_bits=2, range_given=True).numpy().tolist()
        [0.0, 1.0, 1.0]

    *Differs from TensorFlow*: with `axis` the bounds may be vectors, and there is a gradient.
    """
    node = "QuantizeAndDequantizeV4"
    _one_of(round_mode, ("HALF_TO_EVEN", "HALF_UP"), "round_mode", node)
    low, high = _bounds(input, input_min, input_max, axis, node)
    limits = _limits(num_bits, signed_input, narrow_range, node)

    def between(t: Array, out: Array, x: Array, low: Array, high: Array) -> Array:
        return jnp.where(unconnected((x >= low) & (x <= high)), t, 0)

    def nothing(t: Array, out: Array, x: Array, low: Array, high: Array) -> Array:
        return jnp.broadcast_to(0 * t, out.shape)

    @with_partials(between, nothing, nothing)
    def rounded(x: Array, low: Array, high: Array) -> Array:
        return _quantized_and_back(x, low, high, limits, range_given, round_mode, axis)

    return rounded(input, low, high)


# ---------------------------------------------------------------------- integers
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
    """The integers of a dtype: the least, the greatest, and how many there are."""

    least: float
    most: float
    size: float


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
    low = jnp.minimum(_along(min_range.astype(jnp.float32), x, axis, "min_range", node), 0)
    high = _along(max_range.astype(jnp.float32), x, axis, "max_range", node)
    size = jnp.maximum(jnp.maximum(jnp.abs(low), jnp.abs(high)), 1)
    high = jnp.maximum(jnp.maximum(high, low + size * jnp.float32(ensure_minimum_range)), 0)
    least, most, count = _range(dtype)
    if mode == "SCALED":
        low, high, scale, _ = _scaled(low, high, (least + narrow_range, most))
        out = _ROUNDING[round_mode](jnp.clip(x, low, high) * scale)
    elif mode == "MIN_COMBINED":
        scale = jnp.float32(most - least) / (high - low)
        out = (jnp.clip(x, low, high) - low) * scale
        out = _half_away(out - (count / 2 if least else 0))
    else:
        scale = jnp.float64(count) / (_double(high - low) * (count / (count - 1)))
        out = _half_away(_double(x) * scale) - _half_away(_double(low) * scale) + least
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
    _one_of(mode, _MODES, "mode", "QuantizeV2")
    rounding = ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN")
    _one_of(round_mode, rounding, "round_mode", "QuantizeV2")
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
    low = _along(min_range.astype(jnp.float32), input, axis, "min_range", node)
    high = _along(max_range.astype(jnp.float32), input, axis, "max_range", node)
    least, most, count = _range(np.dtype(input.dtype))
    x = input.astype(jnp.float32)
    if mode == "MIN_COMBINED":
        step = (high - low) / jnp.float32(most - least)
        out = (x + (count / 2 if least else 0)) * step + low
    elif mode == "MIN_FIRST":
        step = _double(high - low) * (count / (count - 1)) / count
        begin = jnp.where(low == high, _double(low), _half_away(_double(low) / step) * step)
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
    _one_of(mode, _MODES, "mode", "Dequantize")
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
