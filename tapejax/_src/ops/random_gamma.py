"""Gamma random tensors: `tf.random.gamma` and `stateless_gamma`."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import Array, DTypeLike, Same, StaticInts, TensorLike, op, public
from tapejax._src.ops import philox_rejection
from tapejax._src.ops.arithmetic import divide, maximum
from tapejax._src.ops.random_draws import BLOCKS_PER_ELEMENT, leading_sizes, sampled, shape_of
from tapejax._src.ops.random_seed import seed_tensor
from tapejax._src.ops.random_stateless import seed_state
from tapejax._src.ops.shaping import broadcast_to


@jax.custom_jvp
def _slope(alpha: Array, drawn: Array) -> Array:
    """The derivative of a gamma number by alpha."""
    # What JAX declares is the signature of the function inside, which has one parameter more.
    return lax.random_gamma_grad(alpha, drawn)  # pyright: ignore[reportCallIssue]


@_slope.defjvp
def _slope_jvp(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Array, Array]:
    raise LookupError(
        "gradient registry has no entry for: RandomGammaGrad. A gamma number has no second "
        "derivative by alpha, neither here nor in TensorFlow."
    )


@functools.partial(jax.custom_jvp, nondiff_argnums=(1,))
def _gamma(state: Array, samples: tuple[int, ...], alpha: Array) -> Array:
    return sampled(functools.partial(philox_rejection.gamma, state), samples, alpha)


@_gamma.defjvp
def _gamma_jvp(
    samples: tuple[int, ...], primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Array, Array]:
    # Implicit: a number keeps its place in the distribution when alpha moves (Figurnov, Mohamed,
    # Mnih, "Implicit reparameterization gradients", 2018).
    state, alpha = primals
    drawn = sampled(functools.partial(philox_rejection.gamma, state), samples, alpha)
    wide = jnp.float64 if alpha.dtype == jnp.float64 else jnp.float32
    every = jnp.broadcast_to(alpha, drawn.shape).astype(wide)
    slope = _slope(every, drawn.astype(wide)).astype(alpha.dtype)
    return drawn, slope * tangents[1]


def _gamma_op(path: str, node: str) -> Any:
    @op(
        path,
        node=node,
        dtypes="half float double",
        cases=(
            "u32[6] in (0, 99), f32[3] in (0.3, 4), (2,)",
            "u32[6] in (0, 99), f64[2,2] in (0.3, 4), ()",
            "u32[6] in (0, 99), f32[3] in (0.3, 4), (0,)",
        ),
        test_grad=False,
        differs="the numbers are those of a state, which stays the same when alpha moves",
    )
    def gamma(state: TensorLike, alpha: Same, samples: StaticInts) -> Array:
        """Gamma numbers of scale 1."""
        return _gamma(state, samples, alpha)

    return gamma


_random_gamma = _gamma_op("_random_gamma", "RandomGamma")
_stateless_gamma = _gamma_op("_stateless_gamma", "StatelessRandomGammaV3")


def _shapes_and_rates(alpha: Any, beta: Any, dtype: Any) -> tuple[Tensor, Tensor, dtypes.DType]:
    """The shape parameters, broadcast with the rates, and the rates."""
    kind = dtypes.as_dtype(dtype)
    alpha = as_tensor(alpha, kind)
    beta = as_tensor(1 if beta is None else beta, kind)
    if kind.name not in ("float16", "float32", "float64"):
        raise InvalidArgumentError(
            f"Value for attr 'T' of {kind.name} is not in the list of allowed values: half, float, "
            "double [Op:RandomGamma]: draw one of those and use tf.cast"
        )
    try:
        shape = np.broadcast_shapes(alpha.aval.shape, beta.aval.shape)
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes: {list(alpha.aval.shape)} vs. {list(beta.aval.shape)} of alpha "
            "and beta [Op:BroadcastArgs]"
        ) from None
    return alpha if alpha.aval.shape == shape else broadcast_to(alpha, shape), beta, kind


def _by_rate(drawn: Tensor, beta: Tensor, kind: dtypes.DType) -> Any:
    """Divided by the rates; never zero, so that a logarithm is finite."""
    return maximum(float(jnp.finfo(kind.as_numpy_dtype).tiny), divide(drawn, beta))


@public("random.gamma")
def gamma(
    shape: Any,
    alpha: Any,
    beta: Any = None,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Gamma random numbers, `shape` of them for each distribution.

    Equal to TensorFlow's for the same seeds and order of calls, to a few units in the last place.

    Args:
        shape: How many numbers for each distribution.
        alpha: Shape parameters, of `dtype`.
        beta: Rates (inverse scales), which broadcast with `alpha`. Default: 1.
        dtype: float16, float32 or float64.
        seed: Seed of this op beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        `[*shape, ...]` with the shape of `alpha` and `beta` together at the end, of `dtype`, with
        gradients to both; NaN where `alpha` is negative.

    Raises:
        InvalidArgumentError: If `shape` is not a vector of sizes, or `alpha` and `beta` do not fit.

    Example:
        >>> import tapejax as tf
        >>> alpha = tf.constant([0.5, 2.0])
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(alpha)
        ...     drawn = tf.random.gamma([1000], alpha)
        >>> drawn.shape, tape.gradient(drawn, alpha).shape
        (TensorShape([1000, 2]), TensorShape([2]))

    Differs from TensorFlow: a negative `alpha` gives NaN, there mostly numbers without meaning.
    """
    alpha, beta, kind = _shapes_and_rates(alpha, beta, dtype)
    sizes = shape_of(shape, "RandomGamma")
    blocks = math.prod(sizes + alpha.aval.shape) * BLOCKS_PER_ELEMENT
    state = seed_tensor(seed, "RandomGamma", kind.name, blocks)
    return _by_rate(_random_gamma(state, alpha, sizes), beta, kind)


@public("random.stateless_gamma")
def stateless_gamma(
    shape: Any,
    seed: Any,
    alpha: Any,
    beta: Any = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Any:
    """Gamma random numbers as a function of a seed.

    Equal to TensorFlow's to a few units in the last place.

    Args:
        shape: Shape of the result; it ends with the shape of `alpha` and `beta` together.
        seed: Two integers, `[2]` int32 or int64.
        alpha: Shape parameters, of `dtype`.
        beta: Rates (inverse scales), which broadcast with `alpha`. Default: 1.
        dtype: float16, float32 or float64.
        name: Ignored.

    Returns:
        A tensor of `shape` and `dtype`, with gradients to `alpha` and `beta`; NaN where `alpha` is
        negative.

    Raises:
        InvalidArgumentError: If the seed is not two integers or the shapes do not fit.

    Example:
        >>> import tapejax as tf
        >>> drawn = tf.random.stateless_gamma([2], [1, 2], 3.0)
        >>> [round(x, 4) for x in drawn.numpy().tolist()]
        [4.0681, 2.9891]
    """
    alpha, beta, kind = _shapes_and_rates(alpha, beta, dtype)
    node = "StatelessRandomGammaV3"
    samples = leading_sizes(shape_of(shape, node), alpha.aval.shape, node)
    return _by_rate(_stateless_gamma(seed_state(seed), alpha, samples), beta, kind)
