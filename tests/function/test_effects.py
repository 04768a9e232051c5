"""Ops with an effect: printing and Python functions, once for each run, in order."""

from __future__ import annotations

import gc
import logging
import sys
import weakref

import jax
import numpy as np
import pytest

import tapejax
from tapejax._src.engine.tiers import TIERS


@pytest.fixture
def page(tmp_path):
    """A file to print to, and what is in it."""
    path = tmp_path / "printed.txt"

    class Page:
        stream = f"file://{path}"

        def take(self):
            text = path.read_text() if path.exists() else ""
            path.write_text("")
            return text.split("\n")[:-1]

    return Page()


# printing


def test_each_call_prints_in_tensorflows_format(tf, page):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def show(x):
        tf.print("x", x, {"b": x * 2, "a": [3, "s"]}, (v,), output_stream=page.stream)
        tf.print(x, x + 1, sep="|", end="!\n", output_stream=page.stream)
        tf.print(tf.range(20), summarize=2, output_stream=page.stream)
        tf.print(tf.range(8), summarize=-1, output_stream=page.stream)
        tf.print(x > 1, tf.cast(x, tf.float64) / 4, tf.constant("text"), output_stream=page.stream)

    for start in (1, 7):
        show(tf.constant([start, 2]))
        assert page.take() == [
            f"x [{start} 2] {{'a': [3, 's'], 'b': [{2 * start} 4]}} ([[1 2]",
            " [3 4]],)",
            f"[{start} 2]|[{start + 1} 3]!",
            "[0 1 ... 18 19]",
            "[0 1 2 3 4 5 6 7]",
            f'[{int(start > 1)} 1] [{start / 4} 0.5] "text"',
        ]


def test_prints_are_in_order_with_assignments_and_python(tf, page):
    v = tf.Variable(0)

    @tf.function
    def step():
        tf.print("before", v, output_stream=page.stream)
        v.assign_add(1)
        tf.print("after", v, output_stream=page.stream)

    for n in range(3):
        step()
        assert page.take() == [f"before {n}", f"after {n + 1}"]
    assert int(v) == 3


@pytest.mark.parametrize("persistent", [False, True])
def test_nested_functions_print_once_under_tapes_and_not_in_gradients(tf, page, persistent):
    @tf.function
    def inner(x):
        tf.print("inner", x, output_stream=page.stream)
        return x * x

    @tf.function
    def outer(x):
        y = inner(x)
        tf.print("outer", y, output_stream=page.stream)
        return inner(y)

    x = tf.constant(2.0)
    for _ in range(3):
        with tf.GradientTape(persistent=persistent) as tape:
            tape.watch(x)
            y = outer(x)
            z = y + 1.0
        assert page.take() == ["inner 2", "outer 4", "inner 4"]
        assert float(tape.gradient(z, x)) == 32.0
        if persistent:
            assert float(tape.gradient(y, x)) == 32.0
        assert page.take() == []


