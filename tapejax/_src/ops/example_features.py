"""How the features of examples become tensors: the descriptions that parsing takes."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapejax._src.core.dtypes import as_dtype, int32
from tapejax._src.engine.registry import public


@public("io.FixedLenFeature")
class FixedLenFeature(NamedTuple):
    """A feature with as many values in each example: a dense tensor.

    Attributes:
        shape: The shape of the values of one example.
        dtype: float32, int64 or string.
        default_value: What stands for the feature where it is missing; None: it must be there.
    """

    shape: Any
    dtype: Any
    default_value: Any = None


@public("io.VarLenFeature")
class VarLenFeature(NamedTuple):
    """A feature with any number of values in each example: a `tf.SparseTensor`.

    Attributes:
        dtype: float32, int64 or string.
    """

    dtype: Any


@public("io.FixedLenSequenceFeature")
class FixedLenSequenceFeature(NamedTuple):
    """A feature with any number of rows in each example: a dense tensor, padded.

    Attributes:
        shape: The shape of a row.
        dtype: float32, int64 or string.
        allow_missing: Whether the feature may be missing; then it has no rows.
        default_value: The padding. Default: zero or the empty string.
    """

    shape: Any
    dtype: Any
    allow_missing: Any = False
    default_value: Any = None


@public("io.SparseFeature")
class SparseFeature(NamedTuple):
    """Two features, of places and of values: a `tf.SparseTensor`.

    Attributes:
        index_key: The name of the feature with the places, or a list of names, one for each
            dimension.
        value_key: The name of the feature with the values.
        dtype: float32, int64 or string.
        size: The size of the dimension, or a list of sizes.
        already_sorted: Whether the values are in row-major order of their places.
    """

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: Any = False


class RowSplits(NamedTuple):
    """The feature `key` says where each row begins, and where the last one ends."""

    key: str


class RowLengths(NamedTuple):
    """The feature `key` has the length of each row."""

    key: str


class RowStarts(NamedTuple):
    """The feature `key` says where each row begins."""

    key: str


class RowLimits(NamedTuple):
    """The feature `key` says where each row ends."""

    key: str


class ValueRowIds(NamedTuple):
    """The feature `key` has the number of the row of each value."""

    key: str


class UniformRowLength(NamedTuple):
    """Each row has `length` values."""

    length: int


PARTITIONS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


class _RaggedFields(NamedTuple):
    """The attributes of a `RaggedFeature`."""

    dtype: Any
    value_key: Any
    partitions: Any
    row_splits_dtype: Any
    validate: Any


@public("io.RaggedFeature")
class RaggedFeature(_RaggedFields):
    """A feature with any number of values in each example: a `tf.RaggedTensor`.

    Args:
        dtype: float32, int64 or string.
        value_key: The name of the feature with the values. Default: the key in the dict of
            features.
        partitions: How the values of an example are cut into rows, the outermost first:
            `RaggedFeature.RowSplits(key)`, `RowLengths(key)`, `RowStarts(key)`, `RowLimits(key)`,
            `ValueRowIds(key)` or `UniformRowLength(length)`.
        row_splits_dtype: int32 or int64.
        validate: Accepted for compatibility: partitions are always checked.

    Raises:
        TypeError: If a partition is something else.
        ValueError: If `row_splits_dtype` is another dtype.

    Example:
        >>> import tapejax as tf
        >>> feature = tf.io.RaggedFeature(tf.string)
        >>> feature.dtype, feature.row_splits_dtype
        (tf.string, tf.int32)
    """

    __slots__ = ()

    RowSplits = RowSplits
    RowLengths = RowLengths
    RowStarts = RowStarts
    RowLimits = RowLimits
    ValueRowIds = ValueRowIds
    UniformRowLength = UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: Any = None,
        partitions: Any = (),
        row_splits_dtype: Any = int32,
        validate: Any = False,
    ) -> RaggedFeature:
        """Check the arguments."""
        splits = as_dtype(row_splits_dtype)
        if splits.name not in ("int32", "int64"):
            raise ValueError(f"Argument `row_splits_dtype` must be int32 or int64; got {splits!r}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError("Argument `partitions` must be a list or tuple")
        if not all(isinstance(partition, PARTITIONS) for partition in partitions):
            raise TypeError(
                "Argument `partitions` cannot be cast to any of the partition types in "
                f"{PARTITIONS}; got {partitions}"
            )
        return super().__new__(cls, dtype, value_key, tuple(partitions), splits, bool(validate))
