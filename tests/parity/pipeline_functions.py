"""Programs with functions in `tf.data` that must do the same in TensorFlow and in tapejax.

Each takes the library as `tf` and returns what must be equal.
"""

from __future__ import annotations

import collections
import functools

import numpy as np

Point = collections.namedtuple("Point", "x y")


def rows(dataset):
    """The elements as NumPy values."""
    return list(dataset.as_numpy_iterator())


def windows(tf):
    D = tf.data.Dataset
    out = []
    for args in (
        (3,),
        (3, 1),
        (3, 2),
        (3, 5),
        (3, 1, 2),
        (3, 1, 1, True),
        (3, 2, 1, True),
        (2, 3, 2, True),
        (5, 2, 3),
    ):
        out.append([rows(w) for w in D.range(8).window(*args)])
    return out


def window_tuple(tf):
    D = tf.data.Dataset
    ds = D.from_tensor_slices((np.arange(5), np.arange(5) * 1.0)).window(2)
    return [
        type(next(iter(ds))).__name__ == "tuple",
        [(rows(a), rows(b)) for a, b in ds],
        repr(ds),
        rows(ds.flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(2), b.batch(2))))),
    ]


def inter(tf):
    D = tf.data.Dataset
    out = []
    for n, c, b in ((4, 2, 1), (5, 3, 2), (6, 4, 3), (3, 5, 1), (7, 2, 4)):
        out.append(
            rows(
                D.range(n).interleave(
                    lambda x: D.from_tensors(x).repeat(x + 1), cycle_length=c, block_length=b
                )
            )
        )
        out.append(
            rows(
                D.range(n).interleave(
                    lambda x: D.from_tensors(x).repeat(x + 1),
                    cycle_length=c,
                    block_length=b,
                    num_parallel_calls=2,
                )
            )
        )
    return out


def padded(tf):
    D = tf.data.Dataset
    g = D.from_generator(
        lambda: iter(
            [([1], b"a", [[1.0, 2.0]]), ([1, 2], b"b", [[1.0]]), ([], b"c", [[1.0], [2.0]])]
        ),
        output_signature=(
            tf.TensorSpec((None,), tf.int32),
            tf.TensorSpec((), tf.string),
            tf.TensorSpec((None, None), tf.float32),
        ),
    )
    out = [
        rows(g.padded_batch(2)),
        rows(g.padded_batch(3, padded_shapes=([4], [], [None, 3]), padding_values=(-1, b"", 9.0))),
        repr(g.padded_batch(2)),
        repr(g.padded_batch(3, padded_shapes=([4], [], [None, 3]))),
    ]
    out.append(rows(g.map(lambda a, b, c: a).padded_batch(2, padding_values=7)))
    out.append(
        rows(
            g.map(lambda a, b, c: {"x": a}).padded_batch(
                2, padded_shapes={"x": [None]}, drop_remainder=True
            )
        )
    )
    return out


def gens(tf):
    D = tf.data.Dataset
    out = []
    out.append(rows(D.from_generator(lambda: range(3), tf.int64)))
    out.append(repr(D.from_generator(lambda: range(3), tf.int64)))
    out.append(
        rows(D.from_generator(lambda: iter([(1, "a"), (2, "b")]), (tf.int32, tf.string), ((), ())))
    )
    out.append(
        rows(
            D.from_generator(
                lambda: iter([{"a": 1, "b": [1.0, 2.0]}]),
                output_signature={
                    "a": tf.TensorSpec((), tf.int32),
                    "b": tf.TensorSpec((2,), tf.float32),
                },
            )
        )
    )
    out.append(
        rows(
            D.from_generator(
                lambda n, m: (i * m for i in range(n)),
                args=(3, 2.5),
                output_signature=tf.TensorSpec((), tf.float32),
            )
        )
    )

    def count():
        for i in range(2):
            yield (i, i * 2)

    out.append(rows(D.from_generator(count, output_types=(tf.int32, tf.float32))))
    out.append(
        [
            x.dtype.name
            for x in D.from_generator(
                lambda: iter([np.float64(1.5)]), output_signature=tf.TensorSpec((), tf.float32)
            )
        ]
    )
    out.append(
        rows(D.from_generator(count, output_types=(tf.int32, tf.float32)).repeat(2).batch(3))
    )
    return out


