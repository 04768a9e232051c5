"""`tf.random.Generator` beside TensorFlow: programs that run on both give the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import tapejax

SEEDS = [0, 1, 2**64 - 1, 2**70 + 5, -3, [7, 8], [1, 2, 3, 4], [], np.array([9], np.int32)]


def _both(program):
    return program(tapejax), program(tensorflow)


def _assert_same(program):
    """The arrays of a list are equal; floats to two units in the last place."""
    for ours, theirs in zip(*_both(program), strict=True):
        a, b = np.asarray(ours), np.asarray(theirs)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind == "f":
            difference = np.abs(a.astype(np.float64) - b.astype(np.float64))
            assert np.all(difference <= 2 * np.abs(np.spacing(b)).astype(np.float64))
        else:
            assert np.array_equal(a, b)


def _draws(tf, g):
    return [
        g.uniform([5]),
        g.uniform([3], dtype=tf.float64),
        g.uniform([3], dtype=tf.float16),
        g.normal([2, 3]),
        g.normal([3], dtype=tf.float64),
        g.truncated_normal([7]),
        g.truncated_normal([3], dtype=tf.float64),
        g.uniform([4], maxval=100, dtype=tf.int32),
        g.uniform([4], -5, 2**40, dtype=tf.int64),
        g.uniform([4], None, None, dtype=tf.int64),
        g.uniform([], -1.0, 3.0),
        g.uniform_full_int([3]),
        g.uniform_full_int([3], dtype=tf.int32),
        g.make_seeds(3),
        g.normal([0]),
        g.key,
    ]


@pytest.mark.parametrize("seed", SEEDS, ids=str)
def test_a_seed_gives_tensorflows_numbers_one_after_another(seed):
    def program(tf):
        g = tf.random.Generator.from_seed(seed)
        first = g.state.numpy()
        return [first, *_draws(tf, g), g.state]

    _assert_same(program)


@pytest.mark.parametrize("seed", SEEDS, ids=str)
def test_states_of_seeds_are_tensorflows(seed):
    _assert_same(lambda tf: [tf.random.create_rng_state(seed, "philox")])


def test_generators_are_made_from_states_keys_and_other_generators():
    def program(tf):
        made = [
            tf.random.Generator.from_state([1, 2, 2**64 - 1], alg="philox"),
            tf.random.Generator.from_key_counter(5, [6, 7], alg=tf.random.Algorithm.PHILOX),
            tf.random.Generator.from_state(tf.constant([1, 2, 3]), alg="auto_select"),
        ]
        made.append(tf.random.Generator(copy_from=made[0]))
        made[0].skip(2)
        return [x for g in made for x in (g.state, g.algorithm, g.normal([3]), g.state)]

    _assert_same(program)


def test_a_variable_given_as_the_state_is_shared():
    def program(tf):
        v = tf.Variable(np.array([1, 2, 3]))
        g = tf.random.Generator.from_state(v, alg=1)
        g.uniform([2])
        assert g.state is v
        return [v]

    _assert_same(program)


def test_resets_go_to_tensorflows_states():
    def program(tf):
        g = tf.random.Generator.from_seed(1)
        found = []
        for reset in (
            lambda: g.reset([4, 5, 2**64 - 6]),
            lambda: g.reset_from_seed(2**65),
            lambda: g.reset_from_seed(tf.constant([1, 2])),
            lambda: g.reset_from_key_counter(3, (1, -2)),
        ):
            assert reset() is None
            found += [g.state.numpy(), g.normal([2])]
        return found

    _assert_same(program)


@pytest.mark.parametrize("low", [0, 3073, 2**63 - 1, -1, -256, 2**32 - 1])
def test_skips_carry_as_tensorflows(low):
    def program(tf):
        g = tf.random.Generator.from_state([low, -1, 3], alg="philox")
        skips = (1, 3, 0, 2**24, 2**31 - 1, np.int64(2**50), -1, tf.constant(5))
        return [x for delta in skips for x in (g.skip(delta), g.state.numpy())]

    _assert_same(program)


def test_split_generators_draw_tensorflows_numbers():
    def program(tf):
        g = tf.random.Generator.from_seed(7)
        parts = [*g.split(3), *g.split(), *g.split(0)]
        return [x for part in (*parts, g) for x in (part.state.numpy(), part.uniform([3]))]

    _assert_same(program)


def test_functions_and_loops_advance_the_state():
    def program(tf):
        g = tf.random.Generator.from_seed(3)

        @tf.function
        def drawn():
            total = tf.zeros([2], tf.int64)
            for _ in tf.range(4):
                total += g.uniform([2], maxval=1000, dtype=tf.int64)
            return total, g.normal([3]), g.skip(2)

        return [x for _ in range(3) for x in (*drawn(), g.state.numpy())] + [g.normal([2])]

    _assert_same(program)


def test_a_function_draws_under_a_condition():
    def program(tf):
        g = tf.random.Generator.from_seed(3)

        @tf.function
        def drawn(flag):
            if flag:
                return g.uniform([2])
            return tf.zeros([2])

        flags = (True, False, True)
        return [x for flag in flags for x in (drawn(tf.constant(flag)), g.state.numpy())]

    _assert_same(program)


def test_gradients_flow_to_mean_and_stddev():
    def program(tf):
        g = tf.random.Generator.from_seed(3)
        mean, stddev = tf.Variable(1.0), tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = g.normal([4], mean, stddev)
        return tape.gradient(y, [mean])

    _assert_same(program)


def test_the_global_generator_is_the_one_that_was_set_whatever_the_global_seed():
    def program(tf):
        tf.random.set_global_generator(tf.random.Generator.from_seed(5))
        first = tf.random.get_global_generator().normal([2])
        tf.random.set_seed(1)
        return [first, tf.random.get_global_generator().normal([2])]

    _assert_same(program)


def test_the_experimental_names_are_those_of_the_same_functions():
    for name in ("Algorithm", "Generator", "create_rng_state", "get_global_generator"):
        assert getattr(tapejax.random.experimental, name) is getattr(tapejax.random, name)
    assert tapejax.random.experimental.stateless_split is tapejax.random.split
    assert tapejax.random.experimental.stateless_fold_in is tapejax.random.fold_in


def test_generators_of_entropy_differ():
    first, second = (tapejax.random.Generator.from_non_deterministic_state() for _ in range(2))
    assert first.state.dtype == tapejax.int64
    assert first.state.shape == [3]
    assert not np.array_equal(first.uniform([8]), second.uniform([8]))


def test_a_call_that_fails_leaves_the_state():
    g = tapejax.random.Generator.from_seed(1)
    with pytest.raises(tapejax.errors.InvalidArgumentError, match="vector"):
        g.normal(3)
    assert g.state.numpy().tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    "program",
    [
        lambda tf: tf.random.Generator(),
        lambda tf: tf.random.Generator(tf.random.Generator.from_seed(1), alg=1),
        lambda tf: tf.random.Generator.from_state([1, 2], alg="philox"),
        lambda tf: tf.random.Generator.from_key_counter(1, [2, 3, 4], alg="philox"),
        lambda tf: tf.random.Generator.from_key_counter([1], [2, 3], alg="philox"),
        lambda tf: tf.random.Generator.from_seed(1, alg="foo"),
        lambda tf: tf.random.Generator.from_seed(1, alg="threefry").normal([2]),
        lambda tf: tf.random.Generator.from_seed(1).reset([1, 2]),
        lambda tf: tf.random.Generator.from_seed(1).uniform([2], dtype=tf.int32),
        lambda tf: tf.random.Generator.from_seed(1).uniform([2], 5, 5, dtype=tf.int32).numpy(),
        lambda tf: tf.random.Generator.from_seed(1).uniform([2], None, 1.0),
        lambda tf: tf.random.Generator.from_seed(1).normal([2], dtype=tf.int32),
    ],
)
def test_arguments_that_make_no_sense_raise_what_tensorflow_raises(program):
    with pytest.raises(Exception) as theirs:  # noqa: PT011  (its type is compared)
        program(tensorflow)
    with pytest.raises(Exception) as ours:  # noqa: PT011
        program(tapejax)
    assert ours.type.__name__ == theirs.type.__name__
