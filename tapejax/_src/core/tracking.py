"""Who is told when an object gets an attribute: checkpoints whose values wait for a variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LISTENERS: list[Callable[[Any], None]] = []
"""Functions of an object that has just got something new; empty when nothing waits."""


def attached(owner: Any) -> None:
    """Tell the listeners that an object has got something new."""
    for listener in tuple(LISTENERS):
        listener(owner)
