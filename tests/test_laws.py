"""Laws of differentiation, on random programs.

A program is a random expression graph over smooth ops: each step applies an op to earlier values.
Some steps are followed by a read (`.numpy()`), which must change nothing. TensorFlow runs the same
program and gives the values.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import tensorflow
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tapejax
from tapejax._src.core.config import immediate

# each op keeps values moderate, so that float64 comparisons stay sharp at any depth
UNARY: dict[str, Callable[[ModuleType, Any], Any]] = {
    "sin": lambda tf, x: tf.sin(x),
    "cos": lambda tf, x: tf.cos(x),
    "tanh": lambda tf, x: tf.tanh(x),
    "sigmoid": lambda tf, x: tf.sigmoid(x),
    "softplus": lambda tf, x: tf.math.softplus(x) * 0.5,
    "square": lambda tf, x: tf.square(tf.tanh(x)),
    "exp": lambda tf, x: tf.exp(tf.sin(x)),
    "sqrt": lambda tf, x: tf.sqrt(tf.square(x) + 1.0),
    "cumsum": lambda tf, x: tf.cumsum(x) * 0.3,
    "matvec": lambda tf, x: tf.linalg.matvec(tf.constant(MIXING, tf.float64), x),
}
BINARY: dict[str, Callable[[ModuleType, Any, Any], Any]] = {
    "add": lambda tf, x, y: x + y,
    "subtract": lambda tf, x, y: x - 0.5 * y,
    "multiply": lambda tf, x, y: x * tf.tanh(y),
    "divide": lambda tf, x, y: x / (1.5 + tf.sin(y)),
}
SIZE = 3
MIXING = np.array([[0.5, -0.3, 0.2], [0.1, 0.7, -0.4], [-0.6, 0.2, 0.3]])
INPUTS = 2
CLOSE = {"rtol": 1e-9, "atol": 1e-10}


@dataclass(frozen=True)
class Program:
    """Steps of (op, operands, whether the result is read); values 0 and 1 are the inputs."""

    steps: tuple[tuple[str, tuple[int, ...], bool], ...]

    def run(self, tf: ModuleType, inputs: list[Any], read: bool = False) -> Any:
        """The last value, a vector; `read` asks for the values in the middle."""
        values = list(inputs)
        for name, operands, reads in self.steps:
            function = UNARY.get(name) or BINARY[name]
            values.append(function(tf, *(values[i] for i in operands)))
            if reads and read:
                values[-1].numpy()
        return values[-1] + 0.1 * values[0]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    steps: list[tuple[str, tuple[int, ...], bool]] = []
    for place in range(INPUTS, INPUTS + draw(st.integers(2, 6))):
        name = draw(st.sampled_from([*UNARY, *BINARY]))
        arity = 1 if name in UNARY else 2
        operands = tuple(draw(st.integers(0, place - 1)) for _ in range(arity))
        steps.append((name, operands, draw(st.booleans())))
    return Program(tuple(steps))


vectors = st.lists(st.integers(-20, 20), min_size=SIZE, max_size=SIZE).map(
    lambda ints: np.array(ints) / 10.0
)
points = st.lists(vectors, min_size=INPUTS, max_size=INPUTS)
law = settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def tensors(tf: ModuleType, arrays: list[np.ndarray]) -> list[Any]:
    return [tf.constant(array, tf.float64) for array in arrays]


@contextlib.contextmanager
def taped(tf: ModuleType, sources: list[Any], **options: Any) -> Generator[Any]:
    """A tape that watches the sources."""
    with tf.GradientTape(**options) as tape:
        tape.watch(sources)
        yield tape


def gradients(tf: ModuleType, function: Callable[[list[Any]], Any], at: list[Any]) -> list[Any]:
    """The gradients of a function as ndarrays; zeros where unconnected."""
    with taped(tf, at) as tape:
        y = function(at)
    found = tape.gradient(y, at, unconnected_gradients="zero")
    return [g.numpy() for g in found]


def assert_close(actual: Any, expected: Any) -> None:
    assert len(actual) == len(expected)
    for mine, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(mine, other, **CLOSE)


def weighted(tf: ModuleType, program: Program, weight: np.ndarray) -> Callable[[list[Any]], Any]:
    return lambda xs: tf.reduce_sum(program.run(tf, xs) * tf.constant(weight, tf.float64))


@law
@given(program=programs(), at=points)
def test_values_and_gradients_are_those_of_tensorflow(program, at):
    results = []
    for tf in (tapejax, tensorflow):
        xs = tensors(tf, at)
        value = program.run(tf, xs, read=True).numpy()
        results.append([value, *gradients(tf, lambda xs, tf=tf: program.run(tf, xs), xs)])
    assert_close(*results)


@law
@given(first=programs(), second=programs(), at=points, a=vectors, b=vectors)
def test_the_gradient_is_linear(tf, first, second, at, a, b):
    xs = tensors(tf, at)
    left, right = weighted(tf, first, a), weighted(tf, second, b)
    together = gradients(tf, lambda xs: left(xs) + 3.0 * right(xs), xs)
    apart = zip(gradients(tf, left, xs), gradients(tf, right, xs), strict=True)
    assert_close(together, [g + 3.0 * h for g, h in apart])


@law
@given(program=programs(), at=points)
def test_the_gradient_of_a_sum_is_the_sum_of_the_gradients(tf, program, at):
    xs = tensors(tf, at)
    with taped(tf, xs, persistent=True) as tape:
        y = program.run(tf, xs)
        parts = [y[i] for i in range(SIZE)]
    whole = [tape.gradient(y, x).numpy() for x in xs[:1]]
    assert_close(whole, [sum(tape.gradient(part, xs[0]).numpy() for part in parts)])


@law
@given(inner=programs(), outer=programs(), at=points)
def test_the_chain_rule(tf, inner, outer, at):
    xs = tensors(tf, at)
    composed = gradients(tf, lambda xs: outer.run(tf, [inner.run(tf, xs), xs[1]]), xs)
    with taped(tf, xs, persistent=True) as tape:
        middle = inner.run(tf, xs)
    with taped(tf, [middle, xs[1]]) as last:
        y = outer.run(tf, [middle, xs[1]])
    of_middle, direct = last.gradient(y, [middle, xs[1]], unconnected_gradients="zero")
    through = tape.gradient(middle, xs, output_gradients=of_middle, unconnected_gradients="zero")
    assert_close(composed, [through[0].numpy(), (through[1] + direct).numpy()])


@law
@given(program=programs(), at=points)
def test_the_jacobian_stacks_gradients(tf, program, at):
    xs = tensors(tf, at)
    with taped(tf, xs, persistent=True) as tape:
        y = program.run(tf, xs)
        parts = [y[i] for i in range(SIZE)]
    stacked = np.stack([tape.gradient(part, xs[0]).numpy() for part in parts])
    assert_close([tape.jacobian(y, xs[0]).numpy()], [stacked])


@law
@given(program=programs(), at=points, weights=points)
def test_a_persistent_tape_answers_like_fresh_tapes(tf, program, at, weights):
    xs = tensors(tf, at)
    with taped(tf, xs, persistent=True) as tape:
        y = program.run(tf, xs)
        targets = [tf.reduce_sum(y * tf.constant(weight, tf.float64)) for weight in weights]
    for target, weight in [*zip(targets, weights, strict=True)] * 2:
        found = tape.gradient(target, xs, unconnected_gradients="zero")
        fresh = gradients(tf, weighted(tf, program, weight), xs)
        assert_close([g.numpy() for g in found], fresh)


@law
@given(program=programs(), at=points, direction=vectors)
def test_nested_tapes_compose(tf, program, at, direction):
    """Differentiating <gradient, v> is the same as an output gradient v, and as the jacobian."""
    xs = tensors(tf, at)
    v = tf.constant(direction, tf.float64)
    x = xs[0]
    with taped(tf, [x], persistent=True) as outer:
        with taped(tf, [x]) as inner:
            y = program.run(tf, xs)
        first = inner.gradient(y, x)
        product = tf.reduce_sum(first * v)
    one = outer.gradient(product, x, unconnected_gradients="zero").numpy()
    two = outer.gradient(first, x, output_gradients=v, unconnected_gradients="zero").numpy()
    hessian = outer.jacobian(first, x, unconnected_gradients="zero").numpy()
    assert_close([one, one], [two, hessian @ direction])


@law
@given(program=programs(), at=points, tangents=points, weight=vectors)
def test_forward_and_reverse_mode_are_dual(tf, program, at, tangents, weight):
    xs = tensors(tf, at)
    with tf.autodiff.ForwardAccumulator(xs, tensors(tf, tangents)) as accumulator:
        y = program.run(tf, xs)
    pushed = accumulator.jvp(y).numpy()
    pulled = gradients(tf, weighted(tf, program, weight), xs)
    reverse = sum(np.sum(g * t) for g, t in zip(pulled, tangents, strict=True))
    assert_close([np.sum(pushed * weight)], [reverse])


@law
@given(program=programs(), at=points)
def test_the_order_of_watching_is_irrelevant(tf, program, at):
    xs = tensors(tf, at)
    answers = []
    for order in (xs, xs[::-1], [*xs, *xs]):
        with tf.GradientTape() as tape:
            for x in order:
                tape.watch(x)
            y = program.run(tf, xs)
        found = tape.gradient(y, xs, unconnected_gradients="zero")
        answers.append([g.numpy() for g in found])
    assert_close(answers[0], answers[1])
    assert_close(answers[0], answers[2])


@law
@given(program=programs(), at=points)
def test_reading_values_inside_the_block_changes_nothing(tf, program, at):
    xs = tensors(tf, at)
    unread = gradients(tf, lambda xs: program.run(tf, xs, read=False), xs)
    read = gradients(tf, lambda xs: program.run(tf, xs, read=True), xs)
    assert_close(unread, read)


@law
@given(program=programs(), at=points)
def test_reading_between_nested_gradients_changes_nothing(tf, program, at):
    x = tensors(tf, at)[0]
    answers = []
    for read in (False, True):
        with taped(tf, [x]) as outer:
            with taped(tf, [x]) as inner:
                y = program.run(tf, [x, x], read=read)
            first = inner.gradient(y, x)
            if read:
                first.numpy()
            z = first * x
        answers.append([outer.gradient(z, x).numpy()])
    assert_close(*answers)


@law
@given(program=programs(), at=points)
def test_one_program_and_immediate_mode_agree(program, at):
    xs = tensors(tapejax, at)
    deferred = gradients(tapejax, lambda xs: program.run(tapejax, xs), xs)
    with immediate():
        at_once = gradients(tapejax, lambda xs: program.run(tapejax, xs), xs)
    assert_close(deferred, at_once)
