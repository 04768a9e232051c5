"""Ops that count, look up and number values: unique, searchsorted, bincount, histograms."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import as_dtype, int32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.composites import takes_composites
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.registry import (
    Array,
    DTypeLike,
    Index,
    Same,
    StaticInts,
    TensorLike,
    ValueCheck,
    op,
    public,
)
from tapejax._src.ops.casting import cast
from tapejax._src.ops.selecting import host_value
from tapejax._src.ops.shape_checks import brackets, check_attr_dtype

_INTS = ("int32", "int64")


def _checked_dtype(dtype: Any, attr: str) -> np.dtype[Any]:
    found = np.dtype(as_dtype(dtype).as_numpy_dtype)
    check_attr_dtype(np.empty(0, found), attr, _INTS)
    return found


class Unique(NamedTuple):
    """What `tf.unique` returns: the values `y` and the place `idx` of each input in them."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """What `tf.unique_with_counts` returns: `Unique` and the `count` of each value."""

    y: Any
    idx: Any
    count: Any


@op("_unique", node="Unique", gradient="lookup", cases=("f32[4], i32[2] in (0, 4)",))
def _unique(x: TensorLike, first: Index) -> Array:
    """The elements at their first places."""
    return jnp.take(x, first, 0, mode="clip")


@op(
    "_unique_with_counts",
    node="UniqueWithCounts",
    gradient="lookup",
    cases=("f32[4], i32[2] in (0, 4)",),
)
def _unique_with_counts(x: TensorLike, first: Index) -> Array:
    """The elements at their first places."""
    return jnp.take(x, first, 0, mode="clip")


def _numbered(x: Any) -> tuple[np.ndarray[Any, Any], ...]:
    """`(first places, numbers, counts)` of the values, numbered in order of appearance."""
    values = host_value(x)
    if values.ndim != 1:
        raise InvalidArgumentError("unique expects a 1D vector.")
    _, first, inverse, counts = np.unique(
        values, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return first[order], place[inverse.reshape(-1)], counts[order]


@public("unique")
def unique(x: Any, out_idx: DTypeLike = int32, name: str | None = None) -> Unique:
    """The different values of a vector, in the order in which they first appear.

    Args:
        x: `[n]`, any dtype (its value is read). NaNs differ from each other.
        out_idx: The dtype of the indices, `tf.int32` or `tf.int64`.
        name: Ignored.

    Returns:
        `(y, idx)`: the `[m]` values, and `[n]` indices with `y[idx[i]] == x[i]`.

    Raises:
        InvalidArgumentError: If `x` is not a vector.
        LookupError: On asking for a gradient.

    Example:
        >>> import tapejax as tf
        >>> y, idx = tf.unique([3, 1, 3])
        >>> y.numpy().tolist(), idx.numpy().tolist()
        ([3, 1], [0, 1, 0])
    """
    dtype, tensor = _checked_dtype(out_idx, "out_idx"), as_tensor(x)
    first, place, _ = _numbered(tensor)
    return Unique(_unique(tensor, constant_tensor(first)), constant_tensor(place.astype(dtype)))


@public("unique_with_counts")
def unique_with_counts(
    x: Any, out_idx: DTypeLike = int32, name: str | None = None
) -> UniqueWithCounts:
    """The different values of a vector, in order of appearance, and how often each occurs.

    Args:
        x: `[n]`, any dtype (its value is read). NaNs differ from each other.
        out_idx: The dtype of indices and counts, `tf.int32` or `tf.int64`.
        name: Ignored.

    Returns:
        `(y, idx, count)`: the `[m]` values, `[n]` indices with `y[idx[i]] == x[i]`, `[m]` counts.

    Raises:
        InvalidArgumentError: If `x` is not a vector.
        LookupError: On asking for a gradient.

    Example:
        >>> import tapejax as tf
        >>> tf.unique_with_counts([3, 1, 3]).count.numpy().tolist()
        [2, 1]
    """
    dtype, tensor = _checked_dtype(out_idx, "out_idx"), as_tensor(x)
    first, place, counts = _numbered(tensor)
    return UniqueWithCounts(
        _unique_with_counts(tensor, constant_tensor(first)),
        constant_tensor(place.astype(dtype)),
        constant_tensor(counts.astype(dtype)),
    )


@op(
    "searchsorted",
    node="LowerBound",
    gradient="none",
    cases=(
        "f32[4] sorted, f32[3]",
        "i32[5] sorted, i32[1,3], side='right'",
        "f64[2,3] sorted, f64[2,4], out_type=tf.int64",
        "f32[0], f32[2]",
    ),
)
def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = int32,
    name: str | None = None,
) -> Array:
    """Where values would have to be inserted into sorted rows to keep them sorted.

    Args:
        sorted_sequence: `[..., n]`, each row ascending.
        values: `[..., m]`, the same dtype, as many rows.
        side: `'left'`: before equal elements; `'right'`: behind them.
        out_type: `tf.int32` or `tf.int64`.
        name: Ignored.

    Returns:
        A tensor of the shape of `values`, with numbers in `[0, n]`.

    Raises:
        ValueError: If `side` is another word.
        InvalidArgumentError: If the numbers of rows or the dtypes differ.

    Example:
        >>> import tapejax as tf
        >>> tf.searchsorted([1, 3, 5], [0, 3, 9]).numpy().tolist()
        [0, 1, 3]
    """
    if side not in ("left", "right"):
        raise ValueError(
            f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'."
        )
    dtype = _checked_dtype(out_type, "out_type")
    if not sorted_sequence.ndim or not values.ndim:
        raise InvalidArgumentError(
            "slice index -1 of dimension 0 out of bounds: sorted_sequence and values need rank "
            f">= 1, got shapes {brackets(sorted_sequence.shape)} and {brackets(values.shape)}"
        )
    if sorted_sequence.dtype != values.dtype:
        raise InvalidArgumentError(
            "cannot compute LowerBound as input #1(zero-based) was expected to be a "
            f"{sorted_sequence.dtype.name} tensor but is a {values.dtype.name} tensor: convert one "
            "with tf.cast"
        )
    rows = int(np.prod(sorted_sequence.shape[:-1], dtype=np.int64))
    if rows != int(np.prod(values.shape[:-1], dtype=np.int64)):
        raise InvalidArgumentError("Leading dim_size of both tensors must match.")
    sequence = jnp.reshape(sorted_sequence, (rows, sorted_sequence.shape[-1]))
    wanted = jnp.reshape(values, (rows, values.shape[-1]))

    def search(row: Array, at: Array) -> Array:
        return jnp.searchsorted(row, at, side=side)

    found = jax.vmap(search)(sequence, wanted)
    return jnp.reshape(found, values.shape).astype(dtype)


_BINCOUNT_DTYPES = ("int32", "int64", "float32", "float64")


@op(
    "_bincount",
    node="DenseBincount",
    gradient="lookup",
    cases=(
        "i32[5] in (0, 4), 4, tf.int32",
        "i32[2,3] in (0, 4), 3, tf.float32, f32[2,3]",
        "i64[4] in (0, 4), 4, tf.int64, binary_output=True",
    ),
)
def _bincount(
    arr: Index,
    size: StaticInts,
    dtype: DTypeLike,
    weights: TensorLike | None = None,
    binary_output: bool = False,
) -> Array:
    """Counts of the numbers below `size` in each row."""
    width = arr.shape[-1]
    rows = jnp.reshape(arr, (math.prod(arr.shape[:-1]), width))
    given = jnp.ones(arr.shape, dtype) if weights is None else weights
    given = jnp.reshape(given, rows.shape)

    def count(row: Array, amounts: Array) -> Array:
        zeros = jnp.zeros(size, dtype)
        if not size:
            return zeros
        if binary_output:
            return zeros.at[row].set(1, mode="drop")
        return zeros.at[row].add(amounts, mode="drop")

    return jnp.reshape(jax.vmap(count)(rows, given), (*arr.shape[:-1], size))


def _bin_total(values: np.ndarray[Any, Any], minlength: Any, maxlength: Any) -> int:
    """How many numbers are counted."""
    if values.size and int(values.min()) < 0:
        raise InvalidArgumentError("Input arr must be non-negative!")
    size = int(values.max()) + 1 if values.size else 0
    size = size if minlength is None else max(size, int(minlength))
    return size if maxlength is None else min(size, int(maxlength))


@public("math.bincount")
@takes_composites("math.bincount")
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: DTypeLike = int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Any:
    """How often each number 0, 1, 2, ... occurs.

    Args:
        arr: Integers >= 0 of any shape (their values are read).
        weights: Added instead of 1: a tensor of the shape of `arr`.
        minlength: The least length of the result.
        maxlength: The largest length; larger numbers are not counted.
        dtype: The dtype of the counts, if there are no weights.
        name: Ignored.
        axis: None or 0: count in the whole tensor; -1: in each row.
        binary_output: Whether to say only if a number occurs.

    Returns:
        A vector as long as the largest number plus one; with `axis=-1` one for each row.

    Raises:
        InvalidArgumentError: If a number is negative or the weights do not fit.
        ValueError: If `axis` is another number.
        LookupError: On asking for a gradient.

    Example:
        >>> import tapejax as tf
        >>> tf.math.bincount([1, 1, 3]).numpy().tolist()
        [0, 2, 0, 1]
    """
    if axis not in (None, 0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    numbers = as_tensor(arr)
    if not numbers.dtype.is_integer:
        numbers = cast(numbers, int32)
    values = host_value(numbers)
    check_attr_dtype(values, "Tidx", _INTS)
    size = _bin_total(values, minlength, maxlength)
    amounts = None if weights is None else as_tensor(weights)
    kind = as_dtype(dtype) if amounts is None else amounts.dtype
    check_attr_dtype(np.empty(0, kind.as_numpy_dtype), "T", _BINCOUNT_DTYPES)
    if amounts is not None and tuple(amounts.shape) != values.shape:
        raise InvalidArgumentError(
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it "
            f"acts as all weights equal to 1. Received {brackets(amounts.shape)}"
        )
    if axis != -1 or not values.ndim:
        numbers, amounts = flattened(numbers), None if amounts is None else flattened(amounts)
    return _bincount(numbers, size, kind, amounts, binary_output)


@op("_flattened", node="Reshape", cases=("f32[2,3]", "i32[]"))
def flattened(x: TensorLike) -> Array:
    """The elements as a vector."""
    return jnp.reshape(x, (-1,))


def _bins(values: Array, value_range: Array, nbins: int) -> Array:
    """The number of the bin each value belongs to, those outside in the first or last one."""
    low, high = value_range[0], value_range[1]
    step = (high - low).astype(jnp.float64) / nbins
    inside = jnp.minimum(jnp.maximum(values, low), high)
    place = (inside - low).astype(jnp.float64) / step
    return jnp.minimum(place, nbins - 1).astype(jnp.int32)


def _check_bins(value_range: Array, nbins: int) -> None:
    if value_range.shape != (2,):
        raise InvalidArgumentError("value_range should be a vector of 2 elements.")
    if nbins <= 0:
        raise InvalidArgumentError(f"nbins should be a positive number, but got '{nbins}'")


def _bad_histogram(
    values: Array, value_range: Array, nbins: int = 100, dtype: Any = None
) -> tuple[Any, ...]:
    _check_bins(value_range, nbins)
    low, high = value_range[0], value_range[1]
    missing = (
        jnp.any(jnp.isnan(values)) if jnp.issubdtype(values.dtype, jnp.floating) else low != low
    )
    return ~(low < high) | missing, low, high, missing


def _histogram_text(low: float, high: float, missing: float, *_: float) -> str:
    if missing and low < high:
        return "Histogram values must not contain NaN"
    return (
        f"value_range should satisfy value_range[0] < value_range[1], but got '[{low:g}, {high:g}]'"
    )


@op(
    "histogram_fixed_width",
    node="HistogramFixedWidth",
    dtypes="int32 int64 float double",
    gradient="lookup",
    check=ValueCheck(_bad_histogram, _histogram_text),
    cases=(
        "f32[6], f32[2] sorted, nbins=5",
        "i32[2,3], [-3, 4], 4, tf.int64",
        "f64[0], f64[2] sorted",
    ),
)
def histogram_fixed_width(
    values: Same,
    value_range: Same,
    nbins: StaticInts = 100,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Array:
    """How many values fall into each of `nbins` equal parts of a range.

    Args:
        values: Real numbers of any shape.
        value_range: `[2]`, the same dtype: the ends of the range. Values outside are counted in
            the first or last part.
        nbins: The number of parts.
        dtype: `tf.int32` or `tf.int64`.
        name: Ignored.

    Returns:
        `[nbins]` counts.

    Raises:
        InvalidArgumentError: If the range is empty or a value is NaN.
        LookupError: On asking for a gradient.

    Example:
        >>> import tapejax as tf
        >>> tf.histogram_fixed_width([-1.0, 0.0, 1.5, 5.0], [0.0, 5.0], nbins=5).numpy().tolist()
        [2, 1, 0, 0, 1]
    """
    _check_bins(value_range, nbins)
    kind = _checked_dtype(dtype, "dtype")
    place = jnp.reshape(_bins(values, value_range, nbins), (-1,))
    return jnp.zeros(nbins, kind).at[place].add(1, mode="drop")


@op(
    "histogram_fixed_width_bins",
    node="Cast",
    dtypes="int32 int64 float double",
    gradient="none",
    cases=("f32[6], f32[2] sorted, nbins=5", "f64[2,3], f64[2] sorted, 4, tf.int64"),
)
def histogram_fixed_width_bins(
    values: Same,
    value_range: Same,
    nbins: StaticInts = 100,
    dtype: DTypeLike = int32,
    name: str | None = None,
) -> Array:
    """In which of `nbins` equal parts of a range each value lies.

    Args:
        values: Real numbers of any shape.
        value_range: `[2]`, the same dtype: the ends of the range. Values outside belong to the
            first or last part.
        nbins: The number of parts.
        dtype: Checked, but the result is int32 as in TensorFlow.
        name: Ignored.

    Returns:
        An int32 tensor of the shape of `values`, with numbers in `[0, nbins)`.

    Raises:
        InvalidArgumentError: If `nbins` is not positive.

    Example:
        >>> import tapejax as tf
        >>> tf.histogram_fixed_width_bins([-1.0, 1.5, 5.0], [0.0, 5.0], nbins=5).numpy().tolist()
        [0, 1, 4]
    """
    _check_bins(value_range, nbins)
    low, high = value_range[0], value_range[1]
    wide = jnp.float64 if values.dtype in (jnp.int32, jnp.int64) else values.dtype
    scaled = (values - low).astype(wide) / (high - low).astype(wide)
    place = jnp.floor(scaled * nbins)
    _checked_dtype(dtype, "dtype")
    return jnp.clip(place, 0, nbins - 1).astype(jnp.int32)
