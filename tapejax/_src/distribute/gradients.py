"""The gradients of all replicas, summed before an optimizer clips and applies them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator

from tapejax._src.core.tensor import Tensor
from tapejax._src.distribute.contexts import current_replica
from tapejax._src.distribute.reduce_op import ReduceOp


class _Mode(threading.local):
    """Whether gradients are summed in this thread."""

    def __init__(self) -> None:
        self.sums = True


_MODE = _Mode()


@contextlib.contextmanager
def unaggregated() -> Generator[None]:
    """A block in which gradients stay as they are: they have been summed by hand."""
    before, _MODE.sums = _MODE.sums, False
    try:
        yield
    finally:
        _MODE.sums = before


def summed_over_replicas(gradients: dict[int, Tensor]) -> dict[int, Tensor]:
    """Inside of `strategy.run` the sum over all replicas of each gradient, else the gradients."""
    replica = current_replica()
    if replica is None or replica.num_replicas_in_sync == 1 or not _MODE.sums:
        return gradients
    sums = replica.reduced(ReduceOp.SUM, list(gradients.values()))
    return dict(zip(gradients, sums, strict=True))
