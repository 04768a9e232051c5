"""Iterators over datasets."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.specs import TypeSpec
from tapejax._src.data.node import Node
from tapejax._src.data.structure import (
    Leaves,
    constant_tensor,
    is_composite,
    pack,
    packer,
    value_of,
)
from tapejax._src.engine.recorder import LOCAL

_FORKED = "save and restore of an iterator: save a step number, and skip(step) the dataset instead"


class Staged:
    """What iterating does in a function that is being traced; set by `staging.py`."""

    next: Callable[[Cursor], Any]
    """The next element."""
    refuse: Callable[[str], Any]
    """Raises what makes the function run as Python."""


class Cursor:
    """Where an iterator stands.

    Args:
        node: What the dataset consists of.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._stream = node.stream()
        self._lock = threading.Lock()
        self._back: collections.deque[Leaves] = collections.deque()

    def take(self) -> Leaves:
        """The leaves of the next element.

        Raises:
            StopIteration: At the end.
        """
        with self._lock:
            return self._back.popleft() if self._back else next(self._stream)

    def give_back(self, leaves: Leaves) -> None:
        """Make this the next element."""
        self._back.appendleft(leaves)

    @property
    def spec(self) -> Any:
        """The specs of the elements."""
        return self._node.spec

    @property
    def structure(self) -> Any:
        """The structure of the elements, one of which has been taken."""
        return self._node.structure


STAGED = Staged()


class Iterator:
    """The elements of a dataset one by one: what `iter(dataset)` returns.

    Example:
        >>> import tapejax as tf
        >>> iterator = iter(tf.data.Dataset.range(2))
        >>> isinstance(iterator, tf.data.Iterator), int(next(iterator)), int(iterator.get_next())
        (True, 0, 1)
    """

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        raise NotImplementedError("Iterator.element_spec")

    def get_next(self) -> Any:
        """The next element; `OutOfRangeError` at the end."""
        raise NotImplementedError("Iterator.get_next()")

    def get_next_as_optional(self) -> Any:
        """The next element as a `tf.experimental.Optional`, empty at the end."""
        raise NotImplementedError("Iterator.get_next_as_optional()")


class OwnedIterator(Iterator):
    """The iterator over one dataset.

    Args:
        dataset: The dataset; it is kept.
        node: What it consists of.
    """

    def __init__(self, dataset: Any, node: Node) -> None:
        self._dataset = dataset
        self.cursor = Cursor(node)
        self._values: Callable[[Leaves], Any] | None = None

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self.cursor.spec

    def __iter__(self) -> OwnedIterator:
        if LOCAL.recorder.symbolic is not None:
            STAGED.refuse("it goes over an iterator")
        return self

    def __next__(self) -> Any:
        if LOCAL.recorder.symbolic is not None:
            return STAGED.next(self.cursor)
        leaves = self.cursor.take()
        if self._values is None:
            self._values = _values_for(self.cursor.structure, leaves)
        return self._values(leaves)

    def get_next(self) -> Any:
        """The next element.

        Raises:
            OutOfRangeError: At the end.
        """
        try:
            return next(self)
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "End of sequence") from None

    def get_next_as_optional(self) -> Optional:
        """The next element, if there is one."""
        try:
            return Optional.from_value(next(self))
        except StopIteration:
            return Optional.empty(self.element_spec)


def _values_for(structure: Any, leaves: Leaves) -> Callable[[Leaves], Any]:
    """The function that makes of leaves what the user sees."""
    build = packer(structure)
    if all(type(leaf) is np.ndarray for leaf in leaves):
        if len(leaves) == 1:
            return lambda leaves: build((constant_tensor(leaves[0]),))
        return lambda leaves: build([constant_tensor(leaf) for leaf in leaves])
    return lambda leaves: build([value_of(leaf) for leaf in leaves])


