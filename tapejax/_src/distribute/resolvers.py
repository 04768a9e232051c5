"""Where TPUs are: JAX knows, so what programs do to find them is checked and otherwise nothing."""

from __future__ import annotations

from typing import Any

import jax

from tapejax._src.engine.registry import public


@public("distribute.cluster_resolver.TPUClusterResolver")
class TPUClusterResolver:
    """Finds the TPUs of this machine.

    Args:
        tpu: Ignored: JAX finds the TPUs.
        zone: Ignored.
        project: Ignored.
        job_name: Ignored.
        coordinator_name: Ignored.
        coordinator_address: Ignored.
        credentials: Ignored.
        service: Ignored.
        discovery_url: Ignored.

    Raises:
        ValueError: If JAX has no TPU: programs take this as the sign to use another strategy.

    Example:
        >>> import tapejax as tf
        >>> try:
        ...     strategy = tf.distribute.TPUStrategy(
        ...         tf.distribute.cluster_resolver.TPUClusterResolver()
        ...     )
        ... except ValueError:
        ...     strategy = tf.distribute.get_strategy()
        >>> strategy.num_replicas_in_sync
        1
    """

    task_type = "worker"
    task_id = 0
    environment = ""

    def __init__(
        self,
        tpu: Any = None,
        zone: Any = None,
        project: Any = None,
        job_name: Any = "worker",
        coordinator_name: Any = None,
        coordinator_address: Any = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: Any = None,
    ) -> None:
        del zone, project, coordinator_name, coordinator_address
        del credentials, service, discovery_url
        self._job_name = job_name
        platforms = sorted({device.platform for device in jax.devices()})
        if platforms != ["tpu"]:
            raise ValueError(
                f"Please provide a TPU Name to connect to. (tpu={tpu!r}: JAX finds no TPU here, "
                f"only {', '.join(platforms)}. `tf.distribute.MirroredStrategy()` uses these "
                "devices.)"
            )

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> str:
        """The address of the TPUs: empty, they belong to this process."""
        del task_type, task_id, rpc_layer
        return ""

    def num_accelerators(
        self, task_type: Any = None, task_id: Any = None, config_proto: Any = None
    ) -> dict[str, int]:
        """How many TPU cores there are."""
        del task_type, task_id, config_proto
        return {"TPU": jax.local_device_count()}

    def get_job_name(self) -> Any:
        """The name given as `job_name`."""
        return self._job_name


@public("tpu.experimental.initialize_tpu_system")
def initialize_tpu_system(cluster_resolver: Any = None) -> None:
    """Does nothing: JAX has initialized the TPUs.

    Args:
        cluster_resolver: Ignored.

    Example:
        >>> import tapejax as tf
        >>> tf.tpu.experimental.initialize_tpu_system()
    """
    del cluster_resolver


@public("tpu.experimental.shutdown_tpu_system")
def shutdown_tpu_system(cluster_resolver: Any = None) -> None:
    """Does nothing: the TPUs are free when the process ends.

    Args:
        cluster_resolver: Ignored.

    Example:
        >>> import tapejax as tf
        >>> tf.tpu.experimental.shutdown_tpu_system()
    """
    del cluster_resolver
