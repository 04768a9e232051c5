"""`tf.DType`, its instances (`float32`, `int64`, `string`, ...) and `tf.as_dtype`.

There is one object per dtype, so `is` and dict look-ups work. Hot paths use the attribute
`DType.numpy_dtype` and the dict `FROM_NUMPY` (`numpy.dtype` -> `DType`), never `as_dtype`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

AnyNumpyDType = np.dtype[Any]


class DType:
    """The type of a tensor's elements.

    Compares equal to whatever `tf.as_dtype` would turn into it: a name, a NumPy dtype or scalar
    type, Python's `float` and `bool`.

    Args:
        type_enum: the number of the dtype in TensorFlow's `DataType` enum, or a `DType`.

    Raises:
        TypeError: no dtype has this number.

    Example:
        >>> import tapejax as tf
        >>> tf.float32.name, tf.float32.size, tf.int8.max, tf.DType(1) is tf.float32
        ('float32', 4, 127, True)
    """

    __slots__ = (
        "_min_max",
        "_scalar_type",
        "_type_enum",
        "is_bool",
        "is_complex",
        "is_floating",
        "is_integer",
        "is_numeric",
        "is_quantized",
        "is_unsigned",
        "name",
        "numpy_dtype",
    )

    _by_enum: ClassVar[dict[int, DType]] = {}

    name: str
    """The name, such as `'float32'`."""
    numpy_dtype: AnyNumpyDType
    """The `numpy.dtype` of arrays that hold such values (object for strings and handles)."""
    is_bool: bool
    """Whether this is the boolean dtype."""
    is_floating: bool
    """Whether values are real floating point numbers."""
    is_complex: bool
    """Whether values are complex numbers."""
    is_integer: bool
    """Whether values are integers (quantized ones do not count)."""
    is_unsigned: bool
    """Whether values are integers without a sign (quantized ones do not count)."""
    is_quantized: bool
    """Whether this is one of the quantized integer dtypes."""
    is_numeric: bool
    """Whether values are numbers of 8 bits or more that kernels compute with."""

    def __new__(cls, type_enum: Any) -> DType:
        """Return the one object of a dtype."""
        if isinstance(type_enum, DType):
            return type_enum
        found = cls._by_enum.get(int(type_enum))
        if found is None:
            raise TypeError(f"{int(type_enum)} does not correspond to a valid tensorflow::DataType")
        return found

    @property
    def as_datatype_enum(self) -> int:
        """The number of this dtype in TensorFlow's `DataType` enum."""
        return self._type_enum

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy scalar type, such as `numpy.float32`; `object` for strings."""
        if self._scalar_type is None:
            raise KeyError(self._type_enum)
        return self._scalar_type

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether NumPy arrays can hold such values."""
        return self._scalar_type is not None

    @property
    def size(self) -> int:
        """The number of bytes of one element; 0 for strings and handles, 1 below eight bits."""
        return 0 if self.numpy_dtype.kind == "O" else self.numpy_dtype.itemsize

    @property
    def base_dtype(self) -> DType:
        """This dtype: there are no reference dtypes."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part: of the same precision when complex, else this dtype."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def min(self) -> Any:
        """The lowest finite value.

        Raises:
            TypeError: such values have no order or no limits.
        """
        return self._limit(0, "minimum")

    @property
    def max(self) -> Any:
        """The greatest finite value.

        Raises:
            TypeError: such values have no order or no limits.
        """
        return self._limit(1, "maximum")

    def _limit(self, index: int, word: str) -> Any:
        if self._min_max is None:
            what = f" with type {self}" if self._scalar_type is not None else ""
            what = f" with quantized type {self}" if self.is_quantized else what
            raise TypeError(f"Cannot find {word} value of {self}{what}.")
        return self._min_max[index]

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of pixel values stored in this dtype: (0, 1) for floating point numbers.

        Raises:
            ValueError: no such range is agreed on.
        """
        if self.name in ("float32", "float64"):
            return 0, 1
        if self.is_bool:
            return 0, True
        if self.is_integer and self.is_numeric:
            return 0, self.max
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other: Any) -> bool:
        """Say whether `other` (anything `tf.as_dtype` accepts) is this dtype."""
        return as_dtype(other) is self

    def is_subtype_of(self, other: Any) -> bool:
        """Say whether `other` is this dtype: no dtype is part of another one."""
        return self == other

    def most_specific_common_supertype(self, types: Sequence[Any]) -> DType | None:
        """Return this dtype when all `types` are equal to it, else `None`."""
        return self if all(self == other for other in types) else None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType) or other is None:
            return self is other
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self._type_enum

    def __int__(self) -> int:
        return self._type_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    def __copy__(self) -> DType:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> DType:
        return self

    @classmethod
    def _define(cls, row: _Row) -> DType:
        """Make the one object of a table row."""
        self = object.__new__(cls)
        kind = row.kind
        self.name = row.name
        self._type_enum = row.enum
        self.numpy_dtype = row.numpy_dtype
        self._scalar_type = None if kind == "handle" else row.numpy_dtype.type
        if kind == "quantized":
            self._scalar_type = row.numpy_dtype
        if kind == "string":
            self._scalar_type = object
        self.is_bool = kind == "bool"
        self.is_floating = kind == "float"
        self.is_complex = kind == "complex"
        self.is_integer = kind in ("int", "uint")
        self.is_unsigned = kind == "uint"
        self.is_quantized = kind == "quantized"
        self.is_numeric = row.numeric
        self._min_max = _min_max(row)
        cls._by_enum[row.enum] = self
        return self


