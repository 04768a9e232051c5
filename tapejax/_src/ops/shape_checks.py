"""Checks of shapes, axes and index dtypes that several files of array ops share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array


def brackets(shape: Iterable[Any]) -> str:
    """A shape as TensorFlow's kernels print it: `[2,3]`."""
    return f"[{','.join(str(size) for size in shape)}]"


def _has_none(ints: Any) -> bool:
    """Whether a size is left open."""
    items: Any = ints if isinstance(ints, tuple) else ()
    return any(size is None for size in items)


def as_vector(ints: Any, text: str, scalar: bool = False) -> tuple[int, ...]:
    """A static list of ints; `text` (with `{shape}`) is the error for another rank."""
    if ints is None or _has_none(ints):
        raise ValueError(
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
            "Tensor: every size must be a number; for an unknown one take it from tf.shape(x)"
        )
    rank = np.ndim(ints)
    if rank == 0 and scalar:
        return (int(ints),)
    if rank != 1:
        raise InvalidArgumentError(text.format(shape=brackets(np.shape(ints))))
    return tuple(ints)


def checked_sizes(shape: Any) -> tuple[int, ...]:
    """The shape of a tensor to make: an int or a list of ints, none negative."""
    sizes = as_vector(shape, "dims must represent a vector, got shape {shape}", scalar=True)
    for size in sizes:
        if size < 0:
            raise InvalidArgumentError(f"Dimension {size} must be >= 0")
    return sizes


def normal_axis(axis: int, rank: int, text: str) -> int:
    """The axis without its sign, or InvalidArgumentError with `text`."""
    if not -rank <= axis < rank:
        raise InvalidArgumentError(text)
    return axis % rank


def zero_of(x: Array) -> Array:
    """A zero that is connected to an array of which nothing is left in a result."""
    return jnp.sum(jnp.ravel(x)[:0], dtype=x.dtype)


def check_attr_dtype(array: Any, attr: str, allowed: Sequence[str]) -> None:
    """Refuse a dtype that TensorFlow's op does not take for this attribute."""
    if array.dtype.name not in allowed:
        raise InvalidArgumentError(
            f"Value for attr '{attr}' of {_attr_name(array.dtype.name)} is not in the list of "
            f"allowed values: {', '.join(map(_attr_name, allowed))}"
        )


def _attr_name(dtype: str) -> str:
    return {"float16": "half", "float32": "float", "float64": "double"}.get(dtype, dtype)
