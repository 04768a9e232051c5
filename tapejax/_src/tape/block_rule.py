"""Custom gradients in branches and loop bodies: JAX differentiates those, so it gets the rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapejax._src.core.tensor import Tensor
from tapejax._src.engine.block import record_block
from tapejax._src.engine.convert import as_tensor
from tapejax._src.engine.kernel import Kernel
from tapejax._src.engine.recorder import LOCAL
from tapejax._src.engine.recording import record

Rule = Callable[..., list[Any]]


def record_rule_in_block(
    inputs: Sequence[Any], outputs: Sequence[Tensor], rule: Rule
) -> list[Tensor]:
    """Record outputs that depend on the inputs by a rule only.

    The rule is run once, on placeholders for the cotangents, and becomes a block of its own.

    Args:
        inputs: Tensors and variables.
        outputs: Tensors.
        rule: Function of one cotangent for each output, returning a gradient or None for each
            input.
    """
    present: list[bool] = []

    def gradients(*cotangents: Tensor) -> list[Tensor]:
        found = rule(*cotangents)
        present[:] = [gradient is not None for gradient in found]
        return [as_tensor(gradient) for gradient in found if gradient is not None]

    block = record_block(gradients, [tensor.aval for tensor in outputs])
    first, last = len(inputs), len(inputs) + len(outputs)

    @jax.custom_vjp
    def ruled(given: Any, results: Any, captured: Any) -> Any:
        del given, captured
        return results

    def forward(given: Any, results: Any, captured: Any) -> Any:
        return ruled(given, results, captured), (given, results, captured)

    def backward(kept: Any, cotangents: Any) -> Any:
        given, results, captured = kept
        made = iter(block.run(cotangents, captured)[0])
        pairs = zip(given, present, strict=True)
        of_inputs = [_fitting(next(made), x) if there else _no_cotangent(x) for x, there in pairs]
        return of_inputs, [_no_cotangent(x) for x in results], [_no_cotangent(x) for x in captured]

    ruled.defvjp(forward, backward)

    def run(*arrays: Any) -> list[Any]:
        return ruled(list(arrays[:first]), list(arrays[first:last]), list(arrays[last:]))

    kernel = Kernel("custom_gradient", run, node="IdentityN", custom=first)
    results = record(kernel, [*inputs, *outputs, *block.captures])
    block.release()
    LOCAL.recorder.callbacks[results[0].index] = rule  # for tapes in the block itself
    return results


def _no_cotangent(array: Any) -> Any:
    """The cotangent of what gets none."""
    if jnp.issubdtype(array.dtype, jnp.inexact):
        return jnp.zeros_like(array)
    return np.zeros(array.shape, jax.dtypes.float0)


def _fitting(gradient: Any, array: Any) -> Any:
    """A gradient as JAX takes it: of the array's shape and dtype."""
    if not jnp.issubdtype(array.dtype, jnp.inexact):
        return _no_cotangent(array)
    return jnp.broadcast_to(gradient, array.shape).astype(array.dtype)
