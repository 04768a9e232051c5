"""Patches of volumes, and tensors stacked by several devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, op, public
from tapejax._src.ops.joining import stack
from tapejax._src.ops.pooling import fitted
from tapejax._src.ops.windows import Geometry, slices, spatial

_NODE = "ExtractVolumePatches"


def _five(value: Any, name: str) -> tuple[int, ...]:
    if isinstance(value, int) or value is None or len(value) != 5:
        raise InvalidArgumentError(
            f"{name} must have 5 entries, one for each axis: [1, planes, rows, columns, 1]. "
            f"Received: {name}={value} [Op:{_NODE}]"
        )
    return spatial(value, 3, False, name, _NODE)


@op(
    "extract_volume_patches",
    node=_NODE,
    dtypes="float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    cases=(
        'f32[1,2,4,3,2], [1, 2, 2, 2, 1], [1, 1, 2, 1, 1], "VALID"',
        'f64[2,3,3,3,1], [1, 2, 2, 1, 1], [1, 2, 1, 1, 1], "SAME"',
        'i32[1,2,2,2,1], [1, 1, 2, 2, 1], [1, 1, 1, 1, 1], "SAME"',
    ),
)
def extract_volume_patches(
    input: Same,
    ksizes: StaticInts,
    strides: StaticInts,
    padding: str,
    name: str | None = None,
) -> Array:
    """The elements under each window of a volume, side by side.

    Args:
        input: `[batch, planes, rows, columns, channels]`, any real dtype.
        ksizes: `[1, planes, rows, columns, 1]`, the size of the window.
        strides: `[1, planes, rows, columns, 1]`, the distance between windows.
        padding: "SAME" (filled up with zeros) or "VALID".
        name: Ignored.

    Returns:
        `[batch, p, r, c, n]`, the dtype of `input`: `n` elements for each window, the channels
        innermost.

    Raises:
        InvalidArgumentError: An argument has not five entries, or no window fits.

    Example:
        >>> import tapejax as tf
        >>> x = tf.reshape(tf.range(4.0), [1, 1, 1, 4, 1])
        >>> y = tf.extract_volume_patches(x, [1, 1, 1, 2, 1], [1, 1, 1, 2, 1], "VALID")
        >>> y.numpy().reshape(2, 2).tolist()
        [[0.0, 1.0], [2.0, 3.0]]
    """
    if input.ndim != 5:
        raise InvalidArgumentError(f"input must be 5-dimensional: {input.shape} [Op:{_NODE}]")
    geometry = Geometry(_five(ksizes, "ksizes"), _five(strides, "strides"), (1, 1, 1), ())
    geometry = fitted(geometry, input.shape[1:-1], padding, False, _NODE, explicit=False)
    return jnp.concatenate(slices(input, geometry), axis=-1)


@public("parallel_stack")
def parallel_stack(values: Sequence[Any], name: str = "parallel_stack") -> Any:
    """Stack tensors of one shape along a new first axis.

    Args:
        values: Tensors of one shape and dtype.
        name: Ignored.

    Returns:
        `[n, ...]`: the same as `tf.stack(values)`.

    Raises:
        InvalidArgumentError: If the shapes differ.

    Example:
        >>> import tapejax as tf
        >>> tf.parallel_stack([1.0, 2.0]).numpy().tolist()
        [1.0, 2.0]

    *Differs from TensorFlow*: it works in eager programs too.
    """
    del name
    return stack(values)
