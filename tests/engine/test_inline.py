"""Tape code inside the user's own JAX transformations."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, PartitionSpec

import tapejax as tf


def slope(x):
    """d/dx sum(sin(x) x) by a tape; takes and gives JAX arrays."""
    x = tf.convert_to_tensor(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sin(x) * x)
    return jnp.asarray(tape.gradient(y, x))


def expected_slope(x):
    return np.cos(x) * x + np.sin(x)


POINTS = np.array([0.5, -1.0, 2.0], np.float32)


def test_under_jit():
    found = jax.jit(slope)(POINTS)
    assert isinstance(found, jax.Array)
    np.testing.assert_allclose(found, expected_slope(POINTS), rtol=1e-5)


def test_jit_traces_once():
    calls = []

    @jax.jit
    def counted(x):
        calls.append(1)
        return slope(x)

    for scale in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(
            counted(POINTS * scale), expected_slope(POINTS * np.float32(scale)), rtol=1e-5
        )
    assert len(calls) == 1


def test_under_vmap():
    rows = np.stack([POINTS, 2 * POINTS])
    np.testing.assert_allclose(jax.vmap(slope)(rows), expected_slope(rows), rtol=1e-5)


def test_under_grad():
    found = jax.grad(lambda x: jnp.sum(slope(x)))(jnp.asarray(POINTS))
    expected = 2 * np.cos(POINTS) - POINTS * np.sin(POINTS)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_under_jit_of_vmap_of_grad():
    second = jax.jit(jax.vmap(jax.grad(lambda x: slope(x))))
    expected = 2 * np.cos(POINTS) - POINTS * np.sin(POINTS)
    np.testing.assert_allclose(second(jnp.asarray(POINTS)), expected, rtol=1e-5)


def test_under_shard_map():
    mesh = Mesh(np.array(jax.devices()[:1]), ("data",))
    spec = PartitionSpec("data")
    sharded = jax.shard_map(slope, mesh=mesh, in_specs=spec, out_specs=spec)
    np.testing.assert_allclose(jax.jit(sharded)(POINTS), expected_slope(POINTS), rtol=1e-5)


def test_nested_tapes_under_jit():
    @jax.jit
    def second(x):
        x = tf.convert_to_tensor(x)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**3
            first = inner.gradient(y, x)
        return jnp.asarray(outer.gradient(first, x))

    np.testing.assert_allclose(second(POINTS), 6 * POINTS, rtol=1e-5)


def test_concrete_tensors_mix_with_tracers():
    weights = tf.Variable([1.0, 2.0, 3.0])
    pending = tf.constant([1.0, 1.0, 1.0]) * 2.0  # recorded, not yet run

    @jax.jit
    def function(x):
        return jnp.asarray(tf.reduce_sum(weights * pending * tf.convert_to_tensor(x)))

    assert float(function(POINTS)) == pytest.approx(float(np.sum(POINTS * [2, 4, 6])))
    np.testing.assert_allclose(pending.numpy(), [2.0, 2.0, 2.0])


def test_no_tracer_is_left_behind():
    jax.jit(slope)(POINTS)
    x = tf.constant(POINTS)
    np.testing.assert_allclose((x * x).numpy(), POINTS**2, rtol=1e-6)


def test_reading_a_traced_value_raises_the_error_of_jax():
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(lambda x: tf.convert_to_tensor(x).numpy())(POINTS)


def test_a_python_branch_on_a_traced_value_raises_the_error_of_jax():
    @jax.jit
    def function(x):
        t = tf.reduce_sum(tf.convert_to_tensor(x))
        return jnp.asarray(t if t > 0.0 else -t)

    with pytest.raises(jax.errors.ConcretizationTypeError):
        function(POINTS)


def test_a_constant_of_a_tracer_is_that_tracer():
    function = jax.jit(lambda x: jnp.asarray(tf.constant(x) * 2.0))
    np.testing.assert_allclose(function(POINTS), POINTS * 2.0, rtol=1e-6)


def test_static_arguments_of_a_jax_function_are_told_apart_by_sign():
    def inverse(x, number):
        return 1.0 / (x * number)

    x = tf.constant([1.0, 2.0])
    assert np.all(tf.jax_call(inverse, x, 0.0).numpy() == np.inf)
    assert np.all(tf.jax_call(inverse, x, -0.0).numpy() == -np.inf)
