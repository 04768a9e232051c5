"""Segment reductions with increasing ids; the number of segments follows from the ids.

The size of the result depends on the values of `segment_ids`, so these are plain functions that
read the ids on the host and then record ops of known shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from numpy.typing import NDArray

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, known_value
from tapejax._src.engine.registry import Array, Index, Same, StaticInts, op, public
from tapejax._src.ops import segment
from tapejax._src.ops.reduction import NUMBERS


def _read_ids(data: Any, segment_ids: Any, node: str) -> NDArray[Any]:
    """The ids as an ndarray, or TensorFlow's error if they are not a valid increasing vector."""
    held = isinstance(segment_ids, (Tensor, Variable))
    ids = known_value(as_tensor(segment_ids)) if held else np.asarray(segment_ids)
    if ids.size == 0 and not hasattr(segment_ids, "dtype"):
        ids = ids.astype(np.int32)
    if not np.issubdtype(ids.dtype, np.integer):
        msg = (
            f"Value for attr 'Tindices' of {ids.dtype.name} is not in the list of allowed values: "
            f"int32, int64 [Op:{node}]"
        )
        raise InvalidArgumentError(msg)
    shape = np.shape(data) if not hasattr(data, "shape") else tuple(data.shape)
    if len(shape) == 0:
        raise InvalidArgumentError(f"input must be at least rank 1 [Op:{node}]")
    if ids.ndim != 1:
        msg = f"segment_ids should be a vector. Received: shape {list(ids.shape)} [Op:{node}]"
        raise InvalidArgumentError(msg)
    if ids.shape[0] != shape[0]:
        msg = (
            "segment_ids should be the same size as dimension 0 of input. "
            f"Received: {ids.shape[0]} ids for {shape[0]} rows [Op:{node}]"
        )
        raise InvalidArgumentError(msg)
    if np.any(ids[1:] < ids[:-1]):
        msg = (
            f"segment ids are not increasing [Op:{node}]. Sort data by them, or use "
            "tf.math.unsorted_segment_*."
        )
        raise InvalidArgumentError(msg)
    if ids.size and ids[0] < 0:
        msg = f"Segment id {ids[0]} out of range [0, {max(ids[-1] + 1, 0)}) [Op:{node}]"
        raise InvalidArgumentError(msg)
    return ids


def _size(ids: NDArray[Any]) -> int:
    return int(ids[-1]) + 1 if ids.size else 0


def _spread_out(reduce: Callable[..., Any], data: Any, ids: NDArray[Any]) -> Any:
    """Reduce the segments that have rows, then put zeros where a segment has none."""
    present, compact = np.unique(ids, return_inverse=True)
    found = reduce(data, compact.astype(ids.dtype), int(present.size))
    if present.size == _size(ids):
        return found
    return segment.unsorted_segment_sum(found, present, _size(ids))


@public("math.segment_sum")
def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Sum of the rows of each segment, for increasing ids.

    Args:
        data: Numbers `[n, ...]`.
        segment_ids: Increasing integers `[n]`, not negative.
        name: Ignored.

    Returns:
        The sums `[last id + 1, ...]`, in the dtype of `data`; 0 for segments without rows.

    Raises:
        tf.errors.InvalidArgumentError: The ids are not increasing, negative or not `[n]`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.segment_sum([1.0, 2.0, 3.0], [0, 0, 2]).numpy())
        [3. 0. 3.]

    *Differs from TensorFlow*: inside `tf.function` the ids must be known while it is traced,
    since they decide the size of the result; `tf.math.unsorted_segment_sum` has no such limit.
    """
    ids = _read_ids(data, segment_ids, "SegmentSum")
    return segment.unsorted_segment_sum(data, ids, _size(ids), name)


@public("math.segment_prod")
def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Product of the rows of each segment, for increasing ids.

    Args:
        data: Numbers `[n, ...]`.
        segment_ids: Increasing integers `[n]`, not negative.
        name: Ignored.

    Returns:
        The products `[last id + 1, ...]`, in the dtype of `data`; 1 for segments without rows.

    Raises:
        tf.errors.InvalidArgumentError: The ids are not increasing, negative or not `[n]`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.segment_prod([2.0, 3.0, 4.0], [0, 0, 2]).numpy())
        [6. 1. 4.]

    *Differs from TensorFlow*: inside `tf.function` the ids must be known while it is traced.
    """
    ids = _read_ids(data, segment_ids, "SegmentProd")
    return segment.unsorted_segment_prod(data, ids, _size(ids), name)


