"""Conversions between dtypes: `tf.cast`, `tf.saturate_cast`, `tf.bitcast`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError, UnimplementedError
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.composites import CompositeGivenError, answer
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import Array, DTypeLike, Same, TensorLike, op, public
from tapejax._src.ops.arithmetic import larger, smaller


def _is_float(dtype: Any) -> bool:
    return jnp.issubdtype(dtype, jnp.floating)


def _is_integer(dtype: Any) -> bool:
    return jnp.issubdtype(dtype, jnp.integer)


def _is_complex(dtype: Any) -> bool:
    return jnp.issubdtype(dtype, jnp.complexfloating)


def converted(x: Array, dtype: Any) -> Array:
    """`x` in another numeric dtype, by TensorFlow's rules for what does not fit."""
    if x.dtype == dtype:
        return x
    if _is_complex(x.dtype) and not _is_complex(dtype):
        x = lax.real(x)
    if _is_float(x.dtype) and _is_integer(dtype):
        return _truncated(x, np.dtype(dtype))
    return x != 0 if dtype == jnp.bool_ else x.astype(dtype)


def _truncated(x: Array, dtype: np.dtype[Any]) -> Array:
    """Integers from floats the way an x86 processor makes them.

    The value is cut to a signed word (32 bits for dtypes up to that size, else 64), where NaN and
    what does not fit become the most negative number; narrower dtypes keep the low bits.
    """
    if x.dtype.itemsize < np.dtype(np.float32).itemsize:
        x = x.astype(jnp.float32)
    word = np.int32 if dtype.itemsize < 4 or dtype == np.int32 else np.int64
    lowest = np.iinfo(word).min
    limit = -float(lowest)
    fits = (x >= -limit) & (x < limit)
    cut = jnp.where(fits, x, jnp.zeros_like(x)).astype(word)
    result = jnp.where(fits, cut, jnp.full_like(cut, lowest)).astype(dtype)
    if dtype == np.uint64:
        upper = (x >= limit) & (x < 2 * limit)
        shifted = jnp.where(upper, x - limit, jnp.zeros_like(x)).astype(word)
        result = jnp.where(upper, shifted.astype(dtype) + np.uint64(limit), result)
    return result


@op(
    "_cast",
    node="Cast",
    cases=(
        "f32[2,3], tf.float64",
        "f64[3], tf.float32",
        "f32[3], tf.bfloat16",
        "f32[3], tf.int32",
        "f32[3], tf.bool",
        "i32[3], tf.float32",
        "bool[3], tf.float32",
        "f32[3], tf.complex64",
        "c64[3], tf.float32",
        "c64[3], tf.complex128",
        "i32[3], tf.uint8",
    ),
)
def _cast(x: TensorLike, dtype: DTypeLike, name: str | None = None) -> Array:
    """`x` in another dtype."""
    return converted(x, dtype)


@public("cast", "dtypes.cast")
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """`x` converted to another dtype; `x` itself if it has it already.

    Floats are cut toward zero; NaN and what does not fit an int32 or int64 becomes its lowest
    value. Complex numbers lose their imaginary part. Only conversions among floats and complex
    numbers have a gradient, in the dtype of `x`.

    Args:
        x: A tensor, variable, `tf.IndexedSlices` or what converts to a tensor, `[...]`.
        dtype: The wanted numeric dtype.
        name: Ignored.

    Returns:
        The converted tensor `[...]`; slices stay slices.

    Raises:
        TypeError: `dtype` is no dtype.
        tf.errors.UnimplementedError: A conversion from or to strings.

    Example:
        >>> import tapejax as tf
        >>> print(tf.cast([1.8, -1.8], tf.int32).numpy())
        [ 1 -1]
    """
    target = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, target, name), x.indices, x.dense_shape)
    if not isinstance(x, Tensor | Variable):
        try:
            x = as_tensor(x)
        except CompositeGivenError as error:
            return answer("cast", cast, (x, dtype), {}, error)
    if x.dtype is target:
        return x
    if dtypes.string in (x.dtype, target):
        msg = f"Cast {x.dtype.name} to {target.name} is not supported: casts are of numbers only."
        raise UnimplementedError(msg)
    return _cast(x, target, name)


def _limit(source: np.dtype[Any], exact: float | int, towards: float | int) -> Any:
    """The number of dtype `source` nearest to `exact` that does not lie beyond it."""
    if _is_integer(source):
        info = np.iinfo(source)
        return np.asarray(min(max(int(exact), int(info.min)), int(info.max)), source)
    largest = float(jnp.finfo(source).max)
    value = np.asarray(min(max(exact, -largest), largest), source)
    beyond = float(value) > exact if exact > towards else float(value) < exact
    return np.nextafter(value, np.zeros((), source)) if beyond else value


