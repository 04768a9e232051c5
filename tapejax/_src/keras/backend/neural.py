"""`tf.keras.backend`: activations, convolutions, pooling, padding, normalization."""

from __future__ import annotations

from typing import Any

from tapejax._src.core.tensor import Tensor
from tapejax._src.keras.backend import arrays, mathematics
from tapejax._src.keras.backend.settings import image_data_format
from tapejax._src.keras.backend.values import int_shape, ndim, seeded
from tapejax._src.keras.bridge.guest import load
from tapejax._src.ops import (
    activation,
    clipping,
    comparison,
    elementwise,
    joining,
    normalization,
    permuting,
    reduction,
    selecting,
    shaping,
)
from tapejax._src.ops import (
    softmax as softmaxes,
)
from tapejax._src.ops.casting import cast
from tapejax._src.ops.dropout import dropout as tensor_dropout
from tapejax._src.ops.transposed_convolution import conv2d_transpose as transposed


def _format(data_format: str | None) -> str:
    chosen = data_format or image_data_format()
    if chosen not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {chosen}")
    return chosen


# ---------------------------------------------------------------------------------- activations
def relu(x: Any, alpha: Any = 0.0, max_value: Any = None, threshold: Any = 0.0) -> Tensor:
    """Each element above a threshold, up to a largest value; `alpha * (x - threshold)` below it.

    Args:
        x: A tensor.
        alpha: The slope below the threshold.
        max_value: The largest value, or None.
        threshold: Where the function begins.
    """
    if not threshold:
        found = activation.relu(x) if not alpha else activation.leaky_relu(x, alpha)
    else:
        above = comparison.greater(x, threshold)
        found = selecting.where(above, x, alpha * (x - threshold))
    if max_value is not None:
        found = mathematics.minimum(found, cast(max_value, found.dtype))
    return found


def elu(x: Any, alpha: float = 1.0) -> Tensor:
    """`x` where positive, else `alpha * (exp(x) - 1)`."""
    found = activation.elu(x)
    return (
        found if alpha == 1 else selecting.where(comparison.greater(x, 0.0), found, alpha * found)
    )


def hard_sigmoid(x: Any) -> Tensor:
    """`0.2 * x + 0.5` between 0 and 1, Keras 2's own."""
    return clipping.clip_by_value(x * 0.2 + 0.5, 0.0, 1.0)


def sigmoid(x: Any) -> Tensor:
    """The logistic function of each element."""
    return elementwise.sigmoid(x)


def tanh(x: Any) -> Tensor:
    """The hyperbolic tangent of each element."""
    return elementwise.tanh(x)


def softplus(x: Any) -> Tensor:
    """`log(1 + exp(x))` of each element."""
    return elementwise.softplus(x)


def softsign(x: Any) -> Tensor:
    """`x / (1 + |x|)` of each element."""
    return elementwise.softsign(x)


def softmax(x: Any, axis: Any = -1) -> Tensor:
    """Exponentials divided by their sum along one axis or several.

    Raises:
        ValueError: If there is one dimension only.
    """
    if ndim(x) <= 1:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    if isinstance(axis, int):
        return softmaxes.softmax(x, axis=axis)
    powers = elementwise.exp(x - reduction.reduce_max(x, axis, True))
    return powers / reduction.reduce_sum(powers, axis, True)


def dropout(x: Any, level: Any, noise_shape: Any = None, seed: int | None = None) -> Tensor:
    """Some elements set to zero at random, the others scaled up."""
    return tensor_dropout(x, rate=level, noise_shape=noise_shape, seed=seeded(seed))


