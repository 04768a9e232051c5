"""Text in the encodings of `tf.strings.unicode_*`: characters, and what to do with errors."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import NamedTuple

from tapejax._src.core.errors import InvalidArgumentError

POLICIES = ("strict", "replace", "ignore")
OUTPUTS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_MARKS = {
    "utf-16": ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")),
    "utf-32": ((b"\xff\xfe\x00\x00", "utf-32-le"), (b"\x00\x00\xfe\xff", "utf-32-be")),
}


class Policy(NamedTuple):
    """What happens to what is no character.

    Attributes:
        errors: `'strict'`: an error, `'replace'`, or `'ignore'`: it is left out.
        replacement: The code point put in its place.
        controls: Whether the control characters below 32 are replaced as well.
        node: The op, named in errors.
    """

    errors: str
    replacement: int
    controls: bool
    node: str

    def failed(self, what: str) -> InvalidArgumentError:
        """The error of a strict policy."""
        return InvalidArgumentError(f"{what} [Op:{self.node}]")


def codec_of(encoding: str, node: str) -> str:
    """Python's name of an encoding.

    Raises:
        InvalidArgumentError: If there is none.
    """
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise InvalidArgumentError(
            f"Could not create converter for input encoding: {encoding} [Op:{node}]"
        ) from None


def decoded_characters(text: bytes, codec: str, policy: Policy) -> Iterator[tuple[int, int]]:
    """The code points of a text and where each begins, in bytes.

    Args:
        text: The text.
        codec: Python's name of its encoding.
        policy: What happens to bytes that are no character.

    Raises:
        InvalidArgumentError: If there are such and the policy is strict.
    """
    at = 0
    for mark, codec_of_mark in _MARKS.get(codec, ()):
        if text.startswith(mark):
            codec, at = codec_of_mark, len(mark)
    codec = f"{codec}-be" if codec in _MARKS else codec
    for character, size in _pieces(text, at, codec):
        if character is None:
            if policy.errors == "strict":
                raise policy.failed("Invalid formatting on input string")
            if policy.errors == "replace":
                yield policy.replacement, at
        elif policy.controls and character < " ":
            yield policy.replacement, at
        else:
            yield ord(character), at
        at += size


def _pieces(text: bytes, at: int, codec: str) -> Iterator[tuple[str | None, int]]:
    """Characters, or None for what is none, with the number of their bytes."""
    while at < len(text):
        try:
            good, wrong = text[at:].decode(codec), 0
        except UnicodeDecodeError as error:
            good = text[at : at + error.start].decode(codec)
            wrong = error.end - error.start
        for character in good:
            size = len(character.encode(codec))
            at += size
            yield character, size
        if wrong:
            at += wrong
            yield None, wrong


def encoded_characters(codes: Iterator[int] | list[int], encoding: str, policy: Policy) -> bytes:
    """The text of code points.

    Args:
        codes: Integers.
        encoding: One of `OUTPUTS`.
        policy: What happens to integers that are no character.

    Raises:
        InvalidArgumentError: If there are such and the policy is strict.
    """
    made: list[str] = []
    for code in codes:
        if 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000:
            made.append(chr(code))
        elif policy.errors == "strict":
            raise policy.failed("Code point is out of range for Unicode, or is a surrogate.")
        elif policy.errors == "replace":
            made.append(chr(policy.replacement))
    return "".join(made).encode(encoding)
