"""Programs with `tf.data` that must do the same in TensorFlow and in tapejax.

Each takes the library as `tf` and returns what must be equal.
"""

from __future__ import annotations

import collections
import gzip
import os
import tempfile
from pathlib import Path

import numpy as np

Point = collections.namedtuple("Point", "x y")


def rows(dataset):
    """The elements as NumPy values."""
    return list(dataset.as_numpy_iterator())


def specs(tf):
    D = tf.data.Dataset
    a = D.from_tensor_slices(np.zeros((10, 2), np.float32))

    def f(x):
        return x

    return [
        repr(x)
        for x in (
            a,
            a.batch(2),
            a.batch(2, True),
            a.batch(3, num_parallel_calls=2),
            a.shuffle(3),
            a.repeat(2),
            a.repeat().batch(4),
            a.map(f),
            a.map(f, num_parallel_calls=3),
            a.filter(lambda x: True),
            a.prefetch(1),
            a.take(1),
            a.skip(2),
            a.cache(),
            a.enumerate(),
            D.zip(a, a),
            a.window(2),
            a.concatenate(a),
            a.shard(2, 0),
            a.padded_batch(2),
            a.unbatch(),
            a.take_while(lambda x: True),
            D.range(3).unique(),
            D.range(3),
            D.from_tensors(1),
            D.random(),
            a.ignore_errors(),
            a.batch(2).rebatch(5),
            a.batch(2).batch(3),
            a.with_options(tf.data.Options()),
            D.choose_from_datasets([a, a], D.range(2)),
            D.sample_from_datasets([a, a]),
            a.window(2).flat_map(lambda w: w.batch(2)),
            a.repeat().batch(3, drop_remainder=True),
            D.counter(),
            a.interleave(lambda x: D.from_tensors(x)),
            a.flat_map(lambda x: D.from_tensor_slices(x)),
            a.batch(3).map(lambda x: x + 1),
            a.batch(3).map(lambda x: tf.reduce_sum(x, 0)),
            a.padded_batch(3, drop_remainder=True),
            a.repeat().padded_batch(3),
        )
    ]


def cards(tf):
    D = tf.data.Dataset
    a = D.range(10)
    return [
        int(x.cardinality())
        for x in (
            a,
            a.batch(3),
            a.batch(3, True),
            a.repeat(),
            a.repeat(3),
            a.repeat(0),
            a.take(3),
            a.take(-1),
            a.take(100),
            a.skip(3),
            a.skip(-1),
            a.skip(100),
            a.filter(lambda x: True),
            a.shard(3, 0),
            a.shard(3, 2),
            D.zip(a, a.take(3)),
            D.zip(a, a.repeat()),
            a.concatenate(a),
            a.concatenate(a.repeat()),
            a.window(3),
            a.window(3, 2),
            a.window(3, 2, 1, True),
            a.window(3, 1, 2, True),
            a.window(20, 1, 1, True),
            a.batch(5).unbatch(),
            a.flat_map(lambda x: D.range(x)),
            a.repeat().take(5),
            a.filter(lambda x: True).take(3),
            a.repeat().batch(2),
            a.enumerate(),
            a.prefetch(2),
            a.cache(),
            D.range(0).repeat(),
            D.random(),
            D.counter(),
            D.choose_from_datasets([a, a], D.range(2)),
            D.sample_from_datasets([a, a]),
            D.sample_from_datasets([a, a], stop_on_empty_dataset=True),
            a.batch(3).rebatch(2),
            a.take_while(lambda x: True),
            a.map(lambda x: x),
            D.from_tensors([1, 2]),
            a.filter(lambda x: True).take(0),
            D.from_generator(lambda: iter([1]), output_signature=tf.TensorSpec((), tf.int32)).skip(
                1
            ),
        )
    ]


