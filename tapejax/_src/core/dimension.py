"""One dimension of a shape: an integer that may be unknown."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar


def dimension_value(value: Any) -> int | None:
    """Read one size of a shape.

    Args:
        value: `None`, a `Dimension`, or anything with `__index__`.

    Returns:
        The size, `None` when it is unknown.

    Raises:
        TypeError: not an integer.
        ValueError: negative.
    """
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value.value
    try:
        size = operator.index(value)
    except (TypeError, AttributeError):
        raise TypeError(
            "Dimension value must be integer or None or have an __index__ method, "
            f"got value '{value!r}' with type '{type(value)!r}'"
        ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


class Dimension:
    """One size of a `TensorShape`; arithmetic with an unknown size is unknown.

    Args:
        value: an integer, `None` for an unknown size, or another dimension.
    """

    __slots__ = ("_value",)
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self._value = dimension_value(value)

    @property
    def value(self) -> int | None:
        """The size, `None` when it is unknown."""
        return self._value

    def is_compatible_with(self, other: Any) -> bool:
        """Say whether the two sizes could be equal."""
        right = dimension_value(other)
        return self._value is None or right is None or self._value == right

    def merge_with(self, other: Any) -> Dimension:
        """Return the known one of two compatible sizes.

        Raises:
            ValueError: both are known and differ.
        """
        right = dimension_value(other)
        if not self.is_compatible_with(right):
            raise ValueError(f"Dimensions {self} and {Dimension(right)} are not compatible")
        return Dimension(right if self._value is None else self._value)

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __int__(self) -> int:
        return self.__index__()

    def __index__(self) -> int:
        if self._value is None:
            raise TypeError("The size of this dimension is unknown; it has no integer value.")
        return self._value

    def _compare(self, other: Any, compare: Callable[[int, int], bool]) -> Any:
        try:
            right = dimension_value(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if self._value is None or right is None else compare(self._value, right)

    def _combine(self, other: Any, combine: Callable[[int, int], int]) -> Any:
        try:
            right = dimension_value(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or right is None:
            return Dimension(None)
        return Dimension(combine(self._value, right))

    def __eq__(self, other: object) -> Any:
        return self._compare(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, operator.ne)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)

    def __add__(self, other: Any) -> Any:
        return self._combine(other, operator.add)

    def __radd__(self, other: Any) -> Any:
        return self._combine(other, operator.add)

    def __sub__(self, other: Any) -> Any:
        return self._combine(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._combine(other, operator.mul)

    def __rmul__(self, other: Any) -> Any:
        return self._combine(other, operator.mul)

    def __floordiv__(self, other: Any) -> Any:
        return self._combine(other, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: b // a)

    def __mod__(self, other: Any) -> Any:
        return self._combine(other, operator.mod)

    def __rmod__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: b % a)
