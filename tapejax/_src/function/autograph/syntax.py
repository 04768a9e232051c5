"""Questions about syntax trees that several passes ask."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

_Node = TypeVar("_Node", bound=ast.AST)

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
LOOPS = (ast.For, ast.While)
_STATIC_CALLS = frozenset(("callable", "hasattr", "isinstance", "issubclass"))


def clone(node: _Node) -> _Node:
    """A deep copy of a syntax tree, several times faster than `copy.deepcopy`."""
    return _clone(node)


def _clone(value: Any) -> Any:
    if isinstance(value, list):
        return [_clone(item) for item in value]
    if not isinstance(value, ast.AST) or not value.__dict__:
        return value  # constants, and `Load()` and its like, which Python shares too
    kind: type[ast.AST] = type(value)
    copy = kind.__new__(kind)  # the constructor would miss the fields that come next
    copy.__dict__.update((key, _clone(item)) for key, item in value.__dict__.items())
    return copy


def parameters(arguments: ast.arguments, variadic: bool = True) -> list[str]:
    """The parameters of a function in the order of its code object, `*` and `**` at the end."""
    plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    stars = [arguments.vararg, arguments.kwarg] if variadic else []
    return [argument.arg for argument in (*plain, *stars) if argument is not None]


def walk_scope(
    nodes: Iterable[ast.AST], stop: tuple[type[ast.AST], ...] = SCOPES
) -> Iterator[ast.AST]:
    """Every node below, without what is inside the nodes of type `stop`: functions and classes."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, stop):
            pending.extend(ast.iter_child_nodes(node))


def contains(nodes: Iterable[ast.AST], kinds: type[ast.AST] | tuple[type[ast.AST], ...]) -> bool:
    """Whether a scope holds a node of some kind."""
    return any(isinstance(node, kinds) for node in walk_scope(nodes))


def leaves_loop(body: Iterable[ast.stmt]) -> bool:
    """Whether a loop's body holds a `break` or `continue` of that very loop."""
    for node in walk_scope(body, (*SCOPES, *LOOPS)):
        if isinstance(node, (ast.Break, ast.Continue)):
            return True
        # The `else` of an inner loop belongs to the outer one.
        if isinstance(node, LOOPS) and leaves_loop(node.orelse):
            return True
    return False


def keeps_scope(expression: ast.AST) -> bool:
    """Whether an expression may move into a lambda: it binds no name and suspends nothing."""
    return not contains([expression], (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))


def is_static_test(test: ast.expr) -> bool:
    """Whether a condition is a Python bool whatever its operands are, so that `if` stays native.

    Args:
        test: The condition.

    Returns:
        True for constants, `is`, `isinstance` and its like, comparisons with a string, and
        `and`, `or`, `not` of such.
    """
    match test:
        case ast.Constant():
            return True
        case ast.Compare():
            identity = all(isinstance(operator, (ast.Is, ast.IsNot)) for operator in test.ops)
            return identity or any(map(_is_string, (test.left, *test.comparators)))
        case ast.UnaryOp(op=ast.Not()):
            return is_static_test(test.operand)
        case ast.BoolOp():
            return all(map(is_static_test, test.values))
        case ast.Call(func=ast.Name(id=called)):
            return called in _STATIC_CALLS
        case _:
            return False


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def qualified_name(node: ast.AST) -> str | None:
    """`a.b.c` for a chain of attributes that starts at a name, else None."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(attributes)]) if isinstance(node, ast.Name) else None


def root_of(path: str) -> str:
    """The name a qualified name starts with."""
    return path.partition(".")[0]


def split_docstring(body: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The docstring of a function's body, as a list of one or none, and the rest."""
    match body:
        case [ast.Expr(value=ast.Constant(value=str())), *_]:
            return body[:1], body[1:]
        case _:
            return [], body


def bound_anywhere(node: ast.AST) -> set[str]:
    """The names that a function, or a scope inside it, binds."""
    bound: set[str] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                bound.add(name)
            case ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                bound.add(name)
            case ast.ClassDef(name=name) | ast.MatchMapping(rest=str(name)):
                bound.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                bound.add(name)
            case ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.alias():
                bound.add(root_of(inner.asname or inner.name))
            case _:
                pass
    return bound
