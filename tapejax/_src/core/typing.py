"""Types for annotations, as `tf.types.experimental` has them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable

TensorLike: TypeAlias = (
    Tensor
    | Variable
    | int
    | float
    | bool
    | str
    | bytes
    | complex
    | tuple[Any, ...]
    | list[Any]
    | np.ndarray[Any, Any]
    | np.generic
)
"""What ops take for a tensor (`tf.types.experimental.TensorLike`)."""
