"""Random ops in `tf.function`: the numbers are those of TensorFlow's graphs."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import tapejax


def _uniform(tf, seed=None):
    return tf.random.uniform([1], seed=seed)[0]


def _assert_same(program):
    ours, theirs = (np.array(program(library), np.float32) for library in (tapejax, tensorflow))
    np.testing.assert_array_equal(ours, theirs)


def _function(tf):
    def drawn():
        return tf.stack([_uniform(tf), _uniform(tf, 3), _uniform(tf), _uniform(tf, 3)])

    return tf.function(drawn)


def test_ops_count_from_zero_in_each_function_and_go_on_with_each_call():
    def program(tf):
        tf.random.set_seed(5)
        first, second = _function(tf), _function(tf)
        return [first(), first(), second(), first()]

    _assert_same(program)


def test_set_seed_restarts_a_traced_function_under_the_seed_it_was_traced_with():
    def program(tf):
        tf.random.set_seed(5)
        drawn = _function(tf)
        found = [drawn(), drawn()]
        for seed in (5, 6):
            tf.random.set_seed(seed)
            found += [drawn(), drawn()]
        return found

    _assert_same(program)


def test_each_trace_has_numbers_of_its_own():
    def program(tf):
        tf.random.set_seed(5)
        drawn = tf.function(lambda x: tf.stack([_uniform(tf), _uniform(tf)]))
        return [drawn(tf.constant(1)), drawn(tf.constant(1.0)), drawn(tf.constant(1))]

    _assert_same(program)


def test_every_place_that_calls_a_function_has_numbers_of_its_own():
    def program(tf):
        tf.random.set_seed(5)
        inner = tf.function(lambda: _uniform(tf))
        outer = tf.function(lambda: tf.stack([inner(), _uniform(tf), inner(), _uniform(tf)]))
        return [*outer().numpy(), *outer().numpy(), inner(), inner(), *outer().numpy()]

    _assert_same(program)


def test_eager_calls_and_functions_do_not_disturb_each_other():
    def program(tf):
        tf.random.set_seed(5)
        drawn, found = _function(tf), []
        for _ in range(2):
            found += [_uniform(tf), *drawn().numpy(), _uniform(tf, 3)]
        return found

    _assert_same(program)


def test_every_distribution_counts_and_draws_in_a_function():
    def program(tf):
        tf.random.set_seed(2)

        def drawn():
            candidates = tf.random.log_uniform_candidate_sampler(
                tf.constant([[1]], tf.int64), 1, 5, True, 50
            )
            parts = [
                tf.random.uniform([5]),
                tf.random.uniform([5], maxval=99, dtype=tf.int32),
                tf.random.shuffle(tf.range(9)),
                tf.random.categorical([[0.0, 1.0, 0.5]], 6)[0],
                tf.nn.dropout(tf.ones([6]), 0.0),
                tf.nn.dropout(tf.ones([6]), 0.5),
                tf.random.poisson([4], [0.5, 20.0]),
                candidates.sampled_candidates,
                tf.random_uniform_initializer(0.0, 1.0)([3]),
                tf.random.uniform([5]),
            ]
            return tf.concat([tf.reshape(tf.cast(part, tf.float32), [-1]) for part in parts], 0)

        function = tf.function(drawn)
        return [function(), function()]

    _assert_same(program)


def test_a_loop_goes_on_from_iteration_to_iteration_and_counts_its_own_ops():
    def program(tf):
        tf.random.set_seed(5)

        @tf.function
        def drawn():
            total = tf.TensorArray(tf.float32, 8)
            total = total.write(0, _uniform(tf))
            for i in tf.range(3):
                for j in tf.range(2):
                    total = total.write(1 + 2 * i + j, _uniform(tf))
            return total.write(7, _uniform(tf)).stack()

        return [drawn(), drawn()]

    _assert_same(program)


def test_the_first_call_of_a_loop_of_unknown_length_draws_what_tensorflow_draws():
    def program(tf):
        tf.random.set_seed(5)

        @tf.function
        def drawn(n):
            total = tf.TensorArray(tf.float32, 5)
            for i in tf.range(n):
                total = total.write(i, _uniform(tf))
            return total.stack()

        return [drawn(tf.constant(5))]

    _assert_same(program)


def test_later_calls_of_a_loop_of_unknown_length_draw_other_numbers():
    @tapejax.function
    def drawn(n):
        total = tapejax.TensorArray(tapejax.float32, 5)
        for i in tapejax.range(n):
            total = total.write(i, _uniform(tapejax))
        return total.stack()

    tapejax.random.set_seed(5)
    found = np.concatenate([drawn(tapejax.constant(5)).numpy() for _ in range(3)])
    assert len(np.unique(found)) == found.size


def test_each_branch_counts_its_own_ops():
    def program(tf):
        tf.random.set_seed(5)

        @tf.function
        def drawn(positive):
            before = _uniform(tf)
            if positive:  # noqa: SIM108  (a statement is what is tested)
                inside = _uniform(tf)
            else:
                inside = _uniform(tf) - _uniform(tf)
            return tf.stack([before, inside, _uniform(tf)])

        return [drawn(tf.constant(True)), drawn(tf.constant(True))]

    _assert_same(program)


def test_ops_of_custom_gradients_count_with_those_around_them():
    def program(tf):
        tf.random.set_seed(5)

        @tf.custom_gradient
        def scaled(x):
            return x * _uniform(tf), lambda upstream: upstream

        function = tf.function(
            lambda: tf.stack([_uniform(tf), scaled(tf.constant(1.0)), _uniform(tf)])
        )
        return [function(), function()]

    _assert_same(program)


def test_a_function_traced_without_a_seed_takes_part_from_the_next_seed_on():
    drawn = _function(tapejax)
    tapejax.random.set_seed(None)
    drawn()
    found = []
    for _ in range(2):
        tapejax.random.set_seed(8)
        found.append(drawn().numpy())
    assert np.array_equal(found[0], found[1])


@pytest.mark.parametrize("length", [2, 3])
def test_map_fn_over_a_function_moves_its_numbers_on_at_every_call(length):
    drawn = tapejax.function(lambda x: x + _uniform(tapejax))
    tapejax.random.set_seed(5)
    found = [tapejax.map_fn(drawn, tapejax.zeros([length])).numpy() for _ in range(2)]
    assert len(np.unique(found)) == 2 * length
