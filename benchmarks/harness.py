"""Paired timing: candidates take turns in short blocks, so that all meet the same disturbances.

A machine that is shared or changes its clock makes times worthless but spares ratios of neighbours:
the result is the ratio to the base candidate inside each turn, its median and its quartiles.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median, quantiles
from typing import Any, NamedTuple

WARM_UP = 12
"""Steps before timing: compilation, allocation, and what a library learns in its first steps."""
BLOCK = 0.004
"""Seconds of a block (at least one step)."""
COLLECT_EVERY = 1.0
"""Seconds after which garbage is collected between turns."""


class Subject(NamedTuple):
    """A step to be timed, and how its value is read."""

    step: Callable[[], Any]
    read: Callable[[Any], float]

    def run(self) -> float:
        """One step, read."""
        return self.read(self.step())


class Summary(NamedTuple):
    """What was measured of one candidate.

    Attributes:
        microseconds: Median time of a step.
        ratio: Median over the turns of time divided by the base's time in the same turn.
        low: Lower quartile of that ratio over the turns.
        high: Upper quartile.
        turns: How many turns there were.
    """

    microseconds: float
    ratio: float
    low: float
    high: float
    turns: int


@contextmanager
def no_garbage_collection() -> Generator[None]:
    """Collect now, and not before the block is left."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def take_turns(subjects: Mapping[str, Subject], seconds: float) -> list[dict[str, float]]:
    """Time candidates in turns.

    Args:
        subjects: The candidates, warmed up here.
        seconds: How long to go on, for each candidate.

    Returns:
        For each turn the median seconds of a step of each candidate.
    """
    for subject in subjects.values():
        for _ in range(WARM_UP):
            subject.run()
    turns: list[dict[str, float]] = []
    order = list(subjects)
    with no_garbage_collection():
        end = time.perf_counter() + seconds * len(subjects)
        collected = time.perf_counter()
        while time.perf_counter() < end or len(turns) < 2:
            turns.append({name: _block(subjects[name]) for name in order})
            order.reverse()
            if time.perf_counter() - collected > COLLECT_EVERY:
                gc.collect()
                collected = time.perf_counter()
    return turns


def _block(subject: Subject) -> float:
    """Median seconds of a step over a short block; the first step, in cold caches, is left out."""
    step, read = subject
    clock = time.perf_counter
    read(step())
    times: list[float] = []
    started = now = clock()
    while now - started < BLOCK:
        before = now
        read(step())
        now = clock()
        times.append(now - before)
    return median(times)


def summarize(turns: Sequence[Mapping[str, float]], base: str) -> dict[str, Summary]:
    """Medians over turns, and ratios to the base inside each turn.

    Args:
        turns: What `take_turns` returned, of one process or several.
        base: The candidate that the others are compared with.
    """
    summaries: dict[str, Summary] = {}
    for name in turns[0]:
        ratios = [turn[name] / turn[base] for turn in turns]
        low, _, high = quantiles(ratios, n=4, method="inclusive")
        microseconds = median(turn[name] for turn in turns) * 1e6
        summaries[name] = Summary(microseconds, median(ratios), low, high, len(turns))
    return summaries
