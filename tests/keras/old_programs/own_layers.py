"""Layers of one's own: positional `add_weight`, `add_variable`, `compute_output_shape`, attention."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras import initializers, regularizers
from tensorflow.keras.layers import GRU, Embedding, Layer

tf.random.set_seed(0)
rng = np.random.RandomState(0)


class Attention(Layer):
    def __init__(self, units, **kwargs):
        self.init = initializers.get("glorot_uniform")
        self.units = units
        super(Attention, self).__init__(**kwargs)

    def build(self, input_shape):
        self.W = self.add_weight(
            "W", (int(input_shape[-1]), self.units), None, self.init, regularizers.l2(l=1e-4)
        )
        self.b = self.add_weight(name="b", shape=self.units, initializer="zero")
        self.u = self.add_variable("u", shape=[self.units, 1], initializer="uniform")
        super(Attention, self).build(input_shape)

    def call(self, x, mask=None):
        scores = K.squeeze(K.dot(K.tanh(K.dot(x, self.W) + self.b), self.u), -1)
        weights = K.exp(scores)
        if mask is not None:
            weights *= K.cast(mask, K.floatx())
        weights /= K.cast(K.sum(weights, axis=1, keepdims=True) + K.epsilon(), K.floatx())
        return K.sum(x * K.expand_dims(weights), axis=1)

    def compute_output_shape(self, input_shape):
        return input_shape[0], input_shape[-1]

    def compute_mask(self, inputs, mask=None):
        return None


class Affine(Layer):
    def build(self, input_shape):
        self.scale = self.add_weight("scale", input_shape[1:], initializer="ones", trainable=True)
        self.shift = self.add_weight("shift", input_shape[1:], initializer="zeros")

    def call(self, x):
        return x * self.scale + self.shift


words = rng.randint(1, 20, size=(64, 6))
labels = (words == 7).any(1).astype("float32")
labels[:32] = 1
words[:32, 2] = 7
model = tf.keras.Sequential()
model.add(Embedding(20, 8, input_length=6, mask_zero=True))
model.add(GRU(8, return_sequences=True, recurrent_activation="sigmoid", reset_after=True))
model.add(Attention(4))
model.add(Affine())
model.add(
    tf.keras.layers.Dense(1, activation="sigmoid", kernel_regularizer=regularizers.l2(l=1e-4))
)
model.compile(tf.keras.optimizers.Adam(lr=0.02), "binary_crossentropy", metrics=["acc"])
history = model.fit(words, labels, epochs=12, verbose=0, batch_size=16).history
print("loss", history["loss"][0], "->", history["loss"][-1])
assert history["loss"][-1] < 0.7 * history["loss"][0]
assert history["acc"][-1] > 0.8
assert set(model.predict_classes(words).ravel()) <= {0, 1}
