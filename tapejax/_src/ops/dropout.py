"""Dropout: random elements become zero, the others grow so that the mean stays."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.composites import takes_composites
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import Array, Same, op, public
from tapejax._src.ops.random_stateful import uniform


@op(
    "_dropout",
    node="SelectV2",
    dtypes="half bfloat16 float double",
    broadcast=True,
    no_gradient=("noise",),
    cases=("f32[2,3], f32[2,3] in (0, 1), 0.5", "f64[2,3], f64[2,1] in (0, 1), 0.25"),
)
def _dropout(x: Same, noise: Same, rate: Same) -> Array:
    """`x / (1 - rate)` where `noise >= rate`, else 0."""
    x, noise, rate = jnp.broadcast_arrays(x, noise, rate)
    return jnp.where(noise >= rate, x * (1 / (1 - rate)), jnp.zeros_like(x))


def _check_rate(rate: Any, x: Tensor) -> None:
    if isinstance(rate, (Tensor, Variable)):
        if rate.dtype != x.dtype:
            raise ValueError(
                "`x.dtype` must be compatible with `rate.dtype`. "
                f"Received: x.dtype={x.dtype} and rate.dtype={rate.dtype}"
            )
    elif not isinstance(rate, numbers.Real):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    elif not 0 <= float(rate) < 1:
        raise ValueError(
            f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
        )


def _noise_shape(noise_shape: Any, x: Tensor) -> Any:
    if noise_shape is None:
        return x.shape
    if isinstance(noise_shape, Sequence) and len(noise_shape) == len(x.shape):
        pairs = zip(noise_shape, x.shape, strict=True)
        return [size if wanted is None else wanted for wanted, size in pairs]
    return noise_shape


@public("nn.dropout")
@takes_composites("nn.dropout")
def dropout(
    x: Any,
    rate: Any,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Set a random share of the elements to zero and divide the others by what remains.

    Args:
        x: `[...]`, floating point.
        rate: The probability that an element becomes zero, in `[0, 1)`: a number, which may change
            from call to call without a new compilation, or a scalar tensor of the dtype of `x`.
        noise_shape: The shape of the random decisions, which broadcasts to that of `x`: elements
            along an axis of length 1 share theirs. None (also for one axis) is the size of `x`.
        seed: Makes the sequence of decisions repeatable; see `tf.random.set_seed`.
        name: Ignored.

    Returns:
        The shape and the dtype of `x`.

    Raises:
        ValueError: `rate` is out of range or of another dtype, or `x` is not floating point.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.dropout([1.0, 2.0], rate=0.0).numpy().tolist()
        [1.0, 2.0]
    """
    x = as_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x_dtype={x.dtype}. Cast it with tf.cast first."
        )
    _check_rate(rate, x)
    noise = uniform(_noise_shape(noise_shape, x), dtype=x.dtype, seed=seed)
    return _dropout(x, noise, rate)
