"""What decides which trace of a function a call uses: TensorFlow's rules for its arguments.

Tensors and arrays count by dtype and shape, variables by those and by which of them are the same
one, Python values by `==`, other objects by `==` while they live, containers by their structure.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from tapejax._src.core import nest
from tapejax._src.core.avals import Aval
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.texts import coded_form, is_known

ARRAYS = (np.ndarray, np.generic, jax.Array)
_PLAIN = frozenset([int, float, bool, complex, str, bytes, type(None)])

Forget = Callable[[weakref.ref[Any]], None]


class FixedKey:
    """The key of a tensor whose value decides the trace."""

    __slots__ = ("_data", "dtype")

    def __init__(self, tensor: Tensor) -> None:
        array = tensor.view()
        self.dtype = tensor.dtype
        self._data = (array.shape, array.tobytes())

    def __hash__(self) -> int:
        return hash(self._data)

    def __eq__(self, other: object) -> bool:
        return type(other) is FixedKey and self.dtype is other.dtype and self._data == other._data


class Reading:
    """The arguments of a call, read once.

    Attributes:
        key: What finds the trace.
        parts, named: The parts of it: one for each positional argument, and each keyword.
        tensors: The tensors among them, arrays converted.
        variables: The variables among them, each once.
    """

    __slots__ = ("_forget", "key", "named", "parts", "tensors", "variables")

    def __init__(self, args: Any, kwargs: Mapping[str, Any], forget: Forget | None = None) -> None:
        self.tensors: list[Tensor] = []
        self.variables: list[Variable] = []
        self._forget = forget
        parts = tuple([self._part(value) for value in args])
        named = tuple([(name, self._part(kwargs[name])) for name in sorted(kwargs)])
        self.parts = parts
        self.named = named
        self.key: Any = (parts, named) if named else parts

    def _part(self, value: Any) -> Any:
        cls: Any = type(value)
        if cls is Tensor:
            return self._tensor(value)
        if cls in _PLAIN:
            return value
        if cls is list or cls is tuple:
            return (cls, *[self._part(item) for item in value])
        if isinstance(value, Variable):
            return self._variable(value)
        if isinstance(value, ARRAYS):
            return self._tensor(as_tensor(value))
        composite = nest.composite_of(cls)
        if composite is not None:
            return self._composite(value, composite)
        if not opens(value):
            return self._object(value)
        if isinstance(value, Mapping):
            keys = tuple(sorted(value))
            return (cls, keys, *[self._part(value[key]) for key in keys])
        items = value if isinstance(value, tuple) else _parts_of(value)
        return (cls, *[self._part(item) for item in items])

    def _composite(self, value: Any, composite: nest.Composite) -> Any:
        """The class, the parts with their values where those decide shapes, and the others."""
        parts = composite.split(value)
        fixed = nest.Fixed(()) if composite.fixed is None else composite.fixed(value)
        found = [
            FixedKey(part) if place in fixed.places else self._part(part)
            for place, part in enumerate(parts)
        ]
        return (type(value), fixed.label, *found)

    def _tensor(self, tensor: Tensor) -> Any:
        aval = tensor.aval
        if aval.struct is None:  # texts have no place in a program: each is a constant
            if not is_known(tensor):  # of a function around, which knows their codes
                form = coded_form(tensor)
                self.tensors.append(form.codes)
                return ("strings", aval.shape, tuple(form.table))
            array = tensor.view()
            return ("string", array.shape, tuple(array.ravel().tolist()))
        self.tensors.append(tensor)
        return aval

    def _variable(self, variable: Variable) -> Any:
        for place, other in enumerate(self.variables):
            if other is variable:
                return ("variable", place)
        self.variables.append(variable)
        return ("variable", len(self.variables) - 1, variable.tensor.aval, variable.trainable)

    def _object(self, value: Any) -> Any:
        try:
            reference = weakref.ref(value, self._forget) if self._forget else weakref.ref(value)
            hash(reference)
            return reference
        except TypeError:
            pass
        try:
            hash(value)
        except TypeError:
            raise TypeError(
                f"Could not generate a generic TraceType for {value!r}. Please verify that it is "
                "immutable/hashable. Otherwise, consider implementing the Tracing Protocol for it. "
                f"(A {type(value).__name__} cannot tell calls of a tf.function apart: pass a "
                "tensor, a number, a tuple, or an object that can be hashed.)"
            ) from None
        return value


def opens(value: Any) -> bool:
    """Whether an argument is a container that is looked into: other sequences are objects."""
    if isinstance(value, (list, tuple, Mapping)):
        return True
    cls = type(value)
    if hasattr(cls, "__attrs_attrs__") or hasattr(cls, "__tf_flatten__"):
        return True
    return not nest.is_nested(value) and _parts_of(value)[0] is not value


def _parts_of(value: Any) -> list[Any]:
    return nest.flatten(value, expand_composites=True)


def with_leaves(value: Any, replace: Callable[[Any], Any]) -> Any:
    """The same structure with each leaf replaced, in the order a `Reading` meets them."""
    cls: Any = type(value)
    composite = nest.composite_of(cls)
    if composite is not None:
        fixed = () if composite.fixed is None else composite.fixed(value).places
        parts = enumerate(composite.split(value))
        filled = [part if n in fixed else with_leaves(part, replace) for n, part in parts]
        return composite.rebuild(value, filled)
    if not opens(value):
        return replace(value)
    if cls is list or cls is tuple:
        return cls([with_leaves(item, replace) for item in value])
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return cls(*[with_leaves(item, replace) for item in value])
    if cls is dict:
        made = {key: with_leaves(value[key], replace) for key in sorted(value)}
        return {key: made[key] for key in value}
    if isinstance(value, (list, tuple)):
        return cls([with_leaves(item, replace) for item in value])
    leaves = [with_leaves(item, replace) for item in _parts_of(value)]
    return nest.pack_sequence_as(value, leaves, expand_composites=True)


def generic(key: Any) -> Any:
    """A key without the shapes of its tensors."""
    if isinstance(key, Aval):
        return key.tf_dtype
    if isinstance(key, FixedKey):
        return key.dtype
    if isinstance(key, tuple):
        return tuple([generic(part) for part in key])  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return key


def without_texts(key: Any) -> Any:
    """A key without the strings of its tensors; the very same key if it has none."""
    if not isinstance(key, tuple):
        return key
    if len(key) == 3 and key[0] == "string" and isinstance(key[2], tuple):  # pyright: ignore[reportUnknownArgumentType]
        return key[:2]  # pyright: ignore[reportUnknownVariableType]
    parts = tuple([without_texts(part) for part in key])  # pyright: ignore[reportUnknownVariableType]
    same = all(a is b for a, b in zip(parts, key, strict=True))  # pyright: ignore[reportUnknownArgumentType]
    return key if same else parts  # pyright: ignore[reportUnknownVariableType]


def refers_to(key: Any, reference: weakref.ref[Any]) -> bool:
    """Whether a key holds this very reference."""
    if isinstance(key, tuple):
        return any(refers_to(part, reference) for part in key)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return key is reference


def is_input(leaf: Any) -> bool:
    """Whether a leaf of the arguments is an input of the trace, and not a constant of it."""
    if isinstance(leaf, Tensor):
        return leaf.aval.struct is not None or not is_known(leaf)
    return isinstance(leaf, ARRAYS) and np.dtype(leaf.dtype).kind not in "OSU"


def avals_of(args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The avals of arguments that are tensors only; else None."""
    avals: list[Any] = []
    for value in args:
        if type(value) is not Tensor:
            return None
        avals.append(value.aval)
    return tuple(avals)
