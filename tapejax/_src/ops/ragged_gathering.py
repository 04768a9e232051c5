"""`tf.gather`, masks, cumulative sums and others of ragged tensors.

Each function answers the public op of its name where one of the arguments is ragged.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import int64
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import HostArray, known_array
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor, static_ints
from tapejax._src.ops import (
    arithmetic,
    counting,
    cumulative,
    elementwise,
    gathering,
    joining,
    matmul,
    segment,
    shaping,
    softmax,
)
from tapejax._src.ops.ragged_broadcasting import same_rows
from tapejax._src.ops.ragged_joining import stacked, with_ragged_rank
from tapejax._src.ops.ragged_padding import positions, to_tensor
from tapejax._src.ops.ragged_queries import ragged_axis
from tapejax._src.ops.ragged_reduction import grouped, reduced
from tapejax._src.ops.ragged_rows import (
    as_values,
    host_rows,
    of_lengths,
    rank_of,
    row_count,
    splits_of,
    take,
    uniform_rows,
)
from tapejax._src.tape.custom_gradient import stop_gradient

_WHAT = "tf.gather of a ragged tensor"


def host_values(value: Tensor, what: str) -> HostArray:
    """The values of indices or masks, which must be known."""
    found = known_array(value)
    if found is None:
        raise NotCompilableError(
            f"{what} needs known indices, because they decide the lengths of the rows of its "
            "result, but they are computed inside the function being traced. Compute them "
            "outside, or gather from x.to_tensor()."
        )
    return found


def check_range(rows: HostArray, limits: Any, what: str = "indices") -> None:
    """Raise unless all numbers are in `[0, limit)`."""
    bad = np.flatnonzero(((rows < 0) | (rows >= limits)).reshape(-1))
    if len(bad):
        place = int(bad[0])
        limit = np.broadcast_to(limits, rows.shape).reshape(-1)[place]
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{what}[{place}] = {rows.reshape(-1)[place]} is not in [0, {limit}) [Op:RaggedGather]",
        )


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Any:
    """`tf.gather` with ragged `params` or `indices`."""
    del validate_indices, name
    params, indices = as_values(params), as_values(indices)
    batch = int(static_ints(batch_dims))
    batch = batch + rank_of(indices) if batch < 0 else batch
    place = batch if axis is None else ragged_axis(static_ints(axis), rank_of(params))
    if place < batch:
        raise ValueError(f"axis ({axis}) must not be less than batch_dims ({batch_dims}).")
    return _gather(params, indices, place, batch)


def _gather(params: Any, indices: Any, axis: int, batch: int) -> Any:
    if batch:
        return _batched(params, indices, axis, batch)
    if axis:
        if axis > 1 and isinstance(params, RaggedTensor):
            return RaggedTensor.of(_gather(params.values, indices, axis - 1, 0), params.partition)
        if isinstance(params, RaggedTensor):
            return _batched(params, _repeated(indices, params.partition.nrows), axis, 1)
        if isinstance(indices, RaggedTensor):
            raise NotImplementedError(
                "tf.gather with ragged indices along an inner axis of a plain tensor: transpose "
                "that axis to the front, or use batch_dims."
            )
        return gathering.gather(params, indices, axis=axis)
    if isinstance(indices, RaggedTensor):
        return indices.over(_gather(params, indices.flat_values, 0, 0))
    if not isinstance(params, RaggedTensor):
        return gathering.gather(params, indices)
    rows = host_values(indices, _WHAT)
    check_range(rows, params.partition.nrows)
    if rows.ndim == 0:
        return params[int(rows)]
    taken = take(params, rows.reshape(-1), _WHAT)
    for axis_of in range(rows.ndim - 1, 0, -1):
        count = int(np.prod(rows.shape[:axis_of]))
        lengths = np.full(count, rows.shape[axis_of])
        taken = RaggedTensor.of(taken, of_lengths(lengths, params.partition.dtype))
    return taken


def _repeated(indices: Any, count: int) -> Any:
    """The same indices for each row."""
    if isinstance(indices, RaggedTensor):
        row = uniform_rows(1, indices.partition.nrows, indices.partition.dtype)
        return take(RaggedTensor.of(indices, row), np.zeros(count, int))
    return shaping.broadcast_to(indices, (count, *indices.aval.shape))


def _batched(params: Any, indices: Any, axis: int, batch: int) -> Any:
    """Gather within each row."""
    dtype = next(v.partition.dtype for v in (params, indices) if isinstance(v, RaggedTensor))
    if row_count(params) != row_count(indices):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"batch shape from indices [{row_count(indices)}] does not match params shape "
            f"[{row_count(params)}]",
        )
    if batch > 1:
        p, i = with_ragged_rank(params, 1, dtype), with_ragged_rank(indices, 1, dtype)
        if not p.partition.is_same(i.partition):
            raise errors.InvalidArgumentError(
                None, None, "tf.gather: the batch dimensions of params and indices differ."
            )
        return RaggedTensor.of(_batched(p.values, i.values, axis - 1, batch - 1), p.partition)
    source = with_ragged_rank(params, 1, dtype)
    if axis > 1:
        raise NotImplementedError(
            "tf.gather of ragged tensors: `axis` must be `batch_dims`. Gather from x.to_tensor()."
        )
    splits = splits_of(source.partition, _WHAT)
    starts, lengths = splits[:-1], np.diff(splits)
    if rank_of(indices) == 1:
        chosen = host_values(indices, _WHAT)
        check_range(chosen, lengths)
        return take(source.values, starts + chosen, _WHAT)
    wanted = with_ragged_rank(indices, 1, dtype)
    flat = host_values(wanted.flat_values, _WHAT)
    rows = positions(wanted, _WHAT)[0]
    rows = rows.reshape((-1,) + (1,) * (flat.ndim - 1))
    check_range(flat, lengths[rows])
    places = starts[rows] + flat
    found = take(source.values, places.reshape(-1), _WHAT)
    if isinstance(found, Tensor):
        found = shaping.reshape(found, (*places.shape, *found.aval.shape[1:]))
        if not isinstance(indices, RaggedTensor):
            shape = (*indices.aval.shape, *found.aval.shape[1:])
            return shaping.reshape(found, shape)
    elif places.ndim > 1:
        raise NotImplementedError("tf.gather: indices of rank > 2 with batch_dims and ragged rows.")
    return wanted.over(found)


def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: Any = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Any:
    """`tf.gather_nd` with ragged `params` or `indices`."""
    del name, bad_indices_policy
    if static_ints(batch_dims):
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    params, indices = as_values(params), as_values(indices)
    if isinstance(indices, RaggedTensor):
        return indices.over(gather_nd(params, indices.flat_values))
    if not isinstance(params, RaggedTensor):
        return gathering.gather_nd(params, indices)
    index = host_values(indices, "tf.gather_nd of a ragged tensor")
    leading = index.shape[:-1]
    index = index.reshape(-1, index.shape[-1])
    if not index.shape[1]:
        raise ValueError("tf.gather_nd of a ragged tensor: indices must not be empty vectors.")
    places, current = index[:, 0], params
    check_range(places, params.partition.nrows)
    for column in range(1, index.shape[1]):
        if not isinstance(current, RaggedTensor):
            rest = np.concatenate([places[:, None], index[:, column:]], 1)
            return _shaped(gathering.gather_nd(current, host_rows(rest)), leading)
        splits = splits_of(current.partition, "tf.gather_nd")
        check_range(index[:, column], np.diff(splits)[places])
        places, current = splits[:-1][places] + index[:, column], current.values
    return _shaped(take(current, places, "tf.gather_nd"), leading)


def _shaped(found: Any, leading: tuple[int, ...]) -> Any:
    if isinstance(found, RaggedTensor):
        for axis in range(len(leading) - 1, 0, -1):
            count = int(np.prod(leading[:axis]))
            found = RaggedTensor.of(
                found, uniform_rows(count, leading[axis], found.partition.dtype)
            )
        return found
    return shaping.reshape(found, (*leading, *found.aval.shape[1:]))


# ---------------------------------------------------------------------- along rows
def _inside(padded: Tensor, value: RaggedTensor) -> RaggedTensor:
    """The values of a padded tensor that are no padding."""
    index = np.stack(positions(value, "A ragged tensor"), 1)
    return value.over(gathering.gather_nd(padded, host_rows(index)))


def cumsum(
    x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: Any = None
) -> Any:
    """`tf.cumsum` of a ragged tensor."""
    del name
    place = ragged_axis(static_ints(axis), rank_of(x))
    padded = cumulative.cumsum(to_tensor(x), place, exclusive, reverse)
    return _inside(padded, x)


def softmax_of(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """`tf.nn.softmax` of a ragged tensor."""
    del name
    place = ragged_axis(-1 if axis is None else static_ints(axis), rank_of(logits))
    depth = logits.ragged_rank
    if place > depth:
        return logits.over(softmax.softmax(logits.flat_values, place - depth))
    peaks = reduced(stop_gradient(logits), "max", place, True)
    powers = elementwise.exp(arithmetic.subtract(logits, peaks))
    return arithmetic.divide(powers, reduced(powers, "sum", place, True))


def matmul_of(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    *rest: Any,
    **kwargs: Any,
) -> Any:
    """`tf.matmul` of batches of matrices whose sizes differ."""
    del rest, kwargs
    a, b = as_values(a), as_values(b)
    if rank_of(a) != rank_of(b) or rank_of(a) < 3:
        raise ValueError(
            "tf.matmul of ragged tensors takes batches of matrices of one rank, at least 3, got "
            f"shapes {a.shape} and {b.shape}."
        )
    if row_count(a) != row_count(b):
        raise errors.InvalidArgumentError(
            None, None, f"Batch sizes differ: {row_count(a)} and {row_count(b)}."
        )
    options = (transpose_a, transpose_b, adjoint_a, adjoint_b)
    products: list[Any] = []
    for n in range(row_count(a)):
        x, y = a[n], b[n]
        if rank_of(x) == 2:
            x, y = (v.to_tensor() if isinstance(v, RaggedTensor) else v for v in (x, y))
        products.append(matmul.matmul(x, y, *options))
    depth = max(v.ragged_rank for v in (a, b) if isinstance(v, RaggedTensor))
    dtype = next(v.partition.dtype for v in (a, b) if isinstance(v, RaggedTensor))
    return stacked([with_ragged_rank(p, depth - 1, dtype) for p in _alike_ranks(products)], 0)


def _alike_ranks(values: list[Any]) -> list[Any]:
    """Matrices of one width as they are, others as ragged ones."""
    widths = {v.aval.shape[-1] for v in values if isinstance(v, Tensor)}
    if len(widths) < 2:
        return values
    return [with_ragged_rank(v, 1, int64) for v in values]


# ---------------------------------------------------------------------- choosing
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """`tf.where` of a ragged condition alone: the places of its True values."""
    del x, y, name
    mask = host_values(as_tensor(condition.flat_values), "tf.where of a ragged condition")
    found = np.argwhere(mask != 0)
    outer = [place[found[:, 0]] for place in positions(condition, "tf.where")]
    columns = [*outer, *found[:, 1:].T]
    return constant_tensor(np.stack(columns, 1).astype(np.int64))


def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The values of `data` where `mask` is True; its rows become shorter.

    Args:
        data: Tensor or ragged tensor.
        mask: bool tensor or ragged tensor, of the shape of the first dimensions of `data`.
        name: Ignored.

    Returns:
        A ragged tensor of the rank of `data`; a tensor where the mask is a vector and `data` a
        tensor.

    Raises:
        ValueError: If `mask` is a scalar or not bool.
        InvalidArgumentError: If the shapes differ.
    """
    del name
    data, mask = as_values(data), as_values(mask)
    if not rank_of(mask):
        raise ValueError("mask cannot be scalar.")
    if not mask.dtype.is_bool:
        raise ValueError(f"mask must be bool, got {mask.dtype.name}.")
    depth = rank_of(mask) - 1
    ragged = [v for v in (data, mask) if isinstance(v, RaggedTensor)]
    dtype = ragged[0].partition.dtype if ragged else int64
    what = "tf.ragged.boolean_mask"
    if not depth:
        chosen = host_values(mask, what)
        if len(chosen) != row_count(data):
            raise errors.InvalidArgumentError(
                None, None, f"Shapes ({row_count(data)},) and ({len(chosen)},) are incompatible"
            )
        return take(data, np.flatnonzero(chosen), what)
    data, mask = with_ragged_rank(data, depth, dtype), with_ragged_rank(mask, depth, dtype)
    return _masked(data, mask, what)


