"""How long an import takes, in a process that has imported nothing else of note."""

from __future__ import annotations

import importlib
import time


def measure(modules: list[str]) -> dict[str, float]:
    """Milliseconds to import each module, one after the other."""
    times: dict[str, float] = {}
    for module in modules:
        started = time.perf_counter()
        importlib.import_module(module)
        times[module] = (time.perf_counter() - started) * 1e3
    return times
