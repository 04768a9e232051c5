"""The pure maths of the optimizers: the recorded Keras runs, and invariants of the rules."""

from __future__ import annotations

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from golden.optimizer_runs import PATH, RUNS, gradients, start

from tapejax._src.keras import transformations

GOLDEN = json.loads(PATH.read_text())["runs"]


def scales(run):
    """The largest magnitude of each variable: what rounding errors are relative to."""
    steps = GOLDEN[run]["trajectory"]
    return [max(np.max(np.abs(step[n])) for step in steps) for n in range(len(steps[0]))]


RULES: dict[str, Any] = {
    "SGD": transformations.sgd,
    "RMSprop": transformations.rmsprop,
    "Adam": transformations.adam,
}
COMMON = {"learning_rate", "clipnorm", "clipvalue", "global_clipnorm"}


def _plain(run):
    kind, arguments = RUNS[run]
    own = {"momentum", "nesterov", "rho", "epsilon", "centered", "beta_1", "beta_2", "amsgrad"}
    return set(arguments) <= own | COMMON and isinstance(arguments["learning_rate"], float) and kind


@pytest.mark.parametrize("run", [run for run in RUNS if _plain(run)])
def test_a_chain_of_optax_transformations_gives_keras_trajectory(run):
    kind, arguments = RUNS[run]
    clips = (arguments.get(k) for k in ("clipnorm", "clipvalue", "global_clipnorm"))
    rule = RULES[kind](**{k: v for k, v in arguments.items() if k not in COMMON})
    chain: Any = optax.chain(transformations.clipping(*clips), rule)

    @jax.jit
    def step(params, state, grads, rate, count):
        updates, state = chain.update(grads, state, params, learning_rate=rate, iterations=count)
        return optax.apply_updates(params, updates), state

    with jax.enable_x64(True):
        params = list(start().values())
        state = chain.init(params)
        for count, (grads, expected) in enumerate(
            zip(gradients(), GOLDEN[run]["trajectory"], strict=True)
        ):
            rate = np.float32(arguments["learning_rate"])
            params, state = step(params, state, grads, rate, np.int64(count))
            for mine, theirs, scale in zip(params, expected, scales(run), strict=True):
                assert mine.dtype == np.float32
                assert np.max(np.abs(np.asarray(mine).reshape(-1) - theirs)) < 1e-6 * scale


@pytest.mark.parametrize("kind", ["SGD", "RMSprop", "Adam"])
def test_a_zero_gradient_at_the_start_moves_nothing(kind):
    rule = RULES[kind](momentum=0.5) if kind != "Adam" else RULES[kind]()
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
