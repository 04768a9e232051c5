"""`tf.keras.backend`: products, shapes, functions of each element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.function import accumulating, mapping
from tapejax._src.keras.backend.values import all_dense, int_shape, ndim
from tapejax._src.ops import (
    creation,
    gathering,
    image_resizing,
    joining,
    permuting,
    shaping,
    sparse_dense,
)
from tapejax._src.ops.matmul import matmul
from tapejax._src.ops.shape_queries import shape as tensor_shape
from tapejax._src.ops.sparse_tensor import SparseTensor


# ------------------------------------------------------------------------------------- products
def dot(x: Any, y: Any) -> Any:
    """The product along the last axis of `x` and the second to last of `y`.

    Args:
        x: A tensor `[..., n]`, sparse or not.
        y: A tensor `[..., n, m]`.

    Returns:
        For matrices their product; else a tensor of the other axes of `x`, then those of `y`.
    """
    if isinstance(x, SparseTensor):
        return sparse_dense.sparse_dense_matmul(x, y)
    if ndim(x) <= 2 and ndim(y) <= 2:
        return matmul(x, y)
    left, right = _sizes(x), _sizes(y)
    order = [ndim(y) - 2, *range(ndim(y) - 2), ndim(y) - 1]
    rows = shaping.reshape(x, [-1, left[-1]])
    columns = shaping.reshape(permuting.transpose(y, order), [right[-2], -1])
    return shaping.reshape(matmul(rows, columns), [*left[:-1], *right[:-2], right[-1]])


def _sizes(x: Any) -> list[Any]:
    """The sizes of a tensor: numbers, and -1 for the one of a batch that is not known."""
    return [-1 if size is None else size for size in int_shape(x) or ()]


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """For each sample, the sum of products along an axis of each.

    Args:
        x: A tensor `[batch, ...]`.
        y: A tensor of the same batch size.
        axes: The axis of each, as a pair, or one for both. Default: the last of `x`, and of `y` the
            second to last, or the last if it is a matrix.

    Returns:
        A tensor of the batch, the other axes of `x`, and the other axes of `y`; with one axis for
        two matrices.

    Raises:
        ValueError: If there is no batch, or the sizes of the axes differ.
    """
    ranks = ndim(x), ndim(y)
    first, second = _batch_axes(x, y, axes)
    x = shaping.expand_dims(x, 1) if ranks[0] == 2 else x
    y = shaping.expand_dims(y, 2) if ranks[1] == 2 else y
    first += ranks[0] == 2
    x = permuting.transpose(x, [*(n for n in range(ndim(x)) if n != first), first])
    others = [n for n in range(1, ndim(y)) if n != second]
    y = permuting.transpose(y, [0, second, *others])
    left, right = _sizes(x), _sizes(y)
    rows = shaping.reshape(x, [left[0], int(np.prod(left[1:-1])), left[-1]])
    columns = shaping.reshape(y, [right[0], right[1], int(np.prod(right[2:]))])
    found = shaping.reshape(matmul(rows, columns), [left[0], *left[1:-1], *right[2:]])
    if ranks[0] == 2:
        return shaping.squeeze(found, [1])
    return shaping.squeeze(found, [ndim(found) - 1]) if ranks[1] == 2 else found


def _batch_axes(x: Any, y: Any, axes: Any) -> tuple[int, int]:
    shapes = f"shapes {int_shape(x)} and {int_shape(y)}"
    if ndim(x) < 2 or ndim(y) < 2:
        raise ValueError(f"Cannot do batch_dot on inputs with rank < 2. Received {shapes}.")
    if axes is None:
        axes = (ndim(x) - 1, ndim(y) - 1 if ndim(y) == 2 else ndim(y) - 2)
    pair = [axes, axes] if isinstance(axes, int) else list(axes)
    if [n for n in pair if isinstance(n, (list, tuple))]:
        raise ValueError(
            "Multiple target dimensions are not supported. Expected: None, int, (int, int), "
            f"Provided: {axes}"
        )
    first, second = pair[0] % ndim(x), pair[1] % ndim(y)
    if 0 in (first, second):
        raise ValueError(
            "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy "
            "batch dimension to your inputs using K.expand_dims(x, 0)"
        )
    for one, other in ((0, 0), (first, second)):
        sizes = x.shape[one], y.shape[other]
        if None not in sizes and sizes[0] != sizes[1]:
            raise ValueError(
                f"Cannot do batch_dot on inputs with {shapes} with axes={axes}. x.shape[{one}] != "
                f"y.shape[{other}] ({sizes[0]} != {sizes[1]})."
            )
    return first, second


# --------------------------------------------------------------------------------------- shapes
def reshape(x: Any, shape: Any) -> Tensor:
    """The same elements in another shape."""
    return shaping.reshape(x, shape)


def flatten(x: Any) -> Tensor:
    """All elements along one axis."""
    return shaping.reshape(x, [-1])


def batch_flatten(x: Any) -> Tensor:
    """All elements of each sample along one axis."""
    return shaping.reshape(x, [-1, int(np.prod(_sizes(x)[1:]))])


def expand_dims(x: Any, axis: int = -1) -> Tensor:
    """With a new axis of size 1."""
    return shaping.expand_dims(x, axis)


def squeeze(x: Any, axis: int) -> Tensor:
    """Without an axis of size 1."""
    return shaping.squeeze(x, [axis])


def transpose(x: Any) -> Tensor:
    """With the axes in reverse order."""
    return permuting.transpose(x)


def permute_dimensions(x: Any, pattern: Sequence[int]) -> Tensor:
    """With the axes in another order."""
    return permuting.transpose(x, pattern)


def reverse(x: Any, axes: Any) -> Tensor:
    """In reverse order along some axes."""
    return permuting.reverse(x, [axes] if isinstance(axes, int) else axes)


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Joined along an axis."""
    return joining.concat(all_dense(tensors), axis)


