"""Candidate samplers: a few classes in the place of all, and how often each is expected."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError, NotFoundError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, static_tensor
from tapejax._src.engine.registry import Array, StaticInts, TensorLike, ValueCheck, op, public
from tapejax._src.ops import philox_candidates
from tapejax._src.ops.philox_candidates import Alias, Draw
from tapejax._src.ops.random_seed import pass_seed, seed_tensor

_BLOCKS_PER_CLASS = 512  # TensorFlow reserves 2048 words for each


class Candidates(NamedTuple):
    """Sampled classes.

    Attributes:
        sampled_candidates: `[num_sampled]`, int64.
        true_expected_count: `[batch, num_true]`, float32.
        sampled_expected_count: `[num_sampled]`, float32.
    """

    sampled_candidates: Any
    true_expected_count: Any
    sampled_expected_count: Any


# ---------------------------------------------------------------------- the recorded ops
def counted(
    state: Array, draw: Draw, chance: Callable[[Array], Array], true: Array, how: tuple[int, bool]
) -> tuple[Array, Array, Array]:
    """Sample, and count what is expected of the classes sampled and of the true ones.

    Args:
        state: `uint32[6]`.
        draw: Makes classes of words.
        chance: The probabilities of classes.
        true: The true classes.
        how: How many classes to sample, and whether they are distinct.
    """
    count, unique = how
    sampled, tries = philox_candidates.sample(state, draw, count, unique)
    expected = [
        philox_candidates.expected_count(chance(x).astype(jnp.float32), count, tries)
        for x in (true, sampled)
    ]
    return sampled, expected[0], expected[1]


def outside(true: Array, range_max: int) -> tuple[Any, ...]:
    """Check that true classes are in a range: a `ValueCheck` with the message `OUTSIDE`."""
    wrong = (true < 0) | (true >= range_max)
    if not wrong.size:
        return False, 0, 0
    first = true.reshape(-1)[jnp.argmax(wrong.reshape(-1))]
    return jnp.any(wrong), range_max, first


OUTSIDE = "`true_candidate` out of range [0, {}), received {}".format


@op(
    "_uniform_candidates",
    node="UniformCandidateSampler",
    gradient="lookup",
    check=ValueCheck(lambda state, true, count, unique, top: outside(true, top), OUTSIDE),
    cases=("u32[6] in (0, 99), i64[2,1] in (0, 9), 4, True, 9",),
)
def _uniform(
    state: TensorLike, true: TensorLike, count: StaticInts, unique: bool, top: StaticInts
) -> tuple[Array, Array, Array]:
    """Uniform classes."""

    def chance(x: Array) -> Array:
        return jnp.full(x.shape, np.float32(1.0 / top))

    return counted(state, philox_candidates.uniform64(top), chance, true, (count, unique))


@op(
    "_log_uniform_candidates",
    node="LogUniformCandidateSampler",
    gradient="lookup",
    check=ValueCheck(lambda state, true, count, unique, top: outside(true, top), OUTSIDE),
    cases=("u32[6] in (0, 99), i64[2,1] in (0, 9), 4, False, 9",),
)
def _log_uniform(
    state: TensorLike, true: TensorLike, count: StaticInts, unique: bool, top: StaticInts
) -> tuple[Array, Array, Array]:
    """Classes in order of frequency."""

    def chance(x: Array) -> Array:
        x = x.astype(jnp.float64)
        return jnp.log((x + 2) / (x + 1)) / math.log1p(float(top))

    return counted(state, philox_candidates.log_uniform(top), chance, true, (count, unique))


@op(
    "_fixed_unigram_candidates",
    node="FixedUnigramCandidateSampler",
    gradient="lookup",
    check=ValueCheck(
        lambda state, true, chances, keep, other, count, unique: outside(true, keep.shape[0]),
        OUTSIDE,
    ),
    cases=(
        "u32[6] in (0, 99), i64[2,1] in (0, 3), f32[3] in (0, 1), f32[3] in (0.5, 1), "
        "i64[3] in (0, 3), 4, False",
    ),
)
def _fixed_unigram(
    state: TensorLike,
    true: TensorLike,
    chances: TensorLike,
    keep: TensorLike,
    other: TensorLike,
    count: StaticInts,
    unique: bool,
) -> tuple[Array, Array, Array]:
    """Classes with given probabilities."""
    draw = philox_candidates.by_alias(Alias(keep, other))
    return counted(state, draw, lambda x: chances[x], true, (count, unique))


# ---------------------------------------------------------------------- arguments
class Request(NamedTuple):
    """The arguments all samplers have."""

    node: str
    true: Tensor
    num_true: int
    num_sampled: int
    unique: bool
    range_max: int

    def state(self, seed: Any, extra: str = "") -> Tensor:
        """What this call draws from; every combination of arguments has a stream of its own."""
        kind = f"{self.num_true} {self.num_sampled} {self.unique} {self.range_max} {extra}"
        return seed_tensor(seed, self.node, kind, self.num_sampled * _BLOCKS_PER_CLASS)


def request(
    node: str, true_classes: Any, num_true: Any, num_sampled: Any, unique: Any, range_max: Any
) -> Request:
    """Read the arguments all samplers have.

    Raises:
        InvalidArgumentError: If one does not fit.
    """
    true = as_tensor(true_classes, None if isinstance(true_classes, Tensor) else dtypes.int64)
    if true.dtype != dtypes.int64:
        raise InvalidArgumentError(
            f"cannot compute {node} as input #0(zero-based) was expected to be a int64 tensor but "
            f"is a {true.dtype.name} tensor [Op:{node}]: use tf.cast"
        )
    sizes = {"num_true": num_true, "num_sampled": num_sampled, "range_max": range_max}
    for name, size in sizes.items():
        if int(size) < 1:
            raise InvalidArgumentError(
                f"Value for attr '{name}' of {size} must be at least minimum 1 [Op:{node}]"
            )
    if len(true.aval.shape) != 2:
        raise InvalidArgumentError(
            f"true_classes must be a matrix [batch, num_true], got shape "
            f"{list(true.aval.shape)} [Op:{node}]"
        )
    if true.aval.shape[1] != num_true:
        raise InvalidArgumentError(
            f"true_classes must have num_true columns, expected: {true.aval.shape[1]} was: "
            f"{num_true} [Op:{node}]"
        )
    if unique and num_sampled > range_max:
        raise InvalidArgumentError(
            f"Sampler's range is too small. [Op:{node}]: {num_sampled} distinct classes of "
            f"{range_max} were asked for"
        )
    return Request(node, true, int(num_true), int(num_sampled), bool(unique), int(range_max))


# ---------------------------------------------------------------------- public functions
@public("random.uniform_candidate_sampler")
def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Sample classes that are all equally likely.

    Equal to TensorFlow's for the same seeds and order of calls.

    Args:
        true_classes: `[batch, num_true]`, int64.
        num_true: How many classes each example has.
        num_sampled: How many classes to sample.
        unique: Whether they are distinct.
        range_max: Classes are below this number.
        seed: Seed of this op beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        `sampled_candidates` `[num_sampled]` int64, `true_expected_count` `[batch, num_true]` and
        `sampled_expected_count` `[num_sampled]` float32: how often a class is expected to be
        sampled.

    Raises:
        InvalidArgumentError: If a true class is out of range or an argument does not fit.

    Example:
        >>> import tapejax as tf
        >>> found = tf.random.uniform_candidate_sampler([[3]], 1, 4, True, range_max=4)
        >>> sorted(found.sampled_candidates.numpy().tolist())
        [0, 1, 2, 3]
    """
    asked = request(
        "UniformCandidateSampler", true_classes, num_true, num_sampled, unique, range_max
    )
    state = asked.state(seed)
    found = _uniform(state, asked.true, asked.num_sampled, asked.unique, asked.range_max)
    return Candidates(*found)


