"""`vjp`, `jvp`, `hvp`, `hessian`, `laplacian` and chunked jacobians, against `jax` by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tapejax as tf
from tapejax._src.engine.statistics import COUNTERS

RNG = np.random.default_rng(3)
W, X = RNG.normal(size=(3, 2)), RNG.normal(size=2)
V, U = RNG.normal(size=(3, 2)), RNG.normal(size=2)
POINTS = RNG.normal(size=(5, 2))


def ours(w: Any, x: Any) -> Any:
    return tf.reduce_sum(tf.tanh(tf.linalg.matvec(w, x)) ** 2 * tf.exp(x[0]))


def theirs(w: Any, x: Any) -> Any:
    return jnp.sum(jnp.tanh(w @ x) ** 2 * jnp.exp(x[0]))


@pytest.fixture(params=[False, True], ids=["once", "persistent"])
def tape(request: pytest.FixtureRequest) -> Any:
    return tf.GradientTape(persistent=request.param)


@pytest.fixture(params=["eager", "function"])
def run(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Calls a function, as it is or compiled."""
    return lambda body: tf.function(body)() if request.param == "function" else body()


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-10, atol=1e-12)


def wide(function: Callable[[], Any]) -> Any:
    """The values that JAX computes in 64 bits."""
    with jax.enable_x64(True):
        return jax.tree.map(np.asarray, function())


def test_jvp_is_the_directional_derivative(tape: Any, run: Any) -> None:
    w, x = tf.Variable(W), tf.constant(X)

    def body() -> Any:
        with tape:
            tape.watch(x)
            y = ours(w, x)
            both = {"y": y, "z": tf.sin(x) * w[0]}
        return tape.jvp(both, [w, x], [V, U])

    found = run(body)
    close(found["y"], wide(lambda: jax.jvp(theirs, (W, X), (V, U))[1]))
    expected = wide(lambda: jax.jvp(lambda w, x: jnp.sin(x) * w[0], (W, X), (V, U))[1])
    close(found["z"], expected)


def test_vjp_is_gradient_with_output_gradients(tape: Any) -> None:
    x = tf.Variable(X)
    with tape:
        y = x**3
    close(tape.vjp(y, x, tf.constant(U)), 3 * X**2 * U)


def test_jvp_and_vjp_are_adjoint(tape: Any) -> None:
    x = tf.Variable(X)
    with tf.GradientTape() as other:
        y = tf.sin(x) * x[::-1]
    with tape:
        z = tf.sin(x) * x[::-1]
    left = tf.reduce_sum(other.jvp(y, x, U) * V[0])
    right = tf.reduce_sum(tape.vjp(z, x, tf.constant(V[0])) * U)
    close(left, right)


def test_hvp_is_forward_over_reverse(tape: Any, run: Any) -> None:
    w, x = tf.Variable(W), tf.constant(X)

    def body() -> Any:
        with tape:
            tape.watch(x)
            y = ours(w, x)
        return tape.hvp(y, {"w": w, "x": x}, {"w": V, "x": U})

    found = run(body)
    expected = wide(lambda: jax.jvp(jax.grad(theirs, (0, 1)), (W, X), (V, U))[1])
    close(found["w"], expected[0])
    close(found["x"], expected[1])


def test_hessian_has_a_block_for_each_pair(tape: Any, run: Any) -> None:
    w, x = tf.Variable(W), tf.constant(X)

    def body() -> Any:
        with tape:
            tape.watch(x)
            y = ours(w, x)
        return tape.hessian(y, [w, x])

    found = run(body)
    expected = wide(lambda: jax.hessian(theirs, (0, 1))(W, X))
    for row, expected_row in zip(found, expected, strict=True):
        for block, expected_block in zip(row, expected_row, strict=True):
            close(block, expected_block)


def test_hessian_of_one_source_is_one_tensor(tape: Any) -> None:
    x = tf.Variable(X)
    with tape:
        y = x[0] ** 2 * x[1] ** 3
    a, b = X
    close(tape.hessian(y, x), [[2 * b**3, 6 * a * b**2], [6 * a * b**2, 6 * a**2 * b]])


