"""Ops that write elements at given indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

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
from tapejax._src.ops.index_checks import row_failure, row_text
from tapejax._src.ops.shape_checks import (
    brackets,
    check_attr_dtype,
    checked_sizes,
    zero_of,
)

_ORDERED = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
_NUMBERS = _ORDERED + " complex64 complex128"
_CASES = (
    "f32[4], i32[3,1] in (0, 4), f32[3]",
    "f64[3,2], i64[2,1] in (0, 3), f64[2,2]",
    "i32[3,2], i32[2,2] in (0, 2), i32[2]",
    "f32[3], i32[0,1], f32[0]",
)


def _check_shapes(shape: tuple[int, ...], indices: Array, updates: Array) -> int:
    """How many dimensions an index names, after the shapes were compared."""
    check_attr_dtype(indices, "Tindices", ("int32", "int64"))
    for what, value in (("Indices", indices), ("Updates", updates)):
        if not value.ndim:
            raise InvalidArgumentError(f"{what} shape must have rank at least one. Found:[]")
    depth = indices.shape[-1]
    if depth > len(shape) or updates.shape[indices.ndim - 1 :] != shape[depth:]:
        raise InvalidArgumentError(
            "Inner dimensions of output shape must match inner dimensions of updates shape. "
            f"Output: {brackets(shape)} updates: {brackets(updates.shape)}"
        )
    if updates.shape[: indices.ndim - 1] != indices.shape[:-1]:
        raise InvalidArgumentError(
            "Outer dimensions of indices and update must match. Indices shape: "
            f"{brackets(indices.shape)}, updates shape:{brackets(updates.shape)}"
        )
    return depth


def _check_policy(policy: str) -> None:
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise InvalidArgumentError(f"Unknown bad indices handling attribute: {policy}")


def _at(indices: Array) -> tuple[Any, ...]:
    """The index vectors as JAX takes them."""
    return tuple(indices[..., d] for d in range(indices.shape[-1]))


def _write(target: Array, indices: Array, updates: Array, how: str) -> Array:
    """`target.at[indices].<how>(updates)`, what is out of range being left out."""
    if not updates.size:
        return target if updates.dtype == bool else target + zero_of(updates)
    if not indices.shape[-1]:
        updates = jnp.reshape(updates, (-1, *target.shape))
        for number in range(updates.shape[0]):
            target = getattr(target.at[...], how)(updates[number])
        return target
    method = getattr(target.at[_at(indices)], how)
    return method(updates, mode="drop", wrap_negative_indices=False)


def _bad_indices(
    tensor: Array, indices: Array, updates: Array, bad_indices_policy: str = ""
) -> tuple[Any, ...]:
    _check_policy(bad_indices_policy)
    depth = _check_shapes(tensor.shape, indices, updates)
    if bad_indices_policy == "IGNORE":
        return False, 0
    return row_failure(indices, tensor.shape[:depth], tensor.shape)


def _text(*details: float) -> str:
    return row_text("shape", *details)


_CHECK = ValueCheck(_bad_indices, _text)


@op(
    "tensor_scatter_nd_update",
    node="TensorScatterUpdate",
    check=_CHECK,
    cases=(
        "f32[4], i32[3,1] in (0, 4) distinct, f32[3]",
        "f64[3,2], i64[2,1] in (0, 3) distinct, f64[2,2]",
        "bool[3], i32[2,1] in (0, 3) distinct, bool[2]",
        "f32[3], i32[0,1], f32[0]",
    ),
)
def tensor_scatter_nd_update(
    tensor: Same, indices: Index, updates: Same, name: str | None = None
) -> Array:
    """A tensor with some slices replaced.

    Args:
        tensor: A tensor of any dtype.
        indices: int32 or int64, `[..., depth]`: each row names one slice.
        updates: The slices, `indices.shape[:-1] + tensor.shape[depth:]`. The last of several for
            one place stays.
        name: Ignored.

    Returns:
        A tensor of the shape of `tensor`.

    Raises:
        InvalidArgumentError: If an index is out of range or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.tensor_scatter_nd_update([1, 2, 3], [[1]], [9]).numpy().tolist()
        [1, 9, 3]

    *Differs from TensorFlow*: an update that another one replaced gets the gradient zero.
    """
    _check_shapes(tensor.shape, indices, updates)
    return _write(tensor, indices, updates, "set")


@op(
    "tensor_scatter_nd_add",
    node="TensorScatterAdd",
    dtypes=_NUMBERS,
    check=_CHECK,
    cases=(*_CASES, "c64[3], i32[2,1] in (0, 3), c64[2]"),
)
def tensor_scatter_nd_add(
    tensor: Same,
    indices: Index,
    updates: Same,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Array:
    """A tensor with numbers added to some slices; several for one place are all added.

    Args:
        tensor: A tensor of a numeric dtype.
        indices: int32 or int64, `[..., depth]`: each row names one slice.
        updates: What is added, `indices.shape[:-1] + tensor.shape[depth:]`.
        bad_indices_policy: `''` or `'ERROR'`: raise for an index out of range; `'IGNORE'`: leave
            it out.
        name: Ignored.

    Returns:
        A tensor of the shape of `tensor`.

    Raises:
        InvalidArgumentError: If an index is out of range or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.tensor_scatter_nd_add([1, 2, 3], [[1], [1]], [10, 20]).numpy().tolist()
        [1, 32, 3]
    """
    _check_policy(bad_indices_policy)
    _check_shapes(tensor.shape, indices, updates)
    return _write(tensor, indices, updates, "add")


@op(
    "tensor_scatter_nd_sub",
    node="TensorScatterSub",
    dtypes=_NUMBERS,
    check=_CHECK,
    cases=(*_CASES, "c64[3], i32[2,1] in (0, 3), c64[2]"),
)
def tensor_scatter_nd_sub(
    tensor: Same,
    indices: Index,
    updates: Same,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Array:
    """A tensor with numbers subtracted from some slices; several for one place all are.

    Args:
        tensor: A tensor of a numeric dtype.
        indices: int32 or int64, `[..., depth]`: each row names one slice.
        updates: What is subtracted, `indices.shape[:-1] + tensor.shape[depth:]`.
        bad_indices_policy: `''` or `'ERROR'`: raise for an index out of range; `'IGNORE'`: leave
            it out.
        name: Ignored.

    Returns:
        A tensor of the shape of `tensor`.

    Raises:
        InvalidArgumentError: If an index is out of range or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.tensor_scatter_nd_sub([1, 2, 3], [[1]], [5]).numpy().tolist()
        [1, -3, 3]
    """
    _check_policy(bad_indices_policy)
    _check_shapes(tensor.shape, indices, updates)
    return _write(tensor, indices, updates if updates.dtype == bool else -updates, "add")


def _extreme(how: str) -> Callable[[Array, Array, Array], Array]:
    """Scatter by `min` or `max`; its derivative goes to those that won, in equal shares."""

    def value(tensor: Array, indices: Array, updates: Array) -> Array:
        return _write(tensor, indices, updates, how)

    def jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Array, Array]:
        tensor, indices, updates = primals
        of_tensor, _, of_updates = tangents
        out = value(tensor, indices, updates)
        if not updates.size:
            return out, of_tensor + zero_of(of_updates)
        best = out[_at(indices)] if indices.shape[-1] else jnp.broadcast_to(out, updates.shape)
        kept, won = (tensor == out).astype(out.dtype), (updates == best).astype(out.dtype)
        winners = _write(kept, indices, won, "add")
        total = _write(kept * of_tensor, indices, won * of_updates, "add")
        return out, total / jnp.maximum(winners, 1)

    found = jax.custom_jvp(value)
    found.defjvp(jvp)
    return found


_LOWEST, _HIGHEST = _extreme("min"), _extreme("max")


@op(
    "tensor_scatter_nd_min",
    node="TensorScatterMin",
    dtypes=_ORDERED,
    check=_CHECK,
    differs="the second gradient is zeros, where TensorFlow gives None",
    cases=_CASES,
)
def tensor_scatter_nd_min(
    tensor: Same,
    indices: Index,
    updates: Same,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Array:
    """A tensor with some slices replaced by the smaller of themselves and the updates.

    Args:
        tensor: A tensor of a real dtype.
        indices: int32 or int64, `[..., depth]`: each row names one slice.
        updates: `indices.shape[:-1] + tensor.shape[depth:]`.
        bad_indices_policy: `''` or `'ERROR'`: raise for an index out of range; `'IGNORE'`: leave
            it out.
        name: Ignored.

    Returns:
        A tensor of the shape of `tensor`. Equal smallest elements share the gradient.

    Raises:
        InvalidArgumentError: If an index is out of range or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.tensor_scatter_nd_min([1, 2, 3], [[1], [2]], [0, 5]).numpy().tolist()
        [1, 0, 3]
    """
    _check_policy(bad_indices_policy)
    _check_shapes(tensor.shape, indices, updates)
    return _LOWEST(tensor, indices, updates)


@op(
    "tensor_scatter_nd_max",
    node="TensorScatterMax",
    dtypes=_ORDERED,
    check=_CHECK,
    differs="the second gradient is zeros, where TensorFlow gives None",
    cases=_CASES,
)
def tensor_scatter_nd_max(
    tensor: Same,
    indices: Index,
    updates: Same,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Array:
    """A tensor with some slices replaced by the larger of themselves and the updates.

    Args:
        tensor: A tensor of a real dtype.
        indices: int32 or int64, `[..., depth]`: each row names one slice.
        updates: `indices.shape[:-1] + tensor.shape[depth:]`.
        bad_indices_policy: `''` or `'ERROR'`: raise for an index out of range; `'IGNORE'`: leave
            it out.
        name: Ignored.

    Returns:
        A tensor of the shape of `tensor`. Equal largest elements share the gradient.

    Raises:
        InvalidArgumentError: If an index is out of range or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.tensor_scatter_nd_max([1, 2, 3], [[1], [2]], [0, 5]).numpy().tolist()
        [1, 2, 5]
    """
    _check_policy(bad_indices_policy)
    _check_shapes(tensor.shape, indices, updates)
    return _HIGHEST(tensor, indices, updates)


def _bad_places(
    indices: Array, updates: Array, shape: Any, bad_indices_policy: str = ""
) -> tuple[Any, ...]:
    _check_policy(bad_indices_policy)
    sizes = _new_shape(shape, indices, updates)
    if bad_indices_policy == "IGNORE":
        return False, 0
    return row_failure(indices, sizes[: indices.shape[-1]], sizes)


def _new_shape(shape: Any, indices: Array, updates: Array) -> tuple[int, ...]:
    """The checked shape of the tensor to make."""
    if isinstance(shape, int):
        raise InvalidArgumentError("Shape must be a vector")
    sizes = checked_sizes(shape)
    if 0 in sizes and indices.size and updates.size:
        raise InvalidArgumentError(
            "Indices and updates specified for empty output.  indices shape: "
            f"{brackets(indices.shape)}"
        )
    if 0 not in sizes:
        _check_shapes(sizes, indices, updates)
    return sizes


@op(
    "scatter_nd",
    node="ScatterNd",
    check=ValueCheck(_bad_places, _text),
    cases=(
        "i32[3,1] in (0, 4), f32[3], [4]",
        "i64[2,2] in (0, 3), f64[2,2], [3, 3, 2]",
        "i32[2,1] in (0, 3), c64[2], [3]",
        "i32[2,1] in (0, 3), bool[2], [3]",
        "i32[0,1], f32[0], [4]",
    ),
)
def scatter_nd(
    indices: Index,
    updates: TensorLike,
    shape: StaticInts,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Array:
    """Zeros with some slices set; several updates for one place are added.

    Args:
        indices: int32 or int64, `[..., depth]`: each row names one slice.
        updates: A tensor of any dtype, `indices.shape[:-1] + shape[depth:]`.
        shape: The shape of the result.
        bad_indices_policy: `''` or `'ERROR'`: raise for an index out of range; `'IGNORE'`: leave
            it out.
        name: Ignored.

    Returns:
        A tensor of shape `shape`.

    Raises:
        InvalidArgumentError: If an index is out of range or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.scatter_nd([[0], [2], [0]], [1, 2, 3], [4]).numpy().tolist()
        [4, 0, 2, 0]
    """
    _check_policy(bad_indices_policy)
    sizes = _new_shape(shape, indices, updates)
    zeros = jnp.zeros(sizes, updates.dtype)
    if 0 in sizes:
        return zeros
    return _write(zeros, indices, updates, "max" if updates.dtype == bool else "add")
