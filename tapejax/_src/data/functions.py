"""Nodes that call functions of the user: map, filter, flat_map, interleave, scan, ..."""

from __future__ import annotations

import collections
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any

from tapejax._src.core import errors
from tapejax._src.core.specs import TensorSpec
from tapejax._src.data.node import InMemory, Node, Shapes, Stream, Unchanged, guessed_shapes
from tapejax._src.data.order import Filtered, MakeOrder, Order
from tapejax._src.data.structure import (
    WRAPPING,
    Leaves,
    common_structure,
    flatten,
)
from tapejax._src.data.tables import Indexed, Mapped
from tapejax._src.data.user_function import UserFunction, scalar_bool, wrong_predicate

_MOST_THREADS = 16


class Map(Node):
    """A function of each element.

    Args:
        source: The elements.
        fn: The function.
        calls: How many may run at once; None: one after the other.
    """

    def __init__(self, source: Node, fn: Callable[..., Any], calls: int | None) -> None:
        super().__init__(source)
        self.name = "_MapDataset" if calls is None else "_ParallelMapDataset"
        self.function = UserFunction(fn, source, "Dataset.map()")
        self._calls = calls

    @cached_property
    def spec(self) -> Any:
        """What the function returns."""
        return self.function.spec

    @property
    def structure(self) -> Any:
        """What the function returned."""
        return self.function.structure

    @property
    def is_certain(self) -> bool:
        """Whether the function was traced."""
        return self.function.is_certain

    @property
    def is_repeatable(self) -> bool:
        """Whether the function depends on its elements alone."""
        return self.function.takes_rows and self.source.is_repeatable

    def cardinality(self) -> int:
        """As many elements."""
        return self.source.cardinality()

    def shapes(self) -> Shapes:
        """Those of what the function returns."""
        return self.function.shapes()

    def indexed(self) -> Indexed | None:
        """Computed for many rows at once."""
        inner = self.source.indexed()
        if inner is None or not self.function.takes_rows:
            return None
        return inner._replace(table=Mapped(inner.table, self.function.rows))

    def stream(self) -> Stream:
        """The results."""
        if self.indexed() is not None:
            return super().stream()
        source, function, calls = self.source.stream(), self.function, self._calls
        if calls is None or function.is_light:
            return map(function, source)
        count = (os.cpu_count() or 1) if calls < 0 else calls
        return _in_threads(function, source, max(1, min(count, _MOST_THREADS)))


def _in_threads(function: UserFunction, source: Stream, count: int) -> Stream:
    """The results in order, computed ahead by several threads."""
    pool = ThreadPoolExecutor(count, "tapejax-data-map")
    waiting: collections.deque[Future[Leaves]] = collections.deque()
    try:
        for element in source:
            waiting.append(pool.submit(function, element))
            if len(waiting) == count:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


class Filter(Unchanged):
    """The elements for which a function says yes."""

    name = "_FilterDataset"

    def __init__(self, source: Node, fn: Callable[..., Any]) -> None:
        super().__init__(source)
        self._function = UserFunction(fn, source, "Dataset.filter()")
        _check_predicate(self._function, "Dataset.filter()")

    def indexed(self) -> Indexed | None:
        """Asked for many rows at once."""
        inner, function = self.source.indexed(), self._function
        if inner is None or not function.takes_rows:
            return None
        table = inner.table

        def wanted(indices: Any) -> Any:
            columns = table.rows(indices, _Chunked.size)
            return function.rows(columns, _Chunked.size)[0]

        def change(make: MakeOrder) -> MakeOrder:
            return lambda: _Chunked(Filtered(make(), wanted))

        return inner.reordered(change)

    def stream(self) -> Stream:
        """Those elements."""
        if self.indexed() is not None:
            return super().stream()
        function = self._function
        wanted: Callable[[Leaves], bool] = lambda e: scalar_bool(function(e), "Dataset.filter()")  # noqa: E731
        return filter(wanted, self.source.stream())


class _Chunked(Order):
    """An order that is read ahead in pieces of one size, for which a program exists."""

    size = 256

    def __init__(self, order: Filtered) -> None:
        self._order = order
        self._ready: Any = ()

    def take(self, count: int) -> Any:
        """The next rows."""
        if not len(self._ready):
            found = self._order.take(self.size)
            self._ready = () if type(found) is slice else found
        if not len(self._ready):
            return slice(0, 0)
        found, self._ready = self._ready[:count], self._ready[count:]
        return found


def _check_predicate(function: UserFunction, what: str) -> None:
    traced = function.expected
    if traced is None:
        return
    spec = traced.structure
    if not isinstance(spec, TensorSpec) or not spec.dtype.is_bool or spec.shape.rank != 0:
        raise wrong_predicate(what, spec)


