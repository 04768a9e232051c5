"""`tf.math.sobol_sample`: points that fill a cube evenly."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import as_dtype, float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import constant_tensor, static_ints
from tapejax._src.engine.registry import public

_MOST_AXES = 21200
_BITS = 32


def _scalar(name: str, value: Any) -> int:
    number = static_ints(value)
    if not isinstance(number, int):
        raise InvalidArgumentError(f"{name} must be a scalar. Received: {value}")
    return number


@public("math.sobol_sample")
def sobol_sample(
    dim: Any, num_results: Any, skip: Any = 0, dtype: Any = float32, name: str | None = None
) -> Any:
    """Points of the Sobol sequence, which fills the unit cube more evenly than random points.

    Args:
        dim: The dimension of the cube, from 1 to 21200.
        num_results: How many points.
        skip: How many points at the start to leave out; the origin is left out anyway.
        dtype: tf.float32 or tf.float64.
        name: Ignored.

    Returns:
        The points `[num_results, dim]`, in [0, 1).

    Raises:
        tf.errors.InvalidArgumentError: A number out of range, or another dtype.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.sobol_sample(2, 3).numpy())
        [[0.5  0.5 ]
         [0.75 0.25]
         [0.25 0.75]]

    References:
        Joe and Kuo, Constructing Sobol sequences with better two-dimensional projections, 2008.
    """
    axes, count, start = _scalar("dim", dim), _scalar("num_results", num_results), 0
    start = _scalar("skip", skip)
    kind = as_dtype(dtype)
    if kind.name not in ("float32", "float64"):
        raise InvalidArgumentError(
            f"Value for attr 'dtype' of {kind.name} is not in the list of allowed values: float, "
            "double"
        )
    if axes < 1:
        raise InvalidArgumentError(f"dim must be at least one. Received: {axes}")
    if axes > _MOST_AXES:
        raise InvalidArgumentError(f"dim must be at most {_MOST_AXES}. Received: {axes}")
    if count < 1:
        raise InvalidArgumentError(f"num_results must be at least one. Received: {count}")
    if start < 0:
        raise InvalidArgumentError(f"skip must be non-negative. Received: {start}")
    if start + count >= 2**31 - 1:
        raise InvalidArgumentError("num_results+skip must be less than 2147483647")
    return constant_tensor(_points(axes, count, start).astype(kind.as_numpy_dtype))


def _points(axes: int, count: int, start: int) -> np.ndarray[Any, Any]:
    # SciPy, a dependency of JAX, has the table of directions; importing it takes a moment.
    qmc = importlib.import_module("scipy.stats.qmc")
    engine = qmc.Sobol(axes, scramble=False, bits=_BITS)
    return engine.fast_forward(start + 1).random(count)
