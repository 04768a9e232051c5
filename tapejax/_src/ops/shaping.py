"""Ops that change the shape of a tensor or the order or number of its elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.shapes import TensorShape
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import (
    Array,
    SameList,
    StaticInts,
    TensorLike,
    op,
    public,
)
from tapejax._src.ops.shape_checks import (
    as_vector,
    brackets,
    normal_axis,
    zero_of,
)


@op("identity", node="Identity", cases=("f32[2,3]", "i64[]", "bool[0,2]", "c64[2]"))
def identity(input: TensorLike, name: str | None = None) -> Array:
    """The same values as a new tensor."""
    return jnp.array(input, copy=True)


@public("identity_n")
def identity_n(input: Sequence[Any], name: str | None = None) -> list[Any]:
    """The same values as a list of new tensors.

    Args:
        input: A list of tensors of any dtypes and shapes.
        name: Ignored.

    Returns:
        A list with one tensor for each input.

    Example:
        >>> import tapejax as tf
        >>> [t.numpy().item() for t in tf.identity_n([1, 2.5])]
        [1, 2.5]

    *Differs from TensorFlow*: an output does not depend on the inputs of its neighbours, so their
    gradient is None, where TensorFlow gives zeros.
    """
    return [identity(value) for value in input]


def _resolve_shape(size: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The requested shape with its -1 replaced."""
    unknown = [place for place, length in enumerate(shape) if length == -1]
    if len(unknown) > 1:
        raise InvalidArgumentError(
            f"Only one input size may be -1, not both {unknown[0]} and {unknown[1]}"
        )
    for place, length in enumerate(shape):
        if length < -1:
            raise InvalidArgumentError(f"Size {place} must be non-negative, not {length}")
    known = math.prod(length for length in shape if length != -1)
    if not unknown:
        if known != size:
            raise InvalidArgumentError(
                f"Input to reshape is a tensor with {size} values, "
                f"but the requested shape has {known}"
            )
        return shape
    if known == 0 and size == 0:
        missing = 1  # any size would do
    elif known == 0 or size % known:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {size} values, "
            f"but the requested shape requires a multiple of {known}"
        )
    else:
        missing = size // known
    return tuple(missing if length == -1 else length for length in shape)


@op(
    "reshape",
    node="Reshape",
    cases=(
        "f32[2,3], [3, 2]",
        "f32[2,3], [-1]",
        "i32[4], [2, -1, 1]",
        "f64[1], []",
        "f32[0,3], [3, -1]",
        "c64[2,2], (4,)",
    ),
)
def reshape(tensor: TensorLike, shape: StaticInts, name: str | None = None) -> Array:
    """The same elements, in the same row-major order, in another shape.

    Args:
        tensor: A tensor of any dtype and shape.
        shape: The new shape; at most one entry may be -1, which takes what is left.
        name: Ignored.

    Returns:
        A tensor of the same dtype and of shape `shape`.

    Raises:
        InvalidArgumentError: If the number of elements differs.

    Example:
        >>> import tapejax as tf
        >>> tf.reshape(tf.range(6), [2, -1]).numpy().tolist()
        [[0, 1, 2], [3, 4, 5]]
    """
    sizes = as_vector(shape, "sizes input must be 1-D, not {shape}")
    return jnp.reshape(tensor, _resolve_shape(tensor.size, sizes))


@op(
    "squeeze",
    node="Squeeze",
    cases=("f32[1,2,1]", "f32[1,2,1], axis=[0]", "i32[1,2,1], axis=-1", "f32[]", "c64[1,1]"),
)
def squeeze(input: TensorLike, axis: StaticInts = None, name: str | None = None) -> Array:
    """Remove dimensions of size 1.

    Args:
        input: A tensor of any dtype and shape.
        axis: An int or a list of ints: the dimensions to remove. Default: all of size 1.
        name: Ignored.

    Returns:
        A tensor of the same dtype and elements.

    Raises:
        InvalidArgumentError: If a named dimension does not exist or is not of size 1.

    Example:
        >>> import tapejax as tf
        >>> tf.squeeze(tf.zeros([1, 2, 1])).shape
        TensorShape([2])
    """
    if axis is None or axis == ():
        return jnp.squeeze(input)
    axes: list[int] = []
    for index in (axis,) if isinstance(axis, int) else axis:
        place = normal_axis(
            index,
            input.ndim,
            f"Tried to squeeze dim index {index} for tensor with {input.ndim} dimensions.",
        )
        if input.shape[place] != 1:
            raise InvalidArgumentError(
                f"Can not squeeze dim[{place}], expected a dimension of 1, got {input.shape[place]}"
            )
        axes.append(place)
    return jnp.squeeze(input, tuple(set(axes)))


