"""Complex numbers and their parts: `tf.complex`, `tf.math.real`, `conj`, `angle`."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from tapejax._src.engine.registry import Array, Same, op
from tapejax._src.ops.derivatives import same_shape

_NUMERIC = (
    "complex64 complex128 bfloat16 half float double int8 int16 int32 int64 uint8 uint16 uint32 "
    "uint64"
)


@op("math.conj", node="Conj", dtypes=_NUMERIC, cases=("c64[2,3]", "c128[3]", "f32[3]", "i32[3]"))
def conj(x: Same, name: str | None = None) -> Array:
    """Complex conjugate of each element; `x` itself where it is real."""
    return lax.conj(x) if jnp.iscomplexobj(x) else x


@op("math.real", node="Real", dtypes=_NUMERIC, cases=("c64[2,3]", "c128[3]", "f32[3]", "i32[3]"))
def real(input: Same, name: str | None = None) -> Array:
    """Real part of each element; `input` itself where it is real."""
    return lax.real(input) if jnp.iscomplexobj(input) else input


@op("math.imag", node="Imag", dtypes=_NUMERIC, cases=("c64[2,3]", "c128[3]", "f32[3]", "i32[3]"))
def imag(input: Same, name: str | None = None) -> Array:
    """Imaginary part of each element; 0 where `input` is real."""
    return lax.imag(input) if jnp.iscomplexobj(input) else jnp.zeros_like(input)


@op(
    "math.angle",
    node="Angle",
    dtypes="complex64 complex128 bfloat16 half float double",
    cases=("c64[2,3]", "c128[3]"),
)
def angle(input: Same, name: str | None = None) -> Array:
    """Argument of each element in radians; 0 or pi where `input` is real.

    *Differs from TensorFlow*: the gradient of a real input is zeros, not None.
    """
    if jnp.iscomplexobj(input):
        return jnp.arctan2(lax.imag(input), lax.real(input))
    return jnp.where(input < 0, jnp.full_like(input, jnp.pi), jnp.zeros_like(input))


@op(
    "complex",
    "dtypes.complex",
    node="Complex",
    mismatch=TypeError,
    broadcast=True,
    cases=("f32[2,3], f32[3]", "f64[3], f64[]"),
)
def complex(real: Same, imag: Same, name: str | None = None) -> Array:
    """Complex numbers `real + 1j * imag`: complex64 from float32, complex128 from float64.

    Args:
        real: Real parts `[...]`, float32 or float64.
        imag: Imaginary parts `[...]`, of the dtype of `real`.
        name: Ignored.

    Returns:
        Complex numbers of the broadcast shape.

    Raises:
        TypeError: The parts are neither float32 nor float64.

    Example:
        >>> import tapejax as tf
        >>> print(tf.complex(tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])).numpy())
        [1.+3.j 2.+4.j]
    """
    if real.dtype not in (jnp.float32, jnp.float64):
        msg = (
            f"The `real` and `imag` components have incorrect types: {real.dtype} {imag.dtype}. "
            "They must be consistent, and one of [tf.float32, tf.float64]: cast them first."
        )
        raise TypeError(msg)
    return lax.complex(*same_shape(real, imag))
