"""Gamma, Poisson, binomial and bounded truncated normal numbers beside TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow

import tapejax

TOLERANCE = {"float16": 1e-3, "float32": 2e-6, "float64": 1e-12, "int32": 0.0, "int64": 0.0}


def _assert_same(program, scale=1.0):
    """Each array of a program's list is equal in both libraries, floats but for rounding."""
    found = []
    for library in (tapejax, tensorflow):
        library.random.set_seed(3)
        found.append([np.asarray(x) for x in program(library)])
    for ours, theirs in zip(*found, strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        limit = scale * TOLERANCE[theirs.dtype.name]
        np.testing.assert_allclose(
            ours.astype(np.float64), theirs.astype(np.float64), rtol=limit, atol=limit
        )


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_gamma_numbers_are_tensorflows_for_every_kind_of_shape_parameter(dtype):
    alphas = [0.0, 0.01, 0.3, 0.999, 1.0, 1.5, 10.0, 1000.0, np.inf]

    def program(tf):
        alpha = tf.constant(alphas, dtype)
        stateless = tf.random.stateless_gamma([3000, 9], [1, 2], alpha, dtype=dtype)
        return [stateless, tf.random.gamma([500], alpha, 3.0, dtype, seed=1)]

    _assert_same(program, scale=10)


def test_numbers_of_several_ops_follow_tensorflows_order_of_calls():
    def program(tf):
        drawn = []
        for _ in range(2):
            drawn += [
                tf.random.gamma([2], [0.5, 3.0]),
                tf.random.gamma([3], 2.0, seed=4),
                tf.random.gamma([], [[1.0, 2.0], [3.0, 0.1]], [1.0, 5.0], "float64", seed=4),
                tf.random.poisson([5], 3.0),
                tf.random.poisson([2], [0.1, 20.0], seed=1),
                tf.random.poisson([0], 3.0, seed=1),
                tf.random.poisson([2], [0.1, 20.0], seed=1, dtype="int32"),
                tf.random.poisson([2], [3, 20], seed=1, dtype="int32"),
                tf.random.uniform([2]),
            ]
        return drawn

    _assert_same(program)


def test_gradients_of_gamma_numbers_are_implicit_in_alpha_and_explicit_in_beta():
    def program(tf):
        alpha, beta = tf.constant([0.3, 0.999, 1.0, 1.5, 20.0]), tf.constant([[1.0], [2.0]])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([alpha, beta])
            y = tf.random.gamma([7], alpha, beta, seed=2)
            z = tf.random.stateless_gamma([3, 2, 5], [1, 2], alpha, beta)
        return [tape.gradient(t, x) for t in (y, z) for x in (alpha, beta)]

    _assert_same(program, scale=20)


def test_the_gradient_by_alpha_moves_a_number_so_that_it_keeps_its_place_in_the_distribution():
    tf = tapejax
    alpha = tf.constant(2.5, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        y = tf.random.stateless_gamma([], [1, 2], alpha, dtype=tf.float64)
    slope = float(tape.gradient(y, alpha))
    step = 1e-4
    place = [
        float(tf.math.igamma(alpha + sign * step, y + sign * step * slope)) for sign in (1.0, -1.0)
    ]
    assert abs(place[0] - place[1]) < 1e-9


def test_a_second_gradient_by_alpha_is_a_lookup_error(tf):
    alpha = tf.constant([0.3, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(alpha)
        with tf.GradientTape() as inner:
            inner.watch(alpha)
            y = tf.random.gamma([2], alpha)
        slope = inner.gradient(y, alpha)
    with pytest.raises(LookupError, match="RandomGammaGrad"):
        outer.gradient(slope, alpha)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_poisson_and_binomial_numbers_are_tensorflows_for_small_and_large_means(dtype):
    def program(tf):
        rates = [0.0, 1e-3, 0.5, 3.0, 9.99, 10.0, 11.0, 50.0, 1e3]
        counts = [0.0, 1.0, 5.0, 40.0, 1e3, 2.5, -1.0]
        probs = [[0.0], [1e-3], [0.2], [0.5], [0.6], [0.999], [1.0], [1.5], [-0.5]]
        return [
            tf.random.stateless_poisson([2000, 9], [1, 2], rates, dtype),
            tf.random.stateless_binomial([200, 9, 7], [1, 2], counts, probs, dtype),
        ]

    _assert_same(program)


def test_numbers_that_do_not_exist_are_not_drawn_for_ever():
    tf = tapejax
    rates = [-1.0, np.nan, np.inf, 1e30]
    assert np.array_equal(
        tf.random.stateless_poisson([4], [1, 2], rates, tf.float32).numpy()[:3],
        [np.nan, np.nan, np.inf],
        equal_nan=True,
    )
    limit = 2**31 - 1
    assert tf.random.stateless_poisson([4], [1, 2], rates).numpy().tolist() == [0, 0, limit, limit]
    assert np.isnan(tf.random.gamma([], [-1.0, np.nan]).numpy()).all()
    drawn = tf.random.stateless_binomial([2], [1, 2], [np.nan, np.inf], 0.5, tf.float32)
    assert np.isnan(drawn.numpy()).all()


BOUNDS = [
    (0.0, 1.0, -2.0, 2.0),
    (1.0, 2.0, -1.0, 0.5),
    (0.0, 1.0, 0.1, 0.5),
    (0.0, 1.0, 3.0, np.inf),
    (0.0, 1.0, -np.inf, -3.0),
    (5.0, 0.5, -10.0, 0.0),
    (0.0, 1.0, 3.0, 3.1),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normals_between_bounds_are_tensorflows_where_it_uses_one_thread(dtype):
    def program(tf):
        drawn = tf.random.stateless_parameterized_truncated_normal
        return [drawn([40], [1, 2], *(tf.constant(x, dtype) for x in bounds)) for bounds in BOUNDS]

    _assert_same(program)


def test_normals_between_several_bounds_are_drawn_one_distribution_after_another():
    def program(tf):
        drawn = tf.random.stateless_parameterized_truncated_normal
        return [drawn([4, 3], [1, 2], [0.0, 0.5, 0.0], 1.0, [-2.0, 0.1, 3.0], [2.0, 0.5, 9.0])]

    _assert_same(program)


def test_many_normals_between_bounds_have_the_moments_of_the_distribution():
    drawn = tapejax.random.stateless_parameterized_truncated_normal(
        [50000, 2], [1, 2], [0.0, 1.0], 1.0, [0.0, 2.5], [np.inf, 3.5]
    ).numpy()
    # Half a normal; and the second by numerical integration of its density.
    x = np.linspace(2.5, 3.5, 100001)
    density = np.exp(-((x - 1.0) ** 2) / 2)
    expected = [np.sqrt(2 / np.pi), np.sum(x * density) / np.sum(density)]
    np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=0.012)


def test_gradients_of_normals_between_bounds_reach_all_four_parameters():
    def program(tf):
        given = [
            tf.constant([0.0, 1.0, 2.0]),
            tf.constant([[1.0], [0.5]]),
            tf.constant(-1.0),
            tf.constant([2.5, 3.0, 2.1]),
        ]
        with tf.GradientTape() as tape:
            tape.watch(given)
            y = tf.random.stateless_parameterized_truncated_normal([4, 2, 3], [1, 2], *given)
        return [y, *tape.gradient(y, given)]

    _assert_same(program, scale=20)


def test_gradients_of_numbers_of_events_are_none_or_an_error_as_in_tensorflow(tf):
    rate = tf.constant([0.3, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(rate)
        y = tf.random.stateless_poisson([2], [1, 2], rate, tf.float32)
        z = tf.random.poisson([2], rate)
    assert tape.gradient(y, rate) is None
    with pytest.raises(LookupError, match="RandomPoissonV2"):
        tape.gradient(z, rate)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("gamma", (3, 1.0), "must be a vector"),
        ("gamma", ([-1], 1.0), ">= 0"),
        ("gamma", ([2], [1.0, 2.0], [1.0, 2.0, 3.0]), "Incompatible shapes"),
        ("stateless_gamma", ([2, 2], [1, 2], [1.0, 2.0, 3.0]), "must end with"),
        ("stateless_gamma", ([2], [1, 2, 3], 1.0), "shape \\[2\\]"),
        ("poisson", (3, 1.0), "must be a vector"),
        ("poisson", ([3], 1.0, "uint8"), "uint8"),
        ("stateless_poisson", ([3], [1, 2], [1.0, 2.0]), "must end with"),
        ("stateless_binomial", ([3], [1, 2], [1.0, 2.0], 0.5), "must end with"),
        ("stateless_binomial", ([3], [1, 2], 2.0, 0.5, "uint8"), "uint8"),
        ("stateless_parameterized_truncated_normal", ([3], [1, 2], 0.0, -1.0), "Invalid param"),
        ("stateless_parameterized_truncated_normal", ([3], [1, 2], [0.0, 1.0]), "must end with"),
    ],
)
def test_arguments_that_make_no_sense_raise_what_tensorflow_raises(tf, name, arguments, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        getattr(tf.random, name)(*arguments).numpy()


def test_a_generators_binomial_numbers_and_where_it_goes_on_are_tensorflows():
    def program(tf):
        g = tf.random.Generator.from_seed(5)
        drawn = []
        for shape, counts, probs in (
            ([3], 10.0, 0.5),
            ([7, 2], [3.0, 300.0], 0.7),
            ([2, 2, 3], [[5.0], [9.0]], [0.1, 0.5, 0.9]),
            ([0], 3.0, 0.5),
        ):
            drawn += [g.binomial(shape, counts, probs), g.state.numpy()]
        return drawn

    _assert_same(program)


@pytest.mark.parametrize("max_index", [0, 1, 9, 255, 256, 65535, 65537, 2**17, 2**31 - 1])
@pytest.mark.parametrize("seed", [[1, 2], [-1, 2**31 - 1]])
def test_index_shuffle_puts_an_index_where_tensorflow_puts_it(max_index, seed):
    index = np.unique(np.linspace(0, max_index, 23).astype(np.int64)).astype(np.int32)
    _assert_same(lambda tf: [tf.random.experimental.index_shuffle(index, seed, max_index)])


def test_index_shuffle_takes_64_bits():
    index = np.array([0, 2**40, 2**62 + 5])

    def program(tf):
        seed, largest = tf.constant([2**40 + 7, -5], tf.int64), tf.constant(2**63 - 1, tf.int64)
        return [tf.random.experimental.index_shuffle(index, seed, largest)]

    _assert_same(program)


def test_index_shuffle_is_a_permutation_also_of_65537_indices():
    moved = tapejax.random.experimental.index_shuffle(tapejax.range(65537), [1, 2], 65536)
    assert np.array_equal(np.sort(moved.numpy()), np.arange(65537))


def test_index_shuffle_takes_a_seed_for_each_index():
    shuffle = tapejax.random.experimental.index_shuffle
    moved = shuffle([3, 4], [[1, 2], [5, 6]], [9, 30]).numpy()
    assert moved.tolist() == [int(shuffle(3, [1, 2], 9)), int(shuffle(4, [5, 6], 30))]


@pytest.mark.parametrize(
    ("index", "seed", "max_index"),
    [(10, [1, 2], 9), (-1, [1, 2], 9), (0, [1, 2], -1), (0.0, [1, 2], 9.0), ([[1]], [1, 2], 9)],
)
def test_index_shuffle_refuses_what_tensorflow_refuses(tf, index, seed, max_index):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.random.experimental.index_shuffle(index, seed, max_index).numpy()
