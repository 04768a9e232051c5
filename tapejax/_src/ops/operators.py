"""The one table that gives Tensor and Variable their operators and methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_partner, constant_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL, record1, record2
from tapejax._src.engine.registry import find_kernel
from tapejax._src.ops import (
    arithmetic,
    assignment,
    bitwise,
    comparison,
    index_keys,
    matmul,
    powers,
    scatter_assignment,
    slicing,
)

_Method = Callable[[Any, Any], Any]


def _binary(function: Any) -> tuple[_Method, _Method]:
    """The operator and its reflected form, with a short way for tensors and Python numbers."""
    definition = function.op
    if definition.fields.get("check") is not None:
        return _checked(function)
    kernel: Kernel = find_kernel(definition, [0, 0], {})[0]

    def method(self: Any, other: Any) -> Any:
        kind = type(other)
        if kind is Tensor or kind is float or kind is int or kind is Variable:
            return record2(kernel, self, other)
        return _general(function, self, other)

    def reflected(self: Any, other: Any) -> Any:
        kind = type(other)
        if kind is Tensor or kind is float or kind is int or kind is Variable:
            return record2(kernel, other, self)
        return _general(function, other, self)

    return method, reflected


def _checked(function: Any) -> tuple[_Method, _Method]:
    def method(self: Any, other: Any) -> Any:
        return _general(function, self, other)

    def reflected(self: Any, other: Any) -> Any:
        return _general(function, other, self)

    return method, reflected


def _general(function: Any, x: Any, y: Any) -> Any:
    if _is_foreign(x) or _is_foreign(y):
        return NotImplemented
    return function(x, y)


def _is_foreign(value: Any) -> bool:
    """Whether another library's class wants to handle the operator itself."""
    return getattr(type(value), "__tf_dispatch__", None) is not None


def _equality(function: Any, different: bool) -> _Method:
    kernel: Kernel = find_kernel(function.op, [0, 0], {})[0]

    def method(self: Any, other: Any) -> Any:
        if other is None:
            return different
        kind = type(other)
        if kind is float or kind is int:
            return record2(kernel, self, other)
        if not isinstance(other, (Tensor, Variable)):
            try:
                other = as_tensor_beside(self, other)
            except (ValueError, TypeError):
                return NotImplemented
        if _fit(self, other):
            return record2(kernel, self, other)
        return constant_tensor(np.array(different))

    return method


def as_tensor_beside(tensor: Any, value: Any) -> Tensor:
    """Convert the other side of an operator."""
    return as_partner(value, tensor.dtype)


def _fit(x: Any, y: Any) -> bool:
    try:
        np.broadcast_shapes(tuple(x.shape), tuple(y.shape))
    except ValueError:
        return False
    return True


def _logical(on_bool: Any, on_int: Any) -> tuple[_Method, _Method]:
    def choose(x: Any, y: Any) -> Any:
        tensor = x if isinstance(x, (Tensor, Variable)) else y
        return on_bool(x, y) if tensor.dtype.is_bool else on_int(x, y)

    return choose, lambda self, other: choose(other, self)


def _invert(self: Any) -> Any:
    if self.dtype.is_bool:
        return comparison.logical_not(self)
    return bitwise.invert(self)


def _iterate(self: Any) -> Iterator[Any]:
    if not self.shape:
        raise TypeError("Cannot iterate over a scalar tensor.")
    for n in range(self.shape[0]):
        yield _getitem(self, n)


_parts: dict[Any, Kernel] = {}


def _getitem(self: Any, index: Any) -> Any:
    """`self[index]`, with a short way for ints and slices seen before on this shape."""
    key = _quick_key(index)
    tensor = self.tensor if type(self) is Variable else self
    if key is None or tensor.aval.struct is None:
        return slicing.getitem(self, index)
    if LOCAL.recorder.node.varied:
        return slicing.getitem(self, index, dynamic_starts=True)
    place = (tensor.aval, key)
    kernel = _parts.get(place)
    if kernel is None:
        kernel = _parts[place] = _part_kernel(tensor, index)
    return record1(kernel, self)


def _part_kernel(tensor: Tensor, index: Any) -> Kernel:
    key, dynamic = index_keys.canonicalise_index(index, tensor.aval.shape)
    definition = cast(Any, slicing.getitem_op).op
    return find_kernel(definition, [tensor, key, dynamic], {})[0].unchecked()


def _quick_key(index: Any) -> Any:
    """A hashable form of an index made of ints, slices of ints, None and Ellipsis; else None."""
    kind = type(index)
    if kind is int:
        return index
    if kind is slice:
        key = (index.start, index.stop, index.step)
        return ("slice", *key) if all(k is None or type(k) is int for k in key) else None
    if kind is not tuple:
        return None
    parts: list[Any] = []
    for item in index:
        kind = type(item)
        if kind is int or item is None or item is Ellipsis:
            parts.append(item)
        elif kind is slice:
            part = _quick_key(item)
            if part is None:
                return None
            parts.append(part)
        else:
            return None
    return tuple(parts)


def _variable_getitem(self: Variable, index: Any) -> Any:
    part = _getitem(self, index)
    part.origin = (self, index, assignment.assign_part)
    return part


def attach() -> None:
    """Put the operators on the classes."""
    table: dict[str, Any] = {}
    for name, function in {
        "add": arithmetic.add,
        "sub": arithmetic.subtract,
        "mul": arithmetic.multiply,
        "truediv": arithmetic.divide,
        "floordiv": arithmetic.floordiv,
        "mod": arithmetic.floormod,
        "matmul": matmul.matmul,
    }.items():
        table[f"__{name}__"], table[f"__r{name}__"] = _binary(function)
    for name, function in {
        "lt": comparison.less,
        "le": comparison.less_equal,
        "gt": comparison.greater,
        "ge": comparison.greater_equal,
    }.items():
        table[f"__{name}__"] = _binary(function)[0]
    table["__eq__"] = _equality(comparison.equal, False)
    table["__ne__"] = _equality(comparison.not_equal, True)
    table["__pow__"] = lambda self, other: powers.pow(self, other)
    table["__rpow__"] = lambda self, other: powers.pow(as_tensor_beside(self, other), self)
    for name, on_bool, on_int in (
        ("and", comparison.logical_and, bitwise.bitwise_and),
        ("or", comparison.logical_or, bitwise.bitwise_or),
        ("xor", comparison.logical_xor, bitwise.bitwise_xor),
    ):
        table[f"__{name}__"], table[f"__r{name}__"] = _logical(on_bool, on_int)
    table["__neg__"] = lambda self: arithmetic.negative(self)
    table["__abs__"] = lambda self: arithmetic.abs(self)
    table["__pos__"] = lambda self: self
    table["__invert__"] = _invert
    table["__iter__"] = _iterate
    for name, method in table.items():
        setattr(Tensor, name, method)
        setattr(Variable, name, method)
    Tensor.__getitem__ = _getitem
    Variable.__getitem__ = _variable_getitem
    for name, method in {**assignment.METHODS, **scatter_assignment.METHODS}.items():
        setattr(Variable, name, method)


attach()
