"""`tf.image.resize` and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.dtypes import float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, static_ints
from tapejax._src.engine.registry import Array, Same, StaticInts, op, public
from tapejax._src.ops.casting import cast
from tapejax._src.ops.image_checks import check_image, check_rank, require, static_int
from tapejax._src.ops.image_cropping import pad_to_bounding_box
from tapejax._src.ops.resize_kernels import METHODS, apply_band, band

_IMAGES = "int8 uint8 int16 uint16 int32 int64 bfloat16 half float double"
_NODES = {
    "bilinear": "ResizeBilinear",
    "nearest": "ResizeNearestNeighbor",
    "bicubic": "ResizeBicubic",
    "area": "ResizeArea",
}


@public("image.ResizeMethod")
class ResizeMethod:
    """The names of the methods of `tf.image.resize`.

    Example:
        >>> import tapejax as tf
        >>> tf.image.ResizeMethod.BICUBIC
        'bicubic'
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _check_sizes(shape: tuple[int, ...], size: tuple[int, int], node: str) -> None:
    if min(size) <= 0:
        raise InvalidArgumentError(
            f"output dimensions must be positive, got size {list(size)} [Op:{node}]"
        )
    if 0 in shape[1:3]:
        raise InvalidArgumentError(
            f"input image must be of non-zero size, got shape {list(shape)} [Op:{node}]"
        )
    if not shape[3]:
        raise InvalidArgumentError(
            f"image must have at least one channel, got shape {list(shape)} [Op:{node}]"
        )


@op(
    "_image.resize",
    node="ResizeImages",
    dtypes=_IMAGES,
    heavy=True,
    cases=(
        "f64[1,3,4,2], (5, 6), 'bilinear', False",
        "f64[1,6,5,1], (3, 2), 'bilinear', True",
        "f64[1,3,4,2], (5, 3), 'nearest', False",
        "f64[1,3,4,1], (7, 3), 'bicubic', False",
        "f64[1,7,4,1], (3, 6), 'area', False",
        "f64[1,9,4,1], (3, 5), 'lanczos3', True",
        "f64[1,40,2,1], (2, 2), 'lanczos5', True",
        "u8[1,3,4,2], (5, 6), 'nearest', False",
    ),
)
def _resize(images: Same, size: StaticInts, method: str, antialias: bool) -> Array:
    """Images `[n, h, w, c]` of another size; but for nearest, at least float32."""
    _check_sizes(images.shape, size, _NODES.get(method, "ScaleAndTranslate"))
    if method != "nearest" and images.dtype not in (np.float32, np.float64):
        images = images.astype(np.float32)
    axes = [1, 2]
    # The axis that shrinks more goes first.
    if images.shape[2] * size[0] > images.shape[1] * size[1]:
        axes.reverse()
    for axis in axes:
        matrix = band(method, images.shape[axis], size[axis - 1], antialias)
        images = apply_band(images, matrix, axis)
    return images


def _new_size(size: Any) -> tuple[int, int]:
    if isinstance(size, Tensor) and size.dtype.name != "int32":
        raise ValueError(f"'size' must be a 1-D int32 Tensor, got {size.dtype.name}")
    try:
        sizes = static_ints(size)
    except (TypeError, ValueError) as error:
        raise ValueError(f"'size' must be a 1-D int32 Tensor: {error}") from None
    if not isinstance(sizes, tuple) or len(sizes) != 2:
        raise ValueError(
            f"'size' must be a 1-D Tensor of 2 elements: new_height, new_width; got {size!r}"
        )
    height, width = sizes
    return int(height), int(width)


def _with_aspect(shape: tuple[int, ...], size: tuple[int, int]) -> tuple[int, int]:
    """The largest size of the image's own proportions that fits."""
    old = np.asarray(shape[1:3], np.float32)
    scale = np.min(np.asarray(size, np.float32) / old)
    height, width = np.rint(scale * old).astype(np.int32).tolist()
    return height, width


@public("image.resize")
def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Resize images.

    Pixels are squares: the middle of the first one lies half a pixel from the edge.

    Args:
        images: `[height, width, channels]`, or a batch of such with a leading axis.
        size: `(new_height, new_width)`, known while the program is recorded.
        method: `"bilinear"`, `"nearest"`, `"bicubic"`, `"area"`, `"lanczos3"`, `"lanczos5"`,
            `"gaussian"` or `"mitchellcubic"` (see `tf.image.ResizeMethod`).
        preserve_aspect_ratio: Whether to keep the proportions: the result then fits into `size`.
        antialias: Whether a smaller image is averaged over all the pixels it stands for
            (bilinear, bicubic, and the last four methods).
        name: Ignored.

    Returns:
        `[new_height, new_width, channels]`, or a batch of such: float32, with the method
        `"nearest"` the dtype of `images`.

    Raises:
        ValueError: If the rank is neither 3 nor 4, `size` is not two int32 or the method unknown.
        tf.errors.InvalidArgumentError: If a size is not positive or an image has no pixels.

    Example:
        >>> import tapejax as tf
        >>> tf.image.resize([[[0.0], [4.0]]], [1, 4]).numpy().ravel().tolist()
        [0.0, 1.0, 3.0, 4.0]

    *Differs from TensorFlow*: there are derivatives of every order, for every method and floating
    dtype. TensorFlow has first ones only, none for area, for bicubic of 16-bit floats, and of the
    last four methods for float32 only.
    """
    tensor = as_tensor(images)
    shape = tensor.aval.shape
    if len(shape) not in (3, 4):
        raise ValueError(
            f"'images' must have either 3 or 4 dimensions, got shape {tensor.shape}: [height, "
            "width, channels] or [batch, height, width, channels]."
        )
    new = _new_size(size)
    batch = len(shape) == 4
    full = shape if batch else (1, *shape)
    if preserve_aspect_ratio and 0 not in full[1:3]:
        new = _with_aspect(full, new)
    if method not in METHODS:
        raise ValueError(
            f"Resize method is not implemented: {method}. Methods are {', '.join(METHODS)}."
        )
    batched = tensor if batch else tensor[None]
    made = _resize(batched, new, method, bool(antialias))
    if method != "nearest":
        made = cast(made, float32)
    return made if batch else made[0]


@public("image.resize_with_pad")
def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Any:
    """Resize images without changing their proportions, and pad them with zeros to a size.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.
        target_height: Height of the result.
        target_width: Width of the result.
        method: See `tf.image.resize`.
        antialias: See `tf.image.resize`.

    Returns:
        `[target_height, target_width, channels]`, or a batch of such, with the image in the
        middle; float32, with the method `"nearest"` the dtype of `image`.

    Raises:
        ValueError: For another rank, an image without pixels or a size that is not positive.

    Example:
        >>> import tapejax as tf
        >>> tf.image.resize_with_pad([[[1.0], [1.0]]], 4, 2).numpy().ravel().tolist()
        [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    """
    tensor = as_tensor(image)
    check_rank(tensor.aval.shape)
    check_image(tensor.aval.shape)
    height, width = static_int(target_height), static_int(target_width)
    require(width > 0, "target_width must be > 0.", str(width))
    require(height > 0, "target_height must be > 0.", str(height))
    old = np.asarray(tensor.aval.shape[-3:-1], np.float32)
    target = np.asarray([height, width], np.float32)
    fitted = old / np.max(old / target)
    size = np.floor(fitted).astype(np.int32).tolist()
    top, left = np.maximum(np.floor((target - fitted) / 2).astype(np.int32), 0).tolist()
    resized = resize(tensor, size, method, antialias=antialias)
    return pad_to_bounding_box(resized, top, left, height, width)
