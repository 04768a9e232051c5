"""`tapejax check`: reads programs without running them: which of their names there are."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tapejax._src.keras.old_spellings.enabling import enable_legacy_keras
from tapejax._src.keras.version_1 import Overlay
from tapejax._src.report.missing import advice_for, nearest_name, public_names

SUPPORTED, DIFFERS, MISSING = "supported", "differs", "missing"
_DIFFERS = "Differs from TensorFlow"
_PACKAGES = {
    "tensorflow_addons": "It is a package of TensorFlow's own; write the few lines that are used.",
    "tensorflow_datasets": "Save its arrays where TensorFlow is installed, and load them.",
    "tensorflow_hub": "Its models are TensorFlow programs; use `tf.keras.applications`.",
    "tensorflow_probability": "Its JAX half works: `from tensorflow_probability.substrates import "
    "jax`.",
    "tensorflow_text": "`tf.strings` has the operations of texts.",
}


class Use(NamedTuple):
    """One name of TensorFlow's in a program.

    Attributes:
        place: The line, or the cell and line of a notebook.
        symbol: The name, as `tf.math.log`.
        status: `'supported'`, `'differs'` or `'missing'`.
        note: How it differs, or what to write instead.
    """

    place: str
    symbol: str
    status: str
    note: str


class Report(NamedTuple):
    """One program.

    Attributes:
        path: Its file.
        uses: Every use, in order.
        problem: Why it cannot be read, or None.
    """

    path: str
    uses: tuple[Use, ...]
    problem: str | None

    @property
    def missing(self) -> list[Use]:
        """The uses of names that there are not."""
        return [use for use in self.uses if use.status == MISSING]


def check(paths: Sequence[str]) -> list[Report]:
    """Read programs and notebooks.

    Args:
        paths: Files, or folders with `.py` and `.ipynb` files in them.

    Returns:
        A report for each file. Nothing of the programs is run.

    Raises:
        FileNotFoundError: If a path does not exist.
    """
    enable_legacy_keras(report=False)  # what `tapejax run` understands
    names = Names()
    return [_report(file, names) for path in paths for file in _files(Path(path))]


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        found = [*path.rglob("*.py"), *path.rglob("*.ipynb")]
        yield from sorted(file for file in found if ".ipynb_checkpoints" not in file.parts)
    elif path.is_file():
        yield path
    else:
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}")


def _report(path: Path, names: Names) -> Report:
    try:
        sources = list(_sources(path))
        reader = _Reader(names)
        for where, source in sources:
            reader.where = where
            reader.visit(ast.parse(source))
    except (SyntaxError, UnicodeDecodeError, json.JSONDecodeError, KeyError) as error:
        return Report(str(path), (), f"it cannot be read: {error}")
    return Report(str(path), tuple(reader.uses), None)


def _sources(path: Path) -> Iterator[tuple[str, str]]:
    """What stands before line numbers, and the code; of a notebook for each cell."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        yield "", text
        return
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        lines = ["" if line.lstrip()[:1] in ("%", "!") else line for line in source.split("\n")]
        yield f"cell {number}, line ", "\n".join(lines)


class Names:
    """Looks names up in tapejax, each once."""

    def __init__(self) -> None:
        self._library = importlib.import_module("tapejax")
        self._known: dict[str, tuple[str, str]] = {}
        self._public: set[str] | None = None

    def status(self, path: str) -> tuple[str, str]:
        """Status and note of a dotted name below `tf`."""
        found = self._known.get(path)
        if found is None:
            found = self._known[path] = self._look(path)
        return found

    def _look(self, path: str) -> tuple[str, str]:
        value: Any = self._library
        done: list[str] = []
        for name in path.split("."):
            if not isinstance(value, (ModuleType, Overlay)):
                break  # an attribute of a class or an object: known when it runs
            done.append(name)
            try:
                value = getattr(value, name)
            except AttributeError:
                return MISSING, self._cure(".".join(done))
            except ImportError as error:  # Keras is not installed
                return MISSING, str(error)
        text = inspect.getdoc(value) if callable(value) else None
        if text and _DIFFERS in text:
            return DIFFERS, _first_sentence(text.partition(_DIFFERS)[2])
        return SUPPORTED, ""

    def _cure(self, path: str) -> str:
        advice = advice_for(path)
        if advice is not None:
            return advice
        if self._public is None:
            self._public = public_names("tapejax")
        near = nearest_name(path, self._public)
        return "" if near is None else f"The nearest name is `tf.{near}`."


