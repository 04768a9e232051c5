"""Failures that depend on values: an index out of range, a division of integers by zero."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from tapejax._src.core.avals import Aval
from tapejax._src.engine.dependence import dependence

Avals = tuple[Aval, ...]


class BoundCheck:
    """The check of one kernel.

    Attributes:
        fails: Function of the kernel's inputs; returns scalars (failed, *details).
        message: Function of the details as Python numbers.
        details: How many details `fails` returns.
    """

    __slots__ = ("_fails", "_passed", "_reads", "details", "fails", "message")

    def __init__(self, fails: Callable[..., Any], message: Callable[..., str]) -> None:
        self.fails = fails
        self.message = message
        self.details = 0
        self._reads: dict[Avals, tuple[int, ...]] = {}
        self._fails: dict[Avals, Any] = {}
        self._passed: dict[tuple[int, Avals], weakref.ref[Any]] = {}

    def reads(self, avals: Avals) -> tuple[int, ...] | None:
        """The inputs whose values decide whether the op fails.

        () when these avals cannot, None when some are strings, whose codes are checked instead.
        """
        found = self._reads.get(avals)
        if found is None and any(aval.struct is None for aval in avals):
            return None
        if found is None:
            constant: list[bool] = []

            def failed(*inputs: Any) -> Any:
                flag, *details = self.fails(*inputs)
                self.details = max(self.details, len(details))
                constant.append(flag is False)
                return flag

            with jax.enable_x64(True):
                jaxpr = jax.make_jaxpr(failed)(*[aval.struct for aval in avals]).jaxpr
            (mask,) = dependence(jaxpr)
            reads = tuple(n for n in range(len(avals)) if mask >> n & 1)
            found = self._reads[avals] = () if constant[0] else reads
        return found

    def failure(self, tensors: Sequence[Any], positions: tuple[int, ...]) -> str | None:
        """Run the check on the concrete tensors at `positions`: the message, or None."""
        avals = tuple([t.aval for t in tensors])
        fails = self._fails.get(avals)
        if fails is None:

            def of_read(*read: Any) -> Any:
                values: list[Any] = [jnp.zeros(a.shape, a.dtype) for a in avals]
                for position, value in zip(positions, read, strict=True):
                    values[position] = value
                return self.fails(*values)

            fails = self._fails[avals] = jax.jit(of_read)
        with jax.enable_x64(True):
            arrays = [tensors[n].array for n in positions]
            failed, *details = fails(*arrays)
            if isinstance(failed, Tracer):  # the user's own transformation is traced around it
                with jax.ensure_compile_time_eval():
                    failed, *details = fails(*arrays)
        if not bool(failed):
            return None
        return self.message(*[np.asarray(detail).item() for detail in details])

    def has_passed(self, avals: Avals, tensor: Any) -> bool:
        """Whether this very tensor has passed the check before, beside inputs of these avals."""
        ref = self._passed.get((id(tensor), avals))
        return ref is not None and ref() is tensor

    def note_passed(self, avals: Avals, tensor: Any) -> None:
        """Remember that the only tensor whose value is read has passed the check."""
        key = (id(tensor), avals)
        passed = self._passed
        passed[key] = weakref.ref(tensor, lambda _: passed.pop(key, None))
