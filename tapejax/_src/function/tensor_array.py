"""`tf.TensorArray`: tensors written and read one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.errors import InvalidArgumentError, OutOfRangeError
from tapejax._src.core.nest import register_composite
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, static_ints, static_tensor
from tapejax._src.engine.effects import is_host
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.registry import public
from tapejax._src.function.element_store import ElementStore, index_value, index_values
from tapejax._src.ops.gathering import gather
from tapejax._src.ops.joining import concat, split, stack, unstack
from tapejax._src.ops.shaping import reshape


@public("TensorArray")
class TensorArray:
    """A list of tensors of one dtype, for values that a loop produces or consumes.

    Args:
        dtype: dtype of the elements.
        size: Number of elements, known when a function is traced.
        dynamic_size: Whether writing beyond the end makes it longer. Default: False.
        clear_after_read: Whether reading an element outside functions takes it out. Default: True.
        tensor_array_name: Accepted for compatibility.
        handle: Not supported.
        flow: Accepted for compatibility.
        infer_shape: Whether all elements must have one shape.
        element_shape: The shape of each element, which may be partly known.
        colocate_with_first_write_call: Accepted for compatibility.
        name: Accepted for compatibility.

    Raises:
        ValueError: If `size` is missing or `handle` is given.

    Example:
        >>> import tapejax as tf
        >>> squares = tf.TensorArray(tf.int32, size=3)
        >>> for i in range(3):
        ...     squares = squares.write(i, i * i)
        >>> squares.stack().numpy().tolist()
        [0, 1, 4]

    Differs from TensorFlow:
        Inside functions an element that was not written reads as zeros where the index depends on a
        tensor. `stack()` of a `dynamic_size` array needs to know the size when the function is
        traced; if it turns out different, `InvalidArgumentError` says so. `grad` does not exist.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        del tensor_array_name, flow, colocate_with_first_write_call, name
        if handle is not None:
            raise ValueError(
                "TensorArray handles are not supported when eager execution is enabled: make a new "
                "TensorArray, without `handle`."
            )
        if size is None:
            raise ValueError(
                "Size must be declared for TensorArrays when eager execution is enabled. Pass "
                "size=n, or size=0 with dynamic_size=True."
            )
        self._clear_after_read = clear_after_read is None or bool(clear_after_read)
        self._store = ElementStore(
            as_dtype(dtype),
            static_ints(size),
            bool(dynamic_size),
            bool(infer_shape),
            TensorShape(element_shape),
        )

    # ------------------------------------------------------------------ what it is
    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._store.dtype

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the elements, as far as it is known."""
        return self._store.shape

    @property
    def dynamic_size(self) -> bool:
        """Whether writing beyond the end makes it longer."""
        return self._store.is_dynamic

    @property
    def handle(self) -> None:
        """None: there is no resource behind it."""
        return None

    @property
    def flow(self) -> Tensor:
        """A scalar without meaning, for compatibility."""
        return static_tensor(np.int32(0))

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements.

        Args:
            name: Accepted for compatibility.

        Returns:
            An int32 scalar.
        """
        del name
        store = self._settled()
        if store.buffer is None or store.is_dynamic:
            return store.counted()
        return static_tensor(np.int32(store.capacity()))

    def identity(self) -> TensorArray:
        """The array itself."""
        return self

    def close(self, name: str | None = None) -> None:
        """Drop all elements.

        Args:
            name: Accepted for compatibility.
        """
        del name
        if LOCAL.recorder.symbolic is None:
            self._settled().items = []

    # ------------------------------------------------------------------ one element
    def read(self, index: Any, name: str | None = None) -> Tensor:
        """One element.

        Args:
            index: Its place, an integer scalar.
            name: Accepted for compatibility.

        Returns:
            A tensor of the array's dtype; zeros if it was not written but its shape is known.

        Raises:
            OutOfRangeError: If there is no such element.
            InvalidArgumentError: If it was taken out by an earlier `read`; inside a function, if an
                index that depends on a tensor is out of range.
        """
        del name
        store = self._settled()
        place = index_value(index)
        if place is None or store.buffer is not None:
            return store.read(index)
        if place < 0:
            raise OutOfRangeError(
                None, None, f"Reading from negative indices (index {place}) is not allowed."
            )
        if place >= len(store.items):
            raise OutOfRangeError(
                None,
                None,
                f"Tried to read from index {place} but array size is: {len(store.items)} ",
            )
        if store.items[place] is None and place in store.cleared:
            _refuse(
                f"Could not read index {place} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)"
            )
        tensor = store.item(place)
        if LOCAL.recorder.symbolic is None and self._clear_after_read:
            store.items[place] = None
            store.cleared.add(place)
        return tensor

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Put an element in its place.

        Args:
            index: The place, an integer scalar.
            value: A tensor of the array's dtype.
            name: Accepted for compatibility.

        Returns:
            The array with the element: outside functions this very array, inside another one.

        Raises:
            OutOfRangeError: If there is no such place.
            InvalidArgumentError: If `value` has another dtype; inside a function, if an index that
                depends on a tensor is out of range.
            ValueError: If its shape is not that of the other elements.
        """
        del name
        tensor = self._settled().checked(value)
        changed = self._changeable([tensor])
        changed._store.write(index, tensor)
        return changed

    # ------------------------------------------------------------------ all or several
    def stack(self, name: str | None = None) -> Tensor:
        """All elements in one tensor.

        Args:
            name: Accepted for compatibility.

        Returns:
            `[size, ...]` tensor.

        Raises:
            ValueError: If an element was not written and its shape is not known.
        """
        del name
        return self._settled().stacked()

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Several elements in one tensor.

        Args:
            indices: Their places, an integer vector.
            name: Accepted for compatibility.

        Returns:
            `[len(indices), ...]` tensor.
        """
        del name
        store = self._settled()
        places = index_values(indices) if store.buffer is None else None
        if places is None:
            return gather(store.rows(), indices)
        return stack([store.item(place) for place in places])

    def concat(self, name: str | None = None) -> Tensor:
        """All elements joined along their first axis.

        Args:
            name: Accepted for compatibility.

        Returns:
            A tensor of the elements' rank.

        Raises:
            InvalidArgumentError: If the elements are scalars.
        """
        del name
        store = self._settled()
        items = [store.item(place) for place in range(len(store.items))]
        ranks = [item.ndim for item in items] or [len(store.rows().shape) - 1]
        if 0 in ranks:
            _refuse(
                f"Concat saw a scalar shape at index {ranks.index(0)} but requires at least "
                "vectors."
            )
        if items:
            return concat(items, 0)
        rows = store.stacked()
        return reshape(rows, [-1, *rows.shape.as_list()[2:]])

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Take the parts of a tensor along its first axis as the elements.

        Args:
            value: `[n, ...]` tensor.
            name: Accepted for compatibility.

        Returns:
            The array: outside functions this very one, inside another one.

        Raises:
            ValueError: If there are more parts than places.
        """
        del name
        store = self._settled()
        tensor = as_tensor(value)
        count = tensor.aval.shape[0] if tensor.ndim else 0
        if count > store.length() and not store.is_dynamic:
            raise ValueError(
                f"Cannot unstack {count} tensors into a TensorArray of static size "
                f"{store.length()} "
            )
        changed = self._changeable([tensor])
        if changed is self or not tensor.ndim:
            store.items = list(unstack(tensor))
        else:
            changed._store.shape = TensorShape(tensor.shape.as_list()[1:])
            changed._store.hold(tensor, static_tensor(np.int32(count)))
        return changed

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Put the parts of a tensor along its first axis in their places.

        Args:
            indices: The places, an integer vector.
            value: `[len(indices), ...]` tensor.
            name: Accepted for compatibility.

        Returns:
            The array: outside functions this very one, inside another one.
        """
        del name
        places = index_values(indices)
        each = unstack(as_tensor(indices)) if places is None else places
        changed = self
        for place, part in zip(each, unstack(as_tensor(value)), strict=False):
            changed = changed.write(place, part)
        return changed

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Take consecutive slices of a tensor as the elements.

        Args:
            value: `[n, ...]` tensor.
            lengths: The length of each slice, an integer vector known when a function is traced.
            name: Accepted for compatibility.

        Returns:
            The array: outside functions this very one, inside another one.

        Raises:
            InvalidArgumentError: If `lengths` does not fit `value` or the size of the array.
        """
        del name
        store = self._settled()
        tensor = store.converted(value)
        shape = as_tensor(lengths).shape
        if shape.rank != 1:
            _refuse(f"Expected lengths to be a vector, received shape: {shape.as_list()} ")
        sizes = list(static_ints(lengths))
        if not tensor.ndim:
            _refuse("Expected value to be at least a vector, but received shape: [] ")
        if sum(sizes) != tensor.shape[0]:
            _refuse(
                "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sum(sizes)} and value's shape is: {tensor.shape.as_list()} "
            )
        if not store.is_dynamic and len(sizes) != store.length():
            _refuse(
                "TensorArray's size is not equal to the size of lengths "
                f"({store.length()} vs. {len(sizes)}), and the TensorArray is not marked as "
                "dynamically resizeable."
            )
        changed = self._changeable([tensor])
        changed._store.items, changed._store.buffer = list(split(tensor, sizes)), None
        return changed

    # ------------------------------------------------------------------ as tensors
    def components(self) -> list[Any]:
        """The tensors it consists of, for a loop to carry.

        Returns:
            The buffer `[capacity, ...]`, and the int32 size if the size is dynamic. Nothing while
            no element was written and their shape is not known.
        """
        return self._store.components()

    def form(self) -> tuple[int, int]:
        """How many components there are, and how many places (with spare ones)."""
        store = self._store
        known = store.buffer is not None or store.has_shape()
        return known * (1 + store.is_dynamic), store.length()

    def with_components(self, tensors: Sequence[Any]) -> TensorArray:
        """An array like this one that consists of other tensors.

        Args:
            tensors: What `components` of an array like this one gives.
        """
        made = self._wrapped(self._store.copy())
        if tensors:
            made._store.items, made._store.buffer = [], tensors[0]
            made._store.count = tensors[1] if len(tensors) > 1 else None
            if isinstance(tensors[0], Tensor) and made._store.infers:
                made._store.shape = TensorShape(tensors[0].shape.as_list()[1:])
        return made

    def reserve(self, capacity: int, element_shape: Any = None) -> TensorArray:
        """The same elements in a buffer that has room for at least `capacity`.

        Args:
            capacity: How many elements there may be.
            element_shape: Their shape, if no element was written yet.
        """
        made = self._wrapped(self._store.copy())
        store = made._store
        if element_shape is not None:
            store.shape = store.shape.merge_with(element_shape)
        store.hold(store.rows(), store.counted())
        store.grow(capacity)
        return made

    def _wrapped(self, store: ElementStore) -> TensorArray:
        made = object.__new__(TensorArray)
        made._clear_after_read = self._clear_after_read
        made._store = store
        return made

    def _settled(self) -> ElementStore:
        self._store.settle()
        return self._store

    def _changeable(self, values: Sequence[Tensor]) -> TensorArray:
        """What a change is made to: this array, but a copy of it inside a function."""
        held = [] if self._store.buffer is None else [self._store.buffer]
        return self if is_host([*values, *held]) else self._wrapped(self._store.copy())


def _refuse(message: str) -> NoReturn:
    raise InvalidArgumentError(None, None, message)


register_composite(TensorArray, TensorArray.components, TensorArray.with_components)
