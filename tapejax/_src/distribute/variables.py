"""Variables of a strategy: what an assignment in a replica means for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core.avals import placed_key, variable_key
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable, VariableAggregation, VariableSynchronization
from tapejax._src.distribute.contexts import CONTEXTS, current_replica
from tapejax._src.distribute.reduce_op import ReduceOp
from tapejax._src.distribute.values import DistributedValues
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.ops.assignment import value_for
from tapejax._src.ops.casting import cast
from tapejax._src.ops.joining import stack
from tapejax._src.ops.reduction import reduce_mean, reduce_sum

if TYPE_CHECKING:
    from tapejax._src.distribute.strategy import Strategy


class Unreadable:
    """Stands where the value of a variable would be computed that has none for all replicas."""

    done: bool = False
    symbolic: str | None = None

    def __init__(self, name: str) -> None:
        self._name = name

    def materialize(self, tensor: Tensor, how: str = "use") -> NoReturn:
        """Refuse to."""
        del tensor, how
        raise ValueError(
            f"Could not convert from `tf.VariableAggregation` NONE to `tf.distribute.ReduceOp` "
            f"type: the variable {self._name!r} has a value of its own on each replica "
            "(synchronization ON_READ) and no aggregation, so there is no one value. Read it in "
            "strategy.run, or create it with aggregation=tf.VariableAggregation.SUM or MEAN."
        )

    def name_of(self, tensor: Tensor) -> str:
        """Its name."""
        del tensor
        return self._name


class Replication:
    """What a strategy has to say about a variable.

    Args:
        strategy: The strategy.
        variable: The variable.

    Attributes:
        strategy: The strategy.
        copies: Of a variable that is brought together when it is read: a variable of the values
            of all replicas, the replica being the first axis. Else None.
    """

    copies: Any = None

    def __init__(self, strategy: Strategy, variable: Variable) -> None:
        if variable.aggregation is VariableAggregation.MEAN and not variable.dtype.is_floating:
            raise ValueError(
                "creating distributed tf.Variable with aggregation=MEAN and a non-floating dtype "
                f"({variable.dtype.name}) is not supported, please use a different aggregation or "
                "dtype"
            )
        self.strategy = strategy
        self._reference = variable.reference
        if variable.synchronization is VariableSynchronization.ON_READ:
            value = variable.tensor.view()
            stacked = np.broadcast_to(value, (strategy.num_replicas_in_sync, *value.shape))
            self.copies = Variable.around(_array(stacked), f"{variable.name}/copies", False)
            self._show()

    @property
    def _variable(self) -> Variable:
        variable = self._reference()
        assert variable is not None
        return variable

    # ------------------------------------------------------------------ own values of replicas
    def set_copies(self, values: list[Tensor]) -> None:
        """Set the value of each replica."""
        self.copies.assign(stack(values))
        self._show()

    def set_stacked(self, values: Tensor) -> None:
        """The same, given in one tensor."""
        self.copies.assign(values)
        self._show()

    def _show(self) -> None:
        """Let the variable have, for all replicas, the value its aggregation says."""
        variable = self._variable
        aggregation = variable.aggregation
        if aggregation is VariableAggregation.NONE:
            shown = Tensor(variable.tensor.aval, Unreadable(variable.name), -1)
        elif aggregation is VariableAggregation.SUM:
            shown = reduce_sum(self.copies, axis=0)
        elif aggregation is VariableAggregation.MEAN:
            shown = cast(reduce_mean(self.copies, axis=0), variable.dtype)
        else:
            shown = self.copies[0]
        replication, variable.replication = variable.replication, None
        try:
            if aggregation is VariableAggregation.NONE:
                variable.hold(shown)
            else:
                variable.assign(shown)
        finally:
            variable.replication = replication

    def restore(self, array: np.ndarray[Any, Any]) -> None:
        """Let the copies be those of a value for all replicas that a checkpoint gave."""
        if self.copies is None:
            return
        variable = self._variable
        if variable.aggregation is VariableAggregation.SUM:
            array = (array / self.strategy.num_replicas_in_sync).astype(array.dtype)
        aval = self.copies.tensor.aval
        stacked = np.ascontiguousarray(np.broadcast_to(array, aval.shape))
        self.copies.hold(Tensor.concrete(stacked, aval, aval, owned=True))

    # ------------------------------------------------------------------ assignments
    def given(self, value: Any, update: str) -> Any:
        """The value to be assigned, added or subtracted in the place of the one that was passed.

        Args:
            value: What was passed.
            update: `assign`, `assign_add` or `assign_sub`.

        Raises:
            RuntimeError: In the scope of another strategy.
            ValueError: If it has no meaning for all replicas.
        """
        variable = self._variable
        if CONTEXTS.stack and CONTEXTS.stack[-1][0] is not self.strategy:
            raise RuntimeError(mixing(CONTEXTS.stack[-1][0], self.strategy))
        replica = current_replica()
        if isinstance(value, DistributedValues):
            raise ValueError(
                f"{variable.name}.{update} got a value for each replica. Reduce it first: "
                "strategy.reduce('MEAN', value, axis=None)."
            )
        on_read = variable.synchronization is VariableSynchronization.ON_READ
        if replica is None:
            return self._given_for_all(value, update) if on_read else value
        aggregation = variable.aggregation
        if on_read or aggregation is VariableAggregation.NONE:
            return value
        if replica.num_replicas_in_sync == 1:
            return value
        if aggregation is VariableAggregation.SUM and not isinstance(value, (Tensor, Variable)):
            raise ValueError(
                f"A non-DistributedValues value {value} cannot be reduced with the given reduce op "
                f"ReduceOp.SUM: {variable.name}.{update} would add a Python number once for each "
                "replica. Pass tf.constant(value) if that is meant."
            )
        tensor = value_for(variable, value)
        if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
            return replica.first(variable, tensor)
        op = ReduceOp.SUM if aggregation is VariableAggregation.SUM else ReduceOp.MEAN
        return cast(replica.reduced(op, [tensor])[0], variable.dtype)

    def _given_for_all(self, value: Any, update: str) -> Any:
        variable = self._variable
        aggregation = variable.aggregation
        if aggregation is VariableAggregation.NONE:
            Unreadable(variable.name).materialize(variable.tensor)
        tensor = value_for(variable, value)
        count = self.strategy.num_replicas_in_sync
        if update == "assign":
            each = tensor
            if aggregation is VariableAggregation.SUM:
                each = cast(tensor / count, variable.dtype)  # type: ignore[operator]  operators.py
            self.copies.assign(stack([each] * count))
        elif aggregation is VariableAggregation.SUM:
            raise ValueError(
                f"SyncOnReadVariable does not support `{update}` in cross-replica context when "
                "aggregation is set to `tf.VariableAggregation.SUM`. Use "
                f"`variable.assign(variable + value)`, or `{update}` in strategy.run."
            )
        else:
            getattr(self.copies, update)(stack([tensor] * count))
        return value


def mixing(current: Strategy, other: Strategy) -> str:
    """The message about two strategies at once."""
    return (
        "Mixing different tf.distribute.Strategy objects: "
        f"{current} is not {other}. Leave the scope of the one before entering that of the other."
    )


def _array(value: Any) -> Any:
    tensor = constant_tensor(np.ascontiguousarray(value).reshape(value.shape))
    return as_tensor(tensor).value_array()


def replicate(strategy: Strategy, variable: Variable) -> None:
    """Let a strategy have a say in assignments to a variable."""
    if variable.replication is None and LOCAL.recorder.symbolic is None:
        variable.replication = Replication(strategy, variable)
        strategy.adopt(variable)
    elif variable.replication is None:
        if variable.synchronization is VariableSynchronization.ON_READ:
            raise NotImplementedError(
                f"The variable {variable.name!r} with synchronization ON_READ was created in a "
                "tf.function. Create it before, in the strategy's scope."
            )
        variable.replication = Replication(strategy, variable)
        strategy.adopt(variable)


def spread(tensor: Tensor, variable: Variable, layout: jax.sharding.Sharding) -> None:
    """Put the value of a variable on devices, unless it is pending or in a program of JAX."""
    array = tensor.array
    if array is None or isinstance(array, Tracer):
        return
    if not isinstance(array, jax.Array) or array.sharding != layout:
        if jax.process_count() > 1 and isinstance(array, jax.Array):
            array = np.asarray(array)
        with jax.enable_x64(True):
            tensor.array = jax.device_put(array, layout, may_alias=False)
        tensor.key = variable_key(placed_key(tensor.aval, tensor.array), variable.trainable)
