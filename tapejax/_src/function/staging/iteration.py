"""What a staged `for` goes over: tensors, ranges, and `zip` and `enumerate` of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapejax._src.core import errors
from tapejax._src.core.avals import LeafKey, make_aval
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.texts import coded_form, coded_tensor, is_text
from tapejax._src.function.staging.values import is_staged
from tapejax._src.ops.arithmetic import minimum
from tapejax._src.ops.lazy_range import LazyRange


class Zipped:
    """`zip` of iterables of which at least one is staged."""

    __slots__ = ("parts",)

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = list(parts)


class Counted:
    """`enumerate` of a staged iterable."""

    __slots__ = ("iterable", "start")

    def __init__(self, iterable: Any, start: int) -> None:
        self.iterable = iterable
        self.start = start


class Source(NamedTuple):
    """Where the elements come from.

    Attributes:
        length: How many: an int, a scalar tensor, or None where another part decides.
        scanned: Tensors whose elements are taken one by one.
        bounds: Tensors from which elements are computed.
        item: Function of (i, *arrays of bounds) to the arrays computed.
        keys: How the arrays computed enter the body.
        pack: From the tensors computed and those scanned to the element as the user sees it.
    """

    length: int | Tensor | None
    scanned: list[Tensor]
    bounds: list[Tensor]
    item: Callable[..., list[Any]]
    keys: list[LeafKey]
    pack: Callable[[Sequence[Tensor], Sequence[Tensor]], Any]


def staged_source(iterable: Any) -> Source | None:
    """How a staged loop goes over it; None for what Python goes over."""
    if isinstance(iterable, LazyRange):
        return _of_range(iterable)
    if isinstance(iterable, Zipped):
        return _of_zip(iterable)
    if isinstance(iterable, Counted):
        return _of_count(iterable)
    if isinstance(iterable, Variable):
        iterable = iterable.tensor
    if isinstance(iterable, Tensor) and (is_staged(iterable) or LOCAL.recorder.symbolic):
        return _of_tensor(iterable)
    return None


def can_be_staged(iterable: Any) -> bool:
    """Whether `zip` and `enumerate` must keep it for a staged loop."""
    if isinstance(iterable, (LazyRange, Zipped, Counted)):
        return True
    return isinstance(iterable, (Tensor, Variable)) and (
        is_staged(iterable) or LOCAL.recorder.symbolic is not None
    )


def _of_tensor(tensor: Tensor) -> Source:
    if not tensor.aval.shape:
        raise errors.InvalidArgumentError(
            None, None, f"Cannot iterate over a scalar tensor of dtype {tensor.dtype.name}."
        )
    if is_text(tensor):
        form = coded_form(tensor)
        table, codes = form.table, form.codes
        return Source(
            codes.aval.shape[0],
            [codes],
            [],
            lambda i: [],
            [],
            lambda made, taken: coded_tensor(taken[0], table),
        )
    return Source(
        tensor.aval.shape[0], [tensor], [], lambda i: [], [], lambda made, taken: taken[0]
    )


def of_stacks(count: int, stacks: Sequence[Tensor], pack: Callable[[Sequence[Any]], Any]) -> Source:
    """Elements whose components are the rows of tensors.

    Args:
        count: How many there are.
        stacks: The components, stacked.
        pack: From components to an element.
    """
    return Source(count, list(stacks), [], lambda i: [], [], lambda made, taken: pack(taken))


def _of_range(numbers: LazyRange) -> Source:
    def item(i: Any, start: Any, delta: Any) -> list[Any]:
        return [start + i.astype(start.dtype) * delta]

    key = make_aval((), numbers.start.aval.dtype)
    bounds = [numbers.start, numbers.delta]
    return Source(numbers.count, [], bounds, item, [key], lambda made, taken: made[0])


def _of_count(counted: Counted) -> Source:
    inner = staged_source(counted.iterable)
    assert inner is not None
    start = as_tensor(counted.start)
    number = start.aval
    inner_item = inner.item  # programs keep `item`, and must not keep the tensors of `inner`

    def item(i: Any, first: Any, *bounds: Any) -> list[Any]:
        return [first + i.astype(first.dtype), *inner_item(i, *bounds)]

    def pack(made: Sequence[Tensor], taken: Sequence[Tensor]) -> Any:
        return made[0], inner.pack(made[1:], taken)

    bounds = [start, *inner.bounds]
    return Source(inner.length, inner.scanned, bounds, item, [number, *inner.keys], pack)


def _of_zip(zipped: Zipped) -> Source:
    sources = [staged_source(as_part(part)) for part in zipped.parts]
    parts = [source for source in sources if source is not None]

    items = [(part.item, len(part.bounds)) for part in parts]

    def item(i: Any, *bounds: Any) -> list[Any]:
        made: list[Any] = []
        at = 0
        for of_part, count in items:
            made += of_part(i, *bounds[at : at + count])
            at += count
        return made

    def pack(made: Sequence[Tensor], taken: Sequence[Tensor]) -> Any:
        elements: list[Any] = []
        m = t = 0
        for part in parts:
            elements.append(
                part.pack(made[m : m + len(part.keys)], taken[t : t + len(part.scanned)])
            )
            m, t = m + len(part.keys), t + len(part.scanned)
        return tuple(elements)

    return Source(
        _least([part.length for part in parts]),
        [tensor for part in parts for tensor in part.scanned],
        [tensor for part in parts for tensor in part.bounds],
        item,
        [key for part in parts for key in part.keys],
        pack,
    )


def as_part(part: Any) -> Any:
    """A part of `zip`: a list of numbers beside tensors becomes a tensor."""
    return as_tensor(list(part)) if isinstance(part, (list, tuple, range)) else part


def _least(counts: Sequence[int | Tensor | None]) -> int | Tensor | None:
    known = [c for c in counts if isinstance(c, int)]
    unknown = [c for c in counts if isinstance(c, Tensor)]
    least = min(known) if known else None
    if not unknown:
        return least
    found: Any = unknown[0]
    for other in [*unknown[1:], *([] if least is None else [least])]:
        found = minimum(found, other)
    return found