def _masked(data: Any, mask: Any, what: str) -> Any:
    if not data.partition.is_same(mask.partition):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{what}: data of shape {data.shape} and mask of shape {mask.shape} differ in rows.",
        )
    if isinstance(mask.values, RaggedTensor):
        return RaggedTensor.of(_masked(data.values, mask.values, what), data.partition)
    chosen = host_values(mask.values, what)
    splits = splits_of(mask.partition, what)
    counts = np.diff(np.concatenate([[0], np.cumsum(chosen)])[splits])
    kept = take(data.values, np.flatnonzero(chosen), what)
    return RaggedTensor.of(kept, of_lengths(counts, data.partition.dtype))


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> list[Any]:
    """`tf.dynamic_partition` of ragged data."""
    del name
    data, partitions = as_values(data), as_values(partitions)
    while isinstance(partitions, RaggedTensor):
        ragged = with_ragged_rank(data, 1, partitions.partition.dtype)
        if not ragged.partition.is_same(partitions.partition):
            raise errors.InvalidArgumentError(
                None, None, "tf.dynamic_partition: data and partitions have different rows."
            )
        data, partitions = ragged.values, partitions.values
    numbers = host_values(partitions, "tf.dynamic_partition of a ragged tensor")
    count = int(static_ints(num_partitions))
    check_range(numbers, count, "partitions")
    return [take(data, np.flatnonzero(numbers == n)) for n in range(count)]


