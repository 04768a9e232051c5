"""`tf.random.Generator`: a stream of random numbers whose state is a variable.

The state is three 64-bit integers, the counter's low and high half and the key. Drawing reads it
and assigns the one after it, so that a function or a loop advances it each time it runs.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapejax._src.core import dtypes
from tapejax._src.core.errors import UnimplementedError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import (
    as_tensor,
    constant_tensor,
    holds_tensor,
    static_ints,
    static_tensor,
)
from tapejax._src.engine.registry import Array, DTypeLike, TensorLike, op, public
from tapejax._src.ops import philox
from tapejax._src.ops.creation import zeros_like
from tapejax._src.ops.joining import concat, stack
from tapejax._src.ops.random_algorithm import Algorithm, philox_number
from tapejax._src.ops.random_counts import binomial_arguments, binomial_op, counted_dtype
from tapejax._src.ops.random_draws import BLOCKS_PER_ELEMENT, leading_sizes, shape_of
from tapejax._src.ops.random_stateless import draw_normal, draw_uniform

_SIZE = 3
_COUNTER_SIZE = 2
_LARGEST = 2**64


# ---------------------------------------------------------------------- the recorded ops
def _state_words(state: TensorLike) -> Array:
    """A generator's state as the `uint32[6]` that draws: the key, then the counter."""
    words = lax.bitcast_convert_type(state, jnp.uint32)
    return jnp.concatenate([words[2], words[0], words[1]])


@op("_rng_words", node="Bitcast", gradient="none", cases=("i64[3]",))
def _words(state: TensorLike) -> Array:
    """The words of a generator's state, recorded."""
    return _state_words(state)


@op(
    "_rng_words_of_replica",
    node="StatelessRandomUniformFullIntV2",
    gradient="none",
    cases=("u32[6], i32[]",),
)
def _of_replica(words: TensorLike, replica: TensorLike) -> Array:
    """The words of one replica: under a key made of the generator's and the replica's number."""
    counter = jnp.pad(replica.astype(jnp.uint32).reshape(1), (0, 3))
    start = jnp.concatenate([words[:2], counter])
    block = philox.blocks(start, jnp.zeros(1, jnp.uint32))
    return jnp.concatenate([block.a, block.b, words[2:]])


class Replica:
    """Which replica draws; set by what distributes steps."""

    number: Callable[[], Tensor | None] = staticmethod(lambda: None)
    """Its number, None where there is only one."""


REPLICA = Replica()


@op(
    "_rng_skip",
    node="RngReadAndSkip",
    gradient="none",
    cases=("i64[3], u64[] in (0, 99)", "i64[3], i32[] in (-9, 9)"),
)
def _skipped(state: TensorLike, delta: TensorLike) -> Array:
    """A generator's state after that many elements."""
    blocks = delta.astype(jnp.uint64) * np.uint64(BLOCKS_PER_ELEMENT)
    moved = philox.skipped(_state_words(state), blocks)
    counter = lax.bitcast_convert_type(moved[2:].reshape(2, 2), jnp.int64)
    return jnp.concatenate([counter, state[2:]])


_binomial = binomial_op("_rng_binomial", "StatefulRandomBinomial", "lookup")


@op(
    "_rng_state_of_seed",
    node="Pad",
    gradient="none",
    cases=("i32[]", "i32[2]", "i64[3]", "u64[5]", "i64[0]"),
)
def _state_of_vector(seed: TensorLike) -> Array:
    """The first three integers, after as many zeros as are missing."""
    flat = seed.astype(jnp.int64).reshape(-1)[:_SIZE]
    return jnp.concatenate([jnp.zeros(_SIZE - flat.shape[0], jnp.int64), flat])


@op("_rng_int64", node="Cast", gradient="none", cases=("i32[3]", "u64[]"))
def _int64(value: TensorLike) -> Array:
    return value.astype(jnp.int64)


# ---------------------------------------------------------------------- states
def _signed(number: Any) -> Any:
    """A Python integer of 64 bits with its highest bit as the sign."""
    if isinstance(number, (list, tuple)):
        return [_signed(item) for item in number]  # pyright: ignore[reportUnknownVariableType]
    return number - _LARGEST if isinstance(number, int) and number >= _LARGEST // 2 else number


def _integers(value: Any) -> Tensor:
    """An int64 tensor of what a user gives as a state or a part of it."""
    if isinstance(value, (Tensor, Variable)) or holds_tensor(value):
        tensor = as_tensor(value)
        return tensor if tensor.dtype == dtypes.int64 else _int64(tensor)
    return constant_tensor(np.array(_signed(value)).astype(np.int64))


