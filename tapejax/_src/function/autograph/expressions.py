"""Expressions: `and`, `or`, `not`, `if else`, comparisons, calls, `assert` and `raise`."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod

from tapejax._src.function.autograph.calls import Calls
from tapejax._src.function.autograph.syntax import (
    contains,
    is_static_test,
    keeps_scope,
    parameters,
    qualified_name,
)
from tapejax._src.function.autograph.templates import constant, load, operator, place, thunk

_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class Expressions(ast.NodeTransformer, ABC):
    """Replaces what Python decides by itself with calls of the operators.

    Attributes:
        first_parameter: The first parameter of the function at hand, which `super()` needs.
        depth: How many branches and loop bodies are around.
    """

    def __init__(self, calls: Calls) -> None:
        self.first_parameter: str | None = None
        self.depth = 0
        self._calls = calls

    @abstractmethod
    def inner_body(self, node: ast.FunctionDef) -> list[ast.stmt]:
        """The converted body of a function defined inside the one at hand."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """`a and b` becomes `ag__.and_(a, lambda: b)`."""
        native = is_static_test(node) or not all(map(keeps_scope, node.values[1:]))
        self.generic_visit(node)
        if native:
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        *firsts, result = node.values
        for value in reversed(firsts):
            result = place(operator(name, value, thunk(result)), node)
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """`not a` becomes `ag__.not_(a)`."""
        native = is_static_test(node) or not isinstance(node.op, ast.Not)
        self.generic_visit(node)
        return node if native else place(operator("not_", node.operand), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        """`a if c else b` becomes `ag__.if_exp(c, lambda: a, lambda: b)`."""
        movable = keeps_scope(node.body) and keeps_scope(node.orelse)
        native = is_static_test(node.test) or not movable
        self.generic_visit(node)
        if native:
            return node
        return place(operator("if_exp", node.test, thunk(node.body), thunk(node.orelse)), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """`a < b < c` becomes `ag__.compare(...)`, `a in b` becomes `ag__.contains(a, b)`."""
        native = is_static_test(node) or not all(map(keeps_scope, node.comparators))
        self.generic_visit(node)
        if native:
            return node
        if len(node.ops) == 1:
            return self._single_comparison(node)
        if not all(isinstance(comparison, _COMPARISONS) for comparison in node.ops):
            return node
        pairs: list[ast.expr] = []
        for comparison, right in zip(node.ops, node.comparators, strict=True):
            pairs += [constant(type(comparison).__name__), thunk(right)]
        return place(operator("compare", node.left, *pairs), node)

    def _single_comparison(self, node: ast.Compare) -> ast.expr:
        if not isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return node
        found = operator("contains", node.left, node.comparators[0])
        return place(found if isinstance(node.ops[0], ast.In) else operator("not_", found), node)

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        """`assert a, b` becomes `ag__.assert_stmt(a, lambda: b, "a")`."""
        written = constant(ast.unparse(node.test))
        native = node.msg is not None and not keeps_scope(node.msg)
        self.generic_visit(node)
        if native:
            return node
        message = node.msg or place(constant(None), node)
        call = operator("assert_stmt", node.test, thunk(message), written)
        return place(ast.Expr(call), node)

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        """`raise e` inside a block becomes `raise ag__.raising(e)`."""
        self.generic_visit(node)
        if self.depth and node.exc is not None:
            node.exc = place(operator("raising", node.exc), node.exc)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """`f(x)` becomes `ag__.callee(f)(x)`, unless f certainly needs no conversion."""
        native = self._calls.need_no_conversion(node.func)
        zero_argument_super = not node.args and self._calls.is_builtin(node.func, "super")
        self.generic_visit(node)
        if zero_argument_super and self.first_parameter is not None:
            # Python looks for both in the function that calls it, which may be a block by now.
            node.args = [
                place(load("__class__"), node),
                place(load(self.first_parameter), node),
            ]
        if not native:
            node.func = place(operator("callee", node.func), node.func)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """A function inside: its decorators and defaults belong here, its body is a new scope."""
        self._visit_all(node.decorator_list)
        self._visit_arguments(node.args)
        suspends = contains(node.body, (ast.Yield, ast.YieldFrom))
        if not suspends and not any(map(_keeps_python, node.decorator_list)):
            node.body = self.inner_body(node)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        """A coroutine stays as it is."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        """A class stays as it is: its methods are converted when they are called."""
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """A lambda: its body is converted in place."""
        self._visit_arguments(node.args)
        outer = self.first_parameter
        self.first_parameter = next(iter(parameters(node.args, variadic=False)), None)
        if not contains([node.body], (ast.Yield, ast.YieldFrom)):
            node.body = self.visit(node.body)
        self.first_parameter = outer
        return node

    def _visit_arguments(self, arguments: ast.arguments) -> None:
        self._visit_all(arguments.defaults)
        arguments.kw_defaults = [
            None if default is None else self.visit(default) for default in arguments.kw_defaults
        ]

    def _visit_all(self, expressions: list[ast.expr]) -> None:
        expressions[:] = [self.visit(expression) for expression in expressions]


def _keeps_python(decorator: ast.expr) -> bool:
    """Whether a decorator says that its function must not be converted."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    path = qualified_name(called)
    return path is not None and path.split(".")[-1] == "do_not_convert"