def shuffles(tf):
    D = tf.data.Dataset
    tf.random.set_seed(7)
    out = []
    a = D.range(20)
    for ds in (
        a.shuffle(5),
        a.shuffle(100),
        a.shuffle(5, seed=3),
        a.shuffle(5, reshuffle_each_iteration=False),
        a.shuffle(5, seed=1).repeat(2),
        a.repeat(2).shuffle(7, seed=2),
        a.shuffle(4, seed=1).batch(3).shuffle(3, seed=9).unbatch(),
        a.shuffle(20, seed=4).take(5),
        a.shuffle(4, seed=1).shuffle(4, seed=2),
        a.map(lambda x: x * 2).shuffle(6, seed=4),
        a.shuffle(6, seed=4).map(lambda x: x * 2),
        a.filter(lambda x: x % 2 == 0).shuffle(3, seed=8),
    ):
        out += [rows(ds), rows(ds)]
    return out


def sample(tf):
    D = tf.data.Dataset
    tf.random.set_seed(1)
    out = []
    a = D.from_tensors(0).repeat(30)
    b = D.from_tensors(1).repeat(30)
    c = D.from_tensors(2).repeat()
    out.append(rows(D.sample_from_datasets([a, b], seed=5)))
    out.append(rows(D.sample_from_datasets([a, b, c], weights=[0.2, 0.5, 0.3], seed=6).take(40)))
    out.append(
        rows(D.sample_from_datasets([a, b], weights=[0.9, 0.1], seed=6, stop_on_empty_dataset=True))
    )
    out.append(rows(D.sample_from_datasets([a, b], weights=[1.0, 0.0], seed=6)))
    ds = D.sample_from_datasets([a, b], seed=5)
    out.append(rows(ds) == rows(ds))
    ds = D.sample_from_datasets([a, b], seed=5, rerandomize_each_iteration=True)
    out.append(rows(ds) == rows(ds))
    return out


def choose(tf):
    D = tf.data.Dataset
    a = [D.from_tensors(s).repeat(k) for s, k in (("a", 2), ("b", 3))]
    return [
        rows(
            D.choose_from_datasets(a, D.from_tensor_slices(np.array([0, 1, 0, 1, 0, 1], np.int64)))
        ),
        rows(
            D.choose_from_datasets(
                a,
                D.from_tensor_slices(np.array([0, 1, 0, 1, 0, 1], np.int64)),
                stop_on_empty_dataset=False,
            )
        ),
    ]


def slices_dict(tf):
    ds = tf.data.Dataset.from_tensor_slices({"b": [1, 2], "a": (["x", "y"], [[1.0], [2.0]])})
    return [repr(ds), rows(ds), [sorted(x) for x in ds]]


def named(tf):
    ds = tf.data.Dataset.from_tensor_slices(Point([1, 2], [3.0, 4.0]))
    return [
        repr(ds),
        [type(e).__name__ for e in ds],
        rows(ds.map(lambda p: Point(p.y, p.x))),
        rows(ds.batch(2)),
    ]


def single(tf):
    return tf.data.Dataset.from_tensors([1, 2]).get_single_element().numpy()


def misc(tf):
    D = tf.data.Dataset
    o = [
        rows(D.from_tensor_slices(["a", "b", "a"]).unique()),
        rows(D.range(5).skip(1).take(3).enumerate(start=10)),
        rows(D.range(10).shard(3, 1)),
        rows(D.range(10).batch(4).rebatch([1, 3])),
        rows(D.range(10).batch(4).rebatch(3, drop_remainder=True)),
        rows(D.from_tensor_slices([[1, 2], [3, 4]]).unbatch()),
        rows(D.range(3).concatenate(D.range(2)).batch(2)),
        rows(D.range(5).batch(2, drop_remainder=True).batch(2)),
        rows(D.range(10).take_while(lambda x: x < 4)),
        bool(D.range(0)),
    ]
    it = iter(D.range(2))
    o += [
        it.get_next().numpy(),
        bool(it.get_next_as_optional().has_value()),
        bool(it.get_next_as_optional().has_value()),
    ]
    try:
        it.get_next()
    except tf.errors.OutOfRangeError:
        o.append("oor")
    try:
        next(it)
    except StopIteration:
        o.append("stop")
    o.append(repr(it.element_spec))
    o.append(repr(D.range(3).window(2).element_spec))
    o.append(rows(D.zip((D.range(3), (D.range(3).batch(2), D.range(5))))))
    o.append(rows(D.zip({"b": D.range(2), "a": D.range(3)})))
    return o


