"""`tf.data.experimental`: former names of methods, as functions for `dataset.apply`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapejax._src.core import dtypes
from tapejax._src.data.node import AUTOTUNE
from tapejax._src.engine.registry import public

Transformation = Callable[[Any], Any]


@public("data.experimental.enumerate_dataset")
def enumerate_dataset(start: Any = 0) -> Transformation:
    """`dataset.enumerate(start)` for `dataset.apply`.

    Args:
        start: The first number.
    """
    return lambda dataset: dataset.enumerate(start)


@public("data.experimental.unbatch")
def unbatch() -> Transformation:
    """`dataset.unbatch()` for `dataset.apply`."""
    return lambda dataset: dataset.unbatch()


@public("data.experimental.unique")
def unique() -> Transformation:
    """`dataset.unique()` for `dataset.apply`."""
    return lambda dataset: dataset.unique()


@public("data.experimental.ignore_errors")
def ignore_errors(log_warning: bool = False) -> Transformation:
    """`dataset.ignore_errors()` for `dataset.apply`.

    Args:
        log_warning: Whether to warn for each.
    """
    return lambda dataset: dataset.ignore_errors(log_warning)


@public("data.experimental.scan")
def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """`dataset.scan(initial_state, scan_func)` for `dataset.apply`.

    Args:
        initial_state: The first state.
        scan_func: Takes (state, element), returns (new state, output).
    """
    return lambda dataset: dataset.scan(initial_state, scan_func)


@public("data.experimental.take_while")
def take_while(predicate: Callable[..., Any]) -> Transformation:
    """`dataset.take_while(predicate)` for `dataset.apply`.

    Args:
        predicate: Returns a bool scalar.
    """
    return lambda dataset: dataset.take_while(predicate)


@public("data.experimental.shuffle_and_repeat")
def shuffle_and_repeat(
    buffer_size: Any, count: Any = None, seed: int | None = None
) -> Transformation:
    """`dataset.shuffle(buffer_size, seed).repeat(count)` for `dataset.apply`.

    Args:
        buffer_size: The size of the buffer.
        count: How often; without end if None.
        seed: Makes the order repeatable.
    """
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


@public("data.experimental.map_and_batch")
def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`dataset.map(map_func).batch(batch_size)` for `dataset.apply`.

    Args:
        map_func: A function of each element.
        batch_size: How many results a batch has.
        num_parallel_batches: Accepted.
        drop_remainder: Whether to leave out a last batch of fewer.
        num_parallel_calls: As for `dataset.map`.
    """
    del num_parallel_batches
    return lambda d: d.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


@public("data.experimental.group_by_window")
def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """`dataset.group_by_window(...)` for `dataset.apply`.

    Args:
        key_func: From an element to its key.
        reduce_func: From a key and a dataset to a dataset.
        window_size: How many elements of one key are gathered.
        window_size_func: The same as a function of the key.
    """
    return lambda d: d.group_by_window(key_func, reduce_func, window_size, window_size_func)


@public("data.experimental.bucket_by_sequence_length")
def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Any,
    bucket_batch_sizes: Any,
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """`dataset.bucket_by_sequence_length(...)` for `dataset.apply`.

    Args:
        element_length_func: From an element to its length.
        bucket_boundaries: Lengths at which the next bucket begins.
        bucket_batch_sizes: The batch size of each bucket.
        padded_shapes: As for `padded_batch`.
        padding_values: As for `padded_batch`.
        pad_to_bucket_boundary: Whether to pad to the boundary.
        no_padding: Whether not to pad.
        drop_remainder: Whether to leave out last batches of fewer.
    """
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes,
        padding_values,
        pad_to_bucket_boundary,
        no_padding,
        drop_remainder,
    )


@public("data.experimental.parallel_interleave")
def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """`dataset.interleave(map_func, cycle_length, block_length)` for `dataset.apply`.

    Args:
        map_func: Returns a dataset.
        cycle_length: How many datasets are open at once.
        block_length: How many elements each gives in its turn.
        sloppy: Accepted.
        buffer_output_elements: Accepted.
        prefetch_input_elements: Accepted.
    """
    del sloppy, buffer_output_elements, prefetch_input_elements
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length)


@public("data.experimental.prefetch_to_device")
def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """`dataset.prefetch(buffer_size)`: programs move elements to their device themselves.

    Args:
        device: Accepted.
        buffer_size: How many elements may be ready.
    """
    del device
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)


@public("data.experimental.copy_to_device")
def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Transformation:
    """The dataset itself: programs move elements to their device themselves.

    Args:
        target_device: Accepted.
        source_device: Accepted.
    """
    del target_device, source_device
    return lambda dataset: dataset


@public("data.experimental.rejection_resample")
def rejection_resample(
    class_func: Callable[..., Any],
    target_dist: Any,
    initial_dist: Any = None,
    seed: int | None = None,
) -> Transformation:
    """`dataset.rejection_resample(...)` for `dataset.apply`.

    Args:
        class_func: From an element to its class.
        target_dist: The wanted probability of each class.
        initial_dist: The probability of each class in the dataset.
        seed: Makes the picks repeatable.
    """
    return lambda d: d.rejection_resample(class_func, target_dist, initial_dist, seed)


@public("data.experimental.snapshot")
def snapshot(
    path: Any,
    compression: str | None = "AUTO",
    reader_func: Callable[..., Any] | None = None,
    shard_func: Callable[..., Any] | None = None,
) -> Transformation:
    """`dataset.snapshot(...)` for `dataset.apply`.

    Args:
        path: The folder.
        compression: None, "GZIP" or "AUTO".
        reader_func: Refused.
        shard_func: Accepted.
    """
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


@public("data.experimental.dense_to_ragged_batch")
def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = dtypes.int64
) -> Transformation:
    """`dataset.ragged_batch(...)` for `dataset.apply`.

    Args:
        batch_size: How many elements a batch has.
        drop_remainder: Whether to leave out a last batch of fewer.
        row_splits_dtype: Accepted.
    """
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)
