"""Simpler forms of a function's statements, before anything else looks at them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field

from tapejax._src.function.autograph.syntax import SCOPES, contains
from tapejax._src.function.autograph.templates import (
    branch,
    constant,
    header,
    load,
    place,
    place_all,
    store,
)


@dataclass
class Declarations:
    """What a function says about its names.

    Attributes:
        global_names: Names of its `global` statements.
        nonlocal_names: Names of its `nonlocal` statements.
        local_names: Names that a bare annotation `x: int` makes local.
    """

    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    local_names: set[str] = field(default_factory=set)


class Normalization(ast.NodeTransformer):
    """Rewrites the statements of one function, not those of functions inside it.

    Declarations are collected, because they hold for the whole function while a block is about to
    become a function of its own. Annotations go, since a `nonlocal` name must not have one.
    A condition of `while` that binds names moves into the loop.
    """

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self.declarations = Declarations()
        self._fresh = fresh

    def body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements in their simpler form.

        Args:
            statements: A function's body; it is changed in place.

        Returns:
            The new body.
        """
        result: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            result.extend(made if isinstance(made, list) else [made])
        return result

    def visit_Global(self, node: ast.Global) -> ast.stmt:
        """Collects a declaration."""
        self.declarations.global_names.update(node.names)
        return ast.copy_location(ast.Pass(), node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.stmt:
        """Collects a declaration."""
        self.declarations.nonlocal_names.update(node.names)
        return ast.copy_location(ast.Pass(), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """`x: T = v` becomes `x = v`: Python never evaluates T inside a function."""
        if node.value is not None:
            return ast.copy_location(ast.Assign([node.target], node.value), node)
        if isinstance(node.target, ast.Name):
            self.declarations.local_names.add(node.target.id)
        return ast.copy_location(ast.Pass(), node)

    def visit_While(self, node: ast.While) -> ast.stmt | list[ast.stmt]:
        """`while (x := f()):` becomes `while True:` with a test and `break` inside."""
        self.generic_visit(node)
        if not contains([node.test], ast.NamedExpr):
            return node
        at = header(node)
        leave: list[ast.stmt] = [ast.Break()]
        before: list[ast.stmt] = []
        after: list[ast.stmt] = []
        if node.orelse:
            # `else` runs when the test fails, but not after a `break` of the user's.
            exhausted = self._fresh("exhausted")
            before.append(store(exhausted, constant(False)))
            leave.insert(0, store(exhausted, constant(True)))
            after.append(branch(load(exhausted), node.orelse))
            node.orelse = []
        failed = place(ast.UnaryOp(ast.Not(), node.test), node.test)
        node.body.insert(0, place(branch(failed, leave), node.test))
        node.test = place(constant(True), node.test)
        return [*place_all(before, at), node, *place_all(after, at)]

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Goes into blocks only: not into expressions, functions and classes."""
        return node if isinstance(node, (ast.expr, *SCOPES)) else super().generic_visit(node)
