"""The checks of `tf.debugging` that need no values: ranks, shapes, dtypes, kinds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tapejax._src.core import dtypes
from tapejax._src.core.dtypes import DType, as_dtype
from tapejax._src.core.indexed_slices import IndexedSlices
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import public


def _before(message: str | None) -> str:
    return f"{message}.  " if message else ""


def _as_is(value: Any) -> Any:
    """What has a shape and a dtype stays, anything else becomes a tensor."""
    return value if isinstance(value, (Tensor, Variable)) else as_tensor(value)


# ---------------------------------------------------------------------- ranks
def _static_rank(rank: Any) -> int:
    array = as_tensor(rank)
    if array.shape.rank:
        raise ValueError(f"Rank must be a scalar. Received: {rank!r}")
    if not array.dtype.is_integer:
        raise TypeError(f"tensor must be of type tf.int32; got {array.dtype!r}: the rank {rank!r}")
    return int(array)


def _raise_rank(tensor: Any, expected: str, message: str | None) -> None:
    raise ValueError(
        f"{_before(message)}Tensor  must have rank {expected}.  Received rank "
        f"{tensor.shape.rank}, shape {tensor.shape}"
    )


@public("debugging.assert_rank", "assert_rank")
def assert_rank(x: Any, rank: Any, message: str | None = None, name: str | None = None) -> None:
    """Check the number of dimensions.

    Args:
        x: A tensor.
        rank: The number required, a scalar.
        message: Text put before the error's.
        name: Accepted for compatibility.

    Raises:
        ValueError: If `x` has another.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.assert_rank(tf.ones([2, 3]), 2)
    """
    del name
    tensor, wanted = _as_is(x), _static_rank(rank)
    if tensor.shape.rank != wanted:
        _raise_rank(tensor, str(wanted), message)


@public("debugging.assert_rank_at_least")
def assert_rank_at_least(
    x: Any, rank: Any, message: str | None = None, name: str | None = None
) -> None:
    """Check that there are at least so many dimensions.

    Args:
        x: A tensor.
        rank: The smallest number allowed, a scalar.
        message: Text put before the error's.
        name: Accepted for compatibility.

    Raises:
        ValueError: If `x` has fewer.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.assert_rank_at_least(tf.ones([2, 3]), 1)
    """
    del name
    tensor, wanted = _as_is(x), _static_rank(rank)
    if tensor.shape.rank < wanted:
        _raise_rank(tensor, f"at least {wanted}", message)


@public("debugging.assert_rank_in")
def assert_rank_in(
    x: Any, ranks: Iterable[Any], message: str | None = None, name: str | None = None
) -> None:
    """Check that the number of dimensions is one of several.

    Args:
        x: A tensor.
        ranks: The numbers allowed.
        message: Text put before the error's.
        name: Accepted for compatibility.

    Raises:
        ValueError: If `x` has another.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.assert_rank_in(tf.ones([2, 3]), (2, 3))
    """
    del name
    tensor, wanted = _as_is(x), tuple(_static_rank(rank) for rank in ranks)
    if tensor.shape.rank not in wanted:
        _raise_rank(tensor, f"in {wanted}", message)


@public("debugging.assert_scalar")
def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Check that a tensor has no dimensions.

    Args:
        tensor: A tensor.
        message: Text put before the error's.
        name: Accepted for compatibility.

    Raises:
        ValueError: If it has.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.assert_scalar(tf.constant(3.0))
    """
    del name
    shape = _as_is(tensor).shape
    if shape.rank:
        raise ValueError(f"{_before(message)}Expected scalar shape, saw shape: {shape}.")


