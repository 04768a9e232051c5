"""Comparisons and logic at the values where they are easily wrong."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow
from ops.pure import body, value

from tapejax._src.ops import comparison

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    "name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
)
def test_comparisons_of_nan_infinity_and_signed_zero(name) -> None:
    """All pairs."""
    points = np.array([NAN, INF, -INF, 0.0, -0.0, 1.0])
    x, y = points[:, None], points
    ours, theirs = body(getattr(comparison, name)), getattr(tensorflow, name)
    np.testing.assert_array_equal(value(ours, x, y), theirs(x, y).numpy())


def test_complex_numbers_are_compared_for_equality() -> None:
    """Both parts count."""
    x, y = [1 + 2j, 1 + 2j], [1 + 2j, 1 - 2j]
    assert value(body(comparison.equal), x, y, dtype=complex).tolist() == [True, False]
    assert value(body(comparison.not_equal), x, y, dtype=complex).tolist() == [False, True]


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("logical_and", [False, False, False, True]),
        ("logical_or", [False, True, True, True]),
        ("logical_xor", [False, True, True, False]),
    ],
)
def test_truth_tables(name, table) -> None:
    """Also broadcast."""
    x, y = [[False], [True]], [False, True]
    fn = body(getattr(comparison, name))
    assert value(fn, x, y, dtype=bool).ravel().tolist() == table
    assert value(body(comparison.logical_not), y, dtype=bool).tolist() == [True, False]
