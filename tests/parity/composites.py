"""Cases of the public functions that are not ops: Python functions that call several ops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Composite:
    """A public function and its cases; `fields` are those of `@op` (`tol`, `differs`, ...)."""

    paths: tuple[str, ...]
    cases: tuple[str, ...]
    fields: Mapping[str, Any] = field(default_factory=dict)


_ENTRIES: tuple[Composite, ...] = (
    Composite(("meshgrid",), ("f32[2], f32[3]", "i32[2], i32[3], i32[1], indexing='ij'")),
)
COMPOSITES: Mapping[str, Composite] = {entry.paths[0]: entry for entry in _ENTRIES}

# public functions whose arguments the grammar of cases cannot express, and who tests them
TESTED_ELSEWHERE: Mapping[str, str] = {}

# our own additions, which have no counterpart to be compared with
NOT_TENSORFLOW = ("jax_call",)
