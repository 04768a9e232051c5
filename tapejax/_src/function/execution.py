"""Where and in which order ops run: what graph-era programs say about it, and `tf.init_scope`."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Generator, Iterable
from typing import Any, Protocol, cast

from tapejax._src.engine.recorder import LOCAL, Recorder, flush
from tapejax._src.engine.registry import public


@public("executing_eagerly")
def executing_eagerly() -> bool:
    """Whether values can be read now.

    Returns:
        False while a `tf.function` is being traced, True elsewhere.

    Example:
        >>> import tapejax as tf
        >>> tf.executing_eagerly()
        True
    """
    return LOCAL.recorder.symbolic is None


@public("no_op")
def no_op(name: str | None = None) -> None:
    """Do nothing.

    Args:
        name: Accepted for compatibility.

    Example:
        >>> import tapejax as tf
        >>> tf.no_op()
    """
    del name


@public("group")
def group(*inputs: Any, **kwargs: Any) -> None:
    """Do nothing: the ops passed have run, or are recorded, already.

    Args:
        *inputs: Results of ops.
        **kwargs: Accepted for compatibility.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> tf.group(v.assign_add(1.0), v.assign_add(1.0))
        >>> float(v)
        3.0
    """
    del inputs, kwargs


@public("control_dependencies")
def control_dependencies(
    control_inputs: Iterable[Any] | Callable[[], Any] | None,
) -> contextlib.AbstractContextManager[None]:
    """A block whose ops come after some others: all ops keep the order they are written in.

    Args:
        control_inputs: Results of ops, or None. Callables among them are called.

    Returns:
        A context manager.

    Raises:
        TypeError: If `control_inputs` is not iterable.

    Example:
        >>> import tapejax as tf
        >>> v = tf.Variable(1.0)
        >>> with tf.control_dependencies([v.assign(2.0)]):
        ...     y = v * 10.0
        >>> float(y)
        20.0
    """
    if callable(control_inputs):
        control_inputs()
    elif control_inputs is not None:
        for item in control_inputs:
            if callable(item):
                item()
    return contextlib.nullcontext()


class _Pausable(Protocol):
    def stop_recording(self) -> contextlib.AbstractContextManager[None]:
        """Record nothing in a block."""
        ...


@public("init_scope")
@contextlib.contextmanager
def init_scope() -> Generator[None]:
    """Leave functions that are being traced, and all tapes, for a block: values can be read in it.

    Yields:
        Nothing.

    Example:
        >>> import tapejax as tf
        >>> x = tf.Variable(3.0)
        >>> with tf.GradientTape() as tape:
        ...     with tf.init_scope():
        ...         scale = x * x
        ...     y = scale * x
        >>> float(tape.gradient(y, x))
        9.0
    """
    if LOCAL.recorder.symbolic is None:
        with contextlib.ExitStack() as stack:
            for listener in list(LOCAL.active):
                _pause(listener, stack)
            yield
        return
    traced, active = LOCAL.recorder, LOCAL.active
    LOCAL.recorder, LOCAL.active = Recorder(LOCAL.lock, LOCAL.owner), []
    try:
        yield
        flush()
    finally:
        LOCAL.recorder, LOCAL.active = traced, active


def _pause(listener: Any, stack: contextlib.ExitStack) -> None:
    if hasattr(listener, "stop_recording"):
        with contextlib.suppress(ValueError):  # it is paused already
            stack.enter_context(cast("_Pausable", listener).stop_recording())


@public("get_logger")
def get_logger() -> logging.Logger:
    """The logger that warnings go to.

    Returns:
        Python's logger named `tensorflow`; tapejax adds no handler to it.

    Example:
        >>> import tapejax as tf
        >>> tf.get_logger().name
        'tensorflow'
    """
    return logging.getLogger("tensorflow")
