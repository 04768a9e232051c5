"""Images cut out and padded: boxes, central parts, random places."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from tapejax._src.core.dtypes import int32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, constant_tensor, static_ints
from tapejax._src.engine.registry import (
    Array,
    Index,
    StaticInts,
    TensorLike,
    ValueCheck,
    op,
    public,
)
from tapejax._src.ops.image_checks import (
    check_pixels,
    check_rank,
    image_tensor,
    is_symbolic,
    require,
    static_int,
)
from tapejax._src.ops.joining import stack
from tapejax._src.ops.random_stateful import uniform
from tapejax._src.ops.random_stateless import stateless_uniform

_LARGEST = np.iinfo(np.int32).max


# ---------------------------------------------------------------------- the recorded ops
@op(
    "_image.crop", node="Slice", cases=("f64[2,4,5,1], (1, 2), (2, 3)", "u8[3,3,1], (0, 1), (2, 2)")
)
def _crop(image: TensorLike, offset: StaticInts, size: StaticInts) -> Array:
    """The box of a size at a place."""
    (top, left), (height, width) = offset, size
    return image[..., top : top + height, left : left + width, :]


def _outside(image: Array, offset: Array, size: StaticInts) -> tuple[Any, ...]:
    room = np.asarray(image.shape[-3:-1]) - np.asarray(size)
    offset = offset.astype(jnp.int64)
    return jnp.any((offset < 0) | (offset > room)), offset[0], offset[1]


@op(
    "_image.crop:tensor",
    node="Slice",
    check=ValueCheck(
        _outside,
        "assertion failed: [width must be >= target + offset.] offset_height must be >= 0 and "
        "offset_width must be >= 0: got offset_height {:.0f}, offset_width {:.0f}".format,
    ),
    cases=("f64[2,4,5,1], i32[2] in (0, 2), (2, 3)",),
)
def _crop_at(image: TensorLike, offset: Index, size: StaticInts) -> Array:
    """The box of a size at a place that a tensor gives."""
    for axis, length in ((-3, size[0]), (-2, size[1])):
        start = offset[axis + 3]
        image = lax.dynamic_slice_in_dim(image, start, length, axis % image.ndim)
    return image


@op("_image.pad", node="Pad", cases=("f64[2,2,3,1], (1, 0), (4, 4)", "u8[1,2,1], (0, 1), (2, 3)"))
def _pad(image: TensorLike, offset: StaticInts, size: StaticInts) -> Array:
    """The image at a place of an image of zeros."""
    sides = [(0, 0)] * (image.ndim - 3)
    for at, new, old in zip(offset, size, image.shape[-3:-1], strict=True):
        sides.append((at, new - old - at))
    return jnp.pad(image, [*sides, (0, 0)])


@op(
    "_image.pad:tensor",
    node="Pad",
    check=ValueCheck(
        lambda image, offset, size: _outside(jnp.zeros((*size, 1)), offset, image.shape[-3:-1]),
        "assertion failed: [width must be <= target - offset] offset_height must be >= 0 and "
        "offset_width must be >= 0: got offset_height {:.0f}, offset_width {:.0f}".format,
    ),
    cases=("f64[2,2,3,1], i32[2] in (0, 2), (4, 5)",),
)
def _pad_at(image: TensorLike, offset: Index, size: StaticInts) -> Array:
    """The image at a place, which a tensor gives, of an image of zeros."""
    zeros = jnp.zeros((*image.shape[:-3], *size, image.shape[-1]), image.dtype)
    none = jnp.zeros((), offset.dtype)
    starts = [*[none] * (image.ndim - 3), offset[0], offset[1], none]
    return lax.dynamic_update_slice(zeros, image, starts)


# ---------------------------------------------------------------------- boxes
def _places(*offsets: Any) -> Any:
    """The offsets as ints, or as one tensor where they are only known when the program runs."""
    if not any(map(is_symbolic, offsets)):
        return tuple(map(static_int, offsets))
    tensors = [as_tensor(v) if is_symbolic(v) else as_tensor(v, int32) for v in offsets]
    if any(tensor.array is None or isinstance(tensor.array, Tracer) for tensor in tensors):
        return stack(tensors)
    # Known already: checked at the call.
    return constant_tensor(np.stack([np.asarray(tensor.array) for tensor in tensors]))


@public("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Cut a box out of images.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.
        offset_height: The first row; an int or an integer scalar.
        offset_width: The first column; an int or an integer scalar.
        target_height: How many rows; known while the program is recorded.
        target_width: How many columns; known while the program is recorded.

    Returns:
        `[target_height, target_width, channels]`, or a batch of such, of the dtype of `image`.

    Raises:
        ValueError: For another rank, an image without pixels, or a box that is not inside.
        tf.errors.InvalidArgumentError: If offsets given as tensors are not inside.

    Example:
        >>> import tapejax as tf
        >>> tf.image.crop_to_bounding_box([[[1], [2], [3]]], 0, 1, 1, 2).numpy().tolist()
        [[[2], [3]]]
    """
    tensor = image_tensor(image)
    check_pixels(tensor.aval.shape)
    height, width = static_int(target_height), static_int(target_width)
    require(width > 0, "target_width must be > 0.", str(width))
    require(height > 0, "target_height must be > 0.", str(height))
    places = _places(offset_height, offset_width)
    if not isinstance(places, tuple):
        _check_room(tensor, (0, 0), (height, width))
        return _crop_at(tensor, places, (height, width))
    require(places[1] >= 0, "offset_width must be >= 0.", str(places[1]))
    require(places[0] >= 0, "offset_height must be >= 0.", str(places[0]))
    _check_room(tensor, places, (height, width))
    return _crop(tensor, places, (height, width))


