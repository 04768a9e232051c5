"""The benchmarks run, and what they compare are the same computations. No time decides anything."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"

BASE = "hand-written JAX"
WORKLOADS = ["scalar", "linear_regression", "mlp", "pinn", "cnn", "maml", "rnn", "jacobian"]
# optax's Adam adds epsilon after the bias correction, Keras' before: step 2 differs a little.
ADAM = {"mlp", "pinn", "cnn", "maml"}

# What the arithmetic says of the numbers that the workloads start from.
KNOWN_LOSSES = {"scalar": [6.0, 6.0, 6.0, 6.0]}


def run_benchmarks(folder: Path, *arguments: str) -> tuple[str, dict[str, Any]]:
    """Run `python -m benchmarks`; returns what it printed and the JSON it wrote."""
    results = folder / "results.json"
    finished = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--smoke", "--json", str(results), *arguments],
        cwd=ROOT,
        env=os.environ | {"KERAS_BACKEND": "tensorflow"},  # for TensorFlow's own optimizers
        capture_output=True,
        text=True,
        timeout=290,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout, json.loads(results.read_text(encoding="utf-8"))


def check_losses(steps: dict[str, Any], eager: str) -> None:
    """The first losses are those of JAX; all of them where no optimizer differs."""
    assert [*steps] == WORKLOADS
    for workload, result in steps.items():
        losses = result["losses"]
        expected = losses[BASE]
        if workload in KNOWN_LOSSES:
            assert expected == KNOWN_LOSSES[workload]
        for name, found in losses.items():
            same = found[:1] if workload in ADAM else found
            assert same == pytest.approx(expected[: len(same)], rel=2e-5), (workload, name)
            if name != BASE:
                assert found == pytest.approx(losses[eager], rel=1e-4), (workload, name)


def test_a_smoke_run_measures_everything_and_all_losses_agree(tmp_path: Path) -> None:
    picture = tmp_path / "ratios.png"
    printed, results = run_benchmarks(tmp_path, "--plot", str(picture))

    names = {BASE, "tapejax eager", "tapejax tf.function"}
    for result in results["steps"].values():
        assert {*result["losses"]} == {*result["candidates"]} == names
        assert all(found["ratio"] > 0 for found in result["candidates"].values())
    check_losses(results["steps"], "tapejax eager")

    micro = results["micro"]
    assert {count["later steps"] for count in micro["compilations"].values()} == {0}
    assert all(cost > 0 for op in micro["recording"].values() for cost in op.values())
    assert micro["memory"]["steps"] == 200
    assert {*micro["import"]} == {"jax", "tapejax, after jax"}
    assert results["first_step"]["mlp"]["tapejax eager"]["first_ms"] > 0

    assert printed.startswith(f"| workload | {BASE} | tapejax eager | tapejax tf.function |\n")
    assert "jax_cpu_enable_async_dispatch=False" in printed
    assert picture.read_bytes().startswith(PNG_SIGNATURE)


@pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed"
)
def test_tensorflow_computes_the_same_losses_by_the_same_programs(tmp_path: Path) -> None:
    _, results = run_benchmarks(tmp_path, "--peers", "tensorflow", "--no-micro")
    for result in results["steps"].values():
        assert {"TF eager", "TF tf.function", "TF jit_compile"} < {*result["losses"]}
    check_losses(results["steps"], "TF eager")


def test_compiled_steps_compute_what_the_hand_written_ones_do(tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    finished = subprocess.run(
        [sys.executable, "-m", "benchmarks.compiled", "--smoke", "--json", str(results)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=290,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    found = json.loads(results.read_text(encoding="utf-8"))

    assert [*found["steps"]] == ["mlp", "pinn", "cnn", "maml", "rnn"]
    for workload, step in found["steps"].items():
        assert step["losses"]["tapejax tf.function"] == pytest.approx(
            step["losses"][BASE], rel=2e-5
        )
        assert step["time"]["ratio"] > 0
        # What XLA counts is no time: it is the same on every run. The max pool's derivative does
        # without a scatter, which costs flops and saves bytes.
        assert step["flops"] < (1.4 if workload == "cnn" else 1.02), workload
        assert step["bytes"] < 1.02, workload
    assert [*found["calls"]] == ["reads 1 variable", "assigns 1 variable", "assigns 100 variables"]
    assert all(call["time"]["ratio"] > 0 for call in found["calls"].values())
    assert finished.stdout.startswith("step ")


def test_pipelines_give_the_batches_that_numpy_gives() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.pipelines", "--smoke"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=290,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "shuffle, 32 x 4" in run.stdout


def test_random_numbers_of_all_candidates_have_the_moments_of_the_distribution() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.random_numbers", "--smoke"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=290,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "normal, 4096 numbers" in run.stdout


def test_a_peer_that_is_not_installed_is_left_out_with_a_line() -> None:
    if importlib.util.find_spec("torch") is not None:
        pytest.skip("PyTorch is installed")
    arguments = "--smoke --no-micro --only scalar --peers torch"
    finished = subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments.split()],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    assert "torch: left out, it is not installed\n" in finished.stderr


def test_an_unknown_workload_is_named() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--only", "mlp,nope"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert finished.returncode == 2
    assert "unknown workload nope: choose from ['scalar', " in finished.stderr


def test_convolutions_lose_as_tensorflow_does() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.convolutions", "--smoke"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=290,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert len(run.stdout.splitlines()) == 5
