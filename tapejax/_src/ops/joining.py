"""Ops that put tensors together, take them apart, and pad them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, SameList, StaticInts, TensorLike, op, public
from tapejax._src.ops.shape_checks import brackets, normal_axis


def _check_concat(values: tuple[Array, ...], axis: int) -> int:
    """The axis without its sign, after the shapes were compared."""
    first = values[0].shape
    if not first:
        raise InvalidArgumentError("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
    rank = len(first)
    place = normal_axis(
        axis,
        rank,
        f"ConcatOp : Expected concatenating dimensions in the range [-{rank}, {rank}), "
        f"but got {axis}",
    )
    for number, value in enumerate(values):
        shapes = f"shape[0] = {brackets(first)} vs. shape[{number}] = {brackets(value.shape)}"
        if value.ndim != rank:
            raise InvalidArgumentError(
                f"ConcatOp : Ranks of all input tensors should match: {shapes}"
            )
        for dim in range(rank):
            if dim != place and value.shape[dim] != first[dim]:
                raise InvalidArgumentError(
                    f"ConcatOp : Dimension {dim} in both shapes must be equal: {shapes}"
                )
    return place


@op(
    "_concat",
    node="ConcatV2",
    cases=(
        "[f32[2,3], f32[1,3]], 0",
        "[i32[2,1], i32[2,3], i32[2,0]], axis=-1",
        "[c64[2], c64[2]], 0",
        "[f64[2,2]], 0",
    ),
)
def _concat(values: SameList, axis: StaticInts) -> Array:
    """The tensors joined along an axis."""
    if not values:
        raise InvalidArgumentError("ConcatOp : concat needs at least one tensor, got an empty list")
    if len(values) == 1:
        return jnp.array(values[0], copy=True)
    place = axis if isinstance(axis, int) else axis[0]
    return jnp.concatenate(values, _check_concat(values, place))


@public("concat")
def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Join tensors along an existing axis.

    Args:
        values: A list of tensors of one dtype whose shapes agree except along `axis`; a single
            tensor is returned as it is.
        axis: The axis.
        name: Ignored.

    Returns:
        A tensor of the same dtype; along `axis` it is as long as all inputs together.

    Raises:
        InvalidArgumentError: If the shapes do not fit or `axis` is out of range.

    Example:
        >>> import tapejax as tf
        >>> tf.concat([[1, 2], [3]], 0).numpy().tolist()
        [1, 2, 3]
    """
    return _concat(values if isinstance(values, (list, tuple)) else [values], axis)


def _stack_axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
    return axis % rank


@op(
    "stack",
    node="Pack",
    cases=("[f32[2], f32[2]]", "[i32[2,3], i32[2,3]], axis=-1", "[f64[], f64[], f64[]]"),
)
def stack(values: SameList, axis: StaticInts = 0, name: str = "stack") -> Array:
    """Join tensors of one shape along a new axis.

    Args:
        values: A list of tensors of one dtype and shape.
        axis: Where the new axis goes, in `[-rank - 1, rank]`.
        name: Ignored.

    Returns:
        A tensor of the same dtype with rank one higher; the new axis has `len(values)` entries.

    Raises:
        ValueError: If `axis` is out of range.
        InvalidArgumentError: If the shapes differ.

    Example:
        >>> import tapejax as tf
        >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy().tolist()
        [[1, 3], [2, 4]]
    """
    if not values:
        return jnp.zeros((0,), jnp.float32)
    first = values[0].shape
    for number, value in enumerate(values):
        if value.shape != first:
            raise InvalidArgumentError(
                f"Shapes of all inputs must match: values[0].shape = {brackets(first)} != "
                f"values[{number}].shape = {brackets(value.shape)}"
            )
    return jnp.stack(values, _stack_axis(axis, len(first) + 1))


