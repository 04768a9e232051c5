"""Gradients through Python's own `if`, `for` and `while`, decided by the values of tensors."""

import math

import tensorflow as tf


def gradient_of(function, x):
    """Value and gradient of a function of a scalar, as Python numbers."""
    x = tf.constant(x, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    # A branch that returns a constant is not connected to x: ask for zero instead of None.
    return float(y), float(tape.gradient(y, x, unconnected_gradients="zero"))


def square_root(a):
    """Heron's method; the number of rounds depends on the value."""
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def smooth_step(x):
    """0 left of 0, 1 right of 1, a cubic between them."""
    if x < 0.0:
        return tf.zeros_like(x)
    if x > 1.0:
        return tf.ones_like(x)
    return x * x * (3.0 - 2.0 * x)


def horner(x):
    """The polynomial `1 + 2 x + 3 x^2 + 4 x^3`, over a tensor of coefficients."""
    result = tf.zeros_like(x)
    for coefficient in tf.constant([4.0, 3.0, 2.0, 1.0], tf.float64):
        result = result * x + coefficient
    return result


def decay_time(rate):
    """How long `y' = -rate y` takes from 1 to 0.5, by steps whose size follows the slope."""
    y, t = tf.ones_like(rate), tf.zeros_like(rate)
    while y > 0.5:
        step = 1e-2 / rate
        following = y * tf.exp(-rate * step)
        if following < 0.5:  # the last step ends on the line exactly
            step = tf.math.log(y / 0.5) / rate
            following = y * tf.exp(-rate * step)
        y, t = following, t + step
    return t


def longest_chain(x):
    """Halve when above one, else square and add; stop after ten rounds or near two fifths."""
    rounds = 0
    while rounds < 10:
        rounds += 1
        if x > 1.0:
            x = x / 2.0
            continue
        x = x * x + 0.25
        if tf.abs(x - 0.4) < 0.05:
            break
    return x


def main():
    """Compare each gradient with the derivative from calculus, or with a central difference."""
    checks = [
        ("square root of 2", square_root, 2.0, 0.5 / math.sqrt(2.0)),
        ("square root of 900", square_root, 900.0, 0.5 / 30.0),
        ("smooth step, left", smooth_step, -0.5, 0.0),
        ("smooth step, inside", smooth_step, 0.25, 6.0 * 0.25 * 0.75),
        ("smooth step, right", smooth_step, 1.5, 0.0),
        ("polynomial", horner, 1.5, 2.0 + 6.0 * 1.5 + 12.0 * 1.5**2),
        ("decay time", decay_time, 3.0, -math.log(2.0) / 9.0),
    ]
    for start in (0.1, 3.0, 7.7):
        high, low = (
            float(longest_chain(tf.constant(start + s, tf.float64))) for s in (1e-6, -1e-6)
        )
        checks.append((f"chain from {start}", longest_chain, start, (high - low) / 2e-6))
    for name, function, x, expected in checks:
        value, gradient = gradient_of(function, x)
        print(f"{name:20s} value {value:9.6f}  gradient {gradient:+.9f}  expected {expected:+.9f}")
        assert math.isclose(gradient, expected, rel_tol=1e-8, abs_tol=1e-12), name
    print("all gradients are as they should be")


if __name__ == "__main__":
    main()
