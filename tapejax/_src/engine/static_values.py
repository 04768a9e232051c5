"""Structural constants: tensors whose value is part of the program (`tf.shape`)."""

from __future__ import annotations

from tapejax._src.engine.convert import static_tensor

__all__ = ["static_tensor"]
