"""Normal random tensors between bounds of their own."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import (
    Array,
    Same,
    StaticInts,
    TensorLike,
    ValueCheck,
    op,
    public,
)
from tapejax._src.ops import philox_truncated
from tapejax._src.ops.random_draws import leading_sizes, shape_of
from tapejax._src.ops.random_stateless import seed_state


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _truncated(
    state: Array, samples: tuple[int, ...], mean: Array, stddev: Array, low: Array, high: Array
) -> Array:
    bounds = philox_truncated.Bounds(*(x.reshape(-1) for x in (mean, stddev, low, high)))
    drawn = philox_truncated.truncated(state, bounds, math.prod(samples))
    return drawn.T.reshape(samples + mean.shape)


@_truncated.defjvp
def _truncated_jvp(
    samples: tuple[int, ...], primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Array, Array]:
    # Implicit, as for gamma: the moments scale a number, the bounds push it along.
    mean, stddev, low, high = primals[1:]
    drawn = _truncated(primals[0], samples, *primals[1:])
    dmean, dstddev, dlow, dhigh = tangents[1:]
    z, z_low, z_high = ((x - mean) / stddev for x in (drawn, low, high))
    below, above = ndtr(z_low), ndtr(z_high)
    share = (ndtr(z) - below) / (above - below)
    limits = jnp.finfo(drawn.dtype)
    share = jnp.clip(share, limits.tiny, 1 - limits.eps)
    by_high = jnp.exp(0.5 * (z * z - z_high * z_high) + jnp.log(share))
    by_low = jnp.exp(0.5 * (z * z - z_low * z_low) + jnp.log1p(-share))
    return drawn, dmean + z * dstddev + by_low * dlow + by_high * dhigh


def _no_distribution(
    state: Array, means: Array, stddevs: Array, minvals: Array, maxvals: Array, samples: Any
) -> tuple[Any, ...]:
    bounds = philox_truncated.Bounds(*jnp.broadcast_arrays(means, stddevs, minvals, maxvals))
    return (jnp.any(philox_truncated.invalid(bounds)),)


@op(
    "_stateless_parameterized_truncated_normal",
    node="StatelessParameterizedTruncatedNormal",
    dtypes="half float double",
    check=ValueCheck(
        _no_distribution,
        lambda: (
            "Invalid parameters: stddevs must be positive, minvals below maxvals, and one of the "
            "two finite; without bounds write tf.random.stateless_normal"
        ),
    ),
    cases=(
        "u32[6] in (0, 99), f32[3], f32[3] in (0.5, 2), f32[] in (-3, -1), f32[] in (1, 3), (4,)",
        "u32[6] in (0, 99), f64[2,1], f64[] in (0.5, 2), f64[2] in (-3, -1), f64[] in (1, 3), ()",
    ),
    test_grad=False,
    differs="the numbers are those of a state, which stays the same when the parameters move",
)
def _truncated_normal(
    state: TensorLike, means: Same, stddevs: Same, minvals: Same, maxvals: Same, samples: StaticInts
) -> Array:
    """Normals between bounds of their own."""
    return _truncated(state, samples, *jnp.broadcast_arrays(means, stddevs, minvals, maxvals))


@public("random.stateless_parameterized_truncated_normal")
def stateless_parameterized_truncated_normal(
    shape: Any,
    seed: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    name: str | None = None,
) -> Any:
    """Normal random numbers between bounds as a function of a seed.

    Args:
        shape: Shape of the result; it ends with the shape of the parameters together.
        seed: Two integers, `[2]` int32 or int64.
        means: Means before truncation, float16, float32 or float64.
        stddevs: Standard deviations before truncation, positive.
        minvals: Lower bounds; they may be infinite if `maxvals` are not.
        maxvals: Upper bounds.
        name: Ignored.

    Returns:
        A tensor of `shape` and the dtype of the parameters, with gradients to all of them.

    Raises:
        InvalidArgumentError: For a parameter out of range, if the seed is not two integers or the
            shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> drawn = tf.random.stateless_parameterized_truncated_normal(
        ...     [1000], [1, 2], means=1.0, minvals=0.0, maxvals=1.5
        ... )
        >>> bool(tf.reduce_all((drawn >= 0.0) & (drawn <= 1.5)))
        True

    Differs from TensorFlow: some hundred numbers or more. There TensorFlow gives each of its
    threads a stream of its own, so its numbers depend on the machine; these never do.
    """
    node = "StatelessParameterizedTruncatedNormal"
    tensors = [as_tensor(x) for x in (means, stddevs, minvals, maxvals)]
    try:
        together = np.broadcast_shapes(*(t.aval.shape for t in tensors))
    except ValueError:
        raise InvalidArgumentError(
            f"The parameters do not broadcast: {[list(t.aval.shape) for t in tensors]} [Op:{node}]"
        ) from None
    samples = leading_sizes(shape_of(shape, node), together, node)
    return _truncated_normal(seed_state(seed, node), *tensors, samples=samples)
