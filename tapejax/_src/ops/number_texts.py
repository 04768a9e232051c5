"""`tf.as_string` and `tf.strings.format`: values as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.dtypes import DType
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import coded_tensor, is_known, is_text, map_texts, text_tensor
from tapejax._src.ops.casting import cast
from tapejax._src.ops.host_print import tensor_text
from tapejax._src.ops.text_rows import over_flat_values

_FILLS = ("", " ", "+", "-", "0", "#")


def _refusal(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{text} [Op:AsString]")


@public("as_string", "strings.as_string")
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Numbers as text.

    Args:
        input: Numbers, bools or strings of any shape.
        precision: How many digits of a floating point number follow the point; -1: six.
        scientific: Write floating point numbers with an exponent.
        shortest: Write floating point numbers with or without exponent, whichever is shorter.
        width: The least length; -1: any.
        fill: What is put before a shorter text: `''` or `' '`, `'0'`; `'-'` puts spaces behind it.
        name: Ignored.

    Returns:
        Strings of the same shape. In a `tf.function` only bools and strings can be unknown.

    Raises:
        InvalidArgumentError: If the options do not fit each other or the dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.as_string([3, 2]).numpy().tolist()
        [b'3', b'2']
        >>> tf.strings.as_string(3.1415926, precision=2).numpy()
        b'3.14'
    """
    if fill not in _FILLS:
        raise _refusal(f'Fill argument not supported: "{fill}"')
    if scientific and shortest:
        raise _refusal("Cannot select both scientific and shortest notation")
    kind = "e" if scientific else "g" if shortest else "f"

    def convert(flat: Any) -> Any:
        tensor = as_tensor(flat)
        form = _form(tensor.dtype, precision, kind, width, fill)
        if is_text(tensor):
            return map_texts(lambda text: form(text.decode("latin-1")), [tensor])
        if tensor.dtype.is_bool and not is_known(tensor):
            return coded_tensor(cast(tensor, "int32"), [form(False), form(True)])
        values = tensor.view()
        texts = np.empty(values.size, object)
        texts[:] = [form(value) for value in values.ravel().tolist()]
        return text_tensor(texts.reshape(values.shape))

    return over_flat_values(input, convert)


def _form(dtype: DType, precision: int, kind: str, width: int, fill: str) -> Callable[[Any], bytes]:
    """The function that writes one value."""
    real = dtype.is_floating or dtype.is_complex
    if not real and kind != "f":
        raise _refusal(f"scientific and shortest format not supported for datatype {dtype.name}")
    if not real and precision >= 0:
        raise _refusal(f"precision not supported for datatype {dtype.name}")
    flags = fill if width >= 0 or fill in ("+", "#") else fill.replace("0", "")
    size = str(width) if width >= 0 else ""
    if dtype.is_bool:
        return lambda value: b"true" if value else b"false"
    if dtype.name == "string":
        side = fill if fill == "-" else ""
        return lambda value: (f"%{side}{size}s" % value).encode("latin-1")
    if not real:
        return lambda value: (f"%{flags}{size}d" % value).encode()
    digits = f".{precision}" if precision >= 0 else ""
    pattern, plain = f"%{flags}{size}{digits}{kind}", f"%{flags.replace('0', '')}{size}s"

    def number(value: float) -> str:
        if value != value or value in (float("inf"), float("-inf")):
            return plain % ("nan" if value != value else "inf" if value > 0 else "-inf")
        return pattern % value

    if dtype.is_complex:
        return lambda value: f"({number(value.real)},{number(value.imag)})".encode()
    return lambda value: number(value).encode()


@public("strings.format")
def format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Any:
    """A text with values in the places of placeholders.

    Args:
        template: The text.
        inputs: A tensor, or a list of as many tensors as there are placeholders.
        placeholder: What stands for a value.
        summarize: How many elements to show at each end of each axis; -1 shows all.
        name: Ignored.

    Returns:
        A string, scalar.

    Raises:
        ValueError: If there are not as many inputs as placeholders.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.format("x is {}", tf.range(3)).numpy()
        b'x is [0 1 2]'
    """
    values = inputs if isinstance(inputs, (list, tuple)) else nest.flatten(inputs)
    tensors = [as_tensor(value) for value in values]
    parts = template.split(placeholder)
    if len(parts) - 1 != len(tensors):
        raise ValueError(
            f"The template expects {len(parts) - 1} tensors, but the inputs only has "
            f"{len(tensors)}. Please ensure the number of placeholders in template matches inputs "
            "length."
        )
    shown = [tensor_text(tensor.view(), summarize) for tensor in tensors]
    made = parts[0] + "".join([text + part for text, part in zip(shown, parts[1:], strict=True)])
    return text_tensor(made.encode())
