"""Fake quantization: floats rounded to what a few bits can hold, with a gradient."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, ValueCheck, op
from tapejax._src.ops.derivatives import unconnected, with_partials

_FLOAT = "float"


class FakeQuantWithMinMaxVarsGradient(NamedTuple):
    """The gradients by the inputs and by both bounds."""

    backprops_wrt_input: Any
    backprop_wrt_min: Any
    backprop_wrt_max: Any


class FakeQuantWithMinMaxVarsPerChannelGradient(NamedTuple):
    """The gradients by the inputs and by the bounds of each channel."""

    backprops_wrt_input: Any
    backprop_wrt_min: Any
    backprop_wrt_max: Any


def _check_bits(num_bits: int, node: str) -> None:
    if not 2 <= num_bits <= 16:
        raise InvalidArgumentError(
            f"num_bits must be between 2 and 16, inclusive. Received: {num_bits} [Op:{node}]"
        )


def _nudged(low: Any, high: Any, num_bits: int, narrow: bool) -> tuple[Array, Array, Array]:
    """The range moved so that zero is one of its steps, and the step: `(low, high, step)`."""
    low, high = jnp.asarray(low, jnp.float32), jnp.asarray(high, jnp.float32)
    first, last = np.float32(1 if narrow else 0), np.float32(2**num_bits - 1)
    # XLA would multiply by the inverse of a constant, which rounds otherwise than TensorFlow.
    step = (high - low) / lax.optimization_barrier(jnp.float32(last - first))
    zero = first - low / step
    # Halves away from zero, as C++ rounds; both are positive here.
    zero = jnp.where(zero < first, first, jnp.where(zero > last, last, jnp.floor(zero + 0.5)))
    return (first - zero) * step, (last - zero) * step, step


def _rounded(x: Array, low: Array, high: Array, step: Array) -> Array:
    scale = 1 / step
    zero = jnp.floor(-low * scale + 0.5)
    shifted = jnp.clip(x, low, high) - low
    return jnp.floor(shifted * scale - zero + 0.5) * step


def _quantized(num_bits: int, narrow: bool) -> Any:
    """The fake quantization of `(x, low, high)`, with TensorFlow's derivatives."""

    def bounds(low: Array, high: Array) -> tuple[Array, Array, Array]:
        return _nudged(low, high, num_bits, narrow)

    # A range of nothing, as before any statistics were collected, lets all gradients pass.
    def nothing(low: Array, high: Array) -> Array:
        return (low == 0) & (high == 0)

    def inside(t: Array, out: Array, x: Array, low: Array, high: Array) -> Array:
        least, most, _ = bounds(low, high)
        passes = ((x >= least) & (x <= most)) | nothing(low, high)
        return jnp.where(unconnected(passes), t, 0)

    def below(t: Array, out: Array, x: Array, low: Array, high: Array) -> Array:
        cut = (x < bounds(low, high)[0]) & ~nothing(low, high)
        return jnp.where(unconnected(cut), t, 0)

    def above(t: Array, out: Array, x: Array, low: Array, high: Array) -> Array:
        cut = (x > bounds(low, high)[1]) & ~nothing(low, high)
        return jnp.where(unconnected(cut), t, 0)

    @with_partials(inside, below, above)
    def quantized(x: Array, low: Array, high: Array) -> Array:
        return jnp.where(nothing(low, high), 0, _rounded(x, *bounds(low, high)))

    return quantized


def _pulled(
    gradients: Array, x: Array, low: Array, high: Array, num_bits: int, narrow: bool, axes: Any
) -> tuple[Array, Array, Array]:
    """The gradients by the inputs and by both bounds."""
    least, most, _ = _nudged(low, high, num_bits, narrow)
    nothing = (low == 0) & (high == 0)
    below, above = (x < least) & ~nothing, (x > most) & ~nothing
    of_bounds = [jnp.sum(jnp.where(mask, gradients, 0), axes) for mask in (below, above)]
    return jnp.where(below | above, 0, gradients), of_bounds[0], of_bounds[1]


