"""The short way for questions asked before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapejax._src.core.variable import Variable
from tapejax._src.engine.recorder import LOCAL, Recorder
from tapejax._src.engine.recording import boundary
from tapejax._src.tape.differentiate import hand_out_entry
from tapejax._src.tape.sweep import Suspension


class Shortcut:
    """The direct edge of a question asked before: from where it starts to where it ends.

    It is there for the plain case: one target, tensors and variables of this program as sources,
    nothing assigned, no rules of the user to call.
    """

    __slots__ = ("_key", "_recorder", "_start")

    def __init__(
        self, kind: str, recorder: Recorder, tape: int, target: Any, sources: Sequence[Any]
    ) -> None:
        self._recorder = recorder
        self._start = recorder.node
        self._key: Any = None
        if recorder.assigned or recorder.inline or recorder.callbacks:
            return
        key: list[Any] = [kind, tape]
        for value in (target, *sources):
            tensor = value.tensor if type(value) is Variable else value
            if tensor.recorder is recorder:
                key.append(tensor.index)
                continue
            leaf = getattr(tensor, "leaf", None)
            if leaf is None or leaf[0] is not recorder:
                return
            key.append(leaf[1])
        self._key = tuple(key)

    def follow(self) -> list[Any] | None:
        """The answers, if the edge is there."""
        node = None if self._key is None else self._start.edges.get(self._key)
        if node is None:
            return None
        recorder = self._recorder
        recorder.node = node
        handles = [
            hand_out_entry(recorder, entry, avals)
            for entry, avals in zip(node.result, node.payload, strict=True)
        ]
        if node.depth > recorder.limit:
            boundary(recorder)
        return handles

    def keep(self) -> None:
        """Make the edge, after the question was recorded the long way."""
        if self._key is None or LOCAL.recorder is not self._recorder:
            return
        last = node = self._recorder.node
        while node is not self._start:
            if isinstance(node.payload, Suspension) or node.parent is None:
                return
            node = node.parent
        if last is not node:
            self._start.edges[self._key] = last
