"""Keras 3 on its JAX backend, seen by tapes: `hooks.py` lists everything that is changed in Keras."""
