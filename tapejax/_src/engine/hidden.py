"""Hidden inputs: values a traced function draws anew at each call, such as random seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import constant_tensor
from tapejax._src.engine.recorder import LOCAL


class Source(Protocol):
    """Where the values of a hidden input come from."""

    @property
    def placeholder(self) -> Any:
        """A NumPy array of the shape and dtype of the values."""
        ...

    @property
    def step(self) -> int:
        """How far a state that is such a value moves on each time it is used."""
        ...

    def draw(self) -> Any:
        """The next value, and on to the one after it."""
        ...

    def repeated(self, times: int | None) -> Source:
        """The same source for something that uses it so often, an unknown number if None."""
        ...

    def apart(self) -> Source:
        """A source like this one, at its start, for another call of the function it is in."""
        ...


class Asked:
    """A source that a function answers for, while tracing as at each call.

    Args:
        function: Gives the next value, a NumPy array always of the same shape and dtype.
    """

    step = 0

    def __init__(self, function: Callable[[], Any]) -> None:
        self.draw = function

    @property
    def placeholder(self) -> Any:
        """What stands for the values while a function is traced."""
        return self.draw()

    def repeated(self, times: int | None) -> Asked:
        """The same: it may be asked any number of times."""
        del times
        return self

    def apart(self) -> Asked:
        """The same: it has no start."""
        return self


def hidden_input(source: Source) -> Tensor:
    """A tensor of a source: its next value, anew at each call of a function being traced."""
    recorder = LOCAL.recorder
    if recorder.hidden is None:
        return constant_tensor(source.draw())
    tensor = constant_tensor(source.placeholder)
    recorder.hidden.append((tensor, source))
    return tensor


def within_function() -> bool:
    """Whether a function is being traced, and not only a loop or branch of eager code."""
    recorder = LOCAL.recorder
    while recorder.is_block and recorder.around is not None:
        recorder = recorder.around[0]
    return recorder.hidden is not None
