"""Elements kept in memory."""

from __future__ import annotations

import threading

import numpy as np

from tapejax._src.data.node import Node, Stream, Unchanged
from tapejax._src.data.structure import Leaves
from tapejax._src.data.tables import Columns, Indexed, Remembered


class Cache(Unchanged):
    """The elements, kept in memory after the first complete iteration."""

    name = "CacheDataset"
    repeats = True

    def __init__(self, source: Node) -> None:
        super().__init__(source)
        self._elements: list[Leaves] | None = None
        self._table: Columns | Remembered | None = None
        self._lock = threading.Lock()

    def cardinality(self) -> int:
        """The same elements."""
        return self.source.cardinality()

    def indexed(self) -> Indexed | None:
        """A table of the elements that are kept."""
        if self._table is None:
            inner = self.source.indexed() if self._elements is None else None
            if inner is None or not inner.natural:
                return self._of_elements()
            if not inner.table.computed:
                return inner
            with self._lock:
                if self._table is None:
                    self._table = Remembered(inner.table)
        return Indexed.of(self._table)

    def _of_elements(self) -> Indexed | None:
        """The elements stacked, if they are of one form."""
        elements = self._elements
        if not elements:
            return None
        first = elements[0]
        for element in elements:
            for leaf, like in zip(element, first, strict=True):
                if not isinstance(leaf, np.ndarray) or leaf.shape != like.shape:
                    return None
        with self._lock:
            if self._table is None:
                columns = [np.stack(column) for column in zip(*elements, strict=True)]
                self._table, self._elements = Columns(columns), []
            return Indexed.of(self._table)

    def stream(self) -> Stream:
        """From the source the first time."""
        if self.indexed() is not None:
            return super().stream()
        elements = self._elements
        return self._filling() if elements is None else iter(elements)

    def _filling(self) -> Stream:
        elements: list[Leaves] = []
        for element in self.source.stream():
            elements.append(element)
            yield element
        self._elements = elements

    def is_quick(self) -> bool:
        """Once it is filled."""
        return self._elements is not None or super().is_quick()
