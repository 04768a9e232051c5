"""Trains a small network on scikit-learn's handwritten digits and draws the learning curve."""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

BATCH = 32


class Dense:
    """A fully connected layer: `activation(x @ kernel + bias)`."""

    def __init__(self, inputs, outputs, activation=tf.identity):
        """Draw the kernel from a normal distribution that keeps the size of the signal."""
        scale = (2.0 / (inputs + outputs)) ** 0.5
        self.kernel = tf.Variable(scale * tf.random.normal([inputs, outputs]))
        self.bias = tf.Variable(tf.zeros([outputs]))
        self.activation = activation

    def __call__(self, x):
        """Apply the layer to `x` of shape `[batch, inputs]`."""
        return self.activation(x @ self.kernel + self.bias)


def accuracy(layers, x, y):
    """The share of images whose likeliest class is the right one."""
    for layer in layers:
        x = layer(x)
    return float(tf.reduce_mean(tf.cast(tf.equal(tf.argmax(x, axis=1), y), tf.float32)))


def train_epoch(layers, optimizer, x, y):
    """Take one step for each batch, in a new order; return the mean loss."""
    variables = [variable for layer in layers for variable in (layer.kernel, layer.bias)]
    order = tf.random.shuffle(tf.range(len(x))).numpy()
    losses = []
    for start in range(0, len(x) - BATCH + 1, BATCH):
        batch = order[start : start + BATCH]
        with tf.GradientTape() as tape:
            hidden = x[batch]
            for layer in layers:
                hidden = layer(hidden)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y[batch], hidden))
        gradients = tape.gradient(loss, variables)
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        losses.append(float(loss))
    return np.mean(losses)


def draw(history, path):
    """Draw loss and accuracy over the epochs into a PNG file."""
    epochs = range(1, len(history) + 1)
    loss, train, test = zip(*history, strict=True)
    plt.switch_backend("Agg")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    figure.suptitle(f"Handwritten digits: {100 * test[-1]:.1f} % of the test images are right")
    left.semilogy(epochs, loss, color="tab:blue")
    left.set(xlabel="epoch", ylabel="training loss (cross-entropy)")
    right.plot(epochs, [100 * value for value in train], label="training", color="tab:blue")
    right.plot(epochs, [100 * value for value in test], label="test", color="tab:orange")
    right.set(xlabel="epoch", ylabel="accuracy (%)")
    right.legend()
    figure.savefig(path, dpi=120)


def main():
    """Train, report each epoch, draw, and check the test accuracy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--out", default="digits.png", help="where the learning curve goes")
    options = parser.parse_args()
    tf.random.set_seed(0)
    images, labels = load_digits(return_X_y=True)
    x, x_test, y, y_test = train_test_split(
        (images / 16.0).astype("float32"), labels, test_size=360, stratify=labels, random_state=0
    )
    layers = [Dense(64, 128, tf.nn.relu), Dense(128, 10)]
    optimizer = tf.keras.optimizers.Adam(learning_rate=2e-3)
    history = []
    for epoch in range(1, options.epochs + 1):
        loss = train_epoch(layers, optimizer, x, y)
        train, test = accuracy(layers, x, y), accuracy(layers, x_test, y_test)
        history.append((loss, train, test))
        print(f"epoch {epoch:2d}  loss {loss:.4f}  train {train:.3f}  test {test:.3f}", flush=True)
    draw(history, options.out)
    print(f"test accuracy {100 * test:.2f} %, learning curve in {options.out}")
    assert test >= 0.96, f"expected at least 96 % on the test images, got {100 * test:.2f} %"


if __name__ == "__main__":
    main()