class _Row(NamedTuple):
    """What is known of one dtype."""

    enum: int
    name: str
    numpy_dtype: AnyNumpyDType
    kind: str
    numeric: bool = True


def _min_max(row: _Row) -> tuple[Any, Any] | None:
    """Return the lowest and the greatest finite value."""
    if row.kind == "float":
        limits = jnp.finfo(row.numpy_dtype)
        scalar = row.numpy_dtype.type
        return scalar(limits.min), scalar(limits.max)
    if row.kind in ("int", "uint"):
        limits = jnp.iinfo(row.numpy_dtype)
        return int(limits.min), int(limits.max)
    return None


def _row(enum: int, name: str, kind: str, numpy_type: npt.DTypeLike | None = None) -> DType:
    """Define a dtype; by default NumPy knows it under the same name."""
    numpy_dtype: AnyNumpyDType = np.dtype(name if numpy_type is None else numpy_type)
    small = numpy_dtype.itemsize == 1 and numpy_dtype.type.__module__ != "numpy"
    numeric = kind not in ("bool", "string", "handle") and not small
    return DType._define(_Row(enum, name, numpy_dtype, kind, numeric))  # pyright: ignore[reportPrivateUsage]


float32 = _row(1, "float32", "float")
float64 = _row(2, "float64", "float")
int32 = _row(3, "int32", "int")
uint8 = _row(4, "uint8", "uint")
int16 = _row(5, "int16", "int")
int8 = _row(6, "int8", "int")
string = _row(7, "string", "string", object)
complex64 = _row(8, "complex64", "complex")
int64 = _row(9, "int64", "int")
bool_ = _row(10, "bool", "bool")
qint8 = _row(11, "qint8", "quantized", [("qint8", np.int8)])
quint8 = _row(12, "quint8", "quantized", [("quint8", np.uint8)])
qint32 = _row(13, "qint32", "quantized", [("qint32", np.int32)])
bfloat16 = _row(14, "bfloat16", "float", jnp.bfloat16)
qint16 = _row(15, "qint16", "quantized", [("qint16", np.int16)])
quint16 = _row(16, "quint16", "quantized", [("quint16", np.uint16)])
uint16 = _row(17, "uint16", "uint")
complex128 = _row(18, "complex128", "complex")
float16 = _row(19, "float16", "float")
resource = _row(20, "resource", "handle", object)
variant = _row(21, "variant", "handle", object)
uint32 = _row(22, "uint32", "uint")
uint64 = _row(23, "uint64", "uint")
float8_e5m2 = _row(24, "float8_e5m2", "float", jnp.float8_e5m2)
float8_e4m3fn = _row(25, "float8_e4m3fn", "float", jnp.float8_e4m3fn)
float8_e4m3fnuz = _row(26, "float8_e4m3fnuz", "float", jnp.float8_e4m3fnuz)
float8_e4m3b11fnuz = _row(27, "float8_e4m3b11fnuz", "float", jnp.float8_e4m3b11fnuz)
float8_e5m2fnuz = _row(28, "float8_e5m2fnuz", "float", jnp.float8_e5m2fnuz)
int4 = _row(29, "int4", "int", jnp.int4)
uint4 = _row(30, "uint4", "uint", jnp.uint4)
int2 = _row(31, "int2", "int", jnp.int2)
uint2 = _row(32, "uint2", "uint", jnp.uint2)
float4_e2m1fn = _row(33, "float4_e2m1fn", "float", jnp.float4_e2m1fn)

