"""What fills a lookup table: tensors, or the lines of a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import OP_NAMES, DType, as_dtype, int64, string
from tapejax._src.core.errors import FailedPreconditionError, InvalidArgumentError
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import DTypeLike, public
from tapejax._src.engine.texts import known_texts
from tapejax._src.ops.file_contents import scalar_text
from tapejax._src.ops.paths import open_local, os_errors, path_text
from tapejax._src.ops.shape_checks import brackets
from tapejax._src.ops.string_functions import parse_integer, parse_real

Array = np.ndarray[Any, Any]
Key = bytes | int


def keys_of(array: Array) -> list[Key]:
    """The elements of an array of strings or integers, as Python values that can be hashed."""
    return array.ravel().tolist()


def host_array(value: Any, dtype: DType) -> Array:
    """The value of a tensor of one dtype."""
    tensor = as_tensor(value, dtype)
    return known_texts(tensor) if dtype is string else tensor.view()


class TableInitializer:
    """The keys and values of a table.

    Attributes:
        key_dtype: The dtype of the keys.
        value_dtype: The dtype of the values.
    """

    key_dtype: DType
    value_dtype: DType

    def read(self) -> tuple[list[Key], Array]:
        """The keys, each once, and a vector of their values."""
        raise NotImplementedError

    def initialize(self, table: Any) -> None:
        """Fill a table: they do so themselves; a subclass that overrides this leaves them empty."""
        del table

    def contents(self, table: Any) -> tuple[list[Key], Array]:
        """What a table holds at first."""
        if type(self).initialize is TableInitializer.initialize:
            return self.read()
        self.initialize(table)
        return [], np.empty(0, as_dtype(self.value_dtype).as_numpy_dtype)


def without_repeats(keys: list[Key], values: Array) -> tuple[list[Key], Array]:
    """Each key once.

    Raises:
        FailedPreconditionError: If a key has two values.
    """
    places: dict[Key, int] = {}
    for place, key in enumerate(keys):
        first = places.setdefault(key, place)
        if values[first] != values[place]:
            shown = key.decode("utf-8", "replace") if isinstance(key, bytes) else key
            raise FailedPreconditionError(
                None,
                None,
                f"HashTable has different value for same key. Key {shown} has {values[first]} and "
                f"trying to add value {values[place]}",
            )
    return list(places), values[list(places.values())]


@public("lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(TableInitializer):
    """Fills a table from tensors.

    Args:
        keys: A vector of strings or integers.
        values: A vector of as many values.
        key_dtype: The dtype of the keys, if `keys` is no tensor.
        value_dtype: The dtype of the values, if `values` is no tensor.
        name: Ignored.

    Example:
        >>> import tapejax as tf
        >>> init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        >>> tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(["b", "c"])).numpy().tolist()
        [2, -1]
    """

    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> None:
        del name
        self._keys = as_tensor(keys, None if key_dtype is None else as_dtype(key_dtype))
        self._values = as_tensor(values, None if value_dtype is None else as_dtype(value_dtype))
        self.key_dtype = self._keys.dtype
        self.value_dtype = self._values.dtype

    def read(self) -> tuple[list[Key], Array]:
        """The keys, each once, and a vector of their values."""
        keys = host_array(self._keys, self.key_dtype)
        values = host_array(self._values, self.value_dtype)
        if keys.shape != values.shape:
            raise InvalidArgumentError(
                f"Expected shape {brackets(keys.shape)} for value, got {brackets(values.shape)} "
                "[Op:LookupTableImportV2]"
            )
        return without_repeats(keys_of(keys), values.ravel())


@public("lookup.TextFileIndex")
class TextFileIndex:
    """What `tf.lookup.TextFileInitializer` takes of a line, other than a column.

    Attributes:
        WHOLE_LINE: The line.
        LINE_NUMBER: Its number, from 0.
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