def ignore(tf):
    return rows(
        tf.data.Dataset.from_tensor_slices([1.0, 2.0, 0.0, 4.0])
        .map(lambda x: tf.debugging.check_numerics(1.0 / x, "e"))
        .ignore_errors()
    )


def ignore2(tf):
    return rows(
        tf.data.Dataset.from_tensor_slices([1.0, 2.0, 0.0, 4.0, 5.0])
        .map(lambda x: tf.debugging.check_numerics(1.0 / x, "e"))
        .batch(2)
        .ignore_errors()
    )


def reduces(tf):
    D = tf.data.Dataset
    return [
        D.range(5).reduce(np.int64(0), lambda s, x: s + x).numpy(),
        [
            t.numpy()
            for t in D.range(5).reduce((0, np.int64(1)), lambda s, x: (s[0] + 1, s[1] * (x + 1)))
        ],
        D.range(0).reduce(7, lambda s, x: s).numpy(),
        D.from_tensor_slices(([1.0, 2.0], [3, 4]))
        .reduce(0.0, lambda s, e: s + e[0] * tf.cast(e[1], tf.float32))
        .numpy(),
        {
            k: v.numpy()
            for k, v in D.range(3).reduce({"n": 0}, lambda s, _: {"n": s["n"] + 1}).items()
        },
    ]


def scans(tf):
    D = tf.data.Dataset
    ds = D.range(5).scan(np.int64(0), lambda s, x: (s + x, (s, x)))
    return [rows(ds), repr(ds)]


def groups(tf):
    D = tf.data.Dataset
    ds = D.range(13).group_by_window(
        key_func=lambda x: x % 3, reduce_func=lambda k, d: d.batch(2), window_size=4
    )
    out = [rows(ds), repr(ds)]
    out.append(
        rows(
            D.range(13).group_by_window(
                lambda x: x % 2,
                lambda k, d: d.map(lambda v: v * 10 + k).batch(5),
                window_size_func=lambda k: k + 2,
            )
        )
    )
    return out


def buckets(tf):
    D = tf.data.Dataset
    els = [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19, 20], [21, 22]]
    ds = D.from_generator(lambda: iter(els), tf.int64, output_shapes=[None])
    o = [rows(ds.bucket_by_sequence_length(lambda e: tf.shape(e)[0], [3, 5], [2, 2, 2]))]
    o.append(repr(ds.bucket_by_sequence_length(lambda e: tf.shape(e)[0], [3, 5], [2, 2, 2])))
    o.append(
        rows(
            ds.take(3).bucket_by_sequence_length(
                lambda e: tf.shape(e)[0],
                [3, 5],
                [2, 2, 2],
                pad_to_bucket_boundary=True,
                padding_values=np.int64(-1),
            )
        )
    )
    return o


def infn(tf):
    ds = tf.data.Dataset.from_tensor_slices((np.arange(7.0), np.arange(7))).batch(3)
    v = tf.Variable(0.0, dtype=tf.float64)

    @tf.function
    def f(d):
        n = 0
        for x, _ in d:
            if tf.reduce_sum(x) > 100.0:
                continue
            v.assign_add(tf.reduce_sum(x))
            n += 1
            if n == 2:
                break
        return n

    @tf.function
    def g():
        t = tf.constant(0, tf.int64)
        for i, (_, y) in ds.enumerate():
            t += i * tf.reduce_sum(y)
        return t

    @tf.function
    def h(n):
        it = iter(ds)
        s = tf.constant(0.0, tf.float64)
        for _ in range(n):
            s += tf.reduce_sum(next(it)[0])
        return s

    @tf.function
    def k():
        return ds.reduce(np.int64(0), lambda s, e: s + tf.reduce_sum(e[1]))

    return [int(f(ds)), v.numpy(), g().numpy(), h(2).numpy(), k().numpy()]


