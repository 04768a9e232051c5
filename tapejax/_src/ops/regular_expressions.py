"""The syntax of TensorFlow's regular expressions (RE2), as patterns of Python's `re`.

Both search leftmost-first, so that translated patterns match the same text. What RE2 refuses
(look-around, references to groups) is refused here too.

References:
    https://github.com/google/re2/wiki/Syntax
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata

from tapejax._src.core.errors import InvalidArgumentError

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": "\\t\\n\\f\\r "}
_ANCHORS = {"A": r"\A", "z": r"\Z", "b": r"\b", "B": r"\B"}
_GROUP = re.compile(r"\?(?:P<\w+>|<\w+>|[imsU-]*[:)]|P=\w+|[=!]|<[=!]|#)?")
_COUNTS = re.compile(r"(\d+)(?:,(\d*))?\}")
_MOST = 1000
"""RE2's limit of counted repetitions."""
_PROPERTY = re.compile(r"\{(\^?)(\w+)\}|(\w)")


@functools.lru_cache(maxsize=256)
def compiled(pattern: bytes, node: str) -> re.Pattern[str]:
    """A pattern in RE2's syntax, compiled.

    Args:
        pattern: UTF-8.
        node: The op it is for, named in errors.

    Returns:
        A pattern that matches text decoded by `decoded`.

    Raises:
        InvalidArgumentError: If it is not a pattern.
    """
    text = decoded(pattern)
    try:
        return re.compile(_Translation(text).result(), re.ASCII)
    except (re.error, ValueError, OverflowError) as error:
        raise InvalidArgumentError(
            f"Invalid pattern: {pattern.decode('utf-8', 'replace')}, error: {error} [Op:{node}]"
        ) from None


