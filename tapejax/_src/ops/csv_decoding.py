"""`tf.io.decode_csv`: lines of comma separated values as columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import OP_NAMES, DType
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.registry import public
from tapejax._src.engine.texts import as_texts, known_texts
from tapejax._src.ops.string_functions import parse_integer, parse_real

_ALLOWED = ("float", "double", "int32", "int64", "string")


def _failed(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{message} [Op:DecodeCSV]")


def split_record(record: bytes, delim: bytes, quoted: bool) -> list[bytes]:
    """The fields of one line, by RFC 4180.

    Args:
        record: The line, without its end.
        delim: What stands between fields, one byte.
        quoted: Whether quotes around a field count.

    Raises:
        InvalidArgumentError: If quotes are in a wrong place.
    """
    if not quoted:
        return record.split(delim)
    if b'"' not in record and b"\n" not in record and b"\r" not in record:
        return record.split(delim)
    fields: list[bytes] = []
    at = 0
    while True:
        if record[at : at + 1] == b'"':
            text, at = _quoted_field(record, at + 1, delim)
        else:
            end = record.find(delim, at)
            end = len(record) if end < 0 else end
            text, at = record[at:end], end
            if any(sign in text for sign in (b'"', b"\n", b"\r")):
                raise _failed("Unquoted fields cannot have quotes/CRLFs inside")
        fields.append(text)
        if at >= len(record):
            return fields
        at += 1


def _quoted_field(record: bytes, at: int, delim: bytes) -> tuple[bytes, int]:
    """The text of a field behind its quote, and where it ends."""
    parts: list[bytes] = []
    while True:
        end = record.find(b'"', at)
        if end < 0:
            raise _failed("Quoted field has to end with quote followed by delim or end")
        parts.append(record[at:end])
        following = record[end + 1 : end + 2]
        if following in (b"", delim):
            return b"".join(parts), end + 1
        if following != b'"':
            raise _failed("Quote inside a string has to be escaped by another quote")
        parts.append(b'"')
        at = end + 2


def _parser(dtype: DType) -> Callable[[bytes], Any]:
    if dtype.name == "string":
        return lambda text: text
    if dtype.is_floating:
        return parse_real
    least, most = dtype.min, dtype.max
    return lambda text: parse_integer(text, least, most)


class _Column:
    """A column: its dtype, and its default where it has one."""

    def __init__(self, default: Any, place: int) -> None:
        if not isinstance(default, Tensor) and np.ndim(default) == 0:
            default = [default] if isinstance(default, (str, bytes)) else default
        tensor = as_tensor(default)
        self.dtype = tensor.dtype
        if OP_NAMES[self.dtype] not in _ALLOWED:
            raise _failed(
                f"Value for attr 'OUT_TYPE' of {OP_NAMES[self.dtype]} is not in the list of "
                f"allowed values: {', '.join(_ALLOWED)}"
            )
        size = tensor.shape.num_elements() or 0
        if size > 1:
            raise _failed(f"There should only be 1 default per field but field {place} has {size}")
        self._default = tensor.view().ravel()[0] if size else None
        self._parse = _parser(self.dtype)
        self.values: list[Any] = []

    def add(self, text: bytes, place: int, record: int, na_value: bytes) -> None:
        """Read the field of one record."""
        if not text or text == na_value:
            if self._default is None:
                raise _failed(f"Field {place} is required but missing in record {record}!")
            self.values.append(self._default)
            return
        value = self._parse(text)
        if value is None:
            shown = text.decode("utf-8", "replace")
            raise _failed(
                f"Field {place} in record {record} is not a valid {OP_NAMES[self.dtype]}: {shown}"
            )
        self.values.append(value)

    def tensor(self, shape: tuple[int, ...]) -> Tensor:
        """All values."""
        array = np.empty(len(self.values), self.dtype.as_numpy_dtype)
        array[:] = self.values
        return constant_tensor(array.reshape(shape))


@public("io.decode_csv")
def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[Any]:
    """Lines of comma separated values as one tensor for each column.

    Args:
        records: Strings of any shape, one line each.
        record_defaults: One for each column: a value, or a vector of one value, that stands for
            an empty field and gives the dtype (float32, float64, int32, int64 or string); an empty
            tensor if the field must be there.
        field_delim: What stands between fields, one character.
        use_quote_delim: Whether quotes around a field count.
        na_value: A text that counts as an empty field.
        select_cols: The columns to read, in increasing order. Default: all.
        name: Ignored.

    Returns:
        A list of tensors of the shape of `records`.

    Raises:
        ValueError: If `select_cols` does not increase, or has another length than the defaults.
        InvalidArgumentError: If a record does not fit.

    Example:
        >>> import tapejax as tf
        >>> number, text = tf.io.decode_csv(["1,a", "2,"], [[0], ["none"]])
        >>> number.numpy().tolist(), text.numpy().tolist()
        ([1, 2], [b'a', b'none'])
    """
    if len(field_delim) != 1:
        raise _failed("field_delim should be only 1 char")
    if select_cols is not None and any(
        b <= a for a, b in zip(select_cols, list(select_cols)[1:], strict=False)
    ):
        raise ValueError("select_cols is not strictly increasing.")
    if select_cols is not None and select_cols and select_cols[0] < 0:
        raise ValueError("select_cols contains negative values.")
    if select_cols is not None and len(select_cols) != len(record_defaults):
        raise ValueError("Length of select_cols and record_defaults do not match.")
    columns = [_Column(default, place) for place, default in enumerate(record_defaults)]
    texts = known_texts(as_texts(records))
    delim, missing = field_delim.encode(), na_value.encode()
    for number, record in enumerate(texts.ravel().tolist()):
        fields = split_record(record, delim, use_quote_delim)
        if select_cols is not None:
            chosen = [fields[place] for place in select_cols if place < len(fields)]
        else:
            chosen = fields
        if len(chosen) != len(columns):
            raise _failed(f"Expect {len(columns)} fields but have {len(chosen)} in record {number}")
        for place, (column, text) in enumerate(zip(columns, chosen, strict=True)):
            column.add(text, place, number, missing)
    return [column.tensor(texts.shape) for column in columns]
