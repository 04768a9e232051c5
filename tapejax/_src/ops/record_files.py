"""TFRecord files: records of bytes with checksums (CRC-32C), plain or compressed.

A record is its length (64 bits), the masked checksum of that, the bytes, and their masked checksum,
all little-endian.

References: RFC 3720, appendix B.4 (the checksum).
"""

from __future__ import annotations

import functools
import gzip
import os
import struct
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any, BinaryIO, cast

import numpy as np

from tapejax._src.core import errors

Words = np.ndarray[Any, np.dtype[np.uint32]]

_POLYNOMIAL = 0x82F63B78
_MASK = 0xA282EAD8
_ONES = 0xFFFFFFFF
_HEAD = struct.Struct("<QI")
_TAIL = struct.Struct("<I")
_LANE_BYTES = 256
_CHUNK = 1 << 18


# ---------------------------------------------------------------------- checksums
def _byte_table() -> Words:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table.astype(np.uint32)


_TABLE = _byte_table()
_LIST: list[int] = _TABLE.tolist()


def _apply(matrix: Words, words: Words) -> Words:
    """A linear map of 32 bits, given by the images of the single bits, of each word."""
    out = np.zeros_like(words)
    for bit in range(32):
        out ^= np.where(words >> np.uint32(bit) & np.uint32(1), matrix[bit], np.uint32(0))
    return out


