"""Trains on the devices of all workers: each writes what it found into a folder."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

import tapejax as tf

STEPS, BATCH = 20, 8
strategy = tf.distribute.MultiWorkerMirroredStrategy()
random = np.random.default_rng(0)
X = random.normal(size=(STEPS * BATCH, 5)).astype(np.float32)
Y = np.sin(X[:, :3]).astype(np.float32)
with strategy.scope():
    numbers = np.random.default_rng(1)
    shapes = [(5, 7), (7,), (7, 3), (3,)]
    variables = [tf.Variable(numbers.normal(size=s).astype(np.float32) * 0.5) for s in shapes]
    optimizer = tf.keras.optimizers.SGD(0.02, momentum=0.9)
    seen = tf.Variable(
        0.0,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )


def step(batch: Any) -> Any:
    """A step of training of one replica."""
    x, y = batch
    with tf.GradientTape() as tape:
        w, b, v, c = variables
        errors = tf.reduce_sum(tf.square(tf.tanh(x @ w + b) @ v + c - y), 1)
        loss = tf.nn.compute_average_loss(errors, global_batch_size=BATCH)
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables, strict=True))
    seen.assign_add(tf.cast(tf.shape(x)[0], tf.float32))
    return loss


@tf.function
def train(batch: Any) -> Any:
    """A step of all replicas."""
    return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)


dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(BATCH, drop_remainder=True)
losses = [float(train(batch)) for batch in strategy.experimental_distribute_dataset(dataset)]


def replica_id() -> Any:
    """The number of the replica."""
    return tf.distribute.get_replica_context().replica_id_in_sync_group


ids = strategy.run(replica_id)
pairs = strategy.run(lambda: tf.stack([replica_id(), 10 * replica_id()]))
try:
    uneven = tf.data.Dataset.range(7).batch(7)
    refused = str(list(strategy.experimental_distribute_dataset(uneven))[:0])
except NotImplementedError as error:
    refused = str(error)
found = {
    "replicas": strategy.num_replicas_in_sync,
    "losses": losses,
    "weights": [v.numpy().ravel().tolist() for v in variables],
    "seen": float(seen),
    "own ids": [int(v) for v in strategy.experimental_local_results(ids)],
    "sum of ids": int(strategy.reduce("SUM", ids, axis=None)),
    "gathered": strategy.gather(pairs, axis=0).numpy().tolist(),
    "refused": refused,
}
worker = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
(Path(sys.argv[1]) / f"{worker}.json").write_text(json.dumps(found))
