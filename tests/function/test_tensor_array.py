"""`tf.TensorArray`: eager, in functions, with gradients, and as loops see it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tapejax


def outcome(line, names):
    """A result as plain values, or the class and the beginning of the text of an error."""
    try:
        result = eval(line, names)
    except (ValueError, names["tf"].errors.OpError) as error:
        return type(error).__name__, str(error)[:40]
    return result.numpy().tolist() if hasattr(result, "numpy") else "no tensor"


def steps(tf, name):
    """Calls on one array after another, in order."""
    n = int(name[0])
    options = {
        "": {},
        "kept": {"clear_after_read": False},
        "dynamic": {"dynamic_size": True},
        "mixed": {"infer_shape": False},
        "shaped": {"element_shape": []},
        "row": {"element_shape": [2]},
    }[name[1:]]
    return tf.TensorArray(tf.float32, size=n, **options)


# What is done to an array made by `steps`, in order; the result of each line is compared.
PROGRAMS = {
    "2": [
        "t.write(5, 1.)", "t.stack()", "t.read(0)", "t.write(-1, 1.)", "t.read(-1)", "t.read(7)",
        "t.write(0, tf.constant(1))", "t.write(0, 1).write(1, 2.).stack()", "t.read(0)",
        "t.read(0)", "t.stack()", "t.size()", "t.write(0, [1.])", "t.close()", "t.size()",
    ],
    "2kept": ["t.write(0, 1.)", "t.read(0)", "t.read(0)", "t.stack()", "t.gather([1, 0])"],
    "0dynamic": [
        "t.size()", "t.write(3, [1., 2.])", "t.stack()", "t.size()", "t.concat()",
        "t.gather([0, 3])", "t.write(0, [1., 2., 3.])", "t.write(t.size(), [3., 4.]).stack()",
        "t.unstack([[1.], [2.]]).stack()", "t.split([1., 2., 3.], [1, 2]).concat()",
    ],
    "2mixed": ["t.write(0, [1.]).write(1, [1., 2.]).concat()", "t.read(1)"],
    "3": [
        "t.scatter([2, 0], [[1.], [2.]]).stack()", "t.unstack([1., 2., 3., 4.])",
        "t.unstack([[1.], [2.], [3.]]).gather(tf.constant([2, 2]))", "t.unstack(1.)",
        "t.split([1., 2., 3.], [1, 1, 1]).concat()", "t.split([1., 2., 3.], [1, 1])",
        "t.split([1., 2., 3.], [1, 2])", "t.split([1., 2., 3.], 2)", "t.split(1., [1, 1, 1])",
    ],
    "2shaped": ["t.concat()", "t.stack()", "t.write(0, [1.])", "t.read(1)"],
    "0row": ["t.stack()", "t.size()"],
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_methods_and_errors_are_those_of_tensorflow(name):
    tensorflow = pytest.importorskip("tensorflow", reason="there is no wheel for this Python")
    ours, theirs = steps(tapejax, name), steps(tensorflow, name)
    for line in PROGRAMS[name]:
        mine = outcome(line, {"t": ours, "tf": tapejax})
        assert mine == outcome(line, {"t": theirs, "tf": tensorflow}), line


def test_attributes(tf):
    array = tf.TensorArray("float64", tf.constant(2), element_shape=[None, 3])
    assert array.dtype == tf.float64
    assert array.element_shape.as_list() == [None, 3]
    assert array.dynamic_size is False
    assert array.handle is None
    assert int(array.flow) == 0
    assert array.identity() is array
    array.write(0, tf.ones([2, 3], tf.float64))
    assert array.element_shape.as_list() == [2, 3]
    for options in ({}, {"size": 1, "handle": tf.constant(1.0)}):
        with pytest.raises(ValueError, match="eager"):
            tf.TensorArray(tf.float32, **options)


def test_gradients_flow_through_every_method(tf):
    x = tf.Variable([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        array = tf.TensorArray(tf.float32, 4, clear_after_read=False)
        for i in range(4):
            array = array.write(i, x[i] * x[i])
        results = [
            tf.reduce_sum(array.stack() * [1.0, 10.0, 100.0, 1000.0]),
            array.read(2),
            tf.reduce_sum(array.gather([1, 1])),
            tf.reduce_sum(tf.TensorArray(tf.float32, 2).split(x, [1, 3]).concat() ** 2),
            tf.reduce_sum(tf.TensorArray(tf.float32, 4).unstack(x).stack() ** 3),
            tf.reduce_sum(tf.TensorArray(tf.float32, 4).scatter([3, 2, 1, 0], x).read(0) ** 2),
        ]
    gradients = [tf.convert_to_tensor(tape.gradient(y, x)).numpy().tolist() for y in results]
    assert gradients == [
        [2.0, 40.0, 600.0, 8000.0],
        [0.0, 0.0, 6.0, 0.0],
        [0.0, 8.0, 0.0, 0.0],
        [2.0, 4.0, 6.0, 8.0],
        [3.0, 12.0, 27.0, 48.0],
        [0.0, 0.0, 0.0, 8.0],
    ]


def test_indices_may_be_traced(tf):
    @tf.function
    def f(x, i):
        array = tf.TensorArray(tf.float32, 3).unstack(x)
        array = array.write(i, x[0] * 10.0)
        return array.stack(), array.read(i), array.size(), array.gather([i, 0])

    x = tf.constant([1.0, 2.0, 3.0])
    for i in range(1, 3):
        stacked, read, size, gathered = f(x, tf.constant(i))
        expected = [1.0, 2.0, 3.0]
        expected[i] = 10.0
        assert stacked.numpy().tolist() == expected
        assert (float(read), int(size)) == (10.0, 3)
        assert gathered.numpy().tolist() == [10.0, 1.0]
    for i in (3, -1):
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"element {i} in a list with 3"):
            f(x, tf.constant(i))


def test_gradients_flow_through_traced_indices(tf):
    def loss(x, i):
        array = tf.TensorArray(tf.float32, 3).unstack(x)
        array = array.write(i, x[0] * 10.0)
        return tf.reduce_sum(array.stack() ** 2) + array.read(i)

    @tf.function
    def gradient(x, i):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loss(x, i)
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(loss)(x, tf.constant(1))
    for found in (gradient(x, tf.constant(1)), tape.gradient(y, x)):
        assert found.numpy().tolist() == [2.0 + 200.0 + 10.0, 0.0, 6.0]


def test_a_write_inside_a_function_changes_only_the_array_it_returns():
    tf = tapejax
    eager = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0])

    @tf.function
    def f(x):
        first = tf.TensorArray(tf.float32, 2).unstack(x)
        second = first.write(0, 7.0)
        third = eager.write(0, x[1] * 100.0)
        return first.stack(), second.stack(), third.stack()

    first, second, third = f(tf.constant([1.0, 2.0]))
    assert first.numpy().tolist() == [1.0, 2.0]
    assert second.numpy().tolist() == [7.0, 2.0]
    assert third.numpy().tolist() == [200.0, 2.0]
    assert eager.stack().numpy().tolist() == [1.0, 2.0]


def test_a_function_returns_an_array():
    tf = tapejax

    @tf.function
    def f(x, i):
        fixed = tf.TensorArray(tf.float32, 3).unstack(x).write(i, 9.0)
        grown = tf.TensorArray(tf.float32, 0, dynamic_size=True).write(1, x[0])
        return {"fixed": fixed, "grown": grown}

    for i in (0, 2):
        found = f(tf.constant([1.0, 2.0, 3.0]), tf.constant(i))
        expected = [1.0, 2.0, 3.0]
        expected[i] = 9.0
        assert found["fixed"].stack().numpy().tolist() == expected
        assert int(found["grown"].size()) == 2
        found["grown"].write(3, 5.0)  # eager again: the array itself changes
        assert found["grown"].stack().numpy().tolist() == [0.0, 1.0, 0.0, 5.0]
        assert float(found["fixed"].read(i)) == 9.0
        with pytest.raises(tf.errors.OutOfRangeError, match="Tried to write to index 3"):
            found["fixed"].write(3, 1.0)


def test_an_array_is_an_argument():
    tf = tapejax
    traced = []

    @tf.function
    def f(array, i):
        traced.append(array.dtype)
        return array.read(i), array.write(i, array.read(0) * 10.0)

    for values in ([1.0, 2.0], [3.0, 4.0]):
        array = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(values)
        read, written = f(array, tf.constant(1))
        assert float(read) == values[1]
        assert written.stack().numpy().tolist() == [values[0], values[0] * 10.0]
        assert array.stack().numpy().tolist() == values
    assert len(traced) == 1
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        read, written = f(tf.TensorArray(tf.float32, 2).unstack(x), tf.constant(0))
        y = tf.reduce_sum(written.stack() ** 2)
    assert tape.gradient(y, x).numpy().tolist() == [200.0, 4.0]


def test_components_are_what_a_loop_carries():
    tf = tapejax
    empty = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    assert empty.components() == []
    room = empty.reserve(4, [2])
    buffer, size = room.components()
    assert (buffer.shape.as_list(), int(size)) == ([4, 2], 0)

    @tf.function
    def f(buffer, size, i):
        array = room.with_components([buffer, size])
        array = array.write(i, [1.0, 2.0])
        array = array.write(array.size(), [3.0, 4.0])
        buffer, size = array.components()
        return buffer, size, array

    buffer, size, array = f(buffer, size, tf.constant(1))
    assert buffer.numpy().tolist() == [[0.0, 0.0], [1.0, 2.0], [3.0, 4.0], [0.0, 0.0]]
    assert int(size) == int(array.size()) == 3
    assert array.stack().numpy().tolist() == buffer.numpy().tolist()[:3]
    (only,) = tf.TensorArray(tf.float32, 2).unstack([1.0, 2.0]).components()
    assert only.numpy().tolist() == [1.0, 2.0]
    parts = tf.nest.flatten([array], expand_composites=True)
    assert len(parts) == 2
    again = tf.nest.pack_sequence_as([array], parts, expand_composites=True)[0]
    assert again.stack().numpy().tolist() == [[0.0, 0.0], [1.0, 2.0], [3.0, 4.0]]


def test_an_array_of_unknown_size_is_stacked_only_when_it_is_full():
    tf = tapejax

    @tf.function
    def f(n):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True).reserve(3, [])
        return array.write(n - 1, 1.0).stack()

    assert f(tf.constant(3)).numpy().tolist() == [0.0, 0.0, 1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"of 2 elements .* compiled for 3"):
        f(tf.constant(2))


def test_arrays_of_every_dtype(tf):
    for dtype in (tf.float16, tf.int64, tf.bool, tf.complex64, tf.string):
        value = tf.constant("a") if dtype == tf.string else tf.cast(tf.constant(1), dtype)
        array = tf.TensorArray(dtype, 2)
        array.write(0, value).write(1, value)
        assert array.read(1).dtype == dtype
        if dtype != tf.string or tf is not tapejax:
            assert np.array_equal(array.gather([0]).numpy(), [value.numpy()])


def test_elements_are_freed_with_the_array_or_when_read():
    tf = tapejax
    array = tf.TensorArray(tf.float32, 2)
    for i in range(2):
        array.write(i, tf.ones([3]) * 2.0)
    refs = [weakref.ref(array._store.items[i]) for i in range(2)]
    array.read(0)
    gc.collect()
    assert refs[0]() is None
    del array
    gc.collect()
    assert refs[1]() is None
