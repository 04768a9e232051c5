"""Costs of tapejax by themselves: recording an op, the first step, compilations, memory, import.

Each function is called in a process of its own.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Any

import jax
import numpy as np

import tapejax as tf
from benchmarks import problems, workloads
from benchmarks.candidates import CANDIDATES
from benchmarks.harness import no_garbage_collection

OPS_IN_A_RUN = 40
"""Fewer than a program outside a tape may have: recording must not run it."""
MEBIBYTE = 2**20
WARM_UP = 200


# ---------------------------------------------------------------------- recording
def recording(repeats: int) -> dict[str, dict[str, float]]:
    """Microseconds to record one op whose program is known.

    Args:
        repeats: Number of runs in each of five series; the smallest of the five medians counts.

    Returns:
        Op -> {"outside a tape": ..., "inside a tape": ...}.
    """
    x = tf.constant(np.full((4, 4), 0.5, np.float32))
    ops: dict[str, Callable[[Any], Any]] = {
        "y * x": lambda y: y * x,
        "y + 1.0": lambda y: y + 1.0,
        "tf.tanh(y)": tf.tanh,
        "tf.matmul(y, x)": lambda y: tf.matmul(y, x),
        "tf.reduce_sum(y, axis=0, keepdims=True)": lambda y: tf.reduce_sum(
            y, axis=0, keepdims=True
        ),
        "y[:, 0:]": lambda y: y[:, 0:],
    }
    return {
        name: {
            "outside a tape": _cost_of(op, x, repeats, taped=False),
            "inside a tape": _cost_of(op, x, repeats, taped=True),
        }
        for name, op in ops.items()
    }


def _cost_of(op: Callable[[Any], Any], x: Any, repeats: int, taped: bool) -> float:
    for _ in range(WARM_UP // 10):
        _record_run(op, x, taped)
    with no_garbage_collection():
        series = [median(_record_run(op, x, taped) for _ in range(repeats)) for _ in range(5)]
    return min(series) * 1e6


def _record_run(op: Callable[[Any], Any], x: Any, taped: bool) -> float:
    """Seconds for each op of a chain; the run that follows is not timed."""
    with tf.GradientTape() if taped else nullcontext():
        y = op(x)
        started = time.perf_counter()
        for _ in range(OPS_IN_A_RUN):
            y = op(y)
        seconds = time.perf_counter() - started
    y.numpy()
    return seconds / OPS_IN_A_RUN


# ---------------------------------------------------------------------- first step
def first_step(candidate: str, workload: str) -> dict[str, float]:
    """Milliseconds from the imported library to the first two values, compilation included."""
    chosen = CANDIDATES[candidate]
    importlib.import_module(chosen.library)
    jax.devices()  # starting the backend is not the step's
    started = time.perf_counter()
    step = chosen.build(workload)
    chosen.read(step())
    first = time.perf_counter()
    chosen.read(step())
    return {
        "first_ms": (first - started) * 1e3,
        "second_ms": (time.perf_counter() - first) * 1e3,
    }


# ---------------------------------------------------------------------- compilations
class _Compilations:
    """XLA compilations in this process, as JAX itself reports them."""

    def __init__(self) -> None:
        self.count = 0
        jax.monitoring.register_event_duration_secs_listener(self._on_event)

    def _on_event(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        del duration_secs, kwargs
        self.count += event.endswith("backend_compile_duration")


def compilations(steps: int) -> dict[str, dict[str, int]]:
    """XLA compilations of a training loop whose learning rate changes at each step.

    Args:
        steps: Number of steps counted, after ten.

    Returns:
        Way of changing the rate -> compilations in the first ten steps, and in `steps` more.
    """
    compiled = _Compilations()
    loops = {"a Python float": _by_hand(), "optimizer.learning_rate": _by_optimizer()}
    counts: dict[str, dict[str, int]] = {}
    for name, step in loops.items():
        before = compiled.count
        for n in range(10):
            step(0.01 / (n + 1))
        warm = compiled.count
        for n in range(steps):
            step(0.02 / (n + 1))
        counts[name] = {"first 10 steps": warm - before, "later steps": compiled.count - warm}
    return counts


def _loss_of(x: Any, y: Any, w: Any, b: Any) -> Any:
    return tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))


def _regression() -> tuple[list[Any], list[Any]]:
    problem = problems.linear_regression()
    return [tf.constant(array) for array in problem.data], [
        tf.Variable(value) for value in problem.parameters
    ]


def _by_hand() -> Callable[[float], float]:
    data, variables = _regression()

    def step(rate: float) -> float:
        with tf.GradientTape() as tape:
            loss = _loss_of(*data, *variables)
        gradients: Any = tape.gradient(loss, variables)
        for variable, gradient in zip(variables, gradients, strict=True):
            variable.assign_sub(rate * gradient)
        return float(loss)

    return step


def _by_optimizer() -> Callable[[float], float]:
    data, variables = _regression()
    optimizer = tf.keras.optimizers.Adam(0.1)

    def step(rate: float) -> float:
        optimizer.learning_rate = rate
        with tf.GradientTape() as tape:
            loss = _loss_of(*data, *variables)
        gradients: Any = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return float(loss)

    return step


# ---------------------------------------------------------------------- memory
def memory(workload: str, steps: int) -> dict[str, float | None]:
    """Growth of the process's resident memory over eager steps, in MiB, after 200 of warm-up."""
    step = workloads.WORKLOADS[workload](tf)
    for _ in range(WARM_UP):
        float(step())
    before = _resident()
    for _ in range(steps):
        float(step())
    after = _resident()
    growth = None if before is None or after is None else (after - before) / MEBIBYTE
    return {"steps": steps, "growth_mib": growth, "resident_mib": after and after / MEBIBYTE}


def _resident() -> int | None:
    """Bytes of resident memory, or None where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    (line,) = [row for row in status.read_text().splitlines() if row.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024
