"""Datasets of comma-separated files: `CsvDataset` and `make_csv_dataset`."""

from __future__ import annotations

import collections
import csv
import glob
import io
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tapejax._src.core import dtypes, errors
from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.specs import TensorSpec
from tapejax._src.data.batching import Batch
from tapejax._src.data.dataset import Dataset
from tapejax._src.data.node import AUTOTUNE, UNKNOWN, Node, Shapes, Stream
from tapejax._src.data.ordering import IgnoreErrors, Repeat, Shuffle
from tapejax._src.data.readers import names_of
from tapejax._src.data.seeds import SeedSource, seeds_for
from tapejax._src.data.sources import TensorSlices
from tapejax._src.data.structure import leaf_of
from tapejax._src.engine.registry import public
from tapejax._src.ops.record_files import compression_name, open_compressed, path_text

Form = tuple[bool, str, bool, str, str]
"""Header, delimiter, whether quotes count, the text of a missing value, compression."""

_KINDS = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


class _Column:
    """What is known of a column: its dtype, and the value of an empty field."""

    def __init__(self, default: Any) -> None:
        self.default: Any = None
        if isinstance(default, DType):
            self.dtype = default
        else:
            array = np.asarray(leaf_of(default))
            self.dtype = as_dtype("string" if array.dtype.kind == "O" else array.dtype)
            if array.size:
                self.default = array.ravel()[0]
        if self.dtype not in _KINDS:
            raise TypeError(
                f"record_defaults: a column cannot have dtype {self.dtype.name}; use one of "
                f"{', '.join(kind.name for kind in _KINDS)}."
            )

    def value(self, text: str, number: int) -> Any:
        """A field as an array."""
        out = np.empty((), self.dtype.as_numpy_dtype)
        if text == "":
            if self.default is None:
                raise errors.InvalidArgumentError(
                    None, None, f"Field {number} is required but missing in record!"
                )
            out[()] = self.default
            return out
        if self.dtype is dtypes.string:
            out[()] = text.encode()
            return out
        try:
            out[()] = int(text) if self.dtype.is_integer else float(text)
        except (ValueError, OverflowError):
            raise errors.InvalidArgumentError(
                None, None, f"Field {number} in record is not a valid {self.dtype.name}: {text}"
            ) from None
        return out


class _Rows:
    """The rows of CSV files; it goes on after a row that fails."""

    def __init__(self, node: Csv) -> None:
        self._node = node
        self._records = node.records()

    def __iter__(self) -> _Rows:
        return self

    def __next__(self) -> Any:
        return self._node.row(next(self._records))


