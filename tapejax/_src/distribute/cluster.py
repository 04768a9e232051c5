"""What the environment says about the cluster: `TF_CONFIG`, and joining it."""

from __future__ import annotations

import json
import os
import sys
from types import TracebackType
from typing import Any, NamedTuple

import jax

LOST = 75
"""The exit code of a worker that another one has left."""
_SIGNS_OF_LOSS = ("Gloo", "coordination service", "CoordinationService")


class Worker(NamedTuple):
    """This process among the workers of a cluster.

    Attributes:
        addresses: `host:port` of each worker, the chief first.
        place: Which of them this is.
    """

    addresses: tuple[str, ...]
    place: int


def this_worker(cluster_resolver: Any = None) -> Worker:
    """This process, as the resolver or `TF_CONFIG` describes it; alone without either.

    Raises:
        ValueError: If the description does not fit.
    """
    cluster, kind, index = _described(cluster_resolver)
    chiefs = [*cluster.get("chief", ()), *cluster.get("master", ())]
    addresses = (*chiefs, *cluster.get("worker", ()))
    if cluster.get("ps"):
        raise ValueError(
            "The cluster has parameter servers, and MultiWorkerMirroredStrategy has none: name "
            "every machine as a worker."
        )
    if not addresses:
        return Worker(("localhost",), 0)
    if kind not in ("chief", "master", "worker"):
        raise ValueError(
            f"A task of type {kind!r} takes no part in training: run it as a program of its own, "
            "without TF_CONFIG."
        )
    place = index + (len(chiefs) if kind == "worker" else 0)
    if not 0 <= place < len(addresses):
        raise ValueError(f"There is no task {kind} {index} in the cluster {cluster}.")
    return Worker(addresses, place)


def _described(cluster_resolver: Any) -> tuple[dict[str, Any], str, int]:
    """The cluster, and the type and index of this task."""
    if cluster_resolver is not None and hasattr(cluster_resolver, "cluster_spec"):
        spec: Any = cluster_resolver.cluster_spec()
        cluster = dict(spec.as_dict() if hasattr(spec, "as_dict") else spec or {})
        return cluster, cluster_resolver.task_type, int(cluster_resolver.task_id or 0)
    text = os.environ.get("TF_CONFIG") or "{}"
    try:
        config: Any = json.loads(text)
    except ValueError as error:
        raise ValueError(f"TF_CONFIG is no JSON: {text!r}") from error
    task = config.get("task", {})
    return config.get("cluster", {}), task.get("type", "worker"), int(task.get("index", 0))


def join(worker: Worker) -> None:
    """Connect to the other workers; to be done before anything is computed.

    Raises:
        RuntimeError: If JAX has started its devices already.
    """
    if len(worker.addresses) < 2 or jax.distributed.is_initialized():
        return
    try:
        jax.distributed.initialize(
            worker.addresses[0],
            len(worker.addresses),
            worker.place,
            heartbeat_timeout_seconds=30,
            shutdown_timeout_seconds=20,
        )
    except RuntimeError as error:
        raise RuntimeError(
            "MultiWorkerMirroredStrategy must be made at the start of the program: devices of "
            f"other processes cannot be joined once something has been computed ({error})"
        ) from error
    _end_at_errors()


def _end_at_errors() -> None:
    """Let this process end at once when an exception ends the program.

    At a regular end JAX waits for the other workers, which wait for this one.
    """
    report = sys.excepthook

    def end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        report(kind, error, trace)
        sys.stdout.flush()
        sys.stderr.flush()
        lost = any(text in str(error) for text in _SIGNS_OF_LOSS)
        os._exit(LOST if lost else 1)

    sys.excepthook = end