def files(tf):
    d = tempfile.mkdtemp()
    p = os.path.join(d, "a.txt")
    Path(p).write_bytes(b"x\ny\r\n\nz")
    q = os.path.join(d, "b.txt")
    Path(q).write_bytes(b"1\n2\n")
    T = tf.data.TextLineDataset
    z = os.path.join(d, "c.gz")
    Path(z).write_bytes(gzip.compress(b"q\nr\n"))
    o = [
        rows(T(p)),
        rows(T([p, q])),
        rows(T(tf.data.Dataset.from_tensor_slices([q, p]))),
        rows(T(z, compression_type="GZIP")),
        repr(T(p)),
    ]
    o.append(
        [
            os.path.basename(x).decode()
            for x in rows(tf.data.Dataset.list_files(d + "/*.txt", shuffle=False))
        ]
    )
    o.append(
        sorted(os.path.basename(x).decode() for x in rows(tf.data.Dataset.list_files(d + "/*")))
    )
    b = os.path.join(d, "d.bin")
    Path(b).write_bytes(b"HHabcdefFF")
    o.append(rows(tf.data.FixedLengthRecordDataset(b, 2, header_bytes=2, footer_bytes=2)))
    o.append(
        rows(
            tf.data.Dataset.from_tensor_slices([p, q]).interleave(
                lambda f: tf.data.TextLineDataset(f), cycle_length=2
            )
        )
    )
    r = os.path.join(d, "r.tfr")
    tf.data.experimental.TFRecordWriter(r).write(
        tf.data.Dataset.from_tensor_slices([b"one", b"", b"x" * 3000])
    )
    o.append([len(v) for v in rows(tf.data.TFRecordDataset(r))])
    o.append(Path(r).read_bytes())
    o.append(
        rows(
            tf.data.Dataset.from_tensor_slices([p]).map(lambda f: tf.strings.length(f) * 0)
            if hasattr(tf, "strings")
            else [0]
        )
        if False
        else 0
    )
    c = os.path.join(d, "e.csv")
    Path(c).write_text('a,b,c\n1,2.5,x\n3,,"y,z"\n')
    C = tf.data.experimental.CsvDataset
    o.append(rows(C(c, [tf.int32, 0.5, tf.string], header=True)))
    o.append(rows(C(c, [0.5, tf.string], header=True, select_cols=[1, 2])))
    m = tf.data.experimental.make_csv_dataset(c, 2, num_epochs=1, shuffle=False)
    o.append(rows(m))
    o.append(repr(m))
    m = tf.data.experimental.make_csv_dataset(
        c, 1, label_name="a", num_epochs=1, shuffle=False, select_columns=["a", "c"]
    )
    o.append(rows(m))
    o.append(repr(m))
    return o


def store(tf):
    d = tempfile.mkdtemp()
    ds = tf.data.Dataset.from_tensor_slices((["a", "bc"], [[1.0], [2.0]]))
    ds.save(d + "/s")
    loaded = tf.data.Dataset.load(d + "/s")
    o = [rows(loaded), repr(loaded.element_spec), int(loaded.cardinality())]
    c = tf.data.Dataset.range(4).cache(d + "/cache")
    o += [rows(c), rows(c)]
    s = tf.data.Dataset.range(4).snapshot(d + "/snap")
    o += [rows(s), rows(s)]
    return o


def caches(tf):
    n = [0]

    def g():
        n[0] += 1
        yield from range(3)

    c = tf.data.Dataset.from_generator(g, tf.int32).cache()
    return [rows(c), rows(c), n[0], sorted(rows(c.shuffle(5, seed=1))), n[0]]


