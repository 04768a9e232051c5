"""Benchmarks of tapejax: `python -m benchmarks`, from the repository root.

Every workload is written once against TensorFlow's API (`workloads.py`) and timed against the same
computation written by hand in JAX (`peers_jax.py`), alternating in one process.
"""
