"""The short way for questions asked before: an edge from where one starts to where it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref as weak

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.program import Program
from tapejax._src.engine.recorder import LOCAL, Recorder
from tapejax._src.engine.recording import boundary
from tapejax._src.tape.differentiate import hand_out_entry
from tapejax._src.tape.sweep import Suspension

Key = tuple[Any, ...]


def shortcut_key(
    kind: str, recorder: Recorder, tape: int, target: Any, sources: Sequence[Any]
) -> Key | None:
    """The key of the direct edge of a question about one target.

    None outside the plain case: the target and the sources are tensors and variables of this
    program, nothing is assigned, there are no rules of the user to call.
    """
    if recorder.assigned or recorder.inline or recorder.callbacks:
        return None
    key: list[Any] = [kind, tape]
    for value in (target, *sources):
        tensor = value.tensor if type(value) is Variable else value
        number = tensor.index if tensor.recorder is recorder else recorder.number(tensor)
        if number is None:
            return None
        key.append(number)
    return tuple(key)


def follow_shortcut(recorder: Recorder, key: Key) -> list[Any] | None:
    """The answers, if the edge is there."""
    node = recorder.node.edges.get(key)
    if node is None:
        return None
    recorder.node = node
    handles: list[Any] = []
    for entry, avals in zip(node.result, node.payload, strict=True):
        if type(entry) is int:
            tensor = Tensor(avals, recorder, entry)
            recorder.results.append(weak(tensor))
            handles.append(tensor)
        else:
            handles.append(hand_out_entry(recorder, entry, avals))
    if node.depth > recorder.limit:
        boundary(recorder)
    return handles


def keep_shortcut(recorder: Recorder, start: Program, key: Key) -> None:
    """Make the edge from `start`, after the question was recorded the long way."""
    if LOCAL.recorder is not recorder:
        return
    last = node = recorder.node
    while node is not start:
        if isinstance(node.payload, Suspension) or node.parent is None:
            return
        node = node.parent
    if last is not node:
        start.edges[key] = last
