"""Programs with `tf.data.experimental` that must do the same in TensorFlow and in tapejax."""

from __future__ import annotations

import tempfile

import numpy as np


def rows(dataset):
    """The elements as NumPy values."""
    return list(dataset.as_numpy_iterator())


def experimental_functions(tf):
    e = tf.data.experimental
    D = tf.data.Dataset
    choice = D.from_tensor_slices(np.array([0, 1, 1, 0], np.int64))
    five = D.range(5)
    found = e.get_next_as_optional(iter(five))
    return [
        rows(tf.data.experimental.Counter(2, 3).take(3)),
        e.cardinality(five.batch(2)).numpy(),
        rows(e.choose_from_datasets([D.range(3), D.range(10, 13)], choice)),
        rows(e.sample_from_datasets([D.range(3), D.range(10, 13)], weights=[1.0, 0.0], seed=1)),
        found.has_value().numpy(),
        found.get_value().numpy(),
        e.get_single_element(D.range(7, 8)).numpy(),
    ]


def experimental_transformations(tf):
    e = tf.data.experimental
    D = tf.data.Dataset
    ten = D.range(10)
    pairs = ten.map(lambda x: (x, x * x))

    def even(x):
        return tf.equal(x % 2, 0)

    def running_sum(state, x):
        return state + x, state + x

    return [
        rows(ten.apply(e.enumerate_dataset(start=3))),
        rows(ten.apply(e.copy_to_device("/cpu:0")).take(2)),
        rows(ten.apply(e.prefetch_to_device("/cpu:0", 2)).take(2)),
        rows(ten.apply(e.group_by_window(lambda x: x % 3, lambda _, w: w.batch(2), 2))),
        rows(ten.apply(e.map_and_batch(lambda x: x + 1, 4, drop_remainder=True))),
        rows(D.range(3).apply(e.parallel_interleave(lambda x: D.range(x, x + 2), 2))),
        rows(ten.apply(e.scan(np.int64(0), running_sum))),
        rows(ten.apply(e.take_while(lambda x: x < 4))),
        rows(pairs.batch(4).apply(e.unbatch())),
        rows(ten.map(lambda x: x % 3).apply(e.unique())),
        sorted(rows(ten.filter(even).apply(e.shuffle_and_repeat(20, 2, seed=3)))),
        rows(
            D.from_tensor_slices([1.0, 0.0, 4.0])
            .map(lambda x: tf.debugging.check_numerics(1.0 / x, "of one"))
            .apply(e.ignore_errors())
        ),
    ]


def experimental_batches(tf):
    e = tf.data.experimental
    ragged = tf.data.Dataset.range(5).map(lambda n: tf.fill([n], n))
    buckets = e.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2, 2, 2])
    return [
        rows(ragged.apply(buckets)),
        rows(tf.data.Dataset.range(5).apply(e.dense_to_ragged_batch(2))),
    ]


def experimental_resampling(tf):
    labels = tf.data.Dataset.from_tensor_slices(np.zeros(6, np.int32))
    same = tf.data.experimental.rejection_resample(lambda x: x, [1.0], [1.0], seed=2)
    return rows(labels.apply(same))


def experimental_files(tf):
    e = tf.data.experimental
    four = tf.data.Dataset.range(4)
    with tempfile.TemporaryDirectory() as folder:
        e.save(four, folder)
        loaded = rows(e.load(folder, four.element_spec))
    with tempfile.TemporaryDirectory() as folder:
        return [loaded, rows(four.apply(e.snapshot(folder)))]
