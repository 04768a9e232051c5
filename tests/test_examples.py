"""Each program of examples/ runs, unmodified, on tapejax and finds its own result right."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"

# Arguments that make a program short enough for a test, and a line of its output that says so.
RUNS = {
    "burgers_pinn.py": (
        ["--steps", "300", "--max-error", "0.5"],
        r"relative L2 error \d\.\d\de-\d\d after 300 steps, plot in burgers_pinn.png",
    ),
    "control_flow.py": ([], "all gradients are as they should be"),
    "projectile.py": ([], "best angle 4"),
    "custom_gradient.py": ([], "all gradients are as they should be"),
    "digits.py": ([], r"test accuracy 9[6-9]\.\d\d %, learning curve in digits.png"),
    "keras_vae.py": ([], r"distance from the centre: \d\.\d{3} \+- \d\.\d{3}"),
    "maml.py": (
        ["--iterations", "300"],
        r"loss on new sines: \d\.\d+ before one step, .* after it",
    ),
    "newton.py": ([], r"minimum at \[1\. 1\. .*\] after \d+ iterations"),
    "spring.py": (["--steps", "300"], r"energy drift \d\.\de-\d\d J"),
}
PICTURES = {"burgers_pinn.py": "burgers_pinn.png", "digits.py": "digits.png"}
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*RUNS}


@pytest.mark.parametrize("name", sorted(RUNS))
def test_an_example_is_a_short_plain_tensorflow_program(name: str) -> None:
    source = (EXAMPLES / name).read_text(encoding="utf-8")
    assert len(source.splitlines()) < 100
    assert "import tensorflow as tf\n" in source
    assert "tapejax" not in source
    assert any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(source)))


@pytest.mark.parametrize("name", sorted(RUNS))
def test_an_example_finds_its_result(name: str, tmp_path: Path) -> None:
    arguments, line = RUNS[name]
    finished = subprocess.run(
        [sys.executable, "-m", "tapejax", "run", str(EXAMPLES / name), *arguments],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert re.search(f"^{line}", finished.stdout, re.MULTILINE), finished.stdout
    if name in PICTURES:
        assert (tmp_path / PICTURES[name]).read_bytes().startswith(PNG_SIGNATURE)