half = float16
double = float64

ALL: tuple[DType, ...] = tuple(DType(number) for number in range(1, 34))
"""All dtypes, in the order of their numbers."""

FROM_NUMPY: dict[AnyNumpyDType, DType] = {
    d.numpy_dtype: d for d in ALL if d not in (resource, variant)
}
"""`numpy.dtype` -> `DType` (object arrays hold strings)."""

FROM_NAME: dict[str, DType] = {d.name: d for d in ALL}
FROM_NAME.update(half=float16, float=float32, double=float64)
"""Name -> `DType`, with the aliases that TensorFlow knows."""

NUMERIC: frozenset[DType] = frozenset(d for d in ALL if d.is_numeric)
FLOATING: frozenset[DType] = frozenset(d for d in ALL if d.is_floating)
COMPLEX: frozenset[DType] = frozenset(d for d in ALL if d.is_complex)
INTEGER: frozenset[DType] = frozenset(d for d in ALL if d.is_integer)
QUANTIZED: frozenset[DType] = frozenset(d for d in ALL if d.is_quantized)
DIFFERENTIABLE: frozenset[DType] = frozenset(
    d for d in ALL if d.is_numeric and (d.is_floating or d.is_complex)
)
"""The dtypes in which gradients can flow."""

OP_NAMES: dict[DType, str] = {
    d: {"float32": "float", "float64": "double", "float16": "half"}.get(d.name, d.name) for d in ALL
}
"""How TensorFlow's kernels spell a dtype in error texts: `float`, `double`, `half`, `int32`."""

_FROM_ANY: dict[Any, DType] = {
    **{d.as_datatype_enum: d for d in ALL},
    **{d.numpy_dtype.type: d for d in ALL if not d.is_quantized and d.is_numpy_compatible},
    # Two of C's integer types have the same size; NumPy keeps a scalar type for each.
    **{np.dtype(code).type: FROM_NUMPY[np.dtype(code)] for code in "bBhHiIlLqQ"},
    **FROM_NUMPY,
    **FROM_NAME,
    np.str_: string,
    np.bytes_: string,
    object: string,
    float: float32,
    bool: bool_,
}


def _from_other_numpy(dtype: AnyNumpyDType) -> DType | None:
    """Find NumPy's variants of a dtype: other byte orders, strings of any length."""
    if dtype.kind in "US":
        return string
    return None if dtype.fields else _FROM_ANY.get(dtype.type)


def as_dtype(type_value: Any) -> DType:
    """Return the `DType` that `type_value` stands for.

    Args:
        type_value: a `DType`, its name or number, a `numpy.dtype` or NumPy scalar type, an object
            with a NumPy `dtype`, or Python's `float` (float32), `bool` or `object` (string).

    Returns:
        The dtype.

    Raises:
        TypeError: nothing of the above. Python's `int` and `complex` are refused, because they name
            no precision.

    Example:
        >>> import tapejax as tf
        >>> tf.as_dtype("float"), tf.as_dtype(float)
        (tf.float32, tf.float32)
    """
    if isinstance(type_value, DType):
        return type_value
    try:
        found = _FROM_ANY.get(type_value)
    except TypeError:  # not hashable
        found = None
    if found is not None:
        return found
    dtype: Any = getattr(type_value, "dtype", type_value)
    if isinstance(dtype, np.dtype):
        found = FROM_NUMPY.get(dtype) or _from_other_numpy(dtype)
    elif isinstance(dtype, type) and issubclass(dtype, np.generic):
        found = _FROM_ANY.get(dtype)
    if found is None:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
        )
    return found
