"""What every dataset can be asked: its elements, their specs, how many there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapejax._src.data.iterator import STAGED, NumpyIterator, OwnedIterator
from tapejax._src.data.node import INFINITE, UNKNOWN, Node
from tapejax._src.data.options import Options
from tapejax._src.data.structure import WRAPPING, constant_tensor, leaf_of
from tapejax._src.engine.recorder import LOCAL


def as_int(value: Any) -> int:
    """A number given as a Python number, array or tensor."""
    if type(value) is int:
        return value
    array = np.asarray(leaf_of(value))
    if array.dtype.kind not in "iu" or array.shape != ():
        raise TypeError(f"Expected an integer scalar, got {value!r}.")
    return int(array)


class DatasetBase:
    """A sequence of elements: the part that all datasets share.

    Attributes:
        node: What it consists of.
    """

    node: Node
    _options: Options | None = None

    # ------------------------------------------------------------------ what it is
    @property
    def element_spec(self) -> Any:
        """The structure of its elements, with a `tf.TypeSpec` for each component."""
        return self.node.spec

    def __repr__(self) -> str:
        return f"<{self.node.name} element_spec={self.element_spec}>"

    def cardinality(self) -> Any:
        """How many elements there are.

        Returns:
            An int64 scalar: `tf.data.INFINITE_CARDINALITY` for a dataset without end,
            `tf.data.UNKNOWN_CARDINALITY` where it cannot be told beforehand.

        Example:
            >>> import tapejax as tf
            >>> int(tf.data.Dataset.range(10).batch(3).cardinality())
            4
        """
        return constant_tensor(np.array(self.node.cardinality(), np.int64))

    def __len__(self) -> int:
        """The number of elements.

        Raises:
            TypeError: If it is infinite or unknown.
        """
        count = self.node.cardinality()
        if count == INFINITE:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self) -> bool:
        return True

    def __nonzero__(self) -> bool:
        return True

    def __deepcopy__(self, memo: Any) -> DatasetBase:
        return self

    @property
    def output_types(self) -> Any:
        """The dtypes of the components (TensorFlow 1's name)."""
        raise AttributeError("Dataset has no attribute 'output_types'; use element_spec")

    # ------------------------------------------------------------------ its elements
    def __iter__(self) -> OwnedIterator:
        if LOCAL.recorder.symbolic is not None:
            STAGED.refuse("it makes an iterator")
        return OwnedIterator(self, self.node)

    def as_numpy_iterator(self) -> NumpyIterator:
        """An iterator over the elements as NumPy arrays and scalars.

        Example:
            >>> import tapejax as tf
            >>> [int(x) for x in tf.data.Dataset.range(3).as_numpy_iterator()]
            [0, 1, 2]
        """
        return NumpyIterator(self)

    # ------------------------------------------------------------------ options
    def options(self) -> Options:
        """The options it was given, and those of the datasets it is made of."""
        return self._options or Options()

    def _then(self, node: Node) -> Any:
        """The dataset of a node that follows this one."""
        made: Any = WRAPPING.wrap(node)
        made._options = self._options
        return made

    def fingerprint(self) -> Any:
        """Refused: pipelines hold Python functions, which have no fingerprint."""
        raise NotImplementedError(
            "Dataset.fingerprint: a pipeline of Python functions has none. Compare element_spec "
            "and cardinality()."
        )

    def apply(self, transformation_func: Callable[[Any], Any]) -> Any:
        """Call a function of the dataset: `dataset.apply(f)` is `f(dataset)`.

        Args:
            transformation_func: Takes a dataset and returns one.

        Returns:
            The dataset it returns.

        Raises:
            TypeError: If it returns something else.
        """
        found = transformation_func(self)
        if not isinstance(found, DatasetBase):
            raise TypeError(
                f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(found)}."
            )
        return found


def check_dataset(value: Any, what: str) -> Node:
    """The node of a dataset.

    Raises:
        TypeError: If it is none.
    """
    node = WRAPPING.unwrap(value)
    if node is None:
        raise TypeError(f"{what} must be a `tf.data.Dataset`, got {type(value)}.")
    return node
