"""Boxes on images: drawn, and drawn at random for training."""

# The seeds of stateless ops are read in one place.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.dtypes import float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.hidden import Asked, hidden_input
from tapejax._src.engine.registry import Array, Index, Same, TensorLike, ValueCheck, op, public
from tapejax._src.ops import philox
from tapejax._src.ops.random_seed import seed_tensor
from tapejax._src.ops.random_stateless import seed_state

_COLORS = (
    (1, 1, 0, 1),
    (0, 0, 1, 1),
    (1, 0, 0, 1),
    (0, 1, 0, 1),
    (0.5, 0, 0.5, 1),
    (0.5, 0.5, 0, 1),
    (0.5, 0, 0, 1),
    (0, 0, 0.5, 1),
    (0, 1, 1, 1),
    (1, 0, 1, 1),
)


# ---------------------------------------------------------------------- drawing
def _edges(box: Array, size: int, low: int) -> tuple[Array, Array]:
    """The first and last pixel of boxes along an axis: `[batch, 1]` each."""
    first, last = box[:, low] * (size - 1), box[:, low + 2] * (size - 1)
    return first.astype(jnp.int32)[:, None], last.astype(jnp.int32)[:, None]


def _outline(box: Array, height: int, width: int) -> Array:
    """The pixels on the edge of one box of each image: `[batch, height, width]`."""
    top, bottom = _edges(box, height, 0)
    left, right = _edges(box, width, 1)
    row, column = np.arange(height, dtype=np.int32), np.arange(width, dtype=np.int32)
    rows, columns = (row >= top) & (row <= bottom), (column >= left) & (column <= right)
    on_row, on_column = (row == top) | (row == bottom), (column == left) | (column == right)
    usable = (top <= bottom) & (left <= right)
    edge = (on_row & rows)[:, :, None] & columns[:, None, :]
    edge = edge | (rows[:, :, None] & (on_column & columns)[:, None, :])
    return edge & usable[:, :, None]


def _drawn(images: Array, boxes: Array, colors: Array) -> Array:
    batch, height, width, depth = images.shape
    count = boxes.shape[1]
    if not count or not images.size:
        return images

    def draw(number: Any, owner: Array) -> Array:
        box = lax.dynamic_index_in_dim(boxes, number, 1, keepdims=False)
        return jnp.where(_outline(box, height, width), number, owner)

    nobody = jnp.full((batch, height, width), -1, jnp.int32)
    owner = lax.fori_loop(0, count, draw, nobody)
    paint = colors[:, :depth].astype(images.dtype)[jnp.maximum(owner, 0) % colors.shape[0]]
    return jnp.where((owner >= 0)[..., None], paint, images)


@op(
    "_image.draw",
    node="DrawBoundingBoxes",
    dtypes="float half",
    gradient="none",
    cases=("f32[2,5,6,3], f32[2,3,4] in (0, 1), f32[2,3] in (0, 1)",),
)
def _draw(images: Same, boxes: TensorLike, colors: TensorLike) -> Array:
    """Images with boxes of default colours."""
    return _drawn(images, boxes, colors)


@op(
    "_image.draw:colors",
    node="DrawBoundingBoxesV2",
    dtypes="float half",
    gradient="lookup",
    cases=("f16[2,5,6,1], f32[2,3,4] in (0, 1), f32[2,4] in (0, 1)",),
)
def _draw_in_colors(images: Same, boxes: TensorLike, colors: TensorLike) -> Array:
    """Images with boxes of given colours."""
    return _drawn(images, boxes, colors)


