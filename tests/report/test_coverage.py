"""`tapejax coverage`: the names are TensorFlow's, and every absent one has a reason."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from typing import Any

import pytest
from golden import regenerate_names

import tapejax as tf
from tapejax._src.report.absent import ABSENT
from tapejax._src.report.coverage import coverage, tensorflow_names


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tapejax", "coverage", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_names_are_those_of_the_installed_tensorflow() -> None:
    tensorflow = pytest.importorskip("tensorflow", reason="the names come from TensorFlow")
    assert regenerate_names.NAMES.read_text().splitlines() == regenerate_names.lines(tensorflow)


def test_every_absent_name_says_what_takes_its_place() -> None:
    without = [path for row in coverage() for path, reason in row.absent.items() if not reason]
    assert without == []


def test_no_reason_is_given_for_what_exists() -> None:
    absent = {path for row in coverage() for path in row.absent}
    unused = [p for p in ABSENT if not any(a == p or a.startswith(f"{p}.") for a in absent)]
    assert unused == []


def test_the_ordinary_namespaces_are_complete() -> None:
    whole = "audio bitwise compat debugging errors image io.gfile linalg lookup math nest nn"
    whole += " ragged random sets signal sparse strings summary experimental.numpy"
    for row in coverage(whole.split()):
        assert row.absent == {}, row.namespace
        assert row.names == len(tensorflow_names()[row.namespace])


def test_a_name_left_out_is_both_missing_and_not_implemented() -> None:
    for kind in (AttributeError, NotImplementedError):
        with pytest.raises(kind, match=r"jax\.export"):
            _ = tf.lite  # type: ignore[attr-defined]
    assert not hasattr(tf, "lite")
    with pytest.raises(AttributeError) as error:
        _ = tf.no_such_name  # type: ignore[attr-defined]
    assert not isinstance(error.value, NotImplementedError)
    with pytest.raises(ImportError, match=r"jax\.export"):
        exec("from tapejax import lite", {})


def test_the_command_prints_a_table() -> None:
    done = run("tf.math", "quantization", "--missing")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split()[:2] == ["namespace", "present"]
    names = len(tensorflow_names()["math"])
    assert lines[2].split() == ["math", str(names), str(names)]
    assert any("tf.quantization.quantized_concat: Use `tf.concat`." in line for line in lines)


def test_the_command_prints_json() -> None:
    found: dict[str, Any] = json.loads(run("--json").stdout)
    assert found["tensorflow"] == "2.21.0"
    assert set(found["namespaces"]) == set(tensorflow_names())
    for namespace, row in found["namespaces"].items():
        assert row["present"] + len(row["absent"]) == row["names"], namespace


def test_an_unknown_namespace_is_a_wrong_command() -> None:
    done = run("no_such")
    assert done.returncode == 2
    assert "no namespace 'no_such'" in done.stderr


def test_the_data_is_part_of_the_package() -> None:
    package = importlib.import_module("tapejax._src.report")
    assert (regenerate_names.NAMES.parent / "__init__.py").samefile(package.__file__ or "")
