"""How images vary and how much they are alike: gradients, edges, variation, PSNR, SSIM."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import as_dtype, float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import OPS, Array, Same, TensorLike, op, public
from tapejax._src.ops.casting import cast
from tapejax._src.ops.image_checks import PIXELS
from tapejax._src.ops.image_colors import convert_image_dtype

_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


# ---------------------------------------------------------------------- differences
@op(
    "image.total_variation",
    node="Abs",
    dtypes="bfloat16 half float double int8 int16 int32 int64",
    cases=("f32[3,4,2]", "f64[2,3,2,1]", "f16[2,3,2,1]", "i32[3,3,1]", "f32[0,3,3,1]"),
    tol={"f16": 8e-3},
)
def total_variation(images: Same, name: str | None = None) -> Array:
    """The sum of the absolute differences of neighbouring pixels.

    Args:
        images: `[height, width, channels]`, or a batch of such with a leading axis.
        name: Ignored.

    Returns:
        A scalar, or `[batch]`, of the dtype of `images`.

    Raises:
        ValueError: For another rank.

    Example:
        >>> import tapejax as tf
        >>> float(tf.image.total_variation([[[1.0], [3.0]], [[1.0], [4.0]]]))
        6.0
    """
    if images.ndim not in (3, 4):
        raise ValueError(
            f"'images' must be either 3 or 4-dimensional, got shape {tuple(images.shape)}."
        )
    absolute = OPS["math.abs"].fn
    down = absolute(images[..., 1:, :, :] - images[..., :-1, :, :])
    across = absolute(images[..., 1:, :] - images[..., :-1, :])
    axes = (-3, -2, -1)
    return jnp.sum(down, axes, dtype=images.dtype) + jnp.sum(across, axes, dtype=images.dtype)


@op(
    "image.image_gradients",
    node="Sub",
    dtypes=PIXELS.replace("bool ", ""),
    cases=("f32[2,3,4,2]", "f64[1,2,1,1]", "u8[1,2,3,1]", "f32[0,2,2,1]"),
)
def image_gradients(image: Same) -> tuple[Array, Array]:
    """The differences of each pixel to the one below and to the one on the right.

    Args:
        image: `[batch, height, width, channels]`.

    Returns:
        `(dy, dx)` of the shape and dtype of `image`, 0 in the last row and the last column.

    Raises:
        ValueError: For another rank.

    Example:
        >>> import tapejax as tf
        >>> dy, dx = tf.image.image_gradients(tf.reshape([1.0, 2.0, 4.0, 8.0], [1, 2, 2, 1]))
        >>> dy.numpy().ravel().tolist(), dx.numpy().ravel().tolist()
        ([3.0, 6.0, 0.0, 0.0], [1.0, 0.0, 4.0, 0.0])
    """
    if image.ndim != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {tuple(image.shape)}."
        )
    if 0 in image.shape[1:3]:
        raise InvalidArgumentError(f"image_gradients of images without pixels: {image.shape}")
    down = image[:, 1:] - image[:, :-1]
    across = image[:, :, 1:] - image[:, :, :-1]
    return (
        jnp.pad(down, [(0, 0), (0, 1), (0, 0), (0, 0)]),
        jnp.pad(across, [(0, 0), (0, 0), (0, 1), (0, 0)]),
    )


def _three(x: Array, axis: int, weights: Sequence[int]) -> Array:
    """A weighted sum of three neighbours along an axis."""
    size = x.shape[axis] - 2
    parts = [
        jnp.take(x, np.arange(n, n + size), axis, mode="clip") * np.asarray(weight, x.dtype)
        for n, weight in enumerate(weights)
        if weight
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


@op(
    "image.sobel_edges",
    node="DepthwiseConv2dNative",
    dtypes="half bfloat16 float double",
    cases=("f32[2,4,5,2]", "f64[1,3,5,1]", "f16[1,4,5,3]"),
    tol={"f32": 5e-5, "f16": 2e-2},  # differences of nearly equal sums
)
def sobel_edges(image: Same) -> Array:
    """Sobel filters: smoothed differences of the rows and of the columns around each pixel.

    Args:
        image: Floats `[batch, height, width, channels]`, at least two pixels high and wide.

    Returns:
        `[batch, height, width, channels, 2]` of the same dtype: vertical, then horizontal.

    Raises:
        tf.errors.InvalidArgumentError: For another rank or a smaller image.

    Example:
        >>> import tapejax as tf
        >>> ramp = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
        >>> tf.image.sobel_edges(ramp)[0, 1, 1, 0].numpy().tolist()
        [24.0, 8.0]
    """
    if image.ndim != 4:
        raise InvalidArgumentError(
            f"sobel_edges expects images [batch, h, w, d], got shape {list(image.shape)} "
            "[Op:MirrorPad]"
        )
    if min(image.shape[1:3]) < 2 or not image.shape[0]:
        raise InvalidArgumentError(
            "paddings must be less than the dimension size: 1, 1 not less than "
            f"{min(image.shape[1:3])}: images of shape {list(image.shape)} are too small "
            "[Op:MirrorPad]"
        )
    padded = jnp.pad(image, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="reflect")
    smooth, change = (1, 2, 1), (-1, 0, 1)
    down = _three(_three(padded, 2, smooth), 1, change)
    across = _three(_three(padded, 1, smooth), 2, change)
    return jnp.stack([down, across], axis=-1)


# ---------------------------------------------------------------------- two images
def _check_pair(first: Sequence[int], second: Sequence[int]) -> None:
    for shape in (first, second):
        if len(shape) < 3:
            raise ValueError(
                f"Shape {tuple(shape)} must have rank at least 3: [..., height, width, channels]."
            )
    try:
        np.broadcast_shapes(first[:-3], second[:-3])
    except ValueError:
        fits = False
    else:
        fits = tuple(first[-3:]) == tuple(second[-3:])
    if not fits:
        raise ValueError(f"Two images are not compatible: {tuple(first)} and {tuple(second)}")


def _floats(first: Any, second: Any, max_val: Any) -> tuple[Any, Any, Any]:
    """Two images and the range of their values, as float32 in the range [0, 1]."""
    one, other = as_tensor(first), as_tensor(second)
    limit = convert_image_dtype(cast(max_val, as_dtype(one.dtype)), float32)
    return convert_image_dtype(one, float32), convert_image_dtype(other, float32), limit


@op("_image.psnr", node="Sub", cases=("f64[2,3,2,1], f64[2,3,2,1], f64[] in (1, 2)",))
def _psnr(a: TensorLike, b: TensorLike, max_val: TensorLike) -> Array:
    """The ratio of the largest possible error to the mean one, in decibels."""
    if a.ndim < 3 or b.ndim < 3:
        raise InvalidArgumentError(
            f"Invalid reduction dimension -3: psnr of shapes {list(a.shape)} and {list(b.shape)}: "
            "images are [..., height, width, channels] [Op:Mean]"
        )
    try:
        jnp.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes: {list(a.shape)} vs. {list(b.shape)} [Op:SquaredDifference]"
        ) from None
    _check_pair(a.shape, b.shape)
    error = jnp.mean(jnp.square(a - b), axis=(-3, -2, -1))
    ten = math.log(10.0)
    return 20 * jnp.log(max_val) / ten - (10 / ten) * jnp.log(error)


@public("image.psnr")
def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Any:
    """Peak signal-to-noise ratio of pairs of images, in decibels.

    Args:
        a: `[..., height, width, channels]`, floats or integers.
        b: The other images, of the same kind; leading axes broadcast.
        max_val: The distance between the least and the largest possible value.
        name: Ignored.

    Returns:
        float32 `[...]`; infinite for equal images.

    Raises:
        tf.errors.InvalidArgumentError: If the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> round(float(tf.image.psnr(tf.zeros([2, 2, 1]), tf.fill([2, 2, 1], 0.1), 1.0)), 3)
        20.0
    """
    return _psnr(*_floats(a, b, max_val))


# ---------------------------------------------------------------------- structural similarity
def _smoothed(x: Array, size: int, sigma: float) -> Array:
    """Averages with Gaussian weights over the windows inside the images."""
    place = np.arange(size) - (size - 1) / 2
    weights = np.exp(-0.5 * np.square(place / sigma))
    weights = (weights / weights.sum()).astype(x.dtype)
    for axis in (-3, -2):
        length = x.shape[axis] - size + 1
        lead = (slice(None),) * (x.ndim + axis)
        parts = [x[(*lead, slice(n, n + length))] * weights[n] for n in range(size)]
        x = functools.reduce(jnp.add, parts)
    return x


def _similarity(
    x: Array, y: Array, max_val: Array, size: int, sigma: float, k1: float, k2: float
) -> tuple[Array, Array]:
    """How alike the means, and how alike the deviations, are in each window."""
    for shape in (x.shape, y.shape):
        if min(shape[-3:-1]) < size:
            raise InvalidArgumentError(
                f"Images of shape {list(shape)} are smaller than the window of filter_size={size}: "
                "give a smaller filter_size [Op:Assert]"
            )
    c1, c2 = jnp.square(k1 * max_val), jnp.square(k2 * max_val)
    mean_x, mean_y = _smoothed(x, size, sigma), _smoothed(y, size, sigma)
    product, squares = mean_x * mean_y * 2, jnp.square(mean_x) + jnp.square(mean_y)
    luminance = (product + c1) / (squares + c1)
    covariance = _smoothed(x * y, size, sigma) * 2 - product
    variance = _smoothed(jnp.square(x) + jnp.square(y), size, sigma) - squares
    return luminance, (covariance + c2) / (variance + c2)


@op(
    "_image.ssim",
    node="DepthwiseConv2dNative",
    heavy=True,
    cases=(
        "f64[5,6,1] in (0, 1), f64[5,6,1] in (0, 1), f64[] in (1, 2), 3, 1.5, 0.01, 0.03, False",
        "f64[2,4,5,2] in (0, 1), f64[4,5,2] in (0, 1), f64[] in (1, 2), 4, 1.0, 0.01, 0.03, True",
    ),
)
def _ssim(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    filter_size: int,
    filter_sigma: float,
    k1: float,
    k2: float,
    return_index_map: bool,
) -> Array:
    """Structural similarity."""
    _check_pair(img1.shape, img2.shape)
    luminance, contrast = _similarity(img1, img2, max_val, filter_size, filter_sigma, k1, k2)
    similarity = luminance * contrast
    return jnp.mean(similarity, axis=-1 if return_index_map else (-3, -2, -1))


@public("image.ssim")
def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Any:
    """Structural similarity of pairs of images, averaged over their windows and channels.

    Args:
        img1: `[..., height, width, channels]`, floats or integers.
        img2: The other images, of the same kind; leading axes broadcast.
        max_val: The distance between the least and the largest possible value.
        filter_size: Height and width of the Gaussian window.
        filter_sigma: Its standard deviation in pixels.
        k1: Steadies the comparison of means.
        k2: Steadies the comparison of deviations.
        return_index_map: Whether to give the similarity of each window.

    Returns:
        float32 `[...]` in (-1, 1], or `[..., rows, columns]`, one for each window.

    Raises:
        ValueError: If the shapes do not fit.
        tf.errors.InvalidArgumentError: If the images are smaller than the window.

    Example:
        >>> import tapejax as tf
        >>> image = tf.reshape(tf.range(144.0), [12, 12, 1])
        >>> float(tf.image.ssim(image, image, max_val=144.0))
        1.0

    References:
        Wang, Bovik, Sheikh, Simoncelli, "Image quality assessment: from error visibility to
        structural similarity", IEEE Transactions on Image Processing 13, 2004.
    """
    _check_pair(as_tensor(img1).aval.shape, as_tensor(img2).aval.shape)
    pair = _floats(img1, img2, max_val)
    return _ssim(*pair, int(filter_size), float(filter_sigma), k1, k2, bool(return_index_map))


def _halved(x: Array) -> Array:
    """Means of 2 x 2 pixels; the last row or column of an odd size counts twice."""
    odd = [size % 2 for size in x.shape[-3:-1]]
    x = jnp.pad(x, [(0, 0)] * (x.ndim - 3) + [(0, odd[0]), (0, odd[1]), (0, 0)], mode="edge")
    height, width = x.shape[-3] // 2, x.shape[-2] // 2
    return x.reshape(*x.shape[:-3], height, 2, width, 2, x.shape[-1]).mean(axis=(-4, -2))


@op(
    "_image.ssim_multiscale",
    node="DepthwiseConv2dNative",
    heavy=True,
    cases=(
        "f64[7,6,1] in (0, 1), f64[7,6,1] in (0, 1), f64[] in (1, 2), (0.4, 0.6), 3, 1.5, 0.01, "
        "9.0",
    ),
)
def _ssim_multiscale(
    img1: TensorLike,
    img2: TensorLike,
    max_val: TensorLike,
    power_factors: tuple[float, ...],
    filter_size: int,
    filter_sigma: float,
    k1: float,
    k2: float,
) -> Array:
    """The product of the similarities at several scales."""
    _check_pair(img1.shape, img2.shape)
    factors: list[Array] = []
    relu, power = OPS["nn.relu"].fn, OPS["_math.pow"].fn
    x, y = img1, img2
    for scale, exponent in enumerate(power_factors):
        if scale:
            x, y = _halved(x), _halved(y)
        luminance, contrast = _similarity(x, y, max_val, filter_size, filter_sigma, k1, k2)
        last = scale == len(power_factors) - 1
        mean = jnp.mean(luminance * contrast if last else contrast, axis=(-3, -2))
        factors.append(power(relu(mean), jnp.asarray(exponent, x.dtype)))
    product = factors[0]
    for factor in factors[1:]:
        product = product * factor
    return jnp.mean(product, axis=-1)


@public("image.ssim_multiscale")
def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Any = _WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Any:
    """Structural similarity at several scales, each half as large as the one before.

    Args:
        img1: `[..., height, width, channels]`, floats or integers.
        img2: The other images, of the same kind; leading axes broadcast.
        max_val: The distance between the least and the largest possible value.
        power_factors: The weight of each scale; their number is that of the scales.
        filter_size: Height and width of the Gaussian window.
        filter_sigma: Its standard deviation in pixels.
        k1: Steadies the comparison of means.
        k2: Steadies the comparison of deviations.

    Returns:
        float32 `[...]` in [0, 1].

    Raises:
        ValueError: If the shapes do not fit.
        tf.errors.InvalidArgumentError: If the smallest scale is smaller than the window.

    Example:
        >>> import tapejax as tf
        >>> image = tf.reshape(tf.range(24.0 * 24.0), [24, 24, 1])
        >>> float(tf.image.ssim_multiscale(image, image, 576.0, power_factors=[0.5, 0.5]))
        1.0

    References:
        Wang, Simoncelli, Bovik, "Multiscale structural similarity for image quality assessment",
        Asilomar Conference on Signals, Systems and Computers, 2003.
    """
    _check_pair(as_tensor(img1).aval.shape, as_tensor(img2).aval.shape)
    weights = tuple(float(factor) for factor in power_factors)
    pair = _floats(img1, img2, max_val)
    return _ssim_multiscale(*pair, weights, int(filter_size), float(filter_sigma), k1, k2)
