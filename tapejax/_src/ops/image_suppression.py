"""Non-maximum suppression: of boxes that overlap, the one with the best score is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.dtypes import float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.effects import is_host
from tapejax._src.engine.registry import Array, StaticInts, TensorLike, ValueCheck, op, public
from tapejax._src.ops.image_checks import static_int
from tapejax._src.ops.slicing import slice as slice_of

_NOTHING = -float("inf")
_FLOATS = ("float16", "float32")


class _Selection(NamedTuple):
    """The state of the search: `live` holds the scores of what may still be selected."""

    number: Array
    live: Array
    indices: Array
    scores: Array


def _selected(
    scores: Array,
    overlap: Callable[[Array], Array],
    count: int,
    thresholds: tuple[Array, Array, Array],
) -> tuple[Array, Array, Array]:
    """The boxes kept, best first.

    Args:
        scores: `[n]`.
        overlap: Of the number of a box: what it shares with each box, `[n]`.
        count: How many boxes are kept at most.
        thresholds: The overlap above which a box goes, the score above which it may stay, and the
            deviation of soft suppression, 0 for none.

    Returns:
        `(indices, scores, number)`: int32 `[count]` and `[count]` with zeros behind the `number`
        that were found.
    """
    most, least, sigma = (x.astype(scores.dtype) for x in thresholds)
    soft = sigma > 0
    size = scores.shape[0]
    indices, kept = jnp.zeros(count, jnp.int32), jnp.zeros(count, scores.dtype)
    none = jnp.zeros((), jnp.int32)
    if not size or not count:
        return indices, kept, none
    gone = jnp.asarray(_NOTHING, scores.dtype)
    decay = jnp.where(soft, -0.5 / jnp.where(soft, sigma, 1), 0).astype(scores.dtype)

    def more(state: _Selection) -> Array:
        return (state.number < count) & (jnp.max(state.live) > gone)

    def select(state: _Selection) -> _Selection:
        best = jnp.argmax(state.live).astype(jnp.int32)
        shared = overlap(best)
        weight = jnp.exp(decay * shared * shared)
        faded = jnp.where(state.live * weight > least, state.live * weight, gone)
        live = jnp.where(soft, faded, jnp.where(shared > most, gone, state.live))
        return _Selection(
            state.number + 1,
            live.at[best].set(gone),
            state.indices.at[state.number].set(best),
            state.scores.at[state.number].set(state.live[best]),
        )

    live = jnp.where(scores > least, scores, gone)
    last = lax.while_loop(more, select, _Selection(none, live, indices, kept))
    return last.indices, last.scores, last.number


def _intersections(boxes: Array, extra: float = 0.0) -> Callable[[Array], Array]:
    """Intersection over union of one box with each: boxes `[n, 4]` in any order of corners."""
    low, high = jnp.minimum(boxes[:, :2], boxes[:, 2:]), jnp.maximum(boxes[:, :2], boxes[:, 2:])
    area = jnp.prod(high - low, axis=1)

    def overlap(number: Array) -> Array:
        sides = jnp.minimum(high, high[number]) - jnp.maximum(low, low[number])
        shared = jnp.prod(jnp.maximum(sides, 0), axis=1)
        proper = (area > 0) & (area[number] > 0)
        union = jnp.where(proper, area + area[number] - shared, jnp.ones_like(area))
        return jnp.where(proper, shared / (union + extra), jnp.zeros_like(area))

    return overlap


def _bad_threshold(*_: Any, iou_threshold: Array, **__: Any) -> tuple[Any, ...]:
    return (~((iou_threshold >= 0) & (iou_threshold <= 1)), iou_threshold)


_IN_RANGE = ValueCheck(_bad_threshold, "iou_threshold must be in [0, 1], got {}".format)


# ---------------------------------------------------------------------- the recorded ops
@op(
    "_image.suppression",
    node="NonMaxSuppressionV5",
    gradient="lookup",
    heavy=True,
    check=_IN_RANGE,
    cases=(
        "f32[6,4] in (0, 1), f32[6], f32[] in (0.2, 0.3), f32[] in (-2, -1), f32[] in (0.4, 0.5), "
        "4",
    ),
)
def _suppression(
    boxes: TensorLike,
    scores: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    sigma: TensorLike,
    count: StaticInts,
) -> tuple[Array, Array, Array]:
    """Indices and scores of the boxes that are kept, and how many there are."""
    limits = iou_threshold, score_threshold, sigma
    wide = boxes.astype(jnp.float32)
    indices, kept, number = _selected(
        scores.astype(jnp.float32), _intersections(wide), count, limits
    )
    return indices, kept.astype(scores.dtype), number


@op(
    "_image.suppression:overlaps",
    node="NonMaxSuppressionWithOverlaps",
    gradient="none",
    heavy=True,
    cases=("f32[5,5] in (0, 1), f32[5], f32[] in (0.2, 0.3), f32[] in (-2, -1), 4",),
)
def _suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    threshold: TensorLike,
    score_threshold: TensorLike,
    count: StaticInts,
) -> tuple[Array, Array, Array]:
    """The same with a matrix of overlaps."""
    limits = threshold, score_threshold, jnp.zeros_like(threshold)
    return _selected(scores, lambda best: overlaps[:, best], count, limits)


@op(
    "_image.suppression:combined",
    node="CombinedNonMaxSuppression",
    gradient="lookup",
    heavy=True,
    check=_IN_RANGE,
    cases=(
        "f32[2,5,1,4] in (0, 1), f32[2,5,3] in (0, 1), f32[] in (0.4, 0.5), f32[] in (0, 0.1), 2, "
        "4, True",
    ),
)
def _combined(
    boxes: TensorLike,
    scores: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    per_class: StaticInts,
    total: StaticInts,
    clip: bool,
) -> tuple[Array, Array, Array, Array]:
    """Suppression within each class, then the best of all classes."""
    batch, size, classes = scores.shape
    count = min(per_class, size)
    limits = iou_threshold, score_threshold, jnp.zeros((), jnp.float32)

    def of_class(boxes: Array, scores: Array) -> tuple[Array, Array]:
        indices, kept, number = _selected(scores, _intersections(boxes), count, limits)
        found = np.arange(count) < number
        return boxes[indices], jnp.where(found, kept, jnp.asarray(_NOTHING, kept.dtype))

    own = jnp.broadcast_to(boxes, (batch, size, classes, 4))
    if not size:
        own, scores = jnp.zeros((batch, 1, classes, 4)), jnp.full((batch, 1, classes), _NOTHING)
    each = jax.vmap(jax.vmap(of_class, in_axes=(1, 1)))
    places, kept = each(own, scores)
    places, kept = places.reshape(batch, -1, 4), kept.reshape(batch, -1)
    missing = max(total - kept.shape[1], 0)
    kept = jnp.pad(kept, [(0, 0), (0, missing)], constant_values=_NOTHING)
    best, order = lax.top_k(kept, total)
    found = best > _NOTHING
    inside = jnp.minimum(order, places.shape[1] - 1) if places.shape[1] else order
    if not places.shape[1]:
        places = jnp.zeros((batch, 1, 4), boxes.dtype)
        inside = jnp.zeros_like(order)
    taken = jnp.take_along_axis(places, inside[..., None], axis=1)
    taken = jnp.clip(taken, 0, 1) if clip else taken
    zero = jnp.zeros((), best.dtype)
    return (
        jnp.where(found[..., None], taken, zero),
        jnp.where(found, best, zero),
        jnp.where(found, (order // max(count, 1)).astype(best.dtype), zero),
        jnp.sum(found, axis=1, dtype=jnp.int32),
    )


def _kept_in_order(boxes: Array, valid: Array, threshold: Array, count: int) -> tuple[Array, Array]:
    """Of boxes sorted by score, the first `count` that no better one overlaps."""
    size = boxes.shape[0]
    overlap = _intersections(boxes, 1e-8)
    places = np.arange(size)

    def more(state: tuple[Array, Array, Array]) -> Array:
        number, found, _ = state
        return (number < size) & (found < count)

    def visit(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        number, found, alive = state
        here = alive[number]
        shared = overlap(number)
        covered = (shared >= threshold) & (shared > 0) & (places > number) & here
        return number + 1, found + (here & valid[number]), alive & ~covered

    zero = jnp.zeros((), jnp.int32)
    state = zero, zero, jnp.ones(size, bool)
    found, alive = lax.while_loop(more, visit, state)[1:]
    rank = jnp.sort(jnp.where(alive & valid, places, size))
    rank = jnp.pad(rank, (0, max(count - size, 0)), constant_values=size)[:count]
    return jnp.where(np.arange(count) < found, rank, 0).astype(jnp.int32), found


@op(
    "_image.suppression:padded",
    node="NonMaxSuppressionV4",
    gradient="none",
    heavy=True,
    cases=(
        "f32[2,5,4] in (0.1, 1), f32[2,5], f32[] in (0.2, 0.3), f32[] in (-1, 0), 4, False, False",
    ),
)
def _suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    iou_threshold: TensorLike,
    score_threshold: TensorLike,
    count: StaticInts,
    in_order: bool,
    canonical: bool,
) -> tuple[Array, Array]:
    """Indices `[batch, count]` of the boxes kept, zeros behind them, and how many there are."""
    above = (scores > score_threshold) | (score_threshold == _NOTHING)
    scores = jnp.where(above, scores, 0)
    boxes = jnp.where(above[..., None], boxes, 0)
    if not boxes.shape[1]:
        batch = boxes.shape[0]
        return jnp.zeros((batch, count), jnp.int32), jnp.zeros(batch, jnp.int32)
    if not canonical and boxes.shape[0]:
        # As in TensorFlow the first box says how the corners of all of them are ordered.
        flipped = boxes[..., jnp.asarray([2, 1, 0, 3])]
        boxes = jnp.where(boxes[0, 0, 0] <= boxes[0, 0, 2], boxes, flipped)
        flipped = boxes[..., jnp.asarray([0, 3, 2, 1])]
        boxes = jnp.where(boxes[0, 0, 1] <= boxes[0, 0, 3], boxes, flipped)
    order = jnp.argsort(scores, axis=1, stable=True, descending=True)
    if not in_order:
        boxes = jnp.take_along_axis(boxes, order[..., None], axis=1)
    valid = jnp.any(boxes > 0, axis=2)
    indices, number = jax.vmap(
        lambda boxes, valid: _kept_in_order(boxes, valid, iou_threshold, count)
    )(boxes.astype(jnp.float32), valid)
    if not in_order:
        indices = jnp.take_along_axis(order, indices, axis=1).astype(jnp.int32)
    found = np.arange(count) < number[:, None]
    return jnp.where(found, indices, 0), number


# ---------------------------------------------------------------------- arguments
def _float_tensor(value: Any) -> Tensor:
    """A tensor of floats; arrays and numbers become float32 unless they are float16."""
    if isinstance(value, (Tensor, Variable)):
        return as_tensor(value)
    if isinstance(value, np.ndarray) and value.dtype == np.float16:
        return as_tensor(value)
    return as_tensor(value, float32)


def _fail(problem: str, node: str) -> NoReturn:
    raise InvalidArgumentError(f"{problem} [Op:{node}]")


def _check_dtype(tensor: Tensor, allowed: tuple[str, ...], node: str) -> None:
    if tensor.dtype.name not in allowed:
        _fail(
            f"Value for attr 'T' of {tensor.dtype.name} is not in the list of allowed values: "
            f"{', '.join(allowed)}",
            node,
        )


def _count(max_output_size: Any, node: str) -> int:
    count = static_int(max_output_size)
    if count < 0:
        _fail(f"output size must be non-negative, got {count}", node)
    return count


def _limit(value: Any, name: str, node: str) -> Tensor:
    tensor = (
        as_tensor(value) if isinstance(value, (Tensor, Variable)) else as_tensor(value, float32)
    )
    if tensor.aval.shape:
        _fail(f"{name} must be 0-D, got shape {list(tensor.aval.shape)}", node)
    return tensor


def _boxes_and_scores(boxes: Any, scores: Any, node: str) -> tuple[Tensor, Tensor]:
    pair = _float_tensor(boxes), _float_tensor(scores)
    for tensor in pair:
        _check_dtype(tensor, _FLOATS, node)
    places, given = pair[0].aval.shape, pair[1].aval.shape
    if len(places) != 2:
        _fail(f"boxes must be 2-D, got shape {list(places)}", node)
    if places[1] != 4:
        _fail(f"boxes must have 4 columns, got shape {list(places)}", node)
    if len(given) != 1:
        _fail(f"scores must be 1-D, got shape {list(given)}", node)
    if places[0] != given[0]:
        _fail(f"scores has incompatible shape: {places[0]} boxes and {given[0]} scores", node)
    return pair


def _cut(number: Any, function: str, *tensors: Any) -> list[Any]:
    """The first `number` elements, which must be known here."""
    if not is_host([number]):
        raise NotCompilableError(
            f"tf.image.{function} inside a traced function: the length of its result depends on "
            "values, and XLA compiles static shapes. Use tf.image.non_max_suppression_padded with "
            "pad_to_max_output_size=True, which pads and gives the number."
        )
    length = int(number)
    return [slice_of(tensor, [0], [length]) for tensor in tensors]


# ---------------------------------------------------------------------- public functions
@public("image.non_max_suppression")
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Any:
    """Select boxes by score, leaving out those that overlap a better one too much.

    Args:
        boxes: float32 or float16 `[n, 4]`: two opposite corners y1, x1, y2, x2 in any order.
        scores: `[n]`.
        max_output_size: How many boxes are selected at most.
        iou_threshold: The intersection over union above which a box is left out, in [0, 1].
        score_threshold: Boxes with this score or less are left out.
        name: Ignored.

    Returns:
        int32 `[m]`, the indices of the selected boxes, best first.

    Raises:
        tf.errors.InvalidArgumentError: If an argument does not fit.
        NotImplementedError: Inside a traced function: see `tf.image.non_max_suppression_padded`.

    Example:
        >>> import tapejax as tf
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]]
        >>> tf.image.non_max_suppression(boxes, [0.9, 0.8, 0.7], 3).numpy().tolist()
        [0, 2]
    """
    node = "NonMaxSuppressionV3"
    pair = _boxes_and_scores(boxes, scores, node)
    count = min(_count(max_output_size, node), pair[0].aval.shape[0])
    limits = _limit(iou_threshold, "iou_threshold", node), _limit(score_threshold, "score", node)
    indices, _, number = _suppression(*pair, *limits, as_tensor(0.0), count)
    return _cut(number, "non_max_suppression", indices)[0]


@public("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> Any:
    """Select boxes by score, where each one selected lowers the scores of what it overlaps.

    Args:
        boxes: float32 or float16 `[n, 4]`: two opposite corners y1, x1, y2, x2 in any order.
        scores: `[n]`.
        max_output_size: How many boxes are selected at most.
        iou_threshold: The intersection over union above which a box is left out, in [0, 1];
            ignored with a `soft_nms_sigma`.
        score_threshold: Boxes with this score or less are left out.
        soft_nms_sigma: Scores are multiplied with `exp(-overlap**2 / (2 * sigma))`; 0 for no
            change.
        name: Ignored.

    Returns:
        `(indices, scores)`: int32 `[m]`, best first, and the lowered scores `[m]`.

    Raises:
        tf.errors.InvalidArgumentError: If an argument does not fit.
        NotImplementedError: Inside a traced function: see `tf.image.non_max_suppression_padded`.

    Example:
        >>> import tapejax as tf
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 1.0, 1.5]]
        >>> indices, scores = tf.image.non_max_suppression_with_scores(
        ...     boxes, [0.9, 0.8], 2, soft_nms_sigma=0.5
        ... )
        >>> indices.numpy().tolist(), scores.numpy().round(4).tolist()
        ([0, 1], [0.8999999761581421, 0.7159000039100647])

    References:
        Bodla, Singh, Chellappa, Davis, "Soft-NMS: improving object detection with one line of
        code", ICCV 2017.
    """
    node = "NonMaxSuppressionV5"
    pair = _boxes_and_scores(boxes, scores, node)
    count = min(_count(max_output_size, node), pair[0].aval.shape[0])
    sigma = soft_nms_sigma
    if not isinstance(sigma, (Tensor, Variable)) and sigma < 0:
        _fail(f"soft_nms_sigma_val must be >= 0, got {sigma}", node)
    limits = (
        _limit(iou_threshold, "iou_threshold", node),
        _limit(score_threshold, "score_threshold", node),
        _limit(sigma, "soft_nms_sigma", node),
    )
    indices, kept, number = _suppression(*pair, *limits, count)
    return tuple(_cut(number, "non_max_suppression_with_scores", indices, kept))


@public("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Any:
    """Select by score, leaving out what overlaps a better one too much, by given overlaps.

    Args:
        overlaps: float32 `[n, n]`.
        scores: float32 `[n]`.
        max_output_size: How many are selected at most.
        overlap_threshold: The overlap above which one is left out.
        score_threshold: What has this score or less is left out.
        name: Ignored.

    Returns:
        int32 `[m]`, the indices selected, best first.

    Raises:
        tf.errors.InvalidArgumentError: If an argument does not fit.
        NotImplementedError: Inside a traced function.

    Example:
        >>> import tapejax as tf
        >>> overlaps = [[1.0, 0.7], [0.7, 1.0]]
        >>> tf.image.non_max_suppression_overlaps(overlaps, [0.1, 0.2], 2).numpy().tolist()
        [1]
    """
    node = "NonMaxSuppressionWithOverlaps"
    shared, values = _float_tensor(overlaps), _float_tensor(scores)
    for tensor in (shared, values):
        _check_dtype(tensor, ("float32",), node)
    shape, given = shared.aval.shape, values.aval.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        _fail(f"overlaps must be square, got shape {list(shape)}", node)
    if given != shape[:1]:
        _fail(f"scores has incompatible shape {list(given)} for overlaps {list(shape)}", node)
    count = min(_count(max_output_size, node), shape[0])
    limits = _limit(overlap_threshold, "overlap_threshold", node)
    least = _limit(score_threshold, "score_threshold", node)
    indices, _, number = _suppression_overlaps(shared, values, limits, least, count)
    return _cut(number, "non_max_suppression_overlaps", indices)[0]
