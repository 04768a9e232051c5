"""`tf.data.experimental`: former names, and a few things that have no other place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapejax._src.core import dtypes, errors
from tapejax._src.core.specs import TensorSpec
from tapejax._src.data import dataset as datasets
from tapejax._src.data import node
from tapejax._src.data.dataset import Dataset
from tapejax._src.data.dataset_base import as_int, check_dataset
from tapejax._src.data.iterator import Optional, OwnedIterator
from tapejax._src.data.node import INFINITE, UNKNOWN, InMemory
from tapejax._src.data.ordering import AssertCardinality
from tapejax._src.data.structure import (
    common_structure,
    leaf_of,
    leaves_of,
    pack,
    value_of,
)
from tapejax._src.engine.registry import public
from tapejax._src.ops.record_files import RecordWriter, compression_name, path_text

AUTOTUNE = node.AUTOTUNE
"""Leaves a number to the library."""
INFINITE_CARDINALITY = INFINITE
"""The cardinality of a dataset without end."""
UNKNOWN_CARDINALITY = UNKNOWN
"""The cardinality that nobody knows beforehand."""
SHARD_HINT = -1
"""In TensorFlow: a number of shards that is filled in later."""

Transformation = Callable[[Any], Any]


@public("data.experimental.cardinality")
def cardinality(dataset: Any) -> Any:
    """How many elements there are: `dataset.cardinality()`.

    Args:
        dataset: A dataset.

    Returns:
        An int64 scalar.
    """
    return dataset.cardinality()


@public("data.experimental.assert_cardinality")
def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """States how many elements there are, for `dataset.apply`.

    Args:
        expected_cardinality: The number; while iterating, another one is an error.

    Returns:
        A function from a dataset to a dataset.

    Example:
        >>> import tapejax as tf
        >>> even = tf.data.Dataset.range(6).filter(lambda x: x % 2 == 0)
        >>> len(even.apply(tf.data.experimental.assert_cardinality(3)))
        3
    """
    count = as_int(expected_cardinality)
    return lambda dataset: Dataset(AssertCardinality(check_dataset(dataset, "dataset"), count))


@public("data.experimental.sample_from_datasets")
def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: int | None = None, stop_on_empty_dataset: bool = False
) -> Any:
    """`tf.data.Dataset.sample_from_datasets(...)`.

    Args:
        datasets: A list of datasets.
        weights: The probability of each.
        seed: Makes the picks repeatable.
        stop_on_empty_dataset: Whether the first that ends, ends all.
    """
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


@public("data.experimental.choose_from_datasets")
def choose_from_datasets(
    datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = False
) -> Any:
    """`tf.data.Dataset.choose_from_datasets(...)`.

    Args:
        datasets: A list of datasets.
        choice_dataset: A dataset of their numbers.
        stop_on_empty_dataset: Whether the first that ends, ends all.
    """
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


@public("data.experimental.get_single_element")
def get_single_element(dataset: Any) -> Any:
    """The only element: `dataset.get_single_element()`.

    Args:
        dataset: A dataset.
    """
    return dataset.get_single_element()


@public("data.experimental.get_next_as_optional")
def get_next_as_optional(iterator: Any) -> Optional:
    """The next element, if there is one: `iterator.get_next_as_optional()`.

    Args:
        iterator: An iterator.
    """
    return iterator.get_next_as_optional()


@public("data.experimental.get_structure")
def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of the elements.

    Args:
        dataset_or_iterator: A dataset or an iterator.
    """
    if not isinstance(dataset_or_iterator, (datasets.DatasetBase, OwnedIterator)):
        raise TypeError(
            "Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a dataset or iterator "
            f"object, but got {type(dataset_or_iterator)}."
        )
    return dataset_or_iterator.element_spec


@public("data.experimental.save")
def save(
    dataset: Any,
    path: Any,
    compression: str | None = None,
    shard_func: Callable[..., Any] | None = None,
    checkpoint_args: Any = None,
) -> None:
    """`dataset.save(path)`.

    Args:
        dataset: A dataset.
        path: The folder.
        compression: None or "GZIP".
        shard_func: Accepted.
        checkpoint_args: Refused.
    """
    dataset.save(path, compression, shard_func, checkpoint_args)


