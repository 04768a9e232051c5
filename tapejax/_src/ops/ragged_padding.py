"""Between ragged tensors and padded tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core import errors
from tapejax._src.core.dtypes import DType, as_dtype, int64
from tapejax._src.core.ragged_tensor import RaggedTensor
from tapejax._src.core.row_partition import HostArray, known_array
from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.symbolic import NotCompilableError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_partner, as_tensor, static_ints
from tapejax._src.engine.registry import Array, Index, Same, op
from tapejax._src.ops import shaping
from tapejax._src.ops.ragged_queries import bounds
from tapejax._src.ops.ragged_rows import (
    factory,
    host_rows,
    method,
    of_lengths,
    rank_of,
    splits_dtype,
    splits_of,
    take,
    uniform_rows,
)


@op(
    "_ragged_to_tensor",
    node="RaggedTensorToTensor",
    cases=("f32[4], f32[], i64[3,2] in (0, 5)", "f32[2,3], f32[3], i64[2,1] in (0, 3)"),
)
def _padded(values: Same, default: Same, source: Index) -> Array:
    """The values at the places `source`; the number of values stands for the default."""
    row = jnp.broadcast_to(default, (1, *values.shape[1:]))
    return jnp.concatenate([values, row])[source]


def positions(value: RaggedTensor, what: str) -> list[HostArray]:
    """For each flat value its index in each dimension but the inner ones."""
    found: list[HostArray] = [np.arange(value.partition.nrows)]
    for partition in value.partitions:
        splits = splits_of(partition, what).astype(np.int64)
        rows = np.repeat(np.arange(len(splits) - 1), np.diff(splits))
        found = [index[rows] for index in found]
        found.append(np.arange(splits[-1]) - splits[rows])
    return found


@method
def to_tensor(
    self: RaggedTensor, default_value: Any = None, name: str | None = None, shape: Any = None
) -> Tensor:
    """The rows padded to one length.

    Args:
        self: The ragged tensor.
        default_value: What to fill with, a scalar or of the shape of the inner dimensions.
            Default: zero, or an empty string.
        name: Ignored.
        shape: The shape of the result; longer rows are cut. None, also for one dimension, means
            as large as needed.

    Returns:
        A tensor of the dtype of the values.

    Raises:
        InvalidArgumentError: If the rank of `shape` differs.

    Example:
        >>> import tapejax as tf
        >>> x = tf.ragged.constant([[3, 1, 4], [], [5]])
        >>> x.to_tensor(-1).numpy().tolist()
        [[3, 1, 4], [-1, -1, -1], [5, -1, -1]]
        >>> x.to_tensor(shape=[None, 2]).numpy().tolist()
        [[3, 1], [0, 0], [5, 0]]
    """
    del name
    flat, outer = self.flat_values, self.ragged_rank + 1
    sizes = _target(self, shape)
    index = positions(self, "RaggedTensor.to_tensor")
    inside = np.ones(flat.aval.shape[0], bool)
    for place, size in zip(index, sizes, strict=False):
        inside &= place < size
    source = np.full(sizes[:outer], flat.aval.shape[0])
    source[tuple([place[inside] for place in index])] = np.flatnonzero(inside)
    dtype = flat.dtype
    if default_value is None:
        default_value = b"" if dtype.name == "string" else np.zeros((), dtype.as_numpy_dtype)
    default = as_partner(default_value, dtype)
    if default.dtype != dtype:
        raise ValueError(
            f"default_value has dtype {default.dtype!r}, but the ragged tensor has {dtype!r}."
        )
    padded = _padded(flat, default, host_rows(source))
    return _fitted(padded, sizes, outer, default)


def _target(self: RaggedTensor, shape: Any) -> list[int]:
    """The shape of the padded tensor."""
    box = bounds(self, "RaggedTensor.to_tensor")
    if shape is None:
        return box
    if isinstance(shape, TensorShape) and shape.rank is None:
        return box
    given = shape.as_list() if isinstance(shape, TensorShape) else shape
    if isinstance(given, (list, tuple)):
        wanted: list[Any] = [None if size is None else static_ints(size) for size in given]
    else:
        wanted = list(static_ints(given))
    if len(wanted) != len(box):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"The `shape` {wanted} given to RaggedTensor.to_tensor has rank {len(wanted)}, but the "
            f"ragged tensor has shape {self.shape}.",
        )
    return [
        size if want is None or want < 0 else int(want)
        for want, size in zip(wanted, box, strict=True)
    ]


def _fitted(padded: Any, sizes: Sequence[int], outer: int, default: Any) -> Tensor:
    """The inner dimensions must be those of the values."""
    inner = list(padded.aval.shape[outer:])
    if inner == list(sizes[outer:]):
        return padded
    del default
    raise errors.InvalidArgumentError(
        None,
        None,
        f"RaggedTensor.to_tensor: `shape` has inner dimensions {list(sizes[outer:])}, but those of "
        f"the values are {inner}; only ragged dimensions can be padded or cut.",
    )


# ---------------------------------------------------------------------- from tensors
@factory
def from_tensor(
    tensor: Any,
    lengths: Any = None,
    padding: Any = None,
    ragged_rank: int = 1,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> RaggedTensor:
    """A tensor's rows, whole or without their padding.

    Args:
        tensor: Tensor of rank `ragged_rank + 1` at least.
        lengths: The length of each row, or a tuple of them for several ragged dimensions.
        padding: The value that padding consists of; it is dropped at the end of rows.
        ragged_rank: How many dimensions become ragged.
        name: Ignored.
        row_splits_dtype: int32 or int64.

    Returns:
        The ragged tensor.

    Raises:
        ValueError: If both `lengths` and `padding` are given, or the rank is too small.

    Example:
        >>> import tapejax as tf
        >>> x = [[5, 7, 0], [0, 3, 0], [6, 0, 0]]
        >>> tf.RaggedTensor.from_tensor(x, padding=0)
        <tf.RaggedTensor [[5, 7], [0, 3], [6]]>
        >>> tf.RaggedTensor.from_tensor(x, lengths=[1, 0, 3])
        <tf.RaggedTensor [[5], [], [6, 0, 0]]>
    """
    del name
    dtype = splits_dtype(as_dtype(row_splits_dtype))
    _check_options(lengths, padding, ragged_rank)
    if isinstance(tensor, RaggedTensor):
        raise ValueError("`tensor` must be a tensor, not a RaggedTensor.")
    value = as_tensor(tensor)
    if (
        isinstance(lengths, (list, tuple))
        and lengths
        and not isinstance(lengths[0], int | np.integer)
    ):
        return _of_nested_lengths(value, lengths, dtype)
    if value.ndim <= ragged_rank:
        raise ValueError(
            f"The rank of a RaggedTensor must be greater than 1, i.e., `ragged_rank`={ragged_rank} "
            f"needs a tensor of rank {ragged_rank + 1} at least. Received {value.ndim}."
        )
    shape = value.aval.shape
    if padding is not None:
        lengths = _unpadded(value, padding, ragged_rank)
    elif lengths is None:
        return _whole(value, ragged_rank, dtype)
    else:
        lengths = _host_lengths(lengths)
    return _of_lengths(value, lengths.reshape(shape[:ragged_rank]), ragged_rank, dtype)


def _check_options(lengths: Any, padding: Any, ragged_rank: Any) -> None:
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")


def _host_lengths(lengths: Any) -> HostArray:
    found = known_array(as_tensor(lengths))
    if found is None:
        raise NotCompilableError(
            "RaggedTensor.from_tensor: the `lengths` are computed inside the function being "
            "traced, and decide how many values there are. Use tf.sequence_mask(lengths) with the "
            "padded tensor, or make the ragged tensor outside."
        )
    return found


def _whole(value: Tensor, ragged_rank: int, dtype: DType) -> Any:
    shape = value.aval.shape
    flat: Any = shaping.reshape(
        value, (int(np.prod(shape[: ragged_rank + 1])), *shape[ragged_rank + 1 :])
    )
    for axis in range(ragged_rank, 0, -1):
        flat = RaggedTensor.of(flat, uniform_rows(int(np.prod(shape[:axis])), shape[axis], dtype))
    return flat


def _of_lengths(value: Tensor, lengths: HostArray, ragged_rank: int, dtype: DType) -> Any:
    shape = value.aval.shape
    if lengths.ndim != ragged_rank:
        raise ValueError(f"`lengths` must have rank {ragged_rank}, got shape {lengths.shape}.")
    size = shape[ragged_rank]
    lengths = np.clip(lengths.reshape(-1), 0, size)
    rows = np.arange(len(lengths)).repeat(lengths)
    begins = np.cumsum(lengths) - lengths
    inside = np.arange(len(rows)) - begins[rows]
    whole: Any = _whole(value, ragged_rank, dtype)
    flat = take(whole.flat_values, rows * size + inside)
    found: Any = RaggedTensor.of(flat, of_lengths(lengths, dtype))
    for partition in reversed(whole.partitions[:-1]):
        found = RaggedTensor.of(found, partition)
    return found


def _of_nested_lengths(value: Tensor, lengths: Sequence[Any], dtype: DType) -> Any:
    """Cut the outermost dimension first; what is left of each row is cut on."""
    if value.ndim <= len(lengths):
        raise ValueError(
            f"The rank of the tensor ({value.ndim}) must be greater than the number of nested "
            f"lengths ({len(lengths)})."
        )
    hosts = [_host_lengths(part) for part in lengths]
    found: list[Any] = []
    rest: Any = value
    for part in hosts:
        level = _of_lengths(rest, part, 1, dtype)
        found.append(level.partition)
        rest = level.values
    for partition in reversed(found):
        rest = RaggedTensor.of(rest, partition)
    return rest


def _unpadded(value: Tensor, padding: Any, ragged_rank: int) -> HostArray:
    """The lengths of the rows without the padding at their ends."""
    array = known_array(value)
    if array is None:
        raise NotCompilableError(
            "RaggedTensor.from_tensor with `padding` looks at values, which are not known inside "
            "the function being traced. Make the ragged tensor outside and pass it."
        )
    pad = as_tensor(padding, value.dtype).view()
    if pad.shape != array.shape[ragged_rank + 1 :]:
        raise ValueError(
            f"Shapes {pad.shape} and {array.shape[ragged_rank + 1 :]} are incompatible: `padding` "
            "must have the shape of one value of a row."
        )
    same = array == pad
    same = same.reshape((*array.shape[: ragged_rank + 1], -1)).all(-1)
    size = array.shape[ragged_rank]
    last = size - np.argmax(~same[..., ::-1], -1) if size else np.zeros(same.shape[:-1], int)
    return np.where(same.all(-1), 0, last)


__all__ = ["from_tensor", "positions", "rank_of", "to_tensor"]