def _checked(tensor: Tensor, shape: list[int]) -> Tensor:
    tensor.shape.assert_is_compatible_with(shape)
    return tensor


def _joined(key: Any, counter: Any) -> Tensor:
    """The state of a key and a counter."""
    first = _checked(_integers(counter), [_COUNTER_SIZE])
    last = _checked(_integers(key), [])
    return concat([first, stack([last])], 0)


def _philox(alg: Any) -> int:
    return philox_number(alg, UnimplementedError)


@public("random.create_rng_state", "random.experimental.create_rng_state")
def create_rng_state(seed: Any, alg: Any) -> Any:
    """The state of a generator that a seed stands for.

    Args:
        seed: An integer, whose words of 64 bits are the state, or integers, which are put at the
            end of it.
        alg: `"philox"` or `"auto_select"` (the same), or a `tf.random.Algorithm`.

    Returns:
        `[3]`, int64.

    Raises:
        ValueError: For another algorithm.
        UnimplementedError: For ThreeFry.

    Example:
        >>> import tapejax as tf
        >>> tf.random.create_rng_state(1234, "philox").numpy().tolist()
        [1234, 0, 0]
    """
    _philox(alg)
    if isinstance(seed, int):
        return _integers([(seed >> (64 * i)) % _LARGEST for i in range(_SIZE)])
    return _state_of_vector(_integers(seed))