# ---------------------------------------------------------------------- shapes
@public("debugging.assert_shapes")
def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Check the shapes of several tensors, and that sizes of one name are the same in all.

    Args:
        shapes: Pairs (tensor, shape), or a dict of them. A shape is a sequence of sizes: a number,
            a name (`"N"`: the same size wherever it stands), None or `"."` (any size). `"..."` or
            `"*"` at the front stands for any number of dimensions. `()` also allows one dimension,
            and so does a shape of one entry allow none.
        data: Accepted for compatibility.
        summarize: Accepted for compatibility.
        message: Text put before the error's.
        name: Accepted for compatibility.

    Raises:
        ValueError: If a shape does not fit or is not one.

    Example:
        >>> import tapejax as tf
        >>> x, y = tf.ones([8, 3]), tf.ones([8])
        >>> tf.debugging.assert_shapes([(x, ("N", 3)), (y, ("N",))])
    """
    del data, summarize, name
    pairs: list[tuple[Any, Any]] = list(shapes.items() if isinstance(shapes, Mapping) else shapes)
    known: dict[Any, tuple[int, Any, int]] = {}
    for value, shape in pairs:
        _check_shape(_as_is(value), shape, message, known)


def _check_shape(
    tensor: Any, shape: Any, message: str | None, known: dict[Any, tuple[int, Any, int]]
) -> None:
    if not (hasattr(shape, "__iter__") or hasattr(shape, "__getitem__")):
        raise ValueError(
            f"{_before(message)}{_spelled(tensor)}.  Specified shape must be an iterable.  An "
            "iterable has the attribute `__iter__` or `__getitem__`.  Received specified shape: "
            f"{shape!r}"
        )
    sizes = list(shape)
    is_open = bool(sizes) and _is_open(sizes[0])
    sizes = sizes[is_open:]
    for place, size in enumerate(sizes, int(is_open)):
        if _is_open(size):
            raise ValueError(
                f"{_before(message)}{_spelled(tensor)} specified shape index {place}.  Symbol "
                "`...` or `*` for a variable number of unspecified dimensions is only allowed as "
                "the first entry"
            )
    if is_open:
        assert_rank_at_least(tensor, len(sizes), message)
    elif len(sizes) <= 1:
        assert_rank_in(tensor, (0, 1), message)
    else:
        assert_rank(tensor, len(sizes), message)
    rank = tensor.shape.rank
    if not is_open and len(sizes) != rank:
        # A scalar counts as a vector of one element, and such a vector as a scalar.
        sizes = sizes if sizes else [1]
        _check_sizes(tensor, [1] if not rank else list(tensor.shape), 0, sizes, message, known)
    else:
        start = rank - len(sizes)
        shown = -len(sizes) if is_open else 0
        _check_sizes(tensor, list(tensor.shape)[start:], shown, sizes, message, known)


def _check_sizes(
    tensor: Any,
    actual: Sequence[int],
    start: int,
    sizes: Sequence[Any],
    message: str | None,
    known: dict[Any, tuple[int, Any, int]],
) -> None:
    for place, (size, found) in enumerate(zip(sizes, actual, strict=True), start):
        if size is None or size == ".":
            continue
        if isinstance(size, (int, float, np.number, Tensor)):
            wanted, origin = int(size), "Specified explicitly"
        else:
            wanted, first, there = known.setdefault(size, (found, tensor, place))
            origin = f"Specified by tensor {_short(first)} dimension {there}"
        if wanted != found:
            raise ValueError(
                f"{_before(message)}{origin}.  {_spelled(tensor)} dimension {place} must have "
                f"size {wanted}.  Received size {found}, shape {tensor.shape}"
            )


def _is_open(size: Any) -> bool:
    return size is Ellipsis or (isinstance(size, str) and size in ("...", "*"))


def _short(tensor: Any) -> str:
    return f"shape={tensor.shape} dtype={tensor.dtype.name}"


def _spelled(tensor: Any) -> str:
    return f"Tensor {_short(tensor)}"


# ---------------------------------------------------------------------- dtypes and kinds
@public("debugging.assert_type")
def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """Check the dtype.

    Args:
        tensor: A tensor.
        tf_type: The dtype required.
        message: Text put before the error's.
        name: Accepted for compatibility.

    Raises:
        TypeError: If it has another.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.assert_type(tf.constant(1), tf.int32)
    """
    del name
    wanted, found = as_dtype(tf_type), _as_is(tensor).dtype
    if found != wanted:
        raise TypeError(f"{_before(message)}tensor must be of type {wanted!r}; got {found!r}")


@public("debugging.assert_integer")
def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Check that a tensor holds integers.

    Args:
        x: A tensor.
        message: Text put before the error's.
        name: Accepted for compatibility.

    Raises:
        TypeError: If it does not.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.assert_integer(tf.constant(1))
    """
    del name
    dtype = _as_is(x).dtype
    if not dtype.is_integer:
        raise TypeError(
            f'{_before(message)}Expected "x" to be integer type.  Found: tensor of dtype {dtype!s}'
        )


@public("debugging.assert_same_float_dtype")
def assert_same_float_dtype(tensors: Iterable[Any] | None = None, dtype: Any = None) -> DType:
    """Check that tensors have one float dtype.

    Args:
        tensors: Tensors; None among them is left out.
        dtype: The dtype required; by default that of the first tensor.

    Returns:
        The dtype; float32 where there is nothing to go by.

    Raises:
        ValueError: If dtypes differ, or are not float.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(2.0)])
        tf.float32
    """
    wanted = None if dtype is None else as_dtype(dtype)
    first: Any = None
    for tensor in tensors or ():
        if tensor is None:
            continue
        if wanted is None:
            wanted, first = tensor.dtype, tensor
        elif tensor.dtype != wanted:
            as_what = "" if first is None else f" as {first!s}"
            raise ValueError(
                f"{tensor!s}, type={tensor.dtype!s}, must be of the same type "
                f"({wanted!s}){as_what}."
            )
    wanted = dtypes.float32 if wanted is None else wanted
    if not wanted.is_floating:
        raise ValueError(f"Expected floating point type, got {wanted!s}.")
    return wanted


@public("debugging.assert_proper_iterable")
def assert_proper_iterable(values: Any) -> None:
    """Check for a list, tuple, dict or the like: iterable, and not a tensor, array or text.

    Args:
        values: What to check.

    Raises:
        TypeError: If it is not.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.assert_proper_iterable([tf.constant(1.0)])
    """
    if isinstance(values, (Tensor, IndexedSlices, np.ndarray, str, bytes)):
        kind = 'a "proper" iterable'
    elif not hasattr(values, "__iter__"):
        kind = "iterable"
    else:
        return
    raise TypeError(f'Expected argument "values" to be {kind}.  Found: {type(values)}')


@public("debugging.is_numeric_tensor")
def is_numeric_tensor(tensor: Any) -> bool:
    """Whether this is a tensor of numbers.

    Args:
        tensor: Anything.

    Returns:
        True for a `tf.Tensor` of integers, floats or complex numbers; False for a variable.

    Example:
        >>> import tapejax as tf
        >>> tf.debugging.is_numeric_tensor(tf.constant(1.0)), tf.debugging.is_numeric_tensor(1.0)
        (True, False)
    """
    if not isinstance(tensor, Tensor):
        return False
    return tensor.dtype.is_integer or tensor.dtype.is_floating or tensor.dtype.is_complex
