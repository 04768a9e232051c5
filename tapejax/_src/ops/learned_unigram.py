"""A candidate sampler that learns how frequent the classes are from the true ones it is shown."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import static_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.registry import Array, StaticInts, TensorLike, ValueCheck, op, public
from tapejax._src.ops import philox_candidates
from tapejax._src.ops.candidate_sampling import OUTSIDE, Candidates, counted, outside, request
from tapejax._src.ops.random_seed import lasting

_NODE = "LearnedUnigramCandidateSampler"


@op(
    "_learned_unigram_candidates",
    node="LearnedUnigramCandidateSampler",
    gradient="lookup",
    check=ValueCheck(
        lambda state, true, weights, count, unique: outside(true, weights.shape[0]), OUTSIDE
    ),
    cases=("u32[6] in (0, 99), i64[2,1] in (0, 9), i32[9] in (1, 4), 4, True",),
)
def _learned_unigram(
    state: TensorLike, true: TensorLike, weights: TensorLike, count: StaticInts, unique: bool
) -> tuple[Array, Array, Array, Array]:
    """Classes as often as they were seen, and the weights with what is seen now."""
    total = jnp.sum(weights, dtype=jnp.int32).astype(jnp.float32)

    def chance(x: Array) -> Array:
        return weights[x].astype(jnp.float32) / total

    draw = philox_candidates.by_weight(weights)
    found = counted(state, draw, chance, true, (count, unique))
    return *found, weights.at[true.reshape(-1)].add(1)


class _Learned:
    """What the samplers have learned since the last `tf.random.set_seed`."""

    epoch = -1
    weights: dict[Any, Tensor] = {}  # noqa: RUF012  replaced with each epoch


def _weights(key: Any, count: int) -> Tensor:
    if key is not None and key[0] != _Learned.epoch:
        _Learned.epoch, _Learned.weights = key[0], {}
    found = _Learned.weights.get(key)
    return static_tensor(np.ones(count, np.int32)) if found is None else found


@public("nn.learned_unigram_candidate_sampler", "random.learned_unigram_candidate_sampler")
def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Sample classes as often as they were among the true ones of earlier calls.

    All calls with the same numbers and the same seed learn together, starting at one of each class;
    with `tf.random.set_seed` and no `seed` every call is the first one. Equal to TensorFlow's for
    the same seeds and order of calls.

    Args:
        true_classes: `[batch, num_true]`, int64.
        num_true: How many classes each example has.
        num_sampled: How many classes to sample.
        unique: Whether they are distinct.
        range_max: Classes are below this number.
        seed: Seed of this op beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        What `tf.random.uniform_candidate_sampler` gives.

    Raises:
        InvalidArgumentError: If a true class is out of range or an argument does not fit.
        NotImplementedError: While a function is being traced.

    Example:
        >>> import tapejax as tf
        >>> found = tf.random.learned_unigram_candidate_sampler([[3]], 1, 4, True, range_max=4)
        >>> sorted(found.sampled_candidates.numpy().tolist())
        [0, 1, 2, 3]

    Differs from TensorFlow: it works outside of functions only.
    """
    asked = request(_NODE, true_classes, num_true, num_sampled, unique, range_max)
    if LOCAL.recorder.symbolic is not None or isinstance(asked.true.array, Tracer):
        raise NotCompilableError(
            "tf.random.learned_unigram_candidate_sampler cannot be traced, for it keeps what it "
            "learns: call it outside of the function and pass its result, or use "
            "tf.random.fixed_unigram_candidate_sampler with frequencies counted beforehand"
        )
    lasts = lasting(seed)
    key = None if lasts is None else (*lasts, *asked[2:])
    weights = _weights(key, asked.range_max)
    state = asked.state(seed)
    *found, learned = _learned_unigram(state, asked.true, weights, asked.num_sampled, asked.unique)
    if key is not None:
        _Learned.weights[key] = learned
    return Candidates(*found)
