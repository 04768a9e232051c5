"""Ranges whose bounds are known only when the program runs: a loop can go over them."""

from __future__ import annotations

from typing import Any, NoReturn

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import CONVERTERS
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record


class LazyRange:
    """`tf.range` of bounds that have no value yet, in a function being traced.

    Attributes:
        start: The first number, a scalar tensor.
        delta: The difference of neighbours, a scalar tensor.
        count: How many there are, a scalar int32 tensor.
    """

    __slots__ = ("count", "delta", "start")

    def __init__(self, start: Tensor, delta: Tensor, count: Tensor) -> None:
        self.start = start
        self.delta = delta
        self.count = count

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        _refuse()

    def __iter__(self) -> NoReturn:
        _refuse()

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse()


def _refuse(*args: Any) -> NoReturn:
    raise NotCompilableError(
        "tf.range with a tensor as bound has no static length in a tf.function, and compiled code "
        "needs one. Go over it with `for i in tf.range(n)`, or pass n as a Python int; or make the "
        "range of the largest n and mask it: tf.range(n_max) < n."
    )


CONVERTERS.append((LazyRange, lambda value, dtype: _refuse()))


def is_unknown(value: Any) -> bool:
    """Whether a bound is a tensor that has no value while the function is being traced."""
    recorder = LOCAL.recorder
    if recorder.symbolic is None:
        return False
    if isinstance(value, Variable):
        return True
    if not isinstance(value, Tensor) or value.array is not None:
        return False
    return value.recorder is not recorder or recorder.node.known(value.index) is None


_KERNELS: dict[np.dtype[Any], Kernel] = {}


def lazy_range(start: Any, limit: Any, delta: Any, dtype: np.dtype[Any]) -> LazyRange:
    """The range of three scalar tensors or Python numbers.

    Args:
        start: The first number.
        limit: Where the numbers end.
        delta: The difference of two neighbours.
        dtype: The dtype of the numbers.
    """
    kernel = _KERNELS.get(dtype)
    if kernel is None:
        kernel = _KERNELS[dtype] = Kernel("range", _bounds_in(dtype), node="Range", gradient="none")
    first, step, count = record(kernel, [start, limit, delta])
    return LazyRange(first, step, count)


def _bounds_in(dtype: np.dtype[Any]) -> Any:
    def bounds(start: Any, limit: Any, delta: Any) -> list[Any]:
        first, last, step = (
            jnp.asarray(x).astype(dtype).reshape(()) for x in (start, limit, delta)
        )
        if dtype.kind in "iu":
            up = (last - first + step - 1) // jnp.where(step == 0, 1, step)
            down = (first - last - step - 1) // jnp.where(step == 0, 1, -step)
            count = jnp.where(step > 0, up, down)
        else:
            count = jnp.ceil((last - first) / step)
        return [first, step, jnp.maximum(count, 0).astype(jnp.int32)]

    return bounds
