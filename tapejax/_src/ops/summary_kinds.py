"""What `tf.summary` writes: scalars, histograms, images, texts and sounds.

References:
    https://www.tensorflow.org/api_docs/python/tf/summary
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import float32, float64, string, uint8
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recording import record
from tapejax._src.engine.registry import public
from tapejax._src.ops import casting, image_colors
from tapejax._src.ops.event_messages import SummaryMetadata
from tapejax._src.ops.image_formats import write_png
from tapejax._src.ops.summary_writer import summary_scope, write, write_encoded
from tapejax._src.ops.wav import encode_wav

_WAV = b"\x10\x0b"
"""A serialized `AudioPluginData` whose encoding is WAV."""


def _metadata(plugin: str, description: str | None, content: bytes = b"") -> Any:
    made = SummaryMetadata()
    made.plugin_data.plugin_name = plugin
    if content:
        made.plugin_data.content = content
    if description is not None:
        made.summary_description = description
    return made


def _check_rank(tensor: Tensor, rank: int, what: str) -> None:
    if len(tensor.shape) != rank:
        raise ValueError(
            f"Tensor must have rank {rank}.  Received rank {len(tensor.shape)}, shape "
            f"{tuple(tensor.shape)}: {what}."
        )


@public("summary.scalar")
def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Write a number, such as a loss, for TensorBoard's curves.

    Args:
        name: Its name; name scopes around are put before it.
        data: A real scalar; it is written as float32.
        step: The step. Default: the writer's or `tf.summary.experimental.get_step()`.
        description: A text in Markdown that TensorBoard shows beside it.

    Returns:
        Whether it was recorded: a bool tensor; False if there is no default writer.

    Raises:
        ValueError: If `data` is not a scalar, or there is no step.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.summary.scalar("loss", 0.25, step=1))  # there is no writer
        False
    """
    with summary_scope(name, "scalar_summary") as (tag, _):
        value = as_tensor(data)
        if len(value.shape):
            raise ValueError(
                f"Expected scalar shape, saw shape: {tuple(value.shape)}. Reduce it, for instance "
                "by tf.reduce_mean, or write a histogram."
            )
        return write(tag, casting.cast(value, float32), step, _metadata("scalars", description))


@public("summary.histogram")
def histogram(
    name: str, data: Any, step: Any = None, buckets: int | None = None, description: Any = None
) -> Any:
    """Write how values are distributed.

    Args:
        name: Its name; name scopes around are put before it.
        data: A real tensor of any shape.
        step: The step. Default: the writer's or `tf.summary.experimental.get_step()`.
        buckets: How many intervals of equal width between the least and the greatest value.
            Default: 30.
        description: A text in Markdown that TensorBoard shows beside it.

    Returns:
        Whether it was recorded: a bool tensor; False if there is no default writer.

    Raises:
        ValueError: If there is no step, or `buckets` is negative.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.summary.histogram("weights", tf.zeros([4, 3]), step=1))  # there is no writer
        False
    """
    count = 30 if buckets is None else int(buckets)
    if count < 0:
        raise ValueError(f"buckets must not be negative. Received: buckets={count}.")

    def rows() -> Tensor:
        values = casting.cast(as_tensor(data), float64)
        return record(_histogram_kernel(count), [values])

    with summary_scope(name, "histogram_summary") as (tag, _):
        return write(tag, rows, step, _metadata("histograms", description))


_KERNELS: dict[int, Kernel] = {}


def _histogram_kernel(count: int) -> Kernel:
    found = _KERNELS.get(count)
    if found is None:
        found = Kernel("Histogram", lambda values: _histogram(values, count), gradient="none")
        _KERNELS[count] = found
    return found


def _histogram(values: jax.Array, count: int) -> jax.Array:
    """Rows of left edge, right edge and number of values: float64 `[count, 3]`."""
    values = values.ravel()
    if not count or not values.size:
        return jnp.zeros((count, 3), jnp.float64)
    least, greatest = values.min(), values.max()
    width = (greatest - least) / count
    places = jnp.floor((values - least) / jnp.where(width > 0, width, 1.0))
    places = jnp.where(width > 0, jnp.clip(places, 0, count - 1), count - 1).astype(jnp.int32)
    numbers = jnp.zeros(count, jnp.float64).at[places].add(1.0)
    edges = jnp.linspace(least, greatest, count + 1, dtype=jnp.float64)
    return jnp.stack([edges[:-1], edges[1:], numbers], axis=1)