# ---------------------------------------------------------------------- the generator
@public("random.Generator", "random.experimental.Generator")
class Generator:
    """A stream of random numbers that each call moves on.

    The numbers are TensorFlow's own for the same state.

    Args:
        copy_from: A generator whose state and algorithm to copy; then nothing else is given.
        state: Three integers; a variable is shared and not copied.
        alg: `"philox"` or `"auto_select"` (the same), or a `tf.random.Algorithm`.

    Raises:
        AssertionError: Unless either `copy_from` or both others are given.
        ValueError: If the state has another shape, or for another algorithm.
        UnimplementedError: For ThreeFry.

    Example:
        >>> import tapejax as tf
        >>> g = tf.random.Generator.from_seed(1234)
        >>> g.state.numpy().tolist()
        [1234, 0, 0]
        >>> g.normal([2, 3]).shape
        TensorShape([2, 3])
        >>> g.state.numpy().tolist()
        [2770, 0, 0]
    """

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            assert alg is None, "a copy has the algorithm of `copy_from`"
            assert state is None, "a copy has the state of `copy_from`"
            self._alg: int = copy_from.algorithm
            self._state_var = Variable(copy_from.state, trainable=False, name="StateVar")
            return
        assert alg is not None, "pass `alg` beside `state`, or use Generator.from_seed"
        assert state is not None, "pass `state` beside `alg`, or use Generator.from_seed"
        self._alg = _philox(alg)
        if isinstance(state, Variable):
            state.shape.assert_is_compatible_with([_SIZE])
            self._state_var = state
        else:
            value = _checked(_integers(state), [_SIZE])
            self._state_var = Variable(value, trainable=False, name="StateVar")

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """A generator in a state of three integers."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator in the state `tf.random.create_rng_state(seed, alg)`."""
        alg = Algorithm.PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator in a state from the operating system's source of entropy."""
        state = [secrets.randbits(64) for _ in range(_SIZE)]
        return cls(state=state, alg=Algorithm.PHILOX if alg is None else alg)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """A generator with a key, one integer, and a counter, two integers."""
        return cls(state=_joined(key, counter), alg=alg)

    def reset(self, state: Any) -> None:
        """Go to a state of three integers."""
        self._state_var.assign(_checked(_integers(state), [_SIZE]))

    def reset_from_seed(self, seed: Any) -> None:
        """Go to the state that `from_seed` starts in."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Go to the state that `from_key_counter` starts in."""
        self._state_var.assign(_joined(key, counter))

    @property
    def state(self) -> Variable:
        """The state, an int64 variable of shape `[3]`."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self) -> Any:
        """The key, an int64 scalar: streams of different keys are independent."""
        return self._state_var[-1]

    def skip(self, delta: Any) -> Any:
        """Move on as if `delta` numbers were drawn.

        Args:
            delta: An integer scalar.

        Returns:
            The state before, `[3]` int64.

        Example:
            >>> import tapejax as tf
            >>> g = tf.random.Generator.from_seed(1)
            >>> g.skip(3).numpy().tolist(), g.state.numpy().tolist()
            ([1, 0, 0], [769, 0, 0])
        """
        if isinstance(delta, int):
            return self._move(constant_tensor(np.array(delta % _LARGEST, np.uint64)))
        return self._move(as_tensor(delta))

    def _move(self, delta: Tensor) -> Tensor:
        before = self._state_var.read_value()
        self._state_var.assign(_skipped(before, delta))
        return before

    def _source(self, sizes: tuple[int, ...]) -> Any:
        """The state from which a tensor of a shape is drawn; moves on."""
        return self._moved_words(math.prod(sizes))

    def _moved_words(self, delta: int) -> Any:
        """What is drawn from, on each replica something else; moves on."""
        words = _words(self._move(static_tensor(np.array(delta, np.uint64))))
        replica = REPLICA.number()
        return words if replica is None else _of_replica(words, replica)

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Any:
        """Normal random numbers; the arguments are those of `tf.random.normal`.

        Example:
            >>> import tapejax as tf
            >>> g = tf.random.Generator.from_seed(1)
            >>> [round(x, 4) for x in g.normal([2]).numpy().tolist()]
            [0.4384, -0.5344]
        """
        return draw_normal(self._source, shape, mean, stddev, dtype)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Any:
        """Normal random numbers within two deviations, as `tf.random.truncated_normal`."""
        return draw_normal(self._source, shape, mean, stddev, dtype, truncate=True)

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: DTypeLike = dtypes.float32,
        name: str | None = None,
    ) -> Any:
        """Uniform random numbers; the arguments are those of `tf.random.stateless_uniform`.

        Example:
            >>> import tapejax as tf
            >>> g = tf.random.Generator.from_seed(1)
            >>> g.uniform([4], maxval=100, dtype=tf.int32).numpy().tolist()
            [64, 99, 3, 63]
        """
        return draw_uniform(self._source, shape, minval, maxval, dtype)

    def uniform_full_int(
        self, shape: Any, dtype: DTypeLike = dtypes.uint64, name: str | None = None
    ) -> Any:
        """Uniform integers of the whole range of int32, int64, uint32 or uint64."""
        return draw_uniform(self._source, shape, None, None, dtype)

    def binomial(
        self,
        shape: Any,
        counts: Any,
        probs: Any,
        dtype: DTypeLike = dtypes.int32,
        name: str | None = None,
    ) -> Any:
        """Binomial random numbers; the arguments are those of `tf.random.stateless_binomial`.

        Example:
            >>> import tapejax as tf
            >>> g = tf.random.Generator.from_seed(1)
            >>> g.binomial([4], counts=10.0, probs=0.5).numpy().tolist()
            [5, 5, 7, 3]
        """
        node = "StatefulRandomBinomial"
        kind = counted_dtype(dtype, node)
        counts, probs, together = binomial_arguments(as_tensor(counts), probs)
        samples = leading_sizes(shape_of(shape, node), together, node)
        # TensorFlow moves on by its own estimate of what the draws use up.
        moves = math.prod(together) * 2 * 100 * (math.prod(samples) + 3) // 4
        return _binomial(self._moved_words(moves), counts, probs, samples, kind)

    def make_seeds(self, count: Any = 1) -> Any:
        """Seeds for stateless functions: column `i` of the result `[2, count]` int64 is one."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return stack([keys, zeros_like(keys)])

    def split(self, count: Any = 1) -> list[Generator]:
        """Generators with keys drawn from this one, which moves on.

        Args:
            count: How many.

        Returns:
            A list of `count` generators; their streams are independent of this and of each other.

        Example:
            >>> import tapejax as tf
            >>> first, second = tf.random.Generator.from_seed(1).split(2)
            >>> bool(tf.reduce_all(first.normal([3]) == second.normal([3])))
            False
        """
        number = static_ints(count)
        keys = self.uniform_full_int([number], dtypes.int64)
        return [Generator.from_key_counter(keys[i], [0, 0], self._alg) for i in range(number)]


# ---------------------------------------------------------------------- the global one
class _Global:
    """Where the global generator is kept."""

    generator: Any = None


@public("random.get_global_generator", "random.experimental.get_global_generator")
def get_global_generator() -> Any:
    """The global generator, made from entropy at the first call; `tf.random.set_seed` keeps it.

    Example:
        >>> import tapejax as tf
        >>> tf.random.get_global_generator() is tf.random.get_global_generator()
        True
    """
    if _Global.generator is None:
        _Global.generator = Generator.from_non_deterministic_state()
    return _Global.generator


@public("random.set_global_generator", "random.experimental.set_global_generator")
def set_global_generator(generator: Any) -> None:
    """Put another generator in the place of the global one.

    A function that was traced before goes on with the one it had.

    Args:
        generator: A `tf.random.Generator`.

    Example:
        >>> import tapejax as tf
        >>> tf.random.set_global_generator(tf.random.Generator.from_seed(1))
        >>> tf.random.get_global_generator().state.numpy().tolist()
        [1, 0, 0]
    """
    _Global.generator = generator
