"""Ops through which tapes let no gradient, as functions through which JAX lets none either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import lax


def as_tapes_see_it(
    name: str, fn: Callable[..., Any], node: str, gradient: str, blocked: frozenset[int]
) -> Callable[..., Any]:
    """The function for JAX to differentiate, as it does with whole loops and branches.

    Where tapes let no gradient through, JAX must not either.
    """
    if gradient == "none" or blocked:

        def stopping(*arrays: Any) -> Any:
            return fn(
                *[
                    lax.stop_gradient(x) if gradient == "none" or n in blocked else x
                    for n, x in enumerate(arrays)
                ]
            )

        return stopping
    if gradient != "lookup":
        return fn

    @jax.custom_jvp
    def refusing(*arrays: Any) -> Any:
        return fn(*arrays)

    @refusing.defjvp
    def derivative(primals: Any, tangents: Any) -> Any:
        raise LookupError(
            f"gradient registry has no entry for: {node} (op {name}, in a loop or branch)"
        )

    del derivative
    return refusing
