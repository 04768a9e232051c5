"""Fourier transforms over any axes: `tf.signal.fftnd`, `tf.fftnd` and their relatives."""

from __future__ import annotations

import math
from typing import Any

from tapejax._src.core.dtypes import DType, as_dtype, complex64, float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.convert import as_tensor, static_ints
from tapejax._src.engine.registry import Array, DTypeLike, Same, StaticInts, op, public
from tapejax._src.ops.arithmetic import multiply
from tapejax._src.ops.casting import cast
from tapejax._src.ops.constants import convert_to_tensor
from tapejax._src.ops.fourier import COMPLEX, complex_transform
from tapejax._src.ops.fourier_real import (
    as_complex,
    as_real,
    given_lengths,
    inferred_length,
    irfft_over,
    require_rank,
    rfft_over,
)


@op(
    "_fftnd",
    node="FFTND",
    dtypes=COMPLEX,
    cases=("c128[2,3], (3, 2), (0, 1), False", "c128[2,3], (2,), (0,), True"),
)
def _fft_over(input: Same, lengths: StaticInts, axes: StaticInts, inverse: bool) -> Array:
    """The transform over `axes`, cut or padded to `lengths`."""
    return complex_transform(input, lengths, axes, inverse)


def _axes_of(x: Tensor, axes: Any) -> tuple[int, ...]:
    rank = len(x.shape)
    if axes is None:
        return tuple(range(rank))
    given = static_ints(axes)
    given = (given,) if isinstance(given, int) else given
    for axis in given:
        if not -rank <= axis < rank:
            msg = f"axes[...] = {axis} is out of range for an input of rank {rank}"
            raise InvalidArgumentError(msg)
    found = tuple(axis % rank for axis in given)
    if len(set(found)) != len(found):
        raise InvalidArgumentError(f"axes must name each axis once. Received: {given}")
    return found


def _lengths_of(x: Tensor, fft_length: Any, axes: tuple[int, ...]) -> tuple[int, ...]:
    if fft_length is not None:
        return given_lengths(fft_length, len(axes))
    return tuple(x.aval.shape[axis] for axis in axes)


def _scaled(x: Any, lengths: tuple[int, ...], norm: str | None, inverse: bool) -> Any:
    """The result times what `norm` asks for on top of the usual 1/n of the inverse."""
    if norm not in (None, "backward", "ortho", "forward"):
        msg = f'`norm` must be None, "backward", "ortho" or "forward". Received: {norm!r}'
        raise ValueError(msg)
    if norm in (None, "backward"):
        return x
    count = math.prod(lengths)
    factor = float(count) if norm == "forward" else math.sqrt(count)
    return multiply(x, factor if inverse else 1 / factor)


def _complex_nd(x: Any, fft_length: Any, axes: Any, norm: str | None, inverse: bool) -> Any:
    x = as_tensor(convert_to_tensor(x, dtype_hint=complex64))
    axes = _axes_of(x, axes)
    require_rank(x, len(axes))
    lengths = _lengths_of(x, fft_length, axes)
    return _scaled(_fft_over(x, lengths, axes, inverse), lengths, norm, inverse)