def test_gradients_taken_inside_a_function_do_not_print_again(tf, page):
    @tf.function
    def gradient(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x * x
                tf.print("y", y, output_stream=page.stream)
            first = tape.gradient(y, x)
        return first, outer.gradient(first, x)

    for _ in range(2):
        first, second = gradient(tf.constant(2.0))
        assert (float(first), float(second)) == (12.0, 12.0)
        assert page.take() == ["y 8"]


def test_jacobians_and_forward_products_do_not_print_again(tf, page):
    @tf.function
    def square(x):
        tf.print("square", x, output_stream=page.stream)
        return x * x

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = square(x)
    assert tape.jacobian(y, x).numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert page.take() == ["square [1 2]"]
    with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as accumulator:
        y = square(x)
    assert accumulator.jvp(y).numpy().tolist() == [2.0, 4.0]
    assert page.take() == ["square [1 2]"]


def test_a_gradient_rule_prints_once_for_each_gradient(tf, page):
    @tf.custom_gradient
    def f(x):
        def grad(dy):
            tf.print("backward", dy, output_stream=page.stream)
            return 5.0 * dy

        tf.print("forward", x, output_stream=page.stream)
        return x * x, grad

    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    assert float(gradient(tf.constant(3.0))) == 5.0
    assert page.take() == ["forward 3", "backward 1"]


def test_a_function_whose_program_is_not_compiled_prints_once(page, monkeypatch):
    asked = TIERS.worth_compiling
    monkeypatch.setattr(TIERS, "worth_compiling", lambda *args: asked(*args) and False)
    tf = tapejax

    @tf.function
    def f(x):
        tf.print("x", x, output_stream=page.stream)
        tf.debugging.assert_positive(x)
        tf.print("positive", output_stream=page.stream)
        return x * 2.0

    with tf.GradientTape() as tape:
        x = tf.constant(2.0)
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 2.0
    assert page.take() == ["x 2", "positive"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(-1.0))
    assert page.take() == ["x -1"]


def test_streams_are_found_when_the_text_is_written(capsys, caplog):
    tf = tapejax

    @tf.function
    def f(x):
        tf.print("out", x, output_stream=sys.stdout)
        tf.print("err", x)
        tf.print("level", x, output_stream=logging.WARNING)
        tf.print("called", x, output_stream=logging.getLogger("mine").warning)

    for n in range(2):
        f(tf.constant(n))
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == (f"out {n}\n", f"err {n}\n")
        assert [r.getMessage() for r in caplog.records] == [f"level {n}", f"called {n}"]
        assert [r.name for r in caplog.records] == ["tensorflow", "mine"]
        caplog.clear()


def test_functions_print_inside_a_jax_transformation(page):
    tf = tapejax

    @tf.function
    def f(x):
        tf.print("x", x, output_stream=page.stream)
        return x * 2.0

    @jax.jit
    def g(x):
        y = f(tf.convert_to_tensor(x))
        tf.print("y", y, output_stream=page.stream)
        return y.value_array()

    for n in range(2):
        assert float(g(float(n))) == 2.0 * n
        jax.effects_barrier()
        assert page.take() == [f"x {n}", f"y {2 * n}"]


# Python functions


def spec(tf, x):
    """What `Tout` must be inside a function; TensorFlow's numpy_function takes dtypes only."""
    return tf.TensorSpec(x.shape, x.dtype) if tf is tapejax else x.dtype


def test_python_functions_are_called_once_in_order_with_values(tf):
    seen = []

    def note(name, result):
        def called(x):
            seen.append((name, np.asarray(x).tolist()))
            return result(x)

        return called

    @tf.function
    def f(x):
        y = tf.numpy_function(note("numpy", lambda a: a * 2), [x], spec(tf, x))
        tf.py_function(note("unwanted", lambda a: a), [x], spec(tf, x))
        tf.py_function(note("nothing", lambda a: None), [y], [])
        return tf.py_function(note("py", lambda a: a + 1), [y], spec(tf, x))

    x = tf.constant([1.0, 2.0])
    expected = [
        ("numpy", [1.0, 2.0]),
        ("unwanted", [1.0, 2.0]),
        ("nothing", [2.0, 4.0]),
        ("py", [2.0, 4.0]),
    ]
    for _ in range(2):
        assert f(x).numpy().tolist() == [3.0, 5.0]
        assert seen == expected
        seen.clear()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    assert seen == expected
    assert y.numpy().tolist() == [3.0, 5.0]
    assert seen == expected


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int64", "uint64", "bool"]
)
@pytest.mark.parametrize("shape", [(), (2,), (0, 3), (500, 400)])
@pytest.mark.parametrize("stateful", [True, False])
def test_values_reach_a_python_function_as_they_are(dtype, shape, stateful):
    tf = tapejax
    dtype = tf.as_dtype(dtype)
    values = np.linspace(0, 100, int(np.prod(shape))).reshape(shape) / 3
    x = tf.cast(tf.constant(values, tf.float64), dtype)
    seen = []

    @tf.function
    def f(x):
        y = tf.numpy_function(lambda a: (seen.append(a), a)[1], [x], spec(tf, x), stateful)
        return tf.identity(y)

    result = f(x).numpy()
    assert seen[-1].dtype == result.dtype == dtype.as_numpy_dtype
    assert np.array_equal(result, x.numpy())
    assert np.array_equal(seen[-1], x.numpy())


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_values_reach_a_python_function(dtype):
    tf = tapejax
    x = tf.constant([[1 / 3 + 2j, -1j]], dtype)
    f = tf.function(lambda x: tf.numpy_function(np.conj, [x], spec(tf, x)))
    assert np.array_equal(f(x).numpy(), np.conj(x.numpy()))


