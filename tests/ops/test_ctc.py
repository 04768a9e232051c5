"""Connectionist temporal classification: the loss, its derivatives, decoders, edit distances."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tapejax


def _problem(seed, time=6, batch=3, classes=4, width=3):
    random = np.random.default_rng(seed)
    logits = random.normal(size=(time, batch, classes)).astype(np.float32)
    labels = random.integers(1, classes, (batch, width))
    return logits, labels


def _by_enumeration(logits, labels, frames, blank):
    """Minus the logarithm of the probability, summed over every path through the frames."""
    scores = logits[:frames] - np.logaddexp.reduce(logits[:frames], axis=1, keepdims=True)
    total = -np.inf
    for path in itertools.product(range(logits.shape[1]), repeat=frames):
        merged = [label for label, _ in itertools.groupby(path)]
        if [label for label in merged if label != blank] == list(labels):
            total = np.logaddexp(total, sum(scores[t, label] for t, label in enumerate(path)))
    return -total


@pytest.mark.parametrize("blank", [0, 3])
def test_the_loss_is_the_sum_over_all_paths(tf, blank):
    logits, _ = _problem(0, time=4)
    twice = 1 if blank == 0 else 0
    labels = np.array([[twice, twice], [2, 1], [1, 2]])
    label_length, logit_length = [2, 1, 2], [4, 3, 2]
    loss = tf.nn.ctc_loss(labels, logits, label_length, logit_length, blank_index=blank)
    expected = [
        _by_enumeration(logits[:, row].astype(np.float64), labels[row, :n], frames, blank)
        for row, (n, frames) in enumerate(zip(label_length, logit_length, strict=True))
    ]
    np.testing.assert_allclose(loss.numpy(), expected, rtol=2e-5)


def test_gradient_batch_major_and_sparse_labels(tf):
    logits, labels = _problem(1)
    lengths, frames = [3, 1, 2], [6, 5, 6]
    kept = np.where(np.arange(3) < np.array(lengths)[:, None], labels, 0)
    source = tf.constant(logits)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(source)
        dense = tf.nn.ctc_loss(labels, source, lengths, frames)
        swapped = tf.transpose(source, [1, 0, 2])
        batched = tf.nn.ctc_loss(
            labels, swapped, lengths, frames, False, tf.nn.ctc_unique_labels(labels)
        )
        sparse = tf.sparse.from_dense(kept.astype(np.int32))
        of_sparse = tf.nn.ctc_loss(sparse, source, None, frames, blank_index=0)
    gradient = tape.gradient(dense, source).numpy()
    for other in (batched, of_sparse):
        np.testing.assert_allclose(other.numpy(), dense.numpy(), rtol=1e-5)
        np.testing.assert_allclose(tape.gradient(other, source).numpy(), gradient, atol=1e-5)
    assert not gradient[5, 1].any()  # a frame beyond the length


def test_derivatives_equal_differences_to_the_second_order():
    logits, labels = _problem(2)
    x = tapejax.constant(logits.astype(np.float64))
    v = np.random.default_rng(3).normal(size=logits.shape)

    def gradient(x):
        with tapejax.GradientTape() as tape:
            tape.watch(x)
            loss = tapejax.reduce_sum(tapejax.nn.ctc_loss(labels, x, [3, 2, 0], [6, 6, 4]))
        return loss, tape.gradient(loss, x)

    with tapejax.GradientTape() as tape:
        tape.watch(x)
        _, first = gradient(x)
        along = tapejax.reduce_sum(first * v)
    second = tape.gradient(along, x).numpy()
    step = 1e-4
    (up, first_up), (down, first_down) = gradient(x + step * v), gradient(x - step * v)
    np.testing.assert_allclose(float(along), float(up - down) / (2 * step), rtol=1e-7)
    slope = (first_up.numpy() - first_down.numpy()) / (2 * step)
    np.testing.assert_allclose(second, slope, atol=1e-6)


def test_what_no_alignment_can_give_is_infinite_and_has_no_gradient():
    x = tapejax.constant(np.zeros((2, 2, 3), np.float32))
    with tapejax.GradientTape() as tape:
        tape.watch(x)
        loss = tapejax.nn.ctc_loss([[1, 1], [1, 2]], x, [2, 2], [2, 2])  # 1, 1 needs a blank
    assert np.isinf(loss.numpy()).tolist() == [True, False]
    gradient = tape.gradient(loss, x).numpy()
    assert np.isfinite(gradient).all()
    assert not gradient[:, 0].any()


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (([[1, 9]], 2, 4), "labels must lie in"),
        (([[1, 2]], 3, 4), "label_length must lie in"),
        (([[1, 2]], 2, 9), "logit_length must lie in"),
    ],
)
def test_lengths_and_labels_out_of_range_are_errors(arguments, match):
    labels, count, frames = arguments
    with pytest.raises(tapejax.errors.InvalidArgumentError, match=match):
        tapejax.nn.ctc_loss(labels, np.zeros((4, 1, 3), np.float32), [count], [frames]).numpy()


def test_sparse_labels_need_a_blank(tf):
    with pytest.raises(ValueError, match="`blank_index` must be provided"):
        tf.nn.ctc_loss(tf.sparse.from_dense([[1]]), np.zeros((4, 1, 3), np.float32), None, [4])


def test_shapes_that_do_not_fit_name_all_of_them():
    with pytest.raises(tapejax.errors.InvalidArgumentError, match="logits_time_major=False"):
        tapejax.nn.ctc_loss([[1]], np.zeros((4, 1, 3), np.float32), [1], [4], False)


def test_repeated_labels_collapse(tf):
    short, lengths = tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [3, 3, 3, 3, 3]], [5, 3])
    assert short.numpy().tolist() == [[1, 2, 1], [3, 0, 0]]
    assert lengths.numpy().tolist() == [3, 1]


def _lists(sparse):
    rows = [[] for _ in range(int(sparse.dense_shape[0]))]
    for row, value in zip(sparse.indices.numpy()[:, 0], sparse.values.numpy(), strict=True):
        rows[row].append(int(value))
    return rows, sparse.dense_shape.numpy().tolist()


@pytest.mark.parametrize("options", [{}, {"merge_repeated": False}, {"blank_index": 0}])
def test_the_greedy_decoder_takes_the_best_class_of_each_frame(tf, options):
    logits, _ = _problem(4, time=8)
    (found,), scores = tf.nn.ctc_greedy_decoder(logits, [8, 5, 0], **options)
    blank, merge = options.get("blank_index", 3), options.get("merge_repeated", True)
    expected = []
    for row, frames in enumerate([8, 5, 0]):
        best = logits[:frames, row].argmax(1).tolist()
        path = [label for label, _ in itertools.groupby(best)] if merge else best
        expected.append([label for label in path if label != blank])
    assert _lists(found) == (expected, [3, max(map(len, expected))])
    sums = [-logits[:n, row].max(1).sum() if n else 0 for row, n in enumerate([8, 5, 0])]
    np.testing.assert_allclose(scores.numpy()[:, 0], sums, rtol=1e-6)


def test_a_wide_beam_finds_the_most_probable_sequences(tf):
    logits, _ = _problem(5, time=4, batch=2, classes=3)
    paths, scores = tf.nn.ctc_beam_search_decoder(logits, [4, 3], beam_width=50, top_paths=3)
    for row, frames in enumerate([4, 3]):
        every = [
            (-_by_enumeration(logits[:, row].astype(np.float64), labels, frames, 2), list(labels))
            for length in range(4)
            for labels in itertools.product(range(2), repeat=length)
        ]
        best = sorted(every, reverse=True)[:3]
        np.testing.assert_allclose(scores.numpy()[row], [score for score, _ in best], rtol=1e-5)
        assert [_lists(path)[0][row] for path in paths] == [labels for _, labels in best]


def test_a_narrow_beam_is_pruned_as_in_tensorflow():
    tensorflow = pytest.importorskip("tensorflow")
    logits, _ = _problem(6, time=9, batch=4, classes=5)
    lengths = [9, 7, 8, 1]
    ours, theirs = (
        library.nn.ctc_beam_search_decoder(logits, lengths, beam_width=4, top_paths=2)
        for library in (tapejax, tensorflow)
    )
    np.testing.assert_allclose(ours[1].numpy(), theirs[1].numpy(), rtol=1e-5)
    assert [_lists(path) for path in ours[0]] == [_lists(path) for path in theirs[0]]


def test_decoders_refuse_what_does_not_fit(tf):
    logits = np.zeros((4, 1, 3), np.float32)
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"sequence_length\(0\) <= 4"):
        tf.nn.ctc_greedy_decoder(logits, [9])
    with pytest.raises(tf.errors.InvalidArgumentError, match="between -3 and 2 but was 7"):
        tf.nn.ctc_greedy_decoder(logits, [4], blank_index=7)
    with pytest.raises(tf.errors.InvalidArgumentError, match="more paths than the beam width"):
        tf.nn.ctc_beam_search_decoder(logits, [4], beam_width=1, top_paths=2)


@pytest.mark.parametrize("normalize", [True, False])
def test_the_edit_distance_of_sequences(tf, normalize):
    def words(lists):
        places = [[row, 0, n] for row, word in enumerate(lists) for n in range(len(word))]
        letters = [ord(letter) for word in lists for letter in word]
        return tf.SparseTensor(np.reshape(places, (-1, 3)), letters, [len(lists), 1, 8])

    mine, theirs = ["kitten", "", "ab", ""], ["sitting", "abc", "", ""]
    found = tf.edit_distance(words(mine), words(theirs), normalize=normalize).numpy()[:, 0]
    expected = [3 / 7, 1, np.inf, 0] if normalize else [3, 3, 2, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
