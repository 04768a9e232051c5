"""Changes of images: values and random streams of TensorFlow, derivatives of our own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow

import tapejax

RNG = np.random.default_rng(0)
FLOATS = RNG.uniform(size=(2, 5, 4, 3)).astype(np.float32)
BYTES = RNG.integers(0, 256, (2, 5, 4, 3)).astype(np.uint8)


def both(run):
    """What a program gives in each library, flat."""
    return zip(run(tapejax), run(tensorflow), strict=True)


def assert_same(mine, theirs):
    mine, theirs = mine.numpy(), theirs.numpy()
    assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
    if mine.dtype.kind in "iu":
        np.testing.assert_array_equal(mine, theirs)
    else:
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=3e-6)


@pytest.mark.parametrize("seed", [None, 3])
def test_random_changes_are_those_of_tensorflow(seed):
    def run(lib: Any):
        lib.random.set_seed(7)
        image = lib.image
        return [
            image.random_brightness(FLOATS, 0.3, seed),
            image.random_contrast(BYTES, 0.3, 0.9, seed),
            image.random_hue(FLOATS, 0.3, seed),
            image.random_saturation(BYTES, 0.3, 1.9, seed),
            image.random_flip_left_right(FLOATS, seed),
            image.random_flip_up_down(FLOATS[0], seed),
            image.random_flip_up_down(BYTES, seed),
            image.random_crop(BYTES, [1, 3, 2, 2], seed),
            image.random_crop(FLOATS, [2, 3, 2, 3], seed),
        ]

    for mine, theirs in both(run):
        assert_same(mine, theirs)


def test_flips_of_single_images_follow_the_stream_of_tensorflow():
    def run(lib: Any):
        lib.random.set_seed(1)
        return [lib.image.random_flip_left_right(FLOATS[0]) for _ in range(12)]

    for mine, theirs in both(run):
        assert_same(mine, theirs)


def test_ranges_that_are_not_fit_are_refused(tf):
    for function in (tf.image.random_brightness, tf.image.random_hue):
        with pytest.raises(ValueError, match="max_delta must be non-negative"):
            function(FLOATS, -0.1)
    with pytest.raises(ValueError, match=r"max_delta must be <= 0\.5"):
        tf.image.random_hue(FLOATS, 0.6)
    for function in (tf.image.random_contrast, tf.image.random_saturation):
        with pytest.raises(ValueError, match="upper must be > lower"):
            function(FLOATS, 1.0, 1.0)
        with pytest.raises(ValueError, match="lower must be non-negative"):
            function(FLOATS, -1.0, 1.0)
    with pytest.raises(ValueError, match=r"delta must be in the interval \[-1, 1\]"):
        tf.image.adjust_hue(FLOATS, 2.0)
    with pytest.raises(ValueError, match=r"delta must be in the interval \[-1, 1\]"):
        tf.image.adjust_hue(FLOATS, tf.constant(-2.0))
    with pytest.raises(ValueError, match="Gamma should be a non-negative real number"):
        tf.image.adjust_gamma(FLOATS, -1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Gamma should be"):
        tf.image.adjust_gamma(FLOATS, tf.constant(-1.0))


CHANGES = {
    "contrast": lambda lib, x: lib.image.adjust_contrast(x, 1.7),
    "hue": lambda lib, x: lib.image.adjust_hue(x, 0.3),
    "hue back": lambda lib, x: lib.image.adjust_hue(x, -0.8),
    "saturation up": lambda lib, x: lib.image.adjust_saturation(x, 1.8),
    "saturation down": lambda lib, x: lib.image.adjust_saturation(x, 0.2),
}
GREY = np.repeat(FLOATS[..., :1], 3, axis=-1)
IMAGES = [FLOATS, BYTES, FLOATS[0], GREY, np.zeros_like(FLOATS), (FLOATS * 3e4).astype(np.int16)]


@pytest.mark.parametrize("change", CHANGES)
def test_changes_have_the_values_of_tensorflow(change):
    for image in IMAGES:
        assert_same(CHANGES[change](tapejax, image), CHANGES[change](tensorflow, image))


@pytest.mark.parametrize("change", CHANGES)
def test_changes_have_no_derivatives(tf, change):
    x = tf.constant(FLOATS)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = CHANGES[change](tf, x)
    with pytest.raises(LookupError, match="gradient registry has no entry for: Adjust"):
        tape.gradient(y, x)


def test_a_grey_pixel_has_finite_derivatives():
    x = tapejax.constant(GREY)
    with tapejax.GradientTape() as tape:
        tape.watch(x)
        y = tapejax.image.rgb_to_hsv(x)
    assert np.all(np.isfinite(tape.gradient(y, x).numpy()))


def test_the_saturation_depends_on_a_channel_that_is_zero():
    x = tapejax.constant([0.5, 0.25, 0.0])
    with tapejax.GradientTape() as tape:
        tape.watch(x)
        saturation = tapejax.image.rgb_to_hsv(x)[1]
    # The saturation is one less blue over red.
    np.testing.assert_allclose(tape.gradient(saturation, x).numpy(), [0.0, 0.0, -2.0])


def test_channels_are_counted(tf):
    for function, error in [
        (tf.image.rgb_to_hsv, tf.errors.FailedPreconditionError),
        (tf.image.hsv_to_rgb, tf.errors.FailedPreconditionError),
        (tf.image.rgb_to_yuv, tf.errors.InvalidArgumentError),
        (tf.image.rgb_to_grayscale, tf.errors.InvalidArgumentError),
        (lambda x: tf.image.adjust_hue(x, 0.1), tf.errors.InvalidArgumentError),
        (tf.image.grayscale_to_rgb, ValueError),
    ]:
        with pytest.raises(error):
            function(tf.zeros([2, 2, 2]))


def test_only_numbers_have_a_range(tf):
    with pytest.raises(AttributeError, match="dtype must be either floating point or integer"):
        tf.image.convert_image_dtype(FLOATS, tf.bool)
    with pytest.raises(AttributeError, match="image dtype must be either"):
        tf.image.convert_image_dtype(FLOATS > 0.5, tf.float32)


def test_images_of_different_shapes_are_not_compared(tf):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.psnr(tf.constant(FLOATS), tf.constant(FLOATS[:, :3]), 1.0)
    with pytest.raises(ValueError, match="compatible"):
        tf.image.ssim(FLOATS, FLOATS[:, :3], 1.0, filter_size=3)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.ssim(FLOATS, FLOATS, 1.0)


def test_equal_images_have_an_infinite_ratio(tf):
    assert np.all(np.isinf(tf.image.psnr(tf.constant(FLOATS), tf.constant(FLOATS), 1.0).numpy()))
    same = tf.image.ssim(FLOATS, FLOATS, 1.0, filter_size=3).numpy()
    np.testing.assert_allclose(same, 1.0, rtol=1e-6)


def test_augmentation_in_a_function_draws_anew_at_each_call(tf):
    @tf.function
    def augment(x):
        x = tf.image.random_flip_left_right(x)
        x = tf.image.random_brightness(x, 0.4)
        return tf.image.random_crop(x, [3, 3, 3])

    tf.random.set_seed(5)
    first, second = augment(FLOATS[0]).numpy(), augment(FLOATS[0]).numpy()
    assert first.shape == (3, 3, 3)
    assert not np.array_equal(first, second)
