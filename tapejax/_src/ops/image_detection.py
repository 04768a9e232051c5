"""Non-maximum suppression of batches, with results of fixed length, and box proposals."""

# The recorded ops and the reading of arguments are those of single images.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np

from tapejax._src.core.dtypes import float32
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.image_checks import static_int
from tapejax._src.ops.image_suppression import (
    _check_dtype,
    _combined,
    _count,
    _cut,
    _fail,
    _float_tensor,
    _limit,
    _suppression_padded,
)
from tapejax._src.ops.shaping import reshape


def _check_padded(places: Tensor, values: Tensor, padded: bool, node: str) -> None:
    shape, given = places.aval.shape, values.aval.shape
    if not padded and len(shape) > 2:
        raise ValueError(
            f"'pad_to_max_output_size' (value {padded}) must be True for batched "
            f"input, got boxes of shape {places.shape}."
        )
    if len(shape) < 2 or shape[-1] != 4:
        _fail(f"boxes must have 4 columns: [..., n, 4], got shape {list(shape)}", node)
    if given != shape[:-1]:
        _fail(f"scores has incompatible shape {list(given)} for boxes {list(shape)}", node)


@public("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
    sorted_input: bool = False,
    canonicalized_coordinates: bool = False,
    tile_size: int = 512,
) -> Any:
    """Select boxes by score, with as many results as asked for, also inside traced functions.

    Args:
        boxes: float32 `[..., n, 4]`: corners y1, x1, y2, x2, of which one must be above 0.
        scores: `[..., n]`.
        max_output_size: How many boxes are selected at most.
        iou_threshold: The intersection over union from which on a box is left out.
        score_threshold: Boxes with this score or less are left out.
        pad_to_max_output_size: Whether the result has `max_output_size` elements; a batch needs it.
        name: Ignored.
        sorted_input: Whether the boxes are sorted by score already, best first.
        canonicalized_coordinates: Whether y1 <= y2 and x1 <= x2; if not, all are as the first box.
        tile_size: Ignored.

    Returns:
        `(indices, number)`: int32 `[..., max_output_size]`, best first, zeros behind the `number`
        (int32 `[...]`) that were selected; without padding only those.

    Raises:
        ValueError: If a batch is not to be padded.
        tf.errors.InvalidArgumentError: If an argument does not fit.
        NotImplementedError: Without padding inside a traced function.

    *Differs from TensorFlow*: with an `iou_threshold` of 0, boxes that touch a better one are left
    out; TensorFlow then keeps all.

    Example:
        >>> import tapejax as tf
        >>> boxes = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.0], [2.0, 2.0, 3.0, 3.0]]
        >>> indices, number = tf.image.non_max_suppression_padded(
        ...     boxes, [0.7, 0.8, 0.9], 3, pad_to_max_output_size=True
        ... )
        >>> indices.numpy().tolist(), int(number)
        ([2, 1, 0], 2)
    """
    node = "NonMaxSuppressionV4"
    places, values = _float_tensor(boxes), _float_tensor(scores)
    _check_padded(places, values, pad_to_max_output_size, node)
    lead, size = places.aval.shape[:-2], places.aval.shape[-2]
    count = _count(max_output_size, node)
    batch = int(np.prod(lead))
    flat = reshape(places, [batch, size, 4]), reshape(values, [batch, size])
    limits = _limit(iou_threshold, "iou", node), _limit(score_threshold, "score", node)
    options = count, bool(sorted_input), bool(canonicalized_coordinates)
    indices, number = _suppression_padded(*flat, *limits, *options)
    if pad_to_max_output_size:
        return reshape(indices, [*lead, count]), reshape(number, lead)
    return _cut(number[0], "non_max_suppression_padded", indices[0])[0], number[0]


