"""Activation functions of `tf.nn` that are not elementary functions of `tf.math`.

Kinks have TensorFlow's one-sided derivatives: the comparison of each `where` decides on which side
the kink itself lies. NaN stays NaN, because no comparison with NaN selects a constant.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, TensorLike, op

_FLOATS = "half bfloat16 float double"
_RELU_DTYPES = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
# alpha of Klambauer et al. (2017) and their lambda: the fixed point with mean 0 and variance 1.
_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805


@op(
    "nn.relu",
    node="Relu",
    dtypes=_RELU_DTYPES,
    cases=("f32[2,3]", "f64[4]", "i32[5]", "f16[3]", "f32[]", "f32[0,3]"),
)
def relu(features: Same, name: str | None = None) -> Array:
    """`max(x, 0)` of each element; the derivative at 0 is 0."""
    # lax.select: jnp.where would not read an empty array, as if the result did not depend on it.
    return lax.select(features <= 0, jnp.zeros_like(features), features)


@op(
    "nn.relu6",
    node="Relu6",
    dtypes=_RELU_DTYPES,
    cases=("f32[2,3] in (-9, 9)", "f64[4] in (-9, 9)", "i32[5] in (-9, 9)", "bf16[3]"),
)
def relu6(features: Same, name: str | None = None) -> Array:
    """`min(max(x, 0), 6)` of each element; the derivatives at 0 and at 6 are 0."""
    capped = jnp.where(features >= 6, jnp.full_like(features, 6), features)
    return lax.select(features <= 0, jnp.zeros_like(features), capped)


@op(
    "nn.leaky_relu",
    node="LeakyRelu",
    cases=("f32[2,3]", "f64[4], alpha=0.1", "f16[3]", "i32[4]", "f32[3], alpha=2.0"),
)
def leaky_relu(features: TensorLike, alpha: TensorLike = 0.2, name: str | None = None) -> Array:
    """`x` of each positive element, `alpha * x` of the others; the derivative at 0 is `alpha`.

    Args:
        features: `[...]`, floating point, or integer, which is converted to float32.
        alpha: Slope for negative elements, a scalar. It may change from call to call without a new
            compilation, and may be a tensor.
        name: Ignored.

    Returns:
        The shape of `features`, and its dtype where that is floating point, else float32.

    Raises:
        InvalidArgumentError: `features` is boolean or complex.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.leaky_relu([4.0, -4.0], alpha=0.25).numpy().tolist()
        [4.0, -1.0]

    *Differs from TensorFlow*: a tensor is accepted as `alpha`, and has a gradient.
    """
    if jnp.issubdtype(features.dtype, jnp.integer):
        features = features.astype(jnp.float32)
    if not jnp.issubdtype(features.dtype, jnp.floating):
        raise InvalidArgumentError(
            f"Value for attr 'T' of {features.dtype} is not in the list of allowed values: "
            "half, bfloat16, float, double [Op:LeakyRelu]"
        )
    return jnp.where(features > 0, features, alpha.astype(features.dtype) * features)


@op("nn.elu", node="Elu", dtypes=_FLOATS, cases=("f32[2,3]", "f64[4]", "bf16[3]", "f32[]"))
def elu(features: Same, name: str | None = None) -> Array:
    """`x` of each element that is not negative, `exp(x) - 1` of the others."""
    negative = features < 0
    below = jnp.where(negative, features, jnp.zeros_like(features))
    return jnp.where(negative, jnp.expm1(below), features)


@op("nn.selu", node="Selu", dtypes=_FLOATS, cases=("f32[2,3]", "f64[4]", "f16[3]", "f32[]"))
def selu(features: Same, name: str | None = None) -> Array:
    """`1.0507 * x` of each element that is not negative, `1.7581 * (exp(x) - 1)` of the others."""
    negative = features < 0
    below = jnp.where(negative, features, jnp.zeros_like(features))
    saturating = (_SELU_SCALE * _SELU_ALPHA) * jnp.expm1(below)
    return jnp.where(negative, saturating, _SELU_SCALE * features)


@op(
    "nn.gelu",
    node="Gelu",
    cases=("f32[2,3]", "f64[4], approximate=True", "f64[4]", "f32[0]", "f16[3]"),
    # TensorFlow rounds its constants to float32 before it widens them.
    tol={"f32": 2e-5, "f64": 1e-7},
)
def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Array:
    """`x * P(X <= x)` of each element, where `X` is a standard normal variable.

    Args:
        features: `[...]`, floating point.
        approximate: Use the formula with `tanh` of Hendrycks and Gimpel (2016) instead of `erf`.
        name: Ignored.

    Returns:
        The shape and the dtype of `features`.

    Raises:
        ValueError: `features` is not floating point.

    Example:
        >>> import tapejax as tf
        >>> [round(y, 4) for y in tf.nn.gelu([0.0, 1.0, -2.0]).numpy().tolist()]
        [0.0, 0.8413, -0.0455]
    """
    if not jnp.issubdtype(features.dtype, jnp.floating):
        raise ValueError(
            "`features.dtype` must be a floating point tensor. "
            f"Received: features.dtype={features.dtype}. Cast it with tf.cast first."
        )
    if approximate:
        inner = math.sqrt(2 / math.pi) * (features + 0.044715 * (features * features * features))
        return 0.5 * features * (1 + jnp.tanh(inner))
    return 0.5 * features * (1 + lax.erf(features * math.sqrt(0.5)))


@op(
    "nn.silu",
    "nn.swish",
    node="Sigmoid",
    dtypes="bfloat16 half float double complex64 complex128",
    cases=("f32[2,3]", "f64[4], beta=2.0", "f32[3], beta=0.5", "f16[3]"),
)
def silu(features: Same, beta: TensorLike = 1.0) -> Array:
    """`x * sigmoid(beta * x)` of each element.

    Args:
        features: `[...]`, floating point or complex.
        beta: Any shape that broadcasts with `features`; converted to its dtype. It may change from
            call to call without a new compilation, and has a gradient where it is a tensor.

    Returns:
        The shape and the dtype of `features`.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.silu([0.0, 40.0], beta=2.0).numpy().tolist()
        [0.0, 40.0]
    """
    return features * jax.nn.sigmoid(beta.astype(features.dtype) * features)


@op(
    "nn.crelu",
    node="Relu",
    dtypes="float double int32 int16 int8 int64 bfloat16 half",
    cases=("f32[2,3]", "f64[4]", "f32[2,3], axis=0", "i32[3]", "f32[2,3,2], axis=-2"),
)
def crelu(features: Same, axis: StaticInts = -1, name: str | None = None) -> Array:
    """The positive parts of `x` and of `-x`, one after the other along `axis`.

    Args:
        features: `[..., n, ...]`, floating point or a signed integer.
        axis: The axis that doubles.
        name: Ignored.

    Returns:
        `[..., 2 * n, ...]`, the dtype of `features`.

    Raises:
        InvalidArgumentError: `axis` is outside `[-rank, rank)`.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.crelu([1.0, -2.0]).numpy().tolist()
        [1.0, 0.0, 0.0, 2.0]
    """
    rank = features.ndim
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            f"ConcatOp : Expected concatenating dimensions in the range [{-rank}, {rank}), but "
            f"got {axis} [Op:ConcatV2]"
        )
    both = jnp.concatenate([features, -features], axis=axis)
    return jnp.where(both <= 0, jnp.zeros_like(both), both)
