"""Logical devices, and what devices say about themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import jax

from tapejax._src.core.device_spec import DeviceSpec
from tapejax._src.engine.registry import public
from tapejax._src.ops.devices import (
    CHOICES,
    CPU,
    PhysicalDevice,
    check_known,
    has_started,
    list_physical_devices,
)


class LogicalDeviceConfiguration(NamedTuple):
    """How one logical device is set up.

    Attributes:
        memory_limit: Megabytes of memory; a wish, as JAX's limit is set by the environment
            variable `XLA_PYTHON_CLIENT_MEM_FRACTION`.
        experimental_priority: Ignored.
        experimental_device_ordinal: Ignored.
    """

    memory_limit: Any = None
    experimental_priority: Any = None
    experimental_device_ordinal: Any = None


public("config.LogicalDeviceConfiguration", "config.experimental.VirtualDeviceConfiguration")(
    LogicalDeviceConfiguration
)


@public(
    "config.set_logical_device_configuration",
    "config.experimental.set_virtual_device_configuration",
)
def set_logical_device_configuration(device: PhysicalDevice, logical_devices: Any) -> None:
    """Divide a device into logical ones: the CPU into several that programs are tested with.

    Args:
        device: One of `list_physical_devices()`. Ask for the kind you mean,
            `list_physical_devices("CPU")`: a list of all kinds starts JAX.
        logical_devices: A `LogicalDeviceConfiguration` for each logical device, or None.

    Raises:
        ValueError: If the device is not listed, or has a memory limit though it is the CPU.
        NotImplementedError: If an accelerator is to be divided.
        RuntimeError: If JAX has started its devices, as it does for the first program.

    Example:
        >>> import tapejax as tf
        >>> cpu = tf.config.list_physical_devices("CPU")[0]
        >>> tf.config.set_logical_device_configuration(cpu, None)
    """
    check_known(device, list_physical_devices(device.device_type))
    configurations: Sequence[Any] = list(logical_devices or [])
    if device.device_type == "CPU":
        if any(found.memory_limit is not None for found in configurations):
            raise ValueError(
                "Setting memory limit on CPU virtual devices is currently not supported"
            )
    elif len(configurations) > 1:
        raise NotImplementedError(
            f"JAX cannot divide {device.name} into {len(configurations)} devices. Programs for "
            "several devices are tested on the CPU: start Python with JAX_PLATFORMS=cpu and divide "
            "that."
        )
    known = CHOICES.logical.get(device.name, [])
    if configurations == known:
        return
    if device.name == CPU:
        _start_with(max(len(configurations), 1))
    if configurations:
        CHOICES.logical[device.name] = list(configurations)
    else:
        CHOICES.logical.pop(device.name, None)


def _start_with(count: int) -> None:
    if has_started():
        raise RuntimeError(
            "Virtual devices cannot be modified after being initialized: JAX has started its "
            "devices. Call this before the first op, or start Python with the environment variable "
            f"JAX_NUM_CPU_DEVICES={count}."
        )
    jax.config.update("jax_num_cpu_devices", count)


@public(
    "config.get_logical_device_configuration",
    "config.experimental.get_virtual_device_configuration",
)
def get_logical_device_configuration(device: PhysicalDevice) -> list[Any] | None:
    """What `set_logical_device_configuration` was told, or None.

    Args:
        device: One of `list_physical_devices()`.

    Returns:
        A list of `LogicalDeviceConfiguration`, or None.

    Raises:
        ValueError: If the device is not listed.

    Example:
        >>> import tapejax as tf
        >>> cpu = tf.config.list_physical_devices("CPU")[0]
        >>> tf.config.get_logical_device_configuration(cpu) is None
        True
    """
    check_known(device, list_physical_devices(device.device_type))
    found = CHOICES.logical.get(device.name)
    return None if found is None else list(found)


# ---------------------------------------------------------------------- memory and details
def _device(kind: str, number: int) -> Any:
    """JAX's device of a kind and number, or None."""
    backends = {"CPU": ("cpu",), "GPU": ("gpu", "cuda", "rocm"), "TPU": ("tpu",)}.get(kind, ())
    for backend in backends:
        try:
            found = jax.local_devices(backend=backend)
        except RuntimeError:  # JAX has no such backend
            continue
        return found[number] if number < len(found) else None
    return None


