"""Datasets of what stands in files: lines, records, fixed pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import string
from tapejax._src.core.specs import TensorSpec
from tapejax._src.data.batching import Unbatch
from tapejax._src.data.dataset import Dataset
from tapejax._src.data.dataset_base import as_int
from tapejax._src.data.node import UNKNOWN, Node, Shapes, Stream
from tapejax._src.data.sources import TensorSlices
from tapejax._src.data.structure import WRAPPING, leaf_of
from tapejax._src.ops.record_files import (
    compression_name,
    open_compressed,
    path_text,
    read_records,
)

_CHUNK = 1 << 18


def _text(record: bytes) -> Any:
    array = np.empty((), object)
    array[()] = record
    return array


class Files(Node):
    """The records of the files that another node names.

    Args:
        name: What TensorFlow calls the class.
        names: The node of file names.
        read: From a path to the records.
    """

    def __init__(self, name: str, names: Node, read: Callable[[str], Iterator[bytes]]) -> None:
        super().__init__(names)
        self.name, self._read = name, read
        self.spec = TensorSpec((), string)

    @property
    def structure(self) -> Any:
        """One string."""
        return self.spec

    def shapes(self) -> Shapes:
        """Scalars."""
        return [()]

    def cardinality(self) -> int:
        """Nobody knows."""
        return UNKNOWN

    def stream(self) -> Stream:
        """File after file."""
        for (path,) in self.source.stream():
            for record in self._read(path_text(path[()])):
                yield (_text(record),)


def names_of(filenames: Any) -> Node:
    """The node of what is given as file names: a name, a list of them, or a dataset.

    Raises:
        TypeError: If they are no strings.
    """
    node = WRAPPING.unwrap(filenames)
    if node is not None:
        spec = node.spec
        if not isinstance(spec, TensorSpec) or spec.dtype is not string:
            raise TypeError(
                "The `filenames` argument must contain `tf.string` elements. Got a dataset of "
                f"{spec}."
            )
        return node if spec.shape.rank == 0 else Unbatch(node)
    if hasattr(filenames, "__fspath__"):
        filenames = path_text(filenames)
    if isinstance(filenames, (list, tuple)):
        filenames = [path_text(f) if hasattr(f, "__fspath__") else f for f in filenames]  # pyright: ignore[reportUnknownVariableType]
    names = leaf_of(filenames)
    if names.dtype.kind != "O" and names.size:
        raise TypeError(
            "The `filenames` argument must contain `tf.string` elements. Got "
            f"{names.dtype.name!r} elements."
        )
    return TensorSlices.of(names.reshape(-1).astype(object))


def _lines(path: str, compression: str) -> Iterator[bytes]:
    file = open_compressed(path, compression)
    try:
        rest = b""
        while chunk := file.read(_CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield line.removesuffix(b"\r")
        if rest:
            yield rest.removesuffix(b"\r")
    finally:
        file.close()


class TextLineDataset(Dataset):
    r"""The lines of text files.

    Args:
        filenames: A name, a list of them, or a dataset of names.
        compression_type: `""`, `"GZIP"` or `"ZLIB"`.
        buffer_size: Accepted.
        num_parallel_reads: Accepted: files are read one after the other.
        name: Accepted.

    Example:
        >>> import pathlib, tempfile
        >>> import tapejax as tf
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
        >>> _ = path.write_text("one\ntwo\n")
        >>> [line.numpy() for line in tf.data.TextLineDataset(str(path))]
        [b'one', b'two']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        del buffer_size, num_parallel_reads, name
        compression = compression_name(compression_type)
        names = names_of(filenames)
        super().__init__(Files("TextLineDatasetV2", names, lambda path: _lines(path, compression)))


class TFRecordDataset(Dataset):
    """The records of TFRecord files, each a string.

    Args:
        filenames: A name, a list of them, or a dataset of names.
        compression_type: `""`, `"GZIP"` or `"ZLIB"`.
        buffer_size: Accepted.
        num_parallel_reads: Accepted: files are read one after the other.
        name: Accepted.

    Raises:
        TypeError: If the names are no strings.

    While iterating, `DataLossError` tells of a record that is cut off or has a wrong checksum.
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: Any = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        del buffer_size, num_parallel_reads, name
        compression = compression_name(compression_type)
        node = Files(
            "TFRecordDatasetV2", names_of(filenames), lambda path: read_records(path, compression)
        )
        super().__init__(node)


class FixedLengthRecordDataset(Dataset):
    """Pieces of one length of binary files.

    Args:
        filenames: A name, a list of them, or a dataset of names.
        record_bytes: The length of a record.
        header_bytes: How many bytes to leave out at the beginning of each file.
        footer_bytes: And at the end.
        buffer_size: Accepted.
        compression_type: `""`, `"GZIP"` or `"ZLIB"`.
        num_parallel_reads: Accepted: files are read one after the other.
        name: Accepted.

    While iterating, `InvalidArgumentError` tells of a file that is no whole number of records.
    """

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: str | None = None,
        num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        del buffer_size, num_parallel_reads, name
        size = as_int(record_bytes)
        if size <= 0:
            raise errors.InvalidArgumentError(None, None, "`record_bytes` must be > 0")
        ends = (as_int(header_bytes or 0), as_int(footer_bytes or 0))
        compression = compression_name(compression_type)

        def read(path: str) -> Iterator[bytes]:
            return _pieces(path, compression, size, *ends)

        super().__init__(Files("FixedLengthRecordDatasetV2", names_of(filenames), read))


def _pieces(path: str, compression: str, size: int, header: int, footer: int) -> Iterator[bytes]:
    file = open_compressed(path, compression)
    try:
        data = file.read()
    finally:
        file.close()
    body = data[header : len(data) - footer]
    if len(body) % size:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file "
            f'"{path}" has body length {len(body)} bytes, which is not an exact multiple of the '
            f"record length ({size} bytes).",
        )
    for at in range(0, len(body), size):
        yield body[at : at + size]
