"""A linear map as one primitive: a function, its transpose, and how both change with a parameter.

`jax.custom_derivatives.linear_call` has no rule for `vmap`, and derivatives of its transpose would
differentiate the implementation. Here an application `y = A(r) x`, linear in `x` but not in the
residuals `r`, stays one equation under every transformation:

* transposition swaps the two functions: `x = A(r)^T y`;
* differentiation gives `A(r) dx + (dA/dr . dr) x`, the second term from a rule where there is one;
* `vmap` maps the functions and the rules;
* anything else (evaluation, compilation) runs the function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import ShapedArray as Aval
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

Function = Callable[..., Sequence[jax.Array]]
"""Takes the residuals, then the inputs; returns the outputs."""
Derivative = Callable[[Sequence[Any], Sequence[Any]], Sequence[jax.Array]]
"""Takes (residuals and inputs, tangents of the residuals or None for zero); returns the tangents
of the outputs for fixed inputs."""


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two directions of a linear map.

    Attributes:
        apply: The function.
        derivative: Its derivative by the residuals; None: that of the implementation.
        batched: Mapped over by vmap: then all inputs and outputs have the new axis in front.
    """

    apply: Function
    derivative: Derivative | None = None

    def batched(self, axes: tuple[Any, ...], inputs: int, axis: dict[str, Any]) -> Side:
        """This direction for a batch.

        Args:
            axes: The mapped axis of each residual, or None.
            inputs: Number of inputs, all mapped over their first axis.
            axis: Keyword arguments of `jax.vmap` that describe the new axis.

        Returns:
            A direction whose inputs and outputs have the batch as their first axis.
        """
        all_axes = axes + (0,) * inputs
        apply = jax.vmap(self.apply, in_axes=all_axes, out_axes=0, **axis)
        derivative = self.derivative
        if derivative is None:
            return Side(apply)
        rule = derivative

        def batched_rule(values: Sequence[Any], tangents: Sequence[Any]) -> Sequence[jax.Array]:
            moved = [i for i, tangent in enumerate(tangents) if tangent is not None]

            def of_one(values: Sequence[Any], moving: Sequence[Any]) -> Sequence[jax.Array]:
                full: list[Any] = [None] * len(tangents)
                for i, tangent in zip(moved, moving, strict=True):
                    full[i] = tangent
                return rule(values, full)

            in_axes = (list(all_axes), [axes[i] for i in moved])
            mapped = jax.vmap(of_one, in_axes=in_axes, out_axes=0, **axis)
            return mapped(list(values), [tangents[i] for i in moved])

        return Side(apply, batched_rule)


@dataclass(frozen=True, eq=False)
class LinearMap:
    """A linear map and its transpose.

    Attributes:
        forward: The map.
        backward: Its transpose.
        residuals: Number of arguments that the map is not linear in.
        out_avals: The types of the outputs of `forward`.
        name: For people who read jaxprs.
        x64: Whether 64-bit types were enabled when the map was made: a linear map may be applied
            outside that scope, but its functions are still made for the types of that scope.
    """

    forward: Side
    backward: Side
    residuals: int
    out_avals: tuple[Aval, ...]
    name: str
    x64: bool = field(default_factory=lambda: bool(jax.config.read("jax_enable_x64")))

    def __call__(self, residuals: Sequence[Any], inputs: Sequence[Any]) -> list[jax.Array]:
        """Apply the map."""
        return linear_loop_p.bind(*residuals, *inputs, linear_map=self)

    def transposed(self, in_avals: tuple[Aval, ...]) -> LinearMap:
        """The transpose, given the types of the inputs of the map itself."""
        name = f"{self.name}^T"
        return LinearMap(self.backward, self.forward, self.residuals, in_avals, name, self.x64)

    def __repr__(self) -> str:
        """The name alone: this is printed inside jaxprs."""
        return self.name


linear_loop_p = Primitive("tapejax_linear_loop")
linear_loop_p.multiple_results = True


@linear_loop_p.def_impl
def _evaluate(*arguments: Any, linear_map: LinearMap) -> list[jax.Array]:
    with jax.enable_x64(linear_map.x64):
        return list(linear_map.forward.apply(*arguments))


