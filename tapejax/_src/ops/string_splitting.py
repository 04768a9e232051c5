"""`tf.strings.split` and its relatives: one string into several."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import as_texts, known_texts, text_tensor
from tapejax._src.ops.shape_checks import brackets
from tapejax._src.ops.text_rows import limits, ragged_of_rows, rows_of_elements


def flat_texts(rows: Sequence[Sequence[bytes]]) -> Any:
    """The tensor of the strings of all rows."""
    items = list(itertools.chain.from_iterable(rows))
    found = np.empty(len(items), object)
    found[:] = items
    return text_tensor(found)


def each_into_row(value: Any, fn: Callable[[bytes], Sequence[bytes]]) -> Any:
    """A row of strings for each string: a tensor for a scalar, else a ragged tensor."""
    if isinstance(value, RaggedTensor):
        return value.over(each_into_row(value.flat_values, fn))
    texts = known_texts(as_texts(value))
    rows = [fn(text) for text in texts.ravel()]
    return rows_of_elements(rows, texts.shape, flat_texts(rows))


@public("strings.split")
def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Split each string into a row of strings.

    Args:
        input: Strings of any shape, or a ragged tensor of them.
        sep: What stands between the parts. None or `''`: any amount of white space.
        maxsplit: How often each string is split at most; -1: no limit.
        name: Ignored.

    Returns:
        Of a scalar the vector of its parts, else a `tf.RaggedTensor` with a dimension more.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.split("a b  c").numpy().tolist()
        [b'a', b'b', b'c']
        >>> tf.strings.split(["a,b", "c"], sep=",")
        <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    mark = b"" if sep is None else _scalar(sep)
    limit = max(maxsplit, -1)
    return each_into_row(input, lambda text: text.split(mark or None, limit))


def _scalar(sep: Any) -> bytes:
    texts = known_texts(as_texts(sep))
    if texts.ndim:
        raise InvalidArgumentError(
            f"sep must be a scalar, got shape: {brackets(texts.shape)} [Op:StringSplitV2]"
        )
    return texts[()]


@public("strings.bytes_split")
def bytes_split(input: Any, name: str | None = None) -> Any:
    """Split each string into its bytes.

    Args:
        input: Strings of any shape, or a ragged tensor of them.
        name: Ignored.

    Returns:
        Of a scalar the vector of its bytes, else a `tf.RaggedTensor` with a dimension more.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.bytes_split("hello").numpy().tolist()
        [b'h', b'e', b'l', b'l', b'o']
    """
    return each_into_row(input, lambda text: [text[n : n + 1] for n in range(len(text))])


@public("strings.ngrams")
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Neighbouring strings of each row, joined.

    Args:
        data: Strings `[..., n]`, or a ragged tensor of them; the last dimension is the row.
        ngram_width: How many strings are joined, or a list of such numbers.
        separator: What is put between.
        pad_values: A string that pads both ends of each row, or a pair of strings.
        padding_width: How many there are at each end at most; default: `ngram_width - 1`.
        preserve_short_sequences: Whether a row that is too short is joined as it is.
        name: Ignored.

    Returns:
        Strings `[..., ngrams]`, those of the first width before those of the next; ragged if `data`
        is.

    Raises:
        ValueError: If `data` is a scalar or a width is less than 1.
        TypeError: If `pad_values` is neither a string nor a pair of strings.

    Example:
        >>> import tapejax as tf
        >>> tf.strings.ngrams(["A", "B", "C", "D"], 2).numpy().tolist()
        [b'A B', b'B C', b'C D']
    """
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    _check_widths(widths, padding_width, pad_values)
    pads = _pads(pad_values)
    between = separator.encode()

    def joined(row: Sequence[bytes]) -> list[bytes]:
        found: list[bytes] = []
        for width in widths:
            found += _ngrams_of(row, width, between, pads, padding_width)
        if not found and preserve_short_sequences and len(row):
            left, right = [], []
            if pads is not None:
                left, right = _padding(max(widths), pads, padding_width)
            found.append(between.join([*left, *row, *right]))
        return found

    return _of_ragged(data, joined) if isinstance(data, RaggedTensor) else _of_dense(data, joined)


def _of_dense(data: Any, joined: Callable[[Sequence[bytes]], list[bytes]]) -> Any:
    texts = known_texts(as_texts(data))
    if not texts.ndim:
        raise ValueError("Data must have rank>0")
    shape = texts.shape[:-1]
    count = int(np.prod(shape, dtype=np.int64))
    rows = [joined(row.tolist()) for row in texts.reshape(count, texts.shape[-1])]
    size = len(rows[0]) if rows else 0
    return text_tensor(known_texts(flat_texts(rows)).reshape(*shape, size))


def _check_widths(widths: Sequence[int], padding_width: int | None, pad_values: Any) -> None:
    if any(width < 1 for width in widths):
        shown = widths[0] if len(widths) == 1 else widths
        raise ValueError(f"All ngram_widths must be greater than 0. Got {shown}")
    if padding_width is not None and padding_width < 0:
        raise ValueError(f"padding_width must be greater than or equal to 0. Got {padding_width}")
    if padding_width is not None and pad_values is None:
        raise ValueError("pad_values must be provided if padding_width is set.")


def _pads(pad_values: Any) -> tuple[bytes, bytes] | None:
    if pad_values is None:
        return None
    pair = (pad_values, pad_values) if isinstance(pad_values, (str, bytes)) else tuple(pad_values)
    if len(pair) != 2 or not all(isinstance(pad, (str, bytes)) for pad in pair):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    left, right = (pad.encode() if isinstance(pad, str) else pad for pad in pair)
    return left, right


def _padding(
    width: int, pads: tuple[bytes, bytes], limit: int | None
) -> tuple[list[bytes], list[bytes]]:
    count = width - 1 if limit is None else min(limit, width - 1)
    return [pads[0]] * count, [pads[1]] * count


def _ngrams_of(
    row: Sequence[bytes],
    width: int,
    between: bytes,
    pads: tuple[bytes, bytes] | None,
    limit: int | None,
) -> list[bytes]:
    padded = list(row)
    if pads is not None:
        left, right = _padding(width, pads, limit)
        padded = [*left, *row, *right]
    return [between.join(padded[n : n + width]) for n in range(len(padded) - width + 1)]


def _of_ragged(data: RaggedTensor, joined: Callable[[Sequence[bytes]], list[bytes]]) -> Any:
    if data.flat_values.ndim != 1:
        raise InvalidArgumentError("tf.strings.ngrams: the last dimension must be the ragged one")
    *outer, splits = [np.asarray(s.view()) for s in data.nested_row_splits]
    texts = known_texts(as_tensor(data.flat_values))
    rows = [joined(texts[first:last].tolist()) for first, last in itertools.pairwise(splits)]
    inner = limits([len(row) for row in rows], splits.dtype)
    return ragged_of_rows(flat_texts(rows), *outer, inner)
