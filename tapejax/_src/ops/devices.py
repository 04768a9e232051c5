"""Devices: what there is, in TensorFlow's names, and `tf.device`."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import jax

from tapejax._src.engine.registry import public


class PhysicalDevice(NamedTuple):
    """A device of this machine.

    Attributes:
        name: Such as `/physical_device:CPU:0`.
        device_type: `CPU`, `GPU` or `TPU`.
    """

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that programs can run on.

    Attributes:
        name: Such as `/device:CPU:0`.
        device_type: `CPU`, `GPU` or `TPU`.
    """

    name: str
    device_type: str


class _Choices:
    """What was asked for. Hidden devices, memory growth and logical devices by device name."""

    def __init__(self) -> None:
        self.hidden: set[str] = set()
        self.growth: dict[str, bool] = {}
        self.logical: dict[str, list[Any]] = {}


CHOICES = _Choices()
CPU = "/physical_device:CPU:0"
_KINDS = {"cuda": "GPU", "rocm": "GPU"}


def _by_kind() -> dict[str, int]:
    """How many devices of each kind this process has; the CPU is always there."""
    counts = {"CPU": 1 if CPU in CHOICES.logical else _cpus()}
    for device in jax.local_devices():
        kind = _kind(device)
        if kind != "CPU":
            counts[kind] = counts.get(kind, 0) + 1
    return counts


def _cpus() -> int:
    return len(jax.local_devices(backend="cpu")) if _has("cpu") else 1


def _wanted_cpus() -> int:
    options: Any = jax.config
    return int(options.jax_num_cpu_devices)


def has_started() -> bool:
    """Whether JAX has started its devices, so that their number is fixed."""
    before = _wanted_cpus()
    try:
        jax.config.update("jax_num_cpu_devices", max(before, 0) + 1)
    except RuntimeError:
        return True
    jax.config.update("jax_num_cpu_devices", before)
    return False


