"""An autoencoder trained by `fit_generator` from a `Sequence`, with old callbacks and files."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras.callbacks import EarlyStopping, LearningRateScheduler, ModelCheckpoint
from tensorflow.keras.callbacks import ReduceLROnPlateau
from tensorflow.keras.layers import Conv2D, Input, MaxPooling2D, UpSampling2D
from tensorflow.keras.models import Model, load_model

np.random.seed(0)
tf.random.set_seed(0)
folder = tempfile.mkdtemp()
grid = np.linspace(0, 1, 8)
shift = np.random.uniform(0, 6, size=(64, 1, 1))
images = (0.5 + 0.5 * np.sin(6 * (grid[None, :, None] + grid[None, None]) + shift))[..., None]


class Images(tf.keras.utils.Sequence):
    def __init__(self, batch_size):
        self.batch_size = batch_size

    def __len__(self):
        return int(np.ceil(len(images) / self.batch_size))

    def __getitem__(self, index):
        batch = images[index * self.batch_size : (index + 1) * self.batch_size]
        return batch + 0.05 * np.random.normal(size=batch.shape), batch


inputs = Input(shape=(8, 8, 1))
x = Conv2D(8, (3, 3), activation="relu", padding="same")(inputs)
encoded = MaxPooling2D((2, 2), padding="same")(x)
x = UpSampling2D((2, 2))(encoded)
decoded = Conv2D(1, (3, 3), activation="sigmoid", padding="same")(x)
autoencoder = Model(inputs, decoded)
autoencoder.compile(
    optimizer=tf.keras.optimizers.Adam(lr=0.02, amsgrad=False), loss="mse", metrics=["mae"]
)
callbacks = [
    ModelCheckpoint(os.path.join(folder, "best"), monitor="loss", save_best_only=True, period=2),
    ReduceLROnPlateau(monitor="loss", factor=0.5, patience=3, epsilon=1e-4),
    EarlyStopping(monitor="val_loss", patience=50),
    LearningRateScheduler(lambda epoch: 0.02 * 0.95**epoch),
]
history = autoencoder.fit_generator(
    generator=Images(16),
    steps_per_epoch=4,
    epochs=8,
    validation_data=Images(32),
    validation_steps=2,
    callbacks=callbacks,
    workers=1,
    use_multiprocessing=False,
    max_queue_size=4,
    verbose=0,
).history
print("loss", history["loss"][0], "->", history["loss"][-1], autoencoder.metrics_names)
assert history["loss"][-1] < 0.5 * history["loss"][0]
assert autoencoder.metrics_names == ["loss", "mae"]
loss, error = autoencoder.evaluate_generator(Images(16), steps=4)
assert loss < history["loss"][0]
assert abs(tf.keras.backend.get_value(autoencoder.optimizer.lr) - 0.02 * 0.95**7) < 1e-6
best = load_model(os.path.join(folder, "best"))
autoencoder.save_weights(os.path.join(folder, "weights.h5"))
best.load_weights(os.path.join(folder, "weights.h5"))
one, other = [m.predict_generator(Images(16), steps=1).shape for m in (autoencoder, best)]
assert one == other == (16, 8, 8, 1)
