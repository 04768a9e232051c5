"""`tf.train.CheckpointOptions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapejax._src.engine.registry import public


@public("train.CheckpointOptions")
class CheckpointOptions:
    """How to write a checkpoint.

    Args:
        experimental_io_device: Accepted for compatibility: this process writes.
        experimental_enable_async_checkpoint: See `enable_async`.
        experimental_write_callbacks: Functions called after a checkpoint is written; a function
            with a parameter gets its path.
        enable_async: Accepted for compatibility: a checkpoint is complete when `save` returns.
        experimental_skip_slot_variables: Not supported.
        experimental_sharding_callback: Not supported: a checkpoint is one file.

    Raises:
        NotImplementedError: For what is not supported.

    Example:
        >>> import tapejax as tf
        >>> options = tf.train.CheckpointOptions(experimental_write_callbacks=[print])
        >>> len(options.experimental_write_callbacks)
        1
    """

    def __init__(
        self,
        experimental_io_device: str | None = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Sequence[Callable[..., Any]] | None = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: Any = None,
    ) -> None:
        if experimental_skip_slot_variables or experimental_sharding_callback is not None:
            raise NotImplementedError(
                "experimental_skip_slot_variables and experimental_sharding_callback are not "
                "supported: leave the optimizer out of the checkpoint to skip its slots."
            )
        self.experimental_io_device = experimental_io_device
        self.experimental_enable_async_checkpoint = experimental_enable_async_checkpoint
        self.enable_async = enable_async or experimental_enable_async_checkpoint
        self.experimental_write_callbacks = list(experimental_write_callbacks or [])
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback
