"""`tf.summary`'s writers: where values go, for which step, and under which condition."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Generator
from typing import Any

import jax
import numpy as np

from tapejax._src.core import naming
from tapejax._src.core.dtypes import bool_, int64
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.effects import call_host, is_host
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import as_texts, coded_form, is_text, known_texts
from tapejax._src.ops.casting import cast
from tapejax._src.ops.event_files import EventFile, raw_event, summary_event
from tapejax._src.ops.paths import path_text

_NO_STEP = (
    "No step set. Please specify one either through the `step` argument or through "
    "tf.summary.experimental.set_step()"
)


class _State(threading.local):
    """What is in force in this thread."""

    def __init__(self) -> None:
        self.writer: _FileWriter | None = None
        self.step: Any = None
        self.condition: Any = True


_STATE = _State()


@public("summary.SummaryWriter")
class SummaryWriter:
    """What `tf.summary.create_file_writer` and `create_noop_writer` return."""

    def set_as_default(self, step: Any = None) -> None:
        """Let summaries of this thread go to this writer from here on.

        Args:
            step: The default step from here on, if given.
        """
        raise NotImplementedError

    def as_default(self, step: Any = None) -> Any:
        """A `with` block in which summaries go to this writer; its end flushes.

        Args:
            step: The default step in the block, if given.
        """
        raise NotImplementedError

    def init(self) -> None:
        """Does nothing: a writer is ready once it is made."""
        raise NotImplementedError

    def flush(self) -> None:
        """Write what waits to the disk."""
        raise NotImplementedError

    def close(self) -> None:
        """Flush, and let go of the file."""
        raise NotImplementedError


class _NoopWriter(SummaryWriter):
    """A writer that is never the default one."""

    def set_as_default(self, step: Any = None) -> None:
        del step

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Generator[SummaryWriter]:
        del step
        yield self

    def init(self) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


class _FileWriter(SummaryWriter):
    def __init__(self, file: EventFile) -> None:
        self.file = file

    def _check_open(self) -> None:
        if not self.file.close.alive:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    def set_as_default(self, step: Any = None) -> None:
        self._check_open()
        _STATE.writer = self
        if step is not None:
            _STATE.step = step

    def as_default(self, step: Any = None) -> Any:
        self._check_open()
        return self._as_default(step)

    @contextlib.contextmanager
    def _as_default(self, step: Any) -> Generator[SummaryWriter]:
        outer = _STATE.writer, _STATE.step
        _STATE.writer = self
        if step is not None:
            _STATE.step = step
        try:
            yield self
            self.flush()
        finally:
            _STATE.writer = outer[0]
            if step is not None:
                _STATE.step = outer[1]

    def init(self) -> None:
        self._check_open()

    def flush(self) -> None:
        if LOCAL.recorder.symbolic is None:
            self.file.flush()
            return
        file = self.file

        def flush() -> list[Any]:
            file.flush()
            return []

        call_host("FlushSummaryWriter", flush, [], fallible=False)

    def close(self) -> None:
        self.file.close()


@public("summary.create_file_writer")
def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer of event files, which TensorBoard shows.

    Args:
        logdir: The folder of the file; it is made if need be.
        max_queue: How many summaries wait at most before they are written. Default: 10.
        flush_millis: Milliseconds after which what waits is written. Default: 120,000.
        filename_suffix: The end of the file's name. Default: `'.v2'`.
        name: Ignored.
        experimental_trackable: Ignored.
        experimental_mesh: Must be None.

    Returns:
        The writer: `as_default(step=None)`, `set_as_default`, `flush`, `close`. What was written
        also reaches the file when the writer is dropped or the program ends.

    Raises:
        ValueError: If `logdir` is None, or a mesh is given.
        TypeError: If `logdir` is no path.
        FailedPreconditionError: If the folder cannot be made.

    Example:
        >>> import os, tempfile
        >>> import tapejax as tf
        >>> folder = tempfile.TemporaryDirectory()
        >>> writer = tf.summary.create_file_writer(folder.name)
        >>> with writer.as_default():
        ...     for step in range(3):
        ...         recorded = tf.summary.scalar("loss", 1.0 / (step + 1), step=step)
        >>> writer.close()
        >>> len(os.listdir(folder.name)), bool(recorded)
        (1, True)
        >>> folder.cleanup()
    """
    del name, experimental_trackable
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    if experimental_mesh is not None:
        raise ValueError("experimental_mesh: DTensor meshes are not supported; leave it out.")
    folder = path_text(logdir)
    queue = 10 if max_queue is None else int(max_queue)
    millis = 120_000 if flush_millis is None else int(flush_millis)
    suffix = ".v2" if filename_suffix is None else path_text(filename_suffix)
    return _FileWriter(EventFile(folder, queue, millis, suffix))


