"""TFRecord files: records of bytes with checksums (CRC-32C), plain or compressed.

A record is its length (64 bits), the masked checksum of that, the bytes, and their masked checksum,
all little-endian.
"""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any, BinaryIO, cast

from tapejax._src.core import errors
from tapejax._src.ops.checksums import masked_crc32c

_HEAD = struct.Struct("<QI")
_TAIL = struct.Struct("<I")
_CHUNK = 1 << 18


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
    if masked_crc32c(head[:8]) != check:
        raise errors.DataLossError(None, None, f"corrupted record at {at}")
    data, tail = file.read(length), file.read(_TAIL.size)
    if len(data) < length or len(tail) < _TAIL.size:
        raise errors.DataLossError(None, None, f"truncated record at {at}")
    if masked_crc32c(data) != _TAIL.unpack(tail)[0]:
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
        parts = [
            length,
            _TAIL.pack(masked_crc32c(length)),
            record,
            _TAIL.pack(masked_crc32c(record)),
        ]
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
