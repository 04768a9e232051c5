"""`tf.IndexedSlices`: a tensor given by some of its rows, as gradients of `tf.gather` are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapejax._src.core.dtypes import DType
from tapejax._src.core.nest import register_composite
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor


class IndexedSlices:
    """Rows `values` at positions `indices` of a larger tensor; repeated rows add up.

    Args:
        values: `[k, ...]` tensor of the rows.
        indices: `[k]` integer tensor of their positions.
        dense_shape: int32 tensor of the whole shape, or None when not known.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable([1.0, 2.0, 3.0])
        >>> with tf.GradientTape() as tape:
        ...     y = tf.gather(v, [2, 2])
        >>> g = tape.gradient(y, v)
        >>> tf.convert_to_tensor(g).numpy().tolist()
        [0.0, 0.0, 2.0]
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Tensor:
        """The rows, `[k, ...]`."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """The positions of the rows, `[k]`."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the whole tensor, int32, or None."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole tensor."""
        if self._dense_shape is None:
            return TensorShape(None)
        return TensorShape(self._dense_shape.view().tolist())

    @property
    def dtype(self) -> DType:
        """The dtype of the rows."""
        return self._values.dtype

    @property
    def name(self) -> str:
        """Eager values have no name."""
        return self._values.name

    @property
    def device(self) -> str:
        """The device of the rows."""
        return self._values.device

    def get_shape(self) -> TensorShape:
        """The static shape of the whole tensor."""
        return self.shape

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    def __getattr__(self, name: str) -> Any:
        if name == "numpy":
            raise AttributeError(
                "'IndexedSlices' object has no attribute 'numpy': it holds only some rows. "
                "Use tf.convert_to_tensor(slices).numpy() for the whole tensor."
            )
        raise AttributeError(f"'IndexedSlices' object has no attribute {name!r}")


def _split(slices: IndexedSlices) -> list[Any]:
    shape = slices.dense_shape
    return [slices.values, slices.indices] + ([] if shape is None else [shape])


def _rebuild(slices: IndexedSlices, parts: Sequence[Any]) -> IndexedSlices:
    del slices
    return IndexedSlices(*parts)


register_composite(IndexedSlices, _split, _rebuild)
