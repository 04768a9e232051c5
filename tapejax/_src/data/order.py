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

    Args:
        order: Where the rows come from.
        size: The size of the buffer.
        draws: The random words.
    """

    def __init__(self, order: Order, size: int, draws: Draws) -> None:
        self._order, self._size, self._draws = order, size, draws
        self._buffer: list[int] | None = None
        self._start = 0
        self._drained = -1
        self._ready: Any = np.zeros(0, np.int64)
        self._at = 0

    def take(self, count: int) -> Indices:
        """The next rows."""
        if self._at == len(self._ready):
            self._ready, self._at = self._produce(max(count, _CHUNK)), 0
        found = self._ready[self._at : self._at + count]
        self._at += len(found)
        return found

    def _produce(self, count: int) -> Any:
        if self._buffer is None:
            self._buffer = as_array(take_all(self._order, self._size)).tolist()
        if self._drained < 0:
            full = len(self._buffer) == self._size
            new = as_array(self._order.take(count)).tolist() if full else []
            if new:
                return self._exchange(self._buffer, new)
            # What is left in the buffer is drained from its start on.
            self._buffer = self._buffer[self._start :] + self._buffer[: self._start]
            self._drained = 0
        return self._drain(self._buffer, count)

    def _exchange(self, buffer: list[int], new: list[int]) -> Any:
        """One row out and one in, for each new one."""
        size = self._size
        starts = (self._start + np.arange(len(new))) % size
        picks = (starts + self._draws.take(len(new)) % np.uint32(size)) % size
        out: list[int] = []
        for start, pick, row in zip(starts.tolist(), picks.tolist(), new, strict=True):
            out.append(buffer[pick])
            buffer[pick] = buffer[start]
            buffer[start] = row
        self._start = (self._start + len(new)) % size
        return np.array(out, np.int64)

    def _drain(self, buffer: list[int], count: int) -> Any:
        first = self._drained
        last = min(first + count, len(buffer))
        places = np.arange(first, last)
        left = (len(buffer) - places).astype(np.uint32)
        picks = (places + self._draws.take(last - first) % left).tolist()
        for place, pick in enumerate(picks, first):
            buffer[place], buffer[pick] = buffer[pick], buffer[place]
        self._drained = last
        return np.array(buffer[first:last], np.int64)


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
