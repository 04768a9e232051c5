"""`tf.sparse.bincount`, and crossed features (`tf.sparse.cross`, `tf.ragged.cross`)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapejax._src.core.dtypes import int64
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import HostArray, known_array
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, constant_tensor, static_ints
from tapejax._src.engine.registry import public
from tapejax._src.ops import ragged_rows, segment, shaping
from tapejax._src.ops.ragged_rows import of_lengths, splits_of
from tapejax._src.ops.sparse_rearranging import invalid
from tapejax._src.ops.sparse_tensor import SparseTensor, host_indices, of_parts, sizes_of
from tapejax._src.ops.string_hashes import MASK, fingerprint64


def _host(value: Tensor, what: str) -> HostArray:
    found = known_array(value)
    if found is None:
        raise NotCompilableError(
            f"{what} looks at values to know how many there are in its result, but they are not "
            "known inside the tf.function or transformation being traced. Call it outside."
        )
    return found


# ---------------------------------------------------------------------- bincount
def _rows_and_numbers(values: Any, axis: int) -> tuple[HostArray, Tensor, int | None]:
    """The row of each number, the numbers, and how many rows there are (None: all are one)."""
    if isinstance(values, SparseTensor):
        count = None if axis == 0 else sizes_of(values)[0]
        rows = host_indices(values, "tf.sparse.bincount")[:, 0]
        return rows, values.values, count
    if isinstance(values, RaggedTensor):
        splits = splits_of(values.partition, "tf.sparse.bincount")
        rows = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
        return rows, values.flat_values, None if axis == 0 else len(splits) - 1
    tensor = as_tensor(values)
    shape = tensor.aval.shape
    if axis == -1 and len(shape) == 2:
        return np.repeat(np.arange(shape[0]), shape[1]), tensor, shape[0]
    return np.zeros(int(np.prod(shape)), np.int64), tensor, None


@public("sparse.bincount")
def bincount(
    values: Any,
    weights: Any = None,
    axis: Any = 0,
    minlength: Any = None,
    maxlength: Any = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each number occurs, as a sparse tensor.

    Args:
        values: Tensor, `tf.RaggedTensor` or `tf.SparseTensor` of integers that are not negative.
        weights: What each number counts, of the same form. Default: 1.
        axis: 0 counts over all values, -1 in each row.
        minlength: The least number of columns.
        maxlength: The greatest; larger numbers are left out.
        binary_output: Whether to say only that a number occurs, with 1.
        name: Ignored.

    Returns:
        A `tf.SparseTensor` `[length]`, or `[rows, length]` for axis -1; int32, or the dtype of the
        weights.

    Raises:
        ValueError: If `axis` is neither 0 nor -1, or weights are given with `binary_output`.
        InvalidArgumentError: If a number is negative.

    Example:
        >>> import tapejax as tf
        >>> counts = tf.sparse.bincount([[1, 1], [2, 0]], axis=-1)
        >>> counts.indices.numpy().tolist(), counts.values.numpy().tolist()
        ([[0, 1], [1, 0], [1, 2]], [2, 1, 1])
    """
    del name
    _check_options(axis, binary_output, weights)
    rows, tensor, count = _rows_and_numbers(values, axis)
    numbers = _host(tensor, "tf.sparse.bincount").reshape(-1).astype(np.int64)
    if (numbers < 0).any():
        raise invalid("Input values must all be non-negative [Op:SparseCountSparseOutput]")
    length = int(numbers.max()) + 1 if numbers.size else 0
    length = max(length, 0 if minlength is None else int(static_ints(minlength)))
    kept = np.arange(len(numbers))
    if maxlength is not None:
        limit = int(static_ints(maxlength))
        kept, length = np.flatnonzero(numbers < limit), min(length, limit)
    places = np.stack([rows if count is not None else rows * 0, numbers], 1)[kept]
    found, which, often = np.unique(places, axis=0, return_inverse=True, return_counts=True)
    if weights is None:
        counts = constant_tensor((often > 0 if binary_output else often).astype(np.int32))
    else:
        flat = weights.flat_values if isinstance(weights, RaggedTensor) else weights
        chosen = _weights(flat.values if isinstance(flat, SparseTensor) else flat, kept)
        ids = constant_tensor(np.asarray(which, np.int64).reshape(-1))
        counts = segment.unsorted_segment_sum(chosen, ids, len(found))
    if count is None:
        return of_parts(found[:, 1:], counts, [length])
    return of_parts(found, counts, [count, length])


