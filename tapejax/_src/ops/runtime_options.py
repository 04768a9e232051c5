"""Options of TensorFlow's runtime that programs set: kept, and without effect on JAX."""

from __future__ import annotations

from dataclasses import dataclass

from tapejax._src.engine.registry import public


@dataclass(slots=True)
class _Options:
    inter_op: int = 0
    intra_op: int = 0
    soft_placement: bool = True
    jit: str = ""
    tensor_float_32: bool = True


_OPTIONS = _Options()


@public("config.threading.set_inter_op_parallelism_threads")
def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Accept a number of threads between ops; XLA runs a program with threads of its own.

    Args:
        num_threads: The number; 0 lets the system choose.

    Example:
        >>> import tapejax as tf
        >>> tf.config.threading.set_inter_op_parallelism_threads(2)
        >>> tf.config.threading.get_inter_op_parallelism_threads()
        2
    """
    _OPTIONS.inter_op = num_threads


@public("config.threading.get_inter_op_parallelism_threads")
def get_inter_op_parallelism_threads() -> int:
    """The number that was set; 0 by default."""
    return _OPTIONS.inter_op


@public("config.threading.set_intra_op_parallelism_threads")
def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Accept a number of threads inside an op; XLA runs a program with threads of its own.

    Args:
        num_threads: The number; 0 lets the system choose.

    Example:
        >>> import tapejax as tf
        >>> tf.config.threading.set_intra_op_parallelism_threads(2)
        >>> tf.config.threading.get_intra_op_parallelism_threads()
        2
    """
    _OPTIONS.intra_op = num_threads


@public("config.threading.get_intra_op_parallelism_threads")
def get_intra_op_parallelism_threads() -> int:
    """The number that was set; 0 by default."""
    return _OPTIONS.intra_op


@public("config.set_soft_device_placement")
def set_soft_device_placement(enabled: bool) -> None:
    """Accept whether ops may run on another device than asked for; one device runs everything.

    Args:
        enabled: Whether they may.

    Example:
        >>> import tapejax as tf
        >>> tf.config.set_soft_device_placement(True)
        >>> tf.config.get_soft_device_placement()
        True
    """
    _OPTIONS.soft_placement = bool(enabled)


@public("config.get_soft_device_placement")
def get_soft_device_placement() -> bool:
    """What was set; True by default."""
    return _OPTIONS.soft_placement


@public("config.optimizer.set_jit")
def set_jit(enabled: bool | str) -> None:
    """Accept a wish for compilation: programs are always compiled.

    Args:
        enabled: True, False, `"autoclustering"` or an empty text.

    Example:
        >>> import tapejax as tf
        >>> tf.config.optimizer.set_jit(True)
        >>> tf.config.optimizer.get_jit()
        'autoclustering'
    """
    _OPTIONS.jit = "autoclustering" if enabled else ""


@public("config.optimizer.get_jit")
def get_jit() -> str:
    """What was set: `autoclustering` or an empty text, the default."""
    return _OPTIONS.jit


@public("config.experimental.enable_tensor_float_32_execution")
def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Accept whether float32 products may be rounded; `jax_default_matmul_precision` decides.

    Args:
        enabled: Whether they may.

    Example:
        >>> import tapejax as tf
        >>> tf.config.experimental.enable_tensor_float_32_execution(True)
        >>> tf.config.experimental.tensor_float_32_execution_enabled()
        True
    """
    _OPTIONS.tensor_float_32 = bool(enabled)


@public("config.experimental.tensor_float_32_execution_enabled")
def tensor_float_32_execution_enabled() -> bool:
    """What was set; True by default."""
    return _OPTIONS.tensor_float_32


@public("config.experimental.enable_op_determinism")
def enable_op_determinism() -> None:
    """Accept a wish for repeatable results: on the CPU they always are.

    On a GPU set the environment variable `XLA_FLAGS=--xla_gpu_deterministic_ops=true`.

    Example:
        >>> import tapejax as tf
        >>> tf.config.experimental.enable_op_determinism()
    """
