"""What users pass as tensors, made into tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core import errors
from tapejax._src.core.avals import Aval, aval_of, placed_key, static_key
from tapejax._src.core.conversion import convert_for_partner, to_numpy
from tapejax._src.core.dtypes import DType
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine import flush as running
from tapejax._src.engine.program import ROOT
from tapejax._src.engine.recorder import LOCAL


class Packer:
    """How a list that contains tensors becomes one tensor (a recorded op; set by `ops`)."""

    stack: Callable[[Sequence[Any], DType | None], Tensor]


PACKER = Packer()

Converter = Callable[[Any, DType | None], Tensor]
CONVERTERS: list[tuple[type, Converter]] = []
"""Conversions of other classes (`IndexedSlices`), tried in order; one with an attribute `hinted`
is called so, with the dtype of the tensor beside it as a wish."""
CELLS: list[tuple[type, Callable[[Any], Variable]]] = []
"""Other libraries' variables, and the function that gives the `Variable` behind one."""


def variable_behind(value: Any) -> Any:
    """The `Variable` behind another library's variable; any other value as it is."""
    for cls, cell_of in CELLS:
        if isinstance(value, cls):
            return cell_of(value)
    return value


class SymbolicArgument(TypeError):
    """An op was given another library's placeholder, and that library can make a node of the op.

    Attributes:
        apply: Makes the node of (the op's name, its arguments, its keyword arguments).
    """

    def __init__(self, value: Any, apply: Callable[..., Any]) -> None:
        super().__init__(
            f"{value!r} is symbolic: it stands for a layer's result and has no value. This "
            "function needs one; put it into a tf.keras.layers.Lambda or a layer's `call`."
        )
        self.apply = apply


def constant_tensor(array: Any) -> Tensor:
    """A tensor of a NumPy array nobody else will change, or of a `jax.Array` or tracer.

    A constant made while assignments are pending outside every tape starts a new step, so the
    update is sent off first.
    """
    recorder = LOCAL.recorder
    if recorder.assigned and not LOCAL.active and recorder.symbolic is None:
        running.flush(recorder)
    if isinstance(array, np.ndarray) and array.dtype.kind == "O":
        aval = Aval(array.shape, array.dtype)
        return Tensor.concrete(array, aval, aval)
    aval = aval_of(array)
    if isinstance(array, np.ndarray):
        return Tensor.concrete(array, aval, aval)
    if isinstance(array, Tracer):
        run_before_tracing()
    key = placed_key(aval, array)
    if key is not aval:
        running.arrays_are_spread()
    return Tensor.concrete(array, aval, key)


def run_before_tracing() -> None:
    """Run what is pending before a tracer of the user's own JAX transformation joins the program.

    Otherwise the pending concrete values would be computed inside that transformation and be lost
    with it.
    """
    recorder = LOCAL.recorder
    if not recorder.inline and recorder.node is not ROOT and recorder.symbolic is None:
        with jax.ensure_compile_time_eval():
            running.flush(recorder)


def static_tensor(value: Any) -> Tensor:
    """A tensor whose value is part of the program's structure, such as `tf.shape(x)`."""
    array = np.asarray(value)
    key = static_key(array)
    return Tensor.concrete(array, key.aval, key)


def as_tensor(value: Any, dtype: DType | None = None) -> Tensor:
    """Convert a value to a tensor by TensorFlow's rules.

    Args:
        value: Tensor, variable, array, number, string or nested list (of tensors too).
        dtype: The dtype required, or None for the natural one.

    Returns:
        A tensor; a tensor of the right dtype is returned as it is, a variable as its current value.

    Raises:
        ValueError: If a tensor has another dtype, or the value cannot be converted.
        TypeError: If a number does not fit the dtype.
    """
    kind = type(value)
    if kind is Variable:
        value = value.tensor
        kind = Tensor
    if kind is Tensor:
        if dtype is None or value.dtype == dtype:
            return value
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
            f"{value.dtype.name}: {value!r}. Convert it with tf.cast(x, tf.{dtype.name})."
        )
    if isinstance(value, (Tensor, Variable)):
        return as_tensor(value.tensor if isinstance(value, Variable) else value, dtype)
    for cls, converter in CONVERTERS:
        if isinstance(value, cls):
            return converter(value, dtype)
    if isinstance(value, (list, tuple)) and holds_tensor(value):
        return PACKER.stack(value, dtype)
    if isinstance(value, jax.Array):
        return _from_jax(value, dtype)
    if isinstance(value, TensorShape):
        return static_tensor(to_numpy(value, dtype))
    return constant_tensor(to_numpy(value, dtype))


