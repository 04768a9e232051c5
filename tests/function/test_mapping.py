"""`tf.map_fn`, `tf.vectorized_map`, `tf.scan`, `tf.foldl`, `tf.foldr`.

Programs run on both libraries; what they give is known from mathematics.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tapejax


@pytest.fixture(params=["eager", "function"])
def run(request, tf):
    """Calls a function as it is, or as a `tf.function`."""

    def call(function, *args):
        return (tf.function(function) if request.param == "function" else function)(*args)

    return call


@pytest.fixture(autouse=True)
def _tensorflow_forgets_failed_loops(request):
    """A TensorFlow loop whose function raises leaves its mark on all later variables."""
    library = request.getfixturevalue("tf") if "tf" in request.fixturenames else tapejax
    yield
    if library is not tapejax:
        library.compat.v1.get_variable_scope()._caching_device = None


def numbers(structure):
    """A structure of tensors as nested lists."""
    return tapejax.nest.map_structure(lambda x: np.asarray(x).tolist(), structure)


X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
MAPS = ["map_fn", "vectorized_map"]


# map_fn and vectorized_map


@pytest.mark.parametrize("name", MAPS)
def test_a_map_stacks_the_results_for_the_rows(tf, run, name):
    found = run(lambda x: getattr(tf, name)(lambda r: r * r + 1.0, x), tf.constant(X))
    assert numbers(found) == (np.array(X) ** 2 + 1.0).tolist()


@pytest.mark.parametrize("name", MAPS)
def test_a_map_may_reduce_its_rows(tf, run, name):
    found = run(lambda x: getattr(tf, name)(tf.reduce_sum, x), tf.constant(X))
    assert numbers(found) == [3.0, 7.0, 11.0]


@pytest.mark.parametrize("name", MAPS)
def test_a_map_takes_the_rows_of_several_tensors(tf, run, name):
    def f(x, y):
        return getattr(tf, name)(lambda p: (p[0] * p[1], p[0]), (x, y))

    found = run(f, tf.constant(X), tf.constant([1.0, 10.0, 100.0]))
    assert numbers(found) == ([[1.0, 2.0], [30.0, 40.0], [500.0, 600.0]], X)


@pytest.mark.parametrize("name", MAPS)
def test_a_map_takes_dicts(tf, run, name):
    def f(x, y):
        return getattr(tf, name)(lambda d: {"a": d["b"], "b": d["a"]}, {"a": x, "b": y})

    found = run(f, tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))
    assert numbers(found) == {"a": [3.0, 4.0], "b": [1.0, 2.0]}


@pytest.mark.parametrize("name", MAPS)
def test_a_map_has_first_and_second_derivatives(tf, run, name):
    def f(x, w):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch([x, w])
                y = tf.reduce_sum(getattr(tf, name)(lambda r: w * r**3, x))
            first = inner.gradient(y, [x, w])
        return (*first, outer.gradient(first[0], x))

    dx, dw, second = run(f, tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0))
    np.testing.assert_allclose(dx, [6.0, 24.0, 54.0], rtol=1e-6)
    np.testing.assert_allclose(dw, 36.0, rtol=1e-6)
    np.testing.assert_allclose(second, [12.0, 24.0, 36.0], rtol=1e-6)


@pytest.mark.parametrize("name", MAPS)
def test_a_map_may_hold_a_tape(tf, run, name):
    def slope(r):
        with tf.GradientTape() as tape:
            tape.watch(r)
            y = r**2
        return tape.gradient(y, r)

    found = run(lambda x: getattr(tf, name)(slope, x), tf.constant([1.0, 2.0, 3.0]))
    assert numbers(found) == [2.0, 4.0, 6.0]


def test_map_fn_gives_other_dtypes_when_told(tf, run):
    def f(x):
        return tf.map_fn(
            lambda r: (tf.cast(r, tf.float32), r > 1), x, fn_output_signature=(tf.float32, tf.bool)
        )

    assert numbers(run(f, tf.constant([1, 2, 3]))) == ([1.0, 2.0, 3.0], [False, True, True])


def test_map_fn_refuses_another_dtype_than_told(tf):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"dtype.*but Op is trying to write"):
        tf.map_fn(lambda r: tf.cast(r, tf.float32), tf.constant([1, 2, 3]))


@pytest.mark.parametrize("elems", [1.0, []], ids=["scalar", "nothing"])
def test_map_fn_needs_a_first_axis(tf, run, elems):
    with pytest.raises(ValueError, match="elem"):
        run(lambda x: tf.map_fn(lambda r: r, x if elems else []), tf.constant(1.0))


@pytest.mark.parametrize("name", ["map_fn", "scan", "foldl", "foldr"])
def test_what_cannot_be_called_is_no_function_to_map(name):
    with pytest.raises(TypeError, match="is not callable"):
        getattr(tapejax, name)(3, tapejax.constant([1.0]))


@pytest.mark.parametrize("name", ["scan", "foldl", "foldr"])
def test_accumulating_needs_a_first_axis(name):
    with pytest.raises(ValueError, match=r"1\+ dimensional"):
        getattr(tapejax, name)(lambda a, x: a, tapejax.constant(1.0))


def test_map_fn_over_no_rows_gives_no_rows_in_a_function(tf):
    f = tf.function(lambda x: tf.map_fn(lambda r: r * 2.0, x))
    assert f(tf.zeros([0, 3])).shape == (0, 3)


def test_map_fn_assigns_variables_in_each_iteration(tf, run):
    v = tf.Variable(1.0)

    def f(x):
        def step(r):
            v.assign(v * r)
            return v.read_value()

        return tf.map_fn(step, x)

    assert numbers(run(f, tf.constant([2.0, 3.0, 4.0]))) == [2.0, 6.0, 24.0]
    assert float(v) == 24.0


def test_vectorized_map_broadcasts_a_first_axis_of_one(tf, run):
    def f(x, y):
        return tf.vectorized_map(lambda p: p[0] + p[1], (x, y))

    found = run(f, tf.constant([[1.0], [2.0], [3.0]]), tf.constant([[10.0]]))
    assert numbers(found) == [[11.0], [12.0], [13.0]]


def test_vectorized_map_refuses_first_axes_that_differ():
    tf = tapejax
    with pytest.raises(ValueError, match="first dimension"):
        tf.vectorized_map(lambda p: p[0], (tf.ones([2]), tf.ones([3])))


def test_vectorized_map_may_contain_a_loop_and_a_branch_of_tensors(tf):
    @tf.function
    def f(x):
        def power(n):
            return tf.while_loop(
                lambda i, y: i < n, lambda i, y: (i + 1, y * 2), (tf.constant(0), tf.constant(1))
            )[1]

        return tf.vectorized_map(lambda n: tf.cond(n > 3, lambda: -power(n), lambda: power(n)), x)

    assert numbers(f(tf.constant([0, 1, 3, 5]))) == [1, 2, 8, -32]


def test_vectorized_map_draws_other_numbers_for_each_row(tf):
    @tf.function
    def f(x):
        return tf.vectorized_map(lambda r: r + tf.random.uniform([4]), x)

    found = f(tf.zeros([5])).numpy()
    assert len(np.unique(found)) == 20


def test_vectorized_map_is_a_matrix_product_by_rows(tf, run):
    m = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    found = run(
        lambda x: tf.vectorized_map(lambda r: tf.linalg.matvec(tf.constant(m), r), x),
        tf.constant(np.eye(3, dtype=np.float32)),
    )
    np.testing.assert_allclose(found, m.T)


# scan, foldl, foldr


def test_scan_gives_all_accumulators(tf, run):
    found = run(lambda x: tf.scan(lambda a, r: a * 10 + r, x), tf.constant([1, 2, 3]))
    assert numbers(found) == [1, 12, 123]


@pytest.mark.parametrize(
    ("reverse", "expected"),
    [(False, [[7, 1], [71, 2], [712, 3]]), (True, [[732, 1], [73, 2], [7, 3]])],
)
def test_scan_goes_in_either_direction_with_structures(tf, run, reverse, expected):
    def f(x):
        def step(a, r):
            return (a[0] * 10 + a[1], r)

        return tf.scan(step, x, (tf.constant(0), tf.constant(7)), reverse=reverse)

    assert numbers(run(f, tf.constant([1, 2, 3]))) == tuple(map(list, zip(*expected, strict=True)))


def test_scan_backwards_begins_with_the_last_element(tf, run):
    found = run(lambda x: tf.scan(lambda a, r: a * 10 + r, x, reverse=True), tf.constant([1, 2, 3]))
    assert numbers(found) == [321, 32, 3]


@pytest.mark.parametrize(("name", "expected"), [("foldl", 123), ("foldr", 321)])
def test_a_fold_gives_the_last_accumulator(tf, run, name, expected):
    found = run(lambda x: getattr(tf, name)(lambda a, r: a * 10 + r, x), tf.constant([1, 2, 3]))
    assert int(found) == expected


@pytest.mark.parametrize(("name", "expected"), [("foldl", 9123), ("foldr", 9321)])
def test_a_fold_begins_with_the_initializer(tf, run, name, expected):
    def f(x):
        return getattr(tf, name)(lambda a, r: a * 10 + r, x, initializer=9)

    assert int(run(f, tf.constant([1, 2, 3]))) == expected


@pytest.mark.parametrize("name", ["foldl", "foldr"])
def test_a_fold_over_nothing_is_the_initializer(tf, run, name):
    def f(x):
        return getattr(tf, name)(lambda a, r: a + r, x, initializer=tf.constant(4.0))

    assert float(run(f, tf.zeros([0]))) == 4.0


@pytest.mark.parametrize("name", ["foldl", "foldr"])
def test_a_fold_goes_over_structures(tf, run, name):
    def f(x, y):
        return getattr(tf, name)(lambda a, p: a + p[0] * p[1], (x, y), initializer=0.0)

    assert float(run(f, tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0]))) == 11.0


@pytest.mark.parametrize("name", ["scan", "foldl", "foldr"])
def test_accumulating_has_gradients_by_elements_initializer_and_captures(tf, run, name):
    def f(x, start, w):
        with tf.GradientTape() as tape:
            tape.watch([x, start, w])
            y = getattr(tf, name)(lambda a, r: a * r * w, x, initializer=start)
            y = y[-1] if name == "scan" else y
        return tape.gradient(y, [x, start, w])

    dx, dstart, dw = run(f, tf.constant([2.0, 3.0, 5.0]), tf.constant(1.0), tf.constant(2.0))
    np.testing.assert_allclose(dx, [120.0, 80.0, 48.0], rtol=1e-6)
    np.testing.assert_allclose([dstart, dw], [240.0, 3 * 4.0 * 30.0], rtol=1e-6)


def test_scan_has_second_derivatives(tf, run):
    def f(x):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.scan(lambda a, r: a * r, x))
            first = inner.gradient(y, x)
        return first, outer.jacobian(first, x, experimental_use_pfor=False)

    a, b, c = 2.0, 3.0, 5.0  # y = a + ab + abc
    first, second = run(f, tf.constant([a, b, c]))
    np.testing.assert_allclose(first, [1 + b + b * c, a + a * c, a * b], rtol=1e-6)
    np.testing.assert_allclose(second, [[0, 1 + c, b], [1 + c, 0, a], [b, a, 0]], rtol=1e-6)


def test_scan_in_a_function_refuses_an_accumulator_of_another_dtype(tf):
    @tf.function
    def f(x):
        return tf.scan(lambda a, r: tf.cast(a, tf.float64), x, initializer=tf.constant(0.0))

    with pytest.raises((TypeError, ValueError)):
        f(tf.constant([1.0, 2.0]))


def test_functions_given_to_maps_are_converted(tf):
    if tf is not tapejax and sys.version_info >= (3, 13):
        pytest.skip("TensorFlow's AutoGraph does not convert these on Python 3.13")

    def clipped(r):
        if r > 2.0:
            return tf.constant(2.0)
        return r

    @tf.function
    def f(x):
        return tf.map_fn(clipped, x), tf.scan(lambda a, r: a + clipped(r), x)

    assert numbers(f(tf.constant([1.0, 5.0, 2.0]))) == ([1.0, 2.0, 2.0], [1.0, 3.0, 5.0])
