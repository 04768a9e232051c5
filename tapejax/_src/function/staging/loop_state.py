"""The Python state of a loop as arrays carried from one iteration to the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.avals import Aval, LeafKey
from tapejax._src.core.dtypes import as_dtype
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.block import Block, record_block
from tapejax._src.engine.convert import as_tensor, constant_tensor
from tapejax._src.function.staging.array_room import is_array, roomy, with_room
from tapejax._src.function.staging.loop_options import shapes_may_change
from tapejax._src.function.staging.values import (
    Output,
    Parts,
    Snapshot,
    Undefined,
    copied,
    describe,
    fits,
    is_number,
    is_one_of,
    is_tensor,
    is_text_leaf,
    same,
    same_structure,
    take_apart,
)

ATTEMPTS = 4


class State(NamedTuple):
    """How a construct reaches the user's variables.

    Attributes:
        names: Their names.
        get: Returns their values.
        set: Gives them values.
    """

    names: Sequence[str]
    get: Callable[[], Sequence[Any]]
    set: Callable[[Sequence[Any]], None]


class Slot:
    """A leaf that is carried: its place in the carry."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place


class Carry(NamedTuple):
    """One carried array.

    Attributes:
        initial: Its value before the first iteration.
        source: What an iteration makes of it: an `Output`, or a Python number.
    """

    initial: Tensor
    source: Any


def updated(source: Any, aval: Aval, outs: Sequence[Any]) -> Any:
    """The value of a carried array after an iteration."""
    if isinstance(source, Output):
        return outs[source.place].astype(aval.dtype)
    return jnp.full(aval.shape, source, aval.dtype)


class Growth(NamedTuple):
    """What is appended to a list in each iteration: its place in the state, and the elements."""

    place: int
    elements: list[Parts]


class LoopBody(NamedTuple):
    """A recorded body.

    Attributes:
        block: Its block.
        entering: How many of the arrays carried the block is given; the others, of names that have
            their first value in the body, come behind.
        fresh: Names of the user that have their first value in the body.
        carried: The arrays carried.
        values: The state after the loop: leaves are `Slot`s and values that stay what they are.
        growths: Lists that grow.
    """

    block: Block
    entering: int
    fresh: list[str]
    carried: list[Carry]
    values: list[Parts]
    growths: list[Growth]

    def after(self, results: Sequence[Tensor]) -> list[Any]:
        """The state after the loop."""
        return [
            parts.rebuilt([results[x.place] if isinstance(x, Slot) else x for x in parts.leaves])
            for parts in self.values
        ]


