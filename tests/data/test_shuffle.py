"""The order of shuffled datasets, against the algorithm written out."""

from __future__ import annotations

import numpy as np
import pytest

import tapejax as tf
from tapejax._src.data.order import Natural, Shuffled, as_array, count_of
from tapejax._src.data.seeds import Draws


def picked(rows, size, draws):
    """One row after the other from a buffer, as TensorFlow's documentation describes it."""
    rows, buffer, start, found = list(rows), [], 0, []
    ring = [None] * size
    filled = 0
    del buffer
    while True:
        while rows and filled - start < size:
            ring[filled % size] = rows.pop(0)
            filled += 1
        if filled == start:
            return found
        pick = (start + next(draws) % (filled - start)) % size
        found.append(ring[pick])
        ring[pick] = ring[start % size]
        start += 1


@pytest.mark.parametrize("size", [1, 2, 7, 99, 1000, 6000])
@pytest.mark.parametrize("count", [0, 1, 5, 100, 5000, 9000])
def test_indices_come_in_the_order_of_the_buffer_algorithm(size, count):
    order = Shuffled(Natural(0, count), size, Draws(12, 34))
    found = []
    while count_of(indices := order.take(13)):
        found += as_array(indices).tolist()
    assert found == picked(range(count), size, Draws(12, 34))


def test_the_words_are_those_of_philox():
    """The test vector of the authors of Philox, for a key and counter of zeros."""
    words = Draws(0, 0).take(4).tolist()
    assert [hex(word) for word in words] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


def test_words_do_not_depend_on_how_they_are_taken():
    whole = Draws(1, 2).take(1000)
    parts = Draws(1, 2)
    np.testing.assert_array_equal(np.concatenate([parts.take(n) for n in (1, 9, 490, 500)]), whole)


def test_a_large_buffer_shuffles_uniformly():
    tf.random.set_seed(1)
    dataset = tf.data.Dataset.range(4).shuffle(4)
    counts = np.zeros((4, 4))
    for _ in range(600):
        for place, value in enumerate(dataset.as_numpy_iterator()):
            counts[place, value] += 1
    np.testing.assert_allclose(counts, 150.0, atol=5 * np.sqrt(150.0 * 0.75))
