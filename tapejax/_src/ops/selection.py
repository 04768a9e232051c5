"""Reductions to integers and shares: argmax, argmin, counts of nonzero elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, DTypeLike, Same, StaticInts, TensorLike, op
from tapejax._src.ops.reduction import ORDERED, reduced_axes, total


@op(
    "math.count_nonzero",
    node="NotEqual",
    gradient="none",
    cases=("f32[2,3]", "i32[2,3] in (0, 2), axis=1", "bool[4], keepdims=True, dtype=tf.int32"),
)
def count_nonzero(
    input: TensorLike,
    axis: StaticInts | None = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Array:
    """How many elements along `axis` differ from zero.

    Args:
        input: Numbers or booleans `[...]`; NaN counts as nonzero.
        axis: The axis, or a list of axes, to count over; None for all.
        keepdims: Whether the axes stay, with length 1.
        dtype: DType of the counts.
        name: Ignored.

    Returns:
        The counts. Their derivative is None.

    Raises:
        tf.errors.InvalidArgumentError: An axis out of range.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.count_nonzero([[0, 1], [2, 0]]).numpy())
        2
    """
    axes = reduced_axes(axis, input.ndim)
    return total((input != 0).astype(jnp.int64), axes, keepdims).astype(as_numpy(dtype))


@op(
    "math.zero_fraction",
    "nn.zero_fraction",
    node="NotEqual",
    gradient="none",
    cases=("i32[2,3] in (0, 2)", "f32[4]", "f64[]"),
)
def zero_fraction(value: TensorLike, name: str | None = None) -> Array:
    """Share of the elements that are zero, a float32 scalar; NaN for no elements."""
    return jnp.mean((value == 0).astype(jnp.float32), dtype=jnp.float32)


def _extreme_index(
    x: Array, axis: StaticInts | None, select: Callable[..., Array], losing: float
) -> Array:
    """The index that `select` finds along one axis; NaN never wins against a number."""
    axis = 0 if axis is None else axis
    if not isinstance(axis, int | np.integer):
        msg = f"axis must be int or Tensor with integer datatype. Received: axis={axis!r}"
        raise TypeError(msg)
    if not -x.ndim <= axis < x.ndim:
        msg = f"Expected dimension in the range [{-x.ndim}, {x.ndim}), but got {axis}"
        raise InvalidArgumentError(msg)
    if x.shape[axis] == 0 and x.size == 0 and math.prod(np.delete(x.shape, axis).tolist()):
        shape = ",".join(map(str, x.shape))
        msg = f"Reduction axis {axis} is empty in shape [{shape}]"
        raise InvalidArgumentError(msg)
    if jnp.issubdtype(x.dtype, jnp.floating):
        x = jnp.where(jnp.isnan(x), jnp.full_like(x, losing), x)
    return select(x, axis=axis)


def as_numpy(dtype: DTypeLike) -> np.dtype[Any]:
    """A static dtype argument as a NumPy dtype."""
    return np.dtype(getattr(dtype, "as_numpy_dtype", dtype))


def check_index_dtype(attr: str, dtype: np.dtype[Any], allowed: str) -> None:
    """Raise TensorFlow's error unless the dtype of indices is among the `allowed` ones."""
    name = {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)
    if name not in allowed.split(", "):
        msg = f"Value for attr '{attr}' of {name} is not in the list of allowed values: {allowed}"
        raise InvalidArgumentError(msg)


@op(
    "argmax",
    "math.argmax",
    node="ArgMax",
    dtypes=f"{ORDERED} bool",
    gradient="none",
    cases=("f32[2,3]", "f64[2,3], axis=-1", "i32[4], output_type=tf.int32", "bool[3]", "u8[2,3]"),
)
def argmax(
    input: Same,
    axis: StaticInts | None = None,
    output_type: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Array:
    """Index of the largest element along one axis; the first one of equals, never a NaN's.

    Args:
        input: Real numbers or booleans `[...]`.
        axis: The axis to search; None means axis 0.
        output_type: DType of the indices: int16, uint16, int32 or int64.
        name: Ignored.

    Returns:
        The indices, without the searched axis. If all elements are NaN the index is 0.

    Raises:
        tf.errors.InvalidArgumentError: The axis is out of range or has no elements.
        TypeError: `axis` is a list.

    Example:
        >>> import tapejax as tf
        >>> print(tf.argmax([[1.0, 7.0], [3.0, 4.0]], axis=1).numpy())
        [1 1]
    """
    output_type = as_numpy(output_type)
    check_index_dtype("output_type", output_type, "int16, uint16, int32, int64")
    return _extreme_index(input, axis, jnp.argmax, -np.inf).astype(output_type)


@op(
    "argmin",
    "math.argmin",
    node="ArgMin",
    dtypes=f"{ORDERED} bool",
    gradient="none",
    cases=("f32[2,3]", "f64[2,3], axis=-1", "i32[4], output_type=tf.int32", "bool[3]", "u8[2,3]"),
)
def argmin(
    input: Same,
    axis: StaticInts | None = None,
    output_type: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Array:
    """Index of the smallest element along one axis; the first one of equals, never a NaN's.

    Args:
        input: Real numbers or booleans `[...]`.
        axis: The axis to search; None means axis 0.
        output_type: DType of the indices: int32 or int64.
        name: Ignored.

    Returns:
        The indices, without the searched axis. If all elements are NaN the index is 0.

    Raises:
        tf.errors.InvalidArgumentError: The axis is out of range or has no elements.
        TypeError: `axis` is a list.

    Example:
        >>> import tapejax as tf
        >>> print(tf.argmin([[1.0, 7.0], [3.0, 0.0]], axis=0).numpy())
        [0 1]
    """
    output_type = as_numpy(output_type)
    check_index_dtype("output_type", output_type, "int32, int64")
    return _extreme_index(input, axis, jnp.argmin, np.inf).astype(output_type)
