"""The workloads: plain TensorFlow programs, run unmodified by TensorFlow and by tapejax.

Each function takes the library as `tf` and returns a training step, whose value (the loss) is to be
read after every call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks import problems

Step = Callable[[], Any]


def _start(tf: Any, problem: problems.Problem) -> tuple[list[Any], list[Any]]:
    """The data as constants and the parameters as variables."""
    data = [tf.constant(array) for array in problem.data]
    return data, [tf.Variable(value) for value in problem.parameters]


def _adam(tf: Any, variables: Sequence[Any]) -> Any:
    optimizer = tf.keras.optimizers.Adam(problems.ADAM_RATE)
    optimizer.build(variables)
    return optimizer


def scalar(tf: Any) -> Step:
    """The derivative of x * x: nothing but overhead."""
    _, (x,) = _start(tf, problems.scalar())

    def step() -> Any:
        with tf.GradientTape() as tape:
            y = x * x
        return tape.gradient(y, x)

    return step


def linear_regression(tf: Any) -> Step:
    """Least squares, updated by hand."""
    (x, y), (w, b) = _start(tf, problems.linear_regression())

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(problems.SGD_RATE * dw)
        b.assign_sub(problems.SGD_RATE * db)
        return loss

    return step


def mlp(tf: Any) -> Step:
    """A classifier with one hidden layer, trained by Adam."""
    (x, labels), variables = _start(tf, problems.mlp())
    w1, b1, w2, b2 = variables
    optimizer = _adam(tf, variables)

    def step() -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
            logits = tf.matmul(hidden, w2) + b2
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    return step


def pinn(tf: Any) -> Step:
    """Burgers' equation: u_x, u_t and u_xx from nested tapes, trained by Adam."""
    (x, t), variables = _start(tf, problems.pinn())
    optimizer = _adam(tf, variables)

    def network(z: Any) -> Any:
        for k in range(0, 6, 2):
            z = tf.tanh(tf.matmul(z, variables[k]) + variables[k + 1])
        return tf.matmul(z, variables[6]) + variables[7]

    def step() -> Any:
        with tf.GradientTape() as tape:
            with tf.GradientTape() as second:
                second.watch(x)
                with tf.GradientTape() as first:
                    first.watch([x, t])
                    u = network(tf.concat([x, t], 1))
                u_x, u_t = first.gradient(u, [x, t])
            u_xx = second.gradient(u_x, x)
            residual = u_t + u * u_x - problems.PINN_VISCOSITY * u_xx
            loss = tf.reduce_mean(tf.square(residual))
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    return step


def cnn(tf: Any) -> Step:
    """Two convolutions, each with a pooling layer, and a classifier, trained by Adam."""
    (images, labels), variables = _start(tf, problems.cnn())
    k1, b1, k2, b2, w, b = variables
    optimizer = _adam(tf, variables)

    def step() -> Any:
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.conv2d(images, k1, 1, "SAME") + b1)
            h = tf.nn.max_pool2d(h, 2, 2, "SAME")
            h = tf.nn.relu(tf.nn.conv2d(h, k2, 1, "SAME") + b2)
            h = tf.nn.max_pool2d(h, 2, 2, "SAME")
            logits = tf.matmul(tf.reshape(h, (32, 7 * 7 * 32)), w) + b
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    return step


def maml(tf: Any) -> Step:
    """Meta-learning with second-order gradients: one inner step for each of four tasks."""
    data, variables = _start(tf, problems.maml())
    tasks = [data[n : n + 4] for n in range(0, len(data), 4)]
    optimizer = _adam(tf, variables)

    def network(z: Any, parameters: Sequence[Any]) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        z = tf.nn.relu(tf.matmul(z, w1) + b1)
        z = tf.nn.relu(tf.matmul(z, w2) + b2)
        return tf.matmul(z, w3) + b3

    def step() -> Any:
        with tf.GradientTape() as outer:
            total = 0.0
            for x, y, x_test, y_test in tasks:
                with tf.GradientTape() as inner:
                    loss = tf.reduce_mean(tf.square(network(x, variables) - y))
                gradients = inner.gradient(loss, variables)
                adapted = [
                    v - problems.MAML_RATE * g for v, g in zip(variables, gradients, strict=True)
                ]
                total += tf.reduce_mean(tf.square(network(x_test, adapted) - y_test))
            total = total / float(problems.MAML_TASKS)
        gradients = outer.gradient(total, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return total

    return step


def rnn(tf: Any) -> Step:
    """A recurrent network as a Python loop of 50 steps, updated by hand."""
    (x, y), variables = _start(tf, problems.rnn())
    w_in, w_state, b, w_out = variables
    initial = tf.zeros((32, 64))

    def step() -> Any:
        with tf.GradientTape() as tape:
            state = initial
            for n in range(problems.RNN_STEPS):
                state = tf.tanh(tf.matmul(x[:, n], w_in) + tf.matmul(state, w_state) + b)
            loss = tf.reduce_mean(tf.square(tf.matmul(state, w_out) - y))
        gradients = tape.gradient(loss, variables)
        for variable, gradient in zip(variables, gradients, strict=True):
            variable.assign_sub(problems.SGD_RATE * gradient)
        return loss

    return step


def jacobian(tf: Any) -> Step:
    """The 64x64 jacobian of a network with one hidden layer."""
    (x,), (w1, b1, w2, b2) = _start(tf, problems.jacobian())

    def step() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.matmul(tf.tanh(tf.matmul(x, w1) + b1), w2) + b2
        return tf.reduce_sum(tape.jacobian(y, x))

    return step


WORKLOADS: dict[str, Callable[[Any], Step]] = {
    "scalar": scalar,
    "linear_regression": linear_regression,
    "mlp": mlp,
    "pinn": pinn,
    "cnn": cnn,
    "maml": maml,
    "rnn": rnn,
    "jacobian": jacobian,
}
