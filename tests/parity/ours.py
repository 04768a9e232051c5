"""What tapejax gives for a row, each program of it run once and kept for the tests that follow."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

import tapejax
from parity import differences
from parity.calls import Call, cotangents, leaves, map_leaves, random_like, widen
from parity.library import Tapejax
from parity.pure import PureLibrary
from parity.rows import ROWS, Row
from parity.together import Answers, Question, Together, compiled_fast, op_by_op
from tapejax._src.engine.cases import is_inexact

_BY_ID = {row.id: row for row in ROWS}


@lru_cache(maxsize=32)
def answers(row_id: str, pure: bool = False) -> Ours:
    """Those of a row; its tests run one after another, so few rows are kept."""
    return Ours(_BY_ID[row_id], pure)


class Ours:
    """The answers of tapejax on one row."""

    def __init__(self, row: Row, pure: bool) -> None:
        """By the engine, or by the pure body of the op."""
        self.row = row
        self.pure = pure
        self.library: Any = PureLibrary() if pure else Tapejax(tapejax)
        self._double: dict[bool, Answers] = {}

    @cached_property
    def plain(self) -> Any:
        """The outputs of a plain call on tensors."""
        with nullcontext() if self.pure else op_by_op():
            return self.library.value(self.row, self.row.call)

    @cached_property
    def single(self) -> Answers:
        """The answers at the dtypes of the case."""
        row = self.row
        seeds = cotangents(self.plain, row.rng("cotangents"))
        wanted = ["value"]
        if row.call.primals and row.field("test_grad", True) and not row.field("differs"):
            wanted.append("first")
            if row.op.fields.get("gradient", "vjp") == "vjp":
                wanted.append("second")
            if row.has_float64 and self._is_double:
                wanted.append("pushed")
        return self.ask(self._question(row.call, seeds), wanted)

    def double(self, second: bool) -> Answers:
        """The answers in double precision, with or without the second gradients."""
        if second not in self._double:
            self._double[second] = self._in_double(second)
        return self._double[second]

    def _in_double(self, second: bool) -> Answers:
        if not second and True in self._double:
            return self._double[True]
        call = self.row.call.widened()
        connected = self.row.op.fields.get("gradient", "vjp") == "vjp"
        values = map_leaves(widen, self.plain) if connected else self.library.value(self.row, call)
        floating = [leaf for leaf in leaves(values) if is_inexact(leaf.dtype)]
        seeds = differences.finite_only(cotangents(values, self.row.rng("cotangents")), floating)
        shared = self._is_double and not self.row.private and not self.row.field("differs")
        if shared and all(map(np.array_equal, seeds, self.single.question.seeds)):
            return self.single
        wanted = ["value", "first", "pushed", *(["second"] if second else [])]
        with compiled_fast():
            return self.ask(self._question(call, seeds), wanted)

    @property
    def _is_double(self) -> bool:
        pairs = zip(self.row.call.arrays, self.row.call.widened().arrays, strict=True)
        return all(array.dtype == wide.dtype for array, wide in pairs)

    def _question(self, call: Call, seeds: list[np.ndarray]) -> Question:
        rng = self.row.rng("second cotangents")
        drawn = [random_like(primal, rng) for primal in self.row.call.primals]
        second_seeds = [s.astype(p.dtype) for s, p in zip(drawn, call.primals, strict=True)]
        return Question(
            self.row, call, seeds, second_seeds, call.tangents(self.row.rng("tangents"))
        )

    def ask(self, question: Question, wanted: Sequence[str]) -> Answers:
        """Answer a question, with what is wanted in one program."""
        if self.pure:
            return Answers(self.library, question)
        return Together(self.library, question, wanted)

    def elsewhere(self, answers: Answers, primals: list[np.ndarray]) -> Answers:
        """Answers to the same question at other values, by the same program."""
        question = answers.question.at(primals)
        if isinstance(answers, Together):
            with compiled_fast():
                return Together(self.library, question, answers.wanted)
        return Answers(self.library, question)
