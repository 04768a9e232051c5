"""`tf.io.gfile`: files and folders, with TensorFlow's exceptions."""

from __future__ import annotations

import glob as globbing
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NamedTuple

from tapejax._src.core import errors
from tapejax._src.engine.registry import public
from tapejax._src.ops.paths import open_local, os_errors, path_text

_MODES = ("r", "w", "a", "r+", "w+", "a+")


def _failed(cls: type[errors.OpError], message: str) -> errors.OpError:
    return cls(None, None, message)


@public("io.gfile.GFile")
class GFile:
    r"""A file, opened when it is first read or written.

    Args:
        name: The path.
        mode: `'r'`, `'w'`, `'a'`, with `'+'` for both; with `'b'` it reads bytes, else text.

    Raises:
        InvalidArgumentError: If the mode is another one.

    Example:
        >>> import os, tempfile
        >>> import tapejax as tf
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "note.txt")
        >>> with tf.io.gfile.GFile(path, "w") as file:
        ...     file.write("one\ntwo\n")
        >>> with tf.io.gfile.GFile(path) as file:
        ...     file.readlines()
        ['one\n', 'two\n']
        >>> folder.cleanup()
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        self._file: IO[bytes] | None = None
        if mode.replace("b", "") not in _MODES:
            raise _failed(
                errors.InvalidArgumentError,
                "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'",
            )
        self._name = name
        self._mode = mode
        self._binary = "b" in mode

    @property
    def name(self) -> Any:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode it was made with."""
        return self._mode

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            path = path_text(self._name)
            with os_errors(path):
                self._file = open_local(path, self._mode.replace("b", "") + "b")
        return self._file

    def _readable(self) -> IO[bytes]:
        if "r" not in self._mode and "+" not in self._mode:
            raise _failed(errors.PermissionDeniedError, "File isn't open for reading")
        file = self._opened()
        if file.writable():
            file.flush()
        return file

    def _given(self, data: bytes) -> Any:
        return data if self._binary else data.decode()

    def size(self) -> int:
        """The number of bytes in the file."""
        return stat(self._name).length

    def write(self, file_content: Any) -> None:
        """Write text or bytes where the file stands."""
        if self._mode.replace("b", "") == "r":
            raise _failed(errors.PermissionDeniedError, "File isn't open for writing")
        data = file_content.encode() if isinstance(file_content, str) else bytes(file_content)
        self._opened().write(data)

    def read(self, n: int = -1) -> Any:
        """Read `n` bytes, or all that is left."""
        return self._given(self._readable().read(n))

    def readline(self) -> Any:
        """Read up to the end of the line; empty at the end of the file."""
        return self._given(self._readable().readline())

    def readlines(self) -> list[Any]:
        """Read all lines that are left."""
        return [self._given(line) for line in self._readable().readlines()]

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to another place.

        Args:
            offset: How many bytes on.
            whence: From where: 0 the beginning, 1 where the file stands, 2 the end.
            position: The old name of `offset`.

        Raises:
            TypeError: If `offset` is missing.
            InvalidArgumentError: If `whence` is another number.
        """
        offset = position if offset is None else offset
        if offset is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            raise _failed(
                errors.InvalidArgumentError,
                f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.",
            )
        self._readable().seek(offset, whence)

    def tell(self) -> int:
        """Where the file stands."""
        return self._opened().tell()

    def seekable(self) -> bool:
        """True."""
        return True

    def flush(self) -> None:
        """Write what is held back."""
        if self._file is not None and self._file.writable():
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> GFile:
        """Enter a block at whose end the file is closed."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        self.close()

    def __del__(self) -> None:
        self.close()

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__


