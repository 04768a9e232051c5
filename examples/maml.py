"""Learns to learn: model-agnostic meta-learning of sine curves, with second-order meta-gradients.

Training makes one gradient step on ten points of a new sine fit it, by gradients through that step.
"""

import argparse

import numpy as np
import tensorflow as tf

INNER_RATE = 0.01


def make_network(rng):
    """Kernels and biases of a network of 1, 40, 40 and 1 units, in one list of variables."""
    variables = []
    for inputs, outputs in ((1, 40), (40, 40), (40, 1)):
        kernel = rng.normal(0.0, inputs**-0.5, [inputs, outputs])
        variables += [tf.Variable(kernel, dtype=tf.float32), tf.Variable(tf.zeros([outputs]))]
    return variables


def loss_of(weights, x, y):
    """Mean squared error of the network on points `x`, `y` of shape `[points, 1]`."""
    hidden = x
    for kernel, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        hidden = tf.nn.relu(hidden @ kernel + bias)
    return tf.reduce_mean((hidden @ weights[-2] + weights[-1] - y) ** 2)


def sample_task(rng, points=10):
    """Two sets of points on one random sine: to adapt on, and to judge the result by."""
    x = rng.uniform(-5.0, 5.0, [2, points, 1])
    y = rng.uniform(0.1, 5.0) * np.sin(x - rng.uniform(0.0, np.pi))
    return [tf.constant(part, tf.float32) for part in (x[0], y[0], x[1], y[1])]


def adapt(weights, x, y, second_order=True):
    """One gradient step, itself differentiable, away from `weights`."""
    with tf.GradientTape() as tape:
        tape.watch(weights)
        loss = loss_of(weights, x, y)
    gradients = tape.gradient(loss, weights)
    if not second_order:
        gradients = map(tf.stop_gradient, gradients)
    return [w - INNER_RATE * g for w, g in zip(weights, gradients, strict=True)]


def meta_loss(weights, tasks, second_order=True):
    """The mean loss after adapting to each task."""
    losses = [loss_of(adapt(weights, x, y, second_order), u, v) for x, y, u, v in tasks]
    return tf.add_n(losses) / len(losses)


def meta_gradient(variables, tasks, second_order=True):
    """The meta-loss and its gradient."""
    with tf.GradientTape() as tape:
        loss = meta_loss(variables, tasks, second_order)
    return loss, tape.gradient(loss, variables)


def check_order(variables, tasks):
    """Compare the tape's slope with a difference quotient, and with the first-order short cut."""
    _, exact = meta_gradient(variables, tasks)
    _, short_cut = meta_gradient(variables, tasks, second_order=False)
    norm = tf.linalg.global_norm(exact)
    ahead = [w + 1e-2 * g / norm for w, g in zip(variables, exact, strict=True)]
    behind = [w - 1e-2 * g / norm for w, g in zip(variables, exact, strict=True)]
    slope = float(meta_loss(ahead, tasks) - meta_loss(behind, tasks)) / 2e-2
    error = tf.linalg.global_norm([a - b for a, b in zip(exact, short_cut, strict=True)]) / norm
    print(f"slope of the meta-loss {slope:.4f}, by the tape {float(norm):.4f};"
          f" the first-order meta-gradient is off by {100 * float(error):.0f} %")  # fmt: skip
    assert abs(slope / float(norm) - 1.0) < 2e-2 < error


def main():
    """Meta-train, and check that one step now helps on sines never seen before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=2000, help="meta-steps of five tasks")
    iterations = parser.parse_args().iterations
    rng = np.random.default_rng(0)
    variables, new_tasks = make_network(rng), [sample_task(rng) for _ in range(50)]
    check_order(variables, new_tasks[:2])
    optimizer = tf.keras.optimizers.Adam(2e-3)
    untrained = np.mean([float(meta_loss(variables, [task])) for task in new_tasks])
    for iteration in range(1, iterations + 1):
        loss, gradients = meta_gradient(variables, [sample_task(rng) for _ in range(5)])
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        if iteration % max(1, iterations // 10) == 0:
            print(f"iteration {iteration:4d}  loss after one step {float(loss):.3f}", flush=True)
    trained = np.mean([float(meta_loss(variables, [task])) for task in new_tasks])
    unadapted = np.mean([float(loss_of(variables, u, v)) for *_, u, v in new_tasks])
    print(f"loss on new sines: {unadapted:.3f} before one step, {trained:.3f} after it")
    print(f"an untrained network after one step: {untrained:.3f}")
    assert trained < min(0.8 * untrained, unadapted)


if __name__ == "__main__":
    main()
