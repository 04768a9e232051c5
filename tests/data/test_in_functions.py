"""`for x in dataset` and `next(iterator)` in functions that are traced."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tapejax


@pytest.fixture(autouse=True)
def _converts(request):
    """TensorFlow that does not convert a loop goes over the dataset without end."""
    library = request.getfixturevalue("tf") if "tf" in request.fixturenames else tapejax
    if library is not tapejax and sys.version_info >= (3, 13):
        pytest.skip("TensorFlow's AutoGraph does not convert these on Python 3.13")


def ragged(tf):
    """Elements of different shapes, of unknown number."""
    return tf.data.Dataset.from_generator(
        lambda: iter([[1], [1, 2], [1, 2, 3]]), output_signature=tf.TensorSpec((None,), tf.int32)
    )


def test_a_loop_over_batches_with_a_smaller_last_one(tf):
    dataset = tf.data.Dataset.from_tensor_slices((np.arange(7.0), np.arange(7))).batch(3)

    @tf.function
    def sums(data):
        total = tf.constant(0.0, tf.float64)
        count = 0
        for x, y in data:
            total += tf.reduce_sum(x) * tf.cast(y[0], tf.float64)
            count += 1
        return total, count

    total, count = sums(dataset)
    assert (float(total), int(count)) == (0.0 * 3 + 3.0 * 12 + 6.0 * 6, 3)


def test_break_and_continue(tf):
    dataset = tf.data.Dataset.range(10)

    @tf.function
    def some():
        total = tf.constant(0, tf.int64)
        for x in dataset:
            if x % 2 == 0:
                continue
            if x > 6:
                break
            total += x
        return total

    assert int(some()) == 1 + 3 + 5


def test_variables_change_in_the_loop(tf):
    state = tf.Variable(1.0)
    dataset = tf.data.Dataset.from_tensor_slices([2.0, 3.0, 4.0])

    @tf.function
    def epoch():
        for x in dataset:
            state.assign(state * x)

    epoch()
    epoch()
    assert float(state) == 24.0 * 24.0


def test_each_call_shuffles_anew(tf):
    dataset = tf.data.Dataset.range(100).shuffle(100, seed=3)

    @tf.function
    def order():
        found = tf.TensorArray(tf.int64, size=100)
        for i, x in dataset.enumerate():
            found = found.write(tf.cast(i, tf.int32), x)
        return found.stack()

    first, second = order().numpy(), order().numpy()
    assert sorted(first) == sorted(second) == list(range(100))
    assert first.tolist() != second.tolist()


def test_elements_of_different_shapes(tf):
    total = tf.Variable(0)
    dataset = ragged(tf)

    @tf.function
    def epochs(n):
        for _ in tf.range(n):
            for x in dataset:
                total.assign_add(tf.reduce_sum(x))
                if tf.shape(x)[0] == 2:
                    break
        return total.read_value()

    assert int(epochs(tf.constant(2))) == 8
    assert int(epochs(tf.constant(1))) == 12


def test_a_dataset_made_inside(tf):
    @tf.function
    def total(n):
        result = tf.constant(0, tf.int64)
        for x in tf.data.Dataset.range(n).map(lambda v: v * v):
            result += x
        return result

    assert int(total(tf.constant(4, tf.int64))) == 14


def test_next_takes_one_element_each_call_and_the_last_may_be_smaller(tf):
    iterator = iter(tf.data.Dataset.range(7).batch(3))

    @tf.function
    def step(it):
        return tf.reduce_sum(next(it))

    found = [int(step(iterator)) for _ in range(3)]
    assert found == [3, 12, 6]
    with pytest.raises(tf.errors.OutOfRangeError):
        step(iterator)


def test_two_elements_for_each_call(tf):
    iterator = iter(tf.data.Dataset.range(9).batch(2))

    @tf.function
    def step():
        a = next(iterator)
        b = next(iterator)
        return tf.reduce_sum(a) * 100 + tf.reduce_sum(b)

    assert [int(step()), int(step())] == [105, 913]


def test_a_draw_that_does_not_fit_takes_nothing_from_other_iterators():
    tf = tapejax
    numbers = iter(tf.data.Dataset.range(10))
    batches = iter(tf.data.Dataset.range(5).batch(2))
    runs = []

    @tf.function
    def step():
        runs.append(1)
        return next(numbers) * 10 + tf.reduce_sum(next(batches))

    assert [int(step()) for _ in range(3)] == [1, 15, 24]
    assert len(runs) == 2  # traced, and run as Python for the last batch


def test_several_steps_in_a_loop(tf):
    iterator = iter(tf.data.Dataset.range(10))

    @tf.function
    def steps(it):
        total = tf.constant(0, tf.int64)
        for _ in tf.range(3):
            total = total * 10 + next(it)
        return total

    assert int(steps(iterator)) == 12
    assert int(steps(iterator)) == 345


def test_an_iterator_made_inside_begins_anew(tf):
    dataset = tf.data.Dataset.range(3)

    @tf.function
    def first_two():
        iterator = iter(dataset)
        return next(iterator) * 10 + next(iterator)

    assert [int(first_two()), int(first_two())] == [1, 1]


def test_reduce_inside(tf):
    dataset = tf.data.Dataset.range(5)

    @tf.function
    def total(start):
        return dataset.reduce(start, lambda s, x: s + x)

    assert int(total(tf.constant(100, tf.int64))) == 110


def test_a_training_epoch_learns(tf):
    x = np.linspace(-1.0, 1.0, 32, dtype=np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((x, 3.0 * x)).batch(8)
    weight = tf.Variable(0.0)

    @tf.function
    def epoch():
        for inputs, targets in dataset:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((weight * inputs - targets) ** 2)
            weight.assign_sub(0.5 * tape.gradient(loss, weight))

    for _ in range(20):
        epoch()
    np.testing.assert_allclose(weight.numpy(), 3.0, rtol=1e-3)


def test_a_gradient_through_the_loop():
    tf = tapejax
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(1.0, 6.0, dtype=np.float32)).batch(2)
    weight = tf.Variable(2.0)

    @tf.function
    def loss():
        total = 0.0
        for x in dataset:
            total += tf.reduce_sum(weight * weight * x)
        return total

    with tf.GradientTape() as tape:
        value = loss()
    assert float(value) == 60.0
    assert float(tape.gradient(value, weight)) == 60.0  # 2 * weight * 15


def test_a_function_is_traced_once_for_a_dataset():
    tf = tapejax
    traces = []
    dataset = tf.data.Dataset.range(20).batch(6)

    @tf.function
    def total():
        traces.append(1)
        result = tf.constant(0, tf.int64)
        for x in dataset:
            result += tf.reduce_sum(x)
        return result

    assert [int(total()), int(total())] == [190, 190]
    assert len(traces) == 1
    assert total.experimental_get_tracing_count() == 1


def test_a_function_that_runs_as_python_has_no_concrete_function():
    tf = tapejax
    dataset = ragged(tf)

    @tf.function
    def total():
        result = 0
        for x in dataset:
            result += tf.reduce_sum(x)
        return result

    assert int(total()) == 10
    with pytest.raises(NotImplementedError, match="not known beforehand"):
        total.get_concrete_function()


def test_a_function_around_one_that_runs_as_python():
    tf = tapejax
    dataset = ragged(tf)

    @tf.function
    def inner(x):
        for y in dataset:
            x += tf.reduce_sum(y)
        return x

    @tf.function
    def outer(x):
        return inner(x) * 2

    assert int(outer(tf.constant(1))) == 22
