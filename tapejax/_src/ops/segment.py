"""Segment reductions: rows with the same segment id are summed, multiplied or compared."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Index, Same, StaticInts, ValueCheck, op
from tapejax._src.ops.derivatives import unconnected
from tapejax._src.ops.reduction import NUMBERS

_ORDERED = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
_FORMS = (
    "f32[5,2], i32[5] in (0, 4), 4",
    "f64[2,3], i32[2,3] in (-1, 3), 3",
    "f32[4], i64[4] in (0, 3), 6",
    "f32[3], i32[] in (0, 2), 2",
    "f32[0,2], i32[0], 3",
)


def _rows(data: Array, ids: Array, segments: int) -> tuple[Array, Array]:
    """`data` as `[n, ...]` and ids as `[n]`, ids of dropped rows replaced by `segments`."""
    _check(data, ids, segments)
    rest = data.shape[ids.ndim :]
    flat = ids.reshape(-1)
    flat = jnp.where(flat < 0, jnp.full_like(flat, segments), flat)
    return data.reshape((flat.size, *rest)), flat


def _check(data: Array, ids: Array, segments: Any) -> None:
    if not isinstance(segments, int | np.integer):
        msg = f"num_segments should be a scalar, not shape [{len(segments)}]"
        raise InvalidArgumentError(msg)
    if segments < 0:
        msg = f"Input num_segments == {segments} must not be negative."
        raise InvalidArgumentError(msg)
    if data.shape[: ids.ndim] != ids.shape:
        shapes = [",".join(map(str, x.shape)) for x in (data, ids)]
        msg = (
            f"data.shape = [{shapes[0]}] does not start with segment_ids.shape = [{shapes[1]}]. "
            "Give one id for each leading row of data."
        )
        raise InvalidArgumentError(msg)


def sums(rows: Array, ids: Array, segments: int) -> Array:
    """Sums of the rows `[n, ...]` of each segment; ids `[n]` not below `segments` are dropped."""
    zeros = jnp.zeros((segments, *rows.shape[1:]), rows.dtype)
    return zeros.at[ids].add(rows, mode="drop")


def counts(rows: Array, ids: Array, segments: int) -> Array:
    """Rows of each segment, at least 1, shaped to divide its sums, in the dtype of `rows`."""
    ones = sums(jnp.ones(ids.shape, rows.dtype), ids, segments)
    ones = jnp.where(ones == 0, jnp.ones_like(ones), ones)
    return lax.expand_dims(ones, tuple(range(1, rows.ndim)))


@jax.custom_jvp
def _maxima(rows: Array, ids: Array, start: Array) -> Array:
    return start.at[ids].max(rows, mode="drop")


@_maxima.defjvp
def _maxima_jvp(
    primals: tuple[Array, Array, Array], tangents: tuple[Array, Any, Any]
) -> tuple[Array, Array]:
    out = _maxima(*primals)
    return out, _shared_tangent(out, *primals[:2], tangents[0])


@jax.custom_jvp
def _minima(rows: Array, ids: Array, start: Array) -> Array:
    return start.at[ids].min(rows, mode="drop")


@_minima.defjvp
def _minima_jvp(
    primals: tuple[Array, Array, Array], tangents: tuple[Array, Any, Any]
) -> tuple[Array, Array]:
    out = _minima(*primals)
    return out, _shared_tangent(out, *primals[:2], tangents[0])


def _shared_tangent(out: Array, rows: Array, ids: Array, tangent: Array) -> Array:
    """The mean tangent of the rows that equal their segment's extremum."""
    hit = unconnected(out.at[ids].get(mode="fill", fill_value=0) == rows)
    count = sums(hit.astype(rows.dtype), ids, out.shape[0])
    share = sums(jnp.where(hit, tangent, jnp.zeros_like(tangent)), ids, out.shape[0])
    return share / jnp.where(count == 0, jnp.ones_like(count), count)


def _limit(dtype: Any, largest: bool) -> Any:
    info = jnp.finfo(dtype) if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype)
    return info.max if largest else info.min


