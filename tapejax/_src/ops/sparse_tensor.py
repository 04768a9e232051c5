"""`tf.SparseTensor`: a tensor given by some of its elements and where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.composite_specs import SparseTensorSpec
from tapejax._src.core.dtypes import DType, int64
from tapejax._src.core.nest import Fixed, register_composite
from tapejax._src.core.row_partition import HostArray, known_array
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine import composites, convert
from tapejax._src.engine.apply import multi_op
from tapejax._src.engine.convert import as_tensor, constant_tensor, static_ints
from tapejax._src.engine.registry import OPS
from tapejax._src.ops import casting


def as_index(value: Any) -> Tensor:
    """An int64 tensor of places or sizes."""
    tensor = as_tensor(value)
    if not isinstance(value, Tensor) and 0 in tensor.aval.shape:
        return constant_tensor(np.zeros(tensor.aval.shape, np.int64))
    if tensor.dtype == int64:
        return tensor
    if not tensor.dtype.is_integer:
        raise (ValueError if isinstance(value, Tensor) else TypeError)(
            f"Tensor conversion requested dtype int64 for Tensor with dtype {tensor.dtype.name}: "
            f"{tensor}. Indices and shapes of sparse tensors are integers."
        )
    host = known_array(tensor)
    return casting.cast(tensor, int64) if host is None else constant_tensor(host.astype(np.int64))


class SparseTensor:
    """The elements `values` at the places `indices` of a tensor of shape `dense_shape`.

    The elements that are not given are zero (or empty strings). Most functions of `tf.sparse` need
    the indices in row-major order, as `tf.sparse.reorder` puts them.

    Args:
        indices: int64 `[n, rank]`.
        values: `[n]`, of any dtype.
        dense_shape: int64 `[rank]`.

    Raises:
        ValueError: If the shapes of the three do not fit.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [2, 3])
        >>> tf.sparse.to_dense(x).numpy().tolist()
        [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
        >>> (x * 10.0).values.numpy().tolist()
        [10.0, 20.0]

    Differs from TensorFlow:
        The dense shape must be known while a program is recorded: compiled code has static shapes.
        A `tf.function` is traced for each dense shape and each number of values.
    """

    __slots__ = ("__weakref__", "_dense_shape", "_indices", "_values")

    __tf_dispatch__ = True  # operators of tensors leave the answer to this class

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = as_index(indices)
        self._values = as_tensor(values)
        self._dense_shape = as_index(dense_shape)
        self._check()

    def _check(self) -> None:
        places, shape = self._indices.aval.shape, self._dense_shape.aval.shape
        if len(places) != 2:
            raise ValueError(
                f"Shape {self._indices.shape} must have rank 2: indices are [n, rank]."
            )
        if len(shape) != 1:
            raise ValueError(f"Shape {self._dense_shape.shape} must have rank 1: it is a shape.")
        if self._values.ndim != 1:
            raise ValueError(f"Shape {self._values.shape} must have rank 1: values are [n].")
        for mine, theirs in ((places[0], self._values.aval.shape[0]), (places[1], shape[0])):
            if mine != theirs:
                raise ValueError(
                    f"Dimensions {mine} and {theirs} are not compatible: indices "
                    f"{self._indices.shape}, values {self._values.shape} and dense_shape "
                    f"{self._dense_shape.shape} must be [n, rank], [n] and [rank]."
                )

    @classmethod
    def from_value(cls, sparse_tensor_value: Any) -> SparseTensor:
        """The sparse tensor of an object with `indices`, `values` and `dense_shape`."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        parts = [
            getattr(sparse_tensor_value, n, None) for n in ("indices", "values", "dense_shape")
        ]
        if None in [None if part is None else 0 for part in parts]:
            raise TypeError(
                f"Argument sparse_tensor_value={sparse_tensor_value!r} is neither SparseTensor nor "
                "SparseTensorValue."
            )
        return cls(*parts)

    @property
    def indices(self) -> Tensor:
        """The places of the values, int64 `[n, rank]`."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The values, `[n]`."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the whole tensor, int64 `[rank]`."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole tensor."""
        sizes = known_array(self._dense_shape)
        if sizes is None:
            return TensorShape([None] * self._dense_shape.aval.shape[0])
        return TensorShape(sizes.tolist())

    @property
    def op(self) -> NoReturn:
        """Eager values belong to no graph."""
        raise AttributeError("Tensor.op is undefined when eager execution is enabled.")

    @property
    def graph(self) -> NoReturn:
        """Eager values belong to no graph."""
        raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")

    def get_shape(self) -> TensorShape:
        """The static shape of the whole tensor (same as `shape`)."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Check that `shape` agrees with the tensor's own.

        Raises:
            ValueError: If it does not.
        """
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape {shape}"
            )

    def consumers(self) -> list[Any]:
        """Nothing: eager values belong to no graph."""
        return []

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other values at the same places.

        Args:
            new_values: `[n]` tensor.

        Returns:
            The sparse tensor.

        Raises:
            ValueError: If their number differs.
        """
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def __str__(self) -> str:
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )

    __repr__ = __str__

    def __getattr__(self, name: str) -> Any:
        hint = ": use tf.sparse.to_dense(x).numpy()" if name == "numpy" else ""
        raise AttributeError(f"'SparseTensor' object has no attribute {name!r}{hint}")

    def __reduce__(self) -> Any:
        parts = (self._indices, self._values, self._dense_shape)
        return SparseTensor, tuple([np.asarray(part.view()) for part in parts])

    if TYPE_CHECKING:  # attached by `sparse_dense.py`, which knows how to compute them
        __mul__: Any
        __rmul__: Any
        __truediv__: Any


# ---------------------------------------------------------------------- as a structure
def _split(sparse: SparseTensor) -> list[Any]:
    return [sparse.indices, sparse.values, sparse.dense_shape]


def _rebuild(sparse: SparseTensor, parts: Sequence[Any]) -> SparseTensor:
    del sparse
    made: Any = object.__new__(SparseTensor)
    made._indices, made._values, made._dense_shape = parts
    return made


def _fixed(sparse: SparseTensor) -> Fixed:
    return Fixed(() if known_array(sparse.dense_shape) is None else (2,))


def _no_gradient(sparse: SparseTensor) -> NoReturn:
    raise ValueError(
        f"Type {type(sparse).__name__} is not supported as a gradient source or gradient target. "
        "Use its values: x.values."
    )


register_composite(SparseTensor, _split, _rebuild, _fixed, _no_gradient)
SparseTensorSpec.register_value_type(SparseTensor)


def _refusal(value: SparseTensor) -> str:
    return (
        f"Attempt to convert a value ({value}) with an unsupported type ({type(value)}) to a "
        "Tensor. Write tf.sparse.to_dense(x), or use the functions of tf.sparse."
    )


convert.CONVERTERS.append((SparseTensor, composites.refuse(_refusal)))


# ---------------------------------------------------------------------- in ops that keep zeros zero
_NAMES = """
abs asin asinh atan atanh bessel_i0e bessel_i1e erf negative sign sin sqrt square tan tanh
"""
KEEPS_ZERO = frozenset(
    ["cast", "identity", "stop_gradient", *[f"math.{name}" for name in _NAMES.split()]]
)
"""The public paths of the ops of one sparse tensor."""


def answer_sparse(
    name: str, call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """What an op returns that is given a sparse tensor; NotImplemented if it takes none."""
    definition = OPS.get(name)
    paths = (name,) if definition is None else definition.paths
    if args and isinstance(args[0], SparseTensor):
        if any(path in KEEPS_ZERO for path in paths):
            return args[0].with_values(call(args[0].values, *args[1:], **kwargs))
        if "math.divide" in paths and len(args) > 1:
            return args[0].__truediv__(args[1])
    return NotImplemented


composites.HANDLERS[SparseTensor] = answer_sparse


# ---------------------------------------------------------------------- what the functions need
def sparse_argument(value: Any, name: str = "sp_input") -> SparseTensor:
    """An argument that must be a sparse tensor.

    Raises:
        TypeError: If it is none.
    """
    if isinstance(value, SparseTensor):
        return value
    if hasattr(value, "dense_shape") and hasattr(value, "indices"):
        return SparseTensor.from_value(value)
    raise TypeError(f"Input must be a SparseTensor. `{name}` is {value!r}.")


def sizes_of(sparse: SparseTensor) -> tuple[int, ...]:
    """The dense shape as Python integers.

    Raises:
        OperatorNotAllowedInGraphError: If it is not known while a program is recorded.
    """
    return tuple(static_ints(sparse.dense_shape))


def host_indices(sparse: SparseTensor, what: str) -> HostArray:
    """The indices as a NumPy array.

    Raises:
        NotImplementedError: If they have no value, in a function that is being traced.
    """
    found = known_array(sparse.indices)
    if found is None:
        raise NotCompilableError(
            f"{what} needs the places of the values to know how many there are in its result, but "
            "they are not known inside the tf.function or transformation being traced, and "
            "compiled code has static shapes. Call it outside and pass the result, or work with "
            "tf.sparse.to_dense(x)."
        )
    return found


def of_parts(indices: Any, values: Any, shape: Sequence[int] | Tensor) -> SparseTensor:
    """A sparse tensor of host or recorded parts."""
    if not isinstance(shape, Tensor):
        shape = constant_tensor(np.array(list(shape), np.int64))
    if not isinstance(indices, Tensor):
        indices = constant_tensor(np.ascontiguousarray(indices, np.int64))
    return _rebuild(None, (indices, values, shape))  # pyright: ignore[reportArgumentType]  unused


def narrowed(indices: Any, sizes: Sequence[int]) -> Any:
    """Indices as int32 where that holds them: the user's own `jax.jit` may have no 64 bits."""
    return indices.astype(np.int64 if max(sizes, default=0) >= 2**31 else np.int32)


def moved(
    name: str, key: Any, fn: Callable[[Any], Any], sparse: SparseTensor, shape: Sequence[int]
) -> SparseTensor:
    """The same values at other places, worked out from the old ones by a pure function."""
    (indices,) = multi_op(name, lambda places: [fn(places)], key)([sparse.indices])
    return of_parts(indices, sparse.values, shape)


def check_axis(axis: Any, rank: int, message: str) -> int:
    """An axis without its sign, or the error of the op."""
    place = int(static_ints(axis))
    if not -rank <= place < rank:
        raise errors.InvalidArgumentError(None, None, message)
    return place % rank


__all__ = ["SparseTensor", "SparseTensorSpec"]
