"""The two libraries that every program of this folder runs on."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest


@pytest.fixture(params=["tensorflow", "tapejax"])
def tf(request: pytest.FixtureRequest) -> ModuleType:
    """TensorFlow, which validates the test, and tapejax, which the test is for."""
    return importlib.import_module(request.param)
