"""Deep Q-learning of a corridor: `K.` functions in a loss, `lr`, `get_weights`, `model.optimizer.lr`."""

import random
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K

random.seed(0)
np.random.seed(0)
tf.random.set_seed(0)
LENGTH = 5


def huber_loss(target, prediction, clip_delta=1.0):
    error = target - prediction
    small = K.abs(error) <= clip_delta
    squared = 0.5 * K.square(error)
    linear = 0.5 * K.square(clip_delta) + clip_delta * (K.abs(error) - clip_delta)
    return K.mean(tf.where(small, squared, linear))


def build():
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.Dense(24, input_dim=LENGTH, activation="relu"))
    model.add(tf.keras.layers.Dense(2, activation="linear"))
    model.compile(loss=huber_loss, optimizer=tf.keras.optimizers.Adam(lr=0.02, decay=1e-4))
    return model


def one_hot(place):
    return K.get_value(K.one_hot([place], LENGTH))


model, target = build(), build()
target.set_weights(model.get_weights())
memory = deque(maxlen=500)
for _ in range(300):
    place, action = random.randrange(LENGTH - 1), random.randrange(2)
    after = max(0, place + (1 if action else -1))
    memory.append((place, action, float(after == LENGTH - 1), after, after == LENGTH - 1))

losses = []
for step in range(160):
    batch = random.sample(memory, 32)
    states = np.concatenate([one_hot(m[0]) for m in batch])
    wanted = model(states).numpy()
    ahead = target(np.concatenate([one_hot(m[3]) for m in batch])).numpy()
    for n, (_, action, reward, _, done) in enumerate(batch):
        wanted[n, action] = reward if done else reward + 0.9 * np.amax(ahead[n])
    losses.append(model.train_on_batch(states, wanted))
    if step % 10 == 9:
        target.set_weights(model.get_weights())
        K.set_value(model.optimizer.lr, 0.95 * K.get_value(model.optimizer.lr))

values = model.predict(np.eye(LENGTH, dtype="float32")[:-1], verbose=0)
print("loss", max(losses[:20]), "->", losses[-1], values.argmax(1))
assert losses[-1] < 0.2 * max(losses[:20])
assert (values.argmax(1) == 1).all()
