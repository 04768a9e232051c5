"""Steps in the steady state: the first losses of every candidate, then their times in turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.candidates import candidates_of
from benchmarks.harness import Subject, take_turns

FIRST_LOSSES = 4


def measure(library: str, workloads: Sequence[str], seconds: float) -> dict[str, Any]:
    """Time the candidates of a library; call this in a process of its own.

    Args:
        library: "tapejax", "tensorflow" or "torch".
        workloads: Names of workloads.
        seconds: For how long, for each candidate.

    Returns:
        For each workload `losses` (candidate -> values of the first steps) and `turns`.
    """
    return {workload: _measure(library, workload, seconds) for workload in workloads}


def _measure(library: str, workload: str, seconds: float) -> dict[str, Any]:
    subjects = {
        name: Subject(candidate.build(workload), candidate.read)
        for name, candidate in candidates_of(library).items()
    }
    losses = {
        name: [subject.run() for _ in range(FIRST_LOSSES)] for name, subject in subjects.items()
    }
    return {"losses": losses, "turns": take_turns(subjects, seconds) if seconds > 0 else []}
