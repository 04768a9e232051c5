"""Parts of images at many places: patches, glimpses, boxes resampled to one size."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import float32, int32
from tapejax._src.core.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from tapejax._src.engine.convert import as_tensor, static_ints
from tapejax._src.engine.effects import Failure
from tapejax._src.engine.registry import (
    Array,
    Index,
    Same,
    StaticInts,
    TensorLike,
    ValueCheck,
    op,
    public,
)
from tapejax._src.ops import philox
from tapejax._src.ops.casting import cast
from tapejax._src.ops.random_seed import seed_tensor

_NUMERIC = (
    "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 qint16 "
    "quint16 uint16 complex128 half uint32 uint64"
)
_CROPPED = "uint8 uint16 int8 int16 int32 int64 float16 float32 float64"
_NOISES = ("uniform", "gaussian", "zero")


# ---------------------------------------------------------------------- patches
def _across_space(values: Any, name: str) -> tuple[int, int]:
    sizes = static_ints(values)
    if not isinstance(sizes, tuple) or len(sizes) < 4:
        raise InvalidArgumentError(
            f"Length for attr '{name}' of {values!r} must be at least minimum 4: [1, rows, "
            "columns, 1] [Op:ExtractImagePatches]"
        )
    if sizes[0] != 1 or sizes[3] != 1:
        raise UnimplementedError(
            f"Only support {name} across space: got {list(sizes)}, write [1, rows, columns, 1] "
            "[Op:ExtractImagePatches]"
        )
    if min(sizes) <= 0:
        raise OutOfRangeError(f"{name} is out of range: got {list(sizes)} [Op:ExtractImagePatches]")
    return sizes[1], sizes[2]


def _window(size: int, window: int, stride: int, rate: int, same: bool) -> tuple[int, int, int]:
    """How many patches along an axis, and the padding before and after."""
    reach = (window - 1) * rate + 1
    if same:
        count = -(-size // stride)
        total = max((count - 1) * stride + reach - size, 0)
        return count, total // 2, total - total // 2
    count = (size - reach + stride) // stride
    if count < 0:
        raise InvalidArgumentError(
            f"Computed output size would be negative: {count} [input_size: {size}, "
            f"effective_filter_size: {reach}, stride: {stride}] [Op:ExtractImagePatches]"
        )
    return count, 0, 0


def _cut_up(
    padded: Array,
    counts: tuple[int, int],
    window: tuple[int, int],
    stride: tuple[int, int],
    rate: tuple[int, int],
) -> Array:
    """Patches of padded images."""
    batch, channels = padded.shape[0], padded.shape[3]
    if window == stride and rate == (1, 1):
        exact = padded[:, : counts[0] * window[0], : counts[1] * window[1]]
        cut = exact.reshape(batch, counts[0], window[0], counts[1], window[1], channels)
    else:
        rows, columns = (
            np.arange(counts[n])[:, None] * stride[n] + np.arange(window[n]) * rate[n]
            for n in (0, 1)
        )
        cut = jnp.take(padded, rows, axis=1, mode="clip")
        cut = jnp.take(cut, columns, axis=3, mode="clip")
    patches = jnp.swapaxes(cut, 2, 3)
    return patches.reshape(batch, *counts, window[0] * window[1] * channels)


@op(
    "image.extract_patches",
    node="ExtractImagePatches",
    dtypes=_NUMERIC,
    heavy=True,
    cases=(
        "f32[2,4,6,2], [1,2,3,1], [1,2,3,1], [1,1,1,1], 'VALID'",
        "f64[1,5,4,1], [1,2,2,1], [1,1,1,1], [1,1,1,1], 'SAME'",
        "f32[1,6,5,1], [1,2,2,1], [1,2,1,1], [1,2,3,1], 'SAME'",
        "f64[1,5,5,2], (1,3,2,1), (1,2,2,1), (1,1,2,1), 'VALID'",
        "i32[1,3,3,2], [1,2,2,1], [1,1,1,1], [1,1,1,1], 'VALID'",
        "f16[1,3,3,1], [1,2,2,1], [1,2,2,1], [1,1,1,1], 'SAME'",
        "f32[0,3,3,1], [1,2,2,1], [1,1,1,1], [1,1,1,1], 'VALID'",
    ),
)
def extract_patches(
    images: Same,
    sizes: StaticInts,
    strides: StaticInts,
    rates: StaticInts,
    padding: str,
    name: str | None = None,
) -> Array:
    """Cut images into patches, each with its pixels on the last axis.

    Args:
        images: `[batch, rows, columns, channels]`.
        sizes: `[1, rows, columns, 1]` of a patch.
        strides: `[1, rows, columns, 1]` between the first pixels of patches.
        rates: `[1, rows, columns, 1]` between the pixels of a patch.
        padding: `"VALID"` for patches inside the image, `"SAME"` for zeros around it.
        name: Ignored.

    Returns:
        `[batch, patch rows, patch columns, rows * columns * channels]` of the same dtype.

    Raises:
        tf.errors.InvalidArgumentError: For another rank, another padding, or a patch that is larger
            than the image.
        tf.errors.UnimplementedError: If patches would extend over the batch or the channels.

    Example:
        >>> import tapejax as tf
        >>> image = tf.reshape(tf.range(4), [1, 2, 2, 1])
        >>> patches = tf.image.extract_patches(
        ...     image, [1, 2, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], padding="VALID"
        ... )
        >>> patches.numpy().tolist()
        [[[[0, 2], [1, 3]]]]
    """
    if images.ndim != 4:
        raise InvalidArgumentError(
            f"input must be 4-dimensional, got shape {list(images.shape)} [Op:ExtractImagePatches]"
        )
    if padding not in ("SAME", "VALID"):
        raise InvalidArgumentError(
            f"Value for attr 'padding' of {padding!r} is not in the list of allowed values: "
            '"SAME", "VALID" [Op:ExtractImagePatches]'
        )
    window = _across_space(sizes, "ksizes")
    stride, rate = _across_space(strides, "strides"), _across_space(rates, "rates")
    same = padding == "SAME"
    height, width = (
        _window(images.shape[n + 1], window[n], stride[n], rate[n], same) for n in (0, 1)
    )
    padded = jnp.pad(images, [(0, 0), height[1:], width[1:], (0, 0)])
    return _cut_up(padded, (height[0], width[0]), window, stride, rate)


# ---------------------------------------------------------------------- boxes
def _box_outside(image: Array, boxes: Array, box_indices: Array, **_: Any) -> tuple[Any, ...]:
    return (jnp.any((box_indices < 0) | (box_indices >= image.shape[0])), image.shape[0])


def _says_outside(batch: Any) -> Failure:
    message = Failure(f"box_index has values outside [0, batch_size) with batch_size {batch}")
    message.kind = OutOfRangeError
    return message


def _corners(place: Array, size: int) -> tuple[Array, Array, Array, Array]:
    """The pixels below and above each place, how far it is from the first, whether it is inside."""
    low = jnp.floor(place)
    inside = (place >= 0) & (place <= size - 1)
    indices = [jnp.clip(x, 0, size - 1).astype(jnp.int32) for x in (low, jnp.ceil(place))]
    return indices[0], indices[1], place - jax.lax.stop_gradient(low), inside


def _places(first: Array, last: Array, size: int, count: int) -> Array:
    """Where `count` samples lie between the two edges of each box, in pixels: `[boxes, count]`."""
    if count == 1:
        return ((first + last) * 0.5 * (size - 1))[:, None]
    step = (last - first) * (size - 1) / (count - 1)
    return (first * (size - 1))[:, None] + step[:, None] * np.arange(count, dtype=first.dtype)


@op(
    "_image.crop_and_resize",
    node="CropAndResize",
    heavy=True,
    no_gradient=("box_indices",),
    check=ValueCheck(_box_outside, _says_outside),
    cases=(
        "f64[2,4,5,2], f64[3,4] in (0.1, 0.9), i32[3] in (0, 2), (2, 3), 'bilinear', 0.0",
        "f64[2,4,5,1], f64[3,4] in (-0.4, 1.4), i32[3] in (0, 2), (1, 3), 'bilinear', 2.5",
        "f32[1,3,3,1], f32[2,4] in (-0.4, 1.4), i32[2] in (0, 1), (2, 2), 'nearest', -1.0",
        "f32[1,3,3,1], f32[0,4], i32[0], (2, 2), 'bilinear', 0.0",
    ),
)
def _crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_indices: Index,
    crop_size: StaticInts,
    method: str,
    extrapolation_value: float,
) -> Array:
    """The part of an image in each box, resampled to one size."""
    height, width = image.shape[1:3]
    wide = image if image.dtype == jnp.float64 else image.astype(jnp.float32)
    rows = _places(boxes[:, 0], boxes[:, 2], height, crop_size[0])
    columns = _places(boxes[:, 1], boxes[:, 3], width, crop_size[1])
    top, bottom, down, row_inside = _corners(rows, height)
    left, right, across, column_inside = _corners(columns, width)
    number = jnp.clip(box_indices, 0, image.shape[0] - 1)[:, None, None]

    def pixels(row: Array, column: Array) -> Array:
        return wide[number, row[:, :, None], column[:, None, :]]

    if method == "nearest":
        # Halves are rounded up: places inside are not negative.
        nearest = [
            jnp.clip(jnp.floor(x + 0.5), 0, n - 1).astype(jnp.int32)
            for x, n in ((rows, height), (columns, width))
        ]
        made = pixels(*nearest)
    else:
        across = across.astype(wide.dtype)[:, None, :, None]
        first, last = pixels(top, left), pixels(bottom, left)
        first = first + (pixels(top, right) - first) * across
        last = last + (pixels(bottom, right) - last) * across
        made = first + (last - first) * down.astype(wide.dtype)[:, :, None, None]
    inside = (row_inside[:, :, None] & column_inside[:, None, :])[..., None]
    return jnp.where(inside, made, jnp.asarray(extrapolation_value, wide.dtype))


def _check_boxes(
    image: tuple[int, ...], boxes: tuple[int, ...], indices: tuple[int, ...], size: Any
) -> None:
    problem = None
    if len(image) != 4:
        problem = f"input image must be 4-D, got shape {list(image)}"
    elif 0 in image[1:3]:
        problem = f"image dimensions must be positive, got shape {list(image)}"
    elif not isinstance(size, tuple) or len(size) != 2:
        problem = f"crop_size must be a 1-D tensor of 2 elements, got {size}"
    elif min(size) <= 0:
        problem = f"crop dimensions must be positive, got {list(size)}"
    elif len(boxes) != 2 or boxes[1] != 4:
        problem = f"boxes must have 4 columns: [boxes, 4], got shape {list(boxes)}"
    elif indices != boxes[:1]:
        problem = (
            f"box_index has incompatible shape {list(indices)}: one index for each of the "
            f"{boxes[0]} boxes"
        )
    if problem:
        raise InvalidArgumentError(f"{problem} [Op:CropAndResize]")


def _check_kind(dtype: str, method: str) -> None:
    if method not in ("bilinear", "nearest"):
        raise InvalidArgumentError(
            f"Value for attr 'method' of {method!r} is not in the list of allowed values: "
            '"bilinear", "nearest" [Op:CropAndResize]'
        )
    allowed = _CROPPED.split()
    if dtype not in allowed:
        raise InvalidArgumentError(
            f"Value for attr 'T' of {dtype} is not in the list of allowed values: "
            f"{', '.join(allowed)} [Op:CropAndResize]"
        )


@public("image.crop_and_resize")
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Any:
    """Cut boxes out of images and resize each to the same size.

    The corners of the result are those of the box; a box may reach outside and may be flipped.

    Args:
        image: `[batch, height, width, channels]`.
        boxes: float32 `[boxes, 4]`: y1, x1, y2, x2, where 0 is the first pixel and 1 the last.
        box_indices: int32 `[boxes]`, the image that each box is of.
        crop_size: `(height, width)` of the result; known while the program is recorded.
        method: `"bilinear"` or `"nearest"`.
        extrapolation_value: What stands for pixels outside of the image.
        name: Ignored.

    Returns:
        float32 `[boxes, crop height, crop width, channels]`.

    Raises:
        tf.errors.InvalidArgumentError: If the shapes do not fit or the method is unknown.
        tf.errors.OutOfRangeError: If a box is of an image that does not exist.

    Example:
        >>> import tapejax as tf
        >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> crops = tf.image.crop_and_resize(image, [[0.0, 0.0, 0.5, 1.0]], [0], [2, 2])
        >>> crops.numpy().ravel().tolist()
        [0.0, 2.0, 3.0, 5.0]

    *Differs from TensorFlow*: there are second derivatives, and with the method `"nearest"` the
    derivative by the boxes is zero, not that of the method `"bilinear"`.
    """
    image, boxes = as_tensor(image), as_tensor(boxes, float32)
    _check_kind(image.dtype.name, method)
    indices = as_tensor(box_indices, int32)
    size = static_ints(crop_size)
    _check_boxes(image.aval.shape, boxes.aval.shape, indices.aval.shape, size)
    made = _crop_and_resize(image, boxes, indices, size, method, float(extrapolation_value))
    return cast(made, float32)


# ---------------------------------------------------------------------- glimpses
def _noise(image: Array, state: Array, shape: tuple[int, ...], noise: str) -> Array:
    """What stands for pixels outside of an image."""
    if noise == "zero" or not image.size:
        return jnp.zeros(shape, image.dtype)
    low = jnp.min(image, axis=(1, 2), keepdims=True)
    high = jnp.max(image, axis=(1, 2), keepdims=True)
    if noise == "uniform":
        low, high = jnp.min(image), jnp.max(image)
        return low + philox.uniform(state, shape, np.dtype(np.float32)) * (high - low)
    mean = jnp.mean(image, axis=(1, 2), keepdims=True)
    deviation = jnp.std(image, axis=(1, 2), keepdims=True)
    return jnp.clip(mean + deviation * philox.normal(state, shape, np.dtype(np.float32)), low, high)


@op(
    "_image.glimpse",
    node="ExtractGlimpseV2",
    gradient="lookup",
    cases=(
        "f32[2,4,5,1], f32[2,2], u32[6] in (0, 99), (3, 2), True, True, 'uniform'",
        "f32[1,4,5,1], f32[1,2], u32[6] in (0, 99), (3, 2), False, True, 'gaussian'",
        "f32[1,4,5,1], f32[1,2], u32[6] in (0, 99), (3, 2), True, False, 'zero'",
    ),
)
def _glimpse(
    image: TensorLike,
    offsets: TensorLike,
    state: TensorLike,
    size: StaticInts,
    centered: bool,
    normalized: bool,
    noise: str,
) -> Array:
    """A window of each image around a place."""
    batch, height, width, channels = image.shape
    indices: list[Array] = []
    inside: list[Array] = []
    for n, length in enumerate((height, width)):
        place = offsets[:, n]
        if normalized:
            place = place * length
        if centered:
            place = (place / 2 if normalized else place) + length / 2
        if centered and normalized:
            place = place - size[n] / 2
        pixels = place.astype(jnp.int32)[:, None] + np.arange(size[n], dtype=np.int32)
        inside.append((pixels >= 0) & (pixels < length))
        indices.append(jnp.clip(pixels, 0, max(length - 1, 0)))
    outside = _noise(image, state, (batch, *size, channels), noise)
    if not height * width:
        return outside
    number = np.arange(batch)[:, None, None]
    seen = image[number, indices[0][:, :, None], indices[1][:, None, :]]
    mask = inside[0][:, :, None] & inside[1][:, None, :]
    return jnp.where(mask[..., None], seen, outside)


@public("image.extract_glimpse")
def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Any:
    """A window of each image, with noise where it reaches outside.

    Args:
        input: float32 `[batch, height, width, channels]`.
        size: `(height, width)` of the window; known while the program is recorded.
        offsets: float32 `[batch, 2]`, y and x of each window: of its middle if `centered` and
            `normalized`, else of its upper left corner.
        centered: Whether places are relative to the middle of the image.
        normalized: Whether places are in units of the image, otherwise in pixels.
        noise: `"uniform"`, `"gaussian"` or `"zero"`.
        name: Ignored.

    Returns:
        float32 `[batch, *size, channels]`.

    Raises:
        tf.errors.InvalidArgumentError: If the shapes do not fit or the noise is unknown.
        LookupError: On asking for a gradient.

    Example:
        >>> import tapejax as tf
        >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> tf.image.extract_glimpse(image, [1, 1], [[0.0, 0.0]]).numpy().ravel().tolist()
        [4.0]

    *Differs from TensorFlow*: the noise follows `tf.random.set_seed`; TensorFlow's cannot be
    repeated.
    """
    image, places = as_tensor(input, float32), as_tensor(offsets, float32)
    window = static_ints(size)
    shape, given = image.aval.shape, places.aval.shape
    problem = None
    if len(shape) != 4:
        problem = f"input must be 4-dimensional (batch_size, height, width, depth), got {shape}"
    elif not isinstance(window, tuple) or len(window) != 2:
        problem = f"input must be a vector of size 2 (height, width), got size {size!r}"
    elif len(given) != 2 or given[1] != 2:
        problem = f"input must be a matrix of offsets [batch, 2], got shape {list(given)}"
    elif given[0] != shape[0]:
        problem = f"first dimension of offsets should be batch {shape[0]}, got {list(given)}"
    elif noise not in _NOISES:
        problem = f"The noise could only be uniform, gaussian, or zero, got {noise!r}"
    if problem:
        raise InvalidArgumentError(f"{problem} [Op:ExtractGlimpseV2]")
    blocks = shape[0] * window[0] * window[1] * shape[3]
    state = seed_tensor(0, "ExtractGlimpseV2", "float32", blocks)
    return _glimpse(image, places, state, window, bool(centered), bool(normalized), noise)