class Csv(Node):
    """The rows of CSV files.

    Args:
        name: What TensorFlow calls the class.
        names: The node of file names.
        columns: What is known of the columns that are kept.
        selected: Their numbers; None: all.
        form: Header, delimiter, whether quotes count, the text of a missing value, compression.
        keys: Their names; None: elements are tuples.
    """

    def __init__(
        self,
        name: str,
        names: Node,
        columns: Sequence[_Column],
        selected: Sequence[int] | None,
        form: Form,
        keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(names)
        self.name = name
        self._columns, self._selected, self._form = columns, selected, form
        specs = [TensorSpec((), column.dtype) for column in columns]
        named = zip(keys or (), specs, strict=keys is not None)
        self.spec: Any = tuple(specs) if keys is None else collections.OrderedDict(named)
        numbers = list(range(len(columns)))
        # The leaves of a dict come in the order of its sorted keys.
        self._order = numbers if keys is None else sorted(numbers, key=lambda n: keys[n])

    @property
    def structure(self) -> Any:
        """Known."""
        return self.spec

    def shapes(self) -> Shapes:
        """Scalars."""
        return [()] * len(self._columns)

    def cardinality(self) -> int:
        """Nobody knows."""
        return UNKNOWN

    def records(self) -> Iterator[list[str]]:
        """The fields of each row."""
        header, delimiter, quotes, _, compression = self._form
        for (path,) in self.source.stream():
            yield from read_fields(path_text(path[()]), compression, delimiter, quotes, header)

    def row(self, fields: list[str]) -> Any:
        """The values of a row."""
        count = len(self._columns)
        wanted = range(count) if self._selected is None else self._selected
        if self._selected is None and len(fields) != count:
            raise errors.InvalidArgumentError(
                None, None, f"Expect {count} fields but have {len(fields)} in record"
            )
        missing = self._form[3]
        values: list[Any] = []
        for column, number in zip(self._columns, wanted, strict=True):
            if number >= len(fields):
                raise errors.InvalidArgumentError(
                    None, None, f"Expect {number + 1} fields but have {len(fields)} in record"
                )
            text = "" if fields[number] == missing else fields[number]
            values.append(column.value(text, number))
        return tuple([values[n] for n in self._order])

    def stream(self) -> Stream:
        """The rows."""
        return _Rows(self)


def read_fields(
    path: str, compression: str, delimiter: str, quotes: bool, header: bool
) -> Iterator[list[str]]:
    """The fields of each row of a file."""
    file = open_compressed(path, compression)
    quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    try:
        text = io.StringIO(file.read().decode("utf-8"), newline="")
    finally:
        file.close()
    rows = csv.reader(text, delimiter=delimiter, quoting=quoting)
    if header:
        next(rows, None)
    yield from (row for row in rows if row)


class CsvDataset(Dataset):
    r"""The rows of comma-separated files, a tensor for each column.

    Args:
        filenames: A name, a list of them, or a dataset of names.
        record_defaults: For each column its dtype (then a value is required) or the value of an
            empty field.
        compression_type: `""`, `"GZIP"` or `"ZLIB"`.
        buffer_size: Accepted.
        header: Whether the first line of each file is left out.
        field_delim: What stands between fields.
        use_quote_delim: Whether double quotes enclose fields.
        na_value: Another text that means an empty field.
        select_cols: The numbers of the columns to keep.
        exclude_cols: Those to leave out.

    Example:
        >>> import pathlib, tempfile
        >>> import tapejax as tf
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
        >>> _ = path.write_text("1,2.5\n3,\n")
        >>> rows = tf.data.experimental.CsvDataset(str(path), [tf.int32, 0.0])
        >>> [(int(a), float(b)) for a, b in rows]
        [(1, 2.5), (3, 0.0)]
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Any,
        compression_type: str | None = None,
        buffer_size: Any = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Any = None,
        exclude_cols: Any = None,
    ) -> None:
        del buffer_size
        columns = [_Column(default) for default in record_defaults]
        if select_cols is not None and exclude_cols is not None:
            raise ValueError("At most one of `select_cols` and `exclude_cols` can be specified.")
        selected = None if select_cols is None else [int(n) for n in select_cols]
        if exclude_cols is not None:
            left_out = {int(n) for n in exclude_cols}
            known = range(len(columns) + len(left_out))
            selected = [n for n in known if n not in left_out][: len(columns)]
        form = (header, field_delim, use_quote_delim, na_value, compression_name(compression_type))
        names = names_of(filenames)
        super().__init__(Csv("CsvDatasetV2", names, columns, selected, form))


@public("data.experimental.make_csv_dataset")
def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Any = None,
    column_defaults: Any = None,
    label_name: str | None = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: int = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Any:
    """Batches of the rows of comma-separated files, a dict from column names to tensors.

    Args:
        file_pattern: File names or patterns.
        batch_size: How many rows a batch has.
        column_names: The names; those of the first line if None.
        column_defaults: The dtype or default of each column; found out from the files if None.
        label_name: The column to return beside the others: elements are (dict, label).
        select_columns: The names or numbers of the columns to keep.
        field_delim: What stands between fields.
        use_quote_delim: Whether double quotes enclose fields.
        na_value: Another text that means an empty field.
        header: Whether the first line of each file has the names.
        num_epochs: How often to go over the files; without end if None.
        shuffle: Whether to shuffle the rows.
        shuffle_buffer_size: The size of the buffer.
        shuffle_seed: Makes the order repeatable.
        prefetch_buffer_size: How many batches are read ahead.
        num_parallel_reads: Accepted.
        sloppy: Accepted.
        num_rows_for_inference: How many rows tell the dtypes.
        compression_type: `""`, `"GZIP"` or `"ZLIB"`.
        ignore_errors: Whether to leave out rows that cannot be read.
        encoding: Accepted: UTF-8.
    """
    del num_parallel_reads, sloppy, encoding
    form = (header, field_delim, use_quote_delim, na_value, compression_name(compression_type))
    found = (column_names, column_defaults, select_columns, num_rows_for_inference)
    node = _selected(_matching(file_pattern), form, found, label_name)
    order = (ignore_errors, shuffle_buffer_size if shuffle else 0, shuffle_seed, num_epochs)
    return _batched(node, order, batch_size, label_name, prefetch_buffer_size)


def _selected(
    files: Sequence[str], form: Form, wanted: tuple[Any, Any, Any, int], label: str | None
) -> Node:
    """The rows, with the columns that are wanted.

    Raises:
        ValueError: If a name is unknown or there twice.
    """
    names, defaults, select, rows = wanted
    names = _names(files[0], form) if names is None else [str(name) for name in names]
    if len(set(names)) != len(names):
        raise ValueError("Cannot have duplicate column names.")
    kept = [_number(names, c) for c in (names if select is None else select)]
    keys = [names[n] for n in kept]
    if label is not None and label not in keys:
        raise ValueError(f"`label_name` provided must be one of the columns: {keys}.")
    columns = _columns(defaults, files, form, kept, rows)
    return Csv("CsvDatasetV2", TensorSlices.of(list(files)), columns, kept, form, keys)


def _batched(
    node: Node, order: tuple[bool, int, Any, int | None], size: int, label: str | None, ahead: Any
) -> Any:
    """The rows in their order, in batches."""
    skip_errors, buffer, seed, epochs = order
    if skip_errors:
        node = IgnoreErrors(node, False)
    if buffer:
        node = Shuffle(node, buffer, SeedSource(seeds_for(seed), True))
    if epochs != 1:
        node = Repeat(node, -1 if epochs is None else epochs)
    dataset: Any = Dataset(Batch(node, size, epochs is None, False))
    if label is not None:
        dataset = dataset.map(lambda row: _without(row, label))
    return dataset.prefetch(AUTOTUNE if ahead is None else ahead)


def _names(file: str, form: Form) -> list[str]:
    """The names in the first line of a file."""
    _, delimiter, quotes, _, compression = form
    return next(read_fields(file, compression, delimiter, quotes, False))


def _columns(
    defaults: Any, files: Sequence[str], form: Form, kept: Sequence[int], rows: int
) -> list[_Column]:
    """What is known of the columns that are kept."""
    given = _inferred(files, form, rows) if defaults is None else list(defaults)
    if len(given) != len(kept) or defaults is None:
        given = [given[n] for n in kept]
    return [_Column(default) for default in given]


def _without(row: dict[str, Any], label: str) -> Any:
    return collections.OrderedDict((k, v) for k, v in row.items() if k != label), row[label]


def _matching(pattern: Any) -> list[str]:
    texts: list[bytes] = np.asarray(leaf_of(pattern)).ravel().tolist()
    files = sorted({path for text in texts for path in glob.glob(text.decode())})
    if not files:
        raise ValueError(f"No files match `file_pattern` {pattern}.")
    return files


def _number(names: Sequence[str], column: Any) -> int:
    if isinstance(column, int):
        if not 0 <= column < len(names):
            raise ValueError(f"Column {column} is out of range: there are {len(names)}.")
        return column
    if column not in names:
        raise ValueError(f"Column {column!r} is not among the columns {list(names)}.")
    return names.index(column)


def _inferred(files: Sequence[str], form: Form, rows: int) -> list[Any]:
    """A default for each column: zero of the narrowest dtype that holds its values, or ""."""
    header, delimiter, quotes, missing, compression = form
    fields = itertools.chain.from_iterable(
        read_fields(file, compression, delimiter, quotes, header) for file in files
    )
    seen = list(itertools.islice(fields, rows or None))
    width = len(seen[0]) if seen else 0
    known = [
        [_kind(row[n]) for row in seen if n < len(row) and row[n] not in ("", missing)]
        for n in range(width)
    ]
    return [_DEFAULTS[max(kinds, default=0)] for kinds in known]


_DEFAULTS = [np.zeros(1, np.int32), np.zeros(1, np.int64), np.zeros(1, np.float32), [""]]


def _kind(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        pass
    else:
        return 0 if -(2**31) <= number < 2**31 else 1
    try:
        float(text)
    except ValueError:
        return 3
    return 2
