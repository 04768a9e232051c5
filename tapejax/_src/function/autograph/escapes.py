"""`break`, `continue` and `return` as flags.

Once a block is a function of its own, it cannot leave the one it came from. So a statement that
leaves sets flags instead, and what would follow runs only if they are not set. Where a branch
always leaves, what follows the `if` moves into the other branch, and no flag is needed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tapejax._src.function.autograph.source import CannotConvert
from tapejax._src.function.autograph.syntax import SCOPES, contains, is_static_test, leaves_loop
from tapejax._src.function.autograph.templates import (
    branch,
    constant,
    header,
    load,
    negation,
    operator,
    place,
    place_all,
    store,
    thunk,
)

_Native = ast.With | ast.Try | ast.TryStar | ast.Match


class _Flow(NamedTuple):
    """A block without its escapes.

    Attributes:
        body: The statements.
        may: Whether some path through them leaves the block.
        must: Whether every path does.
        closed: Whether they already hold the statements that follow.
    """

    body: list[ast.stmt]
    may: bool
    must: bool
    closed: bool = False


@dataclass
class _Loop:
    """The flags of a loop: `broken` ends it, `skip` ends the current iteration."""

    broken: str
    skip: str
    breaks: bool = False


class Escapes:
    """Rewrites the escapes of one function.

    Attributes:
        broken: The flag that ends a `for` loop, for each loop that has a `break` or `return`.
    """

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self.broken: dict[ast.For, str] = {}
        self._fresh = fresh
        self._value: str | None = None
        self._returned = ""
        self._flags: set[str] = set()
        self._read: set[str] = set()

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """A function's body with its escapes rewritten.

        Args:
            body: The statements; they are changed in place.

        Returns:
            The new body. It returns at its end only, unless no `return` stands inside a block that
            becomes a function.
        """
        if not _returns_from_block(body):
            return self._without_unread(self._block(body, None).body)
        self._value, self._returned = self._fresh("return_value"), self._flag("did_return")
        first, last = header(body[0]), header(body[-1])
        done = self._block(body, None).body
        result = operator("load", thunk(load(self._value)), constant(self._value))
        done.append(place(ast.Return(operator("returned", result)), last))
        done.insert(0, place(store(self._returned, constant(False)), first))
        return self._without_unread(done)

    def _flag(self, purpose: str) -> str:
        flag = self._fresh(purpose)
        self._flags.add(flag)
        return flag

    def _without_unread(self, body: list[ast.stmt]) -> list[ast.stmt]:
        remove = _RemoveAssignments(self._flags - self._read)
        return [kept for statement in body if (kept := remove.visit(statement)) is not None]

    def _block(self, statements: Sequence[ast.stmt], loop: _Loop | None) -> _Flow:
        done: list[ast.stmt] = []
        for position, statement in enumerate(statements):
            rest = statements[position + 1 :]
            flow = self._statement(statement, rest, loop)
            done += flow.body
            if flow.must or flow.closed:
                return _Flow(done, flow.may, flow.must)
            if flow.may:
                guarded = self._guard(rest, loop)
                return _Flow(done + guarded.body, True, guarded.must)
        return _Flow(done, False, False)

    def _statement(
        self, statement: ast.stmt, rest: Sequence[ast.stmt], loop: _Loop | None
    ) -> _Flow:
        """One statement; `rest` is what follows it, which an `if` may take in."""
        match statement:
            case ast.Return() if self._value is not None:
                return _Flow(self._return(statement, self._value, loop), True, True)
            case ast.Break() if loop is not None:
                return _Flow(self._leave(loop, statement, breaks=True), True, True)
            case ast.Continue() if loop is not None:
                return _Flow(self._leave(loop, statement, breaks=False), True, True)
            case ast.If():
                return self._if(statement, rest, loop)
            case ast.While() | ast.For():
                return self._loop(statement, loop)
            case ast.With():
                flow = self._block(statement.body, loop)
                statement.body = flow.body
                # The context may swallow an exception, then what follows runs after all.
                return _Flow([statement], flow.may, False)
            case ast.Try() | ast.TryStar():
                return self._try(statement, loop)
            case ast.Match():
                return self._match(statement, loop)
            case _:
                return _Flow([statement], False, False)

    def _return(self, statement: ast.Return, value: str, loop: _Loop | None) -> list[ast.stmt]:
        result = statement.value or place(constant(None), statement)
        done: list[ast.stmt] = [store(value, result), store(self._returned, constant(True))]
        place_all(done, statement)
        return done if loop is None else done + self._leave(loop, statement, breaks=True)

    def _leave(self, loop: _Loop, at: ast.AST, breaks: bool) -> list[ast.stmt]:
        """Sets the flags that end an iteration, or with `breaks` the loop."""
        loop.breaks |= breaks
        flags = [loop.broken, loop.skip] if breaks else [loop.skip]
        return place_all([store(flag, constant(True)) for flag in flags], at)

    def _guard(self, rest: Sequence[ast.stmt], loop: _Loop | None) -> _Flow:
        """Statements that run if nothing before them left the block."""
        if not rest:
            return _Flow([], False, False)
        flow = self._block(rest, loop)
        flag = self._returned if loop is None else loop.skip
        self._read.add(flag)
        guarded = place(branch(negation(flag), flow.body), header(rest[0]))
        return _Flow([guarded], flow.may, flow.must)

    def _then(self, first: _Flow, rest: Sequence[ast.stmt], loop: _Loop | None) -> _Flow:
        """A block followed by statements that are still to be rewritten."""
        if first.must or not rest:
            return first
        following = self._guard(rest, loop) if first.may else self._block(rest, loop)
        return _Flow(first.body + following.body, first.may or following.may, following.must)

    def _if(self, statement: ast.If, rest: Sequence[ast.stmt], loop: _Loop | None) -> _Flow:
        body, orelse = self._block(statement.body, loop), self._block(statement.orelse, loop)
        closed = False
        if body.must != orelse.must:
            closed = True
            body, orelse = self._then(body, rest, loop), self._then(orelse, rest, loop)
        statement.body = body.body or [place(ast.Pass(), header(statement))]
        statement.orelse = orelse.body
        may, must = body.may or orelse.may, body.must and orelse.must
        return _Flow([statement], may, must, closed)

    def _try(self, statement: ast.Try | ast.TryStar, loop: _Loop | None) -> _Flow:
        returns = self._value is not None and contains(statement.finalbody, ast.Return)
        if returns or leaves_loop(statement.finalbody):
            raise CannotConvert("`return`, `break` or `continue` in `finally` drops exceptions")
        body = self._block(statement.body, loop)
        orelse = (self._guard if body.may else self._block)(statement.orelse, loop)
        flows = [_Flow([], body.may or orelse.may, body.must or orelse.must)]
        for handler in statement.handlers:
            flow = self._block(handler.body, loop)
            handler.body = flow.body
            flows.append(flow)
        statement.body, statement.orelse = body.body, orelse.body
        statement.finalbody = self._block(statement.finalbody, loop).body
        may, must = any(flow.may for flow in flows), all(flow.must for flow in flows)
        return _Flow([statement], may, must)

    def _match(self, statement: ast.Match, loop: _Loop | None) -> _Flow:
        flows: list[_Flow] = []
        for case in statement.cases:
            flow = self._block(case.body, loop)
            case.body = flow.body
            flows.append(flow)
        last = statement.cases[-1]
        wildcard = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        may, must = any(flow.may for flow in flows), all(flow.must for flow in flows)
        return _Flow([statement], may, must and wildcard and last.guard is None)

    def _loop(self, statement: ast.While | ast.For, outer: _Loop | None) -> _Flow:
        returns = self._value is not None and contains(statement.body, ast.Return)
        if not returns and not leaves_loop(statement.body):
            statement.body = self._block(statement.body, None).body
            orelse = self._block(statement.orelse, outer)
            statement.orelse = []
            return _Flow([statement, *orelse.body], orelse.may, orelse.must)
        at = header(statement)
        loop = _Loop(self._flag("break"), self._flag("skip"))
        body = self._block(statement.body, loop).body
        statement.body = [place(store(loop.skip, constant(False)), at), *body]
        before: list[ast.stmt] = []
        if loop.breaks:
            before = [place(store(loop.broken, constant(False)), at)]
            self._stop(statement, loop.broken)
        after = self._orelse(statement, loop, outer)
        if returns and outer is not None:
            self._read.add(self._returned)
            leave = self._leave(outer, at, breaks=True)
            after.body.append(place(branch(load(self._returned), leave), at))
        return _Flow([*before, statement, *after.body], returns or after.may, False)

    def _stop(self, statement: ast.While | ast.For, broken: str) -> None:
        """Makes a loop end when its flag is set."""
        self._read.add(broken)
        if isinstance(statement, ast.For):
            self.broken[statement] = broken
            return
        go_on: ast.expr = negation(broken)
        if not (isinstance(statement.test, ast.Constant) and statement.test.value):
            go_on = ast.BoolOp(ast.And(), [go_on, statement.test])
        statement.test = place(go_on, statement.test)

    def _orelse(self, statement: ast.While | ast.For, loop: _Loop, outer: _Loop | None) -> _Flow:
        """The `else` of a loop, which runs unless the loop was left."""
        if not statement.orelse:
            return _Flow([], False, False)
        flow = self._block(statement.orelse, outer)
        at = header(statement.orelse[0])
        statement.orelse = []
        if not loop.breaks:
            return flow
        guarded = place(branch(negation(loop.broken), flow.body), at)
        return _Flow([guarded], flow.may, False)


def _returns_from_block(body: Sequence[ast.stmt]) -> bool:
    """Whether a `return` stands in a block that becomes a function: of a loop, a dynamic `if`."""
    return any(map(_returns_inside, body))


def _returns_inside(statement: ast.stmt) -> bool:
    match statement:
        case ast.While() | ast.For():
            return contains([statement], ast.Return)
        case ast.If(test=test) if not is_static_test(test):
            return contains([statement], ast.Return)
        case ast.If() | ast.With() | ast.Try() | ast.TryStar() | ast.Match():
            return any(map(_returns_from_block, _blocks_of(statement)))
        case _:
            return False


def _blocks_of(statement: ast.If | _Native) -> list[list[ast.stmt]]:
    match statement:
        case ast.With():
            return [statement.body]
        case ast.If():
            return [statement.body, statement.orelse]
        case ast.Match():
            return [case.body for case in statement.cases]
        case ast.Try() | ast.TryStar():
            handled = [handler.body for handler in statement.handlers]
            return [statement.body, statement.orelse, statement.finalbody, *handled]


class _RemoveAssignments(ast.NodeTransformer):
    """Removes the assignments to some names."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
        target = node.targets[0]
        return None if isinstance(target, ast.Name) and target.id in self._names else node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (ast.expr, *SCOPES)):
            return node
        had_body = bool(getattr(node, "body", None))
        super().generic_visit(node)
        if had_body and not getattr(node, "body", None):
            vars(node)["body"] = [ast.Pass()]
        return node
