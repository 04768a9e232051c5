"""Comparisons and logic; none of them has a gradient."""

from __future__ import annotations

import jax.numpy as jnp

from tapejax._src.engine.registry import Array, Bool, Same, op
from tapejax._src.ops.derivatives import same_shape

_ORDERED = "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64"


@op(
    "math.equal",
    "equal",
    node="Equal",
    gradient="none",
    broadcast=True,
    cases=(
        "f32[2,3], f32[3]",
        "i32[4] in (0, 2), i32[4] in (0, 2)",
        "bool[4], bool[]",
        "c64[3], c64[3]",
    ),
)
def equal(x: Same, y: Same, name: str | None = None) -> Array:
    """Whether `x == y` for each pair of elements, with broadcasting."""
    return jnp.equal(*same_shape(x, y))


@op(
    "math.not_equal",
    "not_equal",
    node="NotEqual",
    gradient="none",
    broadcast=True,
    cases=(
        "f32[2,3], f32[3]",
        "i32[4] in (0, 2), i32[4] in (0, 2)",
        "bool[4], bool[]",
        "c64[3], c64[3]",
    ),
)
def not_equal(x: Same, y: Same, name: str | None = None) -> Array:
    """Whether `x != y` for each pair of elements, with broadcasting."""
    return jnp.not_equal(*same_shape(x, y))


@op(
    "math.less",
    "less",
    node="Less",
    dtypes=_ORDERED,
    gradient="none",
    broadcast=True,
    cases=("f32[2,3], f32[3]", "i32[4] in (0, 2), i32[4] in (0, 2)", "f64[], f64[3]"),
)
def less(x: Same, y: Same, name: str | None = None) -> Array:
    """Whether `x < y` for each pair of elements, with broadcasting."""
    return jnp.less(*same_shape(x, y))


@op(
    "math.less_equal",
    "less_equal",
    node="LessEqual",
    dtypes=_ORDERED,
    gradient="none",
    broadcast=True,
    cases=("f32[2,3], f32[3]", "i32[4] in (0, 2), i32[4] in (0, 2)", "f64[], f64[3]"),
)
def less_equal(x: Same, y: Same, name: str | None = None) -> Array:
    """Whether `x <= y` for each pair of elements, with broadcasting."""
    return jnp.less_equal(*same_shape(x, y))


@op(
    "math.greater",
    "greater",
    node="Greater",
    dtypes=_ORDERED,
    gradient="none",
    broadcast=True,
    cases=("f32[2,3], f32[3]", "i32[4] in (0, 2), i32[4] in (0, 2)", "f64[], f64[3]"),
)
def greater(x: Same, y: Same, name: str | None = None) -> Array:
    """Whether `x > y` for each pair of elements, with broadcasting."""
    return jnp.greater(*same_shape(x, y))


@op(
    "math.greater_equal",
    "greater_equal",
    node="GreaterEqual",
    dtypes=_ORDERED,
    gradient="none",
    broadcast=True,
    cases=("f32[2,3], f32[3]", "i32[4] in (0, 2), i32[4] in (0, 2)", "f64[], f64[3]"),
)
def greater_equal(x: Same, y: Same, name: str | None = None) -> Array:
    """Whether `x >= y` for each pair of elements, with broadcasting."""
    return jnp.greater_equal(*same_shape(x, y))


@op(
    "math.logical_and",
    "logical_and",
    node="LogicalAnd",
    gradient="none",
    broadcast=True,
    cases=("bool[2,3], bool[3]", "bool[], bool[4]"),
)
def logical_and(x: Bool, y: Bool, name: str | None = None) -> Array:
    """Whether both of each pair of truth values hold, with broadcasting."""
    return jnp.logical_and(*same_shape(x, y))


@op(
    "math.logical_or",
    "logical_or",
    node="LogicalOr",
    gradient="none",
    broadcast=True,
    cases=("bool[2,3], bool[3]", "bool[], bool[4]"),
)
def logical_or(x: Bool, y: Bool, name: str | None = None) -> Array:
    """Whether at least one of each pair of truth values holds, with broadcasting."""
    return jnp.logical_or(*same_shape(x, y))


@op(
    "math.logical_not",
    "logical_not",
    node="LogicalNot",
    gradient="none",
    cases=("bool[2,3]", "bool[]"),
)
def logical_not(x: Bool, name: str | None = None) -> Array:
    """The opposite of each truth value."""
    return jnp.logical_not(x)


@op(
    "math.logical_xor",
    node="LogicalOr",
    gradient="none",
    broadcast=True,
    cases=("bool[2,3], bool[3]", "bool[], bool[4]"),
)
def logical_xor(x: Bool, y: Bool, name: str | None = "LogicalXor") -> Array:
    """Whether exactly one of each pair of truth values holds, with broadcasting."""
    return jnp.logical_xor(*same_shape(x, y))
