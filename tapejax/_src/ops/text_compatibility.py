"""`tf.compat`: conversions between texts and bytes, and questions about releases."""

from __future__ import annotations

import datetime
import numbers
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tapejax._src.engine.registry import public

bytes_or_text_types = (bytes, str)
complex_types = (numbers.Complex, np.number)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)


@public("compat.as_bytes")
def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """A text as bytes; bytes as they are.

    Args:
        bytes_or_text: `str`, `bytes` or `bytearray`.
        encoding: How a text is encoded.

    Raises:
        TypeError: If it is neither.

    Example:
        >>> import tapejax as tf
        >>> tf.compat.as_bytes("a")
        b'a'
    """
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@public("compat.as_text", "compat.as_str")
def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as a text; a text as it is.

    Args:
        bytes_or_text: `str`, `bytes` or `bytearray`.
        encoding: How bytes are decoded.

    Raises:
        TypeError: If it is neither.

    Example:
        >>> import tapejax as tf
        >>> tf.compat.as_text(b"a")
        'a'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@public("compat.as_str_any")
def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Bytes decoded, anything else as `str` shows it.

    Args:
        value: Anything.
        encoding: How bytes are decoded.

    Example:
        >>> import tapejax as tf
        >>> tf.compat.as_str_any(b"a"), tf.compat.as_str_any(1)
        ('a', '1')
    """
    return as_text(value, encoding) if isinstance(value, (bytes, bytearray)) else str(value)


@public("compat.path_to_str")
def path_to_str(path: Any) -> Any:
    """A path object as a string; anything else as it is.

    Args:
        path: A `str`, or an object with `__fspath__`.

    Example:
        >>> import pathlib
        >>> import tapejax as tf
        >>> tf.compat.path_to_str(pathlib.Path("a"))
        'a'
    """
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


@public("compat.dimension_value")
def dimension_value(dimension: Any) -> Any:
    """A dimension as an int or None, which dimensions are here.

    Args:
        dimension: An int, None, or an object with `value`.

    Example:
        >>> import tapejax as tf
        >>> tf.compat.dimension_value(tf.TensorShape([2])[0])
        2
    """
    return getattr(dimension, "value", dimension)


@public("compat.dimension_at_index")
def dimension_at_index(shape: Any, index: int) -> Any:
    """One dimension of a shape.

    Args:
        shape: A `tf.TensorShape`.
        index: Which, from 0 or, if negative, from the end.

    Example:
        >>> import tapejax as tf
        >>> tf.compat.dimension_at_index(tf.TensorShape([2, 3]), -1)
        3
    """
    return None if shape.rank is None else shape[index]


@public("compat.forward_compatible")
def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether a date is over: what TensorFlow introduced before it may be used.

    Args:
        year: The year.
        month: The month.
        day: The day.

    Example:
        >>> import tapejax as tf
        >>> tf.compat.forward_compatible(2020, 1, 1)
        True
    """
    return datetime.date(year, month, day) < datetime.datetime.now(datetime.UTC).date()


@public("compat.forward_compatibility_horizon")
@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Generator[None]:
    """A block that TensorFlow's own tests use; it does nothing.

    Args:
        year: Ignored.
        month: Ignored.
        day: Ignored.

    Example:
        >>> import tapejax as tf
        >>> with tf.compat.forward_compatibility_horizon(2020, 1, 1):
        ...     pass
    """
    del year, month, day
    yield
