"""Rows that can be taken in any order: the in-memory end of a pipeline.

A table hands out rows for an array of indices, stacked: one NumPy `take` for each component.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from tapejax._src.data.order import Indices, MakeOrder, Natural, Order, as_array, count_of
from tapejax._src.data.structure import Array, Leaves

_CHUNK_BYTES = 1 << 24
_CHUNK_ROWS = 64
_PLAIN_ROWS = 256


class Table(Protocol):
    """A sequence of rows of equal shapes."""

    size: int
    """How many rows there are."""
    computed: bool
    """Whether functions of the user make the rows."""

    def rows(self, indices: Indices, room: int) -> list[Array]:
        """The components of some rows, stacked.

        Args:
            indices: Which rows.
            room: How many are asked for at most in a call like this one.
        """
        ...


class Indexed(NamedTuple):
    """A pipeline of indices into a table.

    Attributes:
        table: The rows.
        make: Makes the order of one iteration.
        natural: Whether that is each row once, from the first to the last.
    """

    table: Table
    make: MakeOrder
    natural: bool

    @staticmethod
    def of(table: Table) -> Indexed:
        """A table from its first row to its last."""
        return Indexed(table, lambda: Natural(0, table.size), True)

    def reordered(self, change: Callable[[MakeOrder], MakeOrder]) -> Indexed:
        """The same rows in another order."""
        return Indexed(self.table, change(self.make), False)


class Columns:
    """Arrays whose first axis counts the rows."""

    def __init__(self, columns: Sequence[Array]) -> None:
        self.columns = list(columns)
        self.size = len(self.columns[0])
        self.computed = False

    def rows(self, indices: Indices, room: int) -> list[Array]:
        """Views for a slice, else copies."""
        del room
        if type(indices) is slice:
            return [column[indices] for column in self.columns]
        return [column.take(indices, 0) for column in self.columns]


class Numbers:
    """`start + step * i`."""

    def __init__(self, start: int, step: int, size: int, dtype: Any) -> None:
        self._start, self._step, self.size = start, step, size
        self._dtype = np.dtype(dtype)
        self.computed = False

    def rows(self, indices: Indices, room: int) -> list[Array]:
        """The numbers."""
        del room
        numbers = as_array(indices) * self._step + self._start
        return [numbers.astype(self._dtype, copy=False)]


class Beside:
    """The rows of several tables side by side."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = list(tables)
        self.size = min(table.size for table in tables)
        self.computed = any(table.computed for table in tables)

    def rows(self, indices: Indices, room: int) -> list[Array]:
        """The components of all tables."""
        return [column for table in self._tables for column in table.rows(indices, room)]


class Mapped:
    """A function of the user of each row of a table, computed for many rows at once.

    Args:
        table: The rows it is given.
        function: From stacked components, and how many rows there are at most, to the results.
    """

    def __init__(self, table: Table, function: Callable[[list[Array], int], list[Array]]) -> None:
        self._table, self._function = table, function
        self.size = table.size
        self.computed = True

    def rows(self, indices: Indices, room: int) -> list[Array]:
        """The results."""
        if count_of(indices) == 0:  # the function is not traced for no rows
            return [column[:0] for column in self.rows(slice(0, 1), 1)]
        return self._function(self._table.rows(indices, room), max(room, count_of(indices)))


class Remembered:
    """The rows of a table, computed the first time each is asked for."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.size = table.size
        self.computed = False
        self._columns: list[Array] = []
        self._known: Array = np.zeros(self.size, bool)
        self._lock = threading.Lock()

    def rows(self, indices: Indices, room: int) -> list[Array]:
        """The rows."""
        with self._lock:
            missing = as_array(indices)[~self._known[indices]]
            if len(missing):
                self._fill(np.unique(missing), room)
        if type(indices) is slice:
            return [column[indices] for column in self._columns]
        return [column.take(indices, 0) for column in self._columns]

    def _fill(self, missing: Array, room: int) -> None:
        for first in range(0, len(missing), room):
            part = missing[first : first + room]
            found = self._table.rows(part, room)
            if not self._columns:
                self._columns = [np.empty((self.size, *f.shape[1:]), f.dtype) for f in found]
            for column, values in zip(self._columns, found, strict=True):
                column[part] = values
            self._known[part] = True


def chunk_of(table: Table, indices: Indices) -> int:
    """How many rows to take at once where they are handed out one by one."""
    if not table.computed:
        return _PLAIN_ROWS
    first = indices.start if type(indices) is slice else int(indices[0])
    row = table.rows(slice(first, first + 1), 1)
    size = max(1, sum([column.nbytes for column in row]))
    return max(1, min(_CHUNK_ROWS, _CHUNK_BYTES // size))


def one_by_one(table: Table, order: Order) -> Any:
    """The rows as elements: a generator."""
    first = order.take(1)
    if count_of(first) == 0:
        return
    chunk = chunk_of(table, first)
    indices = first
    while count_of(indices):
        yield from _elements(table, indices, chunk)
        indices = order.take(chunk)


def _elements(table: Table, indices: Indices, chunk: int) -> Any:
    columns = table.rows(indices, chunk)
    for n in range(count_of(indices)):
        row: Leaves = tuple([column[n, ...] for column in columns])
        yield row