@public("image.draw_bounding_boxes")
def draw_bounding_boxes(images: Any, boxes: Any, colors: Any, name: str | None = None) -> Any:
    """Draw the outlines of boxes, one pixel wide; later boxes cover earlier ones.

    Args:
        images: float32 or float16 `[batch, height, width, depth]`; depth 1, 3 or 4 (RGBA).
        boxes: float32 `[batch, boxes, 4]`: y1, x1, y2, x2, where 0 is the first pixel and 1 the
            last. Flipped boxes and what lies outside are not drawn.
        colors: float32 `[colors, at least depth]`, used in turn; None for ten colours.
        name: Ignored.

    Returns:
        The images, of the same shape and dtype. As in TensorFlow, no gradient flows without
        `colors`, and asking for one is an error with them.

    Raises:
        tf.errors.InvalidArgumentError: If shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> image = tf.image.draw_bounding_boxes(
        ...     tf.zeros([1, 3, 3, 1]), [[[0.0, 0.0, 1.0, 1.0]]], [[0.5]]
        ... )
        >>> image[0, :, :, 0].numpy().tolist()
        [[0.5, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.5]]
    """
    images, boxes = as_tensor(images), as_tensor(boxes, float32)
    shape, given = images.aval.shape, boxes.aval.shape
    default = colors is None
    problem = None
    if len(shape) != 4:
        problem = f"The rank of the images should be 4, got shape {list(shape)}"
    elif len(given) != 3:
        problem = f"The rank of the boxes tensor should be 3, got shape {list(given)}"
    elif shape[0] != given[0]:
        problem = f"The batch sizes should be the same, got {list(shape)} and {list(given)}"
    elif shape[3] not in (1, 3, 4):
        problem = f"Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), got {shape[3]}"
    elif given[2] != 4:
        problem = f"The size of the third dimension of the box must be 4. Received: {given[2]}"
    if problem:
        raise InvalidArgumentError(f"{problem} [Op:DrawBoundingBoxes]")
    if default:
        table = [[1.0]] if shape[3] == 1 else _COLORS
        return _draw(images, boxes, as_tensor(table, float32))
    colors = as_tensor(colors, float32)
    palette = colors.aval.shape
    if len(palette) != 2:
        problem = f"colors must be a 2-D matrix, got shape {list(palette)}"
    elif palette[0] and palette[1] < shape[3]:
        problem = (
            "colors must have equal or more channels than the image provided: got "
            f"{list(palette)} for {shape[3]} channels"
        )
    if problem:
        raise InvalidArgumentError(f"{problem} [Op:DrawBoundingBoxesV2]")
    if not palette[0]:
        colors = as_tensor(_COLORS, float32)
    return _draw_in_colors(images, boxes, colors)


# ---------------------------------------------------------------------- distorted boxes
class _Draw(NamedTuple):
    """The state of the search for a box.

    Attributes:
        attempt: How many attempts were made.
        at: How many words were drawn.
        found: Whether the last attempt succeeded.
        crop: int32 `[4]`: y1, x1, y2, x2 of the last attempt.
    """

    attempt: Array
    at: Array
    found: Array
    crop: Array


def _rounded(x: Array) -> Array:
    return jnp.rint(x).astype(jnp.int32)


def _below(words: Array, at: Array, limit: Array, wanted: Array) -> tuple[Array, Array]:
    """A number in [0, limit) and the place after it, if one is wanted."""
    word = words[jnp.minimum(at, words.shape[0] - 1)]
    span = jnp.maximum(limit, 1).astype(jnp.uint32)
    number = lax.rem(word, span).astype(jnp.int32)
    return jnp.where(wanted, number, 0), at + wanted.astype(jnp.int32)


def _attempted(
    words: Array, at: Array, ratio: Array, size: Array, area: tuple[float, float]
) -> tuple[Array, Array, Array]:
    """A crop of a shape and whether it is fit: `(at, found, crop)`."""
    height, width = size[0], size[1]
    pixels = height.astype(jnp.float32) * width.astype(jnp.float32)
    least, most = (np.float32(share) * pixels for share in area)
    low = _rounded(jnp.sqrt(least / ratio))
    high = _rounded(jnp.sqrt(most / ratio))
    too_wide = _rounded(high.astype(jnp.float32) * ratio) > width
    narrowed = ((width.astype(jnp.float32) + np.float32(0.5 - 1e-7)) / ratio).astype(jnp.int32)
    high = jnp.where(too_wide, narrowed, high)
    high = jnp.minimum(high, height)
    low = jnp.minimum(low, high)
    more, at = _below(words, at, high - low + 1, low < high)
    rows = low + more
    columns = _rounded(rows.astype(jnp.float32) * ratio)
    small = (rows * columns).astype(jnp.float32) < least
    rows = jnp.where(small, rows + 1, rows)
    columns = jnp.where(small, _rounded(rows.astype(jnp.float32) * ratio), columns)
    large = (rows * columns).astype(jnp.float32) > most
    rows = jnp.where(large, rows - 1, rows)
    columns = jnp.where(large, _rounded(rows.astype(jnp.float32) * ratio), columns)
    covered = (rows * columns).astype(jnp.float32)
    fit = (covered >= least) & (covered <= most) & (rows <= height) & (columns <= width)
    fit = fit & (rows > 0) & (columns > 0) & (ratio > 0) & (height > 0) & (width > 0)
    top, at = _below(words, at, height - rows, fit & (rows < height))
    left, at = _below(words, at, width - columns, fit & (columns < width))
    return at, fit, jnp.stack([top, left, top + rows, left + columns])


