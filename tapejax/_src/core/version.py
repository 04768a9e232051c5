"""Versions: tapejax's own, and that of the TensorFlow whose behaviour it follows."""

from __future__ import annotations

__version__ = "0.1.0"
"""The version of tapejax (`tapejax.__version__`)."""
VERSION = "2.21.0"
"""The TensorFlow release whose names and rules tapejax follows (`tf.version.VERSION`)."""
GIT_VERSION = f"tapejax-{__version__}"
"""What tells tapejax from TensorFlow (`tf.version.GIT_VERSION`)."""
