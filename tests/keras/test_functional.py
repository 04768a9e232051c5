"""`functional_call` and `optimizer.update`: gradients through values of variables."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tapejax as tf

X = np.array([[1.0, 2.0], [0.5, -1.0]])
W, B = np.array([[1.0], [2.0]]), np.array([0.5])


class Line(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.b = tf.Variable(B, name="b")
        self.w = tf.Variable(W, name="w")

    def __call__(self, x: Any) -> Any:
        return tf.tanh(x @ self.w + self.b)


def by_hand(w: Any, b: Any, steps: int = 2) -> Any:
    def loss(w: Any, b: Any) -> Any:
        return jnp.sum(jnp.tanh(X @ w + b) ** 2)

    for _ in range(steps):
        slope_w, slope_b = jax.grad(loss, (0, 1))(w, b)
        w, b = w - 0.125 * slope_w, b - 0.125 * slope_b
    return loss(w, b)


def expected() -> Any:
    with jax.enable_x64(True):
        return [np.asarray(g) for g in jax.grad(by_hand, (0, 1))(W, B)]


def adapted(model: Any, variables: Any, optimizer: Any) -> Any:
    """The gradients of the loss after two inner steps by the values before them."""
    x = tf.constant(X, variables[0].dtype)
    with tf.GradientTape() as outer:
        values = [tf.convert_to_tensor(v) for v in variables]
        for _ in range(2):
            with tf.GradientTape() as inner:
                inner.watch(values)
                loss = tf.reduce_sum(tf.experimental.functional_call(model, values, x) ** 2)
            values = optimizer.update(inner.gradient(loss, values), values)
        after = tf.reduce_sum(tf.experimental.functional_call(model, values, x) ** 2)
    return outer.gradient(after, variables)


@pytest.mark.parametrize("compiled", [False, True])
def test_adaptation_of_a_module_is_differentiated(compiled: bool) -> None:
    model = Line()
    optimizer = tf.keras.optimizers.SGD(0.125)  # exact in float32
    variables = list(model.trainable_variables)
    optimizer.build(variables)
    run = tf.function(adapted) if compiled else adapted
    found = dict(zip([v.name for v in variables], run(model, variables, optimizer), strict=True))
    slope_w, slope_b = expected()
    np.testing.assert_allclose(found["w:0"], slope_w, rtol=1e-10)
    np.testing.assert_allclose(found["b:0"], slope_b, rtol=1e-10)
    np.testing.assert_array_equal(model.w, W)  # nothing was assigned
    assert int(optimizer.iterations) == 0


def test_adaptation_of_a_keras_model_is_differentiated() -> None:
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((2,)), layers.Dense(1, activation="tanh")])
    model.set_weights([W, B])
    optimizer = tf.keras.optimizers.SGD(0.125)
    optimizer.build(model.trainable_variables)
    for mine, theirs in zip(
        adapted(model, model.trainable_variables, optimizer), expected(), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5)
    np.testing.assert_array_equal(model.get_weights()[0], W)


@pytest.mark.parametrize(
    "optimizer",
    [
        tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
        tf.keras.optimizers.Adam(0.1),
        tf.keras.optimizers.AdamW(0.1, weight_decay=0.01),
        tf.keras.optimizers.RMSprop(0.1, centered=True),
        tf.keras.optimizers.Adagrad(0.1),
        tf.keras.optimizers.Adadelta(0.1),
        tf.keras.optimizers.Adamax(0.1),
        tf.keras.optimizers.Nadam(0.1),
        tf.keras.optimizers.Ftrl(0.1),
        tf.keras.optimizers.Lion(0.1),
        tf.keras.optimizers.Lamb(0.1),
        tf.keras.optimizers.Adafactor(0.1),
        tf.keras.optimizers.SGD(0.1, clipnorm=0.5),
    ],
    ids=lambda optimizer: type(optimizer).__name__,
)
def test_update_is_what_apply_does_and_has_the_derivative(optimizer: Any) -> None:
    start = np.array([[1.0, -2.0, 0.5], [0.3, 0.7, -0.2]])
    slope = np.array([[0.3, -0.1, 0.4], [0.2, 0.6, -0.5]])
    v = tf.Variable(start)
    optimizer.build([v])
    for _ in range(2):  # the state is not what it was at the start
        optimizer.apply_gradients([(tf.constant(slope), v)])
    held = v.numpy()
    with tf.GradientTape() as tape:
        gradient = tf.constant(slope)
        tape.watch(gradient)
        (new,) = optimizer.update([gradient], [v])
        total = tf.reduce_sum(new * new)
    found = tape.gradient(total, gradient).numpy()
    step = 1e-6
    for place in np.ndindex(*slope.shape):
        ends = []
        for sign in (1, -1):
            moved = slope.copy()
            moved[place] += sign * step
            (end,) = optimizer.update([tf.constant(moved)], [v])
            ends.append(float(tf.reduce_sum(end * end)))
        np.testing.assert_allclose(
            found[place], (ends[0] - ends[1]) / (2 * step), rtol=2e-4, atol=1e-6
        )
    np.testing.assert_array_equal(v.numpy(), held)
    optimizer.apply_gradients([(tf.constant(slope), v)])
    np.testing.assert_allclose(v.numpy(), new.numpy(), rtol=1e-12)


def test_a_value_without_a_gradient_stays() -> None:
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    optimizer = tf.keras.optimizers.SGD(0.5)
    optimizer.build([a, b])
    assert [float(x) for x in optimizer.update([None, tf.constant(1.0)], [a, 3.0])] == [1.0, 2.5]


def test_values_may_be_given_by_name_and_errors_restore() -> None:
    model = Line()
    x = tf.constant(X)
    found = tf.experimental.functional_call(model, {"b": [0.0]}, x)
    np.testing.assert_allclose(found, np.tanh(X @ W), rtol=1e-12)
    with pytest.raises(ZeroDivisionError):
        tf.experimental.functional_call(lambda_model(model), [B, W * 2], x)
    np.testing.assert_array_equal(model.w, W)


def lambda_model(model: Any) -> Any:
    class Failing:
        trainable_variables = model.trainable_variables

        def __call__(self, x: Any) -> Any:
            raise ZeroDivisionError

    return Failing()


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda m: tf.experimental.functional_call(m, [W], X), ValueError, "1 values .* 2 "),
        (lambda m: tf.experimental.functional_call(m, {"c": W}, X), ValueError, r"\['c'\]"),
        (lambda m: tf.experimental.functional_call(m, {"w": B}, X), ValueError, r"\[1\] .* 'w'"),
        (lambda m: tf.keras.optimizers.SGD(0.1).update([B], [B]), ValueError, "build"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call(Line())


def test_an_optimizer_with_code_of_its_own_is_refused() -> None:
    class Own(tf.keras.optimizers.Optimizer):
        def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
            variable.assign_sub(learning_rate * gradient)

    v = tf.Variable(1.0)
    optimizer = Own(0.1)
    optimizer.build([v])
    with pytest.raises(NotImplementedError, match="Own updates variables by its own code"):
        optimizer.update([tf.constant(1.0)], [v])
