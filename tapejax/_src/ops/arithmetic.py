"""Sum, product, quotient, remainder and extrema of two tensors, and their one-tensor relatives."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from tapejax._src.core.errors import InvalidArgumentError
from tapejax._src.engine.registry import Array, Same, ValueCheck, op
from tapejax._src.ops import derivatives
from tapejax._src.ops.derivatives import same_shape, unconnected, with_partials

_SIGNED = "bfloat16 half float double int8 int16 int32 int64 complex64 complex128"
_EXTREMA = "bfloat16 half float double int8 uint8 int16 uint16 int32 uint32 int64 uint64"
_QUOTIENTS = (
    "bfloat16 half float double uint8 int8 uint16 int16 int32 uint32 uint64 int64 complex64 "
    "complex128"
)


def _divisor_is_zero(x: Array, y: Array, name: str | None = None) -> tuple[Any]:
    integers = jnp.issubdtype(y.dtype, jnp.integer)
    return (jnp.any(y == 0) if integers else False,)


_NONZERO_DIVISOR = ValueCheck(_divisor_is_zero, lambda: "Integer division by zero")


@op(
    "math.add",
    "add",
    node="AddV2",
    dtypes="bfloat16 half float double uint8 uint16 uint32 uint64 int8 int16 int32 int64 "
    "complex64 complex128",
    broadcast=True,
    cases=(
        "f32[2,3], f32[3]",
        "f64[2,1], f64[]",
        "i32[4], i32[4]",
        "c64[3], c64[1]",
        "f32[0,3], f32[3]",
        "bf16[3], bf16[3]",
    ),
)
def add(x: Same, y: Same, name: str | None = None) -> Array:
    """`x + y` of each pair of elements, with broadcasting."""
    return jnp.add(*same_shape(x, y))


@op(
    "math.subtract",
    "subtract",
    node="Sub",
    dtypes="bfloat16 half float double uint8 int8 uint16 int16 int32 int64 complex64 complex128 "
    "uint32 uint64",
    broadcast=True,
    cases=("f32[2,3], f32[3]", "f64[], f64[2]", "i64[4], i64[]", "c64[3], c64[3]"),
)
def subtract(x: Same, y: Same, name: str | None = None) -> Array:
    """`x - y` of each pair of elements, with broadcasting."""
    return jnp.subtract(*same_shape(x, y))


@op(
    "math.multiply",
    "multiply",
    node="Mul",
    dtypes="bfloat16 half float double uint8 int8 uint16 int16 int32 uint32 uint64 int64 "
    "complex64 complex128",
    broadcast=True,
    cases=(
        "f32[2,3], f32[3]",
        "f64[2,1], f64[2]",
        "u8[4], u8[4]",
        "c64[3], c64[]",
        "f16[3], f16[3]",
    ),
)
def multiply(x: Same, y: Same, name: str | None = None) -> Array:
    """`x * y` of each pair of elements, with broadcasting."""
    return jnp.multiply(*same_shape(x, y))


@with_partials(lambda t, out, x, y: t / y, lambda t, out, x, y: t * (-x / y / y))
def _quotient(x: Array, y: Array) -> Array:
    return jnp.divide(x, y)


def _floating_operands(x: Array, y: Array) -> tuple[Array, Array]:
    """The operands in the dtype of their true quotient, and in one shape."""
    x, y = same_shape(x, y)
    dtype = x.dtype
    if dtype == jnp.bool_:
        msg = (
            "Invalid dtype tf.bool in a true division: TensorFlow divides integers, floats and "
            "complex numbers only. Cast the operands first, e.g. tf.cast(x, tf.float32)."
        )
        raise TypeError(msg)
    if jnp.issubdtype(dtype, jnp.integer):
        floating = jnp.float32 if dtype.itemsize <= 2 else jnp.float64
        return x.astype(floating), y.astype(floating)
    return x, y


@op(
    "math.divide",
    "divide",
    "math.truediv",
    "truediv",
    node="RealDiv",
    mismatch=TypeError,
    broadcast=True,
    cases=(
        "f32[2,3], f32[3]",
        "f64[2,1], f64[]",
        "c64[3], c64[3]",
        "i32[4], i32[4] in (1, 5)",
        "i64[4], i64[] in (1, 5)",
        "i8[4], i8[4] in (1, 5)",
        "u16[4], u16[4] in (1, 5)",
        "bf16[3], bf16[3]",
    ),
)
def divide(x: Same, y: Same, name: str | None = None) -> Array:
    """True quotient `x / y`: 8 and 16 bit integers give float32, wider ones float64."""
    return _quotient(*_floating_operands(x, y))


@op(
    "realdiv",
    node="RealDiv",
    dtypes="bfloat16 half float double complex64 complex128",
    broadcast=True,
    cases=("f32[2,3], f32[3]", "f64[3], f64[]", "c64[3], c64[3]", "f16[3], f16[3]"),
)
def realdiv(x: Same, y: Same, name: str | None = None) -> Array:
    """Quotient `x / y` of numbers that are no integers."""
    return _quotient(x, y)


@op(
    "math.divide_no_nan",
    node="DivNoNan",
    mismatch=TypeError,
    broadcast=True,
    cases=(
        "f32[2,3], f32[3]",
        "f64[2], f64[]",
        "c64[3], c64[3]",
        "i32[4], i32[4]",
        "i16[4], i16[4]",
    ),
)
def divide_no_nan(x: Same, y: Same, name: str | None = None) -> Array:
    """`x / y`, and 0 with zero derivatives wherever `y` is 0."""
    return derivatives.divide_no_nan(*_floating_operands(x, y))


@op(
    "math.multiply_no_nan",
    node="MulNoNan",
    mismatch=ValueError,
    dtypes="bfloat16 half float double complex64 complex128",
    broadcast=True,
    cases=("f32[2,3], f32[3]", "f64[2], f64[]"),
)
def multiply_no_nan(x: Same, y: Same, name: str | None = None) -> Array:
    """`x * y`, and 0 wherever `y` is 0, even if `x` is infinite or NaN there."""
    return derivatives.multiply_no_nan(x, y)


@op(
    "math.floordiv",
    node="FloorDiv",
    dtypes=_QUOTIENTS,
    gradient="none",
    broadcast=True,
    check=_NONZERO_DIVISOR,
    cases=(
        "f32[2,3], f32[3]",
        "f64[2], f64[]",
        "i32[6], i32[6] in (1, 4)",
        "i64[6], i64[] in (-4, 0)",
        "u8[6], u8[6] in (1, 4)",
    ),
)
def floordiv(x: Same, y: Same, name: str | None = None) -> Array:
    """`x / y` rounded down to an integer, in the dtype of `x`; it has no gradient."""
    x, y = same_shape(x, y)
    _refuse_complex(x, "floordiv")
    if jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.floor(x / y)
    return jnp.floor_divide(x, y)


@op(
    "truncatediv",
    node="TruncateDiv",
    dtypes=_QUOTIENTS,
    gradient="none",
    broadcast=True,
    check=_NONZERO_DIVISOR,
    cases=("i32[6], i32[6] in (1, 4)", "i64[6], i64[] in (-4, 0)", "f32[6], f32[]"),
)
def truncatediv(x: Same, y: Same, name: str | None = None) -> Array:
    """`x / y` rounded toward zero, in the dtype of `x`; it has no gradient."""
    x, y = same_shape(x, y)
    _refuse_complex(x, "truncatediv")
    if jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.trunc(x / y)
    return lax.div(x, y)


def _refuse_complex(x: Array, name: str) -> None:
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        msg = f"{name} of {x.dtype} values: complex numbers have no order to round in."
        raise InvalidArgumentError(msg)


@with_partials(lambda t, out, x, y: t, lambda t, out, x, y: -t * unconnected(jnp.floor(x / y)))
def _float_mod(x: Array, y: Array) -> Array:
    return jnp.remainder(x, y)


@op(
    "math.floormod",
    "math.mod",
    node="FloorMod",
    dtypes="int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 half float double",
    broadcast=True,
    check=_NONZERO_DIVISOR,
    cases=(
        "f32[2,3], f32[3]",
        "f64[2], f64[]",
        "i32[6], i32[6] in (1, 4)",
        "i64[6], i64[] in (-4, 0)",
        "u8[6], u8[6] in (1, 4)",
    ),
)
def floormod(x: Same, y: Same, name: str | None = None) -> Array:
    """`x - floor(x / y) * y`: the remainder with the sign of `y`."""
    x, y = same_shape(x, y)
    return _float_mod(x, y) if jnp.issubdtype(x.dtype, jnp.floating) else jnp.remainder(x, y)


@op(
    "truncatemod",
    node="TruncateMod",
    dtypes="int32 int64 bfloat16 half float double",
    gradient="lookup",
    broadcast=True,
    check=_NONZERO_DIVISOR,
    cases=("i32[6], i32[6] in (1, 4)", "i64[6], i64[] in (-4, 0)", "f32[6], f32[]"),
)
def truncatemod(x: Same, y: Same, name: str | None = None) -> Array:
    """The remainder of `x / y` with the sign of `x`."""
    return lax.rem(*same_shape(x, y))


@op(
    "math.reciprocal",
    node="Reciprocal",
    dtypes=_SIGNED,
    cases=("f32[2,3]", "f64[3]", "c64[3]", "bf16[3]", "f32[]"),
)
def reciprocal(x: Same, name: str | None = None) -> Array:
    """`1 / x` of each element; a zero cotangent stays zero even where `x` is 0."""
    if jnp.issubdtype(x.dtype, jnp.integer):
        msg = (
            f"reciprocal of {x.dtype} values: TensorFlow has no such CPU kernel. Cast first: "
            "tf.math.reciprocal(tf.cast(x, tf.float32))."
        )
        raise InvalidArgumentError(msg)
    return derivatives.reciprocal(x)


@op(
    "math.reciprocal_no_nan",
    node="DivNoNan",
    mismatch=TypeError,
    dtypes="half float bfloat16 double complex64 complex128",
    cases=("f32[2,3]", "f64[3]", "c64[3]"),
)
def reciprocal_no_nan(x: Same, name: str | None = None) -> Array:
    """`1 / x`, and 0 with a zero derivative wherever `x` is 0."""
    return derivatives.divide_no_nan(jnp.ones_like(x), x)


@op(
    "math.negative",
    "negative",
    node="Neg",
    dtypes=_SIGNED,
    cases=("f32[2,3]", "f64[]", "i32[4]", "c64[3]"),
)
def negative(x: Same, name: str | None = None) -> Array:
    """`-x` of each element."""
    return jnp.negative(x)


@with_partials(lambda t, out, x: t * jnp.sign(x))
def _real_abs(x: Array) -> Array:
    return jnp.abs(x)


def _complex_abs_slope(t: Array, out: Array, x: Array) -> Array:
    along = jnp.real(x) * jnp.real(t) + jnp.imag(x) * jnp.imag(t)
    return derivatives.divide_no_nan(along, out)


@with_partials(_complex_abs_slope)
def _complex_abs(x: Array) -> Array:
    return jnp.abs(x)


@op(
    "math.abs",
    "abs",
    node="Abs",
    dtypes=_SIGNED,
    cases=("f32[2,3]", "f64[3]", "i32[4]", "c64[3]", "c128[2]", "f32[0,3]", "f16[3]"),
)
def abs(x: Same, name: str | None = None) -> Array:
    """Absolute value, real also for complex `x`; its derivative at 0 is 0."""
    return _complex_abs(x) if jnp.iscomplexobj(x) else _real_abs(x)


@op(
    "math.sign",
    "sign",
    node="Sign",
    dtypes=_SIGNED,
    cases=("f32[2,3]", "f64[3]", "i32[4]", "c64[3]"),
)
def sign(x: Same, name: str | None = None) -> Array:
    """-1, 0 or 1 by the sign of each element; `x / |x|` (0 at 0) for complex `x`."""
    if jnp.iscomplexobj(x):
        return derivatives.divide_no_nan(x, _complex_abs(x).astype(x.dtype))
    return jnp.sign(x)


@op(
    "math.squared_difference",
    node="SquaredDifference",
    dtypes="bfloat16 half float double int32 int64 complex64 complex128",
    broadcast=True,
    cases=("f32[2,3], f32[3]", "f64[2], f64[]", "i32[4], i32[4]"),
)
def squared_difference(x: Same, y: Same, name: str | None = None) -> Array:
    """`(x - y) * conj(x - y)` of each pair of elements, with broadcasting."""
    difference = jnp.subtract(*same_shape(x, y))
    return difference * jnp.conj(difference)


def _first_where(condition: Array, tangent: Array) -> Array:
    return jnp.where(unconnected(condition), tangent, jnp.zeros_like(tangent))


@with_partials(
    lambda t, out, x, y: _first_where(x >= y, t),
    lambda t, out, x, y: _first_where(~(x >= y), t),
)
def larger(x: Array, y: Array) -> Array:
    """Maximum of two arrays of one shape; at a tie the derivative is all `x`'s."""
    return lax.max(x, y)


