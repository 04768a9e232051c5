"""The text of tensors and variables, exactly as TensorFlow prints them.

All functions take the value as a NumPy array; they know nothing of tensors.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from tapejax._src.core.dtypes import DType

Array = np.ndarray[Any, np.dtype[Any]]


def _own_lines(text: str) -> str:
    """Start a text of several lines on a line of its own."""
    return "\n" + text if "\n" in text else text


def value_str(value: Array) -> str:
    """Return the value as `print` shows a NumPy array; scalars without brackets."""
    return str(value[()]) if value.ndim == 0 else str(value)


def value_repr(value: Array) -> str:
    """Return the value as NumPy's `array(...)`; scalars as Python numbers, texts as bytes."""
    if value.ndim:
        return repr(value)
    scalar = cast("Any", value[()])
    return repr(scalar.item() if isinstance(scalar, np.generic) else scalar)


def tensor_str(value: Array, dtype: DType, shape: Any) -> str:
    """Return `str(tensor)`.

    Args:
        value: the tensor's value; strings are an object array of bytes.
        dtype: the tensor's dtype.
        shape: the tensor's `TensorShape`.

    Returns:
        A text such as `tf.Tensor([1. 2.], shape=(2,), dtype=float32)`.

    Example:
        >>> import numpy as np
        >>> from tapejax._src.core import dtypes, printing
        >>> printing.tensor_str(np.array([1, 2], np.float32), dtypes.float32, (2,))
        'tf.Tensor([1. 2.], shape=(2,), dtype=float32)'
    """
    return f"tf.Tensor({_own_lines(value_str(value))}, shape={shape}, dtype={dtype.name})"


def tensor_repr(value: Array, dtype: DType, shape: Any) -> str:
    """Return `repr(tensor)`.

    Args:
        value: the tensor's value; strings are an object array of bytes.
        dtype: the tensor's dtype.
        shape: the tensor's `TensorShape`.

    Returns:
        A text such as `<tf.Tensor: shape=(), dtype=float32, numpy=1.5>`.

    Example:
        >>> import numpy as np
        >>> from tapejax._src.core import dtypes, printing
        >>> printing.tensor_repr(np.array(1.5, np.float32), dtypes.float32, ())
        '<tf.Tensor: shape=(), dtype=float32, numpy=1.5>'
    """
    text = _own_lines(value_repr(value))
    return f"<tf.Tensor: shape={shape}, dtype={dtype.name}, numpy={text}>"


def symbolic_repr(shape: Any, dtype: DType, name: str) -> str:
    """Return `repr` of a tensor inside `tf.function`, where it has no value yet.

    Args:
        shape: a `TensorShape`.
        dtype: its dtype.
        name: its name, such as `mul:0`.

    Returns:
        A text such as `<tf.Tensor 'mul:0' shape=(2, None) dtype=float32>`.
    """
    return f"<tf.Tensor '{name}' shape={shape} dtype={dtype.name}>"


def symbolic_str(shape: Any, dtype: DType, name: str) -> str:
    """Return `str` of a tensor inside `tf.function`, where it has no value yet.

    Args:
        shape: a `TensorShape`; one of unknown rank is left out.
        dtype: its dtype.
        name: its name, such as `mul:0`.

    Returns:
        A text such as `Tensor("mul:0", shape=(2, None), dtype=float32)`.
    """
    middle = "" if shape.rank is None else f", shape={shape}"
    return f'Tensor("{name}"{middle}, dtype={dtype.name})'


def variable_repr(value: Array, dtype: DType, shape: Any, name: str) -> str:
    """Return `repr(variable)`, which is also its `str`.

    Args:
        value: the current value.
        dtype: the variable's dtype.
        shape: the variable's `TensorShape`, which may know less than the value's.
        name: the variable's name with its output number, such as `k:0`.

    Returns:
        A text such as `<tf.Variable 'k:0' shape=() dtype=float32, numpy=1.5>`.

    Example:
        >>> import numpy as np
        >>> from tapejax._src.core import dtypes, printing
        >>> printing.variable_repr(np.array(3), dtypes.int64, (), "k:0")
        "<tf.Variable 'k:0' shape=() dtype=int64, numpy=3>"
    """
    text = _own_lines(value_repr(value))
    return f"<tf.Variable '{name}' shape={shape} dtype={dtype.name}, numpy={text}>"


def format_value(value: Array, spec: str) -> str:
    """Return `format(tensor, spec)`: the value alone, as NumPy formats it.

    Args:
        value: the tensor's value.
        spec: a format specification; other than `''` it needs a scalar.

    Returns:
        The text, such as `1.50` for `.2f`.

    Raises:
        TypeError: `spec` is given for an array that is not a scalar.
    """
    if value.ndim == 0:
        return format(value[()], spec)
    if spec:
        raise TypeError(
            f"unsupported format string passed to numpy.ndarray.__format__: {spec!r} needs a "
            f"scalar, the tensor has shape {value.shape}. Index it first, or format `t.numpy()`."
        )
    return str(value)