def nested_map_ds(tf):
    D = tf.data.Dataset
    ds = D.range(3).map(lambda x: D.range(x))
    return [repr(ds), [rows(d) for d in ds]]


def varmap(tf):
    v = tf.Variable(1, dtype=tf.int64)
    ds = tf.data.Dataset.range(3).map(lambda x: x * v)
    a = rows(ds)
    v.assign(5)
    return [a, rows(ds)]


def closure(tf):
    c = tf.constant([10, 20, 30])
    return rows(tf.data.Dataset.range(3).map(lambda i: c[i]))


def ds_in_struct(tf):
    D = tf.data.Dataset
    ds = D.range(6).batch(3).map(lambda x: {"a": x, "b": (x + 1, tf.cast(x, tf.float32))})
    o = [repr(ds), rows(ds), repr(ds.unbatch()), rows(ds.unbatch().batch(4))]
    o.append(rows(ds.unbatch().filter(lambda d: d["a"] % 2 == 0).map(lambda d: d["b"][0])))
    return o


def nested_fn(tf):

    @tf.function
    def inner(x):
        return x * 3

    class M:
        def __call__(self, x):
            return inner(x) + 1

        def m(self, x):
            return x - 1

    return [
        rows(tf.data.Dataset.range(3).map(M())),
        rows(tf.data.Dataset.range(3).map(M().m)),
        rows(tf.data.Dataset.range(3).map(functools.partial(lambda a, x: a + x, 10))),
        rows(tf.data.Dataset.range(3).map(inner)),
    ]


def rands(tf):
    tf.random.set_seed(5)
    ds = tf.data.Dataset.range(4).map(lambda x: tf.random.stateless_uniform([2], [x, x + 1]))
    r = tf.data.Dataset.range(4).map(lambda x: tf.random.uniform([]))
    a = rows(r)
    return [rows(ds), len(set(map(float, a))) == 4]


def seeded_op(tf):
    r = tf.data.Dataset.range(4).map(lambda x: tf.random.uniform([], seed=3))
    return rows(r)


def nextfn(tf):
    it = iter(tf.data.Dataset.range(7).batch(3))

    @tf.function
    def f(it):
        return tf.reduce_sum(next(it))

    o = []
    try:
        while True:
            o.append(int(f(it)))
    except tf.errors.OutOfRangeError:
        o.append("end")
    return o


def enumerate_fn(tf):
    D = tf.data.Dataset

    @tf.function
    def f():
        s = tf.constant(0, tf.int64)
        for a, b in D.zip((D.range(3), D.range(3, 6))):
            s += a * b
        return s

    @tf.function
    def g(n):
        s = tf.constant(0, tf.int64)
        for x in D.range(n):
            s += x
        return s

    return [int(f()), int(g(4)), int(g(tf.constant(4, tf.int64)))]


def reject(tf):
    D = tf.data.Dataset
    tf.random.set_seed(3)
    ds = D.from_tensor_slices(np.random.RandomState(0).randint(0, 2, 3000)).rejection_resample(
        lambda x: tf.cast(x, tf.int32), [0.2, 0.8], initial_dist=[0.5, 0.5], seed=4
    )
    v = [int(a) for a, _ in ds]
    return [repr(ds), abs(np.mean(v) - 0.8) < 0.04]


def an_iterator_goes_on_after_an_error(tf):
    it = iter(
        tf.data.Dataset.from_tensor_slices([1.0, 0.0, 2.0]).map(
            lambda x: tf.debugging.check_numerics(1.0 / x, "e")
        )
    )
    o = []
    while True:
        try:
            o.append(float(next(it)))
        except StopIteration:
            break
        except tf.errors.InvalidArgumentError:
            o.append("err")
    return o


def a_thread_goes_on_after_an_error(tf):
    it = iter(
        tf.data.Dataset.from_tensor_slices([1.0, 0.0, 2.0])
        .map(lambda x: tf.debugging.check_numerics(1.0 / x, "e"))
        .prefetch(2)
    )
    o = []
    while True:
        try:
            o.append(float(next(it)))
        except StopIteration:
            break
        except tf.errors.InvalidArgumentError:
            o.append("err")
    return o
