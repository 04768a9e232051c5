"""The one table that gives Tensor and Variable their operators and methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_partner, as_tensor, constant_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record1, record2
from tapejax._src.engine.registry import find_kernel
from tapejax._src.engine.texts import is_known, is_text, known_texts, text_tensor
from tapejax._src.ops import (
    arithmetic,
    assignment,
    bitwise,
    casting,
    comparison,
    index_keys,
    matmul,
    powers,
    scatter_assignment,
    slicing,
)

newaxis = None
"""`tf.newaxis`: in an index, a new axis of size 1."""

_Method = Callable[[Any, Any], Any]
_Recovery = Callable[[Any, Any, Any, Exception], Any]
"""What to do after an operator failed: (public function, tensor, other operand, error)."""

_UNFIT = (errors.InvalidArgumentError, TypeError)


def _binary(function: Any, recover: _Recovery) -> tuple[_Method, _Method]:
    """The operator and its reflected form, with a short way for tensors and Python numbers.

    What an operand of another dtype leads to is found out after the op has failed, so that the
    short way pays nothing for it.
    """
    definition = function.op
    if definition.fields.get("check") is not None:
        return _checked(function)
    kernel: Kernel = find_kernel(definition, [0, 0], {})[0]

    def method(self: Any, other: Any) -> Any:
        kind = type(other)
        try:
            if kind is Tensor or kind is float or kind is int or kind is Variable:
                return record2(kernel, self, other)
            return _general(function, self, other)
        except _UNFIT as error:
            return recover(function, self, other, error)

    def reflected(self: Any, other: Any) -> Any:
        kind = type(other)
        try:
            if kind is Tensor or kind is float or kind is int or kind is Variable:
                return record2(kernel, other, self)
            return _general(function, other, self)
        except _UNFIT as error:
            return (
                _reflected_multiply(self, other, error)
                if recover is _multiply
                else _hard(function, self, other, error)
            )

    return method, reflected


def _hard(function: Any, self: Any, other: Any, error: Exception) -> Any:
    """The other operand must take the tensor's dtype: TypeError "Cannot convert ..."."""
    del function
    if not isinstance(other, (Tensor, Variable)):
        as_tensor_beside(self, other)
    raise error


def _fits(self: Any, other: Any) -> bool:
    """Whether the other operand is a tensor, or can take the dtype of `self`."""
    if isinstance(other, (Tensor, Variable)):
        return True
    try:
        as_tensor_beside(self, other)
    except TypeError:
        return False
    return True


def _soft(function: Any, self: Any, other: Any, error: Exception) -> Any:
    """`+` keeps the dtype of an operand that does not fit, and its op names the two dtypes."""
    if self.dtype.is_bool or _fits(self, other):  # bool is not added, whatever stands beside it
        raise error
    return function(self, as_tensor(other))


def _divide(function: Any, self: Any, other: Any, error: Exception) -> Any:
    """`/` converts like `+`, and complains of two dtypes itself."""
    del function
    x, y = self.dtype, as_tensor(other).dtype
    alike = x == y or (not isinstance(other, (Tensor, Variable)) and _fits(self, other))
    if alike or x.is_bool:
        raise error
    raise TypeError(
        f"`x` and `y` must have the same dtype, got {x!r} != {y!r}. Division never promotes: "
        f"convert one side with tf.cast(x, {y!r}) or tf.cast(y, {x!r})."
    ) from None


def _multiply(function: Any, self: Any, other: Any, error: Exception) -> Any:
    """`*` where either side is bool means logical and."""
    if self.dtype.is_bool:
        return _both(self, as_tensor(other))
    return _hard(function, self, other, error) if not _is_bool(other) else _both(self, other)


def _reflected_multiply(self: Any, other: Any, error: Exception) -> Any:
    if self.dtype.is_bool:
        return _both(as_tensor_beside(self, other), self)
    return _hard(None, self, other, error)


def _is_bool(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable)) and value.dtype.is_bool


def _both(x: Any, y: Any) -> Any:
    return comparison.logical_and(casting.cast(x, "bool"), casting.cast(y, "bool"))


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
            try:
                return record2(kernel, self, other)
            except TypeError as error:
                return _hard(function, self, other, error)
        if not isinstance(other, (Tensor, Variable)):
            try:
                other = as_tensor_beside(self, other)
            except ValueError:
                if isinstance(other, (list, tuple, np.ndarray)):
                    raise
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
    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, (Tensor, Variable)):
            other = as_tensor_beside(self, other)
        return on_bool(self, other) if self.dtype.is_bool else on_int(self, other)

    def reflected(self: Any, other: Any) -> Any:
        return method(as_tensor_beside(self, other), self)

    return method, reflected


def _invert(self: Any) -> Any:
    if self.dtype.is_bool:
        return comparison.logical_not(self)
    return bitwise.invert(self)


def _iterate(self: Any) -> Iterator[Any]:
    if not self.shape.rank:
        raise TypeError("Cannot iterate over a scalar tensor.")
    if is_text(self) and is_known(as_tensor(self)):
        for part in known_texts(self):
            yield text_tensor(part)
        return
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
        if kind is slice:
            part = (item.start, item.stop, item.step)
            if not all(k is None or type(k) is int for k in part):
                return None
            parts.append(part)
        elif kind is int or item is None or item is Ellipsis:
            parts.append(item)
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
    for name, function, recover in (
        ("add", arithmetic.add, _soft),
        ("sub", arithmetic.subtract, _hard),
        ("mul", arithmetic.multiply, _multiply),
        ("truediv", arithmetic.divide, _divide),
        ("floordiv", arithmetic.floordiv, _hard),
        ("mod", arithmetic.floormod, _hard),
        ("matmul", matmul.matmul, _soft),
    ):
        table[f"__{name}__"], table[f"__r{name}__"] = _binary(function, recover)
    for name, function in {
        "lt": comparison.less,
        "le": comparison.less_equal,
        "gt": comparison.greater,
        "ge": comparison.greater_equal,
    }.items():
        table[f"__{name}__"] = _binary(function, _hard)[0]
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
