"""`tf.keras.backend`: elementwise functions, reductions, products, shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.function.control_flow import cond
from tapejax._src.keras.backend.settings import floatx
from tapejax._src.keras.backend.values import dtype, ndim
from tapejax._src.ops import (
    arithmetic,
    clipping,
    comparison,
    cumulative,
    elementwise,
    norm,
    powers,
    reduction,
    rounding,
    selecting,
    selection,
    shaping,
    sorting,
    spread,
)
from tapejax._src.ops.casting import cast
from tapejax._src.tape.custom_gradient import stop_gradient as stopped


# ---------------------------------------------------------------------------------- elementwise
def abs(x: Any) -> Tensor:
    """The absolute value of each element."""
    return arithmetic.abs(x)


def sign(x: Any) -> Tensor:
    """The sign of each element."""
    return arithmetic.sign(x)


def square(x: Any) -> Tensor:
    """The square of each element."""
    return powers.square(x)


def sqrt(x: Any) -> Tensor:
    """The square root of each element, of 0 for negative ones."""
    return powers.sqrt(arithmetic.maximum(x, 0.0))


def exp(x: Any) -> Tensor:
    """The exponential of each element."""
    return elementwise.exp(x)


def log(x: Any) -> Tensor:
    """The natural logarithm of each element."""
    return elementwise.log(x)


def pow(x: Any, a: Any) -> Tensor:
    """Each element to a power."""
    return powers.pow(x, a)


def round(x: Any) -> Tensor:
    """Each element rounded, halves to even."""
    return rounding.round(x)


def sin(x: Any) -> Tensor:
    """The sine of each element."""
    return elementwise.sin(x)


def cos(x: Any) -> Tensor:
    """The cosine of each element."""
    return elementwise.cos(x)


def clip(x: Any, min_value: Any, max_value: Any) -> Tensor:
    """Each element between two bounds, of which either may be None."""
    numbers = isinstance(min_value, (int, float)) and isinstance(max_value, (int, float))
    if numbers and max_value < min_value:
        max_value = min_value
    low = -np.inf if min_value is None else min_value
    return clipping.clip_by_value(x, low, np.inf if max_value is None else max_value)


def maximum(x: Any, y: Any) -> Tensor:
    """The larger of two elements."""
    return arithmetic.maximum(x, y)


def minimum(x: Any, y: Any) -> Tensor:
    """The smaller of two elements."""
    return arithmetic.minimum(x, y)


def equal(x: Any, y: Any) -> Tensor:
    """Whether elements are equal."""
    return comparison.equal(x, y)


def not_equal(x: Any, y: Any) -> Tensor:
    """Whether elements differ."""
    return comparison.not_equal(x, y)


def greater(x: Any, y: Any) -> Tensor:
    """Whether the first element is larger."""
    return comparison.greater(x, y)


def greater_equal(x: Any, y: Any) -> Tensor:
    """Whether the first element is not smaller."""
    return comparison.greater_equal(x, y)


def less(x: Any, y: Any) -> Tensor:
    """Whether the first element is smaller."""
    return comparison.less(x, y)


def less_equal(x: Any, y: Any) -> Tensor:
    """Whether the first element is not larger."""
    return comparison.less_equal(x, y)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two expressions: as a whole for a scalar condition, or element by element.

    Args:
        condition: A scalar, or a tensor with as many dimensions as the expressions or fewer.
        then_expression: A tensor, or a function without arguments that gives one.
        else_expression: Another one of the same shape.

    Raises:
        ValueError: If the condition has more dimensions than the expressions.
    """
    condition = condition if dtype(condition) == "bool" else cast(condition, "bool")
    if not ndim(condition):
        return cond(condition, lambda: _called(then_expression), lambda: _called(else_expression))
    then, other = _called(then_expression), _called(else_expression)
    if ndim(condition) > ndim(then):
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and "
            f"`else_expression`. ndim(condition)={ndim(condition)}, "
            f"ndim(then_expression)={ndim(then)}"
        )
    if ndim(condition) > 1:
        for _ in range(ndim(then) - ndim(condition)):
            condition = shaping.expand_dims(condition, -1)
    return selecting.where(condition, then, other)


def _called(x: Any) -> Any:
    return x() if callable(x) and not isinstance(x, Tensor) else x


def stop_gradient(variables: Any) -> Any:
    """Tensors through which no gradient flows."""
    return map(stopped, variables) if isinstance(variables, (list, tuple)) else stopped(variables)


# ----------------------------------------------------------------------------------- reductions
def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The sum along an axis."""
    return reduction.reduce_sum(x, axis, keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The product along an axis."""
    return reduction.reduce_prod(x, axis, keepdims)


def max(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The largest element along an axis."""
    return reduction.reduce_max(x, axis, keepdims)


def min(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The smallest element along an axis."""
    return reduction.reduce_min(x, axis, keepdims)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The mean along an axis; of truth values, how many of them are true."""
    return reduction.reduce_mean(_numbers(x), axis, keepdims)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The standard deviation along an axis."""
    return spread.reduce_std(_numbers(x), axis, keepdims)


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The variance along an axis."""
    return spread.reduce_variance(_numbers(x), axis, keepdims)


def _numbers(x: Any) -> Any:
    return cast(x, floatx()) if getattr(x, "dtype", None) is not None and dtype(x) == "bool" else x


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether any element along an axis is true."""
    return reduction.reduce_any(cast(x, "bool"), axis, keepdims)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along an axis are true."""
    return reduction.reduce_all(cast(x, "bool"), axis, keepdims)


def argmax(x: Any, axis: int = -1) -> Tensor:
    """The place of the largest element along an axis."""
    return selection.argmax(x, axis)


def argmin(x: Any, axis: int = -1) -> Tensor:
    """The place of the smallest element along an axis."""
    return selection.argmin(x, axis)


def cumsum(x: Any, axis: int = 0) -> Tensor:
    """The sums of all elements so far along an axis."""
    return cumulative.cumsum(x, axis=axis)


def cumprod(x: Any, axis: int = 0) -> Tensor:
    """The products of all elements so far along an axis."""
    return cumulative.cumprod(x, axis=axis)


def l2_normalize(x: Any, axis: Any = None) -> Tensor:
    """Divided by the Euclidean norm along an axis."""
    return norm.l2_normalize(x, axis=axis)


def in_top_k(predictions: Any, targets: Any, k: int) -> Tensor:
    """Whether the targets are among the `k` largest predictions."""
    return sorting.in_top_k(targets, predictions, k)
