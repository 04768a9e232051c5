"""Sparse and dense tensors: conversions, sums and products of both."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import float32
from tapejax._src.core.row_partition import known_array
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_partner, as_tensor, constant_tensor, static_ints
from tapejax._src.engine.registry import (
    Array,
    Index,
    Same,
    StaticInts,
    ValueCheck,
    op,
    public,
)
from tapejax._src.ops import (
    arithmetic,
    casting,
    gathering,
    permuting,
    ragged_rows,
    reduction,
    scattering,
    shaping,
)
from tapejax._src.ops.sparse_tensor import (
    SparseTensor,
    as_index,
    narrowed,
    of_parts,
    sizes_of,
    sparse_argument,
)


# ---------------------------------------------------------------------- to_dense
def _first(bad: Array) -> Array:
    return jnp.argmax(bad)


def _bad_places(
    indices: Index, values: Same, default: Same, shape: StaticInts, validate: bool
) -> tuple[Any, ...]:
    """(failed, kind, row): an index outside the shape, out of order, or repeated."""
    del values, default
    count, rank = indices.shape
    if not count or not rank:
        return False, 0, 0
    outside = jnp.any((indices < 0) | (indices >= jnp.asarray(shape, indices.dtype)), -1)
    none = jnp.zeros(count, bool)
    order = repeated = none
    if validate and count > 1:
        step = jnp.diff(indices, axis=0)
        place = jnp.argmax(step != 0, -1)
        first = jnp.take_along_axis(step, place[:, None], -1)[:, 0]
        order = none.at[1:].set(first < 0)
        repeated = none.at[1:].set(jnp.all(step == 0, -1))
    bad = outside | order | repeated
    row = _first(bad)
    kind = jnp.where(outside[row], 0, jnp.where(order[row], 1, 2))
    return jnp.any(bad), kind, row


_WHY = (
    "is out of bounds: every index must be in [0, size) of its dimension",
    "is out of order. Many sparse ops require sorted indices. Use `tf.sparse.reorder` to create a "
    "correctly ordered copy.",
    "is repeated: add the values up first, or pass validate_indices=False",
)


def _bad_text(kind: float, row: float, *_: float) -> str:
    return f"indices[{int(row)}] {_WHY[int(kind)]}"


@op(
    "_sparse_to_dense",
    node="SparseToDense",
    check=ValueCheck(_bad_places, _bad_text),
    cases=("[[0, 1], [1, 0]], f32[2], f32[], [2, 3], True", "[[1]], f64[1], f64[], [2], True"),
)
def _scattered(
    indices: Index, values: Same, default: Same, shape: StaticInts, validate: bool
) -> Array:
    """A dense array with the values at their places and the default elsewhere."""
    del validate
    whole = jnp.broadcast_to(default, shape)
    indices = narrowed(indices, shape)
    return whole.at[tuple(indices.T)].set(values, mode="drop")


@public("sparse.to_dense")
def to_dense(
    sp_input: Any,
    default_value: Any = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The whole tensor of a sparse one.

    Args:
        sp_input: A `tf.SparseTensor`.
        default_value: The elements that are not given, a scalar. Default: zero, or empty strings.
        validate_indices: Whether to check that places are in order and not repeated. Without it,
            the last of several values at one place counts.
        name: Ignored.

    Returns:
        A tensor of the dense shape and the dtype of the values.

    Raises:
        InvalidArgumentError: If places are outside the shape, out of order or repeated.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[0, 1], [1, 0]], [5, 7], [2, 2])
        >>> tf.sparse.to_dense(x, default_value=-1).numpy().tolist()
        [[-1, 5], [7, -1]]
    """
    del name
    sparse = sparse_argument(sp_input)
    values, indices = sparse.values, sparse.indices
    if default_value is None:
        default_value = b"" if values.dtype.name == "string" else values.dtype.as_numpy_dtype(0)
    default = as_partner(default_value, values.dtype)
    shape = sizes_of(sparse)
    host = known_array(indices)
    if not validate_indices and host is not None and len(host):
        last = _last_of_each(host)
        indices = constant_tensor(host[last])
        values = ragged_rows.take(values, last)
    return _scattered(indices, values, default, shape, bool(validate_indices))


def _last_of_each(host: Any) -> Any:
    """The rows whose place no later row has."""
    _, found = np.unique(host[::-1], axis=0, return_index=True)
    return np.sort(len(host) - 1 - found)


