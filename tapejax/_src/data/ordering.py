"""Nodes that change which elements come, and when: shuffle, repeat, take, zip, cache, ..."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.specs import TensorSpec
from tapejax._src.data.node import INFINITE, UNKNOWN, Node, Shapes, Stream, Unchanged
from tapejax._src.data.order import Limited, MakeOrder, Repeated, Shuffled, Strided, skipped
from tapejax._src.data.seeds import SeedSource
from tapejax._src.data.structure import common_structure, flatten
from tapejax._src.data.tables import Beside, Indexed, Numbers


class Shuffle(Unchanged):
    """Elements picked at random from a buffer."""

    name = "_ShuffleDataset"
    repeats = True

    def __init__(self, source: Node, size: int, seeds: SeedSource) -> None:
        super().__init__(source)
        self._size, self._seeds = size, seeds

    def cardinality(self) -> int:
        """The same elements."""
        return self.source.cardinality()

    def indexed(self) -> Indexed | None:
        """The same rows in another order."""
        inner = self.source.indexed()
        if inner is None:
            return None
        size = self._size if self._size > 0 else max(inner.table.size, 1)

        def change(make: MakeOrder) -> MakeOrder:
            return lambda: Shuffled(make(), size, self._seeds.next())

        return inner.reordered(change)

    def stream(self) -> Stream:
        """TensorFlow's order for these seeds."""
        if self.indexed() is not None:
            return super().stream()
        return self._picked()

    def _picked(self) -> Stream:
        draws, source = self._seeds.next(), self.source.stream()
        count = self.source.cardinality()
        if self._size < 0 and count < 0:
            raise errors.InvalidArgumentError(
                None, None, "shuffle(UNKNOWN_CARDINALITY) needs a dataset of known cardinality."
            )
        size = self._size if self._size > 0 else max(count, 1)
        buffer = list(itertools.islice(source, size))
        start = 0
        for element in source:
            pick = (start + next(draws) % size) % size
            found, buffer[pick] = buffer[pick], buffer[start]
            buffer[start] = element
            start = (start + 1) % size
            yield found
        left: list[Any] = buffer[start:] + buffer[:start]
        for place in range(len(left)):
            pick = place + next(draws) % (len(left) - place)
            found, left[pick], left[place] = left[pick], left[place], None
            yield found


class Repeat(Unchanged):
    """The elements again and again."""

    name = "_RepeatDataset"
    repeats = True

    def __init__(self, source: Node, count: int) -> None:
        super().__init__(source)
        self._count = count

    def cardinality(self) -> int:
        """So many times as many."""
        count = self.source.cardinality()
        if self._count == 0 or count == 0:
            return 0
        if self._count < 0:
            return INFINITE if count != UNKNOWN else UNKNOWN
        return count if count < 0 else count * self._count

    def indexed(self) -> Indexed | None:
        """The order again and again."""
        inner = self.source.indexed()
        if inner is None or self._count == 1:
            return inner
        return inner.reordered(lambda make: lambda: Repeated(make, self._count))

    def stream(self) -> Stream:
        """Round after round."""
        if self.indexed() is not None:
            return super().stream()
        return self._rounds()

    def _rounds(self) -> Stream:
        left = self._count
        while left:
            left -= 1
            empty = True
            for element in self.source.stream():
                empty = False
                yield element
            if empty and self._count < 0:
                return


class Take(Unchanged):
    """The first few."""

    name = "_TakeDataset"
    repeats = True

    def __init__(self, source: Node, count: int) -> None:
        super().__init__(source)
        self._count = count

    def cardinality(self) -> int:
        """At most so many."""
        count = self.source.cardinality()
        if self._count < 0 or count == UNKNOWN:
            return count
        return self._count if count == INFINITE else min(count, self._count)

    def indexed(self) -> Indexed | None:
        """The beginning of the order."""
        inner = self.source.indexed()
        if inner is None or self._count < 0:
            return inner
        return inner.reordered(lambda make: lambda: Limited(make(), self._count))

    def stream(self) -> Stream:
        """The first few."""
        if self.indexed() is not None:
            return super().stream()
        return self.source.stream() if self._count < 0 else self._first()

    def _first(self) -> Stream:
        if self._count:
            source = self.source.stream()
            for n, element in enumerate(source, 1):
                yield element
                if n == self._count:
                    return


