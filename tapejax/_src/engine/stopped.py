"""Ops through which tapes let no gradient, as functions through which JAX lets none either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax import lax


def stopped(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function without derivative.

    JAX differentiates whole loops and branches, and must not pass what tapes do not pass.
    """

    def stopping(*arrays: Any) -> Any:
        return fn(*[lax.stop_gradient(x) for x in arrays])

    return stopping