@public("sparse.to_indicator")
def to_indicator(sp_input: Any, vocab_size: Any, name: str | None = None) -> Tensor:
    """Which numbers below `vocab_size` each row holds, as a dense bool tensor.

    Args:
        sp_input: A `tf.SparseTensor` of integers; the last index does not matter.
        vocab_size: The size of the last dimension of the result.
        name: Ignored.

    Returns:
        bool tensor of shape `dense_shape[:-1] + [vocab_size]`.

    Raises:
        InvalidArgumentError: If a value is not in `[0, vocab_size)`.

    Example:
        >>> import tapejax as tf
        >>> x = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 2, 1], [2, 3])
        >>> tf.sparse.to_indicator(x, 3).numpy().astype(int).tolist()
        [[1, 0, 1], [0, 1, 0]]
    """
    del name
    sparse = sparse_argument(sp_input)
    numbers = casting.cast(sparse.values, "int64")
    size = int(static_ints(vocab_size))
    leading = sparse.indices[:, :-1]
    places = _beside(leading, numbers)
    shape = (*sizes_of(sparse)[:-1], size)
    truth = constant_tensor(np.ones(places.aval.shape[0], bool))
    return _scattered(places, truth, constant_tensor(np.zeros((), bool)), shape, False)


@op("_beside", node="ConcatV2", gradient="none", cases=("i64[3,1], i64[3]",))
def _beside(left: Same, column: Same) -> Array:
    """A matrix with one more column."""
    return jnp.concatenate([left, column[:, None]], 1)


@public("sparse.from_dense")
def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero (or empty).

    Args:
        tensor: Tensor of rank 1 at least, of known values.
        name: Ignored.

    Returns:
        A `tf.SparseTensor`, its places in order.

    Raises:
        InvalidArgumentError: If `tensor` is a scalar.
        NotImplementedError: In a function being traced, where the values are not known.

    Example:
        >>> import tapejax as tf
        >>> tf.sparse.from_dense([[0.0, 3.0], [0.0, 0.0]]).indices.numpy().tolist()
        [[0, 1]]
    """
    del name
    dense = as_tensor(tensor)
    if not dense.ndim:
        raise errors.InvalidArgumentError(
            None, None, "WhereOp : Unhandled input dimensions: 0: a scalar has no places [Op:Where]"
        )
    host = known_array(dense)
    if host is None:
        raise NotCompilableError(
            "tf.sparse.from_dense looks at values to know how many there are, but they are not "
            "known inside the tf.function or transformation being traced. Call it outside, or "
            "mask the dense tensor."
        )
    empty = b"" if host.dtype.kind == "O" else 0
    places = np.argwhere(host != empty)
    flat = shaping.reshape(dense, (-1,))
    rows = np.ravel_multi_index(tuple(places.T), host.shape)
    return of_parts(places, ragged_rows.take(flat, np.asarray(rows)), host.shape)


# ---------------------------------------------------------------------- products
@op(
    "_sparse_matmul",
    node="SparseTensorDenseMatMul",
    check=ValueCheck(
        lambda indices, values, dense, shape, adjoint_a, adjoint_b: _bad_places(
            indices, values, dense, shape, False
        ),
        _bad_text,
    ),
    cases=(
        "[[0, 1], [1, 0]], f32[2], f32[3,2], [2, 3], False, False",
        "[[0, 1], [1, 2]], c64[2], c64[4,2], [2, 3], True, True",
    ),
)
def _matmul(
    indices: Index,
    values: Same,
    dense: Same,
    shape: StaticInts,
    adjoint_a: bool,
    adjoint_b: bool,
) -> Array:
    """The product of a sparse and a dense matrix."""
    indices = narrowed(indices, shape)
    rows, columns = indices[:, 0], indices[:, 1]
    height = shape[0]
    if adjoint_a:
        rows, columns, height, values = columns, rows, shape[1], jnp.conj(values)
    if adjoint_b:
        dense = jnp.conj(dense.T)
    taken = dense.at[columns].get(mode="fill", fill_value=0)
    result = jnp.zeros((height, dense.shape[1]), dense.dtype)
    return result.at[rows].add(values[:, None] * taken, mode="drop")


@public("sparse.sparse_dense_matmul")
def sparse_dense_matmul(
    sp_a: Any,
    b: Any,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a sparse and a dense matrix, either of them first.

    Args:
        sp_a: A `tf.SparseTensor` `[m, k]`, or a dense matrix if `b` is sparse.
        b: A dense matrix `[k, n]`, or a sparse one if `sp_a` is dense.
        adjoint_a: Whether to take the conjugate transpose of `sp_a`.
        adjoint_b: Whether to take that of `b`.
        name: Ignored.

    Returns:
        Dense tensor `[m, n]`.

    Raises:
        InvalidArgumentError: If the shapes or places do not fit.
        TypeError: If not exactly one of the two is sparse.

    Example:
        >>> import tapejax as tf
        >>> a = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [2, 3])
        >>> tf.sparse.sparse_dense_matmul(a, [[1.0], [2.0], [3.0]]).numpy().tolist()
        [[1.0], [6.0]]
    """
    del name
    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        turned = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return permuting.transpose(turned)
    if isinstance(b, SparseTensor):
        raise TypeError(
            "tf.sparse.sparse_dense_matmul takes one sparse and one dense matrix, got two sparse "
            "ones. Make one of them dense: tf.sparse.to_dense(b)."
        )
    sparse = sparse_argument(sp_a, "sp_a")
    dense = as_partner(b, sparse.dtype) if not isinstance(b, (Tensor, Variable)) else as_tensor(b)
    shape = sizes_of(sparse)
    _check_matrices(shape, dense, adjoint_a, adjoint_b)
    return _matmul(sparse.indices, sparse.values, dense, shape, bool(adjoint_a), bool(adjoint_b))


