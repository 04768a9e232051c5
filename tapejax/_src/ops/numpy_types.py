"""`tf.experimental.numpy`: its dtypes, and how arguments become tensors of one dtype."""

from __future__ import annotations

import numbers
from typing import Any

import jax
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, constant_tensor, holds_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.casting import cast

e, inf, pi, newaxis = np.e, np.inf, np.pi, None
bool_, string_, unicode_, object_ = np.bool_, np.bytes_, np.str_, np.object_
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
float16, float32, float64 = np.float16, np.float32, np.float64
complex64, complex128 = np.complex64, np.complex128
int_, float_, complex_ = np.int64, np.float64, np.complex128
iinfo, inexact, issubdtype = np.iinfo, np.inexact, np.issubdtype


_RAGGED = "Can't convert non-rectangular Python sequence to Tensor"


class _Preference:
    """Whether Python's numbers are of 32 bits: `experimental_enable_numpy_behavior` sets it."""

    float32 = False


PREFERENCE = _Preference()


def default_float() -> np.dtype[Any]:
    """The dtype of Python floats, and of functions of integers that give fractions."""
    return np.dtype(np.float64)


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor or a variable."""
    return isinstance(value, (Tensor, Variable))


def dtype_of(value: Any) -> np.dtype[Any]:
    """The NumPy dtype of a tensor, array or dtype of any kind."""
    if is_tensor(value):
        return np.dtype(value.dtype.as_numpy_dtype)
    if isinstance(value, DType):
        return np.dtype(value.as_numpy_dtype)
    return np.dtype(value)


def known(dtype: Any) -> np.dtype[Any]:
    """A dtype as a parameter: `float` is the default one.

    Raises:
        TypeError: If there is none of this name.
    """
    if dtype is float:
        return default_float()
    return dtype_of(dtype)


def to(value: Any, dtype: Any) -> Tensor:
    """A tensor in a dtype, converted if need be."""
    wanted = as_dtype(np.dtype(dtype))
    tensor = as_tensor(value)
    return tensor if tensor.dtype == wanted else cast(tensor, wanted)


def _operand(value: Any) -> Any:
    """What NumPy's promotion rules take: a dtype, or a Python number, which is weak."""
    if PREFERENCE.float32 and not is_tensor(value):
        return _preferred(value)
    if isinstance(value, (bool, int, float, complex)):
        return value
    if is_tensor(value) or isinstance(value, (np.ndarray, np.generic, jax.Array)):
        return np.dtype(value.dtype) if not is_tensor(value) else dtype_of(value)
    if isinstance(value, (list, tuple)):
        kinds = [_operand(leaf) for leaf in nest.flatten(value)]
        if all(isinstance(kind, numbers.Number) for kind in kinds):
            return sum(kinds) if kinds else 0.0  # as weak as the numbers
        return np.result_type(*kinds)
    if isinstance(value, (str, bytes)):
        return np.dtype(object)
    return known(value)


def _preferred(value: Any) -> Any:
    """`_operand` under `prefer_float32`: floats that are no tensors count as float32."""
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, (float, complex, list, tuple, np.ndarray, np.generic, jax.Array)):
        kind = np.asarray(value).dtype if not holds_tensor(value) else None
        if kind is not None:
            weak = isinstance(value, (list, tuple)) and kind.kind in "bi"
            return 0 if weak else _preferred_dtype(kind)
        return np.result_type(*[_operand(leaf) for leaf in nest.flatten(value)])
    return known(value)


@public("experimental.numpy.result_type")
def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that NumPy's rules give to a function of these arrays and dtypes.

    Args:
        *arrays_and_dtypes: Tensors, arrays, numbers, lists and dtypes. Python's numbers take the
            dtype of the others where their kind fits it.

    Returns:
        A `tf.DType`.

    Example:
        >>> import tapejax as tf
        >>> tnp = tf.experimental.numpy
        >>> tnp.result_type(tf.constant([1]), tf.constant([1.0])).name
        'float64'
    """
    return as_dtype(common(*arrays_and_dtypes))


def common(*values: Any) -> np.dtype[Any]:
    """`result_type` as a NumPy dtype."""
    return np.result_type(*[_operand(value) for value in values])


def _preferred_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that `prefer_float32` makes of one, if it is in force."""
    return _NARROWED.get(dtype, dtype) if PREFERENCE.float32 else dtype


