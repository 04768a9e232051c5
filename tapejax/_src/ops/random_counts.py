"""Random numbers of events: `tf.random.poisson`, `stateless_poisson`, `stateless_binomial`."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, holds_tensor
from tapejax._src.engine.registry import Array, DTypeLike, Same, StaticInts, TensorLike, op, public
from tapejax._src.ops import philox_rejection
from tapejax._src.ops.random_draws import BLOCKS_PER_ELEMENT, leading_sizes, sampled, shape_of
from tapejax._src.ops.random_seed import seed_tensor
from tapejax._src.ops.random_stateless import seed_state

_COUNTED = ("float16", "float32", "float64", "int32", "int64")


def _poisson_op(path: str, node: str, gradient: str) -> Any:
    @op(
        path,
        node=node,
        gradient=gradient,
        dtypes="half float double int32 int64",
        cases=(
            "u32[6] in (0, 99), f32[3] in (0, 30), (2,), tf.float32",
            "u32[6] in (0, 99), f64[] in (0, 4), (5,), tf.int32",
            "u32[6] in (0, 99), i32[2] in (0, 40), (), tf.int64",
        ),
    )
    def poisson(state: TensorLike, rate: Same, samples: StaticInts, dtype: DTypeLike) -> Array:
        """Poisson numbers."""
        kind = np.dtype(dtype)
        return sampled(lambda x: philox_rejection.poisson(state, x, kind), samples, rate)

    return poisson


def binomial_op(path: str, node: str, gradient: str) -> Any:
    """Record binomial numbers as the op `node`."""

    @op(
        path,
        node=node,
        gradient=gradient,
        dtypes="half float double",
        cases=(
            "u32[6] in (0, 99), f32[3] in (0, 90), f32[3] in (0, 1), (2,), tf.int32",
            "u32[6] in (0, 99), f64[2,1] in (0, 9), f64[3] in (0, 1), (), tf.float64",
        ),
    )
    def binomial(
        state: TensorLike, counts: Same, probs: Same, samples: StaticInts, dtype: DTypeLike
    ) -> Array:
        """Binomial numbers."""
        kind = np.dtype(dtype)
        counts, probs = jnp.broadcast_arrays(counts, probs)

        def draw(counts: Array, probs: Array) -> Array:
            return philox_rejection.binomial(state, counts, probs, kind)

        return sampled(draw, samples, counts, probs)

    return binomial


_random_poisson = _poisson_op("_random_poisson", "RandomPoissonV2", "lookup")
_stateless_poisson = _poisson_op("_stateless_poisson", "StatelessRandomPoisson", "none")
_stateless_binomial = binomial_op("_stateless_binomial", "StatelessRandomBinomial", "none")


def counted_dtype(dtype: Any, node: str) -> dtypes.DType:
    """The dtype of counts.

    Raises:
        InvalidArgumentError: If it is another one.
    """
    kind = dtypes.as_dtype(dtype)
    if kind.name not in _COUNTED:
        raise InvalidArgumentError(
            f"Value for attr 'dtype' of {kind.name} is not in the list of allowed values: half, "
            f"float, double, int32, int64 [Op:{node}]: draw one of those and use tf.cast"
        )
    return kind


# ---------------------------------------------------------------------- Poisson
def _rate(lam: Any) -> Tensor:
    """The means; TensorFlow takes Python floats as doubles here, and integers as they are."""
    if isinstance(lam, (Tensor, Variable, np.ndarray, np.generic)) or holds_tensor(lam):
        return as_tensor(lam)
    tensor = as_tensor(lam)
    return as_tensor(lam, dtypes.float64) if tensor.dtype.is_floating else tensor


@public("random.poisson")
def poisson(
    shape: Any,
    lam: Any,
    dtype: DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Poisson random numbers, `shape` of them for each distribution.

    Equal to TensorFlow's for the same seeds and order of calls.

    Args:
        shape: How many numbers for each distribution.
        lam: Means, float16, float32, float64, int32 or int64.
        dtype: float16, float32, float64, int32 or int64.
        seed: Seed of this op beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        `[*shape, ...]` with the shape of `lam` at the end, of `dtype`; to ask for a gradient is an
        error, as in TensorFlow.

    Raises:
        InvalidArgumentError: For another dtype, or if `shape` is not a vector of sizes.

    Example:
        >>> import tapejax as tf
        >>> tf.random.poisson([4], [0.5, 20.0]).shape
        TensorShape([4, 2])

    Differs from TensorFlow: a negative mean gives NaN (0 in integers) where TensorFlow gives 0, and
    so does NaN, for which TensorFlow does not return.
    """
    node = "RandomPoissonV2"
    kind = counted_dtype(dtype, node)
    rate = _rate(lam)
    sizes = shape_of(shape, node)
    blocks = math.prod(sizes + rate.aval.shape) * BLOCKS_PER_ELEMENT
    state = seed_tensor(seed, node, f"{rate.dtype.name} {kind.name}", blocks)
    return _random_poisson(state, rate, sizes, kind)


