"""JAX's persistent compilation cache holds the engine's programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import tapejax as tf

v = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(tf.sin(v) * v)
print(tape.gradient(y, v).numpy().tolist())
"""


def test_a_second_process_finds_the_programs_of_the_first(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        "JAX_PLATFORMS": "cpu",
    }

    def run() -> str:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return done.stdout

    first = run()
    entries = {p.name for p in tmp_path.iterdir() if not p.name.endswith("-atime")}
    assert entries
    assert run() == first
    assert {p.name for p in tmp_path.iterdir() if not p.name.endswith("-atime")} == entries
