"""The values of the replicas made one: `strategy.reduce` and `strategy.gather`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.variable import Variable
from tapejax._src.distribute.contexts import DEFAULT
from tapejax._src.distribute.reduce_op import ReduceOp
from tapejax._src.distribute.replica_context import check_gathered
from tapejax._src.distribute.sums import total
from tapejax._src.distribute.values import BATCH, STACK, InReplicas, PerReplica
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.ops.arithmetic import divide
from tapejax._src.ops.casting import cast
from tapejax._src.ops.joining import concat
from tapejax._src.ops.reduction import reduce_mean, reduce_sum
from tapejax._src.ops.shaping import reshape

if TYPE_CHECKING:
    from tapejax._src.distribute.strategy import Strategy


def reduced(strategy: Strategy, op: ReduceOp, value: Any, axis: Any) -> Any:
    """One tensor of the values of the replicas.

    Raises:
        ValueError: If a value that is the same for all is to be summed.
        InvalidArgumentError: If the shapes do not fit.
    """
    if isinstance(value, InReplicas):
        return _in_replicas(op, value, axis)
    if not isinstance(value, PerReplica):
        return _plain(strategy, op, value, axis)
    if axis is not None:
        return _with_axis(op, value, int(axis))
    if value.layout == STACK:
        whole, _ = value.spread()
        return (reduce_sum if op is ReduceOp.SUM else reduce_mean)(whole, axis=0)
    tensors = [as_tensor(part) for part in value.values]
    shapes = [list(tensor.aval.shape) for tensor in tensors]
    if any(shape != shapes[0] for shape in shapes):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"The replicas have values of shapes {shapes}, which cannot be added element by "
            "element. Pass axis=0 to reduce their first axis too, or use strategy.gather.",
        )
    return total(tensors, op)


def _in_replicas(op: ReduceOp, value: InReplicas, axis: Any) -> Any:
    tensor: Any = value.tensor
    if axis is not None:
        tensor = (reduce_sum if op is ReduceOp.SUM else reduce_mean)(tensor, axis=axis)
    return value.replica.reduced(op, [tensor])[0]


def _plain(strategy: Strategy, op: ReduceOp, value: Any, axis: Any) -> Any:
    alone = strategy.num_replicas_in_sync == 1
    mirrored = isinstance(value, Variable) and value.replication is not None
    if axis is not None and (alone or strategy is DEFAULT.strategy):
        return (reduce_sum if op is ReduceOp.SUM else reduce_mean)(value, axis=axis)
    if op is ReduceOp.MEAN or alone:
        return value if axis is None else reduce_mean(value, axis=axis)
    if mirrored:
        return as_tensor(value) * strategy.num_replicas_in_sync  # type: ignore[operator]
    if isinstance(value, (int, float)) and value == 0:
        return value
    raise ValueError(
        f"A non-DistributedValues value {value} cannot be reduced with the given reduce op "
        f"{op}: it is the same for all {strategy.num_replicas_in_sync} replicas. Pass what "
        "strategy.run returned, or multiply it by the number of replicas if that is meant."
    )


def _with_axis(op: ReduceOp, value: PerReplica, axis: int) -> Any:
    tensors = [as_tensor(part) for part in value.values]
    sums = [reduce_sum(tensor, axis=axis) for tensor in tensors]
    if op is ReduceOp.SUM:
        return total(sums, op)
    count = sum(tensor.aval.shape[axis] for tensor in tensors)
    summed = total(sums, ReduceOp.SUM)
    return divide(summed, cast(np.int64(count), summed.dtype))


def gathered(value: Any, axis: int) -> Any:
    """The values of the replicas joined along an axis.

    Raises:
        ValueError: If they are scalars.
    """
    if isinstance(value, InReplicas):
        check_gathered(value.tensor)
        return value.replica.gathered([value.tensor], axis)[0]
    if not isinstance(value, PerReplica):
        tensor = as_tensor(value)
        check_gathered(tensor)
        return tensor
    if value.layout is not None:
        array = value.spread()[0].array
        if isinstance(array, jax.Array) and not array.is_fully_addressable:
            value = PerReplica(constant_tensor(_everywhere(array)), value.layout, value.count)
    if value.layout == BATCH and axis == 0:
        return value.spread()[0]
    if value.layout == STACK and axis == 0 and len(value.spread()[0].aval.shape) > 1:
        whole, _ = value.spread()
        count, rows, *rest = whole.aval.shape
        return reshape(whole, [count * rows, *rest])
    tensors = [as_tensor(part) for part in value.values]
    for tensor in tensors:
        check_gathered(tensor)
    return concat(tensors, axis)


def _everywhere(array: jax.Array) -> np.ndarray[Any, Any]:
    """The whole of an array of which each process holds a part."""
    mesh: Any = array.sharding
    whole = jax.sharding.NamedSharding(mesh.mesh, jax.sharding.PartitionSpec())
    return np.asarray(jax.jit(lambda x: x, out_shardings=whole)(array))
