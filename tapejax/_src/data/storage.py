"""Elements in files: caches, snapshots, saved datasets.

A file is a header and then, for each element and each of its arrays, a line of JSON (dtype and
shape) and the bytes.
"""

from __future__ import annotations

import gzip
import json
import os
import struct
import threading
from collections.abc import Iterable
from typing import Any, BinaryIO, cast

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import as_dtype
from tapejax._src.core.specs import TensorSpec
from tapejax._src.data.node import UNKNOWN, Node, Shapes, Stream, Unchanged, guessed_shapes
from tapejax._src.data.structure import Array, Leaves, NoneTensorSpec

_MAGIC = b"tapejax elements 1\n"
_LENGTH = struct.Struct("<q")
_ELEMENTS = "elements"
_SPEC = "spec.json"


# ---------------------------------------------------------------------- arrays
def _write_block(file: BinaryIO, data: bytes) -> None:
    file.write(_LENGTH.pack(len(data)))
    file.write(data)


def _read_block(file: BinaryIO) -> bytes | None:
    head = file.read(_LENGTH.size)
    if not head:
        return None
    data = file.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else b""
    if len(head) < _LENGTH.size or len(data) < _LENGTH.unpack(head)[0]:
        raise errors.DataLossError(None, None, "A file of saved elements ends in the middle.")
    return data


def _write_leaf(file: BinaryIO, leaf: Any) -> None:
    if leaf is None:
        _write_block(file, b"null")
        return
    if not isinstance(leaf, np.ndarray):
        raise NotImplementedError(f"Saving a component of type {type(leaf).__name__}.")
    array: Array = leaf
    if array.dtype.kind != "O":
        _write_block(file, json.dumps([array.dtype.name, array.shape]).encode())
        _write_block(file, array.tobytes())
        return
    texts: list[bytes] = array.ravel().tolist()
    _write_block(file, json.dumps(["string", array.shape]).encode())
    _write_block(file, np.array([len(text) for text in texts], "<i8").tobytes())
    _write_block(file, b"".join(texts))


def _write_element(file: BinaryIO, element: Leaves) -> None:
    for leaf in element:
        _write_leaf(file, leaf)


def _read_element(file: BinaryIO, components: int) -> Leaves | None:
    leaves: list[Any] = []
    for _ in range(components):
        head = _read_block(file)
        if head is None:
            return None
        leaves.append(_read_leaf(file, head))
    return tuple(leaves)


def _read_leaf(file: BinaryIO, head: bytes) -> Any:
    found = json.loads(head)
    if found is None:
        return None
    name, shape = found
    data = _read_block(file) or b""
    if name != "string":
        dtype = np.dtype(as_dtype(name).as_numpy_dtype)
        return np.frombuffer(data, dtype).reshape(shape)
    joined = _read_block(file) or b""
    ends = np.cumsum([0, *np.frombuffer(data, "<i8").tolist()])
    texts = np.empty(len(ends) - 1, object)
    for n in range(len(texts)):
        texts[n] = joined[ends[n] : ends[n + 1]]
    return texts.reshape(shape)


def _opened(path: str, mode: str, compression: str | None) -> BinaryIO:
    opened: Any = gzip.open(path, mode) if compression else open(path, mode)  # noqa: SIM115  the caller's
    return cast("BinaryIO", opened)


def write_elements(path: str, elements: Iterable[Leaves], compression: str | None = None) -> None:
    """Write elements to a file, under another name until it is complete."""
    for _ in writing(path, elements, compression):
        pass


def writing(path: str, elements: Iterable[Leaves], compression: str | None = None) -> Stream:
    """The elements, written to a file meanwhile; it exists once all have come."""
    partial = f"{path}.{os.getpid()}.{threading.get_ident()}.partial"
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    try:
        with _opened(partial, "wb", compression) as file:
            file.write(_MAGIC)
            for element in elements:
                _write_element(file, element)
                yield element
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.remove(partial)


