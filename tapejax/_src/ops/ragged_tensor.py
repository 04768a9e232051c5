"""`tf.RaggedTensor` with all its methods, which these modules attach."""

from __future__ import annotations

from tapejax._src.core.composite_specs import RaggedTensorSpec
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.ops import (
    ragged_construction,
    ragged_dispatch,
    ragged_indexing,
    ragged_padding,
    ragged_queries,
    ragged_sparse,
)

__all__ = [
    "RaggedTensor",
    "RaggedTensorSpec",
    "ragged_construction",
    "ragged_dispatch",
    "ragged_indexing",
    "ragged_padding",
    "ragged_queries",
    "ragged_sparse",
]
