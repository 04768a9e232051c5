"""The order in which the rows of a table are visited: pipelines of indices.

Shuffling, repeating and skipping act on indices; rows are taken from the table once, for a whole
batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.data.seeds import Draws

Indices = Any
"""A `slice` with start, stop and step 1, or an array of indices."""

_NONE = slice(0, 0)
_CHUNK = 4096
_REFILL = 4 * _CHUNK

Rows = np.ndarray[Any, np.dtype[np.int64]]


def count_of(indices: Indices) -> int:
    """How many there are."""
    return indices.stop - indices.start if type(indices) is slice else len(indices)


def as_array(indices: Indices) -> np.ndarray[Any, Any]:
    """Indices as an array."""
    return np.arange(indices.start, indices.stop) if type(indices) is slice else indices


class Order:
    """A sequence of row numbers that is handed out in pieces."""

    def take(self, count: int) -> Indices:
        """The next ones, at most `count`; none at the end, and only there."""
        raise NotImplementedError


MakeOrder = Callable[[], Order]


def take_all(order: Order, count: int) -> Indices:
    """The next `count`, fewer at the end only."""
    first = order.take(count)
    missing = count - count_of(first)
    if missing == 0 or count_of(first) == 0:
        return first
    parts = [as_array(first)]
    while missing:
        more = order.take(missing)
        if count_of(more) == 0:
            break
        parts.append(as_array(more))
        missing -= count_of(more)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class Natural(Order):
    """`start`, `start + 1`, ... up to `stop`."""

    def __init__(self, start: int, stop: int) -> None:
        self._at, self._stop = start, stop

    def take(self, count: int) -> Indices:
        """The next rows."""
        start = self._at
        self._at = min(start + count, self._stop)
        return slice(start, self._at)


class Limited(Order):
    """The first few of another order."""

    def __init__(self, order: Order, count: int) -> None:
        self._order, self._left = order, count

    def take(self, count: int) -> Indices:
        """The next rows."""
        if self._left <= 0:
            return _NONE
        found = self._order.take(min(count, self._left))
        self._left -= count_of(found)
        return found


def skipped(order: Order, count: int) -> Order:
    """An order without its first few."""
    while count > 0:
        dropped = count_of(order.take(min(count, _CHUNK)))
        if dropped == 0:
            break
        count -= dropped
    return order


class Strided(Order):
    """Every `step`-th of another order, beginning with number `first`."""

    def __init__(self, order: Order, step: int, first: int) -> None:
        self._order, self._step, self._first = order, step, first

    def take(self, count: int) -> Indices:
        """The next rows."""
        found = as_array(take_all(self._order, count * self._step))[self._first :: self._step]
        return found if len(found) else _NONE


class Repeated(Order):
    """An order again and again.

    Args:
        make: Makes the order of one round.
        count: How many rounds; negative: without end.
    """

    def __init__(self, make: MakeOrder, count: int) -> None:
        self._make, self._left = make, count
        self._order: Order | None = None

    def take(self, count: int) -> Indices:
        """The next rows."""
        for _ in range(2):
            if self._order is None:
                if self._left == 0:
                    return _NONE
                self._order = self._make()
                self._left -= 1
            found = self._order.take(count)
            if count_of(found):
                return found
            self._order = None
        self._left = 0  # a round without rows: there will be none
        return _NONE


class Shuffled(Order):
    """Rows picked at random from a buffer of the next few, as TensorFlow picks them.

    Seen along the rows, a buffer of `size` is a window that moves on by one with each pick: step i
    exchanges row i with a row picked from those up to i + size, and hands out what is now row i.

    Args:
        order: Where the rows come from.
        size: The size of the buffer.
        draws: The random words.
    """

    def __init__(self, order: Order, size: int, draws: Draws) -> None:
        self._order, self._size, self._draws = order, size, draws
        self._line: Rows = np.zeros(0, np.int64)
        self._start = 0
        self._ended = False
        self._ready: Rows = self._line
        self._at = 0

    def take(self, count: int) -> Indices:
        """The next rows."""
        if self._at == len(self._ready):
            self._ready, self._at = self._produce(_CHUNK), 0
        found = self._ready[self._at : self._at + count]
        self._at += len(found)
        return found

    def _produce(self, steps: int) -> Rows:
        missing = self._size + steps - len(self._line) + self._start
        if not self._ended and missing > 0:
            wanted = missing + _REFILL
            new = as_array(take_all(self._order, wanted))
            self._ended = len(new) < wanted
            self._line = np.concatenate([self._line[self._start :], new])
            self._start = 0
        line = self._line[self._start :]
        steps = min(steps, len(line))
        places = np.arange(steps)
        left = np.minimum(len(line) - places, self._size).astype(np.uint32)
        picks = places + self._draws.take(steps) % left
        self._start += steps
        return exchanged(line, picks)


def exchanged(line: Rows, picks: Rows) -> Rows:
    """What a sequence of exchanges makes: step i swaps rows i and `picks[i] >= i`.

    Each row that is moved is moved to the place of the step that picks it, so that the value at a
    place is found by following steps back to one that found its own.

    Args:
        line: The rows; those that no step hands out are changed in place.
        picks: For each step the place it exchanges with its own.

    Returns:
        The rows handed out by the steps.
    """
    steps = len(picks)
    if steps == 0:
        return line[:0]
    # Steps by the place they pick, those of one place in order: all keys are different.
    bits = steps.bit_length()
    kind = np.int32 if len(line) < 1 << (31 - bits) else np.int64
    numbers = np.arange(steps, dtype=kind)
    keys = picks.astype(kind)
    keys <<= bits
    keys |= numbers
    keys.sort()
    by_place = keys & kind((1 << bits) - 1)
    keys >>= bits
    repeats = keys[1:] == keys[:-1]
    before = np.full(steps, -1, kind)  # in this order: the step before that picked the same place
    np.copyto(before[1:], by_place[:-1], where=repeats)
    earlier = np.empty(steps, kind)
    earlier[by_place] = before
    is_last = np.append(~repeats, True)
    last, place, before = by_place[is_last], keys[is_last], before[is_last]
    inside = int(np.searchsorted(place, steps))
    # The step that put something at place i before step i, or i itself.
    moved = place[:inside]
    before = np.where(last[:inside] == moved, before[:inside], last[:inside])
    root = numbers.copy()
    root[moved] = np.where(before < 0, moved, before)
    while True:
        further = root[root]
        if np.array_equal(further, root):
            break
        root = further
    values = line[root]
    out = np.where(earlier < 0, line[picks], values[earlier])
    line[place[inside:]] = values[last[inside:]]
    return out


class Filtered(Order):
    """The rows of another order that are wanted.

    Args:
        order: The rows asked about.
        wanted: From indices to an array of bools.
    """

    def __init__(self, order: Order, wanted: Callable[[Indices], Any]) -> None:
        self._order, self._wanted = order, wanted

    def take(self, count: int) -> Indices:
        """The next rows."""
        while True:
            indices = self._order.take(count)
            if count_of(indices) == 0:
                return _NONE
            found = as_array(indices)[self._wanted(indices)]
            if len(found):
                return found
