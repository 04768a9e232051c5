"""`tf.RaggedTensorSpec` and `tf.SparseTensorSpec`: what is known of composite tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapejax._src.core import dtypes
from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.shapes import TensorShape, as_shape
from tapejax._src.core.specs import TensorSpec, TypeSpec


class RaggedTensorSpec(TypeSpec):
    """The static shape, dtypes and ragged rank of a `tf.RaggedTensor`.

    Args:
        shape: The shape; dimensions of different lengths are None.
        dtype: The dtype of the values.
        ragged_rank: How many dimensions have row splits. Default: the rank less one.
        row_splits_dtype: int32 or int64.
        flat_values_spec: The spec of the flat values, where they are no plain tensor.

    Raises:
        ValueError: If the ragged rank is unknown or does not fit the shape.

    Example:
        >>> import tapejax as tf
        >>> tf.RaggedTensorSpec([None, None], tf.int32)
        RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)
    """

    __slots__ = ("_dtype", "_flat_values_spec", "_ragged_rank", "_row_splits_dtype", "_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
        flat_values_spec: Any = None,
    ) -> None:
        self._shape = as_shape(shape)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        if flat_values_spec is not None and dtype is None:
            dtype = flat_values_spec.dtype
        self._dtype = as_dtype(dtype)
        self._flat_values_spec = flat_values_spec
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank})."
            )
        self._ragged_rank = ragged_rank

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        """How many dimensions have row splits."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The dtype of the row splits."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        """The spec of the flat values, where one was given."""
        return self._flat_values_spec

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a ragged tensor."""
        if not isinstance(value, RaggedTensor):
            raise ValueError(f"Expected a tf.RaggedTensor, got {type(value).__name__}.")
        return cls(value.shape, value.dtype, value.ragged_rank, value.partition.dtype)

    @classmethod
    def _of_value(cls, value: Any) -> RaggedTensorSpec | None:
        if isinstance(value, RaggedTensor):
            return cls.from_value(value)
        return value if isinstance(value, RaggedTensorSpec) else None

    def _fits(self, other: RaggedTensorSpec) -> bool:
        return (
            self._dtype is other._dtype
            and self._ragged_rank == other._ragged_rank
            and self._row_splits_dtype is other._row_splits_dtype
        )

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Say whether a ragged tensor, or one that a spec describes, could have this spec.

        Args:
            spec_or_value: A `tf.RaggedTensor` or its spec; anything else fits only where the
                ragged rank is 0 and it is a tensor.
        """
        other = self._of_value(spec_or_value)
        if other is None:
            plain = TensorSpec(self._shape, self._dtype)
            return self._ragged_rank == 0 and plain.is_compatible_with(spec_or_value)
        return self._fits(other) and self._shape.is_compatible_with(other._shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Say whether every ragged tensor of this spec also has the spec `other`."""
        return (
            isinstance(other, RaggedTensorSpec)
            and self._fits(other)
            and self._shape.is_subtype_of(other._shape)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> RaggedTensorSpec | None:
        """Return the narrowest spec that covers this one and all `others`, `None` if none does."""
        shape: TensorShape = self._shape
        for other in others:
            if not isinstance(other, RaggedTensorSpec) or not self._fits(other):
                return None
            shape = shape.most_specific_compatible_shape(other._shape)
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank, self._row_splits_dtype)

    def _serialize(self) -> tuple[Any, ...]:
        parts = (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)
        return parts if self._flat_values_spec is None else (*parts, self._flat_values_spec)

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({', '.join(map(repr, self._serialize()))})"


class SparseTensorSpec(TypeSpec):
    """The static shape and dtype of a `tf.SparseTensor`.

    Args:
        shape: The shape of the dense tensor that it stands for.
        dtype: The dtype of the values.

    Example:
        >>> import tapejax as tf
        >>> tf.SparseTensorSpec([None, 3], tf.float32)
        SparseTensorSpec(TensorShape([None, 3]), tf.float32)
    """

    __slots__ = ("_dtype", "_shape")

    def __init__(self, shape: Any = None, dtype: Any = dtypes.float32) -> None:
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._dtype

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a sparse tensor."""
        if not isinstance(value, TypeSpec._value_types.get(SparseTensorSpec, ())):
            raise TypeError(f"Expected SparseTensor, got {type(value).__name__}.")
        return cls(value.shape, value.dtype)

    @classmethod
    def _of_value(cls, value: Any) -> SparseTensorSpec | None:
        if isinstance(value, TypeSpec._value_types.get(SparseTensorSpec, ())):
            return cls.from_value(value)
        return value if isinstance(value, SparseTensorSpec) else None

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Say whether a sparse tensor, or one that a spec describes, could have this spec.

        Args:
            spec_or_value: A `tf.SparseTensor` or its spec; anything else never fits.
        """
        other = self._of_value(spec_or_value)
        if other is None:
            return False
        return self._dtype is other._dtype and self._shape.is_compatible_with(other._shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Say whether every sparse tensor of this spec also has the spec `other`."""
        return (
            isinstance(other, SparseTensorSpec)
            and self._dtype is other._dtype
            and self._shape.is_subtype_of(other._shape)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> SparseTensorSpec | None:
        """Return the narrowest spec that covers this one and all `others`, `None` if none does."""
        shape: TensorShape = self._shape
        for other in others:
            if not isinstance(other, SparseTensorSpec) or self._dtype is not other._dtype:
                return None
            shape = shape.most_specific_compatible_shape(other._shape)
        return SparseTensorSpec(shape, self._dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"


RaggedTensorSpec.register_value_type(RaggedTensor)
