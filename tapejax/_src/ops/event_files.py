"""Event files, which TensorBoard reads: records of `tf.compat.v1.Event` messages in one folder.

References:
    https://www.tensorflow.org/tensorboard/get_started
"""

from __future__ import annotations

import itertools
import os
import socket
import struct
import threading
import time
import weakref
from typing import Any

import numpy as np

from tapejax._src.core.errors import FailedPreconditionError
from tapejax._src.ops import wire_format
from tapejax._src.ops.record_writer import TFRecordWriter
from tapejax._src.ops.tensor_messages import tensor_message

_WALL_TIME, _STEP, _FILE_VERSION, _SUMMARY, _SOURCE = 1, 2, 3, 5, 10
_VALUE, _TAG, _TENSOR, _METADATA = 1, 1, 8, 9
_COUNTER = itertools.count()  # two writers of one second get two files


def _now() -> bytes:
    return wire_format.varint(_WALL_TIME << 3 | wire_format.EIGHT) + struct.pack("<d", time.time())


def summary_event(tag: str, array: np.ndarray[Any, Any], step: int, metadata: bytes = b"") -> bytes:
    """The message of one value of one step.

    Args:
        tag: The name under which TensorBoard shows it.
        array: The value; strings are an object array of bytes.
        step: The step it belongs to.
        metadata: A serialized `SummaryMetadata`: which of TensorBoard's dashboards shows it.
    """
    value = wire_format.field(_TAG, tag.encode()) if tag else b""
    value += wire_format.field(_TENSOR, tensor_message(array))
    if metadata:
        value += wire_format.field(_METADATA, metadata)
    return raw_event(wire_format.field(_VALUE, value), step)


def raw_event(summary: bytes, step: int) -> bytes:
    """The message of a serialized summary of one step."""
    return _event(step, wire_format.field(_SUMMARY, summary))


def _event(step: int, content: bytes) -> bytes:
    number = wire_format.number_field(_STEP, step) if step else b""
    return _now() + number + content


class EventFile:
    """One event file that grows.

    Args:
        folder: The folder; it is made if need be.
        max_queue: How many events may wait for being written.
        flush_millis: Milliseconds after which what waits is written with the next event.
        suffix: The end of the file's name.

    Raises:
        FailedPreconditionError: If the folder cannot be made.
    """

    def __init__(self, folder: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise FailedPreconditionError(
                f"The folder {folder!r} for event files cannot be made: {error}"
            ) from None
        second, host = int(time.time()), socket.gethostname()
        name = f"events.out.tfevents.{second}.{host}.{os.getpid()}.{next(_COUNTER)}{suffix}"
        self.path = os.path.join(folder, name)
        self._records = TFRecordWriter(self.path)
        self._lock = threading.Lock()
        self._max_queue, self._seconds = max_queue, flush_millis / 1000
        self._waiting, self._flushed = 0, time.monotonic()
        source = wire_format.field(1, b"tapejax")
        version = wire_format.field(_FILE_VERSION, b"brain.Event:2")
        self._records.write(_event(0, version + wire_format.field(_SOURCE, source)))
        self._records.flush()
        # What was recorded reaches the file also when nobody closes it.
        self.close = weakref.finalize(self, self._records.close)

    def write(self, event: bytes) -> None:
        """Add an event; it is on disk after `flush`, or when enough wait.

        Raises:
            FailedPreconditionError: If the file was closed.
        """
        with self._lock:
            if not self.close.alive:
                raise FailedPreconditionError(
                    f"The summary writer of {self.path} is closed: make a new one with "
                    "`tf.summary.create_file_writer`."
                )
            self._records.write(event)
            self._waiting += 1
            late = time.monotonic() - self._flushed > self._seconds
            if late or self._waiting > self._max_queue:
                self._flush()

    def flush(self) -> None:
        """Write what waits to the disk."""
        with self._lock:
            if self.close.alive:
                self._flush()

    def _flush(self) -> None:
        self._records.flush()
        self._waiting, self._flushed = 0, time.monotonic()
