"""Failures of indices that are out of range: what fails, and the text that says where.

Both halves go into a `ValueCheck`. A text gets numbers only, perhaps as floats and with zeros
behind them, so the lengths of the lists that it prints travel with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from tapejax._src.engine.registry import Array
from tapejax._src.ops.shape_checks import brackets

_MOST_DETAILS = 7
_LONG = -1


def _first_place(bad: Array) -> list[Array]:
    """The coordinates of the first True element."""
    if not bad.ndim:
        return []
    return list(jnp.unravel_index(jnp.argmax(jnp.reshape(bad, (-1,))), bad.shape))


def element_failure(indices: Array, limit: int) -> tuple[Any, ...]:
    """Whether an index is outside `[0, limit)`: (failed, rank, limit, index, place...)."""
    if not indices.size:
        return False, 0, 0, 0
    bad = (indices < 0) | (indices.astype(jnp.int64) >= limit)
    place = _first_place(bad)
    value = indices[tuple(place)] if place else indices
    shown = place if len(place) <= _MOST_DETAILS - 3 else []
    return jnp.any(bad), len(shown), limit, value, *shown


def element_text(rank: float, limit: float, value: float, *place: float) -> str:
    """The text of `element_failure`."""
    where = _place(place[: int(rank)])
    return f"indices{where} = {int(value)} is not in [0, {int(limit)})"


def _place(numbers: Sequence[float]) -> str:
    return brackets(map(int, numbers)) if numbers else ""


def row_failure(indices: Array, limits: tuple[int, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Whether a row of indices does not lie inside `limits`; `shape` is printed."""
    if not indices.size or not limits:
        return False, _LONG
    sizes = jnp.asarray(limits, jnp.int64)
    bad = jnp.any((indices < 0) | (indices.astype(jnp.int64) >= sizes), -1)
    place = _first_place(bad)
    row = indices[tuple(place)] if place else indices
    values = [row[d] for d in range(len(limits))]
    code = len(place) * 100 + len(values) * 10 + len(shape)
    details = [code, *place, *values, *shape]
    if len(details) > _MOST_DETAILS:
        return jnp.any(bad), _LONG
    return jnp.any(bad), *details


def row_text(what: str, code: float, *details: float) -> str:
    """The text of `row_failure`."""
    if code == _LONG:
        return f"a row of `indices` does not index into the {what}"
    rank, depth, count = int(code) // 100, int(code) // 10 % 10, int(code) % 10
    numbers = [int(detail) for detail in details]
    place, row = numbers[:rank], numbers[rank : rank + depth]
    shape = numbers[rank + depth : rank + depth + count]
    return f"indices{_place(place)} = {row} does not index into {what} {brackets(shape)}"
