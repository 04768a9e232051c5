"""Keras 2's spellings under `tapejax run`, the report of them, and plain Keras without them."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow

from tapejax._src.checkpoint import bundle_reader

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "old_programs"
SPELLINGS = PROGRAMS / "spellings.py"
NOT_SPELLINGS = ("main", "close", "regression")


def run(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A program under `tapejax run`."""
    return subprocess.run(
        [sys.executable, "-m", "tapejax", "run", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def spellings() -> list[str]:
    tree = ast.parse(SPELLINGS.read_text())
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [name for name in names if name not in NOT_SPELLINGS]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    finished = run(str(SPELLINGS))
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", spellings())
def test_a_spelling_of_keras_2_works(name: str, outcomes: dict[str, str]) -> None:
    assert outcomes[name] == ""


WHOLE = sorted(path.stem for path in PROGRAMS.glob("*.py") if path != SPELLINGS)


@pytest.mark.parametrize("name", WHOLE)
def test_a_program_for_keras_2_runs_and_its_loss_falls(name: str) -> None:
    finished = run(str(PROGRAMS / f"{name}.py"))
    assert finished.returncode == 0, finished.stderr
    before, after = finished.stdout.split("loss ")[1].split()[0:3:2]
    assert float(after) < float(before)


PROGRAM = """import tensorflow as tf
optimizer = tf.keras.optimizers.Adam(lr=0.5)
for _ in range(2):
    optimizer.lr = 0.25
model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_dim=3)])
tf.keras.layers.Input(2)
"""
REPORT = """user.py:2: Adam(lr=...) -> learning_rate=...
user.py:4: Adam.lr = ... -> learning_rate = ...
user.py:5: Dense(input_dim=...) -> Input(shape=(...,)) as the first layer
user.py:6: Input(2) -> Input(shape=(2,))
"""


def test_each_use_is_listed_once_at_exit(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(PROGRAM)
    finished = run("user.py", cwd=tmp_path)
    assert finished.stderr.replace(str(tmp_path) + os.sep, "") == REPORT


def test_plain_keras_is_unchanged_unless_they_are_enabled() -> None:
    with pytest.raises(ValueError, match="not recognized"):
        keras.optimizers.Adam(lr=0.5)
    with pytest.raises(ValueError, match="Unrecognized keyword"):
        keras.layers.Dense(2, batch_input_shape=(2, 3))
    assert not hasattr(keras.Model, "predict_classes")
    assert not hasattr(keras.metrics.Mean, "reset_states")


def test_a_checkpoint_of_tensorflow_is_read(tmp_path: Path) -> None:
    values = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.int64(7)}
    saved = tensorflow.train.Checkpoint(
        **{name: tensorflow.Variable(value) for name, value in values.items()}
    )
    found = bundle_reader.read(saved.write(str(tmp_path / "ckpt")))
    for name, value in values.items():
        np.testing.assert_array_equal(found[f"{name}/.ATTRIBUTES/VARIABLE_VALUE"], value)