def _named(device: str) -> Any:
    spec = DeviceSpec.from_string(device)
    found = _device(spec.device_type or "", spec.device_index or 0)
    if found is None:
        raise ValueError(f"No matching devices found for '{device}'")
    return found


@public("config.experimental.get_memory_info")
def get_memory_info(device: str) -> dict[str, int]:
    """How much memory a device uses.

    Args:
        device: Such as "GPU:0".

    Returns:
        `current` and `peak`, in bytes; 0 where the device does not count, as the CPU.

    Raises:
        ValueError: If there is no such device.

    Example:
        >>> import tapejax as tf
        >>> sorted(tf.config.experimental.get_memory_info("CPU:0"))
        ['current', 'peak']
    """
    found: Any = _named(device).memory_stats() or {}
    current = int(found.get("bytes_in_use", 0))
    return {"current": current, "peak": int(found.get("peak_bytes_in_use", current))}


@public("config.experimental.get_memory_usage")
def get_memory_usage(device: str) -> int:
    """The memory a device uses now, in bytes.

    Args:
        device: Such as "GPU:0".

    Raises:
        ValueError: If there is no such device.
    """
    return get_memory_info(device)["current"]


@public("config.experimental.reset_memory_stats")
def reset_memory_stats(device: str) -> None:
    """Accept a wish to measure the peak anew: JAX counts it from the start of the process.

    Args:
        device: Such as "GPU:0".

    Raises:
        ValueError: If there is no such device.

    Example:
        >>> import tapejax as tf
        >>> tf.config.experimental.reset_memory_stats("CPU:0")
    """
    _named(device)


@public("config.experimental.get_device_details")
def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What a device says about itself.

    Args:
        device: One of `list_physical_devices()`.

    Returns:
        For a GPU `device_name`, and `compute_capability` as a pair; else an empty dict.

    Raises:
        ValueError: If `device` is not a physical device.

    Example:
        >>> import tapejax as tf
        >>> cpu = tf.config.list_physical_devices("CPU")[0]
        >>> tf.config.experimental.get_device_details(cpu)
        {}
    """
    if not isinstance(device, PhysicalDevice):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device!r}")
    if device.device_type == "CPU":
        return {}
    found = _device(device.device_type, int(device.name.rpartition(":")[2]))
    if found is None:
        raise ValueError(f"Unrecognized device: {device!r}")
    details: dict[str, Any] = {"device_name": found.device_kind}
    capability = getattr(found, "compute_capability", None)
    if capability is not None:
        major, _, minor = str(capability).partition(".")
        details["compute_capability"] = (int(major), int(minor or 0))
    return details


# ---------------------------------------------------------------------- clusters
@public("config.experimental_connect_to_cluster")
def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: str | None = None,
    make_master_device_default: bool = True,
    cluster_device_filters: Any = None,
) -> NoReturn:
    """Refused: TensorFlow's servers cannot run programs of JAX.

    Args:
        cluster_spec_or_resolver: A cluster.
        job_name: Ignored.
        task_index: Ignored.
        protocol: Ignored.
        make_master_device_default: Ignored.
        cluster_device_filters: Ignored.

    Raises:
        NotImplementedError: Always.
    """
    del cluster_spec_or_resolver, job_name, task_index, protocol
    del make_master_device_default, cluster_device_filters
    _no_servers()


@public("config.experimental_connect_to_host")
def experimental_connect_to_host(remote_host: Any = None, job_name: str = "worker") -> NoReturn:
    """Refused: TensorFlow's servers cannot run programs of JAX.

    Args:
        remote_host: A host.
        job_name: Ignored.

    Raises:
        NotImplementedError: Always.
    """
    del remote_host, job_name
    _no_servers()


def _no_servers() -> NoReturn:
    raise NotImplementedError(
        "There are no TensorFlow servers to connect to. Start the same program on every machine; "
        "jax.distributed.initialize() connects them."
    )


@public("config.experimental.ClusterDeviceFilters")
class ClusterDeviceFilters:
    """Refused: there are no TensorFlow servers whose devices could be hidden.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(self) -> None:
        _no_servers()
