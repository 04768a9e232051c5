"""Datasets in functions that are traced: `for x in dataset` and `next(iterator)`.

What a call draws enters its program as hidden inputs, drawn by Python before the program runs. A
call whose elements have other shapes than those the function was traced for runs as Python instead,
as does a function whose elements cannot be told beforehand.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.tensor import Tensor
from tapejax._src.data.dataset_base import DatasetBase
from tapejax._src.data.iterator import STAGED, Cursor, Iterator
from tapejax._src.data.node import Node
from tapejax._src.data.structure import Array, Leaves, nbytes, packer
from tapejax._src.engine.hidden import Asked, hidden_input
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.function.host_run import HOST_ITERABLES, Pieces, RunOnHost

_MOST_BYTES = 1 << 28
"""The largest dataset that is given to a program as a whole."""
_MOST_ELEMENTS = 1 << 20

Form = list[tuple[tuple[int, ...], Any]]


def _form(arrays: Sequence[Any]) -> Form:
    return [(array.shape, array.dtype) for array in arrays]


def _refuse(reason: str) -> NoReturn:
    raise RunOnHost(reason)


class _Draw:
    """Arrays that are drawn together, once for each call of the function.

    Args:
        draw: Returns the arrays.
        undo: Takes a draw back.
        first: The arrays drawn while the function was traced, which tell the form.
        keeps: Whether those are what the first call gets.
    """

    def __init__(
        self,
        draw: Callable[[], list[Array]],
        undo: Callable[[list[Array]], None],
        first: list[Array],
        keeps: bool,
    ) -> None:
        self._draw, self._undo = draw, undo
        self.form = _form(first)
        self._kept = [first] if keeps else []
        self._lock = threading.Lock()
        self._of_thread = threading.local()

    def piece(self, number: int) -> Array:
        """Array `number` of the draw of this call: the one that was not yet asked for it."""
        drawn = getattr(self._of_thread, "drawn", None)
        if drawn is None or number in drawn[1]:
            drawn = self._of_thread.drawn = (self._drawn(), set[int]())
        drawn[1].add(number)
        array = drawn[0][number]
        if len(drawn[1]) == len(self.form):
            self._of_thread.drawn = None
            self._of_thread.last = drawn[0]
        return array

    def _drawn(self) -> list[Array]:
        with self._lock:
            kept = self._kept.pop() if self._kept else None
        arrays = self._draw() if kept is None else kept
        if _form(arrays) != self.form:
            self._undo(arrays)
            _refuse("its elements have other shapes than those it was traced for")
        return arrays

    def take_back(self) -> None:
        """Undo the draw of this call."""
        local = self._of_thread
        drawn = getattr(local, "drawn", None)
        last = getattr(local, "last", None) if drawn is None else drawn[0]
        local.drawn = local.last = None
        if last is not None:
            self._undo(last)


class _Piece(Asked):
    """One array of a draw: a hidden input, made anew at each call."""

    def __init__(self, origin: _Draw, number: int) -> None:
        super().__init__(self._give)
        self.origin, self._number = origin, number

    def _give(self) -> Array:
        """Draw it; while a function is traced, an array of its form."""
        recorder = LOCAL.recorder
        if recorder.is_block:
            _refuse("it draws elements of a dataset inside of a staged loop or branch")
        if recorder.hidden is not None:
            shape, dtype = self.origin.form[self._number]
            return np.zeros(shape, dtype)
        return self.origin.piece(self._number)

    def undo(self) -> None:
        """Take the draw back, once for all of its arrays."""
        self.origin.take_back()


def _inputs(draw: _Draw) -> list[Tensor]:
    return [hidden_input(_Piece(draw, n)) for n in range(len(draw.form))]


def _check_room() -> None:
    if LOCAL.recorder.is_block:
        _refuse("it draws elements of a dataset inside of a staged loop or branch")


def _check_leaves(leaves: Leaves) -> None:
    for leaf in leaves:
        if not isinstance(leaf, np.ndarray) or leaf.dtype.kind == "O":  # pyright: ignore[reportUnknownMemberType]
            _refuse("it draws elements that are not numbers")


# ---------------------------------------------------------------------- the next element
def _next(cursor: Cursor) -> Any:
    """The next element: drawn before each call."""
    _check_room()
    hidden = LOCAL.recorder.hidden
    assert hidden is not None
    draws = {id(make.origin): make for _, make in hidden if isinstance(make, _NextPiece)}
    before = sum([make.cursor is cursor for make in draws.values()])
    ahead: list[Leaves] = []
    try:
        for _ in range(before + 1):
            ahead.append(cursor.take())
    except StopIteration:
        _refuse("the iterator is at its end")
    finally:
        for leaves in reversed(ahead):
            cursor.give_back(leaves)
    _check_leaves(ahead[-1])

    def draw() -> list[Array]:
        try:
            return list(cursor.take())
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "End of sequence") from None

    made = _Draw(draw, lambda arrays: cursor.give_back(tuple(arrays)), list(ahead[-1]), False)
    inputs = [hidden_input(_NextPiece(made, n, cursor)) for n in range(len(made.form))]
    return packer(cursor.structure)(inputs)


class _NextPiece(_Piece):
    """One array of the next element of an iterator."""

    def __init__(self, origin: _Draw, number: int, cursor: Cursor) -> None:
        super().__init__(origin, number)
        self.cursor = cursor


# ---------------------------------------------------------------------- all elements
def _pieces(iterable: Any) -> list[Pieces] | None:
    """The elements of a dataset, by form; None for anything else."""
    if isinstance(iterable, Iterator):
        _refuse("it goes over an iterator")
    if not isinstance(iterable, DatasetBase):
        return None
    _check_room()
    node = iterable.node
    if not node.is_repeatable or node.cardinality() < 0:
        _refuse("it goes over a dataset whose elements are not known beforehand")
    elements = _all_elements(node)
    if not elements:
        return []
    counts = _runs(elements)
    arrays = _stacked(elements, counts)

    def draw() -> list[Array]:
        again = _all_elements(node)
        return _stacked(again, counts) if _runs(again) == counts else []

    made = _Draw(draw, lambda arrays: None, arrays, True)
    inputs = iter(_inputs(made))
    width, pack = len(elements[0]), packer(node.structure)
    return [Pieces(count, [next(inputs) for _ in range(width)], pack) for count in counts]


def _all_elements(node: Node) -> list[Leaves]:
    elements: list[Leaves] = []
    size = 0
    for leaves in node.stream():
        _check_leaves(leaves)
        elements.append(leaves)
        size += nbytes(leaves)
        if size > _MOST_BYTES or len(elements) > _MOST_ELEMENTS:
            _refuse("it goes over a dataset that is too large for one program")
    return elements


def _runs(elements: Sequence[Leaves]) -> list[int]:
    """How many elements of one form follow each other: all, or all and a last one."""
    if not elements:
        return []
    first = _form(elements[0])
    same = 1
    while same < len(elements) and _form(elements[same]) == first:
        same += 1
    if same < len(elements) - 1:
        _refuse("it goes over elements of different shapes")
    return [same] if same == len(elements) else [same, 1]


def _stacked(elements: Sequence[Leaves], counts: Sequence[int]) -> list[Array]:
    arrays: list[Array] = []
    at = 0
    for count in counts:
        part = elements[at : at + count]
        at += count
        columns = zip(*part, strict=True)
        arrays += [np.stack(column) if count > 1 else column[0] for column in columns]
    return arrays


def install() -> None:
    """Let functions that are traced go over datasets and iterators."""
    STAGED.next = _next
    STAGED.refuse = _refuse
    HOST_ITERABLES.pieces = _pieces
