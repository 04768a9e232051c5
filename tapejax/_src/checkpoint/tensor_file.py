"""The file of a checkpoint: named arrays and a description, in the safetensors format.

Such a file is eight bytes of length, a JSON header of that length, and the arrays' bytes. The
header gives each array's dtype, shape and place. What safetensors leaves open is in `__metadata__`:
the object graph, the dtypes that the format has no name for, and checksums of everything.

Nothing in a file is ever executed, imported or unpickled.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import struct
import uuid
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tapejax._src.core import dtypes, errors

_FORMAT = "tapejax.checkpoint.1"
_LARGEST_HEADER = 2**30
_CODES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}
_PARTS = {"complex64": "float32", "complex128": "float64"}
"""Complex numbers are stored as pairs of their parts."""


class Entry(NamedTuple):
    """Where one array is.

    Attributes:
        dtype: Its dtype.
        shape: Its shape.
        start: Offset of its bytes from the end of the header.
        size: How many they are.
        checksum: Their CRC-32.
    """

    dtype: dtypes.DType
    shape: tuple[int, ...]
    start: int
    size: int
    checksum: int


class Contents(NamedTuple):
    """The header of a file.

    Attributes:
        path: The file.
        description: What `write` was given as `description`.
        entries: Name -> place of each array.
        offset: Where the arrays begin.
    """

    path: str
    description: Any
    entries: dict[str, Entry]
    offset: int


# ---------------------------------------------------------------------- writing
def _encoded(array: np.ndarray[Any, Any]) -> tuple[str, str, list[int], bytes]:
    """Name of the dtype, safetensors' code, its shape there, and the bytes of an array."""
    if array.dtype.kind in "OSU":
        items = [s.encode() if isinstance(s, str) else bytes(s) for s in array.ravel().tolist()]
        data = b"".join(struct.pack("<Q", len(item)) + item for item in items)
        return "string", "U8", [len(data)], data
    name = dtypes.as_dtype(array.dtype).name
    array = np.ascontiguousarray(array).reshape(array.shape)
    if name in _PARTS:
        part = np.dtype(_PARTS[name])
        stored = array.reshape(-1).view(part)
        return name, _CODES[part.name], [*array.shape, 2], _little_endian(stored)
    if name in _CODES:
        return name, _CODES[name], list(array.shape), _little_endian(array)
    data = _little_endian(array)
    return name, "U8", [len(data)], data


def _little_endian(array: np.ndarray[Any, Any]) -> bytes:
    if array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and not _IS_LITTLE):
        array = array.astype(array.dtype.newbyteorder("<"))
    return array.tobytes()


_IS_LITTLE = np.dtype("<i4").isnative


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def write(path: str | Path, arrays: dict[str, np.ndarray[Any, Any]], description: Any) -> None:
    """Write a file, so that at every moment either the old one or all of the new one is there.

    Args:
        path: The file. Its folder is created if it is missing.
        arrays: Name -> array.
        description: Anything JSON can hold.

    Raises:
        OSError: If it cannot be written.
    """
    header: dict[str, Any] = {}
    kinds: dict[str, list[Any]] = {}
    encoded = {name: _encoded(np.asarray(array)) for name, array in arrays.items()}
    # The widest dtypes come first, so that every array is aligned.
    order = sorted(encoded, key=lambda name: (-_width(encoded[name][1]), name))
    end = 0
    for name in order:
        kind, code, shape, data = encoded[name]
        header[name] = {"dtype": code, "shape": shape, "data_offsets": [end, end + len(data)]}
        kinds[name] = [kind, list(np.shape(arrays[name])), zlib.crc32(data)]
        end += len(data)
    described = json.dumps(description, separators=(",", ":"))
    metadata = {"format": _FORMAT, "description": described, "tensors": json.dumps(kinds)}
    metadata["checksum"] = str(_checksum(header, metadata))
    text = _canonical({"__metadata__": metadata, **header})
    text += b" " * (-len(text) % 8)
    with replaced(path) as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for name in order:
            file.write(encoded[name][3])


def _width(code: str) -> int:
    return int(code.lstrip("BFIUOL") or 8) if code != "BOOL" else 8


def _checksum(header: dict[str, Any], metadata: dict[str, str]) -> int:
    rest = {key: value for key, value in metadata.items() if key != "checksum"}
    return zlib.crc32(_canonical([header, rest]))


