"""The wire format of Protocol Buffers: fields of a message as bytes.

References:
    https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
_WIDE = (1 << 64) - 1


class BrokenMessageError(ValueError):
    """Bytes are no message."""


def signed(value: int) -> int:
    """An unsigned 64 bit integer read as a signed one."""
    return value - (1 << 64) if value >> 63 else value


def varint(value: int) -> bytes:
    """An integer in groups of seven bits, the low ones first; negative ones take ten bytes."""
    value &= _WIDE
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def field(number: int, content: bytes) -> bytes:
    """A field of bytes: text, a message, or packed numbers."""
    return varint(number << 3 | BYTES) + varint(len(content)) + content


def number_field(number: int, value: int) -> bytes:
    """A field of one integer."""
    return varint(number << 3 | VARINT) + varint(value)


def packed_varints(values: Sequence[int]) -> bytes:
    """Integers, one after the other."""
    return b"".join([varint(value) for value in values])


def packed_floats(values: Sequence[float]) -> bytes:
    """float32 numbers, one after the other."""
    return np.asarray(values, "<f4").tobytes()


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """An integer and where it ends.

    Raises:
        BrokenMessageError: If it does not end.
    """
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise BrokenMessageError("truncated number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _WIDE, at
        shift += 7


def fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """The fields of a message in order.

    Args:
        data: The message.

    Yields:
        (number, wire type, value): an unsigned integer, or the bytes of the field.

    Raises:
        BrokenMessageError: If it is no message.
    """
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, wire = key >> 3, key & 7
        if not number:
            raise BrokenMessageError("a field has the number 0")
        if wire == VARINT:
            value, at = read_varint(data, at)
            yield number, wire, value
            continue
        if wire == BYTES:
            size, at = read_varint(data, at)
        elif wire in (FOUR, EIGHT):
            size = 4 if wire == FOUR else 8
        else:
            raise BrokenMessageError(f"wire type {wire} is not known")
        if at + size > len(data):
            raise BrokenMessageError("truncated field")
        yield number, wire, data[at : at + size]
        at += size


def varints_of(data: bytes) -> list[int]:
    """Packed unsigned integers."""
    if not data or max(data) < 0x80:  # the common case: each in one byte
        return list(data)
    values: list[int] = []
    at = 0
    while at < len(data):
        value, at = read_varint(data, at)
        values.append(value)
    return values


def integers_of(wire: int, value: Any) -> list[int]:
    """The signed integers of one occurrence of a repeated field, packed or not.

    Raises:
        BrokenMessageError: If they are not integers.
    """
    if wire == VARINT:
        return [signed(value)]
    if wire != BYTES:
        raise BrokenMessageError("integers expected")
    return [signed(number) for number in varints_of(value)]


def floats_of(wire: int, value: Any) -> list[float]:
    """The float32 numbers of one occurrence of a repeated field, packed or not.

    Raises:
        BrokenMessageError: If they are not float32 numbers.
    """
    if wire == FOUR:
        return [struct.unpack("<f", value)[0]]
    if wire != BYTES or len(value) % 4:
        raise BrokenMessageError("float32 numbers expected")
    return np.frombuffer(value, "<f4").tolist()
