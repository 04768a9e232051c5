"""`tf.make_tensor_proto` and `tf.make_ndarray`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.conversion import to_numpy
from tapejax._src.core.dtypes import as_dtype
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.tensor_proto import Dim, TensorProto, TensorShapeProto
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, known_value, static_ints
from tapejax._src.engine.registry import public

# The fields of other writers that hold elements, for each kind of NumPy dtype.
_FIELDS = (
    "float_val",
    "double_val",
    "int_val",
    "int64_val",
    "bool_val",
    "uint32_val",
    "uint64_val",
)


@public("make_tensor_proto")
def make_tensor_proto(
    values: Any,
    dtype: Any = None,
    shape: Any = None,
    verify_shape: bool = False,
    allow_broadcast: bool = False,
) -> TensorProto:
    """A tensor as a message that can be written to a file.

    Args:
        values: Numbers, strings, an array or a tensor whose value is known.
        dtype: The dtype; by default that of the values.
        shape: The shape; by default that of the values. Fewer values are filled up with the last.
        verify_shape: Whether the values must have that shape.
        allow_broadcast: Whether one value may fill the shape although `verify_shape`.

    Returns:
        A message with `dtype`, `tensor_shape`, `tensor_content` (or `string_val`) and
        `SerializeToString()`.

    Raises:
        ValueError: If the values do not fit `shape`, or both flags are set.
        TypeError: If the values do not fit `dtype`, or `shape` is missing a size.

    Example:
        >>> import tapejax as tf
        >>> tf.make_ndarray(tf.make_tensor_proto([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    if verify_shape and allow_broadcast:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    kind = None if dtype is None else as_dtype(dtype)
    if isinstance(values, (Tensor, Variable)):
        array = known_value(as_tensor(values))
        array = array if kind is None else array.astype(kind.as_numpy_dtype)
    else:
        array = to_numpy(values, kind)
    if shape is not None:
        array = _shaped(array, tuple(static_ints(shape)), verify_shape, allow_broadcast)
    found = TensorProto(as_dtype(array.dtype if kind is None else kind).as_datatype_enum)
    found.tensor_shape = TensorShapeProto([Dim(size) for size in array.shape])
    if array.dtype.kind == "O":
        texts = array.reshape(-1).tolist()
        found.string_val = [t if isinstance(t, bytes) else str(t).encode() for t in texts]
    else:
        found.tensor_content = np.ascontiguousarray(array).tobytes()
    return found


def _shaped(
    array: np.ndarray[Any, Any], shape: tuple[int, ...], verify: bool, broadcast: bool
) -> np.ndarray[Any, Any]:
    size = int(np.prod(shape, dtype=np.int64))
    if verify and array.shape != shape:
        raise TypeError(f"Expected Tensor's shape: {shape}, but got {array.shape}.")
    if broadcast and array.size != 1 and array.shape != shape:
        raise TypeError(f"Expected Tensor's shape: {shape}, but got {array.shape}.")
    if array.size > size or (array.size == 0 and size):
        raise ValueError(
            f"Too many elements provided. Takes at most {size:d}, but got {array.size:d}"
            if array.size > size
            else f"No value to fill the shape {shape} with."
        )
    flat = array.reshape(-1)
    rest = np.repeat(flat[-1:], size - array.size)
    return np.concatenate([flat, rest]).reshape(shape)


@public("make_ndarray")
def make_ndarray(tensor: Any) -> np.ndarray[Any, Any]:
    """The array of a `TensorProto`.

    Args:
        tensor: A message of `tf.make_tensor_proto`, or of TensorFlow.

    Returns:
        A new array; strings as objects.

    Raises:
        TypeError: If the dtype is not known.

    Example:
        >>> import tapejax as tf
        >>> tf.make_ndarray(tf.make_tensor_proto(3.0, shape=[2])).tolist()
        [3.0, 3.0]
    """
    kind = as_dtype(tensor.dtype)
    shape = [dim.size for dim in tensor.tensor_shape.dim]
    if kind.name == "string":
        return _filled(np.asarray(list(tensor.string_val), object), shape)
    dtype = np.dtype(kind.as_numpy_dtype)
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, dtype).copy().reshape(shape)
    half = list(getattr(tensor, "half_val", ()))
    if half:
        return _filled(np.asarray(half, np.uint16).view(dtype), shape)
    for name in _FIELDS:
        values = list(getattr(tensor, name, ()))
        if values:
            return _filled(np.asarray(values).astype(dtype), shape)
    for name in ("scomplex_val", "dcomplex_val"):
        parts = list(getattr(tensor, name, ()))
        if parts:
            return _filled(np.asarray(parts[::2]) + 1j * np.asarray(parts[1::2]), shape, dtype)
    return np.zeros(shape, dtype)


def _filled(values: np.ndarray[Any, Any], shape: list[int], dtype: Any = None) -> Any:
    """Values in a shape; the last stands for those that are left out."""
    size = int(np.prod(shape, dtype=np.int64))
    if values.size < size:
        values = np.concatenate([values, np.repeat(values[-1:], size - values.size)])
    return values.reshape(shape) if dtype is None else values.astype(dtype).reshape(shape)
