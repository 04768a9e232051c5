"""`tf.strings.unicode_*`: strings as characters of Unicode."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.engine.convert import as_tensor, constant_tensor, known_value
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import as_texts, known_texts, text_tensor
from tapejax._src.ops.string_functions import check_choice, each_text
from tapejax._src.ops.string_splitting import each_into_row, flat_texts
from tapejax._src.ops.text_rows import over_flat_values, ragged_of_rows, rows_of_elements
from tapejax._src.ops.unicode_codecs import (
    OUTPUTS,
    POLICIES,
    Policy,
    codec_of,
    decoded_characters,
    encoded_characters,
)
from tapejax._src.ops.unicode_scripts import script_codes


def _policy(errors: str, replacement_char: int, controls: bool, node: str) -> Policy:
    check_choice(errors, "errors", POLICIES, node)
    if not 0 <= replacement_char < 0x110000 or 0xD800 <= replacement_char < 0xE000:
        raise InvalidArgumentError(
            f"replacement_char out of unicode codepoint range: {replacement_char} [Op:{node}]"
        )
    return Policy(errors, replacement_char, controls, node)


def _decoded(value: Any, encoding: str, policy: Policy) -> tuple[Any, Any]:
    """The characters of each string and where they begin."""
    if isinstance(value, RaggedTensor):
        codes, offsets = _decoded(value.flat_values, encoding, policy)
        return value.over(codes), value.over(offsets)
    texts = known_texts(as_texts(value))
    codec = codec_of(encoding, policy.node)
    rows = [list(decoded_characters(text, codec, policy)) for text in texts.ravel()]
    pairs = list(itertools.chain.from_iterable(rows))
    codes = constant_tensor(np.array([code for code, _ in pairs], np.int32))
    offsets = constant_tensor(np.array([at for _, at in pairs], np.int64))
    shape = texts.shape
    return rows_of_elements(rows, shape, codes), rows_of_elements(rows, shape, offsets)


@public("strings.unicode_decode")
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The characters of each string, as numbers.

    Args:
        input: Strings of any shape, or a ragged tensor of them.
        input_encoding: Their encoding, such as `'UTF-8'`.
        errors: `'replace'`, `'ignore'` or `'strict'`: what happens to bytes that are no character.
        replacement_char: The code point put in their place.
        replace_control_characters: Whether the characters below 32 are replaced too.
        name: Ignored.

    Returns:
        int32 code points: of a scalar a vector, else a `tf.RaggedTensor` with a dimension more.

    Raises:
        InvalidArgumentError: If `errors` is `'strict'` and there are such bytes, or the encoding is
            not known.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.unicode_decode("h\u00e9", "UTF-8").numpy().tolist()
        [104, 233]

    Differs from TensorFlow:
        The encodings are those of Python, whose names and tables are nearly those of ICU.
    """
    policy = _policy(errors, replacement_char, replace_control_characters, "UnicodeDecode")
    return _decoded(input, input_encoding, policy)[0]


