"""Finding the syntax tree of a function in the file that defines it."""

from __future__ import annotations

import ast
import functools
import linecache
import warnings
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import NamedTuple

from tapejax._src.function.autograph.syntax import parameters

_Position = tuple[int, int]


class CannotConvert(Exception):
    """A function stays as it is; the message says why."""


class Definition(NamedTuple):
    """Where a function is written.

    Attributes:
        node: The syntax tree, shared by everyone who asks: copy it before changing it.
        class_name: The innermost class around it, whose name mangles private names; or None.
    """

    node: ast.FunctionDef | ast.Lambda
    class_name: str | None


@dataclass
class _Index:
    """The functions of a file by what their code objects know: name and first line."""

    functions: dict[tuple[str, int], Definition] = field(default_factory=dict)
    lambdas: dict[int, list[Definition]] = field(default_factory=dict)

    def add(self, node: ast.AST, class_name: str | None) -> None:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            self.functions.setdefault((node.name, first), Definition(node, class_name))
        elif isinstance(node, ast.Lambda):
            self.lambdas.setdefault(node.lineno, []).append(Definition(node, class_name))


@functools.lru_cache(maxsize=8)
def _index(filename: str, source: str) -> _Index:
    """The functions of a file; the few files used last are kept."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the import of the file has shown them
            tree = ast.parse(source, filename)
    except (SyntaxError, ValueError) as error:
        raise CannotConvert(f"its source cannot be parsed: {error}") from None
    index = _Index()
    pending: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while pending:
        node, class_name = pending.pop()
        index.add(node, class_name)
        inner = node.name if isinstance(node, ast.ClassDef) else class_name
        pending.extend((child, inner) for child in ast.iter_child_nodes(node))
    return index


def find(function: FunctionType) -> Definition:
    """The definition of a function in its source.

    Files, notebooks and interactive sessions are read through `linecache`.

    Args:
        function: A plain Python function or lambda.

    Returns:
        Its syntax tree and the class around it.

    Raises:
        CannotConvert: There is no source, or it is not the one the function was compiled from.
    """
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise CannotConvert("its source code is not available")
    index = _index(code.co_filename, "".join(lines))
    if code.co_name == "<lambda>":
        return _the_lambda(code, index.lambdas.get(code.co_firstlineno, []))
    found = index.functions.get((code.co_name, code.co_firstlineno))
    if found is None or not _same_parameters(code, found.node):
        raise CannotConvert("its source code has changed since it was defined")
    return found


def _same_parameters(code: CodeType, node: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether code and syntax tree agree on the parameters, `*args` and `**kwargs` apart."""
    count = code.co_argcount + code.co_kwonlyargcount
    # A private name is mangled in the code.
    pairs = zip(code.co_varnames[:count], parameters(node.args, variadic=False), strict=False)
    length = len(parameters(node.args, variadic=False))
    return length == count and all(known.endswith(written) for known, written in pairs)


def _the_lambda(code: CodeType, candidates: list[Definition]) -> Definition:
    """The lambda of a line whose body holds every instruction of the code.

    Of lambdas inside one another all around the code qualify: the one that starts last is it.
    """
    places = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line is not None
        and end_line is not None
        and column is not None
        and end_column is not None
        and (line, column) != (end_line, end_column)
    ]
    fitting: list[tuple[_Position, Definition]] = []
    for candidate in candidates:
        start, end = _span(candidate.node)
        inside = all(start <= first and last <= end for first, last in places)
        if inside and _same_parameters(code, candidate.node):
            fitting.append((start, candidate))
    if not fitting:
        raise CannotConvert("the source code of this lambda cannot be found")
    if len(fitting) > 1 and not places:
        raise CannotConvert("several lambdas share its line, and Python keeps no columns (-X flag)")
    return max(fitting, key=lambda pair: pair[0])[1]


def _span(node: ast.FunctionDef | ast.Lambda) -> tuple[_Position, _Position]:
    """Where the body of a lambda starts and ends."""
    body = node.body
    assert isinstance(body, ast.expr)
    end_line, end_column = body.end_lineno, body.end_col_offset
    assert end_line is not None
    assert end_column is not None
    return (body.lineno, body.col_offset), (end_line, end_column)
