"""Resizing: every method against TensorFlow, derivatives of both orders, what users do wrong."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow

import tapejax
from tapejax._src.ops.resize_kernels import METHODS, Band, apply_band, band

RNG = np.random.default_rng(0)
SIZES = [
    ((7, 9), (3, 4)),
    ((5, 4), (13, 11)),
    ((1, 1), (2, 3)),
    ((40, 3), (6, 9)),
    ((4, 4), (4, 4)),
]


def image(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_values_are_those_of_tensorflow(method, antialias):
    for old, new in SIZES:
        x = image(2, *old, 3)
        mine, theirs = (
            lib.image.resize(x, new, method, antialias=antialias).numpy()
            for lib in (tapejax, tensorflow)
        )
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "area"])
def test_gradients_are_those_of_tensorflow(method):
    for old, new in SIZES:
        x, weights = image(1, *old, 2), image(1, *new, 2)
        gradients = []
        for lib in (tapejax, tensorflow):
            source = lib.constant(x)
            with lib.GradientTape() as tape:
                tape.watch(source)
                y = lib.reduce_sum(lib.image.resize(source, new, method) * weights)
            gradients.append(tape.gradient(y, source).numpy())
        np.testing.assert_allclose(*gradients, rtol=2e-5, atol=5e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_derivative_of_a_resized_square_is_right_to_second_order(method):
    x = tapejax.constant(image(1, 3, 4, 1))
    weights = image(1, 5, 2, 1)

    def total(x):
        return tapejax.reduce_sum(tapejax.image.resize(x * x, (5, 2), method) * weights)

    with tapejax.GradientTape() as outer:
        outer.watch(x)
        with tapejax.GradientTape() as inner:
            inner.watch(x)
            y = total(x)
        first = inner.gradient(y, x)
        norm = tapejax.reduce_sum(first * first)
    second = outer.gradient(norm, x).numpy()
    # With r the transposed resizing of the weights, first is 2 x r, and its square 4 x^2 r^2.
    r = first.numpy() / (2 * x.numpy())
    np.testing.assert_allclose(second, 8 * x.numpy() * r**2, rtol=1e-4, atol=1e-5)
    # Euler's theorem: the total is homogeneous of degree two.
    np.testing.assert_allclose(np.sum(first.numpy() * x.numpy()), 2 * float(y), rtol=1e-4)


def test_a_band_and_its_transpose_are_the_same_matrix():
    for method in METHODS:
        matrix = band(method, 7, 4, True)
        np.testing.assert_array_equal(matrix.transposed.dense, matrix.dense.T)


def test_a_wide_band_gives_what_its_dense_matrix_gives():
    matrix = Band(30, np.tile(np.arange(20), (3, 1)), RNG.normal(size=(3, 20)))
    x = jnp.asarray(image(2, 30, 2))
    np.testing.assert_allclose(
        apply_band(x, matrix, 1), np.einsum("ij,njc->nic", matrix.dense, x), rtol=1e-5, atol=1e-5
    )


def test_bands_work_under_vmap_and_forward_mode():
    matrix = band("bilinear", 4, 7, False)
    x = jnp.asarray(image(3, 4, 2))
    each = jax.vmap(lambda x: apply_band(x, matrix, 0))(x)
    np.testing.assert_allclose(each, apply_band(x, matrix, 1), rtol=1e-6)
    _, pushed = jax.jvp(lambda x: apply_band(x, matrix, 1), (x,), (x,))
    np.testing.assert_allclose(pushed, each, rtol=1e-6)


def test_a_constant_image_stays_exactly_constant():
    for method in ("bilinear", "nearest"):
        made = tapejax.image.resize(np.full((5, 5, 1), 0.1, np.float32), (13, 3), method).numpy()
        assert np.all(made == np.float32(0.1))


def test_a_nan_stays_where_it_is():
    x = np.zeros((1, 9, 9, 1), np.float32)
    x[0, 4, 4] = np.nan
    mine = tapejax.image.resize(x, (18, 18)).numpy()
    np.testing.assert_array_equal(
        np.isnan(mine), np.isnan(tensorflow.image.resize(x, (18, 18)).numpy())
    )


def test_the_proportions_are_kept(tf):
    shapes = [
        tf.image.resize(tf.zeros([5, 7, 1]), size, preserve_aspect_ratio=True).shape.as_list()
        for size in ([3, 99], [99, 3], [10, 10], [7, 9])
    ]
    assert shapes == [[3, 4, 1], [2, 3, 1], [7, 10, 1], [6, 9, 1]]


def test_resized_in_a_function_as_outside(tf):
    x = tf.constant(image(2, 5, 6, 3))
    traced = tf.function(lambda x: tf.image.resize(x, [2 * n for n in x.shape[1:3]], "bicubic"))
    np.testing.assert_allclose(
        traced(x).numpy(), tf.image.resize(x, [10, 12], "bicubic").numpy(), rtol=1e-5, atol=1e-6
    )


def test_sizes_and_methods_that_are_not_fit_are_refused(tf):
    x = tf.zeros([4, 4, 1])
    for size in ([2.0, 2.0], (3,), 5, tf.constant([2, 2], tf.int64)):
        with pytest.raises(ValueError, match="'size' must be a 1-D"):
            tf.image.resize(x, size)
    with pytest.raises(ValueError, match="Resize method is not implemented: foo"):
        tf.image.resize(x, [2, 2], "foo")
    with pytest.raises(ValueError, match="must have either 3 or 4 dimensions"):
        tf.image.resize(x[0], [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="output dimensions must be positive"):
        tf.image.resize(x, [0, 2])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="input image must be of non-zero size"
    ):
        tf.image.resize(tf.zeros([0, 4, 1]), [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one channel"):
        tf.image.resize(tf.zeros([4, 4, 0]), [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the list of allowed values"):
        tf.image.resize(x > 0, [2, 2])


def test_the_names_of_the_methods_are_those_of_tensorflow():
    for name in dir(tensorflow.image.ResizeMethod):
        if not name.startswith("_"):
            mine = getattr(tapejax.image.ResizeMethod, name)
            assert mine == getattr(tensorflow.image.ResizeMethod, name)


def test_padding_to_a_size_keeps_the_middle(tf):
    for height, width in [(2, 2), (5, 9), (8, 30), (11, 6)]:
        x = image(2, 7, 6, 3)
        mine = tf.image.resize_with_pad(x, height, width).numpy()
        assert mine.shape == (2, height, width, 3)
        theirs = tensorflow.image.resize_with_pad(x, height, width).numpy()
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
