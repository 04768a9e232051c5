"""Methods of `tf.data.Dataset` that call functions of the user."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.shapes import TensorShape
from tapejax._src.data.batching import Batch, PaddedBatch
from tapejax._src.data.dataset_base import DatasetBase, as_int, check_dataset
from tapejax._src.data.functions import (
    Filter,
    GroupByWindow,
    Interleave,
    Map,
    Scan,
    TakeWhile,
    reduced,
)
from tapejax._src.data.isolation import isolated
from tapejax._src.data.node import Empty, Node
from tapejax._src.data.resampling import Resample
from tapejax._src.data.structure import (
    WRAPPING,
    Leaves,
    constant_tensor,
    flatten,
    leaf_of,
    leaves_of,
    map_structure,
    pack,
    spec_of,
    value_of,
)
from tapejax._src.data.user_function import UserFunction


class DatasetFunctions(DatasetBase):
    """What calls functions of the user.

    A function gets the components of a tuple as arguments, and every other element as one. It may
    use Python's `if`, `while` and `for` on tensors, as in a `tf.function`.
    """

    # ------------------------------------------------------------------ one by one
    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Any:
        """A function of each element.

        A function of its element alone is compiled for many elements at once.

        Args:
            map_func: The function; it may return any structure of tensors.
            num_parallel_calls: How many calls of a function that cannot be compiled may run at
                once, in threads; the order stays. `tf.data.AUTOTUNE` leaves the choice.
            deterministic: Accepted: the order is always that of the elements.
            synchronous: Accepted.
            use_unbounded_threadpool: Accepted.
            name: Accepted.

        Returns:
            A dataset of what the function returns.

        Example:
            >>> import tapejax as tf
            >>> dataset = tf.data.Dataset.range(3).map(lambda x: (x, x * x))
            >>> [(int(x), int(y)) for x, y in dataset]
            [(0, 0), (1, 1), (2, 4)]

        Differs from TensorFlow:
            Random numbers without an op seed come from the streams of eager code.
        """
        del deterministic, synchronous, use_unbounded_threadpool, name
        calls = None if num_parallel_calls is None else as_int(num_parallel_calls)
        if calls is not None and calls != -1 and calls < 1:
            raise InvalidArgumentError(None, None, "num_parallel_calls must be greater than zero.")
        return self._then(Map(self.node, map_func, calls))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """The elements for which a function says yes.

        Args:
            predicate: Returns a bool scalar.
            name: Accepted for compatibility.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            ValueError: If the function returns something else.
        """
        del name
        return self._then(Filter(self.node, predicate))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Any:
        """The elements up to the first for which a function says no.

        Args:
            predicate: Returns a bool scalar.
            name: Accepted for compatibility.

        Returns:
            A dataset of unknown cardinality.
        """
        del name
        return self._then(TakeWhile(self.node, predicate))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Any:
        """The elements of the datasets that a function makes, one dataset after the other.

        Args:
            map_func: Returns a dataset.
            name: Accepted for compatibility.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            TypeError: If the function returns something else.

        Example:
            >>> import tapejax as tf
            >>> dataset = tf.data.Dataset.range(3).flat_map(lambda n: tf.data.Dataset.range(n))
            >>> [int(x) for x in dataset]
            [0, 0, 1]
        """
        del name
        made = Interleave(self.node, map_func, "Dataset.flat_map()", "_FlatMapDataset", 1, 1)
        return self._then(made)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """The elements of the datasets that a function makes, from several of them in turn.

        Args:
            map_func: Returns a dataset.
            cycle_length: How many datasets are open at once; the number of processors if None.
            block_length: How many elements each gives in its turn (default 1).
            num_parallel_calls: Accepted: the datasets are read one after the other.
            deterministic: Accepted: the order is always the same.
            name: Accepted.

        Returns:
            A dataset of unknown cardinality.

        Raises:
            TypeError: If the function returns something else.

        Example:
            >>> import tapejax as tf
            >>> def twice(n):
            ...     return tf.data.Dataset.from_tensors(n).repeat(2)
            >>> dataset = tf.data.Dataset.range(3).interleave(twice, cycle_length=2)
            >>> [int(x) for x in dataset]
            [0, 1, 0, 1, 2, 2]
        """
        del deterministic, name
        cycle = -1 if cycle_length is None else as_int(cycle_length)
        block = 1 if block_length is None else as_int(block_length)
        parallel = num_parallel_calls is not None
        class_name = "_ParallelInterleaveDataset" if parallel else "_InterleaveDataset"
        made = Interleave(self.node, map_func, "Dataset.interleave()", class_name, cycle, block)
        return self._then(made)

    # ------------------------------------------------------------------ with a state
    def scan(
        self, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """A function of a state and each element gives the next state and an output.

        Args:
            initial_state: The first state: a structure of tensors.
            scan_func: Takes (state, element), returns (new state, output).
            name: Accepted for compatibility.

        Returns:
            A dataset of the outputs.

        Raises:
            TypeError: If the new state has other dtypes or another structure.

        Example:
            >>> import tapejax as tf
            >>> sums = tf.data.Dataset.range(4).scan(tf.constant(0, tf.int64),
            ...                                      lambda s, x: (s + x, s + x))
            >>> [int(x) for x in sums]
            [0, 1, 3, 6]
        """
        del name
        state, leaves = leaves_of(initial_state)
        return self._then(Scan(self.node, state, leaves, scan_func))

    def reduce(
        self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """The last of the states that a function of a state and each element gives.

        Args:
            initial_state: The first state: a structure of tensors.
            reduce_func: Takes (state, element), returns the new state.
            name: Accepted for compatibility.

        Returns:
            The last state.

        Raises:
            TypeError: If the new state has other dtypes or another structure.

        Example:
            >>> import tapejax as tf
            >>> int(tf.data.Dataset.range(5).reduce(tf.constant(0, tf.int64), lambda s, x: s + x))
            10
        """
        del name
        state, leaves = leaves_of(initial_state)
        structure, found = reduced(self.node, state, leaves, reduce_func)
        return pack(structure, [value_of(leaf) for leaf in found])

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element.

        Args:
            name: Accepted for compatibility.

        Returns:
            The element.

        Raises:
            InvalidArgumentError: If there is none, or more than one.
        """
        del name
        stream = self.node.stream()
        found = next(stream, None)
        if found is None:
            raise InvalidArgumentError(None, None, "Dataset was empty.")
        if next(stream, None) is not None:
            raise InvalidArgumentError(None, None, "Dataset had more than one element.")
        return pack(self.node.structure, [value_of(leaf) for leaf in found])

    # ------------------------------------------------------------------ in groups
    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Elements of one key, gathered and reduced.

        Args:
            key_func: From an element to its key, an int64 scalar.
            reduce_func: From a key and the dataset of its elements to a dataset.
            window_size: How many elements of one key are gathered.
            window_size_func: The same as a function of the key.
            name: Accepted for compatibility.

        Returns:
            A dataset.

        Raises:
            ValueError: If not just one of the sizes is given.
            TypeError: If `reduce_func` returns no dataset.
        """
        del name
        if (window_size is None) == (window_size_func is None):
            raise ValueError(
                "Either the `window_size` argument or the `window_size_func` argument must be "
                "specified."
            )
        key = UserFunction(key_func, self.node, "Dataset.group_by_window()")

        def key_of(element: Leaves) -> int:
            (found,) = key(element)
            if found.dtype != np.int64 or found.shape != ():
                raise ValueError(
                    "Invalid `key_func`. `key_func` must return a single `tf.int64` scalar tensor, "
                    f"but its return type is {spec_of(found)}."
                )
            return int(found)

        def size_of(key: int) -> int:
            if window_size_func is None:
                return as_int(window_size)
            with isolated():
                return as_int(window_size_func(_number(key)))

        def reduce(key: int, node: Node) -> Node:
            with isolated():
                found = reduce_func(_number(key), WRAPPING.wrap(node))
            return check_dataset(found, "What `reduce_func` returns")

        return self._then(GroupByWindow(self.node, key_of, size_of, reduce, self._tried(reduce)))

    def _tried(self, reduce: Callable[[int, Node], Node]) -> Node | None:
        """What `reduce` makes of a dataset without elements, where that tells the specs."""
        if not self.node.is_certain:
            return None
        empty = Empty(self.node.spec, self.node.shapes())
        try:
            return reduce(0, empty)
        except TypeError:
            raise
        except Exception:  # noqa: BLE001  real elements will tell
            return None

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Elements of similar length, padded and stacked.

        Args:
            element_length_func: From an element to its length, an int32 scalar.
            bucket_boundaries: Lengths at which the next bucket begins.
            bucket_batch_sizes: The batch size of each bucket, one more than boundaries.
            padded_shapes: As for `padded_batch`.
            padding_values: As for `padded_batch`.
            pad_to_bucket_boundary: Whether to pad to one less than the boundary, instead of to the
                longest in the batch.
            no_padding: Whether not to pad: elements of a bucket have one length.
            drop_remainder: Whether to leave out last batches of fewer.
            name: Accepted for compatibility.

        Returns:
            A dataset of batches.

        Raises:
            ValueError: If the numbers of boundaries and sizes do not fit.
        """
        del name
        bounds = [as_int(n) for n in bucket_boundaries]
        sizes = [as_int(n) for n in bucket_batch_sizes]
        if len(sizes) != len(bounds) + 1:
            raise ValueError(
                "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len("
                f"bucket_batch_sizes)={len(sizes)}` and `len(bucket_boundaries)={len(bounds)}`."
            )
        length = UserFunction(element_length_func, self.node, "bucket_by_sequence_length()")

        padding = (padded_shapes, padding_values, drop_remainder)
        reduce = _bucket(sizes, bounds if pad_to_bucket_boundary else None, no_padding, padding)
        tried = self._tried(_bucket([1], None, no_padding, padding))

        def key_of(element: Leaves) -> int:
            return bisect.bisect_right(bounds, int(length(element)[0]))

        return self._then(GroupByWindow(self.node, key_of, sizes.__getitem__, reduce, tried))

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Any:
        """Elements picked so that their classes have a wanted distribution.

        Args:
            class_func: From an element to its class, an int32 scalar.
            target_dist: The wanted probability of each class.
            initial_dist: The probability of each class in this dataset; estimated if None.
            seed: Makes the picks repeatable.
            name: Accepted for compatibility.

        Returns:
            A dataset of (class, element).

        Differs from TensorFlow:
            The distribution is the same, the picks for a seed are not.
        """
        del name
        function = UserFunction(class_func, self.node, "Dataset.rejection_resample()")
        target = np.asarray(leaf_of(target_dist), np.float64)
        initial = None if initial_dist is None else np.asarray(leaf_of(initial_dist), np.float64)
        return self._then(Resample(self.node, function, target, initial, seed))


