"""`python -m benchmarks.compiled`: compiled functions against hand-written JAX.

For a training step inside `tf.function` and the same step written by hand: flops and bytes of the
two programs, as XLA counts them, and their times in turns. Then what a call costs besides its
program, with one variable and with a hundred. Times decide nothing; losses that differ do.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import tapejax as tf
from benchmarks import worker
from benchmarks.candidates import BASE, CANDIDATES
from benchmarks.harness import Subject, summarize, take_turns
from benchmarks.peers_jax import Repeated
from tapejax._src.engine.program import ROOT

COMPILED = "tapejax tf.function"
STEPS = ("mlp", "pinn", "cnn", "maml", "rnn")
CALLS = {"reads 1 variable": 1, "assigns 1 variable": 1, "assigns 100 variables": 100}
TOLERANCE = 2e-5

Costs = dict[str, float]


# ---------------------------------------------------------------------- measuring, in a worker
def measure_step(workload: str, seconds: float) -> dict[str, Any]:
    """Costs, times and first losses of a workload's step, compiled and written by hand.

    Args:
        workload: Its name.
        seconds: For how long to time each.

    Returns:
        `losses`, and of the compiled step divided by the other: `flops`, `bytes` and `time`, a
        `Summary` as a dict; `base_microseconds`.
    """
    steps = {name: CANDIDATES[name].build(workload) for name in (BASE, COMPILED)}
    subjects = {name: Subject(step, CANDIDATES[name].read) for name, step in steps.items()}
    losses = {name: subject.run() for name, subject in subjects.items()}
    summaries = summarize(take_turns(subjects, seconds), BASE)
    by_hand: Any = steps[BASE]
    assert isinstance(by_hand, Repeated)
    base, found = _costs(by_hand.compiled()), _costs(program_of(steps[COMPILED]))
    return {
        "losses": losses,
        "flops": found["flops"] / base["flops"],
        "bytes": found["bytes accessed"] / base["bytes accessed"],
        "time": summaries[COMPILED]._asdict(),
        "base_microseconds": summaries[BASE].microseconds,
    }


def program_of(function: Any) -> Any:
    """The compiled program (`jax.stages.Compiled`) that a `tf.function` called lately runs."""
    kernels = [trace._direct.kernel for trace in function.state.traces.values()]
    nodes = [node for edge, node in ROOT.edges.items() if edge[0] in kernels]
    found = [x for node in nodes for x in (node.executables or {}).values() if x.compiled]
    return found[-1].call


def _costs(program: Any) -> Costs:
    found: Any = program.cost_analysis()
    return found[0] if isinstance(found, list) else found


def measure_call(name: str, seconds: float) -> dict[str, Any]:
    """What a call of a function costs whose program is next to nothing.

    Args:
        name: One of `CALLS`.
        seconds: For how long to time each.

    Returns:
        `over`: microseconds over `jax.jit` of the same (median and quartiles over turns), and
        `time`, a `Summary` as a dict; `base_microseconds`.
    """
    count = CALLS[name]
    pair = _reading() if name.startswith("reads") else _assigning(count)
    subjects = {label: Subject(step, _unread) for label, step in pair.items()}
    turns = take_turns(subjects, seconds)
    over = [(turn[COMPILED] - turn[BASE]) * 1e6 for turn in turns]
    low, _, high = quantiles(over, n=4, method="inclusive")
    summaries = summarize(turns, BASE)
    return {
        "over": {"median": median(over), "low": low, "high": high},
        "time": summaries[COMPILED]._asdict(),
        "base_microseconds": summaries[BASE].microseconds,
    }


def _unread(value: Any) -> float:
    """The calls take no time but that of dispatch, so nothing piles up that must be awaited."""
    del value
    return 0.0


def _reading() -> dict[str, Callable[[], Any]]:
    variable, x = tf.Variable(np.ones(8, np.float32)), tf.constant(np.ones(8, np.float32))
    function: Any = tf.function(lambda x: x + variable)
    jitted = jax.jit(jnp.add)
    first, second = jnp.ones(8), jnp.ones(8)
    return {BASE: lambda: jitted(first, second), COMPILED: lambda: function(x)}


def _assigning(count: int) -> dict[str, Callable[[], Any]]:
    starts = [np.full(8, n, np.float32) for n in range(count)]
    variables = [tf.Variable(start) for start in starts]
    x = tf.constant(np.ones(8, np.float32))

    def update(x: Any) -> Any:
        for variable in variables:
            variable.assign_add(x)
        return x * 2.0

    def by_hand(held: Any, x: Any) -> Any:
        return [h + x for h in held], x * 2.0

    function: Any = tf.function(update, autograph=False)
    repeated = Repeated(by_hand, [jnp.asarray(start) for start in starts], [np.ones(8, np.float32)])
    return {BASE: repeated, COMPILED: lambda: function(x)}


# ---------------------------------------------------------------------- the command
def _print(steps: Mapping[str, Any], calls: Mapping[str, Any]) -> None:
    print(f"{'step':<24}{BASE + ', us':>22}{'flops':>8}{'bytes':>8}{'time':>8}{'quartiles':>18}")
    for name, found in steps.items():
        time = found["time"]
        print(
            f"{name:<24}{found['base_microseconds']:>22.1f}{found['flops']:>8.3f}"
            f"{found['bytes']:>8.3f}{time['ratio']:>8.3f}{_range(time):>18}"
        )
    print(f"\n{'call':<24}{'jax.jit, us':>22}{'over, us':>8}{'quartiles':>18}{'time':>8}")
    for name, found in calls.items():
        over, time = found["over"], found["time"]
        print(
            f"{name:<24}{found['base_microseconds']:>22.1f}{over['median']:>8.1f}{_range(over):>18}"
            f"{time['ratio']:>8.2f}"
        )


def _range(found: Mapping[str, float]) -> str:
    return f"{found['low']:.3f} .. {found['high']:.3f}"


def _measure(seconds: float, only: list[str]) -> dict[str, Any]:
    def of(function: str, key: str, names: list[str]) -> dict[str, Any]:
        call = f"compiled.{function}"
        return {name: worker.call(call, **{key: name}, seconds=seconds) for name in names}

    steps = of("measure_step", "workload", [name for name in STEPS if name in only])
    return {"steps": steps, "calls": of("measure_call", "name", [n for n in CALLS if n in only])}


def disagreements(steps: Mapping[str, Any]) -> list[str]:
    """What to say about steps whose first loss is not that of the hand-written one."""
    return [
        f"{name}: {COMPILED} starts with {found['losses'][COMPILED]}, {BASE} with "
        f"{found['losses'][BASE]}"
        for name, found in steps.items()
        if not math.isclose(found["losses"][COMPILED], found["losses"][BASE], rel_tol=TOLERANCE)
    ]


def main() -> int:
    """Measure and print; 1 if losses disagree."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compiled", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a run to see that all works")
    parser.add_argument("--seconds", type=float, help="per candidate and row (default 5)")
    known = ", ".join([*STEPS, *CALLS])
    parser.add_argument("--only", default="", metavar="NAME,..", help=f"of {known}")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the results here")
    options = parser.parse_args()
    seconds = options.seconds or (0.02 if options.smoke else 5.0)
    only = options.only.split(",") if options.only else [*STEPS, *CALLS]
    if unknown := {*only} - {*STEPS, *CALLS}:
        parser.error(f"unknown name {', '.join(sorted(unknown))}: choose from {known}")
    results = _measure(seconds, only)
    _print(results["steps"], results["calls"])
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for line in disagreements(results["steps"]):
        print(f"ERROR: different losses: {line}", file=sys.stderr)
    return 1 if disagreements(results["steps"]) else 0


if __name__ == "__main__":
    sys.exit(main())
