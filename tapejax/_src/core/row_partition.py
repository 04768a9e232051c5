"""How the values of a ragged tensor are cut into rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from jax.core import Tracer

from tapejax._src.core.dtypes import DType
from tapejax._src.core.tensor import Tensor

HostArray = np.ndarray[Any, Any]


class RowPartition:
    """The limits of the rows in the values that they are made of.

    Attributes:
        splits: int32 or int64 tensor `[nrows + 1]`: row `i` is `values[splits[i]:splits[i + 1]]`.
        uniform: The length of every row where it is one number by construction, else None.
    """

    __slots__ = ("_host", "splits", "uniform")

    def __init__(
        self, splits: Tensor, uniform: int | None = None, host: HostArray | None = None
    ) -> None:
        self.splits = splits
        self.uniform = uniform
        self._host = host

    @property
    def dtype(self) -> DType:
        """The dtype of the splits."""
        return self.splits.dtype

    @property
    def nrows(self) -> int:
        """The number of rows."""
        return self.splits.aval.shape[0] - 1

    def host(self) -> HostArray | None:
        """The splits as a NumPy array, or None where a function is traced and they have no value.

        Splits that are still to be computed are computed now.
        """
        if self._host is None:
            self._host = known_array(self.splits)
        return self._host

    def is_same(self, other: RowPartition) -> bool:
        """Whether both are one partition, or known to be equal."""
        if self is other or self.splits is other.splits:
            return True
        mine, theirs = self.host(), other.host()
        return mine is not None and theirs is not None and np.array_equal(mine, theirs)


def known_array(tensor: Tensor) -> HostArray | None:
    """The value of a tensor as a NumPy array, computed if need be; None where it has no value."""
    if isinstance(tensor.array, Tracer) or tensor.symbolic_name() is not None:
        return None
    return tensor.view()
