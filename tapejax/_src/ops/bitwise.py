"""`tf.bitwise`: logical ops on the bits of integers."""

from __future__ import annotations

import jax.numpy as jnp

from tapejax._src.engine.registry import Array, Same, op

_INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
_CASES = ("i32[2,3], i32[2,3]", "i64[3], i64[2,1]", "u8[3], u8[]", "i8[0,3], i8[0,3]")
_SHIFTS = ("i32[2,3], i32[2,3] in (0, 5)", "u8[3], u8[3] in (0, 5)", "i64[3], i64[] in (0, 5)")


@op("bitwise.bitwise_and", node="BitwiseAnd", dtypes=_INTEGERS, cases=_CASES, broadcast=True)
def bitwise_and(x: Same, y: Same, name: str | None = None) -> Array:
    """The bits set in both of each pair of elements."""
    return jnp.bitwise_and(x, y)


@op("bitwise.bitwise_or", node="BitwiseOr", dtypes=_INTEGERS, cases=_CASES, broadcast=True)
def bitwise_or(x: Same, y: Same, name: str | None = None) -> Array:
    """The bits set in either of each pair of elements."""
    return jnp.bitwise_or(x, y)


@op("bitwise.bitwise_xor", node="BitwiseXor", dtypes=_INTEGERS, cases=_CASES, broadcast=True)
def bitwise_xor(x: Same, y: Same, name: str | None = None) -> Array:
    """The bits set in exactly one of each pair of elements."""
    return jnp.bitwise_xor(x, y)


@op("bitwise.invert", node="Invert", dtypes=_INTEGERS, cases=("i32[2,3]", "u8[4]"))
def invert(x: Same, name: str | None = None) -> Array:
    """The bits not set in each element."""
    return jnp.bitwise_not(x)


@op("bitwise.left_shift", node="LeftShift", dtypes=_INTEGERS, cases=_SHIFTS, broadcast=True)
def left_shift(x: Same, y: Same, name: str | None = None) -> Array:
    """The bits of each element of `x` moved up by `y`."""
    return jnp.left_shift(x, y)


@op("bitwise.right_shift", node="RightShift", dtypes=_INTEGERS, cases=_SHIFTS, broadcast=True)
def right_shift(x: Same, y: Same, name: str | None = None) -> Array:
    """The bits of each element of `x` moved down by `y`, keeping the sign."""
    return jnp.right_shift(x, y)
