"""Value and derivatives of a row, recorded as one program before anything is read.

What a row costs is compiling, so the tests of a row share one program for each precision instead of
having one for each value they look at.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pytest

import tapejax
from parity import differences
from parity.calls import Call, cotangents, leaves, map_leaves, random_like
from parity.library import NO_GRADIENT_ENTRY, Library, Tapejax, as_numpy
from parity.pure import PureLibrary
from parity.rows import ROWS, Row
from tapejax._src.engine import tiers


@contextmanager
def _more_new_programs_than(free: int) -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiers, "FREE", free)
        yield


def compiled() -> Any:
    """Run each program compiled as one, however many others are new."""
    return _more_new_programs_than(10**9)


def op_by_op() -> Any:
    """Run programs with the kernels of their ops, which the routes to an op share."""
    return _more_new_programs_than(-1)


@dataclass(frozen=True)
class Question:
    """Where to differentiate, and what to contract the derivatives with."""

    row: Row
    call: Call
    seeds: list[np.ndarray]
    second_seeds: list[np.ndarray]
    tangents: list[np.ndarray]

    def at(self, primals: list[np.ndarray]) -> Question:
        """The same question elsewhere."""
        call = self.call.with_primals(primals)
        return Question(self.row, call, self.seeds, self.second_seeds, self.tangents)

    def moving(self, first: Any) -> list[np.ndarray]:
        """The tangents, zero in the arguments that None says are constants."""
        if first == NO_GRADIENT_ENTRY:
            return self.tangents
        pairs = zip(self.tangents, first, strict=True)
        return [np.zeros_like(t) if g is None else t for t, g in pairs]


class Separately:
    """The answers one after the other."""

    def __init__(self, library: Any, question: Question) -> None:
        """Ask this library."""
        self.library = library
        self.question = question

    @cached_property
    def value(self) -> Any:
        """The outputs."""
        return self.library.value(self.question.row, self.question.call)

    @cached_property
    def first(self) -> Any:
        """The first gradients, or `NO_GRADIENT_ENTRY`."""
        asked = self.question
        return self.library.gradients(asked.row, asked.call, asked.seeds)

    @cached_property
    def second(self) -> Any:
        """The second gradients, or `NO_GRADIENT_ENTRY`."""
        asked = self.question
        return self.library.second_gradients(
            asked.row, asked.call, asked.seeds, asked.second_seeds
        )

    @cached_property
    def pushed(self) -> Any:
        """The derivatives along the tangents."""
        asked = self.question
        return self.library.pushforward(asked.row, asked.call, asked.moving(self.first))


class Together(Separately):
    """The answers `wanted`, from one program in which other ops come before and after the row's.

    One that cannot be recorded, or all if the program cannot run, are asked for separately, so that
    each test sees its own error.
    """

    library: Tapejax

    def __init__(self, library: Tapejax, question: Question, wanted: Sequence[str]) -> None:
        """Record and run."""
        super().__init__(library, question)
        tf, call = library.tf, question.call
        self.call = call.map_arrays(lambda array: tf.identity(tf.constant(array)))
        pending: dict[str, Any] = {}
        for name in wanted:
            try:
                pending[name] = _RECORD[name](self, pending)
            except Exception:  # noqa: BLE001  (raised again by the test that asks for it)
                continue
        with compiled():
            try:
                self.__dict__.update(map_leaves(_read, pending))
            except Exception:  # noqa: BLE001  (likewise)
                return

    def _value(self, pending: dict[str, Any]) -> Any:
        del pending
        return map_leaves(self.library.tf.identity, self.library.invoke(self.question.row, self.call))

    def _first(self, pending: dict[str, Any]) -> Any:
        del pending
        asked = self.question
        return self.library.record_gradients(asked.row, self.call, asked.seeds)

    def _second(self, pending: dict[str, Any]) -> Any:
        asked = self.question
        first, second = self.library.record_second_gradients(
            asked.row, self.call, asked.seeds, asked.second_seeds
        )
        pending.setdefault("first", first)
        return second

    def _pushed(self, pending: dict[str, Any]) -> Any:
        asked = self.question
        directions = asked.moving(pending["first"])
        return self.library.record_pushforward(asked.row, self.call, directions)


_RECORD: dict[str, Callable[[Together, dict[str, Any]], Any]] = {
    "value": Together._value,
    "first": Together._first,
    "second": Together._second,
    "pushed": Together._pushed,
}


def _read(leaf: Any) -> Any:
    return leaf if isinstance(leaf, str) else as_numpy(leaf)