_NARROWED = {
    np.dtype(np.float64): np.dtype(np.float32),
    np.dtype(np.complex128): np.dtype(np.complex64),
}


@public("experimental.numpy.finfo")
def finfo(dtype: Any) -> Any:
    """The limits of a float dtype: `numpy.finfo`.

    Example:
        >>> import tapejax as tf
        >>> float(tf.experimental.numpy.finfo(tf.float16).max)
        65504.0
    """
    return np.finfo(known(dtype))


@public("experimental.numpy.promote_types")
def promote_types(type1: Any, type2: Any) -> np.dtype[Any]:
    """The least dtype to which both can be converted.

    Args:
        type1: A dtype.
        type2: A dtype.

    Returns:
        A NumPy dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.promote_types(tf.int32, tf.float32)
        dtype('float64')
    """
    return np.promote_types(known(type1), known(type2))


def promoted(*values: Any) -> list[Tensor]:
    """The arguments as tensors of their common dtype."""
    dtype = common(*values)
    return [array_of(value, dtype) for value in values]


def floating(value: Any) -> Tensor:
    """An argument as a tensor of floats: integers and booleans become the default ones."""
    tensor = array_of(value)
    inexact_already = dtype_of(tensor).kind in "fcV"
    return tensor if inexact_already else to(tensor, default_float())


def array_of(value: Any, dtype: Any = None) -> Tensor:
    """An argument as a tensor, by NumPy's rules for numbers: 64 bits.

    Raises:
        ValueError: If it cannot be converted.
    """
    if is_tensor(value) or holds_tensor(value) or isinstance(value, jax.Array):
        natural = as_tensor(value) if not isinstance(value, (list, tuple)) else _stacked(value)
        return natural if dtype is None else to(natural, dtype)
    if value is None:
        return as_tensor(value)  # raises
    try:
        made = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{_RAGGED}: {error}") from None
    if dtype is not None:
        return constant_tensor(made.astype(known(dtype)))
    if made.dtype.kind in "SUO":
        return as_tensor(value)
    return constant_tensor(made.astype(_preferred_dtype(made.dtype)))


def _stacked(values: Any) -> Tensor:
    """A list with tensors in it, of the common dtype."""
    dtype = common(values)

    def convert(item: Any) -> Any:
        if isinstance(item, (list, tuple)):
            return [convert(part) for part in item]
        return array_of(item, dtype)

    return as_tensor(convert(values))


@public("experimental.numpy.array")
def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A tensor of a value, by NumPy's rules: Python's integers and floats have 64 bits.

    Args:
        val: Tensor, array, number, or nested list.
        dtype: The dtype; by default that of the value.
        copy: Accepted: tensors never change.
        ndmin: The least rank; axes of size 1 are put in front.

    Returns:
        A tensor.

    Raises:
        ValueError: If the value has no shape.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.array([1, 2.5], ndmin=2)
        <tf.Tensor: shape=(1, 2), dtype=float64, numpy=array([[1. , 2.5]])>
    """
    del copy
    made = array_of(val, None if dtype is None else known(dtype))
    missing = int(ndmin) - len(made.shape)
    return made if missing <= 0 else made[(np.newaxis,) * missing]


@public("experimental.numpy.asarray")
def asarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor of a value, by NumPy's rules; a tensor of the right dtype is returned as it is.

    Args:
        a: Tensor, array, number, or nested list.
        dtype: The dtype; by default that of the value.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.asarray(1.5).dtype.name
        'float64'
    """
    return array(a, dtype)


@public("experimental.numpy.asanyarray")
def asanyarray(a: Any, dtype: Any = None) -> Tensor:
    """`asarray`.

    Args:
        a: Tensor, array, number, or nested list.
        dtype: The dtype; by default that of the value.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.asanyarray([1]).dtype.name
        'int64'
    """
    return array(a, dtype)


@public("experimental.numpy.ascontiguousarray")
def ascontiguousarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor of at least one axis.

    Args:
        a: Tensor, array, number, or nested list.
        dtype: The dtype; by default that of the value.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.ascontiguousarray(1).shape
        TensorShape([1])
    """
    return array(a, dtype, ndmin=1)


@public("experimental.numpy.copy")
def copy(a: Any) -> Tensor:
    """A tensor of the same values.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.copy([1, 2]).numpy().tolist()
        [1, 2]
    """
    return array(a)
