"""The results as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.candidates import BASE, CANDIDATES

TITLES = {
    "scalar": "x * x",
    "linear_regression": "linear regression 100x3",
    "mlp": "MLP 784-128-10, Adam, batch 64",
    "pinn": "PINN 2-50-50-50-1, Adam, batch 256",
    "cnn": "CNN, 2 convolutions, batch 32",
    "maml": "MAML 1-40-40-1, 4 tasks",
    "rnn": "RNN, Python loop of 50 steps",
    "jacobian": "jacobian 64x64",
}

CAPTION = (
    "Time of a training step divided by that of the same step written by hand in JAX "
    "(`jax.jit` of `jax.value_and_grad` with optax, state donated): lower is better; in brackets "
    "the quartiles over turns. Both were timed alternately in one process, in blocks of 4 ms after "
    "warm-up, the value read at every step. TensorFlow and PyTorch ran in processes of their own, "
    "each with the hand-written step beside it. All candidates on JAX ran with "
    "`jax_cpu_enable_async_dispatch=False`."
)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def candidates_in(steps: Mapping[str, Any]) -> list[str]:
    """The candidates that were measured, in the order of `CANDIDATES`, the base left out."""
    measured = {name for result in steps.values() for name in result["candidates"]}
    return [name for name in CANDIDATES if name in measured and name != BASE]


def _steps(steps: Mapping[str, Any]) -> str:
    names = candidates_in(steps)
    rows: list[list[str]] = []
    for workload, result in steps.items():
        base = result["candidates"][BASE]["microseconds"]
        row = [TITLES[workload], f"{_number(base)} us"]
        for name in names:
            found = result["candidates"][name]
            ratio, low, high = (_number(found[key]) for key in ("ratio", "low", "high"))
            row.append(f"{ratio} ({low} to {high})")
        rows.append(row)
    return _table(["workload", BASE, *names], rows)


def _first_steps(first: Mapping[str, Any]) -> str:
    names = [*next(iter(first.values()))]
    rows = [
        [TITLES[workload], *[_number(result[name]["first_ms"]) for name in names]]
        for workload, result in first.items()
    ]
    return _table(["first step in a new process, ms", *names], rows)


def _micro(micro: Mapping[str, Any]) -> str:
    recording = _table(
        ["recording one known op, us", "outside a tape", "inside a tape"],
        [
            [f"`{op}`", _number(costs["outside a tape"]), _number(costs["inside a tape"])]
            for op, costs in micro["recording"].items()
        ],
    )
    counts = _table(
        ["a new learning rate at each step, by", "compilations in 10 steps", "in 30 more"],
        [
            [way, str(count["first 10 steps"]), str(count["later steps"])]
            for way, count in micro["compilations"].items()
        ],
    )
    memory = micro["memory"]
    growth = memory["growth_mib"]
    grown = "not measured on this system" if growth is None else f"{growth:.2f} MiB"
    imports = ", ".join(f"{name} {_number(ms)} ms" for name, ms in micro["import"].items())
    lines = [
        f"Resident memory, growth over {memory['steps']:,} eager MLP steps: {grown}.",
        f"Import: {imports}.",
    ]
    return "\n\n".join([recording, counts, "\n".join(lines)])


def _environment(environment: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {v}" for name, v in environment["versions"].items())
    loads = f"{environment['load_at_start']} to {environment['load_at_end']}"
    return (
        f"Python {environment['python']}, {versions}; {environment['processor']}, "
        f"{environment['cores']} cores, {environment['system']}, load {loads}."
    )


def markdown(results: Mapping[str, Any]) -> str:
    """All tables, with their caption."""
    parts = [_steps(results["steps"]), CAPTION]
    if results.get("first_step"):
        parts.append(_first_steps(results["first_step"]))
    if "micro" in results:
        parts.append(_micro(results["micro"]))
    parts.append(_environment(results["environment"]))
    return "\n\n".join(parts)
