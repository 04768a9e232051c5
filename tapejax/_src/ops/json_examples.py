"""`tf.io.decode_json_example`: examples written as JSON."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from typing import Any

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import public
from tapejax._src.ops.example_messages import Example
from tapejax._src.ops.messages import Message
from tapejax._src.ops.string_functions import each_text


def _fill(message: Message, values: Any) -> None:
    """Set the fields of a message from JSON, by protobuf's rules."""
    if not isinstance(values, Mapping):
        raise ValueError(f"an object is expected for {type(message).__name__}, found {values!r}")
    names = {_camel(name): name for name in message.FIELDS}
    for key, value in values.items():  # pyright: ignore[reportUnknownVariableType]
        name = names.get(str(key), str(key))
        definition = message.FIELDS.get(name)
        if definition is None:
            raise ValueError(f"{type(message).__name__} has no field {key!r}")
        held: Any = getattr(message, name)
        if definition.kind == "message":
            message.assign({name: {}})
            _fill(getattr(message, name), value)
        elif definition.kind == "map":
            for entry in value:
                _fill(held[entry], value[entry])
        elif definition.kind == "messages":
            for entry in value:
                _fill(held.add(), entry)
        else:
            held.extend([_VALUES[definition.kind](entry) for entry in value])


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join([word.capitalize() for word in others])


def _decoded(value: Any) -> bytes:
    text = str(value).replace("-", "+").replace("_", "/")
    return base64.b64decode(text + "=" * (-len(text) % 4))


_VALUES: dict[str, Callable[[Any], Any]] = {"bytes": _decoded, "float": float, "int64": int}


@public("io.decode_json_example")
def decode_json_example(json_examples: Any, name: str | None = None) -> Any:
    """Serialized `tf.train.Example`s of their JSON.

    Args:
        json_examples: Strings of any shape: examples in protobuf's JSON format.
        name: Ignored.

    Returns:
        Strings of the same shape.

    Raises:
        InvalidArgumentError: If a string is no such JSON.

    Example:
        >>> import tapejax as tf
        >>> text = '{"features": {"feature": {"a": {"int64List": {"value": ["7"]}}}}}'
        >>> message = tf.train.Example.FromString(tf.io.decode_json_example(text).numpy())
        >>> message.features.feature["a"].int64_list.value
        [7]
    """

    def decoded(text: bytes) -> bytes:
        message = Example()
        try:
            _fill(message, json.loads(text))
        except (ValueError, TypeError, binascii.Error) as error:
            raise InvalidArgumentError(
                f"Error while parsing JSON: {error} [Op:DecodeJSONExample]"
            ) from None
        return message.SerializeToString()

    return each_text(json_examples, decoded, "DecodeJSONExample")
