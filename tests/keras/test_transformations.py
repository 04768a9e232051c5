"""The pure maths of the optimizers: the recorded Keras runs, and invariants of the rules."""

from __future__ import annotations

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from golden.optimizer_runs import KINDS, PATH, RECORDED, gradients, make, start

import tapejax as tf
from tapejax._src.keras import adaptive_transformations, layerwise_transformations, transformations

GOLDEN = json.loads(PATH.read_text())["runs"]
CLIPS = {"clipnorm": 0.5, "clipvalue": 0.3, "global_clipnorm": 0.5}
# Without those that decay weights by default: the decay is not part of their rule.
PLAIN = [run for run in KINDS if not run.startswith(("adamw", "muon"))]


def scales(run):
    """The largest magnitude of each variable: what rounding errors are relative to."""
    steps = GOLDEN[run]["float64"]["trajectory"]
    return [max(np.max(np.abs(step[n])) for step in steps) for n in range(len(steps[0]))]


@pytest.mark.parametrize("run", [*PLAIN, *(f"adam_{clip}" for clip in CLIPS)])
def test_a_chain_of_optax_transformations_gives_keras_trajectory(run):
    rule = make(tf.keras.optimizers, run)._rule().transformation()
    clips = [value if run == f"adam_{name}" else None for name, value in CLIPS.items()]
    chain: Any = optax.chain(transformations.clipping(*clips), rule)
    learning_rate = KINDS[run.partition("_clip")[0].partition("_global")[0]][1]["learning_rate"]

    @jax.jit
    def step(params, state, grads, rate, count):
        updates, state = chain.update(grads, state, params, learning_rate=rate, iterations=count)
        return optax.apply_updates(params, updates), state

    with jax.enable_x64(True):
        params = [jnp.asarray(value) for value in start("float64").values()]
        state = chain.init(params)
        recorded = iter(GOLDEN[run]["float64"]["trajectory"])
        for count, grads in enumerate(gradients("float64")):
            rate = np.float32(learning_rate)
            params, state = step(params, state, grads, rate, np.int64(count))
            if count not in RECORDED:
                continue
            for mine, theirs, scale in zip(params, next(recorded), scales(run), strict=True):
                assert mine.dtype == np.float64
                assert np.max(np.abs(np.asarray(mine).reshape(-1) - theirs)) < 1e-6 * scale


RULES: dict[str, Any] = {
    "SGD": transformations.sgd,
    "RMSprop": transformations.rmsprop,
    "Adam": transformations.adam,
    "Adamax": adaptive_transformations.adamax,
    "Nadam": adaptive_transformations.nadam,
    "Adagrad": adaptive_transformations.adagrad,
    "Adadelta": adaptive_transformations.adadelta,
    "Lion": adaptive_transformations.lion,
    "Lamb": layerwise_transformations.lamb,
    "Muon": layerwise_transformations.muon,
}


@pytest.mark.parametrize("kind", RULES)
def test_a_zero_gradient_at_the_start_moves_nothing(kind):
    rule = RULES[kind](momentum=0.5) if kind in ("SGD", "RMSprop") else RULES[kind]()
    params = [jnp.ones(3)]
    zeros = [jnp.zeros(3)]
    updates: Any = rule.update(
        zeros, rule.init(params), params, learning_rate=0.1, iterations=jnp.array(0)
    )[0]
    assert np.array_equal(updates[0], np.zeros(3))


def test_gradients_shorter_than_the_limit_are_not_clipped():
    grads = [jnp.array([0.3, 0.4]), jnp.array(0.0)]
    for clip in (transformations.clip_by_norm(1.0), transformations.clip_by_global_norm(1.0)):
        clipped: Any = clip.update(grads, clip.init(grads))[0]
        assert all(np.array_equal(a, b) for a, b in zip(clipped, grads, strict=True))


def test_an_infinite_global_norm_makes_every_gradient_nan():
    grads = [jnp.array([jnp.inf]), jnp.array([1.0])]
    clip = transformations.clip_by_global_norm(1.0)
    clipped: Any = clip.update(grads, clip.init(grads))[0]
    assert all(np.isnan(np.asarray(g)).all() for g in clipped)
