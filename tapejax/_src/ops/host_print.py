"""`tf.print`: values written by the host, in TensorFlow's format."""

from __future__ import annotations

import pprint
import sys
from collections.abc import Callable
from typing import Any, cast

import jax
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.registry import public

_FILE = "file://"
_OPTIONS = ("output_stream", "summarize", "sep", "end", "name")


@public("print")
def print(*inputs: Any, **kwargs: Any) -> None:
    """Write values as text, to the standard error stream unless told otherwise.

    Args:
        *inputs: Tensors, variables, structures that hold them, anything else.
        **kwargs: `output_stream`: `sys.stdout`, `sys.stderr` (the default), another text stream, or
            `"file://path"`, to whose end is written. `summarize`: how many elements to show at
            each end of each axis (default 3; -1 shows all). `sep` and `end` as of Python's
            `print`. `name` is ignored.

    Raises:
        ValueError: If an argument or the stream is not known.
        NotImplementedError: Inside a traced function.

    Example:
        >>> import sys
        >>> import tapejax as tf
        >>> tf.print("loss", tf.constant([0.5, 1.0]), output_stream=sys.stdout)
        loss [0.5 1]

    Differs from TensorFlow:
        Complex numbers are printed; TensorFlow writes `?`. Inside a `tf.function` it is not there
        yet.
    """
    unknown = sorted(set(kwargs) - set(_OPTIONS))
    if unknown:
        raise ValueError(
            f"Unrecognized keyword arguments for tf.print: { {n: kwargs[n] for n in unknown} }. "
            f"Known are {', '.join(_OPTIONS)}."
        )
    if LOCAL.recorder.symbolic is not None:
        raise NotImplementedError(
            "tf.print is not supported inside a traced function. Use Python's print for what is "
            "known while tracing (shapes, dtypes), return the value and print it outside, or "
            "call the function eagerly (tf.config.run_functions_eagerly(True))."
        )
    write = _writer(kwargs.get("output_stream", sys.stderr))
    limit = _limit(kwargs.get("summarize"))
    texts = [_input_text(value, limit) for value in inputs]
    write(kwargs.get("sep", " ").join(texts) + kwargs.get("end", "\n"))


def _limit(summarize: Any) -> int:
    if summarize is None:
        return 3
    if isinstance(summarize, bool) or not isinstance(summarize, (int, np.integer)):
        raise TypeError(f"Expected int for argument 'summarize' not {summarize!r}.")
    return int(summarize)


def _writer(stream: Any) -> Callable[[str], object]:
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
        "sys.stdout, sys.stderr, other text streams, and files in the form of 'file://<filepath>'."
    )


# ---------------------------------------------------------------------- values as text
_PLACE = "\ue000\ue001\ue001\ue002"
"""Stands for a tensor while a structure is laid out: four columns, and in nobody's text."""


class _Placeholder:
    def __repr__(self) -> str:
        return _PLACE


def _input_text(value: Any, limit: int) -> str:
    if isinstance(value, str):
        return value
    leaves = nest.flatten(value)
    texts: list[str] = []
    for number, leaf in enumerate(leaves):
        if isinstance(leaf, (Tensor, Variable, IndexedSlices, jax.Array)):
            texts.append(tensor_text(as_tensor(leaf).view(), limit))
            leaves[number] = _Placeholder()
    pieces = pprint.pformat(nest.pack_sequence_as(value, leaves)).split(_PLACE)
    return "".join(piece + text for piece, text in zip(pieces, [*texts, ""], strict=True))


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
