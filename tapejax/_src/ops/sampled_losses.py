"""Losses over very many classes, computed from a sample of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, static_tensor
from tapejax._src.engine.registry import Array, Same, TensorLike, op, public
from tapejax._src.ops.arithmetic import add, multiply, subtract
from tapejax._src.ops.candidate_sampling import log_uniform_candidate_sampler
from tapejax._src.ops.casting import cast
from tapejax._src.ops.creation import ones_like, zeros_like
from tapejax._src.ops.cross_entropy import sigmoid_cross_entropy_with_logits
from tapejax._src.ops.elementwise import log
from tapejax._src.ops.gathering import embedding_lookup
from tapejax._src.ops.joining import concat
from tapejax._src.ops.matmul import matmul
from tapejax._src.ops.random_seed import pass_seed
from tapejax._src.ops.reduction import reduce_sum
from tapejax._src.ops.selecting import boolean_mask
from tapejax._src.ops.shaping import expand_dims, reshape
from tapejax._src.ops.softmax import softmax_cross_entropy_with_logits
from tapejax._src.tape.custom_gradient import stop_gradient

_LOWEST = float(np.finfo(np.float32).min)  # as good as minus infinity, and still a number


# ---------------------------------------------------------------------- accidental hits
class Hits(NamedTuple):
    """Sampled classes that are true ones of some example.

    Attributes:
        indices: `[hits]`, int32: the example.
        ids: `[hits]`, int64: the place among the sampled classes.
        weights: `[hits]`, float32: what to add to a logit so that it no longer counts.
    """

    indices: Any
    ids: Any
    weights: Any


def _last_place(true: Array, sampled: Array) -> Array:
    """The last place where a true class is among the sampled ones, or -1."""
    place = jnp.arange(sampled.shape[0], dtype=jnp.int64)
    return jnp.max(jnp.where(true[..., None] == sampled, place, -1), axis=-1, initial=-1)


@op(
    "_accidental_hits",
    node="ComputeAccidentalHits",
    gradient="lookup",
    cases=("i64[3,2] in (0, 5), i64[4] in (0, 5) distinct", "i64[2,1] in (0, 5), i64[0]"),
)
def _hits(true: TensorLike, sampled: TensorLike) -> Array:
    """Where each true class was sampled, or -1: `[batch, num_true]`."""
    return _last_place(true, sampled)


@op(
    "_without_hits",
    node="AddV2",
    no_gradient=("true", "sampled"),
    # No hits: beside the lowest number the differences of a logit drown in rounding.
    cases=("f32[3,4], i64[3,2] in (0, 5), i64[4] in (5, 9) distinct",),
)
def _without_hits(logits: Same, true: TensorLike, sampled: TensorLike) -> Array:
    """Logits of sampled classes, those of accidental hits made as low as can be."""
    place = jnp.arange(sampled.shape[0], dtype=jnp.int64)
    hit = jnp.any(_last_place(true, sampled)[..., None] == place, axis=1)
    return logits + jnp.where(hit, jnp.asarray(_LOWEST, logits.dtype), jnp.zeros_like(logits))


def _int64(value: Any) -> Tensor:
    return as_tensor(value, None if isinstance(value, Tensor) else dtypes.int64)


@public("nn.compute_accidental_hits")
def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> Hits:
    """Find the sampled classes that are true ones of some example.

    Args:
        true_classes: `[batch, num_true]`, int64.
        sampled_candidates: `[num_sampled]`, int64.
        num_true: How many classes each example has.
        seed: Ignored.
        name: Ignored.

    Returns:
        `indices` `[hits]` int32, the example; `ids` `[hits]` int64, the place among the sampled
        classes; `weights` `[hits]` float32, what to add to that logit so that it does not count.

    Raises:
        InvalidArgumentError: If a shape does not fit.

    Example:
        >>> import tapejax as tf
        >>> hits = tf.nn.compute_accidental_hits([[1, 2], [3, 4]], [4, 7, 1], num_true=2)
        >>> hits.indices.numpy().tolist(), hits.ids.numpy().tolist()
        ([0, 1], [2, 0])
    """
    node = "ComputeAccidentalHits"
    true, sampled = _int64(true_classes), _int64(sampled_candidates)
    shape = true.aval.shape
    if len(shape) != 2 or shape[1] != num_true:
        raise InvalidArgumentError(
            f"true_candidates must be a batch_size * num_true matrix [Op:{node}]: got shape "
            f"{list(shape)} and num_true={num_true}"
        )
    if len(sampled.aval.shape) != 1:
        raise InvalidArgumentError(
            "sampled_candidates must be a vector, which is typically an output from "
            f"CandidateSampler [Op:{node}]: got shape {list(sampled.aval.shape)}"
        )
    pass_seed(seed)
    places = reshape(_hits(true, sampled), [-1])
    found = places >= 0
    examples = np.repeat(np.arange(shape[0], dtype=np.int32), num_true)
    ids = boolean_mask(places, found)
    weights = np.full(examples.shape, _LOWEST, np.float32)
    return Hits(
        boolean_mask(static_tensor(examples), found),
        ids,
        boolean_mask(static_tensor(weights), found),
    )


# ---------------------------------------------------------------------- losses
class _Problem(NamedTuple):
    """The arguments both losses have."""

    weights: Any
    biases: Any
    labels: Any
    inputs: Any
    num_sampled: int
    num_classes: int
    num_true: int
    sampled_values: Any
    remove_accidental_hits: bool


def _rows(table: Any, ids: Tensor, like: Tensor) -> Tensor:
    rows = embedding_lookup(table, ids)
    return rows if rows.dtype == like.dtype else cast(rows, like.dtype)


def _sampled_logits(problem: _Problem, seed: Any) -> tuple[Tensor, Tensor]:
    """Logits and labels of the true classes and of the sampled ones, true ones first."""
    inputs = as_tensor(problem.inputs)
    labels = cast(as_tensor(problem.labels), dtypes.int64)
    batch, count = labels.aval.shape[0], problem.num_true
    sampled_values = problem.sampled_values
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            labels, count, problem.num_sampled, True, problem.num_classes, seed=seed
        )
    sampled, true_expected, sampled_expected = (stop_gradient(x) for x in sampled_values)
    sampled = cast(sampled, dtypes.int64)
    ids = concat([reshape(labels, [-1]), sampled], 0)
    weights, biases = (
        concat(list(x), 0) if isinstance(x, (list, tuple)) and len(x) > 1 else x
        for x in (problem.weights, problem.biases)
    )
    rows, shifts = _rows(weights, ids, inputs), _rows(biases, ids, inputs)
    true = batch * count
    own = reshape(rows[:true], [batch, count, rows.aval.shape[1]])
    logits = reduce_sum(multiply(expand_dims(inputs, 1), own), axis=2)
    logits = add(logits, reshape(shifts[:true], [batch, count]))
    others = add(matmul(inputs, rows[true:], transpose_b=True), shifts[true:])
    if problem.remove_accidental_hits:
        pass_seed(None)  # TensorFlow's op takes one that it does not use
        others = _without_hits(others, labels, sampled)
    logits = subtract(logits, log(true_expected))
    others = subtract(others, log(sampled_expected))
    targets = concat([ones_like(logits) / count, zeros_like(others)], 1)
    return concat([logits, others], 1), targets


@public("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str = "sampled_softmax_loss",
) -> Any:
    """The softmax cross entropy with the true classes and a sample of the others, for training.

    For evaluation compute all logits and use `tf.nn.softmax_cross_entropy_with_logits`.

    Args:
        weights: `[num_classes, dim]`, or a list of such parts, to be joined.
        biases: `[num_classes]`.
        labels: `[batch, num_true]`, integers.
        inputs: `[batch, dim]`.
        num_sampled: How many classes to sample for the batch.
        num_classes: How many there are.
        num_true: How many true classes each example has.
        sampled_values: What a candidate sampler gave. Default: that of
            `tf.random.log_uniform_candidate_sampler`, for classes in order of frequency.
        remove_accidental_hits: Whether sampled classes that are true ones do not count.
        seed: Seed of the sampler beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        `[batch]`, of the dtype of `inputs`, with gradients to `weights`, `biases` and `inputs`.

    Example:
        >>> import tapejax as tf
        >>> loss = tf.nn.sampled_softmax_loss(
        ...     tf.zeros([9, 4]), tf.zeros([9]), [[1], [2]], tf.ones([2, 4]), 3, 9
        ... )
        >>> loss.shape
        TensorShape([2])

    References: Jean, Cho, Memisevic, Bengio, "On using very large target vocabulary for neural
    machine translation", ACL 2015.
    """
    problem = _Problem(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
    )
    logits, targets = _sampled_logits(problem, seed)
    return softmax_cross_entropy_with_logits(stop_gradient(targets), logits)


@public("nn.nce_loss")
def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Any:
    """The noise-contrastive loss: tell the true classes from a sample of the others.

    Args:
        weights: `[num_classes, dim]`, or a list of such parts, to be joined.
        biases: `[num_classes]`.
        labels: `[batch, num_true]`, integers.
        inputs: `[batch, dim]`.
        num_sampled: How many classes to sample for the batch.
        num_classes: How many there are.
        num_true: How many true classes each example has.
        sampled_values: What a candidate sampler gave. Default: that of
            `tf.random.log_uniform_candidate_sampler`, for classes in order of frequency.
        remove_accidental_hits: Whether sampled classes that are true ones do not count.
        name: Ignored.

    Returns:
        `[batch]`, of the dtype of `inputs`, with gradients to `weights`, `biases` and `inputs`.

    Example:
        >>> import tapejax as tf
        >>> loss = tf.nn.nce_loss(
        ...     tf.zeros([9, 4]), tf.zeros([9]), [[1], [2]], tf.ones([2, 4]), 3, 9
        ... )
        >>> loss.shape
        TensorShape([2])

    References: Gutmann, Hyvarinen, "Noise-contrastive estimation: a new estimation principle for
    unnormalized statistical models", AISTATS 2010.
    """
    problem = _Problem(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        remove_accidental_hits,
    )
    logits, targets = _sampled_logits(problem, None)
    return reduce_sum(sigmoid_cross_entropy_with_logits(targets, logits), axis=1)
