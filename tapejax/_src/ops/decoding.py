"""`tf.io`: numbers, base64 and compressed data in strings."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import OP_NAMES, as_dtype
from tapejax._src.core.errors import DataLossError, InvalidArgumentError
from tapejax._src.engine.convert import constant_tensor, static_ints
from tapejax._src.engine.registry import DTypeLike, public
from tapejax._src.engine.texts import as_texts, known_texts
from tapejax._src.ops.string_functions import each_text

_RAW = (
    "half",
    "float",
    "double",
    "int32",
    "uint16",
    "uint8",
    "int16",
    "int8",
    "int64",
    "complex64",
    "complex128",
    "bool",
    "bfloat16",
)
_BASE64 = re.compile(rb"[A-Za-z0-9_-]*={0,2}")


@public("io.decode_raw")
def decode_raw(
    input_bytes: Any,
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: Any = None,
    name: str | None = None,
) -> Any:
    r"""The numbers whose bytes strings hold.

    Args:
        input_bytes: Strings of any shape, all of one length.
        out_type: The dtype of the numbers.
        little_endian: Whether the low byte of a number comes first.
        fixed_length: How many bytes to read of each string; shorter ones are padded with zeros.
        name: Ignored.

    Returns:
        A tensor with one dimension more than `input_bytes`.

    Raises:
        InvalidArgumentError: If the strings differ in length or hold no whole number of elements.

    Example:
        >>> import tapejax as tf
        >>> tf.io.decode_raw(b"\x01\x00\x02\x00", tf.int16).numpy().tolist()
        [1, 2]
    """
    dtype = as_dtype(out_type)
    node = "DecodeRaw" if fixed_length is None else "DecodePaddedRaw"
    if OP_NAMES[dtype] not in _RAW:
        raise InvalidArgumentError(
            f"Value for attr 'out_type' of {OP_NAMES[dtype]} is not in the list of allowed values: "
            f"{', '.join(_RAW)} [Op:{node}]"
        )
    texts = known_texts(as_texts(input_bytes))
    scalar = np.dtype(dtype.as_numpy_dtype)
    items: list[bytes] = texts.ravel().tolist()
    if fixed_length is not None:
        size = int(static_ints(fixed_length))
        if size % scalar.itemsize:
            raise InvalidArgumentError(
                f"fixed_length ({size}) must be a multiple of the size of out_type "
                f"({scalar.itemsize}) [Op:{node}]"
            )
        items = [item[:size].ljust(size, b"\0") for item in items]
    size = _common_size(items, node)
    if size % scalar.itemsize:
        raise InvalidArgumentError(
            f"Input to DecodeRaw has length {size} that is not a multiple of {scalar.itemsize}, "
            f"the size of {OP_NAMES[dtype]} [Op:{node}]"
        )
    array = np.frombuffer(b"".join(items), scalar)
    if not little_endian:
        array = array.byteswap()
    return constant_tensor(np.array(array).reshape(*texts.shape, size // scalar.itemsize))


def _common_size(items: list[bytes], node: str) -> int:
    """The length of the strings, which must be one."""
    size = len(items[0]) if items else 0
    for place, item in enumerate(items):
        if len(item) != size:
            raise InvalidArgumentError(
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{place} has size {size} != {len(item)} [Op:{node}]"
            )
    return size


@public("io.encode_base64")
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Any:
    """Strings as base64 that is safe in URLs.

    Args:
        input: Strings of any shape.
        pad: Whether `=` fills the last group.
        name: Ignored.

    Returns:
        Strings of the same shape.

    Example:
        >>> import tapejax as tf
        >>> tf.io.encode_base64("hello?>").numpy()
        b'aGVsbG8_Pg'
    """

    def encoded(text: bytes) -> bytes:
        made = base64.urlsafe_b64encode(text)
        return made if pad else made.rstrip(b"=")

    return each_text(input, encoded, "EncodeBase64")


@public("io.decode_base64")
def decode_base64(input: Any, name: str | None = None) -> Any:
    """The strings that base64, safe in URLs, stands for.

    Args:
        input: Strings of any shape, with or without `=` at the end.
        name: Ignored.

    Returns:
        Strings of the same shape.

    Raises:
        InvalidArgumentError: If a string is not base64.

    Example:
        >>> import tapejax as tf
        >>> tf.io.decode_base64("aGVsbG8_Pg").numpy()
        b'hello?>'
    """

    def decoded(text: bytes) -> bytes:
        plain = text.rstrip(b"=")
        if len(plain) % 4 == 1:
            raise InvalidArgumentError(
                "Base64 string length cannot be 1 modulo 4. [Op:DecodeBase64]"
            )
        if not _BASE64.fullmatch(text):
            raise InvalidArgumentError("Invalid character found in base64. [Op:DecodeBase64]")
        try:
            return base64.urlsafe_b64decode(plain + b"=" * (-len(plain) % 4))
        except binascii.Error as error:
            raise InvalidArgumentError(f"{error} [Op:DecodeBase64]") from None

    return each_text(input, decoded, "DecodeBase64")


@public("io.decode_compressed")
def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Any:
    """Strings without their compression.

    Args:
        bytes: Strings of any shape.
        compression_type: `''`, `'ZLIB'` or `'GZIP'`.
        name: Ignored.

    Returns:
        Strings of the same shape.

    Raises:
        InvalidArgumentError: If there is no such compression.
        DataLossError: If a string is not compressed like this.

    Example:
        >>> import zlib
        >>> import tapejax as tf
        >>> tf.io.decode_compressed(zlib.compress(b"abc"), "ZLIB").numpy()
        b'abc'

    Differs from TensorFlow:
        `'ZSTD'` is not supported.
    """
    if compression_type not in ("", "ZLIB", "GZIP"):
        raise InvalidArgumentError(
            "Only ZLIB, GZIP or NONE are supported compressions [Op:DecodeCompressed]"
        )
    bits = zlib.MAX_WBITS + (16 if compression_type == "GZIP" else 0)

    def inflated(text: Any) -> Any:
        if not compression_type:
            return text
        try:
            return zlib.decompress(text, bits)
        except zlib.error as error:
            message = str(error).partition("data: ")[2] or str(error)
            raise DataLossError(
                None, None, f"inflate() failed: {message} [Op:DecodeCompressed]"
            ) from None

    return each_text(bytes, inflated, "DecodeCompressed")