class TakeWhile(Unchanged):
    """The elements up to the first for which a function says no."""

    name = "_TakeWhileDataset"

    def __init__(self, source: Node, fn: Callable[..., Any]) -> None:
        super().__init__(source)
        self._function = UserFunction(fn, source, "Dataset.take_while()")
        _check_predicate(self._function, "Dataset.take_while()")

    def stream(self) -> Stream:
        """Those elements."""
        for element in self.source.stream():
            if not scalar_bool(self._function(element), "Dataset.take_while()"):
                return
            yield element


class Interleave(Node):
    """The elements of datasets that a function makes, from several of them in turn.

    Args:
        source: What the function is given.
        fn: Returns a dataset.
        what: The method, for messages.
        name: What TensorFlow calls the class.
        cycle: How many datasets are open at once.
        block: How many elements each gives in its turn.
    """

    def __init__(
        self, source: Node, fn: Callable[..., Any], what: str, name: str, cycle: int, block: int
    ) -> None:
        super().__init__(source)
        if cycle == 0 or cycle < -1:
            raise errors.InvalidArgumentError(None, None, "`cycle_length` must be > 0")
        if block < 1:
            raise errors.InvalidArgumentError(None, None, "`block_length` must be > 0")
        self.name = name
        self._cycle = (os.cpu_count() or 1) if cycle < 0 else cycle
        self._block, self._what = block, what
        self._function = UserFunction(fn, source, what, eager=True)
        made = self._function.stand_in()
        for value in made or ():
            self._node(value)
        self._made: list[Node] | None = None if made is None else [self._node(m) for m in made]

    def _node(self, value: Any) -> Node:
        node = WRAPPING.unwrap(value)
        if node is None:
            kind = type(value).__name__ if not hasattr(value, "dtype") else spec_of_value(value)
            raise TypeError(
                f"The `map_func` argument must return a `Dataset` object. Got {kind}. "
                f"({self._what})"
            )
        return node

    @property
    def is_certain(self) -> bool:
        """Whether a stand-in told what the datasets hold."""
        return self._made is not None and all(node.is_certain for node in self._made)

    @cached_property
    def spec(self) -> Any:
        """The specs of the datasets."""
        if self._made is not None:
            return common_structure(*[node.spec for node in self._made])
        for element in self.source.stream():
            return self._open(element).spec
        raise NotImplementedError(
            f"{self._what}: what the datasets hold can only be found out by making one, and "
            "there is no element to make it from."
        )

    @property
    def structure(self) -> Any:
        """The structure of the datasets."""
        return self._seen.structure if self._seen is not None else self.spec

    _seen: Node | None = None

    def shapes(self) -> Shapes:
        """Those of the datasets."""
        if self._made is not None:
            return self._made[0].shapes()
        return [None] * len(flatten(self.spec))

    def _open(self, element: Leaves) -> Node:
        (leaf,) = self._function(element)
        node = leaf if isinstance(leaf, Node) else self._node(leaf)
        self._seen = node
        return node

    def stream(self) -> Stream:
        """In turn."""
        source = self.source.stream()
        slots: list[Stream | None] = [None] * self._cycle
        at, ended = 0, False
        while not ended or any(slot is not None for slot in slots):
            slot = slots[at]
            if slot is None:
                if not ended:
                    element = next(source, None)
                    ended = element is None
                    slot = slots[at] = None if element is None else self._open(element).stream()
                if slot is None:
                    at = (at + 1) % self._cycle
                    continue
            for _ in range(self._block):
                found = next(slot, None)
                if found is None:
                    slots[at] = None
                    break
                yield found
            at = (at + 1) % self._cycle


def spec_of_value(value: Any) -> str:
    """The spec of a tensor, for messages."""
    return repr(TensorSpec(value.shape, value.dtype))


# ---------------------------------------------------------------------- functions with a state
class Pairs(Node):
    """Stands for (state, element): what a function with a state is given."""

    def __init__(self, source: Node, state: Any) -> None:
        super().__init__(source)
        self._state = state

    @cached_property
    def spec(self) -> Any:
        """Both."""
        return (self._state, self.source.spec)

    @property
    def structure(self) -> Any:
        """Both."""
        return (self._state, self.source.structure)

    def shapes(self) -> Shapes:
        """Both."""
        return guessed_shapes(self._state) + self.source.shapes()


def _checked_state(old: Any, new: Any, what: str) -> None:
    """Raise if a function changes the form of its state."""
    one, other = flatten(old), flatten(new)
    if len(one) != len(other):
        raise TypeError(
            f"The structure of the new state must match that of the initial state in {what}: "
            f"expected {old}, got {new}."
        )
    for before, after in zip(one, other, strict=True):
        if before.dtype is not after.dtype:
            raise TypeError(
                "The element types for the new state must match the initial state. Expected "
                f"{before.dtype!r}; got {after.dtype!r} (wanted by {what})."
            )