@op(
    "unstack",
    node="Unpack",
    cases=("f32[2,3]", "i32[2,3], axis=-1", "f64[3], num=3", "f32[0,2]"),
)
def unstack(
    value: TensorLike, num: int | None = None, axis: StaticInts = 0, name: str = "unstack"
) -> list[Array]:
    """Take a tensor apart along an axis.

    Args:
        value: A tensor of any dtype, rank >= 1.
        num: The length of the axis, if it is to be checked.
        axis: The axis.
        name: Ignored.

    Returns:
        A list of tensors of rank one lower.

    Raises:
        ValueError: If `axis` is out of range.
        InvalidArgumentError: If `num` is not the length of the axis.

    Example:
        >>> import tapejax as tf
        >>> [row.numpy().tolist() for row in tf.unstack([[1, 2], [3, 4]])]
        [[1, 2], [3, 4]]
    """
    place = _stack_axis(axis, value.ndim)
    if num is not None and num != value.shape[place]:
        raise InvalidArgumentError(
            f"Input shape axis {place} must equal {num}, got shape {brackets(value.shape)}"
        )
    parts = [jax.lax.slice_in_dim(value, i, i + 1, axis=place) for i in range(value.shape[place])]
    return [jnp.squeeze(part, place) for part in parts]


def _even_sizes(length: int, count: int, axis: int) -> list[int]:
    if count < 1:
        raise InvalidArgumentError(
            f"Value for attr 'num_split' of {count} must be at least minimum 1"
        )
    if length % count:
        raise InvalidArgumentError(
            "Number of ways to split should evenly divide the split dimension, "
            f"but got split_dim {axis} (size = {length}) and num_split {count}"
        )
    return [length // count] * count


def _given_sizes(length: int, sizes: tuple[Any, ...], num: int | None) -> list[int]:
    if any(not isinstance(size, int) for size in sizes) or num not in (None, len(sizes)):
        raise InvalidArgumentError(
            "size of the split_tensor must be 1-D and have the same elements as outputs, got "
            f"{sizes!r}" + ("" if num is None else f" for {num} outputs")
        )
    if sizes.count(-1) > 1:
        raise InvalidArgumentError("There can only be one -1 in the input.")
    known = sum(size for size in sizes if size != -1)
    if len(sizes) == 1 and sizes[0] not in (-1, length):
        raise InvalidArgumentError(
            "If there is only one output, it must have the same size as the input. "
            f"Input size: {length} output size: {sizes[0]}"
        )
    if min(sizes) < -1 or known > length or (-1 not in sizes and known != length):
        raise InvalidArgumentError(
            "Determined shape must either match input shape along split_dim exactly if fully "
            "specified, or be less than the size of the input along split_dim if not fully "
            f"specified.  Got: {known}"
        )
    return [length - known if size == -1 else size for size in sizes]


@op(
    "split",
    node="Split",
    cases=(
        "f32[4,3], 2",
        "i32[6], [1, 2, 3]",
        "f32[2,5], [2, -1], axis=1",
        "c64[2,4], 2, axis=-1",
    ),
)
def split(
    value: TensorLike,
    num_or_size_splits: StaticInts,
    axis: StaticInts = 0,
    num: int | None = None,
    name: str = "split",
) -> list[Array]:
    """Cut a tensor into pieces along an axis.

    Args:
        value: A tensor of any dtype, rank >= 1.
        num_or_size_splits: The number of equal pieces, or the list of their lengths, of which one
            may be -1 (what is left).
        axis: The axis.
        num: The number of pieces, if lengths are given and their number is to be checked.
        name: Ignored.

    Returns:
        A list of tensors of the same dtype and rank.

    Raises:
        InvalidArgumentError: If the axis cannot be cut like this.

    Example:
        >>> import tapejax as tf
        >>> [piece.numpy().tolist() for piece in tf.split([1, 2, 3, 4], [1, -1])]
        [[1], [2, 3, 4]]
    """
    rank = value.ndim
    place = normal_axis(
        axis,
        rank,
        f"-input rank(-{rank}) <= split_dim < input rank ({rank}), but got {axis}",
    )
    length = value.shape[place]
    sizes = (
        _even_sizes(length, num_or_size_splits, place)
        if isinstance(num_or_size_splits, int)
        else _given_sizes(length, num_or_size_splits, num)
    )
    start, pieces = 0, []
    for size in sizes:
        pieces.append(jax.lax.slice_in_dim(value, start, start + size, axis=place))
        start += size
    return pieces


def _pairs(paddings: Any, tensor: Array) -> list[tuple[int, int]]:
    """The checked paddings of each dimension."""
    pairs = list(paddings)
    if any(isinstance(pair, int) or len(pair) != 2 for pair in pairs):
        raise InvalidArgumentError(
            f"paddings must be a matrix with 2 columns, got {paddings!r}: write one "
            "[before, after] for each dimension"
        )
    if len(pairs) != tensor.ndim:
        raise InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs[{len(pairs)},2] "
            f"{brackets(tensor.shape)}"
        )
    for before, after in pairs:
        if before < 0 or after < 0:
            raise InvalidArgumentError(f"Paddings must be non-negative: {before} {after}")
    return pairs


