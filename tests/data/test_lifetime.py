"""Iterators, threads and memory: what is dropped is gone, what is shared stays right."""

from __future__ import annotations

import concurrent.futures
import functools
import gc
import threading
import time
import weakref

import numpy as np
import pytest

import tapejax as tf

Dataset = tf.data.Dataset


def slow(dataset):
    """Elements that a thread must compute ahead."""
    return dataset.map(lambda x: tf.py_function(lambda y: y, [x], tf.TensorSpec((), tf.int64)))


def threads_of_pipelines():
    return [t for t in threading.enumerate() if t.name.startswith("tapejax-data")]


def collect_twice():
    """What the end of one object sets free may be a cycle of its own."""
    gc.collect()
    gc.collect()


def wait_for(condition):
    deadline = time.monotonic() + 10.0
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert condition()


def test_a_prefetching_thread_ends_when_its_iterator_is_dropped():
    iterator = iter(slow(Dataset.range(1000)).prefetch(2))
    assert int(next(iterator)) == 0
    assert len(threads_of_pipelines()) == 1
    del iterator
    gc.collect()
    wait_for(lambda: not threads_of_pipelines())


def test_a_prefetching_thread_ends_with_its_elements():
    assert [int(x) for x in slow(Dataset.range(5)).prefetch(3)] == [0, 1, 2, 3, 4]
    gc.collect()
    wait_for(lambda: not threads_of_pipelines())


def test_the_threads_of_a_map_end_when_the_iterator_is_dropped():
    def square(x):
        return tf.py_function(lambda y: y * y, [x], tf.TensorSpec((), tf.int64))

    iterator = iter(Dataset.range(100).map(square, num_parallel_calls=4))
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 4]
    del iterator
    gc.collect()
    wait_for(lambda: not threads_of_pipelines())


def test_prefetching_reads_no_further_than_its_buffer():
    seen = []

    def numbers():
        for i in range(100):
            seen.append(i)
            yield i

    spec = tf.TensorSpec((), tf.int64)
    iterator = iter(Dataset.from_generator(numbers, output_signature=spec).prefetch(3))
    assert int(next(iterator)) == 0
    time.sleep(0.2)
    assert len(seen) <= 1 + 3 + 1  # taken, ready, and one in the hands of the thread


def test_an_error_in_a_thread_is_raised_where_the_element_is_asked_for():
    def fail(x):
        if x == 2:
            raise ValueError("two is too much")
        return x

    def call(x):
        return tf.py_function(fail, [x], tf.TensorSpec((), tf.int64))

    iterator = iter(Dataset.range(4).map(call).prefetch(4))
    assert [int(next(iterator)), int(next(iterator))] == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="two is too much"):
        next(iterator)


def test_several_threads_share_one_iterator():
    iterator = iter(Dataset.range(400).map(lambda x: x + 1).prefetch(2))

    def take_all():
        return [int(x) for x in iterator]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda _: take_all(), range(4)))
    assert sorted(x for part in parts for x in part) == list(range(1, 401))


def test_several_threads_iterate_over_one_dataset():
    dataset = Dataset.range(200).cache().map(lambda x: x * 2).batch(7)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        sums = list(pool.map(lambda _: sum(int(tf.reduce_sum(x)) for x in dataset), range(4)))
    assert sums == [200 * 199] * 4


def test_nothing_keeps_a_dataset_that_was_dropped():
    class Kept:
        """Something that a map function holds."""

        two = 2

    def scaled(holder, x):
        return x * holder.two

    held = Kept()
    dataset = (
        Dataset.from_tensor_slices(np.arange(50)).map(functools.partial(scaled, held)).batch(5)
    )
    assert sum(int(tf.reduce_sum(x)) for x in dataset) == 50 * 49
    gone = weakref.ref(held)
    node = weakref.ref(dataset.node)
    del dataset, held
    gc.collect()
    assert gone() is None
    assert node() is None


def test_a_function_forgets_a_dataset_it_was_given():
    @tf.function
    def total(data):
        result = tf.constant(0, tf.int64)
        for x in data:
            result += x
        return result

    dataset = Dataset.range(5)
    assert int(total(dataset)) == 10
    node = weakref.ref(dataset.node)
    del dataset
    collect_twice()
    assert node() is None


def test_a_function_forgets_an_iterator_it_was_given():
    @tf.function
    def double(iterator):
        return next(iterator) * 2

    dataset = Dataset.range(5)
    iterator = iter(dataset)
    assert [int(double(iterator)), int(double(iterator))] == [0, 2]
    gone = weakref.ref(iterator.cursor)
    del iterator
    collect_twice()
    assert gone() is None


def test_the_arrays_of_the_user_may_change_afterwards():
    values = np.arange(4)
    dataset = Dataset.from_tensor_slices(values)
    values[:] = -1
    assert [int(x) for x in dataset] == [0, 1, 2, 3]


def test_arrays_that_are_handed_out_cannot_change_the_dataset():
    dataset = Dataset.from_tensor_slices(np.zeros((2, 3)))
    (first, _) = dataset.as_numpy_iterator()
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1.0
    copy = next(iter(dataset)).numpy()
    copy[:] = 5.0
    assert [x.tolist() for x in dataset.as_numpy_iterator()] == [[0.0] * 3] * 2


def test_a_map_under_a_tape_is_not_part_of_the_gradient():
    weight = tf.Variable(3.0)
    dataset = Dataset.from_tensor_slices([1.0, 2.0]).map(lambda x: x * weight)
    with tf.GradientTape() as tape:
        total = tf.constant(0.0)
        for x in dataset:
            total += weight * x
    assert float(total) == 27.0
    assert float(tape.gradient(total, weight)) == 9.0  # the sum of the elements 3 and 6


def test_a_map_of_arrays_calls_its_program_for_many_elements_at_once():
    runs = []

    def double(x):
        runs.append(x.shape)
        return x * 2

    dataset = Dataset.range(1000).map(double).batch(100)
    assert [int(b[0]) for b in dataset] == list(range(0, 2000, 200))
    assert len(runs) == 1  # traced where it was given, and never run as Python
