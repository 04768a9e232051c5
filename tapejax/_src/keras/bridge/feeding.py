"""What `fit`, `evaluate` and `predict` are fed with: `tf.data` pipelines and tensors too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.data.dataset import Dataset
from tapejax._src.keras.bridge.recorded_calls import is_leaf

METHODS = (
    "fit",
    "evaluate",
    "predict",
    "train_on_batch",
    "test_on_batch",
    "predict_on_batch",
)


def adapter_class(keras: Any) -> type:
    """The class by which Keras' trainer reads a `tf.data.Dataset`.

    Args:
        keras: The Keras module.
    """

    class DatasetAdapter(keras.src.trainers.data_adapters.data_adapter.DataAdapter):
        """Gives the batches of a dataset, from its start in every epoch."""

        def __init__(self, dataset: Dataset) -> None:
            self.dataset = dataset

        def get_numpy_iterator(self) -> Iterator[Any]:
            """The batches, as NumPy arrays."""
            for batch in self.dataset.as_numpy_iterator():
                yield batch if isinstance(batch, tuple) else (batch,)

        def get_jax_iterator(self) -> Iterator[Any]:
            """The batches; Keras' JAX trainer takes NumPy arrays."""
            return self.get_numpy_iterator()

        @property
        def num_batches(self) -> int | None:
            """How many batches there are, or None if that is not known."""
            count = int(self.dataset.cardinality())
            return count if count >= 0 else None

        @property
        def batch_size(self) -> int | None:
            """Not known: the dataset decides."""
            return None

        @property
        def has_partial_batch(self) -> bool | None:
            """Not known."""
            return None

        @property
        def partial_batch_size(self) -> int | None:
            """Not known."""
            return None

    return DatasetAdapter


def hooked_feeding(original: Callable[..., Any], adapter: type) -> Callable[..., Any]:
    """A method of `keras.Model` that takes data."""

    def readable(x: Any) -> Any:
        if isinstance(x, Dataset):
            return adapter(x)
        return x.numpy() if isinstance(x, (Tensor, Variable)) else x

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = jax.tree.map(readable, (args, kwargs), is_leaf=_is_end)
        return original(self, *args, **kwargs)

    return method


def _is_end(x: Any) -> bool:
    return is_leaf(x) or isinstance(x, (Dataset, str)) or x is None
