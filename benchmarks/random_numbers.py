"""`python -m benchmarks.random_numbers`: what a million random numbers cost.

tapejax draws TensorFlow's Philox streams, JAX its own ThreeFry ones and TensorFlow those of
`tf.random`. All are compiled where they can be and take turns in one process; a step is one tensor,
computed to its end. Times decide nothing; a mean or deviation that is wrong does.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import tapejax as tf
from benchmarks.harness import Subject, Summary, summarize, take_turns

BASE = "jax.random"
COUNT, SMOKE_COUNT = 1 << 20, 1 << 12
OURS = "tapejax tf.function"

Step = Callable[[], Any]


class Case(NamedTuple):
    """A distribution, with the moments its numbers must have.

    Attributes:
        name: In the table.
        of_jax: Function of a key and a number of elements.
        of_tf: Function of a library and a number of elements.
        mean, deviation: Of one number.
    """

    name: str
    of_jax: Callable[[Any, int], Any]
    of_tf: Callable[[Any, int], Any]
    mean: float
    deviation: float


CASES = (
    Case(
        "uniform",
        lambda key, n: jax.random.uniform(key, (n,)),
        lambda lib, n: lib.random.uniform([n]),
        0.5,
        math.sqrt(1 / 12),
    ),
    Case(
        "normal",
        lambda key, n: jax.random.normal(key, (n,)),
        lambda lib, n: lib.random.normal([n]),
        0.0,
        1.0,
    ),
    Case(
        "gamma",
        lambda key, n: jax.random.gamma(key, jnp.float32(2.5), (n,)),
        lambda lib, n: lib.random.gamma([n], 2.5),
        2.5,
        math.sqrt(2.5),
    ),
    Case(
        "poisson",
        lambda key, n: jax.random.poisson(key, 20.0, (n,)).astype(jnp.float32),
        lambda lib, n: lib.random.poisson([n], 20.0),
        20.0,
        math.sqrt(20.0),
    ),
)


def _steps(case: Case, count: int, peers: list[str]) -> dict[str, Step]:
    """One step for each candidate; every one gives an array of new numbers."""
    keys = iter(jax.random.split(jax.random.key(0), 1 << 16))
    compiled = jax.jit(lambda key: case.of_jax(key, count))
    ours = tf.function(lambda: case.of_tf(tf, count))
    steps: dict[str, Step] = {
        BASE: lambda: compiled(next(keys)).block_until_ready(),
        OURS: lambda: ours().numpy(),
        "tapejax eager": lambda: case.of_tf(tf, count).numpy(),
    }
    for name in peers:
        steps[name] = _peer(case, count, importlib.import_module(name))
    return steps


def _peer(case: Case, count: int, library: Any) -> Step:
    return lambda: case.of_tf(library, count).numpy()


def measure(case: Case, count: int, seconds: float, peers: list[str]) -> dict[str, Summary]:
    """Times of every candidate.

    Raises:
        AssertionError: If the numbers of one have other moments than the distribution.
    """
    steps = _steps(case, count, peers)
    for name, step in steps.items():
        drawn = jnp.asarray(step())
        error = abs(float(drawn.mean()) - case.mean) / case.deviation
        assert error < 6 / math.sqrt(count), f"{name}: the mean of {case.name} is wrong"
        spread = float(drawn.std()) / case.deviation
        assert abs(spread - 1) < 10 / math.sqrt(count), f"{name}: {case.name} is too wide"
    subjects = {name: Subject(step, lambda x: float(x[0])) for name, step in steps.items()}
    return summarize(take_turns(subjects, seconds), BASE)


def _print_table(case: Case, count: int, summaries: dict[str, Summary]) -> None:
    title = f"{case.name}, {count} numbers"
    print(f"\n{title:<28}{'us':>10}{'ratio':>9}{'quartiles':>18}{'throughput':>12}")
    for name, summary in summaries.items():
        quartiles = f"{summary.low:.2f} .. {summary.high:.2f}"
        print(
            f"{name:<28}{summary.microseconds:>10.1f}{summary.ratio:>9.2f}{quartiles:>18}"
            f"{1 / summary.ratio:>11.2f}x"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.random_numbers", description=__doc__
    )
    parser.add_argument("--smoke", action="store_true", help="a run to see that all works")
    parser.add_argument("--seconds", type=float, help="per candidate and case (default 2)")
    options = parser.parse_args()
    seconds = options.seconds or (0.02 if options.smoke else 2.0)
    count = SMOKE_COUNT if options.smoke else COUNT
    peers = (
        [] if options.smoke or importlib.util.find_spec("tensorflow") is None else ["tensorflow"]
    )
    tf.random.set_seed(1)
    for case in CASES:
        _print_table(case, count, measure(case, count, seconds, peers))


if __name__ == "__main__":
    sys.exit(main())
