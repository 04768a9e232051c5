"""`tensor[...]`, `tf.slice`, `tf.strided_slice`, and the update behind `variable[...].assign`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import int64
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor, static_ints
from tapejax._src.engine.registry import (
    Array,
    Index,
    SameList,
    StaticInts,
    TensorLike,
    ValueCheck,
    op,
    public,
)
from tapejax._src.ops.casting import cast
from tapejax._src.ops.index_keys import (
    NEW,
    WHOLE,
    Entry,
    IndexKey,
    canonicalise_index,
    is_mask,
    strided_entries,
)
from tapejax._src.ops.selecting import boolean_mask
from tapejax._src.ops.shape_checks import brackets

_DYNAMIC = ("window", "take")
_CHECKED = ("take", True)


def _old_entries(key: IndexKey) -> list[Entry]:
    """The entries that stand for a dimension of the tensor."""
    return [entry for entry in key if entry != NEW]


def _starts(
    key: IndexKey, shape: tuple[int, ...], dynamic: tuple[Array, ...]
) -> tuple[list[Any], list[int]]:
    """Where the block that holds the elements begins in each dimension, and its sizes."""
    values = iter(dynamic)
    starts: list[Any] = []
    sizes: list[int] = []
    for entry, size in zip(_old_entries(key), shape, strict=True):
        if entry[0] in _DYNAMIC:
            start = next(values).astype(jnp.int64)
            if entry == _CHECKED:
                start = jnp.where(start < 0, start + size, start)
            starts.append(start)
            sizes.append(entry[1] if entry[0] == "window" else 1)
        else:
            starts.append(0)
            sizes.append(size)
    return starts, sizes


def _result_shape(key: IndexKey, sizes: list[int]) -> tuple[int, ...]:
    """The shape after single elements are dropped and new dimensions inserted."""
    found: list[int] = []
    kept = iter(sizes)
    for entry in key:
        if entry == NEW:
            found.append(1)
            continue
        size = next(kept)
        if entry[0] not in ("at", "take"):
            found.append(size)
    return tuple(found)


def _static_block(x: Array, entries: list[Entry]) -> Array:
    """The elements named by the `At` and `Part` entries; the rank stays."""
    starts, limits, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    backwards: list[int] = []
    for place, entry in enumerate(entries):
        if entry[0] == "at":
            starts[place], limits[place] = entry[1], entry[1] + 1
        elif entry[0] == "part":
            _, start, size, step = entry
            last = start + (size - 1) * step
            starts[place] = min(start, last) if size else 0
            limits[place] = max(start, last) + 1 if size else 0
            steps[place] = abs(step)
            if step < 0:
                backwards.append(place)
    if (starts, limits, steps) != ([0] * x.ndim, list(x.shape), [1] * x.ndim):
        x = jax.lax.slice(x, starts, limits, steps)
    return jax.lax.rev(x, backwards) if backwards else x


def take_index(x: Array, key: IndexKey, dynamic: tuple[Array, ...]) -> Array:
    """The elements of an array that a key and its dynamic integers name."""
    entries = _old_entries(key)
    if dynamic:
        starts, sizes = _starts(key, x.shape, dynamic)
        x = jax.lax.dynamic_slice(x, [jnp.asarray(s, jnp.int64) for s in starts], sizes)
    x = _static_block(x, entries)
    return jnp.reshape(x, _result_shape(key, list(x.shape)))


def _out_of_range(x: Array, key: IndexKey, dynamic: tuple[Array, ...]) -> tuple[Any, ...]:
    """Whether a checked index is outside its dimension; the first one, and its dimension."""
    if _CHECKED not in key:
        return False, 0, 0
    failed, index, dim = jnp.asarray(False), jnp.zeros((), jnp.int64), jnp.asarray(0)
    values = iter(dynamic)
    for place, entry in enumerate(_old_entries(key)):
        if entry[0] not in _DYNAMIC:
            continue
        value = next(values).astype(jnp.int64)
        if entry == _CHECKED:
            size = x.shape[place]
            value = jnp.where(value < 0, value + size, value)
            here = ((value < 0) | (value >= size)) & ~failed
            failed, index = failed | here, jnp.where(here, value, index)
            dim = jnp.where(here, place, dim)
    return failed, index, dim


def _range_text(index: float, dim: float, *_: float) -> str:
    return f"slice index {int(index)} of dimension {int(dim)} out of bounds."


def _bad_element(input: Array, key: IndexKey, dynamic: tuple[Array, ...]) -> tuple[Any, ...]:
    return _out_of_range(input, key, dynamic)


def _bad_update(
    input: Array, value: Array, key: IndexKey, dynamic: tuple[Array, ...]
) -> tuple[Any, ...]:
    return _out_of_range(input, key, dynamic)


@op(
    "_getitem",
    node="StridedSlice",
    check=ValueCheck(_bad_element, _range_text),
    cases=(
        "f32[3,4], (('at', 1), ('part', 3, 2, -2)), []",
        "i32[3,4], (('new',), ('whole',), ('part', 0, 0, 1)), []",
        "f64[3,4], (('take', True), ('window', 2)), [i32[] in (-3, 3), i32[] in (0, 3)]",
        "c64[5], (('part', 1, 2, 3),), []",
    ),
)
def getitem_op(input: TensorLike, key: IndexKey, dynamic: SameList) -> Array:
    """The elements that a canonical index names (see `canonicalise_index`)."""
    return take_index(input, key, dynamic)


@op(
    "_setitem",
    node="ResourceStridedSliceAssign",
    check=ValueCheck(_bad_update, _range_text),
    cases=(
        "f32[3,4], f32[2], (('at', 1), ('part', 3, 2, -2)), []",
        "f64[3,4], f64[], (('part', 2, 2, -1), ('whole',)), []",
        "f64[3,4], f64[2], (('take', True), ('window', 2)), [i32[] in (-3, 3), i32[] in (0, 3)]",
        "i32[5], i32[1], (('part', 1, 2, 3),), []",
    ),
)
def setitem_op(input: TensorLike, value: TensorLike, key: IndexKey, dynamic: SameList) -> Array:
    """The tensor with the elements that a canonical index names replaced by a value."""
    entries = _old_entries(key)
    starts, sizes = _starts(key, input.shape, dynamic)
    block = [_length(entry, size) for entry, size in zip(entries, sizes, strict=True)]
    shape = _result_shape(key, block)
    if value.ndim > len(shape) and value.size == 1:
        value = jnp.reshape(value, ())
    tail = shape[len(shape) - value.ndim :]
    pairs = zip(value.shape, tail, strict=True) if value.ndim <= len(shape) else [(0, 1)]
    if any(old not in (1, new) for old, new in pairs):
        raise InvalidArgumentError(
            f"Cannot broadcast input shape {brackets(value.shape)} into final shape "
            f"{brackets(shape)}"
        )
    value = jnp.reshape(jnp.broadcast_to(value, shape), block)
    steps = [entry[3] if entry[0] == "part" else 1 for entry in entries]
    if any(abs(step) != 1 for step in steps):
        return _scattered(input, value, entries, starts)
    backwards = [place for place, step in enumerate(steps) if step < 0]
    value = jax.lax.rev(value, backwards) if backwards else value
    corner = [
        start if entry[0] in _DYNAMIC else _lowest(entry)
        for entry, start in zip(entries, starts, strict=True)
    ]
    return jax.lax.dynamic_update_slice(input, value, [jnp.asarray(c, jnp.int64) for c in corner])


def _length(entry: Entry, size: int) -> int:
    """How many elements of a dimension an entry names."""
    return {"part": entry[2] if entry[0] == "part" else 0, "at": 1}.get(entry[0], size)


def _lowest(entry: Entry) -> int:
    """The lowest index that a static entry names."""
    if entry[0] == "part":
        return min(entry[1], entry[1] + (entry[2] - 1) * entry[3]) if entry[2] else 0
    return entry[1] if entry[0] == "at" else 0


def _scattered(x: Array, value: Array, entries: list[Entry], starts: list[Any]) -> Array:
    """The update for elements that are not neighbours."""
    lists: list[Any] = []
    for entry, start, size in zip(entries, starts, value.shape, strict=True):
        step = entry[3] if entry[0] == "part" else 1
        first = entry[1] if entry[0] in ("part", "at") else start
        lists.append(first + step * jnp.arange(size))
    places = jnp.meshgrid(*lists, indexing="ij")
    return x.at[tuple(places)].set(value, mode="drop", unique_indices=True)


def _one_dtype(dynamic: list[Any]) -> list[Any]:
    """The dynamic integers in one dtype, as the members of a list must be."""
    if len({getattr(index, "dtype", None) for index in dynamic}) < 2:
        return dynamic
    return [cast(index, int64) for index in dynamic]


def getitem(tensor: Any, spec: Any, dynamic_starts: bool = False) -> Any:
    """`tensor[spec]` for a tensor or variable.

    Args:
        tensor: A tensor or variable of any dtype.
        spec: What stands between the brackets.
        dynamic_starts: See `canonicalise_index`.

    Returns:
        A tensor.

    Raises:
        TypeError: If an index is of a type that cannot index.
        ValueError: If a mask does not fit.
        InvalidArgumentError: If an index is out of range or there are too many.
    """
    if is_mask(spec):
        return boolean_mask(tensor, spec)
    key, dynamic = canonicalise_index(spec, tuple(tensor.shape), dynamic_starts)
    return getitem_op(tensor, key, _one_dtype(dynamic))


def updated(tensor: Any, spec: Any, value: Any, dynamic_starts: bool = False) -> Any:
    """A tensor equal to `tensor` except that its elements `[spec]` are `value` (broadcast).

    Args:
        tensor: A tensor or variable of any dtype.
        spec: What stands between the brackets of `variable[spec].assign(value)`.
        value: A tensor of the same dtype.
        dynamic_starts: See `canonicalise_index`.

    Returns:
        A tensor of the shape of `tensor`.

    Raises:
        TypeError: If an index is of a type that cannot index.
        InvalidArgumentError: If an index is out of range, or `value` does not fit the elements.
    """
    key, dynamic = canonicalise_index(spec, tuple(tensor.shape), dynamic_starts)
    converted = as_tensor(value, tensor.dtype)
    return setitem_op(tensor, converted, key, _one_dtype(dynamic))


def _bad_begin(input: Array, begin: Array, size: StaticInts) -> tuple[Any, ...]:
    limits = jnp.asarray([n - taken for n, taken in zip(input.shape, size, strict=True)], jnp.int64)
    wide = begin.astype(jnp.int64)
    bad = (wide < 0) | (wide > limits)
    if not begin.size:
        return jnp.asarray(False), 0, 0, 0, 0, 0
    dim = jnp.argmax(bad)
    sizes = jnp.asarray(input.shape, jnp.int64)
    return bad.any(), dim, wide[dim], sizes[dim], limits[dim], jnp.asarray(size, jnp.int64)[dim]


def _begin_text(*details: float) -> str:
    dim, begin, length, _, size = (int(detail) for detail in details[:5])
    if not 0 <= begin <= length:
        return f"Expected begin[{dim}] in [0, {length}], but got {begin}"
    return f"Expected size[{dim}] in [0, {length - begin}], but got {size}"


@op(
    "_slice",
    node="Slice",
    check=ValueCheck(_bad_begin, _begin_text),
    cases=("f32[3,4], i32[2] in (0, 2), [2, 2]", "i32[3], i64[1] in (0, 2), [1]"),
)
def _slice(input: TensorLike, begin: Index, size: StaticInts) -> Array:
    """A block of a given size from a dynamic corner."""
    return jax.lax.dynamic_slice(input, [begin[d] for d in range(input.ndim)], size)


def _check_block(shape: tuple[int, ...], begin: Any, size: Any) -> list[Entry]:
    entries: list[Entry] = []
    for dim, (length, first, taken) in enumerate(zip(shape, begin, size, strict=True)):
        if not 0 <= first <= length:
            raise InvalidArgumentError(f"Expected begin[{dim}] in [0, {length}], but got {first}")
        count = length - first if taken == -1 else taken
        if not 0 <= count <= length - first:
            raise InvalidArgumentError(
                f"Expected size[{dim}] in [0, {length - first}], but got {taken}"
            )
        entries.append(WHOLE if count == length else ("part", first, count, 1))
    return entries


@public("slice")
def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """A block of neighbouring elements.

    Args:
        input_: A tensor of any dtype, `rank` dimensions.
        begin: `[rank]` int32 or int64: the corner. Given as a tensor, it may change from step to
            step at no cost.
        size: `[rank]` integers: the size of the block; -1: all that is left.
        name: Ignored.

    Returns:
        A tensor of shape `size`.

    Raises:
        InvalidArgumentError: If the block does not lie inside the tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1]).numpy().tolist()
        [[2, 3], [5, 6]]
    """
    value = as_tensor(input_)
    sizes, shape = static_ints(size), value.aval.shape
    rank = len(shape)
    begins = begin.shape if isinstance(begin, (Tensor, Variable)) else np.shape(begin)
    if tuple(begins) != (rank,) or np.shape(sizes) != (rank,):
        raise InvalidArgumentError(
            f"Expected begin and size arguments to be 1-D tensors of size {rank}, but got shapes "
            f"{brackets(begins)} and {brackets(np.shape(sizes))} instead."
        )
    inside = all(0 <= taken <= length for taken, length in zip(sizes, shape, strict=True))
    if isinstance(begin, (Tensor, Variable)) and inside:
        return _slice(value, begin, sizes)
    return getitem_op(value, tuple(_check_block(shape, static_ints(begin), sizes)), [])


@public("strided_slice")
def strided_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: str | None = None,
) -> Any:
    """`input_[begin[0]:end[0]:strides[0], ...]` with bit masks for what numbers cannot say.

    Args:
        input_: A tensor of any dtype.
        begin: Integers: where each slice starts.
        end: Integers: before which index each slice ends.
        strides: Integers, not 0. Default: ones.
        begin_mask: In bit `i`: `begin[i]` is left out (`:end`).
        end_mask: In bit `i`: `end[i]` is left out (`begin:`).
        ellipsis_mask: In bit `i`: entry `i` is `...`.
        new_axis_mask: In bit `i`: entry `i` is `tf.newaxis`.
        shrink_axis_mask: In bit `i`: entry `i` is the single index `begin[i]`.
        var: Ignored: write `variable[...].assign(value)`.
        name: Ignored.

    Returns:
        A tensor of the same dtype.

    Raises:
        InvalidArgumentError: If the lists have different lengths or an index is out of range.

    Example:
        >>> import tapejax as tf
        >>> tf.strided_slice([1, 2, 3, 4], [0], [4], [2]).numpy().tolist()
        [1, 3]
    """
    value = as_tensor(input_)
    first, last = static_ints(begin), static_ints(end)
    step = (1,) * len(first) if strides is None and np.ndim(first) == 1 else static_ints(strides)
    shapes = [np.shape(ints) for ints in (first, last, step)]
    if len(shapes[0]) != 1 or shapes.count(shapes[0]) != 3:
        texts = [brackets(shape) for shape in shapes]
        raise InvalidArgumentError(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{texts[0]}, {texts[1]}, and {texts[2]} instead."
        )
    masks = {
        "begin": begin_mask,
        "end": end_mask,
        "ellipsis": ellipsis_mask,
        "new_axis": new_axis_mask,
        "shrink_axis": shrink_axis_mask,
    }
    spec = strided_entries(first, last, step, masks)
    key, _ = canonicalise_index(spec, value.aval.shape)
    return getitem_op(value, key, [])
