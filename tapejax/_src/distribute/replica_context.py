"""`tf.distribute.ReplicaContext`: what code in a replica can ask of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapejax._src.core import nest
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.distribute.contexts import entered
from tapejax._src.distribute.reduce_op import ReduceOp, as_reduce_op
from tapejax._src.engine.convert import as_tensor

if TYPE_CHECKING:
    from tapejax._src.distribute.strategy import Strategy


class ReplicaContext:
    """The replica that code inside of `strategy.run` runs for: `tf.distribute.get_replica_context`.

    Args:
        strategy: Its strategy.
        replica_id_in_sync_group: Its number.

    Example:
        >>> import tapejax as tf
        >>> context = tf.distribute.get_replica_context()
        >>> float(context.all_reduce("SUM", tf.constant(2.0)))
        2.0
    """

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: Any) -> None:
        self._strategy = strategy
        self._replica_id = replica_id_in_sync_group

    @property
    def strategy(self) -> Strategy:
        """The strategy."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The number of this replica."""
        return self._replica_id

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of this replica."""
        return (self._strategy.devices_in_sync()[0],)

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """Sum or average values over all replicas; every replica gets the result.

        Args:
            reduce_op: `tf.distribute.ReduceOp` or its name.
            value: Nested structure of tensors; every replica passes the same structure and shapes.
            options: Accepted for compatibility.

        Returns:
            The same structure. Its gradient is the same reduction of the gradients.

        Raises:
            ValueError: If `reduce_op` is not SUM or MEAN.
        """
        del options
        op = as_reduce_op(reduce_op)
        flat = nest.flatten(value)
        results = self.reduced(op, [as_tensor(leaf) for leaf in flat])
        return nest.pack_sequence_as(value, results)

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """Join values of all replicas along an axis; every replica gets the result.

        Args:
            value: Nested structure of tensors of rank 1 or more, equal in shape but for `axis`.
            axis: The axis.
            options: Accepted for compatibility.

        Returns:
            The same structure.

        Raises:
            ValueError: If a value is a scalar.
        """
        del options
        flat = [as_tensor(leaf) for leaf in nest.flatten(value)]
        for tensor in flat:
            check_gathered(tensor)
        return nest.pack_sequence_as(value, self.gathered(flat, axis))

    def merge_call(
        self, merge_fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        """Call a function once for all replicas.

        Args:
            merge_fn: Function of the strategy and of `args`, in each of which there is a value
                for each replica.
            args: What this replica passes.
            kwargs: The same by name.

        Returns:
            What it returns; of a value for each replica that of this one.
        """
        return self.merged(merge_fn, args, kwargs or {})

    # ------------------------------------------------------------------ how it is done
    def reduced(self, op: ReduceOp, tensors: list[Tensor]) -> list[Tensor]:
        """The sums or means over all replicas."""
        del op
        return tensors

    def gathered(self, tensors: list[Tensor], axis: int) -> list[Tensor]:
        """The values of all replicas joined."""
        del axis
        return tensors

    def merged(
        self, merge_fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """The result of a function of all replicas."""
        with entered(self._strategy, None):
            return merge_fn(self._strategy, *args, **kwargs)

    def first(self, variable: Variable, tensor: Tensor) -> Tensor:
        """The value of the first replica."""
        del variable
        return tensor


def check_gathered(tensor: Any) -> None:
    """Refuse to gather a scalar.

    Raises:
        ValueError: If it is one.
    """
    if not tensor.aval.shape:
        raise ValueError(
            "gather joins values along an axis, and a scalar has none: use tf.expand_dims(value, 0)"
            " or tf.reshape(value, [1]) first."
        )
