"""What each call of `tf.distribute` gives on four replicas: in TensorFlow or in tapejax.

    python semantics.py (tensorflow | tapejax) (eager | traced | pmap)

What is called on each replica is called in eager code, or in a `tf.function`.

Prints one JSON object: for each row its value, or the type of the error it raises.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

tf: Any = importlib.import_module(sys.argv[1])
MODE = sys.argv[2]
REPLICAS = 4
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * REPLICAS)
strategy = tf.distribute.MirroredStrategy([f"CPU:{n}" for n in range(REPLICAS)])
if MODE == "pmap":
    strategy.lowering = "pmap"
Aggregation, Synchronization = tf.VariableAggregation, tf.VariableSynchronization
FOUND: dict[str, Any] = {}


def plain(value: Any) -> Any:
    """A value as JSON has it; of a value for each replica a list."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, tf.distribute.DistributedValues) and not hasattr(value, "assign"):
        return ["replicas", *[plain(v) for v in strategy.experimental_local_results(value)]]
    if hasattr(value, "numpy"):
        return plain(np.asarray(value.numpy()).tolist())
    return value.decode() if isinstance(value, bytes) else value


def row(name: str, call: Callable[[], Any]) -> None:
    """Note what a call gives."""
    assert name not in FOUND, name
    try:
        FOUND[name] = plain(call())
    except Exception as error:  # noqa: BLE001  its type is compared
        FOUND[name] = f"raises {type(error).__name__}"


def context() -> Any:
    """The replica."""
    return tf.distribute.get_replica_context()


def number() -> Any:
    """The number of the replica, as a float."""
    return tf.cast(context().replica_id_in_sync_group, tf.float32)


def each(fn: Callable[[], Any]) -> Any:
    """What a function gives on each replica."""
    return tf.function(lambda: strategy.run(fn))() if MODE != "eager" else strategy.run(fn)


