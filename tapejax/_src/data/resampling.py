"""Rejection resampling: picks elements so that their classes have a wanted distribution."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import int32
from tapejax._src.core.specs import TensorSpec
from tapejax._src.data.node import Node, Shapes, Stream
from tapejax._src.data.seeds import SeedSource, seeds_for
from tapejax._src.data.structure import Array
from tapejax._src.data.user_function import UserFunction

_WORDS = 2.0**32


class Resample(Node):
    """(class, element), accepted with a probability that depends on the class.

    A class is accepted in proportion to target / initial, scaled so that the most wanted class is
    always taken.

    Args:
        source: The elements.
        classify: From an element to its class.
        target: The wanted probabilities.
        initial: Those of the elements; None: counted as they come.
        seed: Of the picks.
    """

    name = "_DirectedInterleaveDataset"

    def __init__(
        self, source: Node, classify: UserFunction, target: Array, initial: Array | None, seed: Any
    ) -> None:
        super().__init__(source)
        self._classify, self._target, self._initial = classify, target, initial
        self._seeds = SeedSource(seeds_for(seed), True)

    @cached_property
    def spec(self) -> Any:
        """Both."""
        return (TensorSpec((), int32), self.source.spec)

    @property
    def structure(self) -> Any:
        """Both."""
        return (TensorSpec((), int32), self.source.structure)

    def shapes(self) -> Shapes:
        """Both."""
        return [(), *self.source.shapes()]

    def stream(self) -> Stream:
        """The accepted elements."""
        draws = self._seeds.next()
        counts = np.zeros(len(self._target))
        for element in self.source.stream():
            (label,) = self._classify(element)
            counts[int(label)] += 1
            accept = self._acceptance(counts)[int(label)]
            if next(draws) / _WORDS < accept:
                yield (np.asarray(label, np.int32), *element)

    def _acceptance(self, counts: Array) -> Array:
        initial = counts / counts.sum() if self._initial is None else self._initial
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(initial > 0, self._target / initial, 0.0)
        most = ratio.max()
        return ratio / most if most > 0 else np.ones_like(ratio)
