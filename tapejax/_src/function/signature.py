"""The signature of a traced function: arguments in one form, `input_signature` checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from tapejax._src.core import errors, nest
from tapejax._src.core.composite_specs import RaggedTensorSpec, SparseTensorSpec
from tapejax._src.core.specs import TensorSpec, TypeSpec
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor

Call = tuple[tuple[Any, ...], dict[str, Any]]
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
_PLAN_LIMIT = 256


class _Place:
    """Stands for one argument of a call while its form is worked out."""

    __slots__ = ("source",)

    def __init__(self, source: int | str) -> None:
        self.source = source


class Literal:
    """The constraint of a parameter without a spec: its default value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Literal[{self.value!r}]"


class Signature:
    """How arguments bind to the parameters of a function.

    Args:
        parameters: Python's signature, or None where there is none (some builtins).
        input_signature: What the user gave.
    """

    def __init__(self, parameters: inspect.Signature | None, input_signature: Any) -> None:
        self._parameters = parameters
        self.input_signature = input_signature
        self._plans: dict[Any, Any] = {}
        self._constraints: dict[str, Any] | None = None
        self._rest: tuple[Any, ...] = ()
        if input_signature is not None:
            check_specs(input_signature)
            if parameters is not None:
                self._constrain(parameters, tuple(input_signature))

    def __str__(self) -> str:
        """The signature in TensorFlow's words."""
        parameters = () if self._parameters is None else self._parameters.parameters.values()
        shown: list[str] = []
        starred = False
        for parameter in parameters:
            star = _STARS.get(parameter.kind, "")
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not starred:
                shown.append("*")
            starred = starred or bool(star) or parameter.kind is inspect.Parameter.KEYWORD_ONLY
            shown.append(star + self._shown(parameter))
        return f"({', '.join(shown)})"

    def _shown(self, parameter: inspect.Parameter) -> str:
        constraint = (self._constraints or {}).get(parameter.name)
        text = (
            parameter.name if constraint is None else f"{parameter.name}: {described(constraint)}"
        )
        if parameter.default is inspect.Parameter.empty:
            return text
        return f"{text}{'=' if constraint is None else ' = '}<captured_default_value>"

    def kinds(self) -> dict[str, str]:
        """The kind of each parameter, as Python names it."""
        known = {} if self._parameters is None else self._parameters.parameters
        return {name: parameter.kind.name for name, parameter in known.items()}

    def names(self, count: int) -> list[str]:
        """The names of `count` positional arguments."""
        known = self._parameters.parameters.values() if self._parameters is not None else ()
        names = [p.name for p in known if p.kind in _POSITIONAL][:count]
        rest = next((p.name for p in known if p.kind is inspect.Parameter.VAR_POSITIONAL), "arg")
        return names + [f"{rest}_{n}" for n in range(count - len(names))]

    # ------------------------------------------------------------------ binding
    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        """The arguments in one form however they were passed: defaults filled in.

        Raises:
            TypeError: If they do not fit.
        """
        if self._parameters is None:
            return args, kwargs
        form = (len(args), *kwargs)
        plan = self._plans.get(form)
        try:
            if plan is None:
                plan = self._plan(self._parameters, len(args), kwargs)
                if len(self._plans) < _PLAN_LIMIT:
                    self._plans[form] = plan
            positional, named = plan
            bound = tuple([_filled(place, args, kwargs) for place in positional])
            by_name = {name: _filled(place, args, kwargs) for name, place in named.items()}
            return (bound, by_name) if self._constraints is None else self._cast(bound, by_name)
        except (TypeError, ValueError, errors.OpError) as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and "
                f"kwargs: {kwargs} for signature: {self}."
            ) from None

    @staticmethod
    def _plan(parameters: inspect.Signature, count: int, names: Mapping[str, Any]) -> Any:
        marks = [_Place(n) for n in range(count)]
        bound = parameters.bind(*marks, **{name: _Place(name) for name in names})
        bound.apply_defaults()
        return bound.args, bound.kwargs

    # ------------------------------------------------------------------ input_signature
    def _constrain(self, parameters: inspect.Signature, specs: tuple[Any, ...]) -> None:
        """Give each parameter its spec, or its default value as a constant."""
        constraints: dict[str, Any] = {}
        rest = list(specs)
        for name, parameter in parameters.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                self._rest, rest = tuple(rest), []
            elif parameter.kind in _POSITIONAL and rest:
                constraints[name] = rest.pop(0)
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                continue
            elif parameter.default is not inspect.Parameter.empty:
                constraints[name] = Literal(parameter.default)
            elif parameter.kind in _POSITIONAL:
                raise TypeError(f"input_signature missing type constraint for {name}")
            else:
                raise TypeError(
                    "Since input_signature is defined, keyword-only parameter "
                    f"`{name}` must have a default value"
                )
        if rest:
            raise TypeError(f"input_signature contains {len(rest)} extra type constraints.")
        self._constraints = constraints

    def _cast(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        constraints = cast("dict[str, Any]", self._constraints)
        names = self.names(len(args))
        limits = [constraints.get(name) for name in names]
        first_free = next((n for n, limit in enumerate(limits) if limit is None), len(limits))
        if self._rest or first_free < len(limits):
            if len(args) - first_free != len(self._rest):
                raise TypeError(
                    f"too {'many' if len(args) - first_free > len(self._rest) else 'few'} "
                    "positional arguments"
                )
            limits[first_free:] = self._rest
        cast_args = tuple([fitted(v, limit) for v, limit in zip(args, limits, strict=True)])
        return cast_args, {name: fitted(v, constraints.get(name)) for name, v in kwargs.items()}


def signature_of(fn: Callable[..., Any]) -> inspect.Signature | None:
    """Python's signature of a callable, or None where it has none."""
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):
        return None


