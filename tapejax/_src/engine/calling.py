"""Calling an op: arguments read by their roles, the kernel of the static ones, a recorded edge."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.core import Tracer

from tapejax._src.core import errors
from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.composites import CompositeGivenError, answer_op
from tapejax._src.engine.convert import SymbolicArgument, as_partner, as_tensor, static_ints
from tapejax._src.engine.definitions import (
    GROUP_ROLES,
    LIST_ROLES,
    TENSOR_ROLES,
    OpDef,
    Parameter,
    ValueCheck,
)
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.quick import keyword_key, quick_key, remember, remember_keywords
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record, record1, record2

_BOOL = as_dtype("bool")
_INT32 = as_dtype("int32")
_STRING = as_dtype("string")
_NUMBERS = (float, int)
_OPERANDS = (Tensor, Variable, float, int)
_MISSING: Any = object()


def public_function(definition: OpDef) -> Callable[..., Any]:
    """The recording function, with a short way for one or two tensors and defaults elsewhere."""
    roles = [p.role for p in definition.parameters]
    simple = ("TensorLike", "Same")
    rest = definition.parameters

    def general(*args: Any, **kwargs: Any) -> Any:
        return call_op(definition, args, kwargs)

    if definition.fields.get("check") is not None or not roles or roles[0] not in simple:
        return general
    tensors = [n for n, role in enumerate(roles) if role in TENSOR_ROLES]
    count = 1
    if roles[:2] == ["Same", "Same"] and tensors == [0, 1]:
        count = 2
    if not _optional_after(rest, count):
        return general
    if count == 1 and any(rest[n].default is not None for n in tensors[1:]):
        return general
    kernel = find_kernel(definition, [0] * count + [p.default for p in rest[count:]], {})[0]

    def unary(x: Any = _MISSING, /, *more: Any, **kwargs: Any) -> Any:
        kind = type(x)
        if (kind is Tensor or kind is Variable) and not more:
            found = definition.by_keywords.get(keyword_key(kwargs)) if kwargs else kernel
            if found is not None:
                return record1(found, x)
        return call_op(definition, () if x is _MISSING else (x, *more), kwargs)

    def binary(x: Any = _MISSING, y: Any = _MISSING, /, *more: Any, **kwargs: Any) -> Any:
        kind, kind_y = type(x), type(y)
        if kind is Tensor or kind is Variable:
            fits = kind_y in _OPERANDS
        else:
            fits = (kind_y is Tensor or kind_y is Variable) and kind in _NUMBERS
        if fits and not more:
            found = definition.by_keywords.get(keyword_key(kwargs)) if kwargs else kernel
            if found is not None:
                return record2(found, x, y)
        given = [v for v in (x, y, *more) if v is not _MISSING]
        return call_op(definition, tuple(given), kwargs)

    return unary if count == 1 else binary


def _optional_after(parameters: Sequence[Parameter], count: int) -> bool:
    empty = inspect.Parameter.empty
    return len(parameters) >= count and all(p.default is not empty for p in parameters[count:])


def call_op(definition: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Read the arguments by their roles, find the kernel, record it."""
    quick = quick_key(definition, args, kwargs)
    kernel = None if quick is None else definition.memo.get(quick[0])
    if quick is not None and kernel is not None:
        inputs = quick[1]
    else:
        try:
            values, extra = _bind(definition, args, kwargs)
            kernel, layout = find_kernel(definition, values, extra)
            inputs = _inputs(definition, values, layout)
        except CompositeGivenError as error:
            return answer_op(definition, call_op, args, kwargs, error)
        except SymbolicArgument as found:
            return found.apply(definition.name, args, kwargs)
        if quick is not None and _same_objects(inputs, quick[1]):
            remember(definition, quick[0], kernel)
            if kwargs and _same_objects(inputs, args):
                remember_keywords(definition, kwargs, kernel)
    if kernel.check is not None:
        kernel = checked(kernel, inputs)
    if len(inputs) == 2:
        return record2(kernel, inputs[0], inputs[1])
    if len(inputs) == 1 and type(inputs[0]) is Tensor:
        return record1(kernel, inputs[0])
    return record(kernel, inputs)


def _same_objects(inputs: Sequence[Any], others: Sequence[Any]) -> bool:
    return len(inputs) == len(others) and all(map(operator.is_, inputs, others))


