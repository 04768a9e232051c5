"""A training step called without `strategy.run` on a strategy's variables: prints JSON."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import jax
import numpy as np

import tapejax as tf
from tapejax._src.engine.statistics import COUNTERS

REPLICAS, STEPS, BATCH = 4, 20, 8
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * REPLICAS)
strategy = tf.distribute.MirroredStrategy()
random = np.random.default_rng(0)
X = random.normal(size=(STEPS * BATCH, 5)).astype(np.float32)
Y = np.sin(X[:, :2]).astype(np.float32)
FOUND: dict[str, Any] = {}


def made(scope: Any) -> Any:
    """Variables and a step of training."""
    with scope:
        start = np.random.default_rng(1).normal(size=(5, 2)).astype(np.float32)
        variables = [tf.Variable(start), tf.Variable(np.zeros(2, np.float32))]
        optimizer = tf.keras.optimizers.Adam(0.02)

    @tf.function
    def step(x: Any, y: Any) -> Any:
        w, b = variables
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ w) + b - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return variables, step


def trained(name: str, scope: Any, around: Any) -> Any:
    """Train, and note losses and weights."""
    variables, step = made(scope)
    before = COUNTERS.compiles
    losses: list[float] = []
    for n in range(STEPS):
        rows = slice(n * BATCH, (n + 1) * BATCH)
        with around():
            losses.append(float(step(tf.constant(X[rows]), tf.constant(Y[rows]))))
    FOUND[f"{name}: compiles"] = COUNTERS.compiles - before
    with around():
        losses.append(float(step(tf.constant(X[:3]), tf.constant(Y[:3]))))  # cannot be divided
    FOUND[name] = [losses, *[v.numpy().ravel().tolist() for v in variables]]
    return variables, step


trained("alone", contextlib.nullcontext(), contextlib.nullcontext)
trained("in the scope", strategy.scope(), strategy.scope)
weights, training_step = trained("outside", strategy.scope(), contextlib.nullcontext)
FOUND["devices"] = [len(v.tensor.array.sharding.device_set) for v in weights]
FOUND["whole"] = [v.tensor.array.is_fully_replicated for v in weights]
trace = next(iter(training_step.state.traces.values()))
spread = jax.sharding.NamedSharding(strategy.mesh, jax.sharding.PartitionSpec("replica"))
inputs = [getattr(x, "tensor", x).value_array() for x in trace.outside]
batch = [jax.device_put(x[:BATCH], spread) for x in (X, Y)]
with jax.enable_x64(True):
    text = trace.kernel.jit.lower(*batch, *inputs).compile().as_text()
FOUND["all-reduces"] = text.count(" all-reduce(") + text.count(" all-reduce-start(")
FOUND["rows on each device"] = "f32[2,5]" in text and "f32[8,5]" not in text
print(json.dumps(FOUND))
