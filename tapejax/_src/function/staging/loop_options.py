"""`tf.autograph.experimental.set_loop_options`: what a loop's body says about the loop."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tapejax._src.engine.registry import public

UNSPECIFIED = object()
"""What an option is that was not given; None is a value of some."""


class LoopOptions:
    """The options of one loop.

    Attributes:
        maximum: The most iterations it may take: an int, a scalar tensor, or None.
        shape_invariants: What the user says about shapes that change, or None.
    """

    def __init__(self) -> None:
        self.maximum: Any = None
        self.shape_invariants: Any = None


class _Stack(threading.local):
    def __init__(self) -> None:
        self.loops: list[LoopOptions] = []


_STACK = _Stack()


@contextmanager
def loop_options() -> Generator[LoopOptions]:
    """Collect the options that the body recorded in the block sets."""
    options = LoopOptions()
    _STACK.loops.append(options)
    try:
        yield options
    finally:
        _STACK.loops.remove(options)


def shapes_may_change() -> bool:
    """Whether the user says that the loop being recorded has variables whose shapes change."""
    return bool(_STACK.loops) and _STACK.loops[-1].shape_invariants is not None


@public("autograph.experimental.set_loop_options")
def set_loop_options(
    parallel_iterations: Any = UNSPECIFIED,
    swap_memory: Any = UNSPECIFIED,
    maximum_iterations: Any = UNSPECIFIED,
    shape_invariants: Any = UNSPECIFIED,
) -> None:
    """Say something about the loop around, from inside its body.

    Args:
        parallel_iterations: Accepted for compatibility.
        swap_memory: Accepted for compatibility.
        maximum_iterations: The most iterations the loop may take, when it depends on tensors.
        shape_invariants: Pairs of a variable and its shape, None where that changes. A compiled
            loop cannot change shapes: if this one does, the `tf.function` runs as Python.

    Example:
        >>> import tapejax as tf
        >>> @tf.function
        ... def f(n):
        ...     i = tf.constant(0)
        ...     while i < n:
        ...         tf.autograph.experimental.set_loop_options(maximum_iterations=3)
        ...         i += 1
        ...     return i
        >>> int(f(tf.constant(10)))
        3
    """
    del parallel_iterations, swap_memory
    if _STACK.loops and shape_invariants is not UNSPECIFIED:
        _STACK.loops[-1].shape_invariants = shape_invariants
    given = maximum_iterations is not UNSPECIFIED and maximum_iterations is not None
    if _STACK.loops and given:
        _STACK.loops[-1].maximum = maximum_iterations
