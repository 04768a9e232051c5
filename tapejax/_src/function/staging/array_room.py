"""Room for what a loop writes into a `tf.TensorArray`: a compiled loop carries one buffer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.function.tensor_array import TensorArray


def is_array(value: Any) -> bool:
    """Whether a value is a `tf.TensorArray`."""
    return isinstance(value, TensorArray)


def roomy(value: Any, iterations: int | None) -> Any:
    """An array that may grow, with room for one more element in each iteration.

    Other values, and arrays whose elements have no known shape yet, are returned as they are.
    """
    if not isinstance(value, TensorArray) or not value.element_shape.is_fully_defined():
        return value
    return value if iterations is None else with_room("", value, iterations, value.element_shape)


def with_room(
    name: str, array: TensorArray, iterations: int | None, shape: TensorShape
) -> TensorArray:
    """The array in a buffer that holds what a loop may write.

    Args:
        name: What the user calls it.
        array: The array.
        iterations: How many iterations there are at most, if that is known.
        shape: The shape of its elements.

    Raises:
        NotCompilableError: If the array may grow without a known bound.
    """
    if not array.dynamic_size:
        return array.reserve(_length(array), shape)
    if iterations is None:
        raise NotCompilableError(
            f"The tf.TensorArray {name!r} has dynamic_size=True in a loop whose number of "
            "iterations is known only when it runs, and compiled code needs a bound for its size. "
            "Give it size=n with the largest size, or bound the loop: a range known when the "
            "function is traced, or maximum_iterations."
        )
    return array.reserve(_length(array) + iterations, shape)


def common_room(before: Sequence[Any], branches: Sequence[Sequence[Any]]) -> dict[int, TensorArray]:
    """Arrays that branches would leave in different forms, in a buffer that serves all.

    Args:
        before: The values before the branches.
        branches: The values after each of them.

    Returns:
        Place -> the array from `before` to begin again with.
    """
    found: dict[int, TensorArray] = {}
    for place, array in enumerate(before):
        after = [values[place] for values in branches]
        if not isinstance(array, TensorArray) or not all(is_array(a) for a in after):
            continue
        forms = {a.form() for a in after}
        shapes = [a.element_shape for a in after if a.form()[0]]
        if len(forms) > 1 and shapes:
            shape = next((s for s in shapes if s.is_fully_defined()), shapes[0])
            found[place] = array.reserve(max(length for _, length in forms), shape)
    return found


def _length(array: TensorArray) -> int:
    """How many elements there are, or could be."""
    return array.form()[1]