@with_partials(
    lambda t, out, x, y: _first_where(x <= y, t),
    lambda t, out, x, y: _first_where(~(x <= y), t),
)
def smaller(x: Array, y: Array) -> Array:
    """Minimum of two arrays of one shape; at a tie the derivative is all `x`'s."""
    return lax.min(x, y)


@op(
    "math.maximum",
    "maximum",
    node="Maximum",
    dtypes=_EXTREMA,
    broadcast=True,
    cases=(
        "f32[2,3], f32[3]",
        "f64[2], f64[]",
        "i32[4], i32[4]",
        "u8[4], u8[4]",
        "bf16[3], bf16[3]",
    ),
)
def maximum(x: Same, y: Same, name: str | None = None) -> Array:
    """The larger of `x` and `y`; at a tie the whole gradient goes to `x`."""
    return larger(*same_shape(x, y))


@op(
    "math.minimum",
    "minimum",
    node="Minimum",
    dtypes=_EXTREMA,
    broadcast=True,
    cases=(
        "f32[2,3], f32[3]",
        "f64[2], f64[]",
        "i32[4], i32[4]",
        "u8[4], u8[4]",
        "bf16[3], bf16[3]",
    ),
)
def minimum(x: Same, y: Same, name: str | None = None) -> Array:
    """The smaller of `x` and `y`; at a tie the whole gradient goes to `x`."""
    return smaller(*same_shape(x, y))