# --------------------------------------------------------------------------------- convolutions
def conv1d(
    x: Any,
    kernel: Any,
    strides: int = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int = 1,
) -> Tensor:
    """Convolution of sequences.

    Args:
        x: `[batch, steps, channels]`.
        kernel: `[width, channels, filters]`.
        strides: How far the kernel moves.
        padding: "valid", "same" or "causal".
        data_format: "channels_last" or "channels_first".
        dilation_rate: Distance of the elements of the kernel.
    """
    chosen = _format(data_format)
    if padding == "causal":
        before = dilation_rate * (int(kernel.shape[0]) - 1)
        steps = 2 if chosen == "channels_first" else 1
        x = joining.pad(x, [[before, 0] if axis == steps else [0, 0] for axis in range(3)])
        padding = "valid"
    return _convolved(x, kernel, strides, padding, chosen, dilation_rate)


def conv2d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Convolution of images; see `conv1d`."""
    return _convolved(x, kernel, strides, padding, _format(data_format), dilation_rate)


def conv3d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1, 1),
) -> Tensor:
    """Convolution of volumes; see `conv1d`."""
    return _convolved(x, kernel, strides, padding, _format(data_format), dilation_rate)


def _convolved(x: Any, kernel: Any, strides: Any, padding: str, form: str, dilation: Any) -> Tensor:
    return load().ops.conv(x, kernel, _plain(strides), _padding(padding), form, _plain(dilation))


def _plain(sizes: Any) -> Any:
    return sizes if isinstance(sizes, int) else tuple([int(n) for n in sizes])


def _padding(padding: str) -> str:
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding


def conv2d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """The transpose of the convolution that `conv2d` does, for images of `output_shape`.

    Args:
        x: Images.
        kernel: `[height, width, filters, channels]`.
        output_shape: The shape of the result.
        strides: How far the kernel moves.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        dilation_rate: Distance of the elements of the kernel.

    Raises:
        ValueError: If no output of the strides has this shape.
    """
    form = _format(data_format)
    first = form == "channels_first"
    batch = int_shape(x)
    sizes = [batch[0] if n is None and batch else n for n in output_shape]
    return transposed(
        x,
        kernel,
        [int(n) for n in sizes if n is not None],
        list(strides),
        _padding(padding).upper(),
        "NCHW" if first else "NHWC",
        list(dilation_rate),
    )


def depthwise_conv2d(
    x: Any,
    depthwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Convolution of each channel by itself; see `conv1d`."""
    return load().ops.depthwise_conv(
        x,
        depthwise_kernel,
        _plain(strides),
        _padding(padding),
        _format(data_format),
        _plain(dilation_rate),
    )


