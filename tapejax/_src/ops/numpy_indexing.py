"""`tf.experimental.numpy`: elements by their places."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.engine.convert import constant_tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops import selecting
from tapejax._src.ops.numpy_compute import compute
from tapejax._src.ops.numpy_shape import read_static, reshape
from tapejax._src.ops.numpy_types import array_of, promoted, to


@public("experimental.numpy.take")
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "clip") -> Any:
    """Elements by their indices.

    Args:
        a: Tensor, array or nested list.
        indices: Integers of any shape.
        axis: The axis. Default: of the elements in one row.
        out: Must be None.
        mode: What an index outside means: `'clip'`: the first or last element,
            `'wrap'`: counted around.

    Returns:
        A tensor of shape `a.shape[:axis] + indices.shape + a.shape[axis + 1:]`.

    Raises:
        ValueError: If `mode` is another one, or `out` is given.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.take([10, 20, 30], [0, 5]).numpy().tolist()
        [10, 30]
    """
    if out is not None:
        raise ValueError("out argument is not supported in take.")
    if mode not in ("clip", "wrap"):
        raise ValueError(f"The '{mode}' mode to take is not supported. Use 'clip' or 'wrap'.")
    rows = to(array_of(indices), np.int64)
    found = None if axis is None else int(axis)
    return compute("take", [array_of(a), rows], axis=found, mode=mode)


@public("experimental.numpy.take_along_axis")
def take_along_axis(arr: Any, indices: Any, axis: Any) -> Any:
    """Elements by their indices along an axis, such as those of `argsort`.

    Args:
        arr: The array.
        indices: Integers of the shape of `arr` but for this axis.
        axis: The axis; None: of the elements in one row.

    Returns:
        A tensor of the shape of `indices`.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.take_along_axis([[3, 1]], [[1, 0]], 1).numpy().tolist()
        [[1, 3]]
    """
    places = to(array_of(indices), np.int64)
    return compute("take_along_axis", [array_of(arr), places], axis=read_static(axis))


@public("experimental.numpy.where")
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of one array where a condition holds, of another elsewhere.

    Args:
        condition: Booleans.
        x: What is taken where it holds.
        y: What is taken elsewhere.

    Returns:
        A tensor of the common dtype; without `x` and `y` what `nonzero` gives.

    Raises:
        ValueError: If one of `x` and `y` is None.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.where([True, False], 1, 2.5).numpy().tolist()
        [1.0, 2.5]
    """
    holds = to(array_of(condition), bool)
    if x is None and y is None:
        return nonzero(holds)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    return selecting.where(holds, *promoted(x, y))


@public("experimental.numpy.nonzero")
def nonzero(a: Any) -> Any:
    """The indices of elements that are not zero.

    Args:
        a: Tensor, array or nested list.

    Returns:
        A list with the indices along each axis, int64.

    Example:
        >>> import tapejax as tf
        >>> [x.numpy().tolist() for x in tf.experimental.numpy.nonzero([0, 3, 4])]
        [[1, 2]]
    """
    x = compute("atleast_1d", [array_of(a)])
    places = selecting.where(to(x, bool))
    return [places[:, axis] for axis in range(len(x.shape))]


@public("experimental.numpy.compress")
def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """The places of an axis at which a condition holds.

    Args:
        condition: Booleans of rank 1.
        a: The array.
        axis: The axis. Default: of the elements in one row.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.compress([True, False, True], [4, 5, 6]).numpy().tolist()
        [4, 6]
    """
    places = nonzero(to(array_of(condition), bool))[0]
    return take(a, places, axis)


