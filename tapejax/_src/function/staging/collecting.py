"""Loops over tensors that stack what each iteration gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapejax._src.core import nest
from tapejax._src.core.avals import make_aval
from tapejax._src.core.tensor import Tensor
from tapejax._src.function.staging.loop_state import State, record_body
from tapejax._src.function.staging.loops import Loop, Repetition, run_scan
from tapejax._src.function.staging.values import Output


def collect(
    elems: Any,
    tensors: Sequence[Tensor],
    body: Callable[[Any], None],
    state: State,
    results: list[Any],
) -> Any:
    """Run `body` for each element; what it appends to `results` (once) is returned stacked.

    Args:
        elems: The structure of an element.
        tensors: Its tensors, `[n, ...]`.
        body: Called with an element.
        state: What it changes.
        results: The list it appends to.
    """

    def write(values: Sequence[Any]) -> None:
        state.set(values[:-1])
        results[:] = values[-1]

    whole = State((*state.names, "results"), lambda: (*state.get(), list(results)), write)
    keys = [make_aval(t.aval.shape[1:], t.aval.dtype) for t in tensors]
    count = tensors[0].aval.shape[0]

    def with_element(*items: Tensor) -> None:
        body(nest.pack_sequence_as(elems, list(items)))

    recorded = record_body(whole, with_element, keys, "for", count, grows=True)
    repetition = Repetition(None, list(tensors), count, lambda i: [], ())
    (growth,) = recorded.growths
    (parts,) = growth.elements
    collected = [leaf.place for leaf in parts.leaves if isinstance(leaf, Output)]
    outputs = run_scan(Loop(recorded, repetition), count, collected)
    state.set(recorded.after(outputs)[:-1])
    columns = iter(outputs[len(recorded.carried) :])
    return parts.rebuilt([next(columns) if isinstance(x, Output) else x for x in parts.leaves])
