"""Boxes: drawn, sampled and selected as TensorFlow does."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import tapejax

RNG = np.random.default_rng(0)


def boxes_and_scores(count, seed=0):
    rng = np.random.default_rng(seed)
    corners = rng.uniform(size=(count, 4)).astype(np.float32)
    return corners, rng.uniform(size=count).astype(np.float32)


def assert_same(run):
    mine, theirs = run(tapejax), run(tensorflow)
    mine, theirs = ([x] if hasattr(x, "numpy") else list(x) for x in (mine, theirs))
    for one, other in zip(mine, theirs, strict=True):
        assert one.dtype.name == other.dtype.name
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("least", [float("-inf"), 0.5])
@pytest.mark.parametrize("threshold", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("count", "most"), [(1, 1), (9, 3), (9, 0), (40, 40), (40, 45)])
def test_the_same_boxes_are_selected(count, most, threshold, least):
    boxes, scores = boxes_and_scores(count, most)
    overlaps = np.random.default_rng(most).uniform(size=(count, count)).astype(np.float32)
    limits = most, threshold, least
    assert_same(lambda lib: lib.image.non_max_suppression(boxes, scores, *limits))
    assert_same(lambda lib: lib.image.non_max_suppression_with_scores(boxes, scores, *limits))
    assert_same(lambda lib: lib.image.non_max_suppression_with_scores(boxes, scores, *limits, 0.5))
    assert_same(lambda lib: lib.image.non_max_suppression_overlaps(overlaps, scores, *limits))


@pytest.mark.parametrize("in_order", [False, True])
def test_padded_selections_of_batches_are_the_same(in_order):
    rng = np.random.default_rng(1)
    boxes = np.sort(rng.uniform(size=(2, 3, 30, 2, 2)), axis=3).reshape(2, 3, 30, 4)
    scores = np.sort(rng.uniform(size=(2, 3, 30)))[..., ::-1].astype(np.float32)
    for limits in [(0.2, 0.4), (0.5, float("-inf"))]:

        def run(lib, limits=limits):
            return lib.image.non_max_suppression_padded(
                lib.constant(boxes, lib.float32),
                lib.constant(scores),
                12,
                *limits,
                pad_to_max_output_size=True,
                sorted_input=in_order,
            )

        assert_same(run)


def test_padded_selections_keep_the_order_of_flipped_corners_and_work_in_functions():
    boxes, scores = boxes_and_scores(20, 3)
    flipped = np.sort(boxes.reshape(20, 2, 2), axis=1)[:, ::-1].reshape(20, 4)

    def run(lib):
        return lib.image.non_max_suppression_padded(lib.constant(flipped), lib.constant(scores), 9)

    assert_same(run)
    traced = tapejax.function(
        lambda b, s: tapejax.image.non_max_suppression_padded(b, s, 9, pad_to_max_output_size=True)
    )
    indices, number = traced(tapejax.constant(flipped), tapejax.constant(scores))
    np.testing.assert_array_equal(indices.numpy()[: int(number)], run(tapejax)[0].numpy())


def test_selections_of_unknown_length_are_made_in_functions(tf):
    boxes, scores = boxes_and_scores(5)
    traced = tf.function(lambda s: tf.image.non_max_suppression(boxes, s, 3))
    plain = tf.image.non_max_suppression(boxes, tf.constant(scores), 3)
    np.testing.assert_array_equal(traced(tf.constant(scores)).numpy(), plain.numpy())


def test_arguments_of_suppression_are_checked(tf):
    boxes, scores = boxes_and_scores(6)
    select = tf.image.non_max_suppression
    for arguments in [
        (boxes, scores, -1),
        (boxes, scores, 3, 1.5),
        (boxes, scores, 3, [0.5]),
        (boxes, scores[:4], 3),
        (boxes[None], scores, 3),
        (boxes[:, :3], scores, 3),
        (boxes, scores[:, None], 3),
        (tf.constant(boxes, tf.float64), scores, 3),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError):
            select(*arguments)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.non_max_suppression_with_scores(boxes, scores, 3, soft_nms_sigma=-1.0)
    with pytest.raises(ValueError, match="must be True for batched"):
        tf.image.non_max_suppression_padded(tf.constant(boxes[None]), tf.constant(scores[None]), 3)


@pytest.mark.parametrize("colors", [None, RNG.uniform(size=(3, 4)).astype(np.float32)])
def test_boxes_are_drawn_over_each_other(colors):
    images = RNG.uniform(size=(2, 9, 8, 3)).astype(np.float32)
    boxes = RNG.uniform(-0.3, 1.3, (8, 2, 4, 4)).astype(np.float32)
    assert_same(lambda lib: [lib.image.draw_bounding_boxes(images, b, colors) for b in boxes])


def test_drawing_says_what_does_not_fit(tf):
    images, boxes = tf.zeros([1, 4, 4, 3]), tf.zeros([1, 2, 4])
    for arguments in [
        (images[0], boxes, None),
        (images, boxes[0], None),
        (images, boxes[..., :3], None),
        (images[..., :2], boxes, None),
        (images, tf.zeros([2, 2, 4]), None),
        (images, boxes, [[0.1, 0.2]]),
        (images, boxes, [0.1, 0.2, 0.3]),
        (tf.zeros([1, 4, 4, 3], tf.float64), boxes, None),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.image.draw_bounding_boxes(*arguments)


RANGES = [
    ((0.75, 1.33), (0.05, 1.0), 0.1, None),
    ((0.2, 5.0), (0.5, 0.9), 0.9, 3),
    ((2.0, 1.0), (0.01, 0.1), 0.0, 20),
]


@pytest.mark.parametrize(("ratios", "area", "covered", "attempts"), RANGES)
def test_sampled_boxes_are_those_of_tensorflow(ratios, area, covered, attempts):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        size = [*rng.integers(1, 90, 2).tolist(), 3]
        low = rng.uniform(0, 0.7, 2)
        box = [*low, *(low + rng.uniform(0, 0.3, 2))]
        options = {
            "min_object_covered": covered,
            "aspect_ratio_range": ratios,
            "area_range": area,
            "max_attempts": attempts,
        }
        boxes = np.array([[box, [0.2, 0.2, 0.6, 0.9]]], np.float32)

        def run(lib, size=size, boxes=boxes, options=options, seed=seed):
            lib.random.set_seed(seed)
            draw = lib.image.sample_distorted_bounding_box
            drawn = [draw(size, boxes, seed=5, **options) for _ in range(2)]
            given = lib.image.stateless_sample_distorted_bounding_box(
                size, boxes, [seed, 7], **options
            )
            return [x for sampled in (*drawn, given) for x in sampled]

        assert_same(run)


def test_sampling_says_what_does_not_fit(tf):
    fit = {
        "image_size": [40, 50, 3],
        "bounding_boxes": np.array([[[0.1, 0.2, 0.8, 0.9]]], np.float32),
        "seed": [1, 2],
    }
    for change in [
        {"bounding_boxes": np.zeros((1, 0, 4), np.float32)},
        {"bounding_boxes": np.array([[[-0.1, 0.0, 1.0, 1.0]]], np.float32)},
        {"bounding_boxes": np.zeros(4, np.float32)},
        {"image_size": [4, 4]},
        {"min_object_covered": -1.0},
        {"area_range": [0.0, 1.0]},
        {"area_range": [0.5, 2.0]},
        {"max_attempts": 0},
        {"seed": [1, 2, 3]},
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.image.stateless_sample_distorted_bounding_box(**{**fit, **change})
    sampled = tf.image.stateless_sample_distorted_bounding_box(
        **{**fit, "bounding_boxes": np.zeros((1, 0, 4), np.float32)},
        use_image_if_no_bounding_boxes=True,
    )
    assert sampled.size.numpy()[2] == -1


def test_proposals_name_what_to_write_instead():
    with pytest.raises(NotImplementedError, match="non_max_suppression_padded"):
        tapejax.image.generate_bounding_box_proposals(None, None, None, None)
