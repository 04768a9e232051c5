"""Messages of Protocol Buffers as Python objects: what `tf.train.Example` and its parts share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from tapejax._src.ops import wire_format
from tapejax._src.ops.message_fields import ITEMS, SINGLE, MessageList, MessageMap, Values
from tapejax._src.ops.wire_format import BrokenMessageError

M = TypeVar("M", bound="Message")


class DecodeError(ValueError):
    """Bytes are not a message of the class they are parsed as."""


class Field(NamedTuple):
    """One field of a message.

    Attributes:
        number: Its number on the wire.
        kind: `'bytes'`, `'float'`, `'int64'` (each repeated), `'message'`, `'messages'` (repeated),
            `'map'` (from text to messages), or one value: a key of `SINGLE`.
        make: The class of the messages.
    """

    number: int
    kind: str
    make: Callable[[], Any] | None = None


class Message:
    """A message with the fields of its class.

    Args:
        **kwargs: Values of fields: lists, dicts and messages are copied.
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {}
    ONEOF: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Names of groups of which at most one field is set."""

    def __init__(self, **kwargs: Any) -> None:
        self._set: dict[str, Any] = {}
        self._watcher: Callable[[], None] | None = None
        self.assign(kwargs)

    def assign(self, values: Mapping[str, Any]) -> None:
        """Set fields from Python values.

        Raises:
            ValueError: If there is no such field.
        """
        for name, value in values.items():
            found = self.FIELDS.get(name)
            if found is None:
                raise ValueError(f'Protocol message {type(self).__name__} has no "{name}" field.')
            if value is None:
                continue
            if found.kind in SINGLE:
                setattr(self, name, value)
            elif found.kind == "message":
                self._touch(name)
                self._value(name)._merge_value(value)
            elif found.kind == "map":
                for key, item in value.items():
                    self._value(name)[key]._merge_value(item)
            elif found.kind == "messages":
                for item in value:
                    self._value(name).add()._merge_value(item)
            else:
                self._value(name).extend(value)

    def _merge_value(self, value: Any) -> None:
        if isinstance(value, Mapping):
            self._present()
            self.assign(dict(value))  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(value, type(self)):
            self._present()
            self.MergeFrom(value)
        else:
            raise TypeError(
                f"Parameter to initialize message field must be dict or instance of same class: "
                f"expected {type(self).__name__} got {type(value).__name__}."
            )

    # ------------------------------------------------------------------ fields
    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in type(self).FIELDS:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
        return self._value(name)

    def __setattr__(self, name: str, value: Any) -> None:
        found = type(self).FIELDS.get(name)
        if found is not None and found.kind in SINGLE:
            self._set[name] = SINGLE[found.kind].convert(value)
            self._present()
        elif found is not None:
            raise AttributeError(
                f'Assignment not allowed to message, map, or repeated field "{name}" in protocol '
                "message object."
            )
        else:
            super().__setattr__(name, value)

    def _value(self, name: str) -> Any:
        found = self._set.get(name)
        if found is None and self.FIELDS[name].kind in SINGLE:
            return SINGLE[self.FIELDS[name].kind].default()
        if found is None:
            found = self._set[name] = self._new(name)
        return found

    def _new(self, name: str) -> Any:
        definition = self.FIELDS[name]
        if definition.make is None:
            return Values(ITEMS[definition.kind], self._present)
        if definition.kind == "map":
            return MessageMap(definition.make, self._present)
        if definition.kind == "messages":
            return MessageList(definition.make, self._present)
        made: Message = definition.make()
        made._watcher = lambda: self._touch(name)
        return made

    def _present(self) -> None:
        """Tell the message around that this one was changed: it is set now."""
        if self._watcher is not None:
            self._watcher()

    def _touch(self, name: str) -> None:
        """Note that a message inside is set; the others of its group are not any more."""
        self._present()
        group = next((names for names in self.ONEOF.values() if name in names), ())
        for other in group:
            if other != name:
                self._set.pop(other, None)
        self._value(name)._is_present = True

    _is_present = False

    def _is_set(self, name: str) -> bool:
        found = self._set.get(name)
        kind = self.FIELDS[name].kind
        if found is None or kind in SINGLE:
            return found is not None
        return found._is_present if kind == "message" else len(found) > 0

    def HasField(self, field_name: str) -> bool:
        """Whether a field that holds one message is set."""
        names = self.ONEOF.get(field_name)
        if names is not None:
            return self.WhichOneof(field_name) is not None
        single = ("message", *SINGLE)
        if field_name not in self.FIELDS or self.FIELDS[field_name].kind not in single:
            raise ValueError(
                f'Protocol message {type(self).__name__} has no singular "{field_name}" field.'
            )
        return self._is_set(field_name)

    def WhichOneof(self, oneof_group: str) -> str | None:
        """The field of a group that is set, or None."""
        if oneof_group not in self.ONEOF:
            raise ValueError(
                f'Protocol message {type(self).__name__} has no oneof "{oneof_group}" field.'
            )
        return next((name for name in self.ONEOF[oneof_group] if self._is_set(name)), None)

    def ClearField(self, field_name: str) -> None:
        """Make a field empty."""
        for name in self.ONEOF.get(field_name, (field_name,)):
            self._set.pop(name, None)

    def Clear(self) -> None:
        """Make all fields empty."""
        self._set.clear()

    def CopyFrom(self, other_msg: Any) -> None:
        """Make this message equal to another one."""
        if other_msg is not self:
            self.Clear()
            self._present()
            self.MergeFrom(other_msg)

    def MergeFrom(self, other_msg: Any) -> None:
        """Add what is set in another message of the class."""
        if type(other_msg) is not type(self):
            raise TypeError(
                f"Parameter to MergeFrom() must be instance of same class: expected "
                f"{type(self).__name__} got {type(other_msg).__name__}."
            )
        self.MergeFromString(other_msg.SerializeToString())

    def ListFields(self) -> list[tuple[Any, Any]]:
        """(definition, value) of the fields that are set."""
        return [(self.FIELDS[n], self._set[n]) for n in self.FIELDS if self._is_set(n)]

    # ------------------------------------------------------------------ the wire
    def SerializeToString(self, deterministic: bool | None = None) -> bytes:
        """The message as bytes; maps are written in the order of their keys."""
        del deterministic
        ordered = sorted(self.FIELDS.items(), key=lambda item: item[1].number)
        return b"".join([self._serialized(n, f) for n, f in ordered if self._is_set(n)])

    SerializePartialToString = SerializeToString

    def ByteSize(self) -> int:
        """The number of bytes of the serialized message."""
        return len(self.SerializeToString())

    def _serialized(self, name: str, definition: Field) -> bytes:
        value, number = self._set[name], definition.number
        if definition.kind in SINGLE:
            return SINGLE[definition.kind].serialized(number, value)
        if definition.kind == "bytes":
            return b"".join([wire_format.field(number, item) for item in value])
        if definition.kind == "float":
            return wire_format.field(number, wire_format.packed_floats(value))
        if definition.kind == "int64":
            return wire_format.field(number, wire_format.packed_varints(value))
        if definition.kind == "message":
            return wire_format.field(number, value.SerializeToString())
        if definition.kind == "messages":
            parts = [wire_format.field(number, item.SerializeToString()) for item in value]
            return b"".join(parts)
        entries = [
            wire_format.field(1, key.encode())
            + wire_format.field(2, value[key].SerializeToString())
            for key in sorted(value)
        ]
        return b"".join([wire_format.field(number, entry) for entry in entries])

    @classmethod
    def FromString(cls: type[M], s: bytes) -> M:
        """The message that bytes are.

        Raises:
            DecodeError: If they are none.
        """
        made = cls()
        made.ParseFromString(s)
        return made

    def ParseFromString(self, serialized: bytes) -> int:
        """Replace the fields by those of a serialized message."""
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized: bytes) -> int:
        """Add the fields of a serialized message.

        Raises:
            DecodeError: If the bytes are none.
        """
        try:
            self.read(bytes(serialized))
        except (BrokenMessageError, UnicodeDecodeError) as error:
            raise DecodeError(f"Error parsing message as {type(self).__name__}: {error}") from None
        return len(serialized)

    def read(self, data: bytes) -> None:
        """Add the fields of a serialized message.

        Raises:
            BrokenMessageError: If the bytes are none.
        """
        names = {definition.number: name for name, definition in self.FIELDS.items()}
        self._present()
        for number, wire, value in wire_format.fields(data):
            name = names.get(number)
            if name is not None:
                self._read_field(name, self.FIELDS[name].kind, wire, value)

    def _read_field(self, name: str, kind: str, wire: int, value: Any) -> None:
        if kind in SINGLE:
            if wire != SINGLE[kind].wire:
                raise BrokenMessageError(f"field {name} has the wrong wire type {wire}")
            setattr(self, name, SINGLE[kind].read(value))
            return
        held = self._value(name)
        if kind == "int64":
            held.add_converted(wire_format.integers_of(wire, value))
            return
        if kind == "float":
            held.add_converted(wire_format.floats_of(wire, value))
            return
        if wire != wire_format.BYTES:
            raise BrokenMessageError(f"field {name} is not made of bytes")
        if kind == "bytes":
            held.add_converted([value])
        elif kind == "message":
            self._touch(name)
            self._value(name).read(value)
        elif kind == "messages":
            held.add().read(value)
        else:
            key, content = "", b""
            for number, _, part in wire_format.fields(value):
                if number == 1:
                    key = part.decode()
                elif number == 2:
                    content = part
            held[key].Clear()
            held[key].read(content)

    # ------------------------------------------------------------------ Python
    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.SerializeToString() == other.SerializeToString()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "".join(f"{line}\n" for line in self._lines())

    __repr__ = __str__

    def __reduce__(self) -> Any:
        return type(self).FromString, (self.SerializeToString(),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        del memo
        return type(self).FromString(self.SerializeToString())

    def _lines(self) -> Iterator[str]:
        """The message in protobuf's text format."""
        for name, definition in self.FIELDS.items():
            if not self._is_set(name):
                continue
            value = self._set[name]
            if definition.kind in SINGLE:
                shown = str(value).splitlines()
                single = [f"{name} {{", *[f"  {line}" for line in shown], "}"]
                yield from single if definition.kind == "tensor" else [f"{name}: {_shown(value)}"]
                continue
            if definition.make is None:
                yield from [f"{name}: {_shown(item)}" for item in value]
                continue
            if definition.kind == "map":
                for key in sorted(value):
                    inner = [f"key: {_shown(key)}", *_nested("value", value[key])]
                    yield from [f"{name} {{", *[f"  {line}" for line in inner], "}"]
                continue
            for item in value if definition.kind == "messages" else [value]:
                yield from _nested(name, item)


def _nested(name: str, message: Any) -> list[str]:
    return [f"{name} {{", *[f"  {line}" for line in message._lines()], "}"]


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bytes):
        return '"' + "".join(map(_shown_byte, value)) + '"'
    if isinstance(value, float):
        number = np.float32(value)
        return f"{value:g}" if np.float32(f"{value:g}") == number or value != value else str(number)
    return str(value)


_ESCAPES = {9: "\\t", 10: "\\n", 13: "\\r", 34: '\\"', 39: "\\'", 92: "\\\\"}


def _shown_byte(byte: int) -> str:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
