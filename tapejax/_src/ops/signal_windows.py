"""The windows of `tf.signal`: weights that fade a frame out at its ends."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tapejax._src.core.dtypes import as_dtype, float32
from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.convert import static_ints
from tapejax._src.engine.registry import Array, DTypeLike, Same, StaticInts, op, public
from tapejax._src.ops.casting import cast
from tapejax._src.ops.special import i0e

_FORMS = ("6", "7", "1", "0", "8, dtype=tf.float64", "5, dtype=tf.float16")


def _checked(window_length: Any, dtype: Any, least: int = 0) -> int:
    """The length of a window, an int.

    Raises:
        ValueError: `dtype` is not floating, or the length is no scalar.
        InvalidArgumentError: The length is negative.
    """
    if not as_dtype(dtype).is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {as_dtype(dtype)!r}")
    length = static_ints(window_length)
    if not isinstance(length, int):
        raise ValueError(f"window_length must be a scalar (rank 0). Received: {window_length}")
    if length < least:
        msg = f"window_length must be at least {least}. Received: {length}"
        raise InvalidArgumentError(msg)
    return length


def _raised_cosine(length: Any, periodic: Any, dtype: Any, low: float) -> Array:
    """`low - (1 - low) * cos` over one period, which ends at the last or just behind it."""
    length = _checked(length, dtype)
    if length == 1:
        return jnp.ones(1, dtype)
    # An odd window is symmetric in any case, as in TensorFlow.
    period = length if periodic and length % 2 == 0 else length - 1
    angle = 2 * np.pi * np.arange(length) / max(period, 1)
    return jnp.asarray((low - (1 - low) * np.cos(angle)).astype(dtype))


@op(
    "signal.hann_window",
    node="Sub",
    gradient="none",
    cases=(*_FORMS, "6, False", "6, periodic=False, dtype=tf.float64"),
)
def hann_window(
    window_length: StaticInts,
    periodic: bool = True,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Array:
    """Hann window: one period of a cosine raised to lie between 0 and 1.

    Args:
        window_length: How many weights.
        periodic: Whether the period ends just behind the last weight (for spectra) or at it (for
            filters); a window of odd length is always symmetric.
        dtype: A floating dtype.
        name: Ignored.

    Returns:
        The weights `[window_length]`.

    Raises:
        ValueError: `dtype` is not floating.
        tf.errors.InvalidArgumentError: A negative length.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.hann_window(4).numpy())
        [0.  0.5 1.  0.5]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.5)


@op(
    "signal.hamming_window",
    node="Sub",
    gradient="none",
    cases=(*_FORMS, "6, False", "6, periodic=False, dtype=tf.float64"),
)
def hamming_window(
    window_length: StaticInts,
    periodic: bool = True,
    dtype: DTypeLike = float32,
    name: str | None = None,
) -> Array:
    """Hamming window: one period of a cosine raised to lie between 0.08 and 1.

    Args:
        window_length: How many weights.
        periodic: Whether the period ends just behind the last weight (for spectra) or at it (for
            filters); a window of odd length is always symmetric.
        dtype: A floating dtype.
        name: Ignored.

    Returns:
        The weights `[window_length]`.

    Raises:
        ValueError: `dtype` is not floating.
        tf.errors.InvalidArgumentError: A negative length.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.hamming_window(4).numpy())
        [0.08 0.54 1.   0.54]
    """
    return _raised_cosine(window_length, periodic, dtype, 0.54)


