"""Features of serialized examples, read from the wire as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.ops import wire_format
from tapejax._src.ops.wire_format import BYTES, BrokenMessageError

KINDS = {1: "string", 2: "float", 3: "int64"}
"""The fields of a `Feature`, and how messages name what they hold."""
_NAMES = {"string": "string", "float32": "float", "int64": "int64"}
_EMPTY: dict[str, Any] = {"string": object, "float": np.float32, "int64": np.int64}

Array = np.ndarray[Any, Any]


class Values(NamedTuple):
    """The values of a feature: `'string'`, `'float'` or `'int64'`, as a vector."""

    kind: str
    array: Array


def kind_of(dtype: Any, attr: str, node: str) -> tuple[DType, str]:
    """A dtype that features have, and its name in messages.

    Raises:
        InvalidArgumentError: If features cannot have it.
    """
    found = as_dtype(dtype)
    kind = _NAMES.get(found.name)
    if kind is None:
        raise InvalidArgumentError(
            f"Value for attr '{attr}' of {found.name} is not in the list of allowed values: float, "
            f"int64, string [Op:{node}]"
        )
    return found, kind


def _texts(items: list[bytes]) -> Array:
    array = np.empty(len(items), object)
    array[:] = items
    return array


def _values(kind: str, data: bytes) -> Array:
    """The values of a `BytesList`, `FloatList` or `Int64List`."""
    found: list[Any] = []
    for number, wire, value in wire_format.fields(data):
        if number != 1:
            continue
        if kind == "string":
            if wire != BYTES:
                raise BrokenMessageError("bytes expected")
            found.append(value)
        elif kind == "float":
            found += wire_format.floats_of(wire, value)
        else:
            found += wire_format.integers_of(wire, value)
    return _texts(found) if kind == "string" else np.array(found, _EMPTY[kind])


def read_feature(data: bytes) -> Values | None:
    """The values of a serialized `Feature`, or None if it has no list.

    Raises:
        BrokenMessageError: If the bytes are none.
    """
    found: Values | None = None
    for number, wire, value in wire_format.fields(data):
        if number in KINDS and wire == BYTES:
            array = _values(KINDS[number], value)
            if found is not None and found.kind == KINDS[number]:
                array = np.concatenate([found.array, array])
            found = Values(KINDS[number], array)
    return found


def _map(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The entries of a message whose field 1 is a map."""
    for number, wire, value in wire_format.fields(data):
        if number == 1 and wire == BYTES:
            parts = {part: content for part, _, content in wire_format.fields(value)}
            yield bytes(parts.get(1, b"")).decode("utf-8", "surrogateescape"), parts.get(2, b"")


def _field(data: bytes, wanted: int) -> bytes:
    """All occurrences of a field that holds a message, together."""
    parts = [v for n, wire, v in wire_format.fields(data) if n == wanted and wire == BYTES]
    return b"".join(parts)


def features_of(data: bytes) -> dict[str, bytes]:
    """The serialized features of a serialized `Example` by their names.

    Raises:
        BrokenMessageError: If the bytes are none.
    """
    return dict(_map(_field(data, 1)))


def sequence_of(data: bytes) -> tuple[dict[str, bytes], dict[str, list[bytes]]]:
    """The serialized features of a `SequenceExample`: of the context, and of each step.

    Raises:
        BrokenMessageError: If the bytes are none.
    """
    lists: dict[str, list[bytes]] = {}
    for name, content in _map(_field(data, 2)):
        lists[name] = [v for n, w, v in wire_format.fields(content) if n == 1 and w == BYTES]
    return dict(_map(_field(data, 1))), lists


def empty(kind: str) -> Array:
    """No values of a kind."""
    return np.zeros(0, _EMPTY[kind])
