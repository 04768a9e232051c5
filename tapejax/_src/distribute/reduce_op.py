"""How values of replicas become one, and the options of that which XLA has no use for."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple


class ReduceOp(enum.Enum):
    """How the values of the replicas become one.

    Example:
        >>> import tapejax as tf
        >>> tf.distribute.get_strategy().reduce(tf.distribute.ReduceOp.SUM, 2.0, axis=None)
        2.0
    """

    SUM = "SUM"
    MEAN = "MEAN"


def as_reduce_op(value: Any) -> ReduceOp:
    """A `ReduceOp` given as one or by its name.

    Raises:
        ValueError: If it is neither.
    """
    if isinstance(value, ReduceOp):
        return value
    name = getattr(value, "name", value)
    if isinstance(name, str) and name.upper() in ReduceOp.__members__:
        return ReduceOp[name.upper()]
    raise ValueError(
        f"{value!r} is not a valid ReduceOp: the values of replicas are reduced by 'SUM' or "
        "'MEAN'. For another reduction use strategy.gather and reduce the result."
    )


class CommunicationImplementation(enum.Enum):
    """Which library moves data between devices. Accepted for compatibility: XLA chooses it."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


CollectiveCommunication = CommunicationImplementation


class CommunicationOptions:
    """Options of collective operations.

    Args:
        bytes_per_pack: Accepted for compatibility: XLA joins the collectives of a program itself.
        timeout_seconds: Accepted for compatibility.
        implementation: Accepted for compatibility.

    Raises:
        ValueError: If `bytes_per_pack` is negative or the implementation unknown.

    Example:
        >>> import tapejax as tf
        >>> tf.distribute.experimental.CommunicationOptions(timeout_seconds=60.0).timeout_seconds
        60.0
    """

    def __init__(
        self,
        bytes_per_pack: int = 0,
        timeout_seconds: float | None = None,
        implementation: Any = CommunicationImplementation.AUTO,
    ) -> None:
        if bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {bytes_per_pack}.")
        self.bytes_per_pack = bytes_per_pack
        self.timeout_seconds = timeout_seconds
        self.implementation = CommunicationImplementation(
            implementation.upper() if isinstance(implementation, str) else implementation
        )


class CrossDeviceOps:
    """How tensors on several devices are brought together: accepted, as XLA does it.

    Example:
        >>> import tapejax as tf
        >>> isinstance(tf.distribute.NcclAllReduce(), tf.distribute.CrossDeviceOps)
        True
    """


class NcclAllReduce(CrossDeviceOps):
    """Accepted for compatibility: XLA chooses how to reduce.

    Args:
        num_packs: Accepted for compatibility.

    Raises:
        ValueError: If it is negative.
    """

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(
                f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified"
            )
        self.num_packs = num_packs


class HierarchicalCopyAllReduce(NcclAllReduce):
    """Accepted for compatibility: XLA chooses how to reduce.

    Args:
        num_packs: Accepted for compatibility.

    Raises:
        ValueError: If it is negative.
    """


class ReductionToOneDevice(CrossDeviceOps):
    """Accepted for compatibility: XLA chooses how to reduce.

    Args:
        reduce_to_device: Accepted for compatibility.
        accumulation_fn: Refused: sums are sums.

    Raises:
        NotImplementedError: If an `accumulation_fn` is given.
    """

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None) -> None:
        if accumulation_fn is not None:
            raise NotImplementedError(
                "ReductionToOneDevice(accumulation_fn=...): replicas are summed by XLA. Use "
                "strategy.gather and reduce the result."
            )
        self.reduce_to_device = reduce_to_device


class RunOptions(NamedTuple):
    """Options of `strategy.run`, accepted for compatibility: shapes are always static.

    Attributes:
        experimental_enable_dynamic_batch_size: Accepted.
        experimental_bucketizing_dynamic_shape: Accepted.
        experimental_xla_options: Accepted.

    Example:
        >>> import tapejax as tf
        >>> tf.distribute.RunOptions().experimental_enable_dynamic_batch_size
        True
    """

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


class InputReplicationMode(enum.Enum):
    """How input is replicated: one pipeline for each process, or for each replica."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions(NamedTuple):
    """Options of distributed datasets, accepted for compatibility.

    Attributes:
        experimental_fetch_to_device: Accepted.
        experimental_replication_mode: Accepted.
        experimental_place_dataset_on_device: Accepted.
        experimental_per_replica_buffer_size: Accepted.

    Example:
        >>> import tapejax as tf
        >>> tf.distribute.InputOptions().experimental_per_replica_buffer_size
        1
    """

    experimental_fetch_to_device: bool | None = None
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1
