"""The table that `test_ops.py` runs: every registered op times its cases."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import tapejax._src.ops
from parity.calls import Call, leaves
from parity.composites import COMPOSITES, NOT_TENSORFLOW, TESTED_ELSEWHERE
from tapejax._src.engine import cases, registry

DEFAULT_TOLERANCE = {
    "f16": 4e-3,
    "bf16": 3e-2,
    "f32": 1e-5,
    "f64": 1e-11,
    "c64": 1e-5,
    "c128": 1e-11,
}


_DOUBLE = {
    "float32": "double",
    "float64": "double",
    "complex64": "complex128",
    "complex128": "complex128",
}


def import_every_op() -> dict[str, BaseException]:
    """Import each module of `tapejax._src.ops`; returns those that do not import."""
    broken: dict[str, BaseException] = {}
    for module in pkgutil.iter_modules(tapejax._src.ops.__path__, "tapejax._src.ops."):
        try:
            importlib.import_module(module.name)
        except Exception as error:  # noqa: BLE001  (reported by test_module_imports)
            broken[module.name] = error
    return broken


BROKEN_MODULES = import_every_op()


@dataclass(frozen=True)
class Row:
    """One op and one of its cases."""

    path: str
    op: Any
    source: str

    @property
    def id(self) -> str:
        """What `pytest -k` matches."""
        return f"{self.path}[{self.source}]"

    @cached_property
    def case(self) -> cases.Case:
        """The parsed case."""
        return cases.parse(self.source)

    @cached_property
    def call(self) -> Call:
        """The drawn arguments; the same on every run."""
        seed = [ord(letter) for letter in self.id]
        args, kwargs = self.case.draw(np.random.default_rng(seed))
        return Call(args, kwargs, self.case.avals)

    def rng(self, purpose: str) -> np.random.Generator:
        """A generator that depends on the row and on what it is for."""
        return np.random.default_rng([ord(letter) for letter in purpose + self.id])

    def field(self, name: str, default: Any = None) -> Any:
        """A keyword of the `@op` decorator; `differs={case: reason}` is of those cases only."""
        value = self.op.fields.get(name)
        if name == "differs" and isinstance(value, Mapping):
            value = value.get(self.source)
        return default if value is None else value

    @property
    def private(self) -> bool:
        """Whether the op is a part of a public function, and TensorFlow has nothing like it."""
        return self.path.startswith("_")

    @property
    def has_float64(self) -> bool:
        """Whether finite differences can be taken: the op exists in the double of its dtypes."""
        if self.field("surrogate"):  # its gradient is another function's, by definition
            return False
        kinds = {aval.dtype.name for aval in self.case.avals if aval.differentiable}
        kinds |= {leaf.name for leaf in leaves(self.call.args) if _is_narrow(leaf)}
        allowed = self.field("dtypes", "double complex128").replace("float64", "double").split()
        needed = {_DOUBLE.get(kind, "none") for kind in kinds}
        return needed <= set(allowed) and any(primal.size for primal in self.call.primals)

    def tolerance(self, dtype: np.dtype[Any]) -> float:
        """Allowed relative error of a result of this dtype."""
        name = next(key for key, value in cases.DTYPES.items() if value == dtype)
        return {**DEFAULT_TOLERANCE, **self.field("tol", {})}.get(name, 0.0)


def _is_narrow(leaf: Any) -> bool:
    """Whether an argument asks for a result so coarse that differences drown in its rounding."""
    return isinstance(leaf, cases.DTypeName) and leaf.name in ("float16", "bfloat16")


OP_ROWS = [Row(path, op, case) for path, op in sorted(registry.OPS.items()) for case in op.cases]
COMPOSITE_ROWS = [
    Row(path, composite, case)
    for path, composite in sorted(COMPOSITES.items())
    for case in composite.cases
]
PUBLIC_ROWS = [*(row for row in OP_ROWS if not row.private), *COMPOSITE_ROWS]
ROWS = [*OP_ROWS, *COMPOSITE_ROWS]


def public_functions() -> list[str]:
    """Paths of the public functions that TensorFlow should have; `test_surface.py` has classes."""
    named = (path for path in registry.PUBLIC if path[0] != "_" and path not in NOT_TENSORFLOW)
    return [path for path in named if not inspect.isclass(registry.PUBLIC[path])]


_NAME = re.compile(r"\b(\w+)\.([A-Za-z_]\w*(?:\.\w+)*)")
_SHORT_FORM = re.compile(r"^ *(\w+) = tf\.([a-z_][\w.]*)$", re.MULTILINE)


def _named_in_tests() -> set[str]:
    """What tests call by its public name; after `g = tf.io.gfile`, also by `g.glob`."""
    found: set[str] = set()
    for file in Path(__file__).parents[1].rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        prefixes = {
            "tf": "",
            "tapejax": "",
            **{short: f"{path}." for short, path in _SHORT_FORM.findall(source)},
        }
        found |= {prefixes[of] + name for of, name in _NAME.findall(source) if of in prefixes}
    return found


def untested_paths() -> list[str]:
    """Public functions that no row calls and no test names, under any of their names."""
    tested = {path for op in registry.OPS.values() if op.cases for path in op.paths}
    tested |= {path for composite in COMPOSITES.values() for path in composite.paths}
    tested |= set(TESTED_ELSEWHERE) | _named_in_tests()
    objects = {id(registry.PUBLIC[path]) for path in tested & set(registry.PUBLIC)}
    return sorted(path for path in public_functions() if id(registry.PUBLIC[path]) not in objects)
