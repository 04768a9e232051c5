"""Isotonic regression: the nearest monotone sequence."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, op
from tapejax._src.ops.derivatives import unconnected

_NARROW = {"int8": jnp.float32, "int16": jnp.float32}
_NODE = "IsotonicRegression"


class IsotonicRegression(NamedTuple):
    """What `tf.nn.isotonic_regression` returns: the fit, and the pool each element is in."""

    output: Any
    segments: Any


def _segments(row: Array) -> Array:
    """The pool of each element of a row: neighbours that violate the order are merged.

    Pool adjacent violators. The pools found so far lie on a stack of sums, sizes and first places;
    each element joins as a pool of its own, which swallows those below it while they are smaller.
    """
    count = row.shape[0]

    def violated(stack: tuple[Array, Array, Array, Array]) -> Array:
        sums, sizes, _, top = stack
        below = jnp.maximum(top - 1, 0)
        means = sums[below] / sizes[below], sums[top] / sizes[top]
        return (top > 0) & (means[0] < means[1])

    def merge(stack: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        sums, sizes, starts, top = stack
        sums = sums.at[top - 1].add(sums[top])
        return sums, sizes.at[top - 1].add(sizes[top]), starts, top - 1

    def join(place: Array, stack: tuple[Array, Array, Array, Array]) -> Any:
        sums, sizes, starts, top = stack
        top = top + 1
        pushed = (
            sums.at[top].set(row[place]),
            sizes.at[top].set(1),
            starts.at[top].set(place.astype(jnp.int32)),
            top,
        )
        return lax.while_loop(violated, merge, pushed)

    empty = jnp.zeros(count, row.dtype), jnp.ones(count, row.dtype)
    # The top is made of the row, so that both vary alike where the rows are spread over devices.
    top = jnp.sum(row, dtype=row.dtype).astype(jnp.int32) * 0 - 1
    first = (*empty, jnp.zeros(count, jnp.int32), top)
    _, _, starts, top = lax.fori_loop(0, count, join, first)
    begins = jnp.where(jnp.arange(count) <= top, starts, count)
    marks = jnp.zeros(count, jnp.int32).at[begins].add(1, mode="drop")
    return jnp.cumsum(marks, dtype=jnp.int32) - 1


def _means(row: Array, segments: Array) -> Array:
    count = row.shape[0]
    sums = jax.ops.segment_sum(row, segments, count)
    sizes = jax.ops.segment_sum(jnp.ones_like(row), segments, count)
    return (sums / jnp.maximum(sizes, 1))[segments]


@op(
    "nn.isotonic_regression",
    node=_NODE,
    dtypes="bfloat16 half float double int8 int16 int32 int64",
    cases=(
        "f32[7]",
        "f64[3,5]",
        "f64[4,3], decreasing=False, axis=0",
        "f32[2,3,4], axis=1",
        "f16[5]",
        "i32[6]",
        "i8[6], False",
        "f32[0]",
        "f32[2,1]",
    ),
    differs={
        case: "TensorFlow's gradient of a vector is a matrix, of other cases an error"
        for case in ("f32[7]", "f16[5]", "f32[0]", "f32[2,3,4], axis=1")
    },
)
def isotonic_regression(
    inputs: Same, decreasing: bool = True, axis: StaticInts = -1
) -> IsotonicRegression | tuple[Array, Array]:
    """The monotone sequence nearest to the inputs, in the sum of squares.

    Args:
        inputs: `[..., n, ...]`, real.
        decreasing: Whether the result must not increase, instead of not decrease.
        axis: The axis that is made monotone; the others are batch axes.

    Returns:
        `(output, segments)`: the fit with the shape of `inputs`, and int32 numbers of the pools:
        the elements of one pool share their mean. Floating dtypes stay, int8 and int16 become
        float32, wider integers float64. The gradient is averaged over each pool.

    Raises:
        InvalidArgumentError: `axis` is out of range.

    Example:
        >>> import tapejax as tf
        >>> y, pools = tf.nn.isotonic_regression([3.0, 1.0, 2.0, 0.0])
        >>> y.numpy().tolist(), pools.numpy().tolist()
        ([3.0, 1.5, 1.5, 0.0], [0, 1, 1, 2])

    References: Barlow, Bartholomew, Bremner, Brunk, "Statistical inference under order
    restrictions", 1972.
    """
    if inputs.ndim and not -inputs.ndim <= axis < inputs.ndim:
        raise InvalidArgumentError(
            f"axis={axis} is out of range for inputs of shape {inputs.shape} [Op:{_NODE}]"
        )
    floating = jnp.issubdtype(inputs.dtype, jnp.floating)
    widened = _NARROW.get(str(inputs.dtype), jnp.float64)
    dtype = np.dtype(inputs.dtype if floating else widened)
    x = inputs.astype(dtype)
    if x.size == 0 or x.ndim == 0:
        return IsotonicRegression(x, jnp.zeros(x.shape, jnp.int32))
    rows = jnp.moveaxis(x, axis, -1)
    flat = rows.reshape(-1, rows.shape[-1])
    # A half is too coarse to sum many elements.
    wide = flat.astype(jnp.float32) if dtype.itemsize == 2 else flat
    signed = lax.stop_gradient(wide) * (1 if decreasing else -1)
    segments = unconnected(jax.vmap(_segments)(signed))
    means = jax.vmap(_means)(wide, segments).astype(dtype)
    output, pools = (jnp.moveaxis(part.reshape(rows.shape), -1, axis) for part in (means, segments))
    # TensorFlow drops the names where it has to turn the values over or around.
    plain = not decreasing or axis not in (-1, inputs.ndim - 1)
    return (output, pools) if plain else IsotonicRegression(output, pools)
