"""Every kind of optimizer on four replicas and on one device: prints the largest differences."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import tapejax as tf

REPLICAS, STEPS = 4, 3
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * REPLICAS)
strategy = tf.distribute.MirroredStrategy()
keras = tf.keras.optimizers
FOUND: dict[str, Any] = {}


class Own(keras.Optimizer):
    """With an update of its own."""

    def __init__(self) -> None:
        super().__init__(learning_rate=0.1, name="own")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Plain descent."""
        variable.assign_sub(learning_rate * gradient)


KINDS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: keras.SGD(0.1),
    "adamw": lambda: keras.AdamW(0.1, weight_decay=0.1),
    "average": lambda: keras.Adam(0.1, use_ema=True, ema_overwrite_frequency=2),
    "accumulated": lambda: keras.SGD(0.1, gradient_accumulation_steps=2),
    "layerwise": lambda: keras.Lamb(0.1),
    "loss scale": lambda: keras.LossScaleOptimizer(keras.Adam(0.1), initial_scale=4.0),
    "legacy": lambda: keras.legacy.SGD(0.1, momentum=0.9),
    "version 1": lambda: tf.compat.v1.train.MomentumOptimizer(0.1, 0.9),
    "own": Own,
}


def number() -> Any:
    """The number of the replica, as a float."""
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def alone(make: Callable[[], Any]) -> Any:
    """The weights after some steps with the summed gradients."""
    v, optimizer = tf.Variable([1.0, 2.0]), make()
    for _ in range(STEPS):
        optimizer.apply_gradients([(tf.constant([10.0, 4.0]), v)])
    return v.numpy()


def replicated(make: Callable[[], Any], traces: bool) -> Any:
    """The same on replicas whose gradients have that sum; slots are made in the first step."""
    with strategy.scope():
        v, optimizer = tf.Variable([1.0, 2.0]), make()

    def step() -> None:
        optimizer.apply_gradients([(tf.stack([number() + 1.0, 1.0]), v)])

    def run() -> None:
        strategy.run(step)

    call = tf.function(run) if traces else run
    for _ in range(STEPS):
        call()
    return v.numpy()


def rows() -> list[float]:
    """Sparse gradients, summed over replicas: eager, then traced."""
    with strategy.scope():
        table, optimizer = tf.Variable(np.ones((5, 2), np.float32)), keras.SGD(1.0)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, [0, tf.cast(number(), tf.int32)]))
        optimizer.apply_gradients([(tape.gradient(loss, table), table)])

    strategy.run(step)
    tf.function(lambda: strategy.run(step))()
    return table.numpy()[:, 0].tolist()


def checkpoint(folder: str) -> list[Any]:
    """Variables of the replicas come back, also those that each has a value of."""
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
        count = tf.Variable(
            0.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
    strategy.run(lambda: count.assign_add(number()))
    kept = tf.train.Checkpoint(v=v, count=count)
    path = kept.save(folder + "/state")
    v.assign([5.0, 5.0])
    count.assign(0.0)
    kept.restore(path)
    local = strategy.run(lambda: count.assign_add(1.0).read_value())
    values = [x.numpy().tolist() for x in strategy.experimental_local_results(local)]
    return [v.numpy().tolist(), values, float(count)]


def iterated() -> list[float]:
    """A distributed dataset iterated over in a function."""
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(12).batch(4))

    def added(x: Any) -> Any:
        return tf.cast(tf.reduce_sum(x), tf.float32)

    @tf.function
    def epoch(batches: Any) -> Any:
        total = 0.0
        for x in batches:
            total += strategy.reduce("SUM", strategy.run(added, args=(x,)), axis=None)
        return total

    @tf.function
    def some(iterator: Any) -> Any:
        total = 0.0
        for _ in tf.range(2):
            x = next(iterator)
            total += strategy.reduce("SUM", strategy.run(added, args=(x,)), axis=None)
        return total

    return [float(epoch(dataset)), float(some(iter(dataset)))]


def main(folder: str) -> None:
    """Print what was found."""
    for name, make in KINDS.items():
        for traces in (False, True):
            difference = np.abs(replicated(make, traces) - alone(make)).max()
            FOUND[f"{name}, {'traced' if traces else 'eager'}"] = float(difference)
    FOUND["rows"], FOUND["checkpoint"], FOUND["iterated"] = rows(), checkpoint(folder), iterated()
    print(json.dumps(FOUND))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(scratch)
