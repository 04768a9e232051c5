"""`tf.map_fn` over the rows of ragged tensors: row by row, for each has a shape of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapejax._src.core import nest
from tapejax._src.core.composite_specs import RaggedTensorSpec
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.ops import joining
from tapejax._src.ops.ragged_namespace import stack as ragged_stack
from tapejax._src.ops.ragged_rows import as_values, rank_of, row_count


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """`tf.map_fn` where one of `elems` is ragged."""
    del parallel_iterations, back_prop, swap_memory, infer_shape, name
    signature = dtype if fn_output_signature is None else fn_output_signature
    leaves = [as_values(leaf) for leaf in nest.flatten(elems)]
    counts = {row_count(leaf) for leaf in leaves}
    if len(counts) > 1:
        raise ValueError(f"tf.map_fn: elems have different first dimensions: {sorted(counts)}")
    count = counts.pop()
    if not count:
        raise ValueError("tf.map_fn over a ragged tensor needs at least one row.")
    results: list[Any] = []
    for i in range(count):
        results.append(fn(nest.pack_sequence_as(elems, [leaf[i] for leaf in leaves])))
    declared = nest.flatten(elems if signature is None else signature)
    columns = list(zip(*[nest.flatten(result) for result in results], strict=True))
    if len(columns) != len(declared):
        raise ValueError(
            f"tf.map_fn: `fn` returned {len(columns)} values, but its signature has "
            f"{len(declared)}. Pass `fn_output_signature`."
        )
    dtype = next(leaf.partition.dtype for leaf in leaves if isinstance(leaf, RaggedTensor))
    found = [_joined(column, spec, dtype) for column, spec in zip(columns, declared, strict=True)]
    return nest.pack_sequence_as(results[0], found)


def _joined(column: Sequence[Any], spec: Any, dtype: Any) -> Any:
    """The results of all rows: ragged where the signature says so or rows are ragged."""
    values = [as_values(value) for value in column]
    ragged = isinstance(spec, (RaggedTensor, RaggedTensorSpec))
    ragged = ragged or any(isinstance(value, RaggedTensor) for value in values)
    if ragged and all(rank_of(value) for value in values):
        return ragged_stack(values).with_row_splits_dtype(dtype)
    return joining.stack([as_tensor(value) for value in values])
