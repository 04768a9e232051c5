"""Methods of `tf.data.Dataset` that choose, order and gather elements."""

from __future__ import annotations

import warnings
from typing import Any

from tapejax._src.core import dtypes
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.data.batching import Batch, PaddedBatch, Rebatch, Unbatch, Window
from tapejax._src.data.caching import Cache
from tapejax._src.data.dataset_base import DatasetBase, as_int, check_dataset
from tapejax._src.data.functions import Unique
from tapejax._src.data.options import Options
from tapejax._src.data.ordering import (
    Concatenate,
    IgnoreErrors,
    Repeat,
    Shard,
    Shuffle,
    Skip,
    Take,
    counted,
)
from tapejax._src.data.ordering import Options as OptionsNode
from tapejax._src.data.prefetching import Prefetch
from tapejax._src.data.seeds import SeedSource, seeds_for
from tapejax._src.data.storage import FileCache
from tapejax._src.data.structure import flatten, leaf_of


class DatasetSteps(DatasetBase):
    """What chooses, orders and gathers elements."""

    # ------------------------------------------------------------------ choosing and ordering
    def shuffle(
        self,
        buffer_size: Any,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Any:
        """The elements in random order: each is picked from a buffer of the next `buffer_size`.

        The order is TensorFlow's own for the same seeds.

        Args:
            buffer_size: How many elements the buffer holds; the size of the dataset or more for a
                uniform shuffle.
            seed: Makes the order repeatable.
            reshuffle_each_iteration: Whether each iteration has another order.
            name: Accepted for compatibility.

        Returns:
            A dataset.

        Raises:
            InvalidArgumentError: If the size is zero or less.

        Example:
            >>> import tapejax as tf
            >>> tf.random.set_seed(3)
            >>> dataset = tf.data.Dataset.range(6).shuffle(10)
            >>> [int(x) for x in dataset]
            [3, 4, 0, 5, 1, 2]
        """
        del name
        size = as_int(buffer_size)
        if size <= 0 and size != -2:
            raise InvalidArgumentError(
                None,
                None,
                f"buffer_size must be greater than zero or UNKNOWN_CARDINALITY, got {size}.",
            )
        seeds = SeedSource(seeds_for(seed), reshuffle_each_iteration is not False)
        return self._then(Shuffle(self.node, size, seeds))

    def repeat(self, count: Any = None, name: str | None = None) -> Any:
        """The elements `count` times; without end if None or -1.

        Args:
            count: How often.
            name: Accepted for compatibility.

        Returns:
            A dataset.
        """
        del name
        return self._then(Repeat(self.node, -1 if count is None else as_int(count)))

    def take(self, count: Any, name: str | None = None) -> Any:
        """The first `count` elements; all if -1.

        Args:
            count: How many.
            name: Accepted for compatibility.

        Returns:
            A dataset.
        """
        del name
        return self._then(Take(self.node, as_int(count)))

    def skip(self, count: Any, name: str | None = None) -> Any:
        """All but the first `count` elements; none if -1.

        Args:
            count: How many are left out.
            name: Accepted for compatibility.

        Returns:
            A dataset.
        """
        del name
        return self._then(Skip(self.node, as_int(count)))

    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Any:
        """Every `num_shards`-th element, beginning with number `index`.

        Args:
            num_shards: Into how many parts the dataset is divided.
            index: Which part.
            name: Accepted for compatibility.

        Returns:
            A dataset.

        Raises:
            InvalidArgumentError: If there is no such part.
        """
        del name
        return self._then(Shard(self.node, as_int(num_shards), as_int(index)))

    def concatenate(self, dataset: Any, name: str | None = None) -> Any:
        """These elements, then those of `dataset`.

        Args:
            dataset: A dataset of elements of the same structure and dtypes.
            name: Accepted for compatibility.

        Returns:
            A dataset.

        Raises:
            TypeError: If the elements do not fit.
        """
        del name
        return self._then(Concatenate(self.node, check_dataset(dataset, "`dataset`")))

    def enumerate(self, start: Any = 0, name: str | None = None) -> Any:
        """The elements with their numbers: `(int64 scalar, element)`.

        Args:
            start: The first number.
            name: Accepted for compatibility.

        Returns:
            A dataset of pairs.
        """
        del name
        return self._then(counted(self.node, as_int(start)))

    def unique(self, name: str | None = None) -> Any:
        """Each value once, where it comes first.

        Args:
            name: Accepted for compatibility.

        Returns:
            A dataset.

        Raises:
            TypeError: If elements are not one int32, int64 or string tensor.
        """
        del name
        leaves = flatten(self.node.spec)
        dtype = getattr(leaves[0], "dtype", None)
        if len(leaves) != 1 or dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "`tf.data.Dataset.unique` only supports inputs with a single `tf.int32`, "
                f"`tf.int64`, or `tf.string` component, got {self.node.spec}."
            )
        return self._then(Unique(self.node))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Any:
        """The elements that can be computed: those that raise are left out.

        Args:
            log_warning: Whether to warn for each.
            name: Accepted for compatibility.

        Returns:
            A dataset.
        """
        del name
        return self._then(IgnoreErrors(self.node, log_warning))

    def with_options(self, options: Options, name: str | None = None) -> Any:
        """The same elements, with options.

        Args:
            options: The options; they win over those given before.
            name: Accepted for compatibility.

        Returns:
            A dataset.
        """
        del name
        made = self._then(OptionsNode(self.node))
        made._options = self.options().merge(options)
        return made

    # ------------------------------------------------------------------ keeping
    def cache(self, filename: Any = "", name: str | None = None) -> Any:
        """The elements, kept once an iteration has gone through all of them.

        Args:
            filename: A file to keep them in; memory if empty.
            name: Accepted for compatibility.

        Returns:
            A dataset.
        """
        del name
        path = leaf_of(filename)[()]
        path = path.decode() if isinstance(path, bytes) else str(path)
        return self._then(FileCache(self.node, path) if path else Cache(self.node))

    def prefetch(self, buffer_size: Any, name: str | None = None) -> Any:
        """The same elements, computed ahead by a thread.

        Elements that are in memory are not handed from thread to thread: that costs more than
        taking them.

        Args:
            buffer_size: How many may be ready; `tf.data.AUTOTUNE` leaves the choice.
            name: Accepted for compatibility.

        Returns:
            A dataset.
        """
        del name
        size = as_int(buffer_size)
        if size < -1:
            raise InvalidArgumentError(
                None, None, f"buffer_size must be >= 0 or set buffer_size to be -1, got {size}."
            )
        return self._then(Prefetch(self.node, size))

    # ------------------------------------------------------------------ gathering
    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """Consecutive elements, stacked.

        Args:
            batch_size: How many.
            drop_remainder: Whether to leave out a last batch of fewer.
            num_parallel_calls: Accepted: a batch is one NumPy call for each component.
            deterministic: Accepted.
            name: Accepted.

        Returns:
            A dataset whose components have one dimension more.

        Raises:
            InvalidArgumentError: If the size is zero or less; while iterating, if the shapes of
                elements differ.

        Example:
            >>> import tapejax as tf
            >>> [x.numpy().tolist() for x in tf.data.Dataset.range(5).batch(2)]
            [[0, 1], [2, 3], [4]]
        """
        del name
        parallel = num_parallel_calls is not None
        _warn_of_order(deterministic, parallel)
        drop = bool(leaf_of(drop_remainder))
        return self._then(Batch(self.node, as_int(batch_size), drop, parallel))

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Consecutive elements, padded to one shape and stacked.

        Args:
            batch_size: How many.
            padded_shapes: The shape of each component; None or -1 in it, and None altogether, stand
                for the longest in the batch.
            padding_values: What is filled in; zeros and empty strings if None.
            drop_remainder: Whether to leave out a last batch of fewer.
            name: Accepted for compatibility.

        Returns:
            A dataset whose components have one dimension more.

        Raises:
            ValueError: If a rank is unknown or a shape does not fit.
            TypeError: If a padding value has another dtype.
            DataLossError: While iterating, if an element is longer than the shape.

        Example:
            >>> import tapejax as tf
            >>> rows = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
            >>> rows = tf.data.Dataset.from_generator(
            ...     lambda: iter([[1], [2, 2]]), output_signature=tf.TensorSpec([None], tf.int32))
            >>> [x.numpy().tolist() for x in rows.padded_batch(2)]
            [[[1, 0], [2, 2]]]
        """
        del name
        drop = bool(leaf_of(drop_remainder))
        size = as_int(batch_size)
        return self._then(PaddedBatch(self.node, size, padded_shapes, padding_values, drop))

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = dtypes.int64,
        name: str | None = None,
    ) -> Any:
        """Consecutive elements of one shape, stacked; rows of different lengths are refused.

        Args:
            batch_size: How many.
            drop_remainder: Whether to leave out a last batch of fewer.
            row_splits_dtype: Accepted.
            name: Accepted.

        Returns:
            A dataset.

        Raises:
            NotImplementedError: If the shapes are not fully known.
        """
        del row_splits_dtype, name
        if not all(leaf.shape.is_fully_defined() for leaf in flatten(self.node.spec)):
            raise NotImplementedError(
                "Dataset.ragged_batch of elements of different shapes: use padded_batch, or "
                "bucket_by_sequence_length, which make dense tensors."
            )
        return self.batch(batch_size, drop_remainder)

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Any:
        """Refused: use `padded_batch`."""
        del batch_size, row_shape, name
        raise NotImplementedError(
            "Dataset.sparse_batch: use padded_batch(batch_size, padded_shapes=row_shape), which "
            "makes dense tensors."
        )

    def rebatch(
        self, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Any:
        """The rows of batches, in batches of another size.

        Args:
            batch_size: The size, or a list of sizes that are used in turn.
            drop_remainder: Whether to leave out a last batch of fewer.
            name: Accepted for compatibility.

        Returns:
            A dataset.
        """
        del name
        sizes = leaf_of(batch_size).reshape(-1).tolist()
        return self._then(Rebatch(self.node, sizes, bool(drop_remainder)))

    def unbatch(self, name: str | None = None) -> Any:
        """The rows of the elements, one by one.

        Args:
            name: Accepted for compatibility.

        Returns:
            A dataset whose components have one dimension fewer.

        Raises:
            ValueError: If a component is a scalar.
            InvalidArgumentError: While iterating, if components have different numbers of rows.
        """
        del name
        return self._then(Unbatch(self.node))

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Datasets of consecutive elements.

        Args:
            size: How many elements a window holds.
            shift: How far the next window begins behind this one; `size` if None.
            stride: How far apart the elements of a window are.
            drop_remainder: Whether to leave out windows of fewer.
            name: Accepted for compatibility.

        Returns:
            A dataset whose components are datasets.

        Raises:
            InvalidArgumentError: If a number is zero or less.

        Example:
            >>> import tapejax as tf
            >>> windows = tf.data.Dataset.range(4).window(2, shift=1, drop_remainder=True)
            >>> [x.numpy().tolist() for x in windows.flat_map(lambda w: w.batch(2))]
            [[0, 1], [1, 2], [2, 3]]
        """
        del name
        shift = as_int(size if shift is None else shift)
        made = Window(self.node, as_int(size), shift, as_int(stride), bool(drop_remainder))
        return self._then(made)


def _warn_of_order(deterministic: bool | None, parallel: bool) -> None:
    if deterministic is not None and not parallel:
        warnings.warn(
            "The `deterministic` argument has no effect unless the `num_parallel_calls` argument "
            "is specified.",
            stacklevel=3,
        )