# ---------------------------------------------------------------------- counting, segments
def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = None,
    name: str | None = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    """`tf.math.bincount` of ragged numbers."""
    del name
    given = {} if dtype is None else {"dtype": dtype}
    flat_weights = getattr(weights, "flat_values", weights)
    options = {"binary_output": binary_output, **given}
    if axis in (None, 0):
        return counting.bincount(arr.flat_values, flat_weights, minlength, maxlength, **given)
    rows: list[Any] = []
    splits = splits_of(arr.partition, "tf.math.bincount").tolist()
    numbers = host_values(arr.flat_values, "tf.math.bincount of a ragged tensor")
    largest = int(numbers.max()) + 1 if numbers.size else 0
    length = max(largest, 0 if minlength is None else int(static_ints(minlength)))
    if maxlength is not None:
        length = min(length, int(static_ints(maxlength)))
    for start, end in pairwise(splits):
        weight = None if flat_weights is None else flat_weights[start:end]
        part = arr.flat_values[start:end]
        rows.append(counting.bincount(part, weight, length, length, **options))
    return joining.stack(rows)


def segment_reduction(fn: Any) -> Any:
    """`tf.math.unsorted_segment_*` of ragged data."""

    def reduce(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        del name
        data, ids = as_values(data), as_values(segment_ids)
        if isinstance(ids, RaggedTensor):
            if not isinstance(data, RaggedTensor) or not same_rows(data, ids):
                raise ValueError("segment_ids and data must have the same rows.")
            return fn(data.flat_values, ids.flat_values, num_segments)
        numbers = host_values(ids, "tf.math.unsorted_segment reductions of a ragged tensor")
        return grouped(data, fn, numbers, int(static_ints(num_segments)), _WHAT)

    return reduce


SEGMENTS = {
    f"math.unsorted_segment_{kind}": segment_reduction(fn)
    for kind, fn in {
        "sum": segment.unsorted_segment_sum,
        "mean": segment.unsorted_segment_mean,
        "max": segment.unsorted_segment_max,
        "min": segment.unsorted_segment_min,
        "prod": segment.unsorted_segment_prod,
        "sqrt_n": segment.unsorted_segment_sqrt_n,
    }.items()
}
