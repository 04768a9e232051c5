"""Rows of different lengths as ops on strings make and take them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def is_ragged(value: Any) -> bool:
    """Whether a value is a ragged tensor."""
    return hasattr(value, "with_flat_values")


def over_flat_values(value: Any, fn: Callable[[Any], Any]) -> Any:
    """Apply a function of a tensor to the elements of a tensor or ragged tensor."""
    return value.with_flat_values(fn(value.flat_values)) if is_ragged(value) else fn(value)


def ragged_of_rows(values: Any, nested_splits: Sequence[Any]) -> Any:
    """The ragged tensor of flat values and the limits of its rows, the outermost first."""
    raise NotImplementedError((values, [np.asarray(s).tolist() for s in nested_splits]))