def _filled(place: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    if type(place) is not _Place:
        return place
    source = place.source
    return kwargs[source] if isinstance(source, str) else args[source]


def check_specs(input_signature: Any) -> None:
    """Raise TypeError unless it is a nested sequence of specs."""
    if not isinstance(input_signature, (tuple, list)):
        raise TypeError(
            "input_signature must be either a tuple or a list, got "
            f"{type(cast('object', input_signature))}."
        )
    flat: list[Any] = nest.flatten(input_signature)
    wrong = [item for item in flat if not isinstance(item, TypeSpec)]
    if wrong:
        raise TypeError(
            "input_signature must be a possibly nested sequence of TensorSpec objects, got invalid "
            f"args {wrong} with types {[type(item) for item in wrong]}."
        )


def fitted(value: Any, limit: Any) -> Any:
    """A value as its constraint wants it: numbers and arrays become tensors of the spec's dtype.

    Raises:
        TypeError: If it does not fit.
    """
    if limit is None:
        return value
    if isinstance(limit, Literal):
        if value is limit.value or value == limit.value:
            return limit.value
        raise TypeError(f"Can not cast {value!r} to {limit!r}")
    if isinstance(limit, TensorSpec):
        return _fitted_tensor(value, limit)
    if isinstance(limit, (RaggedTensorSpec, SparseTensorSpec)):
        if not limit.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to {limit!r}")
        return value
    if isinstance(limit, TypeSpec):
        return value
    if isinstance(limit, Mapping):
        expected = cast("Mapping[Any, Any]", limit)
        if not isinstance(value, Mapping) or set(cast("Any", value)) != set(expected):
            raise TypeError(f"{value!r} has different keys with the TraceType {described(limit)}.")
        mapping = cast("Mapping[Any, Any]", value)
        return {key: fitted(mapping[key], expected[key]) for key in mapping}
    kind = "list" if isinstance(limit, list) else "tuple"
    if not isinstance(value, list if kind == "list" else tuple):
        raise TypeError(f"Can not cast {value!r} to {kind} type.")
    items = cast("Sequence[Any]", value)
    if len(items) != len(limit):
        raise TypeError(f"{value!r} has a different length than {described(limit)}.")
    parts = [fitted(item, part) for item, part in zip(items, limit, strict=True)]
    cls: Any = type(value)
    return cls(*parts) if hasattr(cls, "_fields") else cls(parts)


def _fitted_tensor(value: Any, spec: TensorSpec) -> Any:
    if isinstance(value, TensorSpec):
        if value.dtype is spec.dtype and value.shape.is_subtype_of(spec.shape):
            return spec
        raise TypeError(f"Can not cast {value} to {spec}")
    if value is None:
        raise TypeError(
            "Attempt to convert a value (None) with an unsupported type (<class 'NoneType'>) to a "
            "Tensor."
        )
    if isinstance(value, Variable):
        value = value.read_value()
    elif isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value).astype(spec.dtype.as_numpy_dtype)
    tensor = value if isinstance(value, Tensor) else as_tensor(value, spec.dtype)
    if tensor.dtype is not spec.dtype or not tensor.shape.is_subtype_of(spec.shape):
        raise TypeError(f"Can not cast {TensorSpec(tensor.shape, tensor.dtype)} to {spec}")
    return tensor


def described(value: Any) -> str:
    """A structure of specs and values in the words of TensorFlow's trace types."""
    if isinstance(value, (TypeSpec, Literal)):
        return repr(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value).items()
        return f"Dict[{', '.join(f'[{key!r}, {described(item)}]' for key, item in items)}]"
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        kind = "List" if isinstance(value, list) else "Tuple"
        return f"{kind}[{', '.join(described(item) for item in items)}]"
    return repr(Literal(value))
