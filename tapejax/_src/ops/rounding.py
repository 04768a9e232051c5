"""Rounding to integers, and tests for NaN and infinity."""

from __future__ import annotations

import jax.numpy as jnp

from tapejax._src.engine.registry import Array, Same, op

_REAL = "bfloat16 half float double"


@op(
    "math.floor",
    "floor",
    node="Floor",
    dtypes=_REAL,
    gradient="none",
    cases=("f32[2,3]", "f64[3]", "bf16[3]"),
)
def floor(x: Same, name: str | None = None) -> Array:
    """Largest integer not above each element; it has no gradient."""
    return jnp.floor(x)


@op("math.ceil", node="Ceil", dtypes=_REAL, gradient="none", cases=("f32[2,3]", "f64[3]"))
def ceil(x: Same, name: str | None = None) -> Array:
    """Smallest integer not below each element; it has no gradient."""
    return jnp.ceil(x)


@op(
    "math.round",
    "round",
    node="Round",
    dtypes="bfloat16 half float double int8 int16 int32 int64 uint8 uint16 uint32 uint64",
    gradient="none",
    cases=("f32[2,3]", "f64[3]", "i32[4]"),
)
def round(x: Same, name: str | None = None) -> Array:
    """Nearest integer of each element, halves to the even one; it has no gradient."""
    return jnp.round(x) if jnp.issubdtype(x.dtype, jnp.floating) else x


@op("math.rint", node="Rint", dtypes=_REAL, gradient="none", cases=("f32[2,3]", "f64[3]"))
def rint(x: Same, name: str | None = None) -> Array:
    """Nearest integer of each element, halves to the even one; it has no gradient."""
    return jnp.rint(x)


@op("math.is_nan", node="IsNan", dtypes=_REAL, gradient="none", cases=("f32[2,3]", "f64[3]"))
def is_nan(x: Same, name: str | None = None) -> Array:
    """Whether each element is NaN."""
    return jnp.isnan(x)


@op("math.is_inf", node="IsInf", dtypes=_REAL, gradient="none", cases=("f32[2,3]", "f64[3]"))
def is_inf(x: Same, name: str | None = None) -> Array:
    """Whether each element is infinite, of either sign."""
    return jnp.isinf(x)


@op("math.is_finite", node="IsFinite", dtypes=_REAL, gradient="none", cases=("f32[2,3]", "f64[3]"))
def is_finite(x: Same, name: str | None = None) -> Array:
    """Whether each element is neither infinite nor NaN."""
    return jnp.isfinite(x)