class Skip(Unchanged):
    """All but the first few."""

    name = "_SkipDataset"
    repeats = True

    def __init__(self, source: Node, count: int) -> None:
        super().__init__(source)
        self._count = count

    def cardinality(self) -> int:
        """So many fewer."""
        count = self.source.cardinality()
        if self._count < 0:
            return 0
        return count if count < 0 else max(0, count - self._count)

    def indexed(self) -> Indexed | None:
        """The rest of the order."""
        inner = self.source.indexed()
        if inner is None:
            return None
        count = self._count
        if count < 0:
            return inner.reordered(lambda make: lambda: Limited(make(), 0))
        return inner.reordered(lambda make: lambda: skipped(make(), count))

    def stream(self) -> Stream:
        """The rest."""
        if self.indexed() is not None:
            return super().stream()
        return self._rest()

    def _rest(self) -> Stream:
        if self._count >= 0:
            yield from itertools.islice(self.source.stream(), self._count, None)


class Shard(Unchanged):
    """Every n-th element."""

    name = "_ShardDataset"
    repeats = True

    def __init__(self, source: Node, shards: int, index: int) -> None:
        super().__init__(source)
        if shards < 1:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Number of shards must be greater than zero (currently num_shards = {shards}).",
            )
        if not 0 <= index < shards:
            raise errors.InvalidArgumentError(
                None, None, f"Index must be between 0 and {shards - 1} (currently index = {index})."
            )
        self._shards, self._index = shards, index

    def cardinality(self) -> int:
        """Its share."""
        count = self.source.cardinality()
        return count if count < 0 else len(range(self._index, count, self._shards))

    def indexed(self) -> Indexed | None:
        """Every n-th row."""
        inner = self.source.indexed()
        if inner is None:
            return None
        shards, index = self._shards, self._index
        return inner.reordered(lambda make: lambda: Strided(make(), shards, index))

    def stream(self) -> Stream:
        """Its share."""
        if self.indexed() is not None:
            return super().stream()
        return itertools.islice(self.source.stream(), self._index, None, self._shards)


class Concatenate(Node):
    """One dataset, then another."""

    name = "_ConcatenateDataset"
    repeats = True

    def __init__(self, *inputs: Node) -> None:
        super().__init__(*inputs)
        if all(node.is_certain for node in inputs):
            _ = self.spec  # so that what does not fit is found here

    @cached_property
    def spec(self) -> Any:
        """What covers both."""
        first, second = self.inputs
        try:
            return common_structure(first.spec, second.spec)
        except TypeError as error:
            raise TypeError(
                f"Incompatible dataset elements:\n  {first.spec} vs.   {second.spec}"
            ) from error

    def cardinality(self) -> int:
        """The sum."""
        counts = [node.cardinality() for node in self.inputs]
        if INFINITE in counts:
            return INFINITE
        return UNKNOWN if UNKNOWN in counts else sum(counts)

    def stream(self) -> Stream:
        """One after the other."""
        for node in self.inputs:
            yield from node.stream()

    def is_quick(self) -> bool:
        """If both are."""
        return all(node.is_quick() for node in self.inputs)


