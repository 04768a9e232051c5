"""Tensors as bytes: TensorFlow's message `TensorProto`, so that files interchange."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import FROM_NUMPY, OP_NAMES, DType, as_dtype
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.registry import DTypeLike, public
from tapejax._src.engine.texts import as_texts, known_texts, text_tensor
from tapejax._src.ops import wire_format
from tapejax._src.ops.shape_checks import brackets
from tapejax._src.ops.wire_format import BrokenMessageError

_DTYPE, _SHAPE, _CONTENT, _STRINGS = 1, 2, 4, 8
_HALVES, _PAIRS = 13, (9, 12)
_VALUES = {5: "<f4", 6: "<f8", 7: "i", 8: "s", 9: "<f4", 10: "i", 11: "i", 12: "<f8", 13: "i"} | {
    16: "i",
    17: "i",
}
"""The fields that hold values, and how: floats of a size, integers, strings."""


def tensor_message(array: np.ndarray[Any, Any], packed: bool = False) -> bytes:
    """The message of an array.

    Args:
        array: The array; strings are an object array of bytes.
        packed: Whether strings are written as one field, lengths first.
    """
    dtype = FROM_NUMPY[array.dtype]
    sizes = [
        wire_format.field(2, wire_format.number_field(1, size) if size else b"")
        for size in array.shape
    ]
    made = wire_format.number_field(_DTYPE, dtype.as_datatype_enum)
    made += wire_format.field(_SHAPE, b"".join(sizes))
    if array.dtype.kind == "O" and packed:
        items: list[bytes] = array.ravel().tolist()
        content = wire_format.packed_varints([len(item) for item in items]) + b"".join(items)
        return made + (wire_format.field(_CONTENT, content) if content else b"")
    if array.dtype.kind == "O":
        return made + b"".join([wire_format.field(_STRINGS, text) for text in array.ravel()])
    content = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
    return made + (wire_format.field(_CONTENT, content) if content else b"")


def array_of_message(data: bytes) -> np.ndarray[Any, Any]:
    """The array of a message.

    Raises:
        BrokenMessageError: If the bytes are none.
    """
    number, shape, content = 0, (), b""
    values: list[Any] = []
    form = ""
    for field, wire, value in wire_format.fields(data):
        if field == _DTYPE and wire == wire_format.VARINT:
            number = value
        elif field == _SHAPE and wire == wire_format.BYTES:
            shape = _sizes(value)
        elif field == _CONTENT and wire == wire_format.BYTES:
            content = value
        elif field in _VALUES:
            form = _VALUES[field]
            values += _numbers(form, wire, value)
    try:
        dtype = as_dtype(number)
        count = int(np.prod(shape, dtype=np.int64))
        if content and dtype.name == "string":
            return _unpacked(content, count).reshape(shape)
        if content:
            return np.frombuffer(content, dtype.as_numpy_dtype).reshape(shape)
        return _filled(values, dtype, count).reshape(shape)
    except (TypeError, ValueError) as error:
        raise BrokenMessageError(str(error)) from None


def _unpacked(content: bytes, count: int) -> np.ndarray[Any, Any]:
    """Strings of one field: their lengths, then all of them."""
    sizes: list[int] = []
    at = 0
    for _ in range(count):
        size, at = wire_format.read_varint(content, at)
        sizes.append(size)
    texts = np.empty(count, object)
    for place, size in enumerate(sizes):
        texts[place] = content[at : at + size]
        at += size
    return texts


def _sizes(data: bytes) -> tuple[int, ...]:
    sizes: list[int] = []
    for field, _, value in wire_format.fields(data):
        if field == 2:
            parts = {number: size for number, _, size in wire_format.fields(value)}
            sizes.append(wire_format.signed(parts.get(1, 0)))
    return tuple(sizes)


def _numbers(form: str, wire: int, value: Any) -> list[Any]:
    if form == "s":
        return [value]
    if form == "i":
        return wire_format.integers_of(wire, value)
    return np.frombuffer(value, form).tolist()


def _filled(values: list[Any], dtype: DType, count: int) -> np.ndarray[Any, Any]:
    """The values; the last one stands for all that follow."""
    scalar = np.dtype(dtype.as_numpy_dtype)
    if dtype.name == "string":
        texts = np.full(count, values[-1] if values else b"", object)
        texts[: len(values)] = values
        return texts
    if scalar.kind == "c":
        parts = np.array(values, np.float64)
        array = (parts[::2] + 1j * parts[1::2]).astype(scalar)
    elif scalar.itemsize == 2 and dtype.is_floating:
        array = np.array(values, np.uint16).view(scalar)
    else:
        wide = np.array(values, np.float64 if dtype.is_floating else np.int64)
        array = wide.astype(scalar)
    if len(array) > count:
        raise ValueError("there are more values than the shape has places")
    last = array[-1:] if len(array) else np.zeros(1, scalar)
    return np.concatenate([array, np.repeat(last, count - len(array))])


@public("io.serialize_tensor")
def serialize_tensor(tensor: Any, name: str | None = None) -> Any:
    """A tensor as a string of bytes.

    Args:
        tensor: A tensor of any dtype and shape.
        name: Ignored.

    Returns:
        A string, scalar: the bytes of a `TensorProto`, as TensorFlow writes them.

    Example:
        >>> import tapejax as tf
        >>> text = tf.io.serialize_tensor(tf.constant([1.0, 2.0]))
        >>> tf.io.parse_tensor(text, tf.float32).numpy().tolist()
        [1.0, 2.0]
    """
    value = as_tensor(tensor)
    array = known_texts(value) if value.dtype.name == "string" else value.view()
    return text_tensor(tensor_message(array))


@public("io.parse_tensor")
def parse_tensor(serialized: Any, out_type: DTypeLike, name: str | None = None) -> Any:
    """The tensor that a string of bytes is.

    Args:
        serialized: A string, scalar: a serialized `TensorProto`.
        out_type: The dtype of the tensor.
        name: Ignored.

    Returns:
        A tensor of dtype `out_type`.

    Raises:
        InvalidArgumentError: If the bytes are no tensor, or one of another dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.io.parse_tensor(tf.io.serialize_tensor([1, 2]), tf.int32).numpy().tolist()
        [1, 2]
    """
    texts = known_texts(as_texts(serialized))
    if texts.ndim:
        raise InvalidArgumentError(
            f"Expected `serialized` to be a scalar, got shape: {brackets(texts.shape)} "
            "[Op:ParseTensor]"
        )
    try:
        array = array_of_message(texts[()])
    except BrokenMessageError:
        shown = base64.b64encode(texts[()]).decode()
        raise InvalidArgumentError(
            f"Could not parse `serialized` as TensorProto, base64: {shown} [Op:ParseTensor]"
        ) from None
    found, wanted = FROM_NUMPY[array.dtype], as_dtype(out_type)
    if found is not wanted:
        raise InvalidArgumentError(
            f"Type mismatch between parsed tensor ({OP_NAMES[found]}) and dtype "
            f"({OP_NAMES[wanted]}) [Op:ParseTensor]"
        )
    return constant_tensor(np.array(array))
