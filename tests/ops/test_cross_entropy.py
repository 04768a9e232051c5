"""Losses of independent elements: extreme logits, the kink at 0, errors."""

from __future__ import annotations

import importlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

from tapejax._src.engine.registry import OPS

tf: Any = tensorflow
# Importing a module registers its ops.
importlib.import_module("tapejax._src.ops.cross_entropy")

sigmoid_loss = OPS["nn.sigmoid_cross_entropy_with_logits"].fn
weighted_loss = OPS["nn.weighted_cross_entropy_with_logits"].fn


def test_sigmoid_loss_and_gradient_at_extreme_logits_are_those_of_tensorflow():
    labels = np.array([0.0, 1.0, 0.3, 0.3, 1.0], np.float32)
    logits = tf.constant([-1000.0, 1000.0, 0.0, -0.0, -1000.0])
    with tf.GradientTape() as tape:
        tape.watch(logits)
        loss = tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)
    expected = tape.gradient(loss, logits).numpy()
    z = jnp.asarray(logits.numpy())
    np.testing.assert_allclose(sigmoid_loss(jnp.asarray(labels), z), loss.numpy(), rtol=1e-6)
    actual = jax.grad(lambda z: jnp.sum(sigmoid_loss(jnp.asarray(labels), z)))(z)
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-7)


def test_weighted_loss_is_smooth_at_zero():
    gradient = jax.grad(lambda z: weighted_loss(jnp.float32(0.25), z, jnp.float32(3.0)))
    # (1 - t) - (1 + (w - 1) t) / 2 with t = 1/4 and w = 3.
    assert float(gradient(jnp.float32(0.0))) == 0.75 - 1.5 / 2


@pytest.mark.parametrize(("labels", "logits"), [(None, None), ([1.0], None), (None, [1.0])])
def test_a_missing_argument_raises_value_error(labels, logits):
    with pytest.raises(ValueError, match="Both `labels` and `logits` must be provided"):
        sigmoid_loss(labels, logits)


@pytest.mark.parametrize("fn", [sigmoid_loss, OPS["nn.log_poisson_loss"].fn])
def test_different_shapes_raise_value_error(fn):
    with pytest.raises(ValueError, match="must have the same shape"):
        fn(jnp.ones(1), jnp.ones(2))


def test_full_poisson_loss_has_a_finite_gradient_at_a_count_of_zero():
    fn = OPS["nn.log_poisson_loss"].fn
    gradient = jax.grad(lambda t: fn(t, jnp.float32(0.5), compute_full_loss=True))
    assert float(gradient(jnp.float32(0.0))) == -0.5
