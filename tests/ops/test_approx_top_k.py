"""The searches that may be inexact, and other small functions of `tf.math` on sequences."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tapejax

X = [[3.0, 1.0, 2.0, 5.0], [0.0, 7.0, 7.0, 1.0]]


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_the_smallest_elements_are_found_along_any_axis(axis: int) -> None:
    values, indices = tapejax.math.approx_min_k(X, 2, axis)
    order = np.argsort(X, axis=axis, kind="stable")
    np.testing.assert_array_equal(indices.numpy(), np.take(order, [0, 1], axis))
    np.testing.assert_array_equal(values.numpy(), np.take(np.sort(X, axis), [0, 1], axis))


def test_the_gradient_goes_to_the_elements_found() -> None:
    x = tapejax.Variable(X)
    with tapejax.GradientTape() as tape:
        y = tapejax.reduce_sum(tapejax.math.approx_min_k(x, 1)[0] * [[2.0], [3.0]])
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), [[0, 2, 0, 0], [3, 0, 0, 0]])


def test_nothing_is_dropped_where_results_are_not_aggregated(tf: ModuleType) -> None:
    found = tf.math.approx_max_k(X, 2, recall_target=0.5, aggregate_to_topk=False)
    np.testing.assert_array_equal(found.values, [[5, 3], [7, 7]])
    np.testing.assert_array_equal(found.indices, [[3, 0], [1, 2]])


def test_nan_comes_first(tf: ModuleType) -> None:
    found = tf.math.approx_max_k([[1.0, np.nan, 2.0]], 2)
    np.testing.assert_array_equal(found.indices, [[1, 2]])


@pytest.mark.parametrize(
    ("program", "error", "text"),
    [
        (lambda tf: tf.math.approx_max_k(X, 9), "InvalidArgumentError", "Had 4, needed 9"),
        (lambda tf: tf.math.approx_max_k(1.0, 1), "InvalidArgumentError", "must be >= 1-D"),
        (lambda tf: tf.math.approx_max_k([1, 2], 1), "InvalidArgumentError", "of int32 is not"),
        (lambda tf: tf.math.confusion_matrix([-1], [0]), "InvalidArgumentError", "`labels` cont"),
        (lambda tf: tf.math.confusion_matrix([0], [-1]), "InvalidArgumentError", "`predictions`"),
        (lambda tf: tf.math.confusion_matrix([5], [0], 4), "InvalidArgumentError", "out of bound"),
        (lambda tf: tf.math.confusion_matrix([0, 1], [0]), "InvalidArgumentError", "must match"),
        (lambda tf: tf.math.confusion_matrix([0], [0], None, [1, 2]), ValueError, "incompatible"),
        (lambda tf: tf.math.confusion_matrix(1, 1), ValueError, "axis|rank 1"),
        (lambda tf: tf.math.is_non_decreasing([True]), TypeError, "Expected x to be numeric"),
        (lambda tf: tf.math.is_non_decreasing([1j, 2]), "InvalidArgumentError", "of complex128 is"),
        (lambda tf: tf.math.polyval(tf.constant([1.0]), 1.0), ValueError, "must be list type"),
        (lambda tf: tf.math.polyval([1, 2], 1.0), "InvalidArgumentError", "int32"),
        (lambda tf: tf.math.sobol_sample(0, 1), "InvalidArgumentError", "at least one"),
        (lambda tf: tf.math.sobol_sample(21201, 1), "InvalidArgumentError", "at most 21200"),
        (lambda tf: tf.math.sobol_sample(2, 0), "InvalidArgumentError", "at least one"),
        (lambda tf: tf.math.sobol_sample(2, 1, -1), "InvalidArgumentError", "non-negative"),
        (lambda tf: tf.math.sobol_sample(2, 2, 2**31 - 2), "InvalidArgumentError", "2147483647"),
        (lambda tf: tf.math.sobol_sample(2, 1, 0, tf.half), "InvalidArgumentError", "of half|16"),
    ],
)
def test_bad_arguments_raise_tensorflows_errors(
    tf: ModuleType, program: Any, error: Any, text: str
) -> None:
    kind = getattr(tf.errors, error) if isinstance(error, str) else error
    with pytest.raises(kind, match=text):
        program(tf)


@pytest.mark.parametrize(
    "x", [[], [1.0], [1.0, np.nan], [np.nan, 1.0], [2.0, 2.0], [[1, 2], [3, 3]]]
)
def test_order_is_that_of_tensorflow_at_the_edges(tf: ModuleType, x: Any) -> None:
    flat = np.ravel(x)
    x = tf.constant(x, tf.float32)
    assert bool(tf.math.is_non_decreasing(x)) == np.all(flat[1:] >= flat[:-1])
    assert bool(tf.math.is_strictly_increasing(x)) == np.all(flat[1:] > flat[:-1])


def test_weights_of_a_confusion_matrix_have_a_gradient(tf: ModuleType) -> None:
    weights = tf.Variable([1.0, 2.0, 4.0])
    with tf.GradientTape() as tape:
        matrix = tf.math.confusion_matrix([0, 1, 1], [0, 1, 0], 2, weights, tf.float32)
        loss = tf.reduce_sum(matrix * [[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(tape.gradient(loss, weights).numpy(), [1, 4, 3])


def test_a_confusion_matrix_in_a_function_checks_its_classes(tf: ModuleType) -> None:
    count = tf.function(lambda y, z: tf.math.confusion_matrix(y, z, num_classes=3))
    y = tf.constant([0, 2, 1])
    np.testing.assert_array_equal(count(y, y).numpy(), np.eye(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bound"):
        count(y, tf.constant([0, 1, 3])).numpy()


def test_a_sobol_sequence_fills_each_half_evenly() -> None:
    points = tapejax.math.sobol_sample(5, 256, skip=255).numpy()
    np.testing.assert_array_equal(np.sum(points < 0.5, axis=0), [128] * 5)
