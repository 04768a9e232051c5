"""Sums, maxima and softmax of sparse tensors, and sparse tensors joined element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.row_partition import HostArray, known_array
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor, static_ints
from tapejax._src.engine.registry import Array, Index, StaticInts, op, public
from tapejax._src.ops import (
    arithmetic,
    comparison,
    elementwise,
    gathering,
    joining,
    segment,
    selecting,
)
from tapejax._src.ops.shaping import reshape
from tapejax._src.ops.sparse_dense import add_dense
from tapejax._src.ops.sparse_rearranging import invalid
from tapejax._src.ops.sparse_tensor import (
    SparseTensor,
    host_indices,
    narrowed,
    of_parts,
    sizes_of,
    sparse_argument,
)
from tapejax._src.tape.custom_gradient import stop_gradient


@op("_flat_places", node="Mul", gradient="none", cases=("i64[3,2] in (0, 2), [0], [2, 2]",))
def _flat_places(indices: Index, axes: StaticInts, shape: StaticInts) -> Array:
    """The number of each place in row-major order of some of the axes."""
    indices = narrowed(indices, [int(np.prod([shape[axis] for axis in axes], dtype=object))])
    flat = jnp.zeros(indices.shape[0], indices.dtype)
    for axis in axes:
        flat = flat * shape[axis] + indices[:, axis]
    return flat


def _reduced_axes(axis: Any, rank: int, node: str) -> list[int]:
    if axis is None:
        return list(range(rank))
    given = static_ints(axis)
    found: list[int] = []
    for place in (given,) if isinstance(given, int) else given:
        if not -rank <= place < rank:
            raise invalid(
                f"Invalid reduction dimension {place}, for input with {rank} dimensions. "
                f"[Op:{node}]"
            )
        found.append(place % rank)
    return sorted(set(found))


def _reduce(
    sp_input: Any, axis: Any, keepdims: Any, is_sparse: bool, fn: Callable[..., Any], node: str
) -> Any:
    sparse = sparse_argument(sp_input)
    shape = sizes_of(sparse)
    gone = _reduced_axes(axis, len(shape), node)
    left = [a for a in range(len(shape)) if a not in gone]
    kept = bool(keepdims)
    result = tuple([1 if a in gone else shape[a] for a in range(len(shape)) if kept or a in left])
    if is_sparse:
        host = host_indices(sparse, f"tf.sparse reductions with output_is_sparse=True ({node})")
        groups, numbers = np.unique(host[:, left], axis=0, return_inverse=True)
        places = np.zeros((len(groups), len(result)), np.int64)
        places[:, left if kept else np.arange(len(left))] = groups
        ids = constant_tensor(np.asarray(numbers, np.int64).reshape(-1))
        return of_parts(places, fn(sparse.values, ids, len(groups)), result)
    count = int(np.prod([shape[a] for a in left], dtype=int))
    ids = _flat_places(sparse.indices, left, shape)
    return reshape(fn(sparse.values, ids, count), result)


@public("sparse.reduce_sum")
def reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """Sums of a sparse tensor's elements over axes.

    Args:
        sp_input: A `tf.SparseTensor`.
        axis: An axis or several. Default: all.
        keepdims: Whether to keep reduced axes with size 1.
        output_is_sparse: Whether to return a `tf.SparseTensor`.
        name: Ignored.

    Returns:
        A dense tensor, or a `tf.SparseTensor`.

    Raises:
        InvalidArgumentError: If there is no such axis.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 2, 3], [2, 3])
        >>> tf.sparse.reduce_sum(x, 1).numpy().tolist()
        [3, 3]
    """
    del name
    fn = segment.unsorted_segment_sum
    return _reduce(sp_input, axis, keepdims, output_is_sparse, fn, "SparseReduceSum")


def _greatest(values: Tensor, ids: Tensor, count: int) -> Tensor:
    """The maxima, zero where there is no value at all."""
    greatest = segment.unsorted_segment_max(values, ids, count)
    ones = constant_tensor(np.ones(values.aval.shape[0], np.int32))
    found = segment.unsorted_segment_sum(ones, ids, count)
    zero = constant_tensor(np.zeros((), values.dtype.as_numpy_dtype))
    return selecting.where(comparison.greater(found, 0), greatest, zero)


@public("sparse.reduce_max")
def reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The greatest of a sparse tensor's given elements over axes; 0 where none is given.

    Elements that are not given do not count as zeros: the maximum of one value -1 is -1.

    Args:
        sp_input: A `tf.SparseTensor`.
        axis: An axis or several. Default: all.
        keepdims: Whether to keep reduced axes with size 1.
        output_is_sparse: Whether to return a `tf.SparseTensor`.
        name: Ignored.

    Returns:
        A dense tensor, or a `tf.SparseTensor`.

    Raises:
        InvalidArgumentError: If there is no such axis.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[0, 0], [0, 2]], [-1, -2], [2, 3])
        >>> tf.sparse.reduce_max(x, 1).numpy().tolist()
        [-1, 0]

    Differs from TensorFlow:
        It has a gradient; TensorFlow has none for it.
    """
    del name
    return _reduce(sp_input, axis, keepdims, output_is_sparse, _greatest, "SparseReduceMax")


