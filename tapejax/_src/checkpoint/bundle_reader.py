"""Reads the checkpoints that TensorFlow writes: the index, a sorted table, and the data files.

The table's blocks hold keys, each without what it shares with the one before, and messages that say
where the bytes of a tensor are. Checksums are verified. Tensors of strings are left out.

References:
    https://github.com/google/leveldb/blob/main/doc/table_format.md
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import as_dtype
from tapejax._src.ops.checksums import masked_crc32c
from tapejax._src.ops.wire_format import BrokenMessageError, fields, read_varint

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
_TRAILER = 5
_DTYPES = {
    1: "float32",
    2: "float64",
    3: "int32",
    4: "uint8",
    5: "int16",
    6: "int8",
    8: "complex64",
    9: "int64",
    10: "bool",
    14: "bfloat16",
    17: "uint16",
    18: "complex128",
    19: "float16",
    22: "uint32",
    23: "uint64",
}


def read(prefix: str) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a checkpoint by TensorFlow, by their keys.

    Args:
        prefix: Its path without `.index`.

    Raises:
        DataLossError: If a file is damaged.
    """
    try:
        return _read(prefix)
    except (BrokenMessageError, IndexError, struct.error) as error:
        raise errors.DataLossError(f"The checkpoint {prefix} is damaged: {error}") from None


def _read(prefix: str) -> dict[str, np.ndarray[Any, Any]]:
    entries = dict(_table(Path(prefix + ".index").read_bytes()))
    header = {number: value for number, _, value in fields(entries.pop(b"", b""))}
    shards = int(header.get(1, 1))
    data = [Path(f"{prefix}.data-{n:05d}-of-{shards:05d}").read_bytes() for n in range(shards)]
    found: dict[str, np.ndarray[Any, Any]] = {}
    for key, message in entries.items():
        array = _array(key.decode(), message, data)
        if array is not None:
            found[key.decode()] = array
    return found


def _array(key: str, message: bytes, data: list[bytes]) -> np.ndarray[Any, Any] | None:
    shape: list[int] = []
    parts: dict[int, Any] = {}
    for number, _, value in fields(message):
        if number == 2:
            shape = [_size(dim) for n, _, dim in fields(value) if n == 2]
        else:
            parts[number] = value
    name = _DTYPES.get(parts.get(1, 1))
    if name is None or 7 in parts:  # strings, and slices of variables that were split
        return None
    start, size = parts.get(4, 0), parts.get(5, 0)
    content = data[parts.get(3, 0)][start : start + size]
    dtype = np.dtype(as_dtype(name).as_numpy_dtype)
    checksum = parts.get(6)
    if checksum is not None:
        given = struct.unpack("<I", checksum)[0] if isinstance(checksum, bytes) else checksum
        if masked_crc32c(content) != given:
            raise errors.DataLossError(f"The bytes of {key} do not have their checksum.")
    return np.frombuffer(content, dtype).reshape(shape)


def _size(dimension: bytes) -> int:
    return next((int(value) for number, _, value in fields(dimension) if number == 1), 0)


# --------------------------------------------------------------------------------- sorted tables
def _table(file: bytes) -> Iterator[tuple[bytes, bytes]]:
    if len(file) < _FOOTER or struct.unpack("<Q", file[-8:])[0] != _MAGIC:
        raise BrokenMessageError("the index is no table")
    footer = file[-_FOOTER:]
    at = 0
    for _ in range(2):  # the block of blocks of metadata, which is empty
        _, at = read_varint(footer, at)
    for _, handle in _block(file, footer, at):
        yield from _block(file, handle, 0)


def _block(file: bytes, handle: bytes, at: int) -> Iterator[tuple[bytes, bytes]]:
    start, at = read_varint(handle, at)
    size, _ = read_varint(handle, at)
    content = file[start : start + size]
    trailer = file[start + size : start + size + _TRAILER]
    if masked_crc32c(content + trailer[:1]) != struct.unpack("<I", trailer[1:])[0]:
        raise BrokenMessageError("a block of the index does not have its checksum")
    if trailer[0]:
        raise BrokenMessageError("the index is compressed")
    (restarts,) = struct.unpack("<I", content[-4:])
    end = len(content) - 4 * (restarts + 1)
    key, at = b"", 0
    while at < end:
        shared, at = read_varint(content, at)
        own, at = read_varint(content, at)
        length, at = read_varint(content, at)
        key = key[:shared] + content[at : at + own]
        at += own
        yield key, content[at : at + length]
        at += length
