"""Decoders of connectionist temporal classification, and the distance of what they find.

They read their arguments: how many labels a sequence has depends on the values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.selecting import host_value
from tapejax._src.ops.sparse_tensor import SparseTensor

Array = np.ndarray[Any, Any]
Prefix = tuple[int, ...]
# The logarithms of the probabilities that a prefix ends with a blank, and with its last label.
Ends = tuple[float, float]


def _read(inputs: Any, sequence_length: Any, node: str) -> tuple[Array, Array]:
    logits, lengths = host_value(as_tensor(inputs)), host_value(as_tensor(sequence_length))
    if logits.ndim != 3:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"inputs is not a 3-Tensor [time, batch, classes]: shape {logits.shape} [Op:{node}]",
        )
    if lengths.shape != logits.shape[1:2]:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"len(sequence_length) != batch_size. len(sequence_length): {lengths.shape}, "
            f"batch_size: {logits.shape[1]} [Op:{node}]",
        )
    for place, length in enumerate(lengths.tolist()):
        if not 0 <= length <= logits.shape[0]:
            raise errors.FailedPreconditionError(
                None, None, f"sequence_length({place}) <= {logits.shape[0]} [Op:{node}]"
            )
    return logits, lengths


def _as_sparse(rows: list[Prefix]) -> SparseTensor:
    places = [(row, place) for row, labels in enumerate(rows) for place in range(len(labels))]
    indices = np.asarray(places, np.int64).reshape(-1, 2)
    values = np.asarray([label for labels in rows for label in labels], np.int64)
    shape = np.asarray([len(rows), max(map(len, rows), default=0)], np.int64)
    return SparseTensor(*(constant_tensor(part) for part in (indices, values, shape)))


@public("nn.ctc_greedy_decoder")
def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: int | None = None
) -> tuple[list[SparseTensor], Any]:
    """The labels of the most probable class of each frame.

    Args:
        inputs: `[time, batch, classes]` logits, float32 or float64 (their values are read).
        sequence_length: `[batch]` int32: how many frames count.
        merge_repeated: Whether a class that lasts for several frames is one label.
        blank_index: The class that is the blank; negative counts from the end. Default: the last.

    Returns:
        `([decoded], neg_sum_logits)`: a sparse `[batch, n]` int64 matrix of labels; and
        `[batch, 1]`, the sum over frames of the largest logit, negated.

    Raises:
        InvalidArgumentError: If the shapes do not fit, or `blank_index` is out of range.
        FailedPreconditionError: If a length exceeds the number of frames.

    Example:
        >>> import tapejax as tf
        >>> logits = tf.constant([[[2.0, 0.0, 0.0]], [[2.0, 0.0, 0.0]], [[0.0, 2.0, 0.0]]])
        >>> (found,), score = tf.nn.ctc_greedy_decoder(logits, [3])
        >>> found.values.numpy().tolist(), score.numpy().tolist()
        ([0, 1], [[-6.0]])
    """
    node = "CTCGreedyDecoder"
    logits, lengths = _read(inputs, sequence_length, node)
    classes = logits.shape[2]
    blank = classes - 1 if blank_index is None else int(blank_index)
    if not -classes <= blank < classes:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"blank_index expected to be between {-classes} and {classes - 1} but was {blank} "
            f"[Op:{node}]",
        )
    blank %= classes
    rows: list[Prefix] = []
    scores = np.zeros((len(lengths), 1), logits.dtype)
    for row, length in enumerate(lengths.tolist()):
        best = np.argmax(logits[:length, row], axis=1).tolist() if length else []
        scores[row] = -np.sum(np.max(logits[:length, row], axis=1, initial=-np.inf)) if best else 0
        before = [-1, *best][: len(best)]
        kept = [
            label
            for label, last in zip(best, before, strict=True)
            if label != blank and not (merge_repeated and label == last)
        ]
        rows.append(tuple(kept))
    return [_as_sparse(rows)], constant_tensor(scores)


def _extended(beams: dict[Prefix, Ends], scores: Array, blank: int) -> dict[Prefix, Ends]:
    """Every prefix after one more frame, from every prefix before it."""
    found: dict[Prefix, list[float]] = {}

    def add(prefix: Prefix, which: int, score: float) -> None:
        ends = found.setdefault(prefix, [-np.inf, -np.inf])
        ends[which] = float(np.logaddexp(ends[which], score))

    for prefix, (with_blank, with_label) in beams.items():
        total = float(np.logaddexp(with_blank, with_label))
        add(prefix, 0, total + scores[blank])
        for label, score in enumerate(scores.tolist()):
            if label == blank:
                continue
            if prefix and label == prefix[-1]:
                add(prefix, 1, with_label + score)
                add((*prefix, label), 1, with_blank + score)
            else:
                add((*prefix, label), 1, total + score)
    return {prefix: (ends[0], ends[1]) for prefix, ends in found.items()}


def _best(beams: dict[Prefix, Ends], count: int) -> dict[Prefix, Ends]:
    ordered = sorted(beams.items(), key=lambda item: -np.logaddexp(*item[1]))
    return dict(ordered[:count])


@public("nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Any]:
    """The most probable sequences of labels, each summed over its alignments.

    Args:
        inputs: `[time, batch, classes]` logits, float32 or float64 (their values are read); the
            last class is the blank.
        sequence_length: `[batch]` int32: how many frames count.
        beam_width: How many prefixes are kept after each frame.
        top_paths: How many sequences are returned.

    Returns:
        `(decoded, log_probability)`: for each path a sparse `[batch, n]` int64 matrix of labels;
        and `[batch, top_paths]`.

    Raises:
        InvalidArgumentError: If the shapes do not fit, or more paths are asked for than the beam
            is wide, or than there are.
        FailedPreconditionError: If a length exceeds the number of frames.

    Example:
        >>> import tapejax as tf
        >>> logits = tf.constant([[[2.0, 0.0, 0.0]], [[0.0, 0.0, 2.0]], [[0.0, 2.0, 0.0]]])
        >>> (found,), score = tf.nn.ctc_beam_search_decoder(logits, [3])
        >>> found.values.numpy().tolist()
        [0, 1]

    References: Graves, Fernandez, Gomez, Schmidhuber, "Connectionist temporal classification",
    ICML 2006.
    """
    node = "CTCBeamSearchDecoder"
    logits, lengths = _read(inputs, sequence_length, node)
    if top_paths > beam_width:
        raise errors.InvalidArgumentError(
            None, None, f"requested more paths than the beam width. [Op:{node}]"
        )
    blank = logits.shape[2] - 1
    paths: list[list[Prefix]] = [[] for _ in range(top_paths)]
    scores = np.zeros((len(lengths), top_paths), logits.dtype)
    for row, length in enumerate(lengths.tolist()):
        beams: dict[Prefix, Ends] = {(): (0.0, -np.inf)}
        for frame in logits[:length, row].astype(np.float64):
            normalized = frame - np.logaddexp.reduce(frame)
            beams = _best(_extended(beams, normalized, blank), beam_width)
        ends = list(_best(beams, top_paths).items())
        if len(ends) < top_paths:
            raise errors.InvalidArgumentError(
                None, None, f"Less leaves in the beam search than requested. [Op:{node}]"
            )
        for place, (prefix, found) in enumerate(ends):
            paths[place].append(prefix)
            scores[row, place] = np.logaddexp(*found)
    return [_as_sparse(rows) for rows in paths], constant_tensor(scores)


# ---------------------------------------------------------------------- distances
def _sequences(sparse: Any, name: str) -> tuple[dict[Prefix, list[Any]], Prefix]:
    """The values of each sequence, by its place, and the sizes of the other axes."""
    if not isinstance(sparse, SparseTensor):
        raise TypeError(f"{name.capitalize()} must be a SparseTensor, got {type(sparse)}.")
    indices, values = host_value(sparse.indices), host_value(sparse.values)
    found: dict[Prefix, list[Any]] = {}
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        found.setdefault(tuple(place), []).append(value)
    return found, tuple(host_value(sparse.dense_shape)[:-1].tolist())


def _distance(left: list[Any], right: list[Any]) -> int:
    row = list(range(len(right) + 1))
    for count, item in enumerate(left, 1):
        above, row[0] = row[0], count
        for place, other in enumerate(right, 1):
            above, row[place] = (
                row[place],
                min(row[place] + 1, row[place - 1] + 1, above + (item != other)),
            )
    return row[-1]


@public("edit_distance")
def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Any:
    """How many insertions, deletions and replacements turn each sequence into another.

    Args:
        hypothesis: A `tf.SparseTensor` `[..., n]` of sequences (its values are read).
        truth: A `tf.SparseTensor` of the same rank and dtype.
        normalize: Whether to divide by the length of the truth.
        name: Ignored.

    Returns:
        `[...]` float32. Infinity for something where the truth is empty and `normalize` is set.

    Raises:
        TypeError: If an argument is no `tf.SparseTensor`.
        InvalidArgumentError: If the ranks differ.

    Example:
        >>> import tapejax as tf
        >>> words = [tf.sparse.from_dense([[1, 2, 3]]), tf.sparse.from_dense([[1, 3, 4]])]
        >>> tf.edit_distance(*words, normalize=False).numpy().tolist()
        [2.0]
    """
    del name
    mine, shape = _sequences(hypothesis, "hypothesis")
    theirs, other = _sequences(truth, "truth")
    if len(shape) != len(other):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"hypothesis and truth must have one rank. Received: {len(shape) + 1} and "
            f"{len(other) + 1} [Op:EditDistance]",
        )
    sizes = tuple(max(pair) for pair in zip(shape, other, strict=True))
    out = np.zeros(sizes, np.float32)
    for place in {*mine, *theirs}:
        left, right = mine.get(place, []), theirs.get(place, [])
        found = _distance(left, right)
        if normalize:
            out[place] = found / len(right) if right else (np.inf if left else 0)
        else:
            out[place] = found
    return constant_tensor(out)
