"""Matrices that are known by what they do: `tf.linalg.LinearOperator` and its subclasses."""