@pytest.mark.parametrize("columns", [False, True])
def test_laplacian_of_each_example(tape: Any, run: Any, columns: bool) -> None:
    points = tf.constant(POINTS)
    a, b = POINTS.T

    def body() -> Any:
        sources = [points[:, :1], points[:, 1:]] if columns else points
        with tape:
            tape.watch(sources)
            x, y = (s[:, 0] for s in sources) if columns else (points[:, 0], points[:, 1])
            u = tf.sin(x) * y**3
            both = tf.stack([u, tf.exp(x) * y], axis=1)
        return tape.laplacian(both, sources)

    expected = np.stack([-np.sin(a) * b**3 + 6 * np.sin(a) * b, np.exp(a) * b], 1)
    close(run(body), expected)


def test_laplacian_of_a_network_is_the_trace_of_its_hessian(tape: Any) -> None:
    kernel = RNG.normal(size=(2, 7))
    points = tf.constant(POINTS)
    with tape:
        tape.watch(points)
        u = tf.reduce_sum(tf.tanh(points @ kernel), axis=1)
    one = jax.hessian(lambda p: jnp.sum(jnp.tanh(p @ kernel)))
    close(tape.laplacian(u, points), wide(lambda: jax.vmap(lambda p: jnp.trace(one(p)))(POINTS)))


def test_laplacian_in_one_dimension(tape: Any) -> None:
    x = tf.constant(X)
    with tape:
        tape.watch(x)
        u = x**4
    close(tape.laplacian(u, x), 12 * X**2)


def test_laplacian_can_be_differentiated(run: Any) -> None:
    """The gradient of a residual, as a physics-informed network needs it."""
    w = tf.Variable(W[0])
    points = tf.constant(POINTS)

    def body() -> Any:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(points)
                u = tf.sin(tf.linalg.matvec(points, w))
            loss = tf.reduce_mean(inner.laplacian(u, points) ** 2)
        return outer.gradient(loss, w)

    def loss(w: Any) -> Any:
        return jnp.mean((-jnp.sin(POINTS @ w) * jnp.sum(w**2)) ** 2)

    close(run(body), wide(lambda: jax.grad(loss)(W[0])))


def test_outer_tapes_and_accumulators_see_the_answers() -> None:
    x = tf.Variable(X)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x**4)
        product = inner.hvp(y, x, U)
    close(outer.gradient(product, x), 24 * X * U)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(U)) as accumulator:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(x**4)
        pushed = inner.jvp(y, x, U)
    close(accumulator.jvp(pushed), np.sum(12 * X**2 * U * U))


def test_they_may_be_asked_in_the_block() -> None:
    x = tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(x**4)
        product = tape.hvp(y, x, U)
        total = tf.reduce_sum(product)
    close(product, 12 * X**2 * U)
    close(tape.gradient(total, x), 24 * X * U)


def test_they_use_the_tape_up() -> None:
    x = tf.Variable(X)
    for ask in (
        lambda tape, y: tape.hvp(y, x, U),
        lambda tape, y: tape.jvp(y, x, U),
        lambda tape, y: tape.hessian(y, x),
        lambda tape, y: tape.vjp(y, x, tf.constant(1.0, tf.float64)),
    ):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x**2)
        ask(tape, y)
        with pytest.raises(RuntimeError, match="non-persistent"):
            ask(tape, y)


def test_a_persistent_tape_answers_after_values_were_read() -> None:
    x = tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.sin(x) ** 2)
    float(y)
    close(tape.hvp(y, x, U), 2 * np.cos(2 * X) * U)
    close(tape.hessian(y, x), np.diag(2 * np.cos(2 * X)))
    close(tape.jvp(y, x, U), np.sum(np.sin(2 * X) * U))


def test_another_tape_says_that_values_were_read() -> None:
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sin(x) ** 2)
    float(y)
    with pytest.raises(RuntimeError, match=r"GradientTape\.hvp needs .* not persistent"):
        tape.hvp(y, x, U)
    close(tape.gradient(y, x), np.sin(2 * X))  # nothing was lost


