"""What ops do that are given ragged tensors, op by op."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.engine.composites import HANDLERS
from tapejax._src.ops import ragged_gathering, ragged_joining
from tapejax._src.ops.ragged_elementwise import apply_elementwise, is_elementwise
from tapejax._src.ops.ragged_reduction import REDUCTIONS

ANSWERS: dict[str, Callable[..., Any]] = {
    **REDUCTIONS,
    **ragged_gathering.SEGMENTS,
    "_concat": ragged_joining.concat,
    "expand_dims": ragged_joining.expand_dims,
    "_gather_nd": ragged_gathering.gather_nd,
    "_gather_nd_rows": ragged_gathering.gather_nd,
    "gather": ragged_gathering.gather,
    "gather_nd": ragged_gathering.gather_nd,
    "dynamic_partition": ragged_gathering.dynamic_partition,
    "math.bincount": ragged_gathering.bincount,
    "cumsum": ragged_gathering.cumsum,
    "linalg.matmul": ragged_gathering.matmul_of,
    "matmul": ragged_gathering.matmul_of,
    "nn.softmax": ragged_gathering.softmax_of,
    "one_hot": ragged_joining.one_hot,
    "rank": ragged_joining.rank,
    "reshape": ragged_joining.reshape,
    "reverse": ragged_joining.reverse,
    "shape": ragged_joining.shape,
    "size": ragged_joining.size,
    "split": ragged_joining.split,
    "squeeze": ragged_joining.squeeze,
    "stack": ragged_joining.stack,
    "tile": ragged_joining.tile,
    "where": ragged_gathering.where,
}
"""The answers to ops that are not elementwise, by their first public path."""


def answer_ragged(
    name: str, call: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """What an op returns that is given a ragged tensor; NotImplemented if it takes none."""
    known = ANSWERS.get(name)
    if known is not None:
        return known(*args, **kwargs)
    if is_elementwise(name):
        return apply_elementwise(name, call, args, kwargs)
    return NotImplemented


HANDLERS[RaggedTensor] = answer_ragged
