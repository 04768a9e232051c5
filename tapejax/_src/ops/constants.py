"""Making tensors from Python and NumPy values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from tapejax._src.core.conversion import to_numpy
from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.specs import IndexedSlicesSpec, TensorSpec
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine import convert
from tapejax._src.engine.composites import HANDLERS
from tapejax._src.engine.convert import as_tensor, constant_tensor, static_ints
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record
from tapejax._src.engine.registry import public
from tapejax._src.ops import joining
from tapejax._src.tape.sweep import dense_kernel


def _stack(values: Sequence[Any], dtype: DType | None) -> Tensor:
    """A nested list that holds tensors, as one tensor: every level is stacked."""
    items = [
        _stack(v, dtype) if isinstance(v, (list, tuple)) and convert.holds_tensor(v) else v
        for v in values
    ]
    stacked = joining.stack(items)
    return stacked if dtype is None else as_tensor(stacked, dtype)


def _densified(slices: IndexedSlices, dtype: DType | None) -> Tensor:
    if slices.dense_shape is None:
        raise ValueError(
            "Tensor conversion requested for IndexedSlices for argument `value` without "
            f"dense_shape: {slices}. Pass `dense_shape` to tf.IndexedSlices."
        )
    shape = static_ints(slices.dense_shape)
    kernel: Kernel = dense_kernel(shape, slices.values.aval.dtype)
    dense = record(kernel, [slices.values, slices.indices])
    return as_tensor(dense, dtype)


convert.PACKER.stack = _stack
convert.CONVERTERS.append((IndexedSlices, _densified))


@public("constant")
def constant(value: Any, dtype: Any = None, shape: Any = None, name: Any = "Const") -> Any:
    """A tensor of a Python or NumPy value.

    Args:
        value: Number, string, array, or nested list of them.
        dtype: The dtype. Default: float32 for Python floats, int32 for ints, an array's own.
        shape: Shape to reshape to; a single value is repeated.
        name: Ignored.

    Returns:
        A tensor.

    Raises:
        TypeError: If the value does not fit the dtype or the shape.
        ValueError: If the value is ragged, None or of mixed types.

    Example:
        >>> import tapejax as tf
        >>> tf.constant([1.0, 2.0])
        <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>
    """
    del name
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(value, (Tensor, Variable)):
        tensor = as_tensor(value)
        if wanted is not None and tensor.dtype != wanted:
            tensor = as_tensor(tensor, wanted)
        return tensor if shape is None else constant(tensor.numpy(), wanted, shape)
    if isinstance(value, (list, tuple)) and convert.holds_tensor(value):
        return as_tensor(value, wanted)
    if isinstance(value, jax.Array) and shape is None:
        return as_tensor(value, wanted)
    array = to_numpy(value, wanted)
    if shape is None:
        return constant_tensor(array)
    return constant_tensor(_shaped(array, static_ints(shape)))


def _shaped(array: np.ndarray[Any, Any], shape: Any) -> np.ndarray[Any, Any]:
    shape = (shape,) if isinstance(shape, int) else shape
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), shape).copy()
    if array.size != int(np.prod(shape)):
        raise TypeError(
            f"Eager execution of tf.constant with unsupported shape. Tensor {array} (converted "
            f"from {array.tolist()}) has {array.size} elements, but got `shape` {tuple(shape)} "
            f"with {int(np.prod(shape))} elements)."
        )
    return array.reshape(shape)


@public("convert_to_tensor")
def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Tensor:
    """Convert a value to a tensor; a tensor is returned as it is, a variable as its value.

    Args:
        value: Tensor, variable, `IndexedSlices`, array, number, or nested list (of tensors too).
        dtype: The dtype required.
        dtype_hint: The dtype preferred if the value can take it.
        name: Ignored.

    Returns:
        A tensor.

    Raises:
        ValueError: If a tensor has another dtype, or the value cannot be converted.
        TypeError: If a number does not fit the dtype.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant(2.0)
        >>> tf.convert_to_tensor([x, x * x]).numpy().tolist()
        [2.0, 4.0]
    """
    del name
    if dtype is None and dtype_hint is not None and not isinstance(value, (Tensor, Variable)):
        try:
            return as_tensor(value, as_dtype(dtype_hint))
        except (TypeError, ValueError):
            return as_tensor(value)
    return as_tensor(value, None if dtype is None else as_dtype(dtype))


@public("is_tensor")
def is_tensor(x: Any) -> bool:
    """Whether a value is a tensor, a variable, `IndexedSlices`, a ragged or a sparse tensor.

    Args:
        x: Any value.
    """
    return isinstance(x, (Tensor, Variable, IndexedSlices)) or type(x) in HANDLERS


@public("get_static_value")
def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor that is known without running anything, or None.

    Args:
        tensor: A tensor.
        partial: Ignored.
    """
    del partial
    return None if type(tensor) in HANDLERS else as_tensor(tensor).numpy()


TensorSpec.register_value_type(Tensor)
IndexedSlicesSpec.register_value_type(IndexedSlices)
