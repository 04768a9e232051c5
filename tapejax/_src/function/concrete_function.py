"""Concrete functions: a traced function with one signature, Python values filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from tapejax._src.core import errors, nest
from tapejax._src.core.avals import make_aval
from tapejax._src.core.composite_specs import RaggedTensorSpec, SparseTensorSpec
from tapejax._src.core.dtypes import string
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.specs import TensorSpec
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.function.signature import Signature, described, fitted
from tapejax._src.function.trace import Trace
from tapejax._src.function.trace_key import is_input, with_leaves

_SIZES = (2, 3)
"""Unknown dimensions are traced with these to find out which dimensions of the results vary."""


class Traceable(Protocol):
    """What a concrete function needs of its function."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def signature(self) -> Signature:
        """Its signature."""
        ...

    def call_bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call it with arguments in one form."""
        ...

    def trace_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Trace:
        """Its trace for such arguments."""
        ...


def with_specs(signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments with a named `TensorSpec` for each tensor."""
    used: dict[str, int] = {}

    def named(name: str, value: Any) -> Any:
        def spec(leaf: Any) -> Any:
            if not isinstance(leaf, TensorSpec) and not is_input(leaf):
                return leaf
            base = getattr(leaf, "name", None) if isinstance(leaf, TensorSpec) else None
            place = used[name] = used.get(name, -1) + 1
            chosen = base or (f"{name}_{place}" if place else name)
            return TensorSpec(leaf.shape, leaf.dtype, chosen)

        return with_leaves(value, spec)

    names = signature.names(len(args))
    positional = tuple([named(n, value) for n, value in zip(names, args, strict=True)])
    return positional, {name: named(name, kwargs[name]) for name in sorted(kwargs)}


class Shown:
    """Stands for an object that is not to be kept alive."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def without_objects(value: Any) -> Any:
    """The same structure, holding the texts of objects and variables instead of themselves."""

    def shown(leaf: Any) -> Any:
        if isinstance(leaf, Variable):
            aval = leaf.tensor.aval
            return Shown(
                f"VariableSpec(shape={aval.tf_shape}, dtype={aval.tf_dtype!r}, "
                f"trainable={leaf.trainable})"
            )
        if isinstance(leaf, TensorSpec) or not hasattr(type(leaf), "__weakref__"):
            return leaf
        return Shown(object.__repr__(leaf))

    return with_leaves(value, shown)


def hollow(value: Any, size: int = 0) -> Any:
    """Specs made into tensors that have no value, for tracing; unknown dimensions get `size`.

    Those of strings stay: a function is traced for the strings it is given.
    """

    def tensor(leaf: Any) -> Any:
        if not isinstance(leaf, TensorSpec) or leaf.dtype is string:
            return leaf
        known = () if leaf.shape.rank is None else tuple(leaf.shape.as_list())
        shape = tuple([size if n is None else n for n in known])
        return Tensor(make_aval(shape, np.dtype(leaf.dtype.as_numpy_dtype)), None, -1)

    return with_leaves(value, tensor)


def input_specs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[TensorSpec]:
    """The specs among arguments, in the order of the inputs."""
    ordered = [*args, *[kwargs[name] for name in sorted(kwargs)]]
    return [leaf for leaf in _leaves(ordered) if isinstance(leaf, TensorSpec)]


def input_shapes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[TensorShape]:
    """Their shapes."""
    return [spec.shape for spec in input_specs(args, kwargs)]


def is_traced_ahead(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a function can be traced for these arguments before it is given their values."""
    ordered = [*args, *[kwargs[name] for name in sorted(kwargs)]]
    for leaf in _leaves(ordered):
        if isinstance(leaf, (RaggedTensorSpec, SparseTensorSpec)):
            raise NotImplementedError(
                f"A function cannot be traced for {leaf!r} alone: the lengths of the rows (or the "
                "dense shape) decide the shapes inside, and compiled code has static shapes. Call "
                "the function, or pass such a tensor to get_concrete_function."
            )
    specs = input_specs(args, kwargs)
    return all(x.shape.is_fully_defined() and x.dtype is not string for x in specs)