def _clamped(x: Array, dtype: np.dtype[Any]) -> Array:
    """`x` clipped to the numbers that its own dtype and `dtype` both have."""
    info: Any = np.iinfo(dtype) if _is_integer(dtype) else jnp.finfo(dtype)
    exact = int if _is_integer(dtype) else float
    lowest, highest = exact(info.min), exact(info.max)
    low = jnp.asarray(_limit(x.dtype, lowest, 1))
    high = jnp.asarray(_limit(x.dtype, highest, 0))
    return larger(smaller(x, jnp.broadcast_to(high, x.shape)), jnp.broadcast_to(low, x.shape))


@op(
    "saturate_cast",
    "dtypes.saturate_cast",
    node="Cast",
    cases=(
        "f32[3], tf.float16",
        "f32[3], tf.uint8",
        "i32[6] in (-300, 300), tf.int8",
        "f64[3], tf.float32",
        "c64[3], tf.float32",
        "f32[3], tf.complex64",
    ),
)
def saturate_cast(value: TensorLike, dtype: DTypeLike, name: str | None = None) -> Array:
    """`value` converted to another dtype, clipped to what that dtype can hold.

    Args:
        value: A numeric tensor `[...]`.
        dtype: The wanted numeric dtype.
        name: Ignored.

    Returns:
        The converted tensor `[...]`. Infinities become the largest finite number of both dtypes.

    Raises:
        TypeError: A conversion from or to booleans.

    Example:
        >>> import tapejax as tf
        >>> print(tf.saturate_cast(tf.constant([300, -5]), tf.uint8).numpy())
        [255   0]

    *Differs from TensorFlow*: floats above the range of int64 and uint64 give the largest number
    that fits, where TensorFlow's wraps around to the lowest.
    """
    target = np.dtype(dtype)
    if jnp.bool_ in (value.dtype, target):
        msg = f"saturate_cast from {value.dtype} to {target}: booleans have no range. Use tf.cast."
        raise TypeError(msg)
    if _is_complex(value.dtype) and _is_complex(target):
        part = np.dtype(jnp.finfo(target).dtype)
        value = lax.complex(_clamped(lax.real(value), part), _clamped(lax.imag(value), part))
        return converted(value, target)
    value = lax.real(value) if _is_complex(value.dtype) else value
    limits = np.dtype(jnp.finfo(target).dtype) if _is_complex(target) else target
    return converted(_clamped(value, limits), target)


_BITCAST = (
    "bfloat16 half float double int64 int32 uint8 uint16 uint32 uint64 int8 int16 complex64 "
    "complex128 qint8 quint8 qint16 quint16 qint32"
)


@op(
    "bitcast",
    node="Bitcast",
    dtypes=_BITCAST,
    gradient="lookup",
    cases=(
        "f32[2,3], tf.int32",
        "f64[3], tf.int32",
        "u8[3,4], tf.float32",
        "c64[3], tf.float32",
        "f32[3,2], tf.complex64",
        "i16[3], tf.uint16",
    ),
)
def bitcast(input: Same, type: DTypeLike, name: str | None = None) -> Array:
    """The same bytes read as another dtype, lowest byte first.

    Args:
        input: A numeric tensor `[...]`, or `[..., n]` for a `type` that is n times as large.
        type: The dtype to read the bytes as.
        name: Ignored.

    Returns:
        `[...]`, or `[..., n]` for a `type` that is n times smaller.

    Raises:
        tf.errors.InvalidArgumentError: The last axis does not make up one element of `type`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.bitcast(tf.constant([1.0]), tf.int32).numpy())
        [1065353216]
    """
    target = np.dtype(type)
    source_size, target_size = input.dtype.itemsize, target.itemsize
    data = _to_bytes(input)
    if target_size < source_size:
        count = source_size // target_size
        return _from_bytes(data.reshape((*input.shape, count, target_size)), target)
    if target_size > source_size:
        if not input.ndim or input.shape[-1] * source_size != target_size:
            msg = (
                f"Cannot bitcast {input.dtype}{list(input.shape)} to {target}: one {target} is "
                f"{target_size // source_size} elements of the input, so that must be the size of "
                "its last axis."
            )
            raise InvalidArgumentError(msg)
        data = data.reshape((*input.shape[:-1], target_size))
    return _from_bytes(data, target)


def _to_bytes(x: Array) -> Array:
    """The bytes of each element on a new last axis."""
    if _is_complex(x.dtype):
        x = jnp.stack([lax.real(x), lax.imag(x)], axis=-1)
        return lax.bitcast_convert_type(x, jnp.uint8).reshape((*x.shape[:-1], -1))
    data = lax.bitcast_convert_type(x, jnp.uint8)
    return data[..., None] if x.dtype.itemsize == 1 else data


def _from_bytes(data: Array, dtype: np.dtype[Any]) -> Array:
    """The inverse of `_to_bytes`."""
    if dtype.itemsize == 1:
        return lax.bitcast_convert_type(data[..., 0], dtype)
    if not _is_complex(dtype):
        return lax.bitcast_convert_type(data, dtype)
    part = np.dtype(np.float32 if dtype == np.complex64 else np.float64)
    pairs = _from_bytes(data.reshape((*data.shape[:-1], 2, part.itemsize)), part)
    return lax.complex(pairs[..., 0], pairs[..., 1])