@public("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The characters of each string as numbers, and where each begins.

    Args:
        input: Strings of any shape, or a ragged tensor of them.
        input_encoding: Their encoding, such as `'UTF-8'`.
        errors: `'replace'`, `'ignore'` or `'strict'`: what happens to bytes that are no character.
        replacement_char: The code point put in their place.
        replace_control_characters: Whether the characters below 32 are replaced too.
        name: Ignored.

    Returns:
        (int32 code points, int64 offsets in bytes), both as of `tf.strings.unicode_decode`.

    Raises:
        InvalidArgumentError: As `tf.strings.unicode_decode`.

    Example:
        >>> import tapejax as tf
        >>> codes, offsets = tf.strings.unicode_decode_with_offsets("\u65e5a", "UTF-8")
        >>> codes.numpy().tolist(), offsets.numpy().tolist()
        ([26085, 97], [0, 3])
    """
    policy = _policy(
        errors, replacement_char, replace_control_characters, "UnicodeDecodeWithOffsets"
    )
    return _decoded(input, input_encoding, policy)


def _characters(text: bytes, encoding: str, policy: Policy) -> list[bytes]:
    codec = codec_of(encoding, policy.node)
    return [
        encoded_characters([code], encoding, policy)
        for code, _ in decoded_characters(text, codec, policy)
    ]


@public("strings.unicode_split")
def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    r"""Split each string into its characters.

    Args:
        input: Strings of any shape, or a ragged tensor of them.
        input_encoding: `'UTF-8'`, `'UTF-16-BE'` or `'UTF-32-BE'`.
        errors: `'replace'`, `'ignore'` or `'strict'`: what happens to bytes that are no character.
        replacement_char: The code point put in their place.
        name: Ignored.

    Returns:
        Strings of one character: of a scalar a vector, else a `tf.RaggedTensor` with a dimension
        more.

    Raises:
        InvalidArgumentError: As `tf.strings.unicode_decode`.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.unicode_split("h\u00e9", "UTF-8").numpy().tolist()
        [b'h', b'\xc3\xa9']
    """
    check_choice(input_encoding, "output_encoding", OUTPUTS, "UnicodeEncode")
    policy = _policy(errors, replacement_char, False, "UnicodeDecode")
    return each_into_row(input, lambda text: _characters(text, input_encoding, policy))


@public("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> tuple[Any, Any]:
    r"""Split each string into its characters, and say where each begins.

    Args:
        input: Strings of any shape, or a ragged tensor of them.
        input_encoding: `'UTF-8'`, `'UTF-16-BE'` or `'UTF-32-BE'`.
        errors: `'replace'`, `'ignore'` or `'strict'`: what happens to bytes that are no character.
        replacement_char: The code point put in their place.
        name: Ignored.

    Returns:
        (strings of one character, int64 offsets in bytes), both as of `tf.strings.unicode_split`.

    Raises:
        InvalidArgumentError: As `tf.strings.unicode_decode`.

    Example:
        >>> import tapejax as tf
        >>> parts, offsets = tf.strings.unicode_split_with_offsets("\u00e9a", "UTF-8")
        >>> parts.numpy().tolist(), offsets.numpy().tolist()
        ([b'\xc3\xa9', b'a'], [0, 2])
    """
    parts = unicode_split(input, input_encoding, errors, replacement_char)
    policy = _policy(errors, replacement_char, False, "UnicodeDecodeWithOffsets")
    return parts, _decoded(input, input_encoding, policy)[1]


@public("strings.unicode_encode")
def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    name: str | None = None,
) -> Any:
    """Strings of the characters in each row.

    Args:
        input: int32 code points `[..., n]`, or a ragged tensor of them; the last dimension is the
            string.
        output_encoding: `'UTF-8'`, `'UTF-16-BE'` or `'UTF-32-BE'`.
        errors: `'replace'`, `'ignore'` or `'strict'`: what happens to numbers that are no
            character.
        replacement_char: The code point put in their place.
        name: Ignored.

    Returns:
        Strings `[...]`.

    Raises:
        ValueError: If `input` is a scalar.
        InvalidArgumentError: If `errors` is `'strict'` and there are such numbers.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.unicode_encode([[104, 105], [79, 75]], "UTF-8").numpy().tolist()
        [b'hi', b'OK']
    """
    node = "UnicodeEncode"
    check_choice(output_encoding, "output_encoding", OUTPUTS, node)
    policy = _policy(errors, replacement_char, False, node)

    def encode(row: Any) -> bytes:
        return encoded_characters(row.tolist(), output_encoding, policy)

    if isinstance(input, RaggedTensor) and input.flat_values.ndim == 1:
        *outer, splits = [np.asarray(s.view()) for s in input.nested_row_splits]
        values = known_value(as_tensor(input.flat_values))
        rows = [encode(values[first:last]) for first, last in itertools.pairwise(splits)]
        return ragged_of_rows(flat_texts([rows]), *outer)
    if isinstance(input, RaggedTensor):
        return input.over(unicode_encode(input.flat_values, output_encoding, errors))
    codes = known_value(as_tensor(input))
    if not codes.ndim:
        raise ValueError("input_tensor's rank must be at least 1.")
    found = np.empty(codes.shape[:-1], object)
    for place in np.ndindex(found.shape):
        found[place] = encode(codes[place])
    return text_tensor(found)


@public("strings.unicode_transcode")
def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    r"""Strings in another encoding.

    Args:
        input: Strings of any shape.
        input_encoding: Their encoding, such as `'ISO-8859-1'`.
        output_encoding: `'UTF-8'`, `'UTF-16-BE'` or `'UTF-32-BE'`.
        errors: `'replace'`, `'ignore'` or `'strict'`: what happens to bytes that are no character.
        replacement_char: The code point put in their place.
        replace_control_characters: Whether the characters below 32 are replaced too.
        name: Ignored.

    Returns:
        Strings of the same shape.

    Raises:
        InvalidArgumentError: As `tf.strings.unicode_decode`.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.unicode_transcode(b"h\xe9", "ISO-8859-1", "UTF-8").numpy()
        b'h\xc3\xa9'

    Differs from TensorFlow:
        The encodings are those of Python, whose names and tables are nearly those of ICU.
    """
    node = "UnicodeTranscode"
    check_choice(output_encoding, "output_encoding", OUTPUTS, node)
    policy = _policy(errors, replacement_char, replace_control_characters, node)
    codec = codec_of(input_encoding, node)

    def transcoded(text: bytes) -> bytes:
        codes = [code for code, _ in decoded_characters(text, codec, policy)]
        return encoded_characters(codes, output_encoding, policy)

    return each_text(input, transcoded, node)


@public("strings.unicode_script")
def unicode_script(input: Any, name: str | None = None) -> Any:
    """The script that each character is written in.

    Args:
        input: int32 code points of any shape.
        name: Ignored.

    Returns:
        int32 of the same shape: ICU's number of the script, such as 25 for Latin; -1 for what is no
        character.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.unicode_script([1, 104, 0x3042]).numpy().tolist()
        [0, 25, 20]
    """
    return over_flat_values(
        input, lambda flat: constant_tensor(script_codes(known_value(as_tensor(flat))))
    )
