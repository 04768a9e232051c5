"""`tf.summary.trace_on` and what belongs to it; `tf.summary.graph`."""

from __future__ import annotations

import logging
import threading
from typing import Any, NoReturn

from tapejax._src.engine.registry import public
from tapejax._src.ops import profiler

_NO_GRAPH = (
    "tapejax has no TensorFlow graph to show: a function is compiled from a program of its own. "
    "`tf.profiler.experimental.Profile(logdir)` shows what runs, and "
    "`function.get_concrete_function(...)` prints its signature."
)


class _Trace:
    """The trace that is on.

    Attributes:
        kinds: (graph, profiler), or None if none is on.
    """

    def __init__(self) -> None:
        self.kinds: tuple[bool, bool] | None = None
        self.lock = threading.Lock()


_TRACE = _Trace()


@public("summary.trace_on")
def trace_on(
    graph: bool = True, profiler: bool = False, profiler_outdir: str | None = None
) -> None:
    """Begin to record what runs.

    Args:
        graph: Accepted; there are no TensorFlow graphs to record, which a warning says.
        profiler: Whether to make a profile.
        profiler_outdir: The folder for it.

    Raises:
        ValueError: If a profile is wanted and there is no folder for it.

    Example:
        >>> import tapejax as tf
        >>> tf.summary.trace_on(graph=False)
        >>> tf.summary.trace_off()
    """
    with _TRACE.lock:
        if _TRACE.kinds is not None:
            logging.getLogger("tensorflow").warning("Trace already enabled")
            return
        if profiler:
            _start(profiler_outdir)
        _TRACE.kinds = bool(graph), bool(profiler)


def _start(folder: str | None) -> None:
    if folder is None:
        raise ValueError(
            "Argument `profiler_outdir` is not specified. Write "
            "tf.summary.trace_on(profiler=True, profiler_outdir=logdir)."
        )
    profiler.start(folder)


@public("summary.trace_export")
def trace_export(name: str, step: Any = None, profiler_outdir: str | None = None) -> None:
    """End the recording that `trace_on` began, and write the profile if one was made.

    Args:
        name: Ignored: the profile has the name of its time.
        step: Ignored.
        profiler_outdir: Ignored; `trace_on` has it.

    Raises:
        ValueError: If nothing is being recorded.

    Example:
        >>> import tapejax as tf
        >>> tf.summary.trace_export("step")
        Traceback (most recent call last):
        ValueError: Must enable trace before export through tf.summary.trace_on.
    """
    with _TRACE.lock:
        if _TRACE.kinds is None:
            raise ValueError("Must enable trace before export through tf.summary.trace_on.")
        (graph, profiled), _TRACE.kinds = _TRACE.kinds, None
    if graph:
        logging.getLogger("tensorflow").warning("tf.summary.trace_export(%r): %s", name, _NO_GRAPH)
    if profiled:
        profiler.stop()


@public("summary.trace_off")
def trace_off() -> None:
    """End the recording that `trace_on` began, and throw it away.

    Example:
        >>> import tapejax as tf
        >>> tf.summary.trace_off()  # nothing is being recorded
    """
    with _TRACE.lock:
        kinds, _TRACE.kinds = _TRACE.kinds, None
    if kinds is not None and kinds[1]:
        profiler.stop(save=False)


@public("summary.graph")
def graph(graph_data: Any) -> NoReturn:
    """Refused: there are no TensorFlow graphs.

    Args:
        graph_data: Ignored.

    Raises:
        NotImplementedError: Always; use `tf.profiler` to see what runs.

    Example:
        >>> import tapejax as tf
        >>> tf.summary.graph(None)
        Traceback (most recent call last):
        NotImplementedError: tf.summary.graph: tapejax has no TensorFlow graph to show: ...
    """
    raise NotImplementedError(f"tf.summary.graph: {_NO_GRAPH}")
