"""A `tf.function` called outside of `strategy.run` that uses a strategy's variables.

It computes with whole batches; these are divided over the devices and XLA adds what is needed
between them. The numbers are those of one device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
from jax.core import Tracer

from tapejax._src.core.avals import placed_key
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.distribute.variables import spread
from tapejax._src.engine.flush import arrays_are_spread
from tapejax._src.engine.recorder import LOCAL

if TYPE_CHECKING:
    from tapejax._src.distribute.strategy import Strategy


class OverDevices:
    """Puts batches and variables on the devices of a strategy.

    Args:
        strategy: The strategy.
        variables: The variables that the function uses.
        written: Those it assigns.
    """

    def __init__(
        self, strategy: Strategy, variables: Sequence[Variable], written: Sequence[Variable]
    ) -> None:
        self._strategy = strategy
        self._unspread = [variable.reference for variable in variables]
        self._written = [strategy.layout_of(variable) for variable in written]

    def arguments(self, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
        """The arguments of a call; those that can be divided on the first axis are."""
        if self._unspread:
            arrays_are_spread()
            for reference in self._unspread:
                variable = reference()
                if variable is not None:
                    spread(variable.tensor, variable, self._strategy.layout_of(variable))
            self._unspread = []
        return [self._divided(tensor) for tensor in tensors]

    def _divided(self, tensor: Tensor) -> Tensor:
        array, shape = tensor.array, tensor.aval.shape
        axis, count = self._strategy.batch_axis
        if array is None or isinstance(array, Tracer) or not shape or not shape[0]:
            return tensor
        if shape[0] % count != 0:
            return tensor
        if isinstance(array, jax.Array) and len(array.sharding.device_set) > 1:
            return tensor
        parts = jax.sharding.NamedSharding(self._strategy.mesh, jax.sharding.PartitionSpec(axis))
        with jax.enable_x64(True):
            array = jax.device_put(array, parts)
        return Tensor.concrete(array, tensor.aval, placed_key(tensor.aval, array))

    def written(self, arrays: Sequence[Any]) -> list[Any]:
        """Values assigned to variables: where these are."""
        pairs = zip(arrays, self._written, strict=True)
        return [jax.lax.with_sharding_constraint(array, layout) for array, layout in pairs]


def placement(variables: Sequence[Variable], written: Sequence[Variable]) -> OverDevices | None:
    """How a function is spread over devices that uses these variables, if it is."""
    if LOCAL.context is not None:
        return None
    for variable in variables:
        strategy = None if variable.replication is None else variable.replication.strategy
        if strategy is not None and strategy.uses_whole_batches:
            return OverDevices(strategy, variables, written)
    return None