@public("data.experimental.load")
def load(
    path: Any,
    element_spec: Any = None,
    compression: str | None = None,
    reader_func: Callable[..., Any] | None = None,
) -> Any:
    """`tf.data.Dataset.load(path)`.

    Args:
        path: The folder.
        element_spec: Accepted.
        compression: Accepted.
        reader_func: Refused.
    """
    return Dataset.load(path, element_spec, compression, reader_func)


@public("data.experimental.from_list")
def from_list(elements: Any, name: str | None = None) -> Any:
    """A dataset of the items of a list.

    Args:
        elements: The items, of one structure.
        name: Accepted.

    Returns:
        A dataset.

    Raises:
        ValueError: If there is none.

    Example:
        >>> import tapejax as tf
        >>> [int(x) for x in tf.data.experimental.from_list([3, 1])]
        [3, 1]
    """
    del name
    if not isinstance(elements, list):
        raise TypeError(f"`elements` argument must be a list, got {type(elements)}.")
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    found = [leaves_of(element) for element in elements]  # pyright: ignore[reportUnknownVariableType]
    spec = found[0][0]
    for other, _ in found[1:]:
        spec = common_structure(spec, other)
    return Dataset(InMemory(spec, [leaves for _, leaves in found]))


@public("data.experimental.at")
def at(dataset: Any, index: Any) -> Any:
    """The element with a number.

    Args:
        dataset: A dataset.
        index: The number.

    Returns:
        The element.

    Raises:
        OutOfRangeError: If there are fewer.
    """
    number = as_int(index)
    stream = check_dataset(dataset, "dataset").stream() if number >= 0 else iter(())
    for n, leaves in enumerate(stream):
        if n == number:
            return pack(dataset.node.structure, [value_of(leaf) for leaf in leaves])
    raise errors.OutOfRangeError(
        None, None, f"Index out of range [0, {dataset.node.cardinality()}): {number}"
    )


@public("data.experimental.enable_debug_mode")
def enable_debug_mode() -> None:
    """Accepted: functions that cannot be compiled run as Python in any case."""


class RandomDataset(Dataset):
    """Random 32-bit integers without end: `tf.data.Dataset.random`.

    Args:
        seed: Makes them repeatable.
        rerandomize_each_iteration: Whether each iteration has other numbers.
        name: Accepted.
    """

    def __init__(
        self,
        seed: int | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(Dataset.random(seed, rerandomize_each_iteration, name).node)


@public("data.experimental.Counter")
def counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> Any:
    """Integers in equal steps without end: `tf.data.Dataset.counter`.

    Args:
        start: The first.
        step: The difference of two.
        dtype: Their dtype.
    """
    return Dataset.counter(start, step, dtype)


class TFRecordWriter:
    """Writes the elements of a dataset of strings to a TFRecord file.

    Args:
        filename: The file.
        compression_type: `""`, `"GZIP"` or `"ZLIB"`.

    Example:
        >>> import pathlib, tempfile
        >>> import tapejax as tf
        >>> path = str(pathlib.Path(tempfile.mkdtemp()) / "a.tfrecord")
        >>> records = tf.data.Dataset.from_tensor_slices([b"one", b"two"])
        >>> tf.data.experimental.TFRecordWriter(path).write(records)
        >>> [record.numpy() for record in tf.data.TFRecordDataset(path)]
        [b'one', b'two']
    """

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._path = path_text(leaf_of(filename)[()])
        self._compression = compression_name(compression_type)

    def write(self, dataset: Any) -> None:
        """Write a dataset of string scalars.

        Args:
            dataset: The dataset.

        Raises:
            TypeError: If it holds something else.
        """
        records = check_dataset(dataset, "`dataset`")
        if records.spec != TensorSpec((), dtypes.string):
            raise TypeError(
                "Invalid `dataset`. `dataset` must contain `tf.string` scalars but contains "
                f"{records.spec}."
            )
        with RecordWriter(self._path, self._compression) as writer:
            for (record,) in records.stream():
                writer.write(record[()])
