"""Names of `tf.data.experimental` that belong to TensorFlow's graphs and servers."""

from __future__ import annotations

import pytest

import tapejax as tf


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.data.experimental.from_variant(None, None),
        lambda: tf.data.experimental.to_variant(tf.data.Dataset.range(2)),
        lambda: tf.data.experimental.make_saveable_from_iterator(None),
        lambda: tf.data.experimental.dense_to_sparse_batch(2, [3]),
        lambda: tf.data.experimental.service.distribute("parallel_epochs", "grpc://host:1"),
        lambda: tf.data.experimental.service.from_dataset_id("parallel_epochs", "grpc://host:1", 1),
        lambda: tf.data.experimental.service.register_dataset(
            "grpc://host:1", tf.data.Dataset.range(2)
        ),
    ],
)
def test_what_is_not_there_says_what_to_write_instead(call):
    with pytest.raises(NotImplementedError, match=r"is not offered: (use|save|pass) "):
        call()


def test_debug_mode_runs_functions_as_python():
    tf.data.experimental.enable_debug_mode()
    assert list(tf.data.Dataset.range(2).map(lambda x: x + 1).as_numpy_iterator()) == [1, 2]