@functools.lru_cache(maxsize=64)
def _zeros(count: int) -> Words:
    """The map of a checksum that `count` zero bytes make, for a power of two."""
    if count == 1:
        bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
        return (_TABLE[bits & 0xFF] ^ (bits >> np.uint32(8))).astype(np.uint32)
    half = _zeros(count // 2)
    return _apply(half, half)


def _register(data: bytes, crc: int) -> int:
    """The register after some bytes, one by one."""
    for byte in data:
        crc = _LIST[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc


def _of_lanes(data: Any, crc: int) -> int:
    """The same for a power of two of lanes, computed side by side and put together."""
    lanes = data.reshape(-1, _LANE_BYTES)
    first = np.zeros(len(lanes), np.uint32)
    first[0] = crc
    for n in range(_LANE_BYTES):
        first = _TABLE[(first ^ lanes[:, n]) & np.uint32(0xFF)] ^ (first >> np.uint32(8))
    size = _LANE_BYTES
    while len(first) > 1:
        first = _apply(_zeros(size), first[::2]) ^ first[1::2]
        size *= 2
    return int(first[0])


def crc32c(data: bytes) -> int:
    """The CRC-32C of some bytes.

    Example:
        >>> hex(crc32c(b"123456789"))
        '0xe3069283'
    """
    crc, at = _ONES, 0
    array = np.frombuffer(data, np.uint8)
    while len(data) - at >= 4 * _LANE_BYTES:
        lanes = 1 << ((len(data) - at) // _LANE_BYTES).bit_length() - 1
        crc = _of_lanes(array[at : at + lanes * _LANE_BYTES], crc)
        at += lanes * _LANE_BYTES
    return _register(data[at:], crc) ^ _ONES


def masked_crc(data: bytes) -> int:
    """The checksum as it stands in files."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK) & _ONES


# ---------------------------------------------------------------------- reading
class _Inflated:
    """A stream of zlib data, read like a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._decoder, self._ready = file, zlib.decompressobj(), b""

    def read(self, count: int = -1) -> bytes:
        """The next bytes, fewer at the end only."""
        while count < 0 or len(self._ready) < count:
            packed = self._file.read(_CHUNK)
            self._ready += self._decoder.decompress(packed) if packed else self._decoder.flush()
            if not packed:
                break
        count = len(self._ready) if count < 0 else count
        found, self._ready = self._ready[:count], self._ready[count:]
        return found

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def compression_name(compression: Any) -> str:
    """`""`, `"GZIP"` or `"ZLIB"`.

    Raises:
        InvalidArgumentError: If it is something else.
    """
    if isinstance(compression, bytes):
        compression = compression.decode()
    if compression in (None, "", "NONE"):
        return ""
    if compression in ("GZIP", "ZLIB"):
        return compression
    raise errors.InvalidArgumentError(
        None, None, f"Unsupported compression_type: {compression}. Use '', 'GZIP' or 'ZLIB'."
    )


def open_compressed(path: str, compression: str) -> BinaryIO:
    """A file for reading its uncompressed bytes.

    Raises:
        NotFoundError: If there is none.
    """
    try:
        zipped = compression == "GZIP"
        file: Any = gzip.GzipFile(path, "rb") if zipped else open(path, "rb")  # noqa: SIM115  the caller closes it
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory") from None
    except (IsADirectoryError, PermissionError) as error:
        raise errors.FailedPreconditionError(None, None, f"{path}; {error.strerror}") from None
    return cast("BinaryIO", _Inflated(file)) if compression == "ZLIB" else file


def read_records(path: str, compression: str = "") -> Iterator[bytes]:
    """The records of a TFRecord file.

    Args:
        path: The file.
        compression: `""`, `"GZIP"` or `"ZLIB"`.

    Raises:
        NotFoundError: If there is no such file.
        DataLossError: If a record is cut off or a checksum is wrong.
    """
    file = open_compressed(path, compression)
    try:
        at = 0
        while True:
            head = file.read(_HEAD.size)
            if not head:
                return
            data = _record(file, head, at)
            yield data
            at += _HEAD.size + len(data) + _TAIL.size
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise errors.DataLossError(None, None, f"{path}: inflate() failed: {error}") from error
    finally:
        file.close()


def _record(file: BinaryIO, head: bytes, at: int) -> bytes:
    if len(head) < _HEAD.size:
        raise errors.DataLossError(None, None, f"truncated record at {at}")
    length, check = _HEAD.unpack(head)
    if masked_crc(head[:8]) != check:
        raise errors.DataLossError(None, None, f"corrupted record at {at}")
    data, tail = file.read(length), file.read(_TAIL.size)
    if len(data) < length or len(tail) < _TAIL.size:
        raise errors.DataLossError(None, None, f"truncated record at {at}")
    if masked_crc(data) != _TAIL.unpack(tail)[0]:
        raise errors.DataLossError(None, None, f"corrupted record at {at}")
    return data


# ---------------------------------------------------------------------- writing
class RecordWriter:
    """Writes a TFRecord file.

    Args:
        path: The file; it is replaced.
        compression: `""`, `"GZIP"` or `"ZLIB"`.
        level: How hard to compress, 0 to 9; -1 leaves the choice.
    """

    def __init__(self, path: str, compression: str = "", level: int = -1) -> None:
        try:
            file: Any = open(path, "wb")  # noqa: SIM115  closed by `close`
        except FileNotFoundError:
            raise errors.NotFoundError(None, None, f"{path}; No such file or directory") from None
        self._file: Any = file
        if compression == "GZIP":
            packed = gzip.GzipFile("", "wb", 9 if level < 0 else level, file, 0)
            self._file, self._inner = packed, file
        else:
            self._inner = None
        self._encoder = zlib.compressobj(level) if compression == "ZLIB" else None

    def write(self, record: bytes) -> None:
        """Append a record."""
        length = struct.pack("<Q", len(record))
        parts = [length, _TAIL.pack(masked_crc(length)), record, _TAIL.pack(masked_crc(record))]
        self._put(b"".join(parts))

    def _put(self, data: bytes) -> None:
        self._file.write(data if self._encoder is None else self._encoder.compress(data))

    def flush(self) -> None:
        """Hand everything to the operating system."""
        if self._encoder is not None:
            self._file.write(self._encoder.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        """Complete the file."""
        if self._file.closed:
            return
        if self._encoder is not None:
            self._file.write(self._encoder.flush())
        self._file.close()
        if self._inner is not None:
            self._inner.close()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def path_text(path: Any) -> str:
    """A path given as text, bytes or a `pathlib.Path`."""
    return os.fsdecode(path)