def _cpus_to_be() -> int:
    """How many CPU devices JAX will have, as far as the environment says."""
    wanted = _wanted_cpus()
    flag = re.search(r"xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
    return wanted if wanted > 0 else int(flag[1]) if flag else 1


def _has(backend: str) -> bool:
    try:
        jax.devices(backend)
    except RuntimeError:  # JAX was told to leave it out
        return False
    return True


def _running_on() -> str:
    """The name of the device that programs run on."""
    return f"/physical_device:{_kind(jax.local_devices()[0])}:0"


def _kind(device: Any) -> str:
    platform = str(device.platform)
    return _KINDS.get(platform, platform.upper())


@public("config.list_physical_devices", "config.experimental.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine.

    Args:
        device_type: `CPU`, `GPU` or `TPU`; by default all.

    Returns:
        A list of `PhysicalDevice`; empty for a kind that is not there.

    Example:
        >>> import tapejax as tf
        >>> tf.config.list_physical_devices("CPU")[0].name
        '/physical_device:CPU:0'
    """
    if device_type == "CPU" and not has_started():
        # Asking for the CPU does not start JAX: logical devices can still be chosen.
        counts = {"CPU": 1 if CPU in CHOICES.logical else _cpus_to_be()}
    else:
        counts = _by_kind()
    return [
        PhysicalDevice(f"/physical_device:{kind}:{number}", kind)
        for kind, count in counts.items()
        for number in range(count)
        if device_type in (None, kind)
    ]


@public("config.list_logical_devices", "config.experimental.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that programs may run on: those that are visible.

    Args:
        device_type: `CPU`, `GPU` or `TPU`; by default all.

    Returns:
        A list of `LogicalDevice`.

    Example:
        >>> import tapejax as tf
        >>> tf.config.list_logical_devices("CPU")[0].name
        '/device:CPU:0'
    """
    visible = get_visible_devices(device_type)
    kinds = [device.device_type for device in visible]
    if CPU in CHOICES.logical and "CPU" in kinds:
        kinds = ["CPU"] * _cpus() + [kind for kind in kinds if kind != "CPU"]
    return [
        LogicalDevice(f"/device:{kind}:{kinds[:place].count(kind)}", kind)
        for place, kind in enumerate(kinds)
    ]


@public("config.get_visible_devices", "config.experimental.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that were not hidden with `set_visible_devices`.

    Args:
        device_type: `CPU`, `GPU` or `TPU`; by default all.

    Returns:
        A list of `PhysicalDevice`.

    Example:
        >>> import tapejax as tf
        >>> [device.device_type for device in tf.config.get_visible_devices("CPU")][:1]
        ['CPU']
    """
    devices = list_physical_devices(device_type)
    return [device for device in devices if device.name not in CHOICES.hidden]


@public("config.set_visible_devices", "config.experimental.set_visible_devices")
def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Choose the devices to be seen.

    Args:
        devices: A `PhysicalDevice` or a list of them; the others of the kind are hidden.
        device_type: The kind; by default all kinds.

    Raises:
        ValueError: If a device is not one of those listed.
        RuntimeError: If this would hide the device that programs run on; JAX chooses it when the
            process starts.

    Example:
        >>> import tapejax as tf
        >>> tf.config.set_visible_devices(tf.config.list_physical_devices("CPU"), "CPU")
    """
    there = list_physical_devices(device_type)
    chosen = [devices] if isinstance(devices, PhysicalDevice) else list(devices)
    for device in chosen:
        check_known(device, there)
    hidden = {device.name for device in there if device not in chosen}
    if _running_on() in hidden:
        raise RuntimeError(
            f"Visible devices cannot be modified after being initialized: programs run on "
            f"{_running_on()}. Start Python with JAX_PLATFORMS=cpu to leave accelerators out, or "
            "with CUDA_VISIBLE_DEVICES to choose among them."
        )
    CHOICES.hidden -= {device.name for device in there}
    CHOICES.hidden |= hidden


def check_known(device: Any, there: Iterable[PhysicalDevice]) -> None:
    if device not in there:
        raise ValueError(f"Unrecognized device: {device!r}. There are: {list(there)}")


@public("config.experimental.set_memory_growth")
def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Accept a wish about accelerator memory; JAX decides with `XLA_PYTHON_CLIENT_PREALLOCATE`.

    Args:
        device: One of `list_physical_devices("GPU")`.
        enable: Whether memory should be taken as needed.

    Raises:
        ValueError: If the device is not listed, or is not a GPU.

    Example:
        >>> import tapejax as tf
        >>> for gpu in tf.config.list_physical_devices("GPU"):
        ...     tf.config.experimental.set_memory_growth(gpu, True)
    """
    check_known(device, list_physical_devices())
    if device.device_type != "GPU":
        raise ValueError(
            f"Cannot set memory growth on non-GPU and non-Pluggable devices. Received: {device!r}"
        )
    CHOICES.growth[device.name] = bool(enable)


@public("config.experimental.get_memory_growth")
def get_memory_growth(device: PhysicalDevice) -> bool:
    """What `set_memory_growth` was told.

    Args:
        device: One of `list_physical_devices("GPU")`.

    Returns:
        Whether memory should be taken as needed; False by default.

    Raises:
        ValueError: If the device is not listed.

    Example:
        >>> import tapejax as tf
        >>> gpus = tf.config.list_physical_devices("GPU")
        >>> any(tf.config.experimental.get_memory_growth(gpu) for gpu in gpus)
        False
    """
    check_known(device, list_physical_devices())
    return CHOICES.growth.get(device.name, False)


# ---------------------------------------------------------------------- tf.device
_ATTRIBUTES = ("job", "replica", "task")


@public("device")
def device(device_name: str | None) -> contextlib.AbstractContextManager[None]:
    """A block whose ops should run on a device. The name is checked; one device runs everything.

    Args:
        device_name: Such as `/GPU:0`, `cpu`, `/job:localhost/task:0/device:CPU:0`; None or an empty
            name for no wish.

    Returns:
        A context manager.

    Raises:
        ValueError: If this is not the name of a device.

    Example:
        >>> import tapejax as tf
        >>> with tf.device("/CPU:0"):
        ...     x = tf.constant(1.0)

    Differs from TensorFlow:
        Nothing is moved yet. TensorFlow complains of a wrong name when the block is entered.
    """
    if device_name is not None and not isinstance(device_name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(
            f"Expecting a string device name. Got {type(device_name)}({device_name!r})"
        )
    for part in (device_name or "").split("/"):
        _check_part(part, device_name)
    return contextlib.nullcontext()


def _check_part(part: str, whole: str | None) -> None:
    name, *values = part.split(":")
    number = values[-1] if values else ""
    if not part:
        return
    if name == "job" and len(values) == 1:
        return
    if name == "device" and len(values) == 2:
        pass
    elif not (name in _ATTRIBUTES and len(values) == 1) and not (
        name.upper() in ("CPU", "GPU", "TPU", "XLA_CPU", "XLA_GPU") and len(values) < 2
    ):
        raise ValueError(
            f"Unknown attribute '{name}' is encountered while parsing the device spec: '{whole}'. "
            "Write for instance '/CPU:0' or '/device:GPU:0'."
        )
    if number not in ("", "*"):
        int(number)
