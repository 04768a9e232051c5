"""Matrices that repeat their elements or rows, by places known to be inside."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from tapejax._src.engine.registry import Array, Index, TensorLike, op


@op("_toeplitz", node="GatherV2", cases=("f64[3], f64[3]", "c128[2,2], c128[2,2]"))
def toeplitz(col: TensorLike, row: TensorLike) -> Array:
    """Matrices with one number along each diagonal, from first columns and rows alike in shape."""
    size = col.shape[-1]
    elements = jnp.concatenate([col[..., ::-1], row[..., 1:]], axis=-1)
    places = np.arange(size)
    return elements[..., size - 1 - places[:, None] + places]


@op("_permuted_rows", node="GatherV2", cases=("f64[2,3,2], i32[2,3] in (0, 3)",))
def permuted_rows(x: TensorLike, perm: Index) -> Array:
    """The rows of `x` in the order `perm`, whose batch shape is that of `x`."""
    return jnp.take_along_axis(x, perm[..., None], axis=-2)