def test_py_function_is_differentiated_outside_functions(tf):
    v = tf.Variable(3.0)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda a, b: a * a * b if a > 0 else a, [x, v], tf.float32)
    gradients = tape.gradient(y, [x, v])
    assert [float(g) for g in gradients] == [12.0, 4.0]


def test_py_function_inside_a_function_refuses_a_gradient():
    tf = tapejax

    @tf.function
    def f(x):
        return tf.py_function(lambda a: a * a, [x], spec(tf, x))

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x) + x
    with pytest.raises(LookupError, match="EagerPyFunc"):
        tape.gradient(y, x)


def test_numpy_function_has_no_gradient(tf):
    def double(x):
        return tf.numpy_function(lambda a: a * 2, [x], spec(tf, x))

    @tf.function
    def inside(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = double(x)
            z = y * x
        assert tape.gradient(y, x) is None
        return tape.gradient(z, x)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = double(x)
    assert tape.gradient(y, x) is None
    assert float(inside(x)) == 6.0


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ValueError, "InvalidArgumentError"),
        (TypeError, "InvalidArgumentError"),
        (StopIteration, "OutOfRangeError"),
        (NotImplementedError, "UnimplementedError"),
        (MemoryError, "ResourceExhaustedError"),
        (KeyError, "UnknownError"),
    ],
)
@pytest.mark.parametrize("traced", [False, True])
def test_what_a_python_function_raises_is_an_error_of_the_op(tf, raised, expected, traced):
    def bad(x):
        raise raised("what happened")

    def f(x):
        return tf.py_function(bad, [x], spec(tf, x))

    with pytest.raises(tf.errors.OpError, match="what happened") as caught:
        (tf.function(f) if traced else f)(tf.constant(1.0))
    assert type(caught.value) is getattr(tf.errors, expected)
    assert raised.__name__ in str(caught.value)


def test_numpy_function_outside_functions_raises_what_the_function_raises(tf):
    with pytest.raises(ZeroDivisionError):
        tf.numpy_function(lambda x: 1 // 0, [1], tf.int32)


def test_nothing_is_printed_after_a_failure(tf, page):
    def bad(x):
        raise ValueError("failed here")

    @tf.function
    def with_function(x):
        tf.print("before", output_stream=page.stream)
        tf.py_function(bad, [x], [])
        tf.print("after", output_stream=page.stream)

    @tf.function
    def with_assertion(x):
        tf.print("before", output_stream=page.stream)
        tf.Assert(x > 0.0, ["must be positive", x])
        tf.print("after", output_stream=page.stream)
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match="failed here"):
        with_function(tf.constant(1.0))
    assert page.take() == ["before"]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[must be positive\] \[-1\]"):
        with_assertion(tf.constant(-1.0))
    assert page.take() == ["before"]
    assert float(with_assertion(tf.constant(1.0))) == 1.0
    assert page.take() == ["before", "after"]


def test_a_call_that_fails_leaves_variables_as_they_were():
    tf = tapejax  # in TensorFlow it is left open which assignments have happened
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(2.0)
        y = tf.numpy_function(lambda a: 1 / int(a), [x], tf.TensorSpec([], tf.float64))
        v.assign(3.0)
        return y

    with pytest.raises(tf.errors.UnknownError, match="ZeroDivisionError"):
        f(tf.constant(0))
    assert float(v) == 1.0
    assert float(f(tf.constant(4))) == 0.25
    assert float(v) == 3.0


def test_the_line_inside_the_function_is_named():
    tf = tapejax

    @tf.function
    def f(x):
        tf.print("x", x, output_stream="file:///dev/null")
        tf.debugging.assert_positive(x)
        return x

    line = f.python_function.__code__.co_firstlineno + 3
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"test_effects.py:{line}"):
        f(tf.constant(-1.0))
    with tf.GradientTape(), pytest.raises(tf.errors.InvalidArgumentError, match=f":{line}"):
        f(tf.constant(-1.0))


@pytest.mark.parametrize("taped", [False, True])
def test_an_assertion_in_a_function_raises_at_the_call(tf, taped):
    @tf.function
    def f(x):
        tf.debugging.assert_less(x, 3.0)
        tf.debugging.assert_near(x, 1.0, atol=5.0)
        return tf.debugging.check_numerics(tf.math.log(x), "log")

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 1.0
    for value, text in ((5.0, r"Condition x < y did not hold"), (-1.0, "log : Tensor had NaN")):
        with tf.GradientTape() as tape:
            x = tf.constant(value)
            if taped:
                tape.watch(x)
            with pytest.raises(tf.errors.InvalidArgumentError, match=text):
                f(x)


