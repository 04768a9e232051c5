"""The Python values in staged control flow, taken apart into tensors and the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core import nest
from tapejax._src.core.avals import Aval
from tapejax._src.core.dtypes import as_dtype
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.texts import coded_form, is_known, is_text

NUMBERS = (bool, int, float, complex)
_ARRAYS = (Tensor, np.ndarray, np.generic, jax.Array)


class Undefined:
    """Stands for a name that has no value yet."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<undefined {self.name!r}>"


class Output:
    """A leaf that a block computes.

    Attributes:
        place: Its place among the block's outputs.
        shape: Its shape.
    """

    __slots__ = ("place", "shape")

    def __init__(self, place: int, shape: tuple[int, ...] = ()) -> None:
        self.place = place
        self.shape = shape


class TextOutput(Output):
    """A leaf of strings: a block computes its codes.

    Attributes:
        table: The strings.
    """

    __slots__ = ("table",)

    def __init__(self, place: int, shape: tuple[int, ...], table: Sequence[bytes]) -> None:
        super().__init__(place, shape)
        self.table = table


class Parts(NamedTuple):
    """A value taken apart.

    Attributes:
        like: A value of its structure. (Of a block's results it holds no tensors, which are out of
            scope around the block.)
        leaves: `Output`s and values that are no tensors.
    """

    like: Any
    leaves: list[Any]

    def rebuilt(self, leaves: Sequence[Any]) -> Any:
        """A value of the same structure."""
        return nest.pack_sequence_as(self.like, list(leaves), expand_composites=True)


def is_tensor(value: Any) -> bool:
    """Whether a leaf is computed (a variable is not: it is the same object on every way).

    Nor are strings, which are no arrays of a program: their codes are.
    """
    if isinstance(value, Tensor):
        return value.aval.struct is not None
    return isinstance(value, _ARRAYS) and np.dtype(cast("Any", value).dtype).kind not in "OSU"


def is_one_of(value: Any, others: Sequence[Any]) -> bool:
    """Whether it is one of these very objects."""
    return any(value is other for other in others)


def is_text_leaf(value: Any) -> bool:
    """Whether a leaf is a string or a tensor of strings."""
    return isinstance(value, (str, bytes, TextOutput)) or is_text(value)


def is_number(value: Any) -> bool:
    """Whether a leaf is a Python number, which a tensor can stand for."""
    return type(value) in NUMBERS


def take_apart(value: Any, outputs: list[Tensor]) -> Parts:
    """Split a value; its tensors are appended to `outputs`."""
    leaves: list[Any] = []
    fixed = nest.fixed_parts(value)
    for leaf in nest.flatten(value, expand_composites=True):
        if is_one_of(leaf, fixed):
            leaves.append(leaf)
        elif is_tensor(leaf):
            tensor = as_tensor(leaf)
            leaves.append(Output(len(outputs), tensor.aval.shape))
            outputs.append(tensor)
        elif is_text(leaf) and not is_known(as_tensor(leaf)):
            form = coded_form(as_tensor(leaf))
            leaves.append(TextOutput(len(outputs), form.codes.aval.shape, form.table))
            outputs.append(form.codes)
        else:
            leaves.append(leaf)
    return Parts(nest.pack_sequence_as(value, leaves, expand_composites=True), leaves)


def copied(value: Any) -> Any:
    """The same value in new lists and dicts, so that changing them leaves the old ones alone."""
    if not nest.is_nested(value):
        return value
    return nest.pack_sequence_as(value, nest.flatten(value))


class Snapshot:
    """Values, and the contents of the lists and dicts among them.

    Attributes:
        values: The values.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = list(values)
        self._contents = [_contents(value) for value in self.values]

    def reinstate(self, write: Callable[[Sequence[Any]], None]) -> None:
        """Write the values back, the same objects with the contents they had."""
        for contents in self._contents:
            _refill(contents)
        write(self.values)


def _contents(value: Any) -> list[tuple[Any, Any]]:
    """(container, copy of it) for a list or dict and those inside it."""
    if isinstance(value, dict):
        inside: list[Any] = list(value.values())  # pyright: ignore[reportUnknownArgumentType]
        found: list[tuple[Any, Any]] = [(value, dict(value))]  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        inside = list(value)  # pyright: ignore[reportUnknownArgumentType]
        found = [(value, list(value))]  # pyright: ignore[reportUnknownArgumentType]
    else:
        return []
    for item in inside:
        found += _contents(item)
    return found


def _refill(contents: list[tuple[Any, Any]]) -> None:
    for container, copy in contents:
        if isinstance(container, dict):
            container.clear()
            container.update(copy)
        else:
            container[:] = copy


def same(first: Any, second: Any) -> bool:
    """Whether two values that are no tensors are the same."""
    if first is second:
        return True
    if isinstance(first, Undefined) or isinstance(second, Undefined):
        return isinstance(first, Undefined) and isinstance(second, Undefined)
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        return is_known(first) and is_known(second) and np.array_equal(first.view(), second.view())
    return type(first) is type(second) and not isinstance(first, Variable) and first == second


def same_structure(first: Any, second: Any) -> str | None:
    """None when two values have one structure, else how they differ."""
    try:
        nest.assert_same_structure(first, second, expand_composites=True)
    except (TypeError, ValueError) as error:
        return str(error)
    return None


def number_aval(value: Any) -> Aval:
    """The aval of the tensor that stands for a Python number."""
    return as_tensor(value).aval


def is_staged(value: Any) -> bool:
    """Whether a condition, bound or iterable is known only when the program runs."""
    if isinstance(value, Variable):
        value = value.tensor
    if not isinstance(value, Tensor):
        return isinstance(value, Tracer)
    if isinstance(value.array, Tracer):
        return True
    recorder = LOCAL.recorder
    if value.array is not None:
        # A variable's value may be another when the function is called.
        return recorder.symbolic is not None and getattr(value, "cell", None) is not None
    return recorder.symbolic is not None and _known(value) is None


def _known(tensor: Tensor) -> Any:
    """The value of a tensor made from shapes alone, which no run can change."""
    recorder = LOCAL.recorder
    return recorder.node.known(tensor.index) if tensor.recorder is recorder else None


def known_tensor(value: Any) -> Any:
    """A tensor that is not staged, as something Python can decide on."""
    if isinstance(value, Tensor) and value.array is None and LOCAL.recorder.symbolic is not None:
        return _known(value)
    return value


def describe(leaf: Any, aval_of: Callable[[int], Aval]) -> str:
    """A leaf for messages: dtype and shape of a tensor, else the value."""
    if isinstance(leaf, TextOutput) or is_text(leaf):
        return f"a tensor of strings of shape {list(leaf.shape)}"
    if isinstance(leaf, Output):
        aval = aval_of(leaf.place)
        return f"a tensor of shape {list(aval.shape)} and dtype {aval.tf_dtype.name}"
    if isinstance(leaf, Undefined):
        return "undefined"
    return repr(leaf) if is_number(leaf) or leaf is None else f"a {type(leaf).__name__}"


def fits(value: Any, aval: Aval) -> bool:
    """Whether a Python number can take a tensor's dtype without losing its kind."""
    dtype = as_dtype(aval.dtype)
    if type(value) is bool:
        return dtype.is_bool
    if type(value) is int:
        return dtype.is_integer or aval.inexact
    if type(value) is float:
        return aval.inexact
    return dtype.is_complex
