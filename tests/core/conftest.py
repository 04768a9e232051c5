"""What a call gave: a value or an error, in a form that both libraries can be compared by."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest


def _outcome(call: Callable[[], Any]) -> tuple[str, str]:
    """Return ("value", repr) or (error class, first line of its text)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TensorFlow's casts warn where ours are silent
        try:
            value = call()
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            text = str(error).split("\n")[0]
            return type(error).__name__, re.sub(r"0x[0-9a-f]+", "0x", text)
    return "value", re.sub(r"<class '[\w.]*\.(\w+)'>", r"<class '\1'>", repr(value))


@pytest.fixture(scope="session")
def outcome() -> Callable[[Callable[[], Any]], tuple[str, str]]:
    """Return the function that runs a call and describes what it gave."""
    return _outcome
