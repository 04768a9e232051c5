"""Variables divided over eight devices: prints JSON."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np

import tapejax as tf

DEVICES, STEPS, BATCH = 8, 10, 16
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * DEVICES)
random = np.random.default_rng(0)
X = random.normal(size=(STEPS * BATCH, 16)).astype(np.float32)
Y = np.sin(X[:, :8]).astype(np.float32)
Sharded = tf.distribute.experimental.ShardedStrategy
FOUND: dict[str, Any] = {}


def bytes_on_first(variables: list[Any]) -> int:
    """How much of the variables the first device holds."""
    arrays = [v.tensor.value_array() for v in variables]
    return sum(
        a.addressable_shards[0].data.nbytes if hasattr(a, "sharding") else a.nbytes for a in arrays
    )


def train(name: str, scope: Any, make: Callable[[], Any]) -> None:
    """Train; note losses, weights and memory."""
    with scope:
        numbers = np.random.default_rng(1)
        shapes = {
            "first/kernel": (16, 64),
            "first/bias": (64,),
            "second/kernel": (64, 8),
            "second/bias": (8,),
        }
        variables = [
            tf.Variable(numbers.normal(size=shape).astype(np.float32) * 0.3, name=key)
            for key, shape in shapes.items()
        ]
        optimizer = make()
        optimizer.build(variables)

    @tf.function
    def step(x: Any, y: Any) -> Any:
        w, b, v, c = variables
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ w + b) @ v + c - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    losses: list[float] = []
    for n in range(STEPS):
        rows = slice(n * BATCH, (n + 1) * BATCH)
        losses.append(float(step(tf.constant(X[rows]), tf.constant(Y[rows]))))
    slots = [v for v in optimizer.variables if v.shape.rank]
    FOUND[name] = [losses, *[v.numpy().ravel().tolist() for v in variables]]
    FOUND[f"{name}: bytes"] = bytes_on_first(variables + slots)
    FOUND[f"{name}: layouts"] = [
        [str(axis) for axis in getattr(v.tensor.array.sharding, "spec", ())] for v in variables
    ]


def error_of(call: Callable[[], Any]) -> str:
    """The text of the error of a call."""
    try:
        return repr(call())
    except ValueError as error:
        return str(error)


def created(strategy: Any) -> Any:
    """A variable in a scope."""
    with strategy.scope():
        return tf.Variable(np.zeros((6, 4), np.float32), name="kernel")


RULES = [("first/kernel", (None, "model")), ("second/kernel", ("model", None))]
for optimizer_name, maker in (
    ("momentum", lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9)),
    ("adam", lambda: tf.keras.optimizers.Adam(0.01)),
):
    train(f"alone, {optimizer_name}", contextlib.nullcontext(), maker)
    train(f"fsdp, {optimizer_name}", Sharded({"data": 8}).scope(), maker)
    train(f"tensors, {optimizer_name}", Sharded({"data": 4, "model": 2}, RULES).scope(), maker)
FOUND["replicas"] = Sharded({"data": 8}).num_replicas_in_sync
FOUND["too few"] = error_of(lambda: Sharded({"data": 16}))
FOUND["remainder"] = error_of(lambda: created(Sharded({"data": 4}, [("kernel", ("data", None))])))
FOUND["unknown axis"] = error_of(lambda: created(Sharded({"data": 4}, [("kernel", ("x", None))])))
FOUND["dimensions"] = error_of(
    lambda: created(Sharded({"data": 4}, [("kernel", (None, None, "data"))]))
)
eager = created(Sharded({"data": 2}))
eager.assign_add(np.ones((6, 4), np.float32))
FOUND["eager"] = float(tf.reduce_sum(eager * 2.0))
print(json.dumps(FOUND))
