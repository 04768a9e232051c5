"""CRC-32C, the checksum of record files.

A checksum is a linear function of the bits of the data: long data is cut into pieces whose
checksums NumPy computes side by side, and that are then put together.

References:
    RFC 3720, appendix B.4.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

_POLYNOMIAL = 0x82F63B78
_ONES = 0xFFFFFFFF
_SHORT = 256
"""Below this length a loop in Python is faster."""
_WIDTH_BITS = 6
"""The pieces of long data have 2 to the power of this many bytes."""

_Words = np.ndarray[Any, np.dtype[np.uint32]]


@functools.lru_cache(maxsize=1)
def _byte_table() -> list[int]:
    table: list[int] = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


@functools.lru_cache(maxsize=64)
def _shift(power: int) -> tuple[_Words, ...]:
    """Tables, one for each byte of a checksum, that move it over `2 ** power` bytes."""
    if power:
        before = _shift(power - 1)
        return tuple([_moved(_moved(_entries(byte), before), before) for byte in range(4)])
    table = np.array(_byte_table(), np.uint32)
    return tuple(
        [table[_entries(byte) & 0xFF] ^ (_entries(byte) >> np.uint32(8)) for byte in range(4)]
    )


def _entries(byte: int) -> _Words:
    return np.arange(256, dtype=np.uint32) << np.uint32(8 * byte)


def _moved(values: _Words, tables: tuple[_Words, ...]) -> _Words:
    found = tables[0][values & 0xFF]
    for byte in range(1, 4):
        found = found ^ tables[byte][(values >> np.uint32(8 * byte)) & 0xFF]
    return found


def crc32c(data: bytes) -> int:
    """The CRC-32C of bytes, an unsigned 32 bit integer."""
    if len(data) < _SHORT:
        table, value = _byte_table(), _ONES
        for byte in data:
            value = table[(value ^ byte) & 0xFF] ^ value >> 8
        return value ^ _ONES
    return _long(data) ^ _ONES


def _long(data: bytes) -> int:
    width = 1 << _WIDTH_BITS
    pieces = 1 << (-(-len(data) // width) - 1).bit_length()
    padded = np.zeros(pieces * width, np.uint8)  # zeros before the data change nothing
    start = len(padded) - len(data)
    padded[start:] = np.frombuffer(data, np.uint8)
    padded[start : start + 4] ^= 0xFF  # the checksum begins with all ones
    columns = padded.reshape(pieces, width).T.astype(np.uint32)
    table = np.array(_byte_table(), np.uint32)
    values = np.zeros(pieces, np.uint32)
    for column in columns:
        values = table[(values ^ column) & 0xFF] ^ (values >> np.uint32(8))
    power = _WIDTH_BITS
    while len(values) > 1:
        values = _moved(values[::2], _shift(power)) ^ values[1::2]
        power += 1
    return int(values[0])


def masked_crc32c(data: bytes) -> int:
    """The checksum as record files store it, so that data may itself hold checksums."""
    value = crc32c(data)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & _ONES
