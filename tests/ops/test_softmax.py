"""Softmax and the cross-entropies of class scores: conventions, edges, errors."""

from __future__ import annotations

import importlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import OPS

tf: Any = tensorflow
# Importing a module registers its ops.
importlib.import_module("tapejax._src.ops.softmax")

LOGITS = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]], np.float32)
LABELS = np.array([[2.0, 2.0, 0.0], [0.1, 0.0, 0.3]], np.float32)

cross_entropy = OPS["nn.softmax_cross_entropy_with_logits"].fn
sparse = OPS["nn.sparse_softmax_cross_entropy_with_logits"].fn


def test_gradients_of_unnormalised_labels_follow_tensorflow():
    labels, logits = tf.constant(LABELS), tf.constant(LOGITS)
    with tf.GradientTape() as tape:
        tape.watch([labels, logits])
        loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
    expected = tape.gradient(loss, [labels, logits])
    actual = jax.grad(lambda *args: jnp.sum(cross_entropy(*args)), (0, 1))(
        jnp.asarray(LABELS), jnp.asarray(LOGITS)
    )
    for want, have in zip(expected, actual, strict=True):
        np.testing.assert_allclose(have, want.numpy(), rtol=1e-5, atol=1e-6)


def test_second_derivative_by_logits_follows_tensorflow():
    logits, direction = tf.constant(LOGITS), tf.constant(LOGITS[::-1] * 0.5)
    with tf.GradientTape() as outer:
        outer.watch(logits)
        with tf.GradientTape() as inner:
            inner.watch(logits)
            loss = tf.nn.softmax_cross_entropy_with_logits(LABELS, logits)
        along = tf.reduce_sum(inner.gradient(loss, logits) * direction)
    expected = outer.gradient(along, logits).numpy()

    gradient = jax.grad(lambda z: jnp.sum(cross_entropy(jnp.asarray(LABELS), z)))
    _, actual = jax.jvp(gradient, (jnp.asarray(LOGITS),), (jnp.asarray(direction.numpy()),))
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


def test_a_label_of_zero_at_an_infinitely_unlikely_class_gives_nan():
    loss = cross_entropy(jnp.array([[1.0, 0.0]]), jnp.array([[0.0, -jnp.inf]]))
    assert np.isnan(loss).all()
    assert np.isfinite(sparse(jnp.array([0]), jnp.array([[0.0, -jnp.inf]]))).all()


@pytest.mark.parametrize("labels", [(1, 3), (3,), (2, 1)])
def test_labels_broadcast_to_the_rows_of_the_logits(labels):
    values = np.linspace(0.1, 0.9, int(np.prod(labels)), dtype=np.float32).reshape(labels)
    expected = tf.nn.softmax_cross_entropy_with_logits(values, LOGITS).numpy()
    np.testing.assert_allclose(
        cross_entropy(jnp.asarray(values), jnp.asarray(LOGITS)), expected, rtol=1e-5
    )


@pytest.mark.parametrize("labels", [(1, 2), (3, 3)])
def test_labels_of_another_size_raise(labels):
    with pytest.raises(InvalidArgumentError, match="logits and labels must be broadcastable"):
        cross_entropy(jnp.ones(labels), jnp.asarray(LOGITS))


def test_sparse_derivatives_follow_tensorflow():
    logits, labels = tf.constant(LOGITS), tf.constant([2, 0])
    with tf.GradientTape() as outer:
        outer.watch(logits)
        with tf.GradientTape() as inner:
            inner.watch(logits)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        first = inner.gradient(loss, logits)
        along = tf.reduce_sum(first * first)
    second = outer.gradient(along, logits)

    gradient = jax.grad(lambda z: jnp.sum(sparse(jnp.array([2, 0], jnp.int32), z)))
    z = jnp.asarray(LOGITS)
    np.testing.assert_allclose(gradient(z), first.numpy(), rtol=1e-5, atol=1e-6)
    actual = jax.grad(lambda z: jnp.sum(gradient(z) ** 2))(z)
    np.testing.assert_allclose(actual, second.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("labels", "bad"), [([0, 3], 3), ([-1, 5], -1)])
def test_a_label_out_of_range_is_reported_with_its_value(labels, bad):
    check = OPS["nn.sparse_softmax_cross_entropy_with_logits"].fields["check"]
    failed, value, classes = check.fails(jnp.array(labels), jnp.asarray(LOGITS))
    assert bool(failed)
    assert f"label value of {bad} which is outside the valid range of [0, 3)" in check.message(
        int(value), int(classes)
    )


def test_a_label_out_of_range_marks_its_row_with_nan():
    loss = sparse(jnp.array([0, 3], jnp.int32), jnp.asarray(LOGITS))
    assert np.isnan(loss).tolist() == [False, True]


@pytest.mark.parametrize(
    ("labels", "logits", "match"),
    [
        ((2,), (1, 2), "except for the last dimension"),
        ((1, 1), (1, 2), "must equal"),
        ((1,), (), "scalar"),
    ],
)
def test_sparse_labels_of_a_wrong_shape_raise_value_error(labels, logits, match):
    with pytest.raises(ValueError, match=match):
        sparse(jnp.zeros(labels, jnp.int32), jnp.zeros(logits))


def test_sparse_labels_of_a_wrong_dtype_raise():
    with pytest.raises(InvalidArgumentError, match="int32, int64"):
        sparse(jnp.zeros(2, jnp.int16), jnp.asarray(LOGITS))


@pytest.mark.parametrize("fn", [OPS["nn.softmax"].fn, OPS["nn.log_softmax"].fn])
def test_softmax_along_an_axis_out_of_range_raises(fn):
    with pytest.raises(InvalidArgumentError, match=r"range \[-2, 2\)"):
        fn(jnp.asarray(LOGITS), 2)
    with pytest.raises(InvalidArgumentError, match=">= 1 dimension"):
        fn(jnp.float32(1.0))


def test_softmax_of_huge_scores_neither_overflows_nor_loses_its_gradient():
    z = jnp.array([1e30, 0.0, -1e30], jnp.float32)
    assert OPS["nn.softmax"].fn(z).tolist() == [1.0, 0.0, 0.0]
    assert jax.jacobian(OPS["nn.softmax"].fn)(z).tolist() == [[0.0] * 3] * 3