def _check_combined(
    shape: tuple[int, ...], given: tuple[int, ...], per_class: int, total: int, node: str
) -> None:
    if shape[:1] != given[:1]:
        _fail(f"boxes and scores must have same batch size: {list(shape)}, {list(given)}", node)
    if len(shape) != 4 or len(given) != 3:
        _fail(f"boxes must be 4-D and scores 3-D, got {list(shape)} and {list(given)}", node)
    if shape[3] != 4:
        _fail(f"boxes must have 4 columns, got shape {list(shape)}", node)
    if shape[1] != given[1]:
        _fail(f"scores has incompatible shape {list(given)} for boxes {list(shape)}", node)
    if shape[2] not in (1, given[2]):
        _fail(
            f"third dimension of boxes must be either 1 or num classes, got shape {list(shape)} "
            f"for {given[2]} classes",
            node,
        )
    if per_class <= 0:
        _fail(f"max_size_per_class must be positive, got {per_class}", node)
    if total <= 0:
        _fail(f"max_total_size must be > 0, got {total}", node)


class CombinedNonMaxSuppression(NamedTuple):
    """What `tf.image.combined_non_max_suppression` returns."""

    nmsed_boxes: Any
    nmsed_scores: Any
    nmsed_classes: Any
    valid_detections: Any


@public("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """Select boxes of each class of each image by score, then the best of all classes.

    Args:
        boxes: float32 `[batch, n, q, 4]`: y1, x1, y2, x2; `q` is 1 or the number of classes.
        scores: float32 `[batch, n, classes]`.
        max_output_size_per_class: How many boxes of a class are selected at most.
        max_total_size: How many boxes are selected at most.
        iou_threshold: The intersection over union above which a box is left out, in [0, 1].
        score_threshold: Boxes with this score or less are left out.
        pad_per_class: Whether the result has at most `max_output_size_per_class` places for each
            class.
        clip_boxes: Whether selected boxes are clipped to [0, 1].
        name: Ignored.

    Returns:
        A named tuple with `m` places for each image, zeros behind the boxes that were selected:
        `nmsed_boxes` `[batch, m, 4]`, `nmsed_scores` `[batch, m]`, `nmsed_classes` `[batch, m]`
        (all float32) and `valid_detections` `[batch]` (int32).

    Raises:
        tf.errors.InvalidArgumentError: If an argument does not fit.
        LookupError: On asking for a gradient.

    Example:
        >>> import tapejax as tf
        >>> boxes = tf.reshape([0.0, 0.0, 1.0, 1.0, 0.0, 0.1, 1.0, 1.0], [1, 2, 1, 4])
        >>> found = tf.image.combined_non_max_suppression(boxes, [[[0.9], [0.8]]], 2, 2)
        >>> found.nmsed_scores.numpy().round(1).tolist(), found.valid_detections.numpy().tolist()
        ([[0.8999999761581421, 0.0]], [1])
    """
    node = "CombinedNonMaxSuppression"
    places, values = as_tensor(boxes, float32), as_tensor(scores, float32)
    shape, given = places.aval.shape, values.aval.shape
    per_class, total = static_int(max_output_size_per_class), static_int(max_total_size)
    _check_combined(shape, given, per_class, total, node)
    _check_dtype(values, ("float32",), node)
    limits = (
        _limit(iou_threshold, "iou_threshold", node),
        _limit(score_threshold, "score_threshold", node),
    )
    length = min(total, per_class * given[2]) if pad_per_class else total
    made = _combined(places, values, *limits, per_class, length, bool(clip_boxes))
    return CombinedNonMaxSuppression(*made)


@public("image.generate_bounding_box_proposals")
def generate_bounding_box_proposals(
    scores: Any,
    bbox_deltas: Any,
    image_info: Any,
    anchors: Any,
    nms_threshold: Any = 0.7,
    pre_nms_topn: Any = 6000,
    min_size: Any = 16,
    post_nms_topn: int = 300,
    name: str | None = None,
) -> NoReturn:
    """Not supported: TensorFlow has this op on GPUs only.

    Args:
        scores: Ignored.
        bbox_deltas: Ignored.
        image_info: Ignored.
        anchors: Ignored.
        nms_threshold: Ignored.
        pre_nms_topn: Ignored.
        min_size: Ignored.
        post_nms_topn: Ignored.
        name: Ignored.

    Raises:
        NotImplementedError: Always.
    """
    raise NotImplementedError(
        "tf.image.generate_bounding_box_proposals is not supported. Decode the boxes with "
        "arithmetic on the anchors, sort with tf.math.top_k, and select with "
        "tf.image.non_max_suppression_padded(..., pad_to_max_output_size=True)."
    )
