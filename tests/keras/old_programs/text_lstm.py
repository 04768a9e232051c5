"""A character model: stateful LSTM with `batch_input_shape`, `reset_states`, weights moved over."""

import os
import tempfile

import numpy as np
import tensorflow as tf

tf.random.set_seed(1)
text = "the quick brown fox jumps over the lazy dog. " * 20
letters = sorted(set(text))
ids = np.array([letters.index(c) for c in text])


def build_model(vocabulary, batch_size):
    return tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(vocabulary, 16, batch_input_shape=[batch_size, None]),
            tf.keras.layers.LSTM(
                32,
                return_sequences=True,
                stateful=True,
                recurrent_initializer="glorot_uniform",
                implementation=2,
            ),
            tf.keras.layers.Dense(vocabulary),
        ]
    )


def loss(labels, logits):
    return tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)


chunks = tf.data.Dataset.from_tensor_slices(ids).batch(16, drop_remainder=True)
pairs = chunks.map(lambda c: (c[:-1], c[1:])).batch(8, drop_remainder=True)
model = build_model(len(letters), 8)
model.compile(optimizer=tf.keras.optimizers.Adam(lr=0.01), loss=loss)
prefix = os.path.join(tempfile.mkdtemp(), "ckpt_{epoch}")
saving = tf.keras.callbacks.ModelCheckpoint(filepath=prefix, save_weights_only=True)
history = model.fit(pairs, epochs=8, callbacks=[saving], verbose=0).history["loss"]
print("loss", history[0], "->", history[-1])
assert history[-1] < 0.7 * history[0]

model = build_model(len(letters), batch_size=1)
model.load_weights(tf.train.latest_checkpoint(os.path.dirname(prefix)))
model.build(tf.TensorShape([1, None]))
model.reset_states()
found = tf.expand_dims([letters.index("t")], 0)
written = "t"
for _ in range(20):
    predictions = tf.squeeze(model(found), 0)
    number = int(tf.argmax(predictions[-1]))
    found = tf.expand_dims([number], 0)
    written += letters[number]
print(written)
assert len(written) == 21
