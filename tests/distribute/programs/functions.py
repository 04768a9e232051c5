"""What replicas do in a `tf.function`, and what tapejax does beyond TensorFlow: prints JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import tapejax as tf
from tapejax._src.engine.statistics import COUNTERS

REPLICAS = 4
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * REPLICAS)
strategy = tf.distribute.MirroredStrategy()
strategy.lowering = sys.argv[2]
FOUND: dict[str, Any] = {}


def context() -> Any:
    """The replica."""
    return tf.distribute.get_replica_context()


def number() -> Any:
    """The number of the replica, as a float."""
    return tf.cast(context().replica_id_in_sync_group, tf.float32)


def locals_of(value: Any) -> list[Any]:
    """The value of each replica."""
    return [v.numpy().tolist() for v in strategy.experimental_local_results(value)]


def traced(fn: Callable[[], Any]) -> list[Any]:
    """The value of each replica, computed in a function."""
    return locals_of(tf.function(lambda: strategy.run(fn))())


def error_of(call: Callable[[], Any]) -> list[str]:
    """The type and the text of the error of a call."""
    try:
        return ["no error", repr(call())]
    except Exception as error:  # noqa: BLE001  it is compared
        return [type(error).__name__, str(error)]


def one_program() -> None:
    """A step of training is compiled once and reduces once."""
    with strategy.scope():
        w = tf.Variable(np.ones((5, 3), np.float32))
        b = tf.Variable(np.zeros(3, np.float32))
        optimizer = tf.keras.optimizers.Adam(0.1)

    def step(x: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x @ w + b)) / 8.0
        optimizer.apply_gradients(zip(tape.gradient(loss, [w, b]), [w, b], strict=True))

    @tf.function
    def train(x: Any) -> None:
        strategy.run(step, args=(x,))

    dataset = tf.data.Dataset.from_tensor_slices(np.ones((24, 5), np.float32)).batch(8)
    before = COUNTERS.compiles
    for batch in strategy.experimental_distribute_dataset(dataset):
        train(batch)
    FOUND["compiles"] = COUNTERS.compiles - before
    (trace,) = train.state.traces.values()
    arguments = [
        np.ones((8, 5), np.float32),
        *[getattr(x, "tensor", x).aval.struct for x in trace.outside],
    ]
    with jax.enable_x64(True):
        text = trace.kernel.jit.lower(*arguments).compile().as_text()
    FOUND["all-reduces"] = text.count(" all-reduce(") + text.count(" all-reduce-start(")
    FOUND["devices"] = len(w.tensor.array.sharding.device_set)


def collectives() -> None:
    """In loops and branches, differentiated there."""

    def loop() -> Any:
        y = number()
        for _ in tf.range(3):
            y = context().all_reduce("SUM", y)
        return y

    def branch() -> Any:
        return tf.cond(
            number() >= 0.0, lambda: context().all_reduce("SUM", number()), lambda: tf.constant(0.0)
        )

    def gradient_of_loop() -> Any:
        x = number() + 1.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
            for _ in tf.range(2):
                y = context().all_reduce("SUM", y)
            z = y * number()
        return tape.gradient(z, x)

    def gradient_of_branch() -> Any:
        x = number() + 1.0
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 0.0, lambda: context().all_reduce("SUM", x * x), lambda: x)
            z = y * number()
        return tape.gradient(z, x)

    FOUND["loop"], FOUND["branch"] = traced(loop), traced(branch)
    FOUND["gradient of loop"] = traced(gradient_of_loop)
    FOUND["gradient of branch"] = traced(gradient_of_branch)
    draw = tf.function(lambda: strategy.run(lambda: tf.random.normal([2])))
    FOUND["draws"] = locals_of(draw()) + locals_of(draw())


def tapes_around() -> None:
    """A tape outside of `run` differentiates through it."""
    with strategy.scope():
        w = tf.Variable([1.0, 2.0])

    def replica() -> Any:
        return tf.reduce_sum(w * w * number())

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            total = strategy.reduce("SUM", strategy.run(replica), axis=None)
        return tape.gradient(total, w)

    FOUND["tape around, traced"] = tf.function(gradient)().numpy().tolist()
    FOUND["tape around, eager"] = gradient().numpy().tolist()


def divergence() -> None:
    """Replicas must agree on a variable."""
    with strategy.scope():
        w = tf.Variable([1.0, 2.0], name="weights")

    def differ() -> None:
        w.assign(w * number())

    def forget() -> None:
        x = number() + 1.0
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * x)
        w.assign_sub(0.1 * tape.gradient(loss, w))

    def remember() -> None:
        x = number() + 1.0
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * x)
        w.assign_sub(0.1 * context().all_reduce("SUM", tape.gradient(loss, w)))

    def differ_in_loop() -> None:
        for _ in tf.range(2):
            w.assign(w + number())

    for name, fn in (("assign", differ), ("forgotten", forget), ("in a loop", differ_in_loop)):
        FOUND[f"diverged {name}, eager"] = error_of(lambda fn=fn: strategy.run(fn))
        FOUND[f"diverged {name}, traced"] = error_of(
            lambda fn=fn: tf.function(lambda: strategy.run(fn))()
        )
    FOUND["weights after errors"] = w.numpy().tolist()
    strategy.run(remember)
    tf.function(lambda: strategy.run(remember))()
    FOUND["weights after two sums"] = w.numpy().tolist()
    strategy.run(lambda: w.assign([7.0, 8.0]))
    FOUND["weights all agree on"] = w.numpy().tolist()


def optimizers() -> None:
    """Gradients are summed, then clipped."""
    for name, traces in (("eager", False), ("traced", True)):
        with strategy.scope():
            w = tf.Variable(1.0)
            optimizer = tf.keras.optimizers.SGD(0.1, clipnorm=1.0)
            plain = tf.keras.optimizers.SGD(0.1)

        def clipped(optimizer: Any = optimizer, w: Any = w) -> None:
            optimizer.apply_gradients([(number() + 1.0, w)])

        def summed(plain: Any = plain, w: Any = w) -> None:
            gradient = context().all_reduce("SUM", number() + 1.0)
            plain.apply_gradients([(gradient, w)], skip_gradients_aggregation=True)

        for fn in (clipped, summed):
            if traces:
                tf.function(lambda fn=fn: strategy.run(fn))()
            else:
                strategy.run(fn)
            FOUND[f"{fn.__name__}, {name}"] = float(w)
    plain.apply_gradients([(tf.constant(1.0), w)])
    FOUND["applied outside of run"] = float(w)


def functions_in_replicas() -> None:
    """Functions that replicas call."""

    @tf.function
    def helper(x: Any) -> Any:
        return context().all_reduce("SUM", x * 1.0)

    @tf.function
    def own() -> Any:
        return number() + 0.0

    FOUND["a collective in a function of one replica"] = error_of(
        lambda: strategy.run(lambda: helper(number()))
    )
    FOUND["the same, all traced"] = traced(lambda: helper(number()))
    FOUND["the same, run as a function"] = locals_of(strategy.run(helper, args=(tf.constant(2.0),)))
    FOUND["outside it has one replica"] = float(helper(tf.constant(2.0)))
    FOUND["ids in a function"] = locals_of(strategy.run(lambda: own()))
    FOUND["different meetings"] = error_of(lambda: strategy.run(different))
    FOUND["a failed check"] = error_of(lambda: traced(checked))


def different() -> Any:
    """One replica reduces, the others do not."""
    if int(context().replica_id_in_sync_group) == 0:
        return context().all_reduce("SUM", number())
    return number()


def checked() -> Any:
    """Not finite on one replica."""
    return tf.debugging.check_numerics(1.0 / (number() - 2.0), "of the third")


for part in (
    one_program,
    collectives,
    tapes_around,
    divergence,
    optimizers,
    functions_in_replicas,
):
    part()
print(json.dumps(FOUND))