def opts(tf):
    o = tf.data.Options()
    o.deterministic = False
    o.threading.private_threadpool_size = 3
    o.autotune.enabled = True
    o.experimental_optimization.map_fusion = True
    o.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    ds = tf.data.Dataset.range(3).with_options(o).batch(2)
    g = ds.options()
    return [
        g.deterministic,
        g.threading.private_threadpool_size,
        g.autotune.enabled,
        str(g.experimental_distribute.auto_shard_policy),
        o == g,
    ]


def asserts(tf):
    e = tf.data.experimental
    D = tf.data.Dataset
    return [
        len(D.range(6).filter(lambda x: x % 2 == 0).apply(e.assert_cardinality(3))),
        rows(D.range(6).filter(lambda x: x % 2 == 0).apply(e.assert_cardinality(3))),
        e.at(D.range(5), 3).numpy(),
        rows(e.from_list([(1, "a"), (2, "b")])),
        repr(e.from_list([(1, "a"), (2, "b")])),
        repr(e.get_structure(D.range(2))),
    ]


def strs(tf):
    D = tf.data.Dataset
    return [
        rows(D.from_tensor_slices(["a", "b", "c"]).batch(2)),
        rows(D.from_tensor_slices(["a", "b"]).map(lambda s: (s, s))),
        rows(D.from_tensor_slices([b"\xff", b""]).shuffle(1)),
        repr(D.from_tensor_slices(["a", "b"]).map(lambda s: (s, s))),
    ]


def dtypes(tf):
    D = tf.data.Dataset
    return [
        [x.dtype.name, x.numpy().tolist()]
        for t in (
            "float16",
            "bfloat16",
            "float64",
            "int8",
            "uint8",
            "uint16",
            "bool",
            "complex64",
            "int32",
        )
        for x in D.from_tensor_slices(tf.cast(tf.constant([0, 1]), t)).batch(2)
    ]


def empty(tf):
    D = tf.data.Dataset
    return [
        rows(D.from_tensor_slices(np.zeros((0, 3)))),
        rows(D.from_tensor_slices(np.zeros((0, 3))).batch(2)),
        rows(D.range(0).map(lambda x: x + 1).batch(2)),
        rows(D.range(0).shuffle(3)),
        rows(D.range(0).repeat()),
        repr(D.from_tensor_slices(np.zeros((0, 3))).map(lambda x: x + 1)),
    ]


def iters_indep(tf):
    ds = tf.data.Dataset.range(5)
    a = iter(ds)
    b = iter(ds)
    return [int(next(a)), int(next(a)), int(next(b)), [int(x) for x in a], [int(x) for x in b]]


def optional_loop(tf):
    it = iter(tf.data.Dataset.range(3))
    n = 0
    while True:
        o = it.get_next_as_optional()
        if not o.has_value():
            break
        n += int(o.get_value())
    return n


def bool_and_hash(tf):
    a = tf.data.Dataset.range(3)
    return [bool(a), a == a, a == tf.data.Dataset.range(3), len({a, a})]


def batch_drop_small(tf):
    return [
        rows(tf.data.Dataset.range(3).batch(5, drop_remainder=True)),
        rows(tf.data.Dataset.range(10).batch(np.int64(4))),
        rows(tf.data.Dataset.range(5).batch(tf.constant(2, tf.int64))),
    ]


def from_tensors_none(tf):
    return [
        repr(tf.data.Dataset.from_tensors((1, None))),
        rows(tf.data.Dataset.from_tensors((1, None))),
    ]


def list_of_arrays(tf):
    return [
        repr(tf.data.Dataset.from_tensor_slices([np.zeros(2), np.ones(2)])),
        rows(tf.data.Dataset.from_tensor_slices(list(range(3)))),
    ]


def take_zero_etc(tf):
    D = tf.data.Dataset
    return [
        rows(D.range(5).take(0)),
        rows(D.range(5).skip(-1)),
        rows(D.range(3).repeat(0)),
        rows(D.range(3).repeat(-1).take(4)),
        rows(D.range(3).skip(1).repeat(2)),
    ]