@public("signal.fftnd")
def fftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Discrete Fourier transform over any axes, as `numpy.fft.fftn`.

    Args:
        input_tensor: Complex numbers `[...]`; what is no tensor counts as complex64.
        fft_length: For each of `axes` the length it is cut or padded with zeros to; None keeps
            the sizes.
        axes: Which axes, each once; None takes all.
        norm: "backward" (or None) divides the inverse by the number of elements, "forward" the
            transform itself, "ortho" each by its square root.
        name: Ignored.

    Returns:
        Complex numbers of the dtype of the input, with `fft_length` along `axes`.

    Raises:
        tf.errors.InvalidArgumentError: Real numbers in a tensor, an axis that does not exist or
            appears twice, or not one length for each axis.
        ValueError: An unknown `norm`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.fftnd([[1.0, 2.0]], axes=[1]).numpy())
        [[ 3.+0.j -1.+0.j]]

    *Differs from TensorFlow*: works on every device (TensorFlow has no kernel for CPU), and
    `fft_length` belongs to `axes` whichever they are.
    """
    return _complex_nd(input_tensor, fft_length, axes, norm, False)


@public("signal.ifftnd")
def ifftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Inverse of `tf.signal.fftnd`, as `numpy.fft.ifftn`.

    Args:
        input_tensor: Complex numbers `[...]`; what is no tensor counts as complex64.
        fft_length: For each of `axes` the length it is cut or padded with zeros to; None keeps
            the sizes.
        axes: Which axes, each once; None takes all.
        norm: "backward" (or None), "forward" or "ortho"; see `tf.signal.fftnd`.
        name: Ignored.

    Returns:
        Complex numbers of the dtype of the input, with `fft_length` along `axes`.

    Raises:
        tf.errors.InvalidArgumentError: Real numbers in a tensor, an axis that does not exist or
            appears twice, or not one length for each axis.
        ValueError: An unknown `norm`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.ifftnd([[3.0, -1.0]]).numpy())
        [[1.+0.j 2.+0.j]]

    *Differs from TensorFlow*: as `tf.signal.fftnd`.
    """
    return _complex_nd(input_tensor, fft_length, axes, norm, True)


@public("signal.rfftnd")
def rfftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """First half of the Fourier transform of real numbers over any axes, as `numpy.fft.rfftn`.

    Args:
        input_tensor: `[...]`, float32 or float64; what is no tensor counts as float32.
        fft_length: For each of `axes` the length it is cut or padded with zeros to; None keeps
            the sizes.
        axes: Which axes, each once; the last one is halved. None takes all.
        norm: "backward" (or None), "forward" or "ortho"; see `tf.signal.fftnd`.
        name: Ignored.

    Returns:
        Complex numbers with `fft_length` along `axes`, and `fft_length[-1] // 2 + 1` along the
        last of them.

    Raises:
        ValueError: Another dtype, or an unknown `norm`.
        tf.errors.InvalidArgumentError: An axis that does not exist or appears twice, or not one
            length for each axis.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.rfftnd([[1.0, 2.0]], axes=[1], norm="forward").numpy())
        [[ 1.5+0.j -0.5+0.j]]

    *Differs from TensorFlow*: as `tf.signal.fftnd`.
    """
    x = as_real(input_tensor)
    axes = _axes_of(x, axes)
    require_rank(x, max(len(axes), 1))
    lengths = _lengths_of(x, fft_length, axes)
    return _scaled(rfft_over(x, lengths, axes), lengths, norm, False)


@public("signal.irfftnd")
def irfftnd(
    input_tensor: Any,
    fft_length: Any = None,
    axes: Any = None,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """Inverse of `tf.signal.rfftnd`, as `numpy.fft.irfftn`.

    Args:
        input_tensor: Complex numbers `[...]`; what is no tensor counts as complex64.
        fft_length: For each of `axes` the length of the result; None takes the sizes, and
            `2 * (bins - 1)` along the last of them.
        axes: Which axes, each once; the last one is the halved one. None takes all.
        norm: "backward" (or None), "forward" or "ortho"; see `tf.signal.fftnd`.
        name: Ignored.

    Returns:
        Real numbers with `fft_length` along `axes`.

    Raises:
        ValueError: A tensor of real numbers, or an unknown `norm`.
        tf.errors.InvalidArgumentError: An axis that does not exist or appears twice, or not one
            length for each axis.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.irfftnd([[3.0, -1.0]]).numpy())
        [[1. 2.]]

    *Differs from TensorFlow*: as `tf.signal.fftnd`.
    """
    x = as_complex(input_tensor)
    axes = _axes_of(x, axes)
    require_rank(x, max(len(axes), 1))
    lengths = _lengths_of(x, fft_length, axes)
    if fft_length is None:
        lengths = (*lengths[:-1], inferred_length(lengths[-1]))
    return _scaled(irfft_over(x, lengths, axes), lengths, norm, True)


@public("fftnd")
def fftnd_of(input: Any, fft_length: Any, axes: Any, name: str | None = None) -> Any:
    """Discrete Fourier transform over `axes`: `tf.signal.fftnd` with all its arguments given.

    Args:
        input: Complex numbers `[...]`.
        fft_length: For each of `axes` the length it is cut or padded to.
        axes: Which axes, each once.
        name: Ignored.

    Returns:
        Complex numbers of the dtype of `input`, with `fft_length` along `axes`.

    Raises:
        tf.errors.InvalidArgumentError: As `tf.signal.fftnd`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.fftnd([1 + 0j, 2], [2], [0]).numpy())
        [ 3.+0.j -1.+0.j]
    """
    return _complex_nd(as_tensor(input), fft_length, axes, None, False)


@public("ifftnd")
def ifftnd_of(input: Any, fft_length: Any, axes: Any, name: str | None = None) -> Any:
    """Inverse of `tf.fftnd`: `tf.signal.ifftnd` with all its arguments given.

    Args:
        input: Complex numbers `[...]`.
        fft_length: For each of `axes` the length it is cut or padded to.
        axes: Which axes, each once.
        name: Ignored.

    Returns:
        Complex numbers of the dtype of `input`, with `fft_length` along `axes`.

    Raises:
        tf.errors.InvalidArgumentError: As `tf.signal.fftnd`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.ifftnd([3 + 0j, -1], [2], [0]).numpy())
        [1.+0.j 2.+0.j]
    """
    return _complex_nd(as_tensor(input), fft_length, axes, None, True)


@public("rfftnd")
def rfftnd_of(
    input: Any,
    fft_length: Any,
    axes: Any,
    Tcomplex: DTypeLike = complex64,
    name: str | None = None,
) -> Any:
    """First half of the Fourier transform of real numbers over `axes`.

    Args:
        input: `[...]`, float32 or float64.
        fft_length: For each of `axes` the length it is cut or padded to.
        axes: Which axes, each once; the last one is halved.
        Tcomplex: The dtype of the result, complex64 or complex128.
        name: Ignored.

    Returns:
        Numbers of dtype `Tcomplex`; see `tf.signal.rfftnd` for the shape.

    Raises:
        ValueError: Another dtype.
        tf.errors.InvalidArgumentError: As `tf.signal.rfftnd`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.rfftnd([1.0, 2.0], [2], [0]).numpy())
        [ 3.+0.j -1.+0.j]
    """
    result = _allowed("Tcomplex", Tcomplex, ("complex64", "complex128"))
    return cast(rfftnd(as_tensor(input), fft_length, axes), result)


@public("irfftnd")
def irfftnd_of(
    input: Any, fft_length: Any, axes: Any, Treal: DTypeLike = float32, name: str | None = None
) -> Any:
    """Inverse of `tf.rfftnd`: real numbers from the first half of their transform.

    Args:
        input: Complex numbers `[...]`.
        fft_length: For each of `axes` the length of the result.
        axes: Which axes, each once; the last one is the halved one.
        Treal: The dtype of the result, float32 or float64.
        name: Ignored.

    Returns:
        Numbers of dtype `Treal`, with `fft_length` along `axes`.

    Raises:
        ValueError: Real numbers.
        tf.errors.InvalidArgumentError: As `tf.signal.irfftnd`.

    Example:
        >>> import tapejax as tf
        >>> print(tf.irfftnd([3 + 0j, -1], [2], [0]).numpy())
        [1. 2.]
    """
    result = _allowed("Treal", Treal, ("float32", "float64"))
    return cast(irfftnd(as_tensor(input), fft_length, axes), result)


def _allowed(attr: str, dtype: Any, names: tuple[str, ...]) -> DType:
    found = as_dtype(dtype)
    if found.name not in names:
        msg = f"Value for attr '{attr}' of {found.name} is not in the list of allowed values: "
        raise InvalidArgumentError(msg + ", ".join(names))
    return found
