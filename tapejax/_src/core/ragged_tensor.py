"""`tf.RaggedTensor`: rows of different lengths, stored one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tapejax._src.core.dtypes import DType
from tapejax._src.core.nest import Fixed, register_composite
from tapejax._src.core.row_partition import HostArray, RowPartition, known_array
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor, host_tensor


class RaggedTensor:
    """A tensor whose rows differ in length: their values, and where each row ends.

    Make one with `tf.ragged.constant` or one of the `tf.RaggedTensor.from_*` functions.
    Elementwise ops, operators, reductions, indexing, `tf.concat`, `tf.gather` and others take
    ragged tensors; `to_tensor()` pads the rows.

    Example:
        >>> import tapejax as tf
        >>> x = tf.RaggedTensor.from_row_lengths([3, 1, 4, 1, 5], [2, 0, 3])
        >>> x
        <tf.RaggedTensor [[3, 1], [], [4, 1, 5]]>
        >>> x.shape, x.to_tensor().numpy().tolist()
        (TensorShape([3, None]), [[3, 1, 0], [0, 0, 0], [4, 1, 5]])
        >>> tf.reduce_sum(x * 2, axis=1).numpy().tolist()
        [8, 0, 20]

    Differs from TensorFlow:
        A `tf.function` is traced for each row partition of its arguments: compiled code has static
        shapes, and the lengths of the rows decide them.
    """

    __slots__ = ("__weakref__", "_partition", "_values")

    __tf_dispatch__ = True  # operators of tensors leave the answer to this class

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise ValueError(
            "RaggedTensor constructor is private; please use one of the factory methods instead "
            "(e.g., RaggedTensor.from_row_lengths())"
        )

    @classmethod
    def of(cls, values: Any, partition: RowPartition) -> RaggedTensor:
        """The ragged tensor of these values (a tensor or ragged tensor), unchecked."""
        self = object.__new__(cls)
        self._values = values
        self._partition = partition
        return self

    # ------------------------------------------------------------------ parts
    @property
    def values(self) -> Any:
        """The rows one after the other: a tensor, or a ragged tensor of one rank less."""
        return self._values

    @property
    def flat_values(self) -> Tensor:
        """The innermost values, without any row structure."""
        values = self._values
        while isinstance(values, RaggedTensor):
            values = values._values
        return values

    @property
    def partition(self) -> RowPartition:
        """The limits of the rows."""
        return self._partition

    @property
    def partitions(self) -> tuple[RowPartition, ...]:
        """The limits of the rows of every ragged dimension, outermost first."""
        found: list[RowPartition] = []
        level: Any = self
        while isinstance(level, RaggedTensor):
            found.append(level._partition)
            level = level._values
        return tuple(found)

    @property
    def row_splits(self) -> Tensor:
        """`[nrows + 1]` tensor: row `i` is `values[row_splits[i]:row_splits[i + 1]]`."""
        return self._partition.splits

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The `row_splits` of every ragged dimension, outermost first."""
        return tuple([partition.splits for partition in self.partitions])

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of every row, a scalar, if it was made with one; else None."""
        length = self._partition.uniform
        if length is None:
            return None
        return host_tensor(np.asarray(length, self._partition.dtype.as_numpy_dtype))

    @property
    def ragged_rank(self) -> int:
        """How many dimensions are cut by row splits."""
        return len(self.partitions)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape; dimensions of different lengths are None."""
        inner: list[Any] = list(self.flat_values.aval.shape[1:])
        lengths = [partition.uniform for partition in self.partitions]
        return TensorShape([self._partition.nrows, *lengths, *inner])

    def get_shape(self) -> TensorShape:
        """The static shape (same as `shape`)."""
        return self.shape

    def consumers(self) -> list[Any]:
        """Nothing: eager values belong to no graph."""
        return []

    # ------------------------------------------------------------------ the same rows, other values
    def over(self, flat_values: Any) -> RaggedTensor:
        """These rows of other flat values, unchecked."""
        values = self._values
        inner = values.over(flat_values) if isinstance(values, RaggedTensor) else flat_values
        return RaggedTensor.of(inner, self._partition)

    # ------------------------------------------------------------------ reading
    def is_symbolic(self) -> bool:
        """Whether a function is being traced and some part has no value."""
        parts = [self.flat_values, *self.nested_row_splits]
        return any(known_array(part) is None for part in parts)

    def numpy(self) -> Any:
        """The rows as a NumPy array of arrays, or one array where all rows have one length.

        Raises:
            ValueError: In a function being traced, where there are no values.

        Example:
            >>> import tapejax as tf
            >>> tf.ragged.constant([[1, 2], [3]]).numpy()[0].tolist()
            [1, 2]
        """
        return _as_numpy(self, "numpy")

    def to_list(self) -> list[Any]:
        """The rows as nested lists of Python values.

        Raises:
            ValueError: In a function being traced, where there are no values.

        Example:
            >>> import tapejax as tf
            >>> tf.ragged.constant([["a", "b"], []]).to_list()
            [[b'a', b'b'], []]
        """
        if self.is_symbolic():
            raise ValueError(_NO_VALUE.format("to_list"))
        rows: list[Any] = self.flat_values.view().tolist()
        for partition in reversed(self.partitions):
            splits: list[int] = partition.splits.view().tolist()
            rows = [rows[a:b] for a, b in pairwise(splits)]
        return rows

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        if self.is_symbolic():
            return f"tf.RaggedTensor(values={self._values}, row_splits={self.row_splits})"
        return f"<tf.RaggedTensor {_shown(_as_numpy(self, 'repr'))}>"

    def __bool__(self) -> NoReturn:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self) -> int:
        raise TypeError("RaggedTensor is unhashable.")

    def __reduce__(self) -> Any:
        splits = [np.asarray(part.view()) for part in self.nested_row_splits]
        uniform = [partition.uniform for partition in self.partitions]
        return _restored, (np.asarray(self.flat_values.view()), splits, uniform)

    def __copy__(self) -> RaggedTensor:
        return self

    def __deepcopy__(self, memo: Any) -> RaggedTensor:
        return self

    if TYPE_CHECKING:  # attached by the ragged modules of `ops`, which know how to compute them
        from_row_splits: Any
        from_row_lengths: Any
        from_row_starts: Any
        from_row_limits: Any
        from_value_rowids: Any
        from_uniform_row_length: Any
        from_nested_row_splits: Any
        from_nested_row_lengths: Any
        from_nested_value_rowids: Any
        from_tensor: Any
        from_sparse: Any
        to_tensor: Any
        to_sparse: Any
        with_values: Any
        with_flat_values: Any
        with_row_splits_dtype: Any
        merge_dims: Any
        nrows: Any
        row_lengths: Any
        row_starts: Any
        row_limits: Any
        value_rowids: Any
        nested_row_lengths: Any
        nested_value_rowids: Any
        bounding_shape: Any
        __getitem__: Any
        __iter__: Any
        __add__: Any
        __sub__: Any
        __mul__: Any
        __truediv__: Any


