"""Ops that ask for the shape of a tensor, and those that compute with shapes.

Their results are structural constants: they are known when the op is called, and arithmetic on them
is done at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import DType, as_dtype, int32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.shapes import TensorShape
from tapejax._src.engine.composites import CompositeGivenError, answer
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import DTypeLike, public
from tapejax._src.engine.static_values import static_tensor
from tapejax._src.ops.shape_checks import brackets, check_attr_dtype


def static_shape(value: Any) -> tuple[int, ...]:
    """The shape of a tensor, variable, array or nested list."""
    found = getattr(value, "shape", None)
    return tuple(np.shape(value) if found is None else found)


def _of_composite(name: str, fn: Any, args: tuple[Any, ...], error: Exception) -> Any:
    """What the handler of a composite tensor says, or the error."""
    try:
        as_tensor(args[0])
    except CompositeGivenError as found:
        return answer(name, fn, args, {}, found)
    raise error


def _answer(value: Any, out_type: Any) -> Any:
    dtype = int32 if out_type is None else as_dtype(out_type)
    array = np.asarray(value)
    check_attr_dtype(np.empty(0, dtype.as_numpy_dtype), "out_type", ("int32", "int64"))
    return static_tensor(array.astype(dtype.as_numpy_dtype))


@public("shape")
def shape(input: Any, out_type: DTypeLike | None = None, name: str | None = None) -> Any:
    """The shape of a tensor as a vector of integers.

    Args:
        input: A tensor of any dtype and shape.
        out_type: `tf.int32` (default) or `tf.int64`.
        name: Ignored.

    Returns:
        A tensor of shape `[rank]`. It is a structural constant: no gradient flows through it.

    Example:
        >>> import tapejax as tf
        >>> tf.shape([[1, 2, 3]]).numpy().tolist()
        [1, 3]
    """
    try:
        return _answer(np.array(static_shape(input), np.int64), out_type)
    except TypeError as error:  # dimensions that are None: a ragged tensor
        return _of_composite("shape", shape, (input, out_type), error)


@public("shape_n")
def shape_n(
    input: Sequence[Any], out_type: DTypeLike = int32, name: str | None = None
) -> list[Any]:
    """The shapes of several tensors.

    Args:
        input: A list of tensors.
        out_type: `tf.int32` (default) or `tf.int64`.
        name: Ignored.

    Returns:
        A list with one vector of integers for each tensor.

    Example:
        >>> import tapejax as tf
        >>> [s.numpy().tolist() for s in tf.shape_n([[1, 2], [[3]]])]
        [[2], [1, 1]]
    """
    return [shape(value, out_type) for value in input]


@public("size")
def size(input: Any, out_type: DTypeLike | None = None, name: str | None = None) -> Any:
    """The number of elements of a tensor.

    Args:
        input: A tensor of any dtype and shape.
        out_type: `tf.int32` (default) or `tf.int64`.
        name: Ignored.

    Returns:
        A scalar integer tensor; a structural constant, without gradient.

    Example:
        >>> import tapejax as tf
        >>> tf.size([[1, 2, 3]]).numpy()
        np.int32(3)
    """
    try:
        return _answer(np.prod(static_shape(input), dtype=np.int64), out_type)
    except TypeError as error:  # dimensions that are None: a ragged tensor
        return _of_composite("size", size, (input, out_type), error)


@public("rank")
def rank(input: Any, name: str | None = None) -> Any:
    """The number of dimensions of a tensor.

    Args:
        input: A tensor of any dtype and shape.
        name: Ignored.

    Returns:
        A scalar int32 tensor; a structural constant, without gradient.

    Example:
        >>> import tapejax as tf
        >>> tf.rank([[1, 2, 3]]).numpy()
        np.int32(2)
    """
    return _answer(len(static_shape(input)), None)


@public("broadcast_static_shape")
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape of a broadcasting op of two tensors of these (partly known) shapes.

    Args:
        shape_x: A `tf.TensorShape`.
        shape_y: A `tf.TensorShape`.

    Returns:
        A `tf.TensorShape`; a size that cannot be known is None.

    Raises:
        ValueError: If the shapes do not broadcast.

    Example:
        >>> import tapejax as tf
        >>> tf.broadcast_static_shape(tf.TensorShape([1, 2]), tf.TensorShape([3, 1]))
        TensorShape([3, 2])
    """
    left, right = TensorShape(shape_x), TensorShape(shape_y)
    if left.rank is None or right.rank is None:
        return TensorShape(None)
    rank = max(left.rank, right.rank)
    pairs = zip(_filled(left, rank), _filled(right, rank), strict=True)
    sizes: list[int | None] = []
    for a, b in pairs:
        known = {n for n in (a, b) if n is not None and n != 1}
        if len(known) > 1:
            raise ValueError(
                "Incompatible shapes for broadcasting. Two shapes are compatible if for each "
                "dimension pair they are either equal or one of them is 1. "
                f"Received: {left} and {right}."
            )
        sizes.append(known.pop() if known else (None if None in (a, b) else 1))
    return TensorShape(sizes)


def _filled(shape: TensorShape, rank: int) -> list[int | None]:
    sizes = shape.as_list()
    return [1] * (rank - len(sizes)) + sizes


@public("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Any:
    """The shape of a broadcasting op of two tensors whose shapes are given as tensors.

    Args:
        shape_x: A vector of integers.
        shape_y: A vector of integers.

    Returns:
        A vector of integers; a structural constant.

    Raises:
        InvalidArgumentError: If the shapes do not broadcast.

    Example:
        >>> import tapejax as tf
        >>> tf.broadcast_dynamic_shape([1, 2], [3, 1]).numpy().tolist()
        [3, 2]
    """
    left, right = np.asarray(shape_x), np.asarray(shape_y)
    try:
        found = np.broadcast_shapes(tuple(left), tuple(right))
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes: {brackets(left)} vs. {brackets(right)}"
        ) from None
    dtype: DType | None = getattr(shape_x, "dtype", None)
    return _answer(np.array(found, np.int64), dtype)


@public("required_space_to_batch_paddings")
def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Any, Any]:
    """The paddings that make a shape divisible by blocks, and the crops that undo them.

    Args:
        input_shape: `[n]` integers: the sizes of the spatial dimensions.
        block_shape: `[n]` integers: the sizes of the blocks.
        base_paddings: `[n, 2]` integers: the least paddings. Default: zeros.
        name: Ignored.

    Returns:
        `(paddings, crops)`, both `[n, 2]`; structural constants.

    Example:
        >>> import tapejax as tf
        >>> paddings, crops = tf.required_space_to_batch_paddings([5], [2])
        >>> paddings.numpy().tolist(), crops.numpy().tolist()
        ([[0, 1]], [[0, 1]])
    """
    sizes, blocks = np.asarray(input_shape, np.int64), np.asarray(block_shape, np.int64)
    base = np.zeros((sizes.size, 2), np.int64) if base_paddings is None else base_paddings
    base = np.asarray(base, np.int64)
    extra = -(sizes + base.sum(1)) % blocks
    zeros = np.zeros_like(extra)
    paddings = base + np.stack([zeros, extra], 1)
    return _answer(paddings, None), _answer(np.stack([zeros, extra], 1), None)
