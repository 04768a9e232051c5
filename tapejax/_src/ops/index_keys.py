"""What is written between the brackets of `tensor[...]`, as a static key and dynamic integers.

A key is a tuple with one entry for each dimension of the tensor and for each new dimension:

* `("whole",)` keeps the dimension, `("new",)` inserts one of size 1;
* `("part", start, size, step)` keeps `size` elements, `start` being the first one taken;
* `("at", index)` takes one element and drops the dimension;
* `("window", size)` is a part of step 1, and `("take", checked)` takes one element, with the start
  or index as a dynamic scalar: such a key does not depend on its value. A `checked` index may be
  negative or out of range.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from tapejax._src.core.avals import StaticKey
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, known_value
from tapejax._src.engine.recorder import LOCAL

Entry = tuple[Any, ...]
IndexKey = tuple[Entry, ...]
WHOLE: Entry = ("whole",)
NEW: Entry = ("new",)

_INDEX_DTYPES = ("int16", "int32", "int64")


def is_mask(index: Any) -> bool:
    """Whether an index is a Boolean mask."""
    dtype = getattr(index, "dtype", None)
    return isinstance(index, bool) or (
        dtype is not None and dtype == np.bool_ and not isinstance(index, np.generic)
    )


def _refuse(index: Any) -> TypeError:
    return TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {index!r}"
    )


def _is_scalar_tensor(index: Any) -> bool:
    """Whether an index is an array of rank 0 of a dtype that can count."""
    dtype, shape = getattr(index, "dtype", None), getattr(index, "shape", None)
    if dtype is None or shape is None:
        return False
    name = getattr(dtype, "name", None)
    return len(shape) == 0 and (name in _INDEX_DTYPES or isinstance(index, np.integer))


def _checked(index: Any) -> None:
    """Refuse what cannot be an index or the bound of a slice."""
    if isinstance(index, bool):
        raise InvalidArgumentError(
            "Value for attr 'Index' of bool is not in the list of allowed values: int16, int32, "
            "int64: a Boolean mask must be an array or tensor and stand alone, as in x[mask]"
        )
    is_integer = isinstance(index, numbers.Integral) or hasattr(type(index), "__index__")
    has_shape = hasattr(index, "shape")
    if not (_is_scalar_tensor(index) or (is_integer and not has_shape)):
        raise _refuse(index)


def _host_int(index: Any) -> int:
    """The value of an index: a tensor's value is read."""
    if isinstance(index, (Tensor, Variable)):
        return int(known_value(as_tensor(index)))
    return int(index.__index__()) if hasattr(index, "__index__") else int(index)


def _is_dynamic(index: Any) -> bool:
    """Whether an index is a value that only a run knows, unlike a number or `tf.shape(x)[0]`."""
    if not isinstance(index, (Tensor, Variable)):
        return False
    tensor = as_tensor(index)
    if tensor.array is not None:
        return not isinstance(tensor.key, StaticKey)
    return tensor.recorder is not LOCAL.recorder or LOCAL.recorder.node.known(tensor.index) is None


