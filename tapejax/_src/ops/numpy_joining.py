"""`tf.experimental.numpy`: arrays put together and taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.numpy_compute import compute, compute_list
from tapejax._src.ops.numpy_shape import read_static
from tapejax._src.ops.numpy_types import array_of, promoted


def _arrays(values: Any) -> list[Tensor]:
    """A list of arrays, or the rows of one, in their common dtype."""
    if isinstance(values, (list, tuple)):
        items: Sequence[Any] = values
        return promoted(*items)
    tensor = array_of(values)
    return [tensor[row] for row in range(len(tensor))]


@public("experimental.numpy.atleast_1d")
def atleast_1d(*arys: Any) -> Any:
    """The arguments with at least 1 axes.

    Args:
        *arys: Tensors, arrays or nested lists.

    Returns:
        A tensor for one argument, else a list of them.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.atleast_1d(3).shape
        TensorShape([1])
    """
    found = [compute("atleast_1d", [array_of(a)]) for a in arys]
    return found[0] if len(found) == 1 else found


@public("experimental.numpy.atleast_2d")
def atleast_2d(*arys: Any) -> Any:
    """The arguments with at least 2 axes.

    Args:
        *arys: Tensors, arrays or nested lists.

    Returns:
        A tensor for one argument, else a list of them.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.atleast_2d([3]).shape
        TensorShape([1, 1])
    """
    found = [compute("atleast_2d", [array_of(a)]) for a in arys]
    return found[0] if len(found) == 1 else found


@public("experimental.numpy.atleast_3d")
def atleast_3d(*arys: Any) -> Any:
    """The arguments with at least 3 axes.

    Args:
        *arys: Tensors, arrays or nested lists.

    Returns:
        A tensor for one argument, else a list of them.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.atleast_3d([3]).shape
        TensorShape([1, 1, 1])
    """
    found = [compute("atleast_3d", [array_of(a)]) for a in arys]
    return found[0] if len(found) == 1 else found


@public("experimental.numpy.concatenate")
def concatenate(arys: Any, axis: Any = 0) -> Any:
    """Arrays one after the other.

    Args:
        arys: Arrays of equal shapes but for this axis.
        axis: The axis; None joins the elements of all.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.concatenate([[1], [2.5]]).numpy().tolist()
        [1.0, 2.5]
    """
    return compute_list("concatenate", _arrays(arys), axis=read_static(axis))


@public("experimental.numpy.append")
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """An array and another one after it.

    Args:
        arr: The first.
        values: The other.
        axis: The axis. Default: of the elements in one row.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.append([1], [2, 3]).numpy().tolist()
        [1, 2, 3]
    """
    return compute("append", promoted(arr, values), axis=read_static(axis))


@public("experimental.numpy.stack")
def stack(arrays: Any, axis: Any = 0) -> Any:
    """Arrays of one shape along a new axis.

    Args:
        arrays: The arrays.
        axis: Where the new axis is.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.stack([[1, 2], [3, 4]], 1).numpy().tolist()
        [[1, 3], [2, 4]]
    """
    return compute_list("stack", _arrays(arrays), axis=read_static(axis))


@public("experimental.numpy.hstack")
def hstack(tup: Any) -> Any:
    """Arrays put together along the second axis (of rows: the first).

    Args:
        tup: The arrays.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.hstack([[1, 2], [3]]).numpy().tolist()
        [1, 2, 3]
    """
    return compute_list("hstack", _arrays(tup))


@public("experimental.numpy.vstack")
def vstack(tup: Any) -> Any:
    """Arrays put together along the first axis, rows being of rank 2.

    Args:
        tup: The arrays.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.vstack([[1, 2], [3, 4]]).numpy().tolist()
        [[1, 2], [3, 4]]
    """
    return compute_list("vstack", _arrays(tup))


@public("experimental.numpy.dstack")
def dstack(tup: Any) -> Any:
    """Arrays put together along the third axis.

    Args:
        tup: The arrays.

    Returns:
        A tensor of the common dtype.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.dstack([[1, 2], [3, 4]]).numpy().tolist()
        [[[1, 3], [2, 4]]]
    """
    return compute_list("dstack", _arrays(tup))


@public("experimental.numpy.split")
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """An array in parts.

    Args:
        ary: The array.
        indices_or_sections: The number of equal parts, or where parts begin.
        axis: The axis.

    Returns:
        A list of tensors.

    Raises:
        ValueError: If there are no equal parts.

    Example:
        >>> import tapejax as tf
        >>> [x.numpy().tolist() for x in tf.experimental.numpy.split([1, 2, 3], [1])]
        [[1], [2, 3]]
    """
    x = array_of(ary)
    sections = read_static(indices_or_sections)
    if not np.ndim(sections) and x.aval.shape[axis] % int(sections):
        raise ValueError(
            f"array split does not result in an equal division: {sections} parts of "
            f"{x.aval.shape[axis]}."
        )
    return compute("split", [x], indices_or_sections=sections, axis=int(axis))


@public("experimental.numpy.hsplit")
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    """An array in parts along axis 1.

    Args:
        ary: The array.
        indices_or_sections: The number of equal parts, or where parts begin.

    Returns:
        A list of tensors.

    Example:
        >>> import tapejax as tf
        >>> [x.numpy().tolist() for x in tf.experimental.numpy.hsplit([[1, 2]], 2)]
        [[[1]], [[2]]]
    """
    x = array_of(ary)
    return split(x, indices_or_sections, 0 if len(x.shape) == 1 else 1)


@public("experimental.numpy.vsplit")
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    """An array in parts along axis 0.

    Args:
        ary: The array.
        indices_or_sections: The number of equal parts, or where parts begin.

    Returns:
        A list of tensors.

    Example:
        >>> import tapejax as tf
        >>> [x.numpy().tolist() for x in tf.experimental.numpy.vsplit([[1], [2]], 2)]
        [[[1]], [[2]]]
    """
    return split(ary, indices_or_sections, 0)


@public("experimental.numpy.dsplit")
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    """An array in parts along axis 2.

    Args:
        ary: The array.
        indices_or_sections: The number of equal parts, or where parts begin.

    Returns:
        A list of tensors.

    Example:
        >>> import tapejax as tf
        >>> [x.numpy().tolist() for x in tf.experimental.numpy.dsplit([[[1, 2]]], 2)]
        [[[[1]]], [[[2]]]]
    """
    return split(ary, indices_or_sections, 2)


@public("experimental.numpy.broadcast_arrays")
def broadcast_arrays(*args: Any, **kwargs: Any) -> Any:
    """Arrays repeated to one common shape.

    Args:
        *args: The arrays.
        **kwargs: `subok`, ignored.

    Returns:
        A list of tensors, each of its own dtype.

    Raises:
        ValueError: If another argument is given.

    Example:
        >>> import tapejax as tf
        >>> [x.shape for x in tf.experimental.numpy.broadcast_arrays([1], [[1], [2]])]
        [TensorShape([2, 1]), TensorShape([2, 1])]
    """
    unknown = sorted(set(kwargs) - {"subok"})
    if unknown:
        raise ValueError(f"Received unsupported arguments {unknown}.")
    return compute("broadcast_arrays", [array_of(a) for a in args])


@public("experimental.numpy.meshgrid")
def meshgrid(*xi: Any, **kwargs: Any) -> Any:
    """Coordinates of a grid.

    Args:
        *xi: The coordinates along each axis, of rank 1.
        **kwargs: `indexing`: `'xy'` (the default) or `'ij'`; `sparse` and `copy` only
            with their defaults.

    Returns:
        A list of tensors, one for each coordinate.

    Raises:
        ValueError: If a sparse grid is asked for.

    Example:
        >>> import tapejax as tf
        >>> [x.numpy().tolist() for x in tf.experimental.numpy.meshgrid([1, 2], [3])]
        [[[1, 2]], [[3, 3]]]
    """
    if kwargs.get("sparse", False) or not kwargs.get("copy", True):
        raise ValueError("meshgrid doesn't support sparse=True or copy=False.")
    indexing = kwargs.get("indexing", "xy")
    return compute("meshgrid", [array_of(x) for x in xi], indexing=indexing)


@public("experimental.numpy.pad")
def pad(array: Any, pad_width: Any, mode: Any, **kwargs: Any) -> Any:
    """An array with borders.

    Args:
        array: The array.
        pad_width: How many elements before and after, for each axis, or for all.
        mode: `'constant'`, `'reflect'`, `'symmetric'`, `'edge'`, or another one of
            `jax.numpy.pad`.
        **kwargs: `constant_values`: what is put in, by default 0.

    Returns:
        A tensor.

    Raises:
        ValueError: If `mode` is a function.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.pad([1, 2], ((1, 1),), 'constant').numpy().tolist()
        [0, 1, 2, 0]
    """
    if callable(mode):
        raise ValueError("Unsupported padding mode: a function. Use one of NumPy's names.")
    return compute("pad", [array_of(array)], pad_width=read_static(pad_width), mode=mode, **kwargs)
