"""Cosine transforms of real signals: `tf.signal.dct`, `idct`, and what `mdct` needs of them."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, StaticInts, op
from tapejax._src.ops.framing import resized

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_FORMS = (
    "f32[2,4]",
    "f64[3], norm='ortho'",
    "f64[4], 1",
    "f64[2,3], 3",
    "f32[4], 3, norm='ortho'",
    "f64[3], 4",
    "f32[2,4], type=4, norm='ortho'",
    "f64[5], 2, 3",
    "f64[3], 3, 5",
    "f64[3], 1, n=5",
    "f64[5], 4, n=2, axis=-1",
    "f32[1]",
)


def _check(kind: Any, n: Any, axis: Any, norm: Any) -> None:
    if axis != -1:
        msg = f"axis must be -1. Got: {axis}. Move the axis to the end with tf.transpose."
        raise NotImplementedError(msg)
    if n is not None and n < 1:
        raise ValueError(f"n should be a positive integer or None. Received: {n}")
    if kind not in _INVERSE:
        raise ValueError(f"Types I, II, III and IV (I)DCT are supported. Received: {kind!r}")
    if kind == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _twist(x: Array, quarters: Any) -> Array:
    """`exp(-2i * pi * quarters)`, rounded once, in the precision of `x`."""
    dtype = np.complex64 if x.dtype == jnp.float32 else np.complex128
    return jnp.asarray(np.exp(-2j * np.pi * quarters).astype(dtype))


def _weights(x: Array, first: float) -> Array:
    """What makes a transform orthonormal: the constant one has another norm than the others."""
    size = x.shape[-1]
    weights = np.full(size, math.sqrt(0.5 / size))
    weights[0] = first / math.sqrt(size)
    return jnp.asarray(weights.astype(x.dtype))


def _second(x: Array, ortho: bool) -> Array:
    size = x.shape[-1]
    half = jnp.fft.rfft(x, 2 * size)[..., :size]
    result = 2 * (half * _twist(x, np.arange(size) / (4 * size))).real
    return result * _weights(x, 0.5) if ortho else result


def _third(x: Array, ortho: bool) -> Array:
    size = x.shape[-1]
    x = x * size
    if ortho:
        x = x * _weights(x, 1.0)
    half = 2 * x * _twist(x, -np.arange(size) / (4 * size))
    return jnp.fft.irfft(half, 2 * size)[..., :size]


def _fourth(x: Array, ortho: bool) -> Array:
    size = x.shape[-1]
    turned = x * _twist(x, np.arange(size) / (4 * size))
    full = jnp.fft.fft(turned, 2 * size)[..., :size]
    result = 2 * (full * _twist(x, (2 * np.arange(size) + 1) / (8 * size))).real
    return result / math.sqrt(2 * size) if ortho else result


def transformed(x: Array, kind: int, ortho: bool) -> Array:
    """The cosine transform of type `kind` over the last axis."""
    if x.dtype not in (jnp.float32, jnp.float64):
        msg = (
            f"The cosine transforms take float32 or float64, got {x.dtype.name}: convert the "
            "input with tf.cast."
        )
        raise TypeError(msg)
    if x.size == 0:
        return x
    if kind == 1:
        return jnp.fft.rfft(jnp.concatenate([x, x[..., -2:0:-1]], -1)).real
    return {2: _second, 3: _third, 4: _fourth}[kind](x, ortho)


def _dct(x: Array, kind: int, n: Any, norm: Any) -> Array:
    if x.ndim == 0:
        raise IndexError("The cosine transforms take a signal of rank at least 1, got a scalar.")
    if kind == 1 and x.shape[-1] < 2:
        raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    x = x if n is None else resized(x, int(n))
    return transformed(x, kind, norm == "ortho")


@op("signal.dct", node="RFFT", cases=_FORMS)
def dct(
    input: Same,
    type: int = 2,
    n: StaticInts = None,
    axis: StaticInts = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Array:
    """Cosine transform of type 1, 2, 3 or 4 over the last axis, as `scipy.fft.dct`.

    Args:
        input: Real signals `[..., samples]`, float32 or float64.
        type: The type.
        n: The length the signals are cut or padded with zeros to; None keeps it.
        axis: -1.
        norm: None, or "ortho" for an orthonormal transform (not for type 1).
        name: Ignored.

    Returns:
        The transforms `[..., n]`, in the dtype of `input`.

    Raises:
        ValueError: Another type or `norm`, `n` below 1, or a signal too short for type 1.
        NotImplementedError: Another axis.
        TypeError: Another dtype.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.dct([1.0, 1.0]).numpy().round(3))
        [4. 0.]

    *Differs from TensorFlow*: a batch of no signals gives no transforms instead of an error.

    References:
        Makhoul, A fast cosine transform in one and two dimensions, 1980.
    """
    _check(type, n, axis, norm)
    return _dct(input, type, n, norm)


@op("signal.idct", node="IRFFT", cases=_FORMS)
def idct(
    input: Same,
    type: int = 2,
    n: StaticInts = None,
    axis: StaticInts = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Array:
    """Inverse of `tf.signal.dct`, up to the factor `2 * samples` unless `norm` is "ortho".

    Args:
        input: Real transforms `[..., samples]`, float32 or float64.
        type: The type of the transform to invert.
        n: The length the input is cut or padded with zeros to; None keeps it.
        axis: -1.
        norm: None, or "ortho" for an orthonormal transform (not for type 1).
        name: Ignored.

    Returns:
        The signals `[..., n]`, in the dtype of `input`. Without `norm` they are `2 * samples`
        times what was transformed (`2 * (samples - 1)` times for type 1).

    Raises:
        ValueError: Another type or `norm`, `n` below 1, or an input too short for type 1.
        NotImplementedError: Another axis.
        TypeError: Another dtype.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.idct(tf.signal.dct([1.0, 2.0, 4.0])).numpy().round(3) / 6)
        [1. 2. 4.]

    *Differs from TensorFlow*: a batch of no signals gives no transforms instead of an error.
    """
    _check(type, n, axis, norm)
    return _dct(input, _INVERSE[type], n, norm)


@op("_mdct", node="RFFT", cases=("f64[2,8], None", "f64[4], 'ortho'"))
def mdct_of_frames(frames: Same, norm: Any) -> Array:
    """Frames folded to half their length, and their cosine transform of type 4."""
    _check(4, None, -1, norm)
    a, b, c, d = jnp.split(frames, 4, axis=-1)
    folded = jnp.concatenate([-c[..., ::-1] - d, a - b[..., ::-1]], axis=-1)
    return transformed(folded, 4, norm == "ortho")


@op("_inverse_mdct", node="RFFT", cases=("f64[2,4], None", "f64[2], 'ortho'"))
def frames_of_mdct(mdcts: Same, norm: Any) -> Array:
    """The frames before they overlap: the inverse of the transform, unfolded."""
    _check(4, None, -1, norm)
    half = mdcts.shape[-1]
    if half % 2:
        msg = f"The number of MDCT bins must be even, got shape {mdcts.shape}"
        raise InvalidArgumentError(msg)
    folded = transformed(mdcts, 4, norm == "ortho")
    if norm is None:
        folded = folded * (0.5 / max(half, 1))
    first, second = jnp.split(folded, 2, axis=-1)
    parts = [second, -second[..., ::-1], -first[..., ::-1], -first]
    return jnp.concatenate(parts, axis=-1)


@op(
    "signal.mfccs_from_log_mel_spectrograms",
    node="Mul",
    cases=("f32[2,3]", "f64[4]", "f64[2,2,5]"),
)
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Same, name: str | None = None) -> Array:
    """Mel-frequency cepstral coefficients: the cosine transform of type 2, scaled as in HTK.

    Args:
        log_mel_spectrograms: Logarithms of mel spectrograms `[..., bins]`, float32 or float64.
        name: Ignored.

    Returns:
        The coefficients `[..., bins]`; the first 13 or so are used.

    Raises:
        ValueError: There are no bins.
        TypeError: Another dtype.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.mfccs_from_log_mel_spectrograms([[1.0, 1.0]]).numpy().round(3))
        [[2. 0.]]
    """
    if not log_mel_spectrograms.ndim or not log_mel_spectrograms.shape[-1]:
        shape = log_mel_spectrograms.shape
        raise ValueError(f"num_mel_bins must be positive. Got: a tensor of shape {shape}")
    bins = log_mel_spectrograms.shape[-1]
    return transformed(log_mel_spectrograms, 2, False) / math.sqrt(2 * bins)