def separable_conv2d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Tensor:
    """Convolution of each channel by itself, then across channels; see `conv1d`."""
    each = depthwise_conv2d(x, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return _convolved(each, pointwise_kernel, 1, "valid", _format(data_format), 1)


def local_conv1d(
    inputs: Any, kernel: Any, kernel_size: Any, strides: Any, data_format: str | None = None
) -> Tensor:
    """Convolution with a kernel of its own at each place.

    Args:
        inputs: `[batch, steps, channels]`.
        kernel: `[places, width * channels, filters]`.
        kernel_size: `(width,)`.
        strides: `(stride,)`.
        data_format: "channels_last" or "channels_first".
    """
    shape = (int(kernel.shape[0]),)
    return _local(inputs, kernel, kernel_size, strides, shape, _format(data_format))


def local_conv2d(
    inputs: Any,
    kernel: Any,
    kernel_size: Any,
    strides: Any,
    output_shape: Any,
    data_format: str | None = None,
) -> Tensor:
    """Convolution with a kernel of its own at each place; see `local_conv1d`."""
    return _local(inputs, kernel, kernel_size, strides, output_shape, _format(data_format))


def _local(x: Any, kernel: Any, sizes: Any, strides: Any, places: Any, form: str) -> Tensor:
    first = form == "channels_first"
    count = len(sizes)
    parts: list[Any] = []
    for place in range(int(kernel.shape[0])):
        cut: list[Any] = [slice(None), slice(None)]
        number = place
        for axis in reversed(range(count)):
            number, at = divmod(number, int(places[axis]))
            start = at * strides[axis]
            cut.insert(2 if first else 1, slice(start, start + sizes[axis]))
        parts.append(shaping.reshape(x[tuple(cut)], [-1, kernel.shape[1]]))
    outs = arrays.batch_dot(joining.stack(parts), kernel, axes=(2, 1))  # [places, batch, filters]
    batch, filters = int(outs.shape[1]), int(outs.shape[2])
    order = [1, 2, 0] if first else [1, 0, 2]
    shape = [batch, filters, *places] if first else [batch, *places, filters]
    return shaping.reshape(permuting.transpose(outs, order), shape)


# --------------------------------------------------------------------------- pooling and padding
def pool2d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """The largest element, or the mean, of each window of images.

    Args:
        x: Images.
        pool_size: Height and width of the window.
        strides: How far it moves.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first".
        pool_mode: "max" or "avg".

    Raises:
        ValueError: If an argument is none of these.
    """
    return _pooled(x, pool_size, strides, padding, _format(data_format), pool_mode, 2)


def pool3d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:
    """The largest element, or the mean, of each window of volumes; see `pool2d`."""
    return _pooled(x, pool_size, strides, padding, _format(data_format), pool_mode, 3)


def _pooled(
    x: Any, size: Any, strides: Any, padding: str, form: str, mode: str, count: int
) -> Tensor:
    for name, given in (("pool_size", size), ("strides", strides)):
        if len(given) != count:
            raise ValueError(f"`{name}` must be a tuple of {count} integers. Received: {given}")
    ops = load().ops
    pools = {"max": ops.max_pool, "avg": ops.average_pool}
    if mode not in pools:
        raise ValueError(f"Invalid pooling mode: {mode}")
    return pools[mode](x, _plain(size), _plain(strides), _padding(padding), form)


def spatial_2d_padding(
    x: Any, padding: Any = ((1, 1), (1, 1)), data_format: str | None = None
) -> Tensor:
    """Images with zeros around them."""
    return _padded(x, padding, _format(data_format), 2)


def spatial_3d_padding(
    x: Any, padding: Any = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None
) -> Tensor:
    """Volumes with zeros around them."""
    return _padded(x, padding, _format(data_format), 3)


def _padded(x: Any, padding: Any, form: str, count: int) -> Tensor:
    if len(padding) != count or [pair for pair in padding if len(pair) != 2]:
        raise ValueError(
            f"Expected `padding` to be a tuple of {count} tuples of 2 integers. Received: "
            f"padding={padding}"
        )
    inner = [list(pair) for pair in padding]
    none = [0, 0]
    first = form == "channels_first"
    return joining.pad(x, [none, none, *inner] if first else [none, *inner, none])


# -------------------------------------------------------------------------------- normalization
def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Tensor:
    """A bias for each channel, or for each place and channel, added.

    Raises:
        ValueError: If the bias has another number of dimensions.
    """
    first = _format(data_format) == "channels_first"
    if ndim(bias) not in (1, ndim(x) - 1):
        raise ValueError(
            f"Unexpected bias dimensions {ndim(bias)}. Expected it to be 1 or {ndim(x) - 1} "
            "dimensions"
        )
    sizes = [int(size) for size in bias.shape]
    if not first or ndim(x) == 2:
        return x + shaping.reshape(bias, [1] * (ndim(x) - len(sizes)) + sizes)
    if len(sizes) == 1:
        return x + shaping.reshape(bias, [1, *sizes, *[1] * (ndim(x) - 2)])
    return x + shaping.reshape(bias, [1, sizes[-1], *sizes[:-1]])


def batch_normalization(
    x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3
) -> Tensor:
    """Normalized by a given mean and variance, then scaled and moved."""
    del axis  # Keras 2 takes it and broadcasts along the last axis
    return normalization.batch_normalization(x, mean, var, beta, gamma, epsilon)