@public("summary.image")
def image(
    name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None
) -> Any:
    """Write images.

    Args:
        name: Their name; name scopes around are put before it.
        data: `[count, height, width, channels]` with 1 to 4 channels: floats in [0, 1] (what is
            outside is clipped) or uint8.
        step: The step. Default: the writer's or `tf.summary.experimental.get_step()`.
        max_outputs: How many of them are written at most.
        description: A text in Markdown that TensorBoard shows beside them.

    Returns:
        Whether they were recorded: a bool tensor; False if there is no default writer.

    Raises:
        ValueError: If `data` is not of rank 4, or there is no step.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.summary.image("samples", tf.zeros([2, 8, 8, 3]), step=1))  # no writer
        False
    """

    def pixels() -> Tensor:
        images = as_tensor(data)
        _check_rank(images, 4, "the axes of images are [count, height, width, channels]")
        if images.shape[3] not in (1, 2, 3, 4):
            raise InvalidArgumentError(
                f"image must have 1, 2, 3, or 4 channels, got {images.shape[3]} [Op:EncodePng]"
            )
        return image_colors.convert_image_dtype(images[: _count(max_outputs)], uint8, saturate=True)

    with summary_scope(name, "image_summary") as (tag, _):
        return write_encoded(tag, pixels, _png_files, step, _metadata("images", description))


def _count(max_outputs: Any) -> int:
    if int(max_outputs) < 0:
        raise ValueError(f"max_outputs must not be negative. Received: {max_outputs}.")
    return int(max_outputs)


def _png_files(pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Width and height as texts, then a file for each image."""
    _, height, width, _ = pixels.shape
    made = [str(width).encode(), str(height).encode()]
    made += [write_png(image, -1) for image in pixels]
    files = np.empty(len(made), object)
    files[:] = made
    return files


@public("summary.text")
def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Any:
    """Write texts in Markdown; a matrix of them is shown as a table.

    Args:
        name: Their name; name scopes around are put before it.
        data: Strings of any shape.
        step: The step. Default: the writer's or `tf.summary.experimental.get_step()`.
        description: A text in Markdown that TensorBoard shows beside them.

    Returns:
        Whether they were recorded: a bool tensor; False if there is no default writer.

    Raises:
        TypeError: If `data` is not of strings.
        ValueError: If there is no step.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.summary.text("settings", "lr = 0.1", step=0))  # there is no writer
        False
    """
    with summary_scope(name, "text_summary") as (tag, _):
        value = as_tensor(data)
        if value.dtype != string:
            raise TypeError(f"tensor must be of type tf.string; got {value.dtype!r}")
        return write(tag, value, step, _metadata("text", description))


@public("summary.audio")
def audio(
    name: str,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Any:
    """Write sounds.

    Args:
        name: Their name; name scopes around are put before it.
        data: float32 `[count, samples, channels]` in [-1, 1]; what is outside is clipped.
        sample_rate: Samples in a second.
        step: The step. Default: the writer's or `tf.summary.experimental.get_step()`.
        max_outputs: How many of them are written at most.
        encoding: `'wav'`, the only one and the default.
        description: A text in Markdown that TensorBoard shows beside them.

    Returns:
        Whether they were recorded: a bool tensor; False if there is no default writer.

    Raises:
        ValueError: If the rank is not 3, the encoding is not known, or there is no step.

    Example:
        >>> import tapejax as tf
        >>> bool(tf.summary.audio("tone", tf.zeros([1, 800, 1]), 8000, step=1))  # no writer
        False
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}. Known is 'wav'.")

    def sounds() -> Tensor:
        waves = as_tensor(data, float32)
        _check_rank(waves, 3, "the axes of sounds are [count, samples, channels]")
        return waves[: _count(max_outputs)]

    def files(waves: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        made = np.full((len(waves), 2), b"", object)  # the second column is for labels
        for place, wave in enumerate(waves):
            made[place, 0] = encode_wav(wave, sample_rate).numpy()
        return made

    with summary_scope(name, "audio_summary") as (tag, _):
        return write_encoded(tag, sounds, files, step, _metadata("audio", description, _WAV))
