"""The picture of the README: ratios to hand-written JAX as bars on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

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
    ratios = {
        name: [result["candidates"][name]["ratio"] for result in steps.values()] for name in names
    }
    with mpl.rc_context({"font.size": 10, "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(12, 4.8), dpi=120, layout="constrained")
        axes: Any = figure.subplots()
        width = WIDTH / len(names)
        for place, name in enumerate(names):
            offset = (place + 0.5) * width - WIDTH / 2
            _bars(axes, name, [n + offset for n in range(len(steps))], ratios[name], width)
        _frame(axes, [LABELS[workload] for workload in steps], [*chain(*ratios.values())])
        axes.legend(ncols=len(names), loc="upper left", frameon=False)
        figure.savefig(path)


def _bars(axes: Any, name: str, centres: list[float], ratios: list[float], width: float) -> None:
    """Bars from 1 up or down, with their numbers at the end."""
    axes.bar(
        centres,
        [ratio - 1 for ratio in ratios],
        width * 0.94,
        bottom=1,
        label=name,
        color=COLOURS[name],
        edgecolor="#333333",
        linewidth=0.4,
    )
    for centre, ratio in zip(centres, ratios, strict=True):
        text = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"
        up = ratio >= 1
        place = ratio * 1.06 if up else ratio / 1.06
        axes.text(centre, place, text, ha="center", va="bottom" if up else "top", fontsize=8)


def _frame(axes: Any, labels: list[str], ratios: list[float]) -> None:
    """Axes, title and the line of the hand-written step."""
    axes.set_yscale("log")
    axes.set_ylim(min(0.5, min(ratios) / 1.6), max(ratios) * 3)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.axhline(1, color="black", linewidth=1)
    axes.set_xlim(-0.6, len(labels) - 0.4)
    axes.set_xticks(range(len(labels)), labels)
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel("time / hand-written JAX")
    axes.set_title("Time of a training step; 1 is the same step written by hand in JAX")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
