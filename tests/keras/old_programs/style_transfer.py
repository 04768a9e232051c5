"""Style transfer on a small network with `K.` functions: Gram matrices, variation, `minimize`."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Conv2D

np.random.seed(0)
tf.random.set_seed(0)
SIZE = 12
network = tf.keras.Sequential(
    [
        Conv2D(8, 3, activation="relu", padding="same", name="style", input_shape=(SIZE, SIZE, 3)),
        Conv2D(8, 3, activation="relu", padding="same", name="content"),
    ]
)
network.trainable = False
outputs = dict([(layer.name, layer.output) for layer in network.layers])
extractor = tf.keras.Model(network.inputs, [outputs["style"], outputs["content"]])


def gram_matrix(x):
    if K.image_data_format() == "channels_first":
        features = K.batch_flatten(x)
    else:
        features = K.batch_flatten(K.permute_dimensions(x, (2, 0, 1)))
    return K.dot(features, K.transpose(features))


def style_loss(style, combination):
    difference = gram_matrix(style) - gram_matrix(combination)
    return K.sum(K.square(difference)) / (4.0 * 8**2 * (SIZE * SIZE) ** 2)


def total_variation_loss(x):
    a = K.square(x[:, : SIZE - 1, : SIZE - 1, :] - x[:, 1:, : SIZE - 1, :])
    b = K.square(x[:, : SIZE - 1, : SIZE - 1, :] - x[:, : SIZE - 1, 1:, :])
    return K.sum(K.pow(a + b + K.epsilon(), 1.25))


content = K.variable(np.random.uniform(size=(1, SIZE, SIZE, 3)))
style = K.constant(np.random.uniform(size=(1, SIZE, SIZE, 3)) > 0.5, dtype="float32")
wanted_style, _ = extractor(style)
_, wanted_content = extractor(content)
picture = tf.Variable(K.random_uniform((1, SIZE, SIZE, 3), seed=1))
optimizer = tf.keras.optimizers.Adam(lr=0.05, beta_1=0.99, epsilon=1e-1)


def loss():
    made_style, made_content = extractor(picture)
    total = K.variable(0.0) + K.sum(K.square(made_content - wanted_content))
    return (
        total
        + 10 * style_loss(wanted_style[0], made_style[0])
        + 1e-2 * total_variation_loss(picture)
    )


losses = []
for _ in range(40):
    optimizer.minimize(loss, [picture])
    picture.assign(K.clip(picture, 0.0, 1.0))
    losses.append(float(loss()))
print("loss", losses[0], "->", losses[-1])
assert losses[-1] < 0.7 * losses[0]
assert K.int_shape(picture) == (1, SIZE, SIZE, 3)
