"""Functions that only Python can run: their calls run the body as it stands, step by step.

What a body draws from a dataset comes from Python. Where the number and shapes of the elements are
known when the function is traced, they enter its program as hidden inputs; else the function runs
as eager code, whose steps are compiled all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from tapejax._src.core.tensor import Tensor


class RunOnHost(BaseException):
    """Raised while a function is traced or called: only Python can run it.

    Not an `Exception`: a handler of the user's around the place must not swallow it.

    Args:
        reason: Why.
        place: The user's line, as `file:line`, where it is a program that cannot hold something.
    """

    def __init__(self, reason: str, place: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place

    def no_concrete_function(self, name: str) -> Exception:
        """For `get_concrete_function`, which has nothing to return."""
        return NotImplementedError(
            f"{name!r} has no concrete function: {self.reason}. Call the function itself, which "
            "runs as Python."
        )


class NoTrace:
    """Stands where a trace would be: calls of this signature run as Python.

    Args:
        reason: Why.
    """

    variables: tuple[Any, ...] = ()

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __bool__(self) -> bool:
        return False

    def call(self, arguments: Sequence[Any], variables: Sequence[Any] = ()) -> Any:
        """Say that the call cannot be compiled."""
        raise RunOnHost(self.reason)


class Drawn(Protocol):
    """A hidden input that Python draws from an iterator; the draw can be taken back."""

    def __call__(self) -> Any:
        """Draw the array."""
        ...

    def undo(self) -> None:
        """Take the draw back, if this call made it."""
        ...


class Pieces(NamedTuple):
    """Elements of one form that a loop goes over.

    Attributes:
        size: How many there are.
        stacks: Their components stacked; of a single element, the components themselves.
        pack: From components to the element as the user sees it.
    """

    size: int
    stacks: list[Tensor]
    pack: Callable[[Sequence[Any]], Any]


class HostIterables:
    """What loops go over that is no tensor; set by the layer that has such things.

    Attributes:
        pieces: From what a `for` is given, while a function is traced, to its elements in order;
            None for what is nothing of the kind.
    """

    pieces: Callable[[Any], list[Pieces] | None]


def _none(iterable: Any) -> None:
    del iterable


HOST_ITERABLES = HostIterables()
HOST_ITERABLES.pieces = _none


def taken_back(drawn: Sequence[Any]) -> None:
    """Take back what hidden inputs have drawn, the last first."""
    for make in reversed(drawn):
        undo = getattr(make, "undo", None)
        if undo is not None:
            undo()
