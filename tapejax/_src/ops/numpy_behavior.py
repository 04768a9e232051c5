"""`experimental_enable_numpy_behavior`: NumPy's methods, indexing and promotion for tensors.

Nothing of it is in force before the call: operators and indexing are then wrapped, so that what
fails under TensorFlow's rules is tried again under NumPy's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core import errors
from tapejax._src.core.dtypes import as_dtype
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record
from tapejax._src.engine.registry import public
from tapejax._src.ops import numpy_comparing, numpy_elementwise, numpy_linear, numpy_shape
from tapejax._src.ops.casting import cast
from tapejax._src.ops.numpy_indexing import nonzero
from tapejax._src.ops.numpy_reductions import max, mean, min
from tapejax._src.ops.numpy_types import PREFERENCE, array_of, is_tensor, to

_MODES = ("off", "legacy", "safe", "all")
_UNFIT = (errors.InvalidArgumentError, TypeError, ValueError)
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": numpy_elementwise.add,
    "sub": numpy_elementwise.subtract,
    "mul": numpy_elementwise.multiply,
    "truediv": numpy_elementwise.divide,
    "floordiv": numpy_elementwise.floor_divide,
    "mod": numpy_elementwise.mod,
    "pow": numpy_elementwise.power,
    "matmul": numpy_linear.matmul,
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "lt": numpy_elementwise.less,
    "le": numpy_elementwise.less_equal,
    "gt": numpy_elementwise.greater,
    "ge": numpy_elementwise.greater_equal,
}


@public("experimental.numpy.experimental_enable_numpy_behavior")
def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Give tensors NumPy's methods, indexing and type promotion, from here on in this process.

    Tensors get `T`, `astype`, `clip`, `data`, `flatten`, `max`, `mean`, `min`, `ravel`, `reshape`,
    `size`, `tolist` and `transpose`; indices may be lists, arrays and masks; operators promote
    operands of different dtypes to their common one.

    Args:
        prefer_float32: Whether Python's floats, and float64 arrays, become float32.
        dtype_conversion_mode: `'legacy'`, or `'off'`: operators promote nothing.

    Raises:
        ValueError: If there is no such mode.
        NotImplementedError: If the mode is `'safe'` or `'all'`.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode="none")
        Traceback (most recent call last):
        ValueError: The provided promotion mode none does not exist. ...

    Differs from TensorFlow:
        The modes `'safe'` and `'all'`, TensorFlow's tables of weak types, are refused.

    References:
        https://www.tensorflow.org/guide/tf_numpy
    """
    if dtype_conversion_mode not in _MODES:
        raise ValueError(
            f"The provided promotion mode {dtype_conversion_mode} does not exist. Make sure the "
            "provided dtype conversion mode is one of the followings: 'off', 'legacy', 'safe' or "
            "'all'."
        )
    if dtype_conversion_mode in ("safe", "all"):
        raise NotImplementedError(
            f"dtype_conversion_mode={dtype_conversion_mode!r} is not supported. Use 'legacy', "
            "whose promotion is NumPy's."
        )
    PREFERENCE.float32 = bool(prefer_float32)
    _give_methods()
    for cls in (Tensor, Variable):
        _wrap(cls, "__getitem__", _index, _has_arrays)
    if dtype_conversion_mode == "legacy":
        _promote_in_operators()


def _promote_in_operators() -> None:
    for cls in (Tensor, Variable):
        for name, function in _OPERATORS.items():
            _wrap(cls, f"__{name}__", function, _is_array)
            _wrap(cls, f"__r{name}__", _reflected(function), _is_array)
        for name, function in _COMPARISONS.items():
            _wrap(cls, f"__{name}__", function, _is_array)


def _is_array(other: Any) -> bool:
    return isinstance(other, (np.ndarray, np.generic))


def _has_arrays(key: Any) -> bool:
    parts = key if isinstance(key, tuple) else (key,)
    return any(
        isinstance(part, list) or (hasattr(part, "shape") and len(part.shape) > 0) for part in parts
    )


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: function(y, x)


def _wrap(
    cls: type, name: str, otherwise: Callable[[Any, Any], Any], at_once: Callable[[Any], bool]
) -> None:
    """Let a method that fails be tried again in NumPy's way; the first error stands if both do.

    Args:
        cls: The class.
        name: The method.
        otherwise: NumPy's way.
        at_once: Whether NumPy's way is to be taken first, for an argument.
    """
    original = getattr(cls, name)
    if hasattr(original, "numpy_style"):
        return

    @functools.wraps(original)
    def method(self: Any, other: Any) -> Any:
        if at_once(other):
            return otherwise(self, other)
        try:
            return original(self, other)
        except _UNFIT as error:
            first = error
        try:
            return otherwise(self, other)
        except _UNFIT:
            raise first from None

    method.numpy_style = True  # type: ignore[attr-defined]  pyright: ignore[reportFunctionMemberAccess]
    setattr(cls, name, method)


