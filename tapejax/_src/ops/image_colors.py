"""Colours: the range of each dtype, grey, HSV, YIQ, YUV."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import float32
from tapejax._src.core.errors import FailedPreconditionError, InvalidArgumentError
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import OPS, Array, DTypeLike, Same, TensorLike, op, public
from tapejax._src.ops.casting import converted
from tapejax._src.ops.image_checks import PIXELS

_FLOATING = "half bfloat16 float double"
_GREY = (0.2989, 0.587, 0.114)
_RGB_TO_YIQ = (
    (0.299, 0.59590059, 0.2115),
    (0.587, -0.27455667, -0.52273617),
    (0.114, -0.32134392, 0.31119955),
)
_YIQ_TO_RGB = (
    (1, 1, 1),
    (0.95598634, -0.27201283, -1.10674021),
    (0.6208248, -0.64720424, 1.70423049),
)
_RGB_TO_YUV = (
    (0.299, -0.14714119, 0.61497538),
    (0.587, -0.28886916, -0.51496512),
    (0.114, 0.43601035, -0.10001026),
)
_YUV_TO_RGB = ((1, 1, 1), (0, -0.394642334, 2.03206185), (1.13988303, -0.58062185, 0))


# ---------------------------------------------------------------------- ranges of dtypes
def _kind(dtype: np.dtype[Any], what: str) -> str:
    if jnp.issubdtype(dtype, jnp.floating):
        return "float"
    if jnp.issubdtype(dtype, jnp.integer):
        return "integer"
    raise AttributeError(f"{what} must be either floating point or integer, got {dtype}")


@op(
    "image.convert_image_dtype",
    node="Cast",
    dtypes=PIXELS,
    cases=(
        "u8[2,3] in (0, 255), tf.float32",
        "u8[2,3] in (0, 255), tf.float64",
        "i16[2,3] in (-9999, 9999), tf.float16",
        "u8[2,3] in (0, 255), tf.uint16",
        "i8[6] in (-100, 100), tf.int32",
        "i32[6] in (-2000000000, 2000000000), tf.uint8",
        "i32[6] in (-2000000000, 2000000000), tf.uint8, True",
        "u16[6] in (0, 65535), tf.int8",
        "f32[6] in (0, 1), tf.uint8",
        "f32[6], tf.uint8, True",
        "f64[6], tf.int16, saturate=True",
        "f32[6], tf.float64",
        "f64[3], tf.float32",
        "f16[3], tf.float16",
        "f16[6] in (0, 1), tf.uint8, True",
        "f32[0,3], tf.uint16",
    ),
)
def convert_image_dtype(
    image: Same, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> Array:
    """Images of another dtype and its range: [0, 1] for floats, [0, largest] for integers.

    Args:
        image: A tensor of floats or integers `[...]`.
        dtype: The wanted dtype, floating or integer.
        saturate: Whether values outside the range of an integer dtype are clipped.
        name: Ignored.

    Returns:
        `[...]` of the wanted dtype. Only conversions among floats have a gradient.

    Raises:
        AttributeError: If a dtype is neither floating nor integer.

    Example:
        >>> import tapejax as tf
        >>> tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.float32).numpy()
        array([0., 1.], dtype=float32)
    """
    target = np.dtype(dtype)
    to, of = _kind(target, "dtype"), _kind(image.dtype, "image dtype")
    if target == image.dtype:
        return image
    if of == "float":
        if to == "float":
            return converted(image, target)
        with np.errstate(over="ignore"):
            scale = np.asarray(float(np.iinfo(target).max) + 0.5).astype(image.dtype)
        return _made(image * scale, target, saturate)
    largest = int(np.iinfo(image.dtype).max)
    if to == "float":
        return converted(image, target) * np.asarray(1.0 / largest).astype(target)
    new = int(np.iinfo(target).max)
    if largest > new:
        step = (largest + 1) // (new + 1)
        return _made(jnp.floor_divide(image, np.asarray(step, image.dtype)), target, saturate)
    return _made(image, target, saturate) * np.asarray((new + 1) // (largest + 1), target)


def _made(x: Array, dtype: np.dtype[Any], saturate: bool) -> Array:
    return OPS["saturate_cast"].fn(x, dtype) if saturate else converted(x, dtype)


def as_float(image: Any, keep: tuple[str, ...] = ("float16", "float32")) -> Any:
    """The image as a tensor of floats: its own dtype if that is one of `keep`, else float32."""
    tensor = as_tensor(image)
    return tensor if tensor.dtype.name in keep else convert_image_dtype(tensor, float32)


def as_before(image: Any, dtype: Any, saturate: bool = False) -> Any:
    """The image in the dtype that it had."""
    return image if image.dtype == dtype else convert_image_dtype(image, dtype, saturate)


# ---------------------------------------------------------------------- grey
def check_channels(shape: tuple[int, ...], error: type[Exception], what: str) -> None:
    """Three channels on the last axis.

    Raises:
        Exception: Of the class `error`, otherwise.
    """
    if not shape or shape[-1] != 3:
        channels = f"{shape[-1]} channels" if shape else "no axis"
        raise error(
            f"input must have 3 channels but instead has {channels}: got shape {list(shape)} "
            f"[Op:{what}]"
        )


def _mixed(images: Array, matrix: Any) -> Array:
    """The channels of each pixel times a matrix, without touching other pixels."""
    table = np.asarray(matrix)
    if not images.ndim or images.shape[-1] != len(table):
        raise InvalidArgumentError(
            f"Matrix size-incompatible: In[0]: {list(images.shape)}, In[1]: {list(table.shape)}: "
            "images have 3 channels on their last axis [Op:MatMul]"
        )
    weights = table.astype(images.dtype)
    parts = [images[..., n, None] * weights[n] for n in range(3)]
    return parts[0] + parts[1] + parts[2]


@op("_image.grayscale", node="MatMul", cases=("f64[2,2,3]", "f32[3]"))
def _grayscale(images: TensorLike) -> Array:
    """The brightness of each pixel."""
    return _mixed(images, [[weight] for weight in _GREY])


@public("image.rgb_to_grayscale")
def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """Convert RGB images to grey.

    Args:
        images: `[..., 3]`, floats in [0, 1] or integers of the whole range of their dtype.
        name: Ignored.

    Returns:
        `[..., 1]` of the same dtype.

    Raises:
        tf.errors.InvalidArgumentError: If there are not three channels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.rgb_to_grayscale([[1.0, 0.0, 0.0]]).numpy().round(4)
        array([[0.2989]], dtype=float32)
    """
    tensor = as_tensor(images)
    return as_before(_grayscale(as_float(tensor, ("float32",))), tensor.dtype)


@op(
    "image.grayscale_to_rgb",
    node="Tile",
    dtypes=PIXELS,
    cases=("f32[2,3,1]", "f64[2,1]", "u8[2,2,2,1]", "f32[0,1]"),
)
def grayscale_to_rgb(images: Same, name: str | None = None) -> Array:
    """Convert grey images to RGB: three equal channels.

    Args:
        images: `[..., 1]`, at least two axes.
        name: Ignored.

    Returns:
        `[..., 3]` of the same dtype.

    Raises:
        ValueError: If there is not one channel.

    Example:
        >>> import tapejax as tf
        >>> tf.image.grayscale_to_rgb([[1], [2]]).numpy().tolist()
        [[1, 1, 1], [2, 2, 2]]
    """
    if images.ndim < 2:
        raise ValueError(
            f"A grayscale image (shape {images.shape}) must be at least two-dimensional."
        )
    if images.shape[-1] != 1:
        raise ValueError(
            f"Last dimension of a grayscale image should be size 1, got shape {images.shape}."
        )
    return jnp.tile(images, (1,) * (images.ndim - 1) + (3,))


# ---------------------------------------------------------------------- HSV
def hue_parts(images: Array) -> tuple[Array, Array, Array]:
    """Hue in [0, 1), the largest and the smallest channel of each pixel of RGB images.

    Where channels are equal, the derivatives are those of one of them, and of a grey pixel's hue 0.
    """
    red, green, blue = images[..., 0], images[..., 1], images[..., 2]
    is_red = (red >= blue) & (red >= green)
    is_green = ~is_red & (green >= blue)
    high = jnp.where(is_red, red, jnp.where(is_green, green, blue))
    blue_low = (blue <= red) & (blue <= green)
    green_low = ~blue_low & (green <= red) & (green < blue)
    low = jnp.where(blue_low, blue, jnp.where(green_low, green, red))
    coloured = high > low
    turn = np.asarray(1 / 6).astype(images.dtype)
    unit = turn / jnp.where(coloured, high - low, jnp.ones_like(high))
    hue = jnp.where(
        is_red,
        unit * (green - blue),
        jnp.where(is_green, unit * (blue - red) + 2 * turn, unit * (red - green) + 4 * turn),
    )
    hue = jnp.where(coloured, hue, jnp.zeros_like(hue))
    return jnp.where(hue < 0, hue + 1, hue), high, low


def pure_colours(hue: Array) -> Array:
    """The share in [0, 1] that each of red, green and blue has in a hue, on a new last axis."""
    place = hue * 6
    shares = [jnp.abs(place - 3) - 1, 2 - jnp.abs(place - 2), 2 - jnp.abs(place - 4)]
    stacked = jnp.stack(shares, axis=-1)
    inside = (stacked > 0) & (stacked < 1)
    return jnp.where(inside, stacked, (stacked >= 1).astype(stacked.dtype))


@op(
    "image.rgb_to_hsv",
    node="RGBToHSV",
    dtypes=_FLOATING,
    cases=(
        "f32[2,3,3] in (0.1, 1)",
        "f64[4,3] in (0.1, 1)",
        "f16[1,3] in (0.4, 1)",
        "bf16[2,2,3] in (0.1, 1)",
        "f32[2,0,3]",
    ),
)
def rgb_to_hsv(images: Same, name: str | None = None) -> Array:
    """Convert RGB images to hue, saturation and value.

    Args:
        images: Floats in [0, 1], `[..., 3]`.
        name: Ignored.

    Returns:
        `[..., 3]` in [0, 1], of the same dtype.

    Raises:
        tf.errors.FailedPreconditionError: If there are not three channels.

    Example:
        >>> import tapejax as tf
        >>> print(tf.image.rgb_to_hsv([0.0, 0.5, 0.0]).numpy().round(4))
        [0.3333 1.     0.5   ]

    *Differs from TensorFlow*: the derivative of the saturation by a channel that is exactly 0 is
    not lost.
    """
    check_channels(images.shape, FailedPreconditionError, "RGBToHSV")
    hue, high, low = hue_parts(images)
    bright = high > 0
    saturation = (high - low) / jnp.where(bright, high, jnp.ones_like(high))
    return jnp.stack([hue, jnp.where(bright, saturation, jnp.zeros_like(high)), high], axis=-1)


@op(
    "image.hsv_to_rgb",
    node="HSVToRGB",
    dtypes=_FLOATING,
    gradient="none",
    cases=("f32[2,3,3] in (0, 1)", "f64[4,3] in (0, 1)", "f16[2,2,3] in (0, 1)", "f32[2,0,3]"),
)
def hsv_to_rgb(images: Same, name: str | None = None) -> Array:
    """Convert images of hue, saturation and value to RGB.

    Args:
        images: Floats in [0, 1], `[..., 3]`.
        name: Ignored.

    Returns:
        `[..., 3]` in [0, 1], of the same dtype; no gradient flows, as in TensorFlow.

    Raises:
        tf.errors.FailedPreconditionError: If there are not three channels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.hsv_to_rgb([0.0, 1.0, 0.5]).numpy().tolist()
        [0.5, 0.0, 0.0]
    """
    check_channels(images.shape, FailedPreconditionError, "HSVToRGB")
    saturation, value = images[..., 1, None], images[..., 2, None]
    return ((1 - saturation) + saturation * pure_colours(images[..., 0])) * value


# ---------------------------------------------------------------------- YIQ and YUV
@op("image.rgb_to_yiq", node="MatMul", dtypes=_FLOATING, cases=("f32[2,3,3]", "f64[3]", "f16[2,3]"))
def rgb_to_yiq(images: Same) -> Array:
    """Convert RGB images to YIQ.

    Args:
        images: Floats `[..., 3]`, in [0, 1].

    Returns:
        `[..., 3]` of the same dtype.

    Raises:
        tf.errors.InvalidArgumentError: If there are not three channels.

    Example:
        >>> import tapejax as tf
        >>> print(tf.image.rgb_to_yiq([1.0, 0.0, 0.0]).numpy().round(2))
        [0.3  0.6  0.21]
    """
    return _mixed(images, _RGB_TO_YIQ)


@op("image.yiq_to_rgb", node="MatMul", dtypes=_FLOATING, cases=("f32[2,3,3]", "f64[3]", "f16[2,3]"))
def yiq_to_rgb(images: Same) -> Array:
    """Convert YIQ images to RGB.

    Args:
        images: Floats `[..., 3]`.

    Returns:
        `[..., 3]` of the same dtype.

    Raises:
        tf.errors.InvalidArgumentError: If there are not three channels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.yiq_to_rgb([1.0, 0.0, 0.0]).numpy().tolist()
        [1.0, 1.0, 1.0]
    """
    return _mixed(images, _YIQ_TO_RGB)


@op("image.rgb_to_yuv", node="MatMul", dtypes=_FLOATING, cases=("f32[2,3,3]", "f64[3]", "f16[2,3]"))
def rgb_to_yuv(images: Same) -> Array:
    """Convert RGB images to YUV: Y in [0, 1], U and V in [-0.5, 0.5].

    Args:
        images: Floats `[..., 3]`, in [0, 1].

    Returns:
        `[..., 3]` of the same dtype.

    Raises:
        tf.errors.InvalidArgumentError: If there are not three channels.

    Example:
        >>> import tapejax as tf
        >>> print(tf.image.rgb_to_yuv([1.0, 0.0, 0.0]).numpy().round(3))
        [ 0.299 -0.147  0.615]
    """
    return _mixed(images, _RGB_TO_YUV)


@op("image.yuv_to_rgb", node="MatMul", dtypes=_FLOATING, cases=("f32[2,3,3]", "f64[3]", "f16[2,3]"))
def yuv_to_rgb(images: Same) -> Array:
    """Convert YUV images to RGB.

    Args:
        images: Floats `[..., 3]`: Y in [0, 1], U and V in [-0.5, 0.5].

    Returns:
        `[..., 3]` of the same dtype.

    Raises:
        tf.errors.InvalidArgumentError: If there are not three channels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.yuv_to_rgb([1.0, 0.0, 0.0]).numpy().tolist()
        [1.0, 1.0, 1.0]
    """
    return _mixed(images, _YUV_TO_RGB)