class _Reader:
    """Walks along the dimensions and collects the entries."""

    def __init__(self, shape: tuple[int, ...], dynamic_starts: bool) -> None:
        self.shape = shape
        self.dynamic_starts = dynamic_starts
        self.dim = 0
        self.entries: list[Entry] = []
        self.dynamic: list[Any] = []

    def size(self) -> int:
        """The size of the next dimension."""
        if self.dim >= len(self.shape):
            if not self.shape:
                raise InvalidArgumentError("Attempting to slice scalar input.")
            raise InvalidArgumentError(
                f"Index out of range using input dim {self.dim}; "
                f"input has only {len(self.shape)} dims"
            )
        return self.shape[self.dim]

    def ellipsis(self, count: int) -> None:
        """Keep dimensions whole."""
        self.entries += [WHOLE] * count
        self.dim += count

    def element(self, index: Any) -> None:
        """Take one element."""
        size = self.size()
        if _is_dynamic(index):
            self.entries.append(("take", True))
            self.dynamic.append(index)
        else:
            self.fixed_element(_host_int(index), size)
        self.dim += 1

    def fixed_element(self, index: int, size: int) -> None:
        """Take the element of a known index."""
        place = index + size if index < 0 else index
        if not 0 <= place < size:
            raise InvalidArgumentError(
                f"slice index {place} of dimension {self.dim} out of bounds."
            )
        if self.dynamic_starts:
            self.entries.append(("take", False))
            self.dynamic.append(place)
        else:
            self.entries.append(("at", place))

    def part(self, bounds: slice) -> None:
        """Take the elements of a slice, clamped as Python clamps."""
        size = self.size()
        for bound in (bounds.start, bounds.stop, bounds.step):
            if bound is not None:
                _checked(bound)
        start, stop, step = (
            None if bound is None else _host_int(bound)
            for bound in (bounds.start, bounds.stop, bounds.step)
        )
        if step == 0:
            raise InvalidArgumentError(f"strides[{self.dim}] must be non-zero")
        taken = range(*slice(start, stop, step).indices(size))
        self.keep(taken, size)
        self.dim += 1

    def keep(self, taken: range, size: int) -> None:
        """Add the entry for the elements of a range."""
        if taken == range(size):
            self.entries.append(WHOLE)
        elif self.dynamic_starts and taken.step == 1 and len(taken):
            self.entries.append(("window", len(taken)))
            self.dynamic.append(taken.start)
        else:
            start = taken.start if len(taken) else 0
            step = taken.step if len(taken) > 1 else 1
            self.entries.append(("part", start, len(taken), step))


def canonicalise_index(
    spec: Any, shape: tuple[int, ...], dynamic_starts: bool = False
) -> tuple[IndexKey, list[Any]]:
    """Split an index into what is static and the integers that are not.

    Args:
        spec: What stands between the brackets: an int, slice, `...`, None, integer tensor of rank
            0, or a tuple or list of them. Not a Boolean mask (see `is_mask`).
        shape: The shape of the indexed tensor.
        dynamic_starts: Whether Python ints too, and the starts of slices of step 1, are left out of
            the key (an index that changes from step to step then shares one program).

    Returns:
        The key, and the dynamic integers in the order of its window and take entries: tensors,
        or (with `dynamic_starts`) ints in range.

    Raises:
        TypeError: If an index is of another type.
        InvalidArgumentError: If an index is out of range or there are too many.
    """
    parts: list[Any] = list(spec) if isinstance(spec, (tuple, list)) else [spec]
    if len({isinstance(part, bool) for part in parts}) > 1:
        raise _refuse(spec)
    for part in parts:
        if not (part is None or part is Ellipsis or isinstance(part, slice)):
            _checked(part)
    ellipses = sum(part is Ellipsis for part in parts)
    if ellipses > 1:
        raise InvalidArgumentError("Multiple ellipses in slice spec not allowed")
    reader = _Reader(shape, dynamic_starts)
    left = max(len(shape) - sum(part is not None and part is not Ellipsis for part in parts), 0)
    for part in parts if ellipses else [*parts, Ellipsis]:
        if part is None:
            reader.entries.append(NEW)
        elif part is Ellipsis:
            reader.ellipsis(left)
        elif isinstance(part, slice):
            reader.part(part)
        else:
            reader.element(part)
    return tuple(reader.entries), reader.dynamic


def strided_entries(
    begin: tuple[int, ...],
    end: tuple[int, ...],
    strides: tuple[int, ...],
    masks: dict[str, int],
) -> list[Any]:
    """The Python index that `tf.strided_slice` describes with numbers and bit masks."""
    spec: list[Any] = []
    for place, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << place
        if step == 0:
            raise InvalidArgumentError(f"strides[{place}] must be non-zero")
        if masks["ellipsis"] & bit:
            spec.append(Ellipsis)
        elif masks["new_axis"] & bit:
            spec.append(None)
        elif masks["shrink_axis"] & bit:
            if step < 0:
                raise InvalidArgumentError("only stride 1 allowed on non-range indexing.")
            spec.append(first)
        else:
            start = None if masks["begin"] & bit else first
            stop = None if masks["end"] & bit else last
            spec.append(slice(start, stop, step))
    return spec
