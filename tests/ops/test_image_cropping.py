"""Cutting out, padding, turning: places that are tensors, functions, errors."""

from __future__ import annotations

import numpy as np
import pytest

PIXELS = np.arange(2 * 4 * 5 * 1).reshape(2, 4, 5, 1).astype(np.float32)


def test_a_box_at_a_place_that_a_tensor_gives(tf):
    @tf.function
    def cut(top, left):
        return tf.image.crop_to_bounding_box(PIXELS, top, left, 2, 3)

    made = cut(tf.constant(1), tf.constant(2)).numpy()
    np.testing.assert_array_equal(made, PIXELS[:, 1:3, 2:5])
    eager = tf.image.crop_to_bounding_box(PIXELS, tf.constant(1), 2, 2, 3).numpy()
    np.testing.assert_array_equal(eager, made)


def test_a_place_that_a_tensor_gives_is_checked(tf):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be >= target \+ offset"):
        tf.image.crop_to_bounding_box(PIXELS, tf.constant(3), 0, 2, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="offset_height must be >= 0"):
        tf.image.pad_to_bounding_box(PIXELS, tf.constant(-1), 0, 9, 9)


def test_padding_at_a_place_that_a_tensor_gives(tf):
    made = tf.image.pad_to_bounding_box(PIXELS, tf.constant(1), tf.constant(2), 6, 8).numpy()
    expected = np.zeros((2, 6, 8, 1), np.float32)
    expected[:, 1:5, 2:7] = PIXELS
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 0, 2, 2), "offset_height must be >= 0"),
        ((0, -1, 2, 2), "offset_width must be >= 0"),
        ((0, 0, 0, 2), "target_height must be > 0"),
        ((0, 0, 2, 0), "target_width must be > 0"),
        ((3, 0, 2, 2), r"height must be >= target \+ offset"),
        ((0, 4, 2, 2), r"width must be >= target \+ offset"),
    ],
)
def test_boxes_outside_are_refused(tf, arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.image.crop_to_bounding_box(PIXELS, *arguments)


def test_images_that_do_not_fit_are_refused(tf):
    with pytest.raises(ValueError, match="width must be <= target - offset"):
        tf.image.pad_to_bounding_box(PIXELS, 0, 0, 9, 4)
    with pytest.raises(ValueError, match="height must be <= target - offset"):
        tf.image.pad_to_bounding_box(PIXELS, 6, 0, 9, 9)
    with pytest.raises(ValueError, match=r"must be within \(0, 1\]"):
        tf.image.central_crop(PIXELS, 1.5)
    with pytest.raises(ValueError, match="3 or 4 dimensions"):
        tf.image.crop_to_bounding_box(PIXELS[0, 0], 0, 0, 1, 1)
    with pytest.raises(ValueError, match=r"dims of 'image.shape' must be > 0"):
        tf.image.flip_left_right(PIXELS[:, :0])
    with pytest.raises(ValueError, match="at least three-dimensional"):
        tf.image.transpose(PIXELS[0, 0])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.random_crop(PIXELS, [3, 4, 5, 1])


def test_four_quarter_turns_are_none(tf):
    x = tf.constant(PIXELS)
    np.testing.assert_array_equal(tf.image.rot90(x, 4).numpy(), PIXELS)
    np.testing.assert_array_equal(tf.image.rot90(tf.image.rot90(x, 3)).numpy(), PIXELS)
    np.testing.assert_array_equal(tf.image.rot90(x, -1).numpy(), np.rot90(PIXELS, -1, (1, 2)))
    np.testing.assert_array_equal(tf.image.rot90(x, tf.constant(2)).numpy(), PIXELS[:, ::-1, ::-1])
    with pytest.raises(ValueError, match=r"rank 0|must be one integer"):
        tf.image.rot90(x, [1])


def test_square_images_are_turned_as_often_as_a_function_is_told(tf):
    square = PIXELS[:, :, :4]
    turned = tf.function(lambda k: tf.image.rot90(square, k))
    for k in range(-1, 5):
        np.testing.assert_array_equal(
            turned(tf.constant(k)).numpy(), np.rot90(square, k, axes=(1, 2))
        )


def test_patches_say_what_is_wrong_with_their_sizes(tf):
    ones = [1, 1, 1, 1]
    for sizes, error in [
        ([2, 2], tf.errors.InvalidArgumentError),
        ([1, 9, 9, 1], tf.errors.InvalidArgumentError),
        ([1, 2, 2, 2], tf.errors.UnimplementedError),
        ([1, 0, 2, 1], tf.errors.OutOfRangeError),
    ]:
        with pytest.raises(error):
            tf.image.extract_patches(PIXELS, sizes, ones, ones, "VALID")
    with pytest.raises(tf.errors.InvalidArgumentError, match="padding"):
        tf.image.extract_patches(PIXELS, ones, ones, ones, "FULL")


def test_a_box_of_an_image_that_does_not_exist_is_out_of_range(tf):
    boxes = [[0.0, 0.0, 1.0, 1.0]]
    for index in (2, -1):
        with pytest.raises(tf.errors.OutOfRangeError, match="box_index has values outside"):
            tf.image.crop_and_resize(PIXELS, boxes, [index], [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="crop dimensions must be positive"):
        tf.image.crop_and_resize(PIXELS, boxes, [0], [0, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible shape"):
        tf.image.crop_and_resize(PIXELS, boxes, [0, 1], [2, 2])


def test_noise_around_a_glimpse_lies_between_the_extremes_of_the_image(tf):
    x = np.full((1, 3, 3, 1), 5.0, np.float32)
    x[0, 0, 0] = 7.0
    for noise in ("uniform", "gaussian"):
        made = tf.image.extract_glimpse(x, [41, 41], [[0.0, 0.0]], noise=noise).numpy()
        assert made.min() >= 5.0
        assert made.max() <= 7.0
        assert made.std() > 0.2
    with pytest.raises(tf.errors.InvalidArgumentError, match="noise could only be"):
        tf.image.extract_glimpse(x, [2, 2], [[0.0, 0.0]], noise="pink")