def _covers(crop: Array, boxes: Array, least: Array) -> Array:
    """Whether the crop holds enough of one of the boxes, int32 `[boxes, 4]`."""
    sides = jnp.minimum(crop[2:], boxes[:, 2:]) - jnp.maximum(crop[:2], boxes[:, :2])
    shared = jnp.prod(jnp.maximum(sides, 0), axis=1)
    whole = jnp.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    share = shared.astype(jnp.float32) / jnp.maximum(whole, 1).astype(jnp.float32)
    return jnp.any((whole >= 1) & (share >= least))


def _bad_boxes(image_size: Array, bounding_boxes: Array, *_: Any, **__: Any) -> tuple[Any, ...]:
    flat = bounding_boxes.reshape(-1)
    if not flat.size:
        return (False, 0.0)
    bad = (flat < 0) | (flat > 1)
    return jnp.any(bad), flat[jnp.argmax(bad)]


@op(
    "_image.sample_distorted_bounding_box",
    node="SampleDistortedBoundingBoxV2",
    gradient="none",
    heavy=True,
    check=ValueCheck(_bad_boxes, "All bounding box coordinates must be in [0.0, 1.0]: {}".format),
    cases=(
        "[40, 50, 3], f32[1,1,4] in (0.4, 0.6), f32[] in (0, 0.1), u32[6] in (0, 99), "
        "(0.75, 1.33), (0.05, 1.0), 10",
    ),
)
def _sample(
    image_size: Index,
    bounding_boxes: TensorLike,
    min_object_covered: TensorLike,
    state: TensorLike,
    ratios: tuple[float, float],
    area: tuple[float, float],
    attempts: int,
) -> tuple[Array, Array, Array]:
    """A box at random that holds enough of a given one."""
    size = image_size.astype(jnp.int32)[:2]
    scale = jnp.concatenate([size, size]).astype(jnp.float32)
    boxes = (bounding_boxes.reshape(-1, 4) * scale).astype(jnp.int32)
    whole = jnp.stack([jnp.zeros_like(size), size]).reshape(4)
    boxes = boxes if boxes.shape[0] else whole[None]
    words = philox.uniform_full_int(state, (4 * attempts,), np.dtype(np.uint32))
    floats = philox.uniform(state, (4 * attempts,), np.dtype(np.float32))
    low, high = np.float32(ratios[0]), np.float32(ratios[1])

    def attempt(before: _Draw) -> _Draw:
        ratio = floats[before.at] * (high - low) + low
        at, fit, crop = _attempted(words, before.at + 1, ratio, size, area)
        found = fit & _covers(crop, boxes, min_object_covered)
        return _Draw(before.attempt + 1, at, found, crop)

    zero = jnp.zeros((), jnp.int32)
    last = lax.while_loop(
        lambda draw: ~draw.found & (draw.attempt < attempts),
        attempt,
        _Draw(zero, zero, jnp.zeros((), bool), whole),
    )
    crop = jnp.where(last.found, last.crop, whole)
    begin = jnp.concatenate([crop[:2], jnp.zeros(1, jnp.int32)]).astype(image_size.dtype)
    extent = jnp.concatenate([crop[2:] - crop[:2], jnp.full(1, -1, jnp.int32)])
    return begin, extent.astype(image_size.dtype), (crop.astype(jnp.float32) / scale)[None, None]


class SampleDistortedBoundingBoxV2(NamedTuple):
    """What `tf.image.sample_distorted_bounding_box` returns."""

    begin: Any
    size: Any
    bboxes: Any


class StatelessSampleDistortedBoundingBox(NamedTuple):
    """What `tf.image.stateless_sample_distorted_bounding_box` returns."""

    begin: Any
    size: Any
    bboxes: Any


def _check_sampling(
    size: Tensor, boxes: Tensor, covered: Any, ratios: Any, area: Any, attempts: int, whole: bool
) -> None:
    shape = boxes.aval.shape
    problem = None
    if size.aval.shape != (3,):
        problem = f"image_size must contain 3 elements, got shape {list(size.aval.shape)}"
    elif len(shape) != 3:
        problem = (
            f"input boxes must be 3-dimensional [batch, num_boxes, coords], got shape {list(shape)}"
        )
    elif shape[2] != 4:
        problem = f"bounding boxes must have shape [4] as their last axis, got {list(shape)}"
    elif 0 in shape and not whole:
        problem = (
            "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes "
            "if you wish to not provide any bounding boxes."
        )
    elif isinstance(covered, (int, float)) and covered < 0:
        problem = f"Min object covered must be non-negative: {covered}"
    elif len(ratios) != 2 or min(ratios) <= 0:
        problem = f"Aspect ratio must be two positive numbers: {list(ratios)}"
    elif len(area) != 2 or min(area) <= 0:
        problem = f"Area range must be non-negative: {list(area)}"
    elif max(area) > 1:
        problem = f"Area range must be less then or equal to 1.0: {list(area)}"
    elif attempts <= 0:
        problem = f"Max attempts must be non-negative: {attempts}"
    if problem:
        raise InvalidArgumentError(f"{problem} [Op:SampleDistortedBoundingBoxV2]")