class Zip(Node):
    """The elements of several datasets side by side.

    Args:
        shape: A structure with a number for each of the nodes.
        inputs: The nodes.
    """

    name = "_ZipDataset"
    repeats = True

    def __init__(self, shape: Any, inputs: Sequence[Node]) -> None:
        super().__init__(*inputs)
        self._shape = shape

    @cached_property
    def spec(self) -> Any:
        """The specs side by side."""
        return _filled(self._shape, [node.spec for node in self.inputs])

    @property
    def structure(self) -> Any:
        """The structures side by side."""
        return _filled(self._shape, [node.structure for node in self.inputs])

    def _inputs_in_order(self) -> list[Node]:
        return [self.inputs[n] for n in flatten(self._shape)]

    def cardinality(self) -> int:
        """The least."""
        counts = [node.cardinality() for node in self.inputs]
        known = [count for count in counts if count >= 0]
        if UNKNOWN in counts:
            return 0 if 0 in known else UNKNOWN
        return min(known) if known else INFINITE

    def shapes(self) -> Shapes:
        """Side by side."""
        return [shape for node in self._inputs_in_order() for shape in node.shapes()]

    def indexed(self) -> Indexed | None:
        """A wider table, if all are read from their first row to their last."""
        found = [node.indexed() for node in self._inputs_in_order()]
        parts = [indexed for indexed in found if indexed is not None and indexed.natural]
        if len(parts) < len(found):
            return None
        return Indexed.of(Beside([part.table for part in parts]))

    def stream(self) -> Stream:
        """Side by side, until one ends."""
        if self.indexed() is not None:
            return super().stream()
        return self._joined()

    def _joined(self) -> Stream:
        streams = [node.stream() for node in self._inputs_in_order()]
        for parts in zip(*streams):  # noqa: B905  the shortest ends it
            yield tuple([leaf for part in parts for leaf in part])

    def is_quick(self) -> bool:
        """If all are."""
        return all(node.is_quick() for node in self.inputs)


def _filled(shape: Any, parts: Sequence[Any]) -> Any:
    if isinstance(shape, int):
        return parts[shape]
    if isinstance(shape, dict):
        return {key: _filled(shape[key], parts) for key in shape}  # pyright: ignore[reportUnknownVariableType]
    made = [_filled(item, parts) for item in shape]
    return tuple(made) if type(shape) is tuple else type(shape)(*made)


def counted(source: Node, start: int) -> Node:
    """`enumerate`: numbers beside the elements."""
    return Zip((0, 1), [_CountFrom(start), source])


class _CountFrom(Node):
    """Numbers without end, as many as are asked for."""

    name = "_RangeDataset"
    repeats = True

    def __init__(self, start: int) -> None:
        super().__init__()
        self.spec = TensorSpec((), "int64")
        self._start = start

    def shapes(self) -> Shapes:
        """Scalars."""
        return [()]

    def cardinality(self) -> int:
        """Without end."""
        return INFINITE

    def indexed(self) -> Indexed:
        """Computed from the indices."""
        return Indexed.of(Numbers(self._start, 1, 2**62, np.int64))


class Options(Unchanged):
    """The same elements, with options."""

    name = "_OptionsDataset"
    repeats = True

    def cardinality(self) -> int:
        """The same."""
        return self.source.cardinality()

    def indexed(self) -> Indexed | None:
        """The same."""
        return self.source.indexed()

    def stream(self) -> Stream:
        """The same."""
        return self.source.stream()


class AssertCardinality(Options):
    """The same elements, counted."""

    name = "_AssertCardinalityDataset"
    repeats = False

    def __init__(self, source: Node, count: int) -> None:
        super().__init__(source)
        self._count = count

    def cardinality(self) -> int:
        """As asserted."""
        return self._count

    def indexed(self) -> Indexed | None:
        """They must be counted."""
        return None

    def stream(self) -> Stream:
        """The elements; too few or too many are an error."""
        count = 0
        for element in self.source.stream():
            count += 1
            if 0 <= self._count < count:
                raise self._wrong("more than that")
            yield element
        if count != self._count and self._count != UNKNOWN:
            raise self._wrong(f"{count} elements")

    def _wrong(self, found: str) -> errors.OpError:
        asserted = "an infinite number of" if self._count == INFINITE else str(self._count)
        return errors.FailedPreconditionError(
            None,
            None,
            f"Input dataset was expected to contain {asserted} elements but contained {found}.",
        )


class IgnoreErrors(Unchanged):
    """The elements that could be computed."""

    name = "_IgnoreErrorsDataset"

    def __init__(self, source: Node, log: bool) -> None:
        super().__init__(source)
        self._log = log

    def stream(self) -> Stream:
        """Those that raise nothing."""
        source = self.source.stream()
        while True:
            try:
                element = next(source)
            except StopIteration:
                return
            except Exception as error:  # noqa: BLE001  that is what it is for
                if self._log:
                    warnings.warn(f"ignore_errors: {error}", stacklevel=2)
                continue
            yield element