@public("lookup.TextFileInitializer")
class TextFileInitializer(TableInitializer):
    r"""Fills a table from the lines of a file.

    Args:
        filename: The path.
        key_dtype: The dtype of the keys.
        key_index: The column they are in, from 0, or one of `tf.lookup.TextFileIndex`.
        value_dtype: The dtype of the values.
        value_index: The column they are in, or one of `tf.lookup.TextFileIndex`.
        vocab_size: How many lines to read. Default: all.
        delimiter: What stands between columns, one character.
        name: Ignored.
        value_index_offset: Added to the number of a line where that is the value.

    Raises:
        ValueError: If an index does not fit its dtype.

    Example:
        >>> import os, tempfile
        >>> import tapejax as tf
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = os.path.join(folder.name, "words.txt")
        >>> tf.io.write_file(path, "the\nof\n")
        >>> index = tf.lookup.TextFileIndex
        >>> init = tf.lookup.TextFileInitializer(
        ...     path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
        ... )
        >>> tf.lookup.StaticHashTable(init, -1).lookup(tf.constant(["of", "and"])).numpy().tolist()
        [1, -1]
        >>> folder.cleanup()
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: DTypeLike,
        key_index: int,
        value_dtype: DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        del name
        self._path = path_text(scalar_text(filename, "filename", "InitializeTableFromTextFileV2"))
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        for what, dtype, index in (
            ("key", self.key_dtype, key_index),
            ("value", self.value_dtype, value_index),
        ):
            _check_index(what, dtype, index)
        if len(delimiter) != 1:
            raise ValueError(f"delimiter must be one character, got {delimiter!r}")
        self._key_index, self._value_index = key_index, value_index
        self._size = None if vocab_size in (None, -1) else vocab_size
        self._delimiter = delimiter.encode()
        self._offset = value_index_offset

    def read(self) -> tuple[list[Key], Array]:
        """The keys, each once, and a vector of their values."""
        with os_errors(self._path), open_local(self._path, "rb") as file:
            lines = file.read().split(b"\n")
        if lines and not lines[-1]:
            lines.pop()
        if self._size is not None and len(lines) < self._size:
            raise InvalidArgumentError(
                f"Invalid vocab_size in {self._path}: expected {self._size} but got {len(lines)} "
                "[Op:InitializeTableFromTextFileV2]"
            )
        keys: list[Key] = []
        values: list[Any] = []
        for number, line in enumerate(lines[: self._size]):
            text = line.rstrip(b"\r")
            keys.append(self._part(text, number, self._key_index, self.key_dtype, 0))
            values.append(
                self._part(text, number, self._value_index, self.value_dtype, self._offset)
            )
        array = np.empty(len(values), self.value_dtype.as_numpy_dtype)
        array[:] = values
        return without_repeats(keys, array)

    def _part(self, line: bytes, number: int, index: int, dtype: DType, offset: int) -> Any:
        if index == TextFileIndex.LINE_NUMBER:
            return number + offset
        if index == TextFileIndex.WHOLE_LINE:
            return line
        columns = line.split(self._delimiter)
        if index >= len(columns):
            shown = line.decode("utf-8", "replace")
            raise InvalidArgumentError(
                f"Invalid number of columns in {self._path} line {number} ({shown}) : expected at "
                f"least {index + 1} got {len(columns)} [Op:InitializeTableFromTextFileV2]"
            )
        value = _parser(dtype)(columns[index])
        if value is None:
            shown = columns[index].decode("utf-8", "replace")
            raise InvalidArgumentError(
                f"Field {shown} in line {number} is not a valid {OP_NAMES[dtype]}. "
                "[Op:InitializeTableFromTextFileV2]"
            )
        return value


def _parser(dtype: DType) -> Callable[[bytes], Any]:
    if dtype is string:
        return lambda text: text
    if dtype.is_floating:
        return parse_real
    least, most = dtype.min, dtype.max
    return lambda text: parse_integer(text, least, most)


def _check_index(what: str, dtype: DType, index: int) -> None:
    if index < -2:
        raise ValueError(f"Invalid {what} index {index}.")
    if index == TextFileIndex.LINE_NUMBER and dtype is not int64:
        raise ValueError(
            f"`{what}_dtype` must be int64 if `{what}_index` is LINE_NUMBER, received {dtype!r}"
        )
    if index == TextFileIndex.WHOLE_LINE and dtype is not string:
        raise ValueError(
            f"`{what}_dtype` must be string if `{what}_index` is WHOLE_LINE, received {dtype!r}"
        )
