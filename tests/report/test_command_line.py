"""`python -m tapejax`: programs run as `python` runs them, and the environment is described."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import jax
import pytest

from tapejax._src.report.command_line import main
from tapejax._src.report.environment import describe, environment

ROOT = Path(__file__).resolve().parents[2]


def python(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS` in a folder, with this checkout importable."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `python -m tapejax run ARGUMENTS` in a folder."""
    return python("-m", "tapejax", "run", *arguments, cwd=cwd)


def assert_same_run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Check that a program that needs no TensorFlow runs as under `python`; return the run."""
    ours, plain = run(*arguments, cwd=cwd), python(*arguments, cwd=cwd)
    assert (ours.stdout, ours.stderr, ours.returncode) == (
        plain.stdout,
        plain.stderr,
        plain.returncode,
    )
    return ours


SEEN = """
import sys
print(sys.argv, sys.path[0], __name__, __file__, __package__, __cached__, __doc__, __spec__ is None)
print(sorted(name for name in globals()), sys.modules["__main__"].__dict__ is globals())
"""


def test_a_script_sees_what_python_would_show_it(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "script.py").write_text(f'"""Words."""{SEEN}', encoding="utf-8")
    seen = assert_same_run("folder/script.py", "-m", "--help", "a b", cwd=tmp_path)
    assert "['folder/script.py', '-m', '--help', 'a b']" in seen.stdout


def test_a_module_sees_what_python_would_show_it(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("print('package', __name__)", encoding="utf-8")
    (package / "__main__.py").write_text(f"from . import part{SEEN}", encoding="utf-8")
    (package / "part.py").write_text("print(__name__)", encoding="utf-8")
    assert_same_run("-m", "package", "--flag", cwd=tmp_path)
    assert_same_run("-m", "package.part", cwd=tmp_path)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("import sys; sys.exit(7)", 7),
        ("raise SystemExit('a reason')", 1),
        ("try:\n    raise ValueError('inner')\nexcept ValueError:\n    1 / 0", 1),
        ("x = (", 1),
        ("raise KeyboardInterrupt", -2),
        ("import a_module_that_is_not_there", 1),
        ("import sys\nsys.excepthook = lambda *error: print('hook', error[1])\n1 / 0", 1),
        ("import atexit\natexit.register(print, 'at exit')\nprint('end')", 0),
    ],
    ids=["exit", "exit text", "chain", "syntax", "interrupt", "import", "hook", "atexit"],
)
def test_a_program_ends_as_under_python(tmp_path: Path, source: str, code: int) -> None:
    (tmp_path / "script.py").write_text(source, encoding="utf-8")
    assert assert_same_run("script.py", cwd=tmp_path).returncode == code


IMPORTS = """
import tensorflow
import tensorflow as tf
import tensorflow.keras.optimizers
from tensorflow import keras
from tensorflow.keras import optimizers
from tensorflow.keras.optimizers import Adam
import jax
import tapejax
assert tensorflow is tf is tapejax and tensorflow.math is tapejax.math
assert keras is tapejax.keras and optimizers is tapejax.keras.optimizers
assert not jax.config.values["jax_cpu_enable_async_dispatch"]
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x
print(float(tape.gradient(y, x)))
"""


def test_tensorflow_is_tapejax_inside_a_script(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(IMPORTS, encoding="utf-8")
    finished = run("script.py", cwd=tmp_path)
    assert (finished.stdout, finished.returncode) == ("6.0\n", 0), finished.stderr


MISSING = """\
import tensorflow as tf

def loss(x):
    return tf.reduce_men(x)

loss(1.0)
"""


def test_a_script_is_told_the_release_of_tensorflow(tmp_path: Path) -> None:
    source = """
        import tapejax._src.core.version as own
        import tensorflow as tf
        assert int(tf.__version__.split(".")[0]) >= 2
        assert tf.__version__ == tf.version.VERSION
        assert tf.version.GIT_VERSION == f"tapejax-{own.__version__}"
    """
    (tmp_path / "versions.py").write_text(textwrap.dedent(source))
    done = run("versions.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_missing_symbol_ends_the_script_at_its_own_line(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(MISSING, encoding="utf-8")
    finished = run("script.py", cwd=tmp_path)
    assert finished.returncode == 1
    frames = [line.split(",")[0] for line in finished.stderr.splitlines() if "File " in line]
    assert frames == [f'  File "{script}"'] * 2
    last = finished.stderr.splitlines()[-1]
    assert last.startswith(f"AttributeError: {script}:4: tapejax has no `tf.reduce_men`.")
    assert "The nearest name it has is `tf.reduce_m" in last


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "tapejax run: nothing to run was named"),
        (["-m"], "tapejax run: nothing to run was named"),
        (["--fast", "x.py"], "tapejax run: unknown option '--fast'"),
        (["no_such_file.py"], "tapejax run: there is no file 'no_such_file.py' in "),
        (["-m", "no_such_module"], "tapejax run: there is no module 'no_such_module' to run"),
        (["-m", "no_such.module"], "tapejax run: there is no module 'no_such.module' to run"),
        ([str(ROOT)], f"tapejax run: {str(ROOT)!r} is a directory"),
    ],
)
def test_a_wrong_run_command_says_what_is_wrong_and_exits_with_2(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tapejax._src.report.command_line.prepare_process", lambda: None)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(["run", *arguments]) == 2
    assert capsys.readouterr().err.startswith(message)


@pytest.mark.parametrize("arguments", [[], ["walk"], ["env", "--yaml"]])
def test_a_wrong_command_exits_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2
    assert capsys.readouterr().err.startswith("usage: tapejax")


def test_help_of_run_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--help"]) == 0
    assert "tapejax run -m MODULE [ARGS ...]" in capsys.readouterr().out


def test_env_as_json_names_versions_devices_and_settings(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAPEJAX_LOG_COMPILES", "0")
    assert main(["env", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["versions"]["jax"] == jax.__version__
    assert found["versions"]["numpy"] == importlib.metadata.version("numpy")
    assert found["devices"][0]["platform"] == jax.devices()[0].platform
    assert len(found["devices"]) == len(jax.devices())
    assert found["settings"]["jax"]["jax_enable_x64"] is False
    assert found["settings"]["tapejax"] == {
        "immediate": False,
        "log_compiles": False,
        "check_numerics": False,
    }
    assert found["settings"]["environment"]["TAPEJAX_LOG_COMPILES"] == "0"


def test_env_as_text_has_one_fact_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["env"]) == 0
    lines = capsys.readouterr().out.splitlines()
    headings = [line for line in lines if not line.startswith(" ")]
    assert headings == ["versions", "platform", "devices", "settings", "environment"]
    assert f"  jax      {jax.__version__}" in lines


def test_env_reports_a_backend_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise RuntimeError("no such platform")

    monkeypatch.setattr(jax, "devices", refuse)
    assert environment()["devices"] == [{"error": "no such platform"}]
    assert "  error no such platform" in describe(environment())
