"""Trains with checkpoints; worker 1 is killed, or raises, in the first run of step 7.

python resumed.py FOLDER (whole | killed | raises)
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

import tapejax as tf

folder, mode = Path(sys.argv[1]), sys.argv[2]
STEPS, BATCH = 12, 8
strategy = tf.distribute.MultiWorkerMirroredStrategy()
worker = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
first = os.environ["TAPEJAX_RESTART"] == "0"
random = np.random.default_rng(0)
X = random.normal(size=(STEPS * BATCH, 5)).astype(np.float32)
with strategy.scope():
    w = tf.Variable(np.ones((5, 3), np.float32))
    done = tf.Variable(0, dtype=tf.int64, trainable=False)
    optimizer = tf.keras.optimizers.Adam(0.01)
    optimizer.build([w])
checkpoint = tf.train.Checkpoint(w=w, done=done, optimizer=optimizer)
newest = tf.train.latest_checkpoint(str(folder))
if newest is not None:
    checkpoint.restore(newest)


def step(x: Any) -> None:
    """A step of training of one replica."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(tf.tanh(x @ w))) / BATCH
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    done.assign_add(1)


@tf.function
def train(x: Any) -> None:
    """A step of all replicas."""
    strategy.run(step, args=(x,))


start = int(done)
dataset = tf.data.Dataset.from_tensor_slices(X).batch(BATCH, drop_remainder=True).skip(start)
for n, batch in enumerate(strategy.experimental_distribute_dataset(dataset), start + 1):
    if n == 7 and first and worker == 1 and mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if n == 7 and worker == 1 and mode == "raises":
        raise ValueError("an error of the user's")
    train(batch)
    w.numpy()
    if n % 3 == 0 and worker == 0:
        checkpoint.save(str(folder / "state"))
if worker == 0:
    (folder / "result.json").write_text(json.dumps([start, int(done), w.numpy().tolist()]))
