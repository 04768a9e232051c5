"""`tf.keras.backend`: the functions that Keras 2 was written on, as ops on tensors."""