def read_elements(path: str, components: int, compression: str | None = None) -> Stream:
    """The elements in a file.

    Raises:
        DataLossError: If it is not such a file or ends too early.
    """
    with _opened(path, "rb", compression) as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise errors.DataLossError(None, None, f"{path} is not a file of tapejax elements.")
        while (leaves := _read_element(file, components)) is not None:
            yield leaves


# ---------------------------------------------------------------------- specs
def spec_to_json(spec: Any) -> Any:
    """A structure of specs as what JSON can hold."""
    if isinstance(spec, TensorSpec):
        shape = None if spec.shape.rank is None else spec.shape.as_list()
        return {"tensor": [shape, spec.dtype.name]}
    if isinstance(spec, NoneTensorSpec):
        return {"none": []}
    if isinstance(spec, dict):
        return {"dict": [[key, spec_to_json(spec[key])] for key in spec]}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(spec, tuple):
        return {"tuple": [spec_to_json(item) for item in spec]}  # pyright: ignore[reportUnknownVariableType]
    raise NotImplementedError(f"Saving a dataset whose elements hold {spec}.")


def spec_from_json(value: Any) -> Any:
    """The structure of specs."""
    ((kind, content),) = value.items()
    if kind == "tensor":
        return TensorSpec(*content)
    if kind == "none":
        return NoneTensorSpec()
    if kind == "dict":
        return {key: spec_from_json(item) for key, item in content}
    return tuple([spec_from_json(item) for item in content])


def _components(spec: Any) -> int:
    return len(guessed_shapes(spec))


# ---------------------------------------------------------------------- nodes
def save(node: Node, path: str, compression: str | None) -> None:
    """Write a dataset to a folder."""
    os.makedirs(path, exist_ok=True)
    count = 0

    def counted() -> Stream:
        nonlocal count
        for element in node.stream():
            count += 1
            yield element

    write_elements(os.path.join(path, _ELEMENTS), counted(), compression)
    described = {"spec": spec_to_json(node.spec), "count": count, "compression": compression}
    with open(os.path.join(path, _SPEC), "w", encoding="utf-8") as file:
        json.dump(described, file)


class Loaded(Node):
    """The elements of a folder written by `save`."""

    name = "_LoadDataset"

    def __init__(self, path: str) -> None:
        super().__init__()
        try:
            with open(os.path.join(path, _SPEC), encoding="utf-8") as file:
                described = json.load(file)
        except FileNotFoundError:
            raise errors.NotFoundError(
                None, None, f"There is no saved dataset in {path} (no {_SPEC})."
            ) from None
        self.spec = spec_from_json(described["spec"])
        self._path, self._count = os.path.join(path, _ELEMENTS), described["count"]
        self._compression = described["compression"]

    def shapes(self) -> Shapes:
        """Those of the spec."""
        return guessed_shapes(self.spec)

    def cardinality(self) -> int:
        """As many as were saved."""
        return self._count

    def stream(self) -> Stream:
        """From the file."""
        return read_elements(self._path, _components(self.spec), self._compression)


class FileCache(Unchanged):
    """The elements, kept in a file after the first complete iteration."""

    name = "CacheDataset"

    def __init__(self, source: Node, path: str, compression: str | None = None) -> None:
        super().__init__(source)
        self._path, self._compression = path, compression

    def cardinality(self) -> int:
        """The same elements."""
        return self.source.cardinality()

    def stream(self) -> Stream:
        """From the file once it exists."""
        if os.path.exists(self._path):
            return read_elements(self._path, _components(self.source.spec), self._compression)
        return writing(self._path, self.source.stream(), self._compression)


class Snapshot(FileCache):
    """The same in a folder."""

    name = "_SnapshotDataset"

    def __init__(self, source: Node, path: str, compression: str | None) -> None:
        super().__init__(source, os.path.join(path, _ELEMENTS), compression)

    def cardinality(self) -> int:
        """Unknown, as in TensorFlow."""
        return UNKNOWN