def _products(rows: Array, ids: Array, segments: int) -> Array:
    """Products of each segment by a scan over sorted rows: only multiplies, so exact at zeros."""
    shape = (segments, *rows.shape[1:])
    if rows.shape[0] == 0:
        return jnp.ones(shape, rows.dtype)
    order = jnp.argsort(ids, stable=True)
    ids, rows = ids[order], rows[order]
    column = (-1, *(1,) * (rows.ndim - 1))
    first = jnp.concatenate([jnp.ones((1,), bool), ids[1:] != ids[:-1]]).reshape(column)

    def join(left: tuple[Array, Array], right: tuple[Array, Array]) -> tuple[Array, Array]:
        product = jnp.where(right[0], right[1], left[1] * right[1])
        return left[0] | right[0], product

    _, scanned = lax.associative_scan(join, (first, rows), axis=0)
    segment = jnp.arange(segments, dtype=ids.dtype)
    last = jnp.searchsorted(ids, segment, side="right") - 1
    found = (last >= 0) & (ids[last] == segment)
    return jnp.where(found.reshape(column), scanned[last], jnp.ones(shape, rows.dtype))


def _id_out_of_range(
    data: Array, segment_ids: Array, num_segments: int, name: str | None = None
) -> tuple[Any, ...]:
    outside = (segment_ids >= num_segments).reshape(-1)
    if outside.size == 0:
        return jnp.zeros((), bool), jnp.zeros((), jnp.int64), jnp.zeros((), jnp.int64), 0
    place = jnp.argmax(outside)
    return outside[place], place, segment_ids.reshape(-1)[place], jnp.asarray(num_segments)


def _id_message(place: Any, value: Any, segments: Any) -> str:
    return (
        f"segment_ids[{place}] = {value} is out of range [0, {segments}). "
        "Raise num_segments, or use a negative id to drop a row."
    )


_IDS_IN_RANGE = ValueCheck(_id_out_of_range, _id_message)


@op(
    "math.unsorted_segment_sum",
    node="UnsortedSegmentSum",
    dtypes=NUMBERS,
    check=_IDS_IN_RANGE,
    cases=(*_FORMS, "i32[4], i32[4] in (0, 3), 3", "c64[4], i32[4] in (0, 3), 3"),
)
def unsorted_segment_sum(
    data: Same, segment_ids: Index, num_segments: StaticInts, name: str | None = None
) -> Array:
    """Sum of the rows of each segment.

    Args:
        data: Numbers `segment_ids.shape + [...]`.
        segment_ids: Integers below `num_segments`, in any order; rows with a negative id are
            dropped.
        num_segments: How many segments there are.
        name: Ignored.

    Returns:
        The sums `[num_segments, ...]`, in the dtype of `data`; 0 for segments without rows.

    Raises:
        tf.errors.InvalidArgumentError: An id is too large, or the shapes do not match.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.unsorted_segment_sum([1.0, 2.0, 3.0], [1, 0, 1], 3).numpy())
        [2. 4. 0.]
    """
    return sums(*_rows(data, segment_ids, num_segments), num_segments)


@op(
    "math.unsorted_segment_mean",
    node="UnsortedSegmentSum",
    dtypes=NUMBERS,
    check=_IDS_IN_RANGE,
    cases=(*_FORMS, "i32[4], i32[4] in (0, 3), 3"),
)
def unsorted_segment_mean(
    data: Same, segment_ids: Index, num_segments: StaticInts, name: str | None = None
) -> Array:
    """Mean of the rows of each segment.

    Args:
        data: Numbers `segment_ids.shape + [...]`.
        segment_ids: Integers below `num_segments`, in any order; rows with a negative id are
            dropped.
        num_segments: How many segments there are.
        name: Ignored.

    Returns:
        The means `[num_segments, ...]`; 0 for segments without rows. Means of integers are
        float64, and float32 for 8 and 16 bits.

    Raises:
        tf.errors.InvalidArgumentError: An id is too large, or the shapes do not match.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.unsorted_segment_mean([1.0, 2.0, 3.0], [1, 0, 1], 3).numpy())
        [2. 2. 0.]
    """
    rows, ids = _rows(data, segment_ids, num_segments)
    sum_, count = sums(rows, ids, num_segments), counts(rows, ids, num_segments)
    if jnp.issubdtype(data.dtype, jnp.integer):
        floating = jnp.float64 if data.dtype.itemsize > 2 else jnp.float32
        sum_, count = sum_.astype(floating), count.astype(floating)
    return sum_ / count


