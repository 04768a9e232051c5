"""`python -m benchmarks.pipelines`: what a batch of a `tf.data` pipeline costs.

Batches of an array in memory, beside slicing the same array with NumPy and, where it is installed,
TensorFlow's `tf.data`. All take turns in one process; a step is one batch, and pipelines that are
shuffled go on with the next epoch. Times decide nothing; batches that differ in shape do.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Subject, Summary, summarize, take_turns

BASE = "NumPy"
LIBRARIES = ("tapejax", "tensorflow")


class Case(NamedTuple):
    """What is measured in one row group.

    Attributes:
        rows: Rows of the array.
        width: Numbers in a row.
        batch: Rows in a batch.
        steps: What the pipeline does: `batch`, `shuffle` or `map`.
    """

    rows: int
    width: int
    batch: int
    steps: str


CASES = tuple(
    Case(60_000, width, batch, steps)
    for width, batch in ((8, 32), (8, 128), (784, 32), (784, 128))
    for steps in ("batch", "shuffle", "map")
)
SMOKE_CASES = tuple(Case(256, 4, 32, steps) for steps in ("batch", "shuffle", "map"))


def _scaled(x: Any, y: Any) -> Any:
    return x * 2.0 - 1.0, y


def _numpy_batches(x: Any, y: Any, case: Case) -> Iterator[Any]:
    random = np.random.default_rng(0)
    while True:
        order = random.permutation(case.rows) if case.steps == "shuffle" else None
        for at in range(0, case.rows - case.batch + 1, case.batch):
            part: Any = slice(at, at + case.batch)
            part = part if order is None else order[part]
            yield _scaled(x[part], y[part]) if case.steps == "map" else (x[part], y[part])


def _dataset_batches(tf: Any, x: Any, y: Any, case: Case) -> Iterator[Any]:
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    if case.steps == "shuffle":
        dataset = dataset.shuffle(case.rows, seed=0)
    if case.steps == "map":
        dataset = dataset.map(_scaled)
    return iter(dataset.repeat().batch(case.batch, drop_remainder=True))


def _rows_of(batch: Any) -> float:
    return float(batch[0].shape[0] * 1000 + batch[0].shape[1])


def measure(case: Case, seconds: float, libraries: list[str]) -> dict[str, tuple[Summary, float]]:
    """Time one case.

    Args:
        case: See `Case`.
        seconds: For how long, for each candidate.
        libraries: The modules to measure beside NumPy.

    Returns:
        Name of the candidate -> its times, and what tells the shape of a batch.
    """
    random = np.random.default_rng(0)
    x = random.random((case.rows, case.width), np.float32)
    y = random.integers(0, 10, case.rows)
    streams = {BASE: _numpy_batches(x, y, case)}
    for name in libraries:
        streams[name] = _dataset_batches(importlib.import_module(name), x, y, case)
    subjects = {name: Subject(_step(stream), _rows_of) for name, stream in streams.items()}
    shapes = {name: subject.run() for name, subject in subjects.items()}
    summaries = summarize(take_turns(subjects, seconds), BASE)
    return {name: (summaries[name], shapes[name]) for name in subjects}


def _step(stream: Iterator[Any]) -> Callable[[], Any]:
    return lambda: next(stream)


def _print_table(case: Case, results: dict[str, tuple[Summary, float]]) -> None:
    title = f"{case.steps}, {case.batch} x {case.width}"
    print(f"\n{title:<22}{'us/batch':>10}{'more than NumPy':>17}{'ratio':>9}{'quartiles':>18}")
    base = results[BASE][0].microseconds
    for name, (summary, _) in results.items():
        quartiles = f"{summary.low:.2f} .. {summary.high:.2f}"
        more = summary.microseconds - base
        print(
            f"{name:<22}{summary.microseconds:>10.1f}{more:>17.1f}{summary.ratio:>9.2f}"
            f"{quartiles:>18}"
        )


def main() -> int:
    """Measure and print; 1 if the batches differ in shape."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pipelines", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a run to see that all works")
    parser.add_argument("--seconds", type=float, help="per candidate and case (default 2)")
    options = parser.parse_args()
    seconds = options.seconds or (0.02 if options.smoke else 2.0)
    libraries = ["tapejax"] if options.smoke else list(LIBRARIES)
    libraries = [name for name in libraries if importlib.util.find_spec(name) is not None]
    agree = True
    for case in SMOKE_CASES if options.smoke else CASES:
        results = measure(case, seconds, libraries)
        _print_table(case, results)
        agree = agree and len({shape for _, shape in results.values()}) == 1
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
