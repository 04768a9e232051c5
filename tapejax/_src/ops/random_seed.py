"""Seeds and counters of the stateful random ops: `tf.random.set_seed` and `seed_tensor`.

TensorFlow pairs a global seed with an op seed. Each pair drives one generator for each kind of op
and dtype, and every call takes the generator's counter and moves it on. A call that gives no op
seed draws one from Python's `random.Random(global_seed)`. In a traced function each op has a
generator of its own, and one without a seed takes its number among those of the function.

All this is small host-side state; what a call draws is a `uint32[6]` that enters the recorded
program as an ordinary input.
"""

from __future__ import annotations

import contextlib
import random
import secrets
import threading
import weakref
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.hidden import hidden_input, within_function
from tapejax._src.engine.recorder import LOCAL, Recorder
from tapejax._src.engine.registry import public

_LARGEST_SEED = 2**31 - 1
_DEFAULT_GLOBAL_SEED = 87654321  # stands in when only an op seed is given
_WORD = 0xFFFFFFFF
_NOT_DRAWN = np.zeros(6, np.uint32)  # the state of an op in a function that is being traced
_FAR = 2**40  # so many blocks lie before what follows a loop of unknown length

State = np.ndarray[Any, np.dtype[np.uint32]]
Stream = tuple[str, str, int, int]
"""Which generator: the op, its dtype and the pair of seeds."""


class _Seeds:
    """The process-wide seed and the counters of the generators made since it was set."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.epoch = 0
        self.global_seed: int | None = None
        self.op_seeds = random.Random()
        self.counters: dict[Stream, int] = {}
        self.entropy: dict[Stream, tuple[int, int]] = {}

    def restart(self, seed: Any) -> None:
        with self.lock:
            self.epoch += 1
            self.global_seed, self.op_seeds = _seeded(seed)
            self.counters.clear()
            self.entropy.clear()

    def pair(self, op_seed: Any) -> tuple[int, int]:
        """The two seeds of an op, (0, 0) meaning that nothing was seeded."""
        if self.global_seed is None and op_seed is None:
            return 0, 0
        if op_seed is None:
            op_seed = self.op_seeds.randint(0, _LARGEST_SEED)
        return _paired(self.global_seed, op_seed)

    def key_and_counter(self, generator: Stream) -> tuple[int, int]:
        """The key and where the counter starts; fresh entropy when nothing was seeded."""
        first, second = generator[2:]
        if (first, second) == (0, 0):
            if generator not in self.entropy:
                self.entropy[generator] = secrets.randbits(64), secrets.randbits(64)
            first, second = self.entropy[generator]
        return first, second << 64


_SEEDS = _Seeds()


def _seeded(seed: Any) -> tuple[int | None, random.Random]:
    """The seed and Python's generator of op seeds for it."""
    try:
        hash(seed)
        return seed, random.Random(seed)
    except TypeError:  # NumPy integers and tensors
        seed = int(np.asarray(seed))
        return seed, random.Random(seed)


def _paired(global_seed: Any, op_seed: Any) -> tuple[int, int]:
    """The two seeds of an op, of which one at least was set."""
    if global_seed is None:
        return _DEFAULT_GLOBAL_SEED, _truncated(op_seed)
    pair = _truncated(global_seed), _truncated(op_seed)
    return (0, _LARGEST_SEED) if pair == (0, 0) else pair


def _truncated(seed: Any) -> int:
    return int(seed) % _LARGEST_SEED


def _words(key: int, counter: int) -> State:
    """The key and the counter, least significant word first."""
    words = [key, key >> 32, *(counter >> (32 * i) for i in range(4))]
    return np.array([word & _WORD for word in words], np.uint32)


@public("random.set_seed")
def set_seed(seed: int) -> None:
    """Set the global seed and restart every stream of random numbers.

    Ops that also have a seed of their own continue one sequence for each pair of seeds; the others
    get a new op seed each call, a function of the global seed and of how many calls came before.
    The numbers are TensorFlow's own for the same seeds and the same order of calls.

    Args:
        seed: An integer.

    Each op in a `tf.function` has a stream of its own, which goes on with each call and restarts
    here too; its seeds remain those of the time when the function was traced.

    *Differs from TensorFlow*: after a branch that was not taken, or a loop of unknown length, the
    later calls of a `tf.function` draw other numbers there. A function that was traced without any
    seed takes part from the next seed on; TensorFlow's never repeats its numbers.

    Example:
        >>> import tapejax as tf
        >>> tf.random.set_seed(42)
        >>> [round(x, 4) for x in tf.random.uniform([2], seed=1).numpy().tolist()]
        [0.1501, 0.6399]
    """
    _SEEDS.restart(seed)


@contextlib.contextmanager
def draws_forgotten() -> Generator[None]:
    """Numbers drawn in the block leave the streams as they were: only shapes are wanted."""
    with _SEEDS.lock:
        drawn, counters = _SEEDS.op_seeds.getstate(), dict(_SEEDS.counters)
    try:
        yield
    finally:
        with _SEEDS.lock:
            _SEEDS.op_seeds.setstate(drawn)
            _SEEDS.counters = counters


