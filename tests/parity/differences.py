"""Central finite differences of a real functional along a direction, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

STEP = 2e-4
TOLERANCE = 1e-6


def inner(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The real inner product of two lists of arrays; None counts as zeros."""
    pairs = zip(left, right, strict=True)
    return float(
        sum(np.sum(np.real(np.conj(a) * b)) for a, b in pairs if a is not None and b is not None)
    )


def scale(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The size of the terms of `inner`: what its rounding error is relative to."""
    pairs = zip(left, right, strict=True)
    terms = [np.sum(np.abs(a * b)) for a, b in pairs if a is not None and b is not None]
    return float(sum(terms)) + 1e-3


def along(
    function: Callable[[list[np.ndarray]], list[Any]],
    primals: Sequence[np.ndarray],
    tangents: Sequence[np.ndarray],
) -> list[Any]:
    """Fourth-order central difference of each output of `function` along the tangents.

    Where an output is not finite the slope is given as 0.
    """

    def at(step: float) -> list[Any]:
        moved = [np.asarray(p + step * t) for p, t in zip(primals, tangents, strict=True)]
        return function(moved)

    quadruples = zip(at(STEP), at(-STEP), at(2 * STEP), at(-2 * STEP), strict=True)
    return [None if values[0] is None else _slope(*values) for values in quadruples]


def _slope(plus: Any, minus: Any, far_plus: Any, far_minus: Any) -> Any:
    finite = np.isfinite(plus) & np.isfinite(minus) & np.isfinite(far_plus) & np.isfinite(far_minus)
    values = [np.where(finite, value, 0) for value in (plus, minus, far_plus, far_minus)]
    return (8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * STEP)


def finite_only(seeds: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """The seeds with zeros where an output is infinite or NaN and so has no derivative."""
    pairs = zip(seeds, outputs, strict=True)
    return [np.where(np.isfinite(output), seed, 0).astype(seed.dtype) for seed, output in pairs]
