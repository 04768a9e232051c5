"""Variational autoencoders with `K.random_normal`: a loss added in a layer, and one to a model."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras import metrics
from tensorflow.keras.layers import Dense, Input, Lambda, Layer
from tensorflow.keras.models import Model

np.random.seed(0)
tf.random.set_seed(0)
centers = np.random.uniform(size=(4, 12)) > 0.5
x_train = (centers[np.random.randint(0, 4, 256)] * 0.8 + 0.1).astype("float32")


def sampling(args):
    z_mean, z_log_var = args
    batch, dim = K.shape(z_mean)[0], K.int_shape(z_mean)[1]
    return z_mean + K.exp(0.5 * z_log_var) * K.random_normal(
        shape=(batch, dim), mean=0.0, stddev=1.0
    )


def encoder_and_decoder():
    x = Input(shape=12)
    h = Dense(16, activation="relu")(x)
    z_mean, z_log_var = Dense(2)(h), Dense(2)(h)
    z = Lambda(sampling, output_shape=(2,))([z_mean, z_log_var])
    return x, Dense(12, activation="sigmoid")(Dense(16, activation="relu")(z)), z_mean, z_log_var


class VariationalLayer(Layer):
    def vae_loss(self, x, decoded, z_mean, z_log_var):
        cross = K.mean(metrics.binary_crossentropy(K.flatten(x), K.flatten(decoded)))
        kl = -5e-4 * K.mean(1 + z_log_var - K.square(z_mean) - K.exp(z_log_var), axis=-1)
        return K.mean(cross + kl)

    def call(self, inputs):
        self.add_loss(self.vae_loss(*inputs), inputs=inputs)
        return inputs[0]


x, decoded, z_mean, z_log_var = encoder_and_decoder()
first = Model(x, VariationalLayer()([x, decoded, z_mean, z_log_var]))
first.compile(optimizer=tf.keras.optimizers.RMSprop(lr=0.01), loss=None)

x, decoded, z_mean, z_log_var = encoder_and_decoder()
second = Model(x, decoded)
reconstruction = 12 * tf.keras.losses.binary_crossentropy(x, decoded)
kl = -0.5 * K.sum(1 + z_log_var - K.square(z_mean) - K.exp(z_log_var), axis=-1)
second.add_loss(K.mean(reconstruction + kl))
second.compile(optimizer="adam")

for model in (first, second):
    history = model.fit(x_train, epochs=12, batch_size=32, shuffle=True, verbose=0).history["loss"]
    print("loss", history[0], "->", history[-1])
    assert history[-1] < 0.95 * history[0]
