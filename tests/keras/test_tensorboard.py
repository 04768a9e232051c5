"""Keras' TensorBoard callback writes files that TensorFlow reads, without TensorFlow."""

from __future__ import annotations

import glob
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
import sys
import numpy as np
import tapejax as tf

class Noted(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)

    def call(self, x):
        y = self.dense(x)
        return y

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
        tf.summary.scalar("mean of outputs", loss, step=self.optimizer.iterations)
        self.optimizer.apply_gradients(
            zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        )
        return {"loss": loss}

folder = sys.argv[1]
x, y = np.ones((8, 2), "float32"), np.zeros((8, 1), "float32")
plain = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(1)])
for name, model, frequency in (("plain", plain, "epoch"), ("noted", Noted(), 1)):
    model.compile("sgd", "mse")
    board = tf.keras.callbacks.TensorBoard(
        f"{folder}/{name}", histogram_freq=1, write_images=True, update_freq=frequency
    )
    data = dict(validation_data=(x, y)) if name == "plain" else {}
    model.fit(x, y, epochs=2, batch_size=4, verbose=0, callbacks=[board], **data)
assert not any(name.startswith("tensorflow.") for name in sys.modules)
"""


def events(pattern: str) -> list[tuple[str, int, Any]]:
    """(tag, step, array) of all values in the files, read by TensorFlow."""
    tensorflow = pytest.importorskip("tensorflow", reason="the reader is TensorFlow")
    found = []
    for path in sorted(glob.glob(pattern)):
        for record in tensorflow.data.TFRecordDataset(path).as_numpy_iterator():
            event = tensorflow.compat.v1.Event.FromString(record)
            found += [
                (value.tag, event.step, tensorflow.make_ndarray(value.tensor))
                for value in event.summary.value
            ]
    return found


def test_the_callback_writes_curves_histograms_images_and_the_model(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], check=True)
    train = events(f"{tmp_path}/plain/train/events*")
    tags = {tag for tag, _, _ in train}
    assert {"epoch_loss", "epoch_learning_rate", "keras"} <= tags
    assert [step for tag, step, _ in train if tag == "epoch_loss"] == [0, 1]
    losses = [float(value) for tag, _, value in train if tag == "epoch_loss"]
    assert losses[1] < losses[0]
    (model,) = [value for tag, _, value in train if tag == "keras"]
    assert json.loads(model.item())["class_name"] == "Sequential"
    rows = [value for tag, _, value in train if "kernel" in tag and value.shape == (30, 3)]
    assert [value[:, 2].sum() for value in rows] == [2, 2]
    assert any(tag.endswith("image") for tag in tags)
    validation = events(f"{tmp_path}/plain/validation/events*")
    assert {"epoch_loss", "evaluation_loss_vs_iterations"} <= {tag for tag, _, _ in validation}


def test_a_compiled_train_step_writes_at_each_batch(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], check=True)
    found = events(f"{tmp_path}/noted/train/events*")
    steps = [step for tag, step, _ in found if tag == "mean of outputs"]
    assert steps == [0, 1, 2, 3]
    losses = [float(value) for tag, _, value in found if tag == "mean of outputs"]
    assert sorted(losses, reverse=True) == losses
