"""Repeated fields and maps of messages of Protocol Buffers."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from tapejax._src.core.tensor_proto import TensorProto
from tapejax._src.ops import wire_format


def _bytes(value: Any) -> bytes:
    if isinstance(value, (bytes, bytearray, np.bytes_)):
        return bytes(value)
    cure = ": write text.encode()" if isinstance(value, str) else ""
    raise TypeError(f"expected bytes, {type(value).__name__} found: {value!r}{cure}")


def _float(value: Any) -> float:
    if isinstance(value, (bytes, str)) or np.ndim(value):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def _integer(value: Any) -> int:
    if isinstance(value, (float, str, bytes, bool)) or not hasattr(value, "__index__"):
        raise TypeError(f"{value!r} has type {type(value).__name__}, but expected one of: int")
    number = int(value.__index__())
    if not -(1 << 63) <= number < 1 << 63:
        raise ValueError(f"Value out of range: {number}")
    return number


ITEMS: dict[str, Callable[[Any], Any]] = {"bytes": _bytes, "float": _float, "int64": _integer}


def _string(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, str):
        return value
    raise TypeError(f"bad argument type for built-in operation: str expected, {value!r} found")


def _tensor(value: Any) -> TensorProto:
    if isinstance(value, TensorProto):
        return value
    raise TypeError(f"expected a TensorProto, {type(value).__name__} found")


def _number(value: Any) -> float:
    if isinstance(value, (bytes, str)) or np.ndim(value):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return float(value)


class Single(NamedTuple):
    """How a field of one value is set, written and read.

    Attributes:
        convert: Checks and converts a value.
        default: Makes the value of a field that is not set.
        wire: The wire type.
        write: From a value to an unsigned integer, or to bytes.
        read: Back.
    """

    convert: Callable[[Any], Any]
    default: Callable[[], Any]
    wire: int
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]

    def serialized(self, number: int, value: Any) -> bytes:
        """A value as a field of a message."""
        content = self.write(value)
        if self.wire == wire_format.VARINT:
            return wire_format.number_field(number, content)
        if self.wire == wire_format.BYTES:
            return wire_format.field(number, content)
        return wire_format.varint(number << 3 | self.wire) + content


def _real(form: str, wire: int, convert: Callable[[Any], float]) -> Single:
    pack = struct.Struct(form)
    return Single(convert, float, wire, pack.pack, lambda data: pack.unpack(data)[0])


SINGLE = {
    "text": Single(_string, str, wire_format.BYTES, str.encode, bytes.decode),
    "content": Single(_bytes, bytes, wire_format.BYTES, bytes, bytes),
    "integer": Single(_integer, int, wire_format.VARINT, int, wire_format.signed),
    "double": _real("<d", wire_format.EIGHT, _number),
    "single": _real("<f", wire_format.FOUR, _float),
    "tensor": Single(
        _tensor,
        TensorProto,
        wire_format.BYTES,
        TensorProto.SerializeToString,
        TensorProto.FromString,
    ),
}
"""The kinds of fields that hold one value."""


class Values(list[Any]):
    """The values of a repeated field: a list that takes values of one type only.

    Args:
        convert: Checks and converts a value.
        changed: Called after each change.
    """

    def __init__(self, convert: Callable[[Any], Any], changed: Callable[[], None]) -> None:
        super().__init__()
        self._convert = convert
        self._changed = changed

    def append(self, value: Any) -> None:
        """Add one value."""
        super().append(self._convert(value))
        self._changed()

    def extend(self, values: Iterable[Any]) -> None:
        """Add values."""
        self.add_converted([self._convert(value) for value in values])

    MergeFrom = extend

    def add_converted(self, values: Iterable[Any]) -> None:
        """Add values that are of the right type."""
        super().extend(values)
        self._changed()

    def insert(self, index: Any, value: Any) -> None:
        """Put a value before others."""
        super().insert(index, self._convert(value))
        self._changed()

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            super().__setitem__(index, [self._convert(item) for item in value])
        else:
            super().__setitem__(index, self._convert(value))
        self._changed()


class MessageList(list[Any]):
    """The messages of a repeated field."""

    def __init__(self, make: Callable[[], Any], changed: Callable[[], None]) -> None:
        super().__init__()
        self._make = make
        self._changed = changed

    def add(self, **kwargs: Any) -> Any:
        """Add a new message and return it."""
        message: Any = self._make()
        message.assign(kwargs)
        super().append(message)
        self._changed()
        return message

    def append(self, value: Any) -> None:
        """Add a copy of a message."""
        self.add().CopyFrom(value)

    def extend(self, values: Iterable[Any]) -> None:
        """Add copies of messages."""
        for value in values:
            self.append(value)

    MergeFrom = extend


class MessageMap(Mapping[str, Any]):
    """A map field: a key that is asked for comes into being with an empty message."""

    def __init__(self, make: Callable[[], Any], changed: Callable[[], None]) -> None:
        self._make = make
        self._changed = changed
        self._items: dict[str, Any] = {}

    def __getitem__(self, key: Any) -> Any:
        text = _text(key)
        if text not in self._items:
            self._items[text] = self._make()
            self._changed()
        return self._items[text]

    get_or_create = __getitem__

    def __setitem__(self, key: Any, value: Any) -> None:
        raise ValueError(
            f"Direct assignment of submessage not allowed: use m[{key!r}].CopyFrom(message)"
        )

    def __delitem__(self, key: Any) -> None:
        del self._items[_text(key)]

    def pop(self, key: Any) -> Any:
        """Remove a key and return its message."""
        return self._items.pop(_text(key))

    def clear(self) -> None:
        """Remove all keys."""
        self._items.clear()

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def get(self, key: Any, default: Any = None) -> Any:
        """The message of a key, or the default: nothing comes into being."""
        return self._items.get(_text(key), default)

    def __repr__(self) -> str:
        return repr(self._items)


def _text(key: Any) -> str:
    if isinstance(key, bytes):
        return key.decode()
    if not isinstance(key, str):
        raise TypeError(f"{key!r} has type {type(key).__name__}, but expected one of: str")
    return key
