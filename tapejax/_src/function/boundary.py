"""Errors where a traced function begins: TensorFlow's classes and words, the user's frames only."""

from __future__ import annotations

import linecache
import os
import re
import sysconfig
import types
from typing import Any

import jax

from tapejax._src.core import errors
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.function.autograph.callees import why_not_converted

_OURS = (
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep,
    os.path.dirname(os.path.abspath(str(jax.__file__))) + os.sep,
)
_LIBRARIES = sysconfig.get_paths()["purelib"] + os.sep
_MARK = "in user code:"


class InvalidArgumentTypeError(errors.InvalidArgumentError, TypeError):
    """Dtypes that do not fit, found while a function is traced: a TypeError, as in TensorFlow."""


class InvalidArgumentValueError(errors.InvalidArgumentError, ValueError):
    """Shapes that do not fit, found while a function is traced: a ValueError, as in TensorFlow."""


class StagedKeyError(KeyError):
    """A KeyError with a text of several lines."""

    def __str__(self) -> str:
        return str(self.args[0])


_NAMES: dict[type[Exception], str] = {
    InvalidArgumentTypeError: "TypeError",
    InvalidArgumentValueError: "ValueError",
    StagedKeyError: "KeyError",
}


class UserCode:
    """A block in which the user's function is traced; errors that leave it are put into words.

    Only the outermost of nested functions does so: its text has the frames of all.

    Args:
        explained: Whether to put `in user code:` and the user's frames before the message.
    """

    def __init__(self, explained: bool) -> None:
        self._explained = explained
        self._outermost = LOCAL.recorder.symbolic is None

    def __enter__(self) -> None:
        """Enter."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Raise the error as TensorFlow words it."""
        if not isinstance(error, Exception) or not self._outermost:
            return
        frames = _user_frames(trace)
        told = _translated(error, trace)
        if self._explained and frames and not str(told).startswith(_MARK):
            told = _with_message(told, _text(told, frames))
        user_trace = _chained(frames)
        if told is error:
            error.__traceback__ = user_trace
            return
        told.__cause__, told.__suppress_context__ = error.__cause__, True
        raise told.with_traceback(user_trace)


class Trimmed:
    """A block whose errors lose the frames of the library and of JAX on their way out."""

    def __enter__(self) -> None:
        """Enter."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Shorten the traceback."""
        if isinstance(error, Exception) and LOCAL.recorder.symbolic is None:
            error.__traceback__ = _chained(_user_frames(trace))


def user_frame(error: BaseException) -> str:
    """The innermost line of the user's on the way to an error, as `file:line`."""
    frames = _user_frames(error.__traceback__)
    if not frames:
        return "?"
    return f"{frames[-1].tb_frame.f_code.co_filename}:{frames[-1].tb_lineno}"


def _is_user(code: types.CodeType) -> bool:
    return not code.co_filename.startswith(_OURS)


def _user_frames(trace: types.TracebackType | None) -> list[types.TracebackType]:
    frames: list[types.TracebackType] = []
    while trace is not None:
        if _is_user(trace.tb_frame.f_code):
            frames.append(trace)
        trace = trace.tb_next
    return frames


def _chained(frames: list[types.TracebackType]) -> types.TracebackType | None:
    """A traceback of these frames only."""
    following: types.TracebackType | None = None
    for entry in reversed(frames):
        following = types.TracebackType(following, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return following


def _text(error: Exception, frames: list[types.TracebackType]) -> str:
    """The message behind TensorFlow's `in user code:` and the user's lines."""
    lines = [f"{_MARK}\n"]
    for entry in frames:
        code = entry.tb_frame.f_code
        source = linecache.getline(code.co_filename, entry.tb_lineno).strip()
        mark = "**" if code.co_filename.startswith(_LIBRARIES) else "*"
        lines.append(
            f'    File "{code.co_filename}", line {entry.tb_lineno}, in {code.co_name}  {mark}'
        )
        if source:
            lines.append(f"        {source}")
    name = _NAMES.get(type(error), type(error).__name__)
    message = str(error).replace("\n", "\n    ")
    lines += ["", f"    {name}: {message}", ""]
    code = frames[-1].tb_frame.f_code
    reason = why_not_converted(code)
    if reason is not None and isinstance(error, errors.OperatorNotAllowedInGraphError):
        lines.append(
            f"    The function {code.co_name!r} runs as it is, without AutoGraph: {reason}. Define "
            "it in a file or a notebook cell, or use tf.cond and tf.while_loop.\n"
        )
    return "\n".join(lines)


def _with_message(error: Exception, message: str) -> Exception:
    """The error with another message: the same object where its class allows that."""
    cls: Any = type(error)
    if isinstance(error, errors.OpError):
        made = cls(error.node_def, error.op, message)
        made.experimental_payloads = error.experimental_payloads
        return made
    if cls is KeyError:
        return StagedKeyError(message)
    before = error.args
    if len(before) <= 1:
        error.args = (message,)
        if str(error) == message:
            return error
        error.args = before
    error.add_note(message)
    return error


# ---------------------------------------------------------------------- classes
_DTYPES = re.compile(
    r"cannot compute (\w+) as input #(\d+)\(zero-based\) was expected to be a (\w+) tensor but is "
    r"a (\w+) tensor(.*)",
    re.DOTALL,
)
_ALLOWED = re.compile(
    r"Value for attr 'T' of (\w+) is not in the list of allowed values: ([^\[]*)(.*)", re.DOTALL
)
_SPELLING = {"half": "float16", "float": "float32", "double": "float64"}
_PARAMETERS = {"MatMul": "ab", "BatchMatMulV2": "xy"}


def _translated(error: Exception, trace: types.TracebackType | None) -> Exception:
    """An error of an op in the class TensorFlow gives it while a function is traced."""
    if type(error) is not errors.InvalidArgumentError or _raised_by_user(trace):
        return error
    message = str(error)
    found = _DTYPES.match(message)
    if found is not None:
        op, place, expected, actual, rest = found.groups()
        names = _PARAMETERS.get(op, "xy")
        first, second = names[0], names[min(int(place), 1)]
        expected, actual = _SPELLING.get(expected, expected), _SPELLING.get(actual, actual)
        text = (
            f"Input {second!r} of {op!r} Op has type {actual} that does not match type {expected} "
            f"of argument {first!r}. {rest.split('name: ; ')[-1]}"
        )
        return InvalidArgumentTypeError(None, None, text)
    found = _ALLOWED.match(message)
    if found is not None:
        actual, allowed, rest = found.groups()
        text = (
            f"Value passed to parameter 'x' has DataType {_SPELLING.get(actual, actual)} not in "
            f"list of allowed values: {allowed}{rest}"
        )
        return InvalidArgumentTypeError(None, None, text)
    return InvalidArgumentValueError(None, None, message)


def _raised_by_user(trace: types.TracebackType | None) -> bool:
    """Whether the innermost frame is the user's, or an assertion's, which keeps its class."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return True
    code = trace.tb_frame.f_code
    return _is_user(code) or "assertions" in os.path.basename(code.co_filename)