@public("random.log_uniform_candidate_sampler")
def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Sample classes that are numbered by frequency, as words of a sorted vocabulary are.

    Class `n` has the probability `log((n + 2) / (n + 1)) / log(range_max + 1)`. Equal to
    TensorFlow's for the same seeds and order of calls.

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

    Example:
        >>> import tapejax as tf
        >>> found = tf.random.log_uniform_candidate_sampler([[0, 9]], 2, 3, False, range_max=10)
        >>> [round(x, 3) for x in found.true_expected_count.numpy()[0].tolist()]
        [0.867, 0.119]
    """
    asked = request(
        "LogUniformCandidateSampler", true_classes, num_true, num_sampled, unique, range_max
    )
    state = asked.state(seed)
    found = _log_uniform(state, asked.true, asked.num_sampled, asked.unique, asked.range_max)
    return Candidates(*found)


@public("nn.all_candidate_sampler", "random.all_candidate_sampler")
def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Every class, for tests of what is computed from samples.

    Args:
        true_classes: `[batch, num_true]`, int64.
        num_true: How many classes each example has.
        num_sampled: How many classes there are.
        unique: Ignored.
        seed: Ignored.
        name: Ignored.

    Returns:
        What `tf.random.uniform_candidate_sampler` gives: the numbers in order, and ones.

    Raises:
        InvalidArgumentError: If an argument does not fit.

    Example:
        >>> import tapejax as tf
        >>> tf.random.all_candidate_sampler([[1]], 1, 3, True).sampled_candidates.numpy().tolist()
        [0, 1, 2]
    """
    asked = request("AllCandidateSampler", true_classes, num_true, num_sampled, unique, num_sampled)
    pass_seed(seed)
    return Candidates(
        static_tensor(np.arange(asked.num_sampled, dtype=np.int64)),
        static_tensor(np.ones(asked.true.aval.shape, np.float32)),
        static_tensor(np.ones(asked.num_sampled, np.float32)),
    )


