"""Keras models, optimizers and metrics in replicas."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow
from distribute.running import output_of

TENSORFLOW = tensorflow.__name__


@pytest.mark.parametrize("way", ["eager", "traced"])
def test_a_keras_model_trains_and_its_metrics_count_as_in_tensorflow(way: str) -> None:
    ours = output_of("keras_model", "tapejax")[way]
    theirs = output_of("keras_model", TENSORFLOW)["traced"]
    assert ours.keys() == theirs.keys()
    for part in ("losses", "metrics", "reset", "after reset"):
        np.testing.assert_allclose(ours[part], theirs[part], rtol=1e-5, err_msg=part)
    for one, two in zip(ours["weights"], theirs["weights"], strict=True):
        np.testing.assert_allclose(one, two, rtol=0, atol=2e-6)


@pytest.mark.parametrize("way", ["eager", "traced"])
def test_batch_normalization_keeps_the_mean_of_the_replicas_statistics(way: str) -> None:
    """Keras 3 on TensorFlow keeps those of the first replica, and says nothing."""
    mean, variance = output_of("keras_model", "tapejax")[f"{way} statistics"]
    x = np.random.default_rng(0).normal(size=(38, 5)).astype(np.float32)[:32].reshape(4, 8, 5)
    np.testing.assert_allclose(mean, x.mean((0, 1)), atol=1e-6)
    np.testing.assert_allclose(variance, x.var(1).mean(0), rtol=1e-5)
    theirs, _ = output_of("keras_model", TENSORFLOW)["traced statistics"]
    np.testing.assert_allclose(theirs, x[0].mean(0), atol=1e-6)


def test_fit_in_a_scope_gives_what_it_gives_outside() -> None:
    found = output_of("keras_model", "tapejax")
    np.testing.assert_allclose(found["fit"], found["fit alone"], rtol=1e-5)
