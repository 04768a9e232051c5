"""Running sums, products and log-sum-exps along one axis."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, op
from tapejax._src.ops.reduction import NUMBERS

_FORMS = (
    "f32[4]",
    "f64[2,3], axis=-1",
    "f32[2,3], axis=1, exclusive=True",
    "f32[2,3], axis=1, reverse=True",
    "f32[2,3], axis=0, exclusive=True, reverse=True",
    "f32[0,3]",
)


def _scan_axis(axis: StaticInts, rank: int) -> int:
    if axis is None:
        msg = (
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
            "Tensor. `axis` must be one integer."
        )
        raise ValueError(msg)
    if not isinstance(axis, int | np.integer):
        msg = f"ScanOp: axis must be a scalar, not [{len(axis)}]"
        raise InvalidArgumentError(msg)
    if not -rank <= axis < rank:
        msg = f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis}"
        raise InvalidArgumentError(msg)
    return int(axis) % rank


def _shifted(x: Array, axis: int, reverse: bool, identity: float) -> Array:
    """`x` moved one place along `axis` in the direction of the scan, `identity` moved in."""
    if x.shape[axis] == 0:
        return x
    edge = jnp.full_like(lax.slice_in_dim(x, 0, 1, axis=axis), identity)
    if reverse:
        return jnp.concatenate([lax.slice_in_dim(x, 1, None, axis=axis), edge], axis)
    return jnp.concatenate([edge, lax.slice_in_dim(x, 0, -1, axis=axis)], axis)


@op("cumsum", "math.cumsum", node="Cumsum", dtypes=NUMBERS, cases=(*_FORMS, "i32[4]", "c64[3]"))
def cumsum(
    x: Same,
    axis: StaticInts = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Array:
    """Running sums along `axis`.

    Args:
        x: Numbers `[...]` of rank at least 1.
        axis: The axis to scan.
        exclusive: Whether each sum leaves out its own element (the first one is then 0).
        reverse: Whether the scan starts at the end.
        name: Ignored.

    Returns:
        The sums, of the shape and dtype of `x`.

    Raises:
        tf.errors.InvalidArgumentError: The axis is out of range, or not a scalar.

    Example:
        >>> import tapejax as tf
        >>> print(tf.cumsum([1, 2, 3]).numpy(), tf.cumsum([1, 2, 3], exclusive=True).numpy())
        [1 3 6] [0 1 3]
    """
    axis = _scan_axis(axis, x.ndim)
    x = _shifted(x, axis, reverse, 0) if exclusive else x
    return lax.cumsum(x, axis=axis, reverse=bool(reverse))


@op(
    "math.cumprod",
    node="Cumprod",
    dtypes=NUMBERS,
    cases=(*_FORMS, "i32[4]"),
)
def cumprod(
    x: Same,
    axis: StaticInts = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Array:
    """Running products along `axis`.

    Args:
        x: Numbers `[...]` of rank at least 1.
        axis: The axis to scan.
        exclusive: Whether each product leaves out its own element (the first one is then 1).
        reverse: Whether the scan starts at the end.
        name: Ignored.

    Returns:
        The products, of the shape and dtype of `x`.

    Raises:
        tf.errors.InvalidArgumentError: The axis is out of range, or not a scalar.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.cumprod([2, 3, 4]).numpy())
        [ 2  6 24]

    *Differs from TensorFlow*: the derivatives are exact where elements are zero (TensorFlow
    divides the product by the element and replaces 0/0 by 0).
    """
    axis = _scan_axis(axis, x.ndim)
    x = _shifted(x, axis, reverse, 1) if exclusive else x
    return lax.cumprod(x, axis=axis, reverse=bool(reverse))


@op(
    "math.cumulative_logsumexp",
    node="CumulativeLogsumexp",
    dtypes="bfloat16 half float double",
    cases=("f32[4]", "f64[2,3], axis=-1", "f32[2,3], axis=1, reverse=True", "f32[0,3]"),
)
def cumulative_logsumexp(
    x: Same,
    axis: StaticInts = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Array:
    """Running `log(sum(exp(x)))` along `axis`, without overflow.

    Args:
        x: Floats `[...]` of rank at least 1.
        axis: The axis to scan.
        exclusive: Whether each value leaves out its own element (the first one is then -inf).
        reverse: Whether the scan starts at the end.
        name: Ignored.

    Returns:
        Floats of the shape and dtype of `x`.

    Raises:
        tf.errors.InvalidArgumentError: The axis is out of range, or not a scalar.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.cumulative_logsumexp([0.0, 0.0]).numpy().round(4))
        [0.     0.6931]

    *Differs from TensorFlow*: derivatives are finite at elements that are -inf, and every value
    after a NaN is NaN.
    """
    axis = _scan_axis(axis, x.ndim)
    x = _shifted(x, axis, reverse, -np.inf) if exclusive else x
    return lax.cumlogsumexp(x, axis=axis, reverse=bool(reverse))
