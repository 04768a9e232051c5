"""Functions of `jax.numpy` as recorded ops, for `tf.experimental.numpy`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record


def compute(name: str, tensors: Sequence[Any], *, gradient: str = "vjp", **static: Any) -> Any:
    """Record `jax.numpy`'s function of this name.

    Args:
        name: The name.
        tensors: Its arrays, of one dtype if it needs that.
        gradient: As of `Kernel`.
        **static: Its other arguments; tensors among them are read.
    """
    return record(_kernel(name, gradient, False, _key(static)), tensors)


def compute_list(name: str, tensors: Sequence[Any], **static: Any) -> Any:
    """`compute` of a function that takes its arrays as one list."""
    return record(_kernel(name, "vjp", True, _key(static)), tensors)


def _key(static: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple([(name, _frozen(value)) for name, value in static.items()])


@functools.cache
def _kernel(
    name: str, gradient: str, takes_list: bool, static: tuple[tuple[str, Any], ...]
) -> Kernel:
    function, fixed = getattr(jnp, name), dict(static)

    def apply(*arrays: Any) -> Any:
        found = function(list(arrays), **fixed) if takes_list else function(*arrays, **fixed)
        return list(found) if isinstance(found, tuple) else found

    return Kernel(name, apply, gradient=gradient)


def _frozen(value: Any) -> Any:
    """A static argument as something that a table of kernels can be keyed by."""
    if isinstance(value, (Tensor, Variable)):
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.integer)):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple([_frozen(item) for item in value])
    return value
