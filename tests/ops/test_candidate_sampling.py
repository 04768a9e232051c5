"""Candidate samplers and the losses made of them, beside TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import tapejax

FREQUENCIES = [float(x) for x in np.random.default_rng(2).random(40) + 0.01]


def _assert_same(program, rtol=2e-6):
    found = []
    for library in (tapejax, tensorflow):
        library.random.set_seed(3)
        found.append([np.asarray(x) for x in program(library)])
    for ours, theirs in zip(*found, strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-6)


def _sample(tf, name, count, unique, size, seed):
    sampler = getattr(tf.random, f"{name}_candidate_sampler")
    more = {"unigrams": FREQUENCIES[:size]} if name == "fixed_unigram" else {}
    true = tf.constant(np.arange(8).reshape(4, 2) % size, tf.int64)
    return sampler(true, 2, count, unique, range_max=size, seed=seed, **more)


@pytest.mark.parametrize("name", ["uniform", "log_uniform", "learned_unigram", "fixed_unigram"])
@pytest.mark.parametrize("seed", [2, None])
def test_classes_and_expected_counts_are_tensorflows_call_by_call(name, seed):
    def program(tf):
        found = []
        for count, unique, size in ((3, True, 10), (8, True, 8), (40, False, 7), (30, True, 40)):
            for _ in range(2):
                found += _sample(tf, name, count, unique, size, seed)
        return [*found, tf.random.uniform([1])]

    _assert_same(program)


def test_a_large_range_needs_no_memory_of_its_size():
    def program(tf):
        sampler = tf.random.log_uniform_candidate_sampler
        return sampler(tf.constant([[5]], tf.int64), 1, 64, True, 2**40, seed=1)

    _assert_same(program)


def test_set_seed_makes_a_learning_sampler_forget():
    def drawn():
        found = [_sample(tapejax, "learned_unigram", 6, False, 10, 1) for _ in range(2)]
        return [x.true_expected_count.numpy() for x in found]

    tapejax.random.set_seed(1)
    first = drawn()
    tapejax.random.set_seed(1)
    again = drawn()
    assert np.array_equal(first, again)
    assert not np.array_equal(first[0], first[1])


def test_a_learning_sampler_learns_in_functions_too():
    def sample():
        return _sample(tapejax, "learned_unigram", 6, False, 10, 1).true_expected_count

    counts = []
    for draw in (sample, tapejax.function(sample)):
        tapejax.random.set_seed(1)
        counts.append([draw().numpy() for _ in range(3)])
    np.testing.assert_array_equal(counts[0], counts[1])
    assert not np.array_equal(counts[0][0], counts[0][1])


@pytest.mark.parametrize(
    "options",
    [
        {"range_max": 6, "num_reserved_ids": 2},
        {"range_max": 2, "num_shards": 2, "shard": 1},
        {"range_max": 4, "distortion": 0.5},
    ],
    ids=str,
)
def test_a_file_of_frequencies_is_read_as_in_tensorflow(tmp_path, options):
    path = tmp_path / "vocabulary.csv"
    path.write_text("a,1\nb,2\nc,3\nd,4\n")

    def program(tf):
        sampler = tf.random.fixed_unigram_candidate_sampler
        true = tf.constant([[1], [0]], tf.int64)
        return sampler(true, 1, 2, True, vocab_file=str(path), seed=3, **options)

    _assert_same(program)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (([[1, 2]], 1, 3, True, 10), {}),
        (([1, 2], 2, 3, True, 10), {}),
        (([[1, 2]], 2, 11, True, 10), {}),
        (([[1, 2]], 2, 0, True, 10), {}),
        (([[1, 2]], 2, 3, True, 0), {}),
        (([[100, -2]], 2, 3, True, 10), {}),
        ((np.array([[1, 2]], np.int32), 2, 3, True, 10), {}),
        (([[1, 2]], 2, 3, True, 4), {"unigrams": [1.0, 2.0]}),
        (([[1, 2]], 2, 3, True, 4), {"unigrams": []}),
        (([[1, 2]], 2, 3, True, 4), {"unigrams": [1.0], "vocab_file": "words"}),
    ],
)
def test_arguments_that_make_no_sense_are_invalid_in_both_libraries(tf, arguments, options):
    name = "fixed_unigram" if options else "uniform"
    true, *rest = arguments
    if isinstance(true, np.ndarray):
        true = tf.constant(true)
    sampler = getattr(tf.random, f"{name}_candidate_sampler")
    with pytest.raises(tf.errors.InvalidArgumentError):
        sampler(true, *rest, **options).true_expected_count.numpy()


def test_a_missing_file_is_not_found(tf):
    with pytest.raises(tf.errors.NotFoundError):
        tf.random.fixed_unigram_candidate_sampler([[1]], 1, 1, True, 4, vocab_file="no/such/file")


def test_classes_that_cannot_be_sampled_are_refused():
    with pytest.raises(tapejax.errors.InvalidArgumentError, match="1 have a positive frequency"):
        tapejax.random.fixed_unigram_candidate_sampler([[1]], 1, 2, True, 2, unigrams=[0.0, 1.0])


def test_every_class_is_sampled_by_the_sampler_of_all():
    _assert_same(lambda tf: tf.random.all_candidate_sampler([[1, 2]], 2, 5, True))


@pytest.mark.parametrize(
    ("true", "sampled"),
    [
        ([[1, 2], [3, 4]], [4, 1, 7, 3, 1]),
        ([[1, 1]], [1, 1, 2]),
        ([[1, 2]], [8, 9]),
    ],
)
def test_accidental_hits_are_found_in_tensorflows_order(true, sampled):
    _assert_same(lambda tf: tf.nn.compute_accidental_hits(true, sampled, 2))


@pytest.mark.parametrize(("true", "sampled"), [([[1]], [1, 2]), ([[1, 2]], [[1, 2]])])
def test_accidental_hits_of_other_shapes_are_invalid(tf, true, sampled):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.nn.compute_accidental_hits(true, sampled, 2)


def _problem(tf, num_true, parts):
    rng = np.random.default_rng(0)
    weights, biases = rng.normal(size=(20, 4)), rng.normal(size=20)
    shards = [tf.Variable(part.astype(np.float32)) for part in np.split(weights, parts)]
    biases = tf.Variable(biases.astype(np.float32))
    inputs = tf.Variable(rng.normal(size=(3, 4)).astype(np.float32))
    labels = tf.constant([[1, 2], [0, 5], [7, 7]], tf.int64)[:, :num_true]
    return shards, biases, labels, inputs


@pytest.mark.parametrize("loss", ["sampled_softmax_loss", "nce_loss"])
@pytest.mark.parametrize("remove", [True, False])
@pytest.mark.parametrize(("num_true", "parts", "given"), [(1, 1, False), (2, 2, True)])
def test_losses_and_their_gradients_are_tensorflows(loss, remove, num_true, parts, given):
    def program(tf):
        shards, biases, labels, inputs = _problem(tf, num_true, parts)
        sampled = None
        if given:
            sampler = tf.random.uniform_candidate_sampler
            sampled = sampler(labels, num_true, 8, False, range_max=20, seed=9)
        with tf.GradientTape() as tape:
            y = getattr(tf.nn, loss)(
                shards if parts > 1 else shards[0],
                biases,
                labels,
                inputs,
                8,
                20,
                num_true,
                sampled,
                remove,
            )
        gradients = tape.gradient(y, [*shards, biases, inputs])
        return [y, *map(tf.convert_to_tensor, gradients), tf.random.uniform([1])]

    _assert_same(program, rtol=2e-5)
