"""Programs with `tf.data` that must fail in the same way in TensorFlow and in tapejax.

Each takes the library as `tf` and returns what must be equal.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def rows(dataset):
    """The elements as NumPy values."""
    return list(dataset.as_numpy_iterator())


def padded_err1(tf):
    return rows(
        tf.data.Dataset.from_generator(
            lambda: iter([[1, 2, 3]]), output_signature=tf.TensorSpec((None,), tf.int32)
        ).padded_batch(1, padded_shapes=[2])
    )


def padded_err2(tf):
    return rows(tf.data.Dataset.range(3).map(lambda x: [x]).padded_batch(2, padding_values=1.5))


def padded_err3(tf):
    return tf.data.Dataset.from_generator(lambda: iter([[1]]), tf.int32).padded_batch(2)


def gen_err1(tf):
    return rows(
        tf.data.Dataset.from_generator(
            lambda: iter([[1, 2]]), output_signature=tf.TensorSpec((), tf.int32)
        )
    )


def gen_err2(tf):
    return rows(
        tf.data.Dataset.from_generator(
            lambda: iter(["a"]), output_signature=tf.TensorSpec((), tf.int32)
        )
    )


def gen_err3(tf):

    def g():
        yield 1
        raise KeyError("boom")

    it = iter(tf.data.Dataset.from_generator(g, output_signature=tf.TensorSpec((), tf.int32)))
    next(it)
    next(it)


def gen_err4(tf):
    return rows(
        tf.data.Dataset.from_generator(
            lambda: iter([(1, 2, 3)]), output_signature=(tf.TensorSpec((), tf.int32),) * 2
        )
    )


def gen_err5(tf):
    return tf.data.Dataset.from_generator([1], tf.int32)


def gen_err6(tf):
    return tf.data.Dataset.from_generator(lambda: iter([1]))


def slices_err(tf):
    return tf.data.Dataset.from_tensor_slices(5)


def slices_err2(tf):
    return tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))


def map_err(tf):
    return tf.data.Dataset.range(3).map(5)


def map_err2(tf):
    return tf.data.Dataset.range(3).map(lambda x, y: x)


def map_err3(tf):
    return rows(tf.data.Dataset.range(3).map(lambda x: 6 // x))


def map_err4(tf):
    return tf.data.Dataset.range(3).map(lambda x: x + tf.constant(1.5))


def map_err5(tf):
    return rows(tf.data.Dataset.range(5).map(lambda x: tf.constant([1, 2])[tf.cast(x, tf.int32)]))


def map_err6(tf):
    return tf.data.Dataset.range(3).map(lambda x: object())


def filt_err(tf):
    return tf.data.Dataset.range(3).filter(lambda x: x)


def reduce_err(tf):
    return tf.data.Dataset.range(5).reduce(0, lambda s, x: s + x)


def reduce_err2(tf):
    return tf.data.Dataset.range(5).reduce(0, lambda s, x: x)


def bucket_err(tf):
    return tf.data.Dataset.range(3).bucket_by_sequence_length(lambda e: 1, [3], [2])


def single_err(tf):
    return tf.data.Dataset.range(2).get_single_element()


def single_err2(tf):
    return tf.data.Dataset.range(0).get_single_element()


def batch_err(tf):
    return rows(
        tf.data.Dataset.from_generator(
            lambda: iter([[1, 2], [1]]), output_signature=tf.TensorSpec((None,), tf.int32)
        ).batch(2)
    )


def batch_err2(tf):
    return rows(tf.data.Dataset.range(3).batch(0))


def len_err(tf):
    return len(tf.data.Dataset.range(3).repeat())


def len_err2(tf):
    return len(tf.data.Dataset.range(3).filter(lambda x: True))


def conc_err(tf):
    return tf.data.Dataset.range(3).concatenate(tf.data.Dataset.from_tensors(1.0))


def shard_err(tf):
    return rows(tf.data.Dataset.range(3).shard(2, 2))


def zip_err(tf):
    return tf.data.Dataset.zip(tf.data.Dataset.range(2), 5)


def zip_err2(tf):
    return tf.data.Dataset.zip([tf.data.Dataset.range(2)])


def range_err(tf):
    return tf.data.Dataset.range(1, 2, 3, 4)


def uniq_err(tf):
    return tf.data.Dataset.from_tensors(1.0).unique()


def file_err(tf):
    return rows(tf.data.TextLineDataset("/nonexistent/x"))


def file_err2(tf):
    return tf.data.Dataset.list_files("/nonexistent/*")


def file_err3(tf):
    d = tempfile.mkdtemp()
    p = os.path.join(d, "a")
    Path(p).write_bytes(b"garbage garbage garbage garbage")
    return rows(tf.data.TFRecordDataset(p))


def file_err4(tf):
    d = tempfile.mkdtemp()
    p = os.path.join(d, "a")
    Path(p).write_bytes(b"abc")
    return rows(tf.data.FixedLengthRecordDataset(p, 2))


def csv_err(tf):
    d = tempfile.mkdtemp()
    p = os.path.join(d, "a")
    Path(p).write_text("1,x\n")
    return rows(tf.data.experimental.CsvDataset(p, [tf.int32, tf.float32]))


def csv_err2(tf):
    d = tempfile.mkdtemp()
    p = os.path.join(d, "a")
    Path(p).write_text("1\n")
    return rows(tf.data.experimental.CsvDataset(p, [tf.int32, tf.float32]))


def opts_err(tf):
    tf.data.Options().foo = 3


def opts_err2(tf):
    tf.data.Options().deterministic = 3


def asserts_err(tf):
    return rows(
        tf.data.Dataset.range(6)
        .filter(lambda x: x % 2 == 0)
        .apply(tf.data.experimental.assert_cardinality(4))
    )


def shuffle_err(tf):
    return rows(tf.data.Dataset.range(3).shuffle(0))
