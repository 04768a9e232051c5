"""Elementwise ops of ragged tensors: the op of the flat values, with the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.conversion import scalar_fits
from tapejax._src.core.dtypes import DType, bool_
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_partner, as_tensor
from tapejax._src.engine.definitions import LIST_ROLES, TENSOR_ROLES, OpDef
from tapejax._src.engine.registry import OPS
from tapejax._src.ops import arithmetic, comparison, powers
from tapejax._src.ops.ragged_broadcasting import together

_NAMES = """
_clip_by_value _math.pow _math.pow:integer _select bitcast bitwise.bitwise_and bitwise.bitwise_or
bitwise.bitwise_xor bitwise.invert bitwise.left_shift bitwise.right_shift cast
debugging.assert_equal debugging.assert_greater debugging.assert_greater_equal
debugging.assert_less debugging.assert_less_equal debugging.assert_near
debugging.assert_none_equal debugging.check_numerics dtypes.complex dtypes.saturate_cast identity
math.abs math.acos math.acosh math.add math.add_n math.angle math.asin math.asinh math.atan
math.atan2 math.atanh math.bessel_i0 math.bessel_i0e math.bessel_i1 math.bessel_i1e math.ceil
math.conj math.cos math.cosh math.digamma math.divide math.divide_no_nan math.equal math.erf
math.erfc math.erfcinv math.erfinv math.exp math.expm1 math.floor math.floordiv math.floormod
math.greater math.greater_equal math.imag math.is_finite math.is_inf math.is_nan math.less
math.less_equal math.lgamma math.log math.log1p math.log_sigmoid math.logical_and
math.logical_not math.logical_or math.logical_xor math.maximum math.minimum math.multiply
math.multiply_no_nan math.ndtri math.negative math.nextafter math.not_equal math.pow math.real
math.reciprocal math.reciprocal_no_nan math.rint math.round math.rsqrt math.scalar_mul
math.sigmoid math.sign math.sin math.sinh math.softplus math.special.bessel_j0
math.special.bessel_j1 math.special.bessel_k0 math.special.bessel_k0e math.special.bessel_k1
math.special.bessel_k1e math.special.bessel_y0 math.special.bessel_y1 math.special.dawsn
math.special.expint math.special.fresnel_cos math.special.fresnel_sin math.special.spence
math.sqrt math.square math.squared_difference math.subtract math.tan math.tanh math.truediv
math.xdivy math.xlog1py math.xlogy math.zeta nn.dropout nn.elu nn.gelu nn.leaky_relu nn.relu
nn.relu6 nn.selu nn.sigmoid_cross_entropy_with_logits nn.silu nn.softsign ones_like realdiv
stop_gradient truncatediv truncatemod zeros_like
"""
ELEMENTWISE = frozenset(_NAMES.split())
"""The public paths of the ops that are applied to flat values."""


def is_elementwise(name: str) -> bool:
    """Whether an op is applied to the flat values of ragged tensors."""
    definition = OPS.get(name)
    paths = (name,) if definition is None else definition.paths
    return any(path in ELEMENTWISE for path in paths)


def apply_elementwise(
    name: str, call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """Call an op with flat values of one shape in the place of its tensors."""
    definition = OPS.get(name)
    given: list[tuple[Any, bool]] = []  # (place, whether a list)
    operands: list[Any] = []
    for place, value in [*enumerate(args), *kwargs.items()]:
        role = _role(definition, place)
        if value is None or (role is not None and role not in TENSOR_ROLES):
            continue
        if role is None and not isinstance(value, (RaggedTensor, Tensor, Variable, np.ndarray)):
            continue
        if role == "Bool" and not isinstance(value, RaggedTensor):
            value = as_tensor(value, bool_)
        if role in LIST_ROLES and isinstance(value, (list, tuple)):
            given.append((place, True))
            operands += list(value)
        else:
            given.append((place, False))
            operands.append(value)
    flats, wrap = _flat(operands)
    found = iter(flats)
    positional, named = list(args), dict(kwargs)
    for place, many in given:
        old = kwargs[place] if isinstance(place, str) else args[place]
        replaced = [next(found) for _ in old] if many else next(found)
        if isinstance(place, str):
            named[place] = replaced
        else:
            positional[place] = replaced
    return wrapped(call(*positional, **named), wrap)


def _role(definition: OpDef | None, place: int | str) -> str | None:
    """The role of a parameter, or None where the function is no op of the registry."""
    if definition is None:
        return None
    if isinstance(place, str):
        return definition.role_of.get(place)
    return definition.roles[place] if place < len(definition.roles) else None


def wrapped(result: Any, wrap: Callable[[Any], Any]) -> Any:
    """A result of flat values, or several, with their rows."""
    if isinstance(result, (list, tuple)):
        return type(result)([wrap(part) for part in result])
    return None if result is None else wrap(result)


def _flat(operands: Sequence[Any]) -> tuple[list[Any], Callable[[Any], Any]]:
    """Operands broadcast together; plain numbers stay numbers, to take the dtype of the others."""
    dtype = next(v.dtype for v in operands if isinstance(v, (RaggedTensor, Tensor, Variable)))
    operands = [as_tensor(v) if _misfits(v, dtype) else v for v in operands]
    shaped = [v if _is_number(v) else _operand(v, dtype) for v in operands]
    flats, wrap = together([v for v in shaped if not _is_number(v)])
    found = iter(flats)
    return [v if _is_number(v) else next(found) for v in shaped], wrap


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, str, bytes, np.generic))


def _misfits(value: Any, dtype: DType) -> bool:
    """Whether a number cannot take the dtype of the others; the op then names both."""
    return _is_number(value) and not scalar_fits(type(value), dtype)


def _operand(value: Any, dtype: DType) -> Any:
    if isinstance(value, RaggedTensor):
        return value
    if isinstance(value, (Tensor, Variable)):
        return as_tensor(value)
    return as_partner(value, dtype)


# ---------------------------------------------------------------------- operators
def _attach() -> None:
    table: dict[str, Any] = {}
    for name, fn in {
        "add": arithmetic.add,
        "sub": arithmetic.subtract,
        "mul": arithmetic.multiply,
        "truediv": arithmetic.divide,
        "floordiv": arithmetic.floordiv,
        "mod": arithmetic.floormod,
        "pow": powers.pow,
        "and": _logical(comparison.logical_and),
        "or": _logical(comparison.logical_or),
        "xor": _logical(comparison.logical_xor),
    }.items():
        table[f"__{name}__"], table[f"__r{name}__"] = _both(fn)
    for name, fn in {
        "lt": comparison.less,
        "le": comparison.less_equal,
        "gt": comparison.greater,
        "ge": comparison.greater_equal,
    }.items():
        table[f"__{name}__"] = _both(fn)[0]
    table["__eq__"] = _equality(comparison.equal, False)
    table["__ne__"] = _equality(comparison.not_equal, True)
    table["__neg__"] = arithmetic.negative
    table["__abs__"] = arithmetic.abs
    table["__invert__"] = _logical(comparison.logical_not)
    for name, method in table.items():
        setattr(RaggedTensor, name, _named(name, method))


def _named(name: str, fn: Any) -> Any:
    def method(self: Any, *other: Any) -> Any:
        return fn(self, *other)

    method.__name__ = name
    return method


def _logical(fn: Any) -> Any:
    """An operator of truth values, with the op's own error for others."""

    def method(*operands: Any) -> Any:
        for place, value in enumerate(operands):
            dtype = getattr(value, "dtype", None) or as_tensor(value).dtype
            if not dtype.is_bool:
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"cannot compute {fn.op.node} as input #{place}(zero-based) was expected to be "
                    f"a bool tensor but is a {dtype.name} tensor [Op:{fn.op.node}]",
                )
        return fn(*operands)

    return method


def _both(fn: Any) -> tuple[Any, Any]:
    return fn, lambda self, other: fn(other, self)


def _equality(fn: Any, different: bool) -> Any:
    """Elementwise where the shapes fit, else False (True for `!=`)."""

    def method(self: Any, other: Any) -> Any:
        if other is None:
            return different
        try:
            return fn(self, other)
        except (ValueError, errors.InvalidArgumentError):
            return different

    return method


_attach()