@public("random.stateless_poisson")
def stateless_poisson(
    shape: Any,
    seed: Any,
    lam: Any,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Any:
    """Poisson random numbers as a function of a seed.

    Equal to TensorFlow's.

    Args:
        shape: Shape of the result; it ends with the shape of `lam`.
        seed: Two integers, `[2]` int32 or int64.
        lam: Means, float16, float32, float64, int32 or int64.
        dtype: float16, float32, float64, int32 or int64.
        name: Ignored.

    Returns:
        A tensor of `shape` and `dtype`, without gradient; NaN (0 in integers) where `lam` is
        negative or NaN.

    Raises:
        InvalidArgumentError: For another dtype, if the seed is not two integers or the shapes do
            not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.random.stateless_poisson([3, 2], [1, 2], [0.5, 20.0]).numpy().tolist()
        [[3, 25], [2, 16], [1, 24]]
    """
    node = "StatelessRandomPoisson"
    kind = counted_dtype(dtype, node)
    rate = as_tensor(lam)
    samples = leading_sizes(shape_of(shape, node), rate.aval.shape, node)
    return _stateless_poisson(seed_state(seed, node), rate, samples, kind)


# ---------------------------------------------------------------------- binomial
def binomial_arguments(counts: Any, probs: Any) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """Trials and probabilities of one dtype, and their common shape."""
    probs = as_tensor(probs)
    given = isinstance(counts, (Tensor, Variable)) or holds_tensor(counts)
    counts = as_tensor(counts) if given else as_tensor(counts, probs.dtype)
    try:
        return counts, probs, np.broadcast_shapes(counts.aval.shape, probs.aval.shape)
    except ValueError:
        raise InvalidArgumentError(
            f"counts and probs must have compatible batch dimensions: {list(counts.aval.shape)} "
            f"vs. {list(probs.aval.shape)}"
        ) from None


@public("random.stateless_binomial")
def stateless_binomial(
    shape: Any,
    seed: Any,
    counts: Any,
    probs: Any,
    output_dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Any:
    """Binomial random numbers as a function of a seed.

    Equal to TensorFlow's.

    Args:
        shape: Shape of the result; it ends with the shape of `counts` and `probs` together.
        seed: Two integers, `[2]` int32 or int64.
        counts: Numbers of trials, of the dtype of `probs`.
        probs: Probabilities of success, float16, float32 or float64.
        output_dtype: float16, float32, float64, int32 or int64.
        name: Ignored.

    Returns:
        A tensor of `shape` and `output_dtype`, without gradient.

    Raises:
        InvalidArgumentError: For another dtype, if the seed is not two integers or the shapes do
            not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.random.stateless_binomial([3, 2], [1, 2], [10.0, 90.0], 0.5).numpy().tolist()
        [[6, 57], [6, 40], [7, 49]]
    """
    node = "StatelessRandomBinomial"
    kind = counted_dtype(output_dtype, node)
    counts, probs, together = binomial_arguments(counts, probs)
    samples = leading_sizes(shape_of(shape, node), together, node)
    return _stateless_binomial(seed_state(seed, node), counts, probs, samples, kind)
