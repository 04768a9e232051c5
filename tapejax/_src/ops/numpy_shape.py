"""`tf.experimental.numpy`: shapes of arrays and the order of their axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapejax._src.core.shapes import TensorShape
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.registry import public
from tapejax._src.ops.numpy_compute import compute
from tapejax._src.ops.numpy_types import array_of


def read_static(value: Any) -> Any:
    """A static argument that may be a tensor."""
    return value.numpy() if isinstance(value, Tensor) else value


@public("experimental.numpy.shape")
def shape(a: Any) -> TensorShape:
    """The shape of an array.

    Args:
        a: Tensor, array or nested list.

    Returns:
        A `tf.TensorShape`.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.shape([[1, 2]])
        TensorShape([1, 2])
    """
    return array_of(a).shape


@public("experimental.numpy.ndim")
def ndim(a: Any) -> int:
    """The number of axes of an array.

    Args:
        a: Tensor, array or nested list.

    Returns:
        An integer.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.ndim([[1, 2]])
        2
    """
    return len(array_of(a).shape)


@public("experimental.numpy.size")
def size(x: Any, axis: Any = None) -> Any:
    """The number of elements of an array.

    Args:
        x: Tensor, array or nested list.
        axis: Must be None.

    Returns:
        A NumPy integer.

    Raises:
        NotImplementedError: If an axis is given.

    Example:
        >>> import tapejax as tf
        >>> int(tf.experimental.numpy.size([[1, 2]]))
        2
    """
    if axis is not None:
        raise NotImplementedError(
            "axis argument is not supported in the current `np.size` implementation; take it "
            "from the shape."
        )
    return np.int64(np.prod(array_of(x).aval.shape, dtype=np.int64))


@public("experimental.numpy.reshape")
def reshape(a: Any, newshape: Any, order: str = "C") -> Any:
    """The elements in another shape.

    Args:
        a: Tensor, array or nested list.
        newshape: An integer or a list of them; one may be -1.
        order: `'C'`: rows first, or `'F'`: columns first.

    Returns:
        A tensor of this shape.

    Raises:
        ValueError: If `order` is another one.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.reshape([1, 2, 3, 4], (2, -1)).numpy().tolist()
        [[1, 2], [3, 4]]
    """
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument `{order}`. Use 'C' or 'F'.")
    x = array_of(a)
    shape = read_static(newshape)
    return compute("reshape", [x], shape=shape, order=order)


@public("experimental.numpy.ravel")
def ravel(a: Any) -> Any:
    """The elements in one row.

    Args:
        a: Tensor, array or nested list.

    Returns:
        A tensor of rank 1.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.ravel([[1, 2], [3, 4]]).numpy().tolist()
        [1, 2, 3, 4]
    """
    return reshape(a, -1)


@public("experimental.numpy.flatten")
def flatten(a: Any, order: str = "C") -> Any:
    """The elements in one row.

    Args:
        a: Tensor, array or nested list.
        order: `'C'` or `'K'`: rows first, or `'F'`: columns first.

    Returns:
        A tensor of rank 1.

    Raises:
        ValueError: If `order` is another one.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.flatten([[1, 2], [3, 4]], 'F').numpy().tolist()
        [1, 3, 2, 4]
    """
    if order not in ("C", "K", "F"):
        raise ValueError(f"Unsupported order argument `{order}`. Use 'C', 'K' or 'F'.")
    return reshape(a, -1, "F" if order == "F" else "C")


@public("experimental.numpy.transpose")
def transpose(a: Any, axes: Any = None) -> Any:
    """The axes in another order.

    Args:
        a: Tensor, array or nested list.
        axes: The old number of each new axis. Default: the reverse order.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.transpose([[1, 2], [3, 4]]).numpy().tolist()
        [[1, 3], [2, 4]]
    """
    return compute("transpose", [array_of(a)], axes=read_static(axes))


@public("experimental.numpy.moveaxis")
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other places.

    Args:
        a: Tensor, array or nested list.
        source: The axes.
        destination: Where they go.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.moveaxis([[1, 2]], 0, 1).shape
        TensorShape([2, 1])
    """
    return compute(
        "moveaxis", [array_of(a)], source=read_static(source), destination=read_static(destination)
    )


