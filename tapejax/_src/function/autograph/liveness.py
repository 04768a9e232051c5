"""Which names are still needed around each `if`, `while` and `for`.

Blocks are walked backwards, without a flow graph: `break`, `continue` and most `return` statements
have become flags before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tapejax._src.function.autograph.names import Names, names_of

_Live = frozenset[str]


class Around(NamedTuple):
    """The live names around a statement.

    Attributes:
        inside: Names that its branches, or the start of an iteration, may read.
        after: Names that may be read after it.
    """

    inside: frozenset[str]
    after: frozenset[str]


class Liveness:
    """The live names of one function.

    Attributes:
        around: The names around each `if`, `while` and `for` of the function.
    """

    def __init__(
        self, body: Sequence[ast.stmt], always: Iterable[str], broken: dict[ast.For, str]
    ) -> None:
        """Analyses a function's body.

        Args:
            body: The statements, without escapes.
            always: Names that are live everywhere: those of closures, globals and outer functions.
            broken: The flag that ends a `for` loop, for each loop that has one.
        """
        self.around: dict[ast.stmt, Around] = {}
        self._broken = broken
        self._names: dict[ast.AST, Names] = {}
        # What is read if an exception is raised at this point: by handlers and `finally`.
        self._on_error: _Live = frozenset()
        self._block(body, frozenset(always))

    def _of(self, node: ast.AST) -> Names:
        names = self._names.get(node)
        if names is None:
            names = self._names[node] = names_of(node)
        return names

    def _loads(self, node: ast.AST | None) -> set[str]:
        return set() if node is None else self._of(node).loads

    def _block(self, body: Sequence[ast.stmt], live: _Live) -> _Live:
        """The names live before a block, given those live after it."""
        for statement in reversed(body):
            live = self._statement(statement, live) | self._on_error
        return live

    def _statement(self, statement: ast.stmt, after: _Live) -> _Live:
        match statement:
            case ast.If():
                inside = self._block(statement.body, after) | self._block(statement.orelse, after)
                self.around[statement] = Around(inside, after)
                return inside | self._loads(statement.test)
            case ast.While():
                return self._loop(statement, after | self._loads(statement.test), after)
            case ast.For():
                return self._for(statement, after)
            case ast.With():
                return self._with(statement, after)
            case ast.Try() | ast.TryStar():
                return self._try(statement, after)
            case ast.Match():
                return self._match(statement, after)
            case ast.Return() | ast.Raise():
                return frozenset(self._loads(statement))
            case ast.Delete():
                return after | self._loads(statement)
            case _:
                names = self._of(statement)
                return (after - names.stores) | names.loads

    def _loop(self, statement: ast.While | ast.For, head: _Live, after: _Live) -> _Live:
        """Names live at the head of a loop, where every iteration starts."""
        bound: set[str] = set()
        if isinstance(statement, ast.For):
            bound = self._of(statement.target).stores
        while True:
            grown = head | (self._block(statement.body, head) - bound)
            if grown == head:
                break
            head = grown
        self.around[statement] = Around(head, after)
        return head

    def _for(self, statement: ast.For, after: _Live) -> _Live:
        head = after | self._loads(statement.target)
        if statement in self._broken:
            head |= {self._broken[statement]}
        return self._loop(statement, head, after) | self._loads(statement.iter)

    def _with(self, statement: ast.With, after: _Live) -> _Live:
        names = names_of(*statement.items)
        outer = self._on_error
        self._on_error = outer | after  # the context may swallow an exception
        inside = self._block(statement.body, after)
        self._on_error = outer
        return (inside - names.stores) | names.loads

    def _try(self, statement: ast.Try | ast.TryStar, after: _Live) -> _Live:
        outer = self._on_error
        final = self._block(statement.finalbody, after)
        if statement.finalbody:
            self._on_error = outer | final
        handled: _Live = frozenset()
        for handler in statement.handlers:
            inside = self._block(handler.body, final)
            handled |= (inside - {handler.name or ""}) | self._loads(handler.type)
        orelse = self._block(statement.orelse, final)
        self._on_error |= handled
        body = self._block(statement.body, orelse)
        self._on_error = outer
        return body | handled | final

    def _match(self, statement: ast.Match, after: _Live) -> _Live:
        live = after | self._loads(statement.subject)
        for case in statement.cases:
            inside = self._block(case.body, after) | self._loads(case.guard)
            names = self._of(case.pattern)
            live |= (inside - names.stores) | names.loads
        return live
