"""The inputs of a staged op: what its blocks read from around them, each tensor once."""

from __future__ import annotations

from collections.abc import Sequence

from tapejax._src.core.tensor import Tensor


class Inputs:
    """Distinct tensors in order, behind some that come first whatever they are.

    What comes first will change, in a loop: the same tensor is entered again where its value stays.

    Args:
        carried: What comes first.

    Attributes:
        tensors: The tensors.
    """

    def __init__(self, carried: Sequence[Tensor] = ()) -> None:
        self.tensors = list(carried)
        self._places: dict[int, int] = {}

    def add(self, tensors: Sequence[Tensor]) -> list[int]:
        """The places of tensors, those that are new being appended."""
        places: list[int] = []
        for tensor in tensors:
            place = self._places.setdefault(id(tensor), len(self.tensors))
            if place == len(self.tensors):
                self.tensors.append(tensor)
            places.append(place)
        return places
