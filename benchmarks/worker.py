"""A process of its own for one measurement: `python -m benchmarks.worker FUNCTION ARGUMENTS`.

The arguments are JSON, and so is the last line of the output. `call` starts one.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "-1",
    "JAX_PLATFORMS": "cpu",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


class WorkerError(Exception):
    """A measuring process failed; the message is its error output."""


def call(function: str, **arguments: Any) -> Any:
    """Run a function of this package in a fresh process.

    Args:
        function: Such as "micro.memory".
        **arguments: Its arguments; anything JSON can hold.

    Returns:
        What it returned, as JSON holds it.

    Raises:
        WorkerError: If the process fails.
    """
    finished = subprocess.run(
        [sys.executable, "-m", "benchmarks.worker", function, json.dumps(arguments)],
        cwd=ROOT,
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode != 0:
        raise WorkerError(f"{function}({arguments}) failed:\n{finished.stderr[-4000:]}")
    return json.loads(finished.stdout.splitlines()[-1])


def main(function: str, arguments: str) -> None:
    """Call the function and print what it returns.

    XLA's CPU client hands programs above some size to another thread, whose wake-up of about 45 us
    would be most of a small step. So that is turned off, for every candidate on JAX alike.
    """
    module, _, name = function.rpartition(".")
    if module != "importing":  # which times the import of JAX
        importlib.import_module("jax").config.update("jax_cpu_enable_async_dispatch", False)
    found = getattr(importlib.import_module(f"benchmarks.{module}"), name)
    print(json.dumps(found(**json.loads(arguments))))


if __name__ == "__main__":
    main(*sys.argv[1:])
