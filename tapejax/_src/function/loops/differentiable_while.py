"""`differentiable_while`: `jax.lax.while_loop` with derivatives of every kind and order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import ShapedArray as Aval

from tapejax._src.function.loops import jaxprs
from tapejax._src.function.loops.loop import Loop, Options


def differentiable_while(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    init: Any,
    *,
    maximum_iterations: int | None = None,
    slots: int | None = None,
    name: str = "while",
) -> Any:
    """Apply `body` again and again while `cond` holds.

    The values are those of `jax.lax.while_loop`. In addition the loop has derivatives in forward
    and reverse mode, of any order, under `jit`, `vmap` (with a trip count for each example),
    `scan`, `cond` and `shard_map(..., check_vma=False)`. Both functions may close over values that
    are being transformed.

    Reverse mode keeps `slots` states whatever the trip count, and computes each state at most once
    more up to `slots**2` trips. Callbacks in `cond` and `body` happen once a trip; those whose
    result a derivative depends on happen again when it is computed, and should be pure. (Like
    `jax.lax.while_loop` under `jit`, it drops unordered callbacks in `cond`.)

    Args:
        cond: Takes the loop variables, returns a scalar bool.
        body: Takes the loop variables, returns them with the same structure, shapes and dtypes.
        init: Pytree of arrays, the first loop variables.
        maximum_iterations: Stop after so many trips whatever `cond` says. Also saves reverse mode
            work where that many states fit into its memory.
        slots: How many states reverse mode keeps, rounded down to a power of two, at least 2.
            Default: 256 kB of states, between 64 (16 where a state exceeds 1 MB) and 8192.
        name: For error messages and printed programs.

    Returns:
        The loop variables when `cond` is false for the first time.

    Raises:
        TypeError: `body` changes the structure, a shape or a dtype, or `cond` returns no scalar
            bool.

    Example:
        >>> def newton(a):
        ...     return differentiable_while(
        ...         lambda x: abs(x * x - a) > 1e-5, lambda x: (x + a / x) / 2, a
        ...     )
        >>> round(float(jax.grad(newton)(4.0)), 4)
        0.25
    """
    if maximum_iterations is not None:
        return _limited(cond, body, init, maximum_iterations, slots, name)
    return _traced(cond, body, init, Options(None, slots, name))


def _limited(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    init: Any,
    limit: int,
    slots: int | None,
    name: str,
) -> Any:
    def goes_on(state: Any) -> Any:
        trips, variables = state
        return _scalar_bool(cond(variables), name) & (trips < limit)

    def step(state: Any) -> Any:
        trips, variables = state
        return trips + 1, body(variables)

    first = (jnp.int32(0), init)
    return _traced(goes_on, step, first, Options(max(limit, 0), slots, name))[1]


def _traced(
    cond: Callable[[Any], Any], body: Callable[[Any], Any], init: Any, options: Options
) -> Any:
    leaves, structure = jax.tree.flatten(init)
    values = [_strong(leaf) for leaf in leaves]
    avals = [Aval(value.shape, value.dtype) for value in values]
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path(init)]

    def flat_condition(*carry: Any) -> list[Any]:
        return [_scalar_bool(cond(jax.tree.unflatten(structure, carry)), options.name)]

    def flat_body(*carry: Any) -> list[Any]:
        out = body(jax.tree.unflatten(structure, carry))
        found, found_structure = jax.tree.flatten(out)
        if found_structure != structure:
            raise TypeError(
                f"The body of the loop {options.name!r} must return what it takes, but it takes "
                f"variables with the structure {structure} and returns {found_structure}."
            )
        found = [leaf if hasattr(leaf, "dtype") else jnp.asarray(leaf) for leaf in found]
        _check_types(avals, found, paths, options.name)
        return found

    condition, of_condition = jaxprs.trace(flat_condition, avals)
    step, of_body = jaxprs.trace(flat_body, avals)
    loop = Loop(condition, step, options)
    return jax.tree.unflatten(structure, loop.run(*of_condition, *of_body, *values))


def _strong(leaf: Any) -> Any:
    """An array whose dtype does not give way to that of others."""
    if getattr(leaf, "dtype", None) == jax.dtypes.float0:
        return leaf
    array = jnp.asarray(leaf)
    return lax.convert_element_type(array, array.dtype)


def _scalar_bool(value: Any, name: str) -> jax.Array:
    array = jnp.asarray(value)
    if array.shape or array.dtype != jnp.bool_:
        raise TypeError(
            f"The condition of the loop {name!r} must return a scalar bool, but it returns "
            f"{array.dtype}{list(array.shape)}."
        )
    return array


def _check_types(avals: list[Aval], found: list[Any], paths: list[str], name: str) -> None:
    for place, (expected, value, path) in enumerate(zip(avals, found, paths, strict=True)):
        if expected.shape != value.shape or expected.dtype != value.dtype:
            raise TypeError(
                f"The body of the loop {name!r} must not change the type of a variable, but "
                f"variable {place} (init{path}) is {expected.dtype}{list(expected.shape)} before "
                f"a step and {value.dtype}{list(value.shape)} after it."
            )