@linear_loop_p.def_abstract_eval
def _out_avals(*_: Any, linear_map: LinearMap) -> list[Aval]:
    return list(linear_map.out_avals)


def _differentiate(
    primals: Sequence[Any], tangents: Sequence[Any], *, linear_map: LinearMap
) -> tuple[list[jax.Array], list[jax.Array]]:
    count = linear_map.residuals
    residuals, inputs = primals[:count], primals[count:]
    moving = [None if is_zero(tangent) else tangent for tangent in tangents]
    out = linear_map(residuals, inputs)
    terms: list[Sequence[jax.Array]] = []
    if any(tangent is not None for tangent in moving[count:]):
        directions = [ad.instantiate_zeros(tangent) for tangent in tangents[count:]]
        terms.append(linear_map(residuals, directions))
    if any(tangent is not None for tangent in moving[:count]):
        side = linear_map.forward
        rule = side.derivative or functools.partial(_derivative_of, side.apply)
        with jax.enable_x64(linear_map.x64):
            terms.append(rule(primals, moving[:count]))
    if not terms:
        return out, [jnp.zeros_like(value) for value in out]
    return out, [functools.reduce(jnp.add, parts) for parts in zip(*terms, strict=True)]


def is_zero(tangent: Any) -> bool:
    """Whether a tangent is known to be zero when tracing."""
    return type(tangent) is ad.Zero or getattr(tangent, "dtype", None) == jax.dtypes.float0


def _derivative_of(
    function: Function, primals: Sequence[Any], tangents: Sequence[Any]
) -> Sequence[jax.Array]:
    moved = [i for i, tangent in enumerate(tangents) if tangent is not None]

    def of_moved(*values: Any) -> Sequence[jax.Array]:
        full = list(primals)
        for i, value in zip(moved, values, strict=True):
            full[i] = value
        return list(function(*full))

    return jax.jvp(of_moved, [primals[i] for i in moved], [tangents[i] for i in moved])[1]


def _transpose(
    cotangents: Sequence[Any], *arguments: Any, linear_map: LinearMap
) -> list[jax.Array | None]:
    count = linear_map.residuals
    residuals, inputs = arguments[:count], arguments[count:]
    unknown = [ad.is_undefined_primal(value) for value in inputs]
    in_avals = tuple(
        Aval(aval.shape, aval.dtype)
        for aval in (
            value.aval if free else jax.typeof(value)
            for value, free in zip(inputs, unknown, strict=True)
        )
    )
    found = linear_map.transposed(in_avals)(
        residuals, [ad.instantiate_zeros(cotangent) for cotangent in cotangents]
    )
    return [None] * count + [
        value if free else None for value, free in zip(found, unknown, strict=True)
    ]


def _batch(
    axis: Any, arguments: Sequence[Any], axes: Sequence[Any], *, linear_map: LinearMap
) -> tuple[list[jax.Array], list[int | None]]:
    count = linear_map.residuals
    if all(place is None for place in axes):
        out = linear_loop_p.bind(*arguments, linear_map=linear_map)
        return out, [None] * len(out)
    # A map and its transpose must agree which of their inputs and outputs are mapped: all are.
    inputs = [
        jnp.broadcast_to(value, (axis.size, *jnp.shape(value)))
        if place is None
        else jnp.moveaxis(value, place, 0)
        for value, place in zip(arguments[count:], axes[count:], strict=True)
    ]
    options = {
        "axis_size": axis.size,
        "axis_name": axis.name,
        "spmd_axis_name": axis.spmd_name,
    }
    of_residuals = tuple(axes[:count])
    mapped = LinearMap(
        linear_map.forward.batched(of_residuals, len(inputs), options),
        linear_map.backward.batched(of_residuals, len(linear_map.out_avals), options),
        count,
        tuple(Aval((axis.size, *aval.shape), aval.dtype) for aval in linear_map.out_avals),
        linear_map.name,
        linear_map.x64,
    )
    out = mapped(arguments[:count], inputs)
    return out, [0] * len(out)


ad.primitive_jvps[linear_loop_p] = _differentiate
ad.primitive_transposes[linear_loop_p] = _transpose
batching.fancy_primitive_batchers[linear_loop_p] = _batch
mlir.register_lowering(linear_loop_p, mlir.lower_fun(_evaluate, multiple_results=True))
