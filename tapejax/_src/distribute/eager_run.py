"""`strategy.run` in eager code: the replicas run in turns, each with its own values of variables.

Between turns every variable has the value it has for all replicas. What a replica assigned is put
in its place when it goes on, and brought together when all have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from tapejax._src.core.naming import name_scope, scoped_name
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import (
    CREATION,
    Variable,
    VariableAggregation,
    VariableSynchronization,
)
from tapejax._src.distribute.contexts import entered
from tapejax._src.distribute.divergence import diverged
from tapejax._src.distribute.guests import aggregation_of, emptied, united
from tapejax._src.distribute.reduce_op import ReduceOp
from tapejax._src.distribute.replica_context import ReplicaContext
from tapejax._src.distribute.sums import total
from tapejax._src.distribute.turns import Turns
from tapejax._src.distribute.values import PerReplica, of_replica, regrouped
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.recorder import LOCAL, flush
from tapejax._src.ops.joining import concat
from tapejax._src.tape.custom_gradient import custom_gradient

if TYPE_CHECKING:
    from tapejax._src.distribute.strategy import Strategy


class EagerReplica(ReplicaContext):
    """A replica that runs in turns with the others.

    Args:
        strategy: Its strategy.
        place: Its number.
        turns: The turns, once there are any.
    """

    turns: Turns

    def __init__(self, strategy: Strategy, place: int) -> None:
        super().__init__(strategy, as_tensor(place))
        self._place = place

    def _meet(self, kind: str, payload: Any, tensors: Sequence[Tensor] = ()) -> Any:
        if LOCAL.recorder.symbolic is not None:
            raise RuntimeError(
                f"{kind} was called while a tf.function is being traced that one replica calls: "
                "`merge_call` called while defining a new graph or a tf.function. The replicas "
                "run as Python here. Decorate the function that calls strategy.run, or the one "
                "passed to it, with tf.function instead."
            )
        for tensor in tensors:
            tensor.value_array()
        return self.turns.meet(self._place, kind, payload)

    def reduced(self, op: ReduceOp, tensors: list[Tensor]) -> list[Tensor]:
        """The sums or means over all replicas."""
        if not LOCAL.active or LOCAL.recorder.symbolic is not None:
            return self._reduced_now(op, tensors)

        @custom_gradient
        def call(*values: Tensor) -> Any:
            results = self._reduced_now(op, list(values))

            def gradient(*upstream: Tensor) -> list[Tensor]:
                return self.reduced(op, list(upstream))

            return results, gradient

        return list(call(*tensors))

    def _reduced_now(self, op: ReduceOp, tensors: list[Tensor]) -> list[Tensor]:
        return self._meet("all_reduce", (op, tensors), tensors)

    def gathered(self, tensors: list[Tensor], axis: int) -> list[Tensor]:
        """The values of all replicas joined."""
        return self._meet("all_gather", (axis, tensors), tensors)

    def merged(
        self, merge_fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """The result of a function of all replicas."""
        return self._meet("merge_call", (merge_fn, tuple(args), dict(kwargs)))

    def first(self, variable: Variable, tensor: Tensor) -> Tensor:
        """The value of the first replica."""
        return self._meet(f"assigning {variable.name}", tensor, [tensor])


class EagerRun:
    """One call of `strategy.run`.

    Args:
        strategy: The strategy.
        fn: What each replica calls.
        args: Arguments; of a value for each replica it gets its own.
        kwargs: The same by name.
    """

    def __init__(
        self, strategy: Strategy, fn: Callable[..., Any], args: Sequence[Any], kwargs: Any
    ) -> None:
        count = strategy.num_replicas_in_sync
        self._strategy = strategy
        self._fn, self._args, self._kwargs = fn, tuple(args), dict(kwargs)
        self._replicas = [EagerReplica(strategy, n) for n in range(count)]
        self._common: dict[int, tuple[Variable, Tensor]] = {}
        self._own: list[dict[int, Tensor]] = [{} for _ in range(count)]
        self._created: set[int] = set()
        self._outside = (list(CREATION.listeners), list(CREATION.creators), scoped_name(""))

    def run(self) -> Any:
        """What the replicas returned, brought together."""
        flush()
        self._strategy.gather_variables()
        for variable in self._strategy.local_variables():
            self._common[id(variable)] = (variable, variable.tensor)
            copies = variable.replication.copies.tensor.view()
            for n, own in enumerate(self._own):
                own[id(variable)] = as_tensor(copies[n])
        turns = Turns(
            [lambda n=n: self._body(n) for n in range(len(self._replicas))],
            self._resolve,
            self._enter,
            self._leave,
        )
        for replica in self._replicas:
            replica.turns = turns
        results = turns.run()
        self._commit()
        self._strategy.spread_variables()
        return regrouped(results)

    def _body(self, place: int) -> Any:
        listeners, creators, prefix = self._outside
        CREATION.listeners = [*listeners, lambda variable: self._created.add(id(variable))]
        CREATION.creators = creators
        LOCAL.context = (self._strategy.token, place)
        with entered(self._strategy, self._replicas[place]), name_scope(prefix):
            args, kwargs = of_replica((self._args, self._kwargs), place)
            result = self._fn(*args, **kwargs)
            flush()
        return result

    # ------------------------------------------------------------------ turns
    def _enter(self, place: int) -> None:
        """Give variables the values they have in a replica."""
        LOCAL.writes = {}
        for key, tensor in self._own[place].items():
            self._common[key][0].tensor = tensor

    def _leave(self, place: int) -> None:
        """Note what a replica assigned, and give variables their common values again."""
        writes, LOCAL.writes = LOCAL.writes or {}, None
        own = self._own[place]
        for key, (variable, before) in writes.items():
            if key not in self._common:
                self._common[key] = (variable, before)
                self._prepare(place, variable, before)
            own[key] = variable.tensor
        for key in own:
            variable, tensor = self._common[key]
            variable.tensor = tensor

    def _prepare(self, place: int, variable: Variable, before: Tensor) -> None:
        """Let the other replicas count from zero what all count together."""
        if place == 0 and aggregation_of(variable) is VariableAggregation.SUM:
            for own in self._own[1:]:
                own.setdefault(id(variable), emptied(before))

    def _resolve(self, kind: str, payloads: list[Any]) -> Sequence[Any]:
        count = len(payloads)
        if kind == "all_reduce":
            columns = zip(*[tensors for _, tensors in payloads], strict=True)
            return _handed_out([total(column, payloads[0][0]) for column in columns], count)
        if kind == "all_gather":
            columns = zip(*[tensors for _, tensors in payloads], strict=True)
            return _handed_out([concat(list(c), payloads[0][0]) for c in columns], count)
        if kind == "merge_call":
            return self._merge(payloads)
        return [payloads[0]] * count

    def _merge(self, payloads: list[Any]) -> Sequence[Any]:
        self._commit()
        fn = payloads[0][0]
        args, kwargs = regrouped([(args, kwargs) for _, args, kwargs in payloads])
        with entered(self._strategy, None):
            result = fn(self._strategy, *args, **kwargs)
            flush()
        for variable in self._strategy.local_variables():
            self._common[id(variable)] = (variable, variable.tensor)
            copies = variable.replication.copies.tensor.view()
            for n, own in enumerate(self._own):
                own[id(variable)] = as_tensor(copies[n])
        return [of_replica(result, n) for n in range(len(payloads))]

    # ------------------------------------------------------------------ variables
    def _commit(self) -> None:
        """Give variables the values that the replicas assigned, which must agree."""
        common: list[tuple[Variable, list[Tensor]]] = []
        for key, (variable, before) in self._common.items():
            if not any(key in own for own in self._own):
                continue
            values = [own.get(key, before) for own in self._own]
            for value in values:
                value.value_array()
            aggregation = aggregation_of(variable)
            owners = [own for own in self._own if key in own]
            if key in self._created and len(owners) == 1:
                variable.hold(_computed(owners[0][key]))  # no other replica has met it
            elif aggregation is not None:
                variable.hold(_computed(united(aggregation, values)))
            elif variable.synchronization is VariableSynchronization.ON_READ:
                variable.replication.set_copies(values)
            elif any(value is not before for value in values):
                common.append((variable, values))
        self._check(common)
        for variable, values in common:
            variable.hold(values[0])
        self._common.clear()
        for own in self._own:
            own.clear()

    def _check(self, common: Sequence[tuple[Variable, list[Tensor]]]) -> None:
        """Refuse values that differ between replicas."""
        several = [(v, values) for v, values in common if any(x is not values[0] for x in values)]
        if not several:
            return
        for variable, values in several:
            if len({value.aval for value in values}) > 1:
                raise diverged(variable)
        with jax.enable_x64(True):
            agree = _agree([[x.array for x in values] for _, values in several])
        for (variable, _), equal in zip(several, agree.tolist(), strict=True):
            if not equal:
                raise diverged(variable)


def _computed(tensor: Tensor) -> Tensor:
    """A handle on the value of a tensor that nobody else has."""
    return constant_tensor(tensor.value_array())


def _handed_out(tensors: Sequence[Tensor], count: int) -> list[list[Tensor]]:
    """The same values for each replica, in tensors of its own."""
    arrays = [tensor.value_array() for tensor in tensors]
    return [[constant_tensor(array) for array in arrays] for _ in range(count)]


@jax.jit
def _agree(columns: list[list[Any]]) -> Any:
    """For each list of arrays whether all are equal; a NaN equals a NaN."""

    def same(first: Any, other: Any) -> Any:
        equal = first == other
        if jnp.issubdtype(first.dtype, jnp.inexact):
            equal = equal | (jnp.isnan(first) & jnp.isnan(other))
        return jnp.all(equal)

    found = [jnp.stack([same(arrays[0], other) for other in arrays[1:]]) for arrays in columns]
    return jnp.stack([jnp.all(equal) for equal in found])


def per_replica(make: Callable[[int], Any], count: int) -> Any:
    """A value for each replica, made one after the other."""
    found = regrouped([make(n) for n in range(count)])
    return found if count > 1 or not isinstance(found, PerReplica) else found.values[0]
