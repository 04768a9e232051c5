"""Which results of a program can differ between the replicas that run it.

A value can differ if it is computed from something that does and no collective lies between. This
errs on one side only: what is said to be the same for all replicas is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax.extend.core import Literal

from tapejax._src.distribute.collectives import AXIS

_UNITING = frozenset(["psum", "pmax", "pmin", "pmean", "all_gather", "psum_invariant"])
_DIFFERING = frozenset(
    ["all_to_all", "io_callback", "infeed", "ppermute", "pure_callback", "reduce_scatter"]
)
_BODIES = ("jaxpr", "call_jaxpr", "fun_jaxpr")


def varying(jaxpr: Any, inputs: Sequence[bool]) -> list[bool]:
    """For each output whether it can differ between replicas.

    Args:
        jaxpr: The program of one replica.
        inputs: For each input whether it differs.
    """
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    known: dict[Any, bool] = dict(zip(jaxpr.invars, inputs, strict=True))

    def read(atom: Any) -> bool:
        return False if isinstance(atom, Literal) else known.get(atom, False)

    for equation in jaxpr.eqns:
        given = [read(atom) for atom in equation.invars]
        found = _of_equation(equation, given)
        known.update(zip(equation.outvars, found, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _of_equation(equation: Any, given: list[bool]) -> list[bool]:
    name, params, count = equation.primitive.name, equation.params, len(equation.outvars)
    if name in _UNITING and AXIS in _axes(params) and params.get("axis_index_groups") is None:
        return [False] * count
    if name in _DIFFERING or (name == "axis_index" and AXIS in _axes(params)):
        return [True] * count
    if name == "cond":
        branches = [varying(branch, given[1:]) for branch in params["branches"]]
        return [given[0] or any(column) for column in zip(*branches, strict=True)]
    if name == "while":
        return _of_while(params, given)
    if name == "scan":
        return _of_scan(params, given)
    bodies = [params[key] for key in _BODIES if params.get(key) is not None]
    if bodies and len(getattr(bodies[0], "jaxpr", bodies[0]).invars) == len(given):
        return varying(bodies[0], given)
    return [any(given)] * count


def _axes(params: Any) -> list[Any]:
    axes: Any = params.get("axes", params.get("axis_name", ()))
    return list(axes) if isinstance(axes, (tuple, list, frozenset, set)) else [axes]  # pyright: ignore[reportUnknownArgumentType]


def _of_while(params: Any, given: list[bool]) -> list[bool]:
    first, second = params["cond_nconsts"], params["body_nconsts"]
    of_condition, of_body = given[:first], given[first : first + second]
    carry = given[first + second :]
    while True:
        goes_on = varying(params["cond_jaxpr"], of_condition + carry)[0]
        body = varying(params["body_jaxpr"], of_body + carry)
        after = [a or b or goes_on for a, b in zip(carry, body, strict=True)]
        if after == carry:
            return carry
        carry = after


def _of_scan(params: Any, given: list[bool]) -> list[bool]:
    constants, count = params["num_consts"], params["num_carry"]
    fixed, scanned = given[:constants], given[constants + count :]
    carry = given[constants : constants + count]
    while True:
        found = varying(params["jaxpr"], fixed + carry + scanned)
        after = [a or b for a, b in zip(carry, found[:count], strict=True)]
        if after == carry:
            return carry + found[count:]
        carry = after
