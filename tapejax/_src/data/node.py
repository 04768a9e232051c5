"""Plans: what a dataset consists of. Each node makes the stream of one iteration."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from tapejax._src.data.structure import Leaves, flatten, shape_of
from tapejax._src.data.tables import Indexed, one_by_one

INFINITE = -1
UNKNOWN = -2
AUTOTUNE = -1

Stream = Iterator[Leaves]
Shapes = list[tuple[int, ...] | None]

_GUESSES = (3, 2)


class Node:
    """One step of a pipeline.

    Attributes:
        name: What TensorFlow calls its class.
        inputs: The nodes before it.
    """

    name = "Dataset"
    repeats = False
    """Whether iterating again gives the same kind of elements, and does nothing else."""

    def __init__(self, *inputs: Node) -> None:
        self.inputs = inputs

    @property
    def source(self) -> Node:
        """The node before it."""
        return self.inputs[0]

    @cached_property
    def spec(self) -> Any:
        """The structure of its elements, a spec for each leaf."""
        return self.source.spec

    @property
    def structure(self) -> Any:
        """The structure of its elements, once one has come; its leaves are specs of some kind."""
        return self.source.structure if self.inputs else self.spec

    @property
    def is_certain(self) -> bool:
        """Whether the spec is known without looking at an element."""
        return all(node.is_certain for node in self.inputs)

    @property
    def is_repeatable(self) -> bool:
        """Whether that holds for it and all nodes before it."""
        return self.repeats and all(node.is_repeatable for node in self.inputs)

    def cardinality(self) -> int:
        """How many elements there are, `INFINITE` or `UNKNOWN`."""
        return UNKNOWN

    def shapes(self) -> Shapes:
        """The shapes that most elements have, as far as that can be told beforehand."""
        return self.source.shapes()

    def stream(self) -> Stream:
        """The elements of one iteration."""
        indexed = self.indexed()
        assert indexed is not None
        return one_by_one(indexed.table, indexed.make())

    def indexed(self) -> Indexed | None:
        """The same as a table and the order of its rows, where there is one."""
        return None

    def is_quick(self) -> bool:
        """Whether elements come without waiting: from memory, and no function is called."""
        indexed = self.indexed()
        return indexed is not None and not indexed.table.computed


def guessed_shapes(spec: Any, guess: int = _GUESSES[0]) -> Shapes:
    """The shapes in specs with a number in the place of unknown dimensions."""
    shapes: Shapes = []
    for leaf in flatten(spec):
        known = shape_of(leaf) if hasattr(leaf, "shape") else None
        shapes.append(None if known is None else tuple([guess if n is None else n for n in known]))
    return shapes


class Unchanged(Node):
    """A node whose elements are those of the node before it."""

    def is_quick(self) -> bool:
        """As quick as that."""
        return self.source.is_quick()


class Empty(Node):
    """No elements of a known kind: stands for a dataset whose elements do not exist yet."""

    name = "_Empty"

    def __init__(self, spec: Any, shapes: Shapes) -> None:
        super().__init__()
        self.spec = spec
        self._shapes = shapes

    def shapes(self) -> Shapes:
        """As given."""
        return self._shapes

    def cardinality(self) -> int:
        """Nobody may rely on it."""
        return UNKNOWN

    def stream(self) -> Stream:
        """Nothing."""
        return iter(())


class InMemory(Node):
    """Elements that are known, and counted."""

    name = "_ListDataset"
    repeats = True

    def __init__(self, spec: Any, elements: list[Leaves]) -> None:
        super().__init__()
        self.spec = spec
        self.elements = elements

    def shapes(self) -> Shapes:
        """Those of the spec."""
        return guessed_shapes(self.spec)

    def cardinality(self) -> int:
        """As many as there are."""
        return len(self.elements)

    def stream(self) -> Stream:
        """The elements."""
        return iter(self.elements)

    def is_quick(self) -> bool:
        """They are there."""
        return True
