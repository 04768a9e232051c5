"""`tf.function`: programs recorded once and called as one op."""
