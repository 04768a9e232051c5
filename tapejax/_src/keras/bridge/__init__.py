"""Keras 3 on its JAX backend, seen by tapes: `hooks.py` lists what is changed in Keras."""
