"""Keras' models and optimizers in `tf.train.Checkpoint`: training goes on exactly where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras as plain_keras
import numpy as np
import pytest

import tapejax as tf

keras: Any = tf.keras
X = np.random.default_rng(0).normal(size=(16, 5)).astype(np.float32)
Y = X.sum(1, keepdims=True)


class Net(keras.Model):
    """Layers in attributes, in a list and in a private attribute; dropout and moving averages."""

    def __init__(self) -> None:
        super().__init__()
        self.first = keras.layers.Dense(4, activation="relu")
        self.blocks = [keras.layers.Dense(3), keras.layers.BatchNormalization()]
        self._last = keras.layers.Dense(1)
        self.dropout = keras.layers.Dropout(0.5)

    def call(self, x: Any, training: bool = False) -> Any:
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self._last(self.dropout(x, training=training))


def step(model: Any, optimizer: Any) -> float:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(X, training=True) - Y) ** 2)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return float(loss)


OPTIMIZERS = {
    "tapejax": lambda: keras.optimizers.Adam(0.05),
    "keras": lambda: plain_keras.optimizers.Adam(0.05),
}


@pytest.mark.parametrize("built", [False, True], ids=["built later", "built before"])
@pytest.mark.parametrize("made", OPTIMIZERS)
def test_interrupted_training_goes_on_bit_by_bit(made: str, built: bool, tmp_path: Path) -> None:
    model, optimizer = Net(), OPTIMIZERS[made]()
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer, step=tf.Variable(0))
    for _ in range(3):
        step(model, optimizer)
        checkpoint.step.assign_add(1)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    losses = [step(model, optimizer) for _ in range(3)]

    again, other = Net(), OPTIMIZERS[made]()
    if built:
        again(X)
    checkpoint = tf.train.Checkpoint(model=again, optimizer=other, step=tf.Variable(0))
    status = checkpoint.restore(path)
    assert [step(again, other) for _ in range(3)] == losses
    status.assert_consumed()
    assert int(checkpoint.step) == 3
    for mine, theirs in zip(again.variables, model.variables, strict=True):
        np.testing.assert_array_equal(np.asarray(mine.numpy()), np.asarray(theirs.numpy()))


def test_a_sequential_model_as_root_and_a_manager(tmp_path: Path) -> None:
    layers = [keras.layers.Input((5,)), keras.layers.Dense(3), keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(model), str(tmp_path), max_to_keep=2)
    for _ in range(3):
        manager.save()
    weights = model.get_weights()
    model.set_weights([np.zeros_like(w) for w in weights])
    tf.train.Checkpoint(model).restore(manager.latest_checkpoint).assert_existing_objects_matched()
    assert all(map(np.array_equal, weights, model.get_weights()))
    assert len(manager.checkpoints) == 2


def test_a_compiled_model_is_restored_with_its_optimizer(tmp_path: Path) -> None:
    model = keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(X, Y, epochs=1, verbose=0)
    checkpoint = tf.train.Checkpoint(model=model)
    path = checkpoint.save(str(tmp_path / "ckpt"))
    losses = model.fit(X, Y, epochs=2, verbose=0, shuffle=False).history["loss"]
    checkpoint.restore(path)
    assert model.fit(X, Y, epochs=2, verbose=0, shuffle=False).history["loss"] == losses


def test_another_shape_is_an_error_and_nothing_is_restored(tmp_path: Path) -> None:
    model = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(3)])
    path = tf.train.Checkpoint(model=model).save(str(tmp_path / "ckpt"))
    wider = keras.Sequential([keras.layers.Input((5,)), keras.layers.Dense(4)])
    weights = wider.get_weights()
    with pytest.raises(ValueError, match="shape"):
        tf.train.Checkpoint(model=wider).restore(path)
    assert all(map(np.array_equal, weights, wider.get_weights()))
