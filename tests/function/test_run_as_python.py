"""Functions whose shapes depend on values: no program can hold them, so they run as Python."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import tapejax

X = np.array([1.0, -2.0, 3.0, -4.0], np.float32)


def masked_loss(tf):
    w = tf.Variable(2.0)

    @tf.function
    def loss(x):
        return tf.reduce_mean(w * tf.boolean_mask(x, x > 0) ** 2)

    with tf.GradientTape() as tape:
        value = loss(tf.constant(X))
    return value, tape.gradient(value, w)


def train_step(tf):
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x, n):
        with tf.GradientTape() as tape:
            rows = tf.reshape(x, [n, -1])
            loss = tf.reduce_sum(tf.linalg.matvec(rows, w) ** 2)
        gradient = tape.gradient(loss, w)
        w.assign_sub(0.1 * gradient)
        return loss

    return [step(tf.constant(X), tf.constant(2)) for _ in range(3)], w


def inside_another(tf):
    @tf.function
    def positive(x):
        return tf.gather(x, tf.where(x > 0)[:, 0])

    @tf.function
    def total(x):
        return tf.reduce_sum(positive(x)), tf.shape(positive(x))

    return total(tf.constant(X)), total(tf.constant(-X))


def a_loop_that_grows(tf):
    @tf.function
    def count(n):
        found = tf.zeros([0], tf.int32)
        for i in tf.range(n):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(found, tf.TensorShape([None]))]
            )
            if i % 2 == 0:
                found = tf.concat([found, [i]], 0)
        return found

    return count(tf.constant(5)), count(tf.constant(2))


def a_while_loop_that_grows(tf):
    @tf.function
    def double(x):
        return tf.while_loop(
            lambda y: tf.size(y) < 10,
            lambda y: (tf.concat([y, y], 0),),
            (x,),
            shape_invariants=(tf.TensorShape([None]),),
        )

    return double(tf.constant([1, 2]))


def an_array_that_grows(tf):
    @tf.function
    def squares(n):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            array = array.write(array.size(), i * i)
        return array.stack()

    return squares(tf.constant(4)), squares(tf.constant(1))


def branches_of_different_shapes(tf):
    @tf.function
    def pick(x, first):
        return tf.cond(first, lambda: x[:1], lambda: x)

    return pick(tf.constant(X), tf.constant(True)), pick(tf.constant(X), tf.constant(False))


def an_if_of_different_shapes(tf):
    @tf.function
    def pick(x, first):
        if first:  # noqa: SIM108  (the statement is what is tested)
            y = x[:2]
        else:
            y = tf.concat([x, x], 0)
        return tf.reduce_sum(y), y

    return pick(tf.constant(X), tf.constant(True)), pick(tf.constant(X), tf.constant(False))


def sizes_from_values(tf):
    @tf.function
    def build(n):
        return tf.zeros([n, 2]), tf.range(n), tf.one_hot([0, 1], n), tf.sequence_mask([1, 2], n)

    return build(tf.constant(3)), build(tf.constant(4))


def segments(tf):
    @tf.function
    def sums(x, ids):
        return tf.math.segment_sum(x, ids), tf.unique(ids)[0]

    return sums(tf.constant(X), tf.constant([0, 0, 1, 3]))


def a_method(tf: Any):
    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = None

        @tf.function
        def __call__(self, x):
            if self.w is None:
                self.w = tf.Variable(3.0)
            return self.w * tf.boolean_mask(x, x > 0)

    model = Model()
    return model(tf.constant(X)), model(tf.constant(X[:1])), len(model.trainable_variables)


def texts_of_numbers(tf):
    return tf.function(lambda n: tf.strings.as_string(n + 1))(tf.constant(2))


PROGRAMS = [
    masked_loss,
    train_step,
    inside_another,
    a_loop_that_grows,
    a_while_loop_that_grows,
    an_array_that_grows,
    branches_of_different_shapes,
    an_if_of_different_shapes,
    sizes_from_values,
    segments,
    a_method,
    texts_of_numbers,
]


@pytest.fixture
def warnings_of(caplog):
    """Run a program; the warnings it logs."""

    def run(program):
        logger = logging.getLogger("tensorflow")
        logger.addHandler(caplog.handler)
        try:
            with caplog.at_level(logging.WARNING, logger="tensorflow"):
                program()
        finally:
            logger.removeHandler(caplog.handler)
        found = {id(r): r.getMessage() for r in caplog.records}
        return [text for text in found.values() if "runs as Python" in text]

    return run


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_it_gives_what_tensorflow_gives(program):
    tensorflow = pytest.importorskip("tensorflow")
    ours, theirs = (lib.nest.flatten(program(lib)) for lib in (tapejax, tensorflow))
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        mine, other = np.asarray(mine), np.asarray(other)
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, other, rtol=1e-6)
        else:
            assert mine.tolist() == other.tolist()


def test_it_is_said_once_where_and_why(warnings_of):
    @tapejax.function
    def positive(x):
        return tapejax.boolean_mask(x, x > 0)

    def program():
        positive(tapejax.constant(X))
        positive(tapejax.constant(X[:2]))

    (text,) = warnings_of(program)
    assert text.startswith("tf.function 'positive' runs as Python")
    assert f"{__file__}:{positive.python_function.__code__.co_firstlineno + 2}" in text
    assert "mask instead of selecting" in text


def test_a_function_with_static_shapes_says_nothing(warnings_of):
    masked = tapejax.function(lambda x: tapejax.where(x > 0, x, 0.0))
    assert not warnings_of(lambda: masked(tapejax.constant(X)))


def test_it_has_no_concrete_function():
    positive = tapejax.function(lambda x: tapejax.boolean_mask(x, x > 0))
    with pytest.raises(NotImplementedError, match="runs as Python"):
        positive.get_concrete_function(tapejax.constant(X))


def test_values_are_still_refused_where_tensorflow_refuses_them(tf):
    with pytest.raises(NotImplementedError, match="Cannot convert a symbolic"):
        tf.function(lambda x: np.sum(x), autograph=False)(tf.constant(X))
    with pytest.raises(TypeError):
        tf.function(lambda x: float(x[0]), autograph=False)(tf.constant(X))


def test_a_loop_that_changes_a_shape_without_saying_so_is_an_error(tf):
    @tf.function
    def grow(n):
        x = tf.zeros([1])
        for _ in tf.range(n):
            x = tf.concat([x, x], 0)
        return x

    with pytest.raises(ValueError, match="shape"):
        grow(tf.constant(3))


def test_under_jax_transformations_it_is_an_error():
    jax = pytest.importorskip("jax")
    positive = tapejax.function(lambda x: tapejax.boolean_mask(x, x > 0))
    with pytest.raises((NotImplementedError, TypeError)):
        jax.jit(lambda x: tapejax.reduce_sum(positive(x)))(X)