def contexts() -> None:
    """Contexts and scopes."""
    outside = tf.distribute.get_strategy()
    row("the id outside is a Python 0", lambda: context().replica_id_in_sync_group)
    row("one replica outside", lambda: outside.num_replicas_in_sync)
    row("no strategy outside", tf.distribute.has_strategy)
    row("outside is no cross-replica context", tf.distribute.in_cross_replica_context)
    row("outside a sum passes", lambda: outside.reduce("SUM", tf.constant([1.0, 3.0]), axis=None))
    row("outside a mean by axis", lambda: outside.reduce("MEAN", tf.constant([1.0, 3.0]), axis=0))
    row("outside an average loss", lambda: tf.nn.compute_average_loss(tf.constant([1.0, 2.0])))
    row("outside run", lambda: outside.run(lambda x: x + 1, args=(tf.constant(1.0),)))
    with strategy.scope():
        row("no replica in a scope", context)
        row("a scope is a cross-replica context", tf.distribute.in_cross_replica_context)
        row("a strategy in a scope", tf.distribute.has_strategy)
        row("the same scope twice", lambda: entered(strategy))
        row("another scope inside", lambda: entered(tf.distribute.OneDeviceStrategy("/cpu:0")))
        row("average loss in a scope", lambda: tf.nn.compute_average_loss(tf.constant([1.0])))
        row(
            "regularization in a scope",
            lambda: tf.nn.scale_regularization_loss(tf.constant([1.0])),
        )
    row("replicas in sync", lambda: each(lambda: context().num_replicas_in_sync))
    row("ids", lambda: each(lambda: context().replica_id_in_sync_group))
    row("in run", lambda: each(tf.distribute.in_cross_replica_context))
    row("run in run", lambda: each(lambda: strategy.run(lambda: 1)))
    row("reduce in run", lambda: each(lambda: strategy.reduce("SUM", number(), axis=None)))
    row("a device twice", lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:0"]))
    row("worker devices", lambda: list(strategy.extended.worker_devices))


def entered(other: Any) -> int:
    """Enter a scope."""
    with other.scope():
        return 1


def fails_on_the_third() -> None:
    """One replica raises."""
    if int(context().replica_id_in_sync_group) == 2:
        raise KeyError("user")


def running() -> None:
    """Arguments and results of `run`."""
    row("arguments must be a sequence", lambda: strategy.run(lambda x: x, args=3))
    row("equal results that are no tensors", lambda: each(lambda: {"a": 3, "b": "x", "c": None}))
    row("a structure of results", lambda: each(lambda: (number(), [3])))
    row("a value for each replica as argument", lambda: strategy.run(double, args=(each(number),)))
    row("the same by name", lambda: strategy.run(double, kwargs={"x": each(number)}))
    row("arithmetic with a value for each", lambda: each(number) + 1.0)
    row("a plain value has one local result", lambda: strategy.experimental_local_results(5))
    row("an error in a replica", lambda: each(fails_on_the_third))
    row(
        "values from a function",
        lambda: strategy.experimental_distribute_values_from_function(
            lambda c: (c.replica_id_in_sync_group + 1) * 10
        ),
    )


def double(x: Any) -> Any:
    """Twice a tensor."""
    return 2.0 * x


def bringing_together() -> None:
    """`reduce`, `gather`, and the collectives of a replica."""
    values, pairs = each(number), each(lambda: tf.stack([number(), number() * 10]))
    uneven = strategy.experimental_distribute_values_from_function(
        lambda c: tf.constant(
            [float(c.replica_id_in_sync_group)] * (c.replica_id_in_sync_group + 1)
        )
    )
    matrices = each(lambda: tf.ones([2, 3]) * number())
    for op in ("SUM", "MEAN"):
        row(f"reduce {op}", lambda op=op: strategy.reduce(op, values, axis=None))
        row(f"reduce {op} of vectors", lambda op=op: strategy.reduce(op, pairs, axis=None))
        row(f"reduce {op} by axis 0", lambda op=op: strategy.reduce(op, pairs, axis=0))
        row(f"reduce {op} by axis -1", lambda op=op: strategy.reduce(op, matrices, axis=-1))
        row(f"reduce {op} of uneven by axis", lambda op=op: strategy.reduce(op, uneven, axis=0))
        row(f"plain {op}", lambda op=op: strategy.reduce(op, tf.constant(2.0), axis=None))
    row(
        "reduce with an enum",
        lambda: strategy.reduce(tf.distribute.ReduceOp.SUM, values, axis=None),
    )
    row("reduce MAX", lambda: strategy.reduce("MAX", values, axis=None))
    row("reduce without axis", lambda: strategy.reduce("SUM", values))
    row("reduce uneven", lambda: strategy.reduce("SUM", uneven, axis=None))
    row("gather uneven", lambda: strategy.gather(uneven, axis=0))
    row("gather on axis 1", lambda: strategy.gather(matrices, axis=1))
    row("gather scalars", lambda: strategy.gather(values, axis=0))
    row("all_gather", lambda: each(lambda: context().all_gather(number()[None], axis=0)))
    row("all_reduce", lambda: each(lambda: context().all_reduce("SUM", {"a": number()})))
    row("all_reduce MEAN", lambda: each(lambda: context().all_reduce("MEAN", [number()])))
    row("merge to one", lambda: each(lambda: merge(lambda s, x: s.reduce("SUM", x, axis=None))))
    row("merge to each", lambda: each(lambda: merge(lambda s, x: x)))
    row("gradient of a sum", lambda: each(lambda: gradient("SUM")))
    row("gradient of a mean", lambda: each(lambda: gradient("MEAN")))
    row("losses", lambda: each(lambda: tf.nn.compute_average_loss(tf.constant([1.0, 2.0]))))
    row("losses of a batch", lambda: each(lambda: average(tf.constant([1.0, 2.0]))))
    row("regularization", lambda: each(lambda: tf.nn.scale_regularization_loss(number() + 1)))


def merge(fn: Any) -> Any:
    """A function of all replicas."""
    return context().merge_call(fn, args=(number(),))


def average(losses: Any) -> Any:
    """With weights and the size of the batch."""
    return tf.nn.compute_average_loss(losses, sample_weight=[1.0, 3.0], global_batch_size=8)


def gradient(op: str) -> Any:
    """Of a reduction of squares, weighted by the replica's number."""
    x = number() + 1.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = context().all_reduce(op, x * x) * number()
    return tape.gradient(y, x)


def variables() -> None:
    """Variables with an aggregation."""
    for aggregation in ("SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        with strategy.scope():
            v = tf.Variable(1.0, aggregation=Aggregation[aggregation])
        for update in ("assign", "assign_add", "assign_sub"):
            v.assign(1.0)

            def call(update: str = update, v: Any = v) -> Any:
                def assign() -> None:
                    getattr(v, update)(number() + 1.0)

                each(assign)
                return v

            row(f"{update} with {aggregation}", call)
        row(f"a Python number with {aggregation}", lambda v=v: python_number(v))
    row("a mean of integers", integer_mean)
    row("a variable made in run", lambda: each(made_in_run))
    row("cross-replica assignment", assigned_outside)


def python_number(v: Any) -> Any:
    """Add a Python number."""
    v.assign(1.0)

    def add() -> None:
        v.assign_add(1.0)

    each(add)
    return v


def integer_mean() -> Any:
    """Create such a variable."""
    with strategy.scope():
        return tf.Variable(1, aggregation=Aggregation.MEAN)


KEPT: list[Any] = []


def made_in_run() -> Any:
    """Create a variable once and read it."""
    if not KEPT:
        KEPT.append(tf.Variable(3.0))
    return KEPT[0] * 2.0


def assigned_outside() -> Any:
    """Assign in the scope, read in the replicas."""
    with strategy.scope():
        v = tf.Variable(1.0)
        v.assign_add(2.0)
    return each(lambda: v + number())


def local_variables() -> None:
    """Variables brought together when they are read."""
    for aggregation in ("SUM", "MEAN", "ONLY_FIRST_REPLICA", "NONE"):
        with strategy.scope():
            v = tf.Variable(
                1.0,
                synchronization=Synchronization.ON_READ,
                aggregation=Aggregation[aggregation],
            )
        row(f"local {aggregation}: is it trainable", lambda v=v: v.trainable)
        row(f"local {aggregation}: initial", lambda v=v: v.read_value())
        row(f"local {aggregation}: in run", lambda v=v: each(lambda: added(v)))
        row(f"local {aggregation}: again", lambda v=v: each(lambda: added(v)))
        row(f"local {aggregation}: read", lambda v=v: v.read_value())
        row(f"local {aggregation}: arithmetic", lambda v=v: v + 1.0)
        row(f"local {aggregation}: numpy", lambda v=v: v.numpy().tolist())
        if aggregation == "NONE":
            row("local NONE: assigned", lambda v=v: v.assign(8.0))
            continue
        v.assign(8.0)
        row(f"local {aggregation}: assigned", lambda v=v: v.read_value())
        row(f"local {aggregation}: assigned, in run", lambda v=v: each(lambda: v.read_value()))
        row(f"local {aggregation}: added outside", lambda v=v: added_outside(v))


def added(v: Any) -> Any:
    """Add the replica's number and read."""
    v.assign_add(number() + 1.0)
    return v.read_value()


def added_outside(v: Any) -> Any:
    """Add for all replicas."""
    v.assign_add(4.0)
    return v.read_value()


def shapes(count: int, batch: int) -> list[Any]:
    """The shapes of what the replicas get of a dataset."""
    dataset = tf.data.Dataset.range(count).batch(batch)
    return [
        [list(v.shape) for v in strategy.experimental_local_results(element)]
        for element in strategy.experimental_distribute_dataset(dataset)
    ]


def pipeline(input_context: Any) -> Any:
    """A dataset of batches of one replica."""
    row("pipelines", lambda: input_context.num_input_pipelines)
    row("pipeline", lambda: input_context.input_pipeline_id)
    row("size of a part", lambda: input_context.get_per_replica_batch_size(8))
    row("size of an uneven part", lambda: input_context.get_per_replica_batch_size(10))
    return tf.data.Dataset.range(11).batch(2)


def input_pipelines() -> None:
    """Datasets."""
    for count, batch in ((22, 8), (10, 10), (9, 9), (3, 3), (20, 8)):
        row(f"{count} in batches of {batch}", lambda c=count, b=batch: shapes(c, b))
    made = strategy.distribute_datasets_from_function(pipeline)
    row("dealt out", lambda: list(made))
    four = strategy.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4))
    iterator = iter(four)
    row("an element", lambda: next(iterator))
    row("next at the end", lambda: next(iterator))
    row("get_next at the end", iterator.get_next)
    again = iter(four)
    row("an optional", lambda: again.get_next_as_optional().get_value())
    row("an empty optional", lambda: again.get_next_as_optional().has_value())