def _bucket(
    sizes: list[int], bounds: list[int] | None, no_padding: bool, padding: tuple[Any, Any, bool]
) -> Callable[[int, Node], Node]:
    """What makes batches of the elements of a bucket.

    Args:
        sizes: The batch size of each bucket.
        bounds: The lengths to which to pad, plus one; None: to the longest.
        no_padding: Whether elements of a bucket have one length.
        padding: The padded shapes, the padding values, and whether to leave out a smaller batch.
    """
    shapes, values, drop = padding

    def reduce(key: int, node: Node) -> Node:
        if no_padding:
            return Batch(node, sizes[key], drop, False)
        if bounds is None:
            return PaddedBatch(node, sizes[key], shapes, values, drop)
        if key == len(bounds):
            raise InvalidArgumentError(
                None,
                None,
                "When pad_to_bucket_boundary=True, elements must have length < "
                "max(bucket_boundaries).",
            )
        filled = _filled(shapes, node.spec, bounds[key] - 1)
        return PaddedBatch(node, sizes[key], filled, values, drop)

    return reduce


def _number(key: int) -> Any:
    return constant_tensor(np.array(key, np.int64))


def _filled(shapes: Any, spec: Any, size: int) -> Any:
    """Padded shapes with a number in the place of unknown dimensions."""

    def fill(shape: Any) -> TensorShape:
        sizes = TensorShape(shape).as_list()
        return TensorShape([size if n is None or n == -1 else n for n in sizes])

    if shapes is None:
        return map_structure(lambda leaf: fill(leaf.shape), spec)
    return map_structure(fill, shapes) if len(flatten(spec)) > 1 else fill(shapes)
