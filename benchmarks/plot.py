"""The picture of the README: ratios to hand-written JAX as bars on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.candidates import TAPEJAX, TORCH
from benchmarks.report import candidates_in

LABELS = {
    "scalar": "x * x",
    "linear_regression": "linear\nregression",
    "mlp": "MLP",
    "pinn": "PINN\n(2nd derivatives)",
    "cnn": "CNN",
    "maml": "MAML\n(2nd order)",
    "rnn": "RNN\n(Python loop)",
    "jacobian": "jacobian\n64x64",
}
# Colours that people with any colour vision can tell apart.
COLOURS = {
    TAPEJAX: "#0072B2",
    "TF eager": "#D55E00",
    "TF tf.function": "#E69F00",
    "TF jit_compile": "#F0E442",
    TORCH: "#999999",
}
WIDTH = 0.84


def draw(steps: Mapping[str, Any], path: Path) -> None:
    """Draw the ratio of each candidate on each workload."""
    names = [name for name in candidates_in(steps) if name in COLOURS]
    width = WIDTH / len(names)
    with mpl.rc_context({"font.size": 10, "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(12, 4.8), dpi=120, layout="constrained")
        axes: Any = figure.subplots()
        for place, name in enumerate(names):
            ratios = [result["candidates"][name]["ratio"] for result in steps.values()]
            lefts = [n - WIDTH / 2 + (place + 0.5) * width for n in range(len(ratios))]
            axes.bar(
                lefts,
                [ratio - 0.5 for ratio in ratios],
                width * 0.94,
                bottom=0.5,
                label=name,
                color=COLOURS[name],
                edgecolor="#333333",
                linewidth=0.4,
            )
            for left, ratio in zip(lefts, ratios, strict=True):
                text = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"
                axes.text(left, max(ratio, 0.5) * 1.06, text, ha="center", va="bottom", fontsize=8)
        axes.set_yscale("log")
        highest = max(r["candidates"][name]["ratio"] for r in steps.values() for name in names)
        axes.set_ylim(0.5, highest * 2)
        axes.axhline(1, color="black", linewidth=1)
        axes.set_xlim(-0.6, len(steps) - 0.4)
        axes.set_xticks(range(len(steps)), [LABELS[workload] for workload in steps])
        axes.tick_params(axis="x", length=0)
        axes.set_ylabel("time of a step / hand-written JAX")
        axes.set_title("Time of a training step; the line is the same step written by hand in JAX")
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.legend(ncols=len(names), loc="upper left", frameon=False)
        figure.savefig(path)