def _first_sentence(text: str) -> str:
    flat = " ".join(text.strip(" *:\n").split())
    first = flat.partition(". ")[0].rstrip(".")
    return f"{first[:1].upper()}{first[1:]}."


class _Reader(ast.NodeVisitor):
    """Collects the uses of one program.

    Args:
        names: Where names are looked up.
    """

    def __init__(self, names: Names) -> None:
        self.where = ""
        self.uses: list[Use] = []
        self._names = names
        self._aliases: dict[str, str] = {}
        """Local name -> the dotted path below TensorFlow that it stands for."""

    def _use(self, node: ast.AST, path: str) -> None:
        if path:
            place = f"{self.where}{getattr(node, 'lineno', 0)}"
            self.uses.append(Use(place, f"tf.{path}", *self._names.status(path)))

    def _package(self, node: ast.AST, name: str) -> None:
        top = name.partition(".")[0]
        if top in _PACKAGES:
            place = f"{self.where}{getattr(node, 'lineno', 0)}"
            self.uses.append(Use(place, top, MISSING, _PACKAGES[top]))

    def visit_Import(self, node: ast.Import) -> None:
        """`import tensorflow.keras as k`."""
        for item in node.names:
            self._package(node, item.name)
            path = _below_tensorflow(item.name)
            if path is None:
                continue
            self._use(node, path)
            if item.asname is not None:
                self._aliases[item.asname] = path
            elif item.name.partition(".")[0] in ("tensorflow", "tapejax"):
                self._aliases[item.name.partition(".")[0]] = ""
            else:
                self._aliases["keras"] = "keras"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """`from tensorflow.keras import layers`."""
        if node.level or node.module is None:
            return
        self._package(node, node.module)
        path = _below_tensorflow(node.module)
        if path is None:
            return
        for item in node.names:
            whole = f"{path}.{item.name}".lstrip(".")
            if item.name == "*":
                self._use(node, path)
            else:
                self._use(node, whole)
                self._aliases[item.asname or item.name] = whole

    def visit_Assign(self, node: ast.Assign) -> None:
        """`layers = tf.keras.layers` gives a namespace another name."""
        path = self._path(node.value)
        if path is not None and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            self._aliases[node.targets[0].id] = path
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """`tf.math.log`: the longest chain of names counts once."""
        path = self._path(node)
        if path is None:
            self.generic_visit(node)
        else:
            self._use(node, path)

    def _path(self, node: ast.AST) -> str | None:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._aliases:
            return None
        return ".".join([self._aliases[node.id], *reversed(parts)]).lstrip(".")


def _below_tensorflow(name: str) -> str | None:
    """The path of a module below TensorFlow; None of other packages."""
    top, _, inner = name.partition(".")
    if top in ("tensorflow", "tapejax"):
        return inner
    if top in ("keras", "tf_keras"):
        return f"keras.{inner}".rstrip(".")
    return None


# ---------------------------------------------------------------------- text
def describe_check(reports: Sequence[Report]) -> str:
    """The reports as text: what is missing or differs, line by line, and shares."""
    lines: list[str] = []
    for report in reports:
        lines.append(f"{report.path}: {_share(report)}")
        shown: set[tuple[str, str]] = set()
        for use in report.uses:
            key = use.symbol, use.status
            if use.status == SUPPORTED or (use.status == DIFFERS and key in shown):
                continue
            shown.add(key)
            lines.append(f"  {use.place}: {use.symbol} {use.status}. {use.note}".rstrip())
    uses = sum(len(report.uses) for report in reports)
    missing = sum(len(report.missing) for report in reports)
    lines.append(f"together: {len(reports)} files, {_percent(uses - missing, uses)}")
    return "\n".join(lines)


def _share(report: Report) -> str:
    if report.problem is not None:
        return report.problem
    return _percent(len(report.uses) - len(report.missing), len(report.uses))


def _percent(present: int, uses: int) -> str:
    if not uses:
        return "uses nothing of TensorFlow's"
    return (
        f"{present} of {uses} uses of TensorFlow's names are there ({100 * present / uses:.0f} %)"
    )


def check_json(reports: Sequence[Report]) -> str:
    """The reports as one JSON object."""
    found = [
        {"path": r.path, "problem": r.problem, "uses": [use._asdict() for use in r.uses]}
        for r in reports
    ]
    return json.dumps({"files": found}, indent=2)