class FileStatistics(NamedTuple):
    """What is known of a path.

    Attributes:
        length: The number of bytes.
        mtime_nsec: When it was changed, in nanoseconds since 1970.
        is_directory: Whether it is a folder.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


@public("io.gfile.exists")
def exists(path: Any) -> bool:
    """Whether there is a file or folder.

    Args:
        path: The path.
    """
    return os.path.exists(path_text(path))


@public("io.gfile.isdir")
def isdir(path: Any) -> bool:
    """Whether a path is a folder.

    Args:
        path: The path.
    """
    return os.path.isdir(path_text(path))


@public("io.gfile.listdir")
def listdir(path: Any) -> list[str]:
    """The names in a folder, in any order.

    Args:
        path: The folder.

    Raises:
        NotFoundError: If there is no such folder.
    """
    text = path_text(path)
    if not os.path.isdir(text):
        raise _failed(errors.NotFoundError, f"Could not find directory {text}")
    with os_errors(text):
        return os.listdir(text)


@public("io.gfile.mkdir")
def mkdir(path: Any) -> None:
    """Make a folder in one that exists; nothing happens if it is there.

    Args:
        path: The folder.

    Raises:
        NotFoundError: If the folder it is to be in does not exist.
    """
    text = path_text(path)
    if not os.path.isdir(text):
        with os_errors(text):
            os.mkdir(text)


@public("io.gfile.makedirs")
def makedirs(path: Any) -> None:
    """Make a folder and those it is in; nothing happens if they are there.

    Args:
        path: The folder.
    """
    text = path_text(path)
    with os_errors(text):
        os.makedirs(text, exist_ok=True)


@public("io.gfile.copy")
def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy a file.

    Args:
        src: The file.
        dst: The path of the copy.
        overwrite: Whether a file there may be replaced.

    Raises:
        NotFoundError: If there is no such file.
        AlreadyExistsError: If there is a file at `dst`.
    """
    source, target = path_text(src), path_text(dst)
    _check_target(target, overwrite)
    with os_errors(source if not os.path.exists(source) else target):
        shutil.copyfile(source, target)


def _check_target(target: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(target):
        raise _failed(errors.AlreadyExistsError, "file already exists")


@public("io.gfile.rename")
def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Move a file or folder.

    Args:
        src: The path.
        dst: The new path.
        overwrite: Whether a file there may be replaced.

    Raises:
        NotFoundError: If there is nothing at `src`.
        AlreadyExistsError: If there is something at `dst`.
    """
    source, target = path_text(src), path_text(dst)
    _check_target(target, overwrite)
    with os_errors(source):
        os.replace(source, target)


@public("io.gfile.remove")
def remove(path: Any) -> None:
    """Delete a file.

    Args:
        path: The file.

    Raises:
        NotFoundError: If there is no such file.
        FailedPreconditionError: If it is a folder.
    """
    text = path_text(path)
    if os.path.isdir(text):
        raise _failed(errors.FailedPreconditionError, f"{text}; Is a directory")
    with os_errors(text):
        os.remove(text)


@public("io.gfile.rmtree")
def rmtree(path: Any) -> None:
    """Delete a folder and all in it.

    Args:
        path: The folder.

    Raises:
        NotFoundError: If there is no such folder.
    """
    text = path_text(path)
    if not os.path.exists(text):
        raise _failed(errors.NotFoundError, f"{text} not found")
    with os_errors(text):
        shutil.rmtree(text)


@public("io.gfile.stat")
def stat(path: Any) -> FileStatistics:
    """What is known of a file or folder: `length`, `mtime_nsec`, `is_directory`.

    Args:
        path: The path.

    Raises:
        NotFoundError: If there is nothing.
    """
    text = path_text(path)
    with os_errors(text):
        found = os.stat(text)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(text))


@public("io.gfile.glob")
def glob(pattern: Any) -> list[str]:
    """The paths that match a pattern, sorted.

    Args:
        pattern: A pattern with `*`, `?` and `[...]`, or a list of patterns.
    """
    many = isinstance(pattern, (list, tuple))
    found: list[str] = []
    for text in [path_text(item) for item in (pattern if many else [pattern])]:
        found += sorted(globbing.glob(text, include_hidden=True))
    return found


@public("io.gfile.walk")
def walk(
    top: Any, topdown: bool = True, onerror: Callable[[Any], object] | None = None
) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """The folders below a folder.

    Args:
        top: The folder.
        topdown: Whether a folder comes before those in it.
        onerror: Called with an error, if a folder cannot be read.

    Yields:
        (path, names of folders in it, names of files in it).
    """
    yield from os.walk(path_text(top), topdown, onerror)


@public("io.gfile.join")
def join(path: Any, *paths: Any) -> str:
    """One path of several parts.

    Args:
        path: The first part.
        *paths: The others; one that begins with `/` starts anew.

    Example:
        >>> import tapejax as tf
        >>> tf.io.gfile.join("/tmp", "data", "a.txt")
        '/tmp/data/a.txt'
    """
    return os.path.join(os.fsdecode(path), *[os.fsdecode(part) for part in paths])


@public("io.gfile.get_registered_schemes")
def get_registered_schemes() -> list[str]:
    """The file systems that paths can name: local files."""
    return ["", "file"]
