"""Images with the artefacts of JPEG compression."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.avals import make_aval
from tapejax._src.core.dtypes import int32, uint8
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.effects import call_host, is_host
from tapejax._src.engine.registry import public
from tapejax._src.ops import image_formats as formats
from tapejax._src.ops.image_colors import convert_image_dtype
from tapejax._src.ops.image_encoding import check_jpeg_pixels
from tapejax._src.ops.random_stateful import uniform
from tapejax._src.ops.random_stateless import stateless_uniform

_NODE = "EncodeJpegVariableQuality"


def _compressed(pixels: np.ndarray[Any, Any], quality: Any) -> np.ndarray[Any, Any]:
    level = int(quality)
    check_jpeg_pixels(pixels.shape, level, _NODE)
    return formats.read_jpeg(formats.write_jpeg(pixels, level), pixels.shape[-1])


@public("image.adjust_jpeg_quality")
def adjust_jpeg_quality(
    image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Any:
    """Encode an image as JPEG and decode it again.

    Args:
        image: `[height, width, 1 or 3]`, floats in [0, 1] or integers.
        jpeg_quality: 0 (many artefacts) to 100 (few), an integer.
        dct_method: Ignored; see `tf.io.decode_jpeg`.
        name: Ignored.

    Returns:
        A tensor of the same shape and dtype, without gradient.

    Raises:
        tf.errors.InvalidArgumentError: If the shape or the quality does not fit.
        ImportError: If Pillow is not installed (`pip install tapejax[image]`).

    Example:
        >>> import tapejax as tf
        >>> tf.image.adjust_jpeg_quality(tf.zeros([4, 6, 3]), 75).shape
        TensorShape([4, 6, 3])

    *Differs from TensorFlow*: as `tf.io.decode_jpeg` does, by a few units of 255.
    """
    tensor = as_tensor(image)
    pixels = convert_image_dtype(tensor, uint8, saturate=True)
    given = isinstance(jpeg_quality, (Tensor, Variable))
    quality = as_tensor(jpeg_quality) if given else as_tensor(jpeg_quality, int32)
    check_jpeg_pixels(pixels.aval.shape, 0, _NODE)
    if quality.aval.shape:
        raise InvalidArgumentError(
            f"quality must be scalar: got shape {list(quality.aval.shape)} [Op:{_NODE}]"
        )
    if is_host([pixels, quality]):
        made = constant_tensor(_compressed(np.asarray(pixels.view()), quality.view()))
    else:
        out = make_aval(pixels.aval.shape, np.dtype(np.uint8))
        made = call_host(
            _NODE, lambda *arrays: [_compressed(*arrays)], [pixels, quality], [out], pure=True
        )[0]
    return convert_image_dtype(made, tensor.dtype, saturate=True)


def _check_range(low: int, high: int) -> None:
    if not (0 <= low <= 100 and 0 <= high <= 100):
        raise ValueError(f"jpeg encoding range must be between 0 and 100, got {low} and {high}.")
    if low >= high:
        raise ValueError(
            f"`min_jpeg_quality` must be less than `max_jpeg_quality`, got {low} and {high}."
        )


@public("image.random_jpeg_quality")
def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Any:
    """Encode an image as JPEG of a random quality: `tf.image.adjust_jpeg_quality`.

    Args:
        image: `[height, width, 1 or 3]`, floats in [0, 1] or integers.
        min_jpeg_quality: The least quality, in [0, 100].
        max_jpeg_quality: The best quality, excluded, in [0, 100].
        seed: Seed of this op beside that of `tf.random.set_seed`.

    Returns:
        A tensor of the same shape and dtype, with TensorFlow's quality for the same seeds.

    Raises:
        ValueError: If the range is not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.image.random_jpeg_quality(tf.zeros([4, 6, 3]), 75, 95, seed=1).shape
        TensorShape([4, 6, 3])
    """
    _check_range(min_jpeg_quality, max_jpeg_quality)
    quality = uniform([], min_jpeg_quality, max_jpeg_quality, int32, seed=seed)
    return adjust_jpeg_quality(image, quality)


@public("image.stateless_random_jpeg_quality")
def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any
) -> Any:
    """Encode an image as JPEG of a quality that a seed decides: `tf.image.adjust_jpeg_quality`.

    Args:
        image: `[height, width, 1 or 3]`, floats in [0, 1] or integers.
        min_jpeg_quality: The least quality, in [0, 100].
        max_jpeg_quality: The best quality, excluded, in [0, 100].
        seed: `[2]` integers.

    Returns:
        A tensor of the same shape and dtype, with TensorFlow's quality for the same seed.

    Raises:
        ValueError: If the range is not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.image.stateless_random_jpeg_quality(tf.zeros([4, 6, 3]), 75, 95, (1, 2)).shape
        TensorShape([4, 6, 3])
    """
    _check_range(min_jpeg_quality, max_jpeg_quality)
    quality = stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, int32)
    return adjust_jpeg_quality(image, quality)
