"""Sums of many tensors, and tensors times one number."""

from __future__ import annotations

from typing import Any

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.composites import takes_composites
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import Array, Same, SameList, op, public

_PRODUCTS = (
    "bfloat16 half float double uint8 int8 uint16 int16 int32 uint32 uint64 int64 complex64 "
    "complex128"
)


@op(
    "math.add_n",
    "add_n",
    node="AddN",
    dtypes=(
        "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 qint16 "
        "quint16 uint16 complex128 half uint32 uint64 variant"
    ),
    cases=("[f32[2,3], f32[2,3], f32[2,3]]", "[i32[4]]", "[c64[2], c64[2]]", "[f64[], f64[]]"),
)
def add_n(inputs: SameList, name: str | None = None) -> Array:
    """Sum of tensors of one shape and dtype (no broadcasting).

    Args:
        inputs: At least one tensor or `tf.IndexedSlices`, each `[...]` of the same shape.
        name: Ignored.

    Returns:
        Their elementwise sum `[...]`, of the same dtype.

    Raises:
        ValueError: `inputs` is empty.
        tf.errors.InvalidArgumentError: The shapes differ.

    Example:
        >>> import tapejax as tf
        >>> print(tf.add_n([tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])]).numpy())
        [4. 6.]
    """
    if not inputs:
        msg = (
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype "
            f"and shape. Received: inputs={inputs!r}"
        )
        raise ValueError(msg)
    first = inputs[0]
    for i, other in enumerate(inputs):
        if other.shape != first.shape:
            shapes = f"Input 0: {list(first.shape)} != input {i}: {list(other.shape)}"
            msg = f"Inputs to operation AddN must have the same size and shape. {shapes}"
            raise InvalidArgumentError(msg)
    total = first
    for other in inputs[1:]:
        total = total + other
    return total


@public("math.accumulate_n")
def accumulate_n(
    inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None
) -> Any:
    """Sum of tensors of one shape and dtype, with that shape and dtype checked.

    Args:
        inputs: A list or tuple of at least one tensor, each `[...]` of the same shape.
        shape: The expected shape, compatible with that of each input; None to expect any.
        tensor_dtype: The expected dtype; None to expect any.
        name: Ignored.

    Returns:
        Their elementwise sum `[...]`, of the same dtype.

    Raises:
        ValueError: `inputs` is empty or no list, their dtypes differ, or a shape does not fit.
        TypeError: `tensor_dtype` is not the dtype of the inputs.

    Example:
        >>> import tapejax as tf
        >>> a = tf.constant([1, 2])
        >>> print(tf.math.accumulate_n([a, a, a], shape=[2]).numpy())
        [3 6]
    """
    given = list(inputs) if isinstance(inputs, list | tuple) else []
    tensors = [v if isinstance(v, IndexedSlices) else as_tensor(v) for v in given]
    if len({value.dtype for value in tensors}) != 1:
        msg = (
            "inputs must be a list of at least one Tensor with the same dtype and shape. "
            f"Received: inputs={inputs!r}"
        )
        raise ValueError(msg)
    expected = TensorShape(shape)
    for value in tensors:
        expected = expected.merge_with(value.shape)
    total = add_n(tensors, name)
    if tensor_dtype is not None and total.dtype != tensor_dtype:
        msg = (
            f"tensor_dtype={tensor_dtype!r} but the inputs are {total.dtype!r}. They must be "
            "equal: cast the inputs first."
        )
        raise TypeError(msg)
    return total


@op(
    "_math.scalar_mul",
    node="Mul",
    dtypes=_PRODUCTS,
    cases=("f32[], f32[2,3]", "i32[], i32[4]", "c64[], c64[3]"),
)
def _scalar_mul(scalar: Same, x: Same, name: str | None = None) -> Array:
    """`scalar * x` for one number `scalar`."""
    if scalar.ndim:
        msg = f"The input scalar must be a 0-D value. Received shape {scalar.shape}."
        raise ValueError(msg)
    return scalar * x


@public("math.scalar_mul", "scalar_mul")
@takes_composites("math.scalar_mul")
def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """One number times a tensor or `tf.IndexedSlices`.

    Args:
        scalar: A number or scalar tensor `[]` of the dtype of `x`.
        x: A tensor `[...]`, or slices, which stay slices.
        name: Ignored.

    Returns:
        `scalar * x`, of the shape and dtype of `x`.

    Raises:
        ValueError: `scalar` is not 0-D, or a tensor of another dtype than `x`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.scalar_mul(2.0, tf.constant([1.0, 3.0])).numpy())
        [2. 6.]
    """
    slices = isinstance(x, IndexedSlices)
    values = as_tensor(x.values if slices else x)
    if isinstance(scalar, Tensor | Variable):
        scalar = as_tensor(scalar, values.dtype)
    product = _scalar_mul(scalar, values, name)
    return IndexedSlices(product, x.indices, x.dense_shape) if slices else product
