"""Fourier transforms of real numbers, of which one half is kept, and their inverses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from tapejax._src.core.dtypes import DType, complex64, float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, static_ints
from tapejax._src.engine.registry import Array, Same, StaticInts, op, public
from tapejax._src.ops.constants import convert_to_tensor
from tapejax._src.ops.fourier import COMPLEX, is_empty, shape_after

_REAL = "float double"


def real_transform(x: Array, lengths: Sequence[int], axes: Sequence[int]) -> Array:
    """The first half of the Fourier transform of a real `x`."""
    bins = lengths[-1] // 2 + 1 if lengths[-1] else 0
    shape = shape_after(x, (*lengths[:-1], bins), axes)
    if is_empty(x, shape):
        return jnp.zeros(shape, jnp.complex128 if x.dtype == jnp.float64 else jnp.complex64)
    return jnp.fft.rfftn(x, tuple(lengths), tuple(axes))


def inverse_real_transform(x: Array, lengths: Sequence[int], axes: Sequence[int]) -> Array:
    """The real numbers whose Fourier transform has the first half `x`."""
    shape = shape_after(x, lengths, axes)
    if is_empty(x, shape):
        return jnp.zeros(shape, x.real.dtype)
    return jnp.fft.irfftn(x, tuple(lengths), tuple(axes))


@op(
    "_rfft",
    node="RFFT",
    dtypes=_REAL,
    cases=("f64[6], (6,), (-1,)", "f64[2,5], (3, 4), (-2, -1)", "f64[2,3], (4,), (0,)"),
)
def rfft_over(input: Same, lengths: StaticInts, axes: StaticInts) -> Array:
    """The first half of the Fourier transform over `axes`, cut or padded to `lengths`."""
    return real_transform(input, lengths, axes)


@op(
    "_irfft",
    node="IRFFT",
    dtypes=COMPLEX,
    cases=("c128[4], (6,), (-1,)", "c128[2,3], (3, 5), (-2, -1)", "c128[2,3], (4,), (0,)"),
)
def irfft_over(input: Same, lengths: StaticInts, axes: StaticInts) -> Array:
    """The real numbers whose transform over `axes` has the first half `input`."""
    return inverse_real_transform(input, lengths, axes)


def as_real(x: Any) -> Tensor:
    """What is to be transformed by `rfft`: float32 unless a tensor says otherwise.

    Raises:
        ValueError: The dtype is neither float32 nor float64.
    """
    x = _as(x, float32)
    if x.dtype.name not in ("float32", "float64"):
        raise ValueError(
            f"RFFT requires tf.float32 or tf.float64 inputs, got: {x!r}. Cast it with tf.cast."
        )
    return x


def as_complex(x: Any) -> Tensor:
    """What is to be transformed by `irfft`: complex64 unless a tensor says otherwise.

    Raises:
        ValueError: The dtype is not complex.
    """
    x = _as(x, complex64)
    if x.dtype.name not in ("complex64", "complex128"):
        raise ValueError(
            f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x!r}. Cast it with "
            "tf.cast."
        )
    return x


def _as(x: Any, preferred: DType) -> Tensor:
    return as_tensor(convert_to_tensor(x, dtype_hint=preferred))


def require_rank(x: Tensor, rank: int) -> None:
    """Raise TensorFlow's error if there are fewer axes than are to be transformed.

    Raises:
        ValueError: The rank is below `rank`.
    """
    if len(x.shape) < rank:
        raise ValueError(f"Shape {x.shape} must have rank at least {rank}")


def given_lengths(fft_length: Any, rank: int) -> tuple[int, ...]:
    """The argument `fft_length`, checked.

    Raises:
        InvalidArgumentError: It has not one length, at least 0, for each axis.
    """
    lengths = static_ints(fft_length)
    if isinstance(lengths, int) or len(lengths) != rank:
        raise InvalidArgumentError(f"fft_length must have shape [{rank}]. Received: {fft_length}")
    for place, length in enumerate(lengths):
        if length < 0:
            msg = f"fft_length[{place}] must >= 0, but got: {length}"
            raise InvalidArgumentError(msg)
    return lengths


def _rfft(x: Any, fft_length: Any, rank: int) -> Any:
    x = as_real(x)
    require_rank(x, rank)
    sizes = x.aval.shape[-rank:]
    lengths = sizes if fft_length is None else given_lengths(fft_length, rank)
    return rfft_over(x, lengths, tuple(range(-rank, 0)))


def _irfft(x: Any, fft_length: Any, rank: int) -> Any:
    x = as_complex(x)
    require_rank(x, rank)
    sizes = x.aval.shape[-rank:]
    if fft_length is None:
        lengths = (*sizes[:-1], inferred_length(sizes[-1]))
    else:
        lengths = given_lengths(fft_length, rank)
    return irfft_over(x, lengths, tuple(range(-rank, 0)))


def inferred_length(bins: int) -> int:
    """The even length whose transform has so many bins in its first half."""
    return max(2 * (bins - 1), 0)


@public("signal.rfft")
def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """First half of the Fourier transform of real numbers, over the last axis.

    Args:
        input_tensor: `[..., n]`, float32 or float64; what is no tensor counts as float32.
        fft_length: One length `[1]` that the axis is cut or padded with zeros to; None takes `n`.
        name: Ignored.

    Returns:
        Complex numbers `[..., fft_length // 2 + 1]` of the same precision.

    Raises:
        ValueError: A scalar, or another dtype.
        tf.errors.InvalidArgumentError: `fft_length` is not one length.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.rfft([1.0, 0.0, 0.0, 0.0]).numpy())
        [1.+0.j 1.+0.j 1.+0.j]
    """
    return _rfft(input_tensor, fft_length, 1)


@public("signal.irfft")
def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """Inverse of `tf.signal.rfft`: real numbers from the first half of their transform.

    Args:
        input_tensor: `[..., bins]`, complex; what is no tensor counts as complex64.
        fft_length: The length `[1]` of the result; None takes the even one, `2 * (bins - 1)`.
        name: Ignored.

    Returns:
        Real numbers `[..., fft_length]` of the same precision.

    Raises:
        ValueError: A scalar, or a tensor of real numbers.
        tf.errors.InvalidArgumentError: `fft_length` is not one length.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.irfft(tf.signal.rfft([1.0, 2.0, 4.0]), [3]).numpy())
        [1. 2. 4.]
    """
    return _irfft(input_tensor, fft_length, 1)


@public("signal.rfft2d")
def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """First half of the Fourier transform of real numbers, over the last two axes.

    Args:
        input_tensor: `[..., m, n]`, float32 or float64; what is no tensor counts as float32.
        fft_length: Two lengths `[2]` that the axes are cut or padded to; None takes `[m, n]`.
        name: Ignored.

    Returns:
        Complex numbers `[..., fft_length[0], fft_length[1] // 2 + 1]`.

    Raises:
        ValueError: The rank is below 2, or another dtype.
        tf.errors.InvalidArgumentError: `fft_length` is not two lengths.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.rfft2d([[1.0, 2.0]]).numpy())
        [[ 3.+0.j -1.+0.j]]
    """
    return _rfft(input_tensor, fft_length, 2)


@public("signal.irfft2d")
def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """Inverse of `tf.signal.rfft2d`.

    Args:
        input_tensor: `[..., m, bins]`, complex; what is no tensor counts as complex64.
        fft_length: The lengths `[2]` of the result; None takes `[m, 2 * (bins - 1)]`.
        name: Ignored.

    Returns:
        Real numbers `[..., fft_length[0], fft_length[1]]`.

    Raises:
        ValueError: The rank is below 2, or a tensor of real numbers.
        tf.errors.InvalidArgumentError: `fft_length` is not two lengths.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.irfft2d([[3.0, -1.0]]).numpy())
        [[1. 2.]]
    """
    return _irfft(input_tensor, fft_length, 2)


@public("signal.rfft3d")
def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """First half of the Fourier transform of real numbers, over the last three axes.

    Args:
        input_tensor: `[..., l, m, n]`, float32 or float64; what is no tensor counts as float32.
        fft_length: Three lengths `[3]` that the axes are cut or padded to; None takes
            `[l, m, n]`.
        name: Ignored.

    Returns:
        Complex numbers `[..., fft_length[0], fft_length[1], fft_length[2] // 2 + 1]`.

    Raises:
        ValueError: The rank is below 3, or another dtype.
        tf.errors.InvalidArgumentError: `fft_length` is not three lengths.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.rfft3d([[[1.0, 2.0]]]).numpy())
        [[[ 3.+0.j -1.+0.j]]]
    """
    return _rfft(input_tensor, fft_length, 3)


@public("signal.irfft3d")
def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
    """Inverse of `tf.signal.rfft3d`.

    Args:
        input_tensor: `[..., l, m, bins]`, complex; what is no tensor counts as complex64.
        fft_length: The lengths `[3]` of the result; None takes `[l, m, 2 * (bins - 1)]`.
        name: Ignored.

    Returns:
        Real numbers `[..., fft_length[0], fft_length[1], fft_length[2]]`.

    Raises:
        ValueError: The rank is below 3, or a tensor of real numbers.
        tf.errors.InvalidArgumentError: `fft_length` is not three lengths.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.irfft3d([[[3.0, -1.0]]]).numpy())
        [[[1. 2.]]]
    """
    return _irfft(input_tensor, fft_length, 3)