_NO_VALUE = (
    "RaggedTensor.{}() is only supported in eager mode: a function is being traced and the values "
    "are not known yet. Call it on what the function returns."
)


def _restored(flat: HostArray, splits: Sequence[HostArray], uniform: Sequence[Any]) -> Any:
    """The ragged tensor of pickled parts."""
    values: Any = host_tensor(flat)
    for ends, length in zip(reversed(splits), reversed(uniform), strict=True):
        values = RaggedTensor.of(values, RowPartition(host_tensor(ends), length))
    return values


def _as_numpy(value: RaggedTensor, how: str) -> Any:
    if value.is_symbolic():
        raise ValueError(_NO_VALUE.format(how))
    inner: Any = value.values
    values: Any = (
        _as_numpy(inner, how) if isinstance(inner, RaggedTensor) else np.asarray(inner.view())
    )
    splits: list[int] = value.row_splits.view().tolist()
    rows: list[Any] = [values[a:b] for a, b in pairwise(splits)]
    if not rows:
        return np.array([], values.dtype)
    if len({len(row) for row in rows}) == 1:
        return np.stack(rows)
    result = np.empty(len(rows), object)
    for place, row in enumerate(rows):
        result[place] = row.copy()
    return result


def _shown(array: Any) -> str:
    """The text of nested arrays, one after the other where they differ in length."""

    def item(value: Any) -> str:
        return _shown(value) if isinstance(value, np.ndarray) else str(value)

    if not array.size:
        return str(array.tolist())
    return np.array2string(array, separator=", ", formatter={"all": item})


def _split(ragged: RaggedTensor) -> list[Any]:
    return [ragged.flat_values, *ragged.nested_row_splits]


def _rebuild(ragged: RaggedTensor, parts: Sequence[Any]) -> RaggedTensor:
    values = parts[0]
    for partition, splits in zip(reversed(ragged.partitions), reversed(parts[1:]), strict=True):
        same = splits is partition.splits
        values = RaggedTensor.of(
            values, partition if same else RowPartition(splits, partition.uniform)
        )
    return values


def _fixed(ragged: RaggedTensor) -> Fixed:
    partitions = ragged.partitions
    known = [n + 1 for n, partition in enumerate(partitions) if partition.host() is not None]
    return Fixed(tuple(known), tuple([partition.uniform for partition in partitions]))


register_composite(RaggedTensor, _split, _rebuild, _fixed, lambda ragged: 0)
