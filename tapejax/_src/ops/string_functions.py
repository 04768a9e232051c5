"""`tf.strings`: functions of each string."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import OP_NAMES, as_dtype, float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import as_tensor, known_value
from tapejax._src.engine.definitions import TEXT_DTYPE, DTypeLike
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import as_texts, known_texts, map_texts, text_tensor
from tapejax._src.ops.shape_checks import brackets
from tapejax._src.ops.string_hashes import MASK, fingerprint64, murmur64, siphash
from tapejax._src.ops.text_rows import over_flat_values

_UNITS = ("BYTE", "UTF8_CHAR")
_INTEGER = re.compile(rb"\s*[+-]?\d+\s*", re.ASCII)
_REAL = re.compile(
    rb"\s*[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf(inity)?|nan)\s*", re.IGNORECASE
)
_HEXADECIMAL = re.compile(rb"\s*[+-]?0x[\da-f]*\.?[\da-f]*(p[+-]?\d+)?\s*", re.IGNORECASE)


def each_text(value: Any, fn: Callable[[bytes], Any], node: str, dtype: Any = TEXT_DTYPE) -> Any:
    """Apply a function to each string of a tensor or ragged tensor.

    Args:
        value: Strings.
        fn: Function of bytes.
        node: TensorFlow's name of the op.
        dtype: The NumPy dtype of what `fn` returns, unless it is bytes.
    """
    return over_flat_values(value, lambda flat: map_texts(fn, [as_texts(flat)], dtype, node))


def check_choice(value: Any, attr: str, choices: tuple[str, ...], node: str) -> None:
    """Raise if an attribute of an op is not one of its choices."""
    if value not in choices:
        allowed = ", ".join(f'"{choice}"' for choice in choices)
        raise InvalidArgumentError(
            f"Value for attr '{attr}' of \"{value}\" is not in the list of allowed values: "
            f"{allowed} [Op:{node}]"
        )


def _cased(value: Any, encoding: str, node: str, byte: Any, character: Any) -> Any:
    if encoding not in ("", "utf-8"):
        raise InvalidArgumentError(
            f"only utf-8 or '' (no encoding) is supported, received {encoding} [Op:{node}]"
        )

    def of_characters(text: bytes) -> bytes:
        return character(text.decode("utf-8", "replace")).encode()

    return each_text(value, of_characters if encoding else byte, node)


@public("strings.lower")
def lower(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """Upper case letters made lower case.

    Args:
        input: Strings of any shape.
        encoding: `''`: the letters of ASCII only. `'utf-8'`: those of Unicode.
        name: Ignored.

    Returns:
        Strings of the same shape.

    Raises:
        InvalidArgumentError: If `encoding` is another word.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.lower("CamelCase").numpy()
        b'camelcase'
    """
    return _cased(input, encoding, "StringLower", bytes.lower, str.lower)


@public("strings.upper")
def upper(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """Lower case letters made upper case.

    Args:
        input: Strings of any shape.
        encoding: `''`: the letters of ASCII only. `'utf-8'`: those of Unicode.
        name: Ignored.

    Returns:
        Strings of the same shape.

    Raises:
        InvalidArgumentError: If `encoding` is another word.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.upper("CamelCase").numpy()
        b'CAMELCASE'
    """
    return _cased(input, encoding, "StringUpper", bytes.upper, str.upper)


@public("strings.strip")
def strip(input: Any, name: str | None = None) -> Any:
    """Strings without the white space at their ends.

    Args:
        input: Strings of any shape.
        name: Ignored.

    Returns:
        Strings of the same shape.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.strip([" a b ", "c"]).numpy().tolist()
        [b'a b', b'c']
    """
    return each_text(input, bytes.strip, "StringStrip")


def character_starts(text: bytes) -> list[int]:
    """Where the characters of UTF-8 begin: the bytes that continue none."""
    return [place for place, byte in enumerate(text) if byte & 0xC0 != 0x80]


@public("strings.length")
def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """The length of each string.

    Args:
        input: Strings of any shape.
        unit: `'BYTE'` or `'UTF8_CHAR'`, what is counted.
        name: Ignored.

    Returns:
        int32 of the same shape.

    Raises:
        InvalidArgumentError: If `unit` is another word.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.length("h\u00e9").numpy(), tf.strings.length("h\u00e9", "UTF8_CHAR").numpy()
        (np.int32(3), np.int32(2))
    """
    check_choice(unit, "unit", _UNITS, "StringLength")
    count = len if unit == "BYTE" else lambda text: len(character_starts(text))
    return each_text(input, count, "StringLength", np.int32)


def _part(text: bytes, pos: int, count: int, unit: str) -> bytes | None:
    """A part of a string, or None if it begins outside."""
    starts = None if unit == "BYTE" else [*character_starts(text), len(text)]
    size = len(text) if starts is None else len(starts) - 1
    if not -size <= pos <= size:
        return None
    first = pos + size if pos < 0 else pos
    last = size if count < 0 else min(first + count, size)
    return text[first:last] if starts is None else text[starts[first] : starts[last]]


@public("strings.substr")
def substr(
    input: Any,
    pos: Any,
    len: Any,
    unit: str = "BYTE",
    name: str | None = None,
) -> Any:
    """A part of each string.

    Args:
        input: Strings of any shape.
        pos: int32 or int64: where the part begins; negative: counted from the end. It broadcasts
            with `input`.
        len: The same dtype and shape: how long it is at most; negative: up to the end.
        unit: `'BYTE'` or `'UTF8_CHAR'`, what is counted.
        name: Ignored.

    Returns:
        Strings of the broadcast shape.

    Raises:
        InvalidArgumentError: If a part begins outside of its string, or `pos` and `len` differ in
            shape.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.substr(["hello", "world"], 1, 3).numpy().tolist()
        [b'ell', b'orl']
    """
    check_choice(unit, "unit", _UNITS, "Substr")
    text = as_texts(input)
    starts, counts = known_value(as_tensor(pos)), known_value(as_tensor(len))
    if starts.shape != counts.shape:
        raise InvalidArgumentError(
            "pos and len should have the same shape, got: "
            f"{brackets(starts.shape)} vs. {brackets(counts.shape)} [Op:Substr]"
        )
    if not starts.ndim:
        first, count = int(starts), int(counts)
        return map_texts(lambda item: _found_part(item, first, count, unit, 0), [text])
    try:
        arrays = np.broadcast_arrays(known_texts(text), starts, counts)
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes: {brackets(tuple(text.shape))} vs. {brackets(starts.shape)} "
            "[Op:Substr]"
        ) from None
    found = np.empty(arrays[0].size, object)
    items = zip(*[array.ravel().tolist() for array in arrays], strict=True)
    found[:] = [
        _found_part(item, first, count, unit, place)
        for place, (item, first, count) in enumerate(items)
    ]
    return text_tensor(found.reshape(arrays[0].shape))


def _found_part(text: bytes, pos: int, count: int, unit: str, place: int) -> bytes:
    found = _part(text, pos, count, unit)
    if found is None:
        shown = f" {text!r}" if unit == "BYTE" else ""
        raise InvalidArgumentError(
            f"pos {pos} out of range for string{shown} at index {place} [Op:Substr]"
        )
    return found


_NUMBERS = ("float", "double", "int32", "int64", "uint32", "uint64")


@public("strings.to_number")
def to_number(input: Any, out_type: DTypeLike = float32, name: str | None = None) -> Any:
    """The numbers that strings are the text of.

    Args:
        input: Strings of any shape; white space around a number is ignored.
        out_type: float32, float64, int32, int64, uint32 or uint64.
        name: Ignored.

    Returns:
        Numbers of the same shape.

    Raises:
        InvalidArgumentError: If a string is no such number, or the dtype another one.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.to_number(["1.5", "-2e3"]).numpy().tolist()
        [1.5, -2000.0]
    """
    dtype = as_dtype(out_type)
    if OP_NAMES[dtype] not in _NUMBERS:
        raise InvalidArgumentError(
            f"Value for attr 'out_type' of {OP_NAMES[dtype]} is not in the list of allowed values: "
            f"{', '.join(_NUMBERS)} [Op:StringToNumber]"
        )
    parse = _real if dtype.is_floating else _integer(dtype.min, dtype.max)

    def number(text: bytes) -> Any:
        found = parse(text)
        if found is None:
            shown = text.decode("utf-8", "replace")
            raise InvalidArgumentError(
                f"StringToNumberOp could not correctly convert string: {shown} [Op:StringToNumber]"
            )
        return found

    with np.errstate(over="ignore"):
        return each_text(input, number, "StringToNumber", dtype.as_numpy_dtype)


def _real(text: bytes) -> float | None:
    if _REAL.fullmatch(text):
        return float(text)
    if not _HEXADECIMAL.fullmatch(text):
        return None
    try:
        return float.fromhex(text.decode())
    except (ValueError, OverflowError):
        return None


def parse_real(text: bytes) -> float | None:
    """The real number a string is the text of, or None."""
    return _real(text)


def _integer(least: int, most: int) -> Callable[[bytes], int | None]:
    def parse(text: bytes) -> int | None:
        if not _INTEGER.fullmatch(text) or (not least and b"-" in text):
            return None
        value = int(text)
        return value if least <= value <= most else None

    return parse


def parse_integer(text: bytes, least: int, most: int) -> int | None:
    """The integer within limits that a string is the text of, or None."""
    return _integer(least, most)(text)


def _bucket(input: Any, num_buckets: int, fn: Callable[[bytes], int], node: str) -> Any:
    if num_buckets < 1:
        raise InvalidArgumentError(
            f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 1 [Op:{node}]"
        )
    return each_text(input, lambda text: fn(text) % num_buckets, node, np.int64)


@public("strings.to_hash_bucket")
def to_hash_bucket(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """A number below `num_buckets` for each string, by a hash of it.

    Args:
        input: Strings of any shape.
        num_buckets: How many numbers there are.
        name: Ignored.

    Returns:
        int64 of the same shape, TensorFlow's own numbers.

    Raises:
        InvalidArgumentError: If `num_buckets` is less than 1.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.to_hash_bucket("a", 1000).numpy()
        np.int64(868)
    """
    return _bucket(input, num_buckets, murmur64, "StringToHashBucket")


@public("strings.to_hash_bucket_fast")
def to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """A number below `num_buckets` for each string, by FarmHash's fingerprint of it.

    Args:
        input: Strings of any shape.
        num_buckets: How many numbers there are.
        name: Ignored.

    Returns:
        int64 of the same shape, TensorFlow's own numbers.

    Raises:
        InvalidArgumentError: If `num_buckets` is less than 1.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.to_hash_bucket_fast(["a", "hello"], 1000).numpy().tolist()
        [939, 296]
    """
    return _bucket(input, num_buckets, fingerprint64, "StringToHashBucketFast")


@public("strings.to_hash_bucket_strong")
def to_hash_bucket_strong(input: Any, num_buckets: int, key: Any, name: str | None = None) -> Any:
    """A number below `num_buckets` for each string, by SipHash with a key.

    Who does not know the key cannot choose strings that fall into one bucket.

    Args:
        input: Strings of any shape.
        num_buckets: How many numbers there are.
        key: Two integers.
        name: Ignored.

    Returns:
        int64 of the same shape, TensorFlow's own numbers.

    Raises:
        InvalidArgumentError: If `num_buckets` is less than 1 or the key has not two elements.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.to_hash_bucket_strong("a", 1000, [1, 2]).numpy()
        np.int64(646)
    """
    words = [int(word) & MASK for word in key]
    if len(words) != 2:
        raise InvalidArgumentError("Key must have 2 elements [Op:StringToHashBucketStrong]")
    pair = (words[0], words[1])
    hashed: Callable[[bytes], int] = lambda text: siphash(text, pair)  # noqa: E731
    return _bucket(input, num_buckets, hashed, "StringToHashBucketStrong")
