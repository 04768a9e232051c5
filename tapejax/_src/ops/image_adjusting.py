"""Brightness, contrast, gamma, hue and saturation of images, changed by choice."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from tapejax._src.core.dtypes import float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import Array, TensorLike, op, public
from tapejax._src.ops import derivatives
from tapejax._src.ops.arithmetic import add, larger, multiply
from tapejax._src.ops.assertions import assert_non_negative
from tapejax._src.ops.casting import cast
from tapejax._src.ops.image_checks import check_pixels, is_symbolic, require
from tapejax._src.ops.image_colors import (
    as_before,
    as_float,
    check_channels,
    hue_parts,
    pure_colours,
)
from tapejax._src.ops.powers import pow as power


def _wide(x: Array) -> Array:
    """At least single precision."""
    return x.astype(jnp.float32) if x.dtype.itemsize < 4 else x


# ---------------------------------------------------------------------- brightness
@public("image.adjust_brightness")
def adjust_brightness(image: Any, delta: Any) -> Any:
    """Add to all channels.

    Args:
        image: A tensor of floats or integers `[...]`; integers count as floats in [0, 1].
        delta: What to add, a scalar, usually in (-1, 1).

    Returns:
        A tensor of the same shape and dtype; integers are clipped to their range.

    Example:
        >>> import tapejax as tf
        >>> tf.image.adjust_brightness(tf.constant([0, 100, 250], tf.uint8), 0.1).numpy().tolist()
        [25, 125, 255]
    """
    tensor = as_tensor(image)
    floats = as_float(tensor)
    return as_before(add(floats, cast(delta, floats.dtype)), tensor.dtype, saturate=True)


@public("image.adjust_gamma")
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Any:
    """`gain * image ** gamma` of each element.

    Args:
        image: A tensor of floats or integers `[...]`; integers count as floats in [0, 1].
        gamma: The exponent, not negative.
        gain: The factor.

    Returns:
        A tensor of the same shape and dtype; integers are clipped to their range.

    Raises:
        ValueError: If `gamma` is a negative number.
        tf.errors.InvalidArgumentError: If `gamma` is a negative tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.image.adjust_gamma(tf.constant([0.0, 0.5, 1.0]), 2.0).numpy().tolist()
        [0.0, 0.25, 1.0]
    """
    tensor = as_tensor(image)
    floats = as_float(tensor)
    if is_symbolic(gamma):
        assert_non_negative(gamma, message="Gamma should be a non-negative real number.")
    elif not gamma >= 0:
        raise ValueError(f"Gamma should be a non-negative real number, got {gamma}.")
    return as_before(multiply(power(floats, gamma), gain), tensor.dtype, saturate=True)


# ---------------------------------------------------------------------- contrast
@op(
    "_image.contrast",
    node="AdjustContrastv2",
    gradient="lookup",
    cases=("f64[2,3,2,2], f64[]", "f32[3,2,1], f32[]", "f32[0,2,2,1], f32[]"),
)
def _contrast(images: TensorLike, contrast_factor: TensorLike) -> Array:
    """Distances from the mean of each channel of each image, times a factor."""
    if images.ndim < 3:
        raise InvalidArgumentError(
            f"input must be at least 3-D, got shape {list(images.shape)} [Op:AdjustContrastv2]"
        )
    wide = _wide(images)
    if 0 in images.shape[-3:-1]:
        return images
    mean = jnp.mean(wide, axis=(-3, -2), keepdims=True)
    return ((wide - mean) * contrast_factor.astype(wide.dtype) + mean).astype(images.dtype)


@public("image.adjust_contrast")
def adjust_contrast(images: Any, contrast_factor: Any) -> Any:
    """Move all pixels away from, or towards, the mean of their channel.

    Args:
        images: `[..., height, width, channels]`, floats or integers.
        contrast_factor: What the distances are multiplied with, a scalar.

    Returns:
        `(x - mean) * contrast_factor + mean`, of the same shape and dtype; integers are clipped
        to their range.

    Raises:
        tf.errors.InvalidArgumentError: If there are fewer than three axes.

    Example:
        >>> import tapejax as tf
        >>> tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0).numpy().ravel().tolist()
        [0.0, 4.0]

    As in TensorFlow there are no derivatives: asking a tape for one raises LookupError.
    """
    tensor = as_tensor(images)
    factor = _scalar(contrast_factor, "contrast_factor", "AdjustContrastv2")
    return as_before(_contrast(as_float(tensor), factor), tensor.dtype, saturate=True)


def _scalar(value: Any, name: str, node: str) -> Any:
    tensor = as_tensor(value) if is_symbolic(value) else as_tensor(value, float32)
    if tensor.aval.shape:
        raise InvalidArgumentError(
            f"{name} must be scalar: got shape {list(tensor.aval.shape)} [Op:{node}]"
        )
    return tensor


# ---------------------------------------------------------------------- hue and saturation
def _check_coloured(shape: tuple[int, ...], node: str) -> None:
    if len(shape) < 3:
        raise InvalidArgumentError(
            f"input must be at least 3-D, got shape {list(shape)} [Op:{node}]"
        )
    check_channels(shape, InvalidArgumentError, node)


@op(
    "_image.hue",
    node="AdjustHue",
    gradient="lookup",
    cases=("f64[2,3,3] in (0.1, 1), f64[] in (0.1, 0.2)", "f32[0,2,3], f32[]"),
)
def _hue(images: TensorLike, delta: TensorLike) -> Array:
    """The hue of each pixel turned by a share of the circle."""
    _check_coloured(images.shape, "AdjustHue")
    wide = _wide(images)
    hue, high, low = hue_parts(wide)
    turned = jnp.mod(hue + delta.astype(wide.dtype), 1)
    changed = low[..., None] + (high - low)[..., None] * pure_colours(turned)
    return changed.astype(images.dtype)


@public("image.adjust_hue")
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Any:
    """Turn the hue of RGB images.

    Args:
        image: `[..., height, width, 3]`, floats or integers.
        delta: By which share of the circle, a scalar in [-1, 1].
        name: Ignored.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: If `delta` is outside [-1, 1].
        tf.errors.InvalidArgumentError: If there are fewer than three axes or not three channels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy().tolist()
        [[[0.0, 1.0, 1.0]]]

    As in TensorFlow there are no derivatives: asking a tape for one raises LookupError.
    """
    tensor, turn = as_tensor(image), _scalar(delta, "delta", "AdjustHue")
    if isinstance(turn.array, (np.ndarray, jax.Array)) and not isinstance(turn.array, Tracer):
        require(-1 <= float(turn.array) <= 1, "delta must be in the interval [-1, 1].", str(delta))
    changed = _hue(as_float(tensor), turn)
    return as_before(changed, tensor.dtype)


@op(
    "_image.saturation",
    node="AdjustSaturation",
    gradient="lookup",
    cases=("f64[2,3,3] in (0.1, 1), f64[] in (0.5, 0.9)", "f32[0,2,3], f32[]"),
)
def _saturation(images: TensorLike, factor: TensorLike) -> Array:
    """The saturation of each pixel times a factor."""
    _check_coloured(images.shape, "AdjustSaturation")
    wide = _wide(images)
    hue, high, low = hue_parts(wide)
    bright = high > 0
    saturation = jnp.where(
        bright,
        (high - low) / jnp.where(bright, high, jnp.ones_like(high)),
        jnp.zeros_like(high),
    )
    changed = saturation * factor.astype(wide.dtype)
    inside = (changed > 0) & (changed < 1)
    changed = jnp.where(inside, changed, (changed >= 1).astype(changed.dtype))[..., None]
    return (high[..., None] * (1 - changed * (1 - pure_colours(hue)))).astype(images.dtype)


@public("image.adjust_saturation")
def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Any:
    """Multiply the saturation of RGB images.

    Args:
        image: `[..., height, width, 3]`, floats or integers.
        saturation_factor: The factor, a scalar; the result is clipped to [0, 1].
        name: Ignored.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        tf.errors.InvalidArgumentError: If there are fewer than three axes or not three channels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.0).numpy().tolist()
        [[[1.0, 1.0, 1.0]]]

    As in TensorFlow there are no derivatives: asking a tape for one raises LookupError.
    """
    tensor = as_tensor(image)
    factor = _scalar(saturation_factor, "scale", "AdjustSaturation")
    return as_before(_saturation(as_float(tensor), factor), tensor.dtype)


# ---------------------------------------------------------------------- standardization
@op(
    "_image.standardization",
    node="RealDiv",
    cases=("f64[2,3,2,2]", "f32[3,2,1]", "f64[1,2,1] in (-0.01, 0.01)"),
)
def _standardization(image: TensorLike) -> Array:
    """Mean 0 and variance 1 for each image, or less variance if it is almost constant."""
    check_pixels(image.shape)
    axes = (-1, -2, -3)
    count = int(np.prod(image.shape[-3:]))
    distance = image - jnp.mean(image, axis=axes, keepdims=True)
    deviation = derivatives.sqrt(jnp.mean(distance * distance, axis=axes, keepdims=True))
    least = jnp.full_like(deviation, count**-0.5)
    return distance / larger(deviation, least)


@public("image.per_image_standardization")
def per_image_standardization(image: Any) -> Any:
    """Subtract the mean of each image and divide by its standard deviation.

    Args:
        image: `[..., height, width, channels]`, any numeric dtype.

    Returns:
        `(x - mean) / max(stddev, 1 / sqrt(n))` with `n` values in an image: float32 of the same
        shape.

    Raises:
        ValueError: If there are fewer than three axes or no pixels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.per_image_standardization([[[1.0], [3.0]]]).numpy().ravel().tolist()
        [-1.0, 1.0]
    """
    return _standardization(cast(image, float32))
