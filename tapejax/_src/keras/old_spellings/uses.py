"""Which old spellings a program used, and the list of them that is shown when it ends."""

from __future__ import annotations

import atexit
import os
import sys
from types import FrameType

import numpy as np

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__)))) + os.sep
_SITE = os.path.dirname(os.path.dirname(np.__file__)) + os.sep
_LIBRARIES = tuple([os.path.join(_SITE, name) + os.sep for name in ("jax", "keras", "optree")])
_STANDARD = os.path.dirname(os.__file__) + os.sep


class Uses:
    """The uses so far, each once, in the order in which they came."""

    def __init__(self) -> None:
        self.enabled = False
        self.shown_at_exit = False
        self._found: dict[tuple[str, int, str], str] = {}

    def note(self, old: str, modern: str) -> None:
        """Remember that the user's line that is running used an old spelling."""
        frame = user_frame()
        if frame is not None and self.enabled:
            self._found.setdefault((frame.f_code.co_filename, frame.f_lineno, old), modern)

    def lines(self) -> list[str]:
        """`file:line: old -> modern` for each use."""
        return [f"{file}:{n}: {old} -> {new}" for (file, n, old), new in self._found.items()]

    def show_at_exit(self) -> None:
        """Have the list written to stderr when the process ends."""
        if not self.shown_at_exit:
            self.shown_at_exit = True
            atexit.register(self._show)

    def _show(self) -> None:
        for line in self.lines():
            sys.stderr.write(line + "\n")


USES = Uses()
note = USES.note


def note_direct(old: str, modern: str) -> None:
    """Remember a use, unless Keras itself is what used it."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  inspect is slow
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is not None and not _is_library(frame.f_code.co_filename):
        USES.note(old, modern)


def user_frame() -> FrameType | None:
    """The innermost frame outside tapejax, Keras, JAX and Python's own library."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  inspect is slow
    while frame is not None and _is_library(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _is_library(file: str) -> bool:
    if file.startswith((_PACKAGE, *_LIBRARIES, "<frozen ")):
        return True
    return file.startswith(_STANDARD) and not file.startswith(_SITE)
