"""`tapejax check`: what it says of programs is what happens when they run."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """\
    import os
    import tensorflow as tf
    from tensorflow import keras
    from tensorflow.keras.layers import Dense, NoSuchLayer
    import tensorflow.keras.backend as K
    import tensorflow_datasets as tfds
    import numpy as np

    layers = keras.layers
    x = tf.constant([1.0])
    y = tf.math.log(x) + tf.contrib.layers.relu(x)
    z = layers.Conv2D(3, 3)
    model = tf.keras.Sequential([layers.Flatten(), Dense(1)])
    tf.reduce_men(x)
    np.mean(os.path.join("a", "b"))
    k = K.square(x)

    def step(tf_like):
        return tf_like.nothing, tf.lite.Interpreter
"""


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tapejax", "check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What is said of a folder with several programs, by file name."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "program.py").write_text(textwrap.dedent(PROGRAM))
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "plain.py").write_text("import numpy as np\nprint(np.pi)\n")
    cells = [
        {"cell_type": "markdown", "source": ["import nothing"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "!pip install x\n"]},
        {"cell_type": "code", "source": "import tensorflow as tf\n\ntf.nn.no_such(tf.ones([1]))"},
    ]
    (folder / "book.ipynb").write_text(json.dumps({"cells": cells}))
    done = run("--json", ".", cwd=folder)
    assert done.returncode == 1, done.stderr
    return {Path(file["path"]).name: file for file in json.loads(done.stdout)["files"]}


def test_missing_names_have_their_lines_and_cures(found: Any) -> None:
    missing = {
        (use["place"], use["symbol"]): use["note"]
        for use in found["program.py"]["uses"]
        if use["status"] == "missing"
    }
    assert sorted(missing) == [
        ("11", "tf.contrib.layers.relu"),
        ("14", "tf.reduce_men"),
        ("19", "tf.lite.Interpreter"),
        ("4", "tf.keras.layers.NoSuchLayer"),
        ("6", "tensorflow_datasets"),
    ]
    assert "TensorFlow 1" in missing["11", "tf.contrib.layers.relu"]
    assert "tf.reduce_mean" in missing["14", "tf.reduce_men"]
    assert "jax.export" in missing["19", "tf.lite.Interpreter"]


def test_names_are_followed_through_imports_and_assignments(found: Any) -> None:
    symbols = {(use["place"], use["symbol"]) for use in found["program.py"]["uses"]}
    assert {
        ("10", "tf.constant"),
        ("11", "tf.math.log"),
        ("12", "tf.keras.layers.Conv2D"),
        ("13", "tf.keras.Sequential"),
        ("13", "tf.keras.layers.Flatten"),
        ("4", "tf.keras.layers.Dense"),
        ("16", "tf.keras.backend.square"),
    } <= symbols
    assert not any("mean" in symbol and place == "15" for place, symbol in symbols)


def test_a_notebook_counts_cells_and_lines(found: Any) -> None:
    places = [(use["place"], use["symbol"]) for use in found["book.ipynb"]["uses"]]
    assert ("cell 2, line 3", "tf.nn.no_such") in places
    assert ("cell 2, line 3", "tf.ones") in places


def test_a_file_that_is_no_python_is_a_problem(found: Any) -> None:
    assert "cannot be read" in found["broken.py"]["problem"]
    assert found["plain.py"] == {**found["plain.py"], "uses": [], "problem": None}


def test_what_differs_says_how(tmp_path: Path) -> None:
    source = "import tensorflow as tf\na = tf.reduce_mean([1.0])\nb = tf.reduce_mean([2.0])\n"
    (tmp_path / "script.py").write_text(source)
    done = run("script.py", cwd=tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "script.py: 2 of 2 uses of TensorFlow's names are there (100 %)"
    assert lines[1].startswith("  2: tf.reduce_mean differs. Half precision is accumulated")
    assert lines[2] == "together: 1 files, 2 of 2 uses of TensorFlow's names are there (100 %)"


def test_it_agrees_with_the_examples_which_run() -> None:
    done = run("examples", cwd=ROOT)
    assert done.returncode == 0, done.stdout
    assert "(100 %)" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("symbol", ["tf.keras.layers.NoSuchLayer", "tf.contrib", "tf.nn.no_such"])
def test_what_is_missing_fails_when_it_runs(tmp_path: Path, symbol: str) -> None:
    (tmp_path / "script.py").write_text(f"import tensorflow as tf\n{symbol}\n")
    assert run("script.py", cwd=tmp_path).returncode == 1
    command = [sys.executable, "-m", "tapejax", "run", "script.py"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 1
    assert "script.py:2" in ran.stderr or "line 2" in ran.stderr


def test_without_keras_it_says_how_to_install_it(tmp_path: Path) -> None:
    source = "import tensorflow as tf\ntf.keras.layers.Dense(1)\ntf.keras.optimizers.Adam()\n"
    (tmp_path / "script.py").write_text(source)
    without = "import sys; sys.modules['keras'] = None; from tapejax.__main__ import main; "
    command = [sys.executable, "-c", without + "sys.exit(main(['check', 'script.py']))"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("script.py: 1 of 2")
    assert lines[1].startswith("  2: tf.keras.layers.Dense missing.")
    assert "pip install" in lines[1]


def test_a_wrong_path_is_a_wrong_command(tmp_path: Path) -> None:
    done = run("no_such.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "no_such.py" in done.stderr
