"""Learns to solve the Burgers equation `u_t + u u_x = (0.01 / pi) u_xx`, and checks the result.

With `u(0, x) = -sin(pi x)` and `u(t, -1) = u(t, 1) = 0`, which the network has built in.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf

NU = 0.01 / np.pi


def exact_solution(x, t):
    """The Cole-Hopf solution at `t > 0`, its integrals by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite.hermgauss(120)
    y = x[..., None] - np.sqrt(4.0 * NU * t[..., None]) * nodes
    weights = weights * np.exp(-np.cos(np.pi * y) / (2.0 * np.pi * NU))
    return -np.sum(weights * np.sin(np.pi * y), -1) / np.sum(weights, -1)


def make_weights(rng):
    """Kernel, bias, kernel, bias, ... of a network with four hidden layers of 20 units."""
    variables = []
    for inputs, outputs in ((2, 20), (20, 20), (20, 20), (20, 20), (20, 1)):
        kernel = rng.normal(0.0, np.sqrt(2.0 / (inputs + outputs)), [inputs, outputs])
        variables += [tf.Variable(kernel, dtype=tf.float32), tf.Variable(tf.zeros([outputs]))]
    return variables


def solution(weights, x, t):
    """The network's `u` at points `[n, 1]`, with the initial and boundary values built in."""
    hidden = tf.concat([x, 2.0 * t - 1.0], axis=1)
    for kernel, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        hidden = tf.tanh(hidden @ kernel + bias)
    return t * (1.0 - x * x) * (hidden @ weights[-2] + weights[-1]) - tf.sin(np.pi * x)


def equation_loss(weights, x, t):
    """Mean squared residual; steep places count less, or they would drown the rest."""
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape() as first:
            first.watch([x, t])
            u = solution(weights, x, t)
        u_x, u_t = first.gradient(u, [x, t])
    residual = u_t + u * u_x - NU * second.gradient(u_x, x)
    return tf.reduce_mean(residual**2 / tf.stop_gradient(1.0 + 0.3 * tf.abs(u_x)))


def draw(x, t, u, exact, title, path):
    """Draw the learned solution, its error, and both solutions at three times."""
    plt.switch_backend("Agg")
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    figure.suptitle(f"Burgers equation, viscosity 0.01/π: {title}")
    for axis, values, name in ((axes[0], u, "u, learned"), (axes[1], u - exact, "learned - exact")):
        limit = np.abs(values).max()
        image = axis.pcolormesh(t, x, values, cmap="RdBu_r", vmin=-limit, vmax=limit)
        figure.colorbar(image, ax=axis)
        axis.set(xlabel="t", ylabel="x", title=name)
    for row, color in ((25, "tab:green"), (50, "tab:orange"), (100, "tab:purple")):
        axes[2].plot(x[row], exact[row], color=color, alpha=0.4, linewidth=4)
        axes[2].plot(x[row], u[row], "--", color=color, label=f"t = {t[row, 0]:.2f}")
    axes[2].set(xlabel="x", ylabel="u", title="dashed: learned, wide: exact")
    axes[2].legend()
    figure.savefig(path, dpi=120)


def main():
    """Train, compare on a grid, draw, and check the error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("--max-error", type=float, default=0.02, help="largest relative L2 error")
    parser.add_argument("--out", default="burgers_pinn.png", help="where the plot goes")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    weights, optimizer = make_weights(rng), tf.keras.optimizers.Adam()
    x, t = np.meshgrid(np.linspace(-1.0, 1.0, 201), np.linspace(0.0, 1.0, 101))
    exact = exact_solution(x, np.maximum(t, 1e-9))
    grid = [tf.constant(part.reshape(-1, 1), tf.float32) for part in (x, t)]
    for step in range(1, options.steps + 1):
        points = np.vstack([rng.uniform((-a, 0.0), (a, 1.0), [256, 2]) for a in (1.0, 0.3)])
        inputs = tf.split(tf.constant(points, tf.float32), 2, axis=1)
        optimizer.learning_rate = 5e-3 * 0.7 ** (10.0 * step / options.steps)
        with tf.GradientTape() as tape:
            loss = equation_loss(weights, *inputs)
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        if step % max(1, options.steps // 12) == 0 or step == options.steps:
            u = solution(weights, *grid).numpy().reshape(x.shape)
            error = np.linalg.norm(u - exact) / np.linalg.norm(exact)
            print(f"step {step:5d}  loss {float(loss):.2e}  relative error {error:.2e}", flush=True)
    print(f"relative L2 error {error:.2e} after {options.steps} steps, plot in {options.out}")
    draw(x, t, u, exact, f"relative L2 error {error:.2e}", options.out)
    assert error <= options.max_error, f"expected at most {options.max_error}"


if __name__ == "__main__":
    main()