@public("summary.create_noop_writer")
def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing, so that code need not ask whether there is one.

    Example:
        >>> import tapejax as tf
        >>> with tf.summary.create_noop_writer().as_default():
        ...     bool(tf.summary.scalar("loss", 1.0, step=0))
        False
    """
    return _NoopWriter()


# ---------------------------------------------------------------------- step and condition
@public("summary.experimental.get_step")
def get_step() -> Any:
    """The default step of this thread, as it was set; None if none is.

    Example:
        >>> import tapejax as tf
        >>> tf.summary.experimental.get_step() is None
        True
    """
    return _STATE.step


@public("summary.experimental.set_step")
def set_step(step: Any) -> None:
    """Set the default step of this thread.

    Args:
        step: An integer, or an int64 tensor or variable: a variable is read at each summary,
            inside compiled functions too. None removes it.

    Example:
        >>> import tapejax as tf
        >>> tf.summary.experimental.set_step(3)
        >>> tf.summary.experimental.get_step()
        3
        >>> tf.summary.experimental.set_step(None)
    """
    _STATE.step = step


@public("summary.record_if")
@contextlib.contextmanager
def record_if(condition: Any) -> Generator[None]:
    """A `with` block in which summaries are recorded only if a condition holds.

    Args:
        condition: A bool, a bool tensor, or a function without parameters that gives one; it is
            asked at each summary.

    Example:
        >>> import tapejax as tf
        >>> with tf.summary.record_if(False):
        ...     bool(tf.summary.should_record_summaries())
        False
    """
    outer, _STATE.condition = _STATE.condition, condition
    try:
        yield
    finally:
        _STATE.condition = outer


@public("summary.should_record_summaries")
def should_record_summaries() -> Any:
    """Whether a summary made here would be recorded: a bool tensor.

    Raises:
        TypeError: If the condition of `record_if` is not boolean.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.summary.should_record_summaries())  # there is no default writer
        False
    """
    if _STATE.writer is None:
        return constant_tensor(np.array(False))
    condition = _STATE.condition
    return as_tensor(condition() if callable(condition) else condition, bool_)


@public("summary.experimental.summary_scope")
@contextlib.contextmanager
def summary_scope(
    name: str | None, default_name: str = "summary", values: Any = None
) -> Generator[tuple[str, str]]:
    """A `with` block that gives the tag and the name scope of a summary of one's own.

    Args:
        name: The name; name scopes around it are put before it.
        default_name: The name if `name` is None.
        values: Ignored.

    Yields:
        (tag, scope).

    Example:
        >>> import tapejax as tf
        >>> with tf.name_scope("train"):
        ...     with tf.summary.experimental.summary_scope("loss") as (tag, scope):
        ...         print(tag, scope)
        train/loss train/loss/
    """
    del values
    given = name or default_name
    scope = re.sub(r"[^A-Za-z0-9_.\-/]", "", given) or default_name
    tag = naming.scoped_name(given)
    with naming.name_scope(scope) as entered:
        yield tag, entered


# ---------------------------------------------------------------------- writing
@public("summary.write")
def write(tag: Any, tensor: Any, step: Any = None, metadata: Any = None, name: Any = None) -> Any:
    """Write a tensor under a tag to the default writer; the base of every summary.

    Inside a `tf.function` each call of it writes.

    Args:
        tag: The name in TensorBoard.
        tensor: A tensor of any dtype and shape; or a function that gives one, which is called only
            if the summary is recorded, except where the condition is known only when a compiled
            function runs.
        step: The step, an int64 scalar. Default: `tf.summary.experimental.get_step()`.
        metadata: A `tf.compat.v1.SummaryMetadata`, or one serialized: which dashboard shows it.
        name: Ignored.

    Returns:
        Whether it was recorded: a bool tensor.

    Raises:
        ValueError: If there is a writer but no step.
        TypeError: If step or metadata are something else.
        FailedPreconditionError: If the writer was closed.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.summary.write("weights", tf.zeros([2, 3]), step=0))  # there is no writer
        False
    """
    del name
    return write_encoded(tag, tensor, None, step, metadata)


Encode = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]
Send = Callable[[np.ndarray[Any, Any], Any], None]


def write_encoded(tag: Any, tensor: Any, encode: Encode | None, step: Any, metadata: Any) -> Any:
    """`write` with a last step on the host, such as the compression of images."""
    writer = _STATE.writer
    if writer is None:
        return constant_tensor(np.array(False))
    file, serialized = writer.file, _serialized(metadata)
    return _record(lambda: _sender(file, _tag_text(tag), serialized, encode), tensor, step)


def _record(make: Callable[[], Send], tensor: Any, step: Any) -> Any:
    """Send a value and its step if the condition holds; whether it does."""
    condition = should_record_summaries()
    if is_host([condition]) and not bool(condition.view()):
        return condition
    step = _STATE.step if step is None else step
    if step is None:
        raise ValueError(_NO_STEP)
    value = tensor() if callable(tensor) and not _is_value(tensor) else tensor
    _send(make(), as_tensor(value), _step_number(step), condition)
    return condition


def _step_number(step: Any) -> Tensor:
    if isinstance(step, (int, float, str)):
        return as_tensor(step, int64)
    number = as_tensor(step)
    return cast(number, int64) if number.dtype.is_integer else as_tensor(number, int64)


def _is_value(tensor: Any) -> bool:
    return isinstance(tensor, (Tensor, Variable, jax.Array, np.ndarray))


def _tag_text(tag: Any) -> str:
    text = tag if isinstance(tag, (str, bytes)) else known_texts(as_texts(tag)).item()
    return text if isinstance(text, str) else text.decode()


def _serialized(metadata: Any) -> bytes:
    if metadata is None:
        return b""
    if hasattr(metadata, "SerializeToString"):
        return metadata.SerializeToString()
    if isinstance(metadata, (bytes, str)):
        return metadata if isinstance(metadata, bytes) else metadata.encode()
    raise TypeError(
        f"Cannot convert {metadata!r} to a SummaryMetadata: give a "
        "tf.compat.v1.SummaryMetadata or its bytes."
    )


def _sender(file: EventFile, tag: str, metadata: bytes, encode: Encode | None) -> Send:
    """A function of a value and a step, which writes them."""

    def send(value: np.ndarray[Any, Any], step: Any) -> None:
        shown = value if encode is None else encode(value)
        file.write(summary_event(tag, shown, int(step), metadata))

    return send


def _send(send: Send, value: Tensor, step: Tensor, condition: Tensor) -> None:
    """Write now, or have each run of the program being traced write."""
    form = coded_form(value) if is_text(value) else None
    table = None if form is None else np.array(form.table, object)  # strings are no arrays
    inputs = [value if form is None else form.codes, step, condition]

    def run(array: Any, number: Any, holds: Any) -> list[Any]:
        if holds:
            send(array if table is None else np.asarray(table[array], object), number)
        return []

    if is_host(inputs):
        run(*[tensor.view() for tensor in inputs])
    else:
        call_host("WriteSummary", run, inputs)


@public("summary.experimental.write_raw_pb")
def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> Any:
    """Write a serialized `tf.compat.v1.Summary` to the default writer.

    Args:
        tensor: The bytes, a scalar string.
        step: The step. Default: `tf.summary.experimental.get_step()`.
        name: Ignored.

    Returns:
        Whether it was recorded: a bool tensor.

    Raises:
        ValueError: If there is a writer but no step.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.summary.experimental.write_raw_pb(b"", step=0))  # there is no writer
        False
    """
    del name
    writer = _STATE.writer
    if writer is None:
        return constant_tensor(np.array(False))
    file = writer.file

    def send(summary: np.ndarray[Any, Any], step: Any) -> None:
        file.write(raw_event(summary.item(), int(step)))

    return _record(lambda: send, lambda: as_texts(tensor), step)


@public("summary.flush")
def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Write what waits to the disk.

    Args:
        writer: The writer. Default: the default one of this thread, if there is one.
        name: Ignored.

    Example:
        >>> import tapejax as tf
        >>> tf.summary.flush()
    """
    del name
    found = _STATE.writer if writer is None else writer
    if found is not None:
        found.flush()
