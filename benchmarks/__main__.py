"""`python -m benchmarks`: measure, print the tables, write JSON and a plot.

Times never decide about success. The first losses of all candidates do: they must agree, else the
programs compared are not the same.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import sys
from pathlib import Path
from typing import Any

from benchmarks import report, worker
from benchmarks.candidates import BASE, CANDIDATES, TAPEJAX
from benchmarks.environment import describe
from benchmarks.harness import summarize
from benchmarks.workloads import WORKLOADS

PEERS = ("tensorflow", "torch")
FIRST_STEPS = (BASE, TAPEJAX, "TF eager", "TF tf.function", "TF jit_compile", "PyTorch eager")
LOSS_TOLERANCE = 2e-5


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a run to see that all works")
    parser.add_argument("--only", default="", metavar="NAME,..", help=f"of {', '.join(WORKLOADS)}")
    parser.add_argument(
        "--peers",
        default=None,
        metavar="NAME,..",
        help="of tensorflow, torch, none; default: those installed, none in a smoke run",
    )
    parser.add_argument("--seconds", type=float, help="per candidate and round (default 3)")
    parser.add_argument("--rounds", type=int, help="processes per library (default 3)")
    parser.add_argument("--no-micro", action="store_true", help="leave out the microbenchmarks")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the results here")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="draw the ratios here")
    parser.add_argument(
        "--from-json", type=Path, metavar="IN", help="measure nothing: report these results"
    )
    options = parser.parse_args()
    options.only = options.only.split(",") if options.only else [*WORKLOADS]
    if unknown := {*options.only} - {*WORKLOADS}:
        parser.error(f"unknown workload {', '.join(sorted(unknown))}: choose from {[*WORKLOADS]}")
    peers = options.peers
    if peers is None:
        peers = "none" if options.smoke else ",".join(PEERS)
    options.peers = [name for name in peers.split(",") if name not in ("", "none")]
    if unknown := {*options.peers} - {*PEERS}:
        parser.error(f"unknown peer {', '.join(sorted(unknown))}: choose from {[*PEERS]}")
    options.seconds = options.seconds or (0.02 if options.smoke else 3.0)
    options.rounds = options.rounds or (1 if options.smoke else 3)
    return options


def _installed(peers: list[str]) -> list[str]:
    found = [name for name in peers if importlib.util.find_spec(name) is not None]
    for name in peers:
        if name not in found:
            _say(f"{name}: left out, it is not installed")
    return found


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _steps(options: argparse.Namespace, libraries: list[str]) -> dict[str, Any]:
    """For each workload the summaries and the first losses of every candidate."""
    turns: dict[tuple[str, str], list[dict[str, float]]] = {}
    results: dict[str, Any] = {name: {"candidates": {}, "losses": {}} for name in options.only}
    for number in range(options.rounds):
        for library in libraries:
            _say(f"round {number + 1} of {options.rounds}: steps, {library}")
            measured = worker.call(
                "steady.measure",
                library=library,
                workloads=options.only,
                seconds=options.seconds,
            )
            for workload, found in measured.items():
                turns.setdefault((workload, library), []).extend(found["turns"])
                results[workload]["losses"].update(found["losses"])
    for (workload, library), measured in turns.items():
        for name, summary in summarize(measured, BASE).items():
            # The base is timed beside every library; its own line is that of tapejax's process.
            if name != BASE or library == "tapejax":
                results[workload]["candidates"][name] = summary._asdict()
            if name == BASE:
                bases = results[workload].setdefault("base_microseconds", {})
                bases[library] = summary.microseconds
    return results


def _first_steps(options: argparse.Namespace, libraries: list[str]) -> dict[str, Any]:
    chosen = [n for n in FIRST_STEPS if CANDIDATES[n].library in ("jax", *libraries)]
    workloads = [name for name in ("mlp", "pinn", "cnn", "maml", "rnn") if name in options.only]
    if options.smoke:
        chosen, workloads = [TAPEJAX], workloads[:1]
    results: dict[str, Any] = {}
    for workload in workloads:
        _say(f"first step: {workload}")
        results[workload] = {
            name: worker.call("micro.first_step", candidate=name, workload=workload)
            for name in chosen
        }
    return results


def _micro(options: argparse.Namespace) -> dict[str, Any]:
    smoke = options.smoke
    _say("recording, compilations, memory, import")
    imports = [
        worker.call("importing.measure", modules=["jax", "tapejax"])
        for _ in range(1 if smoke else 5)
    ]
    fastest = min(imports, key=lambda times: sum(times.values()))
    return {
        "recording": worker.call("micro.recording", repeats=20 if smoke else 400),
        "compilations": worker.call("micro.compilations", steps=30),
        "memory": worker.call("micro.memory", workload="mlp", steps=200 if smoke else 10_000),
        "import": {"jax": fastest["jax"], "tapejax, after jax": fastest["tapejax"]},
    }


def disagreements(steps: dict[str, Any]) -> list[str]:
    """What to say about candidates whose first loss is not that of the hand-written JAX step."""
    found: list[str] = []
    for workload, result in steps.items():
        expected = result["losses"][BASE][0]
        for name, losses in result["losses"].items():
            if not math.isclose(losses[0], expected, rel_tol=LOSS_TOLERANCE):
                found.append(f"{workload}: {name} starts with {losses[0]}, {BASE} with {expected}")
    return found


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    libraries = ["tapejax", *_installed(options.peers)]
    results: dict[str, Any] = {"environment": describe(), "settings": _settings(options)}
    results["steps"] = _steps(options, libraries)
    if not options.no_micro:
        results["first_step"] = _first_steps(options, libraries)
        results["micro"] = _micro(options)
    results["environment"]["load_at_end"] = describe()["load_at_start"]
    return results


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "seconds": options.seconds,
        "rounds": options.rounds,
        "smoke": options.smoke,
        "jax_cpu_enable_async_dispatch": False,
    }


def main() -> int:
    """Run the command; returns the exit code."""
    options = _arguments()
    if options.from_json is not None:
        results = json.loads(options.from_json.read_text(encoding="utf-8"))
    else:
        results = _measure(options)
    print(report.markdown(results))
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if options.plot is not None:
        options.plot.parent.mkdir(parents=True, exist_ok=True)
        # Only a plot needs Matplotlib.
        importlib.import_module("benchmarks.plot").draw(results["steps"], options.plot)
    for line in disagreements(results["steps"]):
        _say(f"ERROR: different losses: {line}")
    return 1 if disagreements(results["steps"]) else 0


if __name__ == "__main__":
    sys.exit(main())
