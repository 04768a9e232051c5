"""What is dropped is freed at once; many steps do not grow the process."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import numpy as np
import psutil
import pytest

import tapejax as tf
from tapejax._src.engine import flush

MEBIBYTE = 2**20


@pytest.fixture(autouse=True)
def no_garbage_collector() -> Iterator[None]:
    """Reference counts alone must free things: no cycles."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_a_dropped_tensor_is_freed():
    x = tf.constant([1.0, 2.0])
    y = x * x
    y.numpy()
    of_x, of_y = weakref.ref(x), weakref.ref(y)
    del x, y
    assert (of_x(), of_y()) == (None, None)


def test_a_tensor_that_was_never_read_is_freed():
    y = tf.constant([1.0, 2.0]) * 3.0
    of_y = weakref.ref(y)
    del y
    assert of_y() is None


def test_a_dropped_variable_is_freed():
    v = tf.Variable([1.0, 2.0])
    v.assign_add([1.0, 1.0])
    v.numpy()
    of_v = weakref.ref(v)
    del v
    assert of_v() is None


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("read", [False, True])
def test_a_dropped_tape_is_freed_with_what_it_recorded(persistent, read):
    def step():
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape(persistent=persistent) as tape:
            y = tf.reduce_sum(v * v)
            if read:
                y.numpy()
        gradient = tape.gradient(y, v)
        return gradient.numpy(), [weakref.ref(thing) for thing in (tape, v, y, gradient)]

    gradient, references = step()
    assert list(gradient) == [2.0, 4.0]
    assert [reference() for reference in references] == [None] * 4


def test_a_tape_that_was_never_asked_is_freed():
    def step():
        v = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = v * v
        return [weakref.ref(thing) for thing in (tape, v, y)]

    assert [reference() for reference in step()] == [None] * 3


def test_an_exception_in_the_block_holds_nothing():
    references = []

    def step():
        v = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            references.extend(weakref.ref(thing) for thing in (tape, v))
            v * v
            raise KeyError("in the block")

    with pytest.raises(KeyError):
        step()
    assert [reference() for reference in references] == [None] * 2


def test_many_steps_do_not_grow_the_process():
    weights, rate = tf.Variable([[0.1] * 64] * 64), 0.01
    x = tf.constant([[1.0] * 64])

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.tanh(tf.matmul(x, weights))))
        weights.assign_sub(rate * tape.gradient(loss, weights))
        return float(loss)

    for _ in range(200):
        step()
    before = psutil.Process().memory_info().rss
    for _ in range(2000):
        step()
    assert psutil.Process().memory_info().rss - before < 5 * MEBIBYTE


def test_programs_that_never_repeat_are_dropped_in_the_end(monkeypatch):
    monkeypatch.setattr(flush, "KEPT_LIMIT", 5)
    x = tf.constant([1.0, 2.0])
    for length in range(12):
        y = x
        for _ in range(length):
            y = y + 1.0
        np.testing.assert_allclose(y.numpy(), [1.0 + length, 2.0 + length])
    assert flush.KEPT.count <= 5
