"""Spectra of frames: the short-time Fourier transform, `mdct`, and mel filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import DType, as_dtype, float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, known_value, static_ints, static_tensor
from tapejax._src.engine.registry import Array, DTypeLike, Same, StaticInts, op, public
from tapejax._src.ops.arithmetic import multiply
from tapejax._src.ops.cosine_transforms import frames_of_mdct, mdct_of_frames
from tapejax._src.ops.fourier_real import as_complex, as_real, given_lengths, irfft_over, rfft_over
from tapejax._src.ops.framing import frame, overlap_and_add, resized
from tapejax._src.ops.signal_windows import hann_window, vorbis_window

WindowFn = Callable[..., Any]


def _length(name: str, value: Any) -> int:
    length = static_ints(value)
    if not isinstance(length, int):
        raise ValueError(f"`{name}` must have rank 0. Received: {value}")
    if length < 1:
        raise InvalidArgumentError(f"`{name}` must be at least 1. Received: {length}")
    return length


def _fft_length(value: Any, frame_length: int) -> tuple[int, ...]:
    if value is None:
        return (1 << (frame_length - 1).bit_length(),)
    return given_lengths((_length("fft_length", value),), 1)


def _with_rank(x: Any, rank: int) -> Tensor:
    tensor = as_tensor(x)
    if len(tensor.shape) < rank:
        raise ValueError(f"Shape {tensor.shape} must have rank at least {rank}")
    return tensor


def _windowed(frames: Any, window_fn: WindowFn | None, length: int, dtype: DType) -> Any:
    """Frames times what `window_fn` makes; like TensorFlow it gets the length as a tensor."""
    if window_fn is None:
        return frames
    return multiply(frames, window_fn(static_tensor(np.int32(length)), dtype=dtype))


@op("_cut_or_padded", node="Pad", cases=("f64[2,4], 3", "f64[3], 5"))
def _cut_or_padded(x: Same, size: StaticInts) -> Array:
    """`x` cut or padded with zeros at the end of its last axis."""
    return resized(x, size)


@public("signal.stft")
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: WindowFn | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Any:
    """Short-time Fourier transform: the spectra of frames of a signal.

    Args:
        signals: Real signals `[..., samples]`, float32 or float64.
        frame_length: The length of a frame in samples.
        frame_step: The distance between the starts of two frames in samples.
        fft_length: The length of each transform; None takes the smallest power of 2 that is not
            below `frame_length`.
        window_fn: A function of a length and `dtype=` that makes the weights of a frame; None
            weighs all samples alike.
        pad_end: Whether there are also frames that end behind the signal, on zeros.
        name: Ignored.

    Returns:
        Complex numbers `[..., frames, fft_length // 2 + 1]`.

    Raises:
        ValueError: A scalar signal, another dtype, or an argument that is no scalar.
        tf.errors.InvalidArgumentError: A length or step below 1.

    Example:
        >>> import tapejax as tf
        >>> tf.signal.stft(tf.zeros([10]), frame_length=4, frame_step=2).shape
        TensorShape([4, 3])

    *Differs from TensorFlow*: a signal shorter than a frame gives no frames instead of an error.
    """
    signals = _with_rank(signals, 1)
    length = _length("frame_length", frame_length)
    lengths = _fft_length(fft_length, length)
    frames = frame(signals, length, _length("frame_step", frame_step), pad_end=pad_end)
    frames = _windowed(frames, window_fn, length, frames.dtype)
    return rfft_over(as_real(frames), lengths, (-1,))


@public("signal.inverse_stft")
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: WindowFn | None = hann_window,
    name: str | None = None,
) -> Any:
    """Signals from their short-time Fourier transforms.

    The result is the original signal (but for its ends) if `window_fn` is made by
    `tf.signal.inverse_stft_window_fn` from the window of the transform.

    Args:
        stfts: Complex numbers `[..., frames, fft_length // 2 + 1]`.
        frame_length: The length of a frame in samples.
        frame_step: The distance between the starts of two frames in samples.
        fft_length: The length of each transform; None takes the smallest power of 2 that is not
            below `frame_length`.
        window_fn: A function of a length and `dtype=` that makes the weights of a frame; None
            weighs all samples alike.
        name: Ignored.

    Returns:
        Real signals `[..., frame_length + frame_step * (frames - 1)]`.

    Raises:
        ValueError: The rank is below 2, numbers that are not complex, or an argument that is no
            scalar.
        tf.errors.InvalidArgumentError: A length or step below 1.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant([0.0, 0.0, 2.0, 3.0, 2.0, 1.0, 0.0, 0.0])
        >>> spectra = tf.signal.stft(x, 4, 2)
        >>> window_fn = tf.signal.inverse_stft_window_fn(2)
        >>> print(tf.signal.inverse_stft(spectra, 4, 2, window_fn=window_fn).numpy())
        [0. 0. 2. 3. 2. 1. 0. 0.]
    """
    stfts = _with_rank(stfts, 2)
    length = _length("frame_length", frame_length)
    step = _length("frame_step", frame_step)
    frames = irfft_over(as_complex(stfts), _fft_length(fft_length, length), (-1,))
    frames = _cut_or_padded(frames, length)
    return overlap_and_add(_windowed(frames, window_fn, length, frames.dtype), step)


@op("_dual_window", node="RealDiv", cases=("f64[6] in (0.5, 1), 2", "f64[5] in (0.5, 1), 3"))
def _dual_window(window: Same, frame_step: StaticInts) -> Array:
    """A window over the sum of the squares of all windows that lie over the same sample."""
    length = window.shape[-1]
    overlaps = -(-length // frame_step)
    squares = resized(window * window, overlaps * frame_step).reshape((overlaps, frame_step))
    total = jnp.tile(jnp.sum(squares, axis=0), overlaps)[:length]
    zero = total == 0
    quotient = window / jnp.where(zero, jnp.ones_like(total), total)
    return jnp.where(zero, jnp.zeros_like(window), quotient)


@public("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: WindowFn = hann_window, name: str | None = None
) -> WindowFn:
    """The `window_fn` with which `tf.signal.inverse_stft` undoes `tf.signal.stft`.

    Args:
        frame_step: The distance between the starts of two frames in samples.
        forward_window_fn: The window of the transform.
        name: Ignored.

    Returns:
        A function of a length and a dtype: the window divided by the sum of the squares of all
        those that overlap at a sample.

    Raises:
        ValueError: `frame_step` is no scalar.
        tf.errors.InvalidArgumentError: `frame_step` is below 1.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.inverse_stft_window_fn(2)(4, tf.float32).numpy())
        [0. 1. 1. 1.]
    """

    def inverse_window_fn(frame_length: Any, dtype: Any) -> Any:
        step = _length("frame_step", frame_step)
        length = _length("frame_length", frame_length)
        window = forward_window_fn(static_tensor(np.int32(length)), dtype=dtype)
        return _dual_window(window, step)

    return inverse_window_fn


@public("signal.mdct")
def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: WindowFn | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Modified cosine transform: frames that overlap by half, each with half as many bins.

    Args:
        signals: Real signals `[..., samples]`, float32 or float64.
        frame_length: The length of a frame in samples, a multiple of 4.
        window_fn: A function of a length and `dtype=` that makes the weights of a frame; None
            weighs all samples by `sqrt(1/2)`.
        pad_end: Whether there are also frames that end behind the signal, on zeros.
        norm: None, or "ortho" for an orthonormal transform.
        name: Ignored.

    Returns:
        The transforms `[..., frames, frame_length // 2]`, in the dtype of `signals`.

    Raises:
        ValueError: A scalar signal, another `norm`, or a `frame_length` that is no multiple of 4.

    Example:
        >>> import tapejax as tf
        >>> tf.signal.mdct(tf.zeros([16]), 8).shape
        TensorShape([3, 4])
    """
    signals = _with_rank(signals, 1)
    length = _length("frame_length", frame_length)
    if length % 4:
        raise ValueError(f"The frame length must be a multiple of 4. Received: {length}")
    frames = frame(signals, length, length // 2, pad_end=pad_end)
    if window_fn is None:
        frames = multiply(frames, 1 / np.sqrt(2))
    return mdct_of_frames(_windowed(frames, window_fn, length, frames.dtype), norm)


@public("signal.inverse_mdct")
def inverse_mdct(
    mdcts: Any,
    window_fn: WindowFn | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Signals from their modified cosine transforms.

    Args:
        mdcts: Real transforms `[..., frames, bins]`, float32 or float64.
        window_fn: The window of the transform.
        norm: The `norm` of the transform.
        name: Ignored.

    Returns:
        The signals `[..., bins * (frames + 1)]`, equal to the original ones but for half a frame
        at both ends.

    Raises:
        ValueError: The rank is below 2, or another `norm`.
        tf.errors.InvalidArgumentError: An odd number of bins.

    Example:
        >>> import tapejax as tf
        >>> x = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
        >>> print(tf.signal.inverse_mdct(tf.signal.mdct(x, 4)).numpy().round(3)[2:-2])
        [3. 4. 5. 6.]
    """
    mdcts = _with_rank(mdcts, 2)
    frames = frames_of_mdct(mdcts, norm)
    length = int(frames.shape[-1])
    if window_fn is None:
        frames = multiply(frames, 1 / np.sqrt(2))
    return overlap_and_add(_windowed(frames, window_fn, length, frames.dtype), length // 2)


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log1p(np.asarray(hertz, np.float64) / 700.0)


def _check_mel(bins: int, rate: float, low: float, high: float, dtype: DType) -> None:
    if bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if low < 0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {low}")
    if low >= high:
        raise ValueError(f"lower_edge_hertz {low:.1f} >= upper_edge_hertz {high:.1f}")
    if rate <= 0:
        raise ValueError(f"sample_rate must be positive. Got: {rate}")
    if high > rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
            f"Got {high} for sample_rate: {rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype!r}")


@op(
    "_mel_weights",
    node="Pad",
    gradient="none",
    cases=("3, 5, 8000.0, 125.0, 3800.0, tf.float64",),
)
def _mel_weights(
    bands: int, bins: StaticInts, rate: float, low: float, high: float, dtype: DTypeLike
) -> Array:
    """The triangles of `linear_to_mel_weight_matrix`, computed in double precision."""
    frequencies = _mel(np.linspace(0.0, rate / 2, bins))[:, None]
    edges = np.linspace(_mel(low), _mel(high), bands + 2)
    rising = (frequencies - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequencies) / (edges[2:] - edges[1:-1])
    weights = np.maximum(0, np.minimum(rising, falling))
    weights[:1] = 0
    return jnp.asarray(weights.astype(dtype))


@public("signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: Any = 125.0,
    upper_edge_hertz: Any = 3800.0,
    dtype: Any = float32,
    name: str | None = None,
) -> Any:
    """Matrix that turns spectrograms with linear frequencies into mel spectrograms.

    Each band is a triangle of height 1 on the mel scale `1127 * log(1 + hertz / 700)`; the bin of
    frequency 0 belongs to none, as in HTK.

    Args:
        num_mel_bins: The number of bands.
        num_spectrogram_bins: The number of linear bins, from 0 to `sample_rate / 2` hertz.
        sample_rate: Samples per second.
        lower_edge_hertz: Where the lowest band starts, in hertz.
        upper_edge_hertz: Where the highest band ends, in hertz.
        dtype: A floating dtype.
        name: Ignored.

    Returns:
        The weights `[num_spectrogram_bins, num_mel_bins]`, to multiply spectrograms with from the
        right.

    Raises:
        ValueError: A number that is not positive, edges in the wrong order or above half of
            `sample_rate`, or a dtype that is not floating.
        tf.errors.InvalidArgumentError: A negative `num_spectrogram_bins`.

    Example:
        >>> import tapejax as tf
        >>> tf.signal.linear_to_mel_weight_matrix(8, 65).shape
        TensorShape([65, 8])

    *Differs from TensorFlow*: computed in double precision and rounded once.
    """
    rate, low, high = map(_number, (sample_rate, lower_edge_hertz, upper_edge_hertz))
    kind, bands, bins = as_dtype(dtype), static_ints(num_mel_bins), num_spectrogram_bins
    _check_mel(bands, rate, low, high, kind)
    bins = static_ints(bins)
    if bins < 0:
        msg = f"num_spectrogram_bins must not be negative. Received: {bins}"
        raise InvalidArgumentError(msg)
    return _mel_weights(bands, max(bins, 1), rate, low, high, kind)


def _number(value: Any) -> float:
    return float(known_value(value) if isinstance(value, Tensor) else value)
