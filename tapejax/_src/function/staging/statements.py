"""`if`, `while` and `for` whose course depends on tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapejax._src.core.avals import Aval, make_aval
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.block import Block, record_block
from tapejax._src.engine.convert import as_tensor
from tapejax._src.function.staging.array_room import common_room
from tapejax._src.function.staging.branches import (
    Branch,
    Wording,
    record_branch,
    stage_branches,
)
from tapejax._src.function.staging.iteration import Source
from tapejax._src.function.staging.loop_options import loop_options
from tapejax._src.function.staging.loop_state import Growth, LoopBody, State, record_body
from tapejax._src.function.staging.loops import Loop, Repetition, run_scan, run_while
from tapejax._src.function.staging.values import Output, Snapshot, Undefined, copied
from tapejax._src.ops.casting import cast
from tapejax._src.ops.joining import unstack
from tapejax._src.ops.shaping import reshape


def predicate(condition: Any, construct: str) -> Tensor:
    """A staged condition as a bool scalar.

    Raises:
        ValueError: If it has more than one element.
    """
    tensor = as_tensor(condition)
    if tensor.aval.shape and tensor.shape.num_elements() != 1:
        raise ValueError(
            f"The condition of `{construct}` is a tensor of shape {list(tensor.aval.shape)} and "
            f"dtype {tensor.dtype.name}; it must have one element. Use tf.reduce_all or "
            "tf.reduce_any."
        )
    if tensor.aval.shape:
        tensor = reshape(tensor, ())
    return tensor if tensor.dtype.is_bool else cast(tensor, "bool")


def staged_if(
    condition: Tensor,
    body: Callable[[], None],
    orelse: Callable[[], None],
    state: State,
    dead: Sequence[str],
    wording: Wording,
) -> None:
    """Record both sides; the names in `dead` have no value afterwards."""
    before = Snapshot(state.get())
    start = list(before.values)
    kept = [n for n, name in enumerate(state.names) if name not in dead]

    def branch(run: Callable[[], None]) -> Branch:
        def values() -> list[Any]:
            state.set([copied(value) for value in start])
            run()
            after = state.get()
            return [after[n] for n in kept]

        try:
            return record_branch(values)
        finally:
            before.reinstate(state.set)

    branches = [branch(body), branch(orelse)]
    after = [[parts.like for parts in b.values] for b in branches if b.values is not None]
    room = common_room([start[n] for n in kept], after)
    if room:  # record again, from arrays of one form
        for place, array in room.items():
            start[kept[place]] = array
        branches = [branch(body), branch(orelse)]
    names = [state.names[n] for n in kept]
    values = stage_branches(condition, branches, names, wording)
    merged: list[Any] = [Undefined(name) for name in state.names]
    for n, value in zip(kept, values, strict=True):
        merged[n] = value
    state.set(merged)


def staged_while(
    test: Callable[[], Any],
    body: Callable[[], None],
    state: State,
    maximum_iterations: int | Tensor | None = None,
) -> None:
    """Record a `while` loop."""
    with loop_options() as options:
        bound = maximum_iterations if isinstance(maximum_iterations, int) else None
        recorded = record_body(state, body, (), "while", bound)
    condition = _condition(test, recorded, state, "while")
    limit = maximum_iterations if options.maximum is None else options.maximum
    repetition = Repetition(condition, (), limit, lambda i: [], ())
    results = run_while(Loop(recorded, repetition))
    state.set(recorded.after(results))


def staged_for(
    source: Source,
    keep_going: Callable[[], Any] | None,
    body: Callable[[Any], None],
    state: State,
) -> None:
    """Record a `for` loop: a scan when its length is known and nothing ends it early."""
    keys = [*source.keys, *[_element(tensor) for tensor in source.scanned]]
    made = len(source.keys)

    def with_item(*items: Tensor) -> None:
        body(source.pack(items[:made], items[made:]))

    scans = keep_going is None and isinstance(source.length, int)
    with loop_options() as options:
        count = source.length
        bound = count if isinstance(count, int) else None
        recorded = record_body(state, with_item, keys, "for", bound, scans)
    if options.maximum is not None and isinstance(count, int) and isinstance(options.maximum, int):
        count = min(count, options.maximum)
    condition = None if keep_going is None else _condition(keep_going, recorded, state, "for")
    repetition = Repetition(condition, source.scanned, count, source.item, source.bounds)
    loop = Loop(recorded, repetition)
    if not scans:
        state.set(recorded.after(run_while(loop)))
        return
    assert isinstance(count, int)
    collected = _collected(recorded.growths)
    results = run_scan(loop, count, collected)
    values = recorded.after(results)
    state.set(_grown(values, recorded, results[len(recorded.carried) :], count))


def _element(tensor: Tensor) -> Aval:
    """How one element of a tensor enters the body."""
    return make_aval(tensor.aval.shape[1:], tensor.aval.dtype)


def _condition(
    test: Callable[[], Any], body: LoopBody, state: State, construct: str
) -> Block | None:
    """The block that says whether the loop goes on."""
    before = Snapshot(state.get())

    def recorded(*carry: Tensor) -> list[Tensor]:
        state.set([copied(value) for value in body.after(carry)])
        return [predicate(test(), construct)]

    try:
        return record_block(recorded, [c.initial.aval for c in body.carried], loop=True)
    finally:
        before.reinstate(state.set)


def _collected(growths: Sequence[Growth]) -> list[int]:
    """The outputs of the body that are appended to lists."""
    return [
        leaf.place
        for growth in growths
        for parts in growth.elements
        for leaf in parts.leaves
        if isinstance(leaf, Output)
    ]


def _grown(values: list[Any], body: LoopBody, stacked: Sequence[Tensor], count: int) -> list[Any]:
    """The state with what every iteration appended to its lists."""
    rows = iter([unstack(tensor, num=count) if count else [] for tensor in stacked])
    for growth in body.growths:
        columns = [
            [next(rows) if isinstance(leaf, Output) else leaf for leaf in parts.leaves]
            for parts in growth.elements
        ]
        for i in range(count):
            for parts, column in zip(growth.elements, columns, strict=True):
                leaves = [
                    taken[i] if isinstance(leaf, Output) else leaf
                    for leaf, taken in zip(parts.leaves, column, strict=True)
                ]
                values[growth.place].append(parts.rebuilt(leaves))
    return values
