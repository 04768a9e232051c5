"""Write `tapejax/_src/report/tensorflow_names.txt`: the public names of TensorFlow 2.

    python tests/golden/regenerate_names.py

Run it with the TensorFlow version that tapejax follows; `tests/report/test_coverage.py` checks that
the file is what the installed TensorFlow says. Only names are written, a namespace on each line.
`tf.keras` is Keras itself and is left out, as are the copies under `tf.compat`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

NAMES = Path(__file__).parents[2] / "tapejax" / "_src" / "report" / "tensorflow_names.txt"
_LEFT_OUT = ("keras", "compat.v1", "compat.v2")


def lines(tf: Any) -> list[str]:
    """The lines of the file: a namespace, a colon, its names."""
    found = [f"{path or 'tf'}: {' '.join(names)}" for path, names in _walk(tf, "") if names]
    return [f"tensorflow {tf.__version__}", *found]


def _walk(module: Any, path: str) -> Iterator[tuple[str, list[str]]]:
    members = {name: getattr(module, name) for name in sorted(dir(module)) if name[0] != "_"}
    modules = {n: m for n, m in members.items() if isinstance(m, ModuleType)}
    yield path, [name for name in members if name not in modules]
    for name, inner in modules.items():
        below = f"{path}.{name}" if path else name
        public = "_api.v2" in inner.__name__ or inner.__name__.startswith("tensorflow.experimental")
        if public and below not in _LEFT_OUT:
            yield from _walk(inner, below)


def main() -> None:
    """Write the file from the installed TensorFlow."""
    NAMES.write_text("\n".join(lines(importlib.import_module("tensorflow"))) + "\n")


if __name__ == "__main__":
    main()
