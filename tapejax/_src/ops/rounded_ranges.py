"""Floats rounded to what integers of few bits can hold, with a gradient."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, ValueCheck, op
from tapejax._src.ops.derivatives import unconnected, with_partials
from tapejax._src.ops.quantized_ranges import ROUNDING, along, one_of, scaled

_FLOATS = "bfloat16 half float double"


def _limits(num_bits: int, signed: bool, narrow: bool, node: str) -> tuple[float, float]:
    if not signed <= num_bits <= 62 + (not signed) or num_bits < 1:
        raise InvalidArgumentError(
            f"num_bits is out of range: {num_bits} with signed_input_ {int(signed)} [Op:{node}]"
        )
    if not signed:
        return 0.0, 2.0**num_bits - 1
    return narrow - 2.0 ** (num_bits - 1), 2.0 ** (num_bits - 1) - 1


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
    low, high, scale, step = scaled(low, high, limits)
    rounded = ROUNDING[round_mode]
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
        along(low, input, axis, "input_min", node),
        along(high, input, axis, "input_max", node),
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
    one_of(round_mode, ("HALF_TO_EVEN", "HALF_UP"), "round_mode", node)
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
    one_of(round_mode, ("HALF_TO_EVEN", "HALF_UP"), "round_mode", node)
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