def _check_room(image: Tensor, offset: tuple[int, ...], size: tuple[int, int]) -> None:
    height, width = image.aval.shape[-3:-1]
    (top, left), (rows, columns) = offset, size
    got = f"an image of shape {image.shape}, offset {offset}, target {size}"
    require(width >= columns + left, "width must be >= target + offset.", got)
    require(height >= rows + top, "height must be >= target + offset.", got)


@public("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Any:
    """Put images into larger ones of zeros.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.
        offset_height: Rows of zeros above; an int or an integer scalar.
        offset_width: Columns of zeros to the left; an int or an integer scalar.
        target_height: Height of the result; known while the program is recorded.
        target_width: Width of the result; known while the program is recorded.

    Returns:
        `[target_height, target_width, channels]`, or a batch of such, of the dtype of `image`.

    Raises:
        ValueError: For another rank, an image without pixels, or one that does not fit.
        tf.errors.InvalidArgumentError: If it does not fit at offsets given as tensors.

    Example:
        >>> import tapejax as tf
        >>> tf.image.pad_to_bounding_box([[[1], [2]]], 0, 1, 1, 4).numpy().ravel().tolist()
        [0, 1, 2, 0]
    """
    tensor = image_tensor(image)
    check_pixels(tensor.aval.shape)
    size = static_int(target_height), static_int(target_width)
    places = _places(offset_height, offset_width)
    known = places if isinstance(places, tuple) else (0, 0)
    got = f"an image of shape {tensor.shape}, offset {known}, target {size}"
    require(known[0] >= 0, "offset_height must be >= 0.", got)
    require(known[1] >= 0, "offset_width must be >= 0.", got)
    height, width = tensor.aval.shape[-3:-1]
    require(size[1] - known[1] >= width, "width must be <= target - offset.", got)
    require(size[0] - known[0] >= height, "height must be <= target - offset.", got)
    if isinstance(places, tuple):
        return _pad(tensor, places, size)
    return _pad_at(tensor, places, size)


@public("image.resize_with_crop_or_pad")
def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """Cut off or pad all sides evenly, so that images get a size.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.
        target_height: Height of the result; known while the program is recorded.
        target_width: Width of the result; known while the program is recorded.

    Returns:
        `[target_height, target_width, channels]`, or a batch of such, of the dtype of `image`.

    Raises:
        ValueError: For another rank, an image without pixels, or a size that is not positive.

    Example:
        >>> import tapejax as tf
        >>> tf.image.resize_with_crop_or_pad([[[1], [2], [3]]], 1, 1).numpy().tolist()
        [[[2]]]
    """
    tensor = image_tensor(image)
    check_pixels(tensor.aval.shape)
    target = static_int(target_height), static_int(target_width)
    require(target[1] > 0, "target_width must be > 0.", str(target[1]))
    require(target[0] > 0, "target_height must be > 0.", str(target[0]))
    sizes = tensor.aval.shape[-3:-1]
    more = [new - old for new, old in zip(target, sizes, strict=True)]
    kept = [min(new, old) for new, old in zip(target, sizes, strict=True)]
    cropped = _crop(tensor, [max(-n // 2, 0) for n in more], kept)
    return _pad(cropped, [max(n // 2, 0) for n in more], target)


@public("image.central_crop")
def central_crop(image: Any, central_fraction: Any) -> Any:
    """Cut off the same share of every side.

    Args:
        image: `[height, width, channels]`, or a batch of such with a leading axis.
        central_fraction: The share of height and width to keep, in (0, 1]; known while the
            program is recorded.

    Returns:
        The middle of the images, of the same dtype.

    Raises:
        ValueError: For another rank, an image without pixels, or a fraction outside (0, 1].

    Example:
        >>> import tapejax as tf
        >>> tf.image.central_crop(tf.zeros([8, 6, 3]), 0.5).shape
        TensorShape([4, 4, 3])
    """
    tensor = as_tensor(image)
    if isinstance(central_fraction, (Tensor, Variable)):
        central_fraction = central_fraction.numpy()
    fraction = float(central_fraction)
    require(0.0 < fraction <= 1.0, "central_fraction must be within (0, 1].", str(fraction))
    if fraction == 1.0:
        return tensor
    check_pixels(tensor.aval.shape)
    check_rank(tensor.aval.shape)
    height, width = tensor.aval.shape[-3:-1]
    top = int((height - height * fraction) / 2)
    left = int((width - width * fraction) / 2)
    return _crop(tensor, (top, left), (height - 2 * top, width - 2 * left))


# ---------------------------------------------------------------------- random places
@op(
    "_image.crop_drawn",
    node="Slice",
    cases=("f64[4,5], i32[2] in (0, 99), (2, 3)", "u8[3], i32[1] in (0, 99), (3,)"),
)
def _crop_drawn(value: TensorLike, drawn: Index, size: StaticInts) -> Array:
    """A block whose place is the remainder of numbers drawn."""
    room = jnp.asarray([old - new + 1 for old, new in zip(value.shape, size, strict=True)], "int32")
    starts = lax.rem(drawn, room)
    return lax.dynamic_slice(value, [starts[n] for n in range(value.ndim)], size)


def _block(value: Any, size: Any) -> tuple[Tensor, tuple[int, ...]]:
    tensor = as_tensor(value)
    sizes = static_ints(size)
    shape = tensor.aval.shape
    sizes = (sizes,) * len(shape) if isinstance(sizes, int) else sizes
    # A size of -1 is accepted and refused by the slice, as TensorFlow's error would come later.
    if len(sizes) != len(shape) or any(n > m or n < 0 for n, m in zip(sizes, shape, strict=True)):
        raise InvalidArgumentError(
            f"Need value.shape >= size, got {list(shape)} and {list(sizes)}: give one size for "
            "each axis, at most as large as the axis."
        )
    return tensor, sizes


@public("image.random_crop")
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Any:
    """A block of a tensor at a random place.

    Args:
        value: A tensor `[...]`, for example an image.
        size: The shape of the block; known while the program is recorded.
        seed: Seed of this op beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        A tensor of shape `size` and the dtype of `value`, from TensorFlow's place for the same
        seeds.

    Raises:
        tf.errors.InvalidArgumentError: If the block is larger than the tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.image.random_crop(tf.zeros([8, 8, 3]), [4, 5, 3]).shape
        TensorShape([4, 5, 3])
    """
    tensor, sizes = _block(value, size)
    drawn = uniform([len(sizes)], maxval=_LARGEST, dtype=int32, seed=seed)
    return _crop_drawn(tensor, drawn, sizes)


@public("image.stateless_random_crop")
def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Any:
    """A block of a tensor at a place that a seed decides.

    Args:
        value: A tensor `[...]`, for example an image.
        size: The shape of the block; known while the program is recorded.
        seed: `[2]` integers.
        name: Ignored.

    Returns:
        A tensor of shape `size` and the dtype of `value`, from TensorFlow's place for the same
        seed.

    Raises:
        tf.errors.InvalidArgumentError: If the block is larger than the tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.image.stateless_random_crop([1, 2, 3, 4], [2], seed=(1, 2)).shape
        TensorShape([2])
    """
    tensor, sizes = _block(value, size)
    drawn = stateless_uniform([len(sizes)], seed, 0, _LARGEST, int32)
    return _crop_drawn(tensor, drawn, sizes)