def _check_mirror(pairs: list[tuple[int, int]], shape: tuple[int, ...], offset: int) -> None:
    for (before, after), size in zip(pairs, shape, strict=True):
        if max(before, after) > size - offset:
            rule = "less than" if offset else "no greater than"
            wrong = "not less than" if offset else "greater than"
            raise InvalidArgumentError(
                f"paddings must be {rule} the dimension size: {before}, {after} {wrong} {size}"
            )


@op(
    "_pad",
    node="PadV2",
    no_gradient=("constant_values",),
    cases=(
        "f32[2,3], [[1, 0], [0, 2]], 'CONSTANT'",
        "f32[2], [[1, 2]], 'CONSTANT', 7.0",
        "f32[3], [[2, 1]], 'REFLECT'",
        "i32[2,2], [[0, 1], [1, 0]], 'CONSTANT', 4",
    ),
)
def _pad(
    tensor: Same, paddings: StaticInts, kind: str, constant_values: Same | None = None
) -> Array:
    """The tensor with elements added at both ends of each dimension."""
    pairs = _pairs(paddings, tensor)
    if kind != "CONSTANT":
        _check_mirror(pairs, tensor.shape, 1 if kind == "REFLECT" else 0)
        return jnp.pad(tensor, pairs, "reflect" if kind == "REFLECT" else "symmetric")
    fill = jnp.zeros((), tensor.dtype) if constant_values is None else constant_values
    if fill.ndim:
        raise InvalidArgumentError(
            f"constant_values must be a scalar. Found: {brackets(fill.shape)}"
        )
    return jax.lax.pad(tensor, fill, [(before, after, 0) for before, after in pairs])


@public("pad")
def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Any:
    """Add elements at both ends of each dimension.

    Args:
        tensor: A tensor of any dtype, `rank` dimensions.
        paddings: `[rank, 2]` integers: how many elements go before and after each dimension.
        mode: `'CONSTANT'`, `'REFLECT'` (mirrored, without the edge) or `'SYMMETRIC'` (with it).
        constant_values: The scalar that `'CONSTANT'` puts there; no gradient reaches it.
        name: Ignored.

    Returns:
        A tensor of the same dtype.

    Raises:
        ValueError: If `mode` is another word.
        InvalidArgumentError: If `paddings` does not fit the tensor or the mode.

    Example:
        >>> import tapejax as tf
        >>> tf.pad([1, 2, 3], [[2, 1]], "REFLECT").numpy().tolist()
        [3, 2, 1, 2, 3, 2]
    """
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or '
            f'"SYMMETRIC". Received `mode` = {mode}'
        )
    zero = isinstance(constant_values, int) and constant_values == 0
    return _pad(tensor, paddings, kind, None if zero else constant_values)