class _Start:
    """The state before the loop: the leaves that will be carried, and the others."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = list(values)
        self.carried: list[Tensor] = []
        self.numbers: list[Any] = []
        self.parts = [self._parts(value) for value in values]

    def _parts(self, value: Any) -> Parts:
        leaves: list[Any] = []
        fixed = nest.fixed_parts(value)
        for leaf in nest.flatten(value, expand_composites=True):
            if is_one_of(leaf, fixed):
                leaves.append(leaf)
            elif is_tensor(leaf) or is_number(leaf):
                leaves.append(Slot(len(self.carried)))
                self.numbers.append(leaf if is_number(leaf) else None)
                self.carried.append(as_tensor(leaf))
            else:
                leaves.append(leaf)
        return Parts(value, leaves)

    def filled(self, tensors: Sequence[Tensor]) -> list[Any]:
        """The state with the carried leaves replaced."""
        return [
            p.rebuilt([tensors[x.place] if isinstance(x, Slot) else x for x in p.leaves])
            for p in self.parts
        ]


class _Changed(Exception):
    """The state must enter the loop in another form: the values to begin again with."""

    def __init__(self, values: list[Any]) -> None:
        super().__init__()
        self.values = values


def record_body(
    state: State,
    body: Callable[..., None],
    items: Sequence[LeafKey],
    construct: str,
    iterations: int | None = None,
    grows: bool = False,
) -> LoopBody:
    """Record the body of a loop.

    A Python number in the state becomes a tensor; a name first given a value in the body starts
    from zeros, which nothing reads.

    Args:
        state: The user's variables.
        body: Runs one iteration, given the tensors of `items`.
        items: How they enter.
        construct: `while` or `for`, for messages.
        iterations: The most iterations there can be, if that is known.
        grows: Whether lists may become longer.

    Raises:
        TypeError: If a variable changes its dtype or structure.
        ValueError: If a variable changes its shape.
    """
    before = Snapshot(state.get())
    values = [roomy(copied(value), iterations) for value in before.values]
    for _ in range(ATTEMPTS):
        try:
            return _record(state, values, before, body, items, (construct, iterations), grows)
        except _Changed as changed:
            values = changed.values
    raise TypeError(
        f"The variables {list(state.names)} of a `{construct}` change their form again "
        "and again; give each a tensor of its final dtype and shape before the loop."
    )


def _record(
    state: State,
    values: Sequence[Any],
    before: Snapshot,
    body: Callable[..., None],
    items: Sequence[LeafKey],
    loop: tuple[str, int | None],
    grows: bool,
) -> LoopBody:
    start = _Start(values)
    count = len(start.carried)
    found: list[Parts] = []
    growths: list[Growth] = []
    targets: list[int] = []

    def recorded(*arguments: Tensor) -> list[Tensor]:
        outputs: list[Tensor] = []
        state.set([copied(v) for v in start.filled(arguments[:count])])
        body(*arguments[count:])
        for place, value in enumerate(state.get()):
            if any(value is item for item in arguments[count:]):
                targets.append(place)  # the loop's own variable
            head, tail = _head_and_tail(start.values[place], value) if grows else (value, [])
            found.append(take_apart(head, outputs))
            if tail:
                elements = [take_apart(_as_tensors(v), outputs) for v in tail]
                growths.append(Growth(place, elements))
        return outputs

    try:
        block = record_block(
            recorded, [tensor.aval for tensor in start.carried] + list(items), loop=True
        )
    finally:
        before.reinstate(state.set)
    return _Comparison(state.names, start, found, block, loop).result(growths, targets)


def _head_and_tail(before: Any, after: Any) -> tuple[Any, list[Any]]:
    """A list that grew: as long as it was, and what was appended."""
    if isinstance(before, list) and isinstance(after, list) and len(after) > len(before):
        return after[: len(before)], after[len(before) :]
    return after, []


def _as_tensors(value: Any) -> Any:
    return nest.map_structure(lambda x: as_tensor(x) if is_number(x) else x, value)


class _Comparison:
    """The state before the body beside that after it."""

    def __init__(
        self,
        names: Sequence[str],
        start: _Start,
        found: Sequence[Parts],
        block: Block,
        loop: tuple[str, int | None],
    ) -> None:
        self._names = names
        self._start = start
        self._found = found
        self._block = block
        self._where = f"`{loop[0]}` that depends on a tensor"
        self._iterations = loop[1]
        self._again: dict[int, Any] = {}
        self._carried: list[Carry | None] = [None] * len(start.carried)
        self._fresh: list[int] = []

    def result(self, growths: list[Growth], targets: Sequence[int]) -> LoopBody:
        """The body, if the state keeps its form."""
        values = [self._value(place) for place in range(len(self._names))]
        if self._again:
            values = self._start.values
            raise _Changed([self._again.get(n, value) for n, value in enumerate(values)])
        carried = [carry for carry in self._carried if carry is not None]
        entering = len(self._start.carried)
        fresh = [self._names[n] for n in self._fresh if n not in targets]
        return LoopBody(self._block, entering, fresh, carried, values, growths)

    def _value(self, place: int) -> Parts:
        name, before, after = self._names[place], self._start.parts[place], self._found[place]
        if isinstance(before.like, Undefined) or before.like is None:
            return self._first_defined(place, before, after)
        arrays = is_array(before.like) and is_array(after.like)
        if arrays and len(before.leaves) != len(after.leaves):  # now the elements' shape is known
            shape = after.like.element_shape
            self._again[place] = with_room(name, before.like, self._iterations, shape)
            return before
        difference = same_structure(before.like, after.like)
        if difference is not None:
            raise TypeError(
                f"'{name}' does not have the same nested structure after one iteration of a "
                f"{self._where}.\n\n{difference}\nA list cannot grow in such a loop: use "
                "tf.TensorArray, or a loop over a range known when the function is traced."
            )
        leaves = [
            self._leaf(place, n, b, a)
            for n, (b, a) in enumerate(zip(before.leaves, after.leaves, strict=True))
        ]
        return Parts(before.like, leaves)

    def _first_defined(self, place: int, before: Parts, after: Parts) -> Parts:
        """A name that has its first value in the body: zeros come before it."""
        if isinstance(after.like, Undefined) or after.like is None:
            return before
        if before.like is None:  # the body may ask whether it is None
            self._again[place] = after.rebuilt([self._zeros(leaf) for leaf in after.leaves])
            return after
        if not self._names[place].startswith("ag__"):
            self._fresh.append(place)
        leaves: list[Any] = []
        for leaf in after.leaves:
            if not isinstance(leaf, Output) and not is_number(leaf):
                leaves.append(leaf)
                continue
            leaves.append(Slot(len(self._carried)))
            self._carried.append(Carry(self._zeros(leaf), leaf))
        return Parts(after.like, leaves)

    def _zeros(self, leaf: Any) -> Any:
        if not isinstance(leaf, Output) and not is_number(leaf):
            return leaf
        aval = self._block.avals[leaf.place] if isinstance(leaf, Output) else as_tensor(leaf).aval
        return constant_tensor(np.zeros(aval.shape, aval.dtype))

    def _leaf(self, place: int, n: int, before: Any, after: Any) -> Any:
        name = self._names[place]
        if not isinstance(before, Slot):
            if isinstance(after, Output) or not same(before, after):
                if is_text_leaf(before) and is_text_leaf(after):
                    raise TypeError(
                        f"'{name}' is {describe(before, self._aval)} that changes in a "
                        f"{self._where}: a compiled program cannot make strings without end. Keep "
                        "numbers in the loop (indices into a table), and make strings after it."
                    )
                raise TypeError(
                    f"'{name}' is {describe(before, self._aval)} before a {self._where}, but "
                    f"{describe(after, self._aval)} after one iteration; give it a tensor of that "
                    "shape and dtype before the loop."
                )
            return before
        initial = self._start.carried[before.place]
        if isinstance(after, Output):
            self._check(place, n, before, self._aval(after.place))
        elif not is_number(after) or not fits(after, initial.aval):
            raise TypeError(
                f"'{name}' has dtype {initial.dtype.name} before the loop, but is "
                f"{describe(after, self._aval)} after one iteration of a {self._where}."
            )
        self._carried[before.place] = Carry(initial, after)
        return before

    def _aval(self, place: int) -> Aval:
        return self._block.avals[place]

    def _check(self, place: int, n: int, before: Slot, after: Aval) -> None:
        """Check dtype and shape; a Python number may take the dtype of what replaces it."""
        name, initial = self._names[place], self._start.carried[before.place]
        number = self._start.numbers[before.place]
        adopts = number is not None and after.shape == () and fits(number, after)
        if adopts and initial.aval.dtype != after.dtype:
            parts = self._start.parts[place]
            started = self._again.get(place, self._start.values[place])
            leaves = nest.flatten(started, expand_composites=True)
            leaves[n] = as_tensor(number, as_dtype(after.dtype))
            self._again[place] = parts.rebuilt(leaves)
            return
        if initial.aval.dtype != after.dtype:
            raise TypeError(
                f"'{name}' has dtype {initial.dtype.name} before the loop, but dtype "
                f"{after.tf_dtype.name} after one iteration of a {self._where}. "
                "Use tf.cast before the loop or in it."
            )
        if initial.aval.shape != after.shape:
            kind = NotCompilableError if shapes_may_change() else ValueError
            raise kind(
                f"'{name}' has shape {_shown(initial.aval)} before the loop, but shape "
                f"{_shown(after)} after one iteration of a {self._where}. A compiled loop needs "
                "one shape: pad it, or use tf.TensorArray."
            )


def _shown(aval: Aval) -> str:
    inner = ", ".join(map(str, aval.shape))
    return f"({inner},)" if len(aval.shape) == 1 else f"({inner})"
