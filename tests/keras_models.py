"""Keras models for the tests, and JAX's own gradients of them as the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import tapejax as tf

_GENERATOR = np.random.default_rng(0)
X = _GENERATOR.normal(size=(8, 4)).astype(np.float32)
Y = _GENERATOR.normal(size=(8, 1)).astype(np.float32)
SEQUENCES = _GENERATOR.normal(size=(8, 6, 4)).astype(np.float32)
IMAGES = _GENERATOR.normal(size=(8, 8, 8, 3)).astype(np.float32)
TOKENS = _GENERATOR.integers(0, 5, size=(8, 6)).astype(np.int32)


def squared_error(outputs: Any) -> Any:
    """The loss, on tensors."""
    return tf.reduce_mean(tf.square(outputs - Y))


def jax_squared_error(outputs: Any, losses: Any = None) -> Any:
    """The same loss, on arrays."""
    del losses
    return jnp.mean(jnp.square(outputs - Y))


def truth(
    model: Any, loss: Callable[..., Any], *inputs: Any, by_input: bool = False, **kwargs: Any
) -> Any:
    """`jax.grad` of the loss of the model's stateless call.

    Args:
        model: A built Keras model.
        loss: A function of the outputs and of the losses that layers added.
        *inputs: What the model is called with.
        by_input: Differentiate by the inputs, not by the trainable variables.
        **kwargs: Passed to the model.
    """
    weights = [jnp.asarray(v.numpy()) for v in model.trainable_variables]
    state = [jnp.asarray(v.numpy()) for v in model.non_trainable_variables]

    def total(weights: Any, inputs: Any) -> Any:
        outputs, _, losses = model.stateless_call(
            weights, state, *inputs, return_losses=True, **kwargs
        )
        return loss(outputs, losses)

    arrays = [jnp.asarray(x) for x in inputs]
    return jax.grad(total, argnums=1 if by_input else 0)(weights, arrays)


def taped(model: Any, loss: Callable[[Any], Any], *inputs: Any, **kwargs: Any) -> list[Any]:
    """The tape's gradients by the trainable variables."""
    with tf.GradientTape() as tape:
        value = loss(model(*inputs, **kwargs))
    return tape.gradient(value, model.trainable_variables)


def assert_close(got: Any, expected: Any, tolerance: float = 2e-5) -> None:
    """Gradients agree, to float32 rounding on the scale of the largest entry."""
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        assert one is not None
        other = np.asarray(other, np.float64)
        scale = tolerance * (1.0 + np.abs(other).max(initial=0.0))
        np.testing.assert_allclose(np.asarray(one, np.float64), other, rtol=0, atol=scale)
