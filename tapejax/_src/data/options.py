"""`tf.data.Options` and what belongs to it: accepted and kept; pipelines need no tuning here."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, ClassVar


class AutoShardPolicy(enum.IntEnum):
    """How a distributed dataset is divided among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.Enum):
    """How TensorFlow tunes pipelines; accepted."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """What TensorFlow does about state outside of a pipeline; accepted."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Fields:
    """Named settings of fixed types, None where nothing is set."""

    _types: ClassVar[Mapping[str, Any]] = {}

    def __init__(self) -> None:
        for name, kind in self._types.items():
            made = kind() if isinstance(kind, type) and issubclass(kind, _Fields) else None
            object.__setattr__(self, name, made)

    def __setattr__(self, name: str, value: Any) -> None:
        kind = self._types.get(name)
        if kind is None:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        if value is not None and not isinstance(value, kind):
            raise TypeError(
                f'Property "{name}" must be of type {kind}, got: {value!r} (type: {type(value)})'
            )
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(type(self))

    def over(self, other: Any) -> Any:
        """These settings where they are set, else the other's."""
        made = type(self)()
        for name in self._types:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, _Fields):
                mine = mine.over(theirs)
            object.__setattr__(made, name, theirs if mine is None else mine)
        return made


class OptimizationOptions(_Fields):
    """Rewritings of pipelines; accepted. Indices are always fused with batches."""

    _types: ClassVar[Mapping[str, Any]] = dict.fromkeys(
        [
            "apply_default_optimizations",
            "filter_fusion",
            "filter_parallelization",
            "inject_prefetch",
            "map_and_batch_fusion",
            "map_and_filter_fusion",
            "map_fusion",
            "map_parallelization",
            "noop_elimination",
            "parallel_batch",
            "seq_interleave_prefetch",
            "shuffle_and_repeat_fusion",
        ],
        bool,
    )


class ThreadingOptions(_Fields):
    """Sizes of thread pools; accepted."""

    _types: ClassVar[Mapping[str, Any]] = {
        "max_intra_op_parallelism": int,
        "private_threadpool_size": int,
    }


class AutotuneOptions(_Fields):
    """Automatic tuning; accepted."""

    _types: ClassVar[Mapping[str, Any]] = {
        "enabled": bool,
        "cpu_budget": int,
        "ram_budget": int,
        "autotune_algorithm": AutotuneAlgorithm,
        "initial_parallelism": int,
        "min_parallelism": int,
    }


class DistributeOptions(_Fields):
    """How a distributed dataset is divided."""

    _types: ClassVar[Mapping[str, Any]] = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}

    def __init__(self) -> None:
        super().__init__()
        self.auto_shard_policy = AutoShardPolicy.AUTO


class ServiceOptions(_Fields):
    """Options of the data service; accepted."""

    _types: ClassVar[Mapping[str, Any]] = {"pinned": bool}


class Options(_Fields):
    """Settings of a dataset, given to `dataset.with_options(options)`.

    Example:
        >>> import tapejax as tf
        >>> options = tf.data.Options()
        >>> options.deterministic = False
        >>> tf.data.Dataset.range(2).with_options(options).options().deterministic
        False
    """

    _types: ClassVar[Mapping[str, Any]] = {
        "autotune": AutotuneOptions,
        "dataset_name": str,
        "deterministic": bool,
        "experimental_distribute": DistributeOptions,
        "experimental_external_state_policy": ExternalStatePolicy,
        "experimental_optimization": OptimizationOptions,
        "experimental_service": ServiceOptions,
        "experimental_slack": bool,
        "experimental_symbolic_checkpoint": bool,
        "experimental_warm_start": bool,
        "framework_type": list,
        "threading": ThreadingOptions,
    }
    _former: ClassVar[Mapping[str, str]] = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
    }

    def __getattr__(self, name: str) -> Any:
        if name in self._former:
            return getattr(self, self._former[name])
        raise AttributeError(f"'Options' object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(self._former.get(name, name), value)

    def merge(self, options: Options) -> Options:
        """New options: those of `options` where they are set, else these.

        Args:
            options: The options that win.
        """
        return options.over(self)
