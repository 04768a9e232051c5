"""The size and shape that the package's source keeps: see "Budgets" in CONTRIBUTING.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "tapejax").rglob("*.py"))
TREES = {
    str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8"), str(path))
    for path in FILES
}

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_NESTING = 3
FORBIDDEN_MODULE_NAMES = {"common", "helper", "helpers", "misc", "util", "utils"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Block = ast.AsyncFor | ast.AsyncWith | ast.For | ast.If | ast.Match | ast.Try | ast.While | ast.With


def functions() -> Iterator[tuple[str, Function]]:
    """Every function of the package with its place, as `file:line name`."""
    for file, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield f"{file}:{node.lineno} {node.name}", node


def nesting_of(node: ast.AST, depth: int = 0) -> int:
    """The deepest nesting of blocks below a node; a function inside is counted on its own."""
    deepest = depth
    for field, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        # `elif` is an `if` alone in the `else` of another: the same level to a reader.
        is_elif = isinstance(node, ast.If) and field == "orelse" and len(children) == 1
        for child in children:
            if not isinstance(child, ast.AST) or isinstance(child, Function | ast.ClassDef):
                continue
            inside = isinstance(child, Block) and not (is_elif and isinstance(child, ast.If))
            deepest = max(deepest, nesting_of(child, depth + inside))
    return deepest


def imports() -> Iterator[tuple[str, str, ast.Import | ast.ImportFrom]]:
    """Every import of the package: its place, the full dotted name, the statement."""
    for file, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            yield from ((f"{file}:{node.lineno}", name, node) for name in names)


def test_a_file_has_at_most_500_lines() -> None:
    lengths = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert not {path: length for path, length in lengths.items() if length > MAX_FILE_LINES}


def test_a_function_has_at_most_60_lines() -> None:
    lengths = {
        place: (function.end_lineno or 0) - function.lineno + 1 for place, function in functions()
    }
    assert not {place: length for place, length in lengths.items() if length > MAX_FUNCTION_LINES}


def test_blocks_nest_at_most_three_deep() -> None:
    depths = {place: nesting_of(function) for place, function in functions()}
    assert not {place: depth for place, depth in depths.items() if depth > MAX_NESTING}


def test_a_module_is_named_after_what_it_holds() -> None:
    named = {path: {part.strip("_") for part in path.with_suffix("").parts} for path in FILES}
    assert not [path for path, parts in named.items() if parts & FORBIDDEN_MODULE_NAMES]


def test_nothing_private_of_jax_is_used() -> None:
    imported = [place for place, name, _ in imports() if f"{name}.".startswith("jax._src.")]
    read = [
        f"{file}:{node.lineno}"
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "_src"
        and isinstance(node.value, ast.Name)
        and node.value.id == "jax"
    ]
    assert not imported + read


def test_private_modules_import_no_public_module() -> None:
    assert not [
        f"{place} {name}"
        for place, name, _ in imports()
        if "/_src/" in place
        and f"{name}.".startswith("tapejax.")
        and not name.startswith("tapejax._src")
    ]


def test_imports_are_absolute() -> None:
    assert not [place for place, name, _ in imports() if name.startswith(".")]


def test_no_import_of_the_package_hides_inside_a_function() -> None:
    hidden = {node for _, function in functions() for node in ast.walk(function)}
    assert not [
        f"{place} {name}"
        for place, name, node in imports()
        if node in hidden and f"{name}.".startswith("tapejax.")
    ]


@pytest.mark.parametrize(
    ("source", "depth"),
    [
        ("x = 1", 0),
        ("if a:\n  pass\nelif b:\n  pass\nelse:\n  pass", 1),
        ("for a in b:\n  with c:\n    if d:\n      pass", 3),
        ("for a in b:\n  def f():\n    if d:\n      pass", 1),
        ("try:\n  pass\nexcept E:\n  while a:\n    if b:\n      if c: pass", 4),
    ],
)
def test_nesting_is_counted_as_a_reader_sees_it(source: str, depth: int) -> None:
    assert nesting_of(ast.parse(source)) == depth
