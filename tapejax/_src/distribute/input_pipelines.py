"""Datasets whose elements are divided among replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from tapejax._src.core import errors, nest
from tapejax._src.core.specs import TensorSpec
from tapejax._src.core.tensor import Tensor
from tapejax._src.data.dataset_base import DatasetBase
from tapejax._src.data.iterator import Optional
from tapejax._src.distribute.collectives import AXIS
from tapejax._src.distribute.values import BATCH, PerReplica, regrouped
from tapejax._src.engine.convert import constant_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.function.host_run import RunOnHost

if TYPE_CHECKING:
    from tapejax._src.distribute.strategy import Strategy


class InputContext:
    """Which part of the input a function passed to `distribute_datasets_from_function` is to make.

    Args:
        num_input_pipelines: How many processes read input.
        input_pipeline_id: Which of them this is.
        num_replicas_in_sync: How many replicas there are.

    Example:
        >>> import tapejax as tf
        >>> context = tf.distribute.InputContext(1, 0, 4)
        >>> context.get_per_replica_batch_size(8)
        2
    """

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self._pipelines, self._pipeline = num_input_pipelines, input_pipeline_id
        self._replicas = num_replicas_in_sync

    @property
    def num_input_pipelines(self) -> int:
        """How many processes read input."""
        return self._pipelines

    @property
    def input_pipeline_id(self) -> int:
        """Which of them this is."""
        return self._pipeline

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._replicas

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The size of the batch of one replica.

        Raises:
            ValueError: If the batch cannot be divided evenly.
        """
        if global_batch_size % self._replicas != 0:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by "
                f"`num_replicas_in_sync` {self._replicas} "
            )
        return global_batch_size // self._replicas

    def __repr__(self) -> str:
        return (
            f"tf.distribute.InputContext(input pipeline id {self._pipeline}, "
            f"total: {self._pipelines})"
        )


class ValueContext:
    """Which replica `experimental_distribute_values_from_function` asks for a value.

    Args:
        replica_id_in_sync_group: Its number.
        num_replicas_in_sync: How many there are.
    """

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self._replica_id, self._count = replica_id_in_sync_group, num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> int:
        """The number of the replica."""
        return self._replica_id

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._count

    def __repr__(self) -> str:
        return (
            f"tf.distribute.ValueContext(replica id {self._replica_id}, "
            f"total replicas in sync: {self._count})"
        )


class DistributedDataset:
    """A dataset with a value for each replica in each element: `tf.distribute.DistributedDataset`.

    Args:
        dataset: The dataset it is made of.
        elements: From an iterator over that to one over its own elements.
    """

    def __init__(self, dataset: Any, elements: Callable[[Iterator[Any]], Iterator[Any]]) -> None:
        self._dataset = dataset
        self._elements = elements

    @property
    def element_spec(self) -> Any:
        """The specs of what one replica gets: the size of a batch is not known."""

        def spec(leaf: Any) -> Any:
            if not isinstance(leaf, TensorSpec) or leaf.shape.rank in (None, 0):
                return leaf
            return TensorSpec([None, *leaf.shape.as_list()[1:]], leaf.dtype)

        return nest.map_structure(spec, self._dataset.element_spec)

    def __iter__(self) -> DistributedIterator:
        if LOCAL.recorder.symbolic is not None:
            raise RunOnHost("it iterates over a distributed dataset")
        return DistributedIterator(self._elements(iter(self._dataset)), self.element_spec)

    def __len__(self) -> int:
        return len(self._dataset)

    def cardinality(self) -> Any:
        """How many elements there are."""
        return self._dataset.cardinality()


