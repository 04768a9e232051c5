"""Pooling with indices, by name, over every n-th element; dilation; isotonic regression."""

from __future__ import annotations

import numpy as np
import pytest

import tapejax


def test_the_place_of_a_maximum_counts_through_image_or_batch(tf):
    x = np.random.default_rng(0).permutation(2 * 5 * 4 * 2).reshape(2, 5, 4, 2).astype(np.float32)
    for whole in (False, True):
        y, places = tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", include_batch_in_index=whole)
        flat = x.reshape(-1) if whole else x.reshape(2, -1)
        for n in range(2):
            image = flat if whole else flat[n]
            np.testing.assert_array_equal(image[places.numpy()[n]], y.numpy()[n])


def test_padding_is_no_place_even_of_the_lowest_number(tf):
    x = np.full((1, 3, 3, 1), -np.inf, np.float32)
    _, places = tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")
    assert places.numpy().ravel().tolist() == [0, 2, 6, 8]


def test_the_first_nan_of_a_window_is_its_maximum():
    x = np.array([3.0, np.nan, np.nan, 1.0], np.float32).reshape(1, 2, 2, 1)
    y, place = tapejax.nn.max_pool_with_argmax(x, 2, 2, "VALID")
    assert np.isnan(y.numpy()).all()
    assert int(place[0, 0, 0, 0]) == 1


def test_pooling_with_indices_refuses_what_tensorflow_refuses(tf):
    x = np.zeros((1, 4, 4, 1), np.float32)
    with pytest.raises(ValueError, match="are not supported"):
        tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", data_format="NCHW")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Targmax"):
        tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", output_dtype=tf.float32)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"pooling_type": "SUM"}, "2-D SUM pooling is not supported"),
        ({"pooling_type": "MAX", "strides": [2, 2], "dilations": [2, 2]}, "not supported in conj"),
        ({"pooling_type": "MAX", "padding": "SAME", "dilations": [2, 2]}, "not implemented for"),
        ({"pooling_type": "MAX", "window_shape": [2]}, "must have rank 3"),
    ],
)
def test_pooling_by_name_refuses_what_tensorflow_refuses(tf, options, match):
    with pytest.raises(ValueError, match=match):
        tf.nn.pool(np.zeros((1, 6, 6, 1), np.float32), **{"window_shape": [2, 2], **options})


def test_an_average_of_integers_is_refused():
    with pytest.raises(tapejax.errors.InvalidArgumentError, match="not in the list of allowed"):
        tapejax.nn.pool(np.zeros((1, 6, 1), np.int32), [2], "AVG")


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("rates", [[2, 3], [1, 1], [1, 2]])
def test_space_to_batch_runs_a_convolution_on_every_nth_element(tf, padding, rates):
    x = np.random.default_rng(0).normal(size=(2, 9, 8, 3)).astype(np.float32)
    filters = np.random.default_rng(1).normal(size=(3, 2, 3, 4)).astype(np.float32)

    def op(values, spatial_dims, padding):
        assert spatial_dims == 2
        return tf.nn.conv2d(values, filters, 1, padding)

    found = tf.nn.with_space_to_batch(x, rates, padding, op, filter_shape=[3, 2])
    direct = tapejax.nn.conv2d(x, filters, 1, padding, dilations=rates)
    np.testing.assert_allclose(found.numpy(), direct.numpy(), rtol=1e-4, atol=1e-5)


def test_space_to_batch_needs_the_filter_to_pad(tf):
    with pytest.raises(ValueError, match="filter_shape"):
        tf.nn.with_space_to_batch(tf.zeros([1, 4, 1]), [2], "SAME", lambda x, n, p: x)


def test_dilation_meets_no_padding_and_refuses_other_layouts(tf):
    x = -np.arange(1, 10, dtype=np.float32).reshape(1, 3, 3, 1)
    y = tf.nn.dilation2d(x, tf.zeros([2, 2, 1]), [1] * 4, "SAME", "NHWC", [1] * 4)
    np.testing.assert_array_equal(y, x)
    with pytest.raises(ValueError, match="NHWC"):
        tf.nn.dilation2d(x, tf.zeros([2, 2, 1]), [1] * 4, "SAME", "NCHW", [1] * 4)
    with pytest.raises(TypeError, match="Expected list for 'strides'"):
        tf.nn.dilation2d(x, tf.zeros([2, 2, 1]), 1, "SAME", "NHWC", [1] * 4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="same depth: 1 vs 2"):
        tf.nn.dilation2d(x, tf.zeros([2, 2, 2]), [1] * 4, "SAME", "NHWC", [1] * 4)