@public("math.segment_max")
def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Largest row of each segment, for increasing ids; equal maxima share the derivative.

    Args:
        data: Real numbers `[n, ...]`.
        segment_ids: Increasing integers `[n]`, not negative.
        name: Ignored.

    Returns:
        The maxima `[last id + 1, ...]`, in the dtype of `data`; 0 for segments without rows.

    Raises:
        tf.errors.InvalidArgumentError: The ids are not increasing, negative or not `[n]`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.segment_max([1.0, 2.0, 3.0], [0, 0, 2]).numpy())
        [2. 0. 3.]

    *Differs from TensorFlow*: a segment that holds a NaN has the maximum NaN, and inside
    `tf.function` the ids must be known while it is traced.
    """
    ids = _read_ids(data, segment_ids, "SegmentMax")
    return _spread_out(segment.unsorted_segment_max, data, ids)


@public("math.segment_min")
def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Smallest row of each segment, for increasing ids; equal minima share the derivative.

    Args:
        data: Real numbers `[n, ...]`.
        segment_ids: Increasing integers `[n]`, not negative.
        name: Ignored.

    Returns:
        The minima `[last id + 1, ...]`, in the dtype of `data`; 0 for segments without rows.

    Raises:
        tf.errors.InvalidArgumentError: The ids are not increasing, negative or not `[n]`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.segment_min([1.0, 2.0, 3.0], [0, 0, 2]).numpy())
        [1. 0. 3.]

    *Differs from TensorFlow*: a segment that holds a NaN has the minimum NaN, and inside
    `tf.function` the ids must be known while it is traced.
    """
    ids = _read_ids(data, segment_ids, "SegmentMin")
    return _spread_out(segment.unsorted_segment_min, data, ids)


@op(
    "_segment_mean",
    node="SegmentMean",
    dtypes=NUMBERS,
    cases=(
        "f32[5,2], i32[5] in (0, 4), 4",
        "f64[4], i64[4] in (0, 3), 6",
        "i32[4], i32[4] in (0, 3), 3",
        "c64[4], i32[4] in (0, 3), 3",
    ),
)
def _segment_mean(
    data: Same, segment_ids: Index, num_segments: StaticInts, name: str | None = None
) -> Array:
    """Mean of the rows of each segment in the dtype of `data`; integers truncate toward zero."""
    sums = segment.sums(data, segment_ids, num_segments)
    counts = segment.counts(data, segment_ids, num_segments)
    if jnp.issubdtype(data.dtype, jnp.integer):
        return lax.div(*jnp.broadcast_arrays(sums, counts))
    return sums / counts


@public("math.segment_mean")
def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """Mean of the rows of each segment, for increasing ids.

    Args:
        data: Numbers `[n, ...]`.
        segment_ids: Increasing integers `[n]`, not negative.
        name: Ignored.

    Returns:
        The means `[last id + 1, ...]`, in the dtype of `data` (integers truncate toward zero); 0
        for segments without rows.

    Raises:
        tf.errors.InvalidArgumentError: The ids are not increasing, negative or not `[n]`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.segment_mean([1.0, 2.0, 3.0], [0, 0, 2]).numpy())
        [1.5 0.  3. ]

    *Differs from TensorFlow*: inside `tf.function` the ids must be known while it is traced.
    """
    ids = _read_ids(data, segment_ids, "SegmentMean")
    return _segment_mean(data, ids, _size(ids), name)
