"""`tapejax launch`: several workers of one program on this machine, watched and started again."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from tapejax._src.distribute.cluster import LOST

RESTART = "TAPEJAX_RESTART"
"""Environment variable: how many times all workers have been started again."""
_POLL = 0.05
_GRACE = 1.0


def _free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _started(count: int, command: Sequence[str], restart: int) -> list[subprocess.Popen[bytes]]:
    addresses = [f"127.0.0.1:{port}" for port in _free_ports(count)]
    workers: list[subprocess.Popen[bytes]] = []
    for index in range(count):
        task = {"type": "worker", "index": index}
        config = {"cluster": {"worker": addresses}, "task": task}
        environment = {**os.environ, "TF_CONFIG": json.dumps(config), RESTART: str(restart)}
        workers.append(subprocess.Popen([sys.executable, "-u", *command], env=environment))
    return workers


class Failure(NamedTuple):
    """How the first worker failed.

    Attributes:
        place: Which worker.
        code: Its exit code, negative for a signal.
    """

    place: int
    code: int

    @property
    def rank(self) -> int:
        """0 if it was killed, 1 if it ended by itself, 2 if it only followed another."""
        if self.code in (LOST, -signal.SIGABRT):
            return 2
        return 0 if self.code < 0 else 1


def _watched(workers: Sequence[subprocess.Popen[bytes]]) -> Failure | None:
    """What failed first; None when all have ended well.

    Others notice within moments that a worker is gone, and fail in their turn: what fails is looked
    at a little longer, until the cause is among it.
    """
    deadline: float | None = None
    while True:
        codes = [worker.poll() for worker in workers]
        failed = [Failure(n, code) for n, code in enumerate(codes) if code not in (None, 0)]
        if not failed and None not in codes:
            return None
        if failed and deadline is None:
            deadline = time.monotonic() + _GRACE
        first = min(failed, key=lambda failure: failure.rank, default=None)
        over = deadline is not None and time.monotonic() > deadline
        if first is not None and (first.rank < 2 or over):
            return first
        time.sleep(_POLL)


def _stop(workers: Sequence[subprocess.Popen[bytes]]) -> None:
    """End the workers that are left: one that waits for a worker that is gone may never end."""
    for worker in workers:
        if worker.poll() is None:
            worker.kill()
    for worker in workers:
        worker.wait()


def launch(count: int, command: Sequence[str], restarts: int) -> int:
    """Run a program as several workers, each with a `TF_CONFIG` of its own.

    When a worker fails, all are stopped. One that was killed, by the system or the machine, is a
    reason to start all again: the program goes on from its newest checkpoint. One that ended by
    itself, as by an exception, is not: it would fail again.

    Args:
        count: How many workers.
        command: The script and its arguments.
        restarts: How many times to start again at most.

    Returns:
        The exit code: 0, or that of the worker that failed.
    """
    for restart in range(restarts + 1):
        workers = _started(count, command, restart)
        try:
            failed = _watched(workers)
        finally:
            _stop(workers)
        if failed is None:
            return 0
        place, code = failed
        killed = code < 0
        how = f"was killed by {signal.Signals(-code).name}" if killed else f"ended with code {code}"
        again = failed.rank != 1 and restart < restarts
        then = "all workers start again" if again else "all workers were stopped"
        sys.stderr.write(f"tapejax launch: worker {place} {how}; {then}\n")
        sys.stderr.flush()
        if not again:
            return 128 - code if killed else code
    return 0