def test_a_window_too_large_for_the_image_gives_nothing(tf):
    x = tf.zeros([1, 6, 6, 1])
    y = tf.nn.dilation2d(x, tf.zeros([9, 2, 1]), [1, 2, 1, 1], "VALID", "NHWC", [1] * 4)
    assert tuple(y.shape) == (1, 0, 5, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="output size would be negative: -2"):
        tf.nn.dilation2d(x, tf.zeros([9, 2, 1]), [1] * 4, "VALID", "NHWC", [1] * 4)


def test_stacking_in_parallel_is_stacking():
    function = tapejax.function(lambda x: tapejax.parallel_stack([x, 2 * x]))
    assert function(tapejax.constant([1.0])).numpy().tolist() == [[1.0], [2.0]]


def _by_quadratic_search(row):
    """The fit by its min-max formula."""
    n = range(len(row))
    return [min(max(np.mean(row[i : j + 1]) for j in n if j >= k) for i in n if i <= k) for k in n]


def test_isotonic_regression_by_its_formula(tf):
    rows = np.random.default_rng(0).normal(size=(3, 9)).round(1)
    fit, pools = tf.nn.isotonic_regression(tf.constant(rows))
    for row, found in zip(rows, fit.numpy(), strict=True):
        np.testing.assert_allclose(found, _by_quadratic_search(row), atol=1e-12)
    means = [
        [row[part == n].mean() for n in part] for row, part in zip(rows, pools.numpy(), strict=True)
    ]
    np.testing.assert_allclose(fit.numpy(), means, atol=1e-12)
    rising = tf.nn.isotonic_regression(tf.constant(rows), decreasing=False)[0]
    np.testing.assert_allclose(rising.numpy()[0], -np.array(_by_quadratic_search(-rows[0])))


def test_isotonic_regression_of_a_long_row_of_equal_numbers_and_of_a_scalar(tf):
    fit, pools = tf.nn.isotonic_regression(tf.ones([300]))
    np.testing.assert_array_equal(fit, np.ones(300))
    assert pools.numpy().tolist() == list(range(300))
    assert float(tf.nn.isotonic_regression(3.0)[0]) == 3.0


def test_losses_are_averaged_over_the_whole_batch(tf):
    assert float(tf.nn.compute_average_loss([1.0, 2.0], [0.5, 1.0], 5)) == pytest.approx(0.5)
    with pytest.raises(ValueError, match="at least rank 1"):
        tf.nn.compute_average_loss(3.0)
    with pytest.raises(TypeError, match="global_batch_size must be an integer"):
        tf.nn.compute_average_loss([1.0], global_batch_size=2.0)
    with pytest.raises(ValueError, match="global_batch_size must be scalar"):
        tf.nn.compute_average_loss([1.0], global_batch_size=[2])


def test_sums_for_moments_without_a_shift(tf):
    x = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    count, total, squares, shift = tf.nn.sufficient_statistics(x, [0, 1], keepdims=True)
    assert float(count) == 12.0
    assert shift is None
    np.testing.assert_allclose(total.numpy(), [[x.sum()]], rtol=1e-5)
    np.testing.assert_allclose(squares.numpy(), [[(x * x).sum()]], rtol=1e-5)
    mean, variance = tf.nn.normalize_moments(count, total, squares, shift)
    np.testing.assert_allclose(float(mean[0, 0]), x.mean(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(float(variance[0, 0]), x.var(), rtol=1e-4)


@pytest.mark.parametrize("name", ["Dropout", "Residual", "Device"])
def test_wrappers_of_cells_name_keras(name):
    with pytest.raises(NotImplementedError, match=r"tf\.keras\.layers\.RNN"):
        getattr(tapejax.nn, f"RNNCell{name}Wrapper")(None)
