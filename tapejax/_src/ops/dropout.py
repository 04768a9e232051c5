"""Dropout: random elements become zero, the others grow so that the mean stays."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.composites import takes_composites
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import Array, Same, op, public
from tapejax._src.ops.arithmetic import divide, multiply, subtract
from tapejax._src.ops.random_seed import pass_seed
from tapejax._src.ops.random_stateful import uniform
from tapejax._src.ops.random_stateless import stateless_uniform


@op(
    "_dropout",
    node="SelectV2",
    dtypes="half bfloat16 float double",
    broadcast=True,
    no_gradient=("noise", "rate"),
    cases=("f32[2,3], f32[2,3] in (0, 1), 0.5", "f64[2,3], f64[2,1] in (0, 1), 0.25"),
)
def _kept(x: Same, noise: Same, rate: Same) -> Array:
    """`x` where `noise >= rate`, else 0."""
    x, noise, rate = jnp.broadcast_arrays(x, noise, rate)
    return jnp.where(noise >= rate, x, jnp.zeros_like(x))


def _check_range(rate: Any) -> None:
    if isinstance(rate, (Tensor, Variable)):
        return
    if not isinstance(rate, numbers.Real):
        raise ValueError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    if not 0 <= float(rate) < 1:
        raise ValueError(
            f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
        )


def _check_tensor(rate: Tensor | Variable, x: Tensor) -> None:
    rate.shape.assert_has_rank(0)
    if rate.dtype != x.dtype:
        raise ValueError(
            "`x.dtype` must be compatible with `rate.dtype`. "
            f"Received: x.dtype={x.dtype} and rate.dtype={rate.dtype}"
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
    sampler = functools.partial(uniform, seed=seed)
    return _dropped(x, rate, noise_shape, sampler, functools.partial(pass_seed, seed))


@public("nn.experimental.stateless_dropout")
def stateless_dropout(
    x: Any,
    rate: Any,
    seed: Any,
    rng_alg: Any = None,
    noise_shape: Any = None,
    name: str | None = None,
) -> Tensor:
    """`tf.nn.dropout` with decisions that are a function of a seed.

    Args:
        x: `[...]`, floating point.
        rate: The probability that an element becomes zero; see `tf.nn.dropout`.
        seed: Two integers, `[2]` int32 or int64.
        rng_alg: `"philox"` or `"auto_select"` (the same), or a `tf.random.Algorithm`.
        noise_shape: The shape of the random decisions; see `tf.nn.dropout`.
        name: Ignored.

    Returns:
        The shape and the dtype of `x`.

    Raises:
        ValueError: `rate` is out of range or of another dtype, or `x` is not floating point.
        InvalidArgumentError: The seed is not two integers.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.experimental.stateless_dropout(tf.ones([4]), 0.5, seed=[1, 0]).numpy().tolist()
        [2.0, 0.0, 2.0, 0.0]
    """
    sampler = functools.partial(stateless_uniform, seed=seed, alg=rng_alg)
    return _dropped(x, rate, noise_shape, sampler)


@public("nn.experimental.general_dropout")
def general_dropout(
    x: Any, rate: Any, uniform_sampler: Any, noise_shape: Any = None, name: str | None = None
) -> Tensor:
    """`tf.nn.dropout` with decisions from a source of one's own.

    Args:
        x: `[...]`, floating point.
        rate: The probability that an element becomes zero; see `tf.nn.dropout`.
        uniform_sampler: A function of the keywords `shape` and `dtype` that gives uniform numbers
            in [0, 1), such as the method `uniform` of a `tf.random.Generator`.
        noise_shape: The shape of the random decisions; see `tf.nn.dropout`.
        name: Ignored.

    Returns:
        The shape and the dtype of `x`.

    Raises:
        ValueError: `rate` is out of range or of another dtype, or `x` is not floating point.

    Example:
        >>> import tapejax as tf
        >>> g = tf.random.Generator.from_seed(7)
        >>> tf.nn.experimental.general_dropout(tf.ones([4]), 0.5, g.uniform).shape
        TensorShape([4])
    """
    return _dropped(x, rate, noise_shape, uniform_sampler)


def _dropped(
    x: Any,
    rate: Any,
    noise_shape: Any,
    sampler: Callable[..., Any],
    unused: Callable[[], None] | None = None,
) -> Tensor:
    """Dropout with a source of uniform numbers; `unused` is called where none are needed."""
    _check_range(rate)
    x = as_tensor(x)
    if not x.dtype.is_floating:
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x_dtype={x.dtype}. Cast it with tf.cast first."
        )
    if isinstance(rate, (Tensor, Variable)):
        _check_tensor(rate, x)
        grown = divide(x, subtract(1, rate))
    elif rate == 0:
        if unused is not None:
            unused()
        return x
    else:
        grown = multiply(x, 1 / (1 - float(rate)))
    noise = sampler(shape=_noise_shape(noise_shape, x), dtype=x.dtype)
    return _kept(grown, noise, rate)