def one_device() -> None:
    """Strategies of one replica."""
    one = tf.distribute.OneDeviceStrategy("/cpu:0")
    mirrored = tf.distribute.MirroredStrategy(["CPU:0"])
    x = tf.constant([2.0])
    for name, other in (("one device", one), ("mirrored on one", mirrored)):
        row(f"{name}: run", lambda s=other: s.run(lambda: context().all_reduce("SUM", x)))
        row(f"{name}: replicas", lambda s=other: s.num_replicas_in_sync)
        row(f"{name}: reduce", lambda s=other: s.reduce("SUM", x, axis=None))
        row(f"{name}: gather", lambda s=other: s.gather(x, axis=0))
        row(f"{name}: dataset", lambda s=other: list(batches(s)))


def batches(other: Any) -> Any:
    """A dataset of one batch."""
    return other.experimental_distribute_dataset(tf.data.Dataset.range(4).batch(4))


def random_numbers() -> None:
    """How many different draws there are on the replicas."""

    def kinds(fn: Callable[[], Any]) -> int:
        return len(
            {tuple(v.numpy().tolist()) for v in strategy.experimental_local_results(each(fn))}
        )

    with strategy.scope():
        generator = tf.random.Generator.from_seed(1)
    whole = {"maxval": 1000, "dtype": tf.int32}
    row("a generator draws", lambda: each(lambda: generator.uniform([2], 0, **whole)))
    row("it draws again", lambda: each(lambda: generator.uniform([2], 0, **whole)))
    row("its seeds", lambda: each(lambda: generator.make_seeds(2)))
    row("draws differ", lambda: kinds(lambda: tf.random.normal([2])))
    row("stateless draws agree", lambda: kinds(lambda: tf.random.stateless_normal([2], [1, 2])))


for part in (
    contexts,
    running,
    bringing_together,
    variables,
    local_variables,
    input_pipelines,
    one_device,
    random_numbers,
):
    part()
print(json.dumps(FOUND))
