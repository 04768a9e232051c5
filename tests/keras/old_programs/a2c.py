"""Advantage actor-critic of a two-armed bandit: positional `call` arguments, `minimize`, `Input(1)`."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, Input, Lambda

np.random.seed(0)
tf.random.set_seed(0)


class ActorCritic(tf.keras.Model):
    def __init__(self, actions):
        super(ActorCritic, self).__init__()
        self.hidden = Dense(16, activation="tanh")
        self.policy = Dense(actions)
        self.value = Dense(1)

    def call(self, x, training, scale=1.0):
        hidden = self.hidden(x) * scale
        return self.policy(hidden), self.value(hidden)


model = ActorCritic(2)
optimizer = tf.keras.optimizers.RMSprop(lr=0.02, decay=0.001)
context = np.random.choice([-1.0, 1.0], size=(64, 1)).astype("float32")
good = (context[:, 0] > 0).astype("int32")
losses, rewards = [], []
for _ in range(60):
    logits, _ = model(context, True, 1.0)
    actions = tf.squeeze(tf.random.categorical(logits, 1), -1)
    reward = tf.cast(tf.equal(tf.cast(actions, tf.int32), good), tf.float32)

    def loss():
        logits, value = model(context, True)
        advantage = reward - value[:, 0]
        probabilities = K.softmax(logits)
        chosen = K.sum(probabilities * K.one_hot(actions, 2), axis=-1)
        entropy = -K.sum(probabilities * K.log(probabilities + K.epsilon()), axis=-1)
        actor = -K.log(chosen + 1e-8) * K.stop_gradient(advantage)
        return K.mean(actor + 0.5 * K.square(advantage) - 0.01 * entropy)

    optimizer.minimize(loss, lambda: model.trainable_variables)
    _, value = model(context, False)
    losses.append(float(K.mean(K.square(reward - value[:, 0]))))
    rewards.append(float(K.mean(reward)))

inputs = Input(1)
doubled = tf.keras.Model(inputs, Lambda(lambda x: 2 * x)(inputs))
assert doubled.predict(context[:2], verbose=0).shape == (2, 1)
print("loss", losses[0], "->", losses[-1], "reward", rewards[0], "->", rewards[-1])
assert np.mean(losses[-5:]) < np.mean(losses[:5])
assert rewards[-1] > 0.9