@op(
    "expand_dims",
    node="ExpandDims",
    cases=("f32[2,3], 0", "f32[2,3], -1", "i32[], 0", "f64[0], axis=1"),
)
def expand_dims(input: TensorLike, axis: StaticInts, name: str | None = None) -> Array:
    """Insert a dimension of size 1.

    Args:
        input: A tensor of any dtype and shape.
        axis: Where the new dimension goes, in `[-rank - 1, rank]`.
        name: Ignored.

    Returns:
        A tensor of the same dtype with rank one higher.

    Raises:
        InvalidArgumentError: If `axis` is out of range.

    Example:
        >>> import tapejax as tf
        >>> tf.expand_dims(tf.zeros([2, 3]), 1).shape
        TensorShape([2, 1, 3])
    """
    (place,) = (axis,) if isinstance(axis, int) else axis
    normal_axis(
        place,
        input.ndim + 1,
        f"Tried to expand dim index {place} for tensor with {input.ndim} dimensions.",
    )
    return jnp.expand_dims(input, place)


@op(
    "broadcast_to",
    node="BroadcastTo",
    cases=("f32[3], [2, 3]", "f32[2,1], (2, 4)", "i32[], [2]", "c64[1], [0]", "f64[3], [3]"),
)
def broadcast_to(input: TensorLike, shape: StaticInts, name: str | None = None) -> Array:
    """Repeat a tensor along dimensions of size 1 and along new leading dimensions.

    Args:
        input: A tensor of any dtype.
        shape: The shape of the result.
        name: Ignored.

    Returns:
        A tensor of the same dtype and of shape `shape`.

    Raises:
        InvalidArgumentError: If the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.broadcast_to([1, 2], [2, 2]).numpy().tolist()
        [[1, 2], [1, 2]]
    """
    sizes = as_vector(shape, "shape must be a vector, got shape {shape}", scalar=True)
    for length in sizes:
        if length < 0:
            raise InvalidArgumentError(f"Dimension {length} must be >= 0")
    if input.ndim > len(sizes):
        raise InvalidArgumentError(
            f"Rank of input ({input.ndim}) must be no greater than rank of output shape "
            f"({len(sizes)})."
        )
    tail = sizes[len(sizes) - input.ndim :]
    if any(old not in (1, new) for old, new in zip(input.shape, tail, strict=True)):
        raise InvalidArgumentError(
            f"Incompatible shapes: {brackets(input.shape)} vs. {brackets(sizes)}"
        )
    return jnp.broadcast_to(input, sizes)


@op("tile", node="Tile", cases=("f32[2,3], [2, 1]", "i32[2], [3]", "f64[], []", "c64[2], [0]"))
def tile(input: TensorLike, multiples: StaticInts, name: str | None = None) -> Array:
    """Repeat the whole tensor along each dimension.

    Args:
        input: A tensor of any dtype and shape.
        multiples: One number for each dimension of `input`.
        name: Ignored.

    Returns:
        A tensor of the same dtype whose dimension `i` is `multiples[i]` times as long.

    Raises:
        InvalidArgumentError: If there is not one number >= 0 for each dimension.

    Example:
        >>> import tapejax as tf
        >>> tf.tile([1, 2], [2]).numpy().tolist()
        [1, 2, 1, 2]
    """
    counts = as_vector(multiples, "Expected multiples to be 1-D, but got shape {shape}")
    if len(counts) != input.ndim:
        raise InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {input.ndim} "
            f"but got length {len(counts)}"
        )
    for place, count in enumerate(counts):
        if count < 0:
            raise InvalidArgumentError(f"Expected multiples[{place}] >= 0, but got {count}")
    return jnp.tile(input, counts)