def test_unconnected_sources_and_targets() -> None:
    x, other = tf.Variable(X), tf.Variable(W)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(x**2)
        z = tf.reduce_sum(3.0 * x)
    assert tape.jvp(y, other, V) is None
    close(tape.jvp(y, other, V, unconnected_gradients="zero"), 0.0)
    first, second = tape.hvp(y, [x, other], [U, V])
    close(first, 2 * U)
    assert second is None
    close(tape.hvp(y, [other], [V], "zero")[0], np.zeros_like(W))
    blocks = tape.hessian(y, [x, other])
    assert blocks[0][1] is None
    assert blocks[1] == [None, None]
    assert tape.hessian(y, [x, other], "zero")[1][0].shape == (3, 2, 2)
    assert tape.hvp(z, x, U) is None or not np.any(tape.hvp(z, x, U))


def test_rows_of_an_embedding_take_part() -> None:
    table = tf.Variable(W)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(tf.gather(table, [0, 2, 0]) ** 3)
    counts = np.array([[2.0], [0.0], [1.0]])
    close(tf.convert_to_tensor(tape.hvp(y, table, V)), 6 * W * V * counts)
    close(tape.jvp(y, table, V), np.sum(3 * W**2 * V * counts))


def test_custom_gradients_are_followed() -> None:
    @tf.custom_gradient
    def square(x: Any) -> Any:
        return x * x, lambda upstream: upstream * 5.0 * x  # not 2 x

    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(square(x))
    close(tape.hvp(y, x, U), 5 * U)


def test_complex_products() -> None:
    z = RNG.normal(size=3) + 1j * RNG.normal(size=3)
    v = RNG.normal(size=3) + 1j * RNG.normal(size=3)
    x = tf.Variable(z)
    with tf.GradientTape() as tape:
        y = x**3
    close(tape.jvp(y, x, v), 3 * z**2 * v)


@pytest.mark.parametrize("chunk", [1, 2, 3, 6, 100])
def test_a_jacobian_in_chunks_is_the_same(chunk: int, run: Any) -> None:
    x = tf.Variable(X)

    def body() -> Any:
        with tf.GradientTape() as tape:
            y = tf.sin(x) * tf.constant(W)
        return tape.jacobian(y, x, chunk_size=chunk)

    close(run(body), wide(lambda: jax.jacobian(lambda x: jnp.sin(x) * W)(X)))


@pytest.mark.parametrize("chunk", [0, -1, 1.5, True])
def test_a_chunk_must_be_a_positive_integer(chunk: Any) -> None:
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = x * x
    with pytest.raises(ValueError, match="chunk_size must be a positive integer"):
        tape.jacobian(y, x, chunk_size=chunk)


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda t, y, x: t.jvp(y, x, W), r"tangent of shape \[3, 2\] .* \[2\]"),
        (lambda t, y, x: t.hvp(y, [x], [U, U]), "2 vectors were given for 1 sources"),
        (lambda t, y, x: t.hessian(x * 1.0, x), r"takes a scalar, got .* \[2\]"),
        (lambda t, y, x: t.laplacian(y, x), "one batch"),
        (lambda t, y, x: t.laplacian(tf.zeros([3]), x), "one batch"),
    ],
)
def test_bad_input_is_refused_and_the_tape_goes_on(ask: Any, text: str) -> None:
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x**2)
    with pytest.raises(ValueError, match=text):
        ask(tape, y, x)
    close(tape.gradient(y, x), 2 * X)


def test_asked_again_nothing_is_compiled_again() -> None:
    x = tf.Variable(X)

    def ask() -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.sin(x) ** 2)
        found = [tape.hvp(y, x, U)]
        with tf.GradientTape() as tape:
            u = tf.sin(x) ** 2
        found.append(tape.laplacian(u, x))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.sin(x) ** 2)
        found.append(tape.hessian(y, x))
        return [f.numpy() for f in found]

    for _ in range(4):
        ask()
    programs, compiles = COUNTERS.programs, COUNTERS.compiles
    for _ in range(3):
        ask()
    assert (programs, compiles) == (COUNTERS.programs, COUNTERS.compiles)