class NumpyIterator:
    """The elements as NumPy arrays: what `dataset.as_numpy_iterator()` returns.

    Args:
        dataset: The dataset.
    """

    def __init__(self, dataset: Any) -> None:
        self._iterator: Any = iter(dataset)

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator!r})"

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        leaves = self._iterator.cursor.take()
        return pack(self._iterator.cursor.structure, [_to_numpy(leaf) for leaf in leaves])

    def next(self) -> Any:
        """The next element."""
        return next(self)

    def save(self) -> Any:
        """Refused: iterators cannot be saved."""
        raise NotImplementedError(_FORKED)

    def restore(self, state: Any) -> None:
        """Refused: iterators cannot be saved."""
        raise NotImplementedError(_FORKED)


def _to_numpy(leaf: Any) -> Any:
    if isinstance(leaf, np.ndarray):
        array: np.ndarray[Any, Any] = leaf
        if array.ndim == 0:
            return array[()]
        seen = array.view()
        seen.setflags(write=False)
        return seen
    if leaf is None or is_composite(leaf):
        return leaf
    return NumpyIterator(value_of(leaf))


class Optional:
    """A value, or none: what `iterator.get_next_as_optional()` returns.

    Example:
        >>> import tapejax as tf
        >>> iterator = iter(tf.data.Dataset.range(1))
        >>> iterator.get_next_as_optional().has_value().numpy()
        np.True_
        >>> iterator.get_next_as_optional().has_value().numpy()
        np.False_
    """

    _value: Any = None
    _spec: Any = None
    _has = False

    @staticmethod
    def from_value(value: Any) -> Optional:
        """One that has a value."""
        made = Optional()
        made._value, made._has = value, True
        return made

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """One that has none.

        Args:
            element_spec: The spec of what it might have had.
        """
        made = Optional()
        made._spec = element_spec
        return made

    def has_value(self, name: str | None = None) -> Any:
        """Whether there is a value: a bool scalar."""
        del name
        return constant_tensor(np.array(self._has))

    def get_value(self, name: str | None = None) -> Any:
        """The value.

        Raises:
            InvalidArgumentError: If there is none.
        """
        del name
        if not self._has:
            raise errors.InvalidArgumentError(
                None, None, "The given optional does not have a value."
            )
        return self._value

    @property
    def element_spec(self) -> Any:
        """The spec of the value."""
        if not self._has:
            return self._spec
        from_value: Any = SPEC_OF.value(self._value)
        return from_value


class _SpecOf:
    """How a value's spec is found; set by `dataset.py`."""

    value: Callable[[Any], Any]


SPEC_OF = _SpecOf()


class DatasetSpec(TypeSpec):
    """The type of a dataset.

    Args:
        element_spec: The specs of its elements.
        dataset_shape: The shape of a tensor of datasets; `()` for one.
    """

    __slots__ = ("_element_spec", "_shape")

    def __init__(self, element_spec: Any, dataset_shape: Sequence[int] = ()) -> None:
        self._element_spec = element_spec
        self._shape = tuple(dataset_shape)

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec, self._shape)

    def __hash__(self) -> int:
        return hash((DatasetSpec, repr(self._element_spec)))

    __eq__ = TypeSpec.__eq__

    @staticmethod
    def from_value(value: Any) -> DatasetSpec:
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    @classmethod
    def _of_value(cls, value: Any) -> TypeSpec | None:
        spec = getattr(value, "element_spec", None)
        if isinstance(value, TypeSpec) or spec is None:
            return value if isinstance(value, cls) else None
        return DatasetSpec(spec)

    def __repr__(self) -> str:
        return f"DatasetSpec({self._element_spec!r}, TensorShape({list(self._shape)}))"


class IteratorSpec(TypeSpec):
    """The type of an iterator.

    Args:
        element_spec: The specs of its elements.
    """

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    def __hash__(self) -> int:
        return hash((IteratorSpec, repr(self._element_spec)))

    __eq__ = TypeSpec.__eq__

    @staticmethod
    def from_value(value: Any) -> IteratorSpec:
        """The spec of an iterator."""
        return IteratorSpec(value.element_spec)

    @classmethod
    def _of_value(cls, value: Any) -> TypeSpec | None:
        if isinstance(value, Iterator):
            return IteratorSpec(value.element_spec)
        return value if isinstance(value, cls) else None

    def __repr__(self) -> str:
        return f"IteratorSpec({self._element_spec!r})"
