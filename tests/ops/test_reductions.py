"""Reductions, scans and segments at the points where derivative conventions matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.ops import cumulative, norm, reduction, segment, selection, sorting, spread

INF, NAN = float("inf"), float("nan")


def body(function: Any) -> Any:
    """The pure function of an op."""
    return function.op.fn


def tf_gradient(function: Callable[[Any], Any], x: Any) -> np.ndarray:
    x = tensorflow.constant(x)
    with tensorflow.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x).numpy()


def gradient(function: Callable[[Any], Any], x: Any) -> np.ndarray:
    x = jnp.asarray(x, jnp.float32)
    return np.asarray(jax.grad(lambda at: jnp.sum(function(at)))(x))


@pytest.mark.parametrize(
    ("ours", "theirs", "point"),
    [
        (reduction.reduce_max, tensorflow.reduce_max, [1.0, 3.0, 3.0]),
        (reduction.reduce_max, tensorflow.reduce_max, [2.0, 2.0, 2.0, 2.0]),
        (reduction.reduce_max, tensorflow.reduce_max, [NAN, 1.0]),
        (reduction.reduce_min, tensorflow.reduce_min, [1.0, 1.0, 3.0, 1.0]),
        (reduction.reduce_prod, tensorflow.reduce_prod, [2.0, 0.0, 3.0]),
        (reduction.reduce_prod, tensorflow.reduce_prod, [2.0, 0.0, 0.0]),
        (spread.reduce_logsumexp, tensorflow.reduce_logsumexp, [1000.0, 1000.0]),
        (spread.reduce_logsumexp, tensorflow.reduce_logsumexp, [-INF, -INF]),
        (spread.reduce_logsumexp, tensorflow.reduce_logsumexp, [-INF, 1.0]),
        (spread.reduce_logsumexp, tensorflow.reduce_logsumexp, [INF, 1.0]),
        (spread.reduce_std, tensorflow.math.reduce_std, [2.0, 2.0]),
        (spread.reduce_variance, tensorflow.math.reduce_variance, [2.0, 2.0]),
        (spread.reduce_euclidean_norm, tensorflow.math.reduce_euclidean_norm, [0.0, 0.0]),
        (norm.norm, tensorflow.norm, [0.0, 0.0]),
    ],
)
def test_the_gradient_at_an_edge_point_is_tensorflows(ours: Any, theirs: Any, point: Any) -> None:
    np.testing.assert_allclose(gradient(body(ours), point), tf_gradient(theirs, point), rtol=1e-6)


@pytest.mark.parametrize("order", [1, 1.5, 2, 3, np.inf])
@pytest.mark.parametrize("point", [[0.0, 1.0], [4.0, 0.0, -4.0]])
def test_the_gradient_of_a_norm_is_tensorflows(order: float, point: list[float]) -> None:
    ours = gradient(lambda x: body(norm.norm)(x, ord=order), point)
    theirs = tf_gradient(lambda x: tensorflow.norm(x, ord=order), point)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_a_zero_cotangent_of_the_norm_at_the_origin_gives_zeros() -> None:
    def guarded(x: Any) -> Any:
        size = body(norm.norm)(x)
        return jnp.where(size > 0, size, 0.0)

    assert gradient(guarded, [0.0, 0.0]).tolist() == [0.0, 0.0]


def test_second_derivatives_of_a_product_are_exact_at_two_zeros() -> None:
    hessian = jax.hessian(body(reduction.reduce_prod))(jnp.array([2.0, 0.0, 0.0, 3.0]))
    expected = np.zeros((4, 4))
    expected[1, 2] = expected[2, 1] = 6.0
    np.testing.assert_array_equal(hessian, expected)


def test_the_gradient_of_cumprod_is_exact_at_a_zero() -> None:
    x = [2.0, 0.0, 3.0]
    np.testing.assert_array_equal(gradient(body(cumulative.cumprod), x), [1.0, 8.0, 0.0])
    assert tf_gradient(tensorflow.math.cumprod, x).tolist() == [1.0, 0.0, 0.0]


def test_the_gradient_of_cumulative_logsumexp_is_finite_at_minus_infinity() -> None:
    x = [-INF, 2.0, 3.0]
    ours = gradient(body(cumulative.cumulative_logsumexp), x)
    theirs = tf_gradient(tensorflow.math.cumulative_logsumexp, x)
    assert ours[0] == 1.0  # the first output is the first input
    np.testing.assert_allclose(ours[1:], theirs[1:], rtol=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
def test_exclusive_cumulative_logsumexp_starts_at_minus_infinity(reverse: bool) -> None:
    x = np.array([1.0, 2.0, 3.0], np.float32)
    options = {"exclusive": True, "reverse": reverse}
    ours = body(cumulative.cumulative_logsumexp)(jnp.asarray(x), **options)
    theirs = tensorflow.math.cumulative_logsumexp(x, **options)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize(
    "point", [[1.0, NAN, 2.0], [NAN, NAN], [NAN, -INF], [2.0, NAN, 2.0], [-INF, NAN, -INF]]
)
def test_argmax_and_argmin_never_choose_a_nan(point: list[float]) -> None:
    for ours, theirs in (
        (selection.argmax, tensorflow.argmax),
        (selection.argmin, tensorflow.argmin),
    ):
        assert int(body(ours)(jnp.asarray(point), 0, np.dtype("int32"))) == int(theirs(point))


@pytest.mark.parametrize("values", [[1, 2], [-1, -2], [-7, 0], [2**31 - 1, 2**31 - 1]])
def test_the_mean_of_integers_truncates_toward_zero(values: list[int]) -> None:
    with jax.enable_x64(True):
        ours = body(reduction.reduce_mean)(jnp.asarray(values, jnp.int32))
        assert ours.dtype == np.int32
        assert int(ours) == int(tensorflow.reduce_mean(values))


def test_the_sum_of_bytes_wraps_around() -> None:
    with jax.enable_x64(True):
        total = body(reduction.reduce_sum)(jnp.asarray([100, 100], jnp.int8))
        assert (total.dtype, int(total)) == (np.dtype("int8"), -56)


def test_extrema_of_nothing_are_those_of_tensorflow() -> None:
    for dtype in ("float32", "int32", "uint8"):
        empty = np.zeros([0], dtype)
        assert body(reduction.reduce_max)(jnp.asarray(empty)) == tensorflow.reduce_max(empty)
        assert body(reduction.reduce_min)(jnp.asarray(empty)) == tensorflow.reduce_min(empty)


@pytest.mark.parametrize(
    ("axis", "text"),
    [
        (1, r"Invalid reduction dimension \(1 for input with 1 dimension"),
        (-2, r"Invalid reduction dimension \(-2 for input with 1 dimension"),
        ((0, 0), "Axes contains duplicate dimension: 0"),
    ],
)
def test_a_reduction_over_an_axis_that_is_not_there_raises(axis: Any, text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=text):
        body(reduction.reduce_sum)(jnp.ones(2), axis)
    with pytest.raises(tensorflow.errors.InvalidArgumentError, match=text):
        tensorflow.reduce_sum(tensorflow.ones(2), axis)


def test_the_deviation_of_integers_raises_a_type_error() -> None:
    with pytest.raises(TypeError, match="Received integer type <dtype: 'int32'>"):
        body(spread.reduce_std)(jnp.asarray([1, 2]))


@pytest.mark.parametrize("name", ["max", "min"])
def test_equal_extrema_of_a_segment_share_the_gradient(name: str) -> None:
    ids, weights = np.array([1, 1, 1, -1], np.int32), np.array([1.0, 10.0, 100.0], np.float32)
    ours, theirs = (getattr(m, f"unsorted_segment_{name}") for m in (segment, tensorflow.math))
    x = [2.0, 3.0, 2.0, 9.0] if name == "min" else [3.0, 2.0, 3.0, 9.0]
    np.testing.assert_allclose(
        gradient(lambda at: body(ours)(at, ids, 3) * weights, x),
        tf_gradient(lambda at: theirs(at, ids, 3) * weights, x),
    )


@pytest.mark.parametrize("x", [[3.0, 0.0, 2.0, 5.0], [3.0, 0.0, 0.0, 5.0]])
def test_the_gradient_of_a_segment_product_is_exact_at_zeros(x: list[float]) -> None:
    ids = np.array([1, 1, 1, 0], np.int32)
    np.testing.assert_allclose(
        gradient(lambda at: body(segment.unsorted_segment_prod)(at, jnp.asarray(ids), 3), x),
        tf_gradient(lambda at: tensorflow.math.unsorted_segment_prod(at, ids, 3), x),
    )


@pytest.mark.parametrize("direction", ["ASCENDING", "DESCENDING"])
def test_equal_elements_keep_their_order(direction: str) -> None:
    x = np.array([2.0, 1.0, 2.0, 1.0], np.float32)
    weights = np.array([1.0, 10.0, 100.0, 1000.0], np.float32)
    np.testing.assert_array_equal(
        body(sorting.argsort)(jnp.asarray(x), direction=direction),
        tensorflow.argsort(x, direction=direction),
    )
    np.testing.assert_array_equal(
        gradient(lambda at: body(sorting.sort)(at, direction=direction) * weights, x),
        tf_gradient(lambda at: tensorflow.sort(at, direction=direction) * weights, x),
    )


def test_top_k_of_equal_elements_takes_the_first() -> None:
    values, indices = body(sorting.top_k)(jnp.asarray([1.0, 3.0, 3.0, NAN]), 3)
    assert (values.tolist(), indices.tolist()) == ([3.0, 3.0, 1.0], [1, 2, 0])


def test_more_elements_than_there_are_cannot_be_on_top() -> None:
    with pytest.raises(InvalidArgumentError, match="Had 2, needed 3"):
        body(sorting.top_k)(jnp.ones(2), 3)


def test_a_row_that_is_not_finite_has_no_top() -> None:
    predictions = np.array([[0.1, INF], [0.1, NAN], [0.2, 0.1], [0.1, 0.1]], np.float32)
    targets = np.array([0, 0, 0, 5], np.int32)
    with jax.enable_x64(True):
        ours = body(sorting.in_top_k)(*map(jnp.asarray, (targets, predictions, np.int32(2))))
    theirs = tensorflow.math.in_top_k(targets, predictions, 2)
    assert ours.tolist() == theirs.numpy().tolist() == [False, False, True, False]