def next_seed(op_seed: Any, op: str, dtype: str, blocks: int) -> State:
    """Draw the generator state of one call of a random op, and move the generator on.

    This is the only place where an op takes from the streams.

    Args:
        op_seed: The seed given to the op, or None.
        op: TensorFlow's name of the op; each op has generators of its own.
        dtype: Name of the dtype the op produces; so has each dtype.
        blocks: How many blocks of 128 bits the call reserves.

    Returns:
        `uint32[6]`: the key and the counter, least significant word first.

    Raises:
        InvalidArgumentError: If the number of blocks is negative.
    """
    if blocks < 0:
        raise errors.InvalidArgumentError(None, None, f"{op}: cannot reserve {blocks} blocks")
    with _SEEDS.lock:
        generator = (op, dtype, *_SEEDS.pair(op_seed))
        key, start = _SEEDS.key_and_counter(generator)
        counter = _SEEDS.counters.get(generator, start)
        # A seed drawn for one call is not kept: it could only return by a collision, and a dict
        # entry for each call would grow without bound.
        if op_seed is not None or generator[2:] == (0, 0):
            _SEEDS.counters[generator] = (counter + blocks) % 2**128
    words = [key, key >> 32, *(counter >> (32 * i) for i in range(4))]
    return np.array([word & _WORD for word in words], np.uint32)


def lasting(op_seed: Any) -> tuple[Any, ...] | None:
    """Names the generator that calls with this op seed share until the next `tf.random.set_seed`.

    None where each call has one of its own. Other epochs' names do not come back.
    """
    if op_seed is None and _SEEDS.global_seed is not None:
        return None
    return _SEEDS.epoch, op_seed


class _Call(NamedTuple):
    """One call of an op outside of functions: it takes from the global streams."""

    op_seed: Any
    op: str
    dtype: str
    step: int

    @property
    def placeholder(self) -> State:
        return _NOT_DRAWN

    def draw(self) -> State:
        return next_seed(self.op_seed, self.op, self.dtype, self.step)

    def repeated(self, times: int | None) -> _Call:
        return self._replace(step=self.step * (_FAR if times is None else times))

    def apart(self) -> _Call:
        return self


class _Generator:
    """The generator of one op in a traced function.

    Args:
        seed: The global seed when the function was traced, or None.
        op_seed: The op's seed, or None.
        number: How many ops without a seed are before it; its seed if it has none.
    """

    def __init__(self, seed: Any, op_seed: Any, number: int) -> None:
        self.origin = seed, op_seed, number
        self._epoch = -1
        self._key = self._counter = 0

    def take(self, blocks: int) -> State:
        with _SEEDS.lock:
            if self._epoch != _SEEDS.epoch:
                self._epoch = _SEEDS.epoch
                self._key, self._counter = self._start()
            words = _words(self._key, self._counter)
            self._counter += blocks
        return words

    def _start(self) -> tuple[int, int]:
        seed, op_seed, number = self.origin
        if seed is None and op_seed is None:
            seed = _SEEDS.global_seed
            if seed is None:
                return secrets.randbits(64), secrets.randbits(64) << 64
        first, second = _paired(seed, number if op_seed is None else op_seed)
        return first, second << 64


class _Stream(NamedTuple):
    """What an op in a traced function takes from its generator at each call of the function."""

    generator: _Generator
    step: int

    @property
    def placeholder(self) -> State:
        return _NOT_DRAWN

    def draw(self) -> State:
        return self.generator.take(self.step)

    def repeated(self, times: int | None) -> _Stream:
        return _Stream(self.generator, self.step * (_FAR if times is None else times))

    def apart(self) -> _Stream:
        return _Stream(_Generator(*self.generator.origin), self.step)


_UNSEEDED: weakref.WeakKeyDictionary[Recorder, int] = weakref.WeakKeyDictionary()
"""How many ops without a seed a function, or a loop or branch in one, has so far."""


def _number(op_seed: Any) -> int:
    """Count an op of the function being traced if it has no seed."""
    recorder = LOCAL.recorder
    number = _UNSEEDED.get(recorder, 0)
    if op_seed is None:
        _UNSEEDED[recorder] = number + 1
    return number


def pass_seed(op_seed: Any) -> None:
    """Count an op that would take a seed but needs no numbers."""
    if within_function():
        _number(op_seed)
        return
    with _SEEDS.lock:
        _SEEDS.pair(op_seed)


def seed_tensor(op_seed: Any, op: str, dtype: str, blocks: int) -> Tensor:
    """The generator state of one call of a random op, as an input of the recorded program.

    In a function that is being traced nothing is drawn: every call of the function draws.

    Args:
        op_seed: The seed given to the op, or None.
        op: TensorFlow's name of the op.
        dtype: Name of the dtype the op produces.
        blocks: How many blocks of 128 bits the call reserves.

    Returns:
        `[6]`, uint32: what `next_seed` gives.
    """
    if not within_function():
        return hidden_input(_Call(op_seed, op, dtype, blocks))
    generator = _Generator(_SEEDS.global_seed, op_seed, _number(op_seed))
    return hidden_input(_Stream(generator, blocks))


def seed_pair(op_seed: Any) -> tuple[int, int]:
    """The two seeds of an op that has a generator of its own, such as a shuffled dataset.

    Args:
        op_seed: The seed given to the op, or None.

    Returns:
        TensorFlow's pair; (0, 0) when nothing was seeded.
    """
    with _SEEDS.lock:
        return _SEEDS.pair(op_seed)