def _check_shapes(x: Array, low: Array, high: Array, per_channel: bool, node: str) -> None:
    for name, bound in (("min", low), ("max", high)):
        if bound.ndim != int(per_channel):
            raise InvalidArgumentError(
                f"`{name}` must be rank {int(per_channel)} but is rank {bound.ndim} [Op:{node}]"
            )
        if per_channel and (not x.ndim or bound.shape[0] != x.shape[-1]):
            raise InvalidArgumentError(
                f"{name} has incorrect size, expected {x.shape[-1:]} was {bound.shape[0]} "
                f"[Op:{node}]"
            )


def _check_same(gradients: Array, x: Array, node: str) -> None:
    if gradients.shape != x.shape:
        raise InvalidArgumentError(
            f"gradient and input must be the same size: {gradients.shape} and {x.shape} [Op:{node}]"
        )


def _check_order(low: float, high: float, node: str) -> None:
    if low >= high:
        raise InvalidArgumentError(
            f"min has to be smaller than max, was: {low} >= {high} [Op:{node}]"
        )


@op(
    "quantization.fake_quant_with_min_max_args",
    node="FakeQuantWithMinMaxArgs",
    dtypes=_FLOAT,
    cases=(
        "f32[20] in (-9, 9)",
        "f32[20] in (-3, 9), -1, 5.0, 4, True",
        "f32[9] in (-3, 9), min=1.0, max=5.0, num_bits=3",
        "f32[0,3]",
    ),
)
def fake_quant_with_min_max_args(
    inputs: Same,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Array:
    """Round to the nearest of evenly spaced numbers between two bounds.

    Args:
        inputs: Any shape, float32.
        min: The lower bound, a Python number.
        max: The upper bound; both are moved so that 0 is represented exactly.
        num_bits: The logarithm of the number of steps, 2 to 16.
        narrow_range: Whether to leave the lowest of the steps out.
        name: Ignored.

    Returns:
        The shape of `inputs`, float32. The gradient passes inside of the bounds.

    Raises:
        InvalidArgumentError: If `min` is not below `max`, or `num_bits` is out of range.

    Example:
        >>> import tapejax as tf
        >>> y = tf.quantization.fake_quant_with_min_max_args([-9.0, 0.4, 1.6], -2, 1, 2)
        >>> y.numpy().tolist()
        [-2.0, 0.0, 1.0]
    """
    node = "FakeQuantWithMinMaxArgs"
    _check_bits(num_bits, node)
    _check_order(min, max, node)
    return _quantized(num_bits, narrow_range)(inputs, jnp.float32(min), jnp.float32(max))


@op(
    "quantization.fake_quant_with_min_max_args_gradient",
    node="FakeQuantWithMinMaxArgsGradient",
    dtypes=_FLOAT,
    gradient="none",
    cases=("f32[20], f32[20] in (-9, 9)", "f32[9], f32[9] in (-3, 9), -1, 5.0, 4, True"),
)
def fake_quant_with_min_max_args_gradient(
    gradients: Same,
    inputs: Same,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Array:
    """The gradient of `tf.quantization.fake_quant_with_min_max_args`.

    Args:
        gradients: The gradient by its result; float32.
        inputs: Its inputs, the same shape.
        min: The lower bound.
        max: The upper bound.
        num_bits: 2 to 16.
        narrow_range: Whether the lowest of the steps is left out.
        name: Ignored.

    Returns:
        The shape of `inputs`: `gradients` inside of the bounds, 0 outside.

    Raises:
        InvalidArgumentError: If `min` is not below `max`, `num_bits` is out of range, or the shapes
            differ.

    Example:
        >>> import tapejax as tf
        >>> f = tf.quantization.fake_quant_with_min_max_args_gradient
        >>> f([1.0, 1.0], [0.5, 9.0]).numpy().tolist()
        [1.0, 0.0]
    """
    node = "FakeQuantWithMinMaxArgsGradient"
    _check_bits(num_bits, node)
    _check_order(min, max, node)
    _check_same(gradients, inputs, node)
    bounds = jnp.float32(min), jnp.float32(max)
    return _pulled(gradients, inputs, *bounds, num_bits, narrow_range, None)[0]


def _disordered(x: Array, low: Array, high: Array, *rest: Any) -> tuple[Any, ...]:
    return jnp.any(low > high), jnp.max(low, initial=-jnp.inf), jnp.min(high, initial=jnp.inf)


_ORDERED = ValueCheck(
    lambda inputs, min, max, **_: _disordered(inputs, min, max),
    lambda low, high, *_: f"min has to be at most max, was: {low} > {high}",
)


@op(
    "quantization.fake_quant_with_min_max_vars",
    node="FakeQuantWithMinMaxVars",
    dtypes=_FLOAT,
    check=_ORDERED,
    cases=(
        "f32[20] in (-9, 9), f32[] in (-4, -3), f32[] in (4, 6)",
        "f32[20] in (-3, 9), -1.0, 5.0, 4, True",
        "f32[9] in (-3, 9), 0.0, 0.0",
        "f32[0,3], -1.0, 1.0",
    ),
)
def fake_quant_with_min_max_vars(
    inputs: Same,
    min: Same,
    max: Same,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Array:
    """Round to the nearest of evenly spaced numbers between two bounds that are learned.

    Args:
        inputs: Any shape, float32.
        min: The lower bound, a scalar tensor.
        max: The upper bound; both are moved so that 0 is represented exactly.
        num_bits: The logarithm of the number of steps, 2 to 16.
        narrow_range: Whether to leave the lowest of the steps out.
        name: Ignored.

    Returns:
        The shape of `inputs`, float32. The gradient passes inside of the bounds; what lies outside
        adds its gradient to that of the bound it is cut to.

    Raises:
        InvalidArgumentError: If `min` exceeds `max`, a bound is no scalar, or `num_bits` is out of
            range.

    Example:
        >>> import tapejax as tf
        >>> y = tf.quantization.fake_quant_with_min_max_vars([-9.0, 0.4, 1.6], -2.0, 1.0, 2)
        >>> y.numpy().tolist()
        [-2.0, 0.0, 1.0]

    *Differs from TensorFlow*: a `min` above `max` is an error; TensorFlow computes something.
    """
    _check_bits(num_bits, "FakeQuantWithMinMaxVars")
    _check_shapes(inputs, min, max, False, "FakeQuantWithMinMaxVars")
    return _quantized(num_bits, narrow_range)(inputs, min, max)


@op(
    "quantization.fake_quant_with_min_max_vars_gradient",
    node="FakeQuantWithMinMaxVarsGradient",
    dtypes=_FLOAT,
    gradient="none",
    cases=("f32[20], f32[20] in (-9, 9), -4.0, f32[] in (4, 6)", "f32[9], f32[9], 0.0, 0.0"),
)
def fake_quant_with_min_max_vars_gradient(
    gradients: Same,
    inputs: Same,
    min: Same,
    max: Same,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> FakeQuantWithMinMaxVarsGradient:
    """The gradients of `tf.quantization.fake_quant_with_min_max_vars`.

    Args:
        gradients: The gradient by its result; float32.
        inputs: Its inputs, the same shape.
        min: The lower bound, a scalar.
        max: The upper bound, a scalar.
        num_bits: 2 to 16.
        narrow_range: Whether the lowest of the steps is left out.
        name: Ignored.

    Returns:
        The gradients by `inputs`, `min` and `max`.

    Raises:
        InvalidArgumentError: If `num_bits` is out of range or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> f = tf.quantization.fake_quant_with_min_max_vars_gradient
        >>> [part.numpy().tolist() for part in f([1.0, 2.0], [0.5, 9.0], -1.0, 1.0)]
        [[1.0, 0.0], 0.0, 2.0]
    """
    node = "FakeQuantWithMinMaxVarsGradient"
    _check_bits(num_bits, node)
    _check_same(gradients, inputs, node)
    _check_shapes(inputs, min, max, False, node)
    parts = _pulled(gradients, inputs, min, max, num_bits, narrow_range, None)
    return FakeQuantWithMinMaxVarsGradient(*parts)


@op(
    "quantization.fake_quant_with_min_max_vars_per_channel",
    node="FakeQuantWithMinMaxVarsPerChannel",
    dtypes=_FLOAT,
    check=_ORDERED,
    cases=(
        "f32[9,3] in (-9, 9), f32[3] in (-4, -2), f32[3] in (2, 6)",
        "f32[3] in (-9, 9), f32[3] in (-4, -2), f32[3] in (2, 6), 4, True",
        "f32[2,4,2,2] in (-9, 9), f32[2] in (-4, -2), f32[2] in (2, 6)",
    ),
)
def fake_quant_with_min_max_vars_per_channel(
    inputs: Same,
    min: Same,
    max: Same,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Array:
    """`tf.quantization.fake_quant_with_min_max_vars` with bounds for each channel.

    Args:
        inputs: `[..., channels]`, float32.
        min: `[channels]`, the lower bounds.
        max: `[channels]`, the upper bounds.
        num_bits: The logarithm of the number of steps, 2 to 16.
        narrow_range: Whether to leave the lowest of the steps out.
        name: Ignored.

    Returns:
        The shape of `inputs`, float32.

    Raises:
        InvalidArgumentError: If a `min` exceeds its `max`, the shapes do not fit, or `num_bits` is
            out of range.

    Example:
        >>> import tapejax as tf
        >>> f = tf.quantization.fake_quant_with_min_max_vars_per_channel
        >>> f([[9.0, 9.0]], [-2.0, -1.0], [1.0, 2.0], 2).numpy().tolist()
        [[1.0, 2.0]]
    """
    node = "FakeQuantWithMinMaxVarsPerChannel"
    _check_bits(num_bits, node)
    _check_shapes(inputs, min, max, True, node)
    return _quantized(num_bits, narrow_range)(inputs, min, max)


@op(
    "quantization.fake_quant_with_min_max_vars_per_channel_gradient",
    node="FakeQuantWithMinMaxVarsPerChannelGradient",
    dtypes=_FLOAT,
    gradient="none",
    cases=("f32[9,3], f32[9,3] in (-9, 9), f32[3] in (-4, -2), f32[3] in (2, 6)",),
)
def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients: Same,
    inputs: Same,
    min: Same,
    max: Same,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> FakeQuantWithMinMaxVarsPerChannelGradient:
    """The gradients of `tf.quantization.fake_quant_with_min_max_vars_per_channel`.

    Args:
        gradients: The gradient by its result; float32.
        inputs: Its inputs, the same shape, `[..., channels]`.
        min: `[channels]`, the lower bounds.
        max: `[channels]`, the upper bounds.
        num_bits: 2 to 16.
        narrow_range: Whether the lowest of the steps is left out.
        name: Ignored.

    Returns:
        The gradients by `inputs`, `min` and `max`.

    Raises:
        InvalidArgumentError: If `num_bits` is out of range or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> f = tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient
        >>> [part.numpy().tolist() for part in f([1.0, 2.0], [0.5, 9.0], [-1.0, -1.0], [1.0, 1.0])]
        [[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]]
    """
    node = "FakeQuantWithMinMaxVarsPerChannelGradient"
    _check_bits(num_bits, node)
    _check_same(gradients, inputs, node)
    _check_shapes(inputs, min, max, True, node)
    axes = tuple(range(inputs.ndim - 1))
    parts = _pulled(gradients, inputs, min, max, num_bits, narrow_range, axes)
    return FakeQuantWithMinMaxVarsPerChannelGradient(*parts)