def _weights_of_file(path: str) -> list[float]:
    try:
        with open(path, encoding="utf-8") as lines:
            fields = [line.rstrip("\r\n").split(",")[-1] for line in lines]
    except FileNotFoundError:
        raise NotFoundError(f"{path}; No such file or directory") from None
    try:
        return [float(field) for field in fields]
    except ValueError as error:
        raise InvalidArgumentError(
            f"Wrong vocabulary format in {path}: {error}; a line ends with a comma and a number"
        ) from None


def _unigram_weights(
    vocab_file: str, unigrams: Sequence[float], distortion: float, reserved: int, kept: slice
) -> list[Any]:
    """The frequencies of the classes kept, raised to a power; reserved ones have none."""
    if bool(vocab_file) == bool(len(unigrams)):
        wrong = "Must only provide one of" if vocab_file else "Must provide either"
        joint = "and" if vocab_file else "or"
        raise InvalidArgumentError(
            f"{wrong} vocab_file {joint} unigrams. [Op:FixedUnigramCandidateSampler]"
        )
    given = _weights_of_file(vocab_file) if vocab_file else list(unigrams)
    powers = [np.power(np.float32(w), np.float32(distortion)) for w in given]
    return [np.float32(w) for w in ([0.0] * reserved + powers)[kept]]


def _check_weights(asked: Any, weights: Sequence[Any], node: str) -> None:
    if len(weights) != asked.range_max:
        raise InvalidArgumentError(
            f"range is {asked.range_max} must be equal to weights size  {len(weights)} [Op:{node}]"
        )
    possible = sum(1 for w in weights if w > 0)
    if possible < (asked.num_sampled if asked.unique else 1):
        raise InvalidArgumentError(
            f"{asked.num_sampled} classes cannot be sampled: {possible} have a positive frequency "
            f"[Op:{node}]"
        )


@public("nn.fixed_unigram_candidate_sampler", "random.fixed_unigram_candidate_sampler")
def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> Candidates:
    """Sample classes of given frequencies, TensorFlow's own for the same seeds and calls.

    Args:
        true_classes: `[batch, num_true]`, int64.
        num_true: How many classes each example has.
        num_sampled: How many classes to sample.
        unique: Whether they are distinct.
        range_max: How many classes there are.
        vocab_file: A file with a line for each class that ends with a comma and its frequency.
        distortion: Power to which the frequencies are raised.
        num_reserved_ids: So many classes before these are never sampled.
        num_shards: Of every so many classes,
        shard: the one of this number is kept.
        unigrams: The frequencies, in the place of a file.
        seed: Seed of this op beside that of `tf.random.set_seed`.
        name: Ignored.

    Returns:
        What `tf.random.uniform_candidate_sampler` gives.

    Raises:
        InvalidArgumentError: If a true class is out of range or an argument does not fit.
        NotFoundError: If there is no such file.

    Example:
        >>> import tapejax as tf
        >>> found = tf.random.fixed_unigram_candidate_sampler(
        ...     [[1]], 1, 4, False, range_max=2, unigrams=[0.0, 3.0]
        ... )
        >>> found.sampled_candidates.numpy().tolist()
        [1, 1, 1, 1]

    Differs from TensorFlow: for one class in `2**32 / range_max` the stream moves on by two words.
    """
    node = "FixedUnigramCandidateSampler"
    asked = request(node, true_classes, num_true, num_sampled, unique, range_max)
    kept = slice(shard, None, num_shards) if shard < num_shards else slice(0)
    weights = _unigram_weights(vocab_file, unigrams, distortion, num_reserved_ids, kept)
    _check_weights(asked, weights, node)
    table = philox_candidates.alias_table(weights)
    chances = np.array(weights, np.float32) / sum(weights, np.float32(0))
    state = asked.state(seed, f"{vocab_file} {distortion} {num_reserved_ids} {weights}")
    parts = map(static_tensor, (chances, *table))
    found = _fixed_unigram(state, asked.true, *parts, count=asked.num_sampled, unique=asked.unique)
    return Candidates(*found)
