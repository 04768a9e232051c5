"""`tf.TypeSpec` and `tf.TensorSpec`: what is known of a value before it exists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from tapejax._src.core import dtypes
from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.shapes import TensorShape, as_shape


class TypeSpec:
    """The static type of a value: of a tensor, or of an object made of tensors.

    Subclasses describe themselves with `_serialize`, whose result decides equality and hash.
    """

    __slots__ = ()

    _value_types: ClassVar[dict[type, type]] = {}

    def __init__(self) -> None:
        raise TypeError(
            "tf.TypeSpec is abstract. Use a concrete one, such as tf.TensorSpec(shape, dtype)."
        )

    def _serialize(self) -> tuple[Any, ...]:
        """Return everything that distinguishes this spec."""
        raise NotImplementedError

    @classmethod
    def register_value_type(cls, value_type: type) -> None:
        """Name the class of the values that this kind of spec describes."""
        TypeSpec._value_types[cls] = value_type

    @property
    def value_type(self) -> type:
        """The class of the values this spec describes."""
        return TypeSpec._value_types.get(type(self), object)

    @classmethod
    def _of_value(cls, value: Any) -> TypeSpec | None:
        """Return the spec of a value that this kind of spec describes, else `None`."""
        return value if isinstance(value, cls) else None

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Say whether a value, or one that a spec describes, could have this type.

        Args:
            spec_or_value: a spec or a value.

        Returns:
            `False` for anything that this kind of spec does not describe.
        """
        return self._of_value(spec_or_value) == self

    def is_subtype_of(self, other: Any) -> bool:
        """Say whether every value of this type is also of the type `other`."""
        return self == other

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TypeSpec | None:
        """Return the narrowest type that covers this one and all `others`, `None` if none does."""
        return self if all(self == other for other in others) else None

    def most_specific_compatible_type(self, other: Any) -> TypeSpec:
        """Return the narrowest type that covers this one and `other`.

        Raises:
            ValueError: no type does.
        """
        result = self.most_specific_common_supertype([other])
        if result is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return result

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._serialize() == other._serialize()

    def __hash__(self) -> int:
        return hash((type(self), self._serialize()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._serialize()))})"


class TensorSpec(TypeSpec):
    """The shape and dtype of a tensor.

    Args:
        shape: a `TensorShape` or anything that describes one; `None` for unknown rank.
        dtype: anything `tf.as_dtype` accepts.
        name: a name for the tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.TensorSpec([None, 2], tf.int32)
        TensorSpec(shape=(None, 2), dtype=tf.int32, name=None)
    """

    __slots__ = ("_dtype", "_name", "_shape")

    def __init__(self, shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> None:
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @property
    def shape(self) -> TensorShape:
        """The static shape."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, if one was given."""
        return self._name

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> Self:
        """Return a spec with the shape, dtype and (unless `name` is given) the name of another."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> Self:
        """Return the spec of a tensor.

        Args:
            tensor: a `tf.Tensor`; variables, arrays and numbers are refused.
            name: a name for the spec.

        Returns:
            The spec.

        Raises:
            ValueError: not a tensor.
        """
        if not isinstance(tensor, TypeSpec._value_types.get(TensorSpec, ())):
            raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def _of_value(cls, value: Any) -> TensorSpec | None:
        if isinstance(value, TypeSpec._value_types.get(TensorSpec, ())):
            return cls.from_tensor(value)
        return value if isinstance(value, TensorSpec) else None

    def is_compatible_with(  # pyright: ignore[reportIncompatibleMethodOverride]  TensorFlow's name
        self, spec_or_tensor: Any
    ) -> bool:
        """Say whether a tensor, or one that a spec describes, could have this spec.

        Args:
            spec_or_tensor: a `tf.Tensor` or `tf.TensorSpec`; anything else never fits.

        Returns:
            Whether the dtypes are equal and the shapes compatible.
        """
        other = self._of_value(spec_or_tensor)
        if other is None:
            return False
        return self._dtype is other._dtype and self._shape.is_compatible_with(other._shape)

    def is_subtype_of(self, other: Any) -> bool:
        """Say whether every tensor of this spec also has the spec `other`."""
        return (
            isinstance(other, TensorSpec)
            and (self._name is None or self._name == other._name)
            and self._dtype is other._dtype
            and self._shape.is_subtype_of(other._shape)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TensorSpec | None:
        """Return the narrowest spec that covers this one and all `others`, `None` if none does."""
        shape: TensorShape = self._shape
        for other in others:
            if not isinstance(other, TensorSpec):
                return None
            if self._dtype is not other._dtype or self._name != other._name:
                return None
            shape = shape.most_specific_compatible_shape(other._shape)
        return TensorSpec(shape, self._dtype, self._name)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._name

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    __eq__ = TypeSpec.__eq__

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class IndexedSlicesSpec(TypeSpec):
    """The shapes and dtypes of the parts of a `tf.IndexedSlices`.

    Args:
        shape: the shape of the dense tensor that the slices stand for.
        dtype: the dtype of the values.
        indices_dtype: the dtype of the indices, int32 or int64.
        dense_shape_dtype: the dtype of `dense_shape`; `None` when that is not known.
        indices_shape: the shape of the indices, `[number of slices]`.
    """

    __slots__ = ("_dense_shape_dtype", "_dtype", "_indices_dtype", "_indices_shape", "_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        indices_dtype: Any = dtypes.int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = as_shape([None] if indices_shape is None else indices_shape)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._dtype

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )
