"""Fourier transforms of complex numbers over the last axes, and shifts of spectra."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from tapejax._src.core.dtypes import complex64
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.core.variable import Variable
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.registry import Array, Same, StaticInts, TensorLike, op, public
from tapejax._src.ops.constants import convert_to_tensor

COMPLEX = "complex64 complex128"


def _check_rank(x: Array, rank: int) -> None:
    if x.ndim < rank:
        msg = f"Input must have rank of at least {rank} but got: {list(x.shape)}"
        raise InvalidArgumentError(msg)


def complex_transform(
    x: Array, lengths: Sequence[int], axes: Sequence[int], inverse: bool
) -> Array:
    """The discrete Fourier transform of `x`, cut or padded with zeros to `lengths`, over `axes`."""
    shape = shape_after(x, lengths, axes)
    if is_empty(x, shape):
        return jnp.zeros(shape, x.dtype)
    return (jnp.fft.ifftn if inverse else jnp.fft.fftn)(x, tuple(lengths), tuple(axes))


def is_empty(x: Array, shape: Sequence[int]) -> bool:
    """Whether there are no numbers to transform; a length of 0 is none for those there are."""
    if x.size and math.prod(shape) == 0:
        msg = (
            f"There are no zero-sized FFTs: shape {x.shape} would become {tuple(shape)}. Give "
            "positive lengths as `fft_length`."
        )
        raise InvalidArgumentError(msg)
    return x.size == 0


def shape_after(x: Array, lengths: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    """The shape of `x` with `lengths` along `axes`."""
    shape = list(x.shape)
    for axis, length in zip(axes, lengths, strict=True):
        shape[axis] = length
    return tuple(shape)


@op(
    "_fft",
    node="FFT",
    dtypes=COMPLEX,
    cases=("c128[4], 1, False", "c128[2,3], 2, True", "c128[2,2,3], 3, False"),
)
def _last_axes(input: Same, rank: int, inverse: bool) -> Array:
    """The transform over so many of the last axes."""
    _check_rank(input, rank)
    return complex_transform(input, input.shape[input.ndim - rank :], range(-rank, 0), inverse)


def _as_complex(x: Any) -> Any:
    """What is to be transformed: real numbers that are no tensor become complex64."""
    if isinstance(x, (Tensor, Variable)):
        return x
    tensor = as_tensor(x)
    return tensor if tensor.dtype.is_complex else convert_to_tensor(x, dtype_hint=complex64)


@public("signal.fft")
def fft(input: Any, name: str | None = None) -> Any:
    """Discrete Fourier transform over the last axis.

    Args:
        input: Complex numbers `[..., n]`; real ones that are no tensor count as complex64.
        name: Ignored.

    Returns:
        `sum(input[k] * exp(-2i * pi * k * j / n))` for each `j`, of the shape and dtype of `input`.

    Raises:
        tf.errors.InvalidArgumentError: A scalar, or real numbers in a tensor: cast it first.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.fft(tf.constant([1 + 0j, 0, 0])).numpy())
        [1.+0.j 1.+0.j 1.+0.j]
    """
    return _last_axes(_as_complex(input), 1, False)


@public("signal.ifft")
def ifft(input: Any, name: str | None = None) -> Any:
    """Inverse of `tf.signal.fft`: over the last axis, divided by its length.

    Args:
        input: Complex numbers `[..., n]`; real ones that are no tensor count as complex64.
        name: Ignored.

    Returns:
        Complex numbers of the shape and dtype of `input`.

    Raises:
        tf.errors.InvalidArgumentError: A scalar, or real numbers in a tensor: cast it first.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.ifft(tf.constant([1 + 0j, 1, 1])).numpy())
        [1.+0.j 0.+0.j 0.+0.j]
    """
    return _last_axes(_as_complex(input), 1, True)


@public("signal.fft2d")
def fft2d(input: Any, name: str | None = None) -> Any:
    """Discrete Fourier transform over the last two axes, as `tf.signal.fft` over each.

    Args:
        input: Complex numbers `[..., m, n]`.
        name: Ignored.

    Returns:
        Complex numbers of the shape and dtype of `input`.

    Raises:
        tf.errors.InvalidArgumentError: The rank is below 2, or the dtype is real.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.fft2d(tf.constant([[1 + 0j, 2]])).numpy())
        [[ 3.+0.j -1.+0.j]]
    """
    return _last_axes(_as_complex(input), 2, False)


@public("signal.ifft2d")
def ifft2d(input: Any, name: str | None = None) -> Any:
    """Inverse of `tf.signal.fft2d`.

    Args:
        input: Complex numbers `[..., m, n]`.
        name: Ignored.

    Returns:
        Complex numbers of the shape and dtype of `input`.

    Raises:
        tf.errors.InvalidArgumentError: The rank is below 2, or the dtype is real.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.ifft2d(tf.constant([[3 + 0j, -1]])).numpy())
        [[1.+0.j 2.+0.j]]
    """
    return _last_axes(_as_complex(input), 2, True)


@public("signal.fft3d")
def fft3d(input: Any, name: str | None = None) -> Any:
    """Discrete Fourier transform over the last three axes, as `tf.signal.fft` over each.

    Args:
        input: Complex numbers `[..., l, m, n]`.
        name: Ignored.

    Returns:
        Complex numbers of the shape and dtype of `input`.

    Raises:
        tf.errors.InvalidArgumentError: The rank is below 3, or the dtype is real.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.fft3d(tf.constant([[[1 + 0j, 2]]])).numpy())
        [[[ 3.+0.j -1.+0.j]]]
    """
    return _last_axes(_as_complex(input), 3, False)


@public("signal.ifft3d")
def ifft3d(input: Any, name: str | None = None) -> Any:
    """Inverse of `tf.signal.fft3d`.

    Args:
        input: Complex numbers `[..., l, m, n]`.
        name: Ignored.

    Returns:
        Complex numbers of the shape and dtype of `input`.

    Raises:
        tf.errors.InvalidArgumentError: The rank is below 3, or the dtype is real.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.ifft3d(tf.constant([[[3 + 0j, -1]]])).numpy())
        [[[1.+0.j 2.+0.j]]]
    """
    return _last_axes(_as_complex(input), 3, True)


def _shifted(x: Array, axes: Any, sign: int) -> Array:
    axes = tuple(range(x.ndim)) if axes is None else axes
    axes = (axes,) if isinstance(axes, int) else tuple(axes)
    for axis in axes:
        if not -x.ndim <= axis < x.ndim:
            raise InvalidArgumentError(f"axis {axis} is out of bounds for shape {list(x.shape)}")
    shifts = tuple(sign * (x.shape[axis] // 2) for axis in axes)
    return jnp.roll(x, shifts, axes) if axes else x


@op(
    "signal.fftshift",
    node="Roll",
    cases=("f32[5]", "f64[2,3]", "c64[2,3], -1", "i32[2,3], [0, 1]", "f32[4,1], axes=(0,)"),
)
def fftshift(x: TensorLike, axes: StaticInts = None, name: str | None = None) -> Array:
    """A spectrum with frequency 0 moved to the middle.

    Args:
        x: A tensor of any dtype `[...]`.
        axes: The axes to shift, an int or a list; None shifts all.
        name: Ignored.

    Returns:
        The elements of `x`, shifted by half of each axis.

    Raises:
        tf.errors.InvalidArgumentError: An axis that does not exist.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.fftshift([0, 1, 2, -2, -1]).numpy())
        [-2 -1  0  1  2]
    """
    return _shifted(x, axes, 1)


@op(
    "signal.ifftshift",
    node="Roll",
    cases=("f32[5]", "f64[2,3]", "c64[2,3], -1", "i32[2,3], [0, 1]", "f32[4,1], axes=(0,)"),
)
def ifftshift(x: TensorLike, axes: StaticInts = None, name: str | None = None) -> Array:
    """Inverse of `tf.signal.fftshift`: frequency 0 moved back to the front.

    Args:
        x: A tensor of any dtype `[...]`.
        axes: The axes to shift, an int or a list; None shifts all.
        name: Ignored.

    Returns:
        The elements of `x`, shifted back by half of each axis.

    Raises:
        tf.errors.InvalidArgumentError: An axis that does not exist.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.ifftshift([-2, -1, 0, 1, 2]).numpy())
        [ 0  1  2 -2 -1]
    """
    return _shifted(x, axes, -1)
