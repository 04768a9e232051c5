"""Who is timed: each candidate builds a step of a workload and says how its value is read."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks import peers_jax, workloads
from benchmarks.workloads import Step

BASE = "hand-written JAX"
TAPEJAX = "tapejax eager"
TORCH = "PyTorch eager"


class Candidate(NamedTuple):
    """A way to run the workloads.

    Attributes:
        library: The process it is timed in, and what has to be installed.
        build: Workload name -> step.
        read: Value of a step -> Python float, as fast as the library can.
    """

    library: str
    build: Callable[[str], Step]
    read: Callable[[Any], float]


def _read_jax(value: Any) -> float:
    return float(np.asarray(value))


def _hand_written(workload: str) -> Step:
    return peers_jax.WORKLOADS[workload]()


def _eager(library: str) -> Callable[[str], Step]:
    return lambda workload: workloads.WORKLOADS[workload](importlib.import_module(library))


def _function(library: str, jit_compile: bool | None = None) -> Callable[[str], Step]:
    def build(workload: str) -> Step:
        tf: Any = importlib.import_module(library)
        step = workloads.WORKLOADS[workload](tf)
        # The steps hold nothing that AutoGraph would convert.
        return tf.function(step, jit_compile=jit_compile, autograph=False)

    return build


def _torch(workload: str) -> Step:
    return importlib.import_module("benchmarks.peers_torch").WORKLOADS[workload]()


CANDIDATES: dict[str, Candidate] = {
    BASE: Candidate("jax", _hand_written, _read_jax),
    TAPEJAX: Candidate("tapejax", _eager("tapejax"), float),
    "tapejax tf.function": Candidate("tapejax", _function("tapejax"), float),
    "TF eager": Candidate("tensorflow", _eager("tensorflow"), float),
    "TF tf.function": Candidate("tensorflow", _function("tensorflow"), float),
    "TF jit_compile": Candidate("tensorflow", _function("tensorflow", jit_compile=True), float),
    TORCH: Candidate("torch", _torch, float),
}


def candidates_of(library: str) -> dict[str, Candidate]:
    """The candidates timed in the process of a library: the hand-written JAX step is always one."""
    return {
        name: candidate
        for name, candidate in CANDIDATES.items()
        if candidate.library in ("jax", library)
    }
