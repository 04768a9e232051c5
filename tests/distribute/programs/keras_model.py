"""Trains a Keras model with metrics on four replicas: in TensorFlow or in tapejax.

python keras_model.py (tensorflow | tapejax)
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import numpy as np

tf: Any = importlib.import_module(sys.argv[1])
REPLICAS, BATCH = 4, 8
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * REPLICAS)
strategy = tf.distribute.MirroredStrategy([f"CPU:{n}" for n in range(REPLICAS)])
random = np.random.default_rng(0)
X = random.normal(size=(38, 5)).astype(np.float32)
Y = 2.0 * X[:, :1]


def network() -> Any:
    """Two layers with batch normalization between them, with known weights."""
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            tf.keras.Input((5,)),
            layers.Dense(7, activation="tanh"),
            layers.BatchNormalization(),
            layers.Dense(1),
        ]
    )
    numbers = np.random.default_rng(1)
    for layer in (model.layers[0], model.layers[2]):
        layer.set_weights([numbers.normal(size=w.shape) for w in layer.get_weights()])
    return model


def train(traces: bool) -> dict[str, Any]:
    """Weights, losses and what the metrics say."""
    with strategy.scope():
        model = network()
        optimizer = tf.keras.optimizers.Adam(0.01)
        optimizer.build(model.trainable_variables)
        mean, error = tf.keras.metrics.Mean(), tf.keras.metrics.MeanSquaredError()

    def step(batch: Any) -> Any:
        x, y = batch
        with tf.GradientTape() as tape:
            out = model(x, training=True)
            errors = tf.reduce_sum(tf.square(out - y), 1)
            loss = tf.nn.compute_average_loss(errors, global_batch_size=BATCH)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        mean.update_state(loss)
        error.update_state(y, out)
        return loss

    def distributed(batch: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

    run = tf.function(distributed) if traces else distributed
    data = tf.data.Dataset.from_tensor_slices((X[:32], Y[:32])).batch(BATCH)
    batches = list(strategy.experimental_distribute_dataset(data))
    losses = [float(run(batch)) for batch in batches]
    found = {"losses": losses, "metrics": [float(mean.result()), float(error.result())]}
    found["weights"] = [w.numpy().ravel().tolist() for w in model.trainable_variables]
    mean.reset_state()
    error.reset_state()
    found["reset"] = [float(mean.result())]
    found["after reset"] = [float(run(batches[0])), float(mean.result()), float(error.result())]
    return found


def statistics(traces: bool) -> list[Any]:
    """What batch normalization without momentum keeps of one batch."""
    with strategy.scope():
        layer = tf.keras.layers.BatchNormalization(momentum=0.0)
        layer.build((None, 5))
    data = tf.data.Dataset.from_tensor_slices(X[:32]).batch(32)
    (batch,) = strategy.experimental_distribute_dataset(data)

    def normalize(x: Any) -> None:
        layer(x, training=True)

    def distributed(batch: Any) -> None:
        strategy.run(normalize, args=(batch,))

    (tf.function(distributed) if traces else distributed)(batch)
    return [w.numpy().tolist() for w in layer.non_trainable_variables]


FOUND: dict[str, Any] = {"traced": train(True), "traced statistics": statistics(True)}
if sys.argv[1] == "tapejax":
    FOUND.update({"eager": train(False), "eager statistics": statistics(False)})
    with strategy.scope():
        fitted = network()
        fitted.compile("sgd", "mse")
    history = fitted.fit(X[:32], Y[:32], batch_size=8, shuffle=False, verbose=0)
    FOUND["fit"] = history.history["loss"]
    alone = network()
    alone.compile("sgd", "mse")
    history = alone.fit(X[:32], Y[:32], batch_size=8, shuffle=False, verbose=0)
    FOUND["fit alone"] = history.history["loss"]
print(json.dumps(FOUND))
