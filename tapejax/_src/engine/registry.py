"""The op registry: an op is one entry, a pure function of arrays and how its arguments are read.

`op` turns the pure function into the public one: it reads the arguments by the roles their
annotations name, finds the kernel of the static ones, and records it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, cast

from tapejax._src.engine.calling import find_kernel, public_function
from tapejax._src.engine.definitions import (
    Array,
    Bool,
    DTypeLike,
    Index,
    OpDef,
    Parameter,
    Same,
    SameList,
    StaticInts,
    TensorLike,
    ValueCheck,
)

__all__ = [
    "OPS",
    "PUBLIC",
    "Array",
    "Bool",
    "DTypeLike",
    "Index",
    "OpDef",
    "Parameter",
    "Same",
    "SameList",
    "StaticInts",
    "TensorLike",
    "ValueCheck",
    "find_kernel",
    "op",
    "public",
]

P = ParamSpec("P")

OPS: dict[str, OpDef] = {}
"""Every op, by its first public path."""
PUBLIC: dict[str, Callable[..., Any]] = {}
"""Every public path -> the function to be found there."""

_FIELDS = frozenset(
    [
        "node",
        "dtypes",
        "gradient",
        "no_gradient",
        "broadcast",
        "heavy",
        "check",
        "slices",
        "mismatch",
        "tol",
        "differs",
        "test_grad",
        "surrogate",
    ]
)


def op(
    *paths: str, cases: Sequence[str], **fields: Any
) -> Callable[[Callable[P, Any]], Callable[P, Any]]:
    """Register a pure function as an op.

    Args:
        *paths: Every public path, relative to the package (`"math.abs", "abs"`).
        cases: Rows of test cases.
        **fields: `node`, `dtypes`, `gradient`, `no_gradient`, `broadcast`, `heavy`, `check`,
            `slices`, and for tests `tol`, `differs`, `test_grad`, and `surrogate` (why the
            gradient is not that of the values); see CONTRIBUTING.

    Returns:
        A decorator that returns the public, recording function.

    Raises:
        ValueError: If a path is taken, a field unknown or a case missing.
    """
    if unknown := set(fields) - _FIELDS:
        raise ValueError(f"op {paths[0]!r}: unknown fields {sorted(unknown)}")
    if not cases:
        raise ValueError(f"op {paths[0]!r} has no cases, so nothing would test it")

    def register(fn: Callable[P, Any]) -> Callable[P, Any]:
        definition = OpDef(
            fn=fn,
            paths=paths,
            parameters=_parameters(fn),
            cases=tuple(cases),
            node=fields.get("node") or paths[0].rpartition(".")[2],
            gradient=fields.get("gradient", "vjp"),
            fields=fields,
        )
        if definition.name in OPS:
            raise ValueError(f"op {definition.name!r} is registered twice")
        OPS[definition.name] = definition
        call = public_function(definition)
        functools.update_wrapper(call, fn)
        cast(Any, call).op = definition
        return cast("Callable[P, Any]", public(*paths)(call))

    return register


def public(*paths: str) -> Callable[[Any], Any]:
    """Name the public paths of a function.

    Raises:
        ValueError: If a path is taken.
    """

    def mark(fn: Any) -> Any:
        for path in paths:
            if path in PUBLIC:
                raise ValueError(f"{path!r} is registered twice")
            PUBLIC[path] = fn
        fn.paths = paths
        return fn

    return mark


def _parameters(fn: Callable[..., Any]) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    for parameter in inspect.signature(fn).parameters.values():
        if parameter.name == "name":
            found.append(Parameter("name", "name", parameter.default))
            continue
        annotation = str(parameter.annotation)
        role = annotation.removesuffix(" | None")
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            role = "**"
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            role = f"*{role}"
        default = parameter.default
        found.append(Parameter(parameter.name, role, default, role != annotation))
    return tuple(found)