def _floats_of(pair: Any) -> Any:
    return tuple(float(x) for x in pair)


def _sampled(
    image_size: Any, bounding_boxes: Any, covered: Any, options: tuple[Any, ...], state: Any
) -> tuple[Any, Any, Any]:
    """`state` is a function of the number of attempts that gives the state to draw from."""
    ratios, area, max_attempts, whole = options
    size, boxes = as_tensor(image_size), as_tensor(bounding_boxes, float32)
    ratios = _floats_of((0.75, 1.33) if ratios is None else ratios)
    area = _floats_of((0.05, 1.0) if area is None else area)
    attempts = 100 if max_attempts is None else int(max_attempts)
    _check_sampling(size, boxes, covered, ratios, area, attempts, bool(whole))
    least = as_tensor(covered, float32)
    return _sample(size, boxes, least, state(size, attempts), ratios, area, attempts)


@public("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """A box at random that holds enough of one of the given boxes, to train on.

    Args:
        image_size: Integers `[3]`: height, width, channels.
        bounding_boxes: float32 `[batch, boxes, 4]` in [0, 1]: y1, x1, y2, x2.
        seed: Seed of this op beside that of `tf.random.set_seed`; 0 draws afresh in each process.
        min_object_covered: The share of a box that must be inside.
        aspect_ratio_range: Least and largest width over height. Default: 0.75 to 1.33.
        area_range: Least and largest share of the image. Default: 0.05 to 1.
        max_attempts: After so many attempts the whole image is taken. Default: 100.
        use_image_if_no_bounding_boxes: Whether no box at all means the whole image.
        name: Ignored.

    Returns:
        `(begin, size, bboxes)`: the first two of the dtype of `image_size`, `[3]`, for `tf.slice`;
        the box itself as float32 `[1, 1, 4]`. TensorFlow's for the same seeds.

    Raises:
        tf.errors.InvalidArgumentError: If an argument does not fit.

    Example:
        >>> import tapejax as tf
        >>> begin, size, _ = tf.image.sample_distorted_bounding_box(
        ...     [40, 50, 3], [[[0.2, 0.2, 0.8, 0.8]]], seed=1
        ... )
        >>> tf.slice(tf.zeros([40, 50, 3]), begin, size).shape.rank
        3
    """

    def state(size: Tensor, attempts: int) -> Tensor:
        if seed:
            return seed_tensor(seed, "SampleDistortedBoundingBoxV2", size.dtype.name, attempts)
        return hidden_input(Asked(lambda: np.frombuffer(secrets.token_bytes(24), np.uint32).copy()))

    options = aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes
    made = _sampled(image_size, bounding_boxes, min_object_covered, options, state)
    return SampleDistortedBoundingBoxV2(*made)


@public("image.stateless_sample_distorted_bounding_box")
def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """A box that a seed decides and that holds enough of one of the given boxes.

    Args:
        image_size: Integers `[3]`: height, width, channels.
        bounding_boxes: float32 `[batch, boxes, 4]` in [0, 1]: y1, x1, y2, x2.
        seed: `[2]` integers.
        min_object_covered: The share of a box that must be inside.
        aspect_ratio_range: Least and largest width over height. Default: 0.75 to 1.33.
        area_range: Least and largest share of the image. Default: 0.05 to 1.
        max_attempts: After so many attempts the whole image is taken. Default: 100.
        use_image_if_no_bounding_boxes: Whether no box at all means the whole image.
        name: Ignored.

    Returns:
        `(begin, size, bboxes)` as of `tf.image.sample_distorted_bounding_box`; TensorFlow's for
        the same seed.

    Raises:
        tf.errors.InvalidArgumentError: If an argument does not fit.

    Example:
        >>> import tapejax as tf
        >>> begin, size, _ = tf.image.stateless_sample_distorted_bounding_box(
        ...     [40, 50, 3], [[[0.1, 0.2, 0.8, 0.9]]], (1, 2)
        ... )
        >>> begin.numpy().tolist(), size.numpy().tolist()
        ([12, 3, 0], [26, 32, -1])
    """
    options = aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes
    node = "StatelessSampleDistortedBoundingBox"
    made = _sampled(
        image_size,
        bounding_boxes,
        min_object_covered,
        options,
        lambda size, attempts: seed_state(seed, node),
    )
    return StatelessSampleDistortedBoundingBox(*made)