@public("sparse.softmax")
def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Softmax over the given elements along the last axis.

    Args:
        sp_input: A floating `tf.SparseTensor` of rank 2 at least.
        name: Ignored.

    Returns:
        A `tf.SparseTensor` with the same places.

    Raises:
        InvalidArgumentError: If the rank is below 2 or the dtype is not floating.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[0, 0], [0, 2]], [1.0, 1.0], [1, 3])
        >>> tf.sparse.softmax(x).values.numpy().tolist()
        [0.5, 0.5]
    """
    del name
    sparse = sparse_argument(sp_input)
    shape = sizes_of(sparse)
    if len(shape) < 2:
        raise invalid(
            f"Input should have rank >= 2, but received shape: {list(shape)} [Op:SparseSoftmax]"
        )
    values = sparse.values
    if values.dtype.name not in ("float16", "float32", "float64"):
        raise invalid(
            f"Value for attr 'T' of {values.dtype.name} is not in the list of allowed values: "
            "half, float, double [Op:SparseSoftmax]"
        )
    leading = tuple(range(len(shape) - 1))
    host = known_array(sparse.indices)
    if host is None:
        ids = _flat_places(sparse.indices, leading, shape)
        count = int(np.prod(shape[:-1]))
    else:
        groups, numbers = np.unique(host[:, :-1], axis=0, return_inverse=True)
        ids, count = constant_tensor(np.asarray(numbers, np.int64).reshape(-1)), len(groups)
    peaks = segment.unsorted_segment_max(stop_gradient(values), ids, count)
    powers = elementwise.exp(arithmetic.subtract(values, gathering.gather(peaks, ids)))
    sums = segment.unsorted_segment_sum(powers, ids, count)
    return sparse.with_values(arithmetic.divide(powers, gathering.gather(sums, ids)))


# ---------------------------------------------------------------------- two sparse tensors
def _pair(sp_a: Any, sp_b: Any, node: str) -> tuple[SparseTensor, SparseTensor]:
    a, b = sparse_argument(sp_a, "sp_a"), sparse_argument(sp_b, "sp_b")
    if a.dtype != b.dtype:
        raise invalid(
            f"cannot compute {node} as input #4(zero-based) was expected to be a {a.dtype.name} "
            f"tensor but is a {b.dtype.name} tensor [Op:{node}]"
        )
    mine, theirs = sizes_of(a), sizes_of(b)
    if len(mine) != len(theirs):
        raise invalid(f"Ranks of operands do not match: {len(mine)} and {len(theirs)} [Op:{node}]")
    for dim, (x, y) in enumerate(zip(mine, theirs, strict=True)):
        if x != y:
            raise invalid(
                f"Operands' shapes do not match: got {x} and {y} for dimension {dim} [Op:{node}]"
            )
    return a, b


def _union(a: SparseTensor, b: SparseTensor, what: str) -> tuple[HostArray, HostArray]:
    """The places of either, in order, and which of them each value of both has."""
    places = np.concatenate([host_indices(a, what), host_indices(b, what)])
    found, numbers = np.unique(places, axis=0, return_inverse=True)
    return found, np.asarray(numbers, np.int64).reshape(-1)


def _joined(sp_a: Any, sp_b: Any, fn: Callable[..., Any], what: str, node: str) -> SparseTensor:
    """A function of two sparse tensors with zeros in the places that only one of them has."""
    a, b = _pair(sp_a, sp_b, node)
    places, numbers = _union(a, b, what)
    split = a.values.aval.shape[0]
    sums = segment.unsorted_segment_sum
    left = sums(a.values, constant_tensor(numbers[:split]), len(places))
    right = sums(b.values, constant_tensor(numbers[split:]), len(places))
    return of_parts(places, fn(left, right), a.dense_shape)


@public("sparse.maximum")
def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The greater of two sparse tensors, at the places of either.

    Args:
        sp_a: A `tf.SparseTensor`.
        sp_b: Another of the same dtype and dense shape.
        name: Ignored.

    Returns:
        A `tf.SparseTensor`; where only one has a value, the other counts as 0.

    Raises:
        InvalidArgumentError: If dtypes or shapes differ.

    Example:
        >>> import tapejax as tf
        >>> a = tf.SparseTensor([[0]], [-1.0], [3])
        >>> b = tf.SparseTensor([[2]], [5.0], [3])
        >>> tf.sparse.maximum(a, b).values.numpy().tolist()
        [0.0, 5.0]

    Differs from TensorFlow:
        It has a gradient, in which TensorFlow has a bug. Places need not be in order.
    """
    del name
    return _joined(sp_a, sp_b, arithmetic.maximum, "tf.sparse.maximum", "SparseSparseMaximum")


