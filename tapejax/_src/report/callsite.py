"""Finds the user's line behind a call into tapejax."""

from __future__ import annotations

import dis
import inspect
from pathlib import Path
from types import FrameType

PACKAGE_DIRECTORY = str(Path(__file__).resolve().parents[2])
IMPORT_MACHINERY = "<frozen "


def is_ours(filename: str) -> bool:
    """Whether a frame's file belongs to tapejax or to Python's import machinery."""
    return filename.startswith((PACKAGE_DIRECTORY, IMPORT_MACHINERY))


def user_frame() -> FrameType | None:
    """The innermost frame that runs neither tapejax nor the import machinery, if there is one."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def place(frame: FrameType | None) -> str:
    """`file:line` of a frame, the way compilers write it."""
    if frame is None:
        return "<no Python frame>"
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def runs_from_import(frame: FrameType | None) -> bool:
    """Whether the frame stands at the `name` of a `from module import name`."""
    if frame is None:
        return False
    instruction = frame.f_code.co_code[frame.f_lasti]
    return dis.opname[instruction] == "IMPORT_FROM"