@public("experimental.numpy.select")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Elements of the first array whose condition holds.

    Args:
        condlist: Boolean arrays.
        choicelist: As many arrays.
        default: What is taken where none holds.

    Returns:
        A tensor of the common dtype.

    Raises:
        ValueError: If there are not as many conditions as choices.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.select([[True, False]], [[1, 2]], 9).numpy().tolist()
        [1, 9]
    """
    if len(condlist) != len(choicelist):
        raise ValueError(
            f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})"
        )
    if not len(condlist):
        raise ValueError("condlist must be non-empty")
    *choices, found = promoted(*choicelist, default)
    for condition, choice in zip(reversed(list(condlist)), reversed(choices), strict=True):
        found = selecting.where(to(array_of(condition), bool), choice, found)
    return found


@public("experimental.numpy.ix_")
def ix_(*args: Any) -> Any:
    """Index arrays for the grid of several rows of indices.

    Args:
        *args: Integers or booleans of rank 1.

    Returns:
        A list of tensors, each with its elements along its own axis.

    Raises:
        ValueError: If one is not of rank 1.

    Example:
        >>> import tapejax as tf
        >>> [x.shape for x in tf.experimental.numpy.ix_([0, 1], [2])]
        [TensorShape([2, 1]), TensorShape([1, 1])]
    """
    rows = [array_of(a) for a in args]
    for row in rows:
        if len(row.shape) != 1:
            raise ValueError(f"Arguments must be 1-d, got arg of shape {row.shape}.")
    rows = [nonzero(row)[0] if row.dtype.is_bool else row for row in rows]
    shapes = [[-1 if m == n else 1 for m in range(len(rows))] for n in range(len(rows))]
    return [reshape(row, shape) for row, shape in zip(rows, shapes, strict=True)]


@public("experimental.numpy.diag_indices")
def diag_indices(n: int, ndim: int = 2) -> Any:
    """The indices of the main diagonal.

    Args:
        n: The size of each axis.
        ndim: The number of axes.

    Returns:
        A tuple of int32 tensors, one for each axis.

    Raises:
        ValueError: If a size is negative.

    Example:
        >>> import tapejax as tf
        >>> [x.numpy().tolist() for x in tf.experimental.numpy.diag_indices(2)]
        [[0, 1], [0, 1]]
    """
    if n < 0 or ndim < 0:
        raise ValueError(f"n and ndim must not be negative. Received: n={n}, ndim={ndim}.")
    return (constant_tensor(np.arange(n, dtype=np.int32)),) * ndim


@public("experimental.numpy.repeat")
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Each element repeated.

    Args:
        a: Tensor, array or nested list.
        repeats: How often: one number, or one for each place of the axis.
        axis: The axis. Default: of the elements in one row.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.repeat([1, 2], [2, 1]).numpy().tolist()
        [1, 1, 2]
    """
    x = array_of(a)
    counts = np.asarray(read_static(repeats))
    size = np.prod(x.aval.shape) if axis is None else x.aval.shape[axis]
    places = np.repeat(np.arange(size), counts)
    return take(x, places, axis)


@public("experimental.numpy.diag")
def diag(v: Any, k: int = 0) -> Any:
    """A matrix with this diagonal, or the diagonal of a matrix.

    Args:
        v: Tensor, array or nested list.
        k: Which: 0 is the main one, greater ones lie above it.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.diag([1, 2]).numpy().tolist()
        [[1, 0], [0, 2]]
    """
    return compute("diag", [array_of(v)], k=int(k))


@public("experimental.numpy.diagflat")
def diagflat(v: Any, k: int = 0) -> Any:
    """A matrix with these elements as its diagonal.

    Args:
        v: Tensor, array or nested list.
        k: Which: 0 is the main one, greater ones lie above it.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.diagflat([[1, 2]]).numpy().tolist()
        [[1, 0], [0, 2]]
    """
    return compute("diagflat", [array_of(v)], k=int(k))


@public("experimental.numpy.diagonal")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of the plane of two axes.

    Args:
        a: Tensor, array or nested list.
        offset: Which: 0 is the main one, greater ones lie above it.
        axis1: The rows.
        axis2: The columns.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.diagonal([[1, 2], [3, 4]]).numpy().tolist()
        [1, 4]
    """
    return compute(
        "diagonal", [array_of(a)], offset=int(offset), axis1=int(axis1), axis2=int(axis2)
    )


@public("experimental.numpy.tril")
def tril(m: Any, k: int = 0) -> Any:
    """What is below a diagonal; zeros above it.

    Args:
        m: Tensor, array or nested list.
        k: Which: 0 is the main one, greater ones lie above it.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.tril([[1, 2], [3, 4]]).numpy().tolist()
        [[1, 0], [3, 4]]
    """
    return compute("tril", [array_of(m)], k=int(k))


@public("experimental.numpy.triu")
def triu(m: Any, k: int = 0) -> Any:
    """What is above a diagonal; zeros below it.

    Args:
        m: Tensor, array or nested list.
        k: Which: 0 is the main one, greater ones lie above it.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.triu([[1, 2], [3, 4]]).numpy().tolist()
        [[1, 2], [0, 4]]
    """
    return compute("triu", [array_of(m)], k=int(k))
