"""Clipping of values and of norms, also of lists of gradients with `tf.IndexedSlices` and None."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.engine.registry import Array, Same, SameList, StaticInts, op, public
from tapejax._src.ops import derivatives
from tapejax._src.ops.arithmetic import divide, larger, minimum, multiply, smaller
from tapejax._src.ops.casting import cast
from tapejax._src.ops.derivatives import same_shape

_FLOATING = "bfloat16 half float double"
_EXTREMA = "bfloat16 half float double int8 uint8 int16 uint16 int32 uint32 int64 uint64"


def _keeps_shape(t: Array, bounds: Sequence[Array]) -> None:
    for bound in bounds:
        shape = jnp.broadcast_shapes(t.shape, bound.shape)
        if shape != t.shape:
            msg = (
                f"Shapes {t.shape} and {shape} are incompatible: a bound of shape {bound.shape} "
                "would broadcast the clipped tensor. Broadcast it first with tf.broadcast_to."
            )
            raise ValueError(msg)


def _of_values(fn: Callable[..., Any], t: Any, *rest: Any) -> Any:
    """`fn` of a tensor, or of the values of slices, which stay slices."""
    if isinstance(t, IndexedSlices):
        return IndexedSlices(fn(t.values, *rest), t.indices, t.dense_shape)
    return fn(t, *rest)


@op(
    "_clip_by_value",
    node="Minimum",
    dtypes=_EXTREMA,
    broadcast=True,
    cases=("f32[2,3], -1.0, 1.0", "f64[3], f64[3] in (-2, 0), f64[] in (0, 2)", "i32[6], -2, 3"),
)
def _clip_by_value(
    t: Same, clip_value_min: Same, clip_value_max: Same, name: str | None = None
) -> Array:
    """`t` with what is below one bound or above the other replaced by that bound."""
    _keeps_shape(t, (clip_value_max, clip_value_min))
    t, low, high = same_shape(t, clip_value_min, clip_value_max)
    return larger(smaller(t, high), low)


@public("clip_by_value")
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """`t` with what is below or above two bounds replaced by the bound.

    The derivative is 1 at the bounds. Where the bounds cross, the lower one wins.

    Args:
        t: A tensor or `tf.IndexedSlices` `[...]`.
        clip_value_min: Lower bound, of the dtype of `t`, that broadcasts to its shape.
        clip_value_max: Upper bound, of the dtype of `t`, that broadcasts to its shape.
        name: Ignored.

    Returns:
        The clipped values `[...]`; slices stay slices.

    Raises:
        ValueError: A bound would broadcast `t`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.clip_by_value(tf.constant([-3.0, 0.5, 3.0]), -1.0, 1.0).numpy())
        [-1.   0.5  1. ]
    """
    return _of_values(_clip_by_value, t, clip_value_min, clip_value_max)


@op(
    "_clip_by_norm",
    node="Sqrt",
    dtypes=_FLOATING,
    cases=(
        "f32[2,3], 1.0",
        "f64[2,3], f64[] in (0.5, 1)",
        "f32[2,3], 0.5, axes=[1]",
        "f32[2], 9.0",
    ),
)
def _clip_by_norm(
    t: Same, clip_norm: Same, axes: StaticInts = None, name: str | None = None
) -> Array:
    """`t` scaled down to the Euclidean norm `clip_norm` over `axes`."""
    _keeps_shape(t, (clip_norm,))
    limit = larger(clip_norm, jnp.zeros_like(clip_norm))
    total = jnp.sum(t * t, axis=axes, keepdims=True)
    some = total > 0
    root = derivatives.sqrt(jnp.where(some, total, jnp.ones_like(total)))
    norm = jnp.where(some, root, total)
    scaled = jnp.multiply(*same_shape(t, limit))
    return scaled / jnp.broadcast_to(larger(*same_shape(norm, limit)), scaled.shape)


@public("clip_by_norm")
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t` scaled down where its Euclidean norm is more than `clip_norm`.

    Args:
        t: A floating tensor or `tf.IndexedSlices` `[...]`.
        clip_norm: The largest norm, scalar (or broadcastable to `t`); below 0 counts as 0.
        axes: The axes to take norms over; None takes one norm of all of `t`.
        name: Ignored.

    Returns:
        `t * clip_norm / max(norm, clip_norm)` `[...]`; slices stay slices.

    Raises:
        ValueError: `clip_norm` would broadcast `t`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.clip_by_norm(tf.constant([3.0, 4.0]), 1.0).numpy())
        [0.6 0.8]
    """
    values = t.values if isinstance(t, IndexedSlices) else t
    dtype = getattr(values, "dtype", None)
    if dtype is not None and getattr(clip_norm, "dtype", dtype) != dtype:
        clip_norm = cast(clip_norm, dtype)
    return _of_values(_clip_by_norm, t, clip_norm, axes)


