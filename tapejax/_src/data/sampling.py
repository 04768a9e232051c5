"""Picking among several datasets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import int64
from tapejax._src.core.specs import TensorSpec
from tapejax._src.data.isolation import isolated
from tapejax._src.data.node import INFINITE, UNKNOWN, Node, Shapes, Stream
from tapejax._src.data.structure import common_structure, constant_tensor
from tapejax._src.function.function import Function
from tapejax._src.function.mapping import vectorized_map
from tapejax._src.ops.elementwise import log
from tapejax._src.ops.random_stateless import stateless_categorical

_PICKS = 64


class Selector(Node):
    """Numbers of datasets, drawn with weights: TensorFlow's, from pairs of random integers.

    Args:
        numbers: Where the pairs come from.
        count: How many datasets there are.
        weights: Their probabilities; None: equal.
    """

    name = "_MapDataset"

    def __init__(self, numbers: Node, count: int, weights: Any) -> None:
        super().__init__(numbers)
        self.spec = TensorSpec((), int64)
        equal = np.ones((1, count), np.float32)
        with isolated():
            found = (
                equal if weights is None else log(constant_tensor(np.array(weights)[None])).view()
            )
        logits = np.array(found)

        def pick(seed: Any) -> Any:
            return stateless_categorical(logits, 1, seed)[0, 0]

        self._pick = Function(lambda seeds: vectorized_map(pick, seeds))

    def shapes(self) -> Shapes:
        """Scalars."""
        return [()]

    def cardinality(self) -> int:
        """Without end."""
        return INFINITE

    def stream(self) -> Stream:
        """The numbers, computed many at once."""
        numbers = self.source.stream()
        while True:
            words = [next(numbers)[0] for _ in range(2 * _PICKS)]
            with isolated():
                seeds = constant_tensor(np.array(words, np.int64).reshape(_PICKS, 2))
                picks = np.asarray(self._pick(seeds).view())
            for n in range(_PICKS):
                yield (picks[n, ...],)


class Directed(Node):
    """Elements of several datasets, from the one whose number comes next.

    Args:
        choices: The numbers.
        nodes: The datasets.
        stops: Whether the first that ends, ends all.
    """

    name = "_DirectedInterleaveDataset"

    def __init__(self, choices: Node, nodes: Sequence[Node], stops: bool) -> None:
        super().__init__(choices, *nodes)
        self._stops = stops
        if all(node.is_certain for node in nodes):
            _ = self.spec

    @cached_property
    def spec(self) -> Any:
        """What covers all."""
        spec = self.inputs[1].spec
        for node in self.inputs[2:]:
            spec = common_structure(spec, node.spec)
        return spec

    @property
    def structure(self) -> Any:
        """The same for all."""
        return self.spec

    def shapes(self) -> Shapes:
        """Those of the first."""
        return self.inputs[1].shapes()

    def cardinality(self) -> int:
        """Unknown, as in TensorFlow, unless it never ends."""
        counts = [node.cardinality() for node in self.inputs[1:]]
        endless = all(count == INFINITE for count in counts) if self._stops else INFINITE in counts
        return INFINITE if endless and self.source.cardinality() == INFINITE else UNKNOWN

    def stream(self) -> Stream:
        """The elements."""
        streams: list[Stream | None] = [node.stream() for node in self.inputs[1:]]
        for (choice,) in self.source.stream():
            number = int(choice)
            if not 0 <= number < len(streams):
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Selector index out of range: {number} >= {len(streams)}",
                )
            stream = streams[number]
            found = None if stream is None else next(stream, None)
            if found is not None:
                yield found
                continue
            streams[number] = None
            if self._stops or all(other is None for other in streams):
                return
