"""The limit: each workload as an expert writes it in JAX, one jitted step with donated state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import lax

from benchmarks import problems
from benchmarks.workloads import Step

Parameters = Sequence[jax.Array]
Loss = Callable[..., jax.Array]


class Repeated:
    """A step that keeps its state between calls and gives its buffers to the next one.

    Args:
        update: Function of (state, *data) that gives (new state, loss).
        state: The state at first.
        data: What the other arguments are at each call.
    """

    def __init__(
        self, update: Callable[..., tuple[Any, jax.Array]], state: Any, data: Sequence[Any]
    ) -> None:
        """Make it."""
        self._jitted = jax.jit(update, donate_argnums=0)
        self._arrays = [jnp.asarray(array) for array in data]
        # Copies: two equal constants may share one buffer, which cannot be donated twice.
        self._held = jax.tree.map(lambda leaf: jnp.array(leaf, copy=True), state)

    def __call__(self) -> jax.Array:
        """One step; returns the loss."""
        self._held, loss = self._jitted(self._held, *self._arrays)
        return loss

    def compiled(self) -> jax.stages.Compiled:
        """The program it runs."""
        return self._jitted.lower(self._held, *self._arrays).compile()


def _sgd(loss: Loss, problem: problems.Problem) -> Step:
    def update(parameters: Any, *data: jax.Array) -> tuple[Any, jax.Array]:
        value, gradients = jax.value_and_grad(loss)(parameters, *data)
        updated = [p - problems.SGD_RATE * g for p, g in zip(parameters, gradients, strict=True)]
        return updated, value

    return Repeated(update, problem.parameters, problem.data)


def _adam(loss: Loss, problem: problems.Problem) -> Step:
    optimizer = optax.adam(problems.ADAM_RATE, eps=1e-7)

    def update(state: Any, *data: jax.Array) -> tuple[Any, jax.Array]:
        parameters, slots = state
        value, gradients = jax.value_and_grad(loss)(parameters, *data)
        changes, slots = optimizer.update(gradients, slots, parameters)
        return (optax.apply_updates(parameters, changes), slots), value

    parameters = [jnp.asarray(value) for value in problem.parameters]
    return Repeated(update, (parameters, optimizer.init(parameters)), problem.data)


def _cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, labels))


def scalar() -> Step:
    """`jax.grad` of x * x."""
    gradient = jax.jit(jax.grad(lambda x: x * x))
    x = jnp.asarray(problems.scalar().parameters[0])
    return lambda: gradient(x)


def linear_regression() -> Step:
    """Least squares."""

    def loss(parameters: Parameters, x: jax.Array, y: jax.Array) -> jax.Array:
        w, b = parameters
        return jnp.mean(jnp.square(x @ w + b - y))

    return _sgd(loss, problems.linear_regression())


def mlp() -> Step:
    """A classifier with one hidden layer."""

    def loss(parameters: Parameters, x: jax.Array, labels: jax.Array) -> jax.Array:
        w1, b1, w2, b2 = parameters
        return _cross_entropy(jax.nn.relu(x @ w1 + b1) @ w2 + b2, labels)

    return _adam(loss, problems.mlp())


def pinn() -> Step:
    """Burgers' equation, reverse mode over reverse mode as in the tape program."""

    def network(parameters: Parameters, x: jax.Array, t: jax.Array) -> jax.Array:
        z = jnp.concatenate([x, t], 1)
        for k in range(0, 6, 2):
            z = jnp.tanh(z @ parameters[k] + parameters[k + 1])
        return z @ parameters[6] + parameters[7]

    def loss(parameters: Parameters, x: jax.Array, t: jax.Array) -> jax.Array:
        def first_derivatives(x: jax.Array) -> tuple[jax.Array, Any]:
            u, pullback = jax.vjp(lambda x, t: network(parameters, x, t), x, t)
            u_x, u_t = pullback(jnp.ones_like(u))
            return u_x, (u, u_t)

        u_x, pullback, (u, u_t) = jax.vjp(first_derivatives, x, has_aux=True)
        (u_xx,) = pullback(jnp.ones_like(u_x))
        return jnp.mean(jnp.square(u_t + u * u_x - problems.PINN_VISCOSITY * u_xx))

    return _adam(loss, problems.pinn())


def cnn() -> Step:
    """Two convolutions with pooling."""

    def convolve(x: jax.Array, kernel: jax.Array) -> jax.Array:
        layout = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=layout)

    def pool(x: jax.Array) -> jax.Array:
        window = (1, 2, 2, 1)
        return lax.reduce_window(x, -jnp.inf, lax.max, window, window, "SAME")

    def loss(parameters: Parameters, images: jax.Array, labels: jax.Array) -> jax.Array:
        k1, b1, k2, b2, w, b = parameters
        h = pool(jax.nn.relu(convolve(images, k1) + b1))
        h = pool(jax.nn.relu(convolve(h, k2) + b2))
        return _cross_entropy(h.reshape(32, -1) @ w + b, labels)

    return _adam(loss, problems.cnn())


def maml() -> Step:
    """`jax.grad` through one step of `jax.grad`."""

    def network(parameters: Parameters, z: jax.Array) -> jax.Array:
        w1, b1, w2, b2, w3, b3 = parameters
        z = jax.nn.relu(z @ w1 + b1)
        return jax.nn.relu(z @ w2 + b2) @ w3 + b3

    def error(parameters: Parameters, x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.mean(jnp.square(network(parameters, x) - y))

    def loss(parameters: Parameters, *data: jax.Array) -> jax.Array:
        total = jnp.zeros(())
        for n in range(0, len(data), 4):
            x, y, x_test, y_test = data[n : n + 4]
            gradients = jax.grad(error)(parameters, x, y)
            adapted = [
                p - problems.MAML_RATE * g for p, g in zip(parameters, gradients, strict=True)
            ]
            total = total + error(adapted, x_test, y_test)
        return total / problems.MAML_TASKS

    return _adam(loss, problems.maml())


def rnn() -> Step:
    """The Python loop, unrolled by tracing as in the tape program."""

    def loss(parameters: Parameters, x: jax.Array, y: jax.Array) -> jax.Array:
        w_in, w_state, b, w_out = parameters
        state = jnp.zeros((32, 64))
        for n in range(problems.RNN_STEPS):
            state = jnp.tanh(x[:, n] @ w_in + state @ w_state + b)
        return jnp.mean(jnp.square(state @ w_out - y))

    return _sgd(loss, problems.rnn())


def jacobian() -> Step:
    """`jax.jacrev`."""
    problem = problems.jacobian()
    x = jnp.asarray(problem.data[0])
    parameters = [jnp.asarray(value) for value in problem.parameters]

    def network(x: jax.Array, parameters: Parameters) -> jax.Array:
        w1, b1, w2, b2 = parameters
        return jnp.tanh(x @ w1 + b1) @ w2 + b2

    total = jax.jit(lambda x, parameters: jnp.sum(jax.jacrev(network)(x, parameters)))
    return lambda: total(x, parameters)


WORKLOADS: dict[str, Callable[[], Step]] = {
    "scalar": scalar,
    "linear_regression": linear_regression,
    "mlp": mlp,
    "pinn": pinn,
    "cnn": cnn,
    "maml": maml,
    "rnn": rnn,
    "jacobian": jacobian,
}
