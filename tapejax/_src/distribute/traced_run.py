"""`strategy.run` in a function that is being traced: one program on all devices.

What a replica does is recorded once, as a block, and the block is one op of the function, mapped
over the devices. Values for each replica are spread over them, variables are on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.avals import Aval, make_aval
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable, VariableAggregation, VariableSynchronization
from tapejax._src.distribute import collectives
from tapejax._src.distribute.collectives import LOWERINGS
from tapejax._src.distribute.contexts import entered
from tapejax._src.distribute.divergence import diverged
from tapejax._src.distribute.guests import aggregation_of, started, united_in_program
from tapejax._src.distribute.reduce_op import ReduceOp
from tapejax._src.distribute.replica_context import ReplicaContext
from tapejax._src.distribute.values import BATCH, STACK, InReplicas, PerReplica
from tapejax._src.distribute.variables import spread
from tapejax._src.distribute.variation import varying
from tapejax._src.engine.block import FAILURE, Block, Written, failure_kernel, record_block
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.engine.flush import arrays_are_spread
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record, record1
from tapejax._src.function.autograph.callees import callee
from tapejax._src.function.host_run import RunOnHost
from tapejax._src.function.staging.inputs import Inputs
from tapejax._src.ops.assignment import assign_results
from tapejax._src.ops.philox import forked

if TYPE_CHECKING:
    from tapejax._src.distribute.strategy import Strategy


_SUM = VariableAggregation.SUM


class TracedReplica(ReplicaContext):
    """The replica that a program is recorded for: all of them at once."""

    def reduced(self, op: ReduceOp, tensors: list[Tensor]) -> list[Tensor]:
        """The sums or means over all replicas."""
        return collectives.reduced(op, tensors, self.num_replicas_in_sync)

    def gathered(self, tensors: list[Tensor], axis: int) -> list[Tensor]:
        """The values of all replicas joined."""
        return collectives.gathered(tensors, axis, self.num_replicas_in_sync)

    def merged(
        self, merge_fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """The result of a function of all replicas."""

        def shown(leaf: Any) -> Any:
            return InReplicas(leaf, self) if isinstance(leaf, Tensor) else leaf

        def own(leaf: Any) -> Any:
            return leaf.tensor if isinstance(leaf, InReplicas) else leaf

        args, kwargs = nest.map_structure(shown, (tuple(args), dict(kwargs)))
        with entered(self.strategy, None):
            result = merge_fn(self.strategy, *args, **kwargs)
        return nest.map_structure(own, result)

    def first(self, variable: Variable, tensor: Tensor) -> Tensor:
        """The value of the first replica."""
        del variable
        replica: Tensor = self.replica_id_in_sync_group
        return collectives.of_first(replica, tensor, self.num_replicas_in_sync)


class _Arguments:
    """The arguments of a run: the tensors that are spread, and how a replica sees them."""

    def __init__(self, structure: Any, count: int) -> None:
        self._structure = structure
        self.tensors: list[Tensor] = []
        self.layouts: list[str] = []
        self.keys: list[Aval] = []
        self._flat: list[Any] = nest.flatten(structure)
        for leaf in self._flat:
            if isinstance(leaf, PerReplica):
                self._add(leaf, count)

    def _add(self, value: PerReplica, count: int) -> None:
        if value.is_uneven:
            raise RunOnHost("the replicas are given tensors of different shapes")
        tensor, layout = value.spread()
        shape = tensor.aval.shape
        rest = (shape[0] // count, *shape[1:]) if layout == BATCH else shape[1:]
        self.tensors.append(tensor)
        self.layouts.append(layout)
        self.keys.append(make_aval(rest, tensor.aval.dtype))

    def of_replica(self, placeholders: Sequence[Tensor]) -> Any:
        """The arguments with the placeholders of a replica."""
        values = iter(placeholders)
        filled = [next(values) if isinstance(x, PerReplica) else x for x in self._flat]
        return nest.pack_sequence_as(self._structure, filled)


class TracedRun:
    """One call of `strategy.run` in a function that is being traced.

    Args:
        strategy: The strategy.
        fn: What each replica calls.
        args: Arguments; of a value for each replica it gets its own.
        kwargs: The same by name.
    """

    def __init__(
        self, strategy: Strategy, fn: Callable[..., Any], args: Sequence[Any], kwargs: Any
    ) -> None:
        self._strategy = strategy
        self._count = strategy.num_replicas_in_sync
        self._fn = fn
        self._arguments = _Arguments((tuple(args), dict(kwargs)), self._count)
        self._locals = strategy.local_variables()
        self._result: Any = None

    def run(self) -> Any:
        """Record the op; what the replicas return."""
        arrays_are_spread()
        keys = [make_aval((), np.dtype(np.int32)), *self._arguments.keys]
        context, LOCAL.context = LOCAL.context, (self._strategy.token, None)
        try:
            return self._recorded(
                collectives.recording_on(self._count, lambda: record_block(self._body, keys))
            )
        finally:
            LOCAL.context = context

    def _body(self, replica: Tensor, *placeholders: Tensor) -> list[Tensor]:
        args, kwargs = self._arguments.of_replica(placeholders)
        with entered(self._strategy, TracedReplica(self._strategy, replica)):
            self._result = callee(self._fn)(*args, **kwargs)
        flat = nest.flatten(self._result, expand_composites=True)
        return [leaf for leaf in flat if isinstance(leaf, Tensor)]

    def _recorded(self, block: Block) -> Any:
        returned = len(block.avals)
        on_read = VariableSynchronization.ON_READ
        own = [w for w in block.written if w.variable.synchronization is on_read]
        shared = [w for w in block.written if w.variable.synchronization is not on_read]
        places, inputs = self._places(block)
        local = self._local(block, places, own, shared)
        ids = constant_tensor(np.arange(self._count, dtype=np.int32))
        spread = [
            ids,
            *self._arguments.tensors,
            *[v.replication.copies.tensor for v in self._locals],
        ]
        self._check(local, [*spread, *inputs], len(spread), shared)
        run = self._program(local)
        kernel = Kernel("strategy.run", run, node="Replicated", effect=block.effect)
        self._settle(inputs)
        results = record(kernel, [*spread, *inputs])
        if block.checks:
            record1(failure_kernel(block.checks, "Replicated"), results.pop())
        for n, written in enumerate(own):
            written.variable.replication.set_stacked(results[returned + n])
        assign_results([w.variable for w in shared], results[returned + len(own) :])
        block.release()
        return self._returned(results[:returned])

    def _places(self, block: Block) -> tuple[list[int], list[Tensor]]:
        """For each capture its place among the op's inputs, and those inputs that are captured.

        What it captured of a variable that each replica has its own value of is that value.
        """
        first = 1 + len(self._arguments.tensors)
        own = {id(v.tensor): first + n for n, v in enumerate(self._locals)}
        inputs = Inputs()
        others = iter(inputs.add([t for t in block.captures if id(t) not in own]))
        start = first + len(self._locals)
        places = [own[id(t)] if id(t) in own else start + next(others) for t in block.captures]
        return places, inputs.tensors

    def _local(
        self, block: Block, places: Sequence[int], own: Sequence[Written], shared: Sequence[Written]
    ) -> Callable[..., Any]:
        """What a device does, of arrays: ids, arguments, copies, then what is captured.

        It returns what is spread, what is the same for all, and records of failures.
        """
        layouts = self._arguments.layouts
        arguments = len(layouts)
        copies = range(1 + arguments, 1 + arguments + len(self._locals))
        returned, has_checks, drawn = len(block.avals), bool(block.checks), dict(block.drawn)
        stacked = [*range(returned), *[w.output for w in own]]
        common = [(w.output, aggregation_of(w.variable)) for w in shared]
        counted = {id(w.before) for w in shared if aggregation_of(w.variable) is _SUM}
        counters = [n for n, t in enumerate(block.captures) if id(t) in counted]

        def local(*arrays: Any) -> Any:
            replica = arrays[0][0]
            given = [
                x if layout == BATCH else x[0]
                for x, layout in zip(arrays[1 : 1 + arguments], layouts, strict=True)
            ]
            captured = [arrays[place][0] if place in copies else arrays[place] for place in places]
            for n in drawn:
                captured[n] = forked(captured[n], replica)
            for n in counters:
                captured[n] = started(replica, captured[n])
            outs, failure = block.run([replica, *given], captured)
            records = [failure[None]] if has_checks else []
            alike = [
                outs[n] if kind is None else united_in_program(kind, replica, outs[n])
                for n, kind in common
            ]
            return [outs[n][None] for n in stacked], alike, records

        return local

    def _program(self, local: Callable[..., Any]) -> Callable[..., Any]:
        """The op as a function of arrays."""
        mesh, lower, count = self._strategy.mesh, LOWERINGS[self._strategy.lowering], self._count
        spread = 1 + len(self._arguments.layouts) + len(self._locals)

        def run(*arrays: Any) -> list[Any]:
            mapped = lower(mesh, local, spread, len(arrays) - spread, (True, False, True))
            parts, common, records = mapped(*arrays)
            if not records:
                return [*parts, *common]
            rows = records[0].reshape(count, FAILURE)
            return [*parts, *common, rows[jnp.argmax(rows[:, 0] > 0)]]

        return run

    def _check(
        self,
        local: Callable[..., Any],
        inputs: Sequence[Tensor],
        spread: int,
        shared: Sequence[Written],
    ) -> None:
        """Refuse assignments that can differ between the replicas."""
        if not shared:
            return
        structs: list[Any] = []
        for n, tensor in enumerate(inputs):
            shape = tensor.aval.shape
            part = (shape[0] // self._count, *shape[1:]) if n < spread else shape
            structs.append(jax.ShapeDtypeStruct(part, tensor.aval.dtype))
        with jax.enable_x64(True):
            jaxpr, shapes = jax.make_jaxpr(
                local, axis_env=[(collectives.AXIS, self._count)], return_shape=True
            )(*structs)
        found = varying(jaxpr, [n < spread for n in range(len(inputs))])
        for written, differs in zip(shared, found[len(shapes[0]) :], strict=False):
            if differs:
                raise diverged(written.variable)

    def _settle(self, tensors: Sequence[Tensor]) -> None:
        """Put variables on all devices before the program first runs, or it is compiled twice."""
        for tensor in tensors:
            cell = getattr(tensor, "cell", None)
            variable = None if cell is None else cell()
            if variable is not None and variable.tensor is tensor:
                spread(tensor, variable, self._strategy.layout_of(variable))

    def _returned(self, results: Sequence[Tensor]) -> Any:
        """What the replicas returned: a value for each in the place of each tensor."""
        values = iter(results)

        def shown(leaf: Any) -> Any:
            if isinstance(leaf, Tensor):
                return PerReplica(next(values), STACK, self._count)
            if nest.composite_of(type(leaf)) is not None:
                raise NotImplementedError(
                    f"strategy.run in a tf.function returns a {type(leaf).__name__}: each replica "
                    "must return dense tensors. Convert it with tf.convert_to_tensor."
                )
            return as_tensor(leaf) if isinstance(leaf, (np.ndarray, np.generic)) else leaf

        return nest.map_structure(shown, self._result)
