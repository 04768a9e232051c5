"""Options, settings and fixtures shared by all tests."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import itertools
import os
import random
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Before TensorFlow or JAX starts: quiet, on the CPU, the same on every machine.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("KERAS_BACKEND", "jax")

HAS_TENSORFLOW = importlib.util.find_spec("tensorflow") is not None
NO_TENSORFLOW = "TensorFlow is not installed (there is no wheel for this Python)"

# A shared machine must not fail a property because it was slow for a moment.
settings.register_profile(
    "tapejax", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tapejax")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of this suite."""
    parser.addoption("--pure", action="store_true", help="test ops by their pure bodies only")
    parser.addoption(
        "--require-tensorflow",
        action="store_true",
        help="fail, instead of leaving tests out, where TensorFlow is not installed",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Stop at once if TensorFlow is required and missing."""
    if config.getoption("--require-tensorflow") and not HAS_TENSORFLOW:
        raise pytest.UsageError(f"--require-tensorflow was given, but {NO_TENSORFLOW}")
    if HAS_TENSORFLOW:  # before any tf.keras: where it is not loaded, tapejax stands in for it
        importlib.import_module("tensorflow")


def pytest_report_header() -> str:
    """Say whether the comparisons with TensorFlow run."""
    if HAS_TENSORFLOW:
        return f"tensorflow: {importlib.metadata.version('tensorflow_cpu')}"
    return f"tensorflow: files that import it are left out: {NO_TENSORFLOW}"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the files that import TensorFlow where it is not installed."""
    if HAS_TENSORFLOW or collection_path.suffix != ".py":
        return None
    tree = ast.parse(collection_path.read_text(encoding="utf-8"))
    names = {
        alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names
    }
    return "tensorflow" in names or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put all tests of one row of the op table together: they share results and programs."""
    first: dict[str, int] = {}
    places: list[int] = []
    for place, item in enumerate(items):
        callspec = getattr(item, "callspec", None)
        row = callspec.params.get("row") if callspec else None
        places.append(place if row is None else first.setdefault(row.id, place))
    items[:] = [item for _, item in sorted(zip(places, items, strict=True), key=lambda p: p[0])]


TESTS_BETWEEN_CLEARING = 1000
_done = itertools.count(1)


def pytest_runtest_logfinish() -> None:
    """Now and then drop all compiled programs: a process may only map so many pieces of memory."""
    if next(_done) % TESTS_BETWEEN_CLEARING == 0:
        importlib.import_module("tapejax._src.engine.flush").forget_programs()
        importlib.import_module("jax").clear_caches()


@pytest.fixture(autouse=True)
def _fixed_seeds() -> None:
    """Give each test the same random numbers whatever ran before it."""
    random.seed(0)
    np.random.seed(0)


@pytest.fixture(params=["tapejax", "tensorflow"])
def tf(request: pytest.FixtureRequest) -> ModuleType:
    """Both libraries in turn: a program that must do the same on each takes this as `tf`."""
    if request.param == "tensorflow" and not HAS_TENSORFLOW:
        pytest.skip(NO_TENSORFLOW)
    return importlib.import_module(request.param)