# ---------------------------------------------------------------------- methods
def _give_methods() -> None:
    methods: dict[str, Any] = {
        "T": property(numpy_shape.transpose),
        "__pos__": numpy_elementwise.positive,
        "__round__": lambda self, digits=0: numpy_elementwise.around(self, digits),
        "astype": _astype,
        "clip": numpy_comparing.clip,
        "data": property(lambda self: self),
        "flatten": numpy_shape.flatten,
        "max": max,
        "mean": mean,
        "min": min,
        "ravel": numpy_shape.ravel,
        "reshape": _reshape,
        "size": property(numpy_shape.size),
        "tolist": lambda self: self.numpy().tolist(),
        "transpose": numpy_shape.transpose,
    }
    for name, method in methods.items():
        setattr(Tensor, name, method)


def _astype(self: Any, dtype: Any) -> Any:
    return cast(self, as_dtype(dtype))


def _reshape(self: Any, *args: Any, order: str = "C") -> Any:
    shape = args[0] if len(args) == 1 else args
    return numpy_shape.reshape(self, shape, order)


# ---------------------------------------------------------------------- indexing
def _index(self: Any, key: Any) -> Any:
    """NumPy's indexing: integers, slices, None, `...`, and arrays of integers or booleans."""
    parts = key if isinstance(key, tuple) else (key,)
    pattern: list[Any] = []
    arrays: list[Any] = []
    for part in parts:
        for piece in _pieces(part):
            pattern.append("array" if isinstance(piece, Tensor) else _static(piece))
            arrays += [piece] if isinstance(piece, Tensor) else []
    if not arrays:
        raise TypeError(f"{key!r} is no index of a tensor.")
    x = self.tensor if isinstance(self, Variable) else self
    _check_bounds(x, pattern, arrays)
    return record(_index_kernel(tuple(pattern)), [x, *arrays])


def _pieces(part: Any) -> list[Any]:
    """A part of an index; a mask becomes the places where it holds."""
    if part is None or part is Ellipsis or isinstance(part, (slice, int, np.integer)):
        return [part]
    if not (is_tensor(part) or isinstance(part, (list, np.ndarray, jax.Array))):
        raise TypeError(f"{part!r} of type {type(part).__name__} is no index of a tensor.")
    tensor = array_of(part)
    if tensor.dtype.is_bool:
        if not tensor.shape:
            raise ValueError("mask cannot be scalar.")
        return nonzero(tensor)
    if not tensor.dtype.is_integer:
        raise TypeError(f"An index must be of integers or booleans, not {tensor.dtype.name}.")
    return [to(tensor, np.int64)]


def _static(piece: Any) -> Any:
    if isinstance(piece, slice):
        return ("slice", piece.start, piece.stop, piece.step)
    return int(piece) if isinstance(piece, np.integer) else piece


def _check_bounds(x: Tensor, pattern: list[Any], arrays: list[Any]) -> None:
    """Raise for integers that are known and outside; JAX would take the nearest row."""
    rank = len(x.shape)
    used = len([p for p in pattern if p is not None and p is not Ellipsis])
    axis, left = 0, iter(arrays)
    for part in pattern:
        if part is Ellipsis:
            axis += rank - used
        elif part is not None:
            _check_axis(x, axis, next(left) if part == "array" else None)
            axis += 1


def _check_axis(x: Tensor, axis: int, rows: Tensor | None) -> None:
    if rows is None or rows.array is None or isinstance(rows.array, Tracer):
        return
    size, values = x.aval.shape[axis], np.asarray(rows.array)
    bad = values[(values >= size) | (values < -size)]
    if bad.size:
        raise errors.InvalidArgumentError(
            None, None, f"index {bad.flat[0]} is not in [{-size}, {size}) along axis {axis}"
        )


@functools.cache
def _index_kernel(pattern: tuple[Any, ...]) -> Kernel:
    def take(x: Any, *arrays: Any) -> Any:
        left = iter(arrays)
        key = [
            next(left) if part == "array" else slice(*part[1:]) if isinstance(part, tuple) else part
            for part in pattern
        ]
        return x[tuple(key)]

    return Kernel("getitem", take)
