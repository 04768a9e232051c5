"""Derivative rules that follow TensorFlow's conventions in reverse and in forward mode.

`with_partials` attaches one rule per argument to an elementwise function; an argument that is not
perturbed contributes nothing at all (not a product with zero, which would turn an infinite partial
derivative into NaN). `multiply_no_nan` is the product that a zero second factor always wins: the
backward kernels of `sqrt`, `rsqrt` and `reciprocal` use it, so that a zero cotangent stays zero
where the slope is infinite.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, cast, overload

import jax
import jax.numpy as jnp
from jax import lax
from jax.custom_derivatives import SymbolicZero
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

Array = jax.Array
Of1 = Callable[[Array], Array]
Of2 = Callable[[Array, Array], Array]
Of3 = Callable[[Array, Array, Array], Array]
# A rule is called with (tangent, out, *primals) and returns one argument's part of out's tangent.
Rule1 = Callable[[Array, Array, Array], Array]
Rule2 = Callable[[Array, Array, Array, Array], Array]
Rule3 = Callable[[Array, Array, Array, Array, Array], Array]


@overload
def with_partials(x: Rule1, /) -> Callable[[Of1], Of1]: ...
@overload
def with_partials(x: Rule2 | None, y: Rule2 | None, /) -> Callable[[Of2], Of2]: ...
@overload
def with_partials(x: Rule3 | None, y: Rule3 | None, z: Rule3 | None, /) -> Callable[[Of3], Of3]: ...
def with_partials(
    *rules: Callable[..., Array] | None,
) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Give a function of equally shaped arrays one derivative rule for each of its arguments.

    Args:
        *rules: For each argument a function `rule(tangent, out, *primals)` that is linear in
            `tangent`, or None where the argument has no derivative.

    Returns:
        A decorator; the decorated function is differentiable to any order that its rules are.
    """

    def attach(fn: Callable[..., Array]) -> Callable[..., Array]:
        primal = jax.custom_jvp(fn)

        def jvp(primals: Sequence[Array], tangents: Sequence[Any]) -> tuple[Array, Array]:
            out = primal(*primals)
            parts = [
                rule(tangent, out, *primals)
                for rule, tangent in zip(rules, tangents, strict=True)
                if rule is not None and not isinstance(tangent, SymbolicZero)
            ]
            return out, functools.reduce(jnp.add, parts) if parts else jnp.zeros_like(out)

        primal.defjvp(jvp, symbolic_zeros=True)
        return functools.wraps(fn)(primal)

    return attach


def same_shape(*arrays: Array) -> Sequence[Array]:
    """The arrays broadcast to their common shape."""
    return jnp.broadcast_arrays(*arrays)


_multiply_no_nan_p = Primitive("multiply_no_nan")


def _product(x: Array, y: Array) -> Array:
    return jnp.where(y == 0, jnp.zeros_like(x), x * y)


def _batched_product(args: Sequence[Array], dims: Sequence[int | None]) -> tuple[Array, int]:
    size = next(x.shape[d] for x, d in zip(args, dims, strict=True) if d is not None)
    x, y = (
        jnp.broadcast_to(x, (size, *x.shape)) if d is None else jnp.moveaxis(x, d, 0)
        for x, d in zip(args, dims, strict=True)
    )
    return _bind(x, y), 0


def _bind(x: Array, y: Array) -> Array:
    return cast("Array", _multiply_no_nan_p.bind(x, y))


def _aval(x: Any, y: Any) -> Any:
    return x


def _pull_to_first(ct: Array, x: Any, y: Array) -> Array:
    return _bind(ct, y)


def _pull_to_second(ct: Array, x: Array, y: Any) -> Array:
    return _bind(x, ct)


# Bilinear, and both pullbacks are the same product again: the cotangent of the first factor is
# gated by the second one, the cotangent of the second factor gates itself.
_multiply_no_nan_p.def_impl(_product)
_multiply_no_nan_p.def_abstract_eval(_aval)
ad.defbilinear(_multiply_no_nan_p, _pull_to_first, _pull_to_second)
batching.primitive_batchers[_multiply_no_nan_p] = _batched_product
mlir.register_lowering(_multiply_no_nan_p, mlir.lower_fun(_product, multiple_results=False))


def multiply_no_nan(x: Array, y: Array) -> Array:
    """`x * y`, and 0 where `y` is 0 even if `x` is infinite or NaN (equal dtypes)."""
    x, y = same_shape(x, y)
    dtype = jnp.result_type(x, y)
    return _bind(lax.convert_element_type(x, dtype), lax.convert_element_type(y, dtype))


_unconnected_p = Primitive("unconnected")
_unconnected_p.def_impl(lambda x: x)
_unconnected_p.def_abstract_eval(lambda x: x)
batching.defvectorized(_unconnected_p)
mlir.register_lowering(_unconnected_p, mlir.lower_fun(lambda x: x, multiple_results=False))


def unconnected(x: Array) -> Array:
    """`x`, a mask or a whole number, as something that no derivative is connected to its inputs by.

    TensorFlow's backward kernels of `maximum` read the arguments only through a comparison, which
    has no gradient, so the second derivative is None; without this mark it would be zeros.
    """
    return cast("Array", _unconnected_p.bind(x))


def _quotient_no_nan(x: Array, y: Array) -> Array:
    zero = y == 0
    return jnp.where(zero, jnp.zeros_like(x), x / jnp.where(zero, jnp.ones_like(y), y))


@with_partials(
    lambda t, out, x, y: _quotient_no_nan(t, y),
    lambda t, out, x, y: t * divide_no_nan(divide_no_nan(-x, y), y),
)
def _divide_no_nan(x: Array, y: Array) -> Array:
    return _quotient_no_nan(x, y)


def divide_no_nan(x: Array, y: Array) -> Array:
    """`x / y`, and 0 with zero derivatives where `y` is 0 (equal floating dtypes)."""
    return _divide_no_nan(*same_shape(x, y))


@with_partials(lambda t, out, x: multiply_no_nan(0.5 / out, t))
def sqrt(x: Array) -> Array:
    """Square root whose derivative is 0 for a zero tangent or cotangent, even at 0."""
    return jnp.sqrt(x)


@with_partials(lambda t, out, x: multiply_no_nan(-0.5 * out * out * out, t))
def rsqrt(x: Array) -> Array:
    """`1 / sqrt(x)` whose derivative is 0 for a zero tangent or cotangent, even at 0."""
    return lax.rsqrt(x)


@with_partials(lambda t, out, x: multiply_no_nan(-out * out, t))
def reciprocal(x: Array) -> Array:
    """`1 / x` whose derivative is 0 for a zero tangent or cotangent, even at 0."""
    return 1 / x
