"""`tf.shape` of a ragged tensor: the lengths of its rows at every level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import int64
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import RowPartition
from tapejax._src.core.shapes import TensorShape
from tapejax._src.engine.registry import public
from tapejax._src.ops.ragged_rows import host_ints, lengths_of


@public("experimental.DynamicRaggedShape")
class DynamicRaggedShape:
    """The shape of a ragged tensor, with the lengths of its rows.

    `tf.shape` of a ragged tensor returns one. `shape[i]` is the size of a uniform dimension.

    Args:
        row_partitions: The partition of each ragged dimension, outermost first.
        inner_shape: The shape of the inner dimensions.
        dtype: The dtype of sizes.

    Example:
        >>> import tapejax as tf
        >>> tf.shape(tf.ragged.constant([[1, 2], [3]]))
        <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>
    """

    def __init__(
        self, row_partitions: Sequence[RowPartition], inner_shape: Sequence[int], dtype: Any = int64
    ) -> None:
        self._dtype = dtype
        self._partitions = tuple(row_partitions)
        self._inner = tuple(inner_shape)

    @property
    def row_partitions(self) -> tuple[RowPartition, ...]:
        """The partition of each ragged dimension."""
        return self._partitions

    @property
    def num_row_partitions(self) -> int:
        """How many dimensions have a row partition."""
        return len(self._partitions)

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._partitions) + 1 + len(self._inner)

    @property
    def flat_shape(self) -> tuple[int, ...]:
        """The shape of the flat values."""
        splits = self._partitions[-1].host()
        return (-1 if splits is None else int(splits[-1]), *self._inner)

    @property
    def static_shape(self) -> TensorShape:
        """What is known without the lengths of the rows."""
        sizes = [partition.uniform for partition in self._partitions]
        return TensorShape([self._partitions[0].nrows, *sizes, *self._inner])

    def is_uniform(self, axis: int) -> bool:
        """Whether a dimension has one size."""
        return self.static_shape.as_list()[axis] is not None

    def over(self, flat_values: Any) -> Any:
        """The ragged tensor of this shape with these flat values."""
        for partition in reversed(self._partitions):
            flat_values = RaggedTensor.of(flat_values, partition)
        return flat_values

    def __getitem__(self, axis: Any) -> Any:
        sizes = self.static_shape.as_list()
        if isinstance(axis, slice):
            chosen = sizes[axis]
            if None in chosen:
                raise ValueError(f"Dimensions {axis} of {self} are ragged: they have no one size.")
            return host_ints(np.array(chosen), self._dtype)
        size = sizes[axis]
        if size is None:
            raise ValueError(f"Index {axis} is not uniform")
        return host_ints(size, self._dtype)

    def __repr__(self) -> str:
        lengths = [str(self._partitions[0].nrows)]
        for partition in self._partitions:
            if partition.uniform is not None:
                lengths.append(str(partition.uniform))
            elif partition.host() is None:
                lengths.append("(?)")
            else:
                found = lengths_of(partition, "repr").tolist()
                inside = ", ".join(map(str, found[:10])) + (", ..." if len(found) > 10 else "")
                lengths.append(f"({inside}{',' if len(found) == 1 else ''})")
        lengths += map(str, self._inner)
        return (
            f"<DynamicRaggedShape lengths=[{', '.join(lengths)}] "
            f"num_row_partitions={len(self._partitions)}>"
        )
