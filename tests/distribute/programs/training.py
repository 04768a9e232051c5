"""Trains a small network in several ways and prints its weights: in TensorFlow or in tapejax.

    python training.py (tensorflow | tapejax)

The same program for both; each way must end with the weights of one device.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import numpy as np

tf: Any = importlib.import_module(sys.argv[1])
REPLICAS, STEPS, BATCH = 4, 20, 8
EXAMPLES = {"even": STEPS * BATCH, "uneven": (STEPS - 1) * BATCH + 6}


def optimizers() -> dict[str, Any]:
    """What is trained with."""
    keras = tf.keras.optimizers
    return {
        "momentum": lambda: keras.SGD(0.02, momentum=0.9),
        "adam": lambda: keras.Adam(0.01),
    }


def data(count: int) -> tuple[Any, Any]:
    """Examples and labels."""
    random = np.random.default_rng(0)
    x = random.normal(size=(count, 5)).astype(np.float32)
    return x, np.sin(x[:, :3]).astype(np.float32)


def weights() -> list[Any]:
    """The variables of the network."""
    random = np.random.default_rng(1)
    shapes = [(5, 7), (7,), (7, 3), (3,)]
    return [tf.Variable(random.normal(size=s).astype(np.float32) * 0.5) for s in shapes]


def step_of(variables: list[Any], optimizer: Any) -> Any:
    """A training step of one replica."""

    def step(batch: Any) -> Any:
        x, y = batch
        with tf.GradientTape() as tape:
            w, b, v, c = variables
            out = tf.tanh(x @ w + b) @ v + c
            errors = tf.reduce_sum(tf.square(out - y), 1)
            loss = tf.nn.compute_average_loss(errors, global_batch_size=BATCH)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    return step


def train(strategy: Any, kind: str, make: Any, way: str) -> Any:
    """The weights and the losses of a training."""
    dataset = tf.data.Dataset.from_tensor_slices(data(EXAMPLES[kind])).batch(BATCH)
    with strategy.scope():
        variables = weights()
        optimizer = make()
        optimizer.build(variables)
    step = step_of(variables, optimizer)
    if way == "function in run":
        step = tf.function(step)

    def distributed(batch: Any) -> Any:
        losses = strategy.run(step, args=(batch,))
        return strategy.reduce("SUM", losses, axis=None)

    if way == "by pmap":
        strategy.lowering = "pmap"
    if way in ("run in function", "by pmap"):
        distributed = tf.function(distributed)
    batches = strategy.experimental_distribute_dataset(dataset)
    losses = [float(distributed(batch)) for batch in batches]
    if way == "by pmap":
        strategy.lowering = "shard_map"
    return [v.numpy().ravel().tolist() for v in variables], losses


def main() -> None:
    """Print the results of every way."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * REPLICAS
    )
    mirrored = tf.distribute.MirroredStrategy([f"CPU:{n}" for n in range(REPLICAS)])
    strategies = {"one": tf.distribute.OneDeviceStrategy("/cpu:0"), "four": mirrored}
    ways = ["run in function"]
    if sys.argv[1] == "tapejax":
        ways += ["eager", "function in run", "by pmap"]
    found: dict[str, Any] = {}
    for kind in EXAMPLES:
        for name, make in optimizers().items():
            for devices, strategy in strategies.items():
                for way in ways:
                    key = f"{kind}, {name}, {devices}, {way}"
                    found[key] = train(strategy, kind, make, way)
    print(json.dumps(found))


main()
