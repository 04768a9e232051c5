"""Seeds and counters of the stateful random ops: `tf.random.set_seed` and `next_seed`.

TensorFlow pairs a global seed with an op seed. Each pair drives one generator for each kind of op
and dtype, and every call takes the generator's counter and moves it on. A call that gives no op
seed draws one from Python's `random.Random(global_seed)`. All this is small host-side state; what a
call draws is a `uint32[6]` that enters the recorded program as an ordinary input.
"""

from __future__ import annotations

import contextlib
import random
import secrets
import threading
from collections.abc import Generator
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.hidden import hidden_input
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.registry import public

_LARGEST_SEED = 2**31 - 1
_DEFAULT_GLOBAL_SEED = 87654321  # stands in when only an op seed is given
_WORD = 0xFFFFFFFF
_NOT_DRAWN = np.zeros(6, np.uint32)  # the state of an op in a function that is being traced

State = np.ndarray[Any, np.dtype[np.uint32]]
Stream = tuple[str, str, int, int]
"""Which generator: the op, its dtype and the pair of seeds."""


class _Seeds:
    """The process-wide seed and the counters of the generators made since it was set."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.global_seed: int | None = None
        self.op_seeds = random.Random()
        self.counters: dict[Stream, int] = {}
        self.entropy: dict[Stream, tuple[int, int]] = {}

    def restart(self, seed: Any) -> None:
        with self.lock:
            self.global_seed, self.op_seeds = _seeded(seed)
            self.counters.clear()
            self.entropy.clear()

    def pair(self, op_seed: Any) -> tuple[int, int]:
        """The two seeds of an op, (0, 0) meaning that nothing was seeded."""
        if self.global_seed is None:
            if op_seed is None:
                return 0, 0
            return _DEFAULT_GLOBAL_SEED, _truncated(op_seed)
        if op_seed is None:
            op_seed = self.op_seeds.randint(0, _LARGEST_SEED)
        pair = _truncated(self.global_seed), _truncated(op_seed)
        return (0, _LARGEST_SEED) if pair == (0, 0) else pair

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


def _truncated(seed: Any) -> int:
    return int(seed) % _LARGEST_SEED


@public("random.set_seed")
def set_seed(seed: int) -> None:
    """Set the global seed and restart every stream of random numbers.

    Ops that also have a seed of their own continue one sequence for each pair of seeds; the others
    get a new op seed each call, a function of the global seed and of how many calls came before.
    The numbers are TensorFlow's own for the same seeds and the same order of calls.

    Args:
        seed: An integer.

    *Differs from TensorFlow*: ops inside a `tf.function` draw from these streams too, as the same
    code does without it; TensorFlow gives each of its graphs streams of its own.

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

    def draw() -> State:
        if LOCAL.recorder.hidden is not None:
            return _NOT_DRAWN
        return next_seed(op_seed, op, dtype, blocks)

    return hidden_input(draw)


def seed_pair(op_seed: Any) -> tuple[int, int]:
    """The two seeds of an op that has a generator of its own, such as a shuffled dataset.

    Args:
        op_seed: The seed given to the op, or None.

    Returns:
        TensorFlow's pair; (0, 0) when nothing was seeded.
    """
    with _SEEDS.lock:
        return _SEEDS.pair(op_seed)
