"""Replicas in eager code: threads of which one runs at a time, until all reach a meeting point."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Meeting(NamedTuple):
    """Where a replica waits for the others.

    Attributes:
        kind: What it waits for.
        payload: What it brings.
    """

    kind: str
    payload: Any


class _Ended(NamedTuple):
    value: Any


class _Failed(NamedTuple):
    error: BaseException


class _Abandoned(BaseException):
    """Ends a replica that waits for others, one of which has failed."""


class Turns:
    """Runs bodies in turns: the first to its first meeting point, then the second, and so on.

    Args:
        bodies: One function for each replica.
        resolve: From the kind of a meeting and what each replica brought to what each gets.
        enter: Called with the number of the replica in its thread, before it goes on.
        leave: The same before it waits, or when it has ended.
    """

    def __init__(
        self,
        bodies: Sequence[Callable[[], Any]],
        resolve: Callable[[str, list[Any]], Sequence[Any]],
        enter: Callable[[int], None],
        leave: Callable[[int], None],
    ) -> None:
        count = len(bodies)
        self._bodies = bodies
        self._resolve, self._enter, self._leave = resolve, enter, leave
        self._go = [threading.Semaphore(0) for _ in range(count)]
        self._back = threading.Semaphore(0)
        self._states: list[Meeting | _Ended | _Failed | None] = [None] * count
        self._answers: list[Any] = [None] * count
        self._is_abandoned = False
        self._threads: list[threading.Thread] = []

    def meet(self, place: int, kind: str, payload: Any) -> Any:
        """Wait, in the thread of a replica, until all others wait for the same."""
        self._leave(place)
        self._states[place] = Meeting(kind, payload)
        self._back.release()
        self._go[place].acquire()
        if self._is_abandoned:
            raise _Abandoned
        self._enter(place)
        return self._answers[place]

    def run(self) -> list[Any]:
        """Run all bodies.

        Returns:
            What they returned.

        Raises:
            RuntimeError: If they wait for different things.
        """
        places = range(len(self._bodies))
        self._threads = [
            threading.Thread(
                target=contextvars.copy_context().run, args=(self._live, n), daemon=True
            )
            for n in places
        ]
        try:
            for thread in self._threads:
                thread.start()
            while not self._round():
                self._answers = list(self._resolve(*self._gathered()))
            return [state.value for state in self._states if isinstance(state, _Ended)]
        finally:
            self._abandon()

    def _round(self) -> bool:
        """Let each replica run until it waits; whether all have ended instead."""
        for n, go in enumerate(self._go):
            go.release()
            self._back.acquire()
            state = self._states[n]
            if isinstance(state, _Failed):
                raise state.error
        return all(isinstance(state, _Ended) for state in self._states)

    def _gathered(self) -> tuple[str, list[Any]]:
        """What the replicas wait for, which must be one thing, and what each brought."""
        kinds = [s.kind if isinstance(s, Meeting) else "its end" for s in self._states]
        if len(set(kinds)) > 1:
            reached = ", ".join(f"replica {n}: {kind}" for n, kind in enumerate(kinds))
            raise RuntimeError(
                f"The replicas reached different meeting points ({reached}). Every replica must "
                "make the same collective calls (all_reduce, merge_call, assigning a variable with "
                "an aggregation, apply_gradients) in the same order: no `if` that differs between "
                "replicas may stand around them."
            )
        return kinds[0], [s.payload for s in self._states if isinstance(s, Meeting)]

    def _live(self, place: int) -> None:
        self._go[place].acquire()
        try:
            if not self._is_abandoned:
                self._enter(place)
                value = self._bodies[place]()
                self._leave(place)
                self._states[place] = _Ended(value)
        except _Abandoned:
            pass
        except BaseException as error:  # noqa: BLE001  raised again where `run` was called
            self._states[place] = _Failed(error)
        self._back.release()

    def _abandon(self) -> None:
        """End the threads that wait."""
        self._is_abandoned = True
        for thread, go in zip(self._threads, self._go, strict=True):
            if thread.is_alive():
                go.release()
                thread.join()
