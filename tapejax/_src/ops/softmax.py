"""Softmax, its logarithm, and the cross-entropies of class scores.

Half-width inputs are computed in float32 and rounded once. The largest logit of each row is
subtracted as a constant, so no exponential overflows and no derivative flows through the maximum.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, TensorLike, ValueCheck, op

_FLOATS = "half bfloat16 float double"


def widened(x: Array) -> Array:
    """`x` in float32 where its own dtype has half the width, else `x`."""
    return x.astype(jnp.float32) if x.dtype.itemsize == 2 else x


def _axis(logits: Array, axis: Any, node: str) -> int:
    rank = logits.ndim
    if rank == 0:
        raise InvalidArgumentError(f"logits must have >= 1 dimension, got [] [Op:{node}]")
    axis = -1 if axis is None else axis
    if not -rank <= axis < rank:
        raise InvalidArgumentError(
            f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of "
            f"dimensions in the input. Received: dim={axis} [Op:{node}]"
        )
    return axis % rank


def _shifted(logits: Array, axis: int) -> Array:
    # `initial` lets a row without classes have a maximum.
    largest = jnp.max(logits, axis=axis, keepdims=True, initial=-jnp.inf)
    return logits - lax.stop_gradient(largest)


def _softmax(logits: Array, axis: int) -> Array:
    exponentials = jnp.exp(_shifted(logits, axis))
    return exponentials / jnp.sum(exponentials, axis=axis, keepdims=True)


def _log_softmax(logits: Array, axis: int) -> Array:
    shifted = _shifted(logits, axis)
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=axis, keepdims=True))


@op(
    "nn.softmax",
    "math.softmax",
    node="Softmax",
    dtypes=_FLOATS,
    cases=("f32[2,3]", "f64[4]", "f32[2,3,4], axis=1", "f32[3,2], axis=-2", "f32[0,3]", "f16[2,3]"),
)
def softmax(logits: Same, axis: StaticInts | None = None, name: str | None = None) -> Array:
    """`exp(x) / sum(exp(x))` along one axis: scores become probabilities.

    Args:
        logits: `[..., n, ...]`, floating point, rank 1 or more.
        axis: The axis whose elements sum to 1; None means the last.
        name: Ignored.

    Returns:
        The shape and the dtype of `logits`.

    Raises:
        InvalidArgumentError: `logits` is a scalar, or `axis` is outside `[-rank, rank)`.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.softmax([[7.0, 7.0], [0.0, 1000.0]]).numpy().tolist()
        [[0.5, 0.5], [0.0, 1.0]]
    """
    return _softmax(widened(logits), _axis(logits, axis, "Softmax")).astype(logits.dtype)


@op(
    "nn.log_softmax",
    "math.log_softmax",
    node="LogSoftmax",
    dtypes=_FLOATS,
    cases=("f32[2,3]", "f64[4]", "f32[2,3,4], axis=1", "f32[3,2], axis=-2", "f32[0,3]", "f16[2,3]"),
)
def log_softmax(logits: Same, axis: StaticInts | None = None, name: str | None = None) -> Array:
    """`x - log(sum(exp(x)))` along one axis: the logarithm of `tf.nn.softmax`, without underflow.

    Args:
        logits: `[..., n, ...]`, floating point, rank 1 or more.
        axis: The axis whose exponentials sum to 1; None means the last.
        name: Ignored.

    Returns:
        The shape and the dtype of `logits`.

    Raises:
        InvalidArgumentError: `logits` is a scalar, or `axis` is outside `[-rank, rank)`.

    Example:
        >>> import tapejax as tf
        >>> tf.nn.log_softmax([0.0, 1000.0]).numpy().tolist()
        [-1000.0, 0.0]
    """
    return _log_softmax(widened(logits), _axis(logits, axis, "LogSoftmax")).astype(logits.dtype)


@jax.custom_jvp
def _cross_entropy(labels: Array, logits: Array) -> Array:
    return -jnp.sum(labels * _log_softmax(logits, logits.ndim - 1), axis=-1)


@_cross_entropy.defjvp
def _cross_entropy_jvp(
    primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    # TensorFlow's convention: the rule for the logits takes it that labels sum to 1.
    (labels, logits), (d_labels, d_logits) = primals, tangents
    last = logits.ndim - 1
    tangent = (_softmax(logits, last) - labels) * d_logits - _log_softmax(logits, last) * d_labels
    return _cross_entropy(labels, logits), jnp.sum(tangent, axis=-1)


def _rows(x: Array) -> Array:
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _broadcast_labels(labels: Array, logits: Array) -> Array:
    """The labels in the shape of the logits; rows are counted over all leading axes together."""
    if labels.shape == logits.shape:
        return labels
    rows, wanted = _rows(labels), _rows(logits).shape
    if any(have not in (1, want) for have, want in zip(rows.shape, wanted, strict=True)):
        raise InvalidArgumentError(
            f"logits and labels must be broadcastable: logits_size=[{wanted[0]},{wanted[1]}] "
            f"labels_size=[{rows.shape[0]},{rows.shape[1]}] "
            "[Op:SoftmaxCrossEntropyWithLogits]"
        )
    return jnp.broadcast_to(rows, wanted).reshape(logits.shape)


@op(
    "nn.softmax_cross_entropy_with_logits",
    node="SoftmaxCrossEntropyWithLogits",
    dtypes=_FLOATS,
    cases=(
        "f32[4,3] simplex, f32[4,3]",
        "f64[2,3,4] simplex, f64[2,3,4]",
        "f32[5] simplex, f32[5]",
        "[[0.25, 0.5, 1.0], [0.75, 0.5, 0.0]], f64[2,3], axis=0",
        "[[0, 1, 0], [1, 0, 0]], f32[2,3]",
        "[[0.25, 0.75, 0.0]], f16[2,3]",
        "f32[0,3], f32[0,3]",
    ),
    differs=dict.fromkeys(
        (
            "f32[4,3] simplex, f32[4,3]",
            "f64[2,3,4] simplex, f64[2,3,4]",
            "f32[5] simplex, f32[5]",
        ),
        "TensorFlow leaves the second derivative by logits and labels, -1, out",
    ),
)
def softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: Same, axis: StaticInts = -1, name: str | None = None
) -> Array:
    """`-sum(labels * log_softmax(logits))`: how far class scores are from class probabilities.

    The gradient for `logits` is `softmax(logits) - labels`, also where the labels of a row do not
    sum to 1; the gradient for `labels` is `-log_softmax(logits)`.

    Args:
        labels: `[..., classes]`, probabilities; converted to the dtype of `logits`. One row serves
            all rows of `logits`.
        logits: `[..., classes]`, floating point, unnormalised log probabilities.
        axis: The axis of the classes.
        name: Ignored.

    Returns:
        `[...]`, the dtype of `logits`: one loss for each row.

    Raises:
        InvalidArgumentError: The shapes do not fit, or `axis` is outside `[-rank, rank)`.

    Example:
        >>> import tapejax as tf
        >>> loss = tf.nn.softmax_cross_entropy_with_logits(labels=[[0.5, 0.5]], logits=[[0.0, 0.0]])
        >>> round(float(loss[0]), 4)
        0.6931

    *Differs from TensorFlow*: the second derivative by logits and labels is -1 as in mathematics;
    TensorFlow leaves it out.
    """
    classes = _axis(logits, axis, "SoftmaxCrossEntropyWithLogits")
    if labels.ndim == 0:
        raise InvalidArgumentError(
            "labels must have >= 1 dimension, got [] [Op:SoftmaxCrossEntropyWithLogits]"
        )
    wide = widened(logits)
    if labels.ndim == logits.ndim:
        labels = jnp.moveaxis(labels, classes, -1)
    wide = jnp.moveaxis(wide, classes, -1)
    labels = _broadcast_labels(labels.astype(wide.dtype), wide)
    return _cross_entropy(labels, wide).astype(logits.dtype)


def _bad_label(labels: Array, logits: Array, name: str | None = None) -> tuple[Any, ...]:
    classes = logits.shape[-1] if logits.ndim else 0
    flat = labels.reshape(-1)
    if not flat.size:
        return False, 0, classes
    bad = (flat < 0) | (flat >= classes)
    return jnp.any(bad), flat[jnp.argmax(bad)], classes


def _bad_label_message(label: int, classes: int) -> str:
    return f"Received a label value of {label} which is outside the valid range of [0, {classes})."


def _check_sparse_labels(labels: Array, logits: Array) -> None:
    if logits.ndim == 0:
        raise ValueError(f"`logits` cannot be a scalar. Received logits of shape {logits.shape}")
    if labels.ndim != logits.ndim - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={labels.shape} of rank {labels.ndim} and "
            f"logits.shape={logits.shape} of rank {logits.ndim}"
        )
    if labels.shape != logits.shape[:-1]:
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. "
            f"Received: labels.shape={labels.shape} and logits.shape={logits.shape}"
        )
    if labels.dtype not in (jnp.int32, jnp.int64):
        raise InvalidArgumentError(
            f"Value for attr 'Tlabels' of {labels.dtype} is not in the list of allowed values: "
            "int32, int64 [Op:SparseSoftmaxCrossEntropyWithLogits]"
        )
    if labels.size and not logits.shape[-1]:
        raise InvalidArgumentError(
            f"Must have at least one class, but got logits shape {list(logits.shape)} "
            "[Op:SparseSoftmaxCrossEntropyWithLogits]"
        )


@op(
    "nn.sparse_softmax_cross_entropy_with_logits",
    node="SparseSoftmaxCrossEntropyWithLogits",
    dtypes=_FLOATS,
    no_gradient=("labels",),
    check=ValueCheck(_bad_label, _bad_label_message),
    cases=(
        "i32[4] in (0, 3), f32[4,3]",
        "i64[2,2] in (0, 3), f64[2,2,3]",
        "i32[] in (0, 3), f32[3]",
        "i32[0], f32[0,3]",
        "i32[2] in (0, 3), f16[2,3]",
    ),
)
def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike, logits: Same, name: str | None = None
) -> Array:
    """`-log_softmax(logits)[label]`: the cross-entropy where each row belongs to one class.

    Args:
        labels: `[...]`, int32 or int64, the class of each row, in `[0, classes)`.
        logits: `[..., classes]`, floating point, unnormalised log probabilities.
        name: Ignored.

    Returns:
        `[...]`, the dtype of `logits`: one loss for each row.

    Raises:
        ValueError: `labels` does not have the shape of `logits` without its last axis.
        InvalidArgumentError: A label is out of range, or `labels` is neither int32 nor int64.

    Example:
        >>> import tapejax as tf
        >>> loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=[[0.0, 0.0]])
        >>> round(float(loss[0]), 4)
        0.6931
    """
    _check_sparse_labels(labels, logits)
    classes = logits.shape[-1]
    wide = widened(logits)
    # A comparison with every class, not a gather: its gradient is elementwise instead of a scatter.
    hit = labels[..., None] == jnp.arange(classes, dtype=labels.dtype).reshape(
        (1,) * labels.ndim + (classes,)
    )
    shifted = _shifted(wide, logits.ndim - 1)
    score = jnp.sum(jnp.where(hit, shifted, jnp.zeros_like(shifted)), axis=-1)
    loss = jnp.log(jnp.sum(jnp.exp(shifted), axis=-1)) - score
    # Where the check could not raise before the value is used, NaN marks the row.
    in_range = (labels >= 0) & (labels < classes)
    return jnp.where(in_range, loss, jnp.full_like(loss, jnp.nan)).astype(logits.dtype)
