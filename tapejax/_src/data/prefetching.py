"""Elements computed ahead by a thread that ends with the iteration."""

from __future__ import annotations

import atexit
import collections
import threading
import weakref
from typing import Any

from tapejax._src.data.node import Node, Stream, Unchanged
from tapejax._src.data.tables import Indexed

_AUTOTUNED = 2
_PATIENCE_S = 10.0
_END = object()


class _Failure:
    """What the thread raised."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Buffer:
    """What is ready, at most `size` items."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: collections.deque[Any] = collections.deque()
        self._changed = threading.Condition()
        self.stopped = False

    def put(self, item: Any) -> None:
        """Add an item once there is room."""
        with self._changed:
            while len(self._items) >= self._size and not self.stopped:
                self._changed.wait()
            self._items.append(item)
            self._changed.notify_all()

    def get(self) -> Any:
        """Take the next item."""
        with self._changed:
            while not self._items:
                if self.stopped:
                    return _END
                self._changed.wait()
            item = self._items.popleft()
            self._changed.notify_all()
            return item

    def stop(self) -> None:
        """Let the thread end."""
        with self._changed:
            self.stopped = True
            self._changed.notify_all()


class _Running:
    """The threads at work, so that none outlives the interpreter."""

    def __init__(self) -> None:
        self.of: weakref.WeakKeyDictionary[_Buffer, threading.Thread] = weakref.WeakKeyDictionary()
        atexit.register(self.stop)

    def stop(self) -> None:
        """End them."""
        for buffer, thread in list(self.of.items()):
            buffer.stop()
            thread.join(_PATIENCE_S)


_RUNNING = _Running()


def _fill(stream: Stream, buffer: _Buffer) -> None:
    """What the thread does."""
    while not buffer.stopped:
        try:
            item: Any = next(stream)
        except StopIteration:
            buffer.put(_END)
            break
        except BaseException as error:  # noqa: BLE001  raised where the element is asked for
            buffer.put(_Failure(error))
            continue
        buffer.put(item)
    close = getattr(stream, "close", None)
    if close is not None:
        close()


class _Ahead:
    """The stream of a thread; one that fails may go on afterwards."""

    def __init__(self, source: Node, size: int) -> None:
        self._source, self._size = source, size
        self._buffer: _Buffer | None = None
        self._ended = False

    def __iter__(self) -> _Ahead:
        return self

    def __next__(self) -> Any:
        if self._buffer is None:
            self._start()
        buffer = self._buffer
        assert buffer is not None
        item = _END if self._ended else buffer.get()
        if item is _END:
            self._ended = True
            raise StopIteration
        if type(item) is _Failure:
            raise item.error
        return item

    def _start(self) -> None:
        buffer = self._buffer = _Buffer(self._size)
        thread = threading.Thread(
            target=_fill,
            args=(self._source.stream(), buffer),
            name="tapejax-data-prefetch",
            daemon=True,
        )
        _RUNNING.of[buffer] = thread
        # Runs when nobody asks for elements any more; it must not refer to `self`.
        weakref.finalize(self, _end, buffer, thread).atexit = False
        thread.start()


def _end(buffer: _Buffer, thread: threading.Thread) -> None:
    buffer.stop()
    if thread is not threading.current_thread():
        thread.join(_PATIENCE_S)


class Prefetch(Unchanged):
    """The same elements, computed ahead.

    Elements that are in memory already are not: handing them from thread to thread costs more than
    taking them.
    """

    name = "_PrefetchDataset"
    repeats = True

    def __init__(self, source: Node, size: int) -> None:
        super().__init__(source)
        self._size = _AUTOTUNED if size == -1 else size

    def cardinality(self) -> int:
        """The same elements."""
        return self.source.cardinality()

    def indexed(self) -> Indexed | None:
        """The same rows."""
        return self.source.indexed()

    def stream(self) -> Stream:
        """From a thread, where that helps."""
        if self._size == 0 or self.source.is_quick():
            return self.source.stream()
        return _Ahead(self.source, self._size)
