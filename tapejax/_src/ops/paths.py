"""Paths of files: their schemes, and what the operating system says in TensorFlow's exceptions."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Generator
from typing import IO, Any

from tapejax._src.core import errors
from tapejax._src.core.tensor import Tensor

_CLASSES: dict[int, type[errors.OpError]] = {
    errno.ENOENT: errors.NotFoundError,
    errno.ENOTDIR: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.ENAMETOOLONG: errors.InvalidArgumentError,
}


def path_text(path: Any) -> str:
    """A path (text, bytes, `os.PathLike` or a string tensor) as the text of a local one.

    Raises:
        UnimplementedError: If it names another file system.
    """
    if isinstance(path, Tensor):
        path = path.numpy()
    text = os.fsdecode(path)
    scheme, mark, rest = text.partition("://")
    if not mark or not scheme.isalnum():
        return text
    if scheme == "file":
        return rest
    raise errors.UnimplementedError(
        None,
        None,
        f"File system scheme '{scheme}' not implemented (file: '{text}'): only local files are "
        "read and written. Mount the other file system, or copy the file.",
    )


@contextlib.contextmanager
def os_errors(path: str) -> Generator[None]:
    """A block in which an `OSError` becomes TensorFlow's exception."""
    try:
        yield
    except OSError as error:
        cls = _CLASSES.get(error.errno or 0, errors.UnknownError)
        raise cls(None, None, f"{path}; {os.strerror(error.errno or 0)}") from None


def open_local(path: str, mode: str) -> IO[bytes]:
    """Open a local file for bytes."""
    with os_errors(path):
        return open(path, mode)
