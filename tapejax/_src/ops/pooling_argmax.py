"""Maximum pooling that also says where, and pooling of windows whose kind is an argument."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import as_dtype, int64
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, DTypeLike, Same, StaticInts, op
from tapejax._src.ops.pooling import fitted, pooled
from tapejax._src.ops.shape_checks import check_attr_dtype
from tapejax._src.ops.windows import Geometry, slices, spatial

_MAX_DTYPES = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"
_NODE = "MaxPoolWithArgmax"


class MaxPoolWithArgmax(NamedTuple):
    """What `tf.nn.max_pool_with_argmax` returns: the maxima and their flat indices."""

    output: Any
    argmax: Any


@op(
    "nn.max_pool_with_argmax",
    node=_NODE,
    dtypes=_MAX_DTYPES,
    cases=(
        'f32[2,4,4,2] distinct, 2, 2, "VALID"',
        'f64[2,5,4,2] distinct, [3, 2], [2, 1], "SAME", include_batch_in_index=True',
        'i32[1,4,4,1], 2, 2, "SAME", output_dtype=tf.int32',
        'f16[1,3,3,1] distinct, [1, 2, 2, 1], [1, 1, 1, 1], "VALID"',
    ),
)
def max_pool_with_argmax(
    input: Same,
    ksize: StaticInts,
    strides: StaticInts,
    padding: str,
    data_format: str = "NHWC",
    output_dtype: DTypeLike = int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> MaxPoolWithArgmax:
    """The largest element of each window, and its place in the flattened image.

    Args:
        input: `[batch, height, width, channels]`, any real dtype.
        ksize: Size of the window: 1, 2 or 4 numbers.
        strides: Distance between windows: 1, 2 or 4 numbers.
        padding: "SAME" or "VALID". Padding never wins.
        data_format: "NHWC".
        output_dtype: The dtype of the indices, `tf.int32` or `tf.int64`.
        include_batch_in_index: Whether an index counts through the whole batch,
            `((b * height + y) * width + x) * channels + c`, or starts again in each image.
        name: Ignored.

    Returns:
        `(output, argmax)`, both `[batch, rows, columns, channels]`. The first of equal elements
        counts, and has the gradient.

    Raises:
        InvalidArgumentError: No window fits, or `padding` or `output_dtype` is unknown.
        ValueError: `data_format` is not "NHWC", or the length of an argument is wrong.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant([[[[1.0], [3.0]], [[4.0], [2.0]]]])
        >>> y, places = tf.nn.max_pool_with_argmax(x, 2, 2, "VALID")
        >>> float(y[0, 0, 0, 0]), int(places[0, 0, 0, 0])
        (4.0, 2)

    *Differs from TensorFlow*: NaN in a window gives NaN.
    """
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other  than 'NHWC' are not supported. Received: {data_format=}"
        )
    dtype = np.dtype(as_dtype(output_dtype).as_numpy_dtype)
    check_attr_dtype(np.empty(0, dtype), "Targmax", ("int32", "int64"))
    if input.ndim != 4:
        raise InvalidArgumentError(f"tensor_in must be 4-dimensional: {input.shape} [Op:{_NODE}]")
    sizes = input.shape[1:3]
    geometry = Geometry(
        spatial(ksize, 2, False, "ksize", _NODE),
        spatial(strides, 2, False, "strides", _NODE),
        (1, 1),
        (),
    )
    geometry = fitted(geometry, sizes, padding, False, _NODE, explicit=False)
    return MaxPoolWithArgmax(*_largest(input, geometry, dtype, include_batch_in_index))


def _largest(
    x: Array, geometry: Geometry, dtype: np.dtype[Any], whole: bool
) -> tuple[Array, Array]:
    where = np.arange(np.prod(x.shape[1:]), dtype=np.int64).reshape(1, *x.shape[1:])
    if whole:
        where = where + where.size * np.arange(len(x), dtype=np.int64).reshape(-1, 1, 1, 1)
    lowest = -np.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.iinfo(x.dtype).min
    taps = slices(x, geometry, lowest)
    places = slices(jnp.asarray(where.astype(dtype)), geometry, -1)
    best, argmax = taps[0], jnp.broadcast_to(places[0], taps[0].shape)
    for tap, place in zip(taps[1:], places[1:], strict=True):
        # A place of -1 is padding: the first element inside replaces it whatever its value.
        new_nan = (tap != tap) & (best == best)
        better = ((tap > best) | new_nan | (argmax < 0)) & (place >= 0)
        best, argmax = jnp.where(better, tap, best), jnp.where(better, place, argmax)
    return best, argmax


@op(
    "nn.pool",
    node="MaxPool",
    dtypes="half bfloat16 float double int32 int64 uint8 int16 int8 uint16",
    cases=(
        'f32[2,6,3] distinct, [2], "MAX"',
        'f32[2,6,3], [2], "AVG", strides=[2], padding="SAME"',
        'f64[1,5,5,2], [2, 3], "AVG", dilations=[2, 1]',
        'f64[1,5,5,2] distinct, [2, 2], "MAX", dilations=[1, 2]',
        'f32[1,3,3,3,1] distinct, [2, 2, 1], "MAX", [1, 2, 1], "SAME"',
    ),
)
def pool(
    input: Same,
    window_shape: StaticInts,
    pooling_type: str,
    strides: StaticInts | None = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: StaticInts | None = None,
    name: str | None = None,
) -> Array:
    """Maximum or mean of each window, which may skip elements.

    Args:
        input: `[batch, *spatial, channels]` with 1, 2 or 3 spatial axes, or channels first.
        window_shape: The size of the window along each spatial axis.
        pooling_type: "MAX" or "AVG".
        strides: Distance between windows along each spatial axis; None means 1.
        padding: "SAME" or "VALID".
        data_format: "NWC", "NHWC", "NDHWC" or their "NC..." forms; None means channels last.
        dilations: Distance between the elements that a window meets; None means 1.
        name: Ignored.

    Returns:
        The rank and the dtype of `input`.

    Raises:
        ValueError: The rank of `input` or the length of an argument is wrong, `pooling_type` is
            unknown, or `dilations` are combined with strides or with "SAME".
        InvalidArgumentError: No window fits, or `padding` or `data_format` is unknown.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant([[[1.0], [3.0], [2.0], [0.0]]])
        >>> tf.nn.pool(x, [2], "MAX", dilations=[2]).numpy().tolist()
        [[[2.0], [3.0]]]
    """
    window = (window_shape,) if isinstance(window_shape, int) else tuple(window_shape)
    rank = len(window)
    if rank not in (1, 2, 3):
        raise ValueError(f"`window_shape` must have 1, 2 or 3 entries. Received: {window_shape}")
    if input.ndim != rank + 2:
        raise ValueError(
            f"Shape {input.shape} must have rank {rank + 2}: batch, one axis for each entry of "
            f"window_shape={list(window)}, channels"
        )
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"{rank}-D {pooling_type} pooling is not supported.")
    steps = _per_axis(strides, rank, "strides")
    rates = _per_axis(dilations, rank, "dilation_rate")
    _check_dilated(steps, rates, padding)
    kind = "Max" if pooling_type == "MAX" else "Avg"
    if kind == "Avg" and not jnp.issubdtype(input.dtype, jnp.floating):
        raise InvalidArgumentError(
            f"Value for attr 'T' of {input.dtype} is not in the list of allowed values: float, "
            "half, bfloat16, double [Op:AvgPool]"
        )
    return pooled(input, window, steps, padding, data_format, kind, rank, rates)


def _check_dilated(steps: tuple[int, ...], rates: tuple[int, ...], padding: Any) -> None:
    if max(rates) == 1:
        return
    if max(steps) > 1:
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={list(steps)} and dilation_rate={list(rates)}"
        )
    if padding == "SAME":
        raise ValueError(
            "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. "
            f"Received: padding={padding} and dilation_rate={list(rates)}"
        )


def _per_axis(value: Any, rank: int, name: str) -> tuple[int, ...]:
    if value is None:
        return (1,) * rank
    found = (value,) if isinstance(value, int) else tuple(value)
    if len(found) != rank:
        raise ValueError(
            f"`len({name})` should be {rank}, one for each spatial axis. "
            f"Received: {name}={list(found)} of length {len(found)}"
        )
    if any(number < 1 for number in found):
        raise ValueError(f"All values of `{name}` must be positive. Received: {list(found)}")
    return found
