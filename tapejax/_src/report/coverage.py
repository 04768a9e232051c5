"""`tapejax coverage`: which of TensorFlow's names there are, and what replaces the others."""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tapejax._src.report.missing import advice_for

_FILE = Path(__file__).with_name("tensorflow_names.txt")


class Coverage(NamedTuple):
    """One namespace.

    Attributes:
        namespace: Its path below `tf`, or `tf`.
        names: How many public names TensorFlow has there.
        absent: Those that tapejax has not, with the reason.
    """

    namespace: str
    names: int
    absent: dict[str, str]

    @property
    def present(self) -> int:
        """How many of the names there are."""
        return self.names - len(self.absent)


@functools.cache
def tensorflow_names() -> dict[str, tuple[str, ...]]:
    """TensorFlow's public names by namespace; `tf` is the outermost one."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _FILE.read_text(encoding="utf-8").splitlines()[1:]:
        namespace, _, names = line.partition(": ")
        found[namespace] = tuple(names.split())
    return found


def tensorflow_version() -> str:
    """The version of TensorFlow whose names they are."""
    return _FILE.read_text(encoding="utf-8").partition("\n")[0].removeprefix("tensorflow ")


def coverage(namespaces: Sequence[str] = ()) -> list[Coverage]:
    """Compare the installed tapejax with TensorFlow's names.

    Args:
        namespaces: Those to look at, such as `math`, with what is below them. Default: all.

    Returns:
        One row for each namespace, in order.

    Raises:
        ValueError: If TensorFlow has no such namespace.
    """
    wanted = [name.removeprefix("tf.") for name in namespaces]
    for name in wanted:
        if not any(_below(known, name) for known in tensorflow_names()):
            raise ValueError(f"TensorFlow has no namespace {name!r}.")
    library = importlib.import_module("tapejax")
    rows: list[Coverage] = []
    for namespace, names in tensorflow_names().items():
        if wanted and not any(_below(namespace, name) for name in wanted):
            continue
        prefix = "" if namespace == "tf" else f"{namespace}."
        paths = [prefix + name for name in names]
        absent = {path: advice_for(path) or "" for path in paths if not _has(library, path)}
        rows.append(Coverage(namespace, len(names), absent))
    return rows


def _below(namespace: str, name: str) -> bool:
    return namespace == name or namespace.startswith(f"{name}.")


def _has(library: Any, path: str) -> bool:
    try:
        functools.reduce(getattr, path.split("."), library)
    except (AttributeError, ImportError):
        return False
    return True


def describe_coverage(rows: Sequence[Coverage], missing: bool) -> str:
    """The rows as a table, with the absent names and their reasons if wanted."""
    width = max(len(row.namespace) for row in rows)
    head = f"{'namespace':<{width}}  present  of TensorFlow {tensorflow_version()}"
    lines = [head, "-" * len(head)]
    for row in rows:
        lines.append(f"{row.namespace:<{width}}  {row.present:>7}  {row.names:>4}{_share(row)}")
        if missing:
            lines += [f"    tf.{path}: {reason}" for path, reason in row.absent.items()]
    names, present = sum(row.names for row in rows), sum(row.present for row in rows)
    share = f"{100 * present / max(names, 1):.0f} %"
    lines += [
        "-" * len(head),
        f"{'together':<{width}}  {present:>7}  {names:>4}  {share}",
    ]
    return "\n".join(lines)


def _share(row: Coverage) -> str:
    return "" if not row.absent else f"  {100 * row.present / row.names:.0f} %"


def coverage_json(rows: Sequence[Coverage]) -> str:
    """The rows as one JSON object."""
    found = {
        row.namespace: {"present": row.present, "names": row.names, "absent": row.absent}
        for row in rows
    }
    return json.dumps({"tensorflow": tensorflow_version(), "namespaces": found}, indent=2)
