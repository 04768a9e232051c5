"""Initializers beside TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import tapejax


def _assert_same(program):
    found = []
    for library in (tapejax, tensorflow):
        library.random.set_seed(3)
        found.append([np.asarray(x) for x in program(library)])
    for ours, theirs in zip(*found, strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(
            ours.astype(np.float64), theirs.astype(np.float64), rtol=1e-6, atol=1e-7
        )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "bool"])
def test_zeros_and_ones_take_every_dtype(dtype):
    def program(tf):
        return [
            tf.zeros_initializer()([2, 3], dtype),
            tf.ones_initializer()(shape=(2,), dtype=dtype),
            tf.ones_initializer()([4], partition_shape=[2], partition_offset=[0]),
        ]

    _assert_same(program)


def test_constants_fill_or_are_reshaped():
    def program(tf):
        return [
            tf.constant_initializer()([2]),
            tf.constant_initializer(2.5)([2, 2], tf.float64),
            tf.constant_initializer([1, 2, 3, 4])([2, 2]),
            tf.constant_initializer(np.arange(6.0))(shape=(3, 2), dtype=tf.float32),
            tf.constant_initializer(3)([]),
        ]

    _assert_same(program)


@pytest.mark.parametrize("seed", [None, 0, 7])
def test_random_initializers_make_tensorflows_numbers(seed):
    def program(tf):
        uniform = tf.random_uniform_initializer(-1.0, 2.0, seed=seed)
        normal = tf.random_normal_initializer(1.0, 0.3, seed=seed)
        integers = tf.random_uniform_initializer(0, 9, seed)
        return [
            uniform([5]),
            uniform([5]),
            normal([2, 3]),
            normal([2, 3], tf.float64),
            integers([4], tf.int32),
            normal([9], partition_shape=[4], partition_offset=[2]),
        ]

    _assert_same(program)


def test_configurations_make_the_same_initializer(tf):
    made = [
        tf.random_normal_initializer(1.0, 0.3, seed=2),
        tf.random_uniform_initializer(-1.0, 2.0),
        tf.constant_initializer([1, 2]),
        tf.zeros_initializer(),
    ]
    for initializer in made:
        config = initializer.get_config()
        assert type(initializer).from_config(dict(config, dtype="float32")).get_config() == config


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda tf: tf.zeros_initializer()([2], tf.string), ValueError),
        (lambda tf: tf.random_normal_initializer()([2], tf.int32), ValueError),
        (lambda tf: tf.random_uniform_initializer()([2], tf.bool), ValueError),
        (lambda tf: tf.zeros_initializer()([2], other=1), TypeError),
        (lambda tf: tf.constant_initializer(object()), TypeError),
        (lambda tf: tf.constant_initializer([1, 2, 3])([2]), TypeError),
        (lambda tf: tf.constant_initializer(1)([2], partition_shape=[1]), ValueError),
    ],
)
def test_what_makes_no_sense_is_refused(tf, call, error):
    with pytest.raises(error):
        call(tf)


def test_a_layer_that_asks_for_a_variable_gets_one():
    make = tapejax.random_normal_initializer(stddev=0.1, seed=1)
    kernel = tapejax.Variable(make([3, 4], tapejax.float32), name="kernel")
    assert kernel.shape == (3, 4)
    assert 0.03 < float(tapejax.math.reduce_std(kernel)) < 0.2
