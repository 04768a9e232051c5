"""Assertions that name the row, the argument and the worst element."""

from __future__ import annotations

from typing import Any

import numpy as np

from parity.rows import Row


def container(structure: Any) -> Any:
    """The containers of a structure without its leaves."""
    fields = getattr(structure, "_fields", None)
    if isinstance(structure, tuple) and fields is not None:
        return (type(structure).__name__, fields, [container(item) for item in structure])
    if isinstance(structure, (list, tuple)):
        return (type(structure).__name__, [container(item) for item in structure])
    return "leaf"


def assert_same_array(row: Row, what: str, actual: Any, expected: Any, slack: float = 1) -> None:
    """Equal dtype and shape, and equal values within the row's tolerance for the dtype."""
    assert actual.dtype == expected.dtype, f"{what}: dtype {actual.dtype}, not {expected.dtype}"
    assert actual.shape == expected.shape, f"{what}: shape {actual.shape}, not {expected.shape}"
    tolerance = slack * row.tolerance(expected.dtype)
    error = distance(actual, expected)
    assert error <= tolerance, (
        f"{what}: relative error {error:.3g} > {tolerance:.3g}\nactual   {actual!r}\n"
        f"expected {expected!r}"
    )


def distance(actual: Any, expected: Any) -> float:
    """Largest error, relative to each element or to the typical element, whichever is larger.

    NaNs and infinities must be in the same places; integers and booleans must be equal.
    """
    if not expected.size:
        return 0.0
    if expected.dtype.kind not in "fcV":
        return 0.0 if np.array_equal(actual, expected) else np.inf
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    actual, expected = actual.astype(wide), expected.astype(wide)
    finite = np.isfinite(expected)
    if not np.array_equal(actual[~finite], expected[~finite], equal_nan=True):
        return np.inf
    if not np.isfinite(actual[finite]).all():
        return np.inf
    actual, expected = actual[finite], expected[finite]
    if not expected.size:
        return 0.0
    size = np.abs(expected)
    floor = max(float(np.median(size)), 1e-3 * float(size.max()), 1e-3)
    return float(np.max(np.abs(actual - expected) / np.maximum(size, floor)))
