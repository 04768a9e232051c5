"""Nodes that put elements together and take them apart: batch, padded_batch, unbatch, window."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import string
from tapejax._src.core.shapes import TensorShape, as_shape
from tapejax._src.core.specs import TensorSpec
from tapejax._src.data.node import INFINITE, UNKNOWN, InMemory, Node, Shapes, Stream
from tapejax._src.data.order import count_of, take_all
from tapejax._src.data.structure import (
    WRAPPING,
    Array,
    Leaves,
    NoneTensorSpec,
    flatten,
    is_container,
    leaf_of,
    map_structure,
    pack,
)
from tapejax._src.data.tables import Indexed


def _invalid(message: str) -> errors.OpError:
    return errors.InvalidArgumentError(None, None, message)


# ---------------------------------------------------------------------- batch
def stacked(elements: Sequence[Leaves]) -> Leaves:
    """Elements of one form as one.

    Raises:
        InvalidArgumentError: If their shapes differ.
    """
    return tuple([_stack(column, n) for n, column in enumerate(zip(*elements, strict=True))])


def _stack(column: Sequence[Any], component: int) -> Any:
    first = column[0]
    if first is None:
        return None
    if not isinstance(first, np.ndarray):
        raise NotImplementedError(
            f"batch of elements with a {type(WRAPPING.wrap(first)).__name__} in component "
            f"{component}: only dense tensors are batched. Batch before this step, or map the "
            "part to a dense tensor."
        )
    like: Array = first
    for n, array in enumerate(column):
        if array.shape != like.shape:
            raise _invalid(
                f"Cannot batch tensors with different shapes in component {component}. First "
                f"element had shape {_shown(like.shape)} and element {n} had shape "
                f"{_shown(array.shape)}."
            )
    return np.stack(column)


def _shown(shape: Sequence[int]) -> str:
    return f"[{','.join(map(str, shape))}]"


def batched_spec(spec: Any, size: int | None) -> Any:
    """The spec of batches of elements."""

    def batched(leaf: Any) -> Any:
        if isinstance(leaf, TensorSpec):
            return TensorSpec(TensorShape([size]).concatenate(leaf.shape), leaf.dtype)
        if isinstance(leaf, NoneTensorSpec):
            return leaf
        raise NotImplementedError(
            f"batch of elements with a component of type {leaf}: only dense tensors are batched. "
            "Flatten datasets with flat_map, and batch before making other objects."
        )

    return map_structure(batched, spec)


def batches(count: int, size: int, drop: bool) -> int:
    """How many batches `count` elements make."""
    if count < 0:
        return count
    return count // size if drop else -(-count // size)


class Batch(Node):
    """Consecutive elements stacked."""

    repeats = True

    def __init__(self, source: Node, size: int, drop: bool, parallel: bool) -> None:
        super().__init__(source)
        self.name = "_ParallelBatchDataset" if parallel else "_BatchDataset"
        if size <= 0:
            raise _invalid("Batch size must be greater than zero.")
        self._size, self._drop = size, drop
        if source.is_certain:
            _ = self.spec

    @cached_property
    def spec(self) -> Any:
        """One dimension more: known if no batch can be smaller."""
        return batched_spec(self.source.spec, self._size if self._drop else None)

    @property
    def size(self) -> int:
        """Elements in a batch."""
        return self._size

    def cardinality(self) -> int:
        """So many times fewer."""
        return batches(self.source.cardinality(), self._size, self._drop)

    def shapes(self) -> Shapes:
        """Those of full batches."""
        count = self.source.cardinality()
        size = min(self._size, count) if count > 0 else self._size
        return [None if shape is None else (size, *shape) for shape in self.source.shapes()]

    def stream(self) -> Stream:
        """The batches."""
        indexed = self.source.indexed()
        if indexed is not None:
            return self._of_rows(indexed)
        return _Batches(self.source.stream(), self._size, self._drop)

    def _of_rows(self, indexed: Indexed) -> Stream:
        table, order, size = indexed.table, indexed.make(), self._size
        while True:
            indices = take_all(order, size)
            count = count_of(indices)
            if count == 0 or (self._drop and count < size):
                return
            yield tuple(table.rows(indices, size))

    def is_quick(self) -> bool:
        """As quick as its elements."""
        return self.source.is_quick()


class _Batches:
    """A stream of batches that goes on after an element that failed."""

    def __init__(self, source: Stream, size: int, drop: bool) -> None:
        self._source, self._size, self._drop = source, size, drop

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> Leaves:
        elements: list[Leaves] = []
        failure: Exception | None = None
        for _ in range(self._size):
            try:
                elements.append(next(self._source))
            except StopIteration:
                break
            except Exception as error:  # noqa: BLE001  raised below, with its batch complete
                failure = failure or error
        if failure is not None:
            raise failure
        if not elements or (self._drop and len(elements) < self._size):
            raise StopIteration
        return stacked(elements)


class Rebatch(Node):
    """The rows of batches, in batches of other sizes."""

    name = "_RebatchDataset"
    repeats = True

    def __init__(self, source: Node, sizes: Sequence[int], drop: bool) -> None:
        super().__init__(source)
        if not sizes or any(size <= 0 for size in sizes):
            raise _invalid("Batch size must be greater than zero.")
        self._sizes, self._drop = list(sizes), drop

    @cached_property
    def spec(self) -> Any:
        """The sizes, if they are one."""
        known = self._sizes[0] if self._drop and len(set(self._sizes)) == 1 else None
        return batched_spec(_row_spec(self.source.spec), known)

    def shapes(self) -> Shapes:
        """Those of full batches."""
        return [None if s is None else (self._sizes[0], *s[1:]) for s in self.source.shapes()]

    def stream(self) -> Stream:
        """The batches."""
        rows = _rows(self.source.stream())
        for size in itertools.cycle(self._sizes):
            elements = list(itertools.islice(rows, size))
            if not elements or (self._drop and len(elements) < size):
                return
            yield stacked(elements)


# ---------------------------------------------------------------------- unbatch
def _row_spec(spec: Any) -> Any:
    def row(leaf: Any) -> Any:
        if not isinstance(leaf, TensorSpec):
            return leaf
        if leaf.shape.rank == 0:
            raise ValueError("Cannot unbatch an input with scalar components.")
        return TensorSpec(None if leaf.shape.rank is None else leaf.shape[1:], leaf.dtype)

    return map_structure(row, spec)


def _rows(source: Stream) -> Stream:
    for element in source:
        sizes = {len(leaf) for leaf in element if leaf is not None}
        if len(sizes) > 1:
            raise _invalid("Input element must have the same batch size in each component.")
        for n in range(max(sizes, default=0)):
            yield tuple([None if leaf is None else leaf[n, ...] for leaf in element])


class Unbatch(Node):
    """The rows of elements."""

    name = "_UnbatchDataset"
    repeats = True

    def __init__(self, source: Node) -> None:
        super().__init__(source)
        if source.is_certain:
            _ = self.spec

    @cached_property
    def spec(self) -> Any:
        """One dimension fewer."""
        return _row_spec(self.source.spec)

    def cardinality(self) -> int:
        """Known where all elements have as many rows."""
        count = self.source.cardinality()
        leaves = [leaf for leaf in flatten(self.source.spec) if isinstance(leaf, TensorSpec)]
        first = [leaf.shape[0] for leaf in leaves if leaf.shape.rank is not None]
        known = [size for size in first if size is not None]
        if count == INFINITE:
            return INFINITE if not known or known[0] else 0
        return count * known[0] if count >= 0 and known else UNKNOWN

    def shapes(self) -> Shapes:
        """One dimension fewer."""
        return [None if not shape else shape[1:] for shape in self.source.shapes()]

    def stream(self) -> Stream:
        """The rows."""
        return _rows(self.source.stream())


# ---------------------------------------------------------------------- padded_batch
def _spread(given: Any, spec: Any, is_leaf: Any) -> list[Any]:
    """What is given for each leaf of a spec."""
    if not is_container(spec):
        return [given]
    if is_leaf(given):
        return [given] * len(flatten(spec))
    children = [spec[key] for key in sorted(spec)] if isinstance(spec, dict) else list(spec)
    values = [given[key] for key in sorted(given)] if isinstance(given, dict) else list(given)
    if len(children) != len(values):
        raise ValueError(
            f"padded_batch: {given!r} does not have the structure of the elements, {spec!r}."
        )
    return [x for v, s in zip(values, children, strict=True) for x in _spread(v, s, is_leaf)]


def _padded_shape(given: Any, leaf: Any) -> TensorShape:
    shape = leaf.shape if given is None else _as_padded(given)
    if shape.rank is None:
        raise ValueError(
            "A default padded shape needs a known rank: give `padded_shapes` to padded_batch. "
            f"Received: {leaf}."
        )
    if leaf.shape.rank is not None and leaf.shape.rank != shape.rank:
        raise ValueError(
            f"The padded shape {shape} is not compatible with the shape {leaf.shape} of the "
            "corresponding input component."
        )
    for wide, narrow in zip(shape.as_list(), leaf.shape.as_list() if leaf.shape.rank else ()):  # noqa: B905  unknown rank has no list
        if wide is not None and narrow is not None and wide < narrow:
            raise ValueError(
                f"The padded shape {shape} is not compatible with the shape {leaf.shape} of the "
                "corresponding input component."
            )
    return shape


def _as_padded(given: Any) -> TensorShape:
    if isinstance(given, TensorShape):
        return given
    sizes = np.asarray(leaf_of(given)).tolist() if hasattr(given, "dtype") else given
    return as_shape([None if n is None or n == -1 else int(n) for n in sizes])


def _padding(given: Any, leaf: Any) -> Any:
    dtype = leaf.dtype
    if given is None:
        if dtype is string:
            return b""
        return np.zeros((), dtype.as_numpy_dtype)
    array = leaf_of(given, dtype if isinstance(given, (int, float, bool)) else None)
    if array.shape != ():
        raise ValueError(f"`padding_values` must be scalars, got shape {array.shape}.")
    if (array.dtype.kind == "O") != (dtype is string) or (
        dtype is not string and array.dtype != np.dtype(dtype.as_numpy_dtype)
    ):
        raise TypeError(
            f"The padding value for a component of dtype {dtype.name} has dtype "
            f"{array.dtype.name}: cast it."
        )
    return array[()]


class PaddedBatch(Batch):
    """Consecutive elements padded to one shape and stacked."""

    def __init__(self, source: Node, size: int, shapes: Any, values: Any, drop: bool) -> None:
        self._given_shapes, self._given_values = shapes, values
        super().__init__(source, size, drop, False)
        self.name = "_PaddedBatchDataset"

    @cached_property
    def _padded(self) -> list[TensorShape]:
        spec = self.source.spec
        leaves = flatten(spec)
        given = self._given_shapes
        each = [None] * len(leaves) if given is None else _spread(given, spec, _is_shape)
        for leaf in leaves:
            if not isinstance(leaf, TensorSpec):
                raise TypeError(f"`padded_batch` is only supported for dense tensors, not {leaf}.")
        return [_padded_shape(g, leaf) for g, leaf in zip(each, leaves, strict=True)]

    @cached_property
    def _values(self) -> list[Any]:
        spec = self.source.spec
        leaves, given = flatten(spec), self._given_values
        each = [None] * len(leaves) if given is None else _spread(given, spec, _is_value)
        return [_padding(g, leaf) for g, leaf in zip(each, leaves, strict=True)]

    @cached_property
    def spec(self) -> Any:
        """The padded shapes."""
        leaves = flatten(self.source.spec)
        padded = [TensorSpec(s, leaf.dtype) for s, leaf in zip(self._padded, leaves, strict=True)]
        _ = self._values
        size = self._size if self._drop else None
        return batched_spec(pack(self.source.spec, padded), size)

    def shapes(self) -> Shapes:
        """Guessed from the padded shapes."""
        shapes = self.source.shapes()
        found: Shapes = []
        for padded, shape in zip(self._padded, shapes, strict=True):
            sizes = padded.as_list()
            known = shape or (3,) * len(sizes)
            one = [n if n is not None else k for n, k in zip(sizes, known, strict=True)]
            found.append((self._size, *one))
        return found

    def stream(self) -> Stream:
        """The batches."""
        source = self.source.stream()
        while True:
            elements = list(itertools.islice(source, self._size))
            if not elements or (self._drop and len(elements) < self._size):
                return
            columns = zip(*elements, strict=True)
            yield tuple(
                [
                    _pad(column, shape, value)
                    for column, shape, value in zip(
                        columns, self._padded, self._values, strict=True
                    )
                ]
            )


def _is_shape(given: Any) -> bool:
    if isinstance(given, (tuple, list)):
        return all(n is None or isinstance(n, (int, np.integer)) for n in given)  # pyright: ignore[reportUnknownVariableType]
    return given is None or isinstance(given, TensorShape) or hasattr(given, "dtype")


def _is_value(given: Any) -> bool:
    return not isinstance(given, (tuple, list, dict))


def _pad(column: Sequence[Array], padded: TensorShape, value: Any) -> Array:
    sizes = [max(dims) for dims in zip(*[array.shape for array in column], strict=True)]
    for n, wanted in enumerate(padded.as_list()):
        if wanted is None:
            continue
        if sizes[n] > wanted:
            raise errors.DataLossError(
                None,
                None,
                f"Attempted to pad to a smaller size than the input element: dimension {n} is "
                f"{sizes[n]}, the padded shape {padded}.",
            )
        sizes[n] = wanted
    out = np.full((len(column), *sizes), value, column[0].dtype)
    for number, array in enumerate(column):
        out[(number, *[slice(n) for n in array.shape])] = array[()]
    return out


# ---------------------------------------------------------------------- window
class Window(Node):
    """Datasets of consecutive elements."""

    name = "_WindowDataset"

    def __init__(self, source: Node, size: int, shift: int, stride: int, drop: bool) -> None:
        super().__init__(source)
        for name, value in (("size", size), ("shift", shift), ("stride", stride)):
            if value <= 0:
                raise _invalid(f"Window {name} must be greater than zero.")
        self._size, self._shift, self._stride, self._drop = size, shift, stride, drop

    @cached_property
    def spec(self) -> Any:
        """A dataset for each component."""
        return map_structure(lambda leaf: WRAPPING.spec(leaf), self.source.spec)

    @property
    def structure(self) -> Any:
        """The same structure."""
        return self.source.structure

    def shapes(self) -> Shapes:
        """Datasets have none."""
        return [None] * len(flatten(self.source.spec))

    def cardinality(self) -> int:
        """How many windows begin."""
        count = self.source.cardinality()
        if count < 0:
            return count
        if not self._drop:
            return -(-count // self._shift)
        span = (self._size - 1) * self._stride + 1
        return max(0, -(-(count - span + 1) // self._shift)) if count >= span else 0

    def stream(self) -> Stream:
        """The windows."""
        source = self.source.stream()
        buffer: collections.deque[Leaves] = collections.deque()
        span = (self._size - 1) * self._stride + 1
        while True:
            buffer.extend(itertools.islice(source, max(0, span - len(buffer))))
            if not buffer or (self._drop and len(buffer) < span):
                return
            yield self._window(itertools.islice(buffer, 0, span, self._stride))
            for _ in range(min(self._shift, len(buffer))):
                buffer.popleft()
            missing = self._shift - span
            if missing > 0:
                collections.deque(itertools.islice(source, missing), 0)

    def _window(self, elements: Iterable[Leaves]) -> Leaves:
        leaves = flatten(self.source.spec)
        columns: list[Any] = list(zip(*elements, strict=True))
        return tuple(
            [
                InMemory(leaf, [(value,) for value in column])
                for leaf, column in zip(leaves, columns, strict=True)
            ]
        )
