"""`tf.scan`, `tf.foldl`, `tf.foldr`: a function applied to an accumulator and each element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapejax._src.core import nest
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.registry import public
from tapejax._src.function.autograph.callees import callee
from tapejax._src.function.control_flow import as_tensors
from tapejax._src.function.mapping import leading_tensors, rows, stacked
from tapejax._src.function.staging.collecting import collect
from tapejax._src.function.staging.loop_state import State
from tapejax._src.function.staging.values import is_staged
from tapejax._src.ops.joining import concat
from tapejax._src.ops.permuting import reverse

Step = Callable[[Any, Any], Any]


def _check_callable(fn: Any) -> None:
    if not callable(fn):
        raise TypeError(f"{fn!r} is not callable: fn must be a function of (accumulator, element).")


def _accumulate(fn: Step, elems: Any, initializer: Any, backwards: bool, what: str) -> Any:
    """(all accumulators stacked or None, the last one): in the order of the elements gone over."""
    _check_callable(fn)
    tensors, count = leading_tensors(elems, what)
    if backwards:
        tensors = [reverse(t, [0]) for t in tensors]
    if initializer is None:
        if not count:
            raise ValueError(f"tf.{what} over no elements needs an initializer.")
        start = rows(elems, tensors, 0)
        first, tensors, count = start, [t[1:] for t in tensors], count - 1
    else:
        start, first = as_tensors(initializer), None
    staged = LOCAL.recorder.symbolic is not None or any(is_staged(t) for t in tensors)
    if staged and count:
        return _staged(callee(fn), elems, tensors, start, first)
    results = [] if first is None else [first]
    for i in range(count):
        start = _same_form(as_tensors(fn(start, rows(elems, tensors, i))), start, what)
        results.append(start)
    return (stacked(results) if results else None), start


def _same_form(after: Any, before: Any, what: str) -> Any:
    """The accumulator, of the structure it had.

    Raises:
        TypeError: If its structure or a dtype changed.
    """
    nest.assert_same_structure(before, after)
    for old, new in zip(nest.flatten(before), nest.flatten(after), strict=True):
        if old.dtype != new.dtype:
            raise TypeError(
                f"tf.{what}: the accumulator has dtype {old.dtype.name}, but fn returned "
                f"{new.dtype.name}; use tf.cast, or another initializer."
            )
    return after


def _staged(fn: Step, elems: Any, tensors: Sequence[Tensor], start: Any, first: Any) -> Any:
    box = [start]
    results: list[Any] = []

    def write(values: Sequence[Any]) -> None:
        box[:] = values

    def body(item: Any) -> None:
        box[0] = as_tensors(fn(box[0], item))
        results.append(box[0])

    state = State(("accumulator",), lambda: tuple(box), write)
    found = collect(elems, tensors, body, state, results)
    if first is not None:
        pairs = zip(nest.flatten(first), nest.flatten(found), strict=True)
        joined = [concat([as_tensor(f)[None], rest], 0) for f, rest in pairs]
        found = nest.pack_sequence_as(found, joined)
    return found, box[0]


@public("scan")
def scan(
    fn: Step,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    reverse: bool = False,
    name: str | None = None,
) -> Any:
    """Apply a function to an accumulator and each element; return all accumulators, stacked.

    Args:
        fn: Function of (accumulator, element), returning the next accumulator.
        elems: Tensor or structure of tensors `[n, ...]`.
        initializer: The first accumulator. Default: the first element, which `fn` then leaves out.
        parallel_iterations: Accepted for compatibility.
        back_prop: Accepted for compatibility.
        swap_memory: Accepted for compatibility.
        infer_shape: Accepted for compatibility.
        reverse: Whether to go from the last element to the first.
        name: Ignored.

    Returns:
        Tensor or structure of tensors `[n, ...]`.

    Raises:
        TypeError: If `fn` cannot be called, or changes the accumulator's dtype.
        ValueError: If the elements have no common first axis.

    Example:
        >>> import tapejax as tf
        >>> tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])).numpy().tolist()
        [1, 3, 6]

    References:
        https://www.tensorflow.org/api_docs/python/tf/scan
    """
    del parallel_iterations, back_prop, swap_memory, infer_shape, name
    results, _ = _accumulate(fn, elems, initializer, reverse, "scan")
    if results is None:
        raise ValueError("tf.scan over no elements has no accumulators to return.")
    return nest.map_structure(_reversed, results) if reverse else results


def _reversed(tensor: Tensor) -> Tensor:
    return reverse(tensor, [0])


@public("foldl")
def foldl(
    fn: Step,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last accumulator of `fn(accumulator, element)`, from the first element to the last.

    Args:
        fn: Function of (accumulator, element), returning the next accumulator.
        elems: Tensor or structure of tensors `[n, ...]`.
        initializer: The first accumulator. Default: the first element.
        parallel_iterations: Accepted for compatibility.
        back_prop: Accepted for compatibility.
        swap_memory: Accepted for compatibility.
        name: Ignored.

    Returns:
        Tensor or structure of tensors, like the accumulator.

    Raises:
        TypeError: If `fn` cannot be called, or changes the accumulator's dtype.
        ValueError: If the elements have no common first axis.

    Example:
        >>> import tapejax as tf
        >>> int(tf.foldl(lambda a, x: 10 * a + x, tf.constant([1, 2, 3])))
        123
    """
    del parallel_iterations, back_prop, swap_memory, name
    return _accumulate(fn, elems, initializer, backwards=False, what="foldl")[1]


@public("foldr")
def foldr(
    fn: Step,
    elems: Any,
    initializer: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
) -> Any:
    """The last accumulator of `fn(accumulator, element)`, from the last element to the first.

    Args:
        fn: Function of (accumulator, element), returning the next accumulator.
        elems: Tensor or structure of tensors `[n, ...]`.
        initializer: The first accumulator. Default: the last element.
        parallel_iterations: Accepted for compatibility.
        back_prop: Accepted for compatibility.
        swap_memory: Accepted for compatibility.
        name: Ignored.

    Returns:
        Tensor or structure of tensors, like the accumulator.

    Raises:
        TypeError: If `fn` cannot be called, or changes the accumulator's dtype.
        ValueError: If the elements have no common first axis.

    Example:
        >>> import tapejax as tf
        >>> int(tf.foldr(lambda a, x: 10 * a + x, tf.constant([1, 2, 3])))
        321
    """
    del parallel_iterations, back_prop, swap_memory, name
    return _accumulate(fn, elems, initializer, backwards=True, what="foldr")[1]
