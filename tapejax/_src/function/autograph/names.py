"""What statements read and write: names, attributes and containers."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tapejax._src.function.autograph.syntax import parameters, qualified_name, root_of

_MUTATORS = frozenset(
    (
        "add",
        "append",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    )
)


class Names(ast.NodeVisitor):
    """The names of one scope, collected from the nodes visited.

    Attributes:
        loads: Names that are read, here or by an inner scope.
        stores: Names that are bound, deleted, or rebound by an inner function's `nonlocal`.
        captured: Names that an inner scope holds on to, so that it may use them at any time.
        attributes: `a.b` for each attribute that is assigned.
        containers: `a` or `a.b` for each container with an item assigned or a mutating call.
        declared: Names of `global` and `nonlocal` statements.
    """

    def __init__(self) -> None:
        self.loads: set[str] = set()
        self.stores: set[str] = set()
        self.captured: set[str] = set()
        self.attributes: set[str] = set()
        self.containers: set[str] = set()
        self.declared: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        """A name: read, bound or deleted (which needs it bound)."""
        if not isinstance(node.ctx, ast.Load):
            self.stores.add(node.id)
        if not isinstance(node.ctx, ast.Store):
            self.loads.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """An attribute: state where it is a target."""
        path = qualified_name(node)
        if path is not None and not isinstance(node.ctx, ast.Load):
            self.attributes.add(path)
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """An item: its container is state where it is a target."""
        if not isinstance(node.ctx, ast.Load):
            self._changes(node.value)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """`target += value` reads its target too."""
        if isinstance(node.target, ast.Name):
            self.loads.add(node.target.id)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """A call: a method like `append` changes its object."""
        if isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
            self._changes(node.func.value)
        self.generic_visit(node)

    def _changes(self, container: ast.expr) -> None:
        path = qualified_name(container)
        if path is not None:
            self.containers.add(path)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """An inner function: binds its name, captures its free names."""
        self.stores.add(node.name)
        outside = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]
        inner = self._inner(node.body, set(parameters(node.args)), outside)
        # Only `nonlocal` matters here: a `global` of the inner function is no name of this scope.
        rebound = inner.declared & (inner.stores | inner.captured) - _globals_of(node.body)
        self.stores |= rebound
        self.captured |= rebound

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """A lambda: captures its free names."""
        outside = [*node.args.defaults, *node.args.kw_defaults]
        self._inner([node.body], set(parameters(node.args)), outside)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """A class: binds its name; its body and methods are inner scopes."""
        self.stores.add(node.name)
        keywords = [keyword.value for keyword in node.keywords]
        self._inner(node.body, set(), [*node.decorator_list, *node.bases, *keywords])

    def _inner(
        self, body: Iterable[ast.AST], bound: set[str], outside: Iterable[ast.AST | None]
    ) -> Names:
        """Adds what an inner scope reads from this one; `outside` is evaluated in this one."""
        for expression in outside:
            if expression is not None:
                self.visit(expression)
        inner = names_of(*body)
        free = (inner.loads | inner.captured) - (inner.stores - inner.declared) - bound
        self.loads |= free
        self.captured |= free
        return inner

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        self._inside_comprehension(node, node.elt)

    visit_ListComp = _comprehension
    visit_SetComp = _comprehension

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        """A generator: it reads its names when it is consumed, so it holds on to them."""
        captured = self._inside_comprehension(node, node.elt)
        self.captured |= captured

    def visit_DictComp(self, node: ast.DictComp) -> None:
        """A dict comprehension."""
        self._inside_comprehension(node, node.key, node.value)

    def _inside_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, *parts: ast.expr
    ) -> set[str]:
        """Adds what a comprehension reads, and the names that `:=` binds around it."""
        inner = names_of(*node.generators, *parts)
        walruses = {named.target.id for named in ast.walk(node) if isinstance(named, ast.NamedExpr)}
        own = inner.stores - walruses
        self.loads |= inner.loads - own
        self.stores |= walruses
        self.captured |= inner.captured - own
        self.attributes |= {path for path in inner.attributes if root_of(path) not in own}
        self.containers |= {path for path in inner.containers if root_of(path) not in own}
        return inner.loads - own

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """`except E as name` binds the name."""
        if node.name:
            self.stores.add(node.name)
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        """`import a.b` binds `a`."""
        self.stores.add(root_of(node.asname or node.name))

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        """A capture pattern binds its name."""
        if node.name:
            self.stores.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        """`*rest` in a pattern binds its name."""
        if node.name:
            self.stores.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        """`**rest` in a pattern binds its name."""
        if node.rest:
            self.stores.add(node.rest)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        """A declaration: the names belong to another scope."""
        self.declared.update(node.names)

    visit_Nonlocal = visit_Global


def _globals_of(body: Iterable[ast.AST]) -> set[str]:
    return {
        name
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Global)
        for name in node.names
    }


def names_of(*nodes: ast.AST | None) -> Names:
    """The names that nodes of one scope read and write together."""
    names = Names()
    for node in nodes:
        if node is not None:
            names.visit(node)
    return names