@op(
    "repeat",
    node="Repeat",
    cases=(
        "f32[2,3], 2",
        "f32[2,3], [1, 2], axis=0",
        "i32[2,3], [1, 0, 2], axis=-1",
        "f64[], 3",
        "f32[2,2], 0, axis=1",
    ),
)
def repeat(
    input: TensorLike, repeats: StaticInts, axis: StaticInts = None, name: str | None = None
) -> Array:
    """Repeat each element along an axis.

    Args:
        input: A tensor of any dtype and shape.
        repeats: One number for all elements, or one for each element along the axis.
        axis: The axis. Default: `input` is flattened first.
        name: Ignored.

    Returns:
        A tensor of the same dtype.

    Raises:
        ValueError: If `repeats` has the wrong length or `axis` is out of range.

    Example:
        >>> import tapejax as tf
        >>> tf.repeat([1, 2], [2, 1]).numpy().tolist()
        [1, 1, 2]
    """
    values = jnp.reshape(input, (-1,)) if axis is None or input.ndim == 0 else input
    place = 0 if axis is None or input.ndim == 0 else axis
    if not -values.ndim <= place < values.ndim:
        raise ValueError(f"axis={place} out of bounds: expected {-values.ndim}<=axis<{values.ndim}")
    counts = np.asarray(repeats, np.int64)
    if counts.ndim > 1:
        raise ValueError(f"Shape {counts.shape} must have rank at most 1")
    length = values.shape[place]
    if counts.size != 1 and counts.size != length:
        raise ValueError(f"Dimensions {length} and {counts.size} are not compatible")
    if (counts < 0).any():
        raise InvalidArgumentError(
            f"Expected multiples[{place + 1}] >= 0, but got {int(counts.min())}"
        )
    counts = np.broadcast_to(counts.reshape(-1), (length,))
    repeated = jnp.repeat(values, counts, place, total_repeat_length=int(counts.sum()))
    return repeated if repeated.size else jnp.broadcast_to(zero_of(input), repeated.shape)


@public("ensure_shape")
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor itself, after a check that its shape is compatible with `shape`.

    Args:
        x: A tensor of any dtype.
        shape: A shape whose entries may be None (any size), or None (any shape).
        name: Ignored.

    Returns:
        A tensor equal to `x`.

    Raises:
        InvalidArgumentError: If the shape is not compatible.

    Example:
        >>> import tapejax as tf
        >>> tf.ensure_shape([1.0, 2.0], [None]).shape
        TensorShape([2])
    """
    value = identity(x)
    expected = TensorShape(shape)
    if not expected.is_compatible_with(value.shape):
        sizes = ",".join("?" if n is None else str(n) for n in expected.as_list())
        raise InvalidArgumentError(
            f"Shape of tensor input {brackets(value.shape)} is not compatible with expected "
            f"shape [{sizes}]."
        )
    return value


@op("_meshgrid", node="Mul", cases=("[f32[2], f32[3]], 'xy'", "[i32[2], i32[3], i32[1]], 'ij'"))
def _meshgrid(values: SameList, indexing: str) -> list[Array]:
    """One grid for each of the values."""
    flat = [jnp.reshape(value, (-1,)) for value in values]
    return list(jnp.meshgrid(*flat, indexing=indexing))


@public("meshgrid")
def meshgrid(*args: Any, **kwargs: Any) -> list[Any]:
    """The coordinates of the points of a grid, from the coordinates along each axis.

    Args:
        *args: `n` tensors of one dtype, flattened first; tensor `i` has `[m_i]` elements.
        **kwargs: `indexing`: `'xy'` (default; the first two dimensions of the results are
            swapped) or `'ij'`; `name` is ignored.

    Returns:
        A list of `n` tensors of shape `[m_1, m_0, m_2, ...]` (`'xy'`) or `[m_0, m_1, ...]`.

    Raises:
        ValueError: If `indexing` is neither.
        TypeError: If there is another keyword.

    Example:
        >>> import tapejax as tf
        >>> x, y = tf.meshgrid([1, 2], [3, 4])
        >>> x.numpy().tolist(), y.numpy().tolist()
        ([[1, 2], [1, 2]], [[3, 3], [4, 4]])
    """
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'"
        )
    return _meshgrid([as_tensor(value) for value in args], indexing) if args else []
