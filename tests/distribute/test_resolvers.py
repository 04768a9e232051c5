"""What programs do to find TPUs, on a machine that has none."""

from __future__ import annotations

import pytest

import tapejax as tf


def test_without_a_tpu_the_usual_way_out_is_taken() -> None:
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        strategy = tf.distribute.TPUStrategy(resolver)
    except ValueError:
        strategy = tf.distribute.get_strategy()
    assert strategy.num_replicas_in_sync == 1


def test_the_error_is_tensorflows_and_names_the_devices() -> None:
    with pytest.raises(ValueError, match=r"Please provide a TPU Name .* only cpu"):
        tf.distribute.cluster_resolver.TPUClusterResolver(tpu="grpc://10.0.0.2:8470")
    tf.tpu.experimental.initialize_tpu_system()
    tf.tpu.experimental.shutdown_tpu_system()