def test_results_are_what_tout_says(tf):
    x = tf.constant([1.0, 2.0])
    double = spec(tf, x)
    pair = tf.py_function(lambda a: (a, a + 1), [x], [tf.float32, tf.float32])
    assert [t.numpy().tolist() for t in pair] == [[1.0, 2.0], [2.0, 3.0]]
    assert tf.py_function(lambda a: None, [x], []) == []
    assert float(tf.py_function(lambda: 3, [], tf.float32)) == 3.0
    assert tf.numpy_function(lambda a: 3, [x], tf.float32).dtype == tf.int32
    pair = tf.function(lambda x: tf.numpy_function(lambda a: (a, a), [x], [double, double]))(x)
    assert len(pair) == 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.py_function(lambda a: tf.constant(3), [x], tf.float32)
    with pytest.raises(ValueError, match="Expected func to be callable"):
        tf.py_function(3, [x], tf.float32)
    with pytest.raises(TypeError, match="Missing required argument: 'Tout'"):
        tf.py_function(lambda a: a, [x])


def test_they_are_decorators_too(tf):
    @tf.py_function(Tout=tf.float32)
    def square(x):
        return x * x

    @tf.numpy_function(Tout=tf.float32)
    def double(x):
        return x * 2

    assert float(square(tf.constant(3.0))) == 9.0
    assert float(double(tf.constant(3.0))) == 6.0


@pytest.mark.parametrize("op", ["py_function", "numpy_function"])
def test_inside_a_function_shapes_may_be_unknown(tf, op):
    call = getattr(tf, op)

    @tf.function
    def f(x):
        return call(lambda a: a + a, [x], tf.float32) * 2.0

    assert float(f(tf.constant(1.0))) == 4.0


@pytest.mark.parametrize("op", ["py_function", "numpy_function"])
def test_inside_a_function_shapes_that_are_given_must_be_right(op):
    tf = tapejax
    call = getattr(tf, op)

    @tf.function
    def wrong(x):
        return call(lambda a: a, [x], tf.TensorSpec([3], tf.float32))

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \(\) and dtype float32"):
        wrong(tf.constant(1.0))


def test_a_python_function_may_use_ops_tapes_and_functions(tf):
    square = tf.function(lambda x: x * x)

    def derivative(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = square(x) * tf.ones([300, 300])
        return tape.gradient(y, x)

    @tf.function
    def f(x):
        return x + tf.py_function(derivative, [x], spec(tf, x))

    for _ in range(3):
        result = f(tf.fill([300, 300], 2.0))
        assert np.array_equal(result.numpy(), np.full((300, 300), 6.0))


def test_a_python_function_cannot_read_what_its_own_program_computes():
    tf = tapejax
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(x)
        tf.py_function(lambda: pending[0].numpy() and None, [], [])

    pending = []
    with tf.GradientTape():
        pending.append(tf.constant(1.0) * 2.0)
        with pytest.raises(tf.errors.UnknownError, match="this very program computes"):
            f(tf.constant(2.0))


# lifetimes


def test_what_a_python_function_captures_goes_with_the_tf_function():
    tf = tapejax

    class Held:
        pass

    def make():
        held = Held()

        @tf.function
        def f(x):
            tf.py_function(lambda a: held and None, [x], [])
            tf.print("x", x, output_stream="file:///dev/null")
            return x * x

        return f, weakref.ref(held)

    f, ref = make()
    x = tf.constant(2.0)
    f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 4.0
    assert ref() is not None
    del f, tape, y
    gc.collect()
    assert ref() is None


def test_an_outer_function_keeps_what_inner_functions_call(tf):
    seen = []

    def make():
        @tf.function
        def inner(x):
            tf.py_function(lambda a: seen.append(float(a)), [x], [])

        @tf.function
        def outer(x):
            inner(x)
            return x

        outer(tf.constant(1.0))
        return outer.get_concrete_function(tf.TensorSpec([], tf.float32))

    outer = make()
    gc.collect()
    outer(tf.constant(2.0))
    assert seen == [1.0, 2.0]