def _norm_of_all(values: Sequence[Array]) -> Array:
    halves = [jnp.sum(v * v) / 2 for v in values]
    return (
        derivatives.sqrt(jnp.sum(jnp.stack(halves)) * 2) if halves else jnp.zeros((), jnp.float32)
    )


@op(
    "_linalg.global_norm",
    node="L2Loss",
    dtypes="half bfloat16 float double",
    cases=("[f32[2,3], f32[2]]", "[f64[3]]"),
)
def _global_norm(t_list: SameList, name: str | None = None) -> Array:
    """Euclidean norm of all elements of all tensors."""
    return _norm_of_all(t_list)


def _as_list(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        msg = f"`t_list` should be a sequence of tensors. Received {type(t_list)}."
        raise TypeError(msg)
    return list(t_list)


@public("linalg.global_norm")
def global_norm(t_list: Any, name: str | None = None) -> Any:
    """Euclidean norm of all elements of several tensors together.

    Args:
        t_list: A list or tuple of tensors, `tf.IndexedSlices` (their values count) and None, which
            is left out.
        name: Ignored.

    Returns:
        The norm, a scalar `[]` of the dtype of the tensors.

    Raises:
        TypeError: `t_list` is no sequence.

    Example:
        >>> import tapejax as tf
        >>> print(tf.linalg.global_norm([tf.constant([3.0]), None, tf.constant(4.0)]).numpy())
        5.0
    """
    return _global_norm(_values(_as_list(t_list)))


def _values(tensors: Sequence[Any]) -> list[Any]:
    """What is to be scaled: tensors, the values of slices, and nothing for None."""
    present = [t for t in tensors if t is not None]
    return [t.values if isinstance(t, IndexedSlices) else t for t in present]


@op(
    "_clip_by_global_norm",
    node="Mul",
    dtypes="half bfloat16 float double",
    cases=("[f32[2,3], f32[2]], 1.0", "[f64[3]], 0.5", "[f32[3]], 50.0", "[f32[3]], 1.0, 2.0"),
)
def _clip_by_global_norm(
    t_list: SameList, clip_norm: Same, use_norm: Same | None = None, name: str | None = None
) -> tuple[list[Array], Array]:
    """Tensors of one dtype scaled down to a common norm, and that norm."""
    norm = _norm_of_all(t_list) if use_norm is None else use_norm
    scale = clip_norm * smaller(1 / norm, 1 / clip_norm)
    scale = scale + (norm - norm)  # NaN if the norm is not finite
    return [t * scale for t in t_list], norm


@public("clip_by_global_norm")
def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> Any:
    """Tensors scaled down by one factor where their common norm is more than `clip_norm`.

    Args:
        t_list: A list or tuple of tensors, `tf.IndexedSlices` and None.
        clip_norm: The largest norm, a positive scalar.
        use_norm: The norm to take; None takes `tf.linalg.global_norm(t_list)`.
        name: Ignored.

    Returns:
        The list of clipped tensors (slices stay slices, None stays None), and the norm. All are NaN
        if the norm is not finite.

    Raises:
        TypeError: `t_list` is no sequence.

    Example:
        >>> import tapejax as tf
        >>> (a, b), norm = tf.clip_by_global_norm([tf.constant(3.0), tf.constant(4.0)], 1.0)
        >>> print(f"{a.numpy():.1f} {b.numpy():.1f} {norm.numpy()}")
        0.6 0.8 5.0
    """
    tensors = _as_list(t_list)
    values = _values(tensors)
    if use_norm is not None and len({getattr(t, "dtype", None) for t in values}) > 1:
        clipped = _scaled_one_by_one(values, clip_norm, use_norm)
    else:
        clipped, use_norm = _clip_by_global_norm(values, clip_norm, use_norm)
    rest = iter(clipped)
    return [None if t is None else _like(t, next(rest)) for t in tensors], use_norm


def _like(t: Any, values: Any) -> Any:
    slices = isinstance(t, IndexedSlices)
    return IndexedSlices(values, t.indices, t.dense_shape) if slices else values


def _scaled_one_by_one(values: Sequence[Any], clip_norm: Any, use_norm: Any) -> list[Any]:
    """The scaling for tensors of several dtypes, by a factor computed in the dtype of the norm."""
    one = divide(use_norm, use_norm)
    scale = multiply(clip_norm, minimum(divide(one, use_norm), divide(one, clip_norm)))
    return [multiply(t, cast(scale, t.dtype)) for t in values]