def _check_options(axis: Any, binary_output: bool, weights: Any) -> None:
    if axis not in (0, -1):
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    if binary_output and weights is not None:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive.")


def _weights(weights: Any, kept: HostArray) -> Tensor:
    return ragged_rows.take(shaping.reshape(as_tensor(weights), (-1,)), kept)


# ---------------------------------------------------------------------- crosses
_Feature = tuple[list[list[Any]], bool]


def _feature(value: Any, number: int) -> _Feature:
    """The items of each row, and whether they are integers."""
    if isinstance(value, SparseTensor):
        rows: list[list[Any]] = [[] for _ in range(sizes_of(value)[0])]
        places = host_indices(value, "Crossing features")[:, 0].tolist()
        items = _host(value.values, "Crossing features").tolist()
        for row, item in zip(places, items, strict=True):
            rows[row].append(item)
        return rows, value.dtype.is_integer
    if isinstance(value, RaggedTensor):
        return value.to_list(), value.dtype.is_integer
    tensor = as_tensor(value)
    if tensor.ndim != 2:
        raise invalid(f"Crossed feature {number} must be a matrix, got shape {tensor.shape}.")
    return _host(tensor, "Crossing features").tolist(), tensor.dtype.is_integer


def _features(inputs: Any, kinds: tuple[type, ...], text: str) -> list[_Feature]:
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(x, kinds) for x in inputs):
        raise TypeError(text)
    found = [_feature(x, n) for n, x in enumerate(inputs)]
    if len({len(rows) for rows, _ in found}) > 1:
        raise invalid(f"Expected batch sizes to agree, got {[len(rows) for rows, _ in found]}")
    return found


def _crossed(features: Sequence[_Feature], join: Callable[[Sequence[Any]], Any]) -> list[list[Any]]:
    """For each row all combinations of one item of each feature."""
    count = len(features[0][0]) if features else 0
    return [
        [join(items) for items in itertools.product(*[rows[n] for rows, _ in features])]
        for n in range(count)
    ]


def _text(item: Any) -> bytes:
    return item if isinstance(item, bytes) else str(item).encode()


def _joiner(separator: bytes) -> Callable[[Sequence[Any]], bytes]:
    return lambda items: separator.join([_text(item) for item in items])


_SHIFT = 47
_MULTIPLIER = 0xC6A4A7935BD1E995


def _hash_cat(first: int, second: int) -> int:
    """One fingerprint of two, as Murmur hashes mix words."""

    def mixed(value: int) -> int:
        return value ^ (value >> _SHIFT)

    found = first ^ _MULTIPLIER
    found ^= mixed((second * _MULTIPLIER) & MASK) * _MULTIPLIER & MASK
    found = found * _MULTIPLIER & MASK
    found = mixed(found) * _MULTIPLIER & MASK
    return mixed(found)


def _hasher(num_buckets: int, hash_key: int | None) -> Callable[[Sequence[Any]], int]:
    start = 0xDECAFCAFFE if hash_key is None else hash_key
    limit = num_buckets or (1 << 63) - 1

    def combined(items: Sequence[Any]) -> int:
        value = start
        for item in items:
            number = fingerprint64(item) if isinstance(item, bytes) else item & MASK
            value = _hash_cat(value, number)
        return value % limit

    return combined


def _as_sparse(rows: list[list[Any]], dtype: Any) -> SparseTensor:
    lengths = [len(row) for row in rows]
    places = [(n, k) for n, length in enumerate(lengths) for k in range(length)]
    values = np.array([item for row in rows for item in row], dtype)
    shape = [len(rows), max(lengths, default=0)]
    return of_parts(np.array(places, np.int64).reshape(-1, 2), constant_tensor(values), shape)