class DistributedIterator:
    """The elements of a distributed dataset one by one: `tf.distribute.DistributedIterator`.

    Args:
        elements: The elements.
        element_spec: Their specs.
    """

    def __init__(self, elements: Iterator[Any], element_spec: Any) -> None:
        self._elements = elements
        self._spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of what one replica gets."""
        return self._spec

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        if LOCAL.recorder.symbolic is not None:
            raise RunOnHost("it draws from a distributed dataset")
        return next(self._elements)

    def get_next(self) -> Any:
        """The next element.

        Raises:
            OutOfRangeError: At the end.
        """
        try:
            return next(self)
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "End of sequence") from None

    def get_next_as_optional(self) -> Any:
        """The next element as a `tf.experimental.Optional`, empty at the end."""
        try:
            return Optional.from_value(next(self))
        except StopIteration:
            return Optional.empty(self._spec)


def distributed(strategy: Strategy, dataset: Any) -> Any:
    """A dataset whose batches are divided among the replicas.

    Raises:
        ValueError: If `dataset` is none.
    """
    _check(dataset)
    count = strategy.num_replicas_in_sync
    if count == 1:
        return DistributedDataset(dataset, lambda iterator: iterator)

    def elements(iterator: Iterator[Any]) -> Iterator[Any]:
        for batch in iterator:
            parts = divided(batch, count)
            yield joined(strategy, parts) if strategy.spans_processes else parts

    return DistributedDataset(dataset, elements)


def joined(strategy: Strategy, parts: Any) -> Any:
    """A batch that every process has, as one of which each holds the part of its replicas.

    Raises:
        NotImplementedError: If it is uneven.
    """
    parted = jax.sharding.NamedSharding(strategy.mesh, jax.sharding.PartitionSpec(AXIS))

    def spread(leaf: PerReplica) -> PerReplica:
        if leaf.layout is None:
            raise NotImplementedError(
                f"A batch cannot be divided evenly among the {leaf.count} replicas of several "
                "processes: use dataset.batch(n, drop_remainder=True)."
            )
        rows = leaf.spread()[0].view()
        array = jax.make_array_from_callback(rows.shape, parted, lambda index: rows[index])
        return PerReplica(constant_tensor(array), BATCH, leaf.count)

    return nest.map_structure(spread, parts)


def divided(batch: Any, count: int) -> Any:
    """A batch as a value for each replica."""
    return nest.map_structure(lambda leaf: _divided(leaf, count), batch)


def _divided(leaf: Any, count: int) -> Any:
    if not isinstance(leaf, Tensor):
        raise NotImplementedError(
            f"A {type(leaf).__name__} cannot be divided among replicas: make it a dense tensor, or "
            "use strategy.distribute_datasets_from_function, which does not divide batches."
        )
    if not leaf.aval.shape:
        raise ValueError(
            "The dataset has scalar elements, which cannot be divided among replicas: call "
            "dataset.batch(global_batch_size) first."
        )
    rows = leaf.aval.shape[0]
    if rows and rows % count == 0:
        return PerReplica(leaf, BATCH, count)
    each = -(-rows // count)
    array = leaf.view()
    parts = [array[min(n * each, rows) : (n + 1) * each] for n in range(count)]
    return PerReplica([constant_tensor(np.ascontiguousarray(part)) for part in parts])


def from_function(strategy: Strategy, dataset_fn: Callable[[InputContext], Any]) -> Any:
    """A dataset whose elements go to the replicas in turn."""
    count = strategy.num_replicas_in_sync
    if strategy.spans_processes:
        raise NotImplementedError(
            "distribute_datasets_from_function with several processes: use "
            "strategy.experimental_distribute_dataset, which every process calls with the same "
            "dataset."
        )
    dataset = dataset_fn(InputContext(1, 0, count))
    _check(dataset)
    if count == 1:
        return DistributedDataset(dataset, lambda iterator: iterator)

    def elements(iterator: Iterator[Any]) -> Iterator[Any]:
        for first in iterator:
            row = [first]
            for element in iterator:
                row.append(element)
                if len(row) == count:
                    break
            missing = count - len(row)
            row += [nest.map_structure(_emptied, first) for _ in range(missing)]
            yield regrouped(row)

    return DistributedDataset(dataset, elements)


def _emptied(leaf: Any) -> Any:
    array = leaf.view()
    return constant_tensor(array[:0] if array.ndim else np.zeros_like(array))


def _check(dataset: Any) -> None:
    if not isinstance(dataset, (DatasetBase, DistributedDataset)):
        raise ValueError(
            f"A tf.data.Dataset is needed to distribute, got {type(dataset)}. For values that are "
            "there already use strategy.experimental_distribute_values_from_function."
        )
