"""Run the pure function of an op under plain JAX, without the engine (`pytest --pure`).

Arguments are converted as the registry's parameter roles say. What only the engine decides (None
versus zeros, errors, IndexedSlices) is not visible here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from parity.calls import Call, leaves, map_leaves, numpy_dtype
from parity.library import NO_GRADIENT_ENTRY
from parity.rows import Row
from tapejax._src.engine.cases import is_inexact

_TENSOR_ROLES = {"Same", "SameList", "TensorLike", "Index", "Bool"}


def _role(parameter: inspect.Parameter) -> str:
    """The role named by the annotation; Static when it names none."""
    names = {name.strip() for name in str(parameter.annotation).split("|")}
    known = names & (_TENSOR_ROLES | {"StaticInts", "DTypeLike"})
    return known.pop() if known else "Static"


def _static_ints(value: Any) -> Any:
    if value is None or isinstance(value, (int, np.integer)):
        return value if value is None else int(value)
    if isinstance(value, (list, tuple)) or np.ndim(value):
        return tuple(_static_ints(item) for item in value)
    return int(np.asarray(value))


def _inferred(value: Any) -> np.dtype[Any]:
    array = np.asarray(value)
    narrow = {"f": np.float32, "i": np.int32}
    return np.dtype(narrow.get(array.dtype.kind, array.dtype))


class _Converter:
    """Converts the bound arguments of one call."""

    def __init__(self, signature: inspect.Signature, arguments: dict[str, Any]) -> None:
        self.roles = {name: _role(p) for name, p in signature.parameters.items()}
        same = [
            leaf
            for name, value in arguments.items()
            if self.roles[name] in ("Same", "SameList")
            for leaf in leaves(value)
            if leaf is not None
        ]
        # every tensor has a dtype attribute; Python numbers take the dtype of the first one
        typed = [leaf.dtype for leaf in same if hasattr(leaf, "dtype")]
        self.same = typed[0] if typed else (_inferred(same) if same else None)

    def convert(self, name: str, value: Any) -> Any:
        role = self.roles[name]
        if role == "DTypeLike":
            return numpy_dtype(value.name) if hasattr(value, "name") else value
        if value is None or role == "Static":
            return value
        if role == "StaticInts":
            return _static_ints(value)
        if role == "SameList":
            return tuple(self._tensor("Same", item) for item in value)
        return self._tensor(role, value)

    def _tensor(self, role: str, value: Any) -> jax.Array:
        if hasattr(value, "dtype"):
            return jnp.asarray(value)
        dtype = self.same if role == "Same" else _inferred(value)
        return jnp.asarray(np.asarray(value), dtype)


def _body(row: Row, call: Call) -> tuple[Callable[..., Any], list[np.ndarray], list[np.ndarray]]:
    """The op as a function of its primals and its other arrays; static ones are closed over."""
    signature = inspect.signature(row.op.fn)
    bound = signature.bind(*call.args, **call.kwargs)
    bound.apply_defaults()
    static = {"StaticInts", "Static", "DTypeLike"}
    traced = [
        id(leaf)
        for name, value in bound.arguments.items()
        if _role(signature.parameters[name]) not in static
        for leaf in leaves(value)
    ]
    others = [a for a in call.arrays if not is_inexact(a.dtype) and id(a) in traced]
    order = {id(array): place for place, array in enumerate([*call.primals, *others])}

    def body(primals: Sequence[Any], rest: Sequence[Any]) -> Any:
        values = [*primals, *rest]
        arguments = {
            name: map_leaves(lambda leaf: values[order[id(leaf)]] if id(leaf) in order else leaf, v)
            for name, v in bound.arguments.items()
        }
        converter = _Converter(signature, arguments)
        for name, value in arguments.items():
            if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                arguments[name] = tuple(converter.convert(name, item) for item in value)
            else:
                arguments[name] = converter.convert(name, value)
        filled = inspect.BoundArguments(signature, arguments)
        return row.op.fn(*filled.args, **filled.kwargs)

    return body, call.primals, others


def _without_constants(row: Row, call: Call, gradients: list[Any]) -> list[Any]:
    """None in the place of the arguments that the row declares to have no gradient."""
    if row.field("gradient", "vjp") == "none":
        return [None] * len(gradients)
    bound = inspect.signature(row.op.fn).bind(*call.args, **call.kwargs)
    constant = [
        id(leaf)
        for name in row.field("no_gradient", ())
        for leaf in leaves(bound.arguments.get(name))
    ]
    pairs = zip(call.primals, gradients, strict=True)
    return [None if id(primal) in constant else gradient for primal, gradient in pairs]


def _floating(outputs: Any) -> list[Any]:
    return [leaf for leaf in leaves(outputs) if is_inexact(np.dtype(leaf.dtype))]


class PureLibrary:
    """The interface of `Library`, by `jax.vjp` and `jax.jvp` of the pure function."""

    def value(self, row: Row, call: Call) -> Any:
        """The outputs as ndarrays, in the container the op returned."""
        body, primals, others = _body(row, call)
        with jax.enable_x64(True):
            return map_leaves(np.asarray, jax.jit(body)(primals, others))

    def gradients(self, row: Row, call: Call, seeds: Sequence[np.ndarray]) -> Any:
        """First gradients in TensorFlow's complex convention."""
        if row.field("gradient", "vjp") == "lookup":
            return NO_GRADIENT_ENTRY
        body, primals, others = _body(row, call)
        with jax.enable_x64(True):
            first = jax.jit(_pullback(body, others))(primals, list(seeds))
            return _without_constants(row, call, [np.asarray(g) for g in first])

    def second_gradients(
        self,
        row: Row,
        call: Call,
        seeds: Sequence[np.ndarray],
        second_seeds: Sequence[np.ndarray],
    ) -> Any:
        """Gradients of the first gradients, contracted with `second_seeds`."""
        body, primals, others = _body(row, call)
        first = _pullback(body, others)

        def second(primals: Any, seeds: Any, second_seeds: Any) -> Any:
            return _pullback(lambda at, rest: first(at, rest), seeds)(primals, second_seeds)

        with jax.enable_x64(True):
            found = jax.jit(second)(primals, list(seeds), list(second_seeds))
            return _without_constants(row, call, [np.asarray(g) for g in found])

    def pushforward(self, row: Row, call: Call, tangents: Sequence[np.ndarray]) -> list[Any]:
        """Forward-mode derivative of each floating output along the tangents."""
        body, primals, others = _body(row, call)

        def push(primals: Any, tangents: Any) -> Any:
            return jax.jvp(lambda at: _floating(body(at, others)), (primals,), (tangents,))[1]

        with jax.enable_x64(True):
            return [np.asarray(t) for t in jax.jit(push)(primals, list(tangents))]


def _pullback(body: Callable[..., Any], others: Any) -> Callable[[Any, Any], list[Any]]:
    def pull(primals: Any, seeds: Any) -> list[Any]:
        _, vjp = jax.vjp(lambda at: _floating(body(at, others)), list(primals))
        return [jnp.conj(g) for g in vjp([jnp.conj(seed) for seed in seeds])[0]]

    return pull
