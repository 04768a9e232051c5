"""How a `tf.TensorArray` keeps its elements: a list of tensors, or one buffer with a row for each.

A list where indices are known; a buffer once an index depends on a tensor or a loop carries it.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from tapejax._src.core.dtypes import DType
from tapejax._src.core.errors import InvalidArgumentError, OutOfRangeError
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, static_tensor
from tapejax._src.engine.definitions import ValueCheck
from tapejax._src.engine.effects import is_host
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record
from tapejax._src.ops.creation import zeros
from tapejax._src.ops.joining import concat, stack, unstack


def _outside(buffer: Any, index: Any) -> tuple[Any, ...]:
    count = buffer.shape[0]
    return (index < 0) | (index >= count), index, jnp.asarray(count)


def _message(verb: str) -> Any:
    return lambda index, count, *_: (
        f"Trying to {verb} element {int(index)} in a list with {int(count)} elements."
    )


WRITE = Kernel(
    "tensor_array_write",
    lambda buffer, index, value: lax.dynamic_update_index_in_dim(buffer, value, index, 0),
    node="TensorListSetItem",
    check=ValueCheck(lambda buffer, index, value: _outside(buffer, index), _message("modify")),
)
READ = Kernel(
    "tensor_array_read",
    lambda buffer, index: lax.dynamic_index_in_dim(buffer, index, 0, keepdims=False),
    node="TensorListGetItem",
    check=ValueCheck(_outside, _message("access")),
)
GROWN = Kernel(
    "tensor_array_size",
    lambda size, index: jnp.maximum(size, index.astype(size.dtype) + 1),
    gradient="none",
)
WHOLE = Kernel(
    "tensor_array_stack",
    lambda buffer, size: buffer,
    node="TensorListStack",
    check=ValueCheck(
        lambda buffer, size: (size != buffer.shape[0], size, jnp.asarray(buffer.shape[0])),
        lambda size, count, *_: (
            f"A TensorArray of {int(size)} elements is stacked in a function that was compiled for "
            f"{int(count)}: the result's shape must be known when the function is traced. Give the "
            "TensorArray its size, or stack it outside the function."
        ),
    ),
)


def index_value(index: Any) -> int | None:
    """An index as a Python int, or None while it is not known."""
    if isinstance(index, Variable):
        return int(index.tensor) if is_host([index.tensor]) else None
    if not isinstance(index, Tensor):
        return int(index)
    if isinstance(index.array, Tracer):
        return None
    if is_host([index]):
        return int(index)
    if index.array is not None:
        return int(np.asarray(index.array)) if getattr(index, "cell", None) is None else None
    known = LOCAL.recorder.node.known(index.index) if index.recorder is LOCAL.recorder else None
    return None if known is None else int(known)


def index_values(indices: Any) -> list[int] | None:
    """Several indices as Python ints, or None while they are not known."""
    if isinstance(indices, (Tensor, Variable)):
        tensor = as_tensor(indices)
        if not is_host([tensor]) and (tensor.array is None or isinstance(tensor.array, Tracer)):
            return None
        return [int(i) for i in tensor.view()]
    found = [index_value(i) for i in indices]
    return None if any(i is None for i in found) else [i for i in found if i is not None]


class ElementStore:
    """The elements of a `tf.TensorArray`.

    Attributes:
        dtype: Their dtype.
        is_dynamic: Whether writing beyond the end makes it longer.
        infers: Whether all elements must have one shape.
        shape: Their shape, as far as it is known.
        items: The elements, None where none was written; empty while there is a buffer.
        buffer: A row for each element, or None. (In a template of a structure: whatever is in place
            of the tensor.)
        count: The number of elements, beside a buffer that may have spare rows; else None.
        cleared: Places whose elements were taken out.
    """

    def __init__(
        self, dtype: DType, size: int, is_dynamic: bool, infers: bool, shape: TensorShape
    ) -> None:
        self.dtype = dtype
        self.is_dynamic = is_dynamic
        self.infers = infers
        self.shape = shape
        self.items: list[Tensor | None] = [None] * size
        self.buffer: Any = None
        self.count: Any = None
        self.cleared: set[int] = set()

    def copy(self) -> ElementStore:
        """A store with the same elements, to be changed independently."""
        made = object.__new__(ElementStore)
        made.__dict__.update(self.__dict__)
        made.items = list(self.items)
        made.cleared = set(self.cleared)
        return made

    def settle(self) -> None:
        """Outside functions a buffer, such as a function returned, becomes a list again."""
        if self.buffer is not None and is_host(self.components()):
            self.items = list(unstack(self.stacked())) if self.capacity() else []
            self.buffer = self.count = None

    def hold(self, buffer: Any, count: Any) -> None:
        """Keep the elements in a buffer."""
        self.items, self.buffer = [], buffer
        self.count = as_tensor(count) if self.is_dynamic else None

    def components(self) -> list[Any]:
        """The buffer, and the number of elements if it can change; [] while no shape is known."""
        if self.buffer is None and not self.has_shape():
            return []
        return [self.rows(), self.counted()] if self.is_dynamic else [self.rows()]

    def capacity(self) -> int:
        """The number of rows of the buffer."""
        return self.buffer.shape[0]

    def length(self) -> int:
        """The number of places."""
        return len(self.items) if self.buffer is None else self.capacity()

    def counted(self) -> Any:
        """The number of elements, as a tensor where a loop changes it."""
        if self.buffer is not None and self.count is not None:
            return self.count
        return static_tensor(np.int32(self.length()))

    def has_shape(self) -> bool:
        """Whether the shape of an element is known."""
        written = any(item is not None for item in self.items)
        return self.shape.is_fully_defined() or written

    def _zero(self) -> Tensor:
        shape = self.shape
        for item in self.items:
            if not shape.is_fully_defined() and item is not None and self.infers:
                shape = item.shape
        if not shape.is_fully_defined():
            raise ValueError(
                f"Cannot convert a partially known TensorShape {shape} to a Tensor: an element of "
                "the TensorArray was not written, and its shape is not known. Write it first, or "
                "pass element_shape."
            )
        return zeros(shape, self.dtype)

    def item(self, place: int) -> Tensor:
        """An element of the list; zeros if it was not written."""
        found = self.items[place]
        return self._zero() if found is None else found

    def rows(self) -> Any:
        """All places in one buffer."""
        if self.buffer is not None:
            return self.buffer
        if self.items:
            return stack([self.item(place) for place in range(len(self.items))])
        known = self.shape.is_fully_defined()
        return zeros([0, *(self.shape.as_list() if known else ())], self.dtype)

    def stacked(self) -> Tensor:
        """The elements in one tensor."""
        if self.buffer is None or not self.is_dynamic:
            return self.rows()
        count = index_value(self.count)
        if count is not None:
            return self.buffer if count == self.capacity() else self.buffer[:count]
        return record(WHOLE, [self.buffer, self.count])

    def read(self, index: Any) -> Tensor:
        """An element by an index that is not known, or of a buffer."""
        return record(READ, [self.rows(), as_tensor(index)])

    def write(self, index: Any, tensor: Tensor) -> None:
        """Put an element in its place."""
        place = index_value(index)
        if place is not None:
            self.reach(place)
        if self.infers:
            self.shape = self.shape.merge_with(tensor.shape)
        if place is not None and self.buffer is None:
            self.items[place] = tensor
            return
        where, rows, count = as_tensor(index), self.rows(), self.counted()
        if self.is_dynamic and not rows.shape[0]:
            rows = zeros([1, *tensor.shape.as_list()], self.dtype)  # a loop makes room: array_room
        self.hold(record(WRITE, [rows, where, tensor]), count)
        if self.is_dynamic:
            self.count = record(GROWN, [self.count, where])

    def reach(self, place: int) -> None:
        """Make the array long enough for a place."""
        if place < 0:
            raise OutOfRangeError(
                None, None, f"Writing to negative indices (index {place}) is not allowed."
            )
        size = self.length()
        if place < size:
            return
        if not self.is_dynamic:
            raise OutOfRangeError(
                None,
                None,
                f"Tried to write to index {place} but array is not resizeable and size is: {size} ",
            )
        if self.buffer is None:
            self.items += [None] * (place - size + 1)
        else:
            self.grow(place + 1)

    def grow(self, capacity: int) -> None:
        """Give the buffer more rows, without changing the number of elements."""
        more = capacity - self.capacity()
        if more > 0:
            rows = zeros([more, *self.shape.as_list()], self.dtype)
            self.buffer = concat([self.buffer, rows], 0) if self.capacity() else rows

    def converted(self, value: Any) -> Tensor:
        """A value as a tensor, of the dtype of the elements if it can be."""
        if isinstance(value, (Tensor, Variable)):
            return as_tensor(value)
        try:
            return as_tensor(value, self.dtype)
        except (TypeError, ValueError):  # TensorFlow only prefers the dtype here
            return as_tensor(value)

    def checked(self, value: Any) -> Tensor:
        """A value as a tensor that may be written.

        Raises:
            InvalidArgumentError: If it has another dtype.
            ValueError: If it has another shape.
        """
        tensor = self.converted(value)
        if tensor.dtype != self.dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype "
                f"{tensor.dtype.name} ",
            )
        if not self.shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"Incompatible shape for value ({tensor.shape}), expected ({self.shape})"
            )
        return tensor
