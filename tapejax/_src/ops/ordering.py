"""Whether values rise, and polynomials: small functions of `tf.math` on sequences."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import Array, Same, op, public
from tapejax._src.ops.arithmetic import add, multiply
from tapejax._src.ops.creation import zeros_like

_ORDERED = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"


def _neighbours(x: Array) -> tuple[Array, Array]:
    """Each element but the last one, in row-major order, and the one behind it.

    Raises:
        TypeError: `x` holds no numbers.
    """
    if x.dtype == bool:
        raise TypeError("Expected x to be numeric, instead found: a tensor of dtype bool")
    flat = jnp.reshape(x, (-1,))
    return flat[:-1], flat[1:]


@op(
    "math.is_non_decreasing",
    node="LogicalAnd",
    dtypes=f"{_ORDERED} bool",
    gradient="none",
    cases=("f32[4] sorted", "f32[2,3]", "i32[5] sorted", "f64[0]", "i8[]", "u8[4]"),
)
def is_non_decreasing(x: Same, name: str | None = None) -> Array:
    """Whether no element, in row-major order, is smaller than the one before it.

    Args:
        x: Real numbers `[...]`.
        name: Ignored.

    Returns:
        A boolean `[]`: True if there are less than two elements, False if one is NaN.

    Raises:
        TypeError: Booleans.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.math.is_non_decreasing([1, 1, 2]))
        True
    """
    before, behind = _neighbours(x)
    return jnp.all(behind >= before)


@op(
    "math.is_strictly_increasing",
    node="LogicalAnd",
    dtypes=f"{_ORDERED} bool",
    gradient="none",
    cases=("f32[4] sorted", "f32[2,3]", "i32[5] sorted", "f64[0]", "i8[]", "u8[4]"),
)
def is_strictly_increasing(x: Same, name: str | None = None) -> Array:
    """Whether each element, in row-major order, is larger than the one before it.

    Args:
        x: Real numbers `[...]`.
        name: Ignored.

    Returns:
        A boolean `[]`: True if there are less than two elements, False if one is NaN.

    Raises:
        TypeError: Booleans.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.math.is_strictly_increasing([1, 1, 2]))
        False
    """
    before, behind = _neighbours(x)
    return jnp.all(behind > before)


@public("math.polyval")
def polyval(coeffs: Any, x: Any, name: str | None = None) -> Any:
    """The polynomial `coeffs[0] * x**n + ... + coeffs[n]`, by Horner's rule.

    Args:
        coeffs: A list of numbers or tensors that broadcast with `x`, highest power first.
        x: Where to evaluate it, of the dtype of the coefficients.
        name: Ignored.

    Returns:
        The values, of the broadcast shape; zeros like `x` for an empty list.

    Raises:
        ValueError: `coeffs` is no list.
        tf.errors.InvalidArgumentError: The dtypes differ.

    Example:
        >>> import tapejax as tf
        >>> print(tf.math.polyval([1.0, 0.0, 2.0], [1.0, 3.0]).numpy())
        [ 3. 11.]
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = as_tensor(x)
    if not coeffs:
        return zeros_like(x)
    tensors = [as_tensor(coefficient) for coefficient in coeffs]  # pyright: ignore[reportUnknownVariableType]  a list of anything
    value = tensors[0]
    for coefficient in tensors[1:]:
        value = add(coefficient, multiply(value, x))
    return value