@public("sparse.minimum")
def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of two sparse tensors, at the places of either.

    Args:
        sp_a: A `tf.SparseTensor`.
        sp_b: Another of the same dtype and dense shape.
        name: Ignored.

    Returns:
        A `tf.SparseTensor`; where only one has a value, the other counts as 0.

    Raises:
        InvalidArgumentError: If dtypes or shapes differ.

    Example:
        >>> import tapejax as tf
        >>> a = tf.SparseTensor([[0]], [-1.0], [3])
        >>> b = tf.SparseTensor([[2]], [5.0], [3])
        >>> tf.sparse.minimum(a, b).values.numpy().tolist()
        [-1.0, 0.0]

    Differs from TensorFlow:
        It has a gradient, in which TensorFlow has a bug. Places need not be in order.
    """
    del name
    return _joined(sp_a, sp_b, arithmetic.minimum, "tf.sparse.minimum", "SparseSparseMinimum")


@public("sparse.add")
def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """Sums of two sparse tensors, or of a sparse and a dense one.

    Args:
        a: A `tf.SparseTensor` or a tensor; at least one of both is sparse.
        b: Another of the same dtype and shape.
        threshold: Of two sparse tensors, sums that are smaller in magnitude are left out.

    Returns:
        A `tf.SparseTensor` if both are sparse, else a tensor.

    Raises:
        TypeError: If both are dense.
        InvalidArgumentError: If dtypes or shapes differ.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[0, 1]], [5.0], [1, 2])
        >>> tf.sparse.add(x, tf.ones([1, 2])).numpy().tolist()
        [[1.0, 6.0]]
        >>> tf.sparse.add(x, x).values.numpy().tolist()
        [10.0]

    Differs from TensorFlow:
        Places need not be in order, and may be repeated.
    """
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not isinstance(b, SparseTensor):
        return add_dense(a, b)
    if not isinstance(a, SparseTensor):
        return add_dense(b, a)
    _pair(a, b, "SparseAdd")
    places, numbers = _union(a, b, "tf.sparse.add of two sparse tensors")
    values = joining.concat([a.values, b.values], 0)
    sums = segment.unsorted_segment_sum(values, constant_tensor(numbers), len(places))
    total = of_parts(places, sums, a.dense_shape)
    least = known_array(as_tensor(threshold))
    if least is None or np.any(least > 0):
        return _above(total, least)
    return total


def _above(total: SparseTensor, least: HostArray | None) -> SparseTensor:
    values = known_array(total.values)
    if values is None or least is None:
        raise NotCompilableError(
            "tf.sparse.add with a threshold looks at the sums, which are not known inside the "
            "function being traced. Leave the threshold out there."
        )
    rows = np.flatnonzero(np.abs(values) >= least)
    host = host_indices(total, "tf.sparse.add")
    return of_parts(host[rows], gathering.gather(total.values, rows), total.dense_shape)
