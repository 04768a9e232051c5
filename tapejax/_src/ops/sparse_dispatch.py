"""What ops do that are given sparse tensors: those that keep zeros zero work on the values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapejax._src.engine.composites import HANDLERS
from tapejax._src.engine.registry import OPS
from tapejax._src.ops.sparse_tensor import SparseTensor

_NAMES = """
abs asin asinh atan atanh bessel_i0e bessel_i1e erf negative sign sin sqrt square tan tanh
"""
KEEPS_ZERO = frozenset(
    ["cast", "identity", "stop_gradient", *[f"math.{name}" for name in _NAMES.split()]]
)
"""The public paths of the ops of one sparse tensor."""


def answer_sparse(
    name: str, call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """What an op returns that is given a sparse tensor; NotImplemented if it takes none."""
    definition = OPS.get(name)
    paths = (name,) if definition is None else definition.paths
    if args and isinstance(args[0], SparseTensor):
        if any(path in KEEPS_ZERO for path in paths):
            return args[0].with_values(call(args[0].values, *args[1:], **kwargs))
        if "math.divide" in paths and len(args) > 1:
            return args[0] / args[1]
    return NotImplemented


HANDLERS[SparseTensor] = answer_sparse
