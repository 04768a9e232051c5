"""`python -m benchmarks.while_loop`: gradients through a loop of unknown length.

The gradient of a tanh RNN cell with an accumulator, by its matrix, against `jax.lax.scan` of known
length, which keeps every state. Both take turns in one process. Times decide nothing; gradients
that differ do.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.harness import Subject, Summary, summarize, take_turns
from tapejax._src.function.loops.differentiable_while import differentiable_while

WIDTH = 64
MEBIBYTE = 2**20
TOLERANCE = 1e-3
BASE = "lax.scan"

Loss = Callable[[Any, Any, Any], Any]


class Case(NamedTuple):
    """What is measured in one row group.

    Attributes:
        trips: Length of the loop.
        order: Of the derivative.
    """

    trips: int
    order: int


class Result(NamedTuple):
    """The figures of one program.

    Attributes:
        summary: Its times.
        compile_seconds: How long XLA and tracing took.
        temporary: Bytes the program needs besides its arguments and results.
        value: Sum of the derivative.
    """

    summary: Summary
    compile_seconds: float
    temporary: int
    value: float


CASES = (Case(1_000, 1), Case(100_000, 1), Case(1_000, 2))
SMOKE_CASES = (Case(100, 1), Case(2_000, 1), Case(100, 2))


def _cell(matrix: Any, state: Any, total: Any) -> tuple[Any, Any]:
    return jnp.tanh(matrix @ state), total + jnp.sum(state * state)


def _scan_loss(trips: int) -> Loss:
    def loss(matrix: Any, state: Any, _: Any) -> Any:
        carry = (state, jnp.float32(0))
        return jax.lax.scan(lambda c, _: (_cell(matrix, *c), None), carry, length=trips)[0][1]

    return loss


def _while_loss(slots: int | None = None, maximum: int | None = None) -> Loss:
    def loss(matrix: Any, state: Any, trips: Any) -> Any:
        return differentiable_while(
            lambda c: c[0] < trips,
            lambda c: (c[0] + 1, *_cell(matrix, c[1], c[2])),
            (jnp.int32(0), state, jnp.float32(0)),
            slots=slots,
            maximum_iterations=maximum,
        )[2]

    return loss


def _derivative(loss: Loss, order: int) -> Loss:
    if order == 1:
        return jax.grad(loss)
    return jax.grad(lambda *arguments: jnp.sum(jnp.sin(jax.grad(loss)(*arguments))))


def measure(case: Case, seconds: float) -> dict[str, Result]:
    """Time the programs of one case.

    Args:
        case: See `Case`.
        seconds: For how long, for each program.

    Returns:
        Name of the program -> its figures.
    """
    random = np.random.default_rng(0)
    matrix = jnp.asarray(random.normal(size=(WIDTH, WIDTH)) * 0.5 / WIDTH**0.5, jnp.float32)
    arguments = (matrix, jnp.asarray(random.normal(size=WIDTH), jnp.float32), np.int32(case.trips))
    losses = {
        BASE: _scan_loss(case.trips),
        "while": _while_loss(),
        "while, 64 slots": _while_loss(slots=64),
        "while, limit known": _while_loss(maximum=case.trips),
    }
    subjects: dict[str, Subject] = {}
    costs: dict[str, tuple[float, int]] = {}
    for name, loss in losses.items():
        started = time.perf_counter()
        program = jax.jit(_derivative(loss, case.order)).lower(*arguments).compile()
        compiled_in = time.perf_counter() - started
        analysis = program.memory_analysis()
        costs[name] = (compiled_in, analysis.temp_size_in_bytes if analysis else 0)
        subjects[name] = Subject(lambda program=program: program(*arguments), _sum)
    values = {name: subject.run() for name, subject in subjects.items()}
    summaries = summarize(take_turns(subjects, seconds), BASE)
    return {name: Result(summaries[name], *costs[name], values[name]) for name in losses}


def _sum(value: Any) -> float:
    return float(np.asarray(value).sum())


def _print_table(case: Case, results: dict[str, Result]) -> None:
    title = f"{'gradient' if case.order == 1 else 'second order'}, {case.trips:,} trips"
    print(f"\n{title:<28}{'ms':>10}{'ratio':>8}{'quartiles':>16}{'MiB':>9}{'compile s':>11}")
    for name, (summary, compiled_in, temporary, _) in results.items():
        quartiles = f"{summary.low:.2f} .. {summary.high:.2f}"
        print(
            f"{name:<28}{summary.microseconds / 1e3:>10.3f}{summary.ratio:>8.2f}{quartiles:>16}"
            f"{temporary / MEBIBYTE:>9.2f}{compiled_in:>11.2f}"
        )


def main() -> int:
    """Measure and print; 1 if the programs disagree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.while_loop", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a run to see that all works")
    parser.add_argument("--seconds", type=float, help="per program and case (default 8)")
    options = parser.parse_args()
    seconds = options.seconds or (0.02 if options.smoke else 8.0)
    agree = True
    for case in SMOKE_CASES if options.smoke else CASES:
        results = measure(case, seconds)
        _print_table(case, results)
        expected = results[BASE].value
        for name, result in results.items():
            if abs(result.value - expected) > TOLERANCE * max(1.0, abs(expected)):
                print(f"{name}: the derivative sums to {result.value}, not {expected}")
                agree = False
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
