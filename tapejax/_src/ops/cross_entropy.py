"""Losses of independent elements: logistic cross-entropies, Poisson loss, squared norm."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp

from tapejax._src.engine.registry import Array, Same, op

_FLOATS = "bfloat16 half float double"


def _same_shape(first: Array, second: Array, names: str) -> None:
    if first.shape != second.shape:
        raise ValueError(
            f"{names} must have the same shape, received ({first.shape} vs {second.shape})."
        )


def _softplus_of_minus_abs(x: Array) -> Array:
    return jnp.log1p(jnp.exp(jnp.where(x >= 0, -x, x)))


def _positive_part(x: Array) -> Array:
    return jnp.where(x >= 0, x, jnp.zeros_like(x))


@op(
    "nn.sigmoid_cross_entropy_with_logits",
    node="Mul",
    dtypes=_FLOATS,
    cases=(
        "f32[2,3] in (0, 1), f32[2,3]",
        "f64[4] in (0, 1), f64[4]",
        "f32[], f32[]",
        "labels=f16[3], logits=f16[3]",
    ),
)
def sigmoid_cross_entropy_with_logits(
    labels: Same | None = None, logits: Same | None = None, name: str | None = None
) -> Array:
    """`-labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits))`, no overflow.

    Args:
        labels: `[...]`, floating point, probabilities in `[0, 1]`.
        logits: The shape and the dtype of `labels`, log odds.
        name: Ignored.

    Returns:
        The shape and the dtype of `logits`: one loss for each element.

    Raises:
        ValueError: An argument is missing, or the shapes differ.

    Example:
        >>> import tapejax as tf
        >>> labels, logits = [1.0, 0.0], [1000.0, 1000.0]
        >>> tf.nn.sigmoid_cross_entropy_with_logits(labels, logits).numpy().tolist()
        [0.0, 1000.0]
    """
    if labels is None or logits is None:
        missing = "labels" if labels is None else "logits"
        raise ValueError(
            "Both `labels` and `logits` must be provided for sigmoid_cross_entropy_with_logits. "
            f"Received: {missing}=None"
        )
    _same_shape(logits, labels, "`logits` and `labels`")
    return _positive_part(logits) - logits * labels + _softplus_of_minus_abs(logits)


@op(
    "nn.weighted_cross_entropy_with_logits",
    node="Mul",
    dtypes=_FLOATS,
    cases=(
        "f32[2,3] in (0, 1), f32[2,3], 2.0",
        "f64[4] in (0, 1), f64[4], f64[4] in (1, 3)",
        "f32[2,3] in (0, 1), f32[2,3], f32[3] in (1, 3)",
    ),
)
def weighted_cross_entropy_with_logits(
    labels: Same, logits: Same, pos_weight: Same, name: str | None = None
) -> Array:
    """`tf.nn.sigmoid_cross_entropy_with_logits` with its first term multiplied by `pos_weight`.

    Args:
        labels: `[...]`, floating point, probabilities in `[0, 1]`.
        logits: The shape and the dtype of `labels`, log odds.
        pos_weight: Any shape that broadcasts to that of `labels`. More than 1 favours recall, less
            than 1 precision.
        name: Ignored.

    Returns:
        The shape and the dtype of `logits`: one loss for each element.

    Raises:
        ValueError: The shapes of `labels` and `logits` differ.

    Example:
        >>> import tapejax as tf
        >>> labels, logits = [1.0, 0.0], [-1000.0, 1000.0]
        >>> tf.nn.weighted_cross_entropy_with_logits(labels, logits, 3.0).numpy().tolist()
        [3000.0, 1000.0]

    *Differs from TensorFlow*: the gradient at a logit of exactly 0 is the derivative of the smooth
    function; TensorFlow leaves out half of the weight there.
    """
    _same_shape(logits, labels, "`logits` and `labels`")
    labels, logits, pos_weight = jnp.broadcast_arrays(labels, logits, pos_weight)
    weight = 1 + (pos_weight - 1) * labels
    tail = _softplus_of_minus_abs(logits) + _positive_part(logits) - logits
    return (1 - labels) * logits + weight * tail


def _stirling(targets: Array) -> Array:
    """`log(targets!)` by Stirling's formula; zero where `targets` is in `[0, 1]`."""
    small = (targets >= 0) & (targets <= 1)
    # The logarithm never sees a small target, so that its infinite slope at 0 stays out.
    safe = jnp.where(small, jnp.ones_like(targets), targets)
    value = safe * jnp.log(safe) - safe + 0.5 * jnp.log(2 * math.pi * safe)
    return jnp.where(small, jnp.zeros_like(targets), value)


@op(
    "nn.log_poisson_loss",
    node="Mul",
    dtypes=_FLOATS,
    cases=(
        "f32[2,3] in (0, 4), f32[2,3]",
        "f64[4] in (2, 5), f64[4], compute_full_loss=True",
        "f64[4] in (0, 1), f64[4], True",
    ),
)
def log_poisson_loss(
    targets: Same, log_input: Same, compute_full_loss: bool = False, name: str | None = None
) -> Array:
    """`exp(log_input) - log_input * targets`: minus the log-likelihood of a Poisson count.

    Args:
        targets: `[...]`, floating point, the counts.
        log_input: The shape and the dtype of `targets`, the logarithm of the predicted rate.
        compute_full_loss: Add `log(targets!)` by Stirling's formula, where `targets` is above 1;
            otherwise the loss is short by that constant.
        name: Ignored.

    Returns:
        The shape and the dtype of `targets`: one loss for each element.

    Raises:
        ValueError: The shapes differ.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.log_poisson_loss([3.0], [0.0]).numpy().tolist()
        [1.0]
    """
    _same_shape(log_input, targets, "`log_input` and `targets`")
    loss = jnp.exp(log_input) - log_input * targets
    return loss + _stirling(targets) if compute_full_loss else loss


@op(
    "nn.l2_loss",
    node="L2Loss",
    dtypes="half bfloat16 float double",
    cases=("f32[2,3]", "f64[4]", "f32[]", "f32[0,3]", "f16[3]"),
)
def l2_loss(t: Same, name: str | None = None) -> Array:
    """`sum(t ** 2) / 2`.

    Args:
        t: `[...]`, floating point.
        name: Ignored.

    Returns:
        `[]`, the dtype of `t`.

    Example:
        >>> import tapejax as tf
        >>> float(tf.nn.l2_loss([3.0, 4.0]))
        12.5
    """
    total: Any = jnp.sum(t * t, dtype=t.dtype)
    return total * 0.5
