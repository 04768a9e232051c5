"""Several processes: training, and what happens when one of them ends too early."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distribute.running import PROGRAMS, ROOT

from tapejax._src.distribute.cluster import this_worker


def launched(count: int, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program as several workers."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tapejax", "launch", "-n", str(count)]
    return subprocess.run(
        [*command, str(PROGRAMS / f"{program}.py"), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


@cache
def trained(count: int) -> list[Any]:
    """What each worker found."""
    with tempfile.TemporaryDirectory() as folder:
        done = launched(count, "workers", folder)
        assert done.returncode == 0, done.stderr[-3000:]
        return [json.loads(file.read_text()) for file in Path(folder).iterdir()]


@pytest.mark.parametrize("count", [2, 4])
def test_workers_train_as_one_process(count: int) -> None:
    """20 steps; what is counted on each replica, and their numbers, brought together."""
    (alone,), found = trained(1), trained(count)
    assert len(found) == count
    assert sorted(worker["own ids"] for worker in found) == [[n] for n in range(count)]
    for worker in found:
        assert worker["replicas"] == count
        np.testing.assert_allclose(worker["losses"], alone["losses"], rtol=0, atol=5e-7)
        for one, two in zip(worker["weights"], alone["weights"], strict=True):
            np.testing.assert_allclose(one, two, rtol=0, atol=5e-7)
        assert worker["seen"] == alone["seen"] == 160.0
        assert worker["sum of ids"] == sum(range(count))
        assert worker["gathered"] == [m for n in range(count) for m in (n, 10 * n)]
        assert "drop_remainder=True" in worker["refused"]


def test_a_worker_that_is_killed_is_started_again_and_the_result_is_the_same(
    tmp_path: Path,
) -> None:
    """Bit by bit: all go on from the newest checkpoint, that of step 6."""
    results: dict[str, Any] = {}
    for mode in ("whole", "killed"):
        (tmp_path / mode).mkdir()
        done = launched(2, "resumed", str(tmp_path / mode), mode)
        assert done.returncode == 0, done.stderr[-3000:]
        results[mode] = json.loads((tmp_path / mode / "result.json").read_text())
        assert ("worker 1 was killed by SIGKILL" in done.stderr) == (mode == "killed")
    start, steps, weights = results["killed"]
    assert (start, steps) == (6, 12)
    assert weights == results["whole"][2]


def test_an_exception_in_one_worker_ends_all_at_once_with_its_message(tmp_path: Path) -> None:
    started = time.monotonic()
    done = launched(2, "resumed", str(tmp_path), "raises")
    assert done.returncode == 1
    assert "ValueError: an error of the user's" in done.stderr
    assert "worker 1 ended with code 1; all workers were stopped" in done.stderr
    assert time.monotonic() - started < 60


def test_a_launcher_without_a_script_is_a_wrong_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tapejax", "launch", "-n", "2"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "then a script" in done.stderr


def test_tf_config_names_this_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chief is the first; other tasks take no part."""
    cluster = {"chief": ["a:1"], "worker": ["b:1", "c:1"]}
    cases = {("chief", 0): 0, ("worker", 0): 1, ("worker", 1): 2}
    for (kind, index), expected in cases.items():
        config = {"cluster": cluster, "task": {"type": kind, "index": index}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
        assert this_worker() == (("a:1", "b:1", "c:1"), expected)
    for cluster, kind, text in (
        ({"worker": ["b:1"]}, "evaluator", "takes no part"),
        ({"worker": ["b:1"], "ps": ["d:1"]}, "worker", "parameter servers"),
    ):
        config = {"cluster": cluster, "task": {"type": kind, "index": 0}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))
        with pytest.raises(ValueError, match=text):
            this_worker()
    monkeypatch.setenv("TF_CONFIG", "{")
    with pytest.raises(ValueError, match="no JSON"):
        this_worker()
    monkeypatch.delenv("TF_CONFIG")
    assert this_worker().place == 0
