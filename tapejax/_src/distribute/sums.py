"""Sums and means of tensors of one shape, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapejax._src.core.tensor import Tensor
from tapejax._src.distribute.reduce_op import ReduceOp
from tapejax._src.ops.arithmetic import add, divide


def total(tensors: Sequence[Tensor], op: ReduceOp) -> Tensor:
    """The sum or mean of tensors of one shape."""
    found: Any = tensors[0]
    for tensor in tensors[1:]:
        found = add(found, tensor)
    return found if op is ReduceOp.SUM else divide(found, len(tensors))
