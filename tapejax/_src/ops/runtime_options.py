"""Options of TensorFlow's runtime that programs set: kept, and without effect on JAX."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tapejax._src.engine.registry import public


@dataclass(slots=True)
class _Options:
    inter_op: int = 0
    intra_op: int = 0
    soft_placement: bool = True
    jit: str = ""
    tensor_float_32: bool = True
    policy: str = "silent"
    synchronous: bool = True
    experimental: dict[str, Any] = field(default_factory=dict[str, Any])


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


_POLICIES = ("explicit", "silent", "silent_for_int32", "warn")


@public("config.experimental.set_device_policy")
def set_device_policy(device_policy: str | None) -> None:
    """Accept what to do when an input lies on another device: JAX moves it.

    Args:
        device_policy: "explicit", "silent", "silent_for_int32" or "warn"; None means "silent".

    Raises:
        ValueError: If it is something else.

    Example:
        >>> import tapejax as tf
        >>> tf.config.experimental.set_device_policy("silent")
        >>> tf.config.experimental.get_device_policy()
        'silent'
    """
    if device_policy is not None and device_policy not in _POLICIES:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. It must be one of {_POLICIES} "
            "or None."
        )
    _OPTIONS.policy = device_policy or "silent"


@public("config.experimental.get_device_policy")
def get_device_policy() -> str:
    """What was set; "silent" by default."""
    return _OPTIONS.policy


@public("config.experimental.set_synchronous_execution")
def set_synchronous_execution(enable: bool | None) -> None:
    """Accept whether ops wait for each other: reading a value waits for it in any case.

    Args:
        enable: Whether they should; None for the default.

    Example:
        >>> import tapejax as tf
        >>> tf.config.experimental.set_synchronous_execution(True)
        >>> tf.config.experimental.get_synchronous_execution()
        True
    """
    _OPTIONS.synchronous = True if enable is None else bool(enable)


@public("config.experimental.get_synchronous_execution")
def get_synchronous_execution() -> bool:
    """What was set; True by default."""
    return _OPTIONS.synchronous


@public("config.experimental.enable_mlir_bridge")
def enable_mlir_bridge() -> None:
    """Do nothing: XLA compiles from MLIR anyway."""


@public("config.experimental.disable_mlir_bridge")
def disable_mlir_bridge() -> None:
    """Do nothing: XLA compiles from MLIR anyway."""


_REWRITES = """
arithmetic_optimization auto_mixed_precision auto_mixed_precision_mkl
auto_mixed_precision_onednn_bfloat16 constant_folding debug_stripper dependency_optimization
disable_meta_optimizer disable_model_pruning function_optimization implementation_selector
layout_optimizer loop_optimization min_graph_nodes pin_to_host_optimization remapping
scoped_allocator_optimization shape_optimization
"""


@public("config.optimizer.set_experimental_options")
def set_experimental_options(options: dict[str, Any]) -> None:
    """Accept wishes for rewrites of graphs: XLA optimizes every program.

    Args:
        options: Names of rewrites and whether to use them; other names are ignored.

    Example:
        >>> import tapejax as tf
        >>> tf.config.optimizer.set_experimental_options({"constant_folding": True})
        >>> tf.config.optimizer.get_experimental_options()["constant_folding"]
        True
    """
    _OPTIONS.experimental.update({k: v for k, v in options.items() if k in _REWRITES.split()})


@public("config.optimizer.get_experimental_options")
def get_experimental_options() -> dict[str, Any]:
    """What was set, and whether all rewrites or the removal of unused nodes are off."""
    defaults = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    return {**defaults, **_OPTIONS.experimental}
