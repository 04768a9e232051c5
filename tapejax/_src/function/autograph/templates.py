"""Making syntax: small constructors, and the place of what they make.

Converted code is compiled under the user's file name. So every node made here gets the place of
the user's statement it stands for, and tracebacks, debuggers and coverage show the user's source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

OPERATORS = "ag__"
"""The name of the operators in converted code, and the prefix of every internal name."""

THUNK = "ag__thunk"
"""The parameter that tells the lambdas made here from the user's; it is always empty."""

_Node = TypeVar("_Node", bound=ast.AST)


def load(path: str) -> ast.expr:
    """An expression that reads a name or a qualified name `a.b`."""
    root, *attributes = path.split(".")
    node: ast.expr = ast.Name(root, ast.Load())
    for attribute in attributes:
        node = ast.Attribute(node, attribute, ast.Load())
    return node


def store(path: str, value: ast.expr) -> ast.Assign:
    """`path = value`, for a name or a qualified name."""
    target = load(path)
    if isinstance(target, (ast.Name, ast.Attribute)):
        target.ctx = ast.Store()
    return ast.Assign([target], value)


def constant(value: Any) -> ast.Constant:
    """A literal."""
    return ast.Constant(value)


def operator(name: str, *arguments: ast.expr) -> ast.Call:
    """`ag__.name(arguments)`."""
    return ast.Call(load(f"{OPERATORS}.{name}"), list(arguments), [])


def negation(path: str) -> ast.UnaryOp:
    """`not path`."""
    return ast.UnaryOp(ast.Not(), load(path))


def branch(test: ast.expr, body: list[ast.stmt]) -> ast.If:
    """`if test: body`."""
    return ast.If(test, body, [])


def arguments(names: Sequence[str] = (), variadic: str | None = None) -> ast.arguments:
    """Plain parameters, and `*variadic`."""
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(name) for name in names],
        vararg=None if variadic is None else ast.arg(variadic),
        kwonlyargs=[],
        kw_defaults=[],
        kwarg=None,
        defaults=[],
    )


def thunk(expression: ast.expr) -> ast.Lambda:
    """An expression that an operator evaluates when it needs it."""
    node = ast.Lambda(arguments(variadic=THUNK), expression)
    return place(node, expression) if hasattr(expression, "lineno") else node


def define(name: str, parameter_list: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    """`def name(parameters): body`."""
    node = ast.FunctionDef(
        name=name, args=parameter_list, body=body or [ast.Pass()], decorator_list=[], returns=None
    )
    vars(node).setdefault("type_params", [])  # Python 3.12 insists on it
    return node


def define_class(name: str, body: list[ast.stmt]) -> ast.ClassDef:
    """`class name: body`."""
    node = ast.ClassDef(name=name, bases=[], keywords=[], body=body, decorator_list=[])
    vars(node).setdefault("type_params", [])
    return node


def binding(names: Iterable[str]) -> list[ast.stmt]:
    """Makes names local to a function without giving them a value: no code is left of it."""
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in sorted(names)]
    if not targets:
        return []
    return [branch(constant(0), [ast.Assign(targets, constant(None))])]


def declarations(global_names: Iterable[str], nonlocal_names: Iterable[str]) -> list[ast.stmt]:
    """The `global` and `nonlocal` statements for names, where there are any."""
    of_module, of_function = sorted(global_names), sorted(nonlocal_names)
    statements: list[ast.stmt] = []
    if of_module:
        statements.append(ast.Global(of_module))
    if of_function:
        statements.append(ast.Nonlocal(of_function))
    return statements


def place(node: _Node, at: ast.AST) -> _Node:
    """Gives every node made here the place of a user's node; the user's own keep theirs.

    Args:
        node: What was made; below a node that has a place nothing is changed.
        at: The node to take the place from.

    Returns:
        The same node.
    """
    where = {
        key: getattr(at, key) for key in ("lineno", "col_offset", "end_lineno", "end_col_offset")
    }
    pending: list[ast.AST] = [node]
    while pending:
        made = pending.pop()
        if "lineno" in made.__dict__:
            continue
        if "lineno" in made._attributes:
            made.__dict__.update(where)
        pending.extend(ast.iter_child_nodes(made))
    return node


def place_all(nodes: list[ast.stmt], at: ast.AST) -> list[ast.stmt]:
    """`place` for each statement of a list."""
    for node in nodes:
        place(node, at)
    return nodes


def header(statement: ast.stmt) -> ast.AST:
    """A node with the place of a statement's first line, without the block below it."""
    return ast.Pass(
        lineno=statement.lineno,
        col_offset=statement.col_offset,
        end_lineno=statement.lineno,
        end_col_offset=statement.col_offset + 1,
    )
