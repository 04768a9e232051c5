"""Runs the programs of this folder in processes of their own.

The number of devices is fixed when JAX starts, and the rest of the suite has one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).with_name("programs")
ROOT = Path(__file__).parents[2]


@cache
def output_of(program: str, library: str, *options: str) -> Any:
    """What a program prints last, as JSON."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    if library == "tensorflow":
        environment.pop("KERAS_BACKEND", None)
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / f"{program}.py"), library, *options],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