def _bind(
    definition: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The value of every parameter, in order, and the surplus keyword arguments of a `**` one."""
    parameters = definition.parameters
    open_ended = bool(parameters) and parameters[-1].role == "**"
    starred = bool(parameters) and parameters[-1].role[0] == "*" and not open_ended
    named = parameters[:-1] if open_ended or starred else parameters
    values = list(args)
    if starred and len(args) >= len(named) and not kwargs:
        return [*values[: len(named)], tuple(values[len(named) :])], {}
    if len(args) > len(named):
        _raise_binding(definition, args, kwargs)
    used = 0
    for parameter in named[len(args) :]:
        if parameter.name in kwargs:
            values.append(kwargs[parameter.name])
            used += 1
        elif parameter.default is inspect.Parameter.empty:
            _raise_binding(definition, args, kwargs)
        else:
            values.append(parameter.default)
    if used == len(kwargs):
        return values, {}
    names = {p.name for p in named[len(args) :]}
    surplus = {k: v for k, v in kwargs.items() if k not in names}
    if surplus and not open_ended:
        _raise_binding(definition, args, kwargs)
    return values, surplus


def _raise_binding(definition: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    signature = inspect.signature(definition.fn)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"tf.{definition.name}{signature}: {error}") from None


class Layout(NamedTuple):
    """Where the tensors of a call go: (parameter, number of list elements or -1), in order."""

    tensors: tuple[tuple[int, int], ...]


def find_kernel(
    definition: OpDef, values: Sequence[Any], extra: Mapping[str, Any]
) -> tuple[Kernel, Layout]:
    """The kernel for the static arguments among `values`, and the layout of its inputs."""
    statics: list[Any] = []
    tensors: list[tuple[int, int]] = []
    for position, value in enumerate(values):
        parameter = definition.parameters[position]
        role = parameter.role
        if role == "name":
            continue
        if role not in TENSOR_ROLES:
            statics.append(_static(definition, parameter, value))
        elif role in LIST_ROLES:
            tensors.append((position, _length(definition, parameter, value)))
        elif value is not None or not parameter.optional:
            tensors.append((position, -1))
    layout = Layout(tuple(tensors))
    key = (layout, tuple([_distinct(s) for s in statics]), tuple(sorted(extra.items())))
    kernel = definition.kernels.get(key)
    if kernel is None:
        kernel = _make_kernel(definition, layout, statics, extra)
        definition.kernels[key] = kernel
    return kernel, layout


def _length(definition: OpDef, parameter: Parameter, value: Any) -> int:
    if isinstance(value, (Tensor, Variable, np.ndarray, jax.Array)):
        shape: Any = tuple(value.shape)
        return int(shape[0]) if shape else -1
    if not isinstance(value, (list, tuple)):
        raise TypeError(
            f"tf.{definition.name}: `{parameter.name}` must be a list or tuple of tensors, got "
            f"{value!r} of type {type(value).__name__}"
        )
    return len(value)  # pyright: ignore[reportUnknownArgumentType]


def _static(definition: OpDef, parameter: Parameter, value: Any) -> Any:
    role = parameter.role
    if role == "StaticInts":
        return static_ints(value)
    if role == "DTypeLike":
        return None if value is None else as_dtype(value)
    if isinstance(value, list):
        value = _tupled(value)
    if isinstance(value, (Tensor, Variable)) and not value.shape.rank:
        value = value.numpy().item()
    try:
        hash(value)
    except TypeError:
        raise TypeError(
            f"tf.{definition.name}: `{parameter.name}` must be a Python value that is known when "
            f"the program is recorded, got {value!r} of type {type(value).__name__}"
        ) from None
    return value


def _tupled(value: Any) -> Any:
    return tuple(_tupled(v) for v in value) if isinstance(value, (list, tuple)) else value  # pyright: ignore[reportUnknownVariableType]


def _distinct(value: Any) -> Any:
    """A key in which 1, 1.0 and True differ, and 0.0 and -0.0; a NaN equals itself."""
    kind = type(value)
    if kind is float:
        return kind, value.hex()
    return (kind, value) if kind is bool else value


def _make_kernel(
    definition: OpDef, layout: Layout, statics: Sequence[Any], extra: Mapping[str, Any]
) -> Kernel:
    parameters = definition.parameters
    values = iter(statics)
    fixed: dict[str, Any] = dict(extra)
    of_codes = False
    for parameter in parameters:
        if parameter.role in ("**", "name"):
            continue
        if parameter.role in TENSOR_ROLES:
            fixed[parameter.name] = None
        else:
            value = next(values, parameter.default)
            if value is _STRING:
                of_codes = True
                value = _INT32
            fixed[parameter.name] = value.as_numpy_dtype if isinstance(value, DType) else value

    starred = parameters[-1].name if parameters and parameters[-1].role in LIST_ROLES[1:] else None

    def bound(fn: Callable[..., Any]) -> Callable[..., Any]:
        def of_arrays(*arrays: Any) -> Any:
            arguments = dict(fixed)
            rest = list(arrays)
            for position, count in layout.tensors:
                taken = rest[: max(count, 1) if count < 0 else count]
                rest = rest[len(taken) :]
                arguments[parameters[position].name] = taken[0] if count < 0 else tuple(taken)
            if starred is None:
                return fn(**arguments)
            return fn(*[arguments[p.name] for p in parameters[:-1]], *arguments[starred])

        return of_arrays

    names = [parameters[p].name for p, count in layout.tensors for _ in range(abs(count))]
    roles = [parameters[p].role for p, count in layout.tensors for _ in range(abs(count))]
    fields = definition.fields
    blocked = fields.get("no_gradient", ())
    slices = fields.get("slices")
    check = fields.get("check")
    dtypes = fields.get("dtypes")
    kernel = Kernel(
        definition.name,
        bound(definition.fn),
        groups=tuple(0 if role in GROUP_ROLES else -1 for role in roles),
        node=definition.node,
        gradient=definition.gradient,
        blocked=frozenset(n for n, name in enumerate(names) if name in blocked),
        sparse=_sparse(slices, names, fixed),
        check=None if check is None else ValueCheck(bound(check.fails), check.message),
        allowed=None if dtypes is None else tuple(dtypes.split()),
        broadcast=bool(fields.get("broadcast")),
        mismatch=fields.get("mismatch"),
    )
    return kernel.of_codes() if of_codes else kernel


def _sparse(slices: Any, names: Sequence[str], fixed: Mapping[str, Any]) -> tuple[int, int] | None:
    """Positions of (parameter, indices) when a gradient by slices applies: leading axis only."""
    if slices is None or fixed.get("axis") not in (None, 0) or fixed.get("batch_dims", 0) != 0:
        return None
    return names.index(slices[0]), names.index(slices[1])


def _inputs(definition: OpDef, values: Sequence[Any], layout: Layout) -> list[Any]:
    """Convert what was passed for tensors; Python numbers of a dtype group stay numbers."""
    flat: list[tuple[str, Any]] = []
    for position, count in layout.tensors:
        role = definition.parameters[position].role
        items = [values[position]] if count < 0 else list(values[position])
        flat += [(role, item) for item in items]
    partner = _partner(flat)
    inputs: list[Any] = []
    for role, value in flat:
        if role in GROUP_ROLES:
            converted = _same(value, partner)
            if partner is None:
                partner = converted.dtype
            inputs.append(converted)
        else:
            inputs.append(_by_role(definition, role, value))
    return inputs


def _partner(flat: Sequence[tuple[str, Any]]) -> DType | None:
    """The dtype of the first tensor of the group."""
    for role, value in flat:
        if role in GROUP_ROLES and isinstance(value, (Tensor, Variable)):
            return value.dtype
    return None


def _same(value: Any, partner: DType | None) -> Any:
    kind = type(value)
    if kind is Tensor or kind is Variable:
        return value
    if partner is None:
        return as_tensor(value)
    if isinstance(value, np.generic) and partner.is_floating and value.dtype.kind in "fiu":
        value = value.item()
        kind = type(value)
    if kind is float and partner.is_floating:
        return value
    if kind is int and (partner.is_floating or partner.is_integer):
        return value
    return as_partner(value, partner)


def _by_role(definition: OpDef, role: str, value: Any) -> Tensor:
    if role == "Bool":
        return as_tensor(value, _BOOL)
    tensor = as_tensor(value)
    if role.endswith("Index") and not tensor.dtype.is_integer:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Value for attr 'Tindices' of {tensor.dtype.name} is not in the list of allowed "
            f"values: int32, int64 [Op:{definition.node}]; indices have shape {tensor.shape}",
        )
    return tensor


def checked(kernel: Kernel, inputs: list[Any]) -> Kernel:
    """Check at once what is already computed; then the recorded op need not check again."""
    check = kernel.check
    if check is None or LOCAL.recorder.symbolic is not None:
        return kernel
    tensors = [x if type(x) is Tensor else as_tensor(x) for x in inputs]
    avals = tuple([t.aval for t in tensors])
    positions = check.reads(avals)
    if not positions:
        return kernel if positions is None else kernel.unchecked()
    first = tensors[positions[0]]
    alone = len(positions) == 1
    if alone and check.has_passed(avals, first):
        return kernel.unchecked()
    read = [tensors[n] for n in positions]
    if any(t.array is None or isinstance(t.array, Tracer) for t in read):
        return kernel
    message = check.failure(tensors, positions)
    if message is not None:
        kind = getattr(message, "kind", errors.InvalidArgumentError)  # see effects.Failure
        raise kind(None, None, f"{message} [Op:{kernel.node}]")
    if alone:
        check.note_passed(avals, first)
    return kernel.unchecked()
