"""`tf.distribute.Strategy`: one program on several replicas."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Generator, Sequence
from typing import Any

import jax
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import CREATION, Variable, VariableSynchronization
from tapejax._src.distribute import input_pipelines, reducing
from tapejax._src.distribute.collectives import AXIS, LOWERINGS
from tapejax._src.distribute.contexts import (
    CONTEXTS,
    DEFAULT,
    current_replica,
    entered,
    require_cross_replica,
)
from tapejax._src.distribute.eager_run import EagerRun, per_replica
from tapejax._src.distribute.reduce_op import as_reduce_op
from tapejax._src.distribute.replica_context import ReplicaContext
from tapejax._src.distribute.traced_run import TracedRun
from tapejax._src.distribute.values import PerReplica
from tapejax._src.distribute.variables import mixing, replicate, spread
from tapejax._src.distribute.whole_batches import placement
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.function.function import Function, functions_run_eagerly
from tapejax._src.function.trace import PLACING
from tapejax._src.ops.loss_scaling import REPLICAS
from tapejax._src.ops.random_generator import REPLICA


class Extended:
    """What TensorFlow keeps in `strategy.extended`.

    Args:
        strategy: The strategy.
    """

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of the replicas."""
        return self._strategy.devices_in_sync()

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices of the variables: those of the replicas."""
        return self._strategy.devices_in_sync()


class Strategy:
    """One program on several replicas: the base of all strategies.

    Args:
        extended: Refused: a strategy is made from the devices it uses.

    Raises:
        NotImplementedError: If `extended` is given.
    """

    _devices: Sequence[Any] = ()
    _names: Sequence[str] = ()
    spans_processes = False
    """Whether some of its devices belong to other processes."""

    def __init__(self, extended: Any) -> None:
        if extended is not None:
            raise NotImplementedError(
                "tf.distribute.Strategy(extended): tapejax has no StrategyExtended to derive from. "
                "Use tf.distribute.MirroredStrategy(devices)."
            )
        self._variables: dict[int, weakref.ref[Variable]] = {}
        self.token = object()
        self._is_spread = False
        self._lowering = "shard_map"
        self._is_falling_back = False
        self._functions: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()

    # ------------------------------------------------------------------ what it is
    @property
    def num_replicas_in_sync(self) -> int:
        """The number of replicas."""
        return max(len(self._devices), 1)

    @property
    def extended(self) -> Any:
        """The devices, where TensorFlow keeps them."""
        return Extended(self)

    @property
    def cluster_resolver(self) -> Any:
        """None: the cluster is described by the environment variable `TF_CONFIG`."""
        return None

    def devices_in_sync(self) -> tuple[str, ...]:
        """The names of the devices of the replicas."""
        return tuple(self._names) or ("/job:localhost/replica:0/task:0/device:CPU:0",)

    @functools.cached_property
    def mesh(self) -> jax.sharding.Mesh:
        """The devices, on one axis."""
        self._is_spread = True
        return jax.sharding.Mesh(np.array(self._devices), (AXIS,))

    @property
    def uses_whole_batches(self) -> bool:
        """Whether functions that use its variables are spread over devices."""
        return self.num_replicas_in_sync > 1

    @property
    def batch_axis(self) -> tuple[str, int]:
        """The axis of the mesh that batches are divided over, and its size."""
        return AXIS, self.num_replicas_in_sync

    def layout_of(self, variable: Variable) -> jax.sharding.Sharding:
        """Where the value of a variable is: whole, on each device."""
        del variable
        return jax.sharding.NamedSharding(self.mesh, jax.sharding.PartitionSpec())

    @property
    def lowering(self) -> str:
        """How a `tf.function` maps its replicas over the devices: `shard_map` or `pmap`.

        Both give the same numbers. Set it before the function is traced.
        """
        return self._lowering

    @lowering.setter
    def lowering(self, name: str) -> None:
        if name not in LOWERINGS:
            raise ValueError(f"lowering must be one of {sorted(LOWERINGS)}, got {name!r}.")
        self._lowering = name

    # ------------------------------------------------------------------ scope
    @contextlib.contextmanager
    def scope(self) -> Generator[Strategy]:
        """A `with` block in which variables are created for all replicas.

        Yields:
            The strategy.

        Raises:
            RuntimeError: In the scope of another strategy.

        Example:
            >>> import tapejax as tf
            >>> strategy = tf.distribute.MirroredStrategy()
            >>> with strategy.scope():
            ...     v = tf.Variable(1.0)
            >>> float(v)
            1.0
        """
        if CONTEXTS.stack and CONTEXTS.stack[-1][0] is not self:
            raise RuntimeError(mixing(CONTEXTS.stack[-1][0], self))
        with self._creating(), entered(self, current_replica()):
            yield self

    @contextlib.contextmanager
    def _creating(self) -> Generator[None]:
        """A `with` block whose new variables are this strategy's."""
        listener = functools.partial(replicate, self)
        CREATION.listeners.append(listener)
        try:
            yield
        finally:
            CREATION.listeners.remove(listener)

    # ------------------------------------------------------------------ running
    def run(
        self,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        options: Any = None,
    ) -> Any:
        """Call a function once for each replica.

        Inside of a `tf.function`, or of a function that is one, the replicas are one program on
        all devices. In eager code they run one after the other on one device, taking turns where
        they need each other.

        Args:
            fn: The function.
            args: Tuple or list of arguments; of a value for each replica it gets its own.
            kwargs: The same by name.
            options: Accepted for compatibility.

        Returns:
            The structure that `fn` returned, with a value for each replica in the place of each
            tensor; with one replica what it returned.

        Raises:
            ValueError: If `args` is no tuple or list.
            RuntimeError: Inside of `run`, or if the replicas make different collective calls.
            ReplicaDivergenceError: If they assign different values to one variable.

        Example:
            >>> import tapejax as tf
            >>> strategy = tf.distribute.MirroredStrategy()
            >>> result = strategy.run(lambda x: x + 1.0, args=(tf.constant(1.0),))
            >>> float(strategy.reduce("SUM", result, axis=None)) / strategy.num_replicas_in_sync
            2.0
        """
        del options
        if not isinstance(args, (list, tuple)):
            raise ValueError(
                "positional args must be a list or tuple, got "
                f"{type(args)}: write strategy.run(fn, args=(value,))."
            )
        require_cross_replica()
        kwargs = {} if kwargs is None else kwargs
        if self.num_replicas_in_sync == 1:
            return self._run_alone(fn, args, kwargs)
        if LOCAL.recorder.symbolic is not None:
            return self._created_here(TracedRun(self, _as_python(fn), args, kwargs).run)
        taped = (LOCAL.active or self.spans_processes) and not self._is_falling_back
        if (isinstance(fn, Function) and not functions_run_eagerly()) or taped:
            return self._function_around(fn)(tuple(args), dict(kwargs))
        if self.spans_processes:
            raise NotImplementedError(
                "The replicas of several processes are one program, and this function cannot be "
                "compiled: batches must be even (use batch(n, drop_remainder=True)), and values "
                "cannot be read in it."
            )
        return self._created_here(EagerRun(self, _as_python(fn), args, kwargs).run)

    experimental_run_v2 = run

    def _run_alone(self, fn: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        """Run for the only replica there is."""

        def call() -> Any:
            with entered(self, self.only_replica()):
                return fn(*args, **kwargs)

        return self._created_here(call)

    def _created_here(self, call: Callable[[], Any]) -> Any:
        """Call a function; the variables it creates are this strategy's."""
        with self._creating():
            return call()

    def _function_around(self, fn: Callable[..., Any]) -> Function:
        """A traced function that runs another one on all replicas.

        Also for a Python function around which a tape records: it sees a run as one op.
        """
        key = fn.state if isinstance(fn, Function) else fn
        around = self._functions.get(key)
        if around is None:
            python_function, reference = _as_python(fn), weakref.ref(self)

            def run(args: Any, kwargs: Any) -> Any:
                strategy = reference()
                assert strategy is not None
                before, strategy._is_falling_back = strategy._is_falling_back, True
                try:
                    return strategy.run(python_function, args, kwargs)
                finally:
                    strategy._is_falling_back = before

            name = getattr(fn, "__name__", type(fn).__name__)
            around = Function(run, name)
            with contextlib.suppress(TypeError):  # it cannot be referred to weakly
                self._functions[key] = around
        return around

    def only_replica(self) -> ReplicaContext:
        """The context of the only replica there is."""
        return ReplicaContext(self, as_tensor(0))

    # ------------------------------------------------------------------ bringing together
    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """Sum or average the values of the replicas.

        Args:
            reduce_op: `tf.distribute.ReduceOp` or its name.
            value: Nested structure of values for each replica.
            axis: None to combine the replicas' values element by element, or an axis that is
                reduced too: a mean is then one over all elements of all replicas.

        Returns:
            The structure, of tensors.

        Raises:
            ValueError: If `reduce_op` is not SUM or MEAN, or a plain tensor is to be summed.
            RuntimeError: Inside of `run`.
        """
        require_cross_replica()
        op = as_reduce_op(reduce_op)
        return nest.map_structure(lambda leaf: reducing.reduced(self, op, leaf, axis), value)

    def gather(self, value: Any, axis: int) -> Any:
        """Join the values of the replicas along an axis; they may differ in size there.

        Args:
            value: Nested structure of values for each replica.
            axis: The axis.

        Returns:
            The structure, of tensors.

        Raises:
            ValueError: If a value is a scalar.
            RuntimeError: Inside of `run`.
        """
        require_cross_replica()
        return nest.map_structure(lambda leaf: reducing.gathered(leaf, axis), value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this process.

        Args:
            value: What `run` returned.

        Returns:
            A tuple with one value for each replica; of what is no such value, a tuple of it.
        """
        return value.values if isinstance(value, PerReplica) else (value,)

    # ------------------------------------------------------------------ input
    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """A dataset whose batches are divided among the replicas.

        Args:
            dataset: A `tf.data.Dataset` of batches; each is split on its first axis.
            options: Accepted for compatibility.

        Returns:
            A distributed dataset. Where a batch cannot be divided evenly, the last replicas get
            fewer elements, or none.

        Example:
            >>> import tapejax as tf
            >>> strategy = tf.distribute.MirroredStrategy()
            >>> dataset = tf.data.Dataset.range(4).batch(4)
            >>> for batch in strategy.experimental_distribute_dataset(dataset):
            ...     total = strategy.run(tf.reduce_sum, args=(batch,))
            >>> int(strategy.reduce("SUM", total, axis=None))
            6
        """
        del options
        return input_pipelines.distributed(self, dataset)

    def distribute_datasets_from_function(self, dataset_fn: Any, options: Any = None) -> Any:
        """A dataset whose elements go to the replicas one after the other.

        Args:
            dataset_fn: Function of a `tf.distribute.InputContext` that returns a `tf.data.Dataset`
                of what one replica gets in a step.
            options: Accepted for compatibility.

        Returns:
            A distributed dataset.
        """
        del options
        return input_pipelines.from_function(self, dataset_fn)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(self, value_fn: Callable[..., Any]) -> Any:
        """A value for each replica.

        Args:
            value_fn: Function of a context with `replica_id_in_sync_group` and
                `num_replicas_in_sync` that returns the value of that replica.

        Returns:
            The values; with one replica its value.

        Example:
            >>> import tapejax as tf
            >>> strategy = tf.distribute.MirroredStrategy()
            >>> values = strategy.experimental_distribute_values_from_function(
            ...     lambda context: tf.constant(context.replica_id_in_sync_group)
            ... )
            >>> int(strategy.experimental_local_results(values)[0])
            0
        """
        count = self.num_replicas_in_sync
        return per_replica(lambda n: value_fn(input_pipelines.ValueContext(n, count)), count)

    # ------------------------------------------------------------------ variables
    def adopt(self, variable: Variable) -> None:
        """Remember a variable that was created for all replicas."""
        self._variables[id(variable)] = variable.reference

    def owns(self, variable: Variable) -> bool:
        """Whether it was created for all replicas of this strategy."""
        reference = self._variables.get(id(variable))
        return reference is not None and reference() is variable

    def variables(self) -> list[Variable]:
        """The variables that were created for all replicas and are still there."""
        found = [(key, reference()) for key, reference in self._variables.items()]
        for key, variable in found:
            if variable is None:
                del self._variables[key]
        return [variable for _, variable in found if variable is not None]

    def local_variables(self) -> list[Variable]:
        """Those of which each replica has a value of its own."""
        on_read = VariableSynchronization.ON_READ
        return [v for v in self.variables() if v.synchronization is on_read]

    def spread_variables(self) -> None:
        """Put variables on all devices, if programs have run there."""
        if self._is_spread:
            for variable in self.variables():
                spread(variable.tensor, variable, self.layout_of(variable))

    def gather_variables(self) -> None:
        """Bring variables that a program left on all devices back to one."""
        if not self._is_spread:
            return
        for variable in self.variables():
            array = variable.tensor.array
            if isinstance(array, jax.Array) and len(array.sharding.device_set) > 1:
                aval = variable.tensor.aval
                variable.hold(Tensor.concrete(np.asarray(array), aval, aval))


def _as_python(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The Python function of a traced one: a trace knows nothing of other replicas."""
    return fn.python_function if isinstance(fn, Function) else fn


class DefaultStrategy(Strategy):
    """The strategy in force outside of every scope: one replica, on the default device."""

    def only_replica(self) -> ReplicaContext:
        """The context outside of every scope."""
        return DEFAULT.context


def _replicas_of_losses() -> int:
    """Among how many replicas a loss is shared.

    Raises:
        RuntimeError: In a scope, outside of `run`.
    """
    if CONTEXTS.stack and current_replica() is None:
        raise RuntimeError(
            "You are calling `compute_average_loss` or `scale_regularization_loss` in cross "
            "replica context, while it was expected to be called in replica context: call it in "
            "the function that strategy.run calls."
        )
    return CONTEXTS.stack[-1][0].num_replicas_in_sync if CONTEXTS.stack else 1


def _replica_that_draws() -> Tensor | None:
    """The number of the replica that draws random numbers, None where there is only one."""
    replica = current_replica()
    if replica is None or replica.num_replicas_in_sync == 1:
        return None
    return as_tensor(replica.replica_id_in_sync_group)


REPLICAS.count = _replicas_of_losses
REPLICA.number = _replica_that_draws
PLACING.of = placement
DEFAULT.strategy = DefaultStrategy(None)
DEFAULT.context = ReplicaContext(DEFAULT.strategy, 0)