@contextlib.contextmanager
def replaced(path: str | Path) -> Generator[Any]:
    """A file open for writing bytes that takes the place of `path` when the block ends well.

    Args:
        path: The file. Its folder is created if it is missing.

    Yields:
        The open file.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{TEMPORARY}{uuid.uuid4().hex}")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


TEMPORARY = "tmp-"
"""What the ending of a file that is being written starts with."""


def _sync_folder(folder: Path) -> None:
    """Make the renaming last through a power failure, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# ---------------------------------------------------------------------- reading
def read(path: str | Path) -> Contents:
    """Read and check the header of a file.

    Args:
        path: The file.

    Returns:
        What is in it.

    Raises:
        NotFoundError: If there is no such file.
        DataLossError: If it is damaged or something else than a checkpoint.
    """
    path = os.fspath(path)
    try:
        with open(path, "rb") as file:
            total = os.fstat(file.fileno()).st_size
            return _header(path, file, total)
    except FileNotFoundError as error:
        raise errors.NotFoundError(f"There is no checkpoint file {path}.") from error
    except (ValueError, KeyError, TypeError, RecursionError, struct.error) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error


def _damaged(path: str, why: str) -> errors.DataLossError:
    return errors.DataLossError(
        f"The checkpoint file {path} is damaged or was not written by tapejax ({why}). Restore an "
        "earlier checkpoint: tf.train.get_checkpoint_state(directory) lists them."
    )


def _header(path: str, file: Any, total: int) -> Contents:
    (length,) = struct.unpack("<Q", file.read(8))
    if not 2 <= length <= min(total - 8, _LARGEST_HEADER):
        raise ValueError("the length of the header is impossible")
    header = json.loads(file.read(length))
    metadata = header.pop("__metadata__")
    if metadata["format"] != _FORMAT:
        raise ValueError("it has another format")
    if int(metadata["checksum"]) != _checksum(header, metadata):
        raise ValueError("the header's checksum is wrong")
    kinds = json.loads(metadata["tensors"])
    if kinds.keys() != header.keys():
        raise ValueError("the header contradicts itself")
    entries: dict[str, Entry] = {}
    for name, (kind, shape, checksum) in kinds.items():
        start, end = header[name]["data_offsets"]
        if not 0 <= start <= end <= total - 8 - length:
            raise ValueError(f"{name} lies outside the file")
        entries[name] = Entry(dtypes.as_dtype(kind), tuple(shape), start, end - start, checksum)
    if sum(entry.size for entry in entries.values()) != total - 8 - length:
        raise ValueError("the file is longer or shorter than its header says")
    return Contents(path, json.loads(metadata["description"]), entries, 8 + length)


def load(contents: Contents, names: list[str]) -> dict[str, np.ndarray[Any, Any]]:
    """Read arrays of a file.

    Args:
        contents: What `read` returned.
        names: Which arrays.

    Returns:
        Name -> array.

    Raises:
        DataLossError: If their bytes are not those that were written.
    """
    found: dict[str, np.ndarray[Any, Any]] = {}
    try:
        with open(contents.path, "rb") as file:
            for name in names:
                found[name] = _array(contents, name, file)
    except (ValueError, TypeError, struct.error) as error:
        raise _damaged(contents.path, str(error)) from error
    except FileNotFoundError as error:
        raise errors.NotFoundError(f"The file {contents.path} is gone.") from error
    return found


def _array(contents: Contents, name: str, file: Any) -> np.ndarray[Any, Any]:
    entry = contents.entries[name]
    file.seek(contents.offset + entry.start)
    data = file.read(entry.size)
    if len(data) != entry.size or zlib.crc32(data) != entry.checksum:
        raise ValueError(f"the checksum of {name!r} is wrong")
    kind = entry.dtype.numpy_dtype
    if entry.dtype == dtypes.string:
        return _strings(data, entry.shape)
    if not _IS_LITTLE:
        kind = kind.newbyteorder("<")
    if math.prod(entry.shape) * kind.itemsize != entry.size:
        raise ValueError(f"the size of {name!r} is wrong")
    array = np.frombuffer(bytearray(data), kind).reshape(entry.shape)
    return array.astype(entry.dtype.numpy_dtype, copy=False)


def _strings(data: bytes, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    items: list[bytes] = []
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        items.append(data[at + 8 : at + 8 + length])
        at += 8 + length
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)
