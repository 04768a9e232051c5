"""Connectionist temporal classification: the loss of sequences whose alignment is unknown."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.registry import (
    Array,
    Index,
    Same,
    TensorLike,
    ValueCheck,
    op,
    public,
)
from tapejax._src.ops.collapsing import collapsed
from tapejax._src.ops.selecting import host_value

_DTYPES = "bfloat16 half float double"
# Stands for the logarithm of 0: its differences stay finite, so that no derivative is NaN.
_NEVER = -1e30
_IMPOSSIBLE = -1e29
_NODE = "CTCLoss"


def _with_blanks(labels: Array, blank: int) -> Array:
    """Labels with a blank before, between and after them: `[batch, 2 * n + 1]`."""
    batch, count = labels.shape
    blanks = jnp.full((batch, count, 1), blank, labels.dtype)
    pairs = jnp.concatenate([blanks, labels[..., None]], axis=-1).reshape(batch, 2 * count)
    return jnp.concatenate([pairs, blanks[:, :1, 0] if count else _lone(labels, blank)], axis=-1)


def _lone(labels: Array, blank: int) -> Array:
    return jnp.full((labels.shape[0], 1), blank, labels.dtype)


def _log_likelihood(
    logits: Array, labels: Array, label_length: Array, logit_length: Array, blank: int
) -> Array:
    """The logarithm of the probability of all alignments, `[batch]`."""
    symbols = _with_blanks(labels, blank)
    batch, states = symbols.shape
    scores = jax.nn.log_softmax(logits, axis=-1)
    # `[time, batch, states]`: the score of the symbol of each state.
    taken = jnp.take_along_axis(scores, symbols[None].astype(jnp.int32), axis=-1, mode="clip")
    # A state can be reached from two back if a label, and not the same one, lies there.
    other = symbols[:, 2:] != symbols[:, :-2]
    skips = jnp.concatenate([jnp.zeros((batch, 2), bool), other], axis=1)[:, :states]
    skips = skips & (jnp.arange(states) % 2 == 1)

    def behind(values: Array, count: int) -> Array:
        start = jnp.full((batch, count), _NEVER, values.dtype)
        return jnp.concatenate([start, values], axis=1)[:, :states]

    def step(before: Array, at: tuple[Array, Array]) -> tuple[Array, None]:
        time, score = at
        two = jnp.where(skips, behind(before, 2), _NEVER)
        ways = jnp.stack([before, behind(before, 1), two])
        after = jnp.maximum(jax.nn.logsumexp(ways, axis=0) + score, _NEVER)
        return jnp.where((time < logit_length)[:, None], after, before), None

    # Before the first step a virtual state before all others holds everything.
    begin = jnp.arange(states) < 2
    start = jnp.where(begin, 0.0, _NEVER).astype(scores.dtype) + 0 * taken[:1].sum()
    first = jnp.where(begin, taken[0], _NEVER)
    nothing = jnp.where(jnp.arange(states) == 0, start, _NEVER)
    alive = (logit_length > 0)[:, None]
    first = jnp.where(alive, first, nothing)
    times = jnp.arange(1, logits.shape[0])
    last, _ = lax.scan(step, first, (times, taken[1:]))
    end = 2 * label_length.astype(jnp.int32)[:, None]
    places = jnp.arange(states)
    final = (places == end) | (places == end - 1)
    return jax.nn.logsumexp(jnp.where(final, last, _NEVER), axis=1)


def _bad_lengths(
    logits: Array,
    labels: Array,
    label_length: Array,
    logit_length: Array,
    logits_time_major: Any,
    blank_index: Any,
) -> tuple[Any, ...]:
    time = logits.shape[0] if logits_time_major else logits.shape[1]
    within = jnp.arange(labels.shape[1]) < label_length[:, None]
    known = (labels >= 0) & (labels < logits.shape[-1])
    wrong_label = jnp.any(within & ~known)
    long_labels = jnp.any((label_length > labels.shape[1]) | (label_length < 0))
    long_logits = jnp.any((logit_length > time) | (logit_length < 0))
    which = jnp.where(long_labels, 1, jnp.where(long_logits, 2, 3))
    sizes = labels.shape[1], time, logits.shape[-1]
    return wrong_label | long_labels | long_logits, which, *sizes


def _complaint(which: float, labels: float, time: float, classes: float, *_: float) -> str:
    if which == 1:
        return f"label_length must lie in [0, {int(labels)}], the number of columns of labels"
    if which == 2:
        return f"logit_length must lie in [0, {int(time)}], the number of steps of logits"
    return f"labels must lie in [0, {int(classes)}), the number of classes of logits"


@op(
    "_ctc_loss",
    node=_NODE,
    dtypes=_DTYPES,
    heavy=True,
    no_gradient=("labels", "label_length", "logit_length"),
    check=ValueCheck(_bad_lengths, _complaint),
    cases=(
        "f32[5,2,4], i32[2,2] in (1, 4), i32[2] in (1, 3), i32[2] in (4, 6), True, 0",
        "f64[2,5,3], i64[2,2] in (0, 2), i64[2] in (0, 3), i32[2] in (4, 6), False, 2",
    ),
)
def _ctc_loss(
    logits: Same,
    labels: Index,
    label_length: Index,
    logit_length: Index,
    logits_time_major: bool,
    blank_index: int,
) -> Array:
    major = logits if logits_time_major else jnp.swapaxes(logits, 0, 1)
    wide = major.astype(jnp.float32) if major.dtype.itemsize == 2 else major
    found = _log_likelihood(wide, labels, label_length, logit_length, blank_index)
    impossible = found < _IMPOSSIBLE
    return jnp.where(impossible, jnp.inf, -found).astype(logits.dtype)


def _check_shapes(logits: Any, labels: Any, lengths: tuple[Any, Any], time_major: bool) -> None:
    shapes = logits.aval.shape, labels.aval.shape, *[length.aval.shape for length in lengths]
    batch = shapes[0][1 if time_major else 0] if len(shapes[0]) == 3 else None
    labelled = len(shapes[1]) == 2 and shapes[1][0] == batch
    if batch is None or not labelled or shapes[2] != (batch,) or shapes[3] != (batch,):
        order = "[frames, batch, classes]" if time_major else "[batch, frames, classes]"
        raise InvalidArgumentError(
            f"logits must be {order}, labels [batch, n], label_length and logit_length [batch]. "
            f"Received shapes {shapes[0]}, {shapes[1]}, {shapes[2]} and {shapes[3]} with "
            f"logits_time_major={time_major} [Op:{_NODE}]"
        )
    if 0 in (shapes[0][0 if time_major else 1], shapes[0][2]):
        raise InvalidArgumentError(
            f"logits need a frame and a class. Received shape {shapes[0]} [Op:{_NODE}]"
        )


@public("nn.ctc_loss")
def ctc_loss(
    labels: Any,
    logits: Any,
    label_length: Any,
    logit_length: Any,
    logits_time_major: bool = True,
    unique: Any = None,
    blank_index: int | None = None,
    name: str | None = None,
) -> Any:
    """The loss of sequences of labels that are shorter than the sequences of logits.

    Frames between labels are blank, and a label may last for several frames; the probabilities of
    all such ways to place the labels are summed.

    Args:
        labels: `[batch, n]` integers, of which the first `label_length` count; or a
            `tf.SparseTensor` of that shape.
        logits: `[frames, batch, classes]`, floating; one of the classes is the blank.
        label_length: `[batch]` integers; None for sparse labels.
        logit_length: `[batch]` integers: how many frames count.
        logits_time_major: False if `logits` are `[batch, frames, classes]`.
        unique: Ignored.
        blank_index: The class that is the blank, 0 by default (but needed for sparse labels).
        name: Ignored.

    Returns:
        `[batch]`, the dtype of `logits`: minus the logarithm of the probability. Infinity, with a
        zero gradient, where there are too few frames for the labels.

    Raises:
        InvalidArgumentError: The shapes do not fit, or a length or a label is out of range.
        ValueError: `blank_index` is out of range, or missing for sparse labels.

    Example:
        >>> import tapejax as tf
        >>> loss = tf.nn.ctc_loss([[1]], tf.zeros([2, 1, 2]), [1], [2])
        >>> round(float(loss[0]), 4)  # 3 of the 4 ways to fill two frames
        0.2877

    *Differs from TensorFlow*: what no alignment can give is infinite, not about 707. A length or a
    label out of range is an error. Second derivatives are right, not NaN. float64 is accepted.

    References: Graves et al., "Connectionist temporal classification", ICML 2006.
    """
    del unique, name
    tensor = as_tensor(logits)
    if hasattr(labels, "dense_shape"):
        if blank_index is None:
            raise ValueError(
                "Argument `blank_index` must be provided when `labels` is a `SparseTensor`."
            )
        labels, label_length = _dense(labels, tensor, logits_time_major)
    dense, lengths = as_tensor(labels), (as_tensor(label_length), as_tensor(logit_length))
    _check_shapes(tensor, dense, lengths, logits_time_major)
    classes = tensor.aval.shape[-1]
    blank = 0 if blank_index is None else int(blank_index)
    if not -classes <= blank < classes:
        raise ValueError(f"blank_index={blank} is out of range for {classes} classes")
    return _ctc_loss(tensor, dense, *lengths, bool(logits_time_major), blank % classes)


def _dense(labels: Any, logits: Any, time_major: bool) -> tuple[Any, Any]:
    """Sparse labels as a matrix and the lengths of its rows; their places are read."""
    indices, values = host_value(labels.indices), host_value(labels.values)
    shape = logits.aval.shape
    batch = shape[1 if time_major else 0] if len(shape) == 3 else 0
    dense, lengths = collapsed(indices, values, batch)
    return constant_tensor(dense), constant_tensor(lengths)


@op(
    "nn.ctc_unique_labels",
    node="Unique",
    gradient="none",
    cases=("i32[3,5] in (0, 4)", "i64[2,4] in (0, 3)", "i32[2,1] in (0, 3)"),
)
def ctc_unique_labels(labels: TensorLike, name: str | None = None) -> list[Array]:
    """The different labels of each row, and the place of each label among them.

    Args:
        labels: `[batch, n]`, integers.
        name: Ignored.

    Returns:
        `[unique, indices]`: `[batch, n]` int64, the values of a row in the order in which they
        first appear, then zeros; and `[batch, n]` int32 such that `unique[b, indices[b, i]]` is
        `labels[b, i]`.

    Raises:
        InvalidArgumentError: If `labels` is not a matrix.

    Example:
        >>> import tapejax as tf
        >>> unique, indices = tf.nn.ctc_unique_labels([[3, 3, 5]])
        >>> unique.numpy().tolist(), indices.numpy().tolist()
        ([[3, 5, 0]], [[0, 0, 1]])
    """
    if labels.ndim != 2:
        raise InvalidArgumentError(f"labels must be [batch, n]. Received shape {labels.shape}")
    count = labels.shape[1]
    if not labels.size:
        return [labels.astype(jnp.int64), labels.astype(jnp.int32)]
    first = jnp.argmax(labels[:, :, None] == labels[:, None, :], axis=2)
    new = first == jnp.arange(count)
    numbers = jnp.cumsum(new, axis=1, dtype=jnp.int32) - 1
    indices = jnp.take_along_axis(numbers, first, axis=1)
    places = jnp.where(new, numbers, count)
    rows = jnp.arange(labels.shape[0])[:, None]
    unique = (
        jnp.zeros(labels.shape, jnp.int64)
        .at[rows, places]
        .set(labels.astype(jnp.int64), mode="drop")
    )
    return [unique, indices]
