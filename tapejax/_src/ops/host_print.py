"""`tf.print`: values written by the host, in TensorFlow's format.

Outside functions at once; inside a traced function by each call of it, when it runs.
"""

from __future__ import annotations

import logging
import pprint
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any, cast

import jax
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.effects import call_host, is_host
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import coded_form, is_text

_FILE = "file://"
_LEVELS = (logging.INFO, logging.WARNING, logging.ERROR)
_OPTIONS = ("output_stream", "summarize", "sep", "end", "name")


@public("print")
def print(*inputs: Any, **kwargs: Any) -> None:
    """Write values as text, to the standard error stream unless told otherwise.

    Inside a `tf.function` each call prints, once and in order.

    Args:
        *inputs: Tensors, variables, structures that hold them, anything else.
        **kwargs: `output_stream`: `sys.stdout`, `sys.stderr` (the default), another text stream,
            `"file://path"`, to whose end is written, a function such as `logging.info`, or a level
            such as `logging.INFO`. `summarize`: how many elements to show at
            each end of each axis (default 3; -1 shows all). `sep` and `end` as of Python's
            `print`. `name` is ignored.

    Raises:
        ValueError: If an argument or the stream is not known.

    Example:
        >>> import sys
        >>> import tapejax as tf
        >>> tf.print("loss", tf.constant([0.5, 1.0]), output_stream=sys.stdout)
        loss [0.5 1]

    Differs from TensorFlow:
        Complex numbers are printed; TensorFlow writes `?`. Levels write to the logger of
        `tf.get_logger()`, and any function may be given, not TensorFlow's own only.
    """
    unknown = sorted(set(kwargs) - set(_OPTIONS))
    if unknown:
        raise ValueError(
            f"Unrecognized keyword arguments for tf.print: { {n: kwargs[n] for n in unknown} }. "
            f"Known are {', '.join(_OPTIONS)}."
        )
    write = _writer(kwargs.get("output_stream", sys.stderr))
    limit = _limit(kwargs.get("summarize"))
    parts = [_pieces(value) for value in inputs]
    held = [tensor for _, tensors in parts for tensor in tensors]
    forms = [coded_form(tensor) if is_text(tensor) else None for tensor in held]
    tables = [None if form is None else np.array(form.table, object) for form in forms]
    tensors = [x if form is None else form.codes for x, form in zip(held, forms, strict=True)]
    texts = [pieces for pieces, _ in parts]
    sep, end = kwargs.get("sep", " "), kwargs.get("end", "\n")

    def show(*arrays: np.ndarray[Any, Any]) -> list[Any]:
        pairs = zip(arrays, tables, strict=True)  # strings are no arrays of a program
        values = iter([x if table is None else np.asarray(table[x]) for x, table in pairs])
        write(sep.join([_filled(pieces, values, limit) for pieces in texts]) + end)
        return []

    if is_host(tensors):
        show(*[tensor.view() for tensor in tensors])
    else:
        call_host("PrintV2", show, tensors, fallible=False)


def _limit(summarize: Any) -> int:
    if summarize is None:
        return 3
    if isinstance(summarize, bool) or not isinstance(summarize, (int, np.integer)):
        raise TypeError(f"Expected int for argument 'summarize' not {summarize!r}.")
    return int(summarize)


def _writer(stream: Any) -> Callable[[str], object]:
    if stream is sys.stdout or stream is sys.stderr:  # whatever it is when the text is written
        name = "stdout" if stream is sys.stdout else "stderr"
        return lambda text: getattr(sys, name).write(text)
    if isinstance(stream, int) and stream in _LEVELS:
        return lambda text: logging.getLogger("tensorflow").log(stream, text.rstrip("\n"))
    if isinstance(stream, (FunctionType, MethodType)):
        return lambda text: stream(text.rstrip("\n"))
    if isinstance(stream, str) and stream.startswith(_FILE):
        path = stream.removeprefix(_FILE)

        def append(text: str) -> None:
            with open(path, "a", encoding="utf-8") as file:
                file.write(text)

        return append
    if callable(getattr(stream, "write", None)):
        return cast(Any, stream).write
    raise ValueError(
        f"Unsupported output stream, logging level, or file.{stream}. Supported streams are "
        "sys.stdout, sys.stderr, other text streams, logging functions, logging levels, and files "
        "in the form of 'file://<filepath>'."
    )


# ---------------------------------------------------------------------- values as text
_PLACE = "\ue000\ue001\ue001\ue002"
"""Stands for a tensor while a structure is laid out: four columns, and in nobody's text."""


class _Placeholder:
    def __repr__(self) -> str:
        return _PLACE


def _pieces(value: Any) -> tuple[list[str], list[Tensor]]:
    """The text of an input around the tensors in it, and those tensors."""
    if isinstance(value, str):
        return [value], []
    leaves = nest.flatten(value)
    tensors: list[Tensor] = []
    for number, leaf in enumerate(leaves):
        if isinstance(leaf, (Tensor, Variable, IndexedSlices, jax.Array)):
            tensors.append(as_tensor(leaf))
            leaves[number] = _Placeholder()
    return pprint.pformat(nest.pack_sequence_as(value, leaves)).split(_PLACE), tensors


def _filled(pieces: list[str], arrays: Iterator[np.ndarray[Any, Any]], limit: int) -> str:
    """The text with the values of the tensors in their places."""
    first, *others = pieces
    return first + "".join([tensor_text(next(arrays), limit) + piece for piece in others])


def tensor_text(array: np.ndarray[Any, Any], limit: int) -> str:
    """A tensor's value as `tf.print` shows it: no commas, the middle of long axes left out.

    Args:
        array: The value.
        limit: How many elements to show at each end of an axis; negative shows all.

    Returns:
        A text such as `[[1 2] [3 4]]` over several lines.
    """
    if array.ndim == 0:
        return _scalar_text(array[()])
    if not array.size:
        return "[]"
    return _axis_text(array, limit, 0)


def _axis_text(array: np.ndarray[Any, Any], limit: int, depth: int) -> str:
    def show(part: Any) -> str:
        return _scalar_text(part) if array.ndim == 1 else _axis_text(part, limit, depth + 1)

    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    if limit < 0 or len(array) <= 2 * limit:
        parts = [show(part) for part in array]
    else:
        last = array[len(array) - limit :]
        parts = [*map(show, array[:limit]), "...", *map(show, last)]
    return f"[{between.join(parts)}]"


def _scalar_text(value: Any) -> str:
    if isinstance(value, bytes):
        return f'"{value.decode("utf-8", "replace")}"'
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (np.integer, int)):
        return str(int(value))
    if isinstance(value, np.complexfloating):
        return str(value)
    return _float_text(value)


def _float_text(value: Any) -> str:
    """The shorter of two precisions that reads back as the same number."""
    wide = isinstance(value, np.float64)
    short, full = (15, 17) if wide else (6, 9)
    number = float(value)
    text = f"{number:.{short}g}"
    same = float(text) == number if wide else np.float32(text) == np.float32(number)
    return text if bool(cast(Any, same)) or number != number else f"{number:.{full}g}"
