"""What a tape keeps of programs that have been run, and how it goes on in the next one."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.program import Builder, Program
from tapejax._src.engine.recorder import Recorder
from tapejax._src.engine.recording import number_of
from tapejax._src.tape.carry import Entry
from tapejax._src.tape.recorded import Import
from tapejax._src.tape.translated_rule import translated


class Past:
    """The earlier programs of one tape.

    Attributes:
        entries: One for each program, in order.
    """

    __slots__ = ("_entered", "_known", "_mappings", "entries")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._mappings: list[dict[int, int]] = []
        self._entered: Recorder | None = None
        self._known: dict[int, weakref.ref[Tensor]] = {}

    def take(self, entry: Entry) -> None:
        """Add a program that has been run."""
        self.entries.append(entry)
        self._entered = None

    def know(self, tensor: Tensor) -> None:
        """Remember that a tensor depends on something watched."""
        key = id(tensor)
        known = self._known
        known[key] = weakref.ref(tensor, lambda _: known.pop(key, None))

    def knows(self, tensor: Tensor) -> bool:
        """Whether a tensor depends on something watched."""
        ref = self._known.get(id(tensor))
        return ref is not None and ref() is tensor

    def enter(self, recorder: Recorder, tape: int) -> None:
        """Tell the program being recorded what the tape knows.

        Values that still exist become its leaves; the others get numbers that only derivatives pass
        through.
        """
        if self._entered is recorder:
            return
        self._entered = recorder
        self._mappings = []
        for entry in self.entries:
            numbers, tensors = entry.present()
            present = tuple(zip(numbers, [number_of(t) for t in tensors], strict=True))
            event = Import(tape, entry.segment, present)
            node = recorder.node.edges.get(event)
            if node is None:
                node = _extend(recorder, event)
            recorder.node = node
            mapping: dict[int, int] = node.payload
            self._mappings.append(mapping)
            for first, callback in entry.callbacks.items():
                if first in mapping:
                    recorder.callbacks[mapping[first]] = translated(callback, mapping)

    def numbers_of(self, reference: weakref.ref[Variable]) -> Iterator[int]:
        """The numbers, in the program entered, of a variable's earlier values."""
        for entry, mapping in zip(self.entries, self._mappings, strict=False):
            for number, cell in entry.cells.items():
                if cell is reference and number in mapping:
                    yield mapping[number]


def _extend(recorder: Recorder, event: Import) -> Program:
    builder = Builder(recorder.node, list(recorder.avals()), event)
    mapping: dict[int, int] = {}
    for number, leaf in event.present:
        mapping.setdefault(number, leaf)
    for number, aval in event.segment.avals.items():
        if number not in mapping:
            mapping[number] = builder.absent(aval)
    builder.node.payload = mapping
    return builder.attach(event)


NO_PAST = Past()
"""That of a tape whose program has not been run yet; nothing is ever added to it."""
