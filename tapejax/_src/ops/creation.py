"""Ops that make tensors: constants of a given shape, ranges, one-hot rows."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import as_dtype, float32
from tapejax._src.core.errors import InvalidArgumentError, NotFoundError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, known_value
from tapejax._src.engine.registry import (
    Array,
    DTypeLike,
    Index,
    Same,
    StaticInts,
    TensorLike,
    op,
    public,
)
from tapejax._src.ops.lazy_range import is_unknown, lazy_range
from tapejax._src.ops.shape_checks import (
    brackets,
    check_attr_dtype,
    checked_sizes,
    normal_axis,
    zero_of,
)


@op(
    "zeros",
    node="Fill",
    gradient="none",
    cases=("[2, 3]", "(2,), tf.int32", "[], dtype=tf.bool", "3, tf.complex64", "[0, 2]"),
)
def zeros(
    shape: StaticInts, dtype: DTypeLike = float32, name: str | None = None, layout: Any = None
) -> Array:
    """A tensor of zeros.

    Args:
        shape: The shape: an int or a list of ints.
        dtype: The dtype.
        name: Ignored.
        layout: Ignored.

    Returns:
        A tensor of shape `shape`.

    Raises:
        InvalidArgumentError: If a size is negative.

    Example:
        >>> import tapejax as tf
        >>> tf.zeros([2]).numpy().tolist()
        [0.0, 0.0]
    """
    return jnp.zeros(checked_sizes(shape), dtype)


@op(
    "ones",
    node="Fill",
    gradient="none",
    cases=("[2, 3]", "(2,), tf.int32", "[], dtype=tf.bool", "3, tf.complex64", "[0, 2]"),
)
def ones(
    shape: StaticInts, dtype: DTypeLike = float32, name: str | None = None, layout: Any = None
) -> Array:
    """A tensor of ones.

    Args:
        shape: The shape: an int or a list of ints.
        dtype: The dtype.
        name: Ignored.
        layout: Ignored.

    Returns:
        A tensor of shape `shape`.

    Raises:
        InvalidArgumentError: If a size is negative.

    Example:
        >>> import tapejax as tf
        >>> tf.ones([2], tf.int32).numpy().tolist()
        [1, 1]
    """
    return jnp.ones(checked_sizes(shape), dtype)


@op("fill", node="Fill", cases=("[2, 3], f32[]", "[0], i32[]", "[], c64[]", "2, f64[]"))
def fill(dims: StaticInts, value: TensorLike, name: str | None = None, layout: Any = None) -> Array:
    """A tensor with one value everywhere.

    Args:
        dims: The shape: an int or a list of ints.
        value: A scalar of any dtype.
        name: Ignored.
        layout: Ignored.

    Returns:
        A tensor of shape `dims` and of the dtype of `value`.

    Raises:
        InvalidArgumentError: If a size is negative.

    Example:
        >>> import tapejax as tf
        >>> tf.fill([2], 7).numpy().tolist()
        [7, 7]
    """
    sizes = checked_sizes(dims)
    if value.size != 1:
        raise InvalidArgumentError(
            f"value must be a scalar, got shape {brackets(value.shape)}: "
            "use tf.broadcast_to for other shapes"
        )
    return jnp.broadcast_to(jnp.reshape(value, ()), sizes)


@op("zeros_like", node="ZerosLike", gradient="none", cases=("f32[2]", "i32[2,3], tf.float64"))
def zeros_like(
    input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: Any = None
) -> Array:
    """A tensor of zeros of the shape and (unless `dtype` is given) dtype of the input."""
    return jnp.zeros(input.shape, input.dtype if dtype is None else dtype)


@op("ones_like", node="OnesLike", gradient="none", cases=("f32[2]", "i32[2,3], tf.float64"))
def ones_like(
    input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: Any = None
) -> Array:
    """A tensor of ones of the shape and (unless `dtype` is given) dtype of the input."""
    return jnp.ones(input.shape, input.dtype if dtype is None else dtype)


@op(
    "eye",
    "linalg.eye",
    node="MatrixDiagV3",
    gradient="none",
    cases=("3", "2, 3, dtype=tf.int32", "2, num_columns=3, batch_shape=[2]", "2, dtype=tf.bool"),
)
def eye(
    num_rows: StaticInts,
    num_columns: StaticInts = None,
    batch_shape: StaticInts = None,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Array:
    """Identity matrices.

    Args:
        num_rows: The number of rows.
        num_columns: The number of columns. Default: as many as rows.
        batch_shape: The shape of the batch of equal matrices. Default: a single matrix.
        dtype: The dtype.
        name: Ignored.

    Returns:
        A tensor of shape `batch_shape + [num_rows, num_columns]`.

    Raises:
        InvalidArgumentError: If a size is negative.

    Example:
        >>> import tapejax as tf
        >>> tf.eye(2).numpy().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    columns = num_rows if num_columns is None else num_columns
    sizes = checked_sizes((num_rows, columns))
    batch = () if batch_shape is None else checked_sizes(batch_shape)
    return jnp.broadcast_to(jnp.eye(*sizes, dtype=dtype), (*batch, *sizes))


