"""Keras' preprocessing layers, which are written in TensorFlow, on tapejax.

They run in a process without TensorFlow; the expected values are TensorFlow's.
"""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import json
import numpy as np
import tapejax as tf

layers = tf.keras.layers
texts = tf.data.Dataset.from_tensor_slices(["hello world", "hello there"])
found = {}

normalization = layers.Normalization()
normalization.adapt(np.array([[1.0], [2.0], [3.0]], "float32"))
rows = tf.constant([[1.0], [3.0]])
found["normalization"] = normalization(rows)
found["normalization in a function"] = tf.function(lambda x: normalization(x))(rows)
pipeline = tf.data.Dataset.from_tensor_slices(rows.numpy()).batch(2).map(normalization)
found["normalization in a pipeline"] = next(iter(pipeline))

lookup = layers.StringLookup(vocabulary=["a", "b"])
found["strings"] = lookup(tf.constant(["b", "z"]))
pipeline = tf.data.Dataset.from_tensor_slices(["a", "z"]).map(lookup)
found["strings in a pipeline"] = tf.stack(list(pipeline))
found["integers"] = layers.IntegerLookup(vocabulary=[3, 5])(tf.constant([5, 7]))
hot = layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot")
found["multi hot"] = hot(tf.constant([["a", "b"], ["b", "z"]]))

vectorization = layers.TextVectorization(max_tokens=10, output_sequence_length=4)
vectorization.adapt(texts.batch(2))
found["text"] = vectorization(tf.constant(["hello you", "world"]))
pipeline = tf.data.Dataset.from_tensor_slices(["Hello, there!"]).batch(1).map(vectorization)
found["text in a pipeline"] = next(iter(pipeline))

found["buckets"] = layers.Discretization(bin_boundaries=[0.0, 1.0])(tf.constant([-1.0, 0.5, 2.0]))
found["one hot"] = layers.CategoryEncoding(num_tokens=3, output_mode="one_hot")(tf.constant([0, 2]))
found["hashing"] = layers.Hashing(3)(tf.constant(["a", "b"]))
print(json.dumps({name: value.numpy().tolist() for name, value in found.items()}))
"""
ROOT = 1.5**0.5  # (x - mean) / standard deviation of 1, 2, 3
EXPECTED = {
    "strings": [2, 0],
    "strings in a pipeline": [1, 0],
    "integers": [2, 0],
    "multi hot": [[0, 1, 1], [1, 0, 1]],
    "text": [[2, 1, 0, 0], [3, 0, 0, 0]],
    "text in a pipeline": [[2, 4, 0, 0]],
    "buckets": [0, 1, 2],
    "one hot": [[1, 0, 0], [0, 0, 1]],
    "hashing": [0, 1],
}


def test_they_give_what_they_give_on_tensorflow() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout)
    for name in [key for key in found if "normalization" in key]:
        (low,), (high,) = found.pop(name)
        assert abs(low + ROOT) < 1e-6
        assert abs(high - ROOT) < 1e-6
    assert found == EXPECTED
