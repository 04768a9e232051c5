"""Which strategy is in force in a thread, and whether code runs for one replica or for all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from tapejax._src.engine.registry import public

if TYPE_CHECKING:
    from tapejax._src.distribute.replica_context import ReplicaContext
    from tapejax._src.distribute.strategy import Strategy

CROSS_REPLICA_ONLY = (
    "Method requires being in cross-replica context, use get_replica_context().merge_call()"
)


class _Contexts(threading.local):
    """The contexts of this thread, the innermost last: a strategy, and its replica if in one."""

    def __init__(self) -> None:
        self.stack: list[tuple[Strategy, ReplicaContext | None]] = []


CONTEXTS = _Contexts()


class _Default:
    """The strategy in force outside every scope; set by `strategy.py`."""

    strategy: Strategy
    context: ReplicaContext


DEFAULT = _Default()


class entered:
    """A `with` block in a context.

    Args:
        strategy: Its strategy.
        context: The replica it runs for, or None for all.
    """

    def __init__(self, strategy: Strategy, context: ReplicaContext | None) -> None:
        self._entry = (strategy, context)

    def __enter__(self) -> None:
        CONTEXTS.stack.append(self._entry)

    def __exit__(self, *details: object) -> None:
        CONTEXTS.stack.pop()


def current_replica() -> ReplicaContext | None:
    """The replica that code runs for inside of `strategy.run`, else None."""
    return CONTEXTS.stack[-1][1] if CONTEXTS.stack else None


def require_cross_replica() -> None:
    """Refuse what cannot be done for one replica alone.

    Raises:
        RuntimeError: Inside of `strategy.run`.
    """
    if current_replica() is not None:
        raise RuntimeError(CROSS_REPLICA_ONLY)


@public("distribute.get_strategy")
def get_strategy() -> Strategy:
    """The strategy in force.

    Returns:
        That of the scope or `run` around; outside of these the default one, which has one replica.

    Example:
        >>> import tapejax as tf
        >>> tf.distribute.get_strategy().num_replicas_in_sync
        1
    """
    return CONTEXTS.stack[-1][0] if CONTEXTS.stack else DEFAULT.strategy


@public("distribute.has_strategy")
def has_strategy() -> bool:
    """Whether a strategy other than the default one is in force.

    Example:
        >>> import tapejax as tf
        >>> tf.distribute.has_strategy()
        False
    """
    return get_strategy() is not DEFAULT.strategy


@public("distribute.in_cross_replica_context")
def in_cross_replica_context() -> bool:
    """Whether code runs for all replicas: in a strategy's scope, outside of its `run`.

    Example:
        >>> import tapejax as tf
        >>> with tf.distribute.OneDeviceStrategy("/cpu:0").scope():
        ...     tf.distribute.in_cross_replica_context()
        True
    """
    return bool(CONTEXTS.stack) and CONTEXTS.stack[-1][1] is None


@public("distribute.get_replica_context")
def get_replica_context() -> Any:
    """The replica that code runs for.

    Returns:
        A `tf.distribute.ReplicaContext` inside of `strategy.run`, and outside of every scope that
        of the default strategy; None in a scope and outside of `run`.

    Example:
        >>> import tapejax as tf
        >>> tf.distribute.get_replica_context().replica_id_in_sync_group
        0
    """
    return CONTEXTS.stack[-1][1] if CONTEXTS.stack else DEFAULT.context
