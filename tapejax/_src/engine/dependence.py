"""Which outputs of a jaxpr read which inputs."""

from __future__ import annotations

from typing import Any

from jax.extend import core as jex_core

_CALLS = {
    "pjit": "jaxpr",
    "jit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "remat": "jaxpr",
    "checkpoint": "jaxpr",
}

UNCONNECTED = "unconnected"
"""Name of the identity primitive behind which TensorFlow records no connection (a comparison in a
backward rule)."""


def dependence(jaxpr: Any) -> tuple[int, ...]:
    """For each output of a jaxpr, the bit mask of the inputs it is computed from.

    Calls are looked into; loops and branches are taken as one step in which every output reads
    every input.
    """
    return _walk(jaxpr, [1 << n for n in range(len(jaxpr.invars))])


def _walk(jaxpr: Any, masks: list[int]) -> tuple[int, ...]:
    env: dict[Any, int] = dict(zip(jaxpr.invars, masks, strict=True))
    for eqn in jaxpr.eqns:
        inputs = [_read(env, atom) for atom in eqn.invars]
        inner = _called(eqn)
        if eqn.primitive.name == UNCONNECTED:
            outputs: tuple[int, ...] = (0,) * len(eqn.outvars)
        elif inner is not None and len(inner.invars) == len(inputs):
            outputs = _walk(inner, inputs)
        else:
            union = 0
            for mask in inputs:
                union |= mask
            outputs = (union,) * len(eqn.outvars)
        env.update(zip(eqn.outvars, outputs, strict=True))
    return tuple(_read(env, atom) for atom in jaxpr.outvars)


def _read(env: dict[Any, int], atom: Any) -> int:
    return 0 if isinstance(atom, jex_core.Literal) else env.get(atom, 0)


def _called(eqn: Any) -> Any:
    parameter = _CALLS.get(eqn.primitive.name)
    if parameter is None:
        return None
    closed = eqn.params.get(parameter)
    return getattr(closed, "jaxpr", closed)