@op(
    "math.unsorted_segment_sqrt_n",
    node="Sqrt",
    dtypes="bfloat16 half float double complex64 complex128",
    check=_IDS_IN_RANGE,
    cases=_FORMS,
)
def unsorted_segment_sqrt_n(
    data: Same, segment_ids: Index, num_segments: StaticInts, name: str | None = None
) -> Array:
    """Sum of the rows of each segment, divided by the square root of their number.

    Args:
        data: Floats or complex numbers `segment_ids.shape + [...]`.
        segment_ids: Integers below `num_segments`, in any order; rows with a negative id are
            dropped.
        num_segments: How many segments there are.
        name: Ignored.

    Returns:
        The scaled sums `[num_segments, ...]`, in the dtype of `data`.

    Raises:
        tf.errors.InvalidArgumentError: An id is too large, or the shapes do not match.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.unsorted_segment_sqrt_n([1.0] * 4, [0, 0, 0, 0], 2).numpy())
        [2. 0.]
    """
    rows, ids = _rows(data, segment_ids, num_segments)
    return sums(rows, ids, num_segments) / jnp.sqrt(counts(rows, ids, num_segments))


@op(
    "math.unsorted_segment_max",
    node="UnsortedSegmentMax",
    dtypes=_ORDERED,
    check=_IDS_IN_RANGE,
    cases=(*_FORMS, "i32[4], i32[4] in (0, 3), 3", "u8[4], i32[4] in (0, 3), 5"),
)
def unsorted_segment_max(
    data: Same, segment_ids: Index, num_segments: StaticInts, name: str | None = None
) -> Array:
    """Largest row of each segment, element by element; equal maxima share the derivative.

    Args:
        data: Real numbers `segment_ids.shape + [...]`.
        segment_ids: Integers below `num_segments`, in any order; rows with a negative id are
            dropped.
        num_segments: How many segments there are.
        name: Ignored.

    Returns:
        The maxima `[num_segments, ...]`, in the dtype of `data`; its lowest finite value for
        segments without rows.

    Raises:
        tf.errors.InvalidArgumentError: An id is too large, or the shapes do not match.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.unsorted_segment_max([1, 5, 3], [1, 0, 1], 2).numpy())
        [5 3]

    *Differs from TensorFlow*: a segment that holds a NaN has the maximum NaN.
    """
    rows, ids = _rows(data, segment_ids, num_segments)
    shape = (num_segments, *rows.shape[1:])
    return _maxima(rows, ids, jnp.full(shape, _limit(rows.dtype, largest=False), rows.dtype))


@op(
    "math.unsorted_segment_min",
    node="UnsortedSegmentMin",
    dtypes=_ORDERED,
    check=_IDS_IN_RANGE,
    cases=(*_FORMS, "i32[4], i32[4] in (0, 3), 3", "u8[4], i32[4] in (0, 3), 5"),
)
def unsorted_segment_min(
    data: Same, segment_ids: Index, num_segments: StaticInts, name: str | None = None
) -> Array:
    """Smallest row of each segment, element by element; equal minima share the derivative.

    Args:
        data: Real numbers `segment_ids.shape + [...]`.
        segment_ids: Integers below `num_segments`, in any order; rows with a negative id are
            dropped.
        num_segments: How many segments there are.
        name: Ignored.

    Returns:
        The minima `[num_segments, ...]`, in the dtype of `data`; its highest finite value for
        segments without rows.

    Raises:
        tf.errors.InvalidArgumentError: An id is too large, or the shapes do not match.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.unsorted_segment_min([1, 5, 3], [1, 0, 1], 2).numpy())
        [5 1]

    *Differs from TensorFlow*: a segment that holds a NaN has the minimum NaN.
    """
    rows, ids = _rows(data, segment_ids, num_segments)
    shape = (num_segments, *rows.shape[1:])
    return _minima(rows, ids, jnp.full(shape, _limit(rows.dtype, largest=True), rows.dtype))


@op(
    "math.unsorted_segment_prod",
    node="UnsortedSegmentProd",
    dtypes=NUMBERS,
    check=_IDS_IN_RANGE,
    # not the form of one segment id: TensorFlow gives rounding for the second derivative zero
    cases=(*_FORMS[:3], _FORMS[4], "i32[4], i32[4] in (0, 3), 3"),
)
def unsorted_segment_prod(
    data: Same, segment_ids: Index, num_segments: StaticInts, name: str | None = None
) -> Array:
    """Product of the rows of each segment; derivatives are exact where elements are zero.

    Args:
        data: Numbers `segment_ids.shape + [...]`.
        segment_ids: Integers below `num_segments`, in any order; rows with a negative id are
            dropped.
        num_segments: How many segments there are.
        name: Ignored.

    Returns:
        The products `[num_segments, ...]`, in the dtype of `data`; 1 for segments without rows.

    Raises:
        tf.errors.InvalidArgumentError: An id is too large, or the shapes do not match.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.unsorted_segment_prod([2, 5, 3], [1, 0, 1], 3).numpy())
        [5 6 1]
    """
    return _products(*_rows(data, segment_ids, num_segments), num_segments)