class Scan(Node):
    """A function of a state and each element gives the next state and an output."""

    name = "_ScanDataset"

    def __init__(self, source: Node, state: Any, initial: Leaves, fn: Callable[..., Any]) -> None:
        super().__init__(source)
        self._state, self._initial = state, initial
        self._function = UserFunction(fn, Pairs(source, state), "Dataset.scan()")
        if self._function.is_certain:
            _ = self.spec

    @cached_property
    def spec(self) -> Any:
        """The outputs."""
        return self._parts(self._function.spec)[1]

    def _parts(self, returned: Any) -> tuple[Any, Any]:
        if not isinstance(returned, tuple) or len(returned) != 2:  # pyright: ignore[reportUnknownArgumentType]
            raise TypeError(
                "The `scan_func` argument of Dataset.scan() must return (new state, output), got "
                f"{returned}."
            )
        new, output = returned  # pyright: ignore[reportUnknownVariableType]
        _checked_state(self._state, new, "Dataset.scan()")
        return new, output

    @property
    def structure(self) -> Any:
        """That of the outputs."""
        return self._function.structure[1]

    @property
    def is_certain(self) -> bool:
        """Whether the function was traced."""
        return self._function.is_certain

    def cardinality(self) -> int:
        """As many."""
        return self.source.cardinality()

    def shapes(self) -> Shapes:
        """Those of the outputs."""
        return self._function.shapes()[len(self._initial) :]

    def stream(self) -> Stream:
        """The outputs."""
        state, count = self._initial, len(self._initial)
        for element in self.source.stream():
            found = self._function((*state, *element))
            self._parts(self._function.structure)
            state = found[:count]
            yield found[count:]


def reduced(source: Node, state: Any, initial: Leaves, fn: Callable[..., Any]) -> Any:
    """`Dataset.reduce`: the last state."""
    function = UserFunction(fn, Pairs(source, state), "Dataset.reduce()")
    if function.expected is not None:
        _checked_state(state, function.expected.structure, "Dataset.reduce()")
    found, structure = initial, state
    for element in source.stream():
        found = function((*found, *element))
        new = function.structure
        if structure is state:
            _checked_state(state, new, "Dataset.reduce()")
        structure = new
    return structure, found


# ---------------------------------------------------------------------- groups
class GroupByWindow(Node):
    """Elements of one key, gathered and reduced.

    Args:
        source: The elements.
        key: From an element to its key.
        size: From a key to the number of elements gathered.
        reduce: From a key and the node of those elements to the node of the results.
    """

    name = "_GroupByWindowDataset"

    def __init__(
        self,
        source: Node,
        key: Callable[[Leaves], int],
        size: Callable[[int], int],
        reduce: Callable[[int, Node], Node],
        empty: Node | None,
    ) -> None:
        super().__init__(source)
        self._key, self._size, self._reduce, self._stand_in = key, size, reduce, empty

    @property
    def is_certain(self) -> bool:
        """Whether a stand-in told what the results are."""
        return self._stand_in is not None and self._stand_in.is_certain

    @cached_property
    def spec(self) -> Any:
        """The specs of the results."""
        if self._stand_in is not None:
            return self._stand_in.spec
        for element in self.source.stream():
            key = self._key(element)
            return self._reduce(key, InMemory(self.source.spec, [element])).spec
        raise NotImplementedError("group_by_window: there is no element to find out the spec from.")

    @property
    def structure(self) -> Any:
        """That of the results."""
        return self.spec if self._seen is None else self._seen.structure

    _seen: Node | None = None

    def shapes(self) -> Shapes:
        """Guessed."""
        if self._stand_in is not None:
            return self._stand_in.shapes()
        return [None] * len(flatten(self.spec))

    def stream(self) -> Stream:
        """The results, window by window."""
        groups: dict[int, list[Leaves]] = {}
        sizes: dict[int, int] = {}
        for element in self.source.stream():
            key = self._key(element)
            if key not in groups:
                groups[key], sizes[key] = [], self._size(key)
                if sizes[key] <= 0:
                    raise errors.InvalidArgumentError(
                        None, None, f"Window size must be greater than zero, but got {sizes[key]}."
                    )
            groups[key].append(element)
            if len(groups[key]) == sizes[key]:
                yield from self._results(key, groups.pop(key))
        for key in sorted(groups):
            yield from self._results(key, groups[key])

    def _results(self, key: int, elements: list[Leaves]) -> Stream:
        node = self._reduce(key, InMemory(self.source.spec, elements))
        self._seen = node
        return node.stream()


class Unique(Unchanged):
    """Each value once."""

    name = "_UniqueDataset"

    def __init__(self, source: Node) -> None:
        super().__init__(source)

    def stream(self) -> Stream:
        """Those not seen before."""
        seen: set[Any] = set()
        for element in self.source.stream():
            (leaf,) = element
            key = leaf.item() if leaf.ndim == 0 else leaf.tobytes()
            if key not in seen:
                seen.add(key)
                yield element
