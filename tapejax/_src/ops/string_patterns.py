"""`tf.strings.regex_*`: regular expressions, in RE2's syntax."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import as_texts, known_texts
from tapejax._src.ops.regular_expressions import compiled, decoded, encoded
from tapejax._src.ops.shape_checks import brackets
from tapejax._src.ops.string_functions import each_text

_REFERENCE = re.compile(r"\\(.?)", re.DOTALL)


def _scalar(value: Any, what: str, node: str) -> bytes:
    texts = known_texts(as_texts(value))
    if texts.ndim:
        raise InvalidArgumentError(
            f"{what} must be scalar, but received {brackets(texts.shape)} [Op:{node}]"
        )
    return texts[()]


@public("strings.regex_full_match")
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Any:
    r"""Whether a pattern matches the whole of each string.

    Args:
        input: Strings of any shape.
        pattern: A string: a regular expression in RE2's syntax.
        name: Ignored.

    Returns:
        bool of the same shape.

    Raises:
        InvalidArgumentError: If `pattern` is not a regular expression, or not a scalar.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.regex_full_match(["TF lib", "lib TF"], ".*lib$").numpy().tolist()
        [True, False]

    Differs from TensorFlow:
        The flag `U` and scripts such as `\p{Greek}` are not supported.

    References:
        https://github.com/google/re2/wiki/Syntax
    """
    node = "RegexFullMatch"
    program = compiled(_scalar(pattern, "Pattern", node), node)
    return each_text(
        input, lambda text: program.fullmatch(decoded(text)) is not None, node, np.bool_
    )


@public("strings.regex_replace")
def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Any:
    r"""Replace what a pattern matches in each string.

    Args:
        input: Strings of any shape.
        pattern: A string: a regular expression in RE2's syntax.
        rewrite: A string: what is put in its place; `\1` to `\9` stand for what the groups
            matched, `\0` for all.
        replace_global: Whether every match is replaced, or the first only.
        name: Ignored.

    Returns:
        Strings of the same shape.

    Raises:
        InvalidArgumentError: If `pattern` is not a regular expression, or one of the two is not a
            scalar.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.regex_replace("Text with tags.<br />", "<[^>]+>", " ").numpy()
        b'Text with tags. '

    Differs from TensorFlow:
        The flag `U` and scripts such as `\p{Greek}` are not supported.
    """
    node = "RegexReplace"
    program = compiled(_scalar(pattern, "Pattern", node), node)
    parts, is_whole = _parts(decoded(_scalar(rewrite, "Rewrite", node)))
    wrong = any(isinstance(p, int) and p > program.groups for p in parts)
    wrong = wrong or not (is_whole or replace_global)

    def replaced(text: bytes) -> bytes:
        if wrong:  # RE2 gives up, without an error
            return text
        return encoded(_replaced(program, parts, decoded(text), replace_global))

    return each_text(input, replaced, node)


def _parts(rewrite: str) -> tuple[list[str | int], bool]:
    """The text and the numbers of groups of a rewrite up to what is wrong, and if all is right."""
    parts: list[str | int] = []
    last = 0
    for found in _REFERENCE.finditer(rewrite):
        parts.append(rewrite[last : found.start()])
        last = found.end()
        sign = found[1]
        if sign == "\\":
            parts.append("\\")
        elif sign.isascii() and sign.isdigit():
            parts.append(int(sign))
        else:
            return parts, False
    return [*parts, rewrite[last:]], True


def _replaced(
    program: re.Pattern[str], parts: list[str | int], source: str, everywhere: bool
) -> str:
    """RE2 finds no empty match where the match before has ended; Python does."""
    made: list[str] = []
    at, end = 0, -1
    while at <= len(source):
        found = program.search(source, at)
        if found is None:
            break
        if found.start() == found.end() == end:
            made.append(source[at : at + 1])
            at += 1
            end = -1
            continue
        made.append(source[at : found.start()])
        made += [(found[p] or "") if isinstance(p, int) else p for p in parts]
        at = end = found.end()
        if not everywhere:
            break
    return "".join([*made, source[at:]])
