"""Switches of `tf.debugging`: checks of every result, and settings without effect here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import jax

from tapejax._src.engine import numerics
from tapejax._src.engine.recorder import flush
from tapejax._src.engine.registry import public


@dataclass(slots=True)
class _Options:
    filtering: bool = True
    log_placement: bool = False


_OPTIONS = _Options()


@public("debugging.enable_check_numerics")
def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Check the results of every op for NaN and infinity, in eager code and inside functions.

    The first op whose result is not finite raises, when its program runs; the error names the op
    and the line that recorded it. Gradients are checked too. Ops that only move elements are left
    out. Functions are traced anew; programs are slower while this is on.

    Args:
        stack_height_limit: Accepted for compatibility.
        path_length_limit: Accepted for compatibility.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.enable_check_numerics()
        >>> try:
        ...     print(tf.math.log(tf.constant(-1.0)))
        ... except tf.errors.InvalidArgumentError as error:
        ...     print('"Log"' in str(error))
        ... finally:
        ...     tf.debugging.disable_check_numerics()
        True

    *Differs from TensorFlow*: outside functions the error comes when a value is read, not at the
    op (write `tf.config.set_immediate(True)` for that). Concrete functions made before are not
    checked.
    """
    del stack_height_limit, path_length_limit
    flush()
    numerics.set_check_numerics(True)


@public("debugging.disable_check_numerics")
def disable_check_numerics() -> None:
    """Undo `tf.debugging.enable_check_numerics`.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.disable_check_numerics()
    """
    flush()
    numerics.set_check_numerics(False)


@public("debugging.enable_traceback_filtering")
def enable_traceback_filtering() -> None:
    """Leave the frames of JAX out of tracebacks; those of tapejax are few.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.enable_traceback_filtering()
        >>> tf.debugging.is_traceback_filtering_enabled()
        True
    """
    _OPTIONS.filtering = True
    jax.config.update("jax_traceback_filtering", "auto")


@public("debugging.disable_traceback_filtering")
def disable_traceback_filtering() -> None:
    """Show the frames of JAX in tracebacks.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.disable_traceback_filtering()
        >>> tf.debugging.is_traceback_filtering_enabled()
        False
        >>> tf.debugging.enable_traceback_filtering()
    """
    _OPTIONS.filtering = False
    jax.config.update("jax_traceback_filtering", "off")


@public("debugging.is_traceback_filtering_enabled")
def is_traceback_filtering_enabled() -> bool:
    """Whether the frames of JAX are left out of tracebacks; True by default.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.is_traceback_filtering_enabled()
        True
    """
    return _OPTIONS.filtering


@public("debugging.set_log_device_placement")
def set_log_device_placement(enabled: bool) -> None:
    """Accept a wish for logs of devices: a whole program runs on one device or mesh.

    Args:
        enabled: Whether to log.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.set_log_device_placement(False)
    """
    _OPTIONS.log_placement = bool(enabled)


@public("debugging.get_log_device_placement")
def get_log_device_placement() -> bool:
    """What was set; False by default.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.get_log_device_placement()
        False
    """
    return _OPTIONS.log_placement


@public("debugging.experimental.enable_dump_debug_info")
def enable_dump_debug_info(
    dump_root: str,
    tensor_debug_mode: str = "NO_TENSOR",
    circular_buffer_size: int = 1000,
    op_regex: str | None = None,
    tensor_dtypes: Any = None,
) -> NoReturn:
    """Refused: TensorBoard's debugger reads TensorFlow's graphs.

    Args:
        dump_root: A folder.
        tensor_debug_mode: Ignored.
        circular_buffer_size: Ignored.
        op_regex: Ignored.
        tensor_dtypes: Ignored.

    Raises:
        NotImplementedError: Always.

    Example:
        >>> import tapejax as tf
        >>> try:
        ...     tf.debugging.experimental.enable_dump_debug_info("/tmp/dump")
        ... except NotImplementedError as error:
        ...     print(error)
        TensorBoard's debugger needs TensorFlow's graphs. Use tf.debugging.enable_check...
    """
    del dump_root, tensor_debug_mode, circular_buffer_size, op_regex, tensor_dtypes
    raise NotImplementedError(
        "TensorBoard's debugger needs TensorFlow's graphs. Use "
        "tf.debugging.enable_check_numerics() to find NaN and infinity, tf.print for values, or "
        "jax.profiler.trace for times."
    )


@public("debugging.experimental.disable_dump_debug_info")
def disable_dump_debug_info() -> None:
    """Do nothing: no dumping can have been enabled.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.experimental.disable_dump_debug_info()
    """
