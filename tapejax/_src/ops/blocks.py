"""Ops that move blocks between depth, batch and space, and ops on padded sequences."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import bool_
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor, known_value
from tapejax._src.engine.registry import (
    Array,
    DTypeLike,
    Index,
    StaticInts,
    TensorLike,
    ValueCheck,
    op,
    public,
)
from tapejax._src.ops.shape_checks import as_vector, brackets, check_attr_dtype


def _channels_last(x: Array, block_size: int, data_format: str) -> Array:
    if data_format not in ("NHWC", "NCHW"):
        raise InvalidArgumentError(
            f"Value for attr 'data_format' of \"{data_format}\" is not in the list of allowed "
            'values: "NHWC", "NCHW"'
        )
    if x.ndim != 4:
        raise InvalidArgumentError(f"Input rank should be 4 instead of {x.ndim}")
    if block_size < 2:
        raise InvalidArgumentError(
            f"Value for attr 'block_size' of {block_size} must be at least minimum 2"
        )
    return jnp.moveaxis(x, 1, -1) if data_format == "NCHW" else x


def _restore(x: Array, data_format: str) -> Array:
    return jnp.moveaxis(x, -1, 1) if data_format == "NCHW" else x


@op(
    "nn.space_to_depth",
    node="SpaceToDepth",
    cases=("f32[1,4,2,3], 2", "i32[2,2,2,1], block_size=2", "c64[1,3,3,1], 3"),
)
def space_to_depth(
    input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Array:
    """Move square blocks of pixels into the channels.

    Args:
        input: `[batch, height, width, depth]`, or `[batch, depth, height, width]` for `'NCHW'`.
        block_size: The side of a block, >= 2.
        data_format: `'NHWC'` or `'NCHW'`.
        name: Ignored.

    Returns:
        `[batch, height / block_size, width / block_size, depth * block_size**2]`, in the layout of
        the input.

    Raises:
        InvalidArgumentError: If height or width is not divisible by `block_size`.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.space_to_depth(tf.reshape(tf.range(4), [1, 2, 2, 1]), 2).numpy().tolist()
        [[[[0, 1, 2, 3]]]]

    *Differs from TensorFlow*: `'NCHW'` works on every device.
    """
    x = _channels_last(input, block_size, data_format)
    batch, height, width, depth = x.shape
    if height % block_size or width % block_size:
        raise InvalidArgumentError(
            f"Image width {width} and height {height} should be divisible by block_size: "
            f"{block_size}"
        )
    rows, columns = height // block_size, width // block_size
    x = jnp.reshape(x, (batch, rows, block_size, columns, block_size, depth))
    x = jnp.transpose(x, (0, 1, 3, 2, 4, 5))
    return _restore(jnp.reshape(x, (batch, rows, columns, -1)), data_format)


@op(
    "nn.depth_to_space",
    node="DepthToSpace",
    cases=("f32[1,2,1,8], 2", "i32[2,1,1,4], block_size=2", "f64[1,1,2,9], 3"),
)
def depth_to_space(
    input: TensorLike, block_size: int, data_format: str = "NHWC", name: str | None = None
) -> Array:
    """Move channels into square blocks of pixels: the inverse of `space_to_depth`.

    Args:
        input: `[batch, height, width, depth]`, or `[batch, depth, height, width]` for `'NCHW'`.
        block_size: The side of a block, >= 2.
        data_format: `'NHWC'` or `'NCHW'`.
        name: Ignored.

    Returns:
        `[batch, height * block_size, width * block_size, depth / block_size**2]`, in the layout of
        the input.

    Raises:
        InvalidArgumentError: If the depth is not divisible by `block_size**2`.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.depth_to_space([[[[1, 2, 3, 4]]]], 2).numpy().reshape(2, 2).tolist()
        [[1, 2], [3, 4]]

    *Differs from TensorFlow*: `'NCHW'` works on every device.
    """
    x = _channels_last(input, block_size, data_format)
    batch, rows, columns, depth = x.shape
    if depth % block_size**2:
        raise InvalidArgumentError(
            f"Input depth dimension {depth} should be divisible by: {block_size**2}"
        )
    channels = depth // block_size**2
    x = jnp.reshape(x, (batch, rows, columns, block_size, block_size, channels))
    x = jnp.transpose(x, (0, 1, 3, 2, 4, 5))
    x = jnp.reshape(x, (batch, rows * block_size, columns * block_size, channels))
    return _restore(x, data_format)


def _checked_blocks(block_shape: Any, rank: int) -> tuple[int, ...]:
    blocks = as_vector(block_shape, "block_shape must be 1-D, got shape {shape}")
    if rank < len(blocks) + 1:
        raise InvalidArgumentError(f"input rank should be >= {len(blocks) + 1} instead of {rank}")
    for place, block in enumerate(blocks):
        if block < 1:
            raise InvalidArgumentError(
                f"All values in block_shape must be positive, got value, {block} at index {place}."
            )
    return blocks


def _checked_pairs(pairs: Any, count: int, what: str) -> list[tuple[int, int]]:
    array = np.asarray(pairs)
    if array.shape != (count, 2) or (array < 0).any():
        raise InvalidArgumentError(
            f"{what} should be non-negative with shape [{count},2], got {pairs!r}"
        )
    return [(int(before), int(after)) for before, after in array]


def _space_to_batch(x: Array, block_shape: Any, paddings: Any) -> Array:
    blocks = _checked_blocks(block_shape, x.ndim)
    pairs = _checked_pairs(paddings, len(blocks), "paddings")
    rest = x.shape[1 + len(blocks) :]
    x = jnp.pad(x, [(0, 0), *pairs, *[(0, 0)] * len(rest)])
    split: list[int] = [x.shape[0]]
    for place, block in enumerate(blocks):
        size = x.shape[1 + place]
        if size % block:
            raise InvalidArgumentError(
                f"padded_shape[{place}]={size} is not divisible by block_shape[{place}]={block}"
            )
        split += [size // block, block]
    spatial = range(len(blocks))
    order = [2 + 2 * i for i in spatial] + [0] + [1 + 2 * i for i in spatial]
    order += range(len(split), len(split) + len(rest))
    moved = jnp.transpose(jnp.reshape(x, (*split, *rest)), order)
    sizes = tuple(split[1 + 2 * i] for i in spatial)
    return jnp.reshape(moved, (x.shape[0] * math.prod(blocks), *sizes, *rest))


_SPACE_TO_BATCH_CASES = (
    "f32[1,4,2,1], [2, 2], [[0, 0], [0, 0]]",
    "i32[2,3,2], [2], [[1, 0]]",
    "f64[1,3,3,2], [2, 2], [[1, 0], [0, 1]]",
)


@op("space_to_batch", "nn.space_to_batch", node="SpaceToBatchND", cases=_SPACE_TO_BATCH_CASES)
def space_to_batch(
    input: TensorLike, block_shape: StaticInts, paddings: StaticInts, name: str | None = None
) -> Array:
    """Pad the spatial dimensions with zeros and move their blocks into the batch.

    Args:
        input: `[batch, ...spatial, ...rest]`, any dtype.
        block_shape: `[n]` integers: the size of a block in each of the `n` spatial dimensions.
        paddings: `[n, 2]` integers.
        name: Ignored.

    Returns:
        `[batch * prod(block_shape), ...padded spatial / block_shape, ...rest]`.

    Raises:
        InvalidArgumentError: If a padded dimension is not divisible by its block.

    Example:
        >>> import tapejax as tf
        >>> tf.space_to_batch(tf.ones([1, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]]).shape
        TensorShape([4, 1, 1, 1])
    """
    return _space_to_batch(input, block_shape, paddings)


@op("space_to_batch_nd", node="SpaceToBatchND", cases=_SPACE_TO_BATCH_CASES)
def space_to_batch_nd(
    input: TensorLike, block_shape: StaticInts, paddings: StaticInts, name: str | None = None
) -> Array:
    """The same as `tf.space_to_batch`."""
    return _space_to_batch(input, block_shape, paddings)


@op(
    "batch_to_space",
    node="BatchToSpaceND",
    cases=(
        "f32[4,1,2,1], [2, 2], [[0, 0], [0, 1]]",
        "i32[4,2,2], [2], [[1, 0]]",
        "f64[4,2,2,3], [2, 2], [[0, 0], [0, 0]]",
    ),
)
def batch_to_space(
    input: TensorLike, block_shape: StaticInts, crops: StaticInts, name: str | None = None
) -> Array:
    """Move blocks from the batch into the spatial dimensions: the inverse of `space_to_batch`.

    Args:
        input: `[batch, ...spatial, ...rest]`, any dtype.
        block_shape: `[n]` integers: the size of a block in each of the `n` spatial dimensions.
        crops: `[n, 2]` integers: what is cut off at both ends of each spatial dimension.
        name: Ignored.

    Returns:
        `[batch / prod(block_shape), ...spatial * block_shape - crops, ...rest]`.

    Raises:
        InvalidArgumentError: If the batch is not divisible or more is cut off than there is.

    Example:
        >>> import tapejax as tf
        >>> tf.batch_to_space(tf.ones([4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]]).shape
        TensorShape([1, 2, 2, 1])
    """
    blocks = _checked_blocks(block_shape, input.ndim)
    pairs = _checked_pairs(crops, len(blocks), "crops")
    count, total = len(blocks), math.prod(blocks)
    batch, spatial = input.shape[0], input.shape[1 : 1 + count]
    if batch % total:
        raise InvalidArgumentError(
            f"Input batch dimension ({batch}) is not divisible by product of block sizes ({total})"
        )
    rest = input.shape[1 + count :]
    x = jnp.reshape(input, (*blocks, batch // total, *spatial, *rest))
    order = [count]
    for place in range(count):
        order += [count + 1 + place, place]
    order += range(2 * count + 1, x.ndim)
    grown = tuple(size * block for size, block in zip(spatial, blocks, strict=True))
    x = jnp.reshape(jnp.transpose(x, order), (batch // total, *grown, *rest))
    for place, (before, after) in enumerate(pairs):
        kept = grown[place] - before - after
        if kept < 0:
            raise InvalidArgumentError(f"cropped_shape[{place}]={kept} must be non-negative")
        x = jax.lax.slice_in_dim(x, before, before + kept, axis=1 + place)
    return x


def _sequence_axes(input: Array, seq_axis: int | None, batch_axis: int | None) -> tuple[int, int]:
    if seq_axis is None:
        raise TypeError("Expected int for argument 'seq_dim' not None: give seq_axis=")
    batch = 0 if batch_axis is None else batch_axis
    rank = input.ndim
    for name, axis in (("seq_dim", seq_axis), ("batch_dim", batch)):
        if axis < 0:
            raise InvalidArgumentError(f"Invalid {name} {axis}: it must not be negative")
        if axis >= rank:
            raise InvalidArgumentError(f"{name} must be < input rank ( {axis} vs. {rank})")
    if seq_axis == batch:
        raise InvalidArgumentError(f"batch_dim == seq_dim == {batch}")
    return seq_axis, batch


def _bad_lengths(
    input: Array,
    seq_lengths: Array,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> tuple[Any, ...]:
    axis, _ = _sequence_axes(input, seq_axis, batch_axis)
    bad = (seq_lengths < 0) | (seq_lengths > input.shape[axis])
    if not seq_lengths.size:
        return jnp.asarray(False), 0, 0, axis
    first = jnp.argmax(bad)
    return bad.any(), first, seq_lengths[first], axis


def _bad_length_text(place: float, length: float, axis: float, *_: float) -> str:
    if length < 0:
        return f"seq_lens({int(place)}) < 0"
    return f"seq_lens({int(place)}) > input.dims({int(axis)})"


@op(
    "reverse_sequence",
    node="ReverseSequence",
    check=ValueCheck(_bad_lengths, _bad_length_text),
    cases=(
        "f32[2,3], i32[2] in (0, 4), 1",
        "i32[3,2,2], i64[2] in (0, 4), seq_axis=0, batch_axis=1",
        "f64[2,3,2], i32[2] in (0, 3), seq_axis=2, batch_axis=0",
    ),
)
def reverse_sequence(
    input: TensorLike,
    seq_lengths: Index,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Array:
    """Reverse the first `seq_lengths[i]` elements of sequence `i`; the rest stays in place.

    Args:
        input: A tensor of any dtype, rank >= 2.
        seq_lengths: `[batch]` int32 or int64: the length of each sequence.
        seq_axis: The axis along which the elements of a sequence lie.
        batch_axis: The axis that counts the sequences. Default: 0.
        name: Ignored.

    Returns:
        A tensor of the same dtype and shape.

    Raises:
        InvalidArgumentError: If a length is negative or longer than the axis, or there is not one
            length for each sequence.

    Example:
        >>> import tapejax as tf
        >>> tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).numpy().tolist()
        [[2, 1, 3], [6, 5, 4]]
    """
    check_attr_dtype(seq_lengths, "Tlen", ("int32", "int64"))
    axis, batch = _sequence_axes(input, seq_axis, batch_axis)
    if seq_lengths.shape != (input.shape[batch],):
        raise InvalidArgumentError(
            f"Length of seq_lengths != input.dims({batch}), "
            f"({brackets(seq_lengths.shape)} vs. {input.shape[batch]})"
        )
    lengths = jnp.expand_dims(seq_lengths, [d for d in range(input.ndim) if d != batch])
    place = jax.lax.broadcasted_iota(seq_lengths.dtype, (input.shape[axis],), 0)
    place = jnp.expand_dims(place, [d for d in range(input.ndim) if d != axis])
    source = jnp.where(place < lengths, lengths - 1 - place, place)
    source = jnp.broadcast_to(source, input.shape)
    return jnp.take_along_axis(input, source, axis, mode="clip")


@op(
    "_sequence_mask",
    node="Cast",
    gradient="none",
    cases=("i32[3] in (0, 5), 4, tf.bool", "i64[2,2] in (0, 5), 3, tf.float32"),
)
def _sequence_mask(lengths: TensorLike, maxlen: StaticInts, dtype: DTypeLike) -> Array:
    """Whether each position lies before the end of its sequence."""
    place = jnp.arange(maxlen).astype(lengths.dtype)
    return (place < lengths[..., None]).astype(dtype)


@public("sequence_mask")
def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: DTypeLike = bool_, name: str | None = None
) -> Any:
    """A mask of the positions before the end of each sequence.

    Args:
        lengths: A tensor of integers of any shape `[...]`.
        maxlen: The number of positions. Default: the largest length (its value is read).
        dtype: The dtype of the mask.
        name: Ignored.

    Returns:
        A tensor of shape `[..., maxlen]`: 1 or True where the position is < the length.

    Raises:
        ValueError: If `maxlen` is not a scalar.
        InvalidArgumentError: If it is negative.

    Example:
        >>> import tapejax as tf
        >>> tf.sequence_mask([1, 3]).numpy().tolist()
        [[True, False, False], [True, True, True]]
    """
    if maxlen is None:
        values = known_value(as_tensor(lengths))
        maxlen = max(int(values.max()), 0) if values.size else 0
    if np.ndim(maxlen):
        raise ValueError(
            "Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = "
            f"{maxlen} with shape '{np.shape(maxlen)}' instead"
        )
    if int(maxlen) < 0:
        raise InvalidArgumentError(
            f"Requires start <= limit when delta > 0: 0/{int(maxlen)}: maxlen must not be negative"
        )
    return _sequence_mask(lengths, int(maxlen), dtype)