def decoded(text: bytes) -> str:
    """Bytes as text; what is not UTF-8 is kept apart and comes back by `encoded`."""
    return text.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The bytes of a text made by `decoded`."""
    return text.encode("utf-8", "surrogateescape")


class _Translation:
    """A walk along a pattern, writing it down in Python's syntax."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._lines = [False]  # whether `^` and `$` are about lines, for each open group
        self._parts: list[str] = []

    def result(self) -> str:
        """The pattern in Python's syntax."""
        while self._at < len(self._pattern):
            sign = self._pattern[self._at]
            self._at += 1
            self._parts.append(self._translated(sign))
        return "".join(self._parts)

    def _translated(self, sign: str) -> str:
        if sign == "\\":
            return self._escape(False)
        if sign == "[":
            return self._set()
        if sign == "(":
            return self._group()
        if sign == ")" and len(self._lines) > 1:
            self._lines.pop()
        if sign == "$":
            return "(?m:$)" if self._lines[-1] else r"\Z"
        if sign == "^":
            return "(?m:^)" if self._lines[-1] else r"\A"
        if sign == "{":
            self._check_repetition()
        if sign == "+" and self._parts and self._parts[-1] in ("*", "+", "?", "}"):
            raise ValueError(f"bad repetition operator: {self._parts[-1]}+")
        return sign

    def _check_repetition(self) -> None:
        found = _COUNTS.match(self._pattern, self._at)
        if found is not None and any(int(n) > _MOST for n in found.groups() if n):
            raise ValueError(f"invalid repetition size: {{{found.group()}")

    def _group(self) -> str:
        found = _GROUP.match(self._pattern, self._at)
        self._lines.append(self._lines[-1])
        if found is None:
            return "("
        text = found.group()
        self._at = found.end()
        if text in ("?=", "?!", "?<=", "?<!", "?#", "?") or text.startswith("?P="):
            raise ValueError(f"invalid perl operator: ({text}")
        if text.startswith("?<"):
            raise ValueError("invalid perl operator: (?<")
        if text.startswith("?P<"):
            return f"({text}"
        return self._flags(text)

    def _flags(self, text: str) -> str:
        """A group of flags: `(?i)`, which holds to the end of the group around, or `(?i:`."""
        on, _, off = text[1:-1].partition("-")
        if "U" in text:
            raise ValueError("the flag U is not supported; write *? and +? for lazy repetitions")
        lines = ("m" in on or self._lines[-1]) and "m" not in off
        kept_on, kept_off = on.replace("m", ""), off.replace("m", "")
        flags = kept_on + (f"-{kept_off}" if kept_off else "")
        if text.endswith(":"):
            self._lines[-1] = lines
            return f"(?{flags}:"
        self._lines.pop()
        self._lines[-1] = lines
        if not flags:
            return ""
        return f"(?{flags}:{self._rest()})"

    def _rest(self) -> str:
        """What follows up to the end of the group around, translated."""
        inner = _Translation(self._pattern)
        inner._at, inner._lines = self._at, [self._lines[-1]]  # the same place in the pattern
        while inner._at < len(self._pattern):
            sign = self._pattern[inner._at]
            if sign == ")" and len(inner._lines) == 1:
                break
            inner._at += 1
            inner._parts.append(inner._translated(sign))
        self._at = inner._at
        return "".join(inner._parts)

    def _escape(self, in_set: bool) -> str:
        if self._at >= len(self._pattern):
            raise ValueError("trailing \\ at end of regexp")
        sign = self._pattern[self._at]
        self._at += 1
        if sign.lower() in _CLASSES:
            inside = _CLASSES[sign.lower()]
            if sign.islower():
                return inside if in_set else f"[{inside}]"
            return _complement(inside) if in_set else f"[^{inside}]"
        if sign in "pP":
            return self._property(sign == "P", in_set)
        if sign in _ANCHORS and not in_set:
            return _ANCHORS[sign]
        if sign == "Q":
            end = self._pattern.find("\\E", self._at)
            quoted = self._pattern[self._at : end if end >= 0 else len(self._pattern)]
            self._at = end + 2 if end >= 0 else len(self._pattern)
            return re.escape(quoted)
        if sign == "x":
            return self._hexadecimal()
        if sign in "afnrtv":
            return f"\\{sign}"
        if sign.isalnum() and sign.isascii() and sign != "0":
            raise ValueError(f"invalid escape sequence: \\{sign}")
        return re.escape(sign) if sign != "0" else "\\x00"

    def _hexadecimal(self) -> str:
        found = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})").match(self._pattern, self._at)
        if found is None:
            raise ValueError("invalid escape sequence: \\x")
        self._at = found.end()
        return re.escape(chr(int(found[1] or found[2], 16)))

    def _property(self, negated: bool, in_set: bool) -> str:
        found = _PROPERTY.match(self._pattern, self._at)
        if found is None:
            raise ValueError("invalid character class range: \\p")
        self._at = found.end()
        inside = _property_ranges(found[2] or found[3])
        if not negated ^ bool(found[1]):
            return inside if in_set else f"[{inside}]"
        return _complement(inside) if in_set else f"[^{inside}]"

    def _set(self) -> str:
        """A set of characters, with classes inside."""
        parts = ["["]
        if self._pattern[self._at : self._at + 1] == "^":
            parts.append("^")
            self._at += 1
        first = True
        while True:
            if self._at >= len(self._pattern):
                raise ValueError(f"missing ]: {self._pattern}")
            sign = self._pattern[self._at]
            self._at += 1
            if sign == "]" and not first:
                return "".join([*parts, "]"])
            parts.append(self._member(sign))
            first = False

    def _member(self, sign: str) -> str:
        if sign == "\\":
            return self._escape(True)
        if sign == "[" and self._pattern[self._at : self._at + 1] == ":":
            end = self._pattern.find(":]", self._at)
            name = self._pattern[self._at + 1 : end]
            inside = _POSIX.get(name.lstrip("^"))
            if end < 0 or inside is None:
                raise ValueError(f"invalid character class range: [:{name}:]")
            self._at = end + 2
            return _complement(inside) if name.startswith("^") else inside
        return f"\\{sign}" if sign in "[]&~|" else sign


@functools.lru_cache(maxsize=64)
def _complement(inside: str) -> str:
    """The ranges that a set leaves out, so that they may stand in another set."""
    pattern = re.compile(f"[{inside}]")
    return _ranges([code for code in range(sys.maxunicode + 1) if not pattern.match(chr(code))])


@functools.lru_cache(maxsize=64)
def _property_ranges(name: str) -> str:
    """The characters of a general category of Unicode, as ranges of a set."""
    codes = [
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)).startswith(name)
    ]
    if not codes:
        raise ValueError(
            f"invalid character class range: \\p{{{name}}} (general categories such as L, Lu and N "
            "are known, scripts are not)"
        )
    return _ranges(codes)


def _ranges(codes: list[int]) -> str:
    parts: list[str] = []
    first = previous = codes[0]
    for code in [*codes[1:], -1]:
        if code == previous + 1:
            previous = code
            continue
        parts.append(f"{re.escape(chr(first))}-{re.escape(chr(previous))}")
        first = previous = code
    return "".join(parts)
