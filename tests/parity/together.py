"""Value and derivatives of a row, recorded as one program before anything is read.

What a row costs is compiling, so its tests share one program for each precision, instead of each
having a program for the value it looks at.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import jax
import numpy as np
import pytest

from parity.calls import Call, map_leaves
from parity.library import NO_GRADIENT_ENTRY, Tapejax, as_numpy
from parity.rows import Row
from tapejax._src.engine import tiers


@contextmanager
def _free_programs(number: int) -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiers, "FREE", number)
        yield


def compiled() -> Any:
    """Run each new program as one executable, however many others are new."""
    return _free_programs(10**9)


@contextmanager
def op_by_op() -> Generator[None]:
    """Run new programs by the kernels of their ops, which all routes to an op have in common."""
    with _free_programs(-1), compiled_fast():
        yield


@contextmanager
def compiled_fast() -> Generator[None]:
    """Compile with few optimizations; `Ours.single` has them all."""
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", before)


@dataclass(frozen=True)
class Question:
    """Where to differentiate a row, and what to contract the derivatives with."""

    row: Row
    call: Call
    seeds: list[np.ndarray]
    second_seeds: list[np.ndarray]
    tangents: list[np.ndarray]

    def at(self, primals: list[np.ndarray]) -> Question:
        """The same question at other values."""
        return replace(self, call=self.call.with_primals(primals))

    def moving(self, first: Any) -> list[np.ndarray]:
        """The tangents, zero for the arguments that None says are constants."""
        if first == NO_GRADIENT_ENTRY:
            return self.tangents
        pairs = zip(self.tangents, first, strict=True)
        return [np.zeros_like(t) if g is None else t for t, g in pairs]


class Answers:
    """What a library answers, each when it is looked at."""

    def __init__(self, library: Any, question: Question) -> None:
        """Ask this library."""
        self.library = library
        self.question = question

    @cached_property
    def value(self) -> Any:
        """The outputs."""
        return self._ask(self.library, "value")

    @cached_property
    def first(self) -> Any:
        """The first gradients, or `NO_GRADIENT_ENTRY`."""
        return self._ask(self.library, "first")

    @cached_property
    def second(self) -> Any:
        """The second gradients, or `NO_GRADIENT_ENTRY`."""
        return self._ask(self.library, "second")

    @cached_property
    def pushed(self) -> Any:
        """The derivatives of the outputs along the tangents."""
        return self._ask(self.library, "pushed", self.first)

    def _ask(self, library: Any, name: str, first: Any = None) -> Any:
        asked = self.question
        if name == "value":
            return library.value(asked.row, asked.call)
        if name == "first":
            return library.gradients(asked.row, asked.call, asked.seeds)
        if name == "second":
            return library.second_gradients(asked.row, asked.call, asked.seeds, asked.second_seeds)
        return library.pushforward(asked.row, asked.call, asked.moving(first))


class _Recording(Tapejax):
    """Ops come before and after that of the row, and nothing is read."""

    def tensor(self, array: np.ndarray) -> Any:
        return self.tf.identity(self.tf.constant(array))

    def read(self, value: Any) -> Any:
        dense = value is not None and not hasattr(value, "indices")
        return self.tf.identity(value) if dense else value


class Together(Answers):
    """What tapejax answers, from one program.

    What cannot be recorded, and everything if the program cannot run, is asked again when it is
    looked at, so that each test fails by its own error.
    """

    def __init__(self, library: Tapejax, question: Question, wanted: Sequence[str]) -> None:
        """Record what is `wanted` (names of properties), and run."""
        super().__init__(library, question)
        self.wanted = wanted
        recording = _Recording(library.tf)
        pending: dict[str, Any] = {}
        with compiled():
            for name in wanted:
                try:
                    pending[name] = self._ask(recording, name, pending.get("first"))
                except Exception:  # noqa: BLE001  (raised again when the answer is looked at)
                    continue
            try:
                self.__dict__.update(map_leaves(_read, pending))
            except Exception:  # noqa: BLE001  (likewise)
                return


def _read(leaf: Any) -> Any:
    return leaf if isinstance(leaf, str) else as_numpy(leaf)
