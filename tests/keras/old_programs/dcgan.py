"""A small DCGAN with `lr=`, layers by `input_shape=` and `train_on_batch`."""

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import BatchNormalization, Conv2D, Conv2DTranspose, Dense
from tensorflow.keras.layers import Dropout, Flatten, Input, LeakyReLU, Reshape
from tensorflow.keras.models import Model, Sequential
from tensorflow.keras.optimizers import Adam

np.random.seed(0)
tf.random.set_seed(0)
LATENT = 8
grid = np.linspace(-1, 1, 8)
images = np.tanh(grid[:, None] + grid[None, :])[None, ..., None].repeat(64, 0).astype("float32")
images += 0.05 * np.random.normal(size=images.shape)

generator = Sequential()
generator.add(Dense(4 * 4 * 8, input_dim=LATENT))
generator.add(LeakyReLU(alpha=0.2))
generator.add(Reshape((4, 4, 8)))
generator.add(BatchNormalization(momentum=0.8))
generator.add(Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"))

discriminator = Sequential()
discriminator.add(Conv2D(8, 3, strides=2, padding="same", input_shape=(8, 8, 1)))
discriminator.add(LeakyReLU(alpha=0.2))
discriminator.add(Dropout(0.25))
discriminator.add(Flatten())
discriminator.add(Dense(1, activation="sigmoid"))
discriminator.compile(
    loss="binary_crossentropy", optimizer=Adam(lr=0.01, beta_1=0.5), metrics=["accuracy"]
)

optimizer = Adam(lr=0.01, beta_1=0.5)
cross_entropy = tf.keras.losses.BinaryCrossentropy()
far = []
for step in range(60):
    noise = np.random.normal(size=(16, LATENT)).astype("float32")
    real = images[np.random.randint(0, 64, 16)]
    discriminator.train_on_batch(real, np.ones((16, 1)))
    loss, accuracy = discriminator.train_on_batch(generator(noise, False), np.zeros((16, 1)))
    with tf.GradientTape() as tape:
        fakes = generator(noise, True)
        wanted = cross_entropy(tf.ones((16, 1)), discriminator(fakes, False))
    gradients = tape.gradient(wanted, generator.trainable_variables)
    optimizer.apply_gradients(zip(gradients, generator.trainable_variables))
    far.append(float(tf.reduce_mean(tf.abs(fakes - images.mean(0)))))

combined = Model(generator.input, discriminator(generator.output))
assert combined.output_shape == (None, 1)
assert Input(shape=(2,)).shape == (None, 2)
print("loss", np.mean(far[:5]), "->", np.mean(far[-5:]))
assert np.mean(far[-5:]) < np.mean(far[:5])
