"""Checks of every op's result for NaN and infinity, as `tf.debugging.enable_check_numerics` asks.

An op gets the check when it is added to a program, so that everything else about failures (where
they are raised, gated assignments, blocks, functions) is that of any op that can fail.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from tapejax._src.core.avals import Aval
from tapejax._src.core.config import SETTINGS
from tapejax._src.engine.checks import BoundCheck
from tapejax._src.engine.kernel import Kernel

# They only move or choose elements: what is wrong in their results was so in their inputs, or in
# the results of the ops inside, which are checked themselves.
_MOVING = """
Assert BroadcastTo Case Cast CheckNumerics Concat ConcatV2 ExpandDims Fill GatherNd GatherV2
Identity IdentityN If OnesLike Pack Pad PadV2 Reshape Slice Split SplitV Squeeze StopGradient
StridedSlice Tile Transpose Unpack While ZerosLike
"""
_MOVES = frozenset(_MOVING.split())

_OWN, _INFINITE, _NAN, _PLACE = 1, 2, 4, 8
_MOST_DETAILS = 5
"""A check with more tells of the ops inside of a block or function, which are checked already."""


def checked(kernel: Kernel, avals: tuple[Aval, ...]) -> Kernel:
    """The kernel to add to a program: with the check, if the user asked for it."""
    if not SETTINGS.check_numerics or not any(out.inexact for out in kernel.outs(avals)):
        return kernel
    skipped = kernel.node in _MOVES or kernel.effect or kernel.assigns is not None
    own = kernel.check
    if skipped or kernel.expansion is not None or isinstance(own, _Numerics):
        return kernel
    if own is not None and own.reads(avals) and own.details > _MOST_DETAILS:
        return kernel
    twin = kernel.checked_twin
    if twin is None:
        twin = kernel.checked_twin = copy.copy(kernel)
        twin.check = _Numerics(kernel)
    assert twin.check is not None
    return twin if twin.check.reads(avals) else kernel


class _Numerics(BoundCheck):
    """The check of a kernel's results, after its own check."""

    __slots__ = ()

    def __init__(self, kernel: Kernel) -> None:
        own = kernel.check

        def fails(*inputs: Any) -> tuple[Any, ...]:
            before: Sequence[Any] = () if own is None else own.fails(*inputs)
            infinite, nan, place = _findings(kernel.fn(*inputs))
            found = infinite | nan
            code = infinite * _INFINITE + nan * _NAN + jnp.maximum(place, 0) * _PLACE
            if not before or before[0] is False:
                return (found, code)
            return (before[0] | found, code + before[0] * _OWN, *before[1:])

        def message(code: Any, *details: Any) -> str:
            number = int(code)
            if number & _OWN and own is not None:
                return own.message(*details)
            return _text(kernel, bool(number & _INFINITE), bool(number & _NAN), number // _PLACE)

        super().__init__(fails, message)


def _findings(results: Any) -> tuple[Any, Any, Any]:
    """Whether a result has infinite elements, NaNs, and the number of the first that has."""
    infinite, nan, place = jnp.zeros((), bool), jnp.zeros((), bool), jnp.full((), -1)
    for number, result in enumerate(jax.tree.leaves(results)):
        if not jnp.issubdtype(result.dtype, jnp.inexact):
            continue
        has = jnp.any(jnp.isinf(result)), jnp.any(jnp.isnan(result))
        infinite, nan = infinite | has[0], nan | has[1]
        place = jnp.where((place < 0) & (has[0] | has[1]), number, place)
    return infinite, nan, place


def _text(kernel: Kernel, infinite: bool, nan: bool, place: int) -> str:
    what = " and ".join(["Inf"] * infinite + ["NaN"] * nan)
    return (
        f'\n\n!!! Detected Infinity or NaN in output {max(place, 0)} of op "{kernel.node}" '
        f"({kernel.name}) !!!\n : Tensor had {what} values"
    )


FORGET: list[Callable[[], None]] = []
"""What to call when the setting changes: whoever keeps programs drops them."""


def set_check_numerics(enabled: bool) -> None:
    """Switch the checks on or off; programs made before are forgotten."""
    if SETTINGS.check_numerics == enabled:
        return
    SETTINGS.check_numerics = enabled
    for forget in FORGET:
        forget()
