"""`TensorProto`, the message that TensorFlow writes tensors as, without the protobuf library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

_VARINT, _BYTES = 0, 2


@dataclass
class Dim:
    """The size of one axis."""

    size: int = 0
    name: str = ""


@dataclass
class TensorShapeProto:
    """The sizes of a tensor."""

    dim: list[Dim] = field(default_factory=list[Dim])
    unknown_rank: bool = False


@dataclass
class TensorProto:
    """A tensor as bytes.

    Attributes:
        dtype: The number of the dtype (`tf.DType.as_datatype_enum`).
        tensor_shape: The sizes.
        tensor_content: The elements in row-major order, little-endian.
        string_val: The elements of a tensor of strings.
    """

    dtype: int = 0
    tensor_shape: TensorShapeProto = field(default_factory=TensorShapeProto)
    tensor_content: bytes = b""
    string_val: list[bytes] = field(default_factory=list[bytes])

    def SerializeToString(self) -> bytes:
        """The message in protobuf's wire format."""
        dims = [_tagged(1, _VARINT, dim.size) for dim in self.tensor_shape.dim]
        shape = b"".join(_tagged(2, _BYTES, dim) for dim in dims)
        parts = [_tagged(1, _VARINT, self.dtype), _tagged(2, _BYTES, shape)]
        if self.tensor_content:
            parts.append(_tagged(4, _BYTES, self.tensor_content))
        parts += [_tagged(8, _BYTES, text) for text in self.string_val]
        return b"".join(parts)

    @classmethod
    def FromString(cls, data: bytes) -> Self:
        """The message of some bytes.

        Raises:
            ValueError: If it holds elements in a field that is not `tensor_content` or
                `string_val`, or the bytes are no message.
        """
        found = cls()
        for number, value in _fields(data):
            if number == 1:
                found.dtype = value
            elif number == 2:
                found.tensor_shape = _shape(value)
            elif number == 4:
                found.tensor_content = value
            elif number == 8:
                found.string_val.append(value)
            elif number != 3:  # 3 is the version
                raise ValueError(
                    f"A TensorProto with elements in field {number} cannot be read: write it with "
                    "tf.io.serialize_tensor"
                )
        return found

    def ParseFromString(self, data: bytes) -> int:
        """Take over the message of some bytes; returns how many there are."""
        self.__dict__.update(self.FromString(data).__dict__)
        return len(data)


def _shape(data: bytes) -> TensorShapeProto:
    dims = [value for number, value in _fields(data) if number == 2]
    sizes = [dict(_fields(dim)).get(1, 0) for dim in dims]
    return TensorShapeProto([Dim(size) for size in sizes])


def _varint(value: int) -> bytes:
    value %= 2**64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _tagged(number: int, kind: int, value: Any) -> bytes:
    head = _varint(number << 3 | kind)
    return head + (_varint(value) if kind == _VARINT else _varint(len(value)) + value)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("The bytes are no TensorProto: they end within a number")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        value, at = _read_varint(data, at)
        if tag & 7 == _BYTES:
            start, at = at, at + value
            value = data[start:at]
        elif tag & 7 != _VARINT:
            raise ValueError(f"The bytes are no TensorProto: wire type {tag & 7}")
        yield tag >> 3, value
