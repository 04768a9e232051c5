"""Programs without hidden inputs, and what can be left out of them.

A loop is differentiated by running parts of its body again. Those parts are jaxprs from which
everything is removed that the run does not need, callbacks above all: they must not happen twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import ShapedArray as Aval
from jax.core import eval_jaxpr
from jax.extend.core import ClosedJaxpr, Literal, primal_dtype_to_tangent_dtype
from jax.interpreters import partial_eval

CALLBACKS = frozenset({"debug_callback", "debug_print", "io_callback"})
"""Primitives that are run for their effect. (`pure_callback` has none and may run again.)"""

Jaxpr = Any
"""An open jaxpr, whose class has no public name in every version of JAX."""


def tangent_aval(aval: Aval) -> Aval:
    """The type of a tangent: float0 for an integer."""
    return Aval(aval.shape, primal_dtype_to_tangent_dtype(aval.dtype))


def is_inexact(dtype: Any) -> bool:
    """Whether values of a dtype have derivatives."""
    return jnp.issubdtype(dtype, jnp.inexact)


def zeros(aval: Aval) -> jax.Array:
    """Zeros of a type."""
    return jnp.zeros(aval.shape, aval.dtype)


@dataclass(frozen=True, eq=False)
class Program:
    """A function of arrays as a jaxpr, every value it needs being one of its arguments.

    Attributes:
        jaxpr: The jaxpr; its only constants are known arrays made while it was traced.
        avals: The types of all arguments.
        used: Which arguments are inputs of the jaxpr; it does not depend on the others.
    """

    jaxpr: ClosedJaxpr
    avals: tuple[Aval, ...]
    used: tuple[bool, ...]

    def __call__(self, *arguments: Any) -> list[jax.Array]:
        """The outputs. An argument that is not used may be anything."""
        inputs = [value for value, used in zip(arguments, self.used, strict=True) if used]
        found = eval_jaxpr(self.jaxpr.jaxpr, self.jaxpr.consts, *inputs)
        return [
            value if isinstance(value, jax.Array) else jnp.asarray(value, aval.dtype)
            for value, aval in zip(found, self.out_avals, strict=True)
        ]

    @property
    def out_avals(self) -> tuple[Aval, ...]:
        """The types of the outputs."""
        return tuple(Aval(a.shape, a.dtype) for a in self.jaxpr.out_avals)

    def silent(self) -> Program:
        """The same without callbacks whose results nothing uses."""
        if not self.jaxpr.effects:
            return self
        open_jaxpr = _without_callbacks(self.jaxpr.jaxpr)
        return Program(ClosedJaxpr(open_jaxpr, self.jaxpr.consts), self.avals, self.used)

    def restricted(self, wanted: Sequence[bool]) -> Program:
        """The same with only some of its outputs, and what they need."""
        kept, inputs = partial_eval.dce_jaxpr(self.jaxpr.jaxpr, list(wanted), instantiate=False)[:2]
        remaining = iter(inputs)
        used = tuple(bool(used and next(remaining)) for used in self.used)
        return Program(ClosedJaxpr(kept, self.jaxpr.consts), self.avals, used)

    def perturbed(self, perturbed: Sequence[bool]) -> list[bool]:
        """Which outputs may have a nonzero tangent where these arguments have one."""
        jaxpr = self.jaxpr.jaxpr
        inputs = [moved for moved, used in zip(perturbed, self.used, strict=True) if used]
        moving = {variable for variable, moved in zip(jaxpr.invars, inputs, strict=True) if moved}
        for equation in jaxpr.eqns:
            if equation.primitive.name != "stop_gradient" and not moving.isdisjoint(
                _variables(equation.invars)
            ):
                moving.update(out for out in equation.outvars if is_inexact(out.aval.dtype))
        return [not isinstance(out, Literal) and out in moving for out in jaxpr.outvars]


def trace(function: Callable[..., Any], avals: Sequence[Aval]) -> tuple[Program, list[Any]]:
    """Trace a function of a list of arrays.

    Args:
        function: Takes arrays of these types, returns a sequence of arrays.
        avals: The types.

    Returns:
        A program whose first arguments are what the function closes over, and those values. They
        may belong to a surrounding transformation, which is why no jaxpr may hold them.
    """
    closed = jax.make_jaxpr(function)(*_structs(avals))
    captured = list(closed.consts)
    held = [Aval(v.aval.shape, v.aval.dtype) for v in closed.jaxpr.constvars]
    return trace_closed(_opened(closed.jaxpr, len(captured)), [*held, *avals]), captured


def trace_closed(function: Callable[..., Any], avals: Sequence[Aval]) -> Program:
    """Trace a function that closes over no value of a surrounding transformation."""
    jaxpr = jax.make_jaxpr(function)(*_structs(avals))
    return Program(jaxpr, tuple(avals), (True,) * len(avals))


def _opened(jaxpr: Jaxpr, constants: int) -> Callable[..., list[Any]]:
    def evaluate(*arguments: Any) -> list[Any]:
        return eval_jaxpr(jaxpr, arguments[:constants], *arguments[constants:])

    return evaluate


def _structs(avals: Sequence[Aval]) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]


def _variables(atoms: Sequence[Any]) -> Iterator[Any]:
    return (atom for atom in atoms if not isinstance(atom, Literal))


def _without_callbacks(jaxpr: Jaxpr) -> Jaxpr:
    """The jaxpr without callbacks that no output needs, at any depth of nesting."""
    kept = _needed(jaxpr, set(_variables(jaxpr.outvars)))
    effects: set[Any] = set()
    return jaxpr.replace(eqns=kept, effects=effects.union(*(equation.effects for equation in kept)))


def _needed(jaxpr: Jaxpr, live: set[Any]) -> list[Any]:
    """The equations without callbacks, where only the variables `live` are wanted."""
    kept: list[Any] = []
    for original in reversed(jaxpr.eqns):
        equation = _with_silent_parameters(original)
        if live.isdisjoint(equation.outvars) and not _acts(equation):
            continue
        live.update(_variables(equation.invars))
        kept.append(equation)
    return kept[::-1]


def _acts(equation: Any) -> bool:
    """Whether an equation whose results nobody wants does something besides calling back."""
    if not equation.effects or equation.primitive.name in CALLBACKS:
        return False
    inner = list(_inner(list(equation.params.values())))
    return not inner or any(_acts(e) for jaxpr in inner for e in _needed(jaxpr, set()))


def _inner(values: Sequence[Any]) -> Iterator[Jaxpr]:
    """The jaxprs among parameters."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _inner(value)
        elif isinstance(value, ClosedJaxpr):
            yield value.jaxpr
        elif hasattr(value, "eqns"):
            yield value


def _with_silent_parameters(equation: Any) -> Any:
    if not equation.effects:
        return equation
    before: set[Any] = set()
    after: set[Any] = set()
    parameters = {
        name: _silent_parameter(value, before, after) for name, value in equation.params.items()
    }
    return equation.replace(params=parameters, effects=equation.effects - (before - after))


def _silent_parameter(value: Any, before: set[Any], after: set[Any]) -> Any:
    """A parameter with silent jaxprs; adds the effects of the jaxprs to `before` and `after`."""
    if isinstance(value, list | tuple):
        return type(value)([_silent_parameter(part, before, after) for part in value])
    if isinstance(value, ClosedJaxpr):
        silent = value.map_jaxpr(_without_callbacks)
    elif hasattr(value, "eqns"):
        silent = _without_callbacks(value)
    else:
        return value
    before.update(value.effects)
    after.update(silent.effects)
    return silent