@public("experimental.numpy.swapaxes")
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged.

    Args:
        a: Tensor, array or nested list.
        axis1: One of them.
        axis2: The other.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.swapaxes([[1, 2]], 0, 1).shape
        TensorShape([2, 1])
    """
    return compute("swapaxes", [array_of(a)], axis1=int(axis1), axis2=int(axis2))


@public("experimental.numpy.expand_dims")
def expand_dims(a: Any, axis: Any) -> Any:
    """A new axis of size 1.

    Args:
        a: Tensor, array or nested list.
        axis: Where.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.expand_dims([1, 2], 0).shape
        TensorShape([1, 2])
    """
    return compute("expand_dims", [array_of(a)], axis=read_static(axis))


@public("experimental.numpy.squeeze")
def squeeze(a: Any, axis: Any = None) -> Any:
    """Axes of size 1 taken out.

    Args:
        a: Tensor, array or nested list.
        axis: Which. Default: all.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.squeeze([[1, 2]]).shape
        TensorShape([2])
    """
    return compute("squeeze", [array_of(a)], axis=read_static(axis))


@public("experimental.numpy.broadcast_to")
def broadcast_to(array: Any, shape: Any) -> Any:
    """The elements repeated to a larger shape.

    Args:
        array: Tensor, array or nested list.
        shape: The shape.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.broadcast_to([1, 2], (2, 2)).numpy().tolist()
        [[1, 2], [1, 2]]
    """
    return compute("broadcast_to", [array_of(array)], shape=read_static(shape))


@public("experimental.numpy.tile")
def tile(a: Any, reps: Any) -> Any:
    """The array repeated along each axis.

    Args:
        a: Tensor, array or nested list.
        reps: How often, for each of the last axes.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.tile([1, 2], 2).numpy().tolist()
        [1, 2, 1, 2]
    """
    return compute("tile", [array_of(a)], reps=read_static(reps))


@public("experimental.numpy.roll")
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """The elements moved around, those at the end to the start.

    Args:
        a: Tensor, array or nested list.
        shift: How far, for each axis.
        axis: The axes. Default: of the elements in one row.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.roll([1, 2, 3], 1).numpy().tolist()
        [3, 1, 2]
    """
    return compute("roll", [array_of(a)], shift=read_static(shift), axis=read_static(axis))


@public("experimental.numpy.rot90")
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """The plane of two axes turned by 90 degrees.

    Args:
        m: Tensor, array or nested list.
        k: How often.
        axes: From the first towards the second.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.rot90([[1, 2], [3, 4]]).numpy().tolist()
        [[2, 4], [1, 3]]
    """
    return compute("rot90", [array_of(m)], k=int(k), axes=read_static(axes))


@public("experimental.numpy.flip")
def flip(m: Any, axis: Any = None) -> Any:
    """The elements in reverse order.

    Args:
        m: Tensor, array or nested list.
        axis: The axes. Default: all.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.flip([1, 2, 3]).numpy().tolist()
        [3, 2, 1]
    """
    return compute("flip", [array_of(m)], axis=read_static(axis))


@public("experimental.numpy.fliplr")
def fliplr(m: Any) -> Any:
    """The second axis in reverse order.

    Args:
        m: Tensor, array or nested list.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.fliplr([[1, 2]]).numpy().tolist()
        [[2, 1]]
    """
    return compute("fliplr", [array_of(m)])


@public("experimental.numpy.flipud")
def flipud(m: Any) -> Any:
    """The first axis in reverse order.

    Args:
        m: Tensor, array or nested list.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.flipud([[1], [2]]).numpy().tolist()
        [[2], [1]]
    """
    return compute("flipud", [array_of(m)])


@public("experimental.numpy.diff")
def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """Differences of neighbours.

    Args:
        a: Tensor, array or nested list.
        n: How often they are taken.
        axis: The axis.

    Returns:
        A tensor.

    Example:
        >>> import tapejax as tf
        >>> tf.experimental.numpy.diff([1, 3, 6]).numpy().tolist()
        [2, 3]
    """
    return compute("diff", [array_of(a)], n=int(n), axis=int(axis))
