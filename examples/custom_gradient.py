"""Two gradients written by hand: a function that stays exact where autodiff fails, and clipping."""

import numpy as np
import tensorflow as tf


def naive_log1pexp(x):
    """`log(1 + exp(x))` as it stands: the exponential overflows beyond 88 in float32."""
    return tf.math.log(1.0 + tf.exp(x))


@tf.custom_gradient
def log1pexp(x):
    """`log(1 + exp(x))` with a gradient that is right for every `x`."""
    value = tf.maximum(x, 0.0) + tf.math.log1p(tf.exp(-tf.abs(x)))

    def gradient(upstream):
        return upstream * tf.sigmoid(x)

    return value, gradient


def clip_gradient(x, largest):
    """`x` itself; on the way back the gradient's norm is limited to `largest`."""

    @tf.custom_gradient
    def identity(x):
        return tf.identity(x), lambda upstream: tf.clip_by_norm(upstream, largest)

    return identity(x)


def gradient_of(function, x):
    """The gradient of the sum of `function(x)`."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def second_derivative(function, x):
    """The second derivative of an elementwise function."""
    return gradient_of(lambda x: gradient_of(function, x), x)


def roll_out(state, clip):
    """Sixty steps of an unstable recurrence, whose gradient explodes unless each step clips it."""
    weight = tf.constant([[1.5, 0.2], [0.1, 1.4]])
    for _ in range(60):
        if clip:
            state = clip_gradient(state, 1.0)
        state = tf.linalg.matvec(weight, state)
    return tf.reduce_sum(state)


def main():
    """Compare values and gradients with the exact ones."""
    x = tf.constant([-80.0, -2.0, 0.0, 2.0, 100.0])
    exact = 1.0 / (1.0 + np.exp(-x.numpy().astype("float64")))
    print("x                   ", x.numpy())
    print("naive gradient      ", gradient_of(naive_log1pexp, x).numpy())
    print("custom gradient     ", gradient_of(log1pexp, x).numpy())
    print("exact gradient      ", exact.astype("float32"))
    assert np.isnan(gradient_of(naive_log1pexp, x).numpy()[-1])
    np.testing.assert_allclose(gradient_of(log1pexp, x), exact, rtol=1e-6)
    np.testing.assert_allclose(log1pexp(x), np.logaddexp(0.0, x.numpy()), rtol=1e-6)

    curvature = second_derivative(log1pexp, x).numpy()
    print("second derivative   ", curvature)
    np.testing.assert_allclose(curvature, exact * (1.0 - exact), rtol=1e-5, atol=1e-12)

    start = tf.constant([1.0, 1.0])
    norms = {
        clip: float(tf.norm(gradient_of(lambda state: roll_out(state, clip), start)))  # noqa: B023
        for clip in (False, True)
    }
    print(f"|gradient| of the recurrence: {norms[False]:.2e}, with clipping {norms[True]:.2e}")
    assert norms[False] > 1e10
    assert norms[True] <= 1.0 + 1e-6
    x = tf.constant([3.0, 4.0])
    np.testing.assert_allclose(
        gradient_of(lambda x: tf.reduce_sum(clip_gradient(x, 2.0) * x), x),
        x.numpy() + x.numpy() * 2.0 / 5.0,
        rtol=1e-6,
    )
    print("all gradients are as they should be")


if __name__ == "__main__":
    main()
