"""Keras' variables in replicas: what becomes of the values that the replicas assigned.

A layer's own state, such as the statistics of batch normalization, becomes the mean over the
replicas, what a metric has counted the sum. These have one value between runs, whoever assigns it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable, VariableAggregation
from tapejax._src.distribute.collectives import AXIS
from tapejax._src.distribute.reduce_op import ReduceOp
from tapejax._src.distribute.sums import total
from tapejax._src.engine.convert import constant_tensor

_BY_NAME = {
    "sum": VariableAggregation.SUM,
    "mean": VariableAggregation.MEAN,
    "only_first_replica": VariableAggregation.ONLY_FIRST_REPLICA,
}


def aggregation_of(variable: Variable) -> VariableAggregation | None:
    """How values that replicas assigned to another library's variable become one.

    Returns:
        None where they must agree.
    """
    guest = None if variable.guest is None else variable.guest()
    if guest is None:
        return None
    name = str(getattr(guest, "aggregation", "none"))
    if str(getattr(guest, "synchronization", "auto")) == "on_read":
        return _BY_NAME.get(name)
    if not guest.trainable and variable.dtype.is_floating and name in ("none", "mean"):
        return VariableAggregation.MEAN
    return None


def emptied(tensor: Tensor) -> Tensor:
    """What the other replicas start with, where what all have counted is added up."""
    return constant_tensor(jnp.zeros(tensor.aval.shape, tensor.aval.dtype))


def united(aggregation: VariableAggregation, values: Sequence[Tensor]) -> Tensor:
    """The value made of those of the replicas."""
    if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        return values[0]
    op = ReduceOp.SUM if aggregation is VariableAggregation.SUM else ReduceOp.MEAN
    return total(values, op)


def started(replica: Any, array: Any) -> Any:
    """The same as `emptied` in a program: the value on the first replica, zeros on the others."""
    return jnp.where(replica == 0, array, jnp.zeros_like(array))


def united_in_program(aggregation: VariableAggregation, replica: Any, array: Any) -> Any:
    """The same as `united` in a program."""
    if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        array = started(replica, array)
    return (
        lax.pmean(array, AXIS) if aggregation is VariableAggregation.MEAN else lax.psum(array, AXIS)
    )
