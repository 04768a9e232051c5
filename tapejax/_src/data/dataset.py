"""`tf.data.Dataset`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapejax._src.core.errors import UnimplementedError
from tapejax._src.core.tensor import Tensor
from tapejax._src.data import staging
from tapejax._src.data.dataset_base import DatasetBase
from tapejax._src.data.dataset_functions import DatasetFunctions
from tapejax._src.data.dataset_sources import DatasetSources
from tapejax._src.data.dataset_steps import DatasetSteps
from tapejax._src.data.iterator import SPEC_OF, DatasetSpec
from tapejax._src.data.node import Empty, Node, guessed_shapes
from tapejax._src.data.storage import Loaded, Snapshot, save
from tapejax._src.data.structure import WRAPPING, leaf_of, leaves_of
from tapejax._src.data.user_function import STAND_INS


class Dataset(DatasetSources, DatasetSteps, DatasetFunctions):
    """A sequence of elements, each a structure of tensors, that can be gone over again and again.

    Datasets are made by `from_tensor_slices`, `range`, `from_generator` and the like, and each
    method makes another one. Nothing is computed before somebody iterates.

    Example:
        >>> import tapejax as tf
        >>> dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0])
        >>> for batch in dataset.map(lambda x: x * 10.0).batch(2):
        ...     print(batch.numpy().tolist())
        [10.0, 20.0]
        [30.0]

    Differs from TensorFlow:
        A map function of its element alone runs for many elements at once, ahead of those asked
        for; order and values stay. Iterators cannot be saved in checkpoints.
    """

    def __init__(self, variant_tensor: Any) -> None:
        if not isinstance(variant_tensor, Node):
            raise NotImplementedError(
                "tf.data.Dataset is not called: use tf.data.Dataset.from_tensor_slices(...), "
                "from_generator(...), range(...) or another of its functions."
            )
        self.node = variant_tensor

    # ------------------------------------------------------------------ files
    def save(
        self,
        path: Any,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Write the elements to a folder, for `tf.data.Dataset.load`.

        Args:
            path: The folder.
            compression: None or "GZIP".
            shard_func: Accepted: there is one file.
            checkpoint_args: Refused.

        Raises:
            NotImplementedError: If `checkpoint_args` is given.

        Differs from TensorFlow:
            The files are tapejax's own.
        """
        del shard_func
        if checkpoint_args is not None:
            raise NotImplementedError("Dataset.save(checkpoint_args=...): leave it out.")
        save(self.node, _path(path), _gzip(compression))

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> Any:
        """The elements that `Dataset.save` wrote.

        Args:
            path: The folder.
            element_spec: Accepted: it was saved.
            compression: Accepted: it was saved.
            reader_func: Refused.
            wait: Accepted.

        Returns:
            A dataset.

        Raises:
            NotFoundError: If there is nothing saved.
            NotImplementedError: If `reader_func` is given.
        """
        del element_spec, compression, wait
        if reader_func is not None:
            raise NotImplementedError("Dataset.load(reader_func=...): shuffle what is loaded.")
        return Dataset(Loaded(_path(path)))

    def snapshot(
        self,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """The elements, kept in a folder once an iteration has gone through all of them.

        Args:
            path: The folder.
            compression: None, "GZIP" or "AUTO" (none).
            reader_func: Refused.
            shard_func: Accepted: there is one file.
            name: Accepted.

        Returns:
            A dataset.
        """
        del shard_func, name
        if reader_func is not None:
            raise NotImplementedError("Dataset.snapshot(reader_func=...): shuffle the result.")
        return self._then(Snapshot(self.node, _path(path), _gzip(compression)))


def _path(path: Any) -> str:
    text = path.view()[()] if isinstance(path, Tensor) else path
    return text.decode() if isinstance(text, bytes) else str(leaf_of(str(text))[()].decode())


def _gzip(compression: str | None) -> str | None:
    if compression in (None, "", "AUTO", "NONE"):
        return None
    if compression == "GZIP":
        return compression
    raise UnimplementedError(
        None, None, f"Compression {compression!r} of saved elements: use 'GZIP' or None."
    )


def _wrap(node: Any) -> Any:
    made = Dataset.__new__(Dataset)
    made.node = node
    return made


def _unwrap(value: Any) -> Node | None:
    if isinstance(value, Node):
        return value
    return value.node if isinstance(value, DatasetBase) else None


def _stand_in(spec: Any) -> Any:
    """A dataset without elements for a `DatasetSpec`."""
    if isinstance(spec, DatasetSpec):
        return Empty(spec.element_spec, guessed_shapes(spec.element_spec))
    return None


staging.install()
WRAPPING.wrap = _wrap
WRAPPING.unwrap = _unwrap
WRAPPING.spec = lambda spec: DatasetSpec(spec.spec if isinstance(spec, Node) else spec)
DatasetSpec.register_value_type(Dataset)
SPEC_OF.value = lambda value: leaves_of(value)[0]
STAND_INS.of = _stand_in