def stack(x: Any, axis: int = 0) -> Tensor:
    """Joined along a new axis."""
    return joining.stack(x, axis=axis)


def tile(x: Any, n: Any) -> Tensor:
    """Repeated as a whole along each axis."""
    return shaping.tile(x, [n] if isinstance(n, int) else n)


def repeat(x: Any, n: int) -> Tensor:
    """`[batch, n, features]` of `[batch, features]`.

    Raises:
        ValueError: If `x` is no matrix.
    """
    if ndim(x) != 2:
        raise ValueError(f"Expected input `x` to have rank 2. Received: rank(x)={ndim(x)}")
    return shaping.tile(shaping.expand_dims(x, 1), [1, n, 1])


def repeat_elements(x: Any, rep: int, axis: int) -> Tensor:
    """Each element repeated along an axis."""
    return shaping.repeat(x, rep, axis=axis)


def gather(reference: Any, indices: Any) -> Tensor:
    """Rows by their numbers."""
    return gathering.gather(reference, indices)


def one_hot(indices: Any, num_classes: int) -> Tensor:
    """1 at the place that an index names and 0 elsewhere, along a new last axis."""
    return creation.one_hot(indices, num_classes, axis=-1)


def temporal_padding(x: Any, padding: Sequence[int] = (1, 1)) -> Tensor:
    """With zeros before and after the middle axis of three."""
    if len(padding) != 2:
        raise ValueError(
            f"Expected `padding` to be a tuple of 2 integers. Received: padding={padding}"
        )
    return joining.pad(x, [[0, 0], list(padding), [0, 0]])


def resize_images(
    x: Any,
    height_factor: int,
    width_factor: int,
    data_format: str,
    interpolation: str = "nearest",
) -> Tensor:
    """Images whose sides are whole multiples as long.

    Args:
        x: Images.
        height_factor: The factor of their height.
        width_factor: The factor of their width.
        data_format: "channels_last" or "channels_first".
        interpolation: The method, see `tf.image.ResizeMethod`.

    Raises:
        ValueError: If the format or the method is none.
    """
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid `data_format` argument: {data_format}")
    methods = ("area", "bicubic", "bilinear", "gaussian", "lanczos3", "lanczos5", "mitchellcubic")
    if interpolation not in (*methods, "nearest"):
        raise ValueError(
            f"`interpolation` argument should be one of: {[*methods, 'nearest']}. Received: "
            f'"{interpolation}".'
        )
    first = data_format == "channels_first"
    images = permuting.transpose(x, [0, 2, 3, 1]) if first else x
    height, width = images.shape[1], images.shape[2]
    if height is None or width is None:
        sizes = tensor_shape(images)[1:3] * np.array([height_factor, width_factor], np.int32)
    else:
        sizes = [height * height_factor, width * width_factor]
    resized = image_resizing.resize(images, sizes, method=interpolation)
    return permuting.transpose(resized, [0, 3, 1, 2]) if first else resized


def resize_volumes(
    x: Any, depth_factor: int, height_factor: int, width_factor: int, data_format: str
) -> Tensor:
    """Volumes whose sides are whole multiples as long, by repetition.

    Raises:
        ValueError: If the format is none.
    """
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    start = 2 if data_format == "channels_first" else 1
    for axis, factor in enumerate((depth_factor, height_factor, width_factor), start):
        x = shaping.repeat(x, factor, axis=axis)
    return x


# ------------------------------------------------------------------------- functions of functions
def map_fn(fn: Callable[..., Any], elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """The results of a function for each element along the first axis."""
    return mapping.map_fn(fn, elems, dtype=dtype, name=name)


def foldl(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Any:
    """All elements along the first axis folded from the left."""
    return accumulating.foldl(fn, elems, initializer=initializer, name=name)


def foldr(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Any:
    """All elements along the first axis folded from the right."""
    return accumulating.foldr(fn, elems, initializer=initializer, name=name)
