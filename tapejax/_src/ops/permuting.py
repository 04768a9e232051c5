"""Ops that put elements in another order, and arithmetic on permutations and indices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import (
    Array,
    Index,
    Same,
    StaticInts,
    TensorLike,
    ValueCheck,
    op,
)
from tapejax._src.ops.shape_checks import as_vector, brackets, normal_axis


def _permutation(perm: Any, rank: int) -> tuple[int, ...]:
    """A checked permutation without negative entries."""
    axes = as_vector(perm, "perm must be a vector, got shape {shape}")
    if len(axes) != rank:
        raise InvalidArgumentError(
            f"transpose expects a vector of size {rank}. "
            f"But input(1) is a vector of size {len(axes)}"
        )
    text = f"{{}} is out of range [0 .. {rank})"
    places = tuple(normal_axis(axis, rank, text.format(axis)) for axis in axes)
    for axis in range(rank):
        if axis not in places:
            given = ",".join(map(str, axes))
            raise InvalidArgumentError(f"{axis} is missing from {{{given}}}.")
    return places


@op(
    "transpose",
    node="Transpose",
    cases=(
        "f32[2,3]",
        "f32[2,3,4], [1, 0, 2]",
        "i32[2,3,4], perm=[-1, 0, 1]",
        "c64[2,3], conjugate=True",
        "f64[]",
        "f32[0,3]",
    ),
)
def transpose(
    a: TensorLike, perm: StaticInts = None, conjugate: bool = False, name: str = "transpose"
) -> Array:
    """Permute the dimensions.

    Args:
        a: A tensor of any dtype and shape.
        perm: Dimension `i` of the result is dimension `perm[i]` of `a`. Default: reversed order.
        conjugate: Whether to take the complex conjugate of the elements too.
        name: Ignored.

    Returns:
        A tensor of the same dtype.

    Raises:
        InvalidArgumentError: If `perm` is not a permutation of the dimensions.

    Example:
        >>> import tapejax as tf
        >>> tf.transpose([[1, 2, 3], [4, 5, 6]]).numpy().tolist()
        [[1, 4], [2, 5], [3, 6]]
    """
    places = None if perm is None else _permutation(perm, a.ndim)
    moved = jnp.transpose(a, places)
    return jnp.conj(moved) if conjugate and jnp.iscomplexobj(moved) else moved


@op("reverse", node="ReverseV2", cases=("f32[2,3], [1]", "i32[2,3], [0, -1]", "f64[2], []"))
def reverse(tensor: TensorLike, axis: StaticInts, name: str | None = None) -> Array:
    """Reverse the order of the elements along some axes.

    Args:
        tensor: A tensor of any dtype and shape.
        axis: A list of axes.
        name: Ignored.

    Returns:
        A tensor of the same dtype and shape.

    Raises:
        InvalidArgumentError: If an axis is out of range or named twice.

    Example:
        >>> import tapejax as tf
        >>> tf.reverse([1, 2, 3], [0]).numpy().tolist()
        [3, 2, 1]
    """
    if isinstance(axis, int):
        raise InvalidArgumentError("'dims' must be 1-dimension, not 0: write axis=[...]")
    places: list[int] = []
    for number, index in enumerate(axis):
        place = normal_axis(
            index,
            tensor.ndim,
            f"'axis'[{number}] = {index} is out of valid range [0, {tensor.ndim - 1}]",
        )
        if place in places:
            raise InvalidArgumentError(f"axis {place} specified more than once.")
        places.append(place)
    return jax.lax.rev(tensor, places)


@op(
    "roll",
    node="Roll",
    cases=("f32[2,3], 1, 0", "i32[2,3], [1, -2], [0, 1]", "f32[4], shift=-5, axis=-1"),
)
def roll(input: TensorLike, shift: Index, axis: StaticInts, name: str | None = None) -> Array:
    """Shift the elements along axes; those that leave at the end come back at the start.

    Args:
        input: A tensor of any dtype, rank >= 1.
        shift: By how many places: an integer, or one for each entry of `axis`.
        axis: An axis or a list of axes; one that is named twice is shifted twice.
        name: Ignored.

    Returns:
        A tensor of the same dtype and shape.

    Raises:
        InvalidArgumentError: If an axis is out of range or there is not one shift for each axis.

    Example:
        >>> import tapejax as tf
        >>> tf.roll([1, 2, 3], 1, 0).numpy().tolist()
        [3, 1, 2]
    """
    if not input.ndim:
        raise InvalidArgumentError("input must be 1-D or higher")
    axes = (axis,) if isinstance(axis, int) else axis
    if shift.ndim > 1 or shift.size != len(axes):
        raise InvalidArgumentError(
            f"shift and axis must have the same size, got shift of shape "
            f"{brackets(shift.shape)} and {len(axes)} axes"
        )
    places = [normal_axis(a, input.ndim, f"axis {a} is out of range") for a in axes]
    shifts = jnp.reshape(shift, (-1,))
    for number, place in enumerate(places):
        input = jnp.roll(input, shifts[number], place)
    return input


def _bad_permutation(x: Array) -> tuple[Any, ...]:
    if x.ndim != 1 or not x.size or not jnp.issubdtype(x.dtype, jnp.integer):
        return False, 0, 0, False
    size = x.shape[0]
    outside = (x < 0) | (x >= size)
    seen = jnp.zeros(size, jnp.int32).at[jnp.where(outside, size, x)].add(1, mode="drop")
    twice = seen > 1
    duplicate = jnp.argmax(twice)
    number = jnp.where(jnp.any(outside), x[jnp.argmax(outside)].astype(jnp.int64), duplicate)
    return jnp.any(outside) | jnp.any(twice), number, size, jnp.any(outside)


def _permutation_text(number: float, size: float, outside: float, *_: float) -> str:
    if outside:
        return f"{int(number)} is not between 0 and {int(size)}"
    return f"{int(number)} is duplicated in the input."


@op(
    "math.invert_permutation",
    node="InvertPermutation",
    dtypes="int32 int64",
    gradient="none",
    check=ValueCheck(_bad_permutation, _permutation_text),
    cases=("i32[4] in (0, 4) distinct", "i64[3] in (0, 3) distinct", "i32[0] in (0, 1)"),
)
def invert_permutation(x: Same, name: str | None = None) -> Array:
    """The inverse of a permutation: `y[x[i]] == i`.

    Args:
        x: `[n]` int32 or int64: each of 0 to n - 1 once.
        name: Ignored.

    Returns:
        `[n]`, the same dtype.

    Raises:
        InvalidArgumentError: If `x` is not a permutation.

    Example:
        >>> import tapejax as tf
        >>> tf.math.invert_permutation([2, 0, 1]).numpy().tolist()
        [1, 2, 0]
    """
    if x.ndim != 1:
        raise InvalidArgumentError("invert_permutation expects a 1D vector.")
    numbers = jnp.arange(x.shape[0]).astype(x.dtype)
    return jnp.zeros_like(x).at[x].set(numbers, mode="drop")


def _bad_flat(indices: Array, dims: Any) -> tuple[Any, ...]:
    total = int(np.prod(dims, dtype=np.int64))
    if not indices.size:
        return False, 0, 0
    bad = (indices < 0) | (indices >= total)
    return jnp.any(bad), jnp.ravel(indices)[jnp.argmax(jnp.ravel(bad))], total


def _flat_text(index: float, total: float, *_: float) -> str:
    return f"index is out of bound as with dims: {int(index)} is not in [0, {int(total)})"


@op(
    "unravel_index",
    node="UnravelIndex",
    gradient="none",
    check=ValueCheck(_bad_flat, _flat_text),
    cases=("i32[3] in (0, 6), [2, 3]", "i64[] in (0, 6), [3, 2]"),
)
def unravel_index(indices: Index, dims: StaticInts, name: str | None = None) -> Array:
    """The coordinates of elements given by their numbers in row-major order.

    Args:
        indices: int32 or int64, a scalar or `[n]`, in `[0, prod(dims))`.
        dims: The shape of the tensor that was numbered.
        name: Ignored.

    Returns:
        `[len(dims)]` or `[len(dims), n]`, the dtype of `indices`.

    Raises:
        InvalidArgumentError: If a number is out of range or `indices` has a higher rank.

    Example:
        >>> import tapejax as tf
        >>> tf.unravel_index([5], [2, 3]).numpy().tolist()
        [[1], [2]]
    """
    if indices.ndim > 1:
        raise InvalidArgumentError(
            f'The indices can only be scalar or vector, got "{brackets(indices.shape)}"'
        )
    sizes = as_vector(dims, "dims must be a vector, got shape {shape}")
    rows: list[Array] = []
    for size in reversed(sizes):
        rows.append(indices % size)
        indices = indices // size
    return jnp.stack(rows[::-1]).astype(indices.dtype)
