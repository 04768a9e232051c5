"""Minimises the Rosenbrock function by Newton's method, with Hessians from two nested tapes."""

import argparse

import numpy as np
import tensorflow as tf


def rosenbrock(x):
    """A curved valley: `sum(100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2)`, least at all ones."""
    return tf.reduce_sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def derivatives(function, x):
    """Value, gradient `[n]` and Hessian `[n, n]` of a function of a vector."""
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            value = function(x)
        gradient = inner.gradient(value, x)
    return value, gradient, outer.jacobian(gradient, x)


def hessian_by_hand(x):
    """The Hessian of `rosenbrock`, written out with NumPy to compare with."""
    hessian = np.diag(-400.0 * x[:-1], 1) + np.diag(-400.0 * x[:-1], -1)
    diagonal = np.zeros_like(x)
    diagonal[:-1] = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    diagonal[1:] += 200.0
    return hessian + np.diag(diagonal)


def newton_step(value, gradient, hessian, x):
    """One Newton step: made to point downhill, then shortened until the function falls."""
    shift = 0.0
    direction = gradient
    while tf.reduce_sum(direction * gradient) >= 0.0:
        shifted = hessian + shift * tf.eye(len(x), dtype=x.dtype)
        direction = -tf.linalg.solve(shifted, gradient[:, tf.newaxis])[:, 0]
        shift = max(1.0, 2.0 * shift)
    length = 1.0
    while rosenbrock(x + length * direction) > value and length > 1e-6:
        length /= 2.0
    return x + length * direction


def main():
    """Check the Hessian, minimise, and check the minimum and the speed of convergence."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=10, help="number of unknowns")
    options = parser.parse_args()
    x = tf.constant(np.linspace(-1.2, 1.0, options.size))
    _, _, hessian = derivatives(rosenbrock, x)
    error = np.abs(hessian.numpy() - hessian_by_hand(x.numpy())).max()
    print(f"largest difference from the Hessian by hand: {error:.1e}")
    assert error < 1e-9

    values, norms = [], []
    for iteration in range(100):
        value, gradient, hessian = derivatives(rosenbrock, x)
        values.append(float(value))
        norms.append(float(tf.norm(gradient)))
        print(f"iteration {iteration:2d}  value {values[-1]:.3e}  |gradient| {norms[-1]:.3e}")
        if norms[-1] < 1e-10:
            break
        x = newton_step(value, gradient, hessian, x)
    print(f"minimum at {np.round(x.numpy(), 6)} after {len(norms) - 1} iterations")
    assert norms[-1] < 1e-10, "Newton's method did not converge"
    assert np.allclose(x.numpy(), 1.0, atol=1e-9), "that is not the minimum"
    assert values[-1] < 1e-3 * values[-2] ** 1.5, "the error is not squared at the last step"


if __name__ == "__main__":
    main()
