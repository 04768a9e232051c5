"""`tf.distribute` on four virtual devices gives what TensorFlow gives, row by row.

The programs run in processes of their own: the number of devices is fixed when JAX starts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow  # noqa: F401  the programs run in TensorFlow too

PROGRAMS = Path(__file__).with_name("programs")
ROOT = Path(__file__).parents[2]


@cache
def output_of(program: str, library: str) -> Any:
    """What a program prints last, as JSON."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if library == "tensorflow":
        environment.pop("KERAS_BACKEND", None)
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / f"{program}.py"), library],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_every_call_gives_what_tensorflow_gives() -> None:
    """Values, and the types of errors."""
    theirs, ours = output_of("semantics", "tensorflow"), output_of("semantics", "tapejax")
    assert len(theirs) > 130
    assert {k: v for k, v in ours.items() if theirs[k] != v} == {}
    assert ours.keys() == theirs.keys()


WAYS = ("run in function", "eager", "function in run")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("optimizer", ["momentum", "adam"])
@pytest.mark.parametrize("kind", ["even", "uneven"])
def test_four_replicas_train_as_one_device_and_as_tensorflow(
    kind: str, optimizer: str, way: str
) -> None:
    """20 steps; the weights and the losses."""
    found = output_of("training", "tapejax")[f"{kind}, {optimizer}, four, {way}"]
    alone = output_of("training", "tapejax")[f"{kind}, {optimizer}, one, {way}"]
    expected = output_of("training", "tensorflow")[f"{kind}, {optimizer}, four, run in function"]
    for other in (alone, expected):
        for one, two in zip(found[0] + [found[1]], other[0] + [other[1]], strict=True):
            np.testing.assert_allclose(one, two, rtol=0, atol=5e-7)
