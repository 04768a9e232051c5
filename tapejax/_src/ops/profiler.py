"""`tf.profiler.experimental`: JAX's profiler under TensorFlow's names; TensorBoard shows both.

References:
    https://docs.jax.dev/en/latest/profiling.html
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import jax

from tapejax._src.core.errors import AlreadyExistsError, UnavailableError
from tapejax._src.engine.registry import public
from tapejax._src.ops.paths import path_text


@public("profiler.experimental.ProfilerOptions")
class ProfilerOptions(NamedTuple):
    """What a profile records.

    Attributes:
        host_tracer_level: 0 (nothing of the host) to 3 (everything).
        python_tracer_level: 1 to record calls of Python functions, else 0.
        device_tracer_level: Ignored: the device is always recorded.
        delay_ms: Must be None: all processes start at once.

    Example:
        >>> import tapejax as tf
        >>> tf.profiler.experimental.ProfilerOptions().host_tracer_level
        2
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _Running(NamedTuple):
    """A profile that is being made: in a folder of its own, for it may be thrown away."""

    folder: str
    goal: str


_LOCK = threading.Lock()
_RUNNING: list[_Running] = []


@public("profiler.experimental.start")
def start(logdir: Any, options: Any = None) -> None:
    """Begin a profile of everything that runs from here on.

    Args:
        logdir: The folder for it, which TensorBoard reads.
        options: `ProfilerOptions`, or a dict of its fields.

    Raises:
        AlreadyExistsError: If a profile is being made.
        ValueError: If `options` has a delay.

    Example:
        >>> import os, tempfile
        >>> import tapejax as tf
        >>> folder = tempfile.TemporaryDirectory()
        >>> tf.profiler.experimental.start(folder.name)
        >>> with tf.profiler.experimental.Trace("step", step_num=0, _r=1):
        ...     total = float(tf.reduce_sum(tf.ones([8])))
        >>> tf.profiler.experimental.stop()
        >>> os.listdir(os.path.join(folder.name, "plugins"))
        ['profile']
        >>> folder.cleanup()
    """
    goal = path_text(logdir)
    wanted = ProfilerOptions(**options) if isinstance(options, Mapping) else options
    settings = _settings(wanted or ProfilerOptions())
    with _LOCK:
        if _RUNNING:
            raise AlreadyExistsError(
                "Another profiler is running. Call tf.profiler.experimental.stop() first."
            )
        folder = tempfile.mkdtemp(prefix="tapejax_profile_")
        try:
            jax.profiler.start_trace(folder, profiler_options=settings)
        except RuntimeError as error:  # JAX's own start_trace was called
            shutil.rmtree(folder, ignore_errors=True)
            raise AlreadyExistsError(f"Another profiler is running. {error}") from None
        _RUNNING.append(_Running(folder, goal))


def _settings(options: ProfilerOptions) -> Any:
    if options.delay_ms is not None:
        raise ValueError("ProfilerOptions.delay_ms is not supported: leave it out.")
    made = jax.profiler.ProfileOptions()
    made.host_tracer_level = int(options.host_tracer_level)
    made.python_tracer_level = int(options.python_tracer_level)
    return made


@public("profiler.experimental.stop")
def stop(save: bool = True) -> None:
    """End the profile.

    Args:
        save: Whether to write it to the folder; else it is thrown away.

    Raises:
        UnavailableError: If no profile is being made.

    Example:
        >>> import tapejax as tf
        >>> tf.profiler.experimental.stop()
        Traceback (most recent call last):
        tapejax...UnavailableError: Cannot export profiling results. No profiler is running. ...
    """
    with _LOCK:
        if not _RUNNING:
            raise UnavailableError(
                "Cannot export profiling results. No profiler is running. Call "
                "tf.profiler.experimental.start(logdir) first."
            )
        running = _RUNNING.pop()
        try:
            jax.profiler.stop_trace()
            if save:
                os.makedirs(running.goal, exist_ok=True)
                shutil.copytree(running.folder, running.goal, dirs_exist_ok=True)
        finally:
            shutil.rmtree(running.folder, ignore_errors=True)


@public("profiler.experimental.Profile")
class Profile:
    """A `with` block that is profiled.

    Args:
        logdir: The folder for the profile.
        options: As of `start`.

    Example:
        >>> import tempfile
        >>> import tapejax as tf
        >>> folder = tempfile.TemporaryDirectory()
        >>> with tf.profiler.experimental.Profile(folder.name):
        ...     total = float(tf.reduce_sum(tf.ones([8])))
        >>> folder.cleanup()
    """

    def __init__(self, logdir: Any, options: Any = None) -> None:
        self._logdir, self._options = logdir, options

    def __enter__(self) -> None:
        start(self._logdir, self._options)

    def __exit__(self, typ: Any, value: Any, tb: Any) -> None:
        stop()


@public("profiler.experimental.Trace")
class Trace:
    """A `with` block that has a name in the profile.

    Args:
        name: The name.
        **kwargs: What the profile shows with it; `step_num=n, _r=1` marks a step of training.

    Example:
        >>> import tapejax as tf
        >>> with tf.profiler.experimental.Trace("train", step_num=3, _r=1):
        ...     total = float(tf.reduce_sum(tf.ones([8])))
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._inner = jax.profiler.TraceAnnotation(name, **kwargs)

    def __enter__(self) -> Trace:
        self._inner.__enter__()
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """Show more with the block."""
        self._inner.set_metadata(**kwargs)

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        self._inner.__exit__(exc_type, exc_val, exc_tb)


@public("profiler.experimental.server.start")
def start_server(port: int) -> None:
    """Let a profile of this process be asked for over the network, by TensorBoard's dialog.

    Args:
        port: The port to listen on.
    """
    jax.profiler.start_server(port)


def _not_a_client(name: str) -> NoReturn:
    raise NotImplementedError(
        f"tf.profiler.experimental.client.{name} is not supported: profile from inside the process "
        "with tf.profiler.experimental.Profile(logdir), or call server.start(port) there and "
        "capture with TensorBoard."
    )


@public("profiler.experimental.client.trace")
def trace(
    service_addr: str,
    logdir: str,
    duration_ms: int,
    worker_list: str = "",
    num_tracing_attempts: int = 3,
    options: Any = None,
) -> NoReturn:
    """Refused: a profile is made from inside a process, or by TensorBoard.

    Args:
        service_addr: Ignored.
        logdir: Ignored.
        duration_ms: Ignored.
        worker_list: Ignored.
        num_tracing_attempts: Ignored.
        options: Ignored.

    Raises:
        NotImplementedError: Always.
    """
    _not_a_client("trace")


@public("profiler.experimental.client.monitor")
def monitor(service_addr: str, duration_ms: int, level: int = 1) -> NoReturn:
    """Refused: a profile is made from inside a process, or by TensorBoard.

    Args:
        service_addr: Ignored.
        duration_ms: Ignored.
        level: Ignored.

    Raises:
        NotImplementedError: Always.
    """
    _not_a_client("monitor")