@op("signal.vorbis_window", node="Sin", gradient="none", cases=_FORMS)
def vorbis_window(
    window_length: StaticInts, dtype: DTypeLike = float32, name: str | None = None
) -> Array:
    """Vorbis window: the squares of two of them that overlap by half add up to 1.

    Args:
        window_length: How many weights.
        dtype: A floating dtype.
        name: Ignored.

    Returns:
        The weights `[window_length]`.

    Raises:
        ValueError: `dtype` is not floating.
        tf.errors.InvalidArgumentError: A negative length.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.vorbis_window(4).numpy().round(3))
        [0.228 0.974 0.974 0.228]
    """
    length = _checked(window_length, dtype)
    sine = np.sin(np.pi / max(length, 1) * (np.arange(length) + 0.5))
    return jnp.asarray(np.sin(np.pi / 2 * sine**2).astype(dtype))


def _kaiser(beta: Array, length: int) -> Array:
    if length == 1:
        return jnp.ones(1, beta.dtype)
    half = (length - 1) / 2
    arch = np.sqrt(np.maximum(0, 1 - (np.arange(-half, half + 0.1) / half) ** 2))
    inner = beta * jnp.asarray(arch.astype(beta.dtype))
    return jnp.exp(inner - beta) * (i0e(inner) / i0e(beta))


@op(
    "_kaiser_window",
    node="Mul",
    cases=("f64[] in (2, 14), 6", "f32[] in (2, 14), 5", "f64[] in (1, 2), 1"),
)
def _kaiser_window(beta: Same, window_length: StaticInts) -> Array:
    """The weights of a Kaiser window."""
    wide = beta.astype(jnp.promote_types(beta.dtype, jnp.float32))
    return _kaiser(wide, window_length).astype(beta.dtype)


@op(
    "_kaiser_bessel_derived_window",
    node="ConcatV2",
    cases=("f64[] in (2, 14), 6", "f32[] in (2, 14), 5", "f64[] in (1, 2), 1"),
)
def _kaiser_bessel_derived_window(beta: Same, window_length: StaticInts) -> Array:
    """The roots of the running sums of a Kaiser window of half the length, and their mirror."""
    wide = beta.astype(jnp.promote_types(beta.dtype, jnp.float32))
    sums = jnp.cumsum(_kaiser(wide, window_length // 2 + 1))
    half = jnp.sqrt(sums[:-1] / sums[-1])
    return jnp.concatenate([half, half[::-1]]).astype(beta.dtype)


@public("signal.kaiser_window")
def kaiser_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = float32, name: str | None = None
) -> Any:
    """Kaiser window: nearly the largest share of energy in the main lobe.

    Args:
        window_length: How many weights, at least 1.
        beta: The shape, a scalar: 0 is rectangular, larger values fade out more.
        dtype: A floating dtype.
        name: Ignored.

    Returns:
        The weights `[window_length]`.

    Raises:
        ValueError: `dtype` is not floating.
        tf.errors.InvalidArgumentError: A length below 1.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.kaiser_window(3, beta=5.0).numpy().round(4))
        [0.0367 1.     0.0367]

    References:
        Kaiser and Schafer, On the use of the I0-sinh window for spectrum analysis, 1980.
    """
    length = _checked(window_length, dtype, 1)
    return _kaiser_window(cast(beta, dtype), length)


@public("signal.kaiser_bessel_derived_window")
def kaiser_bessel_derived_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = float32, name: str | None = None
) -> Any:
    """Window from the running sums of a Kaiser window, for the modified cosine transform.

    The squares of two of them that overlap by half add up to 1.

    Args:
        window_length: How many weights; an odd length gives one less, as in TensorFlow.
        beta: The shape of the Kaiser window, a scalar.
        dtype: A floating dtype.
        name: Ignored.

    Returns:
        The weights `[2 * (window_length // 2)]`.

    Raises:
        ValueError: `dtype` is not floating.
        tf.errors.InvalidArgumentError: A negative length.

    Example:
        >>> import tapejax as tf
        >>> print(tf.signal.kaiser_bessel_derived_window(4, beta=5.0).numpy().round(4))
        [0.1849 0.9828 0.9828 0.1849]
    """
    length = _checked(window_length, dtype)
    return _kaiser_bessel_derived_window(cast(beta, dtype), length)
