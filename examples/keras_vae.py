"""A variational autoencoder in Keras, with a training step and a sampling layer of its own.

The data are noisy points on a circle. The loss must fall, and decoded samples must lie near the
circle. The program is plain TensorFlow and Keras.
"""

import numpy as np
import tensorflow as tf

RADIUS = 1.0


class Sampling(tf.keras.layers.Layer):
    """Draws from the normal distribution that an encoder describes."""

    def call(self, inputs):
        """Mean and logarithm of the variance, each [batch, 2], to a sample [batch, 2]."""
        mean, log_variance = inputs
        noise = tf.random.normal(tf.shape(mean))
        return mean + tf.exp(0.5 * log_variance) * noise


def make_encoder():
    """Points [batch, 2] to mean, logarithm of the variance and sample, each [batch, 2]."""
    points = tf.keras.Input((2,))
    hidden = tf.keras.layers.Dense(32, activation="relu")(points)
    mean = tf.keras.layers.Dense(2)(hidden)
    log_variance = tf.keras.layers.Dense(2)(hidden)
    sample = Sampling()([mean, log_variance])
    return tf.keras.Model(points, [mean, log_variance, sample])


def make_decoder():
    """Codes [batch, 2] to points [batch, 2]."""
    return tf.keras.Sequential(
        [
            tf.keras.Input((2,)),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(2),
        ]
    )


class Autoencoder(tf.keras.Model):
    """Reconstruction error plus divergence from a standard normal distribution."""

    def __init__(self):
        """Make both halves."""
        super().__init__()
        self.encoder = make_encoder()
        self.decoder = make_decoder()
        self.loss_mean = tf.keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        """What is reset at each epoch."""
        return [self.loss_mean]

    def train_step(self, points):
        """One step of gradient descent on points [batch, 2]."""
        with tf.GradientTape() as tape:
            mean, log_variance, sample = self.encoder(points)
            errors = tf.reduce_sum(tf.square(self.decoder(sample) - points), axis=1)
            divergences = tf.reduce_sum(
                tf.exp(log_variance) + tf.square(mean) - 1.0 - log_variance, axis=1
            )
            loss = tf.reduce_mean(20.0 * errors + 0.5 * divergences)
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights, strict=True))
        self.loss_mean.update_state(loss)
        return {"loss": self.loss_mean.result()}


def main():
    """Train on a circle and check what was learned."""
    tf.random.set_seed(0)
    tf.keras.utils.set_random_seed(0)
    generator = np.random.default_rng(0)
    angles = generator.uniform(0, 2 * np.pi, 512)
    points = RADIUS * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = (points + 0.02 * generator.normal(size=points.shape)).astype(np.float32)

    model = Autoencoder()
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-2))
    losses = model.fit(points, epochs=60, batch_size=128, verbose=0).history["loss"]
    means, _, _ = model.encoder(points)
    distances = tf.norm(model.decoder(means), axis=1).numpy()

    print(f"loss {losses[0]:.2f} -> {losses[-1]:.2f}")
    print(f"distance from the centre: {distances.mean():.3f} +- {distances.std():.3f}")
    assert losses[-1] < 0.5 * losses[0]
    assert abs(distances.mean() - RADIUS) < 0.2


if __name__ == "__main__":
    main()