def input_names(signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """The names of the placeholders."""
    args, kwargs = with_specs(signature, args, kwargs)
    return [spec.name or "x" for spec in input_specs(args, kwargs)]


class ConcreteFunction:
    """A function for arguments of one signature; Python values of it are constants.

    What `tf.function(...).get_concrete_function(...)` returns.

    Args:
        function: The function.
        args: Its positional arguments, in one form, with a `TensorSpec` for each tensor.
        kwargs: The others.
        traces: Its traces, if they have been made.

    Example:
        >>> import tapejax as tf
        >>> scale = tf.function(lambda x, k: x * k)
        >>> triple = scale.get_concrete_function(tf.TensorSpec([], tf.float32), 3.0)
        >>> float(triple(tf.constant(2.0)))
        6.0

    Differs from TensorFlow:
        `inputs`, `outputs` and `structured_outputs` are `tf.TensorSpec`s: there is no graph.
        Unknown dimensions are traced for each size when it is met.
    """

    def __init__(
        self,
        function: Traceable,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        traces: tuple[Trace, ...] | None = None,
    ) -> None:
        self._function = function
        self._args, self._kwargs = args, kwargs
        self._specs = input_specs(args, kwargs)
        self._traces = traces

    # ------------------------------------------------------------------ calls
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call with the tensors in order or by name, or with all arguments of the function.

        Raises:
            TypeError: If the arguments do not fit.
            InvalidArgumentError: If a tensor has another dtype.
        """
        flat = self._flat(args, kwargs)
        if flat is None:
            bound, named = self._structured(args, kwargs)
        else:
            values = iter(flat)

            def fill(leaf: Any) -> Any:
                return next(values) if isinstance(leaf, TensorSpec) else leaf

            bound = tuple([with_leaves(value, fill) for value in self._args])
            named = {name: with_leaves(value, fill) for name, value in self._kwargs.items()}
        return self._function.call_bound(bound, named)

    def _flat(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any] | None:
        """The tensors when nothing but these was passed, else None."""
        if any(isinstance(value, Variable) for value in _leaves((*self._args, self._kwargs))):
            return None
        names = [spec.name for spec in self._specs]
        by_name = dict(zip(names, args, strict=False))
        if len(args) > len(names) or by_name.keys() & kwargs.keys():
            return None
        by_name.update(kwargs)
        if set(by_name) != set(names) or len(by_name) != len(names):
            return None
        given = [by_name[name] for name in names]
        if any(nest.is_nested(value) for value in given):
            return None
        return [self._tensor(n, value) for n, value in enumerate(given)]

    def _tensor(self, place: int, value: Any) -> Tensor:
        spec = self._specs[place]
        if isinstance(value, (Tensor, Variable)) and value.dtype is not spec.dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"cannot compute {self._inference_name} as input #{place}(zero-based) was expected "
                f"to be a {spec.dtype.name} tensor but is a {value.dtype.name} tensor "
                f"[Op:{self._inference_name}]; convert it with tf.cast(x, tf.{spec.dtype.name})",
            )
        return as_tensor(value, spec.dtype)

    def _structured(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        names = self._function.signature.names(len(self._args))
        baked = {**dict(zip(names, self._args, strict=True)), **self._kwargs}
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        try:
            if len(args) > len(names):
                raise TypeError("too many positional arguments")
            for name in given:
                if name not in baked or (name in kwargs and name in names[: len(args)]):
                    raise TypeError(f"got an unexpected keyword argument '{name}'")
            for name, value in baked.items():
                if name not in given and any(isinstance(x, TensorSpec) for x in _leaves(value)):
                    raise TypeError(f"missing a required argument: '{name}'")
            fit = {n: _same(given[n], v) if n in given else v for n, v in baked.items()}
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and "
                f"kwargs: {kwargs} for signature: {self._signature_text()}."
            ) from None
        return tuple([fit.pop(name) for name in names]), fit

    # ------------------------------------------------------------------ what it is made of
    def _traced(self) -> tuple[Trace, ...]:
        """Traces for two sizes of the unknown dimensions, or one when all are known."""
        if self._traces is None:
            known = all(spec.shape.is_fully_defined() for spec in self._specs)
            sizes = _SIZES[:1] if known else _SIZES
            self._traces = tuple(
                [
                    self._function.trace_of(
                        tuple([hollow(value, size) for value in self._args]),
                        {name: hollow(value, size) for name, value in self._kwargs.items()},
                    )
                    for size in sizes
                ]
            )
        return self._traces

    def is_made_of(self, traces: Sequence[Any]) -> bool:
        """Whether it keeps one of these traces."""
        return any(mine is trace for mine in self._traces or () for trace in traces)

    @property
    def name(self) -> bytes:
        """The name of the function."""
        return self._inference_name.encode()

    @property
    def _inference_name(self) -> str:
        return f"__inference_{self._function.name}"

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, a `TensorSpec` for each tensor."""
        return self._args, dict(self._kwargs)

    @property
    def structured_outputs(self) -> Any:
        """The structure it returns, a `TensorSpec` for each tensor."""
        found = [trace.returned.specs() for trace in self._traced()]
        return found[0] if len(found) == 1 else nest.map_structure(_common, *found)

    @property
    def inputs(self) -> list[TensorSpec]:
        """A spec for each tensor it takes."""
        return list(self._specs)

    @property
    def outputs(self) -> list[TensorSpec]:
        """A spec for each tensor it returns."""
        flat = nest.flatten(self.structured_outputs)
        return [spec for spec in flat if isinstance(spec, TensorSpec)]

    @property
    def output_shapes(self) -> Any:
        """The shapes of what it returns."""
        return _mapped(self.structured_outputs, lambda spec: spec.shape)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of what it returns."""
        return _mapped(self.structured_outputs, lambda spec: spec.dtype)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables it reads or assigns."""
        return tuple(self._traced()[0].variables)

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """Those that are trainable."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def captured_inputs(self) -> list[Any]:
        """What it reads from outside: variables and tensors."""
        outside = self._traced()[0].outside
        return [x for x in outside if isinstance(x, (Tensor, Variable))]

    def _signature_text(self) -> str:
        names = self._function.signature.names(len(self._args))
        parts = [f"{n}: {described(_bare(v))}" for n, v in zip(names, self._args, strict=True)]
        if self._kwargs:
            parts += ["*", *[f"{n}: {described(_bare(v))}" for n, v in self._kwargs.items()]]
        return f"({', '.join(parts)}) -> {described(self.structured_outputs)}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self._signature_text()} at {id(self):#X}>"

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def pretty_printed_signature(self) -> str:
        """Its parameters, what it returns and what it captures, in lines of text."""
        names = self._function.signature.names(len(self._args))
        lines = ["Input Parameters:"]
        kinds = self._function.signature.kinds()
        for name, value in zip(names, self._args, strict=True):
            kind = kinds.get(name, "POSITIONAL_ONLY")
            lines.append(f"  {name} ({kind}): {described(_bare(value))}")
        for name, value in self._kwargs.items():
            lines.append(f"  {name} (KEYWORD_ONLY): {described(_bare(value))}")
        lines += ["Output Type:", f"  {described(self.structured_outputs)}", "Captures:"]
        captured = [f"  {id(x)}: {TensorSpec(x.shape, x.dtype)}" for x in self.captured_inputs]
        return "\n".join(lines + (captured or ["  None"]))


def _leaves(value: Any) -> Iterator[Any]:
    found: list[Any] = []
    with_leaves(value, lambda leaf: found.append(leaf))
    return iter(found)


def _bare(value: Any) -> Any:
    """Specs without the names of their placeholders."""
    return with_leaves(
        value, lambda x: TensorSpec(x.shape, x.dtype) if isinstance(x, TensorSpec) else x
    )


def _same(value: Any, baked: Any) -> Any:
    """A value given for an argument, which must be what the function was made for.

    Raises:
        TypeError: If it is not.
    """

    def limit(leaf: Any) -> Any:
        return TensorSpec(None, leaf.dtype) if isinstance(leaf, TensorSpec) else leaf

    if any(isinstance(leaf, TensorSpec) for leaf in _leaves(baked)):
        return fitted(value, with_leaves(baked, limit))
    if value is not baked and not isinstance(value, Variable) and value != baked:
        raise TypeError(f"Can not cast {value!r} to {described(baked)}")
    return value


def _common(first: Any, second: Any) -> Any:
    """The spec of a result whose shape varies with the size of the arguments."""
    if not isinstance(first, TensorSpec):
        return first
    if first.shape.rank != second.shape.rank:
        return TensorSpec(None, first.dtype)
    pairs: Sequence[Any] = list(zip(first.shape.as_list(), second.shape.as_list(), strict=True))
    return TensorSpec(TensorShape([a if a == b else None for a, b in pairs]), first.dtype)


def _mapped(structure: Any, fn: Callable[[TensorSpec], Any]) -> Any:
    return nest.map_structure(lambda x: fn(x) if isinstance(x, TensorSpec) else x, structure)