def _from_jax(value: jax.Array, dtype: DType | None) -> Tensor:
    if dtype is not None and np.dtype(dtype.as_numpy_dtype) != value.dtype:
        return constant_tensor(value.astype(dtype.as_numpy_dtype))
    return constant_tensor(value)


def as_partner(value: Any, partner: DType) -> Tensor:
    """Convert an operand that stands beside a tensor of dtype `partner`."""
    if isinstance(value, (Tensor, Variable)):
        return as_tensor(value)
    if isinstance(value, (list, tuple)) and holds_tensor(value):
        return PACKER.stack(value, partner)
    for cls, converter in CONVERTERS:
        if isinstance(value, cls):
            hinted = getattr(converter, "hinted", None)
            return converter(value, None) if hinted is None else hinted(value, partner)
    if isinstance(value, jax.Array):
        return _from_jax(value, partner)
    return constant_tensor(convert_for_partner(value, partner))


def holds_tensor(value: Any) -> bool:
    """Whether a nested list or tuple holds a tensor or variable somewhere."""
    if isinstance(value, (list, tuple)):
        return any(holds_tensor(item) for item in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return isinstance(value, (Tensor, Variable)) or (
        isinstance(value, Tracer) or any(isinstance(value, c) for c, _ in CONVERTERS)
    )


def known_value(tensor: Tensor) -> np.ndarray[Any, Any]:
    """The value of a tensor that must be static, without running a program where possible."""
    if tensor.array is not None:
        if isinstance(tensor.array, Tracer):
            raise errors.OperatorNotAllowedInGraphError(
                f"A shape, axis or size was given as a traced tensor of shape {tensor.shape} and "
                f"dtype {tensor.dtype.name}, but it must be known while the program is recorded. "
                "Pass Python ints, or take it from tf.shape(x) or x.shape."
            )
        return np.asarray(tensor.array)
    recorder = LOCAL.recorder
    if tensor.recorder is recorder:
        value = recorder.node.known(tensor.index, (recorder.floats, recorder.ints))
        if value is not None:
            return value
    return tensor.view()


def static_ints(value: Any) -> Any:
    """Normalize a shape, axis or size: an int, a tuple of ints, or None."""
    kind = type(value)
    if kind is int or value is None:
        return value
    if kind is tuple and all(type(v) is int for v in value):
        return value
    if isinstance(value, Variable):
        value = value.tensor
    if isinstance(value, Tensor):
        value = known_value(value)
    if isinstance(value, TensorShape):
        return tuple(_dimension(d) for d in value.as_list())
    if isinstance(value, (np.ndarray, np.generic, jax.Array)):
        return _ints_of_array(np.asarray(value))
    if isinstance(value, (list, tuple)):
        items = [static_ints(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        return tuple(items)
    if hasattr(value, "__index__"):
        return int(value.__index__())
    raise TypeError(
        f"Expected an int or a sequence of ints for a shape, axis or size, got {value!r} of type "
        f"{kind.__name__}"
    )


def _dimension(size: int | None) -> int:
    if size is None:
        raise ValueError("A shape with unknown dimensions cannot be used as a shape argument")
    return size


def _ints_of_array(array: np.ndarray[Any, Any]) -> Any:
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(
            f"Expected integers for a shape, axis or size, got an array of dtype {array.dtype.name}"
        )
    if array.ndim == 0:
        return int(array)
    return tuple(_ints_of_array(a) for a in array) if array.ndim > 1 else tuple(map(int, array))
