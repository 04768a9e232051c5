"""What TensorFlow has in `tf.data.experimental` and tapejax does not: each says what to use."""

from __future__ import annotations

from typing import Any, NoReturn

from tapejax._src.engine.registry import public


def _refuse(name: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"tf.data.experimental.{name} is not offered: {instead}")


@public("data.experimental.to_variant")
def to_variant(dataset: Any) -> NoReturn:
    """Refused: a dataset is a Python object."""
    del dataset
    _refuse("to_variant", "pass the dataset itself.")


@public("data.experimental.from_variant")
def from_variant(variant: Any, structure: Any) -> NoReturn:
    """Refused: a dataset is a Python object."""
    del variant, structure
    _refuse("from_variant", "pass the dataset itself.")


@public("data.experimental.make_saveable_from_iterator")
def make_saveable_from_iterator(iterator: Any, external_state_policy: Any = None) -> NoReturn:
    """Refused: save a step number, and `skip(step)` the dataset."""
    del iterator, external_state_policy
    _refuse("make_saveable_from_iterator", "save a step number, and skip(step) the dataset.")


@public("data.experimental.dense_to_sparse_batch")
def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> NoReturn:
    """Refused: use `dataset.padded_batch`."""
    del batch_size, row_shape
    _refuse("dense_to_sparse_batch", "use dataset.padded_batch(batch_size, row_shape).")


@public("data.experimental.service.distribute")
def distribute(
    processing_mode: Any,
    service: Any,
    job_name: str | None = None,
    consumer_index: int | None = None,
    num_consumers: int | None = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    compression: str = "AUTO",
    cross_trainer_cache: Any = None,
    target_workers: str = "AUTO",
) -> NoReturn:
    """Refused: there is no data service; shard the dataset."""
    del processing_mode, service, job_name, consumer_index, num_consumers
    del max_outstanding_requests, data_transfer_protocol, compression, cross_trainer_cache
    del target_workers
    _refuse("service.distribute", "use dataset.shard(num_workers, index) in each process.")


@public("data.experimental.service.register_dataset")
def register_dataset(
    service: Any, dataset: Any, compression: str = "AUTO", dataset_id: str | None = None
) -> NoReturn:
    """Refused: there is no data service; shard the dataset."""
    del service, dataset, compression, dataset_id
    _refuse("service.register_dataset", "use dataset.shard(num_workers, index) in each process.")


@public("data.experimental.service.from_dataset_id")
def from_dataset_id(
    processing_mode: Any,
    service: Any,
    dataset_id: Any,
    element_spec: Any = None,
    job_name: str | None = None,
    consumer_index: int | None = None,
    num_consumers: int | None = None,
    max_outstanding_requests: int | None = None,
    data_transfer_protocol: str | None = None,
    cross_trainer_cache: Any = None,
    target_workers: str = "AUTO",
) -> NoReturn:
    """Refused: there is no data service; shard the dataset."""
    del processing_mode, service, dataset_id, element_spec, job_name, consumer_index
    del num_consumers, max_outstanding_requests, data_transfer_protocol, cross_trainer_cache
    del target_workers
    _refuse("service.from_dataset_id", "use dataset.shard(num_workers, index) in each process.")


class DispatchServer:
    """Refused: there is no data service; shard the dataset.

    Args:
        config: Ignored.
        start: Ignored.
    """

    def __init__(self, config: Any = None, start: bool = True) -> None:
        del config, start
        _refuse("service.DispatchServer", "use dataset.shard(num_workers, index) in each process.")


class SqlDataset:
    """Refused: read the rows with Python.

    Args:
        driver_name: Ignored.
        data_source_name: Ignored.
        query: Ignored.
        output_types: Ignored.
    """

    def __init__(
        self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any
    ) -> None:
        del driver_name, data_source_name, query, output_types
        _refuse("SqlDataset", "use tf.data.Dataset.from_generator over sqlite3's cursor.")