def _check_matrices(
    shape: tuple[int, ...], dense: Tensor, adjoint_a: bool, adjoint_b: bool
) -> None:
    if len(shape) != 2:
        raise errors.InvalidArgumentError(
            None, None, f"Tensor 'a_shape' must have 2 elements, not {len(shape)}"
        )
    if dense.ndim != 2:
        raise errors.InvalidArgumentError(
            None, None, f"Tensor 'b' is not a matrix: its shape is {dense.shape}"
        )
    inner = shape[0] if adjoint_a else shape[1]
    other = dense.aval.shape[1] if adjoint_b else dense.aval.shape[0]
    if inner != other:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Cannot multiply A and B because inner dimension does not match: "
            f"{inner} vs. {other}.  Did you forget a transpose?  Dimensions of A: "
            f"[{shape[0]}, {shape[1]}).  Dimensions of B: "
            f"[{','.join(map(str, dense.aval.shape))}] [Op:SparseTensorDenseMatMul]",
        )


@public("sparse.sampled_addmm")
def sampled_addmm(
    indices: Any,
    values: Any,
    dense_shape: Any,
    mat1: Any,
    mat2: Any,
    beta: Any = 1.0,
    alpha: Any = 1.0,
    output_type: Any = float32,
) -> tuple[Tensor, Tensor, Tensor]:
    """Some elements of a matrix product: `alpha * (mat1 @ mat2) + beta * values` at `indices`.

    Args:
        indices: Integer `[n, 2]`, the places wanted.
        values: `[n]`, what is added there.
        dense_shape: `[2]`, returned as it is.
        mat1: `[m, k]` tensor.
        mat2: `[k, n]` tensor.
        beta: The factor of `values`.
        alpha: The factor of the product.
        output_type: The dtype of the result.

    Returns:
        `indices`, the values there, and `dense_shape`.

    Raises:
        ValueError: If a tensor is no matrix.

    Example:
        >>> import tapejax as tf
        >>> x, y = tf.ones([2, 3]), tf.ones([3, 2])
        >>> tf.sparse.sampled_addmm([[0, 1]], [10.0], [2, 2], x, y)[1].numpy().tolist()
        [13.0]
    """
    places, sizes = as_tensor(indices), as_tensor(dense_shape)
    left, right = (casting.cast(as_tensor(m), output_type) for m in (mat1, mat2))
    if left.ndim != 2 or right.ndim != 2:
        raise ValueError(
            f"tf.sparse.sampled_addmm takes matrices, got shapes {left.shape} and {right.shape}."
        )
    rows = gathering.gather(left, places[:, 0])
    columns = gathering.gather(right, places[:, 1], axis=1)
    products = reduction.reduce_sum(rows * permuting.transpose(columns), 1)
    result = alpha * products + beta * casting.cast(as_tensor(values), output_type)
    return places, result, sizes


# ---------------------------------------------------------------------- operators
def _elementwise(sparse: SparseTensor, other: Any, fn: Any) -> SparseTensor:
    """A sparse tensor combined with a dense one at the places of the values."""
    dense = as_partner(other, sparse.dtype)
    shape = sizes_of(sparse)
    if dense.ndim > len(shape) or not _broadcasts(dense.aval.shape, shape):
        raise errors.InvalidArgumentError(
            None,
            None,
            "SparseDenseBinaryOpShared broadcasts dense to sparse only; got incompatible shapes: "
            f"{list(shape)} vs. {list(dense.aval.shape)}",
        )
    whole = shaping.broadcast_to(dense, shape)
    return sparse.with_values(fn(sparse.values, gathering.gather_nd(whole, sparse.indices)))


def _broadcasts(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False


def _mul(self: SparseTensor, other: Any) -> SparseTensor:
    return _elementwise(self, other, arithmetic.multiply)


def _div(self: SparseTensor, other: Any) -> SparseTensor:
    return _elementwise(self, other, arithmetic.divide)


for _name, _method in (("__mul__", _mul), ("__rmul__", _mul), ("__truediv__", _div)):
    setattr(SparseTensor, _name, _method)


def add_dense(sparse: SparseTensor, dense: Any) -> Tensor:
    """A sparse and a dense tensor of one shape, added."""
    other = as_partner(dense, sparse.dtype)
    shape = sizes_of(sparse)
    if other.aval.shape != shape:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Dimensions do not equal (no broadcasting is supported): sparse side "
            f"{list(shape)} vs dense side {list(other.aval.shape)} [Op:SparseTensorDenseAdd]",
        )
    return scattering.tensor_scatter_nd_add(other, sparse.indices, sparse.values)


__all__ = ["add_dense", "as_index", "from_dense", "sparse_dense_matmul", "to_dense"]