_RANGE_DTYPES = ("int32", "int64", "float32", "float64", "float16", "bfloat16")


@op(
    "_range",
    node="Range",
    gradient="none",
    cases=("f32[], f32[], 4", "i64[], i64[], 3", "f64[], f64[], 0"),
)
def _range(start: Same, delta: Same, count: StaticInts) -> Array:
    """`start + i * delta` for the first `count` integers `i`."""
    return start + jnp.arange(count).astype(start.dtype) * delta


def _range_dtype(values: list[Any]) -> np.dtype[Any]:
    """The widest of the dtypes; Python ints are int32 (int64 if they must), floats float32."""
    order = ("int32", "int64", "float32", "float64")
    found: list[str] = []
    for value in values:
        if hasattr(value, "dtype"):
            found.append(as_dtype(value.dtype).name)
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            found.append(as_tensor(value).dtype.name)
        elif isinstance(value, int):
            found.append("int32" if -(2**31) <= value < 2**31 else "int64")
        else:
            found.append("float32")
    unknown = [name for name in found if name not in order]
    if unknown:
        return np.dtype(as_dtype(unknown[0]).as_numpy_dtype)
    return np.dtype(max(found, key=order.index))


def _range_length(start: Any, limit: Any, delta: Any, dtype: np.dtype[Any]) -> int:
    """How many numbers there are; raises what TensorFlow's kernel raises."""
    if delta == 0:
        raise InvalidArgumentError("Requires delta != 0: 0")
    if delta > 0 and not start <= limit:
        raise InvalidArgumentError(f"Requires start <= limit when delta > 0: {start:g}/{limit:g}")
    if delta < 0 and not start >= limit:
        raise InvalidArgumentError(f"Requires start >= limit when delta < 0: {start:g}/{limit:g}")
    if dtype.kind == "i":
        return -((int(start) - int(limit)) // int(delta))
    return math.ceil(abs((limit - start) / delta))


@public("range")
def range(
    start: Any,
    limit: Any = None,
    delta: Any = 1,
    dtype: DTypeLike | None = None,
    name: str = "range",
) -> Any:
    """The numbers `start, start + delta, ...` before `limit`.

    Args:
        start: The first number; the limit, if no limit is given (the first is then 0).
        limit: Where the numbers end; it is not one of them.
        delta: The difference of two neighbours, not 0.
        dtype: The dtype. Default: the widest of int32, int64, float32, float64 among the
            arguments.
        name: Ignored.

    Returns:
        A vector. The arguments' values are read, and no gradient reaches them. Where they have no
        value yet (in a `tf.function`): an object that only a `for` loop can go over.

    Raises:
        InvalidArgumentError: If `delta` is 0 or leads away from `limit`.
        TypeError: If an argument does not fit `dtype`.

    Example:
        >>> import tapejax as tf
        >>> tf.range(3).numpy().tolist(), tf.range(3, 1, -1).numpy().tolist()
        ([0, 1, 2], [3, 2])
    """
    given = [0 if limit is None else start, start if limit is None else limit, delta]
    kind = _range_dtype(given) if dtype is None else np.dtype(as_dtype(dtype).as_numpy_dtype)
    if kind == np.bool_:
        raise TypeError("Cannot convert 0 to EagerTensor of dtype bool: a range has numbers")
    if kind.name not in _RANGE_DTYPES:
        raise NotFoundError(
            f"tf.range makes int32, int64 and floating tensors, not {kind.name}: "
            "make one of those and use tf.cast"
        )
    if any(is_unknown(value) for value in given):
        return lazy_range(given[0], given[1], given[2], kind)
    first, last, step = (_scalar(value, kind) for value in given)
    return _range(first, step, _range_length(first, last, step, kind))


def _scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    """A host scalar of this dtype; a Python float does not become an integer silently."""
    if isinstance(value, Tensor):
        value = known_value(value)
    if isinstance(value, float) and dtype.kind == "i":
        raise TypeError(f"Cannot convert {value} to EagerTensor of dtype {dtype.name}")
    array = np.asarray(value).astype(dtype)
    if array.size != 1:
        raise InvalidArgumentError(
            f"start, limit and delta must be scalars, got shape {brackets(array.shape)}"
        )
    return array.reshape(())[()]


def _linspace_type(dtype: Any) -> Any:
    return jnp.float64 if jnp.issubdtype(dtype, jnp.integer) else dtype


@op(
    "linspace",
    node="LinSpace",
    cases=(
        "f32[], f32[], 5",
        "i32[], i32[], 4",
        "f64[2], f64[2], 3, axis=1",
        "f32[2,1], f32[3], num=2, axis=-1",
        "f64[], f64[], 1",
    ),
)
def linspace(
    start: Same, stop: Same, num: StaticInts, name: str | None = None, axis: StaticInts = 0
) -> Array:
    """Evenly spaced numbers from `start` to `stop`, both included.

    Args:
        start: A number or a tensor; integers give float64.
        stop: The same dtype; broadcast with `start`.
        num: How many numbers. With 1 there is `start` only.
        name: Ignored.
        axis: Where the new axis goes.

    Returns:
        A tensor of the broadcast shape with a new axis of length `num`.

    Raises:
        InvalidArgumentError: If `num` is negative or `axis` is out of range.

    Example:
        >>> import tapejax as tf
        >>> tf.linspace(0.0, 1.0, 3).numpy().tolist()
        [0.0, 0.5, 1.0]
    """
    if num < 0:
        raise InvalidArgumentError(
            f"Requires start <= limit when delta > 0: 1/{num}: num must not be negative"
        )
    dtype = _linspace_type(start.dtype)
    first, last = jnp.broadcast_arrays(start.astype(dtype), stop.astype(dtype))
    text = f"Tried to expand dim index {axis} for tensor with {first.ndim} dimensions."
    place = normal_axis(axis, first.ndim + 1, text)
    first, last = jnp.expand_dims(first, place), jnp.expand_dims(last, place)
    if num < 2:
        return jax.lax.slice_in_dim(first + zero_of(last), 0, num, axis=place)
    step = (last - first) / (num - 1)
    count = jnp.arange(1, num - 1).astype(dtype)
    inner = first + step * jnp.expand_dims(count, [d for d in _axes(first) if d != place])
    return jnp.concatenate([first, inner, last], place)


def _axes(x: Array) -> list[int]:
    return list(np.arange(x.ndim).tolist())


def _one_hot_dtype(on: Any, off: Any, dtype: Any) -> Any:
    """The dtype of the result: the given one, that of the values, or float32."""
    if on is not None and off is not None and on.dtype != off.dtype:
        raise TypeError(
            f"dtype <dtype: '{on.dtype}'> of on_value does not match dtype "
            f"<dtype: '{off.dtype}'> of off_value"
        )
    for name, value in (("on_value", on), ("off_value", off)):
        if value is None:
            continue
        if value.ndim:
            raise InvalidArgumentError(f"{name} must be a scalar, but got: {brackets(value.shape)}")
        if dtype is None:
            dtype = value.dtype
        # a Python int counts as a number of any dtype
        elif value.dtype not in (dtype, jnp.int32):
            raise TypeError(
                f"dtype <dtype: '{value.dtype}'> of {name} does not match dtype parameter "
                f"<dtype: '{dtype}'>"
            )
    return jnp.float32 if dtype is None else dtype


@op(
    "one_hot",
    node="OneHot",
    gradient="none",
    cases=(
        "i32[3] in (-1, 5), 4",
        "i64[2,2] in (0, 3), 3, axis=0",
        "u8[2] in (0, 3), 3, dtype=tf.int32",
        "i32[2] in (0, 3), 3, f32[], f32[]",
        "i32[2] in (0, 3), 3, on_value=i32[], axis=-1",
        "i32[] in (0, 2), 2, dtype=tf.float64",
        "i32[0] in (0, 2), 2",
    ),
)
def one_hot(
    indices: Index,
    depth: StaticInts,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Array:
    """Rows that are `on_value` at the place named by the index and `off_value` elsewhere.

    Args:
        indices: uint8, int8, int32 or int64, any shape; an index outside `[0, depth)` gives a row
            of `off_value` only.
        depth: The length of a row.
        on_value: A scalar. Default: 1. No gradient reaches it.
        off_value: A scalar of the same dtype. Default: 0. No gradient reaches it.
        axis: Where the new axis goes. Default: last.
        dtype: The dtype. Default: that of the values, else float32.
        name: Ignored.

    Returns:
        A tensor of the shape of `indices` with a new axis of length `depth`.

    Raises:
        TypeError: If the dtypes of the values do not agree.
        InvalidArgumentError: If `depth` is negative or `axis` out of range.

    Example:
        >>> import tapejax as tf
        >>> tf.one_hot([0, 2], 3).numpy().tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    check_attr_dtype(indices, "TI", ("uint8", "int8", "int32", "int64"))
    if not isinstance(depth, int):
        raise InvalidArgumentError(f"depth must be a scalar, but got: [{len(depth)}]")
    if depth < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {depth}")
    rank = indices.ndim + 1
    place = -1 if axis is None else axis
    if not -1 <= place < rank:
        raise InvalidArgumentError(
            f"Expected axis to be -1 or between [0, {rank}).  But received: {place}"
        )
    kind = _one_hot_dtype(on_value, off_value, dtype)
    on = jnp.ones((), kind) if on_value is None else on_value.astype(kind)
    off = jnp.zeros((), kind) if off_value is None else off_value.astype(kind)
    place %= rank
    count = jnp.expand_dims(jnp.arange(depth), [d for d in np.arange(rank) if d != place])
    hot = jnp.expand_dims(indices, place).astype(jnp.int64) == count
    return jnp.where(hot, on, off)
