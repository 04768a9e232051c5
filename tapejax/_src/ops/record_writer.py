"""`tf.io.TFRecordWriter`: files of records, written as TensorFlow does; see `record_files.py`."""

from __future__ import annotations

import zlib
from typing import IO, Any

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.checksums import masked_crc32c
from tapejax._src.ops.paths import open_local, path_text

_COMPRESSIONS = ("", "GZIP", "ZLIB")


@public("io.TFRecordOptions")
class TFRecordOptions:
    """How the records of a file are compressed.

    Args:
        compression_type: `''` or None, `'GZIP'` or `'ZLIB'`; or another `TFRecordOptions`.
        flush_mode: Ignored.
        input_buffer_size: Ignored.
        output_buffer_size: Ignored.
        window_bits: The size of zlib's window, a power of two.
        compression_level: 0 (none) to 9 (best). Default: zlib's.
        compression_method: Ignored: there is one.
        mem_level: How much memory zlib uses, 1 to 9.
        compression_strategy: zlib's strategy.

    Raises:
        ValueError: If there is no such compression.

    Example:
        >>> import tapejax as tf
        >>> tf.io.TFRecordOptions(compression_type="GZIP").compression_type
        'GZIP'
    """

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        if isinstance(compression_type, TFRecordOptions):
            compression_type = compression_type.compression_type
        self.get_compression_type_string(compression_type)  # raises
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The name of the compression of options, or of a name itself."""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        name = "" if options is None else options
        if name not in _COMPRESSIONS:
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return name


@public("io.TFRecordWriter")
class TFRecordWriter:
    """Writes records to a file, which TensorFlow and `tf.data.TFRecordDataset` read.

    Args:
        path: The file; it is written anew.
        options: `'GZIP'`, `'ZLIB'`, None, or a `tf.io.TFRecordOptions`.

    Raises:
        ValueError: If there is no such compression.
        NotFoundError: If the folder does not exist.

    Example:
        >>> import os, tempfile
        >>> import tapejax as tf
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "data.tfrecord")
        >>> with tf.io.TFRecordWriter(path) as writer:
        ...     writer.write(b"some record")
        >>> os.path.getsize(path)
        27
        >>> folder.cleanup()
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        self._file: IO[bytes] | None = None
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        name = TFRecordOptions.get_compression_type_string(options)
        self._file = open_local(path_text(path), "wb")
        self._compressor = None if not name else _compressor(name, options)

    def __enter__(self) -> TFRecordWriter:
        """Enter a block at whose end the file is closed."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        self.close()

    def __del__(self) -> None:
        self.close()

    def _open(self) -> IO[bytes]:
        if self._file is None:
            raise InvalidArgumentError("Writer is closed: the file was closed before.")
        return self._file

    def write(self, record: Any) -> None:
        """Write one record.

        Args:
            record: Bytes, or a string tensor.

        Raises:
            TypeError: If it is something else.
        """
        file = self._open()
        if isinstance(record, Tensor):
            record = record.numpy()
        if isinstance(record, str):
            record = record.encode()
        if not isinstance(record, (bytes, bytearray, memoryview)):
            raise TypeError(f"expected bytes for a record, {type(record).__name__} found")
        data = bytes(record)
        head = len(data).to_bytes(8, "little")
        parts = [head, _checksum(head), data, _checksum(data)]
        if self._compressor is not None:
            parts = [self._compressor.compress(b"".join(parts))]
        file.write(b"".join(parts))

    def flush(self) -> None:
        """Write what is held back to the file."""
        file = self._open()
        if self._compressor is not None:
            file.write(self._compressor.flush(zlib.Z_SYNC_FLUSH))
        file.flush()

    def close(self) -> None:
        """Close the file; nothing happens if it is closed."""
        if self._file is None:
            return
        if self._compressor is not None:
            self._file.write(self._compressor.flush())
        self._file.close()
        self._file = None


def _compressor(name: str, options: TFRecordOptions) -> Any:
    bits = options.window_bits or zlib.MAX_WBITS
    return zlib.compressobj(
        -1 if options.compression_level is None else options.compression_level,
        zlib.DEFLATED,
        bits + 16 if name == "GZIP" and bits <= zlib.MAX_WBITS else bits,
        options.mem_level or 9,
        options.compression_strategy or zlib.Z_DEFAULT_STRATEGY,
    )


def _checksum(data: bytes) -> bytes:
    return masked_crc32c(data).to_bytes(4, "little")
