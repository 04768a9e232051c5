"""The strategies that programs make: several devices of one process, or one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NoReturn

import jax

from tapejax._src.distribute.cluster import join, this_worker
from tapejax._src.distribute.reduce_op import (
    CommunicationImplementation,
    CommunicationOptions,
    CrossDeviceOps,
)
from tapejax._src.distribute.strategy import Strategy

_PLATFORMS = {"cuda": "GPU", "rocm": "GPU"}


def _kind(device: Any) -> str:
    platform = str(device.platform)
    return _PLATFORMS.get(platform, platform.upper())


def named_device(name: Any) -> tuple[Any, str]:
    """The JAX device that a string such as `GPU:1` names, and its full name.

    Raises:
        ValueError: If there is no such device.
    """
    match = re.search(r"(?i)(cpu|gpu|tpu)(?::(\d+))?$", str(name))
    if match is None:
        raise ValueError(f"{name!r} does not name a device: write 'GPU:0' or 'CPU:1'.")
    kind, number = match[1].upper(), int(match[2] or 0)
    devices = jax.local_devices(backend="cpu") if kind == "CPU" else jax.local_devices()
    fitting = [device for device in devices if _kind(device) == kind]
    if number >= len(fitting):
        raise ValueError(
            f"There is no device {kind}:{number}: this process has {len(fitting)} of that kind. "
            "Virtual CPU devices are made by tf.config.set_logical_device_configuration before "
            "anything is computed."
        )
    return fitting[number], _full(kind, number)


def _full(kind: str, number: int) -> str:
    return f"/job:localhost/replica:0/task:0/device:{kind}:{number}"


def all_devices() -> list[tuple[Any, str]]:
    """All devices of the kind that programs run on."""
    devices = jax.local_devices()
    return [(device, _full(_kind(device), n)) for n, device in enumerate(devices)]


class MirroredStrategy(Strategy):
    """Data parallel training on the devices of one process; variables are the same on all of them.

    Args:
        devices: Names such as `["GPU:0", "GPU:1"]`. Default: all devices.
        cross_device_ops: Accepted for compatibility: XLA chooses how to reduce.

    Raises:
        ValueError: If a device does not exist, or `cross_device_ops` is of another class.
        AssertionError: If a device is named twice.

    Example:
        >>> import tapejax as tf
        >>> strategy = tf.distribute.MirroredStrategy(["CPU:0"])
        >>> with strategy.scope():
        ...     w = tf.Variable(3.0)
        >>> def step(x):
        ...     with tf.GradientTape() as tape:
        ...         loss = w * x
        ...     return tape.gradient(loss, w)
        >>> float(strategy.run(step, args=(tf.constant(2.0),)))
        2.0

    Differs from TensorFlow:
        Replicas that assign different values to a variable are an error. In eager code all
        replicas compute on one device; inside of a `tf.function` each uses its own.
    """

    def __init__(self, devices: Sequence[Any] | None = None, cross_device_ops: Any = None) -> None:
        super().__init__(None)
        if cross_device_ops is not None and not isinstance(cross_device_ops, CrossDeviceOps):
            raise ValueError(
                "cross_device_ops must be a tf.distribute.CrossDeviceOps, got "
                f"{type(cross_device_ops)}."
            )
        found = all_devices() if devices is None else [named_device(name) for name in devices]
        if not found:
            raise ValueError("MirroredStrategy needs at least one device.")
        names = [name for _, name in found]
        if len(set(names)) < len(names):
            raise AssertionError(f"No duplicates allowed in `devices` argument: {names}")
        self._devices = [device for device, _ in found]
        self._names = names


class OneDeviceStrategy(Strategy):
    """One replica on one device.

    Args:
        device: Its name, such as `/gpu:0`.

    Raises:
        ValueError: If it does not exist.

    Example:
        >>> import tapejax as tf
        >>> strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        >>> strategy.run(lambda x: x * 2, args=(4,))
        8
    """

    def __init__(self, device: Any) -> None:
        super().__init__(None)
        found, name = named_device(device)
        self._devices, self._names = [found], [name]


class CentralStorageStrategy(MirroredStrategy):
    """The same as `MirroredStrategy`: variables are on all devices, not on the CPU.

    Args:
        compute_devices: The devices. Default: all.
        parameter_device: Accepted for compatibility.

    Example:
        >>> import tapejax as tf
        >>> strategy = tf.distribute.experimental.CentralStorageStrategy(["CPU:0"])
        >>> strategy.num_replicas_in_sync
        1
    """

    def __init__(self, compute_devices: Any = None, parameter_device: Any = None) -> None:
        del parameter_device
        super().__init__(compute_devices)


class TPUStrategy(MirroredStrategy):
    """Data parallel training on all devices; the devices are JAX's, whatever they are.

    Args:
        tpu_cluster_resolver: Accepted for compatibility.
        experimental_device_assignment: Refused: all devices are used.
        experimental_spmd_xla_partitioning: Refused.

    Raises:
        NotImplementedError: If one of the last two arguments is given.

    Example:
        >>> import tapejax as tf
        >>> strategy = tf.distribute.TPUStrategy()
        >>> strategy.num_replicas_in_sync >= 1
        True
    """

    def __init__(
        self,
        tpu_cluster_resolver: Any = None,
        experimental_device_assignment: Any = None,
        experimental_spmd_xla_partitioning: bool = False,
    ) -> None:
        del tpu_cluster_resolver
        if experimental_device_assignment is not None or experimental_spmd_xla_partitioning:
            raise NotImplementedError(
                "TPUStrategy uses all devices of the process, one replica on each. Use "
                "tf.distribute.MirroredStrategy(devices) to choose some."
            )
        super().__init__()


class FormerTPUStrategy(TPUStrategy):
    """`TPUStrategy` with the parameters it had before.

    Args:
        tpu_cluster_resolver: Accepted for compatibility.
        device_assignment: Refused: all devices are used.

    Raises:
        NotImplementedError: If a `device_assignment` is given.

    Example:
        >>> import tapejax as tf
        >>> tf.distribute.experimental.TPUStrategy().num_replicas_in_sync >= 1
        True
    """

    def __init__(self, tpu_cluster_resolver: Any = None, device_assignment: Any = None) -> None:
        super().__init__(tpu_cluster_resolver, device_assignment)


class MultiWorkerMirroredStrategy(MirroredStrategy):
    """Data parallel training on the devices of several processes.

    Each process runs the same program with an environment variable `TF_CONFIG` that names all
    workers and this one; `python -m tapejax launch` starts such processes on one machine. The
    strategy is made before anything is computed. All processes must take the same steps.

    Args:
        cluster_resolver: Describes the cluster in the place of `TF_CONFIG`.
        communication_options: Accepted for compatibility.

    Raises:
        ValueError: If the description of the cluster does not fit.
        RuntimeError: If something has been computed already.

    Example:
        >>> import tapejax as tf
        >>> strategy = tf.distribute.MultiWorkerMirroredStrategy()
        >>> strategy.num_replicas_in_sync >= 1
        True

    Differs from TensorFlow:
        Each process reads a dataset given to `experimental_distribute_dataset` as a whole and takes
        its part of every batch. With several processes, what `run` is given becomes a program
        always, and batches must be even: use `batch(n, drop_remainder=True)`.
    """

    def __init__(
        self,
        cluster_resolver: Any = None,
        communication_options: CommunicationOptions | None = None,
    ) -> None:
        del communication_options
        join(this_worker(cluster_resolver))
        super().__init__()
        if jax.process_count() > 1:
            self._devices = list(jax.devices())
            local = jax.local_device_count()
            self._names = [
                f"/job:worker/replica:0/task:{d.process_index}/device:{_kind(d)}:{n % local}"
                for n, d in enumerate(self._devices)
            ]
            self.spans_processes = True


class FormerMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """`MultiWorkerMirroredStrategy` with the parameters it had before.

    Args:
        communication: Accepted for compatibility.
        cluster_resolver: Describes the cluster in the place of `TF_CONFIG`.

    Raises:
        ValueError: If the description of the cluster does not fit.
        RuntimeError: If something has been computed already.

    Example:
        >>> import tapejax as tf
        >>> tf.distribute.experimental.MultiWorkerMirroredStrategy().num_replicas_in_sync >= 1
        True
    """

    def __init__(
        self,
        communication: Any = CommunicationImplementation.AUTO,
        cluster_resolver: Any = None,
    ) -> None:
        del communication
        super().__init__(cluster_resolver)


class ParameterServerStrategy(Strategy):
    """Refused: training with parameter servers is asynchronous, and XLA programs are not.

    Args:
        cluster_resolver: Not used.
        variable_partitioner: Not used.

    Raises:
        NotImplementedError: Always.
    """

    def __init__(self, cluster_resolver: Any, variable_partitioner: Any = None) -> None:
        del cluster_resolver, variable_partitioner
        _refuse_servers()


def _refuse_servers() -> NoReturn:
    raise NotImplementedError(
        "tf.distribute.ParameterServerStrategy: tapejax has no parameter servers. Train "
        "synchronously with tf.distribute.MirroredStrategy, or "
        "tf.distribute.MultiWorkerMirroredStrategy with every machine as a worker."
    )