def _as_ragged(rows: list[list[Any]], dtype: Any) -> RaggedTensor:
    values = np.array([item for row in rows for item in row], dtype)
    return RaggedTensor.of(constant_tensor(values), of_lengths([len(row) for row in rows], int64))


_SPARSE = (SparseTensor, Tensor)
_SPARSE_TEXT = "All inputs must be Tensor or SparseTensor."
_RAGGED = (RaggedTensor, SparseTensor, Tensor)
_RAGGED_TEXT = "All inputs must be Tensor, SparseTensor or RaggedTensor."


@public("sparse.cross")
def cross(inputs: Any, name: str | None = None, separator: Any = None) -> SparseTensor:
    """All combinations of one item of each feature, in each row, joined as strings.

    Args:
        inputs: A list of matrices and sparse matrices of strings or integers.
        name: Ignored.
        separator: What to put between the items. Default: `"_X_"`.

    Returns:
        A `tf.SparseTensor` of strings.

    Raises:
        TypeError: If an input is something else.

    Example:
        >>> import tapejax as tf
        >>> a, b = tf.constant([["a", "b"]]), tf.constant([["c"]])
        >>> tf.sparse.cross([a, b]).values.numpy().tolist()
        [b'a_X_c', b'b_X_c']
    """
    del name
    features = _features(inputs, _SPARSE, _SPARSE_TEXT)
    between = b"_X_" if separator is None else as_tensor(separator).numpy()
    return _as_sparse(_crossed(features, _joiner(between)), object)


@public("sparse.cross_hashed")
def cross_hashed(
    inputs: Any, num_buckets: Any = 0, hash_key: Any = None, name: str | None = None
) -> SparseTensor:
    """Hashes of all combinations of one item of each feature, in each row.

    Args:
        inputs: A list of matrices and sparse matrices of strings or integers.
        num_buckets: The hashes are below this number, if it is not 0.
        hash_key: Where the hash begins.
        name: Ignored.

    Returns:
        A `tf.SparseTensor` of int64.

    Raises:
        TypeError: If an input is something else.

    Example:
        >>> import tapejax as tf
        >>> a, b = tf.constant([["a", "b"]]), tf.constant([["c"]])
        >>> tf.sparse.cross_hashed([a, b], num_buckets=100).values.numpy().tolist()
        [66, 54]
    """
    del name
    features = _features(inputs, _SPARSE, _SPARSE_TEXT)
    return _as_sparse(_crossed(features, _hasher(int(num_buckets), hash_key)), np.int64)


@public("ragged.cross")
def ragged_cross(inputs: Any, name: str | None = None) -> RaggedTensor:
    """All combinations of one item of each feature, in each row, joined as strings.

    Args:
        inputs: A list of matrices, sparse and ragged matrices of strings or integers.
        name: Ignored.

    Returns:
        A ragged tensor of strings.

    Raises:
        TypeError: If an input is something else.

    Example:
        >>> import tapejax as tf
        >>> a, b = tf.ragged.constant([["a", "b"], []]), tf.ragged.constant([["c"], ["d"]])
        >>> tf.ragged.cross([a, b])
        <tf.RaggedTensor [[b'a_X_c', b'b_X_c'], []]>
    """
    del name
    features = _features(inputs, _RAGGED, _RAGGED_TEXT)
    return _as_ragged(_crossed(features, _joiner(b"_X_")), object)


@public("ragged.cross_hashed")
def ragged_cross_hashed(
    inputs: Any, num_buckets: Any = 0, hash_key: Any = None, name: str | None = None
) -> RaggedTensor:
    """Hashes of all combinations of one item of each feature, in each row.

    Args:
        inputs: A list of matrices, sparse and ragged matrices of strings or integers.
        num_buckets: The hashes are below this number, if it is not 0.
        hash_key: Where the hash begins.
        name: Ignored.

    Returns:
        A ragged tensor of int64.

    Raises:
        TypeError: If an input is something else.
    """
    del name
    features = _features(inputs, _RAGGED, _RAGGED_TEXT)
    return _as_ragged(_crossed(features, _hasher(int(num_buckets), hash_key)), np.int64)
