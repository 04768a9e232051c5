"""The random numbers of pipelines: TensorFlow's Philox words on the host, and its rules for seeds.

The order of a shuffled dataset is TensorFlow's own for the same seeds.
"""

from __future__ import annotations

import secrets
import threading
from typing import Any

import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.ops.random_seed import seed_pair

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_K0, _K1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_ROUNDS = 10
_WORD = 0xFFFFFFFF
_LEAST, _MOST = 64, 16384

Words = np.ndarray[Any, np.dtype[np.uint32]]


def _philox(key: int, counters: Any, high: int) -> Words:
    """Blocks of four words at the 128-bit counters `counters + 2**64 * high`."""
    a, b = counters & _LOW, counters >> _32
    c = np.full_like(a, high & _WORD)
    d = np.full_like(a, high >> 32)
    k0, k1 = key & _WORD, key >> 32
    for _ in range(_ROUNDS):
        first, second = _M0 * a, _M1 * c
        a, b, c, d = (
            (second >> _32) ^ b ^ np.uint64(k0),
            second & _LOW,
            (first >> _32) ^ d ^ np.uint64(k1),
            first & _LOW,
        )
        k0, k1 = (k0 + _K0) & _WORD, (k1 + _K1) & _WORD
    return np.stack([a, b, c, d], axis=-1).astype(np.uint32).reshape(-1)


class Draws:
    """The stream of 32-bit words of a pair of seeds."""

    def __init__(self, first: int, second: int) -> None:
        self._key, self._high = first & (2**64 - 1), second & (2**64 - 1)
        self._block = 0
        self._ready: Words = np.zeros(0, np.uint32)
        self._at = 0
        self._size = _LEAST

    def take(self, count: int) -> Words:
        """The next `count` words."""
        end = self._at + count
        if end <= len(self._ready):
            found = self._ready[self._at : end]
            self._at = end
            return found
        rest = self._ready[self._at :]
        blocks = max(-(-(count - len(rest)) // 4), self._size)
        self._size = min(2 * self._size, _MOST)
        counters = np.arange(self._block, self._block + blocks, dtype=np.uint64)
        self._block += blocks
        self._ready = np.concatenate([rest, _philox(self._key, counters, self._high)])
        self._at = count
        return self._ready[:count]

    def __next__(self) -> int:
        """The next word."""
        return int(self.take(1)[0])


def seeds_for(seed: Any) -> tuple[int, int]:
    """The pair of seeds of an op of a pipeline; (0, 0) means that nothing was seeded."""
    if isinstance(seed, (Tensor, Variable, np.ndarray)):
        seed = int(as_tensor(seed).numpy())
    return seed_pair(seed)


def fresh_pair() -> tuple[int, int]:
    """A pair of seeds that nobody chose."""
    return secrets.randbits(64), secrets.randbits(64)


class SeedSource:
    """The seeds of each iteration of one dataset.

    Args:
        pair: The seeds of the dataset.
        changes: Whether each iteration gets others.
    """

    def __init__(self, pair: tuple[int, int], changes: bool) -> None:
        self._pair = pair if pair != (0, 0) else fresh_pair()
        self._draws = Draws(*self._pair) if changes else None
        self._lock = threading.Lock()

    def next(self) -> Draws:
        """The random words of an iteration that begins."""
        if self._draws is None:
            return Draws(*self._pair)
        with self._lock:
            return Draws(next(self._draws), next(self._draws))
